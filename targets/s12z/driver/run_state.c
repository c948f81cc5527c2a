#include "targets/s12z/driver/run_state.h"

#include "targets/s12z/driver/driver.h"

#define TO(event, state) [S12Z_ON_##event] = S12Z_##state
/* what may happen in every state of an attached part */
#define ATTACHED TO(LEFT, DETACHED), TO(LOST, GONE), TO(FOUND_RUNNING, RUNS)

/* What is not here is refused. */
static const uint8_t table[S12Z_NSTATES][S12Z_NEVENTS] = {
    [S12Z_DETACHED] = { TO(LEFT, DETACHED), TO(LOST, GONE), TO(FOUND_HALTED, HALTED),
                        TO(FOUND_RUNNING, RUNS), TO(RESET_FOUND, DETACHED) },
    [S12Z_GONE] = { TO(LEFT, DETACHED), TO(LOST, GONE), TO(FOUND_HALTED, HALTED),
                    TO(FOUND_RUNNING, RUNS), TO(RESET_FOUND, GONE) },
    [S12Z_HALTED] = { ATTACHED, TO(GO, RUNS), TO(STEP_SLEEPS, STEP), TO(OFF_SLEEPS, STEP_OFF),
                      TO(RANGE_BEGINS, RANGE), TO(STOP_FOUND, STOPPED),
                      TO(RESET_FOUND, RESET_OURS) },
    [S12Z_STOPPED] = { ATTACHED, TO(STOP_REPORTED, HALTED), TO(RESET_FOUND, RESET_OURS) },
    [S12Z_RUNS] = { ATTACHED, TO(FOUND_HALTED, HALTED), TO(HALT_ASKED, HALTING), TO(STANDS, HALTED),
                    TO(RESET_FOUND, RESET), TO(LOOK_ASKED, LOOKED_AT) },
    [S12Z_LOOKED_AT] = { ATTACHED, TO(HALT_ASKED, HALTING), TO(RESET_FOUND, RESET),
                         TO(LOOK_OVER, RUNS) },
    [S12Z_HALTING] = { ATTACHED, TO(HALT_LATE, RUNS), TO(STANDS, HALTED),
                       TO(RESET_FOUND, RESET_OURS) },
    [S12Z_STEP] = { ATTACHED, TO(HALT_ASKED, STEP_HALTING), TO(STANDS, HALTED),
                    TO(RESET_FOUND, RESET_OURS) },
    [S12Z_STEP_OFF] = { ATTACHED, TO(HALT_ASKED, STEP_HALTING), TO(STANDS, HALTED),
                        TO(RESET_FOUND, RESET_OURS) },
    [S12Z_STEP_HALTING] = { ATTACHED, TO(HALT_LATE, STEP), TO(STANDS, HALTED),
                            TO(RESET_FOUND, RESET_OURS) },
    [S12Z_RANGE] = { ATTACHED, TO(HALT_ASKED, RANGE_HALTING), TO(STANDS, HALTED),
                     TO(RESET_FOUND, RESET_OURS) },
    [S12Z_RANGE_HALTING] = { ATTACHED, TO(STANDS, HALTED), TO(RESET_FOUND, RESET_OURS) },
    [S12Z_RESET] = { ATTACHED, TO(HALT_ASKED, RESET_OURS), TO(RESET_FOUND, RESET),
                     TO(RESET_PASSED, RUNS), TO(RESET_HALTS, RESET_HALTING) },
    [S12Z_RESET_OURS] = { ATTACHED, TO(HALT_ASKED, RESET_OURS), TO(RESET_FOUND, RESET_OURS),
                          TO(RESET_HALTS, RESET_HALTING) },
    [S12Z_RESET_HALTING] = { ATTACHED, TO(HALT_LATE, RESET_ASLEEP), TO(STANDS, HALTED),
                             TO(RESET_FOUND, RESET_OURS) },
    [S12Z_RESET_ASLEEP] = { ATTACHED, TO(HALT_ASKED, RESET_HALTING), TO(STANDS, HALTED),
                            TO(RESET_FOUND, RESET_OURS) },
};

const struct run_table s12z_run_table = RUN_TABLE(table, S12Z_RUN_STATES, S12Z_RUN_EVENTS);

/* ---- the state of a target ---- */

void s12z_run_event(struct s12z_target *t, enum s12z_run_event event)
{
    enum s12z_run_state from = t->run.state;
    unsigned to = run_table_change(&s12z_run_table, from, event, t->probe->log, t->probe->name);
    if (!to)
        return;
    t->run.state = (enum s12z_run_state)to;
    if (event == S12Z_ON_STANDS || to != from)
        t->run.before = event == S12Z_ON_STANDS ? from : S12Z_REFUSED;
}

bool s12z_asked_to_halt(enum s12z_run_state state)
{
    return state == S12Z_HALTING || state == S12Z_STEP_HALTING || state == S12Z_RANGE_HALTING ||
           state == S12Z_RESET_HALTING;
}

bool s12z_is_to_stand(enum s12z_run_state state)
{
    return s12z_asked_to_halt(state) || state == S12Z_LOOKED_AT || state == S12Z_RESET_ASLEEP;
}

bool s12z_reset_found(const struct s12z_target *t)
{
    return t->run.state == S12Z_RESET || t->run.state == S12Z_RESET_OURS;
}

void s12z_run_reset(struct s12z_target *t)
{
    t->run.before = S12Z_REFUSED;
    t->run.lifted = S12Z_NONE;
    t->run.range_lo = t->run.range_hi = 0;
    t->run.met = NULL;
}

void s12z_run_lost(struct s12z_target *t)
{
    enum target_state seen = s12z_state(t);
    enum s12z_run_state was = seen == TARGET_HALTED ? t->run.before : t->run.state;
    if (seen == TARGET_RUNNING || seen == TARGET_HALTED)
        t->lost.ran = was != S12Z_REFUSED && was != S12Z_RESET_OURS && !s12z_asked_to_halt(was);
    t->lost.look |= was == S12Z_LOOKED_AT;
    t->link.up = false;
    s12z_run_event(t, S12Z_ON_LOST);
}
