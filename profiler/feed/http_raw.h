/* The recording, while it is written: its blocks as they are on disk, for whoever wants every
 * event. Nothing is dropped: a reader that is slow reads later from the disk, which costs a file
 * position. */
#ifndef PROFILER_FEED_HTTP_RAW_H
#define PROFILER_FEED_HTTP_RAW_H

#include <stdint.h>

#include "profiler/feed/http.h"

struct raws;

/* raws_new - nobody reads. 0 or -ERR_NOMEM. */
int raws_new(struct raws **out, struct err *err);

/* raws_free - after http_free(). NULL is fine. */
void raws_free(struct raws *r);

/* raws_open - makes the answer a stream of a recording: what stands before its events, then the
 * blocks that hold event number `from` and later ones, until its end block
 * path   the recording, or what is there of it. */
void raws_open(struct raws *r, const char *path, uint64_t from, struct http_answer *a);

/* raws_serve - hungry readers get the next block, if it is whole on the disk. Returns how many got
 * one: then there may be more. */
unsigned raws_serve(struct raws *r);

/* raws_count - how many read. */
unsigned raws_count(const struct raws *r);

#endif
