#include "targets/sh4/driver/run_state.h"

#include <assert.h>

#include "probe/base/log.h"
#include "targets/sh4/driver/driver.h"

#define TO(event, state) [SH4_ON_##event] = SH4_RUN_##state
/* what may happen whenever no call is in the middle of something */
#define ATTACHED TO(LEFT, DETACHED), TO(LOST, GONE), TO(FOUND_RUNNING, RUNS)

/* What is not here is refused. */
static const uint8_t table[SH4_NRUN_STATES][SH4_NRUN_EVENTS] = {
    [SH4_RUN_DETACHED] = { ATTACHED, TO(STANDS, SETTLING) },
    [SH4_RUN_GONE] = { TO(LEFT, DETACHED), TO(LOST, GONE) },
    [SH4_RUN_HALTED] = { ATTACHED, TO(STOP_FOUND, STOPPED), TO(GO, RUNS), TO(STEP_BEGINS, STEP),
                         TO(STEP_OFF_BEGINS, STEP_OFF), TO(HOST_STEPS_BEGIN, HOST_STEPS),
                         TO(RESET_SEEN, RESET) },
    [SH4_RUN_STOPPED] = { ATTACHED, TO(STOP_TOLD, HALTED) },
    [SH4_RUN_SETTLING] = { TO(LEFT, DETACHED), TO(LOST, GONE), TO(STOP, HALTED),
                           TO(STOP_FOUND, STOPPED), TO(GO, RUNS), TO(STEP_BEGINS, STEP),
                           TO(HOST_STEPS_BEGIN, HOST_STEPS), TO(RESET_SEEN, RESET) },
    [SH4_RUN_RUNS] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_ASKED, HALTING),
                       TO(RESET_SEEN, RESET) },
    [SH4_RUN_HALTING] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_LATE, RUNS),
                          TO(RESET_SEEN, RESET_HALTING) },
    [SH4_RUN_STEP] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_ASKED, STEP_HALTING),
                       TO(RESET_SEEN, RESET) },
    [SH4_RUN_STEP_HALTING] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_LATE, STEP),
                               TO(RESET_SEEN, RESET_HALTING) },
    [SH4_RUN_STEP_OFF] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_ASKED, STEP_OFF_HALTING),
                           TO(RESET_SEEN, RESET) },
    [SH4_RUN_STEP_OFF_HALTING] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_LATE, STEP_OFF),
                                   TO(RESET_SEEN, RESET_HALTING) },
    [SH4_RUN_HOST_STEPS] = { ATTACHED, TO(HELD, HOST_STEP), TO(HALT_ASKED, HOST_STEPS_HALTING) },
    [SH4_RUN_HOST_STEPS_HALTING] = { ATTACHED, TO(STOP, HALTED) },
    [SH4_RUN_HOST_STEP] = { TO(LOST, GONE), TO(RELEASED, HOST_STEPS), TO(STOP, HALTED),
                            TO(STOP_FOUND, STOPPED), TO(GO, RUNS), TO(RESET_SEEN, RESET) },
    [SH4_RUN_RESET] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_ASKED, RESET_HALTING) },
    [SH4_RUN_RESET_HALTING] = { ATTACHED, TO(STANDS, SETTLING), TO(HALT_LATE, RESET) },
};

enum sh4_run_state sh4_run_next(enum sh4_run_state state, enum sh4_run_event event)
{
    return (enum sh4_run_state)table[state][event];
}

enum target_state sh4_run_seen_as(enum sh4_run_state state)
{
#define SEEN(name, seen, text) [SH4_RUN_##name] = seen,
    static const uint8_t seen[SH4_NRUN_STATES] = { SH4_RUN_STATES(SEEN) };
    return (enum target_state)seen[state];
}

const char *sh4_run_state_name(enum sh4_run_state state)
{
#define STATE_NAME(name, seen, text) [SH4_RUN_##name] = #name,
    static const char *const names[SH4_NRUN_STATES] = { "refused", SH4_RUN_STATES(STATE_NAME) };
    return names[state];
}

const char *sh4_run_event_name(enum sh4_run_event event)
{
#define EVENT_NAME(name, text) #name,
    static const char *const names[SH4_NRUN_EVENTS] = { SH4_RUN_EVENTS(EVENT_NAME) };
    return names[event];
}

bool sh4_run_halting(enum sh4_run_state state)
{
    return state == SH4_RUN_HALTING || state == SH4_RUN_STEP_HALTING ||
           state == SH4_RUN_STEP_OFF_HALTING || state == SH4_RUN_HOST_STEPS_HALTING ||
           state == SH4_RUN_RESET_HALTING;
}

void sh4_run_event(struct sh4_target *t, enum sh4_run_event event)
{
    enum sh4_run_state from = t->run.state, to = sh4_run_next(from, event);
    assert(to != SH4_RUN_REFUSED);
    if (to == SH4_RUN_REFUSED)
        return;
    t->run.state = to;
    if (event == SH4_ON_STANDS)
        t->run.before = from;
    log_msg(t->probe->log, LOG_TARGET, "%s: run control: %s, %s -> %s", t->probe->name,
            sh4_run_event_name(event), sh4_run_state_name(from), sh4_run_state_name(to));
}
