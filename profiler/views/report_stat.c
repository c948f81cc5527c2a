#include "profiler/views/report_stat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/student.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report.h"

#define NS 1e-9

void stat_add(struct stat_result *s, const uint64_t value[2], uint64_t least_ns, uint64_t most_ns,
              uint64_t steps)
{
    for (int i = 0; i < 2; i++) {
        struct stat_event *e = &s->event[i];
        if (!e->counter.name)
            continue;
        if (!e->value.n || value[i] < e->least)
            e->least = value[i];
        e->most = MAX(e->most, value[i]);
        moments_add(&e->value, (double)value[i]);
    }
    moments_add(&s->least_s, NS * (double)least_ns);
    moments_add(&s->most_s, NS * (double)most_ns);
    s->steps += steps;
}

/* Half of the 95 % interval of the mean; NAN from a single value. */
static double half_of(const struct moments *m)
{
    if (m->n < 2)
        return NAN;
    double df = (double)(m->n - 1);
    if (m->squares > 0)
        return student_limit(df) * sqrt(m->squares / df / (double)m->n);
    return 0;
}

/* ---- as text ---- */

/* "1,234,567", or with one digit behind the point if it is small and no whole number. */
static const char *grouped_text(double value, char *buf, size_t cap)
{
    if (value >= 1000 || value == floor(value))
        return report_grouped((uint64_t)llrint(value), buf, cap);
    snprintf(buf, cap, "%.1f", value);
    return buf;
}

static const char *part_text(double part, char *buf, size_t cap)
{
    if (!isfinite(part))
        return "";
    snprintf(buf, cap, "%.2f%%", 100 * part);
    return buf;
}

static void put_stretches(const struct stat_result *s, const struct text_sink *out)
{
    uint64_t n = s->most_s.n;
    sink_printf(out, "%s on %s, untraced: %" PRIu64 " stretch%s\n",
                basename(text_or(s->program, "the program")),
                text_or(s->target, text_or(s->probe, "the board")), n, text_if(n != 1, "es"));
    if (s->start)
        sink_printf(out, "from %s\n", s->start);
    for (size_t i = 0; i < s->nstops; i++)
        sink_printf(out, "%s %s\n", i ? "  or" : "  to", s->stop[i]);
    sink_printf(out, "\n");
}

static void put_event(const struct stat_event *e, double seconds, const struct text_sink *out)
{
    char mean[40], least[40], most[40], half[16], rate[40], name[48];
    bool cycles = e->counter.unit && !strcmp(e->counter.unit, "cycles");
    snprintf(name, sizeof name, "%s%s", e->counter.name, text_if(cycles, " (cycles)"));
    grouped_text(e->value.mean, mean, sizeof mean);
    if (e->value.n > 1)
        sink_printf(out, "%17s %8s %16s %16s  %s\n", mean,
                    part_text(half_of(&e->value) / fmax(e->value.mean, 1), half, sizeof half),
                    grouped_text((double)e->least, least, sizeof least),
                    grouped_text((double)e->most, most, sizeof most), name);
    else
        sink_printf(out, "%17s %17s  %s\n", mean,
                    seconds > 0 ? grouped_text(e->value.mean / seconds, rate, sizeof rate) : "",
                    name);
}

static void put_events(const struct stat_result *s, const struct text_sink *out)
{
    double seconds = (s->least_s.mean + s->most_s.mean) / 2;
    if (s->most_s.n > 1)
        sink_printf(out, "%17s %8s %16s %16s  %s\n", "mean", "+-", "least", "most", "event");
    else
        sink_printf(out, "%17s %17s  %s\n", "count", "a second", "event");
    for (int i = 0; i < 2; i++)
        if (s->event[i].counter.name)
            put_event(&s->event[i], seconds, out);
}

static void put_own(const struct stat_result *s, const struct text_sink *out)
{
    char own[40];
    sink_printf(out, "\nThe debugger's own part of each, in letting go and halting, is at most\n");
    for (int i = 0, n = 0; i < 2; i++)
        if (s->event[i].counter.name)
            sink_printf(out, "%s%s %s", text_if(n++, ", "),
                        grouped_text((double)s->event[i].own, own, sizeof own),
                        s->event[i].counter.name);
    sink_printf(out, ".\n");
    if (s->steps)
        sink_printf(out,
                    "Doubtful: it had to step %" PRIu64
                    " instructions (SR.BL was 1, or the start was a stop), and\n"
                    "has counted up to that for each.\n",
                    s->steps);
}

static void put_traced(const struct stat_result *s, const struct text_sink *out)
{
    char mean[40];
    if (!s->traced)
        return;
    sink_printf(out, "\nTraced, in the mean of the %" PRIu64 " passes of %s:\n", s->traced_passes,
                s->traced);
    for (int i = 0; i < 2; i++) {
        const struct stat_event *e = &s->event[i];
        if (!e->counter.name || !e->has_traced)
            continue;
        sink_printf(out, "%17s ", grouped_text(e->traced, mean, sizeof mean));
        if (e->value.mean > 0)
            sink_printf(out, "%+7.2f%%", 100 * (e->traced / e->value.mean - 1));
        else
            sink_printf(out, "%8s", "");
        sink_printf(out, "  %s\n", e->counter.name);
    }
}

void report_stat(const struct stat_result *s, const struct text_sink *out)
{
    put_stretches(s, out);
    put_events(s, out);
    sink_printf(out, "\n%s: %.6f s to %.6f s by the adapter's clock\n",
                s->most_s.n > 1 ? "A stretch, in the mean" : "Duration", s->least_s.mean,
                s->most_s.mean);
    put_own(s, out);
    put_traced(s, out);
}

/* ---- as JSON ---- */

static void write_event(struct json_writer *j, const struct stat_event *e)
{
    json_write_object(j, true);
    json_member_string(j, "name", e->counter.name);
    json_member_string(j, "unit", e->counter.unit);
    json_member_real(j, "mean", e->value.mean);
    json_member_real(j, "half_95", half_of(&e->value));
    json_member_count(j, "least", e->least);
    json_member_count(j, "most", e->most);
    json_member_count(j, "debugger_at_most", e->own);
    json_member_real(j, "traced", e->has_traced ? e->traced : NAN);
    json_write_end(j);
}

void report_stat_json(const struct stat_result *s, const struct text_sink *out)
{
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.stat/1");
    json_member_string(&j, "program", s->program);
    json_member_string(&j, "target", s->target);
    json_member_string(&j, "probe", s->probe);
    json_member_string(&j, "start", s->start);
    json_write_key(&j, "stops");
    json_write_array(&j, true);
    for (size_t i = 0; i < s->nstops; i++)
        json_write_string(&j, s->stop[i]);
    json_write_end(&j);
    json_member_uint(&j, "stretches", s->most_s.n);
    json_member_real(&j, "seconds_least", s->least_s.mean);
    json_member_real(&j, "seconds_most", s->most_s.mean);
    json_member_uint(&j, "debugger_steps", s->steps);
    json_member_bool(&j, "doubtful", s->steps > 0);
    json_member_string(&j, "traced", s->traced);
    json_member_uint_if(&j, "traced_passes", s->traced, s->traced_passes);
    json_write_key(&j, "events");
    json_write_array(&j, false);
    for (int i = 0; i < 2; i++)
        if (s->event[i].counter.name)
            write_event(&j, &s->event[i]);
    json_write_end(&j);
    json_write_end(&j);
    sink_printf(out, "\n");
}
