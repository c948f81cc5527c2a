/* The SH-4 driver on a wire that answers anything: words of the agent over JTAG, with private
 * commands or without, or bytes of it over a serial line, or of dcload first. It may fail, but not
 * hang, or write beyond a buffer. The first byte of the input picks the wire, the rest is what
 * comes back; behind its end TDO is high, and the line is silent: of one input in eight for ever,
 * of the others until the adapter is unplugged, for waiting out every deadline teaches little and
 * takes nearly all of the time. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sh4/sh4.h"
#include "tests/fuzz/session.h"

struct wire {
    struct probe probe;
    const uint8_t *at, *end;
    uint64_t ns;
    bool dcload, endless;
    unsigned quiet;  /* reads that give nothing, before the input goes on */
    unsigned silent; /* transfers since the input was used up */
};

enum { SILENT_MOST = 200 };

static struct wire *wire_of(struct probe *p) { return CONTAINER_OF(p, struct wire, probe); }

static size_t take_bytes(struct wire *w, uint8_t *buf, size_t n)
{
    n = MIN(n, (size_t)(w->end - w->at));
    memcpy(buf, w->at, n);
    w->at += n;
    return n;
}

/* Whether it is still plugged in. */
static int count_transfer(struct wire *w, struct err *err)
{
    if (w->endless || w->at < w->end || ++w->silent <= SILENT_MOST)
        return 0;
    return err_set(err, ERR_USB, "", "unplugged");
}

static uint64_t now_ns(struct probe *p) { return wire_of(p)->ns; }

static int wait_ns(struct probe *p, uint64_t ns, struct err *err)
{
    (void)err;
    wire_of(p)->ns += ns;
    return 0;
}

/* ---- JTAG ---- */

static int execute_ops(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct wire *w = wire_of(p);
    int ret = count_transfer(w, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = (ops[i].bits + 7) / 8;
        w->ns += 100 * (ops[i].bits + ops[i].idle_clocks + 5);
        if (!ops[i].tdo)
            continue;
        memset(ops[i].tdo, 0xFF, bytes);
        take_bytes(w, ops[i].tdo, bytes);
        if (ops[i].bits % 8)
            ops[i].tdo[bytes - 1] &= (uint8_t)((1u << ops[i].bits % 8) - 1);
    }
    return 0;
}

static int set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    (void)p, (void)mask, (void)value, (void)err;
    return 0;
}

static int get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    (void)p, (void)err;
    *value = *known = JTAG_PIN_VTREF | JTAG_PIN_NRESET;
    return 0;
}

static int set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    (void)p, (void)err;
    if (got_hz)
        *got_hz = hz;
    return 0;
}

static size_t batch_bits(struct probe *p)
{
    (void)p;
    return 4096;
}

static unsigned ir_bits(struct probe *p)
{
    (void)p;
    return 16;
}

static void link_stats(struct probe *p, uint64_t *clocks, uint64_t *transfers, uint64_t *bytes)
{
    fuzz_stats(wire_of(p)->ns, clocks, transfers, bytes);
}

/* ---- serial line ---- */

static unsigned stream_traits(struct probe *p) { return wire_of(p)->dcload ? STREAM_DCLOAD : 0; }

static uint32_t baud_rate(struct probe *p)
{
    (void)p;
    return 1500000;
}

/* A byte says how many come now. 0: the next says how often nothing does until the deadline, once
 * more than that. */
static int read_bytes(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    struct wire *w = wire_of(p);
    int ret = count_transfer(w, err);
    if (ret < 0)
        return ret;
    size_t n = 0;
    if (w->quiet)
        w->quiet--;
    else if (w->at < w->end && (n = *w->at++) == 0 && w->at < w->end)
        w->quiet = *w->at++;
    n = take_bytes(w, buf, MIN(cap, n));
    w->ns += n ? n * 10000 : max_ns + 1000;
    return (int)n;
}

static int write_bytes(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                       struct err *err)
{
    (void)buf, (void)max_ns, (void)err;
    wire_of(p)->ns += len * 10000;
    return 0;
}

static int flush_stream(struct probe *p, struct err *err)
{
    (void)p, (void)err;
    return 0;
}

static int set_baud(struct probe *p, uint32_t baud, uint32_t *got, struct err *err)
{
    return set_clock(p, baud, got, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct jtag_ops jtag = { .execute = execute_ops,
                                          .set_pins = set_pins,
                                          .get_pins = get_pins,
                                          .set_clock = set_clock,
                                          .wait = wait_ns,
                                          .now_ns = now_ns,
                                          .batch_bits = batch_bits,
                                          .stats = link_stats };
    static const struct stream_ops stream = { .traits = stream_traits,
                                              .read = read_bytes,
                                              .write = write_bytes,
                                              .flush = flush_stream,
                                              .set_baud = set_baud,
                                              .baud = baud_rate,
                                              .now_ns = now_ns,
                                              .stats = link_stats };
    struct jtag_ops chained = jtag;
    chained.ir_bits = ir_bits;
    const struct probe_driver drivers[] = { { .name = "alone", .jtag = &jtag },
                                            { .name = "chained", .jtag = &chained },
                                            { .name = "line", .stream = &stream } };
    if (!size)
        return 0;
    unsigned driver = data[0] % ARRAY_LEN(drivers);
    struct wire w = { .probe = { .driver = &drivers[driver], .name = "any" },
                      .at = data + 1,
                      .end = data + size,
                      .dcload = driver == 2 && (data[0] & 0x20),
                      .endless = (data[0] & 0x1C) == 0x1C };
    const struct sh4_options opt = { .allow_private = driver < 2 && (data[0] & 0x40),
                                     .big_endian = data[0] & 0x80 };
    struct target *t;
    if (sh4_open(&w.probe, &opt, &t, NULL) < 0)
        return 0;
    fuzz_session(t, &(struct fuzz_session){ BP_SOFT, 0x8C010000, 0x8C010000 });
    t->ops->close(t);
    return 0;
}
