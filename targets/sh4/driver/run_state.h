/* The state of run control, and what changes it. The table is pure: which state follows which, or
 * that an event cannot happen there. docs/sh4-run-states.md shows it. */
#ifndef TARGETS_SH4_DRIVER_RUN_STATE_H
#define TARGETS_SH4_DRIVER_RUN_STATE_H

#include <stdbool.h>

#include "targets/run_table.h"

/* clang-format off */
/* name, what the caller sees, what it means */
#define SH4_RUN_STATES(S)                                                                           \
    S(DETACHED,          TARGET_DETACHED, "not attached")                                           \
    S(GONE,              TARGET_GONE,     "the link was lost")                                      \
    S(HALTED,            TARGET_HALTED,   "stands in the agent, and its registers are here")        \
    S(STOPPED,           TARGET_HALTED,   "the same; the next poll reports why")                    \
    S(SETTLING,          TARGET_HALTED,   "the same; why it stands is being found out")             \
    S(RUNS,              TARGET_RUNNING,  "runs freely")                                            \
    S(HALTING,           TARGET_RUNNING,  "runs freely; a halt is asked")                           \
    S(STEP,              TARGET_RUNNING,  "does a single step, or steps in a range")                \
    S(STEP_HALTING,      TARGET_RUNNING,  "the same; a halt is asked")                              \
    S(STEP_OFF,          TARGET_RUNNING,  "steps off a breakpoint; runs on after it")               \
    S(STEP_OFF_HALTING,  TARGET_RUNNING,  "the same; a halt is asked")                              \
    S(HOST_STEPS,        TARGET_RUNNING,  "stands between two polls; SR.BL is 1, and each poll steps it") \
    S(HOST_STEPS_HALTING, TARGET_RUNNING, "the same; the next poll stops it")                       \
    S(HOST_STEP,         TARGET_HALTED,   "the same, within a poll or an access to memory")         \
    S(RESET,             TARGET_RUNNING,  "has reset itself and runs; it is to be halted to report it") \
    S(RESET_HALTING,     TARGET_RUNNING,  "the same; the halt is asked")
/* name, what happens */
#define SH4_RUN_EVENTS(E)                                                                \
    E(LEFT,             "detached, or attaching begins or fails")                        \
    E(LOST,             "nothing answers, or the adapter is gone")                       \
    E(FOUND_RUNNING,    "it runs: after attaching, a reset, or a measurement cut short") \
    E(STANDS,           "the agent waits, and has sent the program's registers")         \
    E(STOP,             "this call reports why it stands")                               \
    E(STOP_FOUND,       "the next poll is to report why it stands")                      \
    E(STOP_REPORTED,    "it was reported, or the program is to go on")                   \
    E(GO,               "the agent has let the program run")                             \
    E(STEP_BEGINS,      "the same, for a step")                                          \
    E(STEP_OFF_BEGINS,  "the same, for a step off a breakpoint")                         \
    E(HOST_STEPS_BEGIN, "it is to run, and must be stepped: a breakpoint while SR.BL is 1") \
    E(HELD,             "between two steps: the next one, or an access to memory")       \
    E(RELEASED,         "that is over")                                                  \
    E(HALT_ASKED,       "the caller wants it halted, or a reset is to be reported")      \
    E(HALT_LATE,        "it did not halt in time")                                       \
    E(RESET_SEEN,       "EXPEVT shows that the CPU has reset itself")
/* clang-format on */

#define SH4_RUN_STATE(name, seen, text) SH4_RUN_##name,
#define SH4_RUN_EVENT(name, text)       SH4_ON_##name,
enum sh4_run_state { SH4_RUN_REFUSED, SH4_RUN_STATES(SH4_RUN_STATE) SH4_NRUN_STATES };
enum sh4_run_event { SH4_RUN_EVENTS(SH4_RUN_EVENT) SH4_NRUN_EVENTS };

/* The table: SH4_RUN_REFUSED where an event cannot happen. */
extern const struct run_table sh4_run_table;
/* A halt is asked, and has not come. */
bool sh4_run_halting(enum sh4_run_state state);

struct sh4_target;
/* The one place that changes the state: by the table; an event that it refuses is a bug. */
void sh4_run_event(struct sh4_target *t, enum sh4_run_event event);

#endif
