/* Driver "jlink": SEGGER J-Link probes by their raw JTAG commands, without the vendor's software.
 *
 * The protocol is requests and replies without numbers, so nothing is sent while a reply is awaited: a probe that drops what comes
 * too early would be out of step with no sign. Latency is hidden as far as that allows: the next batch is packed
 * meanwhile, a batch is as large as the probe's memory, the reads of a reply wait on the bus before it comes, and batches of which nobody
 * wants TDO go out as HW_JTAG_WRITE, which has no reply, one behind the other.
 *
 * After any failed transfer the stream is out of step: cancel, drain, close, open anew, prove it, and only then go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/jlink_protocol.h"
#include "probe/jtag_stream.h"
#include "probe/probe.h"
#include "probe/usb.h"

enum {
    CHUNKS = 4,
    MAX_FIELDS = 4096,       /* of one batch */
    FIRST_IN_SLOT = CHUNKS,
    INS = JLINK_MAX_BITS / 8 / JLINK_TRANSFER + 1, /* reads of one reply */
    REPLY_MS = 1000,         /* unless option timeout says otherwise; as libjaylink. A batch's own time comes on top */
    PROVE_MS = 300,
    MAX_EMPTY = 4,           /* packets in a row */
    DRAIN_MS = 20,
    DRAIN_READS = 64,
    DEFAULT_HZ = 4000000,
    POWER_MV = 800           /* as link_power() */
};
#define NS_PER_S UINT64_C(1000000000)

/* One batch: a chunk of the stream, and its request and reply. */
struct batch {
    uint8_t tms[JLINK_MAX_BITS / 8], tdi[JLINK_MAX_BITS / 8];
    uint8_t out[JLINK_MAX_REQUEST];
    uint8_t in[INS * JLINK_TRANSFER + JLINK_TRANSFER];
    struct jtag_field field[MAX_FIELDS];
    enum jlink_command command;
    size_t want;             /* bytes of its reply */
    unsigned reads;          /* of them that wait on the bus */
    bool flying;
};

struct jlink {
    struct probe probe;
    struct adapter adapter;  /* how it is found again */
    struct usb *usb;         /* NULL: lost */
    uint8_t ep_in, ep_out;
    unsigned max_packet;
    uint64_t past_transfers, past_bytes; /* of connections that were closed */
    /* what it is */
    uint8_t caps[JLINK_CAPS_BYTES];
    unsigned hw_major;
    char firmware[64];
    uint32_t base_hz, memory;
    uint16_t min_div;
    /* what was asked of it */
    unsigned reply_ms;
    uint32_t wanted_hz, tck_hz;
    unsigned pins;           /* outputs, as set last */
    uint16_t handle;         /* of our registration, 0: none */
    unsigned millivolts;     /* as read last */
    /* bytes of replies that came with others */
    uint8_t rest[2 * JLINK_TRANSFER];
    size_t nrest;
    struct jtag_stream stream;
    struct jtag_chunk chunk[CHUNKS];
    struct batch batch[CHUNKS];
    struct batch *awaited;   /* whose reply is to come */
    bool wrote;              /* HW_JTAG_WRITE since the last GET_RESULT */
};

static struct jlink *self(struct probe *p) { return CONTAINER_OF(p, struct jlink, probe); }
static unsigned prove_ms(const struct jlink *j) { return MIN(j->reply_ms, (unsigned)PROVE_MS); }

/* ---- requests and replies, one after the other ---- */

/* Waits until n bytes of reply are in j->rest. */
static int need(struct jlink *j, size_t n, unsigned timeout_ms, struct err *err)
{
    for (unsigned empty = 0; j->nrest < n;) {
        int got = usb_bulk(j->usb, j->ep_in, j->rest + j->nrest, jlink_read_bytes(n - j->nrest, j->max_packet), timeout_ms, err);
        if (got < 0)
            return got;
        empty = got == 0 ? empty + 1 : 0; /* an empty packet may end a transfer */
        if (empty > MAX_EMPTY)
            return err_set(err, ERR_TIMEOUT, "unplug the probe if this stays", "the reply ends early: %zu bytes of %zu", j->nrest, n);
        j->nrest += (size_t)got;
    }
    return 0;
}

static void take(struct jlink *j, uint8_t *reply, size_t n)
{
    memcpy(reply, j->rest, n);
    memmove(j->rest, j->rest + n, j->nrest -= n);
}

/* Sends a request, and fetches n bytes of reply (0: it has none; at most JLINK_TRANSFER). */
static int ask_within(struct jlink *j, const uint8_t *request, size_t len, uint8_t *reply, size_t n, unsigned timeout_ms, struct err *err)
{
    uint8_t buf[16];
    memcpy(buf, request, len);
    j->nrest = 0;
    int ret = usb_bulk(j->usb, j->ep_out, buf, len, timeout_ms, err);
    if (ret >= 0 && (size_t)ret < len)
        ret = err_set(err, ERR_TIMEOUT, "unplug the probe if this stays", "took %d bytes of %zu", ret, len);
    if (ret >= 0)
        ret = need(j, n, timeout_ms, err);
    if (ret < 0)
        return ret;
    if (n > 0)
        take(j, reply, n);
    return 0;
}

static int ask(struct jlink *j, enum jlink_command command, uint8_t *reply, size_t n, struct err *err)
{
    const uint8_t request = (uint8_t)command;
    int ret = ask_within(j, &request, 1, reply, n, j->reply_ms, err);
    char doing[32];
    snprintf(doing, sizeof doing, "request %02x", request);
    return ret < 0 ? err_prefix(err, ret, doing) : 0;
}

/* ---- batches ---- */

static unsigned clocks_ms(const struct jlink *j, uint64_t clocks) { return (unsigned)(clocks * 1000 / MAX(j->tck_hz, 1000u)); }

/* What is on its way before this one has to be clocked out first. */
static unsigned batch_ms(const struct jlink *j) { return j->reply_ms + 2 * CHUNKS * clocks_ms(j, j->chunk[0].cap_bits); }

/* The probe refused or failed: no TDO of this run is good. Too large a batch is not tried again. */
static int status_error(struct jlink *j, unsigned status, struct err *err)
{
    uint32_t cap = j->chunk[0].cap_bits;
    if (status != JLINK_STATUS_MEMORY)
        return err_set(err, ERR_TIMEOUT, "check the wiring; lower the wire clock", "the probe could not clock a batch: status %u", status);
    for (size_t i = 0; i < CHUNKS; i++)
        j->chunk[i].cap_bits = MAX(cap / 16 * 8, 64u);
    return err_set(err, ERR_TIMEOUT, "try again", "%u bits are too many for the probe's memory: going on with %u", cap, j->chunk[0].cap_bits);
}

/* The reads of a reply are on the bus before it comes, as many as it needs if none ends early. */
static int post_reads(struct jlink *j, struct batch *b, struct err *err)
{
    unsigned slot = FIRST_IN_SLOT + INS * (unsigned)(b - j->batch);
    int ret = 0;
    b->reads = 0;
    for (size_t at = 0; ret == 0 && at < b->want; at += JLINK_TRANSFER, b->reads += ret == 0)
        ret = usb_submit(j->usb, slot + b->reads, j->ep_in, b->in + at, jlink_read_bytes(b->want - at, j->max_packet), err);
    return ret;
}

static int fetch_reply(struct jlink *j, struct batch *b, struct err *err)
{
    unsigned slot = FIRST_IN_SLOT + INS * (unsigned)(b - j->batch);
    size_t got = 0;
    for (unsigned i = 0; i < b->reads; i++) {
        int n = usb_wait(j->usb, slot + i, batch_ms(j), err);
        if (n < 0)
            return n;
        memmove(b->in + got, b->in + (size_t)i * JLINK_TRANSFER, (size_t)n);
        got += (size_t)n;
    }
    for (unsigned empty = 0; got < b->want;) { /* some ended early: old probes send the status by itself */
        int n = usb_bulk(j->usb, j->ep_in, b->in + got, jlink_read_bytes(b->want - got, j->max_packet), batch_ms(j), err);
        empty = n == 0 ? empty + 1 : 0;
        if (empty > MAX_EMPTY)
            n = err_set(err, ERR_TIMEOUT, "unplug the probe if this stays", "the reply ends early: %zu bytes of %zu", got, b->want);
        if (n < 0)
            return n;
        got += (size_t)n;
    }
    if (got > b->want)
        return err_set(err, ERR_TIMEOUT, "", "out of step: %zu bytes came, %zu are right", got, b->want);
    return 0;
}

/* Waits for a batch's request to be taken and its reply to be there. */
static int finish(struct jlink *j, struct batch *b, struct err *err)
{
    unsigned slot = (unsigned)(b - j->batch);
    if (!b->flying)
        return 0;
    b->flying = false;
    if (j->awaited == b)
        j->awaited = NULL;
    int ret = usb_wait(j->usb, slot, batch_ms(j), err);
    if (ret < 0)
        return ret;
    if ((ret = fetch_reply(j, b, err)) < 0)
        return ret;
    unsigned status = b->command == JLINK_HW_JTAG3 ? b->in[b->want - 1] : JLINK_STATUS_OK;
    return status == JLINK_STATUS_OK ? 0 : status_error(j, status, err);
}

static enum jlink_command command_for(const struct jlink *j, const struct jtag_chunk *c)
{
    if (j->hw_major < 5) /* OpenOCD's rule: older hardware has no JTAG3 */
        return JLINK_HW_JTAG2;
    /* The last one is asked for its status at once: that is one round trip, too. */
    return c->nfields == 0 && !c->last && jlink_can(j->caps, JLINK_CAP_JTAG_WRITE) ? JLINK_HW_JTAG_WRITE : JLINK_HW_JTAG3;
}

static int send(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct jlink *j = ctx;
    struct batch *b = &j->batch[c - j->chunk];
    b->command = command_for(j, c);
    b->want = jlink_reply_bytes(b->command, c->nbits);
    size_t len = jlink_jtag_request(b->out, b->command, c->tms, c->tdi, c->nbits);
    int ret = j->awaited ? finish(j, j->awaited, err) : 0;
    if (ret == 0)
        ret = usb_submit(j->usb, (unsigned)(b - j->batch), j->ep_out, b->out, len, err);
    if (ret < 0)
        return ret;
    b->flying = true;
    j->wrote |= b->command == JLINK_HW_JTAG_WRITE;
    if (b->want == 0)
        return b->reads = 0;
    j->awaited = b;
    return post_reads(j, b, err);
}

static int receive(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct jlink *j = ctx;
    return finish(j, &j->batch[c - j->chunk], err);
}

static int check_writes(struct jlink *j, struct err *err)
{
    uint8_t status;
    if (!j->wrote)
        return 0;
    j->wrote = false;
    int ret = ask(j, JLINK_HW_JTAG_GET_RESULT, &status, 1, err);
    return ret < 0 || status == JLINK_STATUS_OK ? ret : status_error(j, status, err);
}

static void set_batch(struct jlink *j, uint32_t bits)
{
    for (size_t i = 0; i < CHUNKS; i++)
        j->chunk[i].cap_bits = bits;
}

static void stream_init(struct jlink *j)
{
    static const struct jtag_stream_io io = { .send = send, .receive = receive };
    for (size_t i = 0; i < CHUNKS; i++) {
        struct batch *b = &j->batch[i];
        j->chunk[i] = (struct jtag_chunk){ .tms = b->tms, .tdi = b->tdi, .tdo = b->in, .cap_bits = 64, .field = b->field,
                                           .cap_fields = MAX_FIELDS };
    }
    jtag_stream_init(&j->stream, &io, j, j->chunk, CHUNKS);
}

/* ---- opening ---- */

static int get_version(struct jlink *j, unsigned timeout_ms, struct err *err)
{
    const uint8_t request = JLINK_VERSION;
    uint8_t head[2];
    int ret = ask_within(j, &request, 1, head, 2, timeout_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "firmware version");
    size_t n = le16(head);
    if (n > JLINK_TRANSFER)
        return err_set(err, ERR_PROTOCOL, "unplug the probe and plug it in again", "firmware version of %zu bytes", n);
    ret = need(j, n, timeout_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "firmware version");
    snprintf(j->firmware, sizeof j->firmware, "%.*s", (int)n, (const char *)j->rest);
    return 0;
}

/* Before a command is used its capability is looked at; the order is OpenOCD's, which says that some probes are particular. */
static int get_caps(struct jlink *j, struct err *err)
{
    uint8_t word[4];
    memset(j->caps, 0, sizeof j->caps);
    j->hw_major = 0;
    j->memory = 0;
    int ret = ask(j, JLINK_GET_CAPS, j->caps, 4, err);
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_EXTENDED))
        ret = ask(j, JLINK_GET_CAPS_EX, j->caps, JLINK_CAPS_BYTES, err);
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_HW_VERSION) && (ret = ask(j, JLINK_GET_HW_VERSION, word, 4, err)) == 0)
        j->hw_major = le32(word) / 10000 % 100;
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_MEMORY) && (ret = ask(j, JLINK_GET_MAX_MEM_BLOCK, word, 4, err)) == 0)
        j->memory = le32(word);
    return ret;
}

static int get_state(struct jlink *j, struct jlink_state *state, struct err *err)
{
    uint8_t reply[8];
    int ret = ask(j, JLINK_GET_STATE, reply, sizeof reply, err);
    if (ret < 0)
        return ret;
    jlink_parse_state(reply, state);
    j->millivolts = state->millivolts;
    return 0;
}

static int registration(struct jlink *j, bool on, struct err *err)
{
    uint8_t request[14], reply[JLINK_REGISTRATION_MAX];
    if (!jlink_can(j->caps, JLINK_CAP_REGISTER))
        return 0;
    jlink_registration(request, on, on ? 0 : j->handle);
    int ret = ask_within(j, request, sizeof request, reply, JLINK_REGISTRATION_MIN, on ? j->reply_ms : prove_ms(j), err);
    if (ret == 0 && (ret = jlink_registration_bytes(reply, err)) > JLINK_REGISTRATION_MIN) {
        size_t more = (size_t)ret - JLINK_REGISTRATION_MIN;
        ret = need(j, more, j->reply_ms, err);
        if (ret == 0)
            take(j, reply + JLINK_REGISTRATION_MIN, more);
    }
    if (ret >= 0)
        j->handle = 0;
    if (ret >= 0 && on && (ret = jlink_registered(reply, sizeof reply, err)) > 0)
        j->handle = (uint16_t)ret;
    return ret < 0 ? err_prefix(err, ret, "registering") : 0;
}

static int interfaces(struct jlink *j, uint8_t which, uint32_t *out, struct err *err)
{
    const uint8_t request[2] = { JLINK_SELECT_IF, which };
    uint8_t reply[4];
    int ret = ask_within(j, request, sizeof request, reply, sizeof reply, j->reply_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "choosing JTAG");
    *out = le32(reply);
    return 0;
}

/* A probe without that command has JTAG only. */
static int select_jtag(struct jlink *j, bool *can, struct err *err)
{
    uint32_t mask = 1u << JLINK_IF_JTAG;
    int ret = jlink_can(j->caps, JLINK_CAP_SELECT_IF) ? interfaces(j, JLINK_IF_AVAILABLE, &mask, err) : 0;
    *can = mask >> JLINK_IF_JTAG & 1;
    return ret;
}

static int drive(struct jlink *j, unsigned mask, struct err *err)
{
    int ret = 0;
    if (mask & JTAG_PIN_NRESET)
        ret = ask(j, j->pins & JTAG_PIN_NRESET ? JLINK_HW_RESET1 : JLINK_HW_RESET0, NULL, 0, err);
    if (ret == 0 && mask & JTAG_PIN_NTRST)
        ret = ask(j, j->pins & JTAG_PIN_NTRST ? JLINK_HW_TRST1 : JLINK_HW_TRST0, NULL, 0, err);
    return ret;
}

static int set_speed(struct jlink *j, uint32_t hz, struct err *err)
{
    uint16_t khz;
    uint32_t got = jlink_speed(j->base_hz, j->min_div, hz, &khz);
    const uint8_t request[3] = { JLINK_SET_SPEED, (uint8_t)khz, (uint8_t)(khz >> 8) };
    int ret = ask_within(j, request, sizeof request, NULL, 0, j->reply_ms, err);
    if (ret < 0)
        return err_prefix(err, ret, "setting TCK");
    j->wanted_hz = hz;
    j->tck_hz = got;
    set_batch(j, jlink_batch_bits(j->memory, j->max_packet, got));
    return 0;
}

static int run(struct jlink *j, const struct jtag_op *ops, size_t n, struct err *err)
{
    int ret = jtag_stream_run(&j->stream, ops, n, err);
    return ret == 0 ? check_writes(j, err) : ret;
}

/* A batch of the largest size, in which TMS stays high: no target minds, and whether the probe's memory will do is known. The first
 * eight clocks are a batch of their own: OpenOCD says that firmware V5 and V6 wants whole bytes there. */
static int try_batches(struct jlink *j, struct err *err)
{
    struct jtag_chunk *c = &j->chunk[0];
    uint32_t bits[2] = { 8, c->cap_bits };
    struct err why = { .code = ERR_OK };
    for (size_t i = 0; i < 2;) {
        memset(c->tms, 0xFF, bits[i] / 8);
        c->nbits = bits[i];
        c->last = true;
        int ret = send(j, c, &why);
        if (ret == 0)
            ret = receive(j, c, &why);
        memset(c->tms, 0, bits[i] / 8);
        c->nbits = 0;
        if (ret == 0)
            i++;
        else if (i == 1 && c->cap_bits < bits[1]) /* status_error() has made it smaller */
            bits[1] = c->cap_bits;
        else
            return err_set(err, why.code, why.hint, "first clocks: %s", why.what), ret;
    }
    return 0;
}

static int get_speeds(struct jlink *j, struct err *err)
{
    uint8_t reply[6];
    j->base_hz = 0;
    j->min_div = 1;
    int ret = jlink_can(j->caps, JLINK_CAP_SPEEDS) ? ask(j, JLINK_GET_SPEEDS, reply, sizeof reply, err) : 0;
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_SPEEDS)) {
        j->base_hz = le32(reply);
        j->min_div = le16(reply + 4);
    }
    return ret;
}

/* A failure of an earlier session's writes is not ours. */
static int forget_writes(struct jlink *j, struct err *err)
{
    uint8_t status;
    return jlink_can(j->caps, JLINK_CAP_JTAG_WRITE) ? ask(j, JLINK_HW_JTAG_GET_RESULT, &status, 1, err) : 0;
}

static int start(struct jlink *j, struct err *err)
{
    struct jlink_state state;
    uint32_t before;
    bool can;
    int ret = get_caps(j, err);
    if (ret == 0)
        ret = get_state(j, &state, err);
    if (ret == 0 && j->handle) /* of this session, before it was opened anew: the table is small */
        ret = registration(j, false, err);
    if (ret == 0)
        ret = registration(j, true, err);
    if (ret == 0)
        ret = select_jtag(j, &can, err);
    if (ret == 0 && !can)
        ret = err_set(err, ERR_UNSUPPORTED, "use a probe with a JTAG connector", "this probe has no JTAG, only SWD or others");
    if (ret == 0 && jlink_can(j->caps, JLINK_CAP_SELECT_IF))
        ret = interfaces(j, JLINK_IF_JTAG, &before, err);
    if (ret == 0)
        ret = drive(j, JTAG_PIN_NRESET | JTAG_PIN_NTRST, err);
    if (ret == 0)
        ret = forget_writes(j, err);
    if (ret == 0)
        ret = get_speeds(j, err);
    if (ret == 0)
        ret = set_speed(j, j->wanted_hz, err);
    return ret == 0 ? try_batches(j, err) : ret;
}

/* ---- connecting, and again ---- */

static void disconnect(struct jlink *j)
{
    uint64_t transfers, bytes;
    if (!j->usb)
        return;
    usb_stats(j->usb, &transfers, &bytes);
    j->past_transfers += transfers;
    j->past_bytes += bytes;
    usb_close(j->usb);
    j->usb = NULL;
    for (size_t i = 0; i < CHUNKS; i++)
        j->batch[i].flying = false;
    j->awaited = NULL;
    j->wrote = false;
}

/* The interface with the two bulk endpoints: class and subclass 255. Others are a serial port, a disk. */
static const struct usb_interface *interface_of(const struct usb_info *dev, uint8_t *in, uint8_t *out, unsigned *max_packet)
{
    for (size_t i = 0; i < dev->nitfs; i++) {
        const struct usb_interface *itf = &dev->itf[i];
        *in = *out = 0;
        for (size_t e = 0; e < itf->neps; e++)
            if (itf->ep[e].type == 2 && itf->ep[e].address & 0x80)
                *in = itf->ep[e].address, *max_packet = itf->ep[e].max_packet;
            else if (itf->ep[e].type == 2)
                *out = itf->ep[e].address;
        if (itf->cls == 0xFF && itf->subclass == 0xFF && *in && *out && *max_packet)
            return itf;
    }
    return NULL;
}

static int attach_usb(struct jlink *j, struct err *err)
{
    struct usb_info dev;
    int ret = adapter_usb(&j->adapter, &dev, err);
    if (ret < 0)
        return ret;
    const struct usb_interface *itf = interface_of(&dev, &j->ep_in, &j->ep_out, &j->max_packet);
    if (!itf)
        return err_set(err, ERR_UNSUPPORTED, "", "the debug interface is missing");
    return usb_open(&dev, itf->number, j->probe.log, &j->usb, err);
}

/* What an earlier session left in the probe is dropped; then a question with a known answer. A probe that waits for the rest of
 * a batch gets its port reset. */
static int prove(struct jlink *j, struct err *err)
{
    int ret = usb_drain(j->usb, j->ep_in, DRAIN_MS, DRAIN_READS, err);
    if (ret >= 0 && (ret = get_version(j, prove_ms(j), err)) == 0)
        return 0;
    if (ret == -ERR_USB)
        return ret;
    log_msg(j->probe.log, LOG_USB, "%s: silent: port reset", j->probe.name);
    ret = usb_reset(j->usb, err);
    if (ret < 0) {
        disconnect(j);
        ret = attach_usb(j, err);
    }
    if (ret >= 0)
        ret = usb_drain(j->usb, j->ep_in, DRAIN_MS, DRAIN_READS, err);
    return ret < 0 ? ret : get_version(j, j->reply_ms, err);
}

static int connect_usb(struct jlink *j, struct err *err)
{
    disconnect(j);
    int ret = attach_usb(j, err);
    if (ret == 0)
        ret = prove(j, err);
    if (ret == 0)
        ret = start(j, err);
    if (ret < 0)
        disconnect(j);
    return ret;
}

/* After a failure: back in step, or lost. Returns ret as jtag.h has it. */
static int recovered(struct jlink *j, int ret, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (ret == -ERR_USAGE)
        return ret;
    if (ret == -ERR_USB) {
        disconnect(j);
        return err_prefix(err, ret, j->probe.name);
    }
    usb_cancel_all(j->usb);
    log_msg(j->probe.log, LOG_USB, "%s: %s: opening it anew", j->probe.name, err ? err->what : "failed");
    if (connect_usb(j, &why) < 0)
        return err_set(err, ERR_USB, why.hint, "%s: %s", j->probe.name, why.what);
    err_prefix(err, ret, j->probe.name);
    if (err)
        err->code = ERR_TIMEOUT;
    return -ERR_TIMEOUT;
}

static int lost(struct jlink *j, struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "%s: the probe is gone", j->probe.name);
}

/* ---- jtag.h ---- */

static int jlink_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct jlink *j = self(p);
    struct err why = { .code = ERR_OK };
    if (!j->usb)
        return lost(j, err);
    int ret = run(j, ops, n, &why);
    if (ret == 0)
        return 0;
    ret = recovered(j, ret, &why);
    return err_set(err, why.code, why.hint, "%s", why.what), ret;
}

/* A request without a reply is done when one behind it is answered. */
static int jlink_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct jlink *j = self(p);
    struct jlink_state state;
    if (mask & ~(unsigned)(JTAG_PIN_NRESET | JTAG_PIN_NTRST))
        return err_set(err, ERR_UNSUPPORTED, "", "%s: no such pin on this adapter", p->name);
    if (!j->usb)
        return lost(j, err);
    j->pins = (j->pins & ~mask) | (value & mask);
    int ret = drive(j, mask, err);
    if (ret == 0)
        ret = get_state(j, &state, err);
    return ret < 0 ? recovered(j, ret, err) : 0;
}

static int jlink_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct jlink *j = self(p);
    struct jlink_state state;
    if (!j->usb)
        return lost(j, err);
    int ret = get_state(j, &state, err);
    if (ret < 0)
        return recovered(j, ret, err);
    *known = JTAG_PIN_NRESET | JTAG_PIN_NTRST | JTAG_PIN_VTREF;
    *value = (state.nreset ? JTAG_PIN_NRESET : 0) | (state.ntrst ? JTAG_PIN_NTRST : 0) | (state.millivolts >= POWER_MV ? JTAG_PIN_VTREF : 0);
    return 0;
}

static int jlink_voltage(struct probe *p, unsigned *millivolts, struct err *err)
{
    struct jlink *j = self(p);
    struct jlink_state state;
    if (!j->usb)
        return lost(j, err);
    int ret = get_state(j, &state, err);
    if (ret < 0)
        return recovered(j, ret, err);
    *millivolts = state.millivolts;
    return 0;
}

static int jlink_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct jlink *j = self(p);
    if (hz == 0)
        return err_set(err, ERR_USAGE, "give a TCK frequency above 0", "TCK of 0 Hz");
    if (!j->usb)
        return lost(j, err);
    int ret = set_speed(j, hz, err);
    if (ret < 0)
        return recovered(j, ret, err);
    if (got_hz)
        *got_hz = j->tck_hz;
    return 0;
}

static uint64_t jlink_now_ns(struct probe *p)
{
    struct timespec t;
    (void)p;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static int jlink_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
    (void)p;
    (void)err;
    while (nanosleep(&t, &t) < 0)
        ;
    return 0;
}

static size_t jlink_batch(struct probe *p) { return (size_t)2 * self(p)->chunk[0].cap_bits; }

static void jlink_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers, uint64_t *bytes)
{
    struct jlink *j = self(p);
    uint64_t t = 0, b = 0;
    if (j->usb)
        usb_stats(j->usb, &t, &b);
    if (tck_clocks)
        *tck_clocks = j->stream.tck_clocks;
    if (transfers)
        *transfers = j->past_transfers + t;
    if (bytes)
        *bytes = j->past_bytes + b;
}

/* ---- the driver ---- */

static const struct probe_driver *driver(void);

/* All ids of the vendor that stand for a debug interface. Source: libjaylink discovery_usb.c, and the filters of the vendor's WebUSB
 * client: 0x1010 and 0x1050 with the vendor's Windows driver, 0x1020 and 0x1060 with WinUSB; the low bits say what stands beside it. */
#define ROW8(pid) { 0x1366, pid }, { 0x1366, pid + 1 }, { 0x1366, pid + 2 }, { 0x1366, pid + 3 }, { 0x1366, pid + 4 }, \
                  { 0x1366, pid + 5 }, { 0x1366, pid + 6 }, { 0x1366, pid + 7 }
static const struct usb_id ids[] = {
    { 0x1366, 0x0101 }, { 0x1366, 0x0102 }, { 0x1366, 0x0103 }, { 0x1366, 0x0104 }, { 0x1366, 0x0105 }, { 0x1366, 0x0107 }, { 0x1366, 0x0108 },
    ROW8(0x1010), ROW8(0x1018), ROW8(0x1020), ROW8(0x1028), ROW8(0x1050), ROW8(0x1058), ROW8(0x1060), ROW8(0x1068), { 0, 0 }
};

/* Ids come with every new model: one that calls itself a J-Link is one. */
static bool is_ours(const struct usb_info *dev)
{
    for (const struct usb_id *i = ids; i->vid; i++)
        if (i->vid == dev->vid && i->pid == dev->pid)
            return true;
    return dev->vid == ids[0].vid && strstr(dev->product, "J-Link");
}

static int pick(const struct usb_info *dev, struct adapter *row)
{
    uint8_t in, out;
    unsigned max_packet = 0;
    const struct usb_interface *itf = is_ours(dev) ? interface_of(dev, &in, &out, &max_packet) : NULL;
    if (!itf)
        return -1;
    char serial[11];
    jlink_serial(dev->serial, serial);
    if (serial[0])
        memcpy(row->serial, serial, sizeof serial);
    row->can = ADAPTER_JTAG;
    return itf->number;
}

static struct jlink *make(const struct adapter *a, const struct log *log, struct err *err)
{
    struct jlink *j = calloc(1, sizeof *j);
    if (!j) {
        err_set(err, ERR_NOMEM, "", "jlink: out of memory");
        return NULL;
    }
    j->probe.driver = driver();
    j->probe.log = log;
    j->adapter = *a;
    j->pins = JTAG_PIN_NRESET | JTAG_PIN_NTRST;
    j->wanted_hz = DEFAULT_HZ;
    j->reply_ms = REPLY_MS;
    snprintf(j->probe.name, sizeof j->probe.name, "jlink %.30s", a->serial[0] ? a->serial : a->bus_path);
    stream_init(j);
    return j;
}

/* Firmware and abilities, for `list`: nothing that touches the target. */
static void look(struct adapter *row)
{
    bool can = true;
    struct jlink *j = make(row, NULL, &row->problem);
    int ret = j ? attach_usb(j, &row->problem) : -1;
    if (ret == 0)
        ret = prove(j, &row->problem);
    if (ret == 0)
        ret = get_caps(j, &row->problem);
    if (ret == 0)
        ret = select_jtag(j, &can, &row->problem);
    if (ret == 0)
        memcpy(row->firmware, j->firmware, sizeof row->firmware);
    if (!can) {
        row->can = 0;
        snprintf(row->note, sizeof row->note, "no JTAG");
    }
    if (j)
        disconnect(j);
    free(j);
}

static int jlink_list(bool open, struct adapter_list *out, struct err *err)
{
    size_t first = out->n;
    int ret = adapter_list_usb(driver(), NULL, pick, out, err);
    for (size_t i = first; open && ret == 0 && i < out->n; i++)
        if (out->row[i].problem.code == ERR_OK)
            look(&out->row[i]);
    return ret;
}

static void jlink_close(struct probe *p)
{
    if (!p)
        return;
    struct jlink *j = self(p);
    if (j->usb && j->handle)
        registration(j, false, NULL);
    disconnect(j);
    free(j);
}

static int option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct jlink *j = ctx;
    uint64_t ms;
    if (strcmp(name, "timeout") != 0)
        return err_set(err, ERR_USAGE, "write --probe jlink:SERIAL,timeout=MS", "no option \"%s\"", name);
    int ret = options_hz(name, value, 20, 60000, &ms, err);
    if (ret == 0)
        j->reply_ms = (unsigned)ms;
    return ret;
}

static int jlink_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct jlink *j = make(cfg->adapter, cfg->log, err);
    if (!j)
        return -ERR_NOMEM;
    if (cfg->speed_hz)
        j->wanted_hz = cfg->speed_hz;
    int ret = options_each(cfg->spec, option, j, err);
    if (ret == 0)
        ret = connect_usb(j, err);
    if (ret < 0) {
        err_prefix(err, ret, j->probe.name);
        free(j);
        return ret;
    }
    *out = &j->probe;
    return 0;
}

static int jlink_reopen(struct probe *p, struct err *err)
{
    struct jlink *j = self(p);
    int ret = connect_usb(j, err);
    return ret < 0 ? err_prefix(err, ret, p->name) : 0;
}

static const struct jtag_ops jlink_jtag = {
    .execute = jlink_execute,
    .set_pins = jlink_set_pins,
    .get_pins = jlink_get_pins,
    .set_clock = jlink_set_clock,
    .wait = jlink_wait,
    .now_ns = jlink_now_ns,
    .batch_bits = jlink_batch,
    .voltage = jlink_voltage,
    .stats = jlink_stats,
};

const struct probe_driver jlink_driver = {
    .name = "jlink",
    .help = "SEGGER J-Link, e.g. jlink:123456789",
    .ids = ids,
    .list = jlink_list,
    .open = jlink_open,
    .close = jlink_close,
    .reopen = jlink_reopen,
    .jtag = &jlink_jtag,
};

static const struct probe_driver *driver(void) { return &jlink_driver; }
