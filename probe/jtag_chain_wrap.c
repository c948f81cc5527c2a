/* A probe around a probe: one device of a chain, as if it were alone. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bits.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/jtag_chain.h"
#include "probe/probe.h"

enum { OPS = 4096, BYTES = 1 << 16 };

/* Where TDO of a padded scan belongs. */
struct wanted {
    uint8_t *dst;
    uint32_t src_bit, bits;
};

struct chained {
    struct probe probe;
    struct probe *inner;
    struct jtag_chain chain;
    struct jtag_place place;
    /* the others show IDCODE or BYPASS, nobody knows: an instruction is due */
    bool reset;
    struct jtag_op op[OPS];
    struct wanted wanted[OPS];
    size_t nops, used; /* bytes of in and out */
    uint8_t in[BYTES], out[BYTES];
};

static struct chained *chained_of(struct probe *p)
{
    return CONTAINER_OF(p, struct chained, probe);
}
static const struct jtag_ops *inner_jtag(const struct chained *c) { return c->inner->driver->jtag; }

static int run_ops(struct chained *c, struct err *err)
{
    int ret = inner_jtag(c)->execute(c->inner, c->op, c->nops, err);
    for (size_t i = 0; i < c->nops && ret == 0; i++) {
        const struct wanted *w = &c->wanted[i];
        if (!w->dst)
            continue;
        bits_copy(w->dst, 0, c->op[i].tdo, w->src_bit, w->bits);
        if (w->bits % 8)
            w->dst[w->bits / 8] &= (uint8_t)((1u << w->bits % 8) - 1);
    }
    c->nops = c->used = 0;
    return ret;
}

/* What the chain's other devices take of a scan. */
struct others {
    uint32_t before, after; /* bits of those between TDI and the part, and of those behind it */
    uint8_t fill;           /* BYPASS, an instruction of all ones; zeros through its register */
};

static struct others others_of(const struct chained *c, enum jtag_op_kind kind)
{
    const struct jtag_place *p = &c->place;
    if (kind == JTAG_IR)
        return (struct others){ p->ir_before, p->ir_after, 0xFF };
    return (struct others){ p->taps_before, p->taps_after, 0 };
}

static void clear_bits(uint8_t *bytes, uint32_t first, uint32_t n)
{
    static const uint8_t zeros[64];
    for (uint32_t at = 0, some; at < n; at += some) {
        some = MIN(n - at, (uint32_t)sizeof zeros * 8);
        bits_copy(bytes, first + at, zeros, 0, some);
    }
}

/* Bits that go in first end next to TDO. */
static int add_scan(struct chained *c, const struct jtag_op *op, struct err *err)
{
    const struct others others = others_of(c, op->kind);
    uint32_t bits = others.after + op->bits + others.before;
    size_t bytes = (bits + 7) / 8;
    if (op->bits == 0 || op->bits > JTAG_MAX_BITS || bits > JTAG_MAX_BITS)
        return err_set(err, ERR_USAGE, "", "JTAG scan of %u bits (1..%u)", op->bits,
                       JTAG_MAX_BITS - others.after - others.before);
    int ret = 0;
    if (c->nops == OPS || c->used + bytes > BYTES)
        ret = run_ops(c, err);
    if (ret < 0)
        return ret;
    uint8_t *in = c->in + c->used, *out = NULL;
    memset(in, others.fill, bytes);
    if (op->tdi)
        bits_copy(in, others.after, op->tdi, 0, op->bits);
    else if (others.fill)
        clear_bits(in, others.after, op->bits);
    if (op->tdo)
        out = c->out + c->used;
    c->op[c->nops] = (struct jtag_op){
        .kind = op->kind, .bits = bits, .tdi = in, .tdo = out, .idle_clocks = op->idle_clocks
    };
    c->wanted[c->nops++] = (struct wanted){ op->tdo, others.after, op->bits };
    c->used += bytes;
    return 0;
}

/* BYPASS for all. */
static int load_bypass(struct chained *c, struct err *err)
{
    uint8_t ones[JTAG_CHAIN_MAX_IR / 8];
    memset(ones, 0xFF, sizeof ones);
    const struct jtag_op op = jtag_ir(c->place.ir_bits, ones, NULL);
    return add_scan(c, &op, err);
}

static int add_plain(struct chained *c, const struct jtag_op *op, struct err *err)
{
    int ret = 0;
    if (c->nops == OPS)
        ret = run_ops(c, err);
    c->wanted[c->nops].dst = NULL;
    c->op[c->nops++] = *op;
    return ret;
}

static int add_op(struct chained *c, const struct jtag_op *op, struct err *err)
{
    int ret = 0;
    if (op->kind != JTAG_IR && op->kind != JTAG_DR) {
        c->reset |= op->kind == JTAG_RESET;
        return add_plain(c, op, err);
    }
    if (c->reset && op->kind == JTAG_DR)
        ret = load_bypass(c, err);
    c->reset = false;
    if (ret < 0)
        return ret;
    return add_scan(c, op, err);
}

static int chained_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct chained *c = chained_of(p);
    int ret = 0;
    c->nops = c->used = 0;
    for (size_t i = 0; i < n && ret == 0; i++)
        ret = add_op(c, &ops[i], err);
    if (ret == 0)
        ret = run_ops(c, err);
    c->reset |= ret < 0;
    return ret;
}

/* ---- the rest is inner's ---- */

static int refuse_lack(struct probe *p, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "", "%s: this adapter cannot do it", p->name);
}

static int chained_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct chained *c = chained_of(p);
    c->reset |= mask & JTAG_PIN_NTRST;
    if (inner_jtag(c)->set_pins)
        return inner_jtag(c)->set_pins(c->inner, mask, value, err);
    return refuse_lack(p, err);
}

static int chained_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct chained *c = chained_of(p);
    if (inner_jtag(c)->get_pins)
        return inner_jtag(c)->get_pins(c->inner, value, known, err);
    return refuse_lack(p, err);
}

static int chained_voltage(struct probe *p, unsigned *mv, struct err *err)
{
    struct chained *c = chained_of(p);
    if (inner_jtag(c)->voltage)
        return inner_jtag(c)->voltage(c->inner, mv, err);
    return refuse_lack(p, err);
}

static int chained_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct chained *c = chained_of(p);
    if (inner_jtag(c)->set_clock)
        return inner_jtag(c)->set_clock(c->inner, hz, got_hz, err);
    return refuse_lack(p, err);
}

static int chained_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct chained *c = chained_of(p);
    if (inner_jtag(c)->wait)
        return inner_jtag(c)->wait(c->inner, ns, err);
    return 0;
}

static uint64_t chained_now_ns(struct probe *p)
{
    return inner_jtag(chained_of(p))->now_ns(chained_of(p)->inner);
}
static size_t chained_batch_bits(struct probe *p)
{
    return inner_jtag(chained_of(p))->batch_bits(chained_of(p)->inner);
}
static unsigned chained_ir_bits(struct probe *p) { return chained_of(p)->place.ir_bits; }

static void chained_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers,
                          uint64_t *bytes)
{
    inner_jtag(chained_of(p))->stats(chained_of(p)->inner, tck_clocks, transfers, bytes);
}

static int chained_reopen(struct probe *p, struct err *err)
{
    struct chained *c = chained_of(p);
    c->reset = true;
    return probe_reopen(c->inner, err);
}

static void chained_close(struct probe *p)
{
    if (!p)
        return;
    probe_close(chained_of(p)->inner);
    free(chained_of(p));
}

static const struct probe_driver *chained_driver(void)
{
    static const struct jtag_ops jtag = {
        .execute = chained_execute,
        .set_pins = chained_set_pins,
        .get_pins = chained_get_pins,
        .voltage = chained_voltage,
        .set_clock = chained_set_clock,
        .wait = chained_wait,
        .now_ns = chained_now_ns,
        .batch_bits = chained_batch_bits,
        .ir_bits = chained_ir_bits,
        .stats = chained_stats,
    };
    static const struct probe_driver chained = {
        .name = "chain",
        .help = "a device of a JTAG chain",
        .close = chained_close,
        .reopen = chained_reopen,
        .jtag = &jtag,
    };
    return &chained;
}

int jtag_chain_verify(struct probe *p, struct err *err)
{
    struct jtag_chain now;
    struct err why = { .code = ERR_OK };
    char text[160];
    if (p->driver != chained_driver())
        return 0;
    struct chained *c = chained_of(p);
    int ret = jtag_chain_scan(c->inner, &now, &why);
    c->reset = true;
    if (ret == -ERR_NO_TARGET || ret == -ERR_PROTOCOL)
        return 0;
    if (ret == 0 && now.taps == c->chain.taps && now.ir_bits == c->chain.ir_bits &&
        !memcmp(now.idcode, c->chain.idcode, sizeof now.idcode))
        return 0;
    if (ret == 0)
        return err_set(err, ERR_NO_TARGET, "connect the same board again, or start again",
                       "the JTAG chain is another one now: %s",
                       jtag_chain_text(&now, text, sizeof text));
    if (err)
        *err = why;
    return ret;
}

int jtag_chain_wrap(struct probe *inner, const struct jtag_chain *chain,
                    const struct jtag_place *place, struct probe **out, struct err *err)
{
    struct chained *c = calloc(1, sizeof *c);
    if (!c)
        return err_set(err, ERR_NOMEM, "", "JTAG chain: out of memory");
    c->probe.driver = chained_driver();
    c->probe.log = inner->log;
    memcpy(c->probe.name, inner->name, sizeof c->probe.name);
    c->inner = inner;
    c->chain = *chain;
    c->place = *place;
    c->reset = true;
    *out = &c->probe;
    return 0;
}
