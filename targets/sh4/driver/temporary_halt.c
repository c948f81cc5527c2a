/* Access to a running target: it is halted for a moment, and then runs on from where it was. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

#define SLICE_NS     (20u * 1000u)
#define INTERRUPT_NS (2u * 1000u * 1000u)
/* how long a halt for something longer may take */
#define PAUSE_NS 2000000000u

static int may_halt_for_a_moment(struct sh4_target *t, const char *what, struct err *err)
{
    if (sh4_state(t) != TARGET_RUNNING)
        return sh4_need_halted(t, what, err);
    if (sh4_stepping(t) || sh4_halt_asked(t) || sh4_reset_unreported(t))
        return err_set(err, ERR_STATE, "try again when it has stopped", "%s: the target is %s",
                       what, sh4_stepping(t) ? "in the middle of a step" : "being halted");
    return 0;
}

/* 1: stopped; 0: an interrupt asked for was not taken in time. */
static int wait_stopped(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    uint64_t end = sh4_now(t) + INTERRUPT_NS;
    int ret = sh4_halt(&t->base, err);
    while (ret == 0 && sh4_state(t) == TARGET_RUNNING &&
           !(t->asked.by_interrupt && sh4_now(t) > end))
        ret = sh4_poll(&t->base, SLICE_NS, stop, err);
    if (ret < 0)
        return ret;
    return sh4_state(t) != TARGET_RUNNING;
}

/* 0: it is halted. *ours_alone: by our request, and not by a stop of its own, which the next poll
 * reports. */
static int halt_shortly(struct sh4_target *t, bool *ours_alone, struct err *err)
{
    struct target_stop stop = { .reason = STOP_NONE };
    t->asked.shortly = true;
    t->asked.by_interrupt = false;
    int ret = wait_stopped(t, &stop, err);
    if (ret == 0) { /* the priority is gone, or the interrupt is masked: it may still come */
        t->asked.late = true;
        t->hudi.masked = true;
        t->hudi.ready = t->asked.by_interrupt = false;
        sh4_halt_given_up(t);
        ret = wait_stopped(t, &stop, err);
    }
    t->asked.shortly = false;
    /* It was stopped by something else: our interrupt comes when it runs on. */
    t->asked.late = t->asked.late || (ret > 0 && t->asked.by_interrupt &&
                                      t->regs.save[SH4_SAVE_KIND] != SH4_ENTRY_INTERRUPT);
    if (ret < 0) {
        t->asked.late = t->asked.late || ret == -ERR_TIMEOUT;
        sh4_halt_given_up(t);
        return ret;
    }
    /* A break taken with BL=1 has cost the handler its SPC: that is reported. */
    *ours_alone = stop.reason == STOP_REQUEST && !REG_GET(t->regs.sr, SH4_SR_BL);
    if (!*ours_alone)
        sh4_stop_later(t, &stop);
    return 0;
}

int sh4_temporary_halt(struct sh4_target *t, enum sh4_temporary *was, const char *what,
                       struct err *err)
{
    *was = SH4_WAS_HALTED;
    if (sh4_state(t) == TARGET_HALTED)
        return 0;
    int ret = may_halt_for_a_moment(t, what, err);
    if (ret < 0)
        return ret;
    if (sh4_host_steps(t)) { /* between two steps it is halted */
        sh4_run_event(t, SH4_ON_HELD);
        *was = SH4_HOST_STEPPED;
        return 0;
    }
    bool ours_alone = false;
    ret = halt_shortly(t, &ours_alone, err);
    if (ret == 0 && ours_alone)
        *was = SH4_RAN;
    t->hudi.in_use = t->hudi.in_use || (ret == 0 && ours_alone);
    if (ret == 0 && ours_alone && !t->plug.vbr && (ret = sh4_hudi_priority(t, err)) < 0)
        sh4_end_temporary_halt(t, *was, ret, NULL);
    if (ret < 0)
        return err_prefix(err, ret, what);
    return 0;
}

int sh4_end_temporary_halt(struct sh4_target *t, enum sh4_temporary was, int done, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    struct err own = { .code = ERR_OK };
    if (was == SH4_WAS_HALTED || sh4_state(t) != TARGET_HALTED)
        return done;
    if (was == SH4_HOST_STEPPED) {
        sh4_run_event(t, SH4_ON_RELEASED);
        return done;
    }
    /* This is not the user's "continue": a breakpoint where it stands by chance was not met yet. */
    int ret;
    if (t->plug.vbr)
        ret = sh4_resume(&t->base, &how, &own);
    else
        ret = sh4_run_freely(t, &own);
    if (ret < 0 && done >= 0 && err)
        *err = own;
    if (done < 0)
        return done;
    return MIN(ret, 0);
}

/* ---- for longer, or for good ---- */

/* On a line that was given more patience (timeout=MS) it may take longer. */
static uint64_t pause_limit(const struct sh4_link *l)
{
    return MAX((uint64_t)PAUSE_NS, l->silence_ns + l->silence_ns / 2);
}

int sh4_pause(struct sh4_target *t, bool *ran, struct err *err)
{
    enum { SLICE = 1000000, LOOKS = 40 };
    struct target_stop stop;
    uint64_t end = sh4_now(t) + pause_limit(&t->link);
    const bool asked = sh4_halt_asked(t), steps = sh4_stepping(t) && !sh4_stepping_off(t);
    *ran = sh4_state(t) == TARGET_RUNNING;
    if (!*ran)
        return sh4_state(t) == TARGET_HALTED
                   ? 0
                   : err_set(err, ERR_STATE, "attach first", "trace: target not attached");
    int ret = sh4_halt(&t->base, err);
    /* at least so many looks: reading a full ring through a slow adapter takes seconds */
    for (unsigned n = 0;
         ret == 0 && sh4_state(t) == TARGET_RUNNING && (sh4_now(t) < end || n < LOOKS); n++)
        ret = sh4_poll(&t->base, SLICE, &stop, err);
    if (ret < 0)
        return ret;
    if (sh4_state(t) != TARGET_HALTED)
        return err_set(err, ERR_TIMEOUT, "interrupts may be masked for long",
                       "trace: the target does not halt");
    /* the caller's step ends early; another follows while it is still in its range */
    if (steps && !asked && stop.reason == STOP_REQUEST)
        stop.reason = STOP_STEP;
    if (ret > 0 && (asked || stop.reason != STOP_REQUEST)) {
        sh4_stop_later(t, &stop);
        *ran = false;
    }
    return 0;
}

int sh4_unpause(struct sh4_target *t, bool ran, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    if (ran)
        return sh4_resume(&t->base, &how, err);
    return 0;
}

int sh4_pause_to_end(struct sh4_target *t, bool *ran, struct err *err)
{
    t->plug.ending = true;
    int ret = sh4_pause(t, ran, err);
    t->plug.ending = false;
    return ret;
}

int sh4_own_step(struct sh4_target *t, struct err *err)
{
    enum { SLICE = 1000000 };
    struct resume how = { .kind = RESUME_STEP };
    struct target_stop stop;
    int ret = sh4_resume(&t->base, &how, err);
    t->run.continuing = true;
    while (ret == 0)
        ret = sh4_poll(&t->base, SLICE, &stop, err);
    return MIN(ret, 0);
}

int sh4_own_halt_again(struct sh4_target *t, struct err *err)
{
    const struct resume how = { .kind = RESUME_CONTINUE };
    int ret = sh4_resume(&t->base, &how, err);
    t->run.continuing = true;
    if (ret == 0)
        ret = sh4_halt_now(t, err);
    return ret;
}
