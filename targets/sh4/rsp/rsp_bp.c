/* Breakpoints: the stub's own where it has them, else a TRAPA written into memory. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "targets/gdb_kinds.h"
#include "targets/sh4/rsp/rsp_priv.h"

static bool is_code(const struct rsp_bp *b) { return b->kind == BP_SOFT || b->kind == BP_HARD; }

struct rsp_bp *rsp_bp_at(struct rsp_target *t, uint32_t addr)
{
    for (size_t i = 0; i < t->nbp; i++)
        if (is_code(&t->bp[i]) && t->bp[i].addr == addr)
            return &t->bp[i];
    return NULL;
}

enum stop_reason rsp_bp_reason(const struct rsp_bp *b)
{
    if (b->kind == BP_HARD)
        return STOP_HWBREAK;
    return STOP_SWBREAK;
}

static int write_trapa(struct rsp_target *t, struct rsp_bp *b, struct err *err)
{
    uint8_t trap[2], seen[2];
    put16(trap, RSP_TRAPA, t->base.big_endian);
    int ret = rsp_peek(t, b->addr, b->saved, 2, err);
    if (ret == 0)
        ret = rsp_poke(t, b->addr, trap, 2, err);
    if (ret == 0)
        ret = rsp_peek(t, b->addr, seen, 2, err);
    if (ret == 0 && memcmp(seen, trap, 2) != 0)
        ret = err_set(err, ERR_FAULT, "use a hardware breakpoint (hbreak), if the stub has any",
                      "%08x is not RAM: no breakpoint can be written there", b->addr);
    b->written = ret == 0;
    return ret;
}

/* 0: set; 1: the stub does not know this kind; < 0: it refuses, or failed. */
static int by_stub(struct rsp_target *t, struct rsp_bp *b, struct err *err)
{
    unsigned type = gdb_z_type(b->kind);
    if (t->q.no_z[type])
        return 1;
    int ret = rsp_question(t, err, "Z%u,%x,%x", type, b->addr, b->len);
    if (ret < 0)
        return ret;
    t->q.no_z[type] = !*t->c.in.body;
    if (t->q.no_z[type])
        return 1;
    if (strcmp(t->c.in.body, "OK"))
        return err_set(err, ERR_RESOURCE,
                       "remove another one first; kinds and counts are the stub's",
                       "%s: Z%u at %08x: %s", t->probe->name, type, b->addr, t->c.in.body);
    return 0;
}

static int take_back(struct rsp_target *t, struct rsp_bp *b, struct err *err)
{
    int ret = rsp_question(t, err, "z%u,%x,%x", gdb_z_type(b->kind), b->addr, b->len);
    if (ret == 0 && strcmp(t->c.in.body, "OK") != 0)
        ret =
            err_set(err, ERR_FAULT, "detach and attach again",
                    "%s: remove the breakpoint at %08x: %s", t->probe->name, b->addr, t->c.in.body);
    return ret;
}

/* The same, and reads what was in memory before, if that shows: by the first one of its kind that
 * is set. A watchpoint that shows is useless, as redream writes an instruction over the data. */
static int by_stub_seen(struct rsp_target *t, struct rsp_bp *b, struct err *err)
{
    uint8_t now[2];
    unsigned type = gdb_z_type(b->kind);
    bool look = !t->q.no_z[type] && (t->q.shows_z[type] || !t->q.z_known[type]);
    int ret = 0;
    if (look)
        ret = rsp_peek(t, b->addr, b->saved, 2, err);
    if (ret == 0)
        ret = by_stub(t, b, err);
    if (ret == 0 && look && !t->q.z_known[type] && rsp_peek(t, b->addr, now, 2, NULL) == 0) {
        t->q.shows_z[type] = memcmp(now, b->saved, 2) != 0;
        memcpy(t->z_trap, now, 2);
        t->q.z_known[type] = true;
    }
    b->shown = ret == 0 && look && t->q.shows_z[type];
    if (!b->shown || is_code(b))
        return ret;
    b->shown = false;
    t->q.no_z[type] = true;
    ret = take_back(t, b, err);
    if (ret < 0)
        return ret;
    return 1;
}

int rsp_bp_make_way(struct rsp_target *t, uint32_t addr, size_t n, bool back, struct err *err)
{
    int ret = 0;
    for (size_t i = 0; i < t->nbp && ret == 0; i++)
        if (t->bp[i].shown && t->bp[i].addr + 1 - addr < n + 1) {
            if (back)
                ret = rsp_bp_put(t, &t->bp[i], err);
            else
                ret = rsp_bp_lift(t, &t->bp[i], err);
        }
    return ret;
}

int rsp_bp_put(struct rsp_target *t, struct rsp_bp *b, struct err *err)
{
    int ret = by_stub_seen(t, b, err);
    b->written = false;
    if (b->kind == BP_SOFT && (ret == 1 || ret == -ERR_RESOURCE))
        return write_trapa(t, b, err);
    if (ret == 1 && b->kind == BP_HARD)
        return err_set(err, ERR_UNSUPPORTED, "use a software breakpoint",
                       "%s: this stub has no hardware breakpoints", t->probe->name);
    if (ret == 1)
        return err_set(err, ERR_UNSUPPORTED, "GDB can watch by steps: set can-use-hw-watchpoints 0",
                       "%s: this stub has no watchpoints", t->probe->name);
    return ret;
}

int rsp_bp_lift(struct rsp_target *t, struct rsp_bp *b, struct err *err)
{
    int ret;
    if (b->written) {
        ret = rsp_poke(t, b->addr, b->saved, 2, err);
        b->written = ret < 0;
        return ret;
    }
    return take_back(t, b, err);
}

/* The stub may have kept its breakpoints, memory its TRAPAs, or neither (another program, another
 * stub). */
int rsp_bp_restore(struct rsp_target *t, struct err *err)
{
    uint8_t trap[2], seen[2];
    int ret = 0;
    put16(trap, RSP_TRAPA, t->base.big_endian);
    for (size_t i = 0; ret == 0 && i < t->nbp; i++) {
        struct rsp_bp *b = &t->bp[i];
        if (b->written && rsp_peek(t, b->addr, seen, 2, NULL) == 0 && !memcmp(seen, trap, 2))
            continue;
        /* If it is still there, it would be taken for the program's own. If it is not, it must not
         * be asked for: redream crashes then. */
        if (b->shown && rsp_peek(t, b->addr, seen, 2, NULL) == 0 && !memcmp(seen, t->z_trap, 2))
            rsp_bp_lift(t, b, NULL);
        ret = rsp_bp_put(t, b, err);
    }
    return ret;
}

/* ---- memory with breakpoints in it ---- */

/* TRAPAs do not show, ours or the stub's; what is written over them is kept until they are taken
 * out. */
void rsp_bp_hide(const struct rsp_target *t, uint32_t addr, uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < t->nbp; i++)
        for (unsigned k = 0; (t->bp[i].written || t->bp[i].shown) && k < 2; k++)
            if (t->bp[i].addr + k - addr < n)
                buf[t->bp[i].addr + k - addr] = t->bp[i].saved[k];
}

void rsp_bp_keep_in(struct rsp_target *t, uint32_t addr, uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < t->nbp; i++) {
        uint8_t trap[2];
        put16(trap, RSP_TRAPA, t->base.big_endian);
        for (unsigned k = 0; t->bp[i].written && k < 2; k++)
            if (t->bp[i].addr + k - addr < n) {
                t->bp[i].saved[k] = buf[t->bp[i].addr + k - addr];
                buf[t->bp[i].addr + k - addr] = trap[k];
            }
    }
}

int rsp_insn(struct rsp_target *t, uint32_t addr, uint16_t *insn, struct err *err)
{
    uint8_t b[2];
    int ret = rsp_peek(t, addr, b, 2, err);
    if (ret < 0)
        return ret;
    rsp_bp_hide(t, addr, b, 2);
    *insn = get16(b, t->base.big_endian);
    return 0;
}
