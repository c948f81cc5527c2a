/* How much slower a program runs while it is profiled: one figure, one definition, wherever it is
 * shown.
 *
 * slow-down = the board's time while profiling / the program's own time in it. The rest of the
 * board's time went into the agent, which ran in the program's place, and into moving events, while
 * the CPU was held. Time that a debugger held the program is in neither. */
#ifndef PROFILER_PROFILE_SLOWDOWN_H
#define PROFILER_PROFILE_SLOWDOWN_H

#include <stddef.h>

#include "targets/run_time.h"

/* All in times the program's own time: times = 1 + agent + moving. times 0: not known. */
struct slowdown {
    double times, agent, moving;
};

/* slowdown_of - from a target's account. Unknown if any of its times or cycles is, or if nothing is
 * left for the program. */
struct slowdown slowdown_of(const struct run_time *t);

/* slowdown_text - "16.7x (agent +6.2, moving events +9.5)"; "" if not known. Returns buf. */
char *slowdown_text(const struct slowdown *s, char *buf, size_t cap);

#endif
