/* An estimated counter 1, corrected by what was measured. */
#include <stdlib.h>

#include "profiler/profile/profile.h"

struct scaled {
    struct profile *p;
    uint64_t *spread; /* by node: its own, in parts of rate_spread() */
    uint64_t *below;  /* by node: with children; at most, as if all were wrong the same way */
    uint64_t *sum, *sum_below; /* of those by function */
    uint32_t *open;            /* by function: frames on the current path */
};

/* NULL: what was measured, or is nobody's, stays as it is. */
static const struct rate *rate_of(const struct profile_function *f, const struct rates *r)
{
    if (f->description == PROFILE_UNKNOWN)
        return NULL;
    return rates_at(r, f->low);
}

static void scale_nodes(struct scaled *s, const struct rates *r)
{
    struct profile *p = s->p;
    for (size_t i = 0; i < p->nnodes; i++) {
        struct profile_node *n = &p->nodes[i];
        const struct rate *rate = rate_of(&p->functions[n->function], r);
        s->spread[i] = 0;
        if (rate && r->measurements)
            s->spread[i] = rate_spread(rate, n->c1);
        if (rate)
            n->c1 = rate_corrected(rate, n->c1);
        n->c1_children = n->c1;
        s->below[i] = s->spread[i];
    }
    for (size_t i = p->nnodes; i-- > 0;) {
        const struct profile_node *n = &p->nodes[i];
        if (n->parent == PROFILE_NO_PARENT)
            continue;
        p->nodes[n->parent].c1_children += n->c1_children;
        s->below[n->parent] += s->below[i];
    }
}

static void scale_handlers(struct profile *p, const uint64_t *before)
{
    for (size_t k = 0; k < p->nhandlers; k++) {
        struct profile_handler *h = &p->handlers[k];
        const uint64_t was = before[h->function], is = p->functions[h->function].c1_children;
        double by = 1;
        if (was)
            by = (double)is / (double)was;
        h->c1 = rate_by(h->c1, by);
        h->longest = rate_by(h->longest, by);
        h->shortest = rate_by(h->shortest, by);
    }
}

/* In recursion the outermost frame has it all already. */
static void sum_functions(struct scaled *s)
{
    struct profile *p = s->p;
    for (size_t i = 0; i < p->nfunctions; i++)
        p->functions[i].c1 = p->functions[i].c1_children = 0;
    p->total_c1 = 0;
    for (size_t i = 0; i < p->nnodes; i++) {
        const struct profile_node *n = &p->nodes[i];
        struct profile_function *f = &p->functions[n->function];
        for (uint32_t k = (uint32_t)i - 1; i && k != n->parent; k = p->nodes[k].parent)
            s->open[p->nodes[k].function]--;
        f->c1 += n->c1;
        s->sum[n->function] += s->spread[i];
        p->total_c1 += n->c1;
        if (s->open[n->function]++ == 0) {
            f->c1_children += n->c1_children;
            s->sum_below[n->function] += s->below[i];
        }
    }
    for (size_t i = 0; i < p->nfunctions; i++) {
        p->functions[i].c1_spread = rate_spread_sum(s->sum[i]);
        p->functions[i].c1_children_spread = rate_spread_sum(s->sum_below[i]);
    }
}

/* By what all was multiplied that was estimated; what gaps have was measured. */
static double scaled_by(const struct profile *p, uint64_t estimated)
{
    const double gap = (double)profile_coverage_sum(p, COVERAGE_LOST).c1,
                 was = (double)estimated - gap, is = (double)p->total_c1 - gap;
    if (was > 0)
        return is / was;
    return 1;
}

int profile_take_rates(struct profile *p, const struct rates *r, struct err *err)
{
    struct scaled s = { p,
                        malloc((p->nnodes + 1) * sizeof(uint64_t)),
                        malloc((p->nnodes + 1) * sizeof(uint64_t)),
                        calloc(p->nfunctions + 1, sizeof(uint64_t)),
                        calloc(p->nfunctions + 1, sizeof(uint64_t)),
                        calloc(p->nfunctions + 1, sizeof(uint32_t)) };
    uint64_t *before = malloc((p->nfunctions + 1) * sizeof *before), estimated = p->total_c1;
    bool ok = s.spread && s.below && s.sum && s.sum_below && s.open && before;
    for (size_t k = 0; ok && k < p->nfunctions; k++)
        before[k] = p->functions[k].c1_children;
    if (ok && r->given && p->type == PROFILE_TRACE) {
        scale_nodes(&s, r);
        sum_functions(&s);
        scale_handlers(p, before);
        p->info.estimate =
            (struct profile_estimate){ true, r->measurements, r->sources, scaled_by(p, estimated) };
    }
    free(s.spread);
    free(s.below);
    free(s.sum);
    free(s.sum_below);
    free(s.open);
    free(before);
    if (ok)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs",
                   "profile: out of memory for %zu call paths", p->nnodes);
}
