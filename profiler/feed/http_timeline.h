/* GET /api/1/timeline: who ran when, by the feed's last events. */
#ifndef PROFILER_FEED_HTTP_TIMELINE_H
#define PROFILER_FEED_HTTP_TIMELINE_H

#include "profiler/feed/feed.h"
#include "profiler/feed/timeline.h"

#define HTTP_TIMELINE_NAMES "from to px levels"

/* http_timeline_ask - what a query asks for: -ERR_USAGE names the parameter. */
int http_timeline_ask(const char *query, struct timeline_ask *ask, struct err *err);

/* http_timeline - the answer to a query, as JSON (docs/feed.md), of the feed as it was folded last.
 * Returns 0; -ERR_USAGE; -ERR_STATE: such events are not there, the hint says which are;
 * -ERR_NOMEM. */
int http_timeline(const struct feed *f, const char *query, const struct text_sink *out,
                  struct err *err);

#endif
