#include "targets/s12z/trace/rates.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/err.h"
#include "probe/base/util.h"

enum { N = S12Z_RATES, SLOTS = 4 * N, ROUNDS = 8 };
/* What is taken for known before anything was measured, and how many functions or stretches that is
 * worth. */
/* bus cycles added to a stretch's length for its weight: a stamp is whole bus cycles */
static const double SHORTEST = 4;
/* standard deviation of factors among functions, of their mean */
static const double TABLE_ERROR = 0.3;
static const double TABLE_WORTH = 3;
static const double MEAN_WORTH = 0.5;
static const double NOISE = 0.25; /* variance of a stretch by its length */
static const double NOISE_WORTH = 2;
/* stretches a function; more of them are the same code again, with the same error */
static const double ALIKE = 30;
/* of the deviation among functions: a function's factor on one path differs from its own by that */
static const double PATHS = 0.3;
/* standard deviations for 95 of 100, and what few degrees of freedom add: near Student's t */
static const double LIKELY = 1.96, RARE = 2.5;
/* of the variance among pieces of code: stretches show the beginnings of runs more often than their
 * ends */
static const double LOPSIDED = 0.15;
static const double LEAST_FACTOR = 0.01, MOST = 1000;

struct s12z_sums {
    uint32_t function[N];
    uint32_t slot[SLOTS];      /* index + 1 by hash */
    double g[N][N];            /* products of estimates, by weight; lower half */
    double b[N];               /* of estimates and what was measured */
    double seen[N];            /* stretches, by the function's share of each */
    double square;             /* of what was measured */
    double a[N][N], factor[N]; /* work: Cholesky's factor, then its inverse */
};

static uint32_t index_of(struct s12z_rates *r, uint32_t function)
{
    struct s12z_sums *s = r->sums;
    uint32_t k = function * 2654435761u % SLOTS;
    while (s->slot[k] && s->function[s->slot[k] - 1] != function)
        k = (k + 1) % SLOTS;
    if (s->slot[k])
        return s->slot[k] - 1;
    if (r->n == N)
        return N - 1;
    s->function[r->n] = function;
    s->slot[k] = (uint32_t)++r->n;
    return (uint32_t)r->n - 1;
}

int s12z_rates_add(struct s12z_rates *r, const struct s12z_share *part, unsigned n, double measured)
{
    uint32_t at[S12Z_PARTS];
    double length = 0;
    n = MIN(n, (unsigned)S12Z_PARTS);
    if (!r->sums && !(r->sums = calloc(1, sizeof *r->sums)))
        return -ERR_NOMEM;
    for (unsigned k = 0; k < n; k++) {
        at[k] = index_of(r, part[k].function);
        length += part[k].cycles;
        if (part[k].function == S12Z_RATES_APART)
            r->apart += part[k].cycles;
    }
    double weight = 1 / (length + SHORTEST);
    for (unsigned k = 0; k < n; k++) {
        r->sums->b[at[k]] += weight * part[k].cycles * measured;
        r->sums->seen[at[k]] += part[k].cycles / (length + SHORTEST);
        for (unsigned j = 0; j < n; j++)
            if (at[j] <= at[k])
                r->sums->g[at[k]][at[j]] += weight * part[k].cycles * part[j].cycles;
    }
    r->sums->square += weight * measured * measured;
    r->stretches++;
    r->measured += measured;
    r->estimated += length;
    return 0;
}

/* ---- solving ---- */

struct guess {
    double mean, spread2, noise;
    double evidence; /* factors that the mean rests on */
    double alike;    /* stretches for one that tells something of its own */
    double own;      /* a stretch's length, of what one function has in it */
};

/* Variance of a stretch by its length: what was seen, and what functions differ by on the few paths
 * there are, which all fit may hide. */
static double noise_of(const struct guess *q)
{
    return (q->noise + PATHS * PATHS * q->spread2 * q->own) * q->alike;
}

static bool is_apart(const struct s12z_sums *s, size_t i)
{
    return s->function[i] == S12Z_RATES_APART;
}
static double prior_mean(const struct s12z_sums *s, size_t i, const struct guess *q)
{
    if (is_apart(s, i))
        return 1;
    return q->mean;
}
static double prior_spread2(const struct s12z_sums *s, size_t i, const struct guess *q)
{
    if (is_apart(s, i))
        return TABLE_ERROR * TABLE_ERROR;
    return q->spread2;
}

/* Without what is apart, as the table has that. */
static double ratio_of(const struct s12z_rates *r)
{
    double rest = r->estimated - r->apart;
    if (rest > 0)
        return fmax((r->measured - r->apart) / rest, LEAST_FACTOR);
    return 1;
}

/* a = lower Cholesky factor of g / noise + 1 / spread2. */
static void decompose_matrix(struct s12z_sums *s, size_t n, const struct guess *q)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double v = s->g[i][j] / noise_of(q) + (i == j ? 1 / prior_spread2(s, i, q) : 0);
            for (size_t k = 0; k < j; k++)
                v -= s->a[i][k] * s->a[j][k];
            if (i == j)
                s->a[i][j] = sqrt(fmax(v, 1e-12));
            else
                s->a[i][j] = v / s->a[j][j];
        }
}

/* Forwards and backwards through a. */
static void solve_factors(struct s12z_sums *s, size_t n, const struct guess *q)
{
    double *x = s->factor;
    for (size_t i = 0; i < n; i++) {
        x[i] = s->b[i] / noise_of(q) + prior_mean(s, i, q) / prior_spread2(s, i, q);
        for (size_t k = 0; k < i; k++)
            x[i] -= s->a[i][k] * x[k];
        x[i] /= s->a[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= s->a[k][i] * x[k];
        x[i] /= s->a[i][i];
    }
}

/* a becomes its inverse; variances are the squares of its columns. */
static void invert_matrix(struct s12z_sums *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double d = 1 / s->a[i][i];
        for (size_t j = 0; j < i; j++) {
            double v = 0;
            for (size_t k = j; k < i; k++)
                v -= s->a[i][k] * s->a[k][j];
            s->a[i][j] = v * d;
        }
        s->a[i][i] = d;
    }
}

static double variance_of(const struct s12z_sums *s, size_t n, size_t i)
{
    double v = 0;
    for (size_t k = i; k < n; k++)
        v += s->a[k][i] * s->a[k][i];
    return v;
}

/* Weighted squares of what the factors do not explain. */
static double residue_of(const struct s12z_sums *s, size_t n)
{
    double v = s->square;
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        for (size_t j = 0; j < i; j++)
            row += 2 * s->g[i][j] * s->factor[j];
        v += s->factor[i] * (row + s->g[i][i] * s->factor[i] - 2 * s->b[i]);
    }
    return fmax(v, 0);
}

/* One round of expectation and maximisation: what mean, spread and noise the factors with their
 * variances speak for. */
static void improve_guess(const struct s12z_rates *r, struct guess *q)
{
    const struct s12z_sums *s = r->sums;
    double n = 0, sum = MEAN_WORTH * ratio_of(r), evidence = MEAN_WORTH, squares = 0, variances = 0,
           freedom = 0;
    for (size_t i = 0; i < r->n; i++) { /* what a factor knows beyond the mean it was given */
        double v = variance_of(s, r->n, i), knows = fmax(1 - v / prior_spread2(s, i, q), 0);
        freedom += knows;
        if (is_apart(s, i))
            continue;
        n++;
        sum += s->factor[i] - (1 - knows) * q->mean;
        evidence += knows;
        variances += v;
    }
    double mean = fmax(sum / evidence, LEAST_FACTOR);
    for (size_t i = 0; i < r->n; i++)
        if (!is_apart(s, i))
            squares += (s->factor[i] - mean) * (s->factor[i] - mean);
    q->noise = (residue_of(s, r->n) + q->noise * freedom * q->alike + NOISE * NOISE_WORTH) /
               ((double)r->stretches + NOISE_WORTH);
    q->spread2 = (squares + variances + TABLE_WORTH * TABLE_ERROR * TABLE_ERROR * mean * mean) /
                 (n + TABLE_WORTH);
    q->mean = mean;
    q->evidence = evidence;
}

size_t s12z_rates_solve(struct s12z_rates *r, double (*total)(void *ctx, uint32_t function),
                        void *ctx, struct s12z_rate *out, struct s12z_rate *others)
{
    struct s12z_sums *s = r->sums;
    *others = (struct s12z_rate){ .factor = 1, .half = LIKELY * TABLE_ERROR };
    if (!s || r->estimated <= 0)
        return 0;
    struct guess q = { .mean = ratio_of(r),
                       .noise = NOISE,
                       .evidence = MEAN_WORTH,
                       .alike = fmax((double)r->stretches / (ALIKE * (double)r->n), 1) };
    q.spread2 = TABLE_ERROR * TABLE_ERROR * q.mean * q.mean;
    for (size_t k = 0; k < r->n; k++)
        q.own += s->g[k][k] / (double)r->stretches;
    for (unsigned round = 0; round < ROUNDS; round++) {
        decompose_matrix(s, r->n, &q);
        solve_factors(s, r->n, &q);
        invert_matrix(s, r->n);
        if (round + 1 < ROUNDS)
            improve_guess(r, &q);
    }
    /* variance of measured by estimated, from stretch to stretch */
    double scatter = residue_of(s, r->n) / r->estimated;
    /* among pieces of code: what of a function was in no stretch */
    double pieces = q.spread2 + scatter;
    double likely = LIKELY + RARE / (q.evidence + TABLE_WORTH);
    for (size_t k = 0; k < r->n; k++) {
        double all = total ? total(ctx, s->function[k]) : 0, own = s->g[k][k];
        double unseen = all > own ? 1 - own / all : 0,
               blind = unseen * unseen * (LOPSIDED + 1 / (1 + s->seen[k])) * pieces;
        /* from the mean, which is not sure itself */
        double v = variance_of(s, r->n, k), from_mean = fmin(v / prior_spread2(s, k, &q), 1);
        double half =
            likely * sqrt(fmax(v + from_mean * from_mean * q.spread2 / q.evidence + blind, 0));
        out[k] = (struct s12z_rate){ s->function[k], fmin(fmax(s->factor[k], LEAST_FACTOR), MOST),
                                     fmin(half, MOST), own };
    }
    *others =
        (struct s12z_rate){ .factor = fmin(q.mean, MOST),
                            .half = fmin(likely * sqrt(q.spread2 * (1 + 1 / q.evidence) + scatter),
                                         MOST) };
    return r->n;
}

void s12z_rates_fini(struct s12z_rates *r)
{
    free(r->sums);
    *r = (struct s12z_rates){ 0 };
}
