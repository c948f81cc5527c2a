/* Lines as they come, from pins or buffer: gaps before them, damage, and what they need to be
 * understood. */
#include "targets/s12z/trace/trace_priv.h"
#include "probe/base/choice.h"

/* after arming IVBR is read with every batch of lines, later now and then */
#define IVBR_SETTLES_NS 100000000u
#define IVBR_AGAIN_NS   50000000u

static uint64_t ns_to_bus(const struct s12z_trace *tr, uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * tr->time.bus_hz / 1000000000u);
}

/* Bus cycles between the overflow and the first line behind it. On the pins lines come late by the
 * queue before them: the buffer was full when the line 63 places before the last one was on its
 * way. */
static uint64_t gap_cycles(struct s12z_trace *tr, uint64_t next_tick)
{
    if (tr->pins.pdo) {
        double ticks = 0;
        if (next_tick > tr->arrivals.overflow_tick)
            ticks = (double)(next_tick - tr->arrivals.overflow_tick);
        if (tr->arrivals.overflow_tick && tr->pins.edges.bit_ticks > 0)
            return (uint64_t)(2 * ticks / tr->pins.edges.bit_ticks);
        return 0;
    }
    uint64_t all = ns_to_bus(tr, s12z_now(tr->t) - tr->session.begun_ns),
             seen = s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited -
                    tr->session.burst_cycles;
    return EXCESS(all, seen);
}

int s12z_trace_close_gap(struct s12z_trace *tr, uint64_t next_tick, struct err *err)
{
    /* the next line is the start point's: how much of the time was in the pass is unknown */
    bool waits = tr->pins.pdo && tr->cfg.has_start;
    uint64_t seen = s12z_trace_seen_cycles(tr), cycles = 0, lost = 1;
    if (!waits)
        cycles = gap_cycles(tr, next_tick);
    if (seen && cycles) {
        uint64_t lines = s12z_events_totals(tr->events)->lines;
        lost = MAX(cycles * lines / seen, 1u);
    }
    tr->arrivals.gap_due = false;
    return s12z_events_gap(tr->events, lost, cycles, EVENT_CAUSE_RING_FULL, err);
}

void s12z_trace_await_lines(struct s12z_trace *tr)
{
    tr->arrivals.last_came = false;
    tr->arrivals.earlier = tr->arrivals.lines;
}

void s12z_trace_set_gap_due(struct s12z_trace *tr, bool due) { tr->arrivals.gap_due = due; }

void s12z_trace_note_damage(struct s12z_trace *tr)
{
    uint64_t now = tr->time.board_ns;
    if (tr->time.runs_from_ns)
        now += s12z_now(tr->t) - tr->time.runs_from_ns;
    if (!tr->arrivals.damaged)
        tr->arrivals.damaged_ns = now;
    tr->arrivals.damaged++;
}

int s12z_trace_take_line(struct s12z_trace *tr, uint64_t raw, const struct s12z_line *l,
                         const struct s12z_arrival *at)
{
    uint64_t tick = at->tick;
    int ret = 0;
    if (l->format == S12Z_PTS && tr->arrivals.gap_due)
        ret = s12z_trace_close_gap(tr, tick, &tr->arrivals.sink_err);
    uint64_t misfits = s12z_events_totals(tr->events)->misfits;
    if (ret == 0)
        ret = s12z_events_line(tr->events, raw, l, at, s12z_now(tr->t), &tr->arrivals.sink_err);
    if (s12z_events_totals(tr->events)->misfits > misfits)
        s12z_trace_note_damage(tr);
    tr->arrivals.line_tick[tr->arrivals.lines++ % LINES] = tick;
    tr->arrivals.last_came |= l->overflow || l->end;
    if (l->overflow) {
        tr->arrivals.overflow_tick = tick;
        if (tr->arrivals.lines >= LINES) /* the line on its way when this one was made */
            tr->arrivals.overflow_tick = tr->arrivals.line_tick[tr->arrivals.lines % LINES];
    }
    return ret;
}

int s12z_trace_sink_result(struct s12z_trace *tr, int ret, struct err *err)
{
    if (ret < 0 && err)
        *err = tr->arrivals.sink_err;
    return ret;
}

/* Programs move their vector table, mostly at their start. Where memory cannot be read just now
 * (STOP) the last value stays. */
void s12z_trace_read_vectors(struct s12z_trace *tr)
{
    uint64_t now = s12z_now(tr->t);
    uint16_t ivbr;
    if (now - tr->armed_ns > IVBR_SETTLES_NS && now - tr->arrivals.ivbr_ns < IVBR_AGAIN_NS)
        return;
    tr->arrivals.ivbr_ns = now;
    if (s12z_peek16(tr->t, IVBR, &ivbr, NULL) == 0)
        s12z_flow_set_vectors(s12z_events_flow(tr->events), ivbr);
}
