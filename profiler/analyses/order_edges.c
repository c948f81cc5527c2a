#include <stdlib.h>

#include "probe/base/choice.h"
#include "profiler/analyses/order_priv.h"

/* Unit of each function of the profile that moves, or ORDER_NONE. */
static uint32_t *units_of(const struct order_wish *w, const struct order *o)
{
    uint32_t *of = malloc((w->profile->nfunctions + 1) * sizeof *of);
    for (size_t i = 0; of && i < w->profile->nfunctions; i++)
        of[i] = ORDER_NONE;
    for (size_t i = 0; of && i < o->nfunctions; i++)
        if (o->function[i].why == ORDER_MOVES)
            of[o->function[i].is - w->profile->functions] = o->function[i].unit;
    return of;
}

static void add_edge(struct order *o, uint32_t caller, uint32_t callee, uint64_t hits)
{
    if (caller == ORDER_NONE || callee == ORDER_NONE || caller == callee || !hits)
        return;
    struct order_edge *e = &o->edge[o->nedges++];
    if (caller < callee)
        *e = (struct order_edge){ .a = caller, .b = callee, .ab = hits };
    else
        *e = (struct order_edge){ .a = callee, .b = caller, .ba = hits };
}

static int by_units(const void *a, const void *b)
{
    const struct order_edge *x = a, *y = b;
    return EITHER(COMPARE(x->a, y->a), COMPARE(x->b, y->b));
}

static void merge_edges(struct order *o)
{
    size_t n = 0;
    qsort(o->edge, o->nedges, sizeof *o->edge, by_units);
    for (size_t i = 0; i < o->nedges; i++) {
        const struct order_edge *next = &o->edge[i];
        struct order_edge *last = NULL;
        if (n)
            last = &o->edge[n - 1];
        if (last && by_units(last, next) == 0) {
            last->ab += next->ab;
            last->ba += next->ba;
        } else {
            o->edge[n++] = *next;
        }
    }
    o->nedges = n;
}

int order_take_edges(const struct order_wish *w, struct order *o, struct err *err)
{
    const struct profile *p = w->profile;
    uint32_t *of = units_of(w, o);
    o->edge = calloc(p->nnodes + p->ncalls + 1, sizeof *o->edge);
    if (!of || !o->edge) {
        free(of);
        return order_no_memory(err);
    }
    for (size_t i = 0; i < p->nnodes; i++) {
        const struct profile_node *n = &p->nodes[i];
        if (n->parent != PROFILE_NO_PARENT)
            add_edge(o, of[p->nodes[n->parent].function], of[n->function], n->hits);
    }
    for (size_t i = 0; i < p->ncalls; i++) {
        const struct profile_call *c = &p->calls[i];
        if (c->caller != PROFILE_NO_PARENT)
            add_edge(o, of[c->caller], of[c->callee], c->hits);
    }
    merge_edges(o);
    free(of);
    return 0;
}
