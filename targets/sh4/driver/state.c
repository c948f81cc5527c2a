/* What everything stands on: questions to the target's state, and its simplest changes. */
#include <string.h>

#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

bool sh4_is_halted(struct sh4_target *t, struct err *err, const char *what)
{
    if (t->state == TARGET_HALTED)
        return true;
    err_set(err, t->state == TARGET_GONE ? ERR_NO_TARGET : ERR_STATE,
            t->state == TARGET_GONE ? "check power and cable, then attach again"
                                    : "halt the target first",
            "%s: the target is %s", what,
            t->state == TARGET_GONE      ? "gone"
            : t->state == TARGET_RUNNING ? "running"
                                         : "not attached");
    return false;
}

int sh4_lost(struct sh4_target *t, int ret)
{
    if (ret == -ERR_USB || ret == -ERR_NO_TARGET)
        t->state = TARGET_GONE;
    return ret;
}

void sh4_stop_is(struct sh4_target *t, enum stop_reason reason, int signal)
{
    memset(&t->stop, 0, sizeof t->stop);
    t->stop.reason = reason;
    t->stop.signal = signal;
    t->stop.pc = t->pc;
}

/* A break into the agent would save the agent's registers over the program's. */
bool sh4_in_agent(const struct sh4_target *t, uint32_t fetch)
{
    return t->layout == &sh4_agent_ase && (fetch & 0xFF000000u) == SH4_ASERAM;
}

void sh4_regs_unseen(struct sh4_target *t)
{
    for (size_t i = 0; i < SH4_SAVE_WORDS; i++)
        t->save_seen[i] = ~t->save[i];
}

uint32_t sh4_canonical32(uint32_t addr) { return addr < 0xE0000000u ? addr & SH4_PHYS : addr; }
