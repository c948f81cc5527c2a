/* What a watched call tree tells of places in the program: instructions that call, with what their
 * callees took; and stretches between two events, with what was counted in them. Neither says which
 * of a stretch's instructions took how much: that is not known. */
#ifndef PROFILER_PROFILE_PLACES_H
#define PROFILER_PROFILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/calltree_watch.h"

/* A row of either kind. Of a stretch node, from and to are its key; of a site context and from. */
struct place_row {
    uint64_t
        at; /* places_sort(): of a site from, of a stretch its node's, in the canonical alias */
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
    bool failed; /* memory was out: rows are missing */
};

/* places_init - an empty one, which stays where it is. */
void places_init(struct places *p);

/* places_sort - rows by at, then from, to, node, context; after the last event and
 * calltree_watch_end(). Stretches of nodes that are no code are left out.
 * tree       the watched one
 * canonical  as that of target_ops; NULL: each address is its own
 * Returns 0; -ERR_NOMEM if rows are missing. */
int places_sort(struct places *p, const struct calltree *tree, uint64_t (*canonical)(uint64_t),
                struct err *err);

/* places_within - those of [low, high), canonical addresses, of what is sorted; *n: how many. */
const struct place_row *places_within(const struct place_table *t, uint64_t low, uint64_t high,
                                      size_t *n);

/* places_fini - frees; a zeroed struct is fine. */
void places_fini(struct places *p);

#endif
