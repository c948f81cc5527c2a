/* Function list and summary. */
#include "profiler/views/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/views/cells.h"
#include "profiler/views/report_names.h"
#include "profiler/views/report_priv.h"
#include "profiler/profile/slowdown.h"
#include "targets/overlay.h"

static const struct {
    const char *name;
    enum report_sort sort;
} sorts[] = {
    { "c1", REPORT_SORT_C1 },
    { "hits", REPORT_SORT_HITS },
    { "c1+children", REPORT_SORT_C1_CHILDREN },
    { "c2", REPORT_SORT_C2 },
    { "c2+children", REPORT_SORT_C2_CHILDREN },
    { "line", REPORT_SORT_CACHE_LINE },
    { "name", REPORT_SORT_NAME },
    { "address", REPORT_SORT_ADDRESS },
    { "c1-children", REPORT_SORT_C1_CHILDREN },
    { "c2-children", REPORT_SORT_C2_CHILDREN },
};

int report_sort_parse(const char *text, enum report_sort *out, struct err *err)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (!strcasecmp(text, sorts[i].name)) {
            *out = sorts[i].sort;
            return 0;
        }
    return err_set(err, ERR_USAGE,
                   "sort by hits, c1, c1+children, c2, c2+children, line, name or address",
                   "no column \"%.40s\"", text);
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_by(const struct profile_function *a, const struct profile_function *b,
                      enum report_sort sort)
{
    switch (sort) {
    case REPORT_SORT_HITS: return -compare_numbers(a->hits, b->hits);
    case REPORT_SORT_C1_CHILDREN: return -compare_numbers(a->c1_children, b->c1_children);
    case REPORT_SORT_C2: return -compare_numbers(a->c2, b->c2);
    case REPORT_SORT_C2_CHILDREN: return -compare_numbers(a->c2_children, b->c2_children);
    case REPORT_SORT_CACHE_LINE: return compare_numbers(a->cache_line, b->cache_line);
    case REPORT_SORT_NAME: return strcmp(profile_shown_name(a), profile_shown_name(b));
    case REPORT_SORT_ADDRESS: return compare_numbers(a->low, b->low);
    default: return -compare_numbers(a->c1, b->c1);
    }
}

struct order {
    enum report_sort sort;
    bool reverse;
};

static int by_order(const void *a, const void *b, void *ctx)
{
    const struct order *o = ctx;
    const struct profile_function *x = *(const struct profile_function *const *)a;
    const struct profile_function *y = *(const struct profile_function *const *)b;
    int d = compare_by(x, y, o->sort);
    if (o->reverse)
        d = -d;
    /* Equal rows: the more interesting first, and the same order every time. */
    d = EITHER(d, compare_by(x, y, REPORT_SORT_C1));
    d = EITHER(d, compare_by(x, y, REPORT_SORT_HITS));
    d = EITHER(d, strcmp(x->name, y->name));
    return EITHER(d, compare_numbers(x->low, y->low));
}

/* ---- rows ---- */

static void add_head(const struct cell_list *columns, struct report_line *l,
                     const struct text_sink *out)
{
    for (size_t i = 0; i < columns->n; i++)
        cell_head(columns->column[i], l);
    line_add(l, "  function");
    line_end(l, out);
}

/* ---- which rows ---- */

/* Where hits are not known, what a function called says that it was. */
static bool was_hit(const struct profile *p, const struct profile_function *f)
{
    bool called = !profile_knows(p, PROFILE_HITS) && (f->c1_children || f->c2_children);
    return f->hits || f->c1 || f->c2 || called;
}

struct rows {
    const struct profile_function **row;
    struct profile_function *never; /* made for functions that only the ELF knows */
    size_t n, nnever;
    size_t below;               /* left out by the threshold */
    struct report_names *names; /* of all functions of the profile, then of those in never */
    struct cell_list columns;
};

static void take_function(struct rows *r, const struct profile *p, const struct report_options *o,
                          const struct profile_function *f)
{
    if ((!o->all && !was_hit(p, f)) || !report_wants(o, f))
        return;
    if (!threshold_met(&o->hits, f->hits, p->total_hits)) {
        r->below++;
        return;
    }
    r->row[r->n++] = f;
}

static int by_address(const void *a, const void *b)
{
    return compare_numbers(profile_place(a), profile_place(b));
}

static bool in_profile(const struct profile *p, const struct profile_function *sorted,
                       const struct profile_function *key)
{
    return bsearch(key, sorted, p->nfunctions, sizeof *key, by_address) != NULL;
}

/* Functions the ELF has and the profile does not. */
static void take_never_hit(struct rows *r, const struct profile *p, const struct report_options *o)
{
    struct profile_function *sorted = malloc((p->nfunctions + 1) * sizeof *sorted);
    if (!sorted)
        return;
    if (p->nfunctions)
        memcpy(sorted, p->functions, p->nfunctions * sizeof *sorted);
    qsort(sorted, p->nfunctions, sizeof *sorted, by_address);
    for (size_t i = 0; i < symbols_nfunctions(o->symbols); i++) {
        const struct symbol_function *s = symbols_function(o->symbols, i);
        struct profile_function *f = &r->never[r->nnever];
        *f = (struct profile_function){ .name = s->name,
                                        .low = symbols_plain(o->symbols, s->low),
                                        .high = symbols_plain(o->symbols, s->high),
                                        .overlay = s->overlay,
                                        .overlay_number =
                                            (uint32_t)(s->overlay ? overlay_number(s->low) : 0),
                                        .cache_line = PROFILE_NOT_CACHED };
        if (s->either || in_profile(p, sorted, f))
            continue;
        r->nnever++;
        take_function(r, p, o, f);
    }
    free(sorted);
}

static bool rows_name(struct rows *r, const struct profile *p)
{
    r->names = report_names_new(p->nfunctions + r->nnever);
    for (size_t i = 0; r->names && i < p->nfunctions; i++)
        report_names_set(r->names, i, profile_shown_name(&p->functions[i]), p->functions[i].low);
    for (size_t i = 0; r->names && i < r->nnever; i++)
        report_names_set(r->names, p->nfunctions + i, profile_shown_name(&r->never[i]),
                         r->never[i].low);
    return r->names != NULL;
}

static bool rows_make(struct rows *r, const struct profile *p, const struct report_options *o)
{
    size_t never = 0;
    if (o->all && o->symbols)
        never = symbols_nfunctions(o->symbols);
    r->row = malloc((p->nfunctions + never + 1) * sizeof *r->row);
    r->never = malloc((never + 1) * sizeof *r->never);
    if (!r->row || !r->never)
        return false;
    for (size_t i = 0; i < p->nfunctions; i++)
        take_function(r, p, o, &p->functions[i]);
    if (never)
        take_never_hit(r, p, o);
    if (!rows_name(r, p))
        return false;
    struct order order = { o->sort, o->reverse };
    qsort_r(r->row, r->n, sizeof *r->row, by_order, &order);
    return true;
}

static size_t name_index(const struct rows *r, const struct profile *p,
                         const struct profile_function *f)
{
    bool hit = f >= p->functions && f < p->functions + p->nfunctions;
    if (hit)
        return (size_t)(f - p->functions);
    return p->nfunctions + (size_t)(f - r->never);
}

static void add_row(const struct rows *r, const struct profile *p, const struct report_options *o,
                    const struct profile_function *f, struct report_line *l,
                    const struct text_sink *out)
{
    const struct cell_row row = cell_row_function(p, f);
    const bool hot = hot_met(&o->hot, &row), colored = report_color(o, f->doubtful, hot, l);
    char name[REPORT_LINE_BYTES];
    for (size_t i = 0; i < r->columns.n; i++)
        cell_add(&row, r->columns.column[i], l);
    report_gutter(f->doubtful, hot, l);
    line_add(l, text_if(f->tagged, "*"));
    line_add(l, report_names_text(r->names, name_index(r, p, f), report_width(o) - l->columns, name,
                                  sizeof name));
    if (colored)
        line_escape(l, REPORT_PLAIN);
    line_end(l, out);
}

/* All of them, shown or not. */
static size_t count_hot(const struct rows *r, const struct profile *p,
                        const struct report_options *o)
{
    size_t n = 0;
    for (size_t i = 0; o->hot.n && i < r->n; i++) {
        const struct cell_row row = cell_row_function(p, r->row[i]);
        n += hot_met(&o->hot, &row);
        hot_fails(&o->hot, &row, o->failures);
    }
    return n;
}

int report_functions(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out)
{
    struct rows r = { 0 };
    struct report_line l = { .bytes = 0 };
    bool made = rows_make(&r, p, o);
    if (made) {
        report_legend(p, out);
        report_columns_of(p, o, CELL_FUNCTIONS, &r.columns);
        add_head(&r.columns, &l, out);
        for (size_t i = 0; i < r.n && (!o->limit || i < o->limit); i++)
            add_row(&r, p, o, r.row[i], &l, out);
        if (o->limit && r.n > o->limit)
            sink_printf(out, "%zu more functions not shown\n", r.n - o->limit);
        if (r.below)
            sink_printf(out, "%zu functions outside of the hits threshold not shown\n", r.below);
        if (!r.n && !r.below)
            sink_printf(out, "no function was hit\n");
        report_hot_rows(o, count_hot(&r, p, o), "function", out);
    }
    report_names_free(r.names);
    free(r.row);
    free(r.never);
    if (!made)
        return -ERR_NOMEM;
    return 0;
}

/* ---- summary ---- */

static void add_totals(const struct profile *p, const struct text_sink *out)
{
    char a[32];
    const uint64_t total[2] = { p->total_c1, p->total_c2 };
    if (profile_knows(p, PROFILE_HITS))
        sink_printf(out, "total     %s hits%s", report_grouped(p->total_hits, a, sizeof a),
                    text_if(p->type == PROFILE_STATISTICAL, " (samples)"));
    else
        sink_printf(out, "total     how often functions were called is not known");
    if (p->info.passes)
        sink_printf(out, " in %s pass%s", report_grouped(p->info.passes, a, sizeof a),
                    text_if(p->info.passes != 1, "es"));
    sink_printf(out, "\n");
    for (int i = 0; i < 2; i++) {
        const struct profile_counter *c = &p->info.counter[i];
        if (!profile_has_counter(p, i))
            continue;
        bool cycles = !strcmp(report_unit(c), "cycles");
        sink_printf(out, "C%d        %s %.30s%s\n", i + 1, report_grouped(total[i], a, sizeof a),
                    text_or(c->name, ""), text_if(cycles, " cycles"));
    }
}

static const char *count_times(uint64_t n, char *buf, size_t cap)
{
    snprintf(buf, cap, n == 1 ? "once" : "%" PRIu64 " times", n);
    return buf;
}

static void add_sampling(const struct profile *p, const struct text_sink *out)
{
    const struct profile_sampling *s = &p->info.sampling;
    char a[32], b[32];
    sink_printf(out, "sampling  %.1f looks a second of %s asked for", sampling_rate(s),
                report_grouped(s->rate_asked, a, sizeof a));
    sink_printf(out, ", %s missed", report_grouped(s->missed, a, sizeof a));
    if (s->asleep)
        sink_printf(
            out, ";\n          the CPU was asleep in %s of %s (%.1f %%): those have no place above",
            report_grouped(s->asleep, a, sizeof a), report_grouped(s->looks, b, sizeof b),
            100.0 * (double)s->asleep / (double)s->looks);
    sink_printf(
        out, "\n          with 95 %% probability the true share is within +- percent of hits%%\n");
}

static void add_intervals(const struct profile_info *i, const struct text_sink *out)
{
    char a[32], b[32], joined[64] = "";
    if (i->stretches_joined > 1)
        snprintf(joined, sizeof joined, " groups of %s",
                 report_grouped(i->stretches_joined, b, sizeof b));
    sink_printf(out,
                "          with 95 %% probability the true share of C1 is within +- C1+- of\n"
                "          seen%%, if losses are like the %s%s stretches between them\n",
                report_grouped(i->stretches, a, sizeof a), joined);
}

static void add_coverage(const struct profile *p, const struct text_sink *out)
{
    const struct profile_info *i = &p->info;
    const struct coverage_row lost = profile_coverage_sum(p, COVERAGE_LOST),
                              blind = profile_coverage_sum(p, COVERAGE_BLIND);
    const uint64_t away = profile_away(p, EVENT_CAUSE_LINK),
                   resets = profile_away(p, EVENT_CAUSE_RESET);
    char a[32], b[32], c[32];
    if (i->sampling.looks)
        add_sampling(p, out);
    if (i->sampling.looks && away)
        sink_printf(out, "          the board was away %s: what ran then is not in here\n",
                    count_times(away, a, sizeof a));
    if (!i->events || i->sampling.looks)
        return; /* read from a .prf, which does not say */
    sink_printf(out, "coverage  %s events, %s%s lost, %s doubtful",
                report_grouped(i->events, a, sizeof a),
                text_if(lost.amount && lost.bound, "at most "),
                report_grouped(lost.amount, b, sizeof b), report_grouped(i->doubtful, c, sizeof c));
    if (lost.c1)
        sink_printf(out, "\n          %.2f %% of C1 seen",
                    100.0 * (double)(p->total_c1 - lost.c1) / (double)p->total_c1);
    if (away)
        sink_printf(out, "\n          the board was away %s: what ran then is not in here",
                    count_times(away, a, sizeof a));
    if (resets)
        sink_printf(
            out, "\n          reset %s: what ran until the board was traced again is not in here",
            count_times(resets, a, sizeof a));
    if (blind.amount)
        sink_printf(out, "\n          %.1f %% of C1 ran where code may have been left unseen, %s",
                    ratio_or_0(100.0 * (double)blind.c1, (double)p->total_c1),
                    count_times(blind.amount, a, sizeof a));
    sink_printf(out, "\n");
    if (i->stretches && lost.c1)
        add_intervals(i, out);
    if (i->doubtful || blind.amount)
        sink_printf(out, "          ? marks what may in part be a neighbour's; ?%% is how much, at "
                         "most\n");
}

/* Another run, in which the program was sampled. */
static void add_sampled(const struct profile *p, const struct text_sink *out)
{
    const struct profile_sampled *s = &p->sampled;
    char a[32], b[32];
    if (!s->total)
        return;
    sink_printf(out,
                "sampled   %s samples in these functions: with 95 %% probability the\n"
                "          true share is within smp+- of smp%%; < and >: %s is below, above\n",
                report_grouped(s->total, a, sizeof a),
                profile_seen_c1(p) < p->total_c1 ? "seen%" : "C1%");
    if (s->elsewhere)
        sink_printf(out, "          %s samples were elsewhere%s%s\n",
                    report_grouped(s->elsewhere, b, sizeof b), text_if(s->most, ", most in "),
                    text_or(s->most, ""));
}

/* What C1 rests on, where it is no count. */
static void add_estimate(const struct profile *p, const struct text_sink *out)
{
    const struct profile_estimate *e = &p->info.estimate;
    const char *by = "stamps and arrivals";
    if (e->sources == EVENT_BY_STAMPS)
        by = "time stamps";
    else if (e->sources == EVENT_BY_ARRIVALS)
        by = "arrival times";
    char a[32];
    if (!e->is || p->type != PROFILE_TRACE || !p->total_c1)
        return;
    if (!e->measurements) {
        sink_printf(out, "estimate  C1: a cycle table alone: nothing told how long it took\n");
        return;
    }
    sink_printf(out, "estimate  C1: a cycle table, corrected x%.2f by %s %s;\n", e->factor,
                report_grouped(e->measurements, a, sizeof a), by);
    sink_printf(out, "          with 95 %% probability the true C1 is within +- percent of it\n");
}

static void add_duration(const struct run_time *t, const struct text_sink *out)
{
    char a[80];
    struct slowdown slow = slowdown_of(t);
    if (!t->target_cycles && !t->host_ns)
        return;
    sink_printf(out, "time     ");
    if (t->target_cycles)
        sink_printf(out, " %s target cycles", report_grouped(t->target_cycles, a, sizeof a));
    if (t->target_cycles && t->host_ns)
        sink_printf(out, ",");
    if (t->host_ns)
        sink_printf(out, " %.1f s on the host", (double)t->host_ns / 1e9);
    sink_printf(out, "\n");
    if (slow.times > 0)
        sink_printf(out, "slow-down %s\n", slowdown_text(&slow, a, sizeof a));
}

void report_summary(const struct profile *p, const struct report_options *o,
                    const struct text_sink *out)
{
    report_tasks(p, o, out);
    add_totals(p, out);
    if (p->info.unnamed)
        report_wrapped("names",
                       "the ELF names no functions: they are known by address, and end where the "
                       "next one that was called begins",
                       report_width(o), out);
    report_unfinished(p, o, out);
    add_estimate(p, out);
    add_sampled(p, out);
    add_coverage(p, out);
    report_untraced(p, o, out);
    add_duration(&p->info.time, out);
    if (p->info.note)
        report_wrapped("note", p->info.note, report_width(o), out);
}
