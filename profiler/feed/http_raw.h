/* The recording, while it is written: its blocks as they are on disk, for clients that want every
 * event. Where it is cut into several files, one follows another. Nothing is dropped: for a slow
 * client only a file position is kept. */
#ifndef PROFILER_FEED_HTTP_RAW_H
#define PROFILER_FEED_HTTP_RAW_H

#include <stdint.h>

#include "profiler/feed/http.h"

struct raws;

/* Which file is number `part` of the run's recording, 0 the first: as it is called now. Returns 0;
 * -ERR_NOT_FOUND: there is none of that number, others: there is no recording. */
typedef int raw_path(void *ctx, unsigned part, char *path, size_t cap, struct err *err);

/* raws_new - nobody reads. 0 or -ERR_NOMEM. */
int raws_new(raw_path *path, void *ctx, struct raws **out, struct err *err);

/* raws_free - after http_free(). NULL is fine. */
void raws_free(struct raws *r);

/* raws_open - makes the answer a stream of the recording: what stands before each file's events,
 * then the blocks that hold event number `from` of the run and later ones, until the last file's
 * end. */
void raws_open(struct raws *r, uint64_t from, struct http_answer *a);

/* raws_serve - gives the next block, once it is whole on the disk, to every reader that has taken
 * the last one. Returns how many got one; if any did, there may be more. */
unsigned raws_serve(struct raws *r);

/* raws_count - how many read. */
unsigned raws_count(const struct raws *r);

#endif
