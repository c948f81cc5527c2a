/* The priority of the H-UDI interrupt, by which a running program can be halted for a moment.
 * An ASE break taken with BL=1 costs a handler its SPC and SSR, and between a look at SR and the
 * break a handler may begin. The H-UDI interrupt waits for BL=0 by itself, but needs our vectors
 * and a priority: the first resume with vectors of ours sets that, else the first access. */
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

int sh4_hudi_priority(struct sh4_target *t, struct err *err)
{
    uint32_t v;
    /* the resident agent has seen to it itself */
    if (!t->opt.allow_private || t->agent.layout != &sh4_agent_ase)
        return 0;
    int ret = sh4_agent_peek(t, SH4_IPRC, 2, &v, err);
    if (ret < 0)
        return ret;
    if (!t->hudi.kept)
        t->hudi.iprc = v & 15;
    t->hudi.kept = true;
    if ((v & 15) != 15)
        ret = sh4_agent_poke(t, SH4_IPRC, 2, v | 15, err);
    t->hudi.ready = ret == 0;
    return ret;
}

/* The debugger's highest priority; no program has one for an interrupt that only a debugger can ask
 * for. */
int sh4_hudi_undo_stale(struct sh4_target *t, struct err *err)
{
    uint32_t v;
    t->stale.priority = false;
    int ret = sh4_agent_peek(t, SH4_IPRC, 2, &v, err);
    if (ret < 0 || (v & 15) != 15)
        return ret;
    return sh4_agent_poke(t, SH4_IPRC, 2, v & ~15u, err);
}

void sh4_expect_halts(struct target *target, bool yes) { sh4_of(target)->hudi.expected = yes; }

void sh4_hudi_forget(struct sh4_target *t)
{
    t->hudi.in_use = t->hudi.ready = t->hudi.kept = t->hudi.masked = false;
}

int sh4_hudi_restore(struct sh4_target *t, struct err *err)
{
    uint32_t v;
    t->hudi.in_use = t->hudi.ready = false;
    if (!t->hudi.kept)
        return 0;
    t->hudi.kept = false;
    int ret = sh4_agent_peek(t, SH4_IPRC, 2, &v, err);
    if (ret < 0 || (v & 15) != 15)
        return ret;
    return sh4_agent_poke(t, SH4_IPRC, 2, (v & ~15u) | t->hudi.iprc, err);
}
