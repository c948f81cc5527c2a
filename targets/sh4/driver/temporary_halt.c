/* Access to a running target: it is halted for a moment, and runs on from where it was as if
 * nothing had happened. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

#define SLICE_NS     (20u * 1000u)
#define INTERRUPT_NS (2u * 1000u * 1000u)

static int may_borrow(struct sh4_target *t, const char *what, struct err *err)
{
    if (t->state != TARGET_RUNNING)
        return sh4_is_halted(t, err, what) ? 0
               : t->state == TARGET_GONE   ? -ERR_NO_TARGET
                                           : -ERR_STATE;
    if (t->stepping || t->halt_wanted || t->self_reset.seen)
        return err_set(err, ERR_STATE, "try again when it has stopped", "%s: the target is %s",
                       what, t->stepping ? "in the middle of a step" : "being halted");
    return 0;
}

/* 1: stopped; 0: an interrupt asked for was not taken in time. */
static int wait_stopped(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    uint64_t end = sh4_now(t) + INTERRUPT_NS;
    int ret = sh4_halt(&t->base, err);
    while (ret == 0 && t->state == TARGET_RUNNING && !(t->asked.by_interrupt && sh4_now(t) > end))
        ret = sh4_poll(&t->base, SLICE_NS, stop, err);
    return ret < 0 ? ret : t->state != TARGET_RUNNING;
}

/* 0 halted, by us alone: *borrowed; or by a stop of its own, which the next poll reports. */
static int halt_shortly(struct sh4_target *t, bool *borrowed, struct err *err)
{
    struct target_stop stop = { .reason = STOP_NONE };
    t->asked.shortly = true;
    t->asked.by_interrupt = false;
    int ret = wait_stopped(t, &stop, err);
    if (ret == 0) { /* its priority is gone, or it is masked: it may still come */
        t->asked.late = true;
        t->halt_wanted = t->hudi.ready = t->asked.by_interrupt = false;
        ret = wait_stopped(t, &stop, err);
    }
    t->asked.shortly = false;
    /* Stopped by something else: the interrupt comes when it runs on. */
    t->asked.late = t->asked.late || (ret > 0 && t->asked.by_interrupt &&
                                      t->save[SH4_SAVE_KIND] != SH4_ENTRY_INTERRUPT);
    if (ret < 0) {
        t->asked.late = t->asked.late || ret == -ERR_TIMEOUT;
        t->halt_wanted = false;
        return ret;
    }
    /* A break taken with BL=1 has cost the handler its SPC: that is not hidden. */
    *borrowed = stop.reason == STOP_REQUEST && !REG_GET(t->sr, SH4_SR_BL);
    t->stop_pending = !*borrowed;
    if (!*borrowed)
        t->stop = stop;
    return 0;
}

int sh4_borrow(struct sh4_target *t, enum sh4_loan *loan, const char *what, struct err *err)
{
    *loan = SH4_LOAN_NONE;
    if (t->state == TARGET_HALTED)
        return 0;
    int ret = may_borrow(t, what, err);
    if (ret < 0)
        return ret;
    if (t->stepped.on) { /* between two steps it is halted */
        t->state = TARGET_HALTED;
        *loan = SH4_LOAN_CRAWL;
        return 0;
    }
    bool borrowed = false;
    ret = halt_shortly(t, &borrowed, err);
    if (ret == 0 && borrowed)
        *loan = SH4_LOAN_RUN;
    t->hudi.lending = t->hudi.lending || (ret == 0 && borrowed);
    if (ret == 0 && borrowed && !t->trace_vbr && (ret = sh4_hudi_priority(t, err)) < 0)
        sh4_give_back(t, *loan, ret, NULL);
    return ret < 0 ? err_prefix(err, ret, what) : 0;
}

int sh4_give_back(struct sh4_target *t, enum sh4_loan loan, int done, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    struct err own = { .code = ERR_OK };
    if (loan == SH4_LOAN_NONE || t->state != TARGET_HALTED)
        return done;
    if (loan == SH4_LOAN_CRAWL) {
        t->state = TARGET_RUNNING;
        return done;
    }
    /* Not the user's "continue": a breakpoint it stands on by chance has not been met yet. */
    int ret = t->trace_vbr ? sh4_resume(&t->base, &how, &own) : sh4_run_freely(t, &own);
    if (ret < 0 && done >= 0 && err)
        *err = own;
    return done < 0 ? done : MIN(ret, 0);
}
