/* The places a trace did not see, as EVENT_UNTRACED tells them. */
#ifndef PROFILER_PROFILE_UNTRACED_H
#define PROFILER_PROFILE_UNTRACED_H

#include <stddef.h>
#include <stdint.h>

#include "targets/coverage.h"
#include "targets/event.h"

/* Zero-initialise. The list of the last arming. */
struct untraced {
    struct coverage_row *row;
    size_t n, cap;
};

/* untraced_add - takes one event; other kinds are ignored. An event without a pc begins a new list.
 * Kinds and causes of a later version become COVERAGE_OTHER and COVERAGE_JUMP. Returns 0 or
 * -ERR_NOMEM. */
int untraced_add(struct untraced *u, const struct event *e);

void untraced_fini(struct untraced *u); /* a zeroed one is fine */

#endif
