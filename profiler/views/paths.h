/* A profile as formats of other programs need it: call paths with their own counts, and named
 * columns. */
#ifndef PROFILER_VIEWS_PATHS_H
#define PROFILER_VIEWS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/profile/profile.h"

enum path_value { PATH_HITS, PATH_C1, PATH_C2, PATH_NVALUES };

/* What one call path took by itself, without what it called. */
struct path {
    const uint32_t *function; /* indices into the profile's, outermost first */
    size_t depth;             /* at least 1 */
    uint64_t value[PATH_NVALUES];
    bool doubtful;
};

/* A column of numbers. */
struct path_column {
    enum path_value value;
    const char *name, *unit; /* "hits", "count"; "elapsed-time", "cycles"; "samples", "count" */
    uint64_t total;          /* over all paths */
};

/* paths_each - calls visit for each path that took anything, parents before children; functions are
 * the paths of a statistical profile. visit returns 0 to go on, negative to end; `path` is borrowed
 * until it returns. Returns 0, what visit returned, -ERR_NOMEM. */
int paths_each(const struct profile *p, int (*visit)(void *ctx, const struct path *path), void *ctx,
               struct err *err);

/* paths_columns - the columns that this profile has: hits, or samples, first, if they are known.
 * Returns how many, one at least. */
size_t paths_columns(const struct profile *p, struct path_column column[PATH_NVALUES]);

/* paths_counted - the first of n columns that is a counter's; 0 if there is none. */
size_t paths_counted(const struct path_column *column, size_t n);

/* paths_column - the one that was asked for: report_options.value. Returns 0; -ERR_USAGE: it was
 * not counted. */
int paths_column(const struct profile *p, unsigned value, struct path_column *out, struct err *err);

/* paths_clean - a text in buf of n bytes: each byte that is a command to a terminal, and each of
 * `reserved`, is '_'; cut at a character's end. Returns buf. */
char *paths_clean(const char *text, const char *reserved, char *buf, size_t n);

/* paths_name - a function's name as people see it, cleaned so. */
char *paths_name(const struct profile *p, size_t function, const char *reserved, char *buf,
                 size_t n);

/* paths_coverage - what was seen and what not, one line for people: "24016 events, 0 lost, 7
 * doubtful". Returns buf. */
char *paths_coverage(const struct profile *p, char *buf, size_t n);

/* paths_put - printf() to a sink, at most 511 bytes, as it is: arguments that come from outside
 * have to be names made by paths_name(). */
void paths_put(const struct text_sink *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
