/* Answers that take long are made by another thread: a profile as a document, and compression. The
 * loop goes on meanwhile. */
#ifndef PROFILER_FEED_HTTP_JOBS_H
#define PROFILER_FEED_HTTP_JOBS_H

#include "profiler/feed/http_call.h"
#include "profiler/views/exporters.h"

enum {
    JOBS_MOST = 32,          /* at a time; further requests are answered 503, with Retry-After */
    JOBS_LEAST_BYTES = 1400, /* what fits into a packet is not compressed */
};

struct jobs; /* those under way */

/* jobs_new - none. 0 or -ERR_NOMEM. */
int jobs_new(struct jobs **out, struct err *err);

/* jobs_free - before http_free(): the results of jobs under way are dropped. NULL is fine. */
void jobs_free(struct jobs *j);

/* jobs_export - the answer is a profile as the exporter writes it. from: a reference that is taken
 * over. */
void jobs_export(const struct call *c, const struct exporter *as, const struct snapshot *from);

/* jobs_gzip - compresses the answer if the client accepts that and it is large enough. Called
 * behind every handler. */
void jobs_gzip(const struct call *c);

#endif
