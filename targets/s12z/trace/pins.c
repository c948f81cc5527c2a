/* Lines from the pins PDO and PDOCLK, continuously, where the adapter or a logic analyser captures
 * them. Source: ZVM p.226. */
#include <stdio.h>
#include <stdlib.h>

#include "targets/s12z/trace/trace_priv.h"

enum { EDGES = 1 << 15, FEW_EDGES = 64 };
#define QUIET_NS 1000000u /* this long without an edge is idle */
/* a session's last line is looked for that long, every END_LOOK_NS */
#define END_LIMIT_NS 20000000u
#define END_LOOK_NS  1000000u

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
int s12z_trace_read_pins(struct s12z_trace *tr, struct err *err)
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
int s12z_trace_empty_pins(struct s12z_trace *tr, struct err *err)
{
    int n = tr->pdo->catch_up ? await_last_line(tr, err) : 0;
    while (n >= 0 && (n = s12z_trace_read_pins(tr, err)) > 0 && n > 0 &&
           s12z_events_waiting(tr->events) < (1u << 20))
        ;
    return n < 0 ? n : s12z_trace_sink_result(tr, s12z_edges_idle(&tr->edges, UINT64_MAX), err);
}

/* ---- opening ---- */

/* Samples taken in one bit, which lasts two bus clocks; 0: edges are exact, or the bus clock is not
 * known. */
double s12z_trace_samples_per_bit(const struct s12z_trace *tr)
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

int s12z_trace_open_pins(struct s12z_trace *tr, struct err *err)
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
