/* The tree of call paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/views/cells.h"
#include "profiler/views/paths_up.h"
#include "profiler/views/report_names.h"
#include "profiler/views/report_priv.h"

enum { NAME_LEAST = 16 };

struct tree {
    const struct profile *p;
    const struct report_options *o;
    const struct text_sink *out;
    /* nodes sorted by parent, then by C1+children: each node's children are a run */
    uint32_t *order;
    uint32_t *first; /* per node (and nnodes: roots): where its run begins in order */
    uint32_t *end;   /* per node: behind its run */
    uint32_t *at;    /* per level: place in order */
    bool *visible;
    bool *wanted;               /* per function: o's expression matches */
    size_t below;               /* call paths left out by the threshold */
    struct report_names *names; /* of the profile's functions */
    struct cell_list columns;
};

/* ---- order ---- */

static size_t parent_of(const struct profile *p, uint32_t i)
{
    if (p->nodes[i].parent == PROFILE_NO_PARENT)
        return p->nnodes;
    return p->nodes[i].parent;
}

static int by_parent_and_cost(const void *a, const void *b, void *ctx)
{
    const struct profile *p = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    size_t px = parent_of(p, x), py = parent_of(p, y);
    const struct profile_node *m = &p->nodes[x], *n = &p->nodes[y];
    int d = COMPARE(px, py);
    d = EITHER(d, COMPARE(n->c1_children, m->c1_children));
    d = EITHER(d, COMPARE(n->hits, m->hits));
    return EITHER(d, COMPARE(x, y));
}

/* A path is shown if it or a path below it is of a function that is wanted and meets the threshold;
 * parents come before children in nodes. */
static void find_visible(struct tree *t)
{
    const struct profile *p = t->p;
    for (size_t i = 0; i < p->nfunctions; i++)
        t->wanted[i] = report_wants(t->o, &p->functions[i]);
    for (size_t i = p->nnodes; i-- > 0;) {
        bool wanted = t->wanted[p->nodes[i].function];
        bool meets = threshold_met(&t->o->hits, p->nodes[i].hits, p->total_hits);
        t->visible[i] |= wanted && meets;
        t->below += wanted && !t->visible[i];
        if (t->visible[i] && p->nodes[i].parent != PROFILE_NO_PARENT)
            t->visible[p->nodes[i].parent] = true;
    }
}

static void find_runs(struct tree *t)
{
    const struct profile *p = t->p;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nnodes; i++)
        if (t->visible[i])
            t->order[n++] = i;
    qsort_r(t->order, n, sizeof *t->order, by_parent_and_cost, (void *)(uintptr_t)p);
    for (uint32_t k = 0; k < n; k++) {
        size_t parent = parent_of(p, t->order[k]);
        if (k == 0 || parent_of(p, t->order[k - 1]) != parent)
            t->first[parent] = k;
        t->end[parent] = k + 1;
    }
}

/* ---- rows ---- */

static void add_head(const struct tree *t, struct report_line *l)
{
    for (size_t i = 0; i < t->columns.n; i++)
        cell_head(t->columns.column[i], l);
    line_add(l, t->o->up ? "  function, called from" : "  call path");
    line_end(l, t->out);
}

static bool last_of_run(const struct tree *t, uint32_t level)
{
    uint32_t k = t->at[level];
    return k + 1 == t->end[parent_of(t->p, t->order[k])];
}

/* Lines from the ancestors, and the node's own branch. What is too deep to be drawn is numbered
 * instead. */
static void add_indent(const struct tree *t, uint32_t level, unsigned room, struct report_line *l)
{
    static const char *const box[] = { "│ ", "  ", "├─", "└─" }, *const plain[] = { "| ", "  ",
                                                                                    "+-", "`-" };
    const char *const *draw = t->o->ascii ? plain : box;
    char number[16];
    if (level == 0)
        return;
    if (2 * level + NAME_LEAST > room) {
        snprintf(number, sizeof number, "%s%u ", t->o->ascii ? ">" : "↳", level);
        line_add(l, number);
        return;
    }
    for (uint32_t i = 1; i < level; i++)
        line_add(l, draw[last_of_run(t, i)]);
    line_add(l, draw[2 + last_of_run(t, level)]);
}

static void add_row(const struct tree *t, uint32_t node, uint32_t level, struct report_line *l)
{
    const struct profile_node *n = &t->p->nodes[node];
    const struct cell_row row = cell_row_path(t->p, n);
    const bool hot = hot_met(&t->o->hot, &row), colored = report_color(t->o, n->doubtful, hot, l);
    char name[REPORT_LINE_BYTES];
    for (size_t i = 0; i < t->columns.n; i++)
        cell_add(&row, t->columns.column[i], l);
    report_gutter(n->doubtful, hot, l);
    if (colored)
        line_escape(l, REPORT_PLAIN);
    add_indent(t, level, report_width(t->o) - l->columns, l);
    line_add(l, text_if(row.function->tagged, "*"));
    line_add(l, report_names_text(t->names, n->function, report_width(t->o) - l->columns, name,
                                  sizeof name));
    line_end(l, t->out);
}

/* ---- walk ---- */

/* at[level] is the node shown last on each level; no recursion, paths may be thousands deep. */
static void walk_tree(struct tree *t)
{
    struct report_line l = { .bytes = 0 };
    size_t shown = 0, roots = t->p->nnodes;
    uint32_t level = 0;
    if (t->first[roots] == t->end[roots])
        return;
    t->at[0] = t->first[roots];
    for (;;) {
        uint32_t node = t->order[t->at[level]];
        if (t->o->limit && shown++ >= t->o->limit) {
            sink_printf(t->out, "more call paths not shown\n");
            return;
        }
        add_row(t, node, level, &l);
        if (t->first[node] != t->end[node]) {
            t->at[++level] = t->first[node];
            continue;
        }
        while (last_of_run(t, level)) {
            if (level == 0)
                return;
            level--;
        }
        t->at[level]++;
    }
}

/* All that are shown, or would be without a limit. */
static size_t count_hot(const struct tree *t)
{
    size_t n = 0;
    for (size_t i = 0; t->o->hot.n && i < t->p->nnodes; i++) {
        const struct cell_row row = cell_row_path(t->p, &t->p->nodes[i]);
        if (!t->visible[i])
            continue;
        n += hot_met(&t->o->hot, &row);
        hot_fails(&t->o->hot, &row, t->o->failures);
    }
    return n;
}

static bool tree_make(struct tree *t)
{
    size_t n = t->p->nnodes + 1;
    t->order = malloc(n * sizeof *t->order);
    t->first = calloc(n, sizeof *t->first);
    t->end = calloc(n, sizeof *t->end);
    t->at = malloc(n * sizeof *t->at);
    t->visible = calloc(n, sizeof *t->visible);
    t->wanted = calloc(t->p->nfunctions + 1, sizeof *t->wanted);
    t->names = report_names_new(t->p->nfunctions);
    for (size_t i = 0; t->names && i < t->p->nfunctions; i++)
        report_names_set(t->names, i, profile_shown_name(&t->p->functions[i]),
                         t->p->functions[i].low);
    return t->order && t->first && t->end && t->at && t->visible && t->wanted && t->names;
}

static int write_tree(const struct profile *p, const struct report_options *o,
                      const struct text_sink *out)
{
    struct tree t = { .p = p, .o = o, .out = out };
    struct report_line l = { .bytes = 0 };
    bool made = tree_make(&t);
    if (made) {
        find_visible(&t);
        find_runs(&t);
        report_legend(p, out);
        report_columns_of(p, o, report_table(o, true), &t.columns);
        add_head(&t, &l);
        walk_tree(&t);
        if (t.below)
            sink_printf(out, "%zu call paths outside of the hits threshold not shown\n", t.below);
        report_hot_rows(o, count_hot(&t), "call path", out);
    }
    free(t.order);
    free(t.first);
    free(t.end);
    free(t.at);
    free(t.visible);
    free(t.wanted);
    report_names_free(t.names);
    if (!made)
        return -ERR_NOMEM;
    return 0;
}

static int write_inverted(const struct profile *p, const struct report_options *o,
                          const struct text_sink *out)
{
    struct profile view = *p;
    struct paths_up up;
    int ret = paths_up(p, &up, NULL);
    if (ret < 0)
        return ret;
    view.nodes = up.nodes;
    view.nnodes = up.n;
    ret = write_tree(&view, o, out);
    if (ret == 0 && up.cut)
        sink_printf(out, "%zu call paths are cut behind %d callers\n", up.cut, PATHS_UP_DEPTH);
    free(up.nodes);
    return ret;
}

int report_tree(const struct profile *p, const struct report_options *o,
                const struct text_sink *out)
{
    if (p->type == PROFILE_STATISTICAL) {
        sink_printf(out, "a statistical profile has no call paths\n");
        return 0;
    }
    if (!profile_knows(p, PROFILE_PATHS)) {
        sink_printf(out, "this file has no call paths; --callers and --callees show its calls\n");
        return 0;
    }
    if (o->up)
        return write_inverted(p, o, out);
    return write_tree(p, o, out);
}
