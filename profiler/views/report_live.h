/* How long functions live (activations.h), as a table and as JSON. */
#ifndef PROFILER_VIEWS_REPORT_LIVE_H
#define PROFILER_VIEWS_REPORT_LIVE_H

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/core/calltree.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/activations.h"
#include "profiler/profile/profile.h"
#include "profiler/views/report.h"

/* What is shown; all borrowed. */
struct live_times {
    const struct profile *profile; /* for its counters and names */
    const struct calltree *tree;   /* at its end */
    const struct symbols *symbols; /* NULL: functions are named by address */
    const struct activations *activations;
};

/* report_live - a row for each function, the longest lived in all first: calls seen whole, others,
 * live, work, C1+children, least, mean and most of one call, and how its calls are spread from the
 * least to the most. o's expression and limit act on the rows. Returns 0 or -ERR_NOMEM. */
int report_live(const struct live_times *l, const struct report_options *o,
                const struct text_sink *out, struct err *err);

/* report_live_json - "probeprof.live/1": all rows, the histogram by powers of two. Returns 0 or
 * -ERR_NOMEM. */
int report_live_json(const struct live_times *l, const struct text_sink *out, struct err *err);

#endif
