/* What the user should know of a profile: its state, and what of the lines is in doubt. */
#include <stdio.h>

#include "targets/s12z/trace/trace_priv.h"
#include "probe/base/choice.h"

#define LEAST_MISFITS 16u /* lines that do not fit before the ELF is suspected */

static double covered_percent(const struct s12z_trace *tr)
{
    double seen = (double)s12z_trace_seen_cycles(tr),
           gap = (double)s12z_events_totals(tr->events)->gap_cycles;
    if (seen + gap > 0)
        return 100 * seen / (seen + gap);
    return 100;
}

static size_t name_culprits(const struct s12z_trace *tr, char *buf, size_t cap, size_t most)
{
    struct s12z_culprit c[4];
    size_t n = s12z_events_culprits(tr->events, c, MIN(most, ARRAY_LEN(c))), len = 0;
    buf[0] = 0;
    for (size_t k = 0; k < n && len < cap; k++) {
        if (c[k].name)
            len += (size_t)snprintf(buf + len, cap - len, "%s%.24s", text_if(k, ", "), c[k].name);
        else
            len += (size_t)snprintf(buf + len, cap - len, "%s%06X", text_if(k, ", "), c[k].low);
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

/* What the walk over the program's flow has to say; returns its length. */
static size_t note_flow(const struct s12z_trace *tr, char *note, size_t cap)
{
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(tr->events));
    size_t n = 0;
    uint32_t pc;
    if (s12z_flow_check(s12z_events_flow(tr->events), &pc))
        n += (size_t)snprintf(note, cap, "; counts do not add up at %06X", pc);
    if (n < cap && f->unpaired)
        n += (size_t)snprintf(
            note + n, cap - n,
            "; %llu returns did not go back, first at %06X: tasks, or lines are missing",
            (unsigned long long)f->unpaired, f->first_unpaired);
    return n;
}

static void make_note(const struct s12z_trace *tr, char *note, size_t cap)
{
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    char who[64], range[64];
    double factor, spread;
    const struct s12z_time *t = s12z_events_time(tr->events);
    size_t n = (size_t)snprintf(note, cap, "C1 estimated");
    if (s12z_time_factor(t, &factor, &spread))
        n += (size_t)snprintf(note + n, cap - n, " (%s x%.2f, +-%.2f)",
                              t->arrivals ? "arrivals say" : "stamps say", factor, spread);
    n += (size_t)snprintf(note + n, cap - n, "; by %s", tr->pins.pdo ? "PDO" : "bursts over BDC");
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
    uint64_t steps = tr->t->run.steps - tr->steps_before;
    /* the module traces nothing during STEP1; leaving a breakpoint is one, too */
    if (n < cap && steps)
        n += (size_t)snprintf(note + n, cap - n,
                              "; %llu instruction%s single-stepped by GDB %s in no count",
                              (unsigned long long)steps, plural_s(steps), steps > 1 ? "are" : "is");
    if (n < cap && tr->pins.pdo && tr->pins.capture != tr->t->probe && !tr->armed &&
        !tr->pins.edges.bits && !tr->pins.edges.nlearn)
        n += (size_t)snprintf(
            note + n, cap - n,
            "; PDOCLK never moved: are both pins wired to %s, and was the start point met?",
            tr->pins.capture->name);
    double samples = s12z_trace_samples_per_bit(tr);
    if (n < cap && samples > 0 && samples < SAMPLES_WANTED)
        n += (size_t)snprintf(
            note + n, cap - n, "; %s samples a bit %.2g times, %u are needed for a bus of %.4g MHz",
            tr->pins.capture->name, samples, SAMPLES_WANTED, tr->time.bus_hz / 1e6);
    if (n < cap && tr->arrivals.damaged)
        n +=
            (size_t)snprintf(note + n, cap - n,
                             "; lines are damaged in %llu place%s, the first %.3g ms from the "
                             "start: look at the wires",
                             (unsigned long long)tr->arrivals.damaged,
                             plural_s(tr->arrivals.damaged), (double)tr->arrivals.damaged_ns / 1e6);
    else if (n < cap && tr->pins.pdo && s->overflows && name_culprits(tr, who, sizeof who, 2))
        n +=
            (size_t)snprintf(note + n, cap - n, "; returns of %s filled the buffer %llu time%s: %s",
                             who, (unsigned long long)s->overflows, plural_s(s->overflows),
                             suggest_range(tr, range, sizeof range));
    if (n < cap)
        n += note_flow(tr, note + n, cap - n);
    if (n < cap && *tr->session.plan.text && tr->session.plan.host_points)
        snprintf(note + n, cap - n, "; %s", tr->session.plan.text);
}

int s12z_trace_status(struct target *target, struct trace_status *out, struct err *err)
{
    struct s12z_trace *tr = s12z_trace_of(target);
    *out = (struct trace_status){ 0 };
    (void)err;
    if (!tr)
        return 0;
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    uint64_t runs_ns = 0;
    if (tr->time.runs_from_ns)
        runs_ns = s12z_now(tr->t) - tr->time.runs_from_ns;
    *out = (struct trace_status){
        .armed = tr->armed,
        .active = s12z_events_active(tr->events) || s12z_events_begins(tr->events),
        .events = s->events,
        .lost = s->gap_lines + s->misfits,
        .time.target_cycles = s12z_trace_seen_cycles(tr) + s->gap_cycles,
        .time.board_ns = tr->time.board_ns + runs_ns,
        .time.held_ns = tr->time.held_ns,
        .wire_bits = tr->session.wire_bits,
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
    if (tr->arrivals.damaged)
        sink_printf(out, "lines are damaged in %llu places, the first %.3g ms from the start\n",
                    (unsigned long long)tr->arrivals.damaged,
                    (double)tr->arrivals.damaged_ns / 1e6);
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

int s12z_trace_explain(struct target *target, const struct text_sink *out, struct err *err)
{
    struct s12z_trace *tr = s12z_trace_of(target);
    if (!tr)
        return err_set(err, ERR_STATE, "monitor profile start", "no profile is armed");
    const struct s12z_events_totals *s = s12z_events_totals(tr->events);
    const struct s12z_flow_totals *f = s12z_flow_totals(s12z_events_flow(tr->events));
    struct s12z_culprit c[16];
    double factor, spread;
    size_t n = s12z_events_culprits(tr->events, c, ARRAY_LEN(c));
    const char *source = tr->pins.pdo ? "PDO and PDOCLK" : "bursts of 64 over BDC";
    const char *policy = tr->cfg.policy == TRACE_LIVE ? "live" : "lossless";
    sink_printf(out, "lines by %s; %s policy\n", source, policy);
    if (*tr->session.plan.text)
        sink_printf(out, "%s\n", tr->session.plan.text);
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
                    text_or(c[k].name, ""), (unsigned long long)c[k].lines);
    return 0;
}
