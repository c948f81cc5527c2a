#include "profiler/profile/call_sums.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/circles.h"

/* Calls are sorted by caller; those of nobody come last. */
static bool find_circles(const struct profile *p, struct circles *c)
{
    size_t *first = calloc(p->nfunctions + 1, sizeof *first), k = 0;
    uint32_t *callee = calloc(p->ncalls + 1, sizeof *callee);
    bool ok = first && callee;
    for (size_t i = 0; ok && i < p->ncalls; i++)
        callee[i] = p->calls[i].callee;
    for (size_t i = 0; ok && i <= p->nfunctions; i++) {
        while (k < p->ncalls && p->calls[k].caller < i)
            k++;
        first[i] = k;
    }
    ok = ok && circles_find(c, p->nfunctions, first, callee) == 0;
    free(first);
    free(callee);
    return ok;
}

/* ---- sums ---- */

static void add_most(uint64_t *to, uint64_t v) { *to += MIN(v, UINT64_MAX - *to); }

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
        bool within = !once && !root && c->of[x->caller] == c->of[x->callee];
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
    uint64_t c1 = s->in[0], c2 = s->in[1];
    if (!from_in) {
        c1 = s->out[0];
        c2 = s->out[1];
        add_most(&c1, f->c1);
        add_most(&c2, f->c2);
    }
    f->c1_children = MAX(f->c1, c1);
    f->c2_children = MAX(f->c2, c2);
    f->hits_unknown = !s->called;
    f->doubtful |= s->in_circle;
    add_most(&p->total_hits, f->hits);
}

bool calls_sum(struct profile *p, bool once)
{
    struct circles c = { .n = 0 };
    struct both *sum = calloc(p->nfunctions + 1, sizeof *sum);
    bool ok = sum && find_circles(p, &c);
    if (ok) {
        add_calls(p, &c, once, sum);
        p->total_hits = 0;
        for (size_t i = 0; i < p->nfunctions; i++)
            take_sum(p, &p->functions[i], &sum[i]);
    }
    circles_fini(&c);
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
