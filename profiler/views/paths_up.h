/* Call paths from their ends: each function, and below it those it was called from. */
#ifndef PROFILER_VIEWS_PATHS_UP_H
#define PROFILER_VIEWS_PATHS_UP_H

#include <stddef.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

enum { PATHS_UP_DEPTH = 127 }; /* callers above a function; as many as `perf report` has */

struct paths_up {
    /* Roots are functions. A child is a caller of its parent, its counts are the root function's
     * own on the paths that lead there through it: c1_children is c1. Parents come before
     * children. Caller frees. */
    struct profile_node *nodes;
    size_t n;
    size_t cut; /* call paths that are longer: their callers from PATHS_UP_DEPTH on are left out */
};

/* paths_up - the paths of a trace. A root has what the function has in the list: its hits, C1, C2.
 * Children add up to their parent, less what begins there. O(nodes x depth). Returns 0 or
 * -ERR_NOMEM. */
int paths_up(const struct profile *p, struct paths_up *out, struct err *err);

#endif
