/* Several profiles of one build as one: what each counted, added up, function by function and call
 * path by call path. */
#ifndef PROFILER_PROFILE_MERGE_H
#define PROFILER_PROFILE_MERGE_H

#include "profiler/profile/profile.h"

/* One of those to merge. */
struct merge_input {
    const struct profile *profile;
    const char *name;  /* for messages: its file */
    uint64_t code_sum; /* of a program without build id, as recording_code_sum(); 0 unknown */
};

/* profile_merge - the sum of n profiles, n at least 1
 * out    caller frees with profile_free(); it borrows nothing of them
 * Hits, counters, samples, blocks, branches and handlers are the sums; losses, too. A place that
 * gave no events in one of them is listed once. When, adapter and note are the first one's, remarks
 * are all of them. Refused, with the names of both: another build (build ids, else code sums), one
 * that does not say its build, other counters, samples beside a trace, tasks (which one of them is
 * which of the other's is not known). Returns 0, -ERR_USAGE, -ERR_NOMEM. */
int profile_merge(const struct merge_input *in, size_t n, struct profile **out, struct err *err);

/* merge_check_build - whether two are of one build
 * Returns 0; -ERR_USAGE, with their names: they are not, or one does not say. */
int merge_check_build(const struct merge_input *a, const struct merge_input *b, struct err *err);

#endif
