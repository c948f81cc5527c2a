/* Stops in code that runs with SR.BL=1, where no break can be taken and a TRAPA resets the CPU: the
 * host steps it, and a CPU that did reset itself is found by the internal status read. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

#define LOOK_EVERY_NS (10u * 1000000u)

/* ---- the crawl ---- */

static bool hard_at(const struct sh4_target *t, uint32_t pc)
{
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        if (t->ubc[n].used && t->ubc[n].kind == BP_HARD && t->ubc[n].addr == pc)
            return true;
    return false;
}

static bool wants_crawl(const struct sh4_target *t)
{
    bool hard = false;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        hard = hard || (t->ubc[n].used && t->ubc[n].kind == BP_HARD);
    return REG_GET(t->sr, SH4_SR_BL) && (t->npatches || hard);
}

int sh4_let_go(struct sh4_target *t, struct err *err)
{
    t->stepped.on = wants_crawl(t);
    if (!t->stepped.on)
        return sh4_run_freely(t, err);
    t->stepped.count = 0;
    t->state = TARGET_RUNNING;
    return 0;
}

static int crawl_ends(struct sh4_target *t, enum stop_reason reason, int signal,
                      struct target_stop *stop)
{
    t->stepped.on = t->halt_wanted = false;
    t->state = TARGET_HALTED;
    sh4_stop_is(t, reason, signal);
    *stop = t->stop;
    return 1;
}

/* The next instruction cannot be stepped. At the place the program was resumed at the user has been
 * told already: then it gets what it asks for. */
static int cannot_step(struct sh4_target *t, const struct err *why, struct target_stop *stop,
                       struct err *err)
{
    if (t->stepped.count == 0) {
        t->stepped.on = false;
        return sh4_run_freely(t, err);
    }
    crawl_ends(t, STOP_SIGNAL, why->code == ERR_FAULT ? 11 : 4, stop);
    snprintf(stop->text, sizeof stop->text, "%.*s", (int)sizeof stop->text - 1, why->what);
    t->stop = *stop;
    return 1;
}

/* One instruction, or what ends the crawl. 1: a stop; 0: go on (t->stepped.on tells how). */
static int crawl_once(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (t->stepped.count && sh4_patch_at(t, t->pc))
        return crawl_ends(t, STOP_SWBREAK, 5, stop);
    if (t->stepped.count && hard_at(t, t->pc))
        return crawl_ends(t, STOP_HWBREAK, 5, stop);
    if (t->halt_wanted)
        return crawl_ends(t, STOP_REQUEST, 2, stop);
    if (!REG_GET(t->sr, SH4_SR_BL)) {
        t->stepped.on = false;
        return sh4_run_freely(t, err);
    }
    int ret = sh4_step_start(t, &why);
    if (ret == -ERR_UNSUPPORTED || ret == -ERR_FAULT)
        return cannot_step(t, &why, stop, err);
    t->stepped.count++;
    if (ret == -ERR_TIMEOUT && sh4_reset_in_step(t, NULL) > 0)
        return 0;
    if (ret < 0 && err)
        *err = why;
    return MIN(ret, 0);
}

int sh4_crawl(struct sh4_target *t, uint64_t end_ns, struct target_stop *stop, struct err *err)
{
    int ret = 0;
    do {
        t->state = TARGET_HALTED; /* that is what it is, between two steps */
        ret = crawl_once(t, stop, err);
        if (ret)
            break;
        t->state = TARGET_RUNNING;
    } while (t->stepped.on && sh4_link_now(&t->link) < end_ns);
    if (ret < 0)
        t->stepped.on = false;
    return ret;
}

/* ---- a CPU that reset itself ---- */

/* EXPEVT of the running CPU, >= 0. */
static int expevt_now(struct sh4_target *t, struct err *err)
{
    static const uint8_t sel[] = { SH4_STATUS_EVENTS };
    uint32_t v = 0;
    int ret = sh4_link_status(&t->link, sel, &v, 1, err);
    return ret < 0 ? ret : (int)(v & 0xFFFF);
}

bool sh4_is_reset(uint32_t expevt)
{
    return expevt == SH4_EXP_MANUAL_RESET || expevt == SH4_EXP_TLB_MULTI;
}

int sh4_reset_seen(struct sh4_target *t, struct err *err)
{
    uint64_t at = sh4_link_now(&t->link);
    /* EXPEVT from before the resume proves nothing. An armed trace looks at SDDR by itself. */
    if (!t->opt.allow_private || !t->hooks || t->trace_vbr || t->self_reset.seen ||
        sh4_is_reset(t->trap[1]) || at - t->self_reset.look_ns < LOOK_EVERY_NS)
        return 0;
    t->self_reset.look_ns = at;
    int ret = expevt_now(t, err);
    t->self_reset.seen = ret > 0 && sh4_is_reset((uint32_t)ret);
    return ret < 0 ? ret : t->self_reset.seen;
}

static bool as_after_reset(uint32_t expevt)
{
    return sh4_is_reset(expevt) || expevt == SH4_EXP_POWER_ON;
}

/* Programs read EXPEVT in handlers of exceptions, which set it: outside of one it may hold
 * anything. */
int sh4_mark_expevt(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->opt.allow_private)
        return 0;
    if (as_after_reset(t->trap[1])) {
        t->trap[1] = SH4_EXP_USER_BREAK;
        ret = sh4_agent_poke(t, SH4_EXPEVT, 4, t->trap[1], err);
    }
    if (ret == 0)
        ret = expevt_now(t, err);
    return ret < 0 ? ret : !as_after_reset((uint32_t)ret);
}

int sh4_reset_while_traced(struct sh4_target *t, struct err *err)
{
    int ret = expevt_now(t, err);
    return ret < 0 || !as_after_reset((uint32_t)ret) ? MIN(ret, 0)
                                                     : sh4_reset_error((uint32_t)ret, err);
}

int sh4_reset_error(uint32_t expevt, struct err *err)
{
    /* An exception with BL=1 resets like the manual reset (SH7750 manual, section 5.6.1): the
     * trace's own traps would, too. */
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
    int ret = t->opt.allow_private ? expevt_now(t, err) : 0;
    if (ret < 0 || !sh4_is_reset((uint32_t)ret)) /* the step itself left 0x160 there */
        return MIN(ret, 0);
    t->stepped.on = t->loaded = false;
    t->state = TARGET_RUNNING;
    t->self_reset.seen = true;
    return 1;
}

void sh4_stop_was_reset(struct sh4_target *t)
{
    t->self_reset.seen = false;
    sh4_ubc_forget(t);
    sh4_stop_is(t, STOP_RESET, 5);
    snprintf(t->stop.text, sizeof t->stop.text,
             "the CPU has reset itself (EXPEVT %03x): %s with SR.BL=1", (unsigned)t->trap[1],
             t->trap[1] == SH4_EXP_TLB_MULTI ? "TLB multiple hit"
             : t->npatches                   ? "a breakpoint or an exception"
                                             : "an exception");
}
