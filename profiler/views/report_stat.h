/* What two counters said of stretches of an untraced program: table and JSON of `probeprof stat`.
 */
#ifndef PROFILER_VIEWS_REPORT_STAT_H
#define PROFILER_VIEWS_REPORT_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/sink.h"
#include "profiler/profile/profile.h"
#include "profiler/profile/replicates.h"

struct stat_event {
    struct profile_counter counter; /* name NULL: not used, and the rest is of no meaning */
    struct moments value;           /* of a stretch */
    uint64_t least, most;
    uint64_t own;    /* of each, at most, the debugger's */
    bool has_traced; /* what a recording of the same stretches says: */
    double traced;   /* mean of a pass */
};

/* Strings are borrowed; NULL: not known. */
struct stat_result {
    const char *program, *target, *probe;
    const char *start;       /* NULL: where the program stood */
    const char *const *stop; /* nstops of them */
    size_t nstops;
    struct stat_event event[2];
    struct moments least_s, most_s; /* seconds of a stretch, by the link's clock: between these */
    uint64_t steps;                 /* in all stretches, single steps of the debugger */
    const char *traced;             /* name of that recording; NULL: none */
    uint64_t traced_passes;
};

/* stat_add - one more stretch. */
void stat_add(struct stat_result *s, const uint64_t value[2], uint64_t least_ns, uint64_t most_ns,
              uint64_t steps);

/* report_stat - table, in 80 columns, for one stretch or more. */
void report_stat(const struct stat_result *s, const struct text_sink *out);

/* report_stat_json - the same as a document, schema probeprof.stat/1. */
void report_stat_json(const struct stat_result *s, const struct text_sink *out);

#endif
