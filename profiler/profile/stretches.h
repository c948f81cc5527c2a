/* How far the shares of functions are known where events were lost. What was seen is a number of
 * stretches between losses: an S12Z's sessions, fillings of an SH-4's ring. A function's share of
 * them all is a ratio of two sums, and how much it varies from stretch to stretch says how far it
 * may be from the share of the whole run: the jackknife that leaves out one stretch at a time
 * (Cochran, Sampling Techniques, 3rd edition, 1977, sections 6.17 and 9A.1: ratio estimates of
 * clusters, with the correction for a finite population).
 *
 * It rests on what was lost being like what was seen. Stretches begin where the host was ready
 * again, not at random. */
#ifndef PROFILER_PROFILE_STRETCHES_H
#define PROFILER_PROFILE_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/calltree.h"
#include "profiler/profile/profile.h"

/* What one node had in one stretch. */
struct stretch_count {
    uint32_t stretch, node;
    uint64_t hits, c1;
};

/* stretches_init() makes one. */
struct stretches {
    struct calltree_watch watch; /* for replay_watched(); its ctx is this struct */
    struct calltree *const *tree;
    struct stretch_count *row; /* of stretches that have ended */
    size_t n, cap;
    uint32_t stretch; /* number of the one under way */
    /* by node: what it had when its last stretch ended, and in which stretch it was met last */
    struct stretch_node {
        uint64_t hits, c1;
        uint32_t met;
    } * node;
    size_t nnodes, cap_nodes;
    uint32_t *met; /* nodes of the one under way */
    size_t nmet, cap_met;
    bool failed; /* memory was out, or there were too many */
};

enum { STRETCHES_MOST = 1 << 23 /* rows: 200 MB */ };

/* stretches_init - an empty one, which stays where it is
 * tree   where the tree that is watched will be; borrowed */
void stretches_init(struct stretches *s, struct calltree *const *tree);

/* stretches_apply - after the last event: the half widths of 95 % intervals into p's functions, and
 * into p->info how many stretches there were; they stay unknown with one, or where not all could be
 * kept
 * p      of the same tree, with its corrected counters, before marks are applied
 * Returns 0 or -ERR_NOMEM. */
int stretches_apply(struct stretches *s, struct profile *p, struct err *err);

/* stretches_fini - frees; a zeroed struct is fine. */
void stretches_fini(struct stretches *s);

#endif
