#include "tests/profiler/watch_sums.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void report_wrong(struct watch_sums *w,
                                                               const char *fmt, ...)
{
    va_list ap;
    if (*w->wrong)
        return;
    va_start(ap, fmt);
    vsnprintf(w->wrong, sizeof w->wrong, fmt, ap);
    va_end(ap);
}

static void grow_nodes(struct watch_sums *w, size_t node)
{
    if (node < w->nnodes)
        return;
    size_t n = 2 * node + 16;
    w->step = realloc(w->step, n * sizeof *w->step);
    w->run = realloc(w->run, n * sizeof *w->run);
    if (!w->step || !w->run)
        abort();
    memset(w->step + w->nnodes, 0, (n - w->nnodes) * sizeof *w->step);
    memset(w->run + w->nnodes, 0, (n - w->nnodes) * sizeof *w->run);
    w->nnodes = n;
}

static void add_costs(struct watch_sum *s, uint64_t c1, uint64_t c2, uint64_t steps)
{
    s->c1 += c1;
    s->c2 += c2;
    s->steps += steps;
}

static struct watch_open *find_open(struct watch_sums *w, uint64_t number)
{
    for (size_t i = w->nopen; i-- > 0;)
        if (w->open[i].number == number)
            return &w->open[i];
    return NULL;
}

static void on_step(void *ctx, const struct calltree_step *s)
{
    struct watch_sums *w = ctx;
    grow_nodes(w, s->node);
    add_costs(&w->total, s->c1, s->c2, 1);
    add_costs(&w->step[s->node], s->c1, s->c2, 1);
    if (!s->activation)
        add_costs(&w->run[s->node], s->c1, s->c2, 0);
    else if (!find_open(w, s->activation))
        report_wrong(w, "a step of activation %llu, which is not open",
                     (unsigned long long)s->activation);
    w->cycles += s->cycles;
    w->handler_steps += (s->flags & CALLTREE_STEP_HANDLER) != 0;
    w->gap_steps += (s->flags & CALLTREE_STEP_GAP) != 0;
    w->doubtful_steps += (s->flags & CALLTREE_STEP_DOUBTFUL) != 0;
}

static void on_enter(void *ctx, const struct calltree_activation *a)
{
    struct watch_sums *w = ctx;
    if (w->nopen == w->cap_open) {
        w->cap_open = 2 * w->cap_open + 16;
        w->open = realloc(w->open, w->cap_open * sizeof *w->open);
        if (!w->open)
            abort();
    }
    w->open[w->nopen++] = (struct watch_open){ a->number, a->caller };
    if (a->number != ++w->entered)
        report_wrong(w, "activation %llu is the %lluth", (unsigned long long)a->number,
                     (unsigned long long)w->entered);
    if (a->caller && !find_open(w, a->caller))
        report_wrong(w, "the caller of activation %llu is not open", (unsigned long long)a->number);
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct watch_sums *w = ctx;
    struct watch_open *o = find_open(w, a->number);
    if (!o) {
        report_wrong(w, "activation %llu is left and is not open", (unsigned long long)a->number);
        return;
    }
    *o = w->open[--w->nopen];
    for (size_t i = 0; i < w->nopen; i++)
        if (w->open[i].caller == a->number && a->left == CALLTREE_LEFT_RETURN)
            report_wrong(w, "activation %llu returns before one that it called",
                         (unsigned long long)a->number);
    grow_nodes(w, a->node);
    add_costs(&w->run[a->node], a->c1, a->c2, 0);
    w->left++;
    w->whole += calltree_activation_whole(a);
    if (a->c1_children < a->c1 || a->c2_children < a->c2)
        report_wrong(w, "activation %llu has less with what it called than without",
                     (unsigned long long)a->number);
    const uint32_t c1 = EVENT_HAS_C1;
    if (calltree_activation_whole(a) && a->in.flags & a->out.flags & c1 &&
        a->out.c1 - a->in.c1 < a->c1_children)
        report_wrong(w, "activation %llu took more than its counters say",
                     (unsigned long long)a->number);
}

static void on_clear(void *ctx)
{
    struct watch_sums *w = ctx;
    memset(w->step, 0, w->nnodes * sizeof *w->step);
    memset(w->run, 0, w->nnodes * sizeof *w->run);
    w->total = (struct watch_sum){ 0 };
    w->cycles = 0;
}

void watch_sums_init(struct watch_sums *w)
{
    *w = (struct watch_sums){ .watch = { w, on_step, on_enter, on_leave, on_clear, NULL } };
    grow_nodes(w, 0);
}

void watch_sums_fini(struct watch_sums *w)
{
    free(w->step);
    free(w->run);
    free(w->open);
    *w = (struct watch_sums){ 0 };
}

static bool same_sums(const struct watch_sum *a, const struct watch_sum *b, bool steps)
{
    return a->c1 == b->c1 && a->c2 == b->c2 && (!steps || a->steps == b->steps);
}

/* A block is no activation: its function's have what it took. */
static void fold_blocks(struct watch_sums *w, const struct calltree_node *nodes, size_t n,
                        struct watch_sum *is)
{
    for (size_t i = 0; i < n; i++)
        is[i] = (struct watch_sum){ nodes[i].c1, nodes[i].c2, nodes[i].steps };
    for (size_t i = 0; i < n; i++) {
        if (!nodes[i].block)
            continue;
        add_costs(&is[nodes[i].parent], is[i].c1, is[i].c2, 0);
        add_costs(&w->run[nodes[i].parent], w->run[i].c1, w->run[i].c2, 0);
        is[i] = w->run[i] = (struct watch_sum){ 0 };
    }
}

static void check_activations(struct watch_sums *w, const struct calltree_node *nodes, size_t n)
{
    struct watch_sum *is = calloc(n + 1, sizeof *is);
    if (!is)
        abort();
    fold_blocks(w, nodes, n, is);
    for (size_t i = 0; i < n; i++)
        if (!same_sums(&w->run[i], &is[i], false))
            report_wrong(w, "node %zu (%llx): activations have %llu %llu, the tree has %llu %llu",
                         i, (unsigned long long)nodes[i].addr, (unsigned long long)w->run[i].c1,
                         (unsigned long long)w->run[i].c2, (unsigned long long)is[i].c1,
                         (unsigned long long)is[i].c2);
    free(is);
}

const char *watch_sums_check(struct watch_sums *w, struct calltree *t, bool moved)
{
    size_t n;
    const struct calltree_stats *s = calltree_stats(t);
    calltree_watch_end(t);
    const struct calltree_node *nodes = calltree_nodes(t, &n);
    uint64_t steps = 0;
    grow_nodes(w, n);
    for (size_t i = 0; i < n; i++) {
        const struct watch_sum is = { nodes[i].c1, nodes[i].c2, nodes[i].steps };
        steps += is.steps;
        if (!same_sums(&w->step[i], &is, true))
            report_wrong(
                w, "node %zu (%llx): steps have %llu %llu in %llu, the tree has %llu %llu in %llu",
                i, (unsigned long long)nodes[i].addr, (unsigned long long)w->step[i].c1,
                (unsigned long long)w->step[i].c2, (unsigned long long)w->step[i].steps,
                (unsigned long long)is.c1, (unsigned long long)is.c2, (unsigned long long)is.steps);
    }
    if (!moved)
        check_activations(w, nodes, n);
    const struct watch_sum all = { s->total_c1, s->total_c2, steps };
    if (!same_sums(&w->total, &all, true))
        report_wrong(w, "steps have %llu %llu, the tree has %llu %llu",
                     (unsigned long long)w->total.c1, (unsigned long long)w->total.c2,
                     (unsigned long long)all.c1, (unsigned long long)all.c2);
    if (w->nopen || w->entered != w->left)
        report_wrong(w, "%llu activations began and %llu ended", (unsigned long long)w->entered,
                     (unsigned long long)w->left);
    return *w->wrong ? w->wrong : NULL;
}
