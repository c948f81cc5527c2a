/* How good an estimated counter is: factors by function with their spreads, from EVENT_RATE. */
#ifndef PROFILER_CORE_RATES_H
#define PROFILER_CORE_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/event.h"

/* Code low..high (exclusive) really takes factor of what was estimated; with 95 % probability
 * within +- half of that. */
struct rate {
    uint64_t low, high;
    double factor, half;
};

/* Zero-initialise. Memory grows with the number of different functions. */
struct rates {
    bool given;            /* counter 1 is an estimate */
    uint64_t measurements; /* it is corrected by; 0: factors are 1, spreads unknown */
    unsigned sources;      /* enum event_source */
    struct rate others;    /* for code that is in no row */
    struct rate *row;      /* ascending, not overlapping */
    size_t n, cap;
};

/* rates_add - takes one event; other kinds are ignored. An event without a pc begins a new set.
 * Returns 0 or -ERR_NOMEM. */
int rates_add(struct rates *r, const struct event *e);

/* rates_at - what holds at an address; borrowed until the next rates_add(). */
const struct rate *rates_at(const struct rates *r, uint64_t addr);

/* rate_corrected - an estimated count as it really is. */
uint64_t rate_corrected(const struct rate *r, uint64_t estimated);

/* Spreads are summed in 1,024ths, as whole numbers: sums do not depend on their order. */
enum { RATE_SPREAD_PARTS = 1024 };

/* rate_spread - of an estimated count, in those. rate_spread_sum - of a sum of them, rounded. */
uint64_t rate_spread(const struct rate *r, uint64_t estimated);
uint64_t rate_spread_sum(uint64_t parts);

/* rate_by - a count, `by` times; rounded. */
uint64_t rate_by(uint64_t count, double by);

void rates_fini(struct rates *r); /* a zeroed one is fine */

#endif
