/* How many bus cycles a function takes for one that the cycle table gives it: a linear model over
 * stretches of known length.
 *
 * A stretch of M cycles, in which functions have the estimates x[f], says M = sum of factor[f] *
 * x[f], with an error whose variance grows with the stretch. Before any stretch a factor is only
 * known to be near the mean of all; how near, the factors themselves show. Both together give every
 * factor and its variance in closed form. Functions that always share their stretches cannot be
 * separated, and their variances say so. With these weights the corrected functions add up to the
 * sum of the stretches. Memory is bounded: there are sums of products for S12Z_RATES functions, of
 * which the last one stands for all later ones. The result depends on the stretches, and on their
 * order only by rounding. */
#ifndef TARGETS_S12Z_TRACE_RATES_H
#define TARGETS_S12Z_TRACE_RATES_H

#include <stddef.h>
#include <stdint.h>

/* A part that is no code (the stacking of exceptions). It has its own factor, which says nothing of
 * the others. */
#define S12Z_RATES_APART (UINT32_MAX - 1)
enum {
    S12Z_RATES = 256 /* functions that are kept apart */,
    S12Z_PARTS = 32 /* functions of one stretch */
};

/* The part of a function in a stretch. */
struct s12z_share {
    uint32_t function; /* any number of the caller's */
    double cycles;     /* estimated; bus cycles */
};

/* A function's factor. In 95 cases of 100 the true one is within +- half. */
struct s12z_rate {
    uint32_t function;
    double factor, half;
    /* estimated bus cycles in stretches, each weighted by the function's share of the stretch */
    double own;
};

/* Fields are for reading. */
struct s12z_rates {
    uint64_t stretches;
    double measured, estimated; /* bus cycles in all stretches */
    double apart;               /* of `estimated`, the part of S12Z_RATES_APART */
    /* functions seen; when there are S12Z_RATES, the last one stands for all others */
    size_t n;
    struct s12z_sums *sums; /* NULL until the first stretch */
};

/* s12z_rates_add - adds a stretch of n different functions that took `measured` bus cycles. Returns
 * 0 or -ERR_NOMEM (at the first one only). */
int s12z_rates_add(struct s12z_rates *r, const struct s12z_share *part, unsigned n,
                   double measured);

/* s12z_rates_solve - the factors of all functions seen
 * total    estimated bus cycles of a function in the whole run: what of it was in no stretch makes
 *          its factor less sure. NULL: all was in stretches
 * out      S12Z_RATES of them
 * *others  what holds for a function that was in no stretch
 * Returns how many. Takes up to a tenth of a second with S12Z_RATES functions. */
size_t s12z_rates_solve(struct s12z_rates *r, double (*total)(void *ctx, uint32_t function),
                        void *ctx, struct s12z_rate *out, struct s12z_rate *others);

void s12z_rates_fini(struct s12z_rates *r); /* a zeroed one is fine */

#endif
