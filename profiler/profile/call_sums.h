/* What functions took with all that they called, from calls between them, where call paths are not
 * known. */
#ifndef PROFILER_PROFILE_CALL_SUMS_H
#define PROFILER_PROFILE_CALL_SUMS_H

#include <stdbool.h>

#include "profiler/profile/profile.h"

/* calls_sum - fills hits, c1_children and c2_children of p's functions, and its total of hits, from
 * p->calls and their own counts. A function that nothing calls has no hits that are known.
 * once   calls within a function's own calls have nothing in them; else calls of itself are left
 *        out, and functions that call one another in a circle get the calls from outside, which is
 *        the least, and are doubtful
 * Returns false: out of memory. */
bool calls_sum(struct profile *p, bool once);

/* calls_circles - how many functions that were called call one another in circles, which
 * calls_sum() marked; of a profile that is not `once`. */
size_t calls_circles(const struct profile *p);

#endif
