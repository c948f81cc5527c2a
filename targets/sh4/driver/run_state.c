#include "targets/sh4/driver/run_state.h"

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
    [SH4_RUN_STOPPED] = { ATTACHED, TO(STOP_REPORTED, HALTED) },
    [SH4_RUN_SETTLING] = { TO(LEFT, DETACHED), TO(LOST, GONE), TO(STOP, HALTED),
                           TO(STOP_FOUND, STOPPED), TO(GO, RUNS), TO(STEP_BEGINS, STEP),
                           TO(STEP_OFF_BEGINS, STEP_OFF), TO(HOST_STEPS_BEGIN, HOST_STEPS),
                           TO(RESET_SEEN, RESET) },
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

const struct run_table sh4_run_table = RUN_TABLE(table, SH4_RUN_STATES, SH4_RUN_EVENTS);

bool sh4_run_halting(enum sh4_run_state state)
{
    return state == SH4_RUN_HALTING || state == SH4_RUN_STEP_HALTING ||
           state == SH4_RUN_STEP_OFF_HALTING || state == SH4_RUN_HOST_STEPS_HALTING ||
           state == SH4_RUN_RESET_HALTING;
}

void sh4_run_event(struct sh4_target *t, enum sh4_run_event event)
{
    enum sh4_run_state from = t->run.state;
    unsigned to = run_table_change(&sh4_run_table, from, event, t->probe->log, t->probe->name);
    if (!to)
        return;
    t->run.state = (enum sh4_run_state)to;
    if (event == SH4_ON_STANDS)
        t->run.before = from;
}
