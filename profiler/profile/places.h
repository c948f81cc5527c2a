/* What a watched call tree tells of places in the program: instructions that call, with what their
 * callees took; and stretches between two events, with what was counted in them. Neither says which
 * of a stretch's instructions took how much: that is not known. */
#ifndef PROFILER_PROFILE_PLACES_H
#define PROFILER_PROFILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/core/calltree_watch.h"

enum { PLACES_MOST = 1 << 21 /* rows of either kind: 150 MB with their slots */ };

/* A row of either kind. Of a stretch node, from and to are its key; of a site context and from. */
struct place_row {
    uint32_t node;    /* of a stretch: whose it is, an index into calltree_nodes() */
    uint32_t context; /* of a site: the task; a site has a row for each */
    uint64_t from;    /* the calling instruction; where the program went on, 0 not known */
    uint64_t to;      /* the event that ended the stretch, 0 not known */
    uint64_t times;
    /* of a stretch; of a site with all that was called, recursion counted once */
    uint64_t c1, c2;
    uint32_t open; /* calls from here that have not ended */
    bool doubtful;
};

struct place_table {
    struct place_row *row;
    size_t n, cap;
    uint32_t *slot; /* open addressing by key: index + 1; a power of two, at most half full */
    size_t nslots;
};

/* places_init() makes one. */
struct places {
    struct calltree_watch watch; /* for replay_watched(); its ctx is this struct */
    struct place_table sites, stretches;
    size_t most;      /* rows of each: PLACES_MOST */
    uint64_t dropped; /* calls and stretches that found no row: PLACES_MOST, or no memory */
};

/* places_init - an empty one, which stays where it is. */
void places_init(struct places *p);

/* places_sites_now - the rows of p->sites, as many, with what calls took that have not ended yet,
 * as far as they got t   the watched tree, which stays as it is Caller frees; NULL: out of memory.
 */
struct place_row *places_sites_now(const struct places *p, const struct calltree *t);

/* places_fini - frees; a zeroed struct is fine. */
void places_fini(struct places *p);

#endif
