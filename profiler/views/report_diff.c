#include "profiler/views/report_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/json_writer.h"

const char *report_diff_verdict(enum diff_verdict v)
{
    static const char *const word[] = { "unclear", "same", "slower", "faster", "new", "gone" };
    return word[v];
}

/* ---- as text ---- */

static const char *percent_text(double part, char *buf, size_t cap)
{
    if (!isfinite(part))
        return "";
    if (fabs(part) < 0.0005)
        return "0.0%";
    snprintf(buf, cap, fabs(part) < 10 ? "%+.1f%%" : "%+.0f%%", 100 * part);
    return buf;
}

static const char *spread_text(const struct diff_result *r, char *buf, size_t cap)
{
    if (r->exact)
        return "exact";
    if (!isfinite(r->spread))
        return "";
    snprintf(buf, cap, "%.1f%%", 100 * r->spread);
    return buf;
}

static const char *mean_text(bool known, double mean, char *buf, size_t cap)
{
    if (!known)
        return "";
    if (mean < 1000)
        snprintf(buf, cap, "%.1f", mean);
    else
        return report_number((uint64_t)llround(mean), buf, cap);
    return buf;
}

static void put_row(const struct diff_row *r, const struct text_sink *out)
{
    char was[16], is[16], change[16], spread[16];
    bool both = r->was && r->is;
    sink_printf(out, "%9s %9s %8s %7s  %-7s %5.2f  %s\n",
                mean_text(r->was, r->of[0].mean, was, sizeof was),
                mean_text(r->is, r->of[1].mean, is, sizeof is),
                text_if(both, percent_text(r->result.change, change, sizeof change)),
                text_if(both, spread_text(&r->result, spread, sizeof spread)),
                report_diff_verdict(r->result.verdict), fabs(r->dcpi) < 0.005 ? 0 : r->dcpi,
                profile_shown_name(EITHER(r->is, r->was)));
}

static void put_side(const char *what, const struct diff_side *s, bool sums_only,
                     const struct text_sink *out)
{
    sink_printf(out, "%s  %s", what, s->name);
    if (sums_only)
        sink_printf(out, ": sums only, which do not say how far one call differs from another");
    else
        sink_printf(out, ": %" PRIu64 " passes", s->passes);
    sink_printf(out, "\n");
}

static const char *mean_of(const struct diff *d)
{
    if (d->by_run)
        return "run";
    if (d->by_pass)
        return "pass";
    return "call";
}

static void put_head(const struct diff *d, const struct diff_side side[2],
                     const struct text_sink *out)
{
    char was[16], is[16], change[16];
    const struct profile_counter *c = &side[0].profile->info.counter[0];
    put_side("old", &side[0], d->sums_only[0], out);
    put_side("new", &side[1], d->sums_only[1], out);
    sink_printf(out, "C1 %s of each function's own code, %s a %s\n\n", text_or(c->name, ""),
                d->by_run ? "sum of" : "mean of", mean_of(d));
    sink_printf(out, "%9s %9s %8s %7s  %-7s %5s  %s\n", "old", "new", "change", "+-", "verdict",
                "DCPI", "function");
    sink_printf(
        out, "%9s %9s %8s %7s  %-7s %5s  (%s)\n", mean_text(true, d->total[0], was, sizeof was),
        mean_text(true, d->total[1], is, sizeof is), percent_text(d->change, change, sizeof change),
        "", "", "", d->by_pass ? "all, a pass" : "all, the run");
}

static void put_summary(const struct diff *d, const struct text_sink *out)
{
    size_t of[DIFF_GONE + 1] = { 0 };
    for (size_t i = 0; i < d->n; i++)
        of[d->row[i].result.verdict]++;
    sink_printf(out, "\n");
    static const enum diff_verdict order[] = { DIFF_SLOWER, DIFF_FASTER, DIFF_SAME,
                                               DIFF_NEW,    DIFF_GONE,   DIFF_UNCLEAR };
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        sink_printf(out, "%s%zu %s", text_if(i > 0, ", "), of[order[i]],
                    report_diff_verdict(order[i]));
    sink_printf(out, "\n");
}

void report_diff(const struct diff *d, const struct diff_side side[2],
                 const struct report_options *o, const struct text_sink *out)
{
    size_t shown = d->n;
    if (o->limit)
        shown = MIN(shown, (size_t)o->limit);
    put_head(d, side, out);
    for (size_t i = 0; i < shown; i++)
        put_row(&d->row[i], out);
    if (shown < d->n)
        sink_printf(out, "(%zu more)\n", d->n - shown);
    put_summary(d, out);
}

/* ---- as JSON ---- */

/* What JSON leaves out is not a number. */
static double known_if(bool is_known, double value)
{
    if (is_known)
        return value;
    return NAN;
}

static double variance_of(const struct moments *m)
{
    if (m->n < 2)
        return NAN;
    return m->squares / (double)(m->n - 1);
}

static void write_moments(struct json_writer *j, const char *key, const struct profile *p,
                          const struct profile_function *f, const struct moments *m)
{
    json_write_key(j, key);
    if (!f) {
        json_write_null(j);
        return;
    }
    json_write_object(j, true);
    json_member_real(j, "mean", m->mean);
    json_member_uint_if(j, "n", m->n > 0, m->n);
    json_member_real(j, "variance", variance_of(m));
    if (profile_knows(p, PROFILE_HITS))
        json_member_uint(j, "hits", f->hits);
    json_member_uint(j, "c1", f->c1);
    json_member_uint_if(j, "c1_children", profile_knows(p, PROFILE_CHILDREN), f->c1_children);
    json_write_end(j);
}

static void write_row(struct json_writer *j, const struct diff_side side[2],
                      const struct diff_row *r)
{
    json_write_object(j, true);
    json_member_string(j, "name", profile_shown_name(EITHER(r->is, r->was)));
    json_member_string(j, "verdict", report_diff_verdict(r->result.verdict));
    json_member_bool(j, "exact", r->result.exact);
    bool both = r->was && r->is;
    json_member_real(j, "change", known_if(both, r->result.change));
    json_member_real(j, "spread", known_if(both, r->result.spread));
    json_member_real(j, "chance", known_if(both, r->result.chance));
    json_member_real(j, "dcpi", r->dcpi);
    write_moments(j, "old", side[0].profile, r->was, &r->of[0]);
    write_moments(j, "new", side[1].profile, r->is, &r->of[1]);
    json_write_end(j);
}

void report_diff_json(const struct diff *d, const struct diff_side side[2],
                      const struct text_sink *out)
{
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.diff/1");
    json_member_string(&j, "counter", side[0].profile->info.counter[0].name);
    json_member_string(&j, "mean_of", mean_of(d));
    for (int i = 0; i < 2; i++) {
        json_write_key(&j, i ? "new" : "old");
        json_write_object(&j, true);
        json_member_string(&j, "file", side[i].name);
        json_member_bool(&j, "sums_only", d->sums_only[i]);
        json_member_uint_if(&j, "passes", !d->sums_only[i], side[i].passes);
        json_member_real(&j, "c1", d->total[i]);
        json_write_end(&j);
    }
    json_member_real(&j, "change", d->change);
    json_write_key(&j, "functions");
    json_write_array(&j, false);
    for (size_t i = 0; i < d->n; i++)
        write_row(&j, side, &d->row[i]);
    json_write_end(&j);
    json_write_end(&j);
    sink_printf(out, "\n");
}
