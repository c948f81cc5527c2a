/* What files of counts by address hold, <PROF1> and gmon.out: samples of code, and calls. They name
 * no functions. */
#ifndef PROFILER_VIEWS_PC_COUNTS_H
#define PROFILER_VIEWS_PC_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"

/* Samples of a bucket, which is of the code in [low, high). */
struct pc_sample {
    uint64_t low, high, count;
};

/* Calls; from is 0 in counts of calls, and where an arc comes from nowhere. */
struct pc_call {
    uint64_t from, to, count;
};

/* Zero-initialise; pc_counts_fini(). */
struct pc_counts {
    bool has_samples, has_counts, has_arcs; /* the file has a part of that kind */
    struct pc_sample *sample;               /* of buckets that are not empty */
    struct pc_call *count, *arc;
    size_t nsamples, ncounts, narcs;
    size_t cap_samples, cap_counts, cap_arcs;
    size_t full; /* buckets with the highest count that they can hold */
};

/* What a format calls things. Texts are static, or live as long as the profile. */
struct pc_format {
    const char *name;           /* "PROF1", for messages */
    const char *counter, *unit; /* of samples, where there are calls beside them: counter 1 */
    const char *note;           /* what the file does not tell */
    const char *skipped;        /* "sections of another kind are left out"; with nskipped */
    uint64_t nskipped;
};

/* pc_counts_add_sample, pc_counts_add_call, pc_counts_add_arc - one more; false: out of memory. */
bool pc_counts_add_sample(struct pc_counts *c, const struct pc_sample *s);
bool pc_counts_add_call(struct pc_counts *c, const struct pc_call *call);
bool pc_counts_add_arc(struct pc_counts *c, const struct pc_call *arc);

/* pc_counts_fini - frees; a zeroed struct is fine. */
void pc_counts_fini(struct pc_counts *c);

/* pc_profile - addresses become functions: of the program, else each is one by itself. Samples
 * alone are a statistical profile. Calls alone are a trace without counters. Of both, samples are
 * counter 1 and calls are hits: what functions took with what they called is not known then.
 * syms   the program's; NULL: it is not known
 * out    profile_free()
 * Returns 0; -ERR_FORMAT: all counts together have more than 64 bits; -ERR_NOMEM. */
int pc_profile(const struct pc_counts *c, const struct symbols *syms,
               const struct pc_format *format, struct profile **out, struct err *err);

#endif
