#include "profiler/profile/replicates.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"

enum { NOT_ASKED = -2 };

void moments_add(struct moments *m, double value)
{
    double away = value - m->mean;
    m->n++;
    m->mean += away / (double)m->n;
    m->squares += away * (value - m->mean);
}

void moments_add_zeros(struct moments *m, uint64_t n)
{
    if (!n)
        return;
    double before = (double)m->n, all = before + (double)n;
    m->squares += m->mean * m->mean * before * (double)n / all;
    m->mean *= before / all;
    m->n += n;
}

static bool room_for_node(struct replicates *r, uint32_t node)
{
    while (r->nnodes <= node) {
        if (!array_room(&r->node, r->nnodes, &r->cap_nodes, sizeof *r->node))
            return false;
        r->node[r->nnodes++] = NOT_ASKED;
    }
    return true;
}

static bool room_for_function(struct replicates *r, size_t function)
{
    while (r->n <= function) {
        if (!array_room(&r->of, r->n, &r->cap, sizeof *r->of))
            return false;
        r->of[r->n++] = (struct replicate){ .ran = false };
    }
    return true;
}

/* That of a node; NULL: it is of no function, or memory is out. */
static struct replicate *replicate_of(struct replicates *r, uint32_t node)
{
    if (room_for_node(r, node)) {
        if (r->node[node] == NOT_ASKED)
            r->node[node] = r->function_of(r->ctx, node);
        if (r->node[node] < 0)
            return NULL;
        if (room_for_function(r, (size_t)r->node[node]))
            return &r->of[r->node[node]];
    }
    r->failed = true;
    return NULL;
}

static void end_pass(struct replicates *r)
{
    for (size_t i = 0; i < r->nran; i++) {
        struct replicate *f = &r->of[r->ran[i]];
        moments_add(&f->pass, (double)f->c1);
        f->c1 = 0;
        f->ran = false;
    }
    r->nran = 0;
    r->passes++;
}

static void on_step(void *ctx, const struct calltree_step *s)
{
    struct replicates *r = ctx;
    struct replicate *f = replicate_of(r, s->node);
    if (f)
        f->c1 += s->c1;
    if (f && !f->ran) {
        f->ran = array_room(&r->ran, r->nran, &r->cap_ran, sizeof *r->ran);
        r->failed |= !f->ran;
        if (f->ran)
            r->ran[r->nran++] = (uint32_t)(f - r->of);
    }
    if (s->end && s->end->kind == EVENT_STOP)
        end_pass(r);
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct replicate *f = replicate_of(ctx, a->node);
    if (f && calltree_activation_whole(a))
        moments_add(&f->call, (double)a->c1);
}

static void on_clear(void *ctx)
{
    struct replicates *r = ctx;
    if (r->n)
        memset(r->of, 0, r->n * sizeof *r->of);
    r->nran = 0;
    r->passes = 0;
}

void replicates_init(struct replicates *r, long (*function_of)(void *ctx, uint32_t node), void *ctx)
{
    *r = (struct replicates){ .watch = { r, on_step, NULL, on_leave, on_clear, NULL },
                              .function_of = function_of,
                              .ctx = ctx };
}

void replicates_end(struct replicates *r)
{
    for (size_t i = 0; i < r->n; i++)
        moments_add_zeros(&r->of[i].pass, r->passes - r->of[i].pass.n);
}

void replicates_fini(struct replicates *r)
{
    free(r->node);
    free(r->of);
    free(r->ran);
    *r = (struct replicates){ .failed = false };
}
