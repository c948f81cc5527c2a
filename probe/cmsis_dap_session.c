/* Requests and answers of an open CMSIS-DAP probe: one at a time, or as many in flight as the probe
 * has buffers; in step again after anything went wrong. */
#include "probe/cmsis_dap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

/* clang-format off */
enum {
    ANSWER_MS = 2000, /* the usual deadline; a command that may legally take longer adds to it */
    PROVE_MS = 500, PROVE_READS = 16, PROVE_TRIES = 3,
    REVIVE_US = 100000, REVIVE_TRIES = 10
};
/* clang-format on */

static unsigned usual_ms(const struct dap *d)
{
    return d->timeout_ms ? d->timeout_ms : d->quirk->timeout_ms ? d->quirk->timeout_ms : ANSWER_MS;
}

/* Twice what the clocks should take is added: probes round the clock down. */
static unsigned deadline_ms(const struct dap *d, uint64_t clocks)
{
    return usual_ms(d) + (unsigned)(clocks * 2000 / MAX(d->hz, 1u));
}

static int closed(const struct dap *d, struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "%s: not open", d->probe.name);
}

/* ---- one at a time ---- */

static int ask_once(struct dap *d, const uint8_t *req, size_t len, uint8_t *in, unsigned ms,
                    struct err *err)
{
    const struct dap_transport *t = d->link->t;
    memcpy(d->packet[0].out + 1, req, len);
    int ret = t->write(d->link, d->packet[0].out, len, ms, err);
    return ret < 0 ? ret : t->read(d->link, in, ms, err);
}

static void set_token(struct dap *d)
{
    d->lim.token = d->link->exact            ? DAP_TOKEN_LENGTH
                   : d->can & DAP_CAN_ATOMIC ? DAP_TOKEN_WRAP
                                             : DAP_TOKEN_NONE;
}

/* Every other command goes inside of DAP_ExecuteCommands where the probe has that, so that an
 * answer repeated is not taken for the next one's. Returns the length of the answer without that;
 * 0: it belongs to something else. */
static int ask_marked(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
                      struct err *err)
{
    uint8_t wrapped[64] = { DAP_EXECUTE, 1 }, *in = d->packet[0].in;
    bool wrap = d->can & DAP_CAN_ATOMIC && d->odd && len + 2 <= sizeof wrapped;
    size_t head = wrap ? 2 : 0;
    memcpy(wrapped + 2, req, len);
    int n = ask_once(d, wrap ? wrapped : req, len + head, in, ms, err);
    d->odd = !d->odd;
    if (n < 0)
        return n;
    if (wrap && n >= 1 && in[0] == DAP_UNKNOWN) { /* it said it could */
        d->can &= ~(unsigned)DAP_CAN_ATOMIC;
        set_token(d);
        return ask_marked(d, req, len, answer, ms, err);
    }
    if ((size_t)n <= head || (wrap && (in[0] != DAP_EXECUTE || in[1] != 1)))
        return 0;
    n = (int)MIN((size_t)n - head, (size_t)DAP_MAX_PACKET);
    memcpy(answer, in + head, (size_t)n);
    return n;
}

int dap_command(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
                struct err *err)
{
    if (!d->link)
        return closed(d, err);
    int n = ask_marked(d, req, len, answer, deadline_ms(d, 0) + ms, err);
    d->broken = true; /* until the answer is seen to be one */
    if (n < 0)
        return n;
    bool unknown = n >= 1 && answer[0] == DAP_UNKNOWN;
    if (!unknown && (n < 2 || answer[0] != req[0]))
        return err_set(err, ERR_PROTOCOL,
                       "if this repeats: another USB port, newer firmware of the probe",
                       "%s: command %02x was answered by %02x (%d bytes)", d->probe.name, req[0],
                       n > 0 ? answer[0] : 0, n);
    d->broken = false;
    if (unknown)
        return err_set(err, ERR_UNSUPPORTED, "try newer firmware of the probe",
                       "%s: its firmware does not know command %02x", d->probe.name, req[0]);
    return n;
}

int dap_ask(struct dap *d, const uint8_t *req, size_t len, uint8_t *answer, unsigned ms,
            struct err *err)
{
    struct err why;
    int n = dap_command(d, req, len, answer, ms, &why);
    if (n >= 0 || !d->broken || d->recovering) {
        if (n < 0 && err)
            *err = why;
        return n;
    }
    log_msg(d->probe.log, LOG_USB, "%s: asked again after: %s", d->probe.name, why.what);
    int ret = dap_recover(d, err);
    if (ret == 0 && d->was_reset) {
        d->broken = true;
        return err_set(err, ERR_USB, "check the USB cable and hub", "%s: reset, after: %s",
                       d->probe.name, why.what);
    }
    return ret < 0 ? ret : dap_command(d, req, len, answer, ms, err);
}

/* ---- in step ---- */

/* The bulk interface's messages end with their last byte (CMSIS-DAP, "USB packets"); some firmware
 * sends whole packets all the same, of the endpoint's or of the message's size, which the first
 * answer says. */
static bool is_padded(struct dap *d, const uint8_t *in, uint8_t id, int len)
{
    if (id != DAP_INFO_SIZE || (len != (int)d->link->endpoint && len != le16(in + 2)))
        return false;
    if (d->link->exact)
        log_msg(d->probe.log, LOG_USB, "%s: its answers are padded to %d bytes", d->probe.name,
                len);
    d->link->exact = false;
    d->link->pad = (size_t)len;
    return true;
}

/* Asks, and reads until the answer to a DAP_Info of n bytes comes; at most `reads` others are
 * dropped. 0, 1 for none, or failure. */
static int prove_info(struct dap *d, uint8_t id, uint8_t n, unsigned reads, unsigned *value,
                      struct err *err)
{
    const uint8_t req[] = { DAP_INFO, id };
    uint8_t *in = d->packet[0].in;
    struct err why;
    unsigned ms = MIN(usual_ms(d), (unsigned)PROVE_MS);
    int ret = ask_once(d, req, sizeof req, in, ms, &why);
    for (unsigned i = 0; ret >= 0; i++) {
        if (ret >= 2 + n && in[0] == DAP_INFO && in[1] == n &&
            (!d->link->exact || ret == 2 + n || is_padded(d, in, id, ret))) {
            *value = n == 2 ? le16(in + 2) : in[2];
            return 0;
        }
        if (i == reads)
            return 1;
        log_msg(d->probe.log, LOG_USB, "%s: dropped a stale answer %02x (%d bytes)", d->probe.name,
                ret ? in[0] : 0, ret);
        ret = d->link->t->read(d->link, in, ms, &why);
    }
    if (ret != -ERR_USB)
        return 1;
    if (err)
        *err = why;
    return ret;
}

/* The probe answers in the order of the requests. So: drop what is there; ask something, which also
 * ends a queue of commands that a host left behind (DAP_QueueCommands); drop answers until one
 * fits; then the next must fit the next question, and none may follow. */
static int in_step(struct dap *d, struct err *err)
{
    unsigned size = 0, count = 0;
    for (unsigned i = 0; i < PROVE_TRIES; i++) {
        int ret = d->link->t->drain(d->link, err);
        if (ret == -ERR_USB)
            return ret;
        ret = prove_info(d, DAP_INFO_SIZE, 2, PROVE_READS, &size, err);
        if (ret == 0)
            ret = prove_info(d, DAP_INFO_COUNT, 1, 0, &count, err);
        if (ret < 0)
            return ret;
        if (ret > 0 || (d->size && (size != d->size || count != d->count)))
            continue;
        ret = d->link->t->drain(d->link, err);
        if (ret < 0)
            return ret;
        if (ret > 0)
            continue;
        d->size = size;
        d->count = count;
        d->broken = false;
        return 0;
    }
    return err_set(err, ERR_TIMEOUT, "unplug the adapter, plug it in again",
                   "%s: does not answer DAP_Info", d->probe.name);
}

/* Five clocks of TMS high, one low: Test-Logic-Reset from anywhere, then Run-Test/Idle. */
static int tap_to_idle(struct dap *d, struct err *err)
{
    static const uint8_t req[] = { DAP_JTAG_SEQUENCE, 2, 0x45, 0x00, 0x01, 0x00 };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_command(d, req, sizeof req, answer, deadline_ms(d, 6), err);
    d->tap_unknown = n < 0;
    return MIN(n, 0);
}

/* The last step: what the probe was set to is gone then. */
static int reset_port(struct dap *d, struct err *err)
{
    bool was_connected = d->connected;
    if (!d->link->t->reset)
        return -ERR_TIMEOUT;
    d->connected = false;
    d->was_reset = d->tap_unknown = was_connected;
    int ret = d->link->t->reset(d->link, err);
    if (ret == 0)
        ret = in_step(d, err);
    return ret == 0 && was_connected ? dap_connect(d, err) : ret;
}

int dap_recover(struct dap *d, struct err *err)
{
    if (!d->link)
        return closed(d, err);
    d->link->t->cancel(d->link);
    d->flying = 0;
    d->broken = d->recovering = true;
    int ret = in_step(d, err);
    if (ret < 0)
        ret = reset_port(d, err);
    if (ret == 0 && d->connected && d->tap_unknown)
        ret = tap_to_idle(d, err);
    d->recovering = false;
    if (ret == 0)
        return 0;
    d->broken = true;
    if (err)
        err->code = ERR_USB;
    return -ERR_USB;
}

/* ---- what it is ---- */

static int damaged(struct dap *d, struct err *err)
{
    d->broken = true;
    return err_set(err, ERR_PROTOCOL, "another USB port, newer firmware of the probe",
                   "%s: what it says of itself is damaged", d->probe.name);
}

static int info_text(struct dap *d, uint8_t id, char *to, size_t cap, struct err *err)
{
    const uint8_t req[] = { DAP_INFO, id };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n == -ERR_UNSUPPORTED ? 0 : n;
    if (answer[1] > n - 2)
        return damaged(d, err);
    snprintf(to, cap, "%.*s", (int)answer[1], (const char *)answer + 2);
    for (char *c = to; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return 0;
}

static int capabilities(struct dap *d, unsigned *can, struct err *err)
{
    static const uint8_t req[] = { DAP_INFO, DAP_INFO_CAPABILITIES };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    if (answer[1] < 1 || answer[1] > n - 2)
        return damaged(d, err);
    *can = answer[2];
    return 0;
}

/* Answers to DAP_Info look alike: what they say is believed when the question after them gets the
 * answer that is known already. */
static int identify_once(struct dap *d, struct err *err)
{
    unsigned count, can = 0;
    d->can = 0;
    int ret = capabilities(d, &can, err);
    if (ret == 0)
        ret = info_text(d, DAP_INFO_FIRMWARE, d->firmware, sizeof d->firmware, err);
    /* the product's own version; older firmware has that of the protocol's only */
    if (ret == 0 && !d->firmware[0])
        ret = info_text(d, DAP_INFO_PROTOCOL, d->firmware, sizeof d->firmware, err);
    if (ret < 0)
        return ret;
    ret = prove_info(d, DAP_INFO_COUNT, 1, 0, &count, err);
    if (ret < 0)
        return ret;
    if (ret > 0 || count != d->count)
        return damaged(d, err);
    d->can = can;
    return 0;
}

static int identify(struct dap *d, struct err *err)
{
    struct err why;
    int ret = -ERR_PROTOCOL;
    for (unsigned i = 0; i < PROVE_TRIES && (ret == -ERR_PROTOCOL || ret == -ERR_TIMEOUT); i++) {
        if (d->broken && (ret = dap_recover(d, err)) < 0)
            return ret;
        ret = identify_once(d, &why);
    }
    if (ret < 0 && err)
        *err = why;
    return ret;
}

/* What the firmware says, as far as it can be true: one buffer and 64 bytes are always there. */
static void set_limits(struct dap *d)
{
    size_t most = d->link->t->reports ? d->link->packet : DAP_MAX_PACKET;
    d->link->packet = d->size < 16 ? MIN(most, (size_t)DAP_MIN_PACKET) : MIN((size_t)d->size, most);
    if (d->link->t->reports)
        d->link->packet = most; /* reports have one length, whatever the firmware says */
    d->lim.packet = d->link->packet;
    if (d->link->t->reports && d->size >= 16)
        d->lim.packet = MIN(d->lim.packet, (size_t)d->size);
    d->lim.endpoint = d->link->endpoint;
    set_token(d);
    d->depth = MIN(MAX(d->count, 1u), (unsigned)DAP_SLOTS);
    if (d->quirk->in_flight)
        d->depth = MIN(d->depth, (unsigned)d->quirk->in_flight);
    if (d->most_in_flight)
        d->depth = MIN(d->depth, d->most_in_flight);
}

/* Opens the interface and finds the probe in step; a HID that does not answer is opened once more
 * after a reset of its port. */
static int open_in_step(struct dap *d, const struct usb_info *dev, const struct dap_place *place,
                        struct err *err)
{
    int ret = place->t->open(dev, place->interface, d->probe.log, &d->link, err);
    if (ret < 0)
        return ret;
    ret = dap_recover(d, err);
    if (ret == 0 || !place->t->revive)
        return ret;
    dap_stop(d);
    if (place->t->revive(dev, place->interface, err) < 0)
        return -ERR_USB;
    for (unsigned i = 0; i < REVIVE_TRIES && !d->link; i++) {
        usleep(REVIVE_US);
        ret = place->t->open(dev, place->interface, d->probe.log, &d->link, err);
    }
    return ret < 0 ? ret : dap_recover(d, err);
}

int dap_start(struct dap *d, const struct usb_info *dev, struct err *err)
{
    struct dap_place place;
    if (!dap_find(dev, d->only, &place))
        return err_set(err, ERR_UNSUPPORTED, "leave out v1 or v2",
                       "%s: no such interface of CMSIS-DAP", d->probe.name);
    d->quirk = dap_quirks(dev);
    d->can = d->count = d->size = 0;
    d->connected = d->broken = d->tap_unknown = d->was_reset = false;
    d->head = d->flying = 0;
    int ret = open_in_step(d, dev, &place, err);
    if (ret == 0)
        ret = identify(d, err);
    if (ret < 0) {
        dap_stop(d);
        return ret;
    }
    set_limits(d);
    log_msg(d->probe.log, LOG_USB, "%s: %s, packets of %zu bytes, %u in flight, firmware %s%s%s",
            d->probe.name, place.t->name, d->lim.packet, d->depth,
            d->firmware[0] ? d->firmware : "?", d->quirk->why ? "; " : "",
            d->quirk->why ? d->quirk->why : "");
    return 0;
}

void dap_stop(struct dap *d)
{
    static const uint8_t req[] = { DAP_DISCONNECT };
    uint8_t answer[DAP_MAX_PACKET];
    uint64_t transfers, bytes;
    if (!d->link)
        return;
    d->link->t->cancel(d->link);
    d->flying = 0;
    /* some firmware hangs if it comes without a DAP_Connect (probe-rs issue 2950) */
    if (d->connected && !d->broken)
        dap_command(d, req, sizeof req, answer, 0, NULL);
    if (d->best_hz)
        log_msg(d->probe.log, LOG_USB, "%s: clocks came at up to %llu kHz, %u kHz were asked for",
                d->probe.name, (unsigned long long)(d->best_hz / 1000), d->hz / 1000);
    d->link->t->stats(d->link, &transfers, &bytes);
    d->old_transfers += transfers;
    d->old_bytes += bytes;
    d->link->t->close(d->link);
    d->link = NULL;
    d->connected = false;
}

/* ---- JTAG port ---- */

static int swd_only(const struct dap *d, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "use an adapter with JTAG: many low-cost CMSIS-DAP probes have SWD alone",
                   "%s: this probe speaks SWD only, not JTAG", d->probe.name);
}

static int set_port(struct dap *d, struct err *err)
{
    static const uint8_t req[] = { DAP_CONNECT, DAP_PORT_JTAG };
    uint8_t answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    d->connected = answer[1] == DAP_PORT_JTAG;
    if (!d->connected)
        return err_set(err, ERR_UNSUPPORTED,
                       "is its JTAG connector free, and the target powered? plug it in again",
                       "%s: the probe refused to switch to JTAG (answered %u)", d->probe.name,
                       answer[1]);
    return 0;
}

int dap_set_clock(struct dap *d, uint32_t hz, struct err *err)
{
    uint8_t req[5] = { DAP_SWJ_CLOCK }, answer[DAP_MAX_PACKET];
    put_le32(req + 1, hz);
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    if (answer[1] != 0)
        return err_set(err, ERR_UNSUPPORTED, "try another --speed",
                       "%s: the probe refused a clock of %u Hz", d->probe.name, hz);
    d->hz = hz;
    return 0;
}

int dap_set_pins(struct dap *d, unsigned mask, unsigned value, unsigned *got, struct err *err)
{
    unsigned select = (mask & JTAG_PIN_NTRST ? (unsigned)DAP_PIN_NTRST : 0) |
                      (mask & JTAG_PIN_NRESET ? (unsigned)DAP_PIN_NRESET : 0);
    unsigned out = (value & JTAG_PIN_NTRST ? (unsigned)DAP_PIN_NTRST : 0) |
                   (value & JTAG_PIN_NRESET ? (unsigned)DAP_PIN_NRESET : 0);
    uint8_t req[7] = { DAP_SWJ_PINS, (uint8_t)(out & select), (uint8_t)select },
            answer[DAP_MAX_PACKET];
    int n = dap_ask(d, req, sizeof req, answer, 0, err);
    if (n < 0)
        return n;
    unsigned levels = (answer[1] & DAP_PIN_NTRST ? (unsigned)JTAG_PIN_NTRST : 0) |
                      (answer[1] & DAP_PIN_NRESET ? (unsigned)JTAG_PIN_NRESET : 0);
    d->pins = (d->pins & ~mask) | (value & mask);
    d->seen_high |= levels;
    if (got)
        *got = levels;
    return 0;
}

int dap_connect(struct dap *d, struct err *err)
{
    if (!(d->can & DAP_CAN_JTAG))
        return swd_only(d, err);
    int ret = set_port(d, err);
    if (ret == 0)
        ret = dap_set_clock(d, d->hz, err);
    if (ret == 0)
        ret = dap_set_pins(d, JTAG_PIN_NTRST | JTAG_PIN_NRESET, JTAG_PIN_NTRST | JTAG_PIN_NRESET,
                           NULL, err);
    return ret;
}

/* ---- many in flight ---- */

/* A question whose answer is known, behind the last clocks of a run: where answers of the same
 * length and id follow each other, one too many shows by that. */
static const uint8_t check[] = { DAP_INFO, DAP_INFO_COUNT };

static int checked(const struct dap *d, const uint8_t *answer, int n, struct err *err)
{
    if (n >= 3 && answer[0] == DAP_INFO && answer[1] == 1 && answer[2] == d->count)
        return 0;
    return err_set(err, ERR_PROTOCOL, "another USB port, newer firmware of the probe",
                   "CMSIS-DAP: an answer too many: results may be wrong");
}

static int receive_oldest(struct dap *d, struct err *err)
{
    unsigned slot = d->head;
    struct dap_packet *p = &d->packet[slot];
    const struct dap_request *r = &d->request[slot];
    int n = d->link->t->receive(d->link, slot, p, deadline_ms(d, r->clocks), err);
    if (n < 0)
        return n;
    d->head = (slot + 1) % DAP_SLOTS;
    d->flying--;
    return r->clocks ? dap_unpack(r, p->in, (size_t)n, d->link->exact, d->owner[slot]->tdo, err)
                     : checked(d, p->in, n, err);
}

/* The slot for the next request, once there is one. */
static int free_slot(struct dap *d, struct jtag_chunk *c, unsigned *slot, struct err *err)
{
    int ret = d->flying >= d->depth ? receive_oldest(d, err) : 0;
    *slot = (d->head + d->flying) % DAP_SLOTS;
    d->owner[*slot] = c;
    d->request[*slot].buf = d->packet[*slot].out + 1;
    return ret;
}

static int send_slot(struct dap *d, unsigned slot, struct err *err)
{
    struct dap_packet *p = &d->packet[slot];
    p->len = d->request[slot].len;
    p->want = d->request[slot].answer_len;
    int ret = d->link->t->send(d->link, slot, p, err);
    d->flying += ret == 0;
    return ret;
}

static int send_check(struct dap *d, struct jtag_chunk *c, struct err *err)
{
    unsigned slot;
    int ret = free_slot(d, c, &slot, err);
    if (ret < 0)
        return ret;
    struct dap_request *r = &d->request[slot];
    memcpy(r->buf, check, sizeof check);
    r->len = sizeof check;
    r->answer_len = 3;
    r->clocks = 0;
    return send_slot(d, slot, err);
}

static int stream_send(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct dap *d = ctx;
    uint32_t field = 0;
    int ret = 0;
    for (uint32_t at = 0; ret == 0 && at < c->nbits;) {
        unsigned slot;
        ret = free_slot(d, c, &slot, err);
        if (ret < 0)
            return ret;
        at += dap_pack(c, at, &field, d->odd, &d->lim, &d->request[slot]);
        d->odd = !d->odd;
        ret = send_slot(d, slot, err);
    }
    if (ret == 0 && c->last && d->lim.token == DAP_TOKEN_NONE)
        ret = send_check(d, c, err);
    return ret;
}

static int stream_receive(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct dap *d = ctx;
    int ret = 0;
    for (;;) {
        bool of_c = false;
        for (unsigned i = 0; i < d->flying; i++)
            of_c = of_c || d->owner[(d->head + i) % DAP_SLOTS] == c;
        if (!of_c || ret < 0)
            return ret;
        ret = receive_oldest(d, err);
    }
}

const struct jtag_stream_io *dap_stream_io(void)
{
    static const struct jtag_stream_io io = { .send = stream_send, .receive = stream_receive };
    return &io;
}
