#include "profiler/profile/call_sums.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

/* Circles are strongly connected components. Source: R. Tarjan, "Depth-First Search and Linear
 * Graph Algorithms", 1972; without recursion, as a chain of calls may be as long as the file. */
struct circles {
    const struct profile *p;
    size_t *first;    /* per function: its calls begin there; one more behind the last */
    size_t *next;     /* per function: the call that is looked at next */
    uint32_t *number; /* per function: in the order in which they were found, from 1 */
    uint32_t *least;  /* the lowest number that can be reached from it */
    uint32_t *circle; /* per function: its circle; 0 while it is on the stack */
    uint32_t *stack;  /* those without a circle yet */
    uint32_t *way;    /* from where the search began */
    size_t nstack, nway;
    uint32_t found, ncircles;
};

static bool circles_alloc(struct circles *c, const struct profile *p)
{
    size_t n = p->nfunctions + 2;
    c->p = p;
    c->first = calloc(n, sizeof *c->first);
    c->next = calloc(n, sizeof *c->next);
    c->number = calloc(n, sizeof *c->number);
    c->least = calloc(n, sizeof *c->least);
    c->circle = calloc(n, sizeof *c->circle);
    c->stack = calloc(n, sizeof *c->stack);
    c->way = calloc(n, sizeof *c->way);
    return c->first && c->next && c->number && c->least && c->circle && c->stack && c->way;
}

static void circles_free(struct circles *c)
{
    free(c->first);
    free(c->next);
    free(c->number);
    free(c->least);
    free(c->circle);
    free(c->stack);
    free(c->way);
}

/* Calls are sorted by caller; those of nobody come last. */
static void find_first(struct circles *c)
{
    size_t k = 0;
    for (size_t i = 0; i <= c->p->nfunctions; i++) {
        while (k < c->p->ncalls && c->p->calls[k].caller < i)
            k++;
        c->first[i] = k;
    }
}

static void enter_function(struct circles *c, uint32_t f)
{
    c->number[f] = c->least[f] = ++c->found;
    c->next[f] = c->first[f];
    c->stack[c->nstack++] = f;
    c->way[c->nway++] = f;
}

/* All that it reaches is known: it may be the first of a circle. */
static void leave_function(struct circles *c, uint32_t f)
{
    uint32_t last;
    c->nway--;
    if (c->nway) {
        uint32_t up = c->way[c->nway - 1];
        c->least[up] = MIN(c->least[up], c->least[f]);
    }
    if (c->least[f] != c->number[f])
        return;
    c->ncircles++;
    do {
        last = c->stack[--c->nstack];
        c->circle[last] = c->ncircles;
    } while (last != f);
}

static void search_from(struct circles *c, uint32_t f)
{
    enter_function(c, f);
    while (c->nway) {
        uint32_t at = c->way[c->nway - 1];
        if (c->next[at] == c->first[at + 1]) {
            leave_function(c, at);
            continue;
        }
        uint32_t to = c->p->calls[c->next[at]++].callee;
        if (!c->number[to])
            enter_function(c, to);
        else if (!c->circle[to])
            c->least[at] = MIN(c->least[at], c->number[to]);
    }
}

static void find_circles(struct circles *c)
{
    find_first(c);
    for (uint32_t f = 0; f < c->p->nfunctions; f++)
        if (!c->number[f])
            search_from(c, f);
}

/* ---- sums ---- */

static void add_most(uint64_t *to, uint64_t v)
{
    *to = v > UINT64_MAX - *to ? UINT64_MAX : *to + v;
}

/* What a function took with what it called, in two ways. */
struct both {
    uint64_t in[2], out[2]; /* calls of it; itself and its calls */
    bool called, in_circle;
};

static void add_calls(const struct profile *p, const struct circles *c, bool once, struct both *sum)
{
    for (size_t i = 0; i < p->ncalls; i++) {
        const struct profile_call *x = &p->calls[i];
        bool root = x->caller == PROFILE_NO_PARENT, itself = x->caller == x->callee;
        struct both *to = &sum[x->callee];
        to->called = true;
        add_most(&p->functions[x->callee].hits, x->hits);
        bool within = !once && !root && c->circle[x->caller] == c->circle[x->callee];
        to->in_circle |= within && !itself;
        if (within && !itself)
            sum[x->caller].in_circle = true;
        if (within)
            continue;
        add_most(&to->in[0], x->c1_children);
        add_most(&to->in[1], x->c2_children);
        if (root || itself)
            continue;
        add_most(&sum[x->caller].out[0], x->c1_children);
        add_most(&sum[x->caller].out[1], x->c2_children);
    }
}

static void take_sum(struct profile *p, struct profile_function *f, const struct both *s)
{
    const bool from_in = s->called && (s->in[0] || s->in[1] || s->in_circle);
    uint64_t c1 = s->out[0], c2 = s->out[1];
    add_most(&c1, f->c1);
    add_most(&c2, f->c2);
    f->c1_children = MAX(f->c1, from_in ? s->in[0] : c1);
    f->c2_children = MAX(f->c2, from_in ? s->in[1] : c2);
    f->hits_unknown = !s->called;
    f->doubtful |= s->in_circle;
    add_most(&p->total_hits, f->hits);
}

bool calls_sum(struct profile *p, bool once)
{
    struct circles c = { .p = NULL };
    struct both *sum = calloc(p->nfunctions + 1, sizeof *sum);
    bool ok = sum && circles_alloc(&c, p);
    if (ok) {
        find_circles(&c);
        add_calls(p, &c, once, sum);
        p->total_hits = 0;
        for (size_t i = 0; i < p->nfunctions; i++)
            take_sum(p, &p->functions[i], &sum[i]);
    }
    circles_free(&c);
    free(sum);
    return ok;
}

size_t calls_circles(const struct profile *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->nfunctions; i++)
        n += p->functions[i].doubtful;
    return n;
}
