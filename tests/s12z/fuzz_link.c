/* The S12Z driver on a BKGD pin that answers anything, through an adapter with a raw pipe, or one
 * like a pod whose firmware hides flags and knows no SYNC_PC. It may fail, but not hang, or write
 * beyond a buffer. The first byte of the input picks the adapter, the second how often an op ends
 * badly; the rest is what the target says; behind its end it says 0xEE, as a part that does not
 * respond. */
#include <stdint.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/s12z/s12z.h"
#include "tests/fuzz/session.h"

struct pin {
    struct probe probe;
    const uint8_t *at, *end;
    uint64_t ns;
    unsigned ops, bad_every;
};

static struct pin *pin_of(struct probe *p) { return CONTAINER_OF(p, struct pin, probe); }

static uint64_t now_ns(struct probe *p) { return pin_of(p)->ns; }

static int wait_ns(struct probe *p, uint64_t ns, struct err *err)
{
    (void)err;
    pin_of(p)->ns += ns;
    return 0;
}

static void say_bytes(struct pin *w, uint8_t *rx, size_t n)
{
    if (!rx)
        return;
    size_t has = MIN(n, (size_t)(w->end - w->at));
    memset(rx, 0xEE, n);
    memcpy(rx, w->at, has);
    w->at += has;
}

/* Every so many ops one ends with a long ACK, or with none, or the adapter fails. */
static enum bdc_outcome next_outcome(struct pin *w)
{
    static const enum bdc_outcome bad[] = { BDC_LONG_ACK, BDC_NO_ACK, BDC_LONG_ACK, BDC_NOT_SENT };
    w->ops++;
    return w->bad_every && w->ops % w->bad_every == 0 ? bad[w->ops / w->bad_every % ARRAY_LEN(bad)]
                                                      : BDC_OK;
}

static int execute_ops(struct probe *p, struct bdc_op *ops, size_t n, bool stop_on_long,
                       struct err *err)
{
    struct pin *w = pin_of(p);
    for (size_t i = 0; i < n; i++) {
        struct bdc_op *op = &ops[i];
        struct bdc_shape shape;
        bool command = op->kind == BDC_COMMAND;
        if (command && bdc_shape(op->opcode, &shape) != 0)
            return err_set(err, ERR_USAGE, "-", "no command %02x", op->opcode);
        op->outcome = next_outcome(w);
        if (op->outcome == BDC_NOT_SENT)
            return err_set(err, ERR_TIMEOUT, "-", "in step again");
        w->ns += 20000;
        op->at_ns = w->ns;
        if (op->kind != BDC_PAUSE && op->outcome != BDC_NO_ACK)
            say_bytes(w, op->rx,
                      command                 ? shape.rx_bytes + (shape.status ? 1u : 0u)
                      : op->kind == BDC_WRITE ? 0
                                              : op->len);
        if (op->outcome == BDC_NO_ACK || (op->outcome == BDC_LONG_ACK && stop_on_long))
            return (int)i + 1;
    }
    return (int)n;
}

static int sync_clock(struct probe *p, uint32_t *hz, struct err *err)
{
    struct pin *w = pin_of(p);
    w->ns += 1000000;
    if (w->at == w->end)
        return err_set(err, ERR_NO_TARGET, "-", "nothing answers");
    *hz = 100000u * (1u + *w->at++);
    return 0;
}

static int set_clock(struct probe *p, uint32_t hz, struct err *err)
{
    (void)p, (void)hz, (void)err;
    return 0;
}

static int set_ack(struct probe *p, bool on, struct err *err)
{
    (void)p, (void)on, (void)err;
    return 0;
}

static bool can_all(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    (void)p, (void)kind, (void)opcode;
    return true;
}

static bool can_few(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    (void)p;
    return kind == BDC_READ || kind == BDC_WRITE ||
           (kind == BDC_COMMAND && opcode != BDC_SYNC_PC && opcode != BDC_READ_DBGTB);
}

static int set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    (void)p, (void)mask, (void)value, (void)err;
    return 0;
}

static int get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    (void)p, (void)err;
    *value = *known = BDC_PIN_VTREF | BDC_PIN_RESET;
    return 0;
}

static void link_stats(struct probe *p, uint64_t *cycles, uint64_t *transfers, uint64_t *bytes)
{
    fuzz_stats(pin_of(p)->ops, cycles, transfers, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bdc_ops raw = { .execute = execute_ops,
                                        .sync = sync_clock,
                                        .set_clock = set_clock,
                                        .set_ack = set_ack,
                                        .can = can_all,
                                        .set_pins = set_pins,
                                        .get_pins = get_pins,
                                        .wait = wait_ns,
                                        .now_ns = now_ns,
                                        .stats = link_stats };
    struct bdc_ops pod = raw;
    pod.no_flags = true;
    pod.can = can_few;
    const struct probe_driver drivers[] = { { .name = "raw", .bdc = &raw },
                                            { .name = "pod", .bdc = &pod } };
    if (size < 2)
        return 0;
    struct pin w = { .probe = { .driver = &drivers[data[0] & 1], .name = "any" },
                     .at = data + 2,
                     .end = data + size,
                     .bad_every = data[1] };
    const struct s12z_options opt = { .fast_clock = data[0] & 2, .keep_clocks = data[0] & 4 };
    struct target *t;
    if (s12z_open(&w.probe, &opt, &t, NULL) < 0)
        return 0;
    fuzz_session(t, &(struct fuzz_session){ BP_HARD, 0xFE0000, 0x1000 });
    t->ops->close(t);
    return 0;
}
