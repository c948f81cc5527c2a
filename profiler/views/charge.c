#include "profiler/views/charge.h"

#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"

/* What is needed only while it is made. */
struct making {
    const struct profile *p;
    struct charge *c;
    uint32_t *open;   /* by function, then by cycle: how often it is on the current path */
    uint32_t *path;   /* nodes of the current path */
    uint32_t *number; /* by function: when the search met it, from 1; 0: not yet */
    uint32_t *low;    /* by function: the earliest that it leads back to */
    uint32_t *stack;  /* functions whose cycle is not known yet */
    uint32_t *order;  /* functions, what they call before them; those of a cycle together */
    uint32_t *walk;   /* the search's own path */
    size_t *next;     /* by function: how many of its callees the search has seen */
    size_t nstack, norder;
    uint32_t met;
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
static void collect_arcs(struct making *m)
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
        m->c->arc[m->c->narcs++] = (struct charge_arc){ .caller = caller,
                                                        .callee = n->function,
                                                        .calls = n->hits,
                                                        .c1 = n->c1,
                                                        .c1_children = within ? 0 : n->c1_children,
                                                        .within = within,
                                                        .doubtful = n->doubtful };
    }
}

static void add_arc(struct charge_arc *to, const struct charge_arc *a)
{
    to->calls += a->calls;
    to->c1 += a->c1;
    to->c1_children += a->c1_children;
    to->within &= a->within;
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

/* ---- cycles: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972, without
 * recursion ---- */

static void meet_function(struct making *m, uint32_t f)
{
    m->number[f] = m->low[f] = ++m->met;
    m->stack[m->nstack++] = f;
    m->open[f] = 1; /* it is on the stack */
}

/* All from f on call each other. */
static void close_cycle(struct making *m, uint32_t f)
{
    size_t from = m->nstack;
    while (m->stack[--from] != f)
        ;
    uint32_t cycle = 0;
    if (m->nstack - from > 1)
        cycle = (uint32_t)++m->c->ncycles;
    for (size_t i = from; i < m->nstack; i++) {
        m->c->function[m->stack[i]].cycle = cycle;
        m->open[m->stack[i]] = 0;
        m->order[m->norder++] = m->stack[i];
    }
    m->nstack = from;
}

/* The next callee of f that the search has not met, or PROFILE_NO_PARENT. */
static uint32_t next_callee(struct making *m, uint32_t f)
{
    size_t n, from = charge_callees(m->c, f, &n);
    while (m->next[f] < n) {
        const struct charge_arc *a = &m->c->arc[m->c->by_caller[from + m->next[f]++]];
        if (!a->calls)
            continue;
        if (!m->number[a->callee])
            return a->callee;
        if (m->open[a->callee])
            m->low[f] = MIN(m->low[f], m->number[a->callee]);
    }
    return PROFILE_NO_PARENT;
}

static void search_from(struct making *m, uint32_t root)
{
    size_t depth = 0;
    meet_function(m, root);
    m->walk[depth++] = root;
    while (depth) {
        uint32_t f = m->walk[depth - 1], callee = next_callee(m, f);
        if (callee != PROFILE_NO_PARENT) {
            meet_function(m, callee);
            m->walk[depth++] = callee;
            continue;
        }
        if (m->low[f] == m->number[f])
            close_cycle(m, f);
        if (--depth)
            m->low[m->walk[depth - 1]] = MIN(m->low[m->walk[depth - 1]], m->low[f]);
    }
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
    double share = calls ? (double)a->calls / (double)calls : 0;
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
    for (size_t i = 0; i < m->norder; i++)
        charge_callers_of(m, m->order[i]);
}

/* ---- life ---- */

static bool make_room(struct making *m)
{
    size_t f = m->p->nfunctions + 2, n = m->p->nnodes + 1;
    m->c->arc = calloc(n, sizeof *m->c->arc);
    m->c->by_caller = calloc(n, sizeof *m->c->by_caller);
    m->c->function = calloc(f, sizeof *m->c->function);
    m->c->cycle = calloc(f, sizeof *m->c->cycle);
    m->path = calloc(n, sizeof *m->path);
    m->open = calloc(f, sizeof *m->open);
    m->number = calloc(f, sizeof *m->number);
    m->low = calloc(f, sizeof *m->low);
    m->stack = calloc(f, sizeof *m->stack);
    m->order = calloc(f, sizeof *m->order);
    m->walk = calloc(f, sizeof *m->walk);
    m->next = calloc(f, sizeof *m->next);
    return m->c->arc && m->c->by_caller && m->c->function && m->c->cycle && m->path && m->open &&
           m->number && m->low && m->stack && m->order && m->walk && m->next;
}

static void free_room(struct making *m)
{
    free(m->path);
    free(m->open);
    free(m->number);
    free(m->low);
    free(m->stack);
    free(m->order);
    free(m->walk);
    free(m->next);
}

static void make_all(struct making *m)
{
    collect_arcs(m);
    for (size_t i = 0; i < m->p->nfunctions; i++)
        m->open[i] = 0;
    merge_arcs(m->c);
    count_calls(m->c);
    for (uint32_t f = 0; f < m->p->nfunctions; f++)
        if (!m->number[f])
            search_from(m, f);
    sum_cycles(m);
    measure_cycles(m);
    charge_all(m);
}

int charge_make(const struct profile *p, struct charge *out, struct err *err)
{
    struct charge c = { 0 };
    struct making m = { .p = p, .c = &c };
    bool ok = make_room(&m);
    if (ok)
        make_all(&m);
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
