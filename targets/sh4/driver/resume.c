/* The halted program goes on: freely, or for a step. */
#include "probe/base/log.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

static void stop_later(struct sh4_target *t, enum stop_reason reason)
{
    sh4_stop_is(t, reason, SIGNAL_TRAP);
    sh4_run_event(t, SH4_ON_STOP_FOUND);
}

/* After a step that the host made, which may have reset the CPU: that is reported when it stands.
 */
static int tell_reset(struct sh4_target *t, struct err *err)
{
    if (t->run.state == SH4_RUN_RESET)
        return sh4_halt_the_reset(t, err);
    return 0;
}

/* A step that the host made is a stop at once. */
static int step_now(struct sh4_target *t, struct err *err)
{
    uint32_t from = t->regs.pc;
    int ret = sh4_step_start(t, false, err);
    if (ret > 0)
        stop_later(t, STOP_STEP);
    const struct sh4_hard *h = NULL;
    if (ret > 0)
        h = sh4_watch_stepped(t, from);
    if (h)
        sh4_stop_is_watch(t, h);
    if (ret < 0)
        return ret;
    return tell_reset(t, err);
}

/* With BL=1 no break can be used. The host steps until the range is left, or for a while; a
 * debugger that finds itself still inside steps again. */
static int range_with_bl(struct sh4_target *t, const struct resume *how, struct err *err)
{
    enum { LIMIT = 100 };
    for (int i = 0; i < LIMIT && REG_GET(t->regs.sr, SH4_SR_BL); i++) {
        int ret = sh4_step_start(t, false, err);
        if (ret < 0)
            return ret;
        if (ret == 0)
            return tell_reset(t, err);
        if (t->regs.pc < how->range_lo || t->regs.pc >= how->range_hi ||
            sh4_patch_at(t, t->regs.pc))
            break;
    }
    stop_later(t, sh4_patch_at(t, t->regs.pc) ? STOP_SWBREAK : STOP_STEP);
    return 0;
}

static int go_on(struct sh4_target *t, struct err *err)
{
    struct sh4_patch *p = sh4_patch_at(t, t->regs.pc);
    bool hard = false;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        hard = hard || (t->breaks.ubc[n].used && t->breaks.ubc[n].kind == BP_HARD &&
                        t->breaks.ubc[n].addr == t->regs.pc);
    if ((!p && !hard) ||
        REG_GET(t->regs.sr, SH4_SR_BL)) /* single-stepping begins with a step, too */
        return sh4_let_go(t, err);
    /* It stands on a breakpoint: one step leaves that, and the rest runs freely. */
    int ret = sh4_step_start(t, true, err);
    if (ret <= 0)
        return ret;
    return sh4_let_go(t, err);
}

/* Ends what the last resume left: its stop was reported or is not wanted, and its step ends. */
static int forget_last_resume(struct sh4_target *t, const struct resume *how, struct err *err)
{
    if (how->set_pc) {
        t->regs.pc = (uint32_t)how->pc;
        t->run.caught = false;
    }
    if (t->run.state == SH4_RUN_STOPPED)
        sh4_run_event(t, SH4_ON_STOP_REPORTED);
    t->alias.set = 0;
    t->run.continuing = how->kind == RESUME_CONTINUE;
    t->self_reset.look_ns = sh4_now(t);
    /* the user has looked; now the program's own handler gets it */
    if (t->run.caught && how->kind == RESUME_CONTINUE)
        sh4_enter_handler(t);
    t->run.caught = false;
    return sh4_end_step(t, err); /* a failure may have come between */
}

static int go_as_asked(struct sh4_target *t, const struct resume *how, struct err *err)
{
    if (how->kind == RESUME_CONTINUE)
        return go_on(t, err);
    bool blocked = REG_GET(t->regs.sr, SH4_SR_BL) != 0;
    if (how->kind == RESUME_RANGE && blocked && !t->breaks.nhard)
        return range_with_bl(t, how, err);
    /* what a step does to a watched object is looked for after each */
    if (how->kind == RESUME_STEP || blocked || sh4_watch_lent(t))
        return step_now(t, err);
    t->step.lo = (uint32_t)how->range_lo;
    t->step.hi = (uint32_t)how->range_hi;
    return step_now(t, err);
}

int sh4_resume(struct target *target, const struct resume *given, struct err *err)
{
    static const char *const kinds[] = {
        [RESUME_CONTINUE] = "continue", [RESUME_STEP] = "step", [RESUME_RANGE] = "step in a range"
    };
    struct sh4_target *t = sh4_of(target);
    struct resume how = *given;
    log_msg(t->probe->log, LOG_TARGET, "%s: %s at %08x", t->probe->name, kinds[how.kind],
            t->regs.pc);
    int ret = sh4_need_halted(t, "resume", err);
    if (ret < 0)
        return ret;
    ret = forget_last_resume(t, &how, err);
    if (ret == 0 && t->plug.asked)
        ret = t->plug.tracing->resuming(t, &how, err);
    if (ret >= 0)
        ret = go_as_asked(t, &how, err);
    return sh4_lost(t, ret);
}
