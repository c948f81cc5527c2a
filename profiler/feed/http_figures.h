/* Answers that are figures of the service and the run, one function in full, and the profile as a
 * file. Each is a handler of a path (http_api.c). */
#ifndef PROFILER_FEED_HTTP_FIGURES_H
#define PROFILER_FEED_HTTP_FIGURES_H

#include "profiler/feed/http_call.h"

/* figures_readers - who follows the feed.
 * figures_status - the run and the service.
 * figures_health - 503 while the board has been away for long.
 * figures_metrics - the same for Prometheus. */
void figures_readers(const struct call *c);
void figures_status(const struct call *c);
void figures_health(const struct call *c);
void figures_metrics(const struct call *c);

/* figures_function - the function whose id stands behind FIGURES_FUNCTION in the path. */
#define FIGURES_FUNCTION "/api/1/function/"
void figures_function(const struct call *c);

/* figures_export - the profile as a file; the row's argument is the format's name. */
void figures_export(const struct call *c);

#endif
