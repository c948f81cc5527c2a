/* Batches of scans through a J-Link: requests and replies that are under way while others are
 * packed. */
#include <stdio.h>
#include <string.h>

#include "probe/jlink.h"

enum { FIRST_IN_SLOT = JLINK_CHUNKS };

static unsigned clocks_ms(const struct jlink *j, uint64_t clocks)
{
    return (unsigned)(clocks * 1000 / MAX(j->tck_hz, 1000u));
}

/* What is on its way before this one has to be clocked out first. */
static unsigned batch_ms(const struct jlink *j)
{
    return j->reply_ms + 2 * JLINK_CHUNKS * clocks_ms(j, j->chunk[0].cap_bits);
}

/* The probe refused or failed: no TDO of this run is good. Too large a batch is not tried again. */
static int status_error(struct jlink *j, unsigned status, struct err *err)
{
    uint32_t cap = j->chunk[0].cap_bits;
    if (status != JLINK_STATUS_MEMORY)
        return err_set(err, ERR_TIMEOUT, "check the wiring; lower the wire clock",
                       "the probe could not clock a batch: status %u", status);
    for (size_t i = 0; i < JLINK_CHUNKS; i++)
        j->chunk[i].cap_bits = MAX(cap / 16 * 8, 64u);
    return err_set(err, ERR_TIMEOUT, "try again",
                   "%u bits are too many for the probe's memory: going on with %u", cap,
                   j->chunk[0].cap_bits);
}

/* The reads of a reply are on the bus before it comes, as many as it needs if none ends early. */
static int post_reads(struct jlink *j, struct jlink_batch *b, struct err *err)
{
    unsigned slot = FIRST_IN_SLOT + JLINK_INS * (unsigned)(b - j->batch);
    int ret = 0;
    b->reads = 0;
    for (size_t at = 0; ret == 0 && at < b->want; at += JLINK_TRANSFER, b->reads += ret == 0)
        ret = usb_submit(j->usb, slot + b->reads, j->ep_in, b->in + at,
                         jlink_read_bytes(b->want - at, j->max_packet), err);
    return ret;
}

static int fetch_reply(struct jlink *j, struct jlink_batch *b, struct err *err)
{
    unsigned slot = FIRST_IN_SLOT + JLINK_INS * (unsigned)(b - j->batch);
    size_t got = 0;
    for (unsigned i = 0; i < b->reads; i++) {
        int n = usb_wait(j->usb, slot + i, batch_ms(j), err);
        if (n < 0)
            return n;
        memmove(b->in + got, b->in + (size_t)i * JLINK_TRANSFER, (size_t)n);
        got += (size_t)n;
    }
    /* some ended early: old probes send the status by itself */
    for (unsigned empty = 0; got < b->want;) {
        int n = usb_bulk(j->usb, j->ep_in, b->in + got,
                         jlink_read_bytes(b->want - got, j->max_packet), batch_ms(j), err);
        empty = n == 0 ? empty + 1 : 0;
        if (empty > JLINK_MAX_EMPTY)
            n = err_set(err, ERR_TIMEOUT, "unplug the probe if this stays",
                        "the reply ends early: %zu bytes of %zu", got, b->want);
        if (n < 0)
            return n;
        got += (size_t)n;
    }
    if (got > b->want)
        return err_set(err, ERR_TIMEOUT, "", "out of step: %zu bytes came, %zu are right", got,
                       b->want);
    return 0;
}

/* Waits for a batch's request to be taken and its reply to be there. */
static int finish_batch(struct jlink *j, struct jlink_batch *b, struct err *err)
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
    unsigned status = JLINK_STATUS_OK;
    if (b->command == JLINK_HW_JTAG3)
        status = b->in[b->want - 1];
    if (status == JLINK_STATUS_OK)
        return 0;
    return status_error(j, status, err);
}

static enum jlink_command command_for(const struct jlink *j, const struct jtag_chunk *c)
{
    if (j->hw_major < 5) /* OpenOCD's rule: older hardware has no JTAG3 */
        return JLINK_HW_JTAG2;
    /* The last one is asked for its status at once: that is one round trip, too. */
    if (c->nfields == 0 && !c->last && jlink_can(j->caps, JLINK_CAP_JTAG_WRITE))
        return JLINK_HW_JTAG_WRITE;
    return JLINK_HW_JTAG3;
}

static int send_chunk(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct jlink *j = ctx;
    struct jlink_batch *b = &j->batch[c - j->chunk];
    b->command = command_for(j, c);
    b->want = jlink_reply_bytes(b->command, c->nbits);
    size_t len = jlink_jtag_request(b->out, b->command, c->tms, c->tdi, c->nbits);
    int ret = 0;
    if (j->awaited)
        ret = finish_batch(j, j->awaited, err);
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

static int receive_chunk(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct jlink *j = ctx;
    return finish_batch(j, &j->batch[c - j->chunk], err);
}

static int check_writes(struct jlink *j, struct err *err)
{
    uint8_t status;
    if (!j->wrote)
        return 0;
    j->wrote = false;
    int ret = jlink_ask(j, JLINK_HW_JTAG_GET_RESULT, &status, 1, err);
    if (ret < 0 || status == JLINK_STATUS_OK)
        return ret;
    return status_error(j, status, err);
}

void jlink_set_batch(struct jlink *j, uint32_t bits)
{
    for (size_t i = 0; i < JLINK_CHUNKS; i++)
        j->chunk[i].cap_bits = bits;
}

void jlink_batch_init(struct jlink *j)
{
    static const struct jtag_stream_io io = { .send = send_chunk, .receive = receive_chunk };
    for (size_t i = 0; i < JLINK_CHUNKS; i++) {
        struct jlink_batch *b = &j->batch[i];
        j->chunk[i] = (struct jtag_chunk){ .tms = b->tms,
                                           .tdi = b->tdi,
                                           .tdo = b->in,
                                           .cap_bits = 64,
                                           .field = b->field,
                                           .cap_fields = JLINK_MAX_FIELDS };
    }
    jtag_stream_init(&j->stream, &io, j, j->chunk, JLINK_CHUNKS);
}

int jlink_run(struct jlink *j, const struct jtag_op *ops, size_t n, struct err *err)
{
    int ret = jtag_stream_run(&j->stream, ops, n, err);
    if (ret != 0)
        return ret;
    return check_writes(j, err);
}

/* A batch of the largest size, in which TMS stays high: it changes nothing in a target, and shows
 * whether the probe's memory is large enough. The first eight clocks are a batch of their own:
 * OpenOCD says that firmware V5 and V6 wants whole bytes there. */
int jlink_try_batches(struct jlink *j, struct err *err)
{
    struct jtag_chunk *c = &j->chunk[0];
    uint32_t bits[2] = { 8, c->cap_bits };
    struct err why = { .code = ERR_OK };
    for (size_t i = 0; i < 2;) {
        memset(c->tms, 0xFF, bits[i] / 8);
        c->nbits = bits[i];
        c->last = true;
        int ret = send_chunk(j, c, &why);
        if (ret == 0)
            ret = receive_chunk(j, c, &why);
        memset(c->tms, 0, bits[i] / 8);
        c->nbits = 0;
        c->last = false;
        if (ret == 0)
            i++;
        else if (i == 1 && c->cap_bits < bits[1]) /* status_error() has made it smaller */
            bits[1] = c->cap_bits;
        else
            return err_set(err, why.code, why.hint, "first clocks: %s", why.what), ret;
    }
    return 0;
}
