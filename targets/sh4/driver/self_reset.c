/* A CPU that resets itself: an exception, or a breakpoint, while SR.BL is 1. The internal status
 * read shows it in EXPEVT. */
#include <stdio.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

#define LOOK_EVERY_NS (10u * 1000000u)

/* EXPEVT of the running CPU, >= 0. */
static int expevt_now(struct sh4_target *t, struct err *err)
{
    static const uint8_t sel[] = { SH4_STATUS_EVENTS };
    uint32_t v = 0;
    int ret = sh4_link_status(&t->link, sel, &v, 1, err);
    if (ret < 0)
        return ret;
    return (int)(v & 0xFFFF);
}

bool sh4_is_reset(uint32_t expevt)
{
    return expevt == SH4_EXP_MANUAL_RESET || expevt == SH4_EXP_TLB_MULTI;
}

int sh4_look_for_reset(struct sh4_target *t, struct err *err)
{
    uint64_t at = sh4_link_now(&t->link);
    /* EXPEVT from before the resume proves nothing. An armed trace looks at SDDR by itself. */
    if (!t->opt.allow_private || !t->regs.hooks || t->plug.vbr || sh4_reset_unreported(t) ||
        sh4_is_reset(t->regs.trap[1]) || at - t->self_reset.look_ns < LOOK_EVERY_NS)
        return 0;
    t->self_reset.look_ns = at;
    int ret = expevt_now(t, err);
    if (ret > 0 && sh4_is_reset((uint32_t)ret))
        sh4_run_event(t, SH4_ON_RESET_SEEN);
    return MIN(ret, 0);
}

static bool as_after_reset(uint32_t expevt)
{
    return sh4_is_reset(expevt) || expevt == SH4_EXP_POWER_ON;
}

/* Programs read EXPEVT in handlers of exceptions, which set it. Outside of a handler it may hold
 * anything. */
int sh4_mark_expevt(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->opt.allow_private)
        return 0;
    if (as_after_reset(t->regs.trap[1])) {
        t->regs.trap[1] = SH4_EXP_USER_BREAK;
        ret = sh4_agent_poke(t, SH4_EXPEVT, 4, t->regs.trap[1], err);
    }
    if (ret == 0)
        ret = expevt_now(t, err);
    if (ret < 0)
        return ret;
    return !as_after_reset((uint32_t)ret);
}

int sh4_reset_while_traced(struct sh4_target *t, struct err *err)
{
    int ret = expevt_now(t, err);
    if (ret < 0 || !as_after_reset((uint32_t)ret))
        return MIN(ret, 0);
    return sh4_reset_error((uint32_t)ret, err);
}

int sh4_reset_error(uint32_t expevt, struct err *err)
{
    /* An exception with BL=1 resets the CPU as the manual reset does (SH7750 hardware manual,
     * section 5.6.1). The trace's own traps would, too. */
    if (sh4_is_reset(expevt))
        return err_set(err, ERR_NO_TARGET,
                       "see whether the program runs through untraced; \"monitor profile explain\" "
                       "says which places were left alone, and why",
                       "the trace agent is gone, the CPU was reset (EXPEVT %03x): it looks like an "
                       "exception or a trap of the trace with SR.BL=1",
                       (unsigned)expevt);
    return err_set(err, ERR_NO_TARGET, "look at its reset button, watchdog and supply",
                   "the trace agent is gone, the CPU was reset (EXPEVT %03x)", (unsigned)expevt);
}

int sh4_reset_in_step(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (t->opt.allow_private)
        ret = expevt_now(t, err);
    if (ret < 0 || !sh4_is_reset((uint32_t)ret)) /* the step itself left 0x160 there */
        return MIN(ret, 0);
    t->regs.loaded = false;
    sh4_run_event(t, SH4_ON_RESET_SEEN);
    return 1;
}

/* Why a CPU with SR.BL=1 has reset itself. */
static const char *reset_cause(const struct sh4_target *t)
{
    if (t->regs.trap[1] == SH4_EXP_TLB_MULTI)
        return "TLB multiple hit";
    if (t->breaks.npatches)
        return "a breakpoint or an exception";
    return "an exception";
}

void sh4_stop_was_reset(struct sh4_target *t)
{
    sh4_ubc_forget(t);
    sh4_stop_is(t, STOP_RESET, 5);
    snprintf(t->stop.text, sizeof t->stop.text,
             "the CPU has reset itself (EXPEVT %03x): %s with SR.BL=1", (unsigned)t->regs.trap[1],
             reset_cause(t));
}
