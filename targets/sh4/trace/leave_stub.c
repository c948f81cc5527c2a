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
        int ret = 0;
        if (sh4_trace_asks_at(tr, t->regs.pc))
            sh4_goes_on_at(t, t->regs.pc + 2); /* the question is answered whenever it halts */
        else
            ret = sh4_own_step(t, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* A slot holds a TRAPA that the agent answers: a step of it would wait for what the program runs
 * behind the agent. So the program runs on and is asked to halt again, which it does behind the
 * agent. It may be in a slot there, too, if another handler has ended. */
static int pass_slot(struct sh4_trace *tr, struct err *err)
{
    enum { MOST = 16 };
    struct sh4_target *t = tr->t;
    int ret = 0;
    tr->passes_slot = true;
    for (int i = 0; ret == 0 && i < MOST && sh4_trace_in_slot(tr, t->regs.pc); i++) {
        ret = sh4_own_halt_again(t, err);
        if (t->stop.reason != STOP_REQUEST)
            break;
    }
    tr->passes_slot = false;
    return ret;
}

int sh4_trace_leave_own_stub(struct sh4_target *t, struct err *err)
{
    struct sh4_trace *tr = t->plug.trace;
    if (!sh4_trace_holds(t, t->regs.pc))
        return 0;
    if (sh4_trace_in_slot(tr, t->regs.pc))
        return tr->passes_slot ? 0 : pass_slot(tr, err);
    /* Most of a step's time is the host's; what runs in it is some instructions of the agent's. */
    uint64_t ran_ns = tr->ran.board_ns;
    int ret = sh4_trace_leave_stub(tr, err);
    tr->ran.board_ns = ran_ns;
    return ret;
}
