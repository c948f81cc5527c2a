/* The program's time while it is profiled: how long it ran, how long it was held, at which bus
 * clock. */
#include "targets/s12z/trace/trace_priv.h"
#include "probe/base/choice.h"

uint64_t s12z_trace_seen_cycles(const struct s12z_trace *tr)
{
    return s12z_flow_totals(s12z_events_flow(tr->events))->core_cycles / 2;
}

void s12z_trace_note_bus(struct s12z_trace *tr)
{
    tr->time.bus_hz = tr->t->link.fast_hz / S12Z_BDCFCLK_PER_BUS;
}

/* BDCFCLK follows the bus clock (assumed equal: docs/unverified.md), and SYNC measures it. Gaps
 * between bursts are then known in cycles. An adapter that cannot talk at it has measured it at a
 * download, or not at all. */
int s12z_trace_measure_bus(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    bool fast = REG_GET(t->link.csr, S12Z_BDCCSR_CLKSW);
    if (t->bdc->max_hz) {
        s12z_trace_note_bus(tr);
        return 0;
    }
    int ret = 0;
    if (!fast)
        ret = s12z_clock_source(t, true, err);
    if (ret == 0)
        tr->time.bus_hz = t->link.hz / S12Z_BDCFCLK_PER_BUS;
    if (ret < 0 || fast)
        return ret;
    return s12z_clock_source(t, false, err);
}

static uint64_t bus_clock_hz(const struct s12z_trace *tr)
{
    double bit = tr->pins.edges.bit_ticks;
    if (!tr->pins.pdo)
        return tr->time.bus_hz;
    if (bit > 0)
        return (uint64_t)(2 * (double)tr->pins.tick_hz / bit);
    return 0;
}

/* The program ran since the last GO, until now_ns at most. If the module halted it, that was some
 * time before anybody noticed: the session's cycles tell. */
void s12z_trace_count_run(struct s12z_trace *tr, bool by_module, uint64_t now_ns)
{
    uint64_t hz = bus_clock_hz(tr), ns = 0;
    if (tr->time.runs_from_ns)
        ns = now_ns - tr->time.runs_from_ns;
    uint64_t cycles = s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited -
                      tr->session.burst_cycles;
    uint64_t ran = ns;
    if (by_module && hz)
        ran = (uint64_t)((unsigned __int128)cycles * 1000000000u / hz);
    tr->time.runs_from_ns = 0;
    tr->time.board_ns += ns;
    tr->time.held_ns += EXCESS(ns, ran);
    tr->time.held_from_ns = 0;
    if (by_module)
        tr->time.held_from_ns = now_ns;
}

void s12z_trace_count_from(struct s12z_trace *tr, uint64_t from_ns)
{
    uint64_t held = 0;
    if (tr->time.held_from_ns)
        held = from_ns - tr->time.held_from_ns;
    tr->time.board_ns += held;
    tr->time.held_ns += held;
    tr->time.held_from_ns = 0;
    tr->time.runs_from_ns = from_ns;
}
