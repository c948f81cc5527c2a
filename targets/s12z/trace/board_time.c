/* The program's time while it is profiled: how long it ran, how long it was held, at which bus
 * clock. */
#include "targets/s12z/trace/trace_priv.h"

uint64_t s12z_trace_seen_cycles(const struct s12z_trace *tr)
{
    return s12z_flow_totals(s12z_events_flow(tr->events))->core_cycles / 2;
}

/* BDCFCLK follows the bus clock (assumed equal: docs/unverified.md): SYNC measures it. Gaps of
 * bursts are told in cycles then. An adapter that cannot talk at it has measured it at a download,
 * or not at all. */
int s12z_trace_measure_bus(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    bool fast = REG_GET(t->csr, S12Z_BDCCSR_CLKSW);
    if (t->bdc->max_hz) {
        tr->bus_hz = t->fast_hz / S12Z_BDCFCLK_PER_BUS;
        return 0;
    }
    int ret = fast ? 0 : s12z_clock_source(t, true, err);
    if (ret == 0)
        tr->bus_hz = t->hz / S12Z_BDCFCLK_PER_BUS;
    return ret < 0 || fast ? ret : s12z_clock_source(t, false, err);
}

static uint64_t bus_clock_hz(const struct s12z_trace *tr)
{
    return tr->pdo ? tr->edges.bit_ticks > 0
                         ? (uint64_t)(2 * (double)tr->tick_hz / tr->edges.bit_ticks)
                         : 0
                   : tr->bus_hz;
}

/* The program ran since the last GO, until now_ns at most. If the module halted it, that was some
 * time before anybody noticed: the session's cycles tell. */
void s12z_trace_count_run(struct s12z_trace *tr, bool by_module, uint64_t now_ns)
{
    uint64_t ns = tr->runs_from_ns ? now_ns - tr->runs_from_ns : 0, hz = bus_clock_hz(tr);
    uint64_t cycles =
        s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited - tr->burst_cycles;
    uint64_t ran = by_module && hz ? (uint64_t)((unsigned __int128)cycles * 1000000000u / hz) : ns;
    tr->runs_from_ns = 0;
    tr->board_ns += ns;
    tr->held_ns += ns > ran ? ns - ran : 0;
}

void s12z_trace_count_held(struct s12z_target *t)
{
    struct s12z_trace *tr = t->trace;
    uint64_t now = s12z_now(t), held = tr->held_from_ns ? now - tr->held_from_ns : 0;
    tr->board_ns += held;
    tr->held_ns += held;
    tr->held_from_ns = 0;
    tr->runs_from_ns = tr->begun_ns = now;
}
