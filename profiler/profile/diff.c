#include "profiler/profile/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/student.h"

#define ALARM 0.05

/* ---- one comparison ---- */

/* Variance of the mean. */
static double variance_of_mean(const struct moments *m)
{
    return m->squares / (double)(m->n - 1) / (double)m->n;
}

/* Degrees of freedom by Welch and Satterthwaite. */
static double degrees_of_freedom(const struct moments *a, double va, const struct moments *b,
                                 double vb)
{
    double below = va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1);
    return (va + vb) * (va + vb) / below;
}

static double part_of(double difference, double whole)
{
    if (difference == 0)
        return 0;
    return difference / whole; /* infinite where there was nothing */
}

void diff_compare(const struct moments *was, const struct moments *is, struct diff_result *out)
{
    double difference = is->mean - was->mean;
    *out = (struct diff_result){ .change = part_of(difference, was->mean),
                                 .spread = NAN,
                                 .chance = NAN };
    if (was->n < 2 || is->n < 2)
        return;
    double va = variance_of_mean(was), vb = variance_of_mean(is);
    out->exact = va == 0 && vb == 0;
    if (out->exact) {
        out->spread = 0;
        out->chance = difference == 0;
        return;
    }
    double df = degrees_of_freedom(was, va, is, vb), error = sqrt(va + vb);
    out->chance = student_tail(difference / error, df);
    out->spread = NAN;
    if (was->mean > 0)
        out->spread = student_limit(df) * error / was->mean;
}

/* ---- many ---- */

static enum diff_verdict verdict_of(const struct diff_result *r)
{
    if (!(r->chance >= 0)) /* not known */
        return DIFF_UNCLEAR;
    if (r->exact && r->change == 0)
        return DIFF_SAME;
    if (fabs(r->change) + r->spread <= DIFF_SAME_PART)
        return DIFF_SAME;
    if (r->chance >= ALARM)
        return DIFF_UNCLEAR;
    if (r->change > 0)
        return DIFF_SLOWER;
    return DIFF_FASTER;
}

static int by_chance(const void *a, const void *b)
{
    const struct diff_result *x = *(struct diff_result *const *)a,
                             *y = *(struct diff_result *const *)b;
    return COMPARE(x->chance, y->chance);
}

int diff_judge(struct diff_result *const *result, size_t n, struct err *err)
{
    struct diff_result **order = calloc(n + 1, sizeof(struct diff_result *));
    size_t known = 0;
    double most = 0;
    if (!order)
        return err_set(err, ERR_NOMEM, "close other programs", "diff: out of memory");
    for (size_t i = 0; i < n; i++)
        if (result[i]->chance >= 0)
            order[known++] = result[i];
    qsort(order, known, sizeof(struct diff_result *), by_chance);
    for (size_t i = 0; i < known; i++) {
        most = MAX(most, order[i]->chance * (double)(known - i));
        order[i]->chance = MIN(most, 1.0);
    }
    for (size_t i = 0; i < n; i++)
        result[i]->verdict = verdict_of(result[i]);
    free(order);
    return 0;
}

/* ---- two profiles ---- */

/* Those of other programs have a name alone. */
static bool same_counter(const struct profile_counter *a, const struct profile_counter *b)
{
    if (a->code && b->code)
        return a->code == b->code;
    if (a->name && b->name)
        return !strcmp(a->name, b->name);
    return a->code == b->code;
}

static int check_sides(const struct diff_side side[2], struct err *err)
{
    for (int i = 0; i < 2; i++)
        if (side[i].profile->type == PROFILE_STATISTICAL)
            return err_set(err, ERR_USAGE, "profile without --sample",
                           "%s has samples: diff compares what was counted", side[i].name);
    if (same_counter(&side[0].profile->info.counter[0], &side[1].profile->info.counter[0]))
        return 0;
    return err_set(err, ERR_USAGE, "profile both with the same --c1",
                   "%s and %s counted other things in counter 1: %s and %s", side[0].name,
                   side[1].name,
                   text_or(side[0].profile->info.counter[0].name, "something unnamed"),
                   text_or(side[1].profile->info.counter[0].name, "something unnamed"));
}

static bool lost_something(const struct profile *p)
{
    for (size_t i = 0; i < p->ncoverage; i++)
        if (p->coverage[i].at.kind == COVERAGE_LOST || p->coverage[i].at.kind == COVERAGE_AWAY)
            return true;
    return p->info.sums_only;
}

/* Passes are comparable if all of each was seen. */
static bool can_use_passes(const struct diff_side side[2])
{
    for (int i = 0; i < 2; i++)
        if (!side[i].replicate || side[i].passes < DIFF_LEAST_PASSES ||
            lost_something(side[i].profile))
            return false;
    return true;
}

/* Without replicates the mean of a call, alone. */
static struct moments moments_of(const struct diff *d, const struct diff_side *s,
                                 const struct profile_function *f)
{
    size_t i = (size_t)(f - s->profile->functions);
    if (d->by_run)
        return (struct moments){ .mean = (double)f->c1 };
    if (d->by_pass)
        return s->replicate[i].pass;
    if (s->replicate && s->replicate[i].call.n)
        return s->replicate[i].call;
    return (struct moments){ .mean = (double)f->c1 / (double)MAX(f->hits, 1u) };
}

static double share_of(const struct diff_side *s, const struct profile_function *f)
{
    if (f)
        return part_of((double)f->c1, (double)s->profile->total_c1);
    return 0;
}

static void fill_row(const struct diff *d, struct diff_row *r, const struct diff_side side[2])
{
    double was = share_of(&side[0], r->was), is = share_of(&side[1], r->is);
    r->dcpi = part_of(is - was, is + was);
    if (r->was)
        r->of[0] = moments_of(d, &side[0], r->was);
    if (r->is)
        r->of[1] = moments_of(d, &side[1], r->is);
    diff_compare(&r->of[0], &r->of[1], &r->result);
    double change = isfinite(r->result.change) ? fabs(r->result.change) : 1;
    r->weight = MAX(was, is) * (r->was && r->is ? change : 1);
}

static int by_name(const void *a, const void *b)
{
    const struct profile_function *x = *(const struct profile_function *const *)a,
                                  *y = *(const struct profile_function *const *)b;
    int order = strcmp(profile_shown_name(x), profile_shown_name(y));
    return EITHER(order, COMPARE(x->low, y->low));
}

struct names {
    const struct profile_function **f;
    size_t n;
};

static bool sort_names(const struct profile *p, struct names *out)
{
    out->f = calloc(p->nfunctions + 1, sizeof *out->f);
    for (size_t i = 0; out->f && i < p->nfunctions; i++)
        if (!p->functions[i].task && (p->functions[i].hits || p->functions[i].c1))
            out->f[out->n++] = &p->functions[i];
    if (out->f)
        qsort(out->f, out->n, sizeof *out->f, by_name);
    return out->f != NULL;
}

static int by_weight(const void *a, const void *b)
{
    const struct diff_row *x = a, *y = b;
    return COMPARE(y->weight, x->weight);
}

/* Rows of both, by name. */
static void pair_names(const struct names all[2], struct diff *out)
{
    for (size_t i = 0, k = 0; i < all[0].n || k < all[1].n;) {
        struct diff_row *r = &out->row[out->n++];
        int order = 1;
        if (i < all[0].n)
            order = -1;
        if (i < all[0].n && k < all[1].n)
            order = strcmp(profile_shown_name(all[0].f[i]), profile_shown_name(all[1].f[k]));
        r->was = NULL;
        if (order <= 0)
            r->was = all[0].f[i++];
        r->is = NULL;
        if (order >= 0)
            r->is = all[1].f[k++];
    }
}

static int judge_rows(struct diff *d, struct err *err)
{
    struct diff_result **result = calloc(d->n + 1, sizeof(struct diff_result *));
    size_t n = 0;
    if (!result)
        return err_set(err, ERR_NOMEM, "close other programs", "diff: out of memory");
    for (size_t i = 0; i < d->n; i++)
        if (d->row[i].was && d->row[i].is)
            result[n++] = &d->row[i].result;
        else
            d->row[i].result.verdict = d->row[i].is ? DIFF_NEW : DIFF_GONE;
    int ret = diff_judge(result, n, err);
    free(result);
    return ret;
}

static int fill_rows(const struct diff_side side[2], const struct names all[2], struct diff *out,
                     struct err *err)
{
    out->row = calloc(all[0].n + all[1].n + 1, sizeof *out->row);
    if (!out->row)
        return err_set(err, ERR_NOMEM, "close other programs", "diff: out of memory");
    pair_names(all, out);
    out->by_run = !profile_knows(side[0].profile, PROFILE_HITS) ||
                  !profile_knows(side[1].profile, PROFILE_HITS);
    out->by_pass = !out->by_run && can_use_passes(side);
    for (size_t i = 0; i < out->n; i++)
        fill_row(out, &out->row[i], side);
    for (int i = 0; i < 2; i++) {
        out->sums_only[i] = !side[i].replicate;
        out->total[i] = (double)side[i].profile->total_c1;
        if (out->by_pass)
            out->total[i] /= (double)side[i].passes;
    }
    out->change = part_of(out->total[1] - out->total[0], out->total[0]);
    return judge_rows(out, err);
}

int diff_make(const struct diff_side side[2], struct diff *out, struct err *err)
{
    struct names all[2] = { { .n = 0 } };
    int ret = check_sides(side, err);
    if (ret < 0)
        return ret;
    if (sort_names(side[0].profile, &all[0]) && sort_names(side[1].profile, &all[1]))
        ret = fill_rows(side, all, out, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "diff: out of memory");
    free(all[0].f);
    free(all[1].f);
    if (ret == 0)
        qsort(out->row, out->n, sizeof *out->row, by_weight);
    return ret;
}

void diff_fini(struct diff *d)
{
    free(d->row);
    *d = (struct diff){ .n = 0 };
}
