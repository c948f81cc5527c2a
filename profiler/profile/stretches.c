#include "profiler/profile/stretches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/student.h"

/* ---- while the tree is fed ---- */

/* Of a tree that was cleared what was before is of no use. */
static void see_clear(struct stretches *s, const struct calltree *t)
{
    uint64_t clears = calltree_stats(t)->clears;
    if (clears != s->clears) {
        s->n = s->nnodes = 0;
        s->ended = 0;
        s->shift = 0;
        s->failed = false;
    }
    s->clears = clears;
}

static bool room_for_nodes(struct stretches *s, size_t n)
{
    while (s->nnodes < n) {
        if (!array_room(&s->node, s->nnodes, &s->cap_nodes, sizeof *s->node))
            return false;
        s->node[s->nnodes++] = (struct stretch_node){ 0 };
    }
    return true;
}

/* What node i has more than when the last stretch ended; false: nothing, or it is no function. */
static bool grown_since(const struct stretches *s, const struct calltree_node *node, size_t i,
                        struct stretch_count *out)
{
    const struct stretch_node was = i < s->nnodes ? s->node[i] : (struct stretch_node){ 0 };
    if (node->kind == CALLTREE_LOST || (node->hits == was.hits && node->c1 == was.c1))
        return false;
    *out = (struct stretch_count){ (uint32_t)(s->ended >> s->shift), (uint32_t)i,
                                   node->hits - was.hits, node->c1 - was.c1 };
    return true;
}

static int by_stretch(const void *a, const void *b)
{
    const struct stretch_count *x = a, *y = b;
    return EITHER(COMPARE(x->stretch, y->stretch), COMPARE(x->node, y->node));
}

/* Two neighbours become one each. */
static void join_neighbours(struct stretches *s)
{
    size_t kept = 0;
    s->shift++;
    for (size_t i = 0; i < s->n; i++)
        s->row[i].stretch >>= 1;
    qsort(s->row, s->n, sizeof *s->row, by_stretch);
    for (size_t i = 0; i < s->n; i++)
        if (kept && by_stretch(&s->row[kept - 1], &s->row[i]) == 0) {
            s->row[kept - 1].hits += s->row[i].hits;
            s->row[kept - 1].c1 += s->row[i].c1;
        } else {
            s->row[kept++] = s->row[i];
        }
    s->n = kept;
}

/* Half of the room is to be free again, or it would be done at each stretch. */
static void bound_rows(struct stretches *s)
{
    const size_t most = EITHER(s->most, (size_t)STRETCHES_ROWS);
    if (s->n < most)
        return;
    while (s->n > most / 2 && s->ended >> s->shift > 2 * STRETCHES_LEAST)
        join_neighbours(s);
    s->failed = s->n > most / 2;
    if (s->failed)
        s->n = 0;
}

void stretches_end(struct stretches *s, const struct calltree *t)
{
    size_t n;
    const struct calltree_node *node = calltree_nodes(t, &n);
    struct stretch_count row;
    bool any = false;
    see_clear(s, t);
    if (s->failed || !room_for_nodes(s, n)) {
        s->failed = true;
        return;
    }
    for (size_t i = 0; i < n && !s->failed; i++) {
        if (!grown_since(s, &node[i], i, &row))
            continue;
        s->failed = !array_room(&s->row, s->n, &s->cap, sizeof *s->row);
        if (s->failed)
            return;
        any = true;
        s->row[s->n++] = row;
        s->node[i] = (struct stretch_node){ node[i].hits, node[i].c1 };
    }
    s->ended += any;
    bound_rows(s);
}

void stretches_fini(struct stretches *s)
{
    free(s->row);
    free(s->node);
    *s = (struct stretches){ .failed = false };
}

/* ---- ratios ---- */

/* One of the two counts, over all stretches. */
struct ratios {
    double *total; /* by stretch */
    size_t n;      /* stretches */
    size_t used;   /* those that count something */
    double sum;
    double all, squares; /* sums over stretches of total / (sum - total), and of its square */
    double unseen;       /* the part of the whole that was not seen; 1: not known */
};

static void ratios_sum(struct ratios *r)
{
    for (size_t k = 0; k < r->n; k++) {
        r->sum += r->total[k];
        r->used += r->total[k] > 0;
    }
    for (size_t k = 0; k < r->n && r->used > 1; k++) {
        double x = r->total[k] / (r->sum - r->total[k]);
        r->all += x;
        r->squares += x * x;
    }
}

/* Leaving out a stretch changes the ratio c/T by (r T_k - c_k) / (T - T_k). Stretches in which the
 * function did not run are in `all` and `squares`; those with it are corrected one by one. */
struct jackknife {
    const struct ratios *of;
    double ratio, sum, squares;
};

static struct jackknife jackknife_begin(const struct ratios *of, double count)
{
    double r = 0;
    if (of->sum > 0)
        r = count / of->sum;
    return (struct jackknife){ of, r, r * of->all, r * r * of->squares };
}

static void jackknife_add(struct jackknife *j, uint32_t stretch, double count)
{
    double total = j->of->total[stretch], rest = j->of->sum - total;
    if (rest <= 0)
        return;
    double without = j->ratio * total / rest, with = (j->ratio * total - count) / rest;
    j->sum += with - without;
    j->squares += with * with - without * without;
}

static double jackknife_half(const struct jackknife *j, double limit)
{
    double n = (double)j->of->used;
    double spread = j->squares - j->sum * j->sum / n;
    return limit * sqrt((n - 1) / n * fmax(spread, 0) * j->of->unseen);
}

/* ---- all of it ---- */

/* A function in the stretch that is looked at, and over all of them. */
struct share {
    double hits, c1; /* of the stretch */
    bool met;
    uint64_t all_hits, all_c1;
    double factor; /* by which the profile's counter has been corrected: profile_take_rates() */
    struct jackknife h, c;
};

struct applying {
    const struct stretch_ask *ask;
    struct stretch_half *out;        /* by function */
    const struct stretch_count *row; /* ended ones, and behind them the one under way */
    size_t n;
    struct share *share; /* by function */
    uint32_t *met;       /* functions of the stretch */
    size_t nmet;
    struct ratios of[2]; /* hits, counter 1 */
};

static struct share *share_of(struct applying *a, const struct stretch_count *row)
{
    return &a->share[a->ask->function_of_node[row->node]];
}

/* Rows [from, the result) are of one stretch: sums by function. */
static size_t sum_stretch(struct applying *a, size_t from)
{
    size_t end = from;
    for (; end < a->n && a->row[end].stretch == a->row[from].stretch; end++) {
        const struct stretch_count *row = &a->row[end];
        struct share *x = share_of(a, row);
        if (!x->met)
            a->met[a->nmet++] = a->ask->function_of_node[row->node];
        x->met = true;
        x->hits += (double)row->hits;
        x->c1 += x->factor * (double)row->c1;
    }
    return end;
}

static void forget_stretch(struct applying *a)
{
    for (size_t i = 0; i < a->nmet; i++) {
        struct share *x = &a->share[a->met[i]];
        x->hits = x->c1 = 0;
        x->met = false;
    }
    a->nmet = 0;
}

static void find_factors(struct applying *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct share *x = share_of(a, &a->row[i]);
        x->all_hits += a->row[i].hits;
        x->all_c1 += a->row[i].c1;
    }
    for (size_t f = 0; f < a->ask->functions; f++) {
        struct share *x = &a->share[f];
        x->factor = 1;
        if (x->all_c1)
            x->factor = (double)a->ask->c1[f] / (double)x->all_c1;
    }
}

static void find_totals(struct applying *a)
{
    double seen = a->ask->seen;
    for (size_t i = 0; i < a->n; i++) {
        a->of[0].total[a->row[i].stretch] += (double)a->row[i].hits;
        a->of[1].total[a->row[i].stretch] += share_of(a, &a->row[i])->factor * (double)a->row[i].c1;
    }
    for (int k = 0; k < 2; k++) {
        a->of[k].unseen = 1;
        if (seen >= 0)
            a->of[k].unseen = 1 - seen;
        ratios_sum(&a->of[k]);
    }
}

static void find_halves(struct applying *a, uint64_t used)
{
    double limit = student_limit((double)used - 1);
    for (size_t f = 0; f < a->ask->functions; f++) {
        struct share *x = &a->share[f];
        x->h = jackknife_begin(&a->of[0], (double)x->all_hits);
        x->c = jackknife_begin(&a->of[1], x->factor * (double)x->all_c1);
    }
    for (size_t from = 0, end; from < a->n; from = end) {
        end = sum_stretch(a, from);
        for (size_t i = 0; i < a->nmet; i++) {
            struct share *x = &a->share[a->met[i]];
            jackknife_add(&x->h, a->row[from].stretch, x->hits);
            jackknife_add(&x->c, a->row[from].stretch, x->c1);
        }
        forget_stretch(a);
    }
    for (size_t f = 0; f < a->ask->functions; f++) {
        const struct share *x = &a->share[f];
        a->out[f] = (struct stretch_half){ 0 };
        if (x->all_hits || x->all_c1)
            a->out[f] =
                (struct stretch_half){ jackknife_half(&x->h, limit), jackknife_half(&x->c, limit) };
    }
}

static uint64_t find_all(struct applying *a)
{
    find_factors(a);
    find_totals(a);
    size_t used = MIN(a->of[0].used, a->of[1].used);
    if (used < 2)
        return 0;
    find_halves(a, used);
    return used;
}

/* Behind the rows there are, those of the stretch under way. */
static struct stretch_count *copy_rows(const struct stretches *s, const struct calltree_node *node,
                                       size_t nnodes, size_t *n)
{
    struct stretch_count *row = malloc((s->n + nnodes + 1) * sizeof *row);
    if (!row)
        return NULL;
    if (s->n)
        memcpy(row, s->row, s->n * sizeof *row);
    *n = s->n;
    for (size_t i = 0; i < nnodes; i++)
        *n += grown_since(s, &node[i], i, &row[*n]);
    return row;
}

int stretches_halves(const struct stretches *s, const struct calltree *t,
                     const struct stretch_ask *ask, struct stretch_half *out, uint64_t *used,
                     struct err *err)
{
    size_t nnodes;
    const struct calltree_node *node = calltree_nodes(t, &nnodes);
    bool stale = calltree_stats(t)->clears != s->clears;
    *used = 0;
    if (s->failed || stale || !s->ended || ask->nodes < nnodes)
        return 0;
    size_t most = (size_t)(s->ended >> s->shift) + 1;
    double *totals = calloc(2 * most, sizeof *totals);
    struct applying a = { .ask = ask,
                          .out = out,
                          .of = { { .total = totals, .n = most },
                                  { .total = totals ? totals + most : NULL, .n = most } } };
    struct stretch_count *row = copy_rows(s, node, nnodes, &a.n);
    a.row = row;
    a.share = calloc(ask->functions + 1, sizeof *a.share);
    a.met = calloc(ask->functions + 1, sizeof *a.met);
    bool ok = totals && row && a.share && a.met;
    if (ok)
        *used = find_all(&a);
    free(totals);
    free(row);
    free(a.share);
    free(a.met);
    if (ok)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "intervals: out of memory");
}

int stretches_apply(const struct stretches *s, const struct calltree *t, struct profile *p,
                    struct err *err)
{
    uint64_t *c1 = calloc(p->nfunctions + 1, sizeof *c1), used = 0;
    struct stretch_half *half = calloc(p->nfunctions + 1, sizeof *half);
    int ret = c1 && half ? 0 : -ERR_NOMEM;
    for (size_t f = 0; ret == 0 && f < p->nfunctions; f++)
        c1[f] = p->functions[f].c1;
    const struct stretch_ask ask = { p->function_of_node, p->nfunction_of_node, p->nfunctions, c1,
                                     profile_c1_seen(p) };
    if (ret == 0)
        ret = stretches_halves(s, t, &ask, half, &used, err);
    else
        err_set(err, ERR_NOMEM, "close other programs", "intervals: out of memory");
    p->info.stretches = used;
    p->info.stretches_joined = 1ull << s->shift;
    for (size_t f = 0; used && f < p->nfunctions; f++) {
        p->functions[f].hits_half = half[f].hits;
        p->functions[f].c1_half = half[f].c1;
    }
    free(c1);
    free(half);
    return ret;
}
