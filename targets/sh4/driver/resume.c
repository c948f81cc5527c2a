/* The halted program goes on: freely, or for a step. */
#include "probe/base/log.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* A step that was done on the host's side is a stop at once. */
static int step(struct sh4_target *t, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = sh4_step_start(t, &why);
    if (ret == -ERR_TIMEOUT && REG_GET(t->sr, SH4_SR_BL) && sh4_reset_in_step(t, NULL) > 0)
        return sh4_halt_the_reset(t, err);
    if (ret < 0 && err)
        *err = why;
    if (ret <= 0)
        return ret;
    sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    t->stop_pending = true;
    return 0;
}

/* With BL=1 there is no break to use: the host steps until the range is left, or for a while: a
 * debugger that finds itself still inside steps again. */
static int range_with_bl(struct sh4_target *t, const struct resume *how, struct err *err)
{
    enum { LIMIT = 100 };
    for (int i = 0; i < LIMIT && REG_GET(t->sr, SH4_SR_BL); i++) {
        int ret = sh4_step_start(t, err);
        if (ret < 0)
            return ret;
        if (t->pc < how->range_lo || t->pc >= how->range_hi || sh4_patch_at(t, t->pc))
            break;
    }
    sh4_stop_is(t, sh4_patch_at(t, t->pc) ? STOP_SWBREAK : STOP_STEP, SIGNAL_TRAP);
    t->stop_pending = true;
    return 0;
}

static int go_on(struct sh4_target *t, struct err *err)
{
    struct sh4_patch *p = sh4_patch_at(t, t->pc);
    bool hard = false;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        hard = hard || (t->ubc[n].used && t->ubc[n].kind == BP_HARD && t->ubc[n].addr == t->pc);
    if ((!p && !hard) || REG_GET(t->sr, SH4_SR_BL)) /* the crawl begins with a step */
        return sh4_let_go(t, err);
    /* Standing on a breakpoint: off it with one step, the rest freely. */
    t->step.then_go = true;
    int ret = sh4_step_start(t, err);
    if (ret <= 0)
        return ret;
    t->step.then_go = false;
    return sh4_let_go(t, err);
}

int sh4_resume(struct target *target, const struct resume *given, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct resume copy = *given, *how = &copy;
    log_msg(t->probe->log, LOG_TARGET, "%s: %s at %08x", t->probe->name,
            how->kind == RESUME_CONTINUE ? "continue"
            : how->kind == RESUME_STEP   ? "step"
                                         : "step in a range",
            t->pc);
    if (!sh4_is_halted(t, err, "resume"))
        return t->state == TARGET_GONE ? -ERR_NO_TARGET : -ERR_STATE;
    if (how->set_pc) {
        t->pc = (uint32_t)how->pc;
        t->caught = false;
    }
    t->alias.set = 0;
    t->continuing = how->kind == RESUME_CONTINUE;
    t->stop_pending = t->halt_wanted = t->step.then_go = t->self_reset.seen = false;
    t->self_reset.look_ns = sh4_now(t);
    t->step.lo = t->step.hi = 0;
    /* look taken; now the program's own handler gets it */
    if (t->caught && how->kind == RESUME_CONTINUE)
        sh4_enter_handler(t);
    t->caught = false;
    if (t->traced) {
        int ret = t->tracing->resuming(t, how, err);
        if (ret < 0)
            return sh4_lost(t, ret);
    }
    if (how->kind == RESUME_CONTINUE)
        return sh4_lost(t, go_on(t, err));
    if (how->kind == RESUME_STEP)
        return sh4_lost(t, step(t, err));
    if (REG_GET(t->sr, SH4_SR_BL))
        return sh4_lost(t, range_with_bl(t, how, err));
    t->step.lo = (uint32_t)how->range_lo;
    t->step.hi = (uint32_t)how->range_hi;
    return sh4_lost(t, step(t, err));
}
