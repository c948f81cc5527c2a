#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/charge.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report_names.h"
#include "profiler/views/report_priv.h"
#include "profiler/views/report_prof.h"

enum { INDEX_CELL = 5, SHARE_CELL = 5, COUNT_CELL = 6, CALLS_CELL = 11 };
static const double FAR_OFF = 0.1; /* of what the called function took: marked with a '*' */

struct graph {
    const struct profile *p;
    const struct report_options *o;
    const struct text_sink *out;
    struct charge charge;
    struct report_names *names;
    uint32_t *row;   /* functions that took something or were called, the most first */
    uint32_t *index; /* by function: its number in that order, from 1; 0: it is not there */
    size_t n;
};

/* ---- order ---- */

static uint64_t charged_whole(uint64_t c1, double below) { return c1 + (uint64_t)(below + 0.5); }

/* What it took with all it called: as measured, or where that is not known, as charged. */
static uint64_t whole_of(const struct graph *g, uint32_t function)
{
    const struct profile_function *f = &g->p->functions[function];
    if (profile_knows(g->p, PROFILE_CHILDREN))
        return f->c1_children;
    return charged_whole(f->c1, g->charge.function[function].charged_below);
}

static int by_children(const void *a, const void *b, void *ctx)
{
    const struct graph *g = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = COMPARE(whole_of(g, y), whole_of(g, x));
    order = EITHER(order, COMPARE(g->p->functions[y].hits, g->p->functions[x].hits));
    return EITHER(order, COMPARE(x, y));
}

static void sort_rows(struct graph *g)
{
    for (uint32_t i = 0; i < g->p->nfunctions; i++) {
        const struct profile_function *f = &g->p->functions[i];
        report_names_set(g->names, i, profile_shown_name(f), f->low);
        if (f->hits || whole_of(g, i))
            g->row[g->n++] = i;
    }
    if (g->n)
        qsort_r(g->row, g->n, sizeof *g->row, by_children, g);
    for (size_t i = 0; i < g->n; i++)
        g->index[g->row[i]] = (uint32_t)i + 1;
}

static int make_graph(struct graph *g, struct err *err)
{
    if (g->p->type != PROFILE_TRACE)
        return err_set(err, ERR_USAGE, "profile without --sample",
                       "--gprof: samples do not know who called: there is no call graph");
    if (!profile_knows(g->p, PROFILE_HITS) ||
        (!profile_knows(g->p, PROFILE_PATHS) && !g->p->ncalls))
        return err_set(err, ERR_UNSUPPORTED, "report without --gprof shows what is in it",
                       "gprof charges by calls, and this file does not tell how often who called");
    if (!profile_knows(g->p, PROFILE_C1))
        return err_set(err, ERR_USAGE, "profile with --c1 elapsed-time",
                       "counter 1 was not counted: there is nothing to be charged");
    g->row = calloc(g->p->nfunctions + 1, sizeof *g->row);
    g->index = calloc(g->p->nfunctions + 1, sizeof *g->index);
    g->names = report_names_new(g->p->nfunctions);
    if (!g->row || !g->index || !g->names)
        return err_set(err, ERR_NOMEM, "close other programs", "gprof: out of memory");
    int ret = charge_make(g->p, &g->charge, err);
    if (ret == 0)
        sort_rows(g);
    return ret;
}

static void free_graph(struct graph *g)
{
    free(g->row);
    free(g->index);
    report_names_free(g->names);
    charge_fini(&g->charge);
}

/* ---- one line ---- */

/* Charged, and measured: itself, and what it called. */
struct figures {
    bool charged_known, own_known, measured_known;
    double charged, charged_below;
    uint64_t c1, below;
    bool far_off;
};

static uint64_t below_of(uint64_t c1, uint64_t c1_children)
{
    return c1_children - MIN(c1, c1_children);
}

static struct figures figures_of(const struct graph *g, const struct charge_arc *a)
{
    const struct profile_function *callee = &g->p->functions[a->callee];
    const struct charge_function *caller = NULL;
    uint32_t cycle = g->charge.function[a->callee].cycle;
    struct figures f = { .charged_known = a->caller != PROFILE_NO_PARENT && a->caller != a->callee,
                         .own_known = !a->own_unknown,
                         .measured_known = !a->within && !a->own_unknown,
                         .charged = a->charged,
                         .charged_below = a->charged_below,
                         .c1 = a->c1,
                         .below = below_of(a->c1, a->c1_children) };
    if (f.charged_known)
        caller = &g->charge.function[a->caller];
    if (caller && cycle && caller->cycle == cycle)
        f.charged_known = false;
    double off = a->charged + a->charged_below - (double)a->c1_children;
    f.far_off = f.charged_known && !a->within && !cycle &&
                fabs(off) > FAR_OFF * (double)callee->c1_children;
    return f;
}

static void number_cell(struct report_line *l, bool known, uint64_t value)
{
    if (known)
        line_number(l, value, COUNT_CELL);
    else
        line_cell(l, "-", COUNT_CELL);
}

static void figure_cells(struct report_line *l, const struct figures *f)
{
    number_cell(l, f->charged_known, (uint64_t)(f->charged + 0.5));
    number_cell(l, f->charged_known, (uint64_t)(f->charged_below + 0.5));
    line_add(l, f->far_off ? " *" : "  ");
    number_cell(l, f->own_known, f->c1);
    number_cell(l, f->measured_known, f->below);
}

static void add_name(const struct graph *g, struct report_line *l, uint32_t function)
{
    char name[REPORT_LINE_BYTES], mark[64];
    uint32_t cycle = g->charge.function[function].cycle;
    int n = snprintf(mark, sizeof mark, " [%u]", g->index[function]);
    if (cycle)
        n = snprintf(mark, sizeof mark, " <%u> [%u]", cycle, g->index[function]);
    unsigned room = report_width(g->o) - l->columns - MIN((unsigned)n, 20u);
    line_add(l, report_names_text(g->names, function, MAX(room, 12u), name, sizeof name));
    line_add(l, mark);
}

static void calls_cell(struct report_line *l, uint64_t calls, const char *between, bool both,
                       uint64_t all)
{
    char one[32], other[32], text[72];
    report_number(calls, one, sizeof one);
    report_number(all, other, sizeof other);
    snprintf(text, sizeof text, "%s%s%s", one, text_if(both, between), text_if(both, other));
    line_cell(l, text, CALLS_CELL);
}

/* A caller's or a called function's line: `shown` is the other one of the arc. */
static void add_arc(const struct graph *g, const struct charge_arc *a, uint32_t shown)
{
    struct report_line l = { .bytes = 0 };
    const struct figures f = figures_of(g, a);
    uint32_t cycle = g->charge.function[a->callee].cycle;
    uint64_t all = g->charge.function[a->callee].calls;
    if (cycle && f.charged_known)
        all = g->charge.cycle[cycle - 1].calls;
    line_cell(&l, "", INDEX_CELL);
    line_cell(&l, "", SHARE_CELL);
    figure_cells(&l, &f);
    calls_cell(&l, a->calls, "/", f.charged_known, all);
    line_doubt(&l, a->doubtful);
    line_add(&l, "  ");
    if (shown == PROFILE_NO_PARENT)
        line_add(&l, "(begins here)");
    else
        add_name(g, &l, shown);
    line_end(&l, g->out);
}

static void add_primary(const struct graph *g, uint32_t function)
{
    struct report_line l = { .bytes = 0 };
    const struct profile_function *p = &g->p->functions[function];
    const struct charge_function *c = &g->charge.function[function];
    const struct figures f = { .charged_known = true,
                               .own_known = true,
                               .measured_known = profile_knows(g->p, PROFILE_CHILDREN),
                               .charged = (double)p->c1,
                               .charged_below = c->charged_below,
                               .c1 = p->c1,
                               .below = below_of(p->c1, p->c1_children) };
    char index[32];
    snprintf(index, sizeof index, "[%u]", g->index[function]);
    line_add(&l, index);
    while (l.columns < INDEX_CELL)
        line_add(&l, " ");
    line_percent(&l, whole_of(g, function), g->p->total_c1, SHARE_CELL);
    figure_cells(&l, &f);
    calls_cell(&l, p->hits - MIN(c->self_calls, p->hits), "+", c->self_calls > 0, c->self_calls);
    line_doubt(&l, p->doubtful);
    add_name(g, &l, function);
    line_end(&l, g->out);
}

/* ---- as text ---- */

static void add_head(const struct graph *g)
{
    sink_printf(g->out, "%*s  %*s\n", INDEX_CELL + 1 + SHARE_CELL + 2 * (COUNT_CELL + 1), "charged",
                2 * (COUNT_CELL + 1), "measured");
    struct report_line l = { .bytes = 0 };
    line_cell(&l, "index", INDEX_CELL);
    line_cell(&l, "%", SHARE_CELL);
    line_cell(&l, "C1", COUNT_CELL);
    line_cell(&l, "below", COUNT_CELL);
    line_add(&l, "  ");
    line_cell(&l, "C1", COUNT_CELL);
    line_cell(&l, "below", COUNT_CELL);
    line_cell(&l, "calls", CALLS_CELL);
    line_add(&l, "  function");
    line_end(&l, g->out);
}

/* What a cycle took as a whole takes call paths to measure. */
static bool knows_cycles(const struct graph *g) { return profile_knows(g->p, PROFILE_PATHS); }

/* The members of a cycle stand below it, with what they took themselves. */
static void add_cycle(const struct graph *g, uint32_t number)
{
    struct report_line l = { .bytes = 0 };
    const struct charge_cycle *c = &g->charge.cycle[number - 1];
    const struct figures f = { .charged_known = true,
                               .own_known = true,
                               .measured_known = knows_cycles(g),
                               .charged = (double)c->c1,
                               .charged_below = c->charged_below,
                               .c1 = c->c1,
                               .below = below_of(c->c1, c->c1_children) };
    char name[64];
    line_cell(&l, "", INDEX_CELL);
    uint64_t charged = charged_whole(c->c1, c->charged_below);
    line_percent(&l, knows_cycles(g) ? c->c1_children : charged, g->p->total_c1, SHARE_CELL);
    figure_cells(&l, &f);
    calls_cell(&l, c->calls, "", false, 0);
    snprintf(name, sizeof name, "  <%u> as a whole", number);
    line_add(&l, name);
    line_end(&l, g->out);
}

static void add_rule(const struct graph *g)
{
    sink_printf(g->out, "%.*s\n", 72,
                "------------------------------------------------------------------------");
}

static void add_block(const struct graph *g, uint32_t function)
{
    size_t n, from = charge_callers(&g->charge, function, &n);
    for (size_t i = from; i < from + n; i++)
        if (g->charge.arc[i].calls || g->charge.arc[i].c1_children)
            add_arc(g, &g->charge.arc[i], g->charge.arc[i].caller);
    add_primary(g, function);
    from = charge_callees(&g->charge, function, &n);
    for (size_t i = from; i < from + n; i++) {
        const struct charge_arc *a = &g->charge.arc[g->charge.by_caller[i]];
        if ((a->calls || a->c1_children) && a->callee != function)
            add_arc(g, a, a->callee);
    }
    add_rule(g);
}

static void add_blocks(const struct graph *g)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < g->n; i++) {
        if (!report_wants(g->o, &g->p->functions[g->row[i]]))
            continue;
        if (g->o->limit && shown == g->o->limit)
            more++;
        else
            shown++, add_block(g, g->row[i]);
    }
    if (more)
        sink_printf(g->out, "%zu more not shown\n", more);
    for (uint32_t i = 1; i <= g->charge.ncycles; i++)
        add_cycle(g, i);
}

int report_gprof(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err)
{
    struct graph g = { .p = p, .o = o, .out = out };
    int ret = make_graph(&g, err);
    if (ret == 0) {
        report_header(p, o, out);
        add_head(&g);
        add_rule(&g);
        add_blocks(&g);
        sink_printf(out, "charged: by the number of calls, as gprof does it; measured: by call "
                         "path\n* differs by more than a tenth of what the called function took\n");
        if (g.charge.ncycles)
            sink_printf(out, "<1> a cycle: functions that call each other, charged as one\n");
    }
    free_graph(&g);
    return ret;
}

/* ---- as JSON ---- */

static void write_arc(const struct graph *g, struct json_writer *j, const struct charge_arc *a,
                      uint32_t shown)
{
    const struct figures f = figures_of(g, a);
    json_write_object(j, true);
    json_member_string(j, "function",
                       shown == PROFILE_NO_PARENT ? NULL
                                                  : profile_shown_name(&g->p->functions[shown]));
    json_member_uint(j, "calls", a->calls);
    if (f.charged_known) {
        json_member_real(j, "charged_c1", a->charged);
        json_member_real(j, "charged_below", a->charged_below);
    }
    json_member_uint_if(j, "c1", !a->own_unknown, a->c1);
    json_member_uint_if(j, "c1_children", !a->within, a->c1_children);
    json_member_bool(j, "far_off", f.far_off);
    json_member_bool(j, "doubtful", a->doubtful);
    json_write_end(j);
}

static void write_arcs(const struct graph *g, struct json_writer *j, uint32_t function)
{
    size_t n, from = charge_callers(&g->charge, function, &n);
    json_write_key(j, "callers");
    json_write_array(j, false);
    for (size_t i = from; i < from + n; i++)
        write_arc(g, j, &g->charge.arc[i], g->charge.arc[i].caller);
    json_write_end(j);
    json_write_key(j, "callees");
    json_write_array(j, false);
    from = charge_callees(&g->charge, function, &n);
    for (size_t i = from; i < from + n; i++) {
        const struct charge_arc *a = &g->charge.arc[g->charge.by_caller[i]];
        write_arc(g, j, a, a->callee);
    }
    json_write_end(j);
}

static void write_function(const struct graph *g, struct json_writer *j, uint32_t function)
{
    const struct profile_function *f = &g->p->functions[function];
    const struct charge_function *c = &g->charge.function[function];
    json_write_object(j, false);
    json_member_string(j, "name", profile_shown_name(f));
    json_member_uint(j, "index", g->index[function]);
    json_member_uint_if(j, "cycle", c->cycle > 0, c->cycle);
    json_member_uint(j, "calls", f->hits - MIN(c->self_calls, f->hits));
    json_member_uint(j, "self_calls", c->self_calls);
    json_member_uint(j, "c1", f->c1);
    json_member_uint_if(j, "c1_children", profile_knows(g->p, PROFILE_CHILDREN), f->c1_children);
    json_member_real(j, "charged_below", c->charged_below);
    json_member_bool(j, "doubtful", f->doubtful);
    write_arcs(g, j, function);
    json_write_end(j);
}

static void write_cycles(const struct graph *g, struct json_writer *j)
{
    json_write_key(j, "cycles");
    json_write_array(j, false);
    for (size_t i = 0; i < g->charge.ncycles; i++) {
        const struct charge_cycle *c = &g->charge.cycle[i];
        json_write_object(j, true);
        json_member_uint(j, "cycle", i + 1);
        json_member_uint(j, "calls", c->calls);
        json_member_uint(j, "c1", c->c1);
        json_member_uint_if(j, "c1_children", knows_cycles(g), c->c1_children);
        json_member_real(j, "charged_below", c->charged_below);
        json_write_end(j);
    }
    json_write_end(j);
}

int report_gprof_json(const struct profile *p, const struct text_sink *out, struct err *err)
{
    struct graph g = { .p = p, .out = out };
    struct json_writer j = { .out = out };
    int ret = make_graph(&g, err);
    if (ret == 0) {
        json_write_object(&j, false);
        json_member_string(&j, "schema", "probeprof.gprof/1");
        json_write_key(&j, "functions");
        json_write_array(&j, false);
        for (size_t i = 0; i < g.n; i++)
            write_function(&g, &j, g.row[i]);
        json_write_end(&j);
        write_cycles(&g, &j);
        json_write_end(&j);
        out->write(out->ctx, "\n", 1);
    }
    free_graph(&g);
    return ret;
}
