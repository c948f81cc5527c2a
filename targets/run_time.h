/* What a profiled run took: of the board's time, of the CPU's cycles, of the host's time. One
 * account, from the target that keeps it to recording and report. */
#ifndef TARGETS_RUN_TIME_H
#define TARGETS_RUN_TIME_H

#include <stdint.h>

/* 0: unknown. profiler/profile/slowdown.h makes one figure of the first four. */
struct run_time {
    /* of the link's clock, since arming, while no debugger held the program */
    uint64_t board_ns;
    /* of those, the program was held while events were moved; the CPU's cycles stood still */
    uint64_t held_ns;
    uint64_t target_cycles; /* elapsed in the rest of them, agent included */
    uint64_t agent_cycles;  /* of those, spent in the agent */
    uint64_t host_ns;       /* on the host, begin to end; a target does not tell it */
};

/* run_time_add - what another part of the same run took, on top. */
static inline void run_time_add(struct run_time *sum, const struct run_time *part)
{
    sum->board_ns += part->board_ns;
    sum->held_ns += part->held_ns;
    sum->target_cycles += part->target_cycles;
    sum->agent_cycles += part->agent_cycles;
    sum->host_ns += part->host_ns;
}

#endif
