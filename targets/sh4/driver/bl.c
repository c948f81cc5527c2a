/* Stops in code that runs with SR.BL=1, where no break can be taken and a TRAPA resets the CPU: the
 * host single-steps it. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

static bool hard_at(const struct sh4_target *t, uint32_t pc)
{
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        if (t->breaks.ubc[n].used && t->breaks.ubc[n].kind == BP_HARD &&
            t->breaks.ubc[n].addr == pc)
            return true;
    return false;
}

static bool must_be_stepped(const struct sh4_target *t)
{
    bool hard = false;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        hard = hard || (t->breaks.ubc[n].used && t->breaks.ubc[n].kind == BP_HARD);
    return REG_GET(t->regs.sr, SH4_SR_BL) && (t->breaks.npatches || hard);
}

int sh4_let_go(struct sh4_target *t, struct err *err)
{
    if (!must_be_stepped(t))
        return sh4_run_freely(t, err);
    t->host_steps.count = 0;
    sh4_run_event(t, SH4_ON_HOST_STEPS_BEGIN);
    return 0;
}

static int stop_stepping(struct sh4_target *t, enum stop_reason reason, int signal,
                         struct target_stop *stop)
{
    sh4_stop_is(t, reason, signal);
    *stop = t->stop;
    sh4_run_event(t, SH4_ON_STOP);
    return 1;
}

/* Where it stands after a step. 1: a stop. */
static int breakpoint_here(struct sh4_target *t, struct target_stop *stop)
{
    if (!t->host_steps.count)
        return 0;
    if (sh4_patch_at(t, t->regs.pc))
        return stop_stepping(t, STOP_SWBREAK, SIGNAL_TRAP, stop);
    if (hard_at(t, t->regs.pc))
        return stop_stepping(t, STOP_HWBREAK, SIGNAL_TRAP, stop);
    return 0;
}

/* The next instruction cannot be stepped. If that is where the program was resumed, the user knows
 * already, and gets what was asked for. */
static int cannot_step(struct sh4_target *t, const struct err *why, struct target_stop *stop,
                       struct err *err)
{
    if (t->host_steps.count == 0)
        return sh4_run_freely(t, err);
    stop_stepping(t, STOP_SIGNAL, why->code == ERR_FAULT ? SIGNAL_SEGV : SIGNAL_ILL, stop);
    snprintf(stop->text, sizeof stop->text, "%.*s", (int)sizeof stop->text - 1, why->what);
    t->stop = *stop;
    return 1;
}

/* Steps one instruction, or finds what ends the stepping. 1: a stop; 0: go on, as the state says.
 */
static int step_once(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (breakpoint_here(t, stop))
        return 1;
    if (!REG_GET(t->regs.sr, SH4_SR_BL))
        return sh4_run_freely(t, err);
    uint32_t from = t->regs.pc;
    int ret = sh4_step_start(t, false, &why);
    const struct sh4_hard *h = NULL;
    if (ret > 0)
        h = sh4_watch_stepped(t, from);
    if (h) {
        stop_stepping(t, STOP_WATCH, SIGNAL_TRAP, stop);
        sh4_stop_is_watch(t, h);
        *stop = t->stop;
        return 1;
    }
    if (ret == -ERR_UNSUPPORTED || ret == -ERR_FAULT)
        return cannot_step(t, &why, stop, err);
    t->host_steps.count++;
    t->host_steps.total++;
    if (ret < 0 && err)
        *err = why;
    return MIN(ret, 0);
}

int sh4_steps_by_host(struct sh4_target *t, uint64_t end_ns, struct target_stop *stop,
                      struct err *err)
{
    if (sh4_halt_asked(t))
        return breakpoint_here(t, stop) ? 1 : stop_stepping(t, STOP_REQUEST, SIGNAL_INT, stop);
    sh4_run_event(t, SH4_ON_HELD);
    int ret;
    do
        ret = step_once(t, stop, err);
    while (ret == 0 && sh4_host_steps(t) && sh4_link_now(&t->link) < end_ns);
    if (ret == 0 && sh4_host_steps(t))
        sh4_run_event(t, SH4_ON_RELEASED);
    return sh4_settling_failed(t, ret, err);
}
