#include "profiler/views/arcs.h"

#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

uint64_t arcs_address(const struct profile *p, const struct symbols *s, size_t function)
{
    uint64_t low = p->functions[function].low;
    if (s)
        return symbols_own_address(s, low);
    return low;
}

static int by_place(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    return EITHER(COMPARE(x->to, y->to), COMPARE(x->from, y->from));
}

static bool has_address(const struct profile *p, size_t function)
{
    return p->functions[function].high > p->functions[function].low;
}

static struct arc arc_of(const struct profile *p, const struct symbols *s,
                         const struct profile_node *n)
{
    struct arc a = { .to = arcs_address(p, s, n->function), .count = n->hits };
    uint32_t caller =
        n->parent == PROFILE_NO_PARENT ? PROFILE_NO_PARENT : p->nodes[n->parent].function;
    if (caller != PROFILE_NO_PARENT && has_address(p, caller))
        a.from = arcs_address(p, s, caller);
    return a;
}

/* Of a file that has calls and no call paths. */
static struct arc arc_of_call(const struct profile *p, const struct symbols *s,
                              const struct profile_call *c)
{
    struct arc a = { .to = arcs_address(p, s, c->callee), .count = c->hits };
    if (c->caller != PROFILE_NO_PARENT && has_address(p, c->caller))
        a.from = arcs_address(p, s, c->caller);
    return a;
}

/* Sorted: equal pairs add up. */
static void merge_pairs(struct arcs *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (n && by_place(&a->arc[n - 1], &a->arc[i]) == 0)
            a->arc[n - 1].count += a->arc[i].count;
        else
            a->arc[n++] = a->arc[i];
    }
    a->n = n;
}

int arcs_make(const struct profile *p, const struct symbols *s, struct arcs *out, struct err *err)
{
    struct arcs a = { .arc = malloc((p->nnodes + p->ncalls + 1) * sizeof *a.arc) };
    if (!a.arc)
        return err_set(err, ERR_NOMEM, "close other programs", "calls: out of memory");
    for (size_t i = 0; i < p->nnodes; i++)
        if (p->nodes[i].hits && has_address(p, p->nodes[i].function))
            a.arc[a.n++] = arc_of(p, s, &p->nodes[i]);
    for (size_t i = 0; i < p->ncalls; i++)
        if (p->calls[i].hits && has_address(p, p->calls[i].callee))
            a.arc[a.n++] = arc_of_call(p, s, &p->calls[i]);
    qsort(a.arc, a.n, sizeof *a.arc, by_place);
    merge_pairs(&a);
    *out = a;
    return 0;
}

void arcs_fini(struct arcs *a)
{
    free(a->arc);
    *a = (struct arcs){ 0 };
}
