/* Events per second through the call tree: a program that makes calls as real ones do (mostly leaf
 * calls from loops, some depth, some recursion, an interrupt now and then), fed in batches as from
 * a queue.
 *
 * usage: bench_calltree [ROUNDS [watched]]      of a million events, default 20; 1 and 2 under
 * callgrind: the difference is a million events' instructions. watched: by callbacks that do
 * nothing */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/core/calltree.h"

enum {
    NFUNCTIONS = 500,
    CODE = 0x8C010000,
    FUNCTION_BYTES = 256,
    BATCH = 1 << 16,
    BATCHES = 16,
    ROUNDS = 20,
    DEPTH = 14
};

static bool resolve(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    out->low = out->id = addr & ~(uint64_t)(FUNCTION_BYTES - 1);
    out->high = out->low + FUNCTION_BYTES;
    return addr >= CODE && addr < CODE + (uint64_t)NFUNCTIONS * FUNCTION_BYTES;
}

static uint32_t next(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

struct program {
    uint32_t seed, depth, sp[DEPTH + 1], function[DEPTH + 1], resume[DEPTH + 1];
    uint64_t c1, c2;
};

/* A function calls a few others only, the same ones every time: that is what keeps call trees
 * small. */
static struct event step(struct program *p)
{
    uint32_t pc = CODE + p->function[p->depth] * FUNCTION_BYTES + 8;
    struct event e = { .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 |
                                EVENT_HAS_SP };
    p->c1 += 10 + next(&p->seed) % 100;
    p->c2 += next(&p->seed) % 2;
    e.c1 = p->c1;
    e.c2 = p->c2;
    if (p->depth == 0 || (p->depth < DEPTH && next(&p->seed) % 100 < 49)) {
        uint32_t slot = next(&p->seed) % 8 == 0 ? 1 : 0,
                 callee = (p->function[p->depth] * 7 + slot * 13 + 1) % NFUNCTIONS;
        callee = p->depth > 4 && next(&p->seed) % 4 ? NFUNCTIONS - 1 - slot : callee;
        e.kind = EVENT_CALL;
        e.pc = pc + slot * 8;
        e.target = CODE + callee * FUNCTION_BYTES;
        e.sp = p->sp[p->depth];
        p->depth++;
        p->sp[p->depth] = e.sp - 32;
        p->function[p->depth] = callee;
        p->resume[p->depth] = (uint32_t)e.pc + 4;
    } else {
        e.kind = EVENT_RETURN;
        e.pc = pc + 64;
        e.target = p->resume[p->depth--];
        e.sp = p->sp[p->depth] - 4;
    }
    return e;
}

static void ignore_step(void *ctx, const struct calltree_step *s)
{
    (void)ctx;
    (void)s;
}

static void ignore_activation(void *ctx, const struct calltree_activation *a)
{
    (void)ctx;
    (void)a;
}

int main(int argc, char **argv)
{
    const struct calltree_watch watch = { .on_step = ignore_step,
                                          .on_enter = ignore_activation,
                                          .on_leave = ignore_activation };
    const struct calltree_config cfg = { .resolve = resolve, .watch = argc > 2 ? &watch : NULL };
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    struct event *events = malloc((size_t)BATCH * BATCHES * sizeof *events);
    struct program p = { .seed = 1, .sp = { 0x8CFF0000 } };
    struct calltree *t;
    if (!events || calltree_new(&cfg, &t, NULL) < 0)
        return 1;
    events[0] = (struct event){ .kind = EVENT_START, .pc = CODE, .flags = EVENT_HAS_PC };
    for (size_t i = 1; i < (size_t)BATCH * BATCHES; i++)
        events[i] = step(&p);
    struct timespec a, b;
    size_t n, nodes;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < BATCHES; k++)
            calltree_feed(t, events + (size_t)k * BATCH, BATCH);
    clock_gettime(CLOCK_MONOTONIC, &b);
    n = (size_t)BATCH * BATCHES * (size_t)rounds;
    calltree_nodes(t, &nodes);
    double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    const struct calltree_stats *s = calltree_stats(t);
    printf("calltree: %.1f M events/s (%.1f ns each; %zu call paths, %llu unwinds, %llu orphan "
           "returns)\n",
           (double)n / seconds / 1e6, seconds * 1e9 / (double)n, nodes,
           (unsigned long long)s->unwinds, (unsigned long long)s->orphan_returns);
    calltree_free(t);
    free(events);
    return 0;
}
