/* The lowest step of the driver: questions to the target's state, and its simplest changes. */
#include <stdio.h>
#include <string.h>

#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

int sh4_need_halted(const struct sh4_target *t, const char *what, struct err *err)
{
    switch (sh4_state(t)) {
    case TARGET_HALTED: return 0;
    case TARGET_GONE:
        return err_set(err, ERR_NO_TARGET, "check power and cable, then attach again",
                       "%s: the target is gone", what);
    case TARGET_RUNNING:
        return err_set(err, ERR_STATE, "halt the target first", "%s: the target is running", what);
    default:
        return err_set(err, ERR_STATE, "halt the target first", "%s: the target is not attached",
                       what);
    }
}

/* What it does, or did until it was found standing. */
static enum sh4_run_state what_it_does(const struct sh4_target *t)
{
    if (t->run.state == SH4_RUN_SETTLING)
        return t->run.before;
    return t->run.state;
}

bool sh4_stepping_off(const struct sh4_target *t)
{
    return what_it_does(t) == SH4_RUN_STEP_OFF || what_it_does(t) == SH4_RUN_STEP_OFF_HALTING;
}

bool sh4_stepping(const struct sh4_target *t)
{
    return what_it_does(t) == SH4_RUN_STEP || what_it_does(t) == SH4_RUN_STEP_HALTING ||
           sh4_stepping_off(t);
}

bool sh4_halt_asked(const struct sh4_target *t) { return sh4_run_halting(what_it_does(t)); }

void sh4_halt_given_up(struct sh4_target *t)
{
    if (sh4_run_halting(t->run.state))
        sh4_run_event(t, SH4_ON_HALT_LATE);
}

bool sh4_reset_unreported(const struct sh4_target *t)
{
    return what_it_does(t) == SH4_RUN_RESET || what_it_does(t) == SH4_RUN_RESET_HALTING;
}

bool sh4_host_steps(const struct sh4_target *t)
{
    return t->run.state == SH4_RUN_HOST_STEPS || t->run.state == SH4_RUN_HOST_STEPS_HALTING ||
           t->run.state == SH4_RUN_HOST_STEP;
}

bool sh4_on_its_own(const struct sh4_target *t)
{
    return sh4_state(t) == TARGET_RUNNING && !sh4_host_steps(t);
}

static bool is_loss(int ret) { return ret == -ERR_USB || ret == -ERR_NO_TARGET; }

int sh4_lost(struct sh4_target *t, int ret)
{
    if (is_loss(ret))
        sh4_run_event(t, SH4_ON_LOST);
    return ret;
}

void sh4_stop_is(struct sh4_target *t, enum stop_reason reason, int signal)
{
    memset(&t->stop, 0, sizeof t->stop);
    t->stop.reason = reason;
    t->stop.signal = signal;
    t->stop.pc = t->regs.pc;
}

void sh4_stop_is_watch(struct sh4_target *t, const struct sh4_hard *h)
{
    sh4_stop_is(t, STOP_WATCH, SIGNAL_TRAP);
    t->stop.watch_addr = h->addr;
    t->stop.watch_kind = h->kind;
}

void sh4_stop_later(struct sh4_target *t, const struct target_stop *stop)
{
    t->stop = *stop;
    sh4_run_event(t, SH4_ON_STOP_FOUND);
}

int sh4_settling_failed(struct sh4_target *t, int ret, const struct err *why)
{
    bool stands = t->run.state == SH4_RUN_SETTLING || t->run.state == SH4_RUN_HOST_STEP;
    if (ret >= 0 || is_loss(ret) || !stands)
        return ret;
    sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    if (why)
        snprintf(t->stop.text, sizeof t->stop.text, "stands after a failure: %.*s",
                 (int)sizeof t->stop.text - 32, why->what);
    sh4_run_event(t, SH4_ON_STOP_FOUND);
    return ret;
}

/* A break in the agent would save the agent's registers over the program's. */
bool sh4_in_agent(const struct sh4_target *t, uint32_t fetch)
{
    return t->agent.layout == &sh4_agent_ase && (fetch & 0xFF000000u) == SH4_ASERAM;
}

bool sh4_is_resident_agent(const struct sh4_target *t, uint32_t addr)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    return a && a != &sh4_agent_ase && (addr & SH4_PHYS) - (t->agent.base & SH4_PHYS) < a->size;
}

void sh4_regs_unseen(struct sh4_target *t)
{
    for (size_t i = 0; i < SH4_SAVE_WORDS; i++)
        t->regs.save_seen[i] = ~t->regs.save[i];
}

uint32_t sh4_canonical32(uint32_t addr)
{
    if (addr < 0xE0000000u)
        return addr & SH4_PHYS;
    return addr;
}
