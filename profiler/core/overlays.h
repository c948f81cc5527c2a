/* Which overlay lies where while events come: by what EVENT_OVERLAY says, addresses of later events
 * get the number of their overlay (targets/overlay.h). One place of a program for everything that
 * counts. */
#ifndef PROFILER_CORE_OVERLAYS_H
#define PROFILER_CORE_OVERLAYS_H

#include <stdbool.h>

#include "probe/base/err.h"
#include "profiler/core/symbols.h"
#include "targets/event.h"

/* Zero-initialise; then overlays_init(). */
struct overlays {
    const struct symbols *symbols; /* NULL: the program has no overlays */
    bool *here;                    /* by section of the image: it is known to be in memory */
};

/* overlays_init - nothing is known of memory yet
 * symbols   borrowed; NULL: no program is known. Returns 0 or -ERR_NOMEM. */
int overlays_init(struct overlays *o, const struct symbols *symbols, struct err *err);

/* overlays_take - puts the numbers into the addresses of an event that is to be counted
 * Returns false if it is an EVENT_OVERLAY, which has no other effect. Behind a loss that may have
 * held one of these, nothing is known. */
bool overlays_take(struct overlays *o, struct event *e);

/* overlays_fini - frees; a zeroed struct is fine. */
void overlays_fini(struct overlays *o);

#endif
