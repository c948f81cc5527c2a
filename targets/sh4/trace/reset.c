/* A CPU that was reset while its program was traced: takes home what the agent has recorded and not
 * sent. Programs without handlers for their exceptions often end so. One more exception with
 * SR.BL=1 resets the CPU like the manual reset (SH7750 hardware manual, section 5.6.1), and the
 * exception that began it is among the last records. */
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

bool sh4_trace_was_reset(const struct sh4_trace *tr)
{
    const struct sh4_target *t = tr->t;
    return tr->armed && t->regs.save[SH4_SAVE_VBR] != tr->plan.base &&
           sh4_is_reset(t->regs.trap[1]);
}

/* Whether the agent's last record went through the operand cache: its line is there. Section 4.3.2:
 * the address array at 0xF4000000, the entry in bits 13-5; the tag above bit 9, V in bit 0. */
static int ran_cached(struct sh4_trace *tr, bool *cached, struct err *err)
{
    enum { OC_ADDRESS = 0xF4000000, ENTRY = 0x3FE0, TAG = 0x1FFFFC00, V = 1 };
    uint32_t at = tr->plan.base + sh4_trace_blob.save + 4 * SH4_TRACE_S_WPTR, line;
    int ret = sh4_agent_peek(tr->t, OC_ADDRESS | (at & ENTRY), 4, &line, err);
    *cached = ret == 0 && line & V && !((line ^ at) & TAG);
    return ret;
}

/* A manual reset leaves the lines of the operand cache as they were, and switches the cache off
 * (SH7750 hardware manual, section 4: CCR, the V and U bits). So the agent's last writes may be in
 * the cache and not in memory. If code that ran since has switched it on, it is not known what
 * became of them. */
int sh4_trace_salvage(struct sh4_trace *tr, struct err *err)
{
    uint32_t ccr;
    bool cached = false;
    int ret = sh4_agent_peek(tr->t, SH4_CCR, 4, &ccr, err);
    tr->reset.seen = true;
    if (ret == 0)
        ret = ran_cached(tr, &cached, err);
    if (ret == 0 && !REG_GET(ccr, SH4_CCR_OCE)) {
        /* what an event costs goes by it */
        uint32_t as_it_ran = 0;
        if (cached)
            as_it_ran = REG_MASK(SH4_CCR_ICE);
        ret = sh4_trace_set_ccr(
            tr->t, ccr | as_it_ran | REG_MASK(SH4_CCR_OCE) | REG_MASK(SH4_CCR_CB), err);
        if (ret == 0)
            ret = sh4_trace_empty(tr, err);
        if (ret == 0)
            ret = sh4_trace_set_ccr(tr->t, ccr, err);
    }
    if (ret == 0)
        sh4_trace_note_reset(tr);
    return ret;
}
