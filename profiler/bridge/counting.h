/* The two counters over stretches of a program that is neither patched nor traced: what it costs
 * by itself. Start and stop points are hardware breakpoints. On the thread that uses the board; the
 * target is attached. */
#ifndef PROFILER_BRIDGE_COUNTING_H
#define PROFILER_BRIDGE_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/bridge/board_io.h"

struct counting_config {
    uint16_t event[2]; /* codes of target_ops.events; 0: that counter is left alone */
    bool has_start;
    uint64_t start; /* a stretch begins here; without one it begins where the program stands */
    const uint64_t *stop; /* and ends at one of these; borrowed */
    size_t nstops;
    /* or when the target's clock (now_ns) says so, at the start point or before; 0: never */
    uint64_t until_ns;
    struct board_io io; /* cancelled: ends the stretch under way */
};

/* How a stretch ended. */
enum counted_end {
    COUNTED_STOP,    /* at a stop point */
    COUNTED_TIME,    /* at until_ns */
    COUNTED_PROGRAM, /* the program stopped by itself: struct counted has how */
    COUNTED_ASKED    /* io.cancelled */
};

struct counted {
    enum counted_end end;
    bool begun; /* else it ended before its start point: there are no values */
    uint64_t value[2];
    /* how long it ran, by the clock of the link: between these two */
    uint64_t least_ns, most_ns;
    /* instructions that the debugger stepped meanwhile: each may have added what
     * counting_residue() says */
    uint64_t steps;
    struct target_stop stop; /* of COUNTED_STOP and COUNTED_PROGRAM */
};

/* counting_stretch - lets the halted target run to the start point, unless it stands there, and
 * counts from there on
 * Returns 0 with *out filled, and the target halted; -ERR_UNSUPPORTED: the part has no counters;
 * -ERR_RESOURCE: more points than hardware breakpoints; the target's error. */
int counting_stretch(const struct counting_config *c, struct target *t, struct counted *out,
                     struct err *err);

/* counting_residue - what the counters count at most of the debugger itself, from letting the
 * program go to its halt: what they show of a single instruction, which is run for this. The target
 * is halted, before and after. Returns 0 or the target's error. */
int counting_residue(const struct counting_config *c, struct target *t, uint64_t out[2],
                     struct err *err);

#endif
