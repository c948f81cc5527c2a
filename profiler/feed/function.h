/* One function of the feed's last state, with all that is known of it: figures, callers and
 * callees over all call paths, instructions and source lines with what was measured on them. */
#ifndef PROFILER_FEED_FUNCTION_H
#define PROFILER_FEED_FUNCTION_H

#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/feed/feed.h"
#include "profiler/feed/listing.h"

enum { FUNCTION_LINES = 8192, FUNCTION_LINE_TEXT = 400 };

/* function_write - one line of JSON (docs/feed.md, "One function")
 * id     the feed's, of this epoch
 * mark   callers and callees are of what came since it; NULL: of all
 * code   the program and its counts; NULL: not known
 * Returns 0; -ERR_NOT_FOUND: there is no such function, or mark; -ERR_NOMEM. Nothing was written
 * then. */
int function_write(const struct feed *f, uint64_t id, const char *mark,
                   const struct program_code *code, const struct text_sink *out, struct err *err);

#endif
