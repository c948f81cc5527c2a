/* How far the shares of functions are known where events were lost. What was seen is a number of
 * stretches between losses: an S12Z's sessions, fillings of an SH-4's ring. A function's share of
 * them all is a ratio of two sums, and how much it varies from stretch to stretch says how far it
 * may be from the share of the whole run: the jackknife that leaves out one stretch at a time
 * (Cochran, Sampling Techniques, 3rd edition, 1977, sections 6.17 and 9A.1: ratio estimates of
 * clusters, with the correction for a finite population).
 *
 * Of a run that loses for hours neighbouring stretches become one, so that memory is bounded: they
 * are clusters as before, only fewer.
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

/* Of one call tree, while it is fed; zero-initialise. */
struct stretches {
    struct stretch_count *row; /* of stretches that have ended, in their order */
    size_t n, cap;
    uint64_t ended; /* so many have */
    unsigned shift; /* 2 to the power of it are one in `row`, as there are too many */
    /* by node: what it had when the last stretch ended */
    struct stretch_node {
        uint64_t hits, c1;
    } * node;
    size_t nnodes, cap_nodes;
    size_t most;     /* rows; 0: STRETCHES_ROWS */
    uint64_t clears; /* of the tree, that are known of */
    bool failed;     /* memory was out, or there were too many */
};

enum {
    STRETCHES_ROWS = 1 << 20, /* 24 MB; more make neighbours one */
    STRETCHES_LEAST = 64      /* fewer are not made of them: then nothing is known */
};

/* stretches_end - a loss begins: what the tree has more than at the last one is a stretch
 * t   fed up to the EVENT_LOST, and always the same one. O(nodes); other events cost nothing. */
void stretches_end(struct stretches *s, const struct calltree *t);

/* stretches_apply - so far: the half widths of 95 % intervals into p's functions, and into p->info
 * how many stretches there were; they stay unknown with one, or where not all could be kept
 * t   the tree; its last stretch has not ended
 * p   of the same tree, with its corrected counters, before marks are applied
 * Nothing of s changes. Returns 0 or -ERR_NOMEM. */
int stretches_apply(const struct stretches *s, const struct calltree *t, struct profile *p,
                    struct err *err);

/* What stretches_halves() has to know of the functions. */
struct stretch_ask {
    const uint32_t *function_of_node; /* by node of the tree: index of its function */
    size_t nodes, functions;          /* so many there are */
    const uint64_t *c1;               /* by function: counter 1, corrected */
    double seen;                      /* as profile_c1_seen() */
};

/* Half widths of 95 % intervals, 0 to 1, as in struct profile_function. */
struct stretch_half {
    double hits, c1;
};

/* stretches_halves - the same for who has no profile
 * out     by function; untouched if *used is 0
 * used    how many stretches they rest on; 0: nothing is known
 * Returns 0 or -ERR_NOMEM. */
int stretches_halves(const struct stretches *s, const struct calltree *t,
                     const struct stretch_ask *ask, struct stretch_half *out, uint64_t *used,
                     struct err *err);

/* stretches_fini - frees; a zeroed struct is fine. */
void stretches_fini(struct stretches *s);

#endif
