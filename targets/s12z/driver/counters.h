/* What counters 1 and 2 can count. The parts have no counters: a trace counts along the program. */
#ifndef TARGETS_S12Z_DRIVER_COUNTERS_H
#define TARGETS_S12Z_DRIVER_COUNTERS_H

#include "targets/target.h"

/* Rows of s12z_counter_events. No register has these codes. They are the codes that mean the same
 * in a .prf file (SEED, appendix B, Counter Description Table), with elapsed time for bus cycles.
 */
enum s12z_counter {
    S12Z_COUNT_NONE,
    S12Z_COUNT_BRANCHES = 0x10,
    S12Z_COUNT_TAKEN = 0x11,
    S12Z_COUNT_CALLS = 0x12,
    S12Z_COUNT_INSTRUCTIONS = 0x13,
    S12Z_COUNT_INTERRUPTS = 0x16,
    S12Z_COUNT_BUS_CYCLES = 0x23
};
extern const struct counter_event s12z_counter_events[]; /* ends with a NULL name */

#endif
