/* Answers that are states of the feed: all of one, what has changed since another, streams of them,
 * and the history. Each is a handler of a path (http_api.c). */
#ifndef PROFILER_FEED_HTTP_STATES_H
#define PROFILER_FEED_HTTP_STATES_H

#include "profiler/feed/http_call.h"

/* states_stream - frames as they come; the row's argument is "sse" or "ndjson". */
void states_stream(const struct call *c);

/* states_snapshot - one frame: everything, what has changed, or the values at a mark. */
void states_snapshot(const struct call *c);

/* states_series, states_range, states_log, states_timeline - the history, what a part of it did,
 * the log, and who ran when. */
void states_series(const struct call *c);
void states_range(const struct call *c);
void states_log(const struct call *c);
void states_timeline(const struct call *c);

#endif
