/* The text of the live line: what matters most, in the width there is. */
#ifndef PROFILER_CLI_LIVE_TEXT_H
#define PROFILER_CLI_LIVE_TEXT_H

#include <stddef.h>

#include "profiler/bridge/pump.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"
#include "profiler/profile/slowdown.h"

enum { LIVE_TEXT = 2048 }; /* bytes; the widest line has a quarter of it */

/* How things stand. */
struct live_now {
    const struct pump_view *view;
    const struct profile *profile; /* its functions go last; NULL: none */
    const struct symbols *symbols; /* NULL: no functions */
    uint64_t seen;                 /* events that reached the profile so far */
    double events_per_s;
    uint64_t passes, max_passes; /* done, and asked for; 0: no limit */
    uint64_t for_ns;             /* of the board's time; 0: no limit */
};

/* live_text - at most `columns` wide, in the order of the line. Where not all fits, what matters
 * less is left out as a whole: last go losses, what the board does, the hottest function (whose
 * name is shortened before it goes) and the progress to the end that was asked for. No control
 * characters. buf   LIVE_TEXT bytes. Returns buf. */
char *live_text(const struct live_now *now, unsigned columns, char *buf);

/* live_slowdown - of the whole profile so far (profiler/profile/slowdown.h). */
struct slowdown live_slowdown(const struct pump_view *v);

#endif
