/* An MPSSE channel on USB: setting it up, moving batches, getting back into step.
 *
 * libftdi1 makes the chip's requests. Data go through probe/usb.h: libftdi1's own asynchronous
 * reads allow one in flight, have no deadline, and wait in a loop that does not sleep. Reads are
 * always posted, so that the chip can give up its replies at any time: its FIFOs are small, and an
 * engine that cannot put down a reply stops taking commands. Every batch ends with an opcode that
 * does not exist; its echo proves that nothing was lost, added or left from before. */
#include <ftdi.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/ftdi.h"
#include "probe/host_time.h"
#include "probe/usb_private.h"

/* clang-format off */
enum {
    READ_SLOT = FTDI_BATCHES, /* slots 0 .. are the batches' */
    /* bounds the wait where send-immediate was not enough; 1 would double the empty packets */
    LATENCY_MS = 2,
    REQUEST_MS = 1000, WRITE_MS = 1000, DRAIN_MS = 50, DRAIN_READS = 64,
    BATCH_MS = 2000,          /* beyond what the clocks take */
    /* After that time: a host that was stopped, or did not get its turn, has not looked meanwhile.
     * What is under way then may be the chip's two empty bytes. */
    LATE_MS = 100, LATE_READS = 4 * FTDI_READS,
    ADAPTIVE_HZ = 20000,      /* slower ones time out */
    LOOP_BYTES = 60
};
/* clang-format on */
enum {
    TOKEN_A = 0xAA,
    TOKEN_B = 0xAB,
    CMD_LOW = 0x80,
    CMD_HIGH = 0x82,
    CMD_LOOP = 0x84,
    CMD_NO_LOOP = 0x85,
    CMD_DIVISOR = 0x86,
    CMD_60MHZ = 0x8A,
    CMD_12MHZ = 0x8B,
    CMD_TWO_PHASE = 0x8D,
    CMD_ADAPTIVE = 0x96,
    CMD_NOT_ADAPTIVE = 0x97,
    CMD_SHIFT_BOTH = 0x39
};
enum { PIN_TMS = 0x08 };

/* ---- in flight ---- */

static void forget_flight(struct ftdi *f)
{
    usb_cancel_all(f->usb);
    f->first = f->flying = f->next_read = f->posted = 0;
}

int ftdi_lost(struct ftdi *f, struct err *err)
{
    f->broken = true;
    forget_flight(f);
    if (err)
        err->code = ERR_USB;
    return err_prefix(err, -ERR_USB, f->probe.name);
}

static int post_reads(struct ftdi *f, struct err *err)
{
    int ret = 0;
    while (ret == 0 && f->posted < FTDI_READS) {
        unsigned i = (f->next_read + f->posted) % FTDI_READS;
        ret = usb_submit(f->usb, READ_SLOT + i, f->ep_in, f->read[i], FTDI_READ, err);
        f->posted += ret == 0;
    }
    return ret;
}

/* Bytes of the engine, in order: the oldest batch that misses some gets them. */
static int feed_batches(struct ftdi *f, const uint8_t *data, size_t n, struct err *err)
{
    for (unsigned k = 0; k < f->flying && n > 0; k++) {
        struct ftdi_batch *b = &f->batch[(f->first + k) % FTDI_BATCHES];
        size_t now = MIN(n, b->m.nin - b->got);
        memcpy(b->in + b->got, data, now);
        b->got += (uint32_t)now;
        data += now;
        n -= now;
    }
    if (n > 0)
        return err_set(err, ERR_PROTOCOL,
                       "check the USB cable; unplug the adapter and plug it in again if this stays",
                       "%zu bytes came that nobody asked for", n);
    return 0;
}

static int collect_replies(struct ftdi *f, unsigned timeout_ms, struct err *err)
{
    int ret = post_reads(f, err);
    if (ret < 0)
        return ret;
    unsigned i = f->next_read;
    int n = usb_wait(f->usb, READ_SLOT + i, timeout_ms, err);
    f->next_read = (i + 1) % FTDI_READS;
    f->posted--;
    if (n < 0)
        return n;
    ret = feed_batches(f, f->read[i], mpsse_strip(f->read[i], (size_t)n, f->packet), err);
    if (ret < 0)
        return ret;
    return post_reads(f, err);
}

/* Nothing comes: what became of the commands may say why. */
static int explain_late(struct ftdi *f, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = usb_wait(f->usb, f->first, 0, &why);
    if (ret < 0 && ret != -ERR_TIMEOUT) {
        if (err)
            *err = why;
        return ret;
    }
    const char *hint = "unplug the adapter, plug it in again";
    if (f->adaptive)
        hint = "adaptive clocking needs RTCK at GPIOL3: does it toggle? else leave adaptive=on out";
    return err_set(err, ERR_TIMEOUT, hint, "the chip does not answer");
}

/* Waits for the oldest batch. Its clocks, and those of the ones before it, take their time. */
static int receive_batch(struct ftdi *f, struct err *err)
{
    unsigned slot = f->first;
    struct ftdi_batch *b = &f->batch[slot];
    uint32_t hz = f->got_hz;
    if (f->adaptive) /* the target may return TCK slower than asked */
        hz = MIN(hz, ADAPTIVE_HZ);
    uint64_t end = host_ms() + BATCH_MS + b->m.clocks * 2000 / MAX(hz, 1);
    for (unsigned late = 0; b->got < b->m.nin;) {
        uint64_t left = EXCESS(end, host_ms());
        if (!left && late++ == LATE_READS)
            return explain_late(f, err);
        int ret = collect_replies(f, MAX((unsigned)left, (unsigned)LATE_MS), err);
        if (ret == -ERR_TIMEOUT)
            return explain_late(f, err);
        if (ret < 0)
            return ret;
    }
    int n = usb_wait(f->usb, slot, WRITE_MS, err);
    if (n >= 0 && (uint32_t)n != b->m.nout)
        n = err_set(err, ERR_USB, "check the USB cable", "only %d of %u bytes were taken", n,
                    b->m.nout);
    if (n < 0)
        return n;
    f->first = (f->first + 1) % FTDI_BATCHES;
    f->flying--;
    f->clocks += b->m.clocks;
    return mpsse_decode(&b->m, b->in, err);
}

static int send_batch(struct ftdi *f, struct err *err)
{
    unsigned slot = (f->first + f->flying) % FTDI_BATCHES;
    struct ftdi_batch *b = &f->batch[slot];
    uint8_t token = TOKEN_A;
    if (f->tokens++ & 1)
        token = TOKEN_B;
    mpsse_finish(&b->m, token);
    b->got = 0;
    int ret = post_reads(f, err);
    if (ret == 0)
        ret = usb_submit(f->usb, slot, f->ep_out, b->out, b->m.nout, err);
    f->flying += ret == 0;
    return ret;
}

static struct ftdi_batch *begin_batch(struct ftdi *f)
{
    struct ftdi_batch *b = &f->batch[(f->first + f->flying) % FTDI_BATCHES];
    b->m.out = b->out;
    b->m.reply = b->reply;
    b->m.cap_out = FTDI_OUT;
    b->m.cap_in = FTDI_IN;
    b->m.cap_replies = FTDI_REPLIES;
    b->m.falling = f->falling;
    b->m.packet_data = f->packet - 2u;
    mpsse_begin(&b->m);
    return b;
}

int ftdi_run(struct ftdi *f, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct mpsse_cursor c = { .ops = ops, .n = n };
    int ret = jtag_check(ops, n, err);
    if (ret < 0)
        return ret;
    for (bool all = n == 0; ret == 0 && (!all || f->flying > 0);) {
        if (all || f->flying == FTDI_BATCHES) {
            ret = receive_batch(f, err);
            continue;
        }
        all = mpsse_encode(&c, &begin_batch(f)->m);
        ret = send_batch(f, err);
        f->tms_low = true;
    }
    if (ret < 0)
        return ftdi_lost(f, err);
    return 0;
}

static int run_command(struct ftdi *f, const uint8_t *out, size_t nout, uint8_t *in, size_t nin,
                       struct err *err)
{
    struct ftdi_batch *b = begin_batch(f);
    memcpy(b->out, out, nout);
    b->m.nout = (uint32_t)nout;
    b->m.nin = (uint32_t)nin;
    int ret = send_batch(f, err);
    if (ret == 0)
        ret = receive_batch(f, err);
    if (ret == 0 && nin)
        memcpy(in, b->in, nin);
    return ret;
}

int ftdi_command(struct ftdi *f, const uint8_t *out, size_t nout, uint8_t *in, size_t nin,
                 struct err *err)
{
    int ret = run_command(f, out, nout, in, nin, err);
    if (ret < 0)
        return ftdi_lost(f, err);
    return 0;
}

/* ---- settings ---- */

int ftdi_send_pins(struct ftdi *f, struct err *err)
{
    uint16_t v = (uint16_t)with_bits(f->value, PIN_TMS, !f->tms_low);
    uint8_t out[] = { CMD_LOW,  (uint8_t)v,        (uint8_t)f->direction,
                      CMD_HIGH, (uint8_t)(v >> 8), (uint8_t)(f->direction >> 8) };
    return run_command(f, out, sizeof out, NULL, 0, err);
}

int ftdi_send_clock(struct ftdi *f, struct err *err)
{
    bool slow;
    uint32_t got;
    uint16_t d = mpsse_divisor(f->hz, &slow, &got);
    uint8_t out[] = { CMD_60MHZ,   CMD_NOT_ADAPTIVE, CMD_TWO_PHASE,
                      CMD_DIVISOR, (uint8_t)d,       (uint8_t)(d >> 8) };
    if (slow)
        out[0] = CMD_12MHZ;
    if (f->adaptive)
        out[1] = CMD_ADAPTIVE;
    int ret = run_command(f, out, sizeof out, NULL, 0, err);
    if (ret == 0)
        f->got_hz = got;
    return ret;
}

/* ---- setting up ---- */

/* libftdi1's result of a failed request is the same for an unplugged device and for other
 * failures. */
static int check_request(struct ftdi *f, const struct usb_info *dev, int rc, const char *doing,
                         struct err *err)
{
    if (rc >= 0)
        return 0;
    if (!usb_present(dev))
        return err_set(err, ERR_USB, "plug it in again", "USB %s: unplugged", dev->bus_path);
    return err_set(err, ERR_USB, "unplug the adapter, plug it in again", "%s: %s", doing,
                   ftdi_get_error_string(f->ctx));
}

/* Drops the chip's replies to an earlier session. The chip sends empty packets for ever: the first
 * one ends it. */
static int drain_replies(struct ftdi *f, struct err *err)
{
    for (unsigned i = 0; i < DRAIN_READS; i++) {
        struct err why = { .code = ERR_OK };
        int n = usb_bulk(f->usb, f->ep_in, f->read[0], FTDI_READ, DRAIN_MS, &why);
        if (n == -ERR_TIMEOUT || (n >= 0 && mpsse_strip(f->read[0], (size_t)n, f->packet) == 0))
            return 0;
        if (n < 0) {
            if (err)
                *err = why;
            return n;
        }
    }
    return err_set(err, ERR_PROTOCOL, "unplug the adapter, plug it in again",
                   "the chip never stops sending");
}

/* Resets the engine: a command under way is dropped. The latency timer is set again, since a reset
 * of the port restores its default. */
static int set_up_engine(struct ftdi *f, const struct usb_info *dev, struct err *err)
{
    int ret = check_request(f, dev, ftdi_usb_reset(f->ctx), "reset", err);
    if (ret == 0)
        ret =
            check_request(f, dev, ftdi_set_latency_timer(f->ctx, LATENCY_MS), "latency timer", err);
    if (ret == 0)
        ret = check_request(f, dev, ftdi_set_bitmode(f->ctx, 0, BITMODE_RESET), "bit mode", err);
    if (ret == 0)
        ret = check_request(f, dev, ftdi_set_bitmode(f->ctx, 0, BITMODE_MPSSE), "MPSSE mode", err);
    if (ret == 0)
        ret = check_request(f, dev, ftdi_tcioflush(f->ctx), "purge", err);
    if (ret < 0)
        return ret;
    return drain_replies(f, err);
}

/* Data that go round inside the chip: what comes back wrong here did not get lost on the target's
 * side. TMS is high meanwhile, so the target stays where it is, or goes to Test-Logic-Reset. */
static int prove_loopback(struct ftdi *f, struct err *err)
{
    uint8_t out[4 + LOOP_BYTES + 1] = { CMD_LOOP, CMD_SHIFT_BOTH, LOOP_BYTES - 1, 0 },
                                 in[LOOP_BYTES];
    for (unsigned i = 0; i < LOOP_BYTES; i++)
        out[4 + i] = (uint8_t)(i * 37 + 11);
    out[4 + LOOP_BYTES] = CMD_NO_LOOP;
    int ret = run_command(f, out, sizeof out, in, sizeof in, err);
    if (ret == 0 && memcmp(in, out + 4, LOOP_BYTES) != 0)
        ret = err_set(err, ERR_PROTOCOL, "check the USB cable; try another adapter",
                      "self-test: data looped inside the chip come back changed");
    return ret;
}

/* Twice, with different echoes: the first may come from before. */
static int prove_in_step(struct ftdi *f, struct err *err)
{
    static const uint8_t off[] = { CMD_NO_LOOP };
    f->tms_low = false;
    int ret = run_command(f, off, sizeof off, NULL, 0, err);
    if (ret == 0)
        ret = run_command(f, off, sizeof off, NULL, 0, err);
    if (ret == 0)
        ret = ftdi_send_clock(f, err);
    if (ret == 0)
        ret = ftdi_send_pins(f, err);
    if (ret < 0)
        return ret;
    return prove_loopback(f, err);
}

static int bring_up(struct ftdi *f, const struct usb_info *dev, struct err *err)
{
    int ret = set_up_engine(f, dev, err);
    if (ret == 0)
        ret = prove_in_step(f, err);
    if (ret < 0)
        forget_flight(f);
    return ret;
}

/* ---- opening and closing ---- */

static unsigned channel_of(const struct ftdi *f)
{
    if (f->row.channel[0])
        return (unsigned)(f->row.channel[0] - 'A');
    return 0;
}

static int find_endpoints(struct ftdi *f, const struct usb_info *dev, struct err *err)
{
    f->ep_in = f->ep_out = 0;
    for (unsigned i = 0; i < dev->nitfs; i++)
        for (unsigned k = 0; dev->itf[i].number == channel_of(f) && k < dev->itf[i].neps; k++) {
            const struct usb_endpoint *e = &dev->itf[i].ep[k];
            if (e->address & 0x80)
                f->ep_in = e->address, f->packet = e->max_packet;
            else
                f->ep_out = e->address;
        }
    if (!f->ep_in || !f->ep_out || f->packet < 8 || FTDI_READ % f->packet != 0)
        return err_set(err, ERR_USB, "is it an FTDI chip?",
                       "channel %c has not the endpoints of one", (char)('A' + channel_of(f)));
    return 0;
}

static int open_library(struct ftdi *f, struct err *err)
{
    f->ctx = ftdi_new();
    if (!f->ctx)
        return err_set(err, ERR_NOMEM, "", "libftdi1 does not start");
    if (f->dev.nitfs > 1 &&
        ftdi_set_interface(f->ctx, (enum ftdi_interface)(INTERFACE_A + channel_of(f))) < 0)
        return err_set(err, ERR_USAGE, "", "no channel %s", f->row.channel);
    ftdi_set_usbdev(f->ctx, usb_handle(f->usb));
    f->ctx->usb_read_timeout = f->ctx->usb_write_timeout = REQUEST_MS;
    if (ftdi_get_latency_timer(f->ctx, &f->old_latency) < 0) /* what is wrong shows soon enough */
        f->old_latency = 0;
    return 0;
}

/* A stuck chip that is still on the bus gets a reset of its port, which has been seen to help. */
static int bring_up_or_reset(struct ftdi *f, const struct usb_info *dev, struct err *err)
{
    int ret = bring_up(f, dev, err);
    if (ret < 0 && usb_present(dev) && usb_reset(f->usb, NULL) == 0)
        ret = bring_up(f, dev, err);
    return ret;
}

static int start_channel(struct ftdi *f, const struct usb_info *dev, struct err *err)
{
    int ret = find_endpoints(f, dev, err);
    if (ret == 0)
        ret = usb_open(dev, (uint8_t)channel_of(f), f->probe.log, &f->usb, err);
    if (ret == 0)
        ret = open_library(f, err);
    if (ret < 0)
        return ret;
    return bring_up_or_reset(f, dev, err);
}

int ftdi_start(struct ftdi *f, const struct usb_info *dev, struct err *err)
{
    f->dev = *dev;
    int ret = start_channel(f, dev, err);
    f->broken = false;
    if (ret < 0)
        ftdi_stop(f);
    if (ret < 0)
        return err_prefix(err, ret, f->probe.name);
    return 0;
}

void ftdi_stop(struct ftdi *f)
{
    uint64_t transfers, bytes;
    static const uint8_t float_all[] = { CMD_LOW, 0, 0, CMD_HIGH, 0, 0 };
    if (f->usb && f->ctx && usb_present(&f->dev)) {
        if (!f->broken)
            run_command(f, float_all, sizeof float_all, NULL, 0, NULL);
        if (ftdi_set_bitmode(f->ctx, 0, BITMODE_RESET) >= 0 && f->old_latency)
            ftdi_set_latency_timer(f->ctx, f->old_latency);
    }
    if (f->ctx) {
        ftdi_set_usbdev(f->ctx, NULL); /* the handle is not its own */
        ftdi_free(f->ctx);
    }
    if (f->usb) {
        forget_flight(f);
        usb_stats(f->usb, &transfers, &bytes);
        f->old_transfers += transfers;
        f->old_bytes += bytes;
        usb_close(f->usb);
    }
    f->ctx = NULL;
    f->usb = NULL;
    f->old_latency = 0;
}

int ftdi_ready(struct ftdi *f, struct err *err)
{
    if (!f->usb)
        return err_set(err, ERR_USB, "plug it in again", "%s: not open", f->probe.name);
    if (!f->broken)
        return 0;
    int ret = bring_up_or_reset(f, &f->dev, err);
    f->broken = ret < 0;
    if (ret < 0 && err)
        err->code = ERR_USB;
    if (ret < 0)
        return err_prefix(err, -ERR_USB, f->probe.name);
    return 0;
}
