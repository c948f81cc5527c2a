/* Breakpoints and watchpoints that are asked for: set and removed, while the program is held. */
#include "targets/sh4/rsp/rsp_priv.h"

static struct rsp_bp *find_breakpoint(struct rsp_target *t, enum bp_kind kind, uint32_t addr,
                                      unsigned len)
{
    for (size_t i = 0; i < t->nbp; i++)
        if (t->bp[i].kind == kind && t->bp[i].addr == addr && t->bp[i].len == len)
            return &t->bp[i];
    return NULL;
}

int rsp_insert_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    struct rsp_bp *b = &t->bp[t->nbp];
    int held;
    if (find_breakpoint(t, kind, (uint32_t)addr, len))
        return 0;
    if (kind <= BP_HARD && (addr % 2 || len != 2))
        return err_set(err, ERR_USAGE, "2 bytes at an even address",
                       "breakpoint of %u bytes at %08x", len, (unsigned)addr);
    if (t->nbp == ARRAY_LEN(t->bp))
        return err_set(err, ERR_RESOURCE, "remove another one first",
                       "all %zu breakpoints are in use", ARRAY_LEN(t->bp));
    if ((held = rsp_hold(t, "set a breakpoint", err)) < 0)
        return held;
    *b = (struct rsp_bp){ .addr = (uint32_t)addr, .len = len, .kind = (uint8_t)kind };
    int ret = rsp_bp_put(t, b, err);
    t->nbp += ret == 0;
    return rsp_let_go(t, held, ret, err);
}

int rsp_remove_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    struct rsp_bp *b = find_breakpoint(t, kind, (uint32_t)addr, len);
    int held = 0;
    if (b)
        held = rsp_hold(t, "remove a breakpoint", err);
    if (!b || held < 0)
        return held;
    int ret = rsp_bp_lift(t, b, err);
    if (ret == 0)
        *b = t->bp[--t->nbp];
    return rsp_let_go(t, held, ret, err);
}
