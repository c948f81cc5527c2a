/* Events per second through the call tree: a program that makes calls as real ones do (mostly leaf
 * calls from loops, some depth, some recursion, an interrupt now and then), fed in batches as from
 * a queue.
 *
 * usage: bench_calltree [ROUNDS [watched|kept]] of a million events, default 20; 1 and 2 under
 * callgrind: the difference is a million events' instructions. watched: by callbacks that do
 * nothing; kept: by those of `run --watch` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/profile/watched.h"
#include "tests/bench/calls.h"

enum { BATCH = 1 << 16, BATCHES = 16, ROUNDS = 20 };

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

/* NULL: nobody watches. */
static const struct calltree_watch *watch_of(const char *how, struct watched *kept)
{
    static const struct calltree_watch ignoring = { .on_step = ignore_step,
                                                    .on_enter = ignore_activation,
                                                    .on_leave = ignore_activation };
    if (!strcmp(how, "kept"))
        return watched_watch(kept);
    return strcmp(how, "watched") ? NULL : &ignoring;
}

int main(int argc, char **argv)
{
    struct watched *kept;
    if (watched_new(&kept, NULL) < 0)
        return 1;
    const struct calltree_config cfg = { .resolve = calls_resolve,
                                         .watch = watch_of(argc > 2 ? argv[2] : "", kept) };
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    struct event *events = malloc((size_t)BATCH * BATCHES * sizeof *events);
    struct calls p = { .seed = 1, .sp = { 0x8CFF0000 } };
    struct calltree *t;
    if (!events || calltree_new(&cfg, &t, NULL) < 0)
        return 1;
    events[0] = (struct event){ .kind = EVENT_START, .pc = CALLS_CODE, .flags = EVENT_HAS_PC };
    for (size_t i = 1; i < (size_t)BATCH * BATCHES; i++)
        events[i] = calls_next(&p);
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
    watched_free(kept);
    free(events);
    return 0;
}
