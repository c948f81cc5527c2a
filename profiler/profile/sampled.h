/* What was sampled, beside what was measured: of two runs of one build, one traced and one sampled,
 * each function's part of the time by both. They agree where the trace has neither missed nor
 * changed anything that matters. */
#ifndef PROFILER_PROFILE_SAMPLED_H
#define PROFILER_PROFILE_SAMPLED_H

#include <stdbool.h>

#include "profiler/profile/merge.h"
#include "profiler/profile/profile.h"

/* sampled_take - puts the samples of one profile beside the functions of another
 * p        a trace whose counter 1 counts time; gets profile_function.sampled and profile.sampled
 * trace    the same profile, with the name and the build of its recording
 * samples  a statistical profile; not changed, and nothing of it is borrowed
 * A sample belongs to the function, or the block of probeprof.marks, whose range holds its address.
 * Returns 0; -ERR_USAGE, with both names: another build, one that does not say its build, a counter
 * 1 that does not count time, no sample in any function of the trace; -ERR_NOMEM. */
int sampled_take(struct profile *p, const struct merge_input *trace,
                 const struct merge_input *samples, struct err *err);

/* What was found of one function, 0 to 1. */
struct sampled_share {
    double measured;  /* its part of what was seen of counter 1; 0 of a loss itself */
    double share;     /* its part of the samples in functions that the trace has */
    double low, high; /* between which the true one is with 95 % probability */
    bool outside;     /* the measured one is not, nor its interval where events were lost */
};

/* sampled_share - of a function of p, which has samples (p->sampled.total). */
struct sampled_share sampled_share(const struct profile *p, const struct profile_function *f);

#endif
