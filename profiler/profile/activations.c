#include "profiler/profile/activations.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

enum { FIRST_NODES = 256 };

/* Room for nodes up to `node`. */
static bool room_for_node(struct activations *a, uint32_t node)
{
    size_t cap = MAX(a->cap, (size_t)FIRST_NODES);
    while (cap <= node)
        cap *= 2;
    if (cap > a->cap) {
        struct activation_sum *of = realloc(a->of, cap * sizeof *of);
        if (!of)
            return false;
        a->of = of;
        a->cap = cap;
    }
    if (node >= a->n) {
        memset(a->of + a->n, 0, (node + 1 - a->n) * sizeof *a->of);
        a->n = node + (size_t)1;
    }
    return true;
}

static unsigned bucket_of(uint64_t live)
{
    unsigned i = 0;
    for (; live && i < ACTIVATION_BUCKETS - 1; live >>= 1)
        i++;
    return i;
}

static void add_whole(struct activation_sum *s, const struct calltree_activation *a, uint64_t live)
{
    s->least = s->calls ? MIN(s->least, live) : live;
    s->most = MAX(s->most, live);
    s->calls++;
    s->live += live;
    s->work += a->c1;
    s->below += a->c1_children;
    s->histogram[bucket_of(live)]++;
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct activations *all = ctx;
    if (!room_for_node(all, a->node)) {
        all->dropped++;
        return;
    }
    struct activation_sum *s = &all->of[a->node];
    bool counted = a->in.flags & a->out.flags & EVENT_HAS_C1;
    if (counted && calltree_activation_whole(a))
        add_whole(s, a, a->out.c1 - a->in.c1);
    else
        s->cut++;
}

static void on_clear(void *ctx)
{
    struct activations *a = ctx;
    if (a->n)
        memset(a->of, 0, a->n * sizeof *a->of);
    a->dropped = 0;
}

void activations_init(struct activations *a)
{
    *a = (struct activations){ .watch = { a, NULL, NULL, on_leave, on_clear, NULL } };
}

void activation_add(struct activation_sum *to, const struct activation_sum *more)
{
    if (more->calls)
        to->least = to->calls ? MIN(to->least, more->least) : more->least;
    to->most = MAX(to->most, more->most);
    to->calls += more->calls;
    to->cut += more->cut;
    to->live += more->live;
    to->work += more->work;
    to->below += more->below;
    for (size_t i = 0; i < ACTIVATION_BUCKETS; i++)
        to->histogram[i] += more->histogram[i];
}

void activations_fini(struct activations *a)
{
    free(a->of);
    *a = (struct activations){ 0 };
}
