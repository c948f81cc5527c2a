/* What `convert` is told of buckets of samples: profil()'s arguments, as text. */
#ifndef PROFILER_CLI_BUCKETS_H
#define PROFILER_CLI_BUCKETS_H

#include "profiler/core/symbols.h"
#include "profiler/views/profil.h"

/* Zero-initialise. */
struct buckets {
    const char *range;  /* --range, borrowed; NULL: not said */
    const char *sizing; /* which of --scale, --buckets, --buffer was said; NULL: none */
    const char *said;   /* any of the options, for messages; NULL: none */
    struct profil_request request;
};

/* buckets_take - an option
 * name   "range", "scale", "buckets", "buffer" or "bucket-bytes"
 * Returns 0 or -ERR_USAGE: its value, or one more of --scale, --buckets, --buffer. */
int buckets_take(struct buckets *b, const char *name, const char *value, struct err *err);

/* buckets_resolve - the request as a profile's writer wants it, with addresses for what --range
 * names; out: NULL if nothing was said. s may be NULL. Returns 0; what symbols_parse() does. */
int buckets_resolve(struct buckets *b, const struct symbols *s, const struct profil_request **out,
                    struct err *err);

#endif
