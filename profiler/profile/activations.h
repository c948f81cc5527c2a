/* How long functions live: activations of a watched call tree, summed up for each call path. Live
 * is what counter 1 counted from a function's entry to its end, whatever ran meanwhile: what it
 * called, handlers, other tasks. Work is what it counted in the function's own code. Only
 * activations that were seen whole, without doubt, are in the sums; others are counted apart. */
#ifndef PROFILER_PROFILE_ACTIVATIONS_H
#define PROFILER_PROFILE_ACTIVATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "profiler/core/calltree_watch.h"

enum { ACTIVATION_BUCKETS = 48 };

struct activation_sum {
    uint64_t calls;             /* seen whole */
    uint64_t cut;               /* not: lost events, doubt, a beginning or an end nobody saw */
    uint64_t live, work, below; /* of the whole ones; below: work with all that was called */
    uint64_t least, most;       /* live of one */
    /* whole ones by live: none in [0], below 2^i and not below 2^(i-1) in [i], all more in the last
     */
    uint32_t histogram[ACTIVATION_BUCKETS];
};

/* activations_init() makes one. */
struct activations {
    struct calltree_watch watch; /* for replay_watched(); its ctx is this struct */
    struct activation_sum *of;   /* by node of the call tree, n of them */
    size_t n, cap;
    uint64_t dropped; /* that found no memory, and are in no sum */
};

/* activations_init - an empty one, which stays where it is. */
void activations_init(struct activations *a);

/* activation_add - adds one sum to another. */
void activation_add(struct activation_sum *to, const struct activation_sum *more);

/* activations_fini - frees; a zeroed struct is fine. */
void activations_fini(struct activations *a);

#endif
