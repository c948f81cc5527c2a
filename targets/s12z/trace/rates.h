/* How many bus cycles a function takes for one that the cycle table gives it: a linear model over
 * stretches of known length.
 *
 * A stretch that took M and in which functions have estimates x[f] says M = sum of factor[f] *
 * x[f], with an error whose variance grows with the stretch. What is known before any stretch is
 * that a factor is somewhere around the mean of all, by how much the factors themselves tell. Both
 * together give every factor with its variance in closed form; functions that always share their
 * stretches cannot be told apart, and their variances say so. Weighted so, what the stretches add
 * up to is what the corrected functions add up to. Bounded: sums of products for S12Z_RATES
 * functions, the later ones together. Depends on the stretches alone, not on their order but for
 * rounding. */
#ifndef TARGETS_S12Z_TRACE_RATES_H
#define TARGETS_S12Z_TRACE_RATES_H

#include <stddef.h>
#include <stdint.h>

/* A part that is no code (the stacking of exceptions): it has its factor, but says nothing of the
 * others'. */
#define S12Z_RATES_APART (UINT32_MAX - 1)
enum {
    S12Z_RATES = 256 /* functions told apart */,
    S12Z_PARTS = 32 /* functions of one stretch */
};

/* The part of a function in a stretch. */
struct s12z_share {
    uint32_t function; /* any number of the caller's */
    double cycles;     /* estimated; bus cycles */
};

/* A function's factor: 95 times of 100 the true one is within +- half. */
struct s12z_rate {
    uint32_t function;
    double factor, half;
    /* estimated bus cycles in stretches, each weighed by the function's share of the stretch */
    double own;
};

/* Fields are for reading. */
struct s12z_rates {
    uint64_t stretches;
    double measured, estimated; /* bus cycles in all stretches */
    double apart;               /* of those estimated */
    /* functions seen; the last one stands for all others when there are S12Z_RATES */
    size_t n;
    struct s12z_sums *sums; /* NULL until the first stretch */
};

/* s12z_rates_add - a stretch of n different functions that took `measured` bus cycles. Returns 0 or
 * -ERR_NOMEM (at the first one only). */
int s12z_rates_add(struct s12z_rates *r, const struct s12z_share *part, unsigned n,
                   double measured);

/* s12z_rates_solve - factors of all functions seen
 * total   estimated bus cycles of a function in the whole run: what of it was in no stretch is less
 * sure. NULL: all was out     S12Z_RATES of them; *others: what holds for a function that was in no
 * stretch Returns how many. Up to a tenth of a second with S12Z_RATES functions. */
size_t s12z_rates_solve(struct s12z_rates *r, double (*total)(void *ctx, uint32_t function),
                        void *ctx, struct s12z_rate *out, struct s12z_rate *others);

void s12z_rates_fini(struct s12z_rates *r); /* a zeroed one is fine */

#endif
