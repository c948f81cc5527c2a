/* Two profiles compared (diff.h), as a table and as JSON. */
#ifndef PROFILER_VIEWS_REPORT_DIFF_H
#define PROFILER_VIEWS_REPORT_DIFF_H

#include "probe/base/sink.h"
#include "profiler/profile/diff.h"
#include "profiler/views/report.h"

/* report_diff - what was compared, the totals, and a row for each function: mean before and now,
 * change and its 95 % interval, verdict, DCPI's measure. o's limit acts on the rows; what it leaves
 * out is said. */
void report_diff(const struct diff *d, const struct diff_side side[2],
                 const struct report_options *o, const struct text_sink *out);

/* report_diff_json - "probeprof.diff/1": all rows. */
void report_diff_json(const struct diff *d, const struct diff_side side[2],
                      const struct text_sink *out);

/* report_diff_verdict - its word: "slower". */
const char *report_diff_verdict(enum diff_verdict v);

#endif
