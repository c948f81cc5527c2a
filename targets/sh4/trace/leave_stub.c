/* A program that stands in one of the agent's stubs is stepped out of it. */
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

/* Halted in a stub: of an earlier session, whose RAM will be used again, or of this one, which
 * ends. It is stepped out of it. */
int sh4_trace_leave_stub(struct sh4_trace *tr, struct err *err)
{
    enum { MOST = 16 };
    struct sh4_target *t = tr->t;
    for (int i = 0; i < MOST && !REG_GET(t->regs.sr, SH4_SR_BL); i++) {
        if (!sh4_trace_of_agents(tr, t->regs.pc))
            break;
        int ret = sh4_own_step(t, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int sh4_trace_leave_own_stub(struct sh4_target *t, struct err *err)
{
    struct sh4_trace *tr = t->plug.trace;
    /* What a slot holds is a TRAPA that the agent answers: a step of it would wait for what the
     * program runs behind the agent. */
    if (!sh4_trace_holds(t, t->regs.pc) || sh4_trace_in_slot(tr, t->regs.pc))
        return 0;
    /* Most of a step's time is the host's; what runs in it is some instructions of the agent's. */
    uint64_t ran_ns = tr->ran.board_ns;
    int ret = sh4_trace_leave_stub(tr, err);
    tr->ran.board_ns = ran_ns;
    return ret;
}
