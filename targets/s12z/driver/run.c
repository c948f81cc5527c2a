/* Run control: halt, resume, and what a poll finds. Its state is s12z/driver/run_state.h's. Source:
 * ZVM p.127-166, ZVHL p.143-227. */
#include <string.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

#define HALT_LIMIT_NS (1000u * 1000000u)
#define CSR(t, f)     REG_GET((t)->link.csr, S12Z_BDCCSR_##f)

/* ---- it stands ---- */

static void stop_was_reset(struct s12z_target *t)
{
    s12z_stop_is(t, STOP_RESET, S12Z_SIGNAL_TRAP);
    strcpy(t->run.stop.text,
           "the part was reset (COP, pin, or the program); halted some milliseconds after it");
}

static void stop_was_asked(struct s12z_target *t)
{
    s12z_stop_is(t, STOP_REQUEST, S12Z_SIGNAL_INT);
}

/* A STEP1 that slept is over. 1: a stop; 0: it was the step off a breakpoint. */
static int find_end_of_step(struct s12z_target *t, enum s12z_run_state was, struct err *err)
{
    uint32_t pc;
    int ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret < 0)
        return ret;
    if (was == S12Z_STEP_HALTING)
        stop_was_asked(t);
    else
        s12z_stop_is(t, STOP_STEP, S12Z_SIGNAL_TRAP);
    return was != S12Z_STEP_OFF;
}

/* Finds out why it stands. 1: run.stop says it; 0: it runs on. own: the profile has halted it. */
static int find_stop(struct s12z_target *t, enum s12z_run_state was, uint8_t efr, bool own,
                     struct err *err)
{
    uint32_t pc;
    if (was == S12Z_RESET_HALTING || was == S12Z_RESET_ASLEEP) {
        s12z_get_reg(t, S12Z_REG_PC, &pc, NULL);
        stop_was_reset(t);
        return 1;
    }
    if (was == S12Z_STEP || was == S12Z_STEP_OFF || was == S12Z_STEP_HALTING)
        return find_end_of_step(t, was, err);
    int ret = s12z_stands_at_break(t, efr, err);
    if (ret != 0)
        return ret;
    if (was == S12Z_HALTING) {
        stop_was_asked(t);
        return 1;
    }
    if (own)
        return 0;
    return s12z_stop_unasked(t, t->regs.value[S12Z_REG_PC], err);
}

/* It stands: works out what the caller sees. Returns as poll() does. */
static int tell_or_run_on(struct s12z_target *t, struct target_stop *stop, struct err *err)
{
    enum s12z_run_state was = t->run.state;
    uint8_t efr = 0;
    s12z_run_event(t, S12Z_ON_STANDS);
    s12z_regs_forget(t);
    int ret = s12z_dbg_disarm(t, &efr, err);
    if (ret == 0)
        ret = s12z_end_step(t, err);
    int own = ret;
    if (ret == 0 && t->hooks)
        own = t->hooks->halted(t, efr, err);
    if (own < 0)
        ret = own;
    else
        ret = find_stop(t, was, efr, own, err);
    if (ret == 0)
        return s12z_run_freely(t, err);
    if (ret > 0) {
        t->run.before = S12Z_REFUSED;
        *stop = t->run.stop;
    }
    return ret;
}

/* ---- halting ---- */

int s12z_halt(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    if (s12z_state(t) == TARGET_HALTED || s12z_asked_to_halt(t->run.state))
        return 0;
    if (s12z_state(t) != TARGET_RUNNING)
        return s12z_need_halted(t, err, "halt");
    log_msg(t->probe->log, LOG_TARGET, "%s: halt asked", t->probe->name);
    s12z_run_event(t, S12Z_ON_HALT_ASKED);
    t->run.halt_since_ns = s12z_now(t);
    /* the next poll steps it or deals with the reset; it does not run freely meanwhile */
    if (t->run.state == S12Z_RANGE_HALTING || t->run.state == S12Z_RESET_OURS)
        return 0;
    return s12z_ask_to_stand(t, err);
}

static int give_halt_up(struct s12z_target *t, struct err *err)
{
    s12z_run_event(t, S12Z_ON_HALT_LATE);
    if (CSR(t, STOP) || CSR(t, WAIT))
        return err_set(err, ERR_TIMEOUT,
                       "an interrupt wakes it and it halts then; or monitor reset halt",
                       "halt: the CPU sleeps in %s", CSR(t, STOP) ? "STOP" : "WAI");
    return err_set(err, ERR_TIMEOUT, "monitor reset halt",
                   "halt: the CPU does not enter active BDM (BDCCSR %04X)", t->link.csr);
}

int s12z_halt_now(struct s12z_target *t, struct err *err)
{
    struct target_stop stop;
    int ret = s12z_halt(&t->base, err);
    while (ret == 0 && s12z_state(t) == TARGET_RUNNING)
        ret = s12z_poll(&t->base, 20000000, &stop, err);
    return MIN(ret, 0);
}

/* ---- letting it run ---- */

int s12z_run_freely(struct s12z_target *t, struct err *err)
{
    int ret = 0;
    if (t->hooks)
        ret = t->hooks->resuming(t, err);
    if (ret == 0)
        ret = s12z_patches_write(t, err);
    if (ret == 0)
        ret = s12z_dbg_arm(t, err);
    if (ret == 0)
        ret = s12z_command(t, BDC_GO, err);
    if (ret < 0)
        return err_prefix(err, ret, "resume");
    if (t->run.state == S12Z_HALTED) /* else it was reset meanwhile, and runs anyway */
        s12z_run_event(t, S12Z_ON_GO);
    s12z_regs_forget(t);
    if (t->hooks)
        t->hooks->resumed(t);
    return 0;
}

/* The stop for the next poll to report: a watchpoint that the step has met, or the step itself. */
static void step_was_made(struct s12z_target *t)
{
    if (t->run.met)
        s12z_stop_at_hard(t, t->run.met);
    else
        s12z_stop_is(t, STOP_STEP, S12Z_SIGNAL_TRAP);
    s12z_run_event(t, S12Z_ON_STOP_FOUND);
}

static int step_here(struct s12z_target *t, struct err *err)
{
    uint32_t pc;
    int ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret == 0)
        ret = s12z_step_once(t, S12Z_ON_STEP_SLEEPS, err);
    if (ret <= 0)
        return ret;
    ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret == 0)
        step_was_made(t);
    return ret;
}

/* One step leaves a breakpoint, and the rest runs freely: breakpoints are ignored during STEP1 only
 * (ZVHL p.227). */
static int continue_from_here(struct s12z_target *t, struct err *err)
{
    uint32_t pc;
    bool breaks = t->breaks.npatches || s12z_dbg_wanted(t);
    int ret = 0;
    if (breaks)
        ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret < 0)
        return ret;
    if (!breaks || (!s12z_patch_at(t, pc) && !s12z_code_break_at(t, pc)))
        return s12z_run_freely(t, err);
    ret = s12z_step_once(t, S12Z_ON_OFF_SLEEPS, err);
    if (ret <= 0)
        return ret;
    if (!t->run.met)
        return s12z_run_freely(t, err);
    ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret == 0)
        step_was_made(t);
    return ret;
}

static int begin_range(struct s12z_target *t, const struct resume *how, struct err *err)
{
    uint32_t pc;
    int ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret < 0)
        return ret;
    t->run.range_lo = (uint32_t)how->range_lo;
    t->run.range_hi = (uint32_t)how->range_hi;
    s12z_run_event(t, S12Z_ON_RANGE_BEGINS); /* stepped at every poll */
    return 0;
}

static const char *resume_name(enum resume_kind kind)
{
    switch (kind) {
    case RESUME_CONTINUE: return "continue";
    case RESUME_STEP: return "step";
    default: return "step in a range";
    }
}

int s12z_resume(struct target *target, const struct resume *how, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = s12z_need_halted(t, err, "resume");
    if (ret < 0)
        return ret;
    s12z_flash_broken_off(t, "letting the program run");
    t->run.met = NULL;
    if (how->set_pc)
        ret = s12z_set_reg(t, S12Z_REG_PC, (uint32_t)how->pc & S12Z_ADDRESS, err);
    else
        ret = 0;
    if (ret == 0)
        ret = s12z_need_halted(t, err, "resume");
    if (ret < 0)
        return ret;
    if (t->run.state == S12Z_STOPPED)
        s12z_run_event(t, S12Z_ON_STOP_REPORTED);
    log_msg(t->probe->log, LOG_TARGET, "%s: %s", t->probe->name, resume_name(how->kind));
    if (how->kind == RESUME_CONTINUE)
        return continue_from_here(t, err);
    if (how->kind == RESUME_STEP || how->range_hi <= how->range_lo)
        return step_here(t, err);
    return begin_range(t, how, err);
}

/* ---- polling ---- */

/* The PC is known after a step in a range: whether that is a stop. */
static enum stop_reason find_range_end(struct s12z_target *t, uint32_t pc, bool asked)
{
    const struct s12z_hard *h = s12z_code_break_at(t, pc);
    if (t->run.met)
        return STOP_WATCH;
    if (s12z_patch_at(t, pc) || (h && h->kind == BP_SOFT))
        return STOP_SWBREAK;
    if (h)
        return STOP_HWBREAK;
    if (pc < t->run.range_lo || pc >= t->run.range_hi)
        return STOP_STEP;
    if (asked)
        return STOP_REQUEST;
    return STOP_NONE;
}

/* Steps inside [range_lo, range_hi) until `end`. As poll(). */
static int step_range(struct s12z_target *t, uint64_t end, struct target_stop *stop,
                      struct err *err)
{
    enum stop_reason reason = STOP_NONE;
    bool asked = t->run.state == S12Z_RANGE_HALTING;
    uint32_t pc;
    s12z_run_event(t, S12Z_ON_STANDS);
    do {
        int ret = s12z_step_once(t, S12Z_ON_STEP_SLEEPS, err);
        if (ret == 0 && asked && t->run.state == S12Z_STEP)
            s12z_run_event(t, S12Z_ON_HALT_ASKED);
        if (ret <= 0)
            return ret; /* 0: it sleeps; the next polls wait for that */
        if ((ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err)) < 0)
            return ret;
        reason = find_range_end(t, pc, asked);
    } while (reason == STOP_NONE && s12z_now(t) < end);
    if (reason == STOP_NONE) {
        s12z_run_event(t, S12Z_ON_RANGE_BEGINS);
        return 0;
    }
    t->run.before = S12Z_REFUSED;
    if (reason == STOP_WATCH)
        s12z_stop_at_hard(t, t->run.met);
    else
        s12z_stop_is(t, reason, reason == STOP_REQUEST ? S12Z_SIGNAL_INT : S12Z_SIGNAL_TRAP);
    *stop = t->run.stop;
    return 1;
}

/* It was reset. If anything of ours was in it, it is halted to report that; else it is left to run.
 */
static int see_to_reset(struct s12z_target *t, struct err *err)
{
    bool ours = t->breaks.npatches || s12z_dbg_wanted(t) || t->run.state == S12Z_RESET_OURS;
    if (t->hooks)
        t->hooks->reset(t);
    s12z_run_event(t, ours ? S12Z_ON_RESET_HALTS : S12Z_ON_RESET_PASSED);
    if (!ours)
        return 0;
    t->run.halt_since_ns = s12z_now(t);
    return s12z_ask_to_stand(t, err);
}

static int poll_running(struct s12z_target *t, uint64_t max_ns, struct target_stop *stop,
                        struct err *err)
{
    uint64_t end = s12z_now(t) + max_ns, slice = 20000;
    for (;;) {
        if (t->run.state == S12Z_RANGE || t->run.state == S12Z_RANGE_HALTING)
            return step_range(t, end, stop, err);
        int ret = s12z_read_csr(t, err);
        if (ret == 0 && s12z_reset_found(t))
            ret = see_to_reset(t, err);
        if (ret < 0)
            return ret;
        if (CSR(t, BDMACT) && t->run.state == S12Z_LOOKED_AT) { /* it woke up */
            uint64_t pc;
            ret = s12z_look_and_go(t, &pc, err);
            if (ret < 0)
                return ret;
            continue;
        }
        if (CSR(t, BDMACT) && !s12z_reset_found(t)) {
            ret = tell_or_run_on(t, stop, err);
            if (ret || s12z_state(t) != TARGET_RUNNING || s12z_now(t) >= end)
                return ret;
            continue;
        }
        if (s12z_is_to_stand(t->run.state) && (ret = s12z_ask_again(t, err)) < 0)
            return ret;
        if (t->hooks && (ret = t->hooks->poll(t, max_ns, err)) < 0)
            return ret;
        if (s12z_asked_to_halt(t->run.state) && s12z_now(t) - t->run.halt_since_ns > HALT_LIMIT_NS)
            return give_halt_up(t, err);
        uint64_t at = s12z_now(t);
        if (at >= end)
            return 0;
        if ((ret = s12z_wait(t, MIN(slice, end - at), err)) < 0)
            return ret;
        slice = MIN(slice * 2, (uint64_t)1000000);
    }
}

int s12z_poll(struct target *target, uint64_t max_ns, struct target_stop *stop, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    if (t->run.state == S12Z_STOPPED) {
        s12z_run_event(t, S12Z_ON_STOP_REPORTED);
        *stop = t->run.stop;
        return 1;
    }
    if (s12z_state(t) == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "the target is gone");
    /* one found to have been reset is stopped again by the next poll */
    if (s12z_state(t) != TARGET_RUNNING) {
        int looked = 0;
        if (s12z_state(t) == TARGET_HALTED && max_ns)
            looked = s12z_read_csr(t, err);
        if (looked < 0)
            return err_prefix(err, looked, "looking whether the board is still there");
        return 0;
    }
    int ret = poll_running(t, max_ns, stop, err);
    /* it is not known what halted it: the program would stand for good, and that would not be
     * reported */
    if (ret < 0 && s12z_state(t) == TARGET_HALTED)
        s12z_run_lost(t);
    return s12z_lost(t, ret);
}
