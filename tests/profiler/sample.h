/* A profile to show: the fixture small-le.elf "run" by hand-made events, through call tree and
 * symbols. */
#ifndef TESTS_PROFILER_SAMPLE_H
#define TESTS_PROFILER_SAMPLE_H

#include "profiler/profile/profile.h"

/* main calls list_sum twice and tree_depth once, which walks four deep; one interrupt, one C++
 * function, one function without a symbol; some doubt. Caller frees. */
struct profile *sample_profile(void);

/* The events alone. */
const struct event *sample_events(size_t *n);

#endif
