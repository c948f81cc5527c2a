/* Two ways for lines: from the pins PDO and PDOCLK, continuously, where the adapter captures them;
 * else in bursts, read from the trace buffer over BDC after each session. A full buffer ends a
 * session either way. Under the lossless policy it halts the program, which goes on from there when
 * the buffer is empty, so sessions are one to the walker; under the live policy the program runs
 * on, and what it did until the next session is a gap, counted. Source: ZVHL p.191-226, ZVM p.226.
 */
#include "targets/s12z/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/plan.h"
#include "targets/s12z/driver/driver.h"
#include "targets/s12z/trace/edges.h"
#include "targets/s12z/trace/events.h"
#include "targets/s12z/trace/stream.h"

enum { LINES = 64, LINE_BYTES = 8, IVBR = 0x0010, EDGES = 1 << 15, FEW_EDGES = 64 };
#define LOOK_NS 5000000u /* pins: the module is asked at least this often whether it still runs */
/* after arming IVBR is read with every batch of lines, later now and then */
#define IVBR_SETTLES_NS 100000000u
#define IVBR_AGAIN_NS   50000000u
enum {
    SAMPLES_WANTED = 4,
    SAMPLES_LEAST = 2
}; /* in a bit, of a capture that samples: our reckoning from the bit's two bus clocks */
#define QUIET_NS 1000000u /* pins: this long without an edge is idle */
/* pins: a session's last line is looked for that long, every END_LOOK_NS */
#define END_LIMIT_NS  20000000u
#define END_LOOK_NS   1000000u
#define LEAST_MISFITS 16u /* lines that do not fit before the ELF is suspected */
#define EFR(f)        REG_MASK(S12Z_DBGEFR_##f)

struct s12z_trace {
    struct s12z_target *t;
    uint64_t steps_before; /* t->steps when it was armed */
    struct trace_config cfg;
    struct s12z_plan plan;
    struct s12z_events *events;
    struct probe *capture;     /* whose pdo it is: the adapter, or a logic analyser beside it */
    const struct pdo_ops *pdo; /* NULL: bursts */
    struct s12z_stream stream;
    struct s12z_edges edges;
    pdo_edge *edge; /* EDGES of them */
    uint64_t tick_hz;
    bool armed;   /* by the user, until disarm() */
    bool session; /* the module is armed for us, as far as we know */
    bool over;    /* the only stretch there is has ended at its stop point */
    bool ended;   /* the session's last line has come over the pins */
    bool gap_due; /* lines are missing before the next session */
    enum event_cause gap_cause;
    uint64_t begun_ns;                /* the session's arming */
    uint64_t burst_cycles;            /* bus cycles before that session, by the table and waited */
    uint64_t look_ns, edge_ns;        /* last time asked; last time an edge came */
    uint64_t line_tick[LINES], lines; /* pins: when lines began to be sent */
    uint64_t lines_before;            /* of them, those of sessions before this one */
    uint64_t overflow_tick;
    uint32_t bus_hz;       /* 0 unknown */
    uint64_t runs_from_ns; /* since the last GO, or arming beside it; 0: halted */
    uint64_t held_from_ns; /* since the module halted it; 0: it runs, or a debugger has it */
    uint64_t board_ns, held_ns, wire_bits, resets, lost_edges, lost_edge_times;
    uint64_t armed_ns, ivbr_ns;
    uint64_t damaged, damaged_ns; /* places where lines are damaged; the first one, of board_ns */
    struct err sink_err;
    char why_not[96]; /* what the module could not be given */
};

static struct s12z_trace *s12z_trace_of(struct target *t) { return s12z_of(t)->trace; }

static uint64_t bdc_cycles(struct s12z_target *t)
{
    uint64_t cycles = 0;
    if (t->bdc->stats)
        t->bdc->stats(t->probe, &cycles, NULL, NULL);
    return cycles;
}

static uint64_t s12z_trace_seen_cycles(const struct s12z_trace *tr)
{
    return s12z_flow_totals(s12z_events_flow(tr->events))->core_cycles / 2;
}

static uint64_t ns_to_bus(const struct s12z_trace *tr, uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * tr->bus_hz / 1000000000u);
}

/* ---- gaps ---- */

/* Bus cycles between the overflow and the first line behind it. On the pins lines come late by the
 * queue before them: the buffer was full when the line 63 places before the last one was on its
 * way. */
static uint64_t gap_cycles(struct s12z_trace *tr, uint64_t next_tick)
{
    if (tr->pdo) {
        double ticks = next_tick > tr->overflow_tick ? (double)(next_tick - tr->overflow_tick) : 0;
        return tr->overflow_tick && tr->edges.bit_ticks > 0
                   ? (uint64_t)(2 * ticks / tr->edges.bit_ticks)
                   : 0;
    }
    uint64_t all = ns_to_bus(tr, s12z_now(tr->t) - tr->begun_ns),
             seen = s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited -
                    tr->burst_cycles;
    return all > seen ? all - seen : 0;
}

static int s12z_trace_close_gap(struct s12z_trace *tr, uint64_t next_tick, struct err *err)
{
    /* the next line is the start point's: how much of the time was in the pass is unknown */
    bool waits = tr->pdo && tr->cfg.has_start;
    uint64_t cycles = waits ? 0 : gap_cycles(tr, next_tick), seen = s12z_trace_seen_cycles(tr),
             lines = s12z_events_totals(tr->events)->lines;
    tr->gap_due = false;
    return s12z_events_gap(tr->events, seen && cycles ? MAX(cycles * lines / seen, 1u) : 1, cycles,
                           tr->gap_cause, err);
}

/* ---- lines ---- */

static void s12z_trace_note_damage(struct s12z_trace *tr)
{
    uint64_t now = tr->board_ns + (tr->runs_from_ns ? s12z_now(tr->t) - tr->runs_from_ns : 0);
    tr->damaged_ns = tr->damaged++ ? tr->damaged_ns : now;
}

static int s12z_trace_take_line(struct s12z_trace *tr, uint64_t raw, const struct s12z_line *l,
                                const struct s12z_arrival *at)
{
    uint64_t tick = at->tick;
    int ret = 0;
    if (l->format == S12Z_PTS && tr->gap_due)
        ret = s12z_trace_close_gap(tr, tick, &tr->sink_err);
    uint64_t misfits = s12z_events_totals(tr->events)->misfits;
    if (ret == 0)
        ret = s12z_events_line(tr->events, raw, l, at, s12z_now(tr->t), &tr->sink_err);
    if (s12z_events_totals(tr->events)->misfits > misfits)
        s12z_trace_note_damage(tr);
    tr->line_tick[tr->lines++ % LINES] = tick;
    tr->ended |= l->overflow || l->end;
    if (l->overflow) /* the line on its way when this one was made */
        tr->overflow_tick = tr->lines >= LINES ? tr->line_tick[tr->lines % LINES] : tick;
    return ret;
}

/* From the wire: bytes that are no line are a gap of at least one line. */
static int take_item(void *ctx, const struct s12z_item *item)
{
    struct s12z_trace *tr = ctx;
    const struct s12z_arrival at = { item->tick, item->bus_ticks, item->prompt };
    if (item->kind == S12Z_ITEM_LINE)
        return s12z_trace_take_line(tr, item->raw, &item->line, &at);
    s12z_trace_note_damage(tr);
    return s12z_events_gap(tr->events, MAX(item->bytes / LINE_BYTES, 1u), 0, EVENT_CAUSE_CORRUPT,
                           &tr->sink_err);
}

static int s12z_trace_sink_result(struct s12z_trace *tr, int ret, struct err *err)
{
    if (ret < 0 && err)
        *err = tr->sink_err;
    return ret;
}

/* ---- the pins ---- */

/* Programs move their vector table, mostly at their start. Where memory cannot be read just now
 * (STOP) the last value stays. */
static void s12z_trace_read_vectors(struct s12z_trace *tr)
{
    uint64_t now = s12z_now(tr->t);
    uint16_t ivbr;
    if (now - tr->armed_ns > IVBR_SETTLES_NS && now - tr->ivbr_ns < IVBR_AGAIN_NS)
        return;
    tr->ivbr_ns = now;
    if (s12z_peek16(tr->t, IVBR, &ivbr, NULL) == 0)
        s12z_flow_set_vectors(s12z_events_flow(tr->events), ivbr);
}

/* Edges the capture dropped: whatever was going on is unknown. */
static int note_lost_edges(struct s12z_trace *tr, uint64_t lost, struct err *err)
{
    tr->lost_edges += lost;
    tr->lost_edge_times++;
    int ret = s12z_trace_sink_result(tr, s12z_edges_lost(&tr->edges), err);
    /* a line has about 64 clock and half as many data edges */
    uint64_t lines = MAX(lost / 100, 1u);
    return ret < 0 ? ret : s12z_events_gap(tr->events, lines, 0, EVENT_CAUSE_HOST_QUEUE, err);
}

/* Moves all edges there are. Returns how many, or < 0. */
static int s12z_trace_read_pins(struct s12z_trace *tr, struct err *err)
{
    int total = 0, n = EDGES;
    while (n == EDGES && s12z_events_waiting(tr->events) < (1u << 20)) {
        uint64_t lost = 0;
        n = tr->pdo->read(tr->capture, tr->edge, EDGES, &lost, err);
        if (n > FEW_EDGES && total == 0)
            s12z_trace_read_vectors(tr);
        int ret = n < 0 ? n : lost ? note_lost_edges(tr, lost, err) : 0;
        if (ret == 0 && n > 0)
            ret = s12z_trace_sink_result(tr, s12z_edges_feed(&tr->edges, tr->edge, (size_t)n), err);
        if (ret < 0)
            return ret;
        total += n;
    }
    uint64_t now = s12z_now(tr->t);
    if (total)
        tr->edge_ns = now;
    else if (now - tr->edge_ns > QUIET_NS) {
        int ret = s12z_trace_sink_result(
            tr,
            s12z_edges_idle(&tr->edges, tr->pdo->seen ? tr->pdo->seen(tr->capture) : UINT64_MAX),
            err);
        if (ret < 0)
            return ret;
    }
    return total;
}

/* A session's last line says that it is: nothing else is on its way then. It comes with the
 * capture's next packet; waiting for as many samples as packets may be apart takes longer. */
static int await_last_line(struct s12z_trace *tr, struct err *err)
{
    int n = 0;
    for (uint64_t since = s12z_now(tr->t); n >= 0 && !tr->ended &&
                                           s12z_now(tr->t) - since < END_LIMIT_NS &&
                                           s12z_events_waiting(tr->events) < (1u << 20);) {
        n = s12z_trace_read_pins(tr, err);
        if (n == 0 && !tr->ended)
            n = s12z_wait(tr->t, END_LOOK_NS, err);
    }
    return n < 0 || tr->ended ? MIN(n, 0) : tr->pdo->catch_up(tr->capture, err);
}

/* Nothing is sent any more (PTACT is 0): what is in the capture is all. */
static int s12z_trace_empty_pins(struct s12z_trace *tr, struct err *err)
{
    int n = tr->pdo->catch_up ? await_last_line(tr, err) : 0;
    while (n >= 0 && (n = s12z_trace_read_pins(tr, err)) > 0 && n > 0 &&
           s12z_events_waiting(tr->events) < (1u << 20))
        ;
    return n < 0 ? n : s12z_trace_sink_result(tr, s12z_edges_idle(&tr->edges, UINT64_MAX), err);
}

/* ---- the buffer ---- */

/* By word reads each is a read of its own, because a run would go on to the next address. */
int s12z_fetch_lines(struct s12z_target *t, uint8_t *raw, uint32_t n, bool *words, struct err *err)
{
    struct bdc_op op[LINES], lines = { .kind = BDC_LINES, .rx = raw, .len = n * LINE_BYTES };
    int ret = s12z_poke16(t, S12Z_DBGTB, 0, err); /* unlocks and points at the oldest */
    *words = !t->bdc->can(t->probe, BDC_LINES, 0);
    if (ret < 0 || !*words)
        return ret < 0 ? ret : s12z_do(t, &lines, 1, err);
    for (uint32_t at = 0; at < n * LINE_BYTES && ret == 0;) {
        size_t k = 0;
        for (; k < LINES && at < n * LINE_BYTES; k++, at += 2)
            op[k] = (struct bdc_op){
                .kind = BDC_READ, .addr = S12Z_DBGTB, .width = 2, .rx = raw + at, .len = 2
            };
        ret = s12z_do(t, op, k, err);
    }
    return ret;
}

static int read_lines(struct s12z_trace *tr, struct err *err)
{
    uint8_t raw[LINES * LINE_BYTES], sr, cnt;
    struct s12z_target *t = tr->t;
    const struct s12z_settings settings = s12z_settings_default();
    int ret = s12z_peek8(t, S12Z_DBGSR, &sr, err);
    if (ret == 0)
        ret = s12z_peek8(t, S12Z_DBGCNT, &cnt, err);
    if (ret < 0)
        return ret;
    /* CNT counts half lines */
    uint32_t n = REG_GET(sr, S12Z_DBGSR_TBF) ? LINES : (cnt & 0x7Fu) / 2;
    if (!n)
        return 0;
    s12z_trace_read_vectors(tr);
    bool words;
    ret = s12z_fetch_lines(t, raw, n, &words, err);
    if (ret < 0) /* nobody reads them again */
        s12z_events_gap(tr->events, n, 0, EVENT_CAUSE_LINK, NULL);
    for (uint32_t k = 0; ret == 0 && k < n; k++) {
        uint64_t line = words ? s12z_line_from_dbgtb(raw + k * LINE_BYTES)
                              : s12z_line_from_command(raw + k * LINE_BYTES);
        struct s12z_line l;
        if (s12z_line_decode(line, &settings, &l, NULL) == 0)
            ret = s12z_trace_sink_result(
                tr, s12z_trace_take_line(tr, line, &l, &(struct s12z_arrival){ 0 }), err);
        else {
            s12z_trace_note_damage(tr);
            ret = s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_CORRUPT, err);
        }
    }
    return ret;
}

/* While the program stands still its PLL does too: the readout may use the fast clock. */
static int s12z_trace_read_buffer(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    bool hurry =
        t->state == TARGET_HALTED && !REG_GET(t->control, S12Z_BDCCSR_CLKSW) && !t->bdc->max_hz;
    int ret = hurry ? s12z_clock_source(t, true, err) : 0;
    if (ret == 0 && (hurry || t->bdc->max_hz))
        tr->bus_hz = t->fast_hz / S12Z_BDCFCLK_PER_BUS;
    if (ret == 0)
        ret = read_lines(tr, err);
    int back = hurry ? s12z_clock_source(t, false, ret < 0 ? NULL : err) : 0;
    return ret < 0 ? ret : back;
}

/* ---- sessions ---- */

static unsigned debuggers_comparators(const struct s12z_target *t)
{
    unsigned set = 0;
    for (size_t k = 0; k < S12Z_COMPARATORS; k++)
        if (t->hard[k].used)
            set |= (t->hard[k].pair ? 3u : 1u) << t->hard[k].first;
    return set;
}

/* The module gets what the next session needs; it is disarmed. */
static int prepare_session(struct s12z_trace *tr, struct err *err)
{
    /* a gap ends the pass */
    bool inside = s12z_events_active(tr->events) && !(tr->gap_due && tr->cfg.has_start);
    s12z_plan_make(&tr->cfg, inside, tr->pdo != NULL, debuggers_comparators(tr->t), &tr->plan);
    return s12z_dbg_claim(tr->t, &tr->plan.dbg, err);
}

static void note_session_begins(struct s12z_trace *tr)
{
    tr->session = true;
    tr->ended = false;
    tr->lines_before = tr->lines;
    tr->begun_ns = tr->look_ns = s12z_now(tr->t);
    tr->burst_cycles = s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited;
}

static int note_last_lost(struct s12z_trace *tr, struct err *err)
{
    s12z_trace_note_damage(tr);
    return s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_CORRUPT, err);
}

/* All lines of a session that is over, and what ended it. The module is disarmed. */
static int end_session(struct s12z_trace *tr, uint8_t efr, struct err *err)
{
    uint64_t before = bdc_cycles(tr->t);
    bool stopped = efr & (uint8_t)(tr->plan.begins ? 0 : tr->plan.dbg.comparators);
    tr->session = false;
    int ret = tr->pdo ? s12z_trace_empty_pins(tr, err) : s12z_trace_read_buffer(tr, err);
    /* a disarmed module sends a last line: it is lost on the pin */
    if (ret == 0 && tr->pdo && !tr->ended && tr->lines != tr->lines_before)
        ret = note_last_lost(tr, err);
    for (unsigned n = 0; ret == 0 && stopped && n < S12Z_COMPARATORS && !tr->over; n++)
        if (efr & tr->plan.dbg.comparators & 1u << n) {
            tr->over = true; /* only a start point would begin anew, and there is none */
            ret = s12z_events_stopped(tr->events, tr->plan.dbg.comparator[n].addr, err);
        }
    tr->wire_bits += bdc_cycles(tr->t) - before;
    log_msg(tr->t->probe->log, LOG_PROF, "%s: %s: %llu lines, %llu wire clocks%s",
            tr->t->probe->name, tr->pdo ? "capture" : "burst",
            (unsigned long long)(tr->lines - tr->lines_before),
            (unsigned long long)(bdc_cycles(tr->t) - before), stopped ? "; a stop point" : "");
    return ret;
}

/* ---- the program's time ---- */

static uint64_t bus_clock_hz(const struct s12z_trace *tr)
{
    return tr->pdo ? tr->edges.bit_ticks > 0
                         ? (uint64_t)(2 * (double)tr->tick_hz / tr->edges.bit_ticks)
                         : 0
                   : tr->bus_hz;
}

/* The program ran since the last GO, until now_ns at most. If the module halted it, that was some
 * time before anybody noticed: the session's cycles tell. */
static void s12z_trace_count_run(struct s12z_trace *tr, bool by_module, uint64_t now_ns)
{
    uint64_t ns = tr->runs_from_ns ? now_ns - tr->runs_from_ns : 0, hz = bus_clock_hz(tr);
    uint64_t cycles =
        s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited - tr->burst_cycles;
    uint64_t ran = by_module && hz ? (uint64_t)((unsigned __int128)cycles * 1000000000u / hz) : ns;
    tr->runs_from_ns = 0;
    tr->board_ns += ns;
    tr->held_ns += ns > ran ? ns - ran : 0;
}

static void s12z_trace_count_held(struct s12z_target *t)
{
    struct s12z_trace *tr = t->trace;
    uint64_t now = s12z_now(t), held = tr->held_from_ns ? now - tr->held_from_ns : 0;
    tr->board_ns += held;
    tr->held_ns += held;
    tr->held_from_ns = 0;
    tr->runs_from_ns = tr->begun_ns = now;
}

/* ---- hooks of the driver ---- */

static int on_resuming(struct s12z_target *t, struct err *err)
{
    struct s12z_trace *tr = t->trace;
    if (tr->over)
        return s12z_dbg_claim(t, NULL, err);
    int ret = prepare_session(tr, err);
    if (ret < 0)
        return ret;
    note_session_begins(tr);
    return 0;
}

static int on_halted(struct s12z_target *t, uint8_t efr, struct err *err)
{
    struct s12z_trace *tr = t->trace;
    if (!tr->session)
        return 0;
    bool own = efr & EFR(PTBOVF) || (!tr->plan.begins && efr & tr->plan.dbg.comparators);
    uint64_t halted_ns = s12z_now(t);
    int ret = end_session(tr, efr, err);
    s12z_trace_count_run(tr, own, halted_ns);
    tr->held_from_ns = own ? halted_ns : 0;
    if (ret == 0 && efr & EFR(PTBOVF) && tr->cfg.policy == TRACE_LIVE)
        tr->gap_due = true; /* a debugger's breakpoint halted later than the buffer was full */
    return ret < 0 ? ret : own && !t->halt_wanted;
}

/* Live: the session has ended and the program runs on. */
static int begin_next_session(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    uint8_t efr;
    int ret = s12z_dbg_disarm(t, &efr, err);
    if (ret == 0)
        ret = end_session(tr, efr, err);
    if (ret < 0)
        return ret;
    if (tr->over)
        return s12z_dbg_claim(t, NULL, err);
    tr->gap_due = s12z_events_active(tr->events) || !tr->cfg.has_start;
    tr->gap_cause = EVENT_CAUSE_RING_FULL;
    if (!tr->gap_due)
        s12z_flow_lost(s12z_events_flow(tr->events)); /* it goes on at the start point */
    if (tr->gap_due && !tr->pdo) /* its length is known by the clock: until now */
        ret = s12z_trace_close_gap(tr, 0, err);
    if (ret == 0)
        ret = prepare_session(tr, err);
    if (ret == 0)
        ret = s12z_dbg_arm(t, err);
    if (ret == 0)
        note_session_begins(tr);
    return ret;
}

/* The program runs. Lines are moved; a session that has ended without halting it is followed by the
 * next. */
static int s12z_trace_look(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    uint8_t sr;
    int ret = tr->pdo ? s12z_trace_read_pins(tr, err) : 0;
    if (ret < 0 || !tr->session || !t->armed)
        return MIN(ret, 0);
    uint64_t now = s12z_now(t);
    if (tr->pdo && !tr->ended && now - tr->look_ns < LOOK_NS)
        return 0;
    tr->look_ns = now;
    ret = s12z_peek8(t, S12Z_DBGSR, &sr, err);
    if (ret < 0 || REG_GET(sr, S12Z_DBGSR_SSF) || t->was_reset)
        return ret;
    if (tr->plan.dbg.halt_on_overflow || debuggers_comparators(t))
        return 0; /* it halts: the driver will see that, and on_halted() is called */
    return begin_next_session(tr, err);
}

static int on_poll(struct s12z_target *t, uint64_t max_ns, struct err *err)
{
    (void)max_ns;
    return s12z_trace_look(t->trace, err);
}

/* What the buffer held is not read: the program that made it is gone. */
static void on_reset(struct s12z_target *t)
{
    struct s12z_trace *tr = t->trace;
    tr->resets++;
    tr->session = false;
    s12z_trace_count_run(tr, false, s12z_now(t));
    tr->held_from_ns = 0;
    if (!tr->armed)
        return;
    if (tr->pdo)
        s12z_trace_read_pins(tr, NULL); /* lines sent before the reset count */
    s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_RESET, NULL);
    if (tr->pdo)
        s12z_edges_lost(&tr->edges);
}

void s12z_trace_free(struct s12z_target *t)
{
    struct s12z_trace *tr = t->trace;
    t->trace = NULL;
    t->hooks = NULL;
    if (!tr)
        return;
    if (tr->pdo && tr->armed)
        tr->pdo->stop(tr->capture, NULL);
    s12z_events_free(tr->events);
    free(tr->edge);
    free(tr);
}

/* ---- arming ---- */

static int refuse_config(const struct s12z_target *t, const struct trace_config *cfg,
                         struct err *err)
{
    if (!t->full_dbg)
        return err_set(err, ERR_UNSUPPORTED, "--sample looks at the PC instead",
                       "%s: no trace buffer in this part's DBG module", t->chip->name);
    if (!cfg->image)
        return err_set(err, ERR_USAGE, "add --elf FILE", "profiling needs the program");
    if (cfg->irq_filter == IRQ_FILTER_CALLS || cfg->irq_filter == IRQ_FILTER_SHINOBI)
        return err_set(err, ERR_UNSUPPORTED,
                       "--irq-filter auto keeps handlers out of their victims' numbers",
                       "S12Z: this interrupt filter is SH-4's");
    return 0;
}

static int s12z_trace_measure_bus(struct s12z_trace *tr, struct err *err);

/* Samples taken in one bit, which lasts two bus clocks; 0: edges are exact, or the bus clock is not
 * known. */
static double s12z_trace_samples_per_bit(const struct s12z_trace *tr)
{
    uint64_t hz = tr->pdo && tr->pdo->sample_hz ? tr->pdo->sample_hz(tr->capture) : 0;
    return tr->bus_hz ? 2 * (double)hz / tr->bus_hz : 0;
}

/* Fewer than two samples a bit miss edges for certain. From four on none is missed, whatever the
 * two clocks' phases are. */
static int check_rate(struct s12z_trace *tr, struct err *err)
{
    char hint[120];
    int ret = s12z_trace_measure_bus(tr, err);
    double samples = s12z_trace_samples_per_bit(tr);
    if (ret < 0 || samples >= SAMPLES_LEAST)
        return ret;
    snprintf(
        hint, sizeof hint,
        "rate=%.3gM or more, an analyser that can do that, a slower bus clock, or --capture bdc",
        2e-6 * tr->bus_hz);
    return err_set(err, ERR_UNSUPPORTED, hint,
                   "%s samples a bit %.2g times, %u are needed: the bus clock is %.4g MHz",
                   tr->capture->name, samples, SAMPLES_WANTED, tr->bus_hz / 1e6);
}

static int s12z_trace_open_pins(struct s12z_trace *tr, struct err *err)
{
    struct s12z_settings settings = s12z_settings_default();
    struct probe *capture = tr->t->opt.pdo ? tr->t->opt.pdo : tr->t->probe;
    const struct pdo_ops *pdo =
        tr->cfg.capture == TRACE_CAPTURE_READOUT ? NULL : capture->driver->pdo;
    if (!pdo)
        return tr->cfg.capture != TRACE_CAPTURE_PINS
                   ? 0
                   : err_set(err, ERR_UNSUPPORTED,
                             "--pdo names a logic analyser on the pins; --capture bdc reads the "
                             "buffer in bursts",
                             "%s cannot capture PDO and PDOCLK", capture->name);
    tr->edge = malloc(EDGES * sizeof *tr->edge);
    if (!tr->edge)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    int ret = pdo->start(capture, &tr->tick_hz, err);
    if (ret < 0)
        return ret;
    tr->pdo = pdo;
    tr->capture = capture;
    s12z_stream_init(&tr->stream, S12Z_FORM_WIRE, &settings, take_item, tr);
    s12z_edges_init(&tr->edges, &settings, &tr->stream);
    tr->edge_ns = s12z_now(tr->t);
    if (!pdo->sample_hz || !pdo->sample_hz(capture))
        return 0;
    ret = check_rate(tr, err);
    if (ret < 0)
        pdo->stop(capture, NULL);
    return ret;
}

/* BDCFCLK follows the bus clock (assumed equal: docs/unverified.md): SYNC measures it. Gaps of
 * bursts are told in cycles then. An adapter that cannot talk at it has measured it at a download,
 * or not at all. */
static int s12z_trace_measure_bus(struct s12z_trace *tr, struct err *err)
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

static int open_events(struct s12z_trace *tr, struct err *err)
{
    uint16_t ivbr;
    const struct trace_config *cfg = &tr->cfg;
    int ret = s12z_peek16(tr->t, IVBR, &ivbr, err);
    if (ret < 0)
        return ret;
    return s12z_events_new(
        &(struct s12z_events_config){
            .image = cfg->image,
            .settings = s12z_settings_default(),
            .ivbr = ivbr,
            .has_start = cfg->has_start,
            .start = (uint32_t)cfg->start,
            .stops = cfg->stops,
            .nstops = cfg->nstops,
            .counter = { cfg->counter[0], cfg->counter[1] },
            .seamless = true,
            .lines = cfg->lines,
        },
        &tr->events, err);
}

static int trace_disarm(struct target *target, struct err *err);

/* The module is disarmed. If its full buffer had halted the program before that, and nobody has
 * seen it yet, it runs on: a new session, or none, would take that for a stop of the program's own.
 * A BGND met at the same time is left for poll() to tell. */
static int s12z_trace_run_on(struct s12z_target *t, struct err *err)
{
    if (t->state != TARGET_RUNNING || t->halt_wanted || t->stop_pending || t->npatches ||
        !(t->efr_seen & EFR(PTBOVF)))
        return 0;
    int ret = s12z_read_csr(t, err);
    return ret < 0 || !REG_GET(t->csr, S12Z_BDCCSR_BDMACT) ? ret : s12z_command(t, BDC_GO, err);
}

static const struct s12z_trace_hooks hooks = {
    .resuming = on_resuming,
    .resumed = s12z_trace_count_held,
    .halted = on_halted,
    .poll = on_poll,
    .reset = on_reset,
};

static int hook_into_driver(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    t->hooks = &hooks;
    tr->armed = true;
    tr->armed_ns = s12z_now(t);
    int ret = prepare_session(tr, err);
    if (ret < 0 || t->state != TARGET_RUNNING)
        return ret; /* halted: on_resuming() does the rest */
    ret = s12z_trace_run_on(t, err);
    if (ret == 0)
        ret = s12z_dbg_arm(t, err);
    if (ret == 0)
        note_session_begins(tr);
    tr->runs_from_ns = tr->begun_ns;
    return ret;
}

static int trace_arm(struct target *target, const struct trace_config *cfg, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = refuse_config(t, cfg, err);
    if (ret < 0)
        return ret;
    s12z_trace_free(t);
    struct s12z_trace *tr = calloc(1, sizeof *tr);
    if (!tr)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    tr->t = t;
    tr->steps_before = t->steps;
    tr->cfg = *cfg;
    tr->gap_cause = EVENT_CAUSE_RING_FULL;
    t->trace = tr;
    ret = open_events(tr, err);
    if (ret == 0)
        ret = s12z_trace_open_pins(tr, err);
    if (ret == 0 && !tr->pdo && cfg->policy == TRACE_LIVE)
        ret = s12z_trace_measure_bus(tr, err);
    if (ret == 0)
        ret = hook_into_driver(tr, err);
    if (ret < 0) {
        s12z_dbg_claim(t, NULL, NULL);
        s12z_trace_free(t);
        return s12z_lost(t, err_prefix(err, ret, "trace"));
    }
    log_msg(t->probe->log, LOG_PROF, "%s: profiling by %s%s%s", t->probe->name,
            tr->pdo ? "PDO capture" : "bursts over BDC", *tr->plan.text ? "; " : "", tr->plan.text);
    return 0;
}

/* ---- the rest of the table ---- */

static int trace_poll(struct target *target, struct event *out, size_t cap, uint64_t max_ns,
                      struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct s12z_trace *tr = t->trace;
    (void)max_ns; /* the driver's poll() lets time pass and calls s12z_trace_look() */
    if (!tr || !tr->events)
        return 0;
    if (tr->armed && t->state == TARGET_RUNNING && s12z_events_waiting(tr->events) == 0) {
        int ret = s12z_trace_look(tr, err);
        if (ret < 0)
            return s12z_lost(t, ret);
    }
    return (int)s12z_events_take(tr->events, out, cap);
}

/* An analyser that fails just as the profile ends: what it had still to tell is a gap, and the
 * board is well. */
static int s12z_trace_end_last_session(struct s12z_trace *tr, uint8_t efr, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = end_session(tr, efr, &why);
    if (ret == -ERR_USB && tr->pdo && tr->capture != tr->t->probe)
        return s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_LINK, err);
    if (ret < 0 && err)
        *err = why;
    return ret;
}

static int trace_disarm(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct s12z_trace *tr = t->trace;
    uint8_t efr = 0;
    if (!tr || !tr->armed)
        return 0;
    int ret = 0;
    s12z_trace_count_run(tr, false, s12z_now(t));
    if (tr->session && t->armed) {
        ret = s12z_dbg_disarm(t, &efr, err);
        if (ret == 0)
            ret = s12z_trace_end_last_session(tr, efr, err);
        if (ret == 0)
            ret = s12z_trace_run_on(t, err);
    }
    if (tr->pdo && tr->damaged && s12z_trace_samples_per_bit(tr) > 0)
        s12z_trace_measure_bus(tr,
                               NULL); /* the program may have made it faster: then that is why */
    if (tr->pdo) {
        int end = s12z_trace_sink_result(tr, s12z_edges_end(&tr->edges), ret < 0 ? NULL : err);
        tr->pdo->stop(tr->capture, NULL);
        ret = ret < 0 ? ret : end;
    }
    tr->armed = tr->session = false;
    t->hooks = NULL;
    int claimed = s12z_dbg_claim(t, NULL, ret < 0 ? NULL : err);
    int closed = s12z_events_end(tr->events, ret < 0 || claimed < 0 ? NULL : err);
    log_msg(t->probe->log, LOG_PROF, "%s: disarmed: %llu lines, %llu wire clocks", t->probe->name,
            (unsigned long long)tr->lines, (unsigned long long)tr->wire_bits);
    /* breakpoints of the debugger stay */
    if (ret == 0 && t->state == TARGET_RUNNING && s12z_dbg_wanted(t))
        ret = s12z_dbg_arm(t, err);
    return s12z_lost(t, ret < 0 ? ret : claimed < 0 ? claimed : closed);
}

static int trace_set_active(struct target *target, bool active, struct err *err)
{
    struct s12z_trace *tr = s12z_trace_of(target);
    if (!tr || !tr->armed)
        return err_set(err, ERR_STATE, "arm it first", "no profile is armed");
    tr->over &= !active;
    return s12z_events_set_active(tr->events, active, err);
}

/* ---- what the user should know ---- */

static double covered_percent(const struct s12z_trace *tr)
{
    double seen = (double)s12z_trace_seen_cycles(tr),
           gap = (double)s12z_events_totals(tr->events)->gap_cycles;
    return seen + gap > 0 ? 100 * seen / (seen + gap) : 100;
}

static size_t name_culprits(const struct s12z_trace *tr, char *buf, size_t cap, size_t most)
{
    struct s12z_culprit c[4];
    size_t n = s12z_events_culprits(tr->events, c, MIN(most, ARRAY_LEN(c))), len = 0;
    buf[0] = 0;
    for (size_t k = 0; k < n && len < cap; k++) {
        if (c[k].name)
            len += (size_t)snprintf(buf + len, cap - len, "%s%.24s", k ? ", " : "", c[k].name);
        else
            len += (size_t)snprintf(buf + len, cap - len, "%s%06X", k ? ", " : "", c[k].low);
    }
    return n;
}

/* The wrong ELF shows by lines that do not fit: nearly none do by accident. */
static bool suspect_elf(const struct s12z_trace *tr)
{
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    return s->misfits >= LEAST_MISFITS && s->misfits * 4 > s->lines;
}

static const char *suggest_range(const struct s12z_trace *tr, char *buf, size_t cap)
{
    uint32_t start, stop;
    if (s12z_events_range(tr->events, &start, &stop))
        snprintf(buf, cap, "--start 0x%06X --stop 0x%06X leaves them out", start, stop);
    else
        snprintf(buf, cap, "--start and --stop help");
    return buf;
}

static void make_note(const struct s12z_trace *tr, char *note, size_t cap)
{
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(tr->events));
    char who[64], range[64];
    double factor, spread;
    const struct s12z_time *t = s12z_events_time(tr->events);
    size_t n = (size_t)snprintf(note, cap, "C1 estimated");
    if (s12z_time_factor(t, &factor, &spread))
        n += (size_t)snprintf(note + n, cap - n, " (%s x%.2f, +-%.2f)",
                              t->arrivals ? "arrivals say" : "stamps say", factor, spread);
    n += (size_t)snprintf(note + n, cap - n, "; by %s", tr->pdo ? "PDO" : "bursts over BDC");
    if (suspect_elf(tr)) {
        snprintf(note, cap,
                 "this ELF is not what was traced: %llu of %llu lines do not fit; first: %.100s",
                 (unsigned long long)s->misfits, (unsigned long long)s->lines,
                 s->first_misfit.what);
        return;
    }
    if (s->gap_cycles && tr->cfg.policy == TRACE_LIVE)
        n +=
            (size_t)snprintf(note + n, cap - n, ", %.1f%% of bus cycles seen", covered_percent(tr));
    uint64_t steps = tr->t->steps - tr->steps_before;
    /* the module traces nothing during STEP1; leaving a breakpoint is one, too */
    if (n < cap && steps)
        n += (size_t)snprintf(
            note + n, cap - n, "; %llu instruction%s single-stepped by GDB %s in no count",
            (unsigned long long)steps, steps > 1 ? "s" : "", steps > 1 ? "are" : "is");
    if (n < cap && tr->pdo && tr->capture != tr->t->probe && !tr->armed && !tr->edges.bits &&
        !tr->edges.nlearn)
        n += (size_t)snprintf(
            note + n, cap - n,
            "; PDOCLK never moved: are both pins wired to %s, and was the start point met?",
            tr->capture->name);
    double samples = s12z_trace_samples_per_bit(tr);
    if (n < cap && samples > 0 && samples < SAMPLES_WANTED)
        n += (size_t)snprintf(note + n, cap - n,
                              "; %s samples a bit %.2g times, %u are needed for a bus of %.4g MHz",
                              tr->capture->name, samples, SAMPLES_WANTED, tr->bus_hz / 1e6);
    if (n < cap && tr->damaged)
        n += (size_t)snprintf(note + n, cap - n,
                              "; lines are damaged in %llu place%s, the first %.3g ms from the "
                              "start: look at the wires",
                              (unsigned long long)tr->damaged, tr->damaged == 1 ? "" : "s",
                              (double)tr->damaged_ns / 1e6);
    else if (n < cap && tr->pdo && s->overflows && name_culprits(tr, who, sizeof who, 2))
        n +=
            (size_t)snprintf(note + n, cap - n, "; returns of %s filled the buffer %llu time%s: %s",
                             who, (unsigned long long)s->overflows, s->overflows == 1 ? "" : "s",
                             suggest_range(tr, range, sizeof range));
    uint32_t pc;
    if (n < cap && s12z_flow_check(s12z_events_flow(tr->events), &pc))
        n += (size_t)snprintf(note + n, cap - n, "; counts do not add up at %06X", pc);
    if (n < cap && f->unpaired)
        n += (size_t)snprintf(
            note + n, cap - n,
            "; %llu returns did not go back, first at %06X: tasks, or lines are missing",
            (unsigned long long)f->unpaired, f->first_unpaired);
    if (n < cap && *tr->plan.text && tr->plan.host_points)
        snprintf(note + n, cap - n, "; %s", tr->plan.text);
}

static int s12z_trace_status(struct target *target, struct trace_status *out, struct err *err)
{
    struct s12z_trace *tr = s12z_trace_of(target);
    *out = (struct trace_status){ 0 };
    (void)err;
    if (!tr)
        return 0;
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    uint64_t runs_ns = tr->runs_from_ns ? s12z_now(tr->t) - tr->runs_from_ns : 0;
    *out = (struct trace_status){
        .armed = tr->armed,
        .active = s12z_events_active(tr->events),
        .events = s->events,
        .lost = s->gap_lines + s->misfits,
        .target_cycles = s12z_trace_seen_cycles(tr) + s->gap_cycles,
        .board_ns = tr->board_ns + runs_ns,
        .held_ns = tr->held_ns,
        .wire_bits = tr->wire_bits,
        .ring_bytes = LINES * LINE_BYTES,
    };
    make_note(tr, out->note, sizeof out->note);
    return 0;
}

/* What of the lines is damaged, missing, or not what the program could have made. */
static void explain_doubt(struct s12z_trace *tr, const struct text_sink *out)
{
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(tr->events));
    uint32_t pc = 0;
    size_t bad = s12z_flow_check(s12z_events_flow(tr->events), &pc);
    if (tr->damaged)
        sink_printf(out, "lines are damaged in %llu places, the first %.3g ms from the start\n",
                    (unsigned long long)tr->damaged, (double)tr->damaged_ns / 1e6);
    if (s->misfits)
        sink_printf(out, "%llu lines did not fit the program; the first: %s\n",
                    (unsigned long long)s->misfits, s->first_misfit.what);
    if (s->unended)
        sink_printf(out, "%llu sessions have no last line: it was lost, or the part was reset\n",
                    (unsigned long long)s->unended);
    if (s->headless)
        sink_printf(out, "%llu sessions have no first line: it was lost\n",
                    (unsigned long long)s->headless);
    if (s->unplaced)
        sink_printf(out,
                    "%llu lines came before the first address: the capture began in the middle\n",
                    (unsigned long long)s->unplaced);
    if (f->unpaired)
        sink_printf(out,
                    "%llu returns went elsewhere than back, first the one at %06X: so do task "
                    "switches and long jumps; otherwise lines are missing "
                    "unnoticed\n",
                    (unsigned long long)f->unpaired, f->first_unpaired);
    if (bad)
        sink_printf(out,
                    "what entered %zu blocks did not leave them, first at %06X: lines are missing "
                    "unnoticed\n",
                    bad, pc);
}

static int s12z_trace_explain(struct target *target, const struct text_sink *out, struct err *err)
{
    struct s12z_trace *tr = s12z_trace_of(target);
    if (!tr)
        return err_set(err, ERR_STATE, "monitor profile start", "no profile is armed");
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(tr->events));
    struct s12z_culprit c[16];
    double factor, spread;
    size_t n = s12z_events_culprits(tr->events, c, ARRAY_LEN(c));
    sink_printf(out, "lines by %s; %s policy\n",
                tr->pdo ? "PDO and PDOCLK" : "bursts of 64 over BDC",
                tr->cfg.policy == TRACE_LIVE ? "live" : "lossless");
    if (*tr->plan.text)
        sink_printf(out, "%s\n", tr->plan.text);
    sink_printf(
        out,
        "%llu lines, %llu branches (%llu taken), %llu instructions, %llu calls, %llu interrupts\n",
        (unsigned long long)s->lines, (unsigned long long)f->branches, (unsigned long long)f->taken,
        (unsigned long long)f->instructions, (unsigned long long)f->calls,
        (unsigned long long)f->interrupts);
    sink_printf(out, "%llu overflows; %llu gaps", (unsigned long long)s->overflows,
                (unsigned long long)s->gaps);
    if (s->gap_cycles)
        sink_printf(out, " of about %llu lines and %llu bus cycles: %.2f%% seen",
                    (unsigned long long)s->gap_lines, (unsigned long long)s->gap_cycles,
                    covered_percent(tr));
    sink_printf(out, "; %llu passes cut by gaps\n", (unsigned long long)s->passes_cut);
    const struct s12z_time *t = s12z_events_time(tr->events);
    if (s12z_time_factor(t, &factor, &spread))
        sink_printf(out,
                    "where time is known it took %.2f times what the cycle table says (scatter "
                    "%.2f): %llu stretches by stamps, %llu by arrival; "
                    "waiting %llu bus cycles\n",
                    factor, spread, (unsigned long long)t->stretches,
                    (unsigned long long)t->arrivals, (unsigned long long)t->waited);
    explain_doubt(tr, out);
    for (size_t k = 0; k < n; k++)
        sink_printf(out, "  %06X %-24s %llu of the lines that filled the buffer\n", c[k].low,
                    c[k].name ? c[k].name : "", (unsigned long long)c[k].lines);
    return 0;
}

static char *line_text(uint64_t line, char *buf, size_t cap)
{
    const struct s12z_settings settings = s12z_settings_default();
    return s12z_line_text(line, &settings, buf, cap);
}

const struct target_trace_ops s12z_trace_ops = {
    .arm = trace_arm,
    .poll = trace_poll,
    .disarm = trace_disarm,
    .set_active = trace_set_active,
    .status = s12z_trace_status,
    .explain = s12z_trace_explain,
    .line_text = line_text,
};

const struct s12z_events_totals *s12z_trace_totals(const struct s12z_trace *tr)
{
    return s12z_events_totals(tr->events);
}
struct s12z_flow *s12z_trace_flow(const struct s12z_trace *tr)
{
    return s12z_events_flow(tr->events);
}
