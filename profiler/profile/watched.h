/* What a watched call tree tells beside a profile's sums, while the profile goes on: how long
 * functions live (activations.h), what is called from where, and stretches between two events
 * (places.h). It is in the profile then, and in its document: recording, bridge and file are shown
 * by the same code. Calls that have not ended are told as if they did now. */
#ifndef PROFILER_PROFILE_WATCHED_H
#define PROFILER_PROFILE_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/calltree.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/activations.h"
#include "profiler/profile/profile.h"

/* A function. */
struct profile_live {
    uint64_t low;     /* where it begins */
    const char *name; /* its symbol's, or its address */
    struct activation_sum sum;
};

/* An instruction that called. */
struct profile_site {
    uint64_t address; /* in the canonical alias */
    uint64_t calls;
    uint64_t c1, c2; /* with all that was called, recursion counted once */
    bool doubtful;
};

/* Between two events, without one between them. */
struct profile_stretch {
    uint64_t at;       /* where the function or the block begins whose it is, canonical */
    uint64_t from, to; /* where the program went on, the event that ended it; 0 not known */
    uint64_t times, c1, c2;
    bool doubtful;
};

/* All of it lives in the profile's arena. */
struct profile_watched {
    const struct profile_live *live;       /* the longest lived in all first */
    const struct profile_site *site;       /* by address */
    const struct profile_stretch *stretch; /* by at, then from, then to */
    size_t nlive, nsites, nstretches;
    uint64_t dropped; /* activations, calls and stretches that found no room, and are in no row */
};

struct watched; /* private to watched.c */

/* watched_new - an empty one, for the watch of a tree. Returns 0 or -ERR_NOMEM. */
int watched_new(struct watched **out, struct err *err);

/* watched_watch - for calltree_config.watch; borrowed as long as w is there. */
const struct calltree_watch *watched_watch(const struct watched *w);

/* watched_take - fills p->watched with what is known by now
 * t          the tree that was watched from its first event on; neither it nor w changes
 * syms       names functions; NULL: by their addresses
 * canonical  of target_ops; NULL: each address is its own
 * p          built of t
 * Returns 0; -ERR_NOMEM, and p->watched stays NULL. */
int watched_take(const struct watched *w, const struct calltree *t, const struct symbols *syms,
                 uint64_t (*canonical)(uint64_t), struct profile *p, struct err *err);

/* watched_free - NULL is fine. */
void watched_free(struct watched *w);

#endif
