/* Halts while the trace is armed. The counters run on the way into the debug kernel, until it stops
 * them, and on the way out. Both ways were measured (ways.c, calibrate.c), and are subtracted
 * before the program runs on, so that the next event does not have them. */
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

static enum sh4_trace_halt kind_of(const struct sh4_target *t)
{
    switch (t->regs.save[SH4_SAVE_KIND]) {
    case SH4_ENTRY_INTERRUPT: return SH4_TRACE_HALT_INTERRUPT;
    case SH4_ENTRY_EXCEPTION: break;
    default: return SH4_TRACE_HALT_ASE;
    }
    if (t->regs.trap[1] == SH4_EXP_TRAPA)
        return SH4_TRACE_HALT_TRAP;
    /* others that are caught: about as B */
    if (REG_GET(t->regs.save[SH4_SAVE_BRCR_SEEN], SH4_BRCR_CMFA))
        return SH4_TRACE_HALT_A;
    return SH4_TRACE_HALT_B;
}

/* Instructions of ways through the agent (agent/trace.S) less than of the way from its entry to the
 * kernel by `foreign`: bits that add up. */
enum {
    LESS_BY_SLOW = 16, /* from `bf slow` to `slow`: a count has left 16 bits */
    LESS_BY_CHECK = 3  /* by `special`, which finds that it was no trap */
};

/* A user break has the return address of a trap at the instruction before it. */
static bool behind_checked_place(const struct sh4_trace *tr)
{
    const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, tr->t->regs.pc - 2);
    return p && tr->patches.mark[p - tr->plan.patch].in_memory &&
           tr->plan.id[p->id].kind == SH4_SITE_NKINDS;
}

void sh4_trace_halt_begins(struct sh4_trace *tr)
{
    tr->dec.halt = (uint8_t)kind_of(tr->t);
    bool breaks = tr->dec.halt == SH4_TRACE_HALT_A || tr->dec.halt == SH4_TRACE_HALT_B;
    tr->dec.way_less = LESS_BY_CHECK * (breaks && behind_checked_place(tr));
    tr->rebased = false;
}

void sh4_trace_halt_way(struct sh4_trace *tr, const uint32_t last[2], const uint32_t at[2])
{
    struct sh4_trace_decoder *d = &tr->dec;
    bool slow = false;
    if (d->halt >= SH4_TRACE_HALT_INTERRUPT)
        return;
    /* the way itself is far from 16 bits */
    for (unsigned n = 0; n < 2; n++)
        slow |= d->code[n] && (int64_t)(at[n] - last[n]) - d->ways.halt[d->halt][n] > UINT16_MAX;
    d->way_less = (uint8_t)((d->way_less & LESS_BY_CHECK) + LESS_BY_SLOW * slow);
}

/* More is taken off than was counted: the way has taken less than it did when it was measured. It
 * must not reach the agent as a count below zero, which would be more than 16 bits of it. */
static uint32_t taken_off(struct sh4_trace *tr, unsigned n, uint32_t last, uint32_t at)
{
    last += (uint32_t)(sh4_trace_into_kernel(&tr->dec, (int)n) + tr->dec.first[n]);
    if (!tr->dec.code[n] || (int32_t)(last - at) <= 0)
        return last;
    tr->dec.debt16[n] += 16 * (int64_t)(int32_t)(last - at);
    return at;
}

/* Without the time since the last event, which goes on counting: what a trap there would take is
 * part of the next event's residue. */
int sh4_trace_halt_ends(struct sh4_trace *tr, struct err *err)
{
    uint32_t last[2], at[2];
    bool counts = tr->cfg.counter[0] || tr->cfg.counter[1];
    if (tr->rebased || !counts || tr->dec.halt == SH4_TRACE_HALT_ASE)
        return 0;
    int ret = sh4_trace_counters_now(tr, last, at, err);
    tr->dec.disturbed = SH4_TRACE_DISTURBED; /* time is known to a few lines of the cache */
    if (ret < 0)
        return ret;
    for (unsigned n = 0; n < 2; n++)
        last[n] = taken_off(tr, n, last[n], at[n]);
    return sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
}
