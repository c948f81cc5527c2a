/* What a watched call tree tells, added up, and held against what the tree counted. Needs no
 * cmocka: programs that check recordings use it, too. */
#ifndef TESTS_PROFILER_WATCH_SUMS_H
#define TESTS_PROFILER_WATCH_SUMS_H

#include "profiler/core/calltree.h"

struct watch_sum {
    uint64_t c1, c2, steps;
};

struct watch_open {
    uint64_t number, caller;
};

struct watch_sums {
    struct calltree_watch watch; /* for calltree_config.watch, after watch_sums_init() */
    struct watch_sum *step;      /* by node, of steps */
    struct watch_sum *run;       /* by node, of activations and of steps that have none */
    size_t nnodes;
    struct watch_sum total;
    uint64_t cycles;
    struct watch_open *open; /* activations, in no order */
    size_t nopen, cap_open;
    uint64_t entered, left, handler_steps, gap_steps, doubtful_steps, whole;
    char wrong[200]; /* the first thing that cannot be; "" none */
};

/* watch_sums_init - ready to be told. watch_sums_fini - zeroed is fine. */
void watch_sums_init(struct watch_sums *w);
void watch_sums_fini(struct watch_sums *w);

/* watch_sums_check - after the last event; ends the watch. NULL if all agrees, else what does not,
 * until the next call. moved: nodes of activations may have changed (tasks), so only the sums of
 * steps are held against nodes. */
const char *watch_sums_check(struct watch_sums *w, struct calltree *t, bool moved);

#endif
