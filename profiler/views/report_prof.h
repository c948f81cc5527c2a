/* A profile as prof and gprof show theirs, with what was measured beside what gprof would charge
 * (charge.h). Source: PA-64, introduction and sections 1 and 2; the columns are those of prof(1)
 * and gprof(1). */
#ifndef PROFILER_VIEWS_REPORT_PROF_H
#define PROFILER_VIEWS_REPORT_PROF_H

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/views/report.h"

/* report_prof - report_header() and prof's list: share, running sum, counter 1 (of samples:
 * seconds, where their rate is known), calls, counter 1 a call (milliseconds), name; the most
 * first. What is not known is
 * "-". o's expression and limit act on the rows. Returns 0; -ERR_USAGE: counter 1 was not counted;
 * -ERR_NOMEM. */
int report_prof(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err);

/* report_prof_json - "probeprof.prof/1", all rows of it. */
int report_prof_json(const struct profile *p, const struct text_sink *out, struct err *err);

/* report_gprof - report_header() and gprof's call graph of a trace: for each function its callers
 * above, what it called below; of each what is charged to them by calls, and what was measured. A
 * '*' stands where these differ by more than a tenth of the called function. o's expression and
 * limit act on the functions. Returns 0; -ERR_USAGE: samples, or counter 1 was not counted;
 * -ERR_NOMEM. */
int report_gprof(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err);

/* report_gprof_json - "probeprof.gprof/1", all of it. */
int report_gprof_json(const struct profile *p, const struct text_sink *out, struct err *err);

#endif
