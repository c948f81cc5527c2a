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

void sh4_trace_halt_begins(struct sh4_trace *tr)
{
    tr->dec.halt = (uint8_t)kind_of(tr->t);
    tr->rebased = false;
}

/* Without the time since the last event, which goes on counting: what a trap there would take is
 * part of the next event's residue. */
int sh4_trace_halt_ends(struct sh4_trace *tr, struct err *err)
{
    uint32_t last[2];
    bool counts = tr->cfg.counter[0] || tr->cfg.counter[1];
    if (tr->rebased || !counts || tr->dec.halt == SH4_TRACE_HALT_ASE)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
    for (unsigned n = 0; n < 2; n++)
        last[n] += (uint32_t)(tr->dec.ways.halt[tr->dec.halt][n] + tr->dec.first[n]);
    /* time is known to a few lines of the cache, and the agent's way is shorter when a count has
     * left 16 bits */
    tr->dec.disturbed = SH4_TRACE_DISTURBED;
    if (ret < 0)
        return ret;
    return sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
}
