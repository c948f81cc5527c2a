/* Who called a function and what it called, as a table and as JSON. */
#ifndef PROFILER_VIEWS_REPORT_CALLS_H
#define PROFILER_VIEWS_REPORT_CALLS_H

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/views/calls.h"
#include "profiler/views/report.h"

/* report_calls - a table a side that is asked for, one row per caller, or per called function: hits
 * (of callers with their share), C1, C1+children and its share of the function's, C2, C2+children,
 * '?' if doubtful, name. A row that is part of an outer call of the same function has '-' for what
 * it called. o's sort, reverse, hits (of the function's hits) and limit act on the rows of each.
 * function   per side, by enum calls_side; PROFILE_NO_PARENT: not asked for
 * Returns 0 or -ERR_NOMEM. */
int report_calls(const struct profile *p, const uint32_t function[2],
                 const struct report_options *o, const struct text_sink *out, struct err *err);

/* report_calls_json - "probeprof.calls/1": counters, and of each function asked for its figures
 * with the rows of one side or both; counts as in the profile's own document. `function` is a name
 * of the other row, or null for "begins here" and "itself". function   as of report_calls() Returns
 * 0 or -ERR_NOMEM. */
int report_calls_json(const struct profile *p, const uint32_t function[2],
                      const struct text_sink *out, struct err *err);

#endif
