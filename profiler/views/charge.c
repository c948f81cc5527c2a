#include "profiler/views/charge.h"

#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/profile/circles.h"

/* What is needed only while it is made. */
struct making {
    const struct profile *p;
    struct charge *c;
    uint32_t *open;         /* by function, then by cycle: how often it is on the current path */
    uint32_t *path;         /* nodes of the current path */
    struct circles circles; /* functions in the order in which they are charged */
};

/* ---- arcs ---- */

static int by_callee(const void *a, const void *b)
{
    const struct charge_arc *x = a, *y = b;
    return EITHER(COMPARE(x->callee, y->callee), COMPARE(x->caller, y->caller));
}

static int by_caller(const void *a, const void *b, void *ctx)
{
    const struct charge *c = ctx;
    const struct charge_arc *x = &c->arc[*(const uint32_t *)a], *y = &c->arc[*(const uint32_t *)b];
    return EITHER(COMPARE(x->caller, y->caller), COMPARE(x->callee, y->callee));
}

/* Leaves what is no ancestor of node i. Returns how long the path is then. */
static size_t leave_to(struct making *m, size_t depth, size_t i)
{
    while (depth && m->path[depth - 1] != m->p->nodes[i].parent)
        m->open[m->p->nodes[m->path[--depth]].function]--;
    return depth;
}

/* One for each call path; of those within an outer call of the same function the children are
 * counted there already. */
static void collect_paths(struct making *m)
{
    size_t depth = 0;
    for (size_t i = 0; i < m->p->nnodes; i++) {
        const struct profile_node *n = &m->p->nodes[i];
        depth = leave_to(m, depth, i);
        bool within = m->open[n->function]++ > 0;
        uint32_t caller = PROFILE_NO_PARENT;
        if (n->parent != PROFILE_NO_PARENT)
            caller = m->p->nodes[n->parent].function;
        m->path[depth++] = (uint32_t)i;
        m->c->arc[m->c->narcs++] =
            (struct charge_arc){ .caller = caller,
                                 .callee = n->function,
                                 .calls = n->hits,
                                 .c1 = n->c1,
                                 .c1_children = number_if(!within, n->c1_children),
                                 .within = within,
                                 .doubtful = n->doubtful };
    }
}

/* Where call paths are not known. */
static void collect_calls(struct making *m)
{
    bool known = profile_knows(m->p, PROFILE_CHILDREN);
    for (size_t i = 0; i < m->p->ncalls; i++) {
        const struct profile_call *c = &m->p->calls[i];
        bool within = !known || c->caller == c->callee;
        m->c->arc[m->c->narcs++] = (struct charge_arc){ .caller = c->caller,
                                                        .callee = c->callee,
                                                        .calls = c->hits,
                                                        .c1_children = within ? 0 : c->c1_children,
                                                        .within = within,
                                                        .own_unknown = true };
    }
}

static void collect_arcs(struct making *m)
{
    if (profile_knows(m->p, PROFILE_PATHS))
        collect_paths(m);
    else
        collect_calls(m);
}

static void add_arc(struct charge_arc *to, const struct charge_arc *a)
{
    to->calls += a->calls;
    to->c1 += a->c1;
    to->c1_children += a->c1_children;
    to->within &= a->within;
    to->own_unknown |= a->own_unknown;
    to->doubtful |= a->doubtful;
}

static void merge_arcs(struct charge *c)
{
    size_t n = 0;
    qsort(c->arc, c->narcs, sizeof *c->arc, by_callee);
    for (size_t i = 0; i < c->narcs; i++)
        if (n && by_callee(&c->arc[n - 1], &c->arc[i]) == 0)
            add_arc(&c->arc[n - 1], &c->arc[i]);
        else
            c->arc[n++] = c->arc[i];
    c->narcs = n;
    for (size_t i = 0; i < n; i++)
        c->by_caller[i] = (uint32_t)i;
    qsort_r(c->by_caller, n, sizeof *c->by_caller, by_caller, c);
}

static void count_calls(struct charge *c)
{
    for (size_t i = 0; i < c->narcs; i++) {
        const struct charge_arc *a = &c->arc[i];
        if (a->caller == a->callee)
            c->function[a->callee].self_calls += a->calls;
        else if (a->caller != PROFILE_NO_PARENT)
            c->function[a->callee].calls += a->calls;
    }
}

size_t charge_callers(const struct charge *c, uint32_t function, size_t *n)
{
    size_t from = PARTITION_POINT(c->narcs, i, c->arc[i].callee < function);
    *n = PARTITION_POINT(c->narcs, i, c->arc[i].callee <= function) - from;
    return from;
}

size_t charge_callees(const struct charge *c, uint32_t function, size_t *n)
{
    size_t from = PARTITION_POINT(c->narcs, i, c->arc[c->by_caller[i]].caller < function);
    *n = PARTITION_POINT(c->narcs, i, c->arc[c->by_caller[i]].caller <= function) - from;
    return from;
}

/* ---- cycles ---- */

/* Numbers those of more than one function. */
static void number_cycles(struct making *m)
{
    const uint32_t *order = m->circles.order, *of = m->circles.of;
    for (size_t i = 1; i < m->p->nfunctions; i++) {
        if (of[order[i]] != of[order[i - 1]])
            continue;
        struct charge_function *before = &m->c->function[order[i - 1]];
        if (!before->cycle)
            before->cycle = (uint32_t)++m->c->ncycles;
        m->c->function[order[i]].cycle = before->cycle;
    }
}

/* Calls that never happened make no cycle. */
static bool find_cycles(struct making *m)
{
    const struct charge *c = m->c;
    size_t *first = calloc(m->p->nfunctions + 1, sizeof *first), n = 0, k = 0;
    uint32_t *callee = calloc(c->narcs + 1, sizeof *callee);
    bool ok = first && callee;
    for (uint32_t f = 0; ok && f < m->p->nfunctions; f++) {
        first[f] = n;
        for (; k < c->narcs && c->arc[c->by_caller[k]].caller == f; k++)
            if (c->arc[c->by_caller[k]].calls)
                callee[n++] = c->arc[c->by_caller[k]].callee;
    }
    if (ok)
        first[m->p->nfunctions] = n;
    ok = ok && circles_find(&m->circles, m->p->nfunctions, first, callee) == 0;
    free(first);
    free(callee);
    if (ok)
        number_cycles(m);
    return ok;
}

/* ---- charging ---- */

static bool same_cycle(const struct charge *c, const struct charge_arc *a)
{
    uint32_t cycle = c->function[a->callee].cycle;
    return a->caller == a->callee || (cycle && cycle == c->function[a->caller].cycle);
}

static bool is_charged(const struct charge *c, const struct charge_arc *a)
{
    return a->caller != PROFILE_NO_PARENT && !same_cycle(c, a);
}

/* To each caller its share of what is charged for these calls. */
static void charge_arc(struct charge *c, struct charge_arc *a, double taken, double below,
                       uint64_t calls)
{
    double share = ratio_or_0((double)a->calls, (double)calls);
    uint32_t cycle = c->function[a->caller].cycle;
    a->charged = taken * share;
    a->charged_below = below * share;
    c->function[a->caller].charged_below += a->charged + a->charged_below;
    if (cycle)
        c->cycle[cycle - 1].charged_below += a->charged + a->charged_below;
}

static void charge_callers_of(struct making *m, uint32_t f)
{
    struct charge *c = m->c;
    uint32_t cycle = c->function[f].cycle;
    size_t n, from = charge_callers(c, f, &n);
    double taken = (double)m->p->functions[f].c1, below = c->function[f].charged_below;
    uint64_t calls = c->function[f].calls;
    if (cycle) {
        taken = (double)c->cycle[cycle - 1].c1;
        below = c->cycle[cycle - 1].charged_below;
        calls = c->cycle[cycle - 1].calls;
    }
    for (size_t i = from; i < from + n; i++)
        if (is_charged(c, &c->arc[i]))
            charge_arc(c, &c->arc[i], taken, below, calls);
}

/* What the cycles took, and how often they were entered. */
static void sum_cycles(struct making *m)
{
    struct charge *c = m->c;
    for (size_t f = 0; f < m->p->nfunctions; f++)
        if (c->function[f].cycle)
            c->cycle[c->function[f].cycle - 1].c1 += m->p->functions[f].c1;
    for (size_t i = 0; i < c->narcs; i++) {
        uint32_t cycle = c->function[c->arc[i].callee].cycle;
        if (cycle && is_charged(c, &c->arc[i]))
            c->cycle[cycle - 1].calls += c->arc[i].calls;
    }
}

/* A cycle's children are those of the paths on which it is entered first. */
static void measure_cycles(struct making *m)
{
    size_t depth = 0;
    for (size_t i = 0; i < m->c->ncycles + 1; i++)
        m->open[i] = 0;
    for (size_t i = 0; i < m->p->nnodes; i++) {
        const struct profile_node *n = &m->p->nodes[i];
        while (depth && m->path[depth - 1] != n->parent)
            m->open[m->c->function[m->p->nodes[m->path[--depth]].function].cycle]--;
        uint32_t cycle = m->c->function[n->function].cycle;
        if (cycle && !m->open[cycle])
            m->c->cycle[cycle - 1].c1_children += n->c1_children;
        m->open[cycle]++;
        m->path[depth++] = (uint32_t)i;
    }
}

/* Of a cycle all are charged what they call before the cycle is charged to its callers: those of
 * one stand together. */
static void charge_all(struct making *m)
{
    for (size_t i = 0; i < m->p->nfunctions; i++)
        charge_callers_of(m, m->circles.order[i]);
}

/* ---- life ---- */

static bool make_room(struct making *m)
{
    size_t f = m->p->nfunctions + 2, n = m->p->nnodes + m->p->ncalls + 1;
    m->c->arc = calloc(n, sizeof *m->c->arc);
    m->c->by_caller = calloc(n, sizeof *m->c->by_caller);
    m->c->function = calloc(f, sizeof *m->c->function);
    m->c->cycle = calloc(f, sizeof *m->c->cycle);
    m->path = calloc(n, sizeof *m->path);
    m->open = calloc(f, sizeof *m->open);
    return m->c->arc && m->c->by_caller && m->c->function && m->c->cycle && m->path && m->open;
}

static void free_room(struct making *m)
{
    free(m->path);
    free(m->open);
    circles_fini(&m->circles);
}

static bool make_all(struct making *m)
{
    collect_arcs(m);
    merge_arcs(m->c);
    count_calls(m->c);
    if (!find_cycles(m))
        return false;
    sum_cycles(m);
    measure_cycles(m);
    charge_all(m);
    return true;
}

int charge_make(const struct profile *p, struct charge *out, struct err *err)
{
    struct charge c = { 0 };
    struct making m = { .p = p, .c = &c };
    bool ok = make_room(&m) && make_all(&m);
    free_room(&m);
    if (!ok) {
        charge_fini(&c);
        return err_set(err, ERR_NOMEM, "close other programs", "charging calls: out of memory");
    }
    *out = c;
    return 0;
}

void charge_fini(struct charge *c)
{
    free(c->arc);
    free(c->by_caller);
    free(c->function);
    free(c->cycle);
    *c = (struct charge){ 0 };
}
