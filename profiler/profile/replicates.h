/* The same thing measured again and again: what counter 1 counted in a function's own code, in each
 * pass between a start and a stop point, and in each of its calls. Kept are mean and spread, which
 * say how far two profiles differ by more than chance (diff.h). */
#ifndef PROFILER_PROFILE_REPLICATES_H
#define PROFILER_PROFILE_REPLICATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/core/calltree_watch.h"

struct moments {
    uint64_t n;
    double mean;
    double squares; /* sum of the squared differences from the mean */
};

/* moments_add - one more value; by Welford's method. */
void moments_add(struct moments *m, double value);

/* moments_add_zeros - n more values, all 0. */
void moments_add_zeros(struct moments *m, uint64_t n);

struct replicate {
    struct moments pass; /* a pass in which it did not run counts as 0 */
    struct moments call; /* seen whole, without doubt */
    uint64_t c1;         /* in the pass under way */
    bool ran;            /* in it */
};

/* replicates_init() makes one. */
struct replicates {
    struct calltree_watch watch; /* for replay_watched(); its ctx is this struct */
    long (*function_of)(void *ctx, uint32_t node);
    void *ctx;
    long *node; /* what function_of said, by node */
    size_t nnodes, cap_nodes;
    struct replicate *of; /* by function */
    size_t n, cap;
    uint32_t *ran; /* functions that ran in the pass under way */
    size_t nran, cap_ran;
    uint64_t passes; /* completed */
    bool failed;     /* memory was out: some are missing */
};

/* replicates_init - an empty one, which stays where it is.
 * function_of  number of a call tree node's function, from 0 and dense; -1: it is of none. Asked
 *              once a node, while the tree is fed */
void replicates_init(struct replicates *r, long (*function_of)(void *ctx, uint32_t node),
                     void *ctx);

/* replicates_end - after the last event: passes in which a function did not run are added to it. */
void replicates_end(struct replicates *r);

/* replicates_fini - frees; a zeroed struct is fine. */
void replicates_fini(struct replicates *r);

#endif
