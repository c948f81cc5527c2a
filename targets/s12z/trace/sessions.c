/* Sessions: the module is armed, fills its buffer or meets a stop point, and is armed again. A full
 * buffer ends a session under both policies. Under the lossless policy it halts the program, which
 * goes on from there when the buffer is empty, so to the walker the sessions are one. Under the
 * live policy the program runs on; what it did until the next session is a gap, and counted. */
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "targets/s12z/trace/trace_priv.h"

#define LOOK_NS 5000000u /* pins: the module is asked at least this often whether it still runs */
#define EFR(f)  REG_MASK(S12Z_DBGEFR_##f)

static uint64_t bdc_cycles(struct s12z_target *t)
{
    uint64_t cycles = 0;
    if (t->bdc->stats)
        t->bdc->stats(t->probe, &cycles, NULL, NULL);
    return cycles;
}

/* The module gets what the next session needs; it is disarmed. */
static int prepare_session(struct s12z_trace *tr, struct err *err)
{
    /* a gap ends the pass */
    bool inside = s12z_events_active(tr->events) && !(tr->arrivals.gap_due && tr->cfg.has_start);
    s12z_plan_make(&tr->cfg, inside, tr->pins.pdo != NULL, s12z_comparators_held(tr->t),
                   &tr->session.plan);
    return s12z_dbg_claim(tr->t, &tr->session.plan.dbg, err);
}

static void note_session_begins(struct s12z_trace *tr)
{
    tr->session.under_way = true;
    s12z_trace_await_lines(tr);
    tr->session.begun_ns = tr->session.look_ns = s12z_now(tr->t);
    tr->session.burst_cycles = s12z_trace_seen_cycles(tr) + s12z_events_time(tr->events)->waited;
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
    bool stopped = efr & (uint8_t)(tr->session.plan.begins ? 0 : tr->session.plan.dbg.comparators);
    tr->session.under_way = false;
    int ret;
    if (tr->pins.pdo)
        ret = s12z_trace_empty_pins(tr, err);
    else
        ret = s12z_trace_read_buffer(tr, err);
    /* a disarmed module sends a last line: it is lost on the pin */
    if (ret == 0 && tr->pins.pdo && !tr->arrivals.last_came &&
        tr->arrivals.lines != tr->arrivals.earlier)
        ret = note_last_lost(tr, err);
    for (unsigned n = 0; ret == 0 && stopped && n < S12Z_COMPARATORS && !tr->session.over; n++)
        if (efr & tr->session.plan.dbg.comparators & 1u << n) {
            tr->session.over = true; /* only a start point would begin another, and there is none */
            ret = s12z_events_stopped(tr->events, tr->session.plan.dbg.comparator[n].addr, err);
        }
    tr->session.wire_bits += bdc_cycles(tr->t) - before;
    log_msg(tr->t->probe->log, LOG_PROF, "%s: %s: %llu lines, %llu wire clocks%s",
            tr->t->probe->name, tr->pins.pdo ? "capture" : "burst",
            (unsigned long long)(tr->arrivals.lines - tr->arrivals.earlier),
            (unsigned long long)(bdc_cycles(tr->t) - before), text_if(stopped, "; a stop point"));
    return ret;
}

/* The module is disarmed. If its full buffer had halted the program before that, and that was not
 * seen yet, the program runs on: a new session, or none, would take it for a stop of the program's
 * own. A BGND met at the same time is left for poll() to report. */
static int let_run_on(struct s12z_target *t, struct err *err)
{
    if (s12z_state(t) != TARGET_RUNNING || s12z_asked_to_halt(t->run.state) || t->breaks.npatches ||
        !(t->dbg.efr_seen & EFR(PTBOVF)))
        return 0;
    int ret = s12z_read_csr(t, err);
    if (ret < 0 || !REG_GET(t->link.csr, S12Z_BDCCSR_BDMACT))
        return ret;
    return s12z_command(t, BDC_GO, err);
}

/* If an analyser fails just as the profile ends, what it had not sent is a gap, and the board is
 * well. */
static int end_last_session(struct s12z_trace *tr, uint8_t efr, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = end_session(tr, efr, &why);
    if (ret == -ERR_USB && tr->pins.pdo && tr->pins.capture != tr->t->probe)
        return s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_LINK, err);
    if (ret < 0 && err)
        *err = why;
    return ret;
}

int s12z_trace_end_sessions(struct s12z_trace *tr, struct err *err)
{
    uint8_t efr = 0;
    int ret = 0;
    if (tr->session.under_way && tr->t->dbg.armed) {
        ret = s12z_dbg_disarm(tr->t, &efr, err);
        if (ret == 0)
            ret = end_last_session(tr, efr, err);
        if (ret == 0)
            ret = let_run_on(tr->t, err);
    }
    tr->session.under_way = false;
    return ret;
}

void s12z_trace_allow_stretch(struct s12z_trace *tr) { tr->session.over = false; }

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
    if (tr->session.over)
        return s12z_dbg_claim(t, NULL, err);
    bool gap = s12z_events_active(tr->events) || !tr->cfg.has_start;
    s12z_trace_set_gap_due(tr, gap);
    if (!gap)
        s12z_flow_lost(s12z_events_flow(tr->events)); /* it goes on at the start point */
    if (gap && !tr->pins.pdo) /* its length is known by the clock: until now */
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
int s12z_trace_look(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    uint8_t sr;
    int ret = 0;
    if (tr->pins.pdo)
        ret = s12z_trace_read_pins(tr, err);
    if (ret < 0 || !tr->session.under_way || !t->dbg.armed)
        return MIN(ret, 0);
    uint64_t now = s12z_now(t);
    if (tr->pins.pdo && !tr->arrivals.last_came && now - tr->session.look_ns < LOOK_NS)
        return 0;
    tr->session.look_ns = now;
    ret = s12z_peek8(t, S12Z_DBGSR, &sr, err);
    if (ret < 0 || REG_GET(sr, S12Z_DBGSR_SSF) || s12z_reset_found(t))
        return ret;
    if (tr->session.plan.dbg.halt_on_overflow || s12z_comparators_held(t))
        return 0; /* it halts: the driver will see that, and on_halted() is called */
    return begin_next_session(tr, err);
}

/* ---- hooks of the driver ---- */

static int on_resuming(struct s12z_target *t, struct err *err)
{
    struct s12z_trace *tr = t->trace;
    if (tr->session.over)
        return s12z_dbg_claim(t, NULL, err);
    int ret = prepare_session(tr, err);
    if (ret < 0)
        return ret;
    note_session_begins(tr);
    return 0;
}

static void on_resumed(struct s12z_target *t)
{
    t->trace->session.begun_ns = s12z_now(t);
    s12z_trace_count_from(t->trace, t->trace->session.begun_ns);
}

static int on_halted(struct s12z_target *t, uint8_t efr, struct err *err)
{
    struct s12z_trace *tr = t->trace;
    if (!tr->session.under_way)
        return 0;
    bool own =
        efr & EFR(PTBOVF) || (!tr->session.plan.begins && efr & tr->session.plan.dbg.comparators);
    uint64_t halted_ns = s12z_now(t);
    int ret = end_session(tr, efr, err);
    s12z_trace_count_run(tr, own, halted_ns);
    if (ret == 0 && efr & EFR(PTBOVF) && tr->cfg.policy == TRACE_LIVE)
        s12z_trace_set_gap_due(
            tr, true); /* a debugger's breakpoint halted later than the buffer was full */
    if (ret < 0)
        return ret;
    return own;
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
    tr->session.under_way = false;
    s12z_trace_count_run(tr, false, s12z_now(t));
    if (!tr->armed)
        return;
    if (tr->pins.pdo)
        s12z_trace_read_pins(tr, NULL); /* lines sent before the reset count */
    s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_RESET, NULL);
    if (tr->pins.pdo)
        s12z_trace_lose_edges(tr);
}

static const struct s12z_trace_hooks hooks = {
    .resuming = on_resuming,
    .resumed = on_resumed,
    .halted = on_halted,
    .poll = on_poll,
    .reset = on_reset,
};

int s12z_trace_hook_in(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    t->hooks = &hooks;
    tr->armed = true;
    tr->armed_ns = s12z_now(t);
    int ret = prepare_session(tr, err);
    if (ret < 0 || s12z_state(t) != TARGET_RUNNING)
        return ret; /* halted: on_resuming() does the rest */
    ret = let_run_on(t, err);
    if (ret == 0)
        ret = s12z_dbg_arm(t, err);
    if (ret == 0)
        note_session_begins(tr);
    s12z_trace_count_from(tr, tr->session.begun_ns);
    return ret;
}
