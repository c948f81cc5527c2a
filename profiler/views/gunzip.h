/* What gzip has made small, whole again. */
#ifndef PROFILER_VIEWS_GUNZIP_H
#define PROFILER_VIEWS_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/buffer.h"
#include "probe/base/err.h"

/* gunzip_is - whether bytes that begin so are gzip's. Source: RFC 1952, 2.3.1. */
bool gunzip_is(const uint8_t *head, size_t n);

/* gunzip - one member, to the end of the data
 * most   bytes that may come out
 * out    empty; what came out, also of a failure: buffer_fini()
 * Returns 0; -ERR_FORMAT with the offset in data: damaged, cut short, more than `most`, bytes
 * behind the end; -ERR_NOMEM. */
int gunzip(const uint8_t *data, size_t len, size_t most, struct buffer *out, struct err *err);

#endif
