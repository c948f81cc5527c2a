#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/peripheral.h"

static bool is_closed(enum cpu_state state, unsigned sleeps)
{
    if (state == CPU_STOP)
        return !(sleeps & GATE_RUNS_IN_STOP);
    return sleeps >> state & 1;
}

/* Returns the time since power-on without the times in which the clock was stopped. Whether it was
 * stopped since the last call depends on the state in which the CPU was meanwhile, not on that of
 * now. */
uint64_t gate_time(struct gate *g, unsigned sleeps)
{
    uint64_t now = g->board->cpu.cycles;
    if (is_closed(g->board->spent_in, sleeps))
        g->off += now - g->last;
    g->last = now;
    return now - g->off;
}

uint64_t gate_when(const struct gate *g, unsigned sleeps, uint64_t time)
{
    if (time == UINT64_MAX || is_closed(g->board->cpu.state, sleeps))
        return UINT64_MAX;
    return time + g->off;
}
