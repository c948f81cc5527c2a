/* What a profiled run took: board time, CPU cycles, host time. The target fills it in, and
 * recordings and reports carry it on. */
#ifndef TARGETS_RUN_TIME_H
#define TARGETS_RUN_TIME_H

#include <stdint.h>

/* 0: unknown. profiler/profile/slowdown.h makes one figure of the first four. */
struct run_time {
    /* of the link's clock, since arming, while no debugger held the program */
    uint64_t board_ns;
    /* of these, the program was held while events were moved; the CPU's cycles stood still */
    uint64_t held_ns;
    uint64_t target_cycles; /* elapsed in the rest, the agent's included */
    uint64_t agent_cycles;  /* of these, spent in the agent */
    uint64_t host_ns;       /* on the host, from begin to end; filled in by the host */
};

/* run_time_add - adds another part of the same run. */
static inline void run_time_add(struct run_time *sum, const struct run_time *part)
{
    sum->board_ns += part->board_ns;
    sum->held_ns += part->held_ns;
    sum->target_cycles += part->target_cycles;
    sum->agent_cycles += part->agent_cycles;
    sum->host_ns += part->host_ns;
}

#endif
