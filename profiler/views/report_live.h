/* How long functions live (activations.h), as a table and as JSON. */
#ifndef PROFILER_VIEWS_REPORT_LIVE_H
#define PROFILER_VIEWS_REPORT_LIVE_H

#include "probe/base/sink.h"
#include "profiler/profile/profile.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report.h"

/* report_live - a row for each function of p->watched, the longest lived in all first: calls seen
 * whole, others, live, work, C1+children, least, mean and most of one call, and how its calls are
 * spread from the least to the most. o's expression and limit act on the rows. */
void report_live(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out);

/* report_live_json - "probeprof.live/1": all rows of p->watched, the histogram by powers of two. */
void report_live_json(const struct profile *p, const struct text_sink *out);

/* report_live_rows - the same rows as one value of a document. */
void report_live_rows(struct json_writer *j, const struct profile_watched *w);

#endif
