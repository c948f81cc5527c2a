/* Driver "sim": JTAG ops become TMS/TDI/TDO bit streams on a simulated board's pins.
 *
 * Works as a USB adapter does: a batch is turned into bits in a bounded buffer, which is clocked out when it
 * is full or the batch ends; captured bits are then picked apart. One buffer counts as one transfer. */
#include "probe/sim.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim_bdc.h"

enum {
    CHUNK_BITS = 32768, /* of one transfer */
    MAX_FIELDS = 2048,  /* captures that may wait for one transfer */
    BATCH_BITS = 65536
};

/* Bits of the stream that belong to a caller's tdo. */
struct field {
    uint8_t *dst;
    uint32_t dst_bit, src_bit, bits;
    bool last; /* of its op: the rest of its last byte becomes 0 */
};

struct sim_probe {
    struct probe probe;
    struct sim_board *board;
    uint32_t nbits, nfields;
    uint8_t tms[CHUNK_BITS / 8], tdi[CHUNK_BITS / 8], tdo[CHUNK_BITS / 8];
    struct field field[MAX_FIELDS];
    uint64_t tck_clocks, transfers;
};

static struct sim_probe *self(struct probe *p) { return CONTAINER_OF(p, struct sim_probe, probe); }

/* n bits (1..56) from bit i on; reads no byte beyond the last of them. */
static uint64_t get_bits(const uint8_t *p, uint32_t i, uint32_t n)
{
    uint64_t v = 0;
    uint32_t last = (i + n - 1) / 8;
    for (uint32_t byte = i / 8, shift = 0; byte <= last; byte++, shift += 8)
        v |= (uint64_t)p[byte] << shift;
    return v >> (i % 8) & (((uint64_t)1 << n) - 1);
}

/* ORs n bits (1..56) in at bit i. */
static void or_bits(uint8_t *p, uint32_t i, uint64_t v, uint32_t n)
{
    v <<= i % 8;
    for (uint32_t byte = i / 8, last = (i + n - 1) / 8; byte <= last; byte++, v >>= 8)
        p[byte] |= (uint8_t)v;
}

/* Copies n bits to a place whose bits are all 0. */
static void copy_bits(uint8_t *dst, uint32_t dst_bit, const uint8_t *src, uint32_t src_bit, uint32_t n)
{
    for (uint32_t k; n > 0; n -= k, dst_bit += k, src_bit += k) {
        k = MIN(n, 56);
        or_bits(dst, dst_bit, get_bits(src, src_bit, k), k);
    }
}

/* A caller's tdo may hold anything, and may be the tdi of bits not sent yet: only this field's bits change, and
 * the rest of the last byte once its op is complete. */
static void deliver(const struct field *f, const uint8_t *tdo)
{
    uint32_t end = f->dst_bit + f->bits;
    for (uint32_t done = 0, k; done < f->bits; done += k) {
        uint32_t at = f->dst_bit + done, room = 8 - at % 8;
        k = MIN(room, f->bits - done);
        unsigned mask = ((1u << k) - 1) << (at % 8);
        unsigned v = (unsigned)get_bits(tdo, f->src_bit + done, k) << (at % 8);
        f->dst[at / 8] = (uint8_t)((f->dst[at / 8] & ~mask) | v);
    }
    if (f->last && end % 8 != 0)
        f->dst[end / 8] &= (uint8_t)((1u << (end % 8)) - 1);
}

/* Unused bits of the buffers are 0, so that only ones have to be put in. */
static void empty(struct sim_probe *s)
{
    memset(s->tms, 0, (s->nbits + 7) / 8);
    memset(s->tdi, 0, (s->nbits + 7) / 8);
    s->nbits = s->nfields = 0;
}

static int flush(struct sim_probe *s, struct err *err)
{
    if (s->nbits == 0)
        return 0;
    int ret = s->board->type->clock(s->board, s->nbits, s->tms, s->tdi, s->tdo, err);
    if (ret < 0)
        return ret;
    for (uint32_t i = 0; i < s->nfields; i++)
        deliver(&s->field[i], s->tdo);
    s->tck_clocks += s->nbits;
    s->transfers++;
    empty(s);
    return 0;
}

/* n clocks of constant TMS with TDI low. */
static int tms_run(struct sim_probe *s, uint32_t n, bool level, struct err *err)
{
    while (n > 0) {
        if (s->nbits == CHUNK_BITS) {
            int ret = flush(s, err);
            if (ret < 0)
                return ret;
        }
        uint32_t now = MIN(n, CHUNK_BITS - s->nbits);
        for (uint32_t i = 0; level && i < now; i++)
            or_bits(s->tms, s->nbits + i, 1, 1);
        s->nbits += now;
        n -= now;
    }
    return 0;
}

/* n TMS bits, least significant first, with TDI low. */
static int tms_path(struct sim_probe *s, unsigned path, uint32_t n, struct err *err)
{
    if (CHUNK_BITS - s->nbits < n) {
        int ret = flush(s, err);
        if (ret < 0)
            return ret;
    }
    or_bits(s->tms, s->nbits, path, n);
    s->nbits += n;
    return 0;
}

/* The shift itself: TMS low but for the last bit, which leaves the Shift state. */
static int shift(struct sim_probe *s, const struct jtag_op *op, struct err *err)
{
    for (uint32_t done = 0; done < op->bits;) {
        if (s->nbits == CHUNK_BITS || s->nfields == MAX_FIELDS) {
            int ret = flush(s, err);
            if (ret < 0)
                return ret;
        }
        uint32_t n = MIN(op->bits - done, CHUNK_BITS - s->nbits), start = s->nbits;
        int ret = tms_run(s, n, 0, err);
        if (ret < 0)
            return ret;
        if (op->tdi)
            copy_bits(s->tdi, start, op->tdi, done, n);
        if (op->tdo)
            s->field[s->nfields++] = (struct field){ op->tdo, done, start, n, done + n == op->bits };
        done += n;
    }
    or_bits(s->tms, s->nbits - 1, 1, 1);
    return 0;
}

static int scan(struct sim_probe *s, const struct jtag_op *op, struct err *err)
{
    int ret;
    if (op->bits == 0 || op->bits > JTAG_MAX_BITS)
        return err_set(err, ERR_USAGE, "", "JTAG scan of %u bits (1..%d)", op->bits, JTAG_MAX_BITS);
    /* Select-DR, (Select-IR,) Capture, first Shift; afterwards Update and Run-Test/Idle */
    if (op->kind == JTAG_IR)
        ret = tms_path(s, 0x3, 4, err);
    else
        ret = tms_path(s, 0x1, 3, err);
    if (ret == 0)
        ret = shift(s, op, err);
    if (ret == 0)
        ret = tms_path(s, 0x1, 2, err);
    return ret < 0 ? ret : tms_run(s, op->idle_clocks, 0, err);
}

static int one_op(struct sim_probe *s, const struct jtag_op *op, struct err *err)
{
    int ret;
    switch (op->kind) {
    case JTAG_RESET:
        ret = tms_path(s, 0x1F, 6, err);
        return ret < 0 ? ret : tms_run(s, op->idle_clocks, 0, err);
    case JTAG_IDLE:
        return tms_run(s, op->bits + op->idle_clocks, 0, err);
    case JTAG_IR:
    case JTAG_DR:
        return scan(s, op, err);
    }
    return err_set(err, ERR_USAGE, "", "JTAG op of unknown kind %d", (int)op->kind);
}

static int sim_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct sim_probe *s = self(p);
    int ret = 0;
    for (size_t i = 0; i < n && ret == 0; i++)
        ret = one_op(s, &ops[i], err);
    if (ret == 0)
        ret = flush(s, err);
    empty(s); /* a failed batch leaves nothing behind */
    return ret < 0 ? err_prefix(err, ret, p->name) : 0;
}

static int sim_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct sim_probe *s = self(p);
    return s->board->type->set_pins(s->board, mask, value, err);
}

static int sim_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct sim_probe *s = self(p);
    return s->board->type->get_pins(s->board, value, known, err);
}

static int sim_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct sim_probe *s = self(p);
    if (hz == 0)
        return err_set(err, ERR_USAGE, "give a TCK frequency above 0", "TCK of 0 Hz");
    uint32_t got = s->board->type->set_tck_hz(s->board, hz);
    if (got_hz)
        *got_hz = got;
    return 0;
}

static int sim_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct sim_probe *s = self(p);
    return s->board->type->advance(s->board, ns, err);
}

static uint64_t sim_now_ns(struct probe *p)
{
    struct sim_probe *s = self(p);
    return s->board->type->now_ns(s->board);
}

static size_t sim_batch_bits(struct probe *p)
{
    (void)p;
    return BATCH_BITS;
}

static void sim_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers, uint64_t *bytes)
{
    struct sim_probe *s = self(p);
    if (tck_clocks)
        *tck_clocks = s->tck_clocks;
    if (transfers)
        *transfers = s->transfers;
    if (bytes)
        *bytes = (s->tck_clocks * 3 + 7) / 8; /* TMS and TDI out, TDO in */
}

static int unknown_board(const struct probe_config *cfg, const char *name, struct err *err)
{
    char hint[200] = "boards:";
    for (const struct sim_board_type *const *t = cfg->boards; t && *t; t++) {
        size_t used = strlen(hint);
        snprintf(hint + used, sizeof hint - used, " sim:%s", (*t)->name);
    }
    if (!name[0])
        return err_set(err, ERR_USAGE, hint, "sim: no board named");
    return err_set(err, ERR_USAGE, hint, "sim: no board \"%s\"", name);
}

static void sim_close(struct probe *p)
{
    if (!p)
        return;
    struct sim_probe *s = self(p);
    if (s->board)
        s->board->type->destroy(s->board);
    free(s);
}

static int sim_reopen(struct probe *p, struct err *err)
{
    struct sim_probe *s = self(p);
    empty(s);
    int ret = s->board->type->reopen ? s->board->type->reopen(s->board, err) : 0;
    return ret < 0 ? err_prefix(err, ret, p->name) : 0;
}

static const struct probe_driver *driver(void);

static int wrap(struct sim_board *board, const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct sim_probe *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "sim: out of memory");
    s->probe.driver = driver();
    s->probe.log = cfg->log;
    s->board = board;
    if (cfg->speed_hz)
        board->type->set_tck_hz(board, cfg->speed_hz);
    *out = &s->probe;
    return 0;
}

static int sim_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    size_t len = strcspn(cfg->spec, ",");
    const struct sim_board_type *type = NULL;
    struct sim_board *board;
    for (const struct sim_board_type *const *t = cfg->boards; t && *t; t++)
        if (strlen((*t)->name) == len && strncmp((*t)->name, cfg->spec, len) == 0)
            type = *t;
    if (!type) {
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)MIN(len, sizeof name - 1), cfg->spec);
        return unknown_board(cfg, name, err);
    }
    int ret = type->create(cfg->spec[len] ? cfg->spec + len + 1 : "", cfg->log, &board, err);
    if (ret < 0)
        return err_prefix(err, ret, type->name);
    ret = type->bkgd ? sim_bdc_wrap(board, cfg, out, err) : wrap(board, cfg, out, err);
    if (ret < 0)
        type->destroy(board);
    else
        snprintf((*out)->name, sizeof (*out)->name, "sim:%s", type->name);
    return ret;
}

static const struct jtag_ops sim_jtag = {
    .execute = sim_execute,
    .set_pins = sim_set_pins,
    .get_pins = sim_get_pins,
    .set_clock = sim_set_clock,
    .wait = sim_wait,
    .now_ns = sim_now_ns,
    .batch_bits = sim_batch_bits,
    .stats = sim_stats,
};

const struct probe_driver sim_driver = {
    .name = "sim",
    .help = "a simulated board, e.g. sim:sh7750",
    .open = sim_open,
    .close = sim_close,
    .reopen = sim_reopen,
    .jtag = &sim_jtag,
};

static const struct probe_driver *driver(void) { return &sim_driver; }
