/* The state of run control, and what changes it. The table is pure: which state follows which, or
 * that an event cannot happen there. docs/s12z-run-states.md shows it. */
#ifndef TARGETS_S12Z_DRIVER_RUN_STATE_H
#define TARGETS_S12Z_DRIVER_RUN_STATE_H

#include "targets/run_table.h"

/* clang-format off */
/* name, what the caller sees, what it means */
#define S12Z_RUN_STATES(S)                                                                        \
    S(DETACHED,      TARGET_DETACHED, "not attached, or secured")                                 \
    S(GONE,          TARGET_GONE,     "the link was lost")                                        \
    S(HALTED,        TARGET_HALTED,   "stands in active BDM")                                     \
    S(STOPPED,       TARGET_HALTED,   "stands; the next poll reports why")                        \
    S(RUNS,          TARGET_RUNNING,  "runs freely")                                              \
    S(LOOKED_AT,     TARGET_RUNNING,  "BACKGROUND was sent for a look at the PC; runs on after it") \
    S(HALTING,       TARGET_RUNNING,  "BACKGROUND was sent for a halt")                           \
    S(STEP,          TARGET_RUNNING,  "sleeps in a STEP1; the stop comes when it wakes")          \
    S(STEP_OFF,      TARGET_RUNNING,  "sleeps in the STEP1 off a breakpoint; runs on when it wakes") \
    S(STEP_HALTING,  TARGET_RUNNING,  "sleeps in a STEP1; a halt is asked")                       \
    S(RANGE,         TARGET_RUNNING,  "stands; each poll steps it inside a range")                \
    S(RANGE_HALTING, TARGET_RUNNING,  "stands; the next poll steps it once and stops")            \
    S(RESET,         TARGET_RUNNING,  "was reset while it ran; the next poll sees to it")         \
    S(RESET_OURS,    TARGET_RUNNING,  "the same, and a stop is to report it")                     \
    S(RESET_HALTING, TARGET_RUNNING,  "BACKGROUND was sent to report a reset")                    \
    S(RESET_ASLEEP,  TARGET_RUNNING,  "the same, and it did not halt in time")
/* name, what happens */
#define S12Z_RUN_EVENTS(E)                                                             \
    E(LEFT,          "detached, found secured, or attaching begins")                   \
    E(LOST,          "nothing answers, or the adapter is gone")                        \
    E(FOUND_HALTED,  "attach or a reset by the pins finds it halted")                  \
    E(FOUND_RUNNING, "attach or a reset by the pins finds it running")                 \
    E(GO,            "GO was answered")                                                \
    E(STEP_SLEEPS,   "a STEP1 is not over: WAI or STOP")                               \
    E(OFF_SLEEPS,    "the same of a STEP1 off a breakpoint")                           \
    E(RANGE_BEGINS,  "the next poll is to step inside a range")                        \
    E(HALT_ASKED,    "the caller wants it halted")                                     \
    E(HALT_LATE,     "it did not halt within a second")                                \
    E(STANDS,        "BDCCSR says that it is in active BDM, or a range is stepped")    \
    E(STOP_FOUND,    "the next poll is to report a stop")                              \
    E(STOP_REPORTED, "it was reported, or the program is to go on")                    \
    E(RESET_FOUND,   "ENBDC was found clear: the part was reset")                      \
    E(RESET_PASSED,  "nothing of ours was in the part: it runs on")                    \
    E(RESET_HALTS,   "it is being halted to report the reset")                         \
    E(LOOK_ASKED,    "BACKGROUND was sent for a look at the PC")                       \
    E(LOOK_OVER,     "the PC was read, or a breakpoint was met at that moment")
/* clang-format on */

#define S12Z_RUN_STATE(name, seen, text) S12Z_##name,
#define S12Z_RUN_EVENT(name, text)       S12Z_ON_##name,
enum s12z_run_state { S12Z_REFUSED, S12Z_RUN_STATES(S12Z_RUN_STATE) S12Z_NSTATES };
enum s12z_run_event { S12Z_RUN_EVENTS(S12Z_RUN_EVENT) S12Z_NEVENTS };

/* The table: S12Z_REFUSED where an event cannot happen. */
extern const struct run_table s12z_run_table;

#endif
