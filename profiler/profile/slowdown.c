#include "profiler/profile/slowdown.h"

#include <stdio.h>

struct slowdown slowdown_of(const struct run_time *t)
{
    if (t->held_ns >= t->board_ns || t->agent_cycles >= t->target_cycles)
        return (struct slowdown){ 0 };
    double free_ns = (double)(t->board_ns - t->held_ns);
    double agent_ns = free_ns * (double)t->agent_cycles / (double)t->target_cycles,
           own_ns = free_ns - agent_ns;
    return (struct slowdown){ (double)t->board_ns / own_ns, agent_ns / own_ns,
                              (double)t->held_ns / own_ns };
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
