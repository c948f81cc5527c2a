/* Answers as gzip, for clients that say that they take it. */
#ifndef PROFILER_FEED_GZIP_H
#define PROFILER_FEED_GZIP_H

#include <stdbool.h>

#include "profiler/feed/http_bytes.h"

/* gzip_accepted - does the value of Accept-Encoding allow gzip? By name, or by '*' where gzip is
 * not named; not with a weight of 0 (RFC 9110, 12.5.3). NULL: it was not sent, so no. */
bool gzip_accepted(const char *accept_encoding);

/* gzip_bytes - the same compressed, a new reference; NULL: no memory. Any thread. */
struct http_bytes *gzip_bytes(const struct http_bytes *plain);

#endif
