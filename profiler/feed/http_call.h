/* The context of the handlers of http_api.c's paths, and what they share. */
#ifndef PROFILER_FEED_HTTP_CALL_H
#define PROFILER_FEED_HTTP_CALL_H

#include "profiler/feed/http_api.h"

struct http_api {
    struct http_api_config cfg;
    struct http *http;
    struct readers *readers;
    struct raws *raws;
    struct lines *lines;
    struct jobs *jobs;
    const struct snapshot
        *served; /* the last one given out; the next request gets the same if nothing has changed */
};

/* One request, and its answer as it is made. */
struct call {
    struct http_api *api;
    const struct http_request *r;
    struct http_answer *a;
    const char *argument; /* of its path's row */
};

/* call_fail - the answer is that failure, with the status that its code has. */
void call_fail(struct http_answer *a, const struct err *err);

/* What a tag ends with whose content is compressed: "EPOCH-SEQ-gzip". */
#define CALL_GZIP_TAG "-gzip"

/* call_knows_tag - does the client have the body with the answer's tag, compressed or not? Then
 * the answer is a 304 with that tag. */
bool call_knows_tag(const struct call *c);

/* call_body - makes *out write into the answer's body; false: there is no memory, and the answer
 * says so. */
bool call_body(struct http_answer *a, const char *type, struct text_sink *out);

/* call_knows - checks that there are no parameters but these, with blanks between; false: the
 * answer says which one is unknown. */
bool call_knows(const struct call *c, const char *names);

#endif
