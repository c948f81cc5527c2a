/* Lines from the pins PDO and PDOCLK, continuously, where the adapter or a logic analyser captures
 * them. Source: ZVM p.226. */
#include <stdio.h>
#include <stdlib.h>

#include "targets/s12z/trace/trace_priv.h"
#include "probe/base/choice.h"

enum { EDGES = 1 << 15, FEW_EDGES = 64 };
#define QUIET_NS 1000000u /* this long without an edge is idle */
/* a session's last line is looked for that long, every END_LOOK_NS */
#define END_LIMIT_NS 20000000u
#define END_LOOK_NS  1000000u

/* Items from the wire: bytes that are no line are a gap of at least one line. */
static int take_item(void *ctx, const struct s12z_item *item)
{
    struct s12z_trace *tr = ctx;
    const struct s12z_arrival at = { item->tick, item->bus_ticks, item->prompt };
    if (item->kind == S12Z_ITEM_LINE)
        return s12z_trace_take_line(tr, item->raw, &item->line, &at);
    s12z_trace_note_damage(tr);
    return s12z_events_gap(tr->events, MAX(item->bytes / LINE_BYTES, 1u), 0, EVENT_CAUSE_CORRUPT,
                           &tr->arrivals.sink_err);
}

/* The capture dropped edges: what was going on is not known. */
static int note_lost_edges(struct s12z_trace *tr, uint64_t lost, struct err *err)
{
    int ret = s12z_trace_sink_result(tr, s12z_edges_lost(&tr->pins.edges), err);
    /* a line has about 64 clock and half as many data edges */
    uint64_t lines = MAX(lost / 100, 1u);
    if (ret < 0)
        return ret;
    return s12z_events_gap(tr->events, lines, 0, EVENT_CAUSE_HOST_QUEUE, err);
}

/* Moves all edges there are. Returns how many, or < 0. */
int s12z_trace_read_pins(struct s12z_trace *tr, struct err *err)
{
    int total = 0, n = EDGES;
    while (n == EDGES && s12z_events_waiting(tr->events) < (1u << 20)) {
        uint64_t lost = 0;
        n = tr->pins.pdo->read(tr->pins.capture, tr->pins.edge, EDGES, &lost, err);
        if (n > FEW_EDGES && total == 0)
            s12z_trace_read_vectors(tr);
        int ret = MIN(n, 0);
        if (ret == 0 && lost)
            ret = note_lost_edges(tr, lost, err);
        if (ret == 0 && n > 0)
            ret = s12z_trace_sink_result(
                tr, s12z_edges_feed(&tr->pins.edges, tr->pins.edge, (size_t)n), err);
        if (ret < 0)
            return ret;
        total += n;
    }
    uint64_t now = s12z_now(tr->t);
    if (total)
        tr->pins.edge_ns = now;
    else if (now - tr->pins.edge_ns > QUIET_NS) {
        uint64_t seen = UINT64_MAX;
        if (tr->pins.pdo->seen)
            seen = tr->pins.pdo->seen(tr->pins.capture);
        int ret = s12z_trace_sink_result(tr, s12z_edges_idle(&tr->pins.edges, seen), err);
        if (ret < 0)
            return ret;
    }
    return total;
}

/* A session's last line is marked as such, and nothing else is on its way then. It comes with the
 * capture's next packet; waiting for as many samples as packets may be apart would take longer. */
static int await_last_line(struct s12z_trace *tr, struct err *err)
{
    int n = 0;
    for (uint64_t since = s12z_now(tr->t); n >= 0 && !tr->arrivals.last_came &&
                                           s12z_now(tr->t) - since < END_LIMIT_NS &&
                                           s12z_events_waiting(tr->events) < (1u << 20);) {
        n = s12z_trace_read_pins(tr, err);
        if (n == 0 && !tr->arrivals.last_came)
            n = s12z_wait(tr->t, END_LOOK_NS, err);
    }
    if (n < 0 || tr->arrivals.last_came)
        return MIN(n, 0);
    return tr->pins.pdo->catch_up(tr->pins.capture, err);
}

/* Nothing is sent any more (PTACT is 0): what is in the capture is all. */
int s12z_trace_empty_pins(struct s12z_trace *tr, struct err *err)
{
    int n = 0;
    if (tr->pins.pdo->catch_up)
        n = await_last_line(tr, err);
    while (n >= 0 && (n = s12z_trace_read_pins(tr, err)) > 0 && n > 0 &&
           s12z_events_waiting(tr->events) < (1u << 20))
        ;
    if (n < 0)
        return n;
    return s12z_trace_sink_result(tr, s12z_edges_idle(&tr->pins.edges, UINT64_MAX), err);
}

void s12z_trace_lose_edges(struct s12z_trace *tr) { s12z_edges_lost(&tr->pins.edges); }

/* ---- opening ---- */

/* Samples taken in one bit, which lasts two bus clocks; 0: edges are exact, or the bus clock is not
 * known. */
double s12z_trace_samples_per_bit(const struct s12z_trace *tr)
{
    uint64_t hz = 0;
    if (tr->pins.pdo && tr->pins.pdo->sample_hz)
        hz = tr->pins.pdo->sample_hz(tr->pins.capture);
    if (tr->time.bus_hz)
        return 2 * (double)hz / tr->time.bus_hz;
    return 0;
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
        2e-6 * tr->time.bus_hz);
    return err_set(err, ERR_UNSUPPORTED, hint,
                   "%s samples a bit %.2g times, %u are needed: the bus clock is %.4g MHz",
                   tr->pins.capture->name, samples, SAMPLES_WANTED, tr->time.bus_hz / 1e6);
}

int s12z_trace_open_pins(struct s12z_trace *tr, struct err *err)
{
    struct s12z_settings settings = s12z_settings_default();
    struct probe *capture = EITHER(tr->t->opt.pdo, tr->t->probe);
    const struct pdo_ops *pdo = capture->driver->pdo;
    if (tr->cfg.capture == TRACE_CAPTURE_READOUT)
        return 0;
    if (!pdo && tr->cfg.capture == TRACE_CAPTURE_PINS)
        return err_set(
            err, ERR_UNSUPPORTED,
            "--pdo names a logic analyser on the pins; --capture bdc reads the buffer in bursts",
            "%s cannot capture PDO and PDOCLK", capture->name);
    if (!pdo)
        return 0;
    tr->pins.edge = malloc(EDGES * sizeof *tr->pins.edge);
    if (!tr->pins.edge)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    int ret = pdo->start(capture, &tr->pins.tick_hz, err);
    if (ret < 0)
        return ret;
    tr->pins.pdo = pdo;
    tr->pins.capture = capture;
    s12z_stream_init(&tr->pins.stream, S12Z_FORM_WIRE, &settings, take_item, tr);
    s12z_edges_init(&tr->pins.edges, &settings, &tr->pins.stream);
    tr->pins.edge_ns = s12z_now(tr->t);
    if (!pdo->sample_hz || !pdo->sample_hz(capture))
        return 0;
    ret = check_rate(tr, err);
    if (ret < 0)
        pdo->stop(capture, NULL);
    return ret;
}

/* ---- closing ---- */

int s12z_trace_stop_pins(struct s12z_trace *tr, int ret, struct err *err)
{
    if (!tr->pins.pdo)
        return ret;
    int end = s12z_trace_sink_result(tr, s12z_edges_end(&tr->pins.edges), err_unless(ret < 0, err));
    tr->pins.pdo->stop(tr->pins.capture, NULL);
    if (ret < 0)
        return ret;
    return end;
}

void s12z_trace_close_pins(struct s12z_trace *tr)
{
    if (tr->pins.pdo && tr->armed)
        tr->pins.pdo->stop(tr->pins.capture, NULL);
    free(tr->pins.edge);
}
