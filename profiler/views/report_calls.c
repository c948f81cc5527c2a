#include "profiler/views/report_calls.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report_names.h"
#include "profiler/views/report_priv.h"

enum { COUNT_COLUMNS = 6, PERCENT_COLUMNS = 5 };

struct table {
    const struct profile *p;
    const struct profile_function *of;
    enum calls_side side;
    const struct report_options *o;
    const struct text_sink *out;
    struct calls rows;
    struct report_names *names;
};

/* What the table of one side calls things. */
static const struct {
    const char *title, *column;
    const char *itself; /* in place of the function where there is none */
} words[] = {
    [CALLS_CALLERS] = { "Callers of", "caller", "(begins here)" },
    [CALLS_CALLEES] = { "Called by", "called", "(itself)" },
};

/* ---- order ---- */

static int compare_counts(uint64_t a, uint64_t b) { return (a < b) - (a > b); }

static const char *row_name(const struct table *t, const struct calls_row *r)
{
    if (r->function != CALLS_ITSELF)
        return profile_shown_name(&t->p->functions[r->function]);
    return words[t->side].itself;
}

static uint64_t row_address(const struct table *t, const struct calls_row *r)
{
    if (r->function == CALLS_ITSELF)
        return 0;
    return t->p->functions[r->function].low;
}

static int compare_by(const struct table *t, const struct calls_row *a, const struct calls_row *b)
{
    switch (t->o->sort) {
    case REPORT_SORT_HITS: return compare_counts(a->hits, b->hits);
    case REPORT_SORT_C2: return compare_counts(a->c2, b->c2);
    case REPORT_SORT_C2_CHILDREN: return compare_counts(a->c2_children, b->c2_children);
    case REPORT_SORT_NAME: return strcmp(row_name(t, a), row_name(t, b));
    case REPORT_SORT_CACHE_LINE:
    case REPORT_SORT_ADDRESS: return compare_counts(row_address(t, b), row_address(t, a));
    case REPORT_SORT_C1_CHILDREN: return compare_counts(a->c1_children, b->c1_children);
    default: return compare_counts(a->c1, b->c1);
    }
}

/* Equal rows: the more interesting first, and the same order every time. */
static int by_order(const void *x, const void *y, void *ctx)
{
    const struct table *t = ctx;
    const struct calls_row *a = x, *b = y;
    int d = compare_by(t, a, b);
    if (t->o->reverse)
        d = -d;
    d = EITHER(d, compare_counts(a->c1_children, b->c1_children));
    d = EITHER(d, compare_counts(a->hits, b->hits));
    return EITHER(d, COMPARE(a->function, b->function));
}

/* ---- rows ---- */

static void add_head(const struct table *t, struct report_line *l)
{
    bool hits = profile_knows(t->p, PROFILE_HITS);
    if (hits)
        line_cell(l, "hits", COUNT_COLUMNS);
    if (hits && t->side == CALLS_CALLERS)
        line_cell(l, "hits%", PERCENT_COLUMNS);
    bool children = profile_knows(t->p, PROFILE_CHILDREN);
    if (profile_knows(t->p, PROFILE_C1))
        line_cell(l, "C1", COUNT_COLUMNS);
    if (profile_knows(t->p, PROFILE_C1) && children) {
        line_cell(l, "C1+ch", COUNT_COLUMNS);
        line_cell(l, "%", PERCENT_COLUMNS);
    }
    if (profile_knows(t->p, PROFILE_C2))
        line_cell(l, "C2", COUNT_COLUMNS);
    if (profile_knows(t->p, PROFILE_C2) && children)
        line_cell(l, "C2+ch", COUNT_COLUMNS);
    line_add(l, "  ");
    line_add(l, words[t->side].column);
    line_end(l, t->out);
}

static void own_cell(const struct calls_row *r, uint64_t value, struct report_line *l)
{
    if (r->own_unknown)
        line_cell(l, "-", COUNT_COLUMNS);
    else
        line_number(l, value, COUNT_COLUMNS);
}

static void children_cell(const struct calls_row *r, uint64_t value, struct report_line *l)
{
    if (r->within)
        line_cell(l, "-", COUNT_COLUMNS);
    else
        line_number(l, value, COUNT_COLUMNS);
}

static void add_cells(const struct table *t, const struct calls_row *r, struct report_line *l)
{
    bool hits = profile_knows(t->p, PROFILE_HITS);
    if (hits && r->hits_unknown)
        line_cell(l, "-", COUNT_COLUMNS);
    else if (hits)
        line_number(l, r->hits, COUNT_COLUMNS);
    if (hits && t->side == CALLS_CALLERS)
        line_percent(l, r->hits, t->of->hits, PERCENT_COLUMNS);
    bool children = profile_knows(t->p, PROFILE_CHILDREN);
    if (profile_knows(t->p, PROFILE_C1))
        own_cell(r, r->c1, l);
    if (profile_knows(t->p, PROFILE_C1) && children) {
        children_cell(r, r->c1_children, l);
        line_percent(l, r->c1_children, t->of->c1_children, PERCENT_COLUMNS);
    }
    if (profile_knows(t->p, PROFILE_C2))
        own_cell(r, r->c2, l);
    if (profile_knows(t->p, PROFILE_C2) && children)
        children_cell(r, r->c2_children, l);
}

static void add_name(const struct table *t, const struct calls_row *r, struct report_line *l)
{
    char name[REPORT_LINE_BYTES];
    if (r->function == CALLS_ITSELF)
        line_add(l, row_name(t, r));
    else
        line_add(l, report_names_text(t->names, r->function, report_width(t->o) - l->columns, name,
                                      sizeof name));
}

static void add_row(const struct table *t, const struct calls_row *r)
{
    struct report_line l = { .bytes = 0 };
    bool red = t->o->color && r->doubtful;
    if (red)
        line_escape(&l, REPORT_RED);
    add_cells(t, r, &l);
    line_doubt(&l, r->doubtful);
    add_name(t, r, &l);
    if (red)
        line_escape(&l, REPORT_PLAIN);
    line_end(&l, t->out);
}

static void add_title(const struct table *t)
{
    char name[REPORT_LINE_BYTES];
    uint32_t index = (uint32_t)(t->of - t->p->functions);
    report_names_text(t->names, index, report_width(t->o) - 20, name, sizeof name);
    sink_printf(t->out, "%s %s%s\n", words[t->side].title, name,
                text_if(t->of->doubtful, " (doubtful)"));
}

static void write_rows(const struct table *t)
{
    struct report_line head = { .bytes = 0 };
    size_t shown = 0, more = 0, below = 0;
    add_head(t, &head);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct calls_row *r = &t->rows.row[i];
        if (!threshold_met(&t->o->hits, r->hits, t->of->hits))
            below++;
        else if (t->o->limit && shown == t->o->limit)
            more++;
        else
            shown++, add_row(t, r);
    }
    if (more)
        sink_printf(t->out, "%zu more not shown\n", more);
    if (below)
        sink_printf(t->out, "%zu outside of the hits threshold not shown\n", below);
}

static bool name_all(struct table *t)
{
    t->names = report_names_new(t->p->nfunctions);
    for (size_t i = 0; t->names && i < t->p->nfunctions; i++)
        report_names_set(t->names, i, profile_shown_name(&t->p->functions[i]),
                         t->p->functions[i].low);
    return t->names != NULL;
}

static int write_table(struct table *t, uint32_t function, struct err *err)
{
    int ret = calls_of(t->p, function, t->side, &t->rows, err);
    if (ret < 0)
        return ret;
    t->of = &t->p->functions[function];
    if (t->rows.n)
        qsort_r(t->rows.row, t->rows.n, sizeof *t->rows.row, by_order, t);
    add_title(t);
    write_rows(t);
    sink_printf(t->out, "\n");
    free(t->rows.row);
    return 0;
}

int report_calls(const struct profile *p, const uint32_t function[2],
                 const struct report_options *o, const struct text_sink *out, struct err *err)
{
    struct table t = { .p = p, .o = o, .out = out };
    int ret = 0;
    if (!name_all(&t))
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory for names");
    report_legend(p, out);
    for (int side = 0; side < 2 && ret == 0; side++) {
        t.side = (enum calls_side)side;
        if (function[side] != PROFILE_NO_PARENT)
            ret = write_table(&t, function[side], err);
    }
    report_names_free(t.names);
    return ret;
}

/* ---- JSON ---- */

static void write_figures(struct json_writer *j, const struct profile *p, const struct calls_row *r)
{
    if (profile_knows(p, PROFILE_HITS) && !r->hits_unknown)
        json_member_uint(j, "hits", r->hits);
    if (!r->own_unknown)
        json_member_uint_if(j, "c1", profile_knows(p, PROFILE_C1), r->c1);
    bool known = !r->within && profile_knows(p, PROFILE_CHILDREN);
    json_member_uint_if(j, "c1_children", known && profile_knows(p, PROFILE_C1), r->c1_children);
    if (!r->own_unknown)
        json_member_uint_if(j, "c2", profile_knows(p, PROFILE_C2), r->c2);
    json_member_uint_if(j, "c2_children", known && profile_knows(p, PROFILE_C2), r->c2_children);
    json_member_bool(j, "doubtful", r->doubtful);
}

static int write_side(struct json_writer *j, const struct profile *p, uint32_t function,
                      enum calls_side side, struct err *err)
{
    const struct profile_function *f = &p->functions[function];
    const struct calls_row whole = { .hits = f->hits,
                                     .c1 = f->c1,
                                     .c1_children = f->c1_children,
                                     .c2 = f->c2,
                                     .c2_children = f->c2_children,
                                     .doubtful = f->doubtful,
                                     .hits_unknown = f->hits_unknown };
    struct calls rows;
    int ret = calls_of(p, function, side, &rows, err);
    if (ret < 0)
        return ret;
    json_write_object(j, false);
    json_member_string(j, "function", profile_shown_name(f));
    write_figures(j, p, &whole);
    json_write_key(j, "rows");
    json_write_array(j, false);
    for (size_t i = 0; i < rows.n; i++) {
        const struct calls_row *r = &rows.row[i];
        json_write_object(j, true);
        json_member_string(
            j, "function",
            r->function == CALLS_ITSELF ? NULL : profile_shown_name(&p->functions[r->function]));
        write_figures(j, p, r);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
    free(rows.row);
    return 0;
}

int report_calls_json(const struct profile *p, const uint32_t function[2],
                      const struct text_sink *out, struct err *err)
{
    static const char *const key[] = { "callers", "callees" };
    struct json_writer j = { .out = out };
    int ret = 0;
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.calls/1");
    for (int side = 0; side < 2 && ret == 0; side++) {
        json_write_key(&j, key[side]);
        if (function[side] == PROFILE_NO_PARENT)
            json_write_null(&j);
        else
            ret = write_side(&j, p, function[side], (enum calls_side)side, err);
    }
    if (ret < 0)
        return ret;
    json_write_end(&j);
    out->write(out->ctx, "\n", 1);
    return 0;
}
