/* How a statistical profile was taken: how many samples were tried, how many failed, and how exact
 * its shares are. */
#ifndef PROFILER_CORE_SAMPLING_H
#define PROFILER_CORE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/event.h"

/* All zero for a trace. */
struct profile_sampling {
    uint64_t looks;      /* that met the CPU, awake or asleep */
    uint64_t asleep;     /* of those: the CPU slept, so there is no place */
    uint64_t missed;     /* moments that passed without a look, or whose look failed */
    uint64_t rate_asked; /* looks a second */
    uint64_t running_ns; /* time the looks are spread over, the program's halts left out */
};

struct sampling {
    struct profile_sampling sum; /* running_ns: of spans that are over; ask sampling_result() */
    uint64_t since_ns, last_ns;
    bool open; /* a span goes on, since since_ns */
};

/* sampling_feed - any event, in order; those of other kinds change nothing. Zero-initialise before
 * the first. */
void sampling_feed(struct sampling *s, const struct event *e);

/* sampling_result - so far. */
struct profile_sampling sampling_result(const struct sampling *s);

/* sampling_rate - looks a second, as achieved; 0 if there are too few to tell. */
double sampling_rate(const struct profile_sampling *s);

/* sampling_interval - between which shares the true one is, with 95 % probability, when `hits` of
 * `total` looks met a place low, high   0..1; 0 and 1 if total is 0 Wilson's score interval (E. B.
 * Wilson, JASA 22, 1927): holds for few hits, too. The looks are taken as independent. */
void sampling_interval(uint64_t hits, uint64_t total, double *low, double *high);

#endif
