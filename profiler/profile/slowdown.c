#include "profiler/profile/slowdown.h"

#include <stdio.h>

struct slowdown slowdown_of(uint64_t board_ns, uint64_t held_ns, uint64_t target_cycles,
                            uint64_t agent_cycles)
{
    if (held_ns >= board_ns || agent_cycles >= target_cycles)
        return (struct slowdown){ 0 };
    double free_ns = (double)(board_ns - held_ns);
    double agent_ns = free_ns * (double)agent_cycles / (double)target_cycles,
           own_ns = free_ns - agent_ns;
    return (struct slowdown){ (double)board_ns / own_ns, agent_ns / own_ns,
                              (double)held_ns / own_ns };
}

char *slowdown_text(const struct slowdown *s, char *buf, size_t cap)
{
    if (s->times > 0)
        snprintf(buf, cap, "%.1fx (agent +%.1f, moving events +%.1f)", s->times, s->agent,
                 s->moving);
    else if (cap)
        *buf = 0;
    return buf;
}
