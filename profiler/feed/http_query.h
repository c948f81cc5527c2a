/* What stands behind the '?' of a request. */
#ifndef PROFILER_FEED_HTTP_QUERY_H
#define PROFILER_FEED_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

/* http_query_known - every parameter is one of these, none comes twice, and its text can be read
 * query   "a=1&b=x%20y"; "" is fine
 * names   separated by blanks: "interval view"
 * Returns 0; -ERR_USAGE names the one that is not. */
int http_query_known(const char *query, const char *names, struct err *err);

/* http_query_text - the text of a parameter, decoded; returns whether it is there. *buf is "" if it
 * is not, or cannot be read, or is longer than cap allows: http_query_known() has refused the
 * first two. */
bool http_query_text(const char *query, const char *name, char *buf, size_t cap);

/* http_query_number - a parameter that is a number of [least, most]; it keeps its value if it is
 * not there. Returns 0; -ERR_USAGE names it. */
int http_query_number(const char *query, const char *name, uint64_t least, uint64_t most,
                      uint64_t *value, struct err *err);

#endif
