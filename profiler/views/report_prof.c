#include "profiler/views/report_prof.h"

#include <stdio.h>
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report_names.h"
#include "profiler/views/report_priv.h"

enum { CELL = 8, CALLS_CELL = 9, SHARE_CELL = 5 };

struct list {
    const struct profile *p;
    const struct report_options *o;
    const struct text_sink *out;
    struct report_names *names;
    uint32_t *row; /* functions, the most first */
    size_t n;
    uint64_t total;
    double rate; /* of samples a second; 0: rows are in units of the counter, or in samples */
};

static uint64_t value_of(const struct profile *p, uint32_t function)
{
    const struct profile_function *f = &p->functions[function];
    if (p->type == PROFILE_STATISTICAL)
        return f->hits;
    return f->c1;
}

static bool knows_calls(const struct profile *p, const struct profile_function *f)
{
    return p->type == PROFILE_TRACE && profile_knows(p, PROFILE_HITS) && !f->hits_unknown;
}

static int by_value(const void *a, const void *b, void *ctx)
{
    const struct profile *p = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = COMPARE(value_of(p, y), value_of(p, x));
    order = EITHER(order, COMPARE(p->functions[y].hits, p->functions[x].hits));
    return EITHER(order, COMPARE(x, y));
}

static int make_list(struct list *l, struct err *err)
{
    const struct profile *p = l->p;
    if (p->type == PROFILE_TRACE && !profile_knows(p, PROFILE_C1))
        return err_set(err, ERR_USAGE, "profile with --c1 elapsed-time",
                       "counter 1 was not counted: there is nothing to be listed");
    l->row = malloc((p->nfunctions + 1) * sizeof *l->row);
    l->names = report_names_new(p->nfunctions);
    if (!l->row || !l->names)
        return err_set(err, ERR_NOMEM, "close other programs", "prof: out of memory");
    for (uint32_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        report_names_set(l->names, i, profile_shown_name(f), f->low);
        l->total += value_of(p, i);
        if (value_of(p, i) || f->hits)
            l->row[l->n++] = i;
    }
    if (l->n)
        qsort_r(l->row, l->n, sizeof *l->row, by_value, (void *)(uintptr_t)p);
    if (p->type == PROFILE_STATISTICAL)
        l->rate = sampling_rate(&p->info.sampling);
    return 0;
}

static void free_list(struct list *l)
{
    free(l->row);
    report_names_free(l->names);
}

/* ---- as text ---- */

static void add_head(const struct list *l)
{
    struct report_line line = { .bytes = 0 };
    struct {
        const char *share, *own, *each;
    } head = { "C1%", "C1", "C1/call" };
    if (l->p->type == PROFILE_STATISTICAL) {
        head.share = "hits%";
        head.own = "samples";
        head.each = "ms/call";
    }
    if (l->rate > 0)
        head.own = "seconds";
    line_cell(&line, head.share, SHARE_CELL);
    line_cell(&line, "cum", CELL);
    line_cell(&line, head.own, CELL);
    line_cell(&line, "calls", CALLS_CELL);
    line_cell(&line, head.each, CELL);
    line_add(&line, "  function");
    line_end(&line, l->out);
}

static void value_cell(const struct list *l, struct report_line *line, uint64_t value)
{
    char text[32];
    if (l->rate > 0) {
        snprintf(text, sizeof text, "%.3f", (double)value / l->rate);
        line_cell(line, text, CELL);
    } else {
        line_number(line, value, CELL);
    }
}

static void add_row(const struct list *l, uint32_t function, uint64_t cumulative)
{
    struct report_line line = { .bytes = 0 };
    const struct profile_function *f = &l->p->functions[function];
    char name[REPORT_LINE_BYTES], each[32] = "-";
    line_percent(&line, value_of(l->p, function), l->total, SHARE_CELL);
    value_cell(l, &line, cumulative);
    value_cell(l, &line, value_of(l->p, function));
    if (knows_calls(l->p, f) && f->hits) {
        line_number(&line, f->hits, CALLS_CELL);
        snprintf(each, sizeof each, "%.1f", (double)f->c1 / (double)f->hits);
    } else {
        line_cell(&line, knows_calls(l->p, f) ? "0" : "-", CALLS_CELL);
    }
    line_cell(&line, each, CELL);
    line_doubt(&line, f->doubtful);
    line_add(&line, report_names_text(l->names, function, report_width(l->o) - line.columns, name,
                                      sizeof name));
    line_end(&line, l->out);
}

int report_prof(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err)
{
    struct list l = { .p = p, .o = o, .out = out };
    uint64_t cumulative = 0;
    size_t shown = 0, more = 0;
    int ret = make_list(&l, err);
    if (ret == 0) {
        report_header(p, o, out);
        add_head(&l);
    }
    for (size_t i = 0; ret == 0 && i < l.n; i++) {
        cumulative += value_of(p, l.row[i]);
        if (!report_wants(o, &p->functions[l.row[i]]))
            continue;
        if (o->limit && shown == o->limit)
            more++;
        else
            shown++, add_row(&l, l.row[i], cumulative);
    }
    if (more)
        sink_printf(out, "%zu more not shown\n", more);
    free_list(&l);
    return ret;
}

/* ---- as JSON ---- */

static void write_row(const struct list *l, struct json_writer *j, uint32_t function,
                      uint64_t cumulative)
{
    const struct profile_function *f = &l->p->functions[function];
    json_write_object(j, true);
    json_member_string(j, "name", profile_shown_name(f));
    json_member_uint(j, "value", value_of(l->p, function));
    json_member_uint(j, "cumulative", cumulative);
    if (l->rate > 0)
        json_member_real(j, "seconds", (double)value_of(l->p, function) / l->rate);
    if (knows_calls(l->p, f))
        json_member_uint(j, "calls", f->hits);
    json_member_bool(j, "doubtful", f->doubtful);
    json_write_end(j);
}

int report_prof_json(const struct profile *p, const struct text_sink *out, struct err *err)
{
    struct list l = { .p = p, .out = out };
    struct json_writer j = { .out = out };
    uint64_t cumulative = 0;
    int ret = make_list(&l, err);
    if (ret == 0) {
        json_write_object(&j, false);
        json_member_string(&j, "schema", "probeprof.prof/1");
        json_member_string(&j, "of", p->type == PROFILE_STATISTICAL ? "samples" : "c1");
        json_write_key(&j, "functions");
        json_write_array(&j, false);
        for (size_t i = 0; i < l.n; i++) {
            cumulative += value_of(p, l.row[i]);
            write_row(&l, &j, l.row[i], cumulative);
        }
        json_write_end(&j);
        json_write_end(&j);
        out->write(out->ctx, "\n", 1);
    }
    free_list(&l);
    return ret;
}
