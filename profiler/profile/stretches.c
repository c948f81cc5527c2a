#include "profiler/profile/stretches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/student.h"

/* ---- while the tree is fed ---- */

static bool room_for_node(struct stretches *s, uint32_t node)
{
    while (s->nnodes <= node) {
        if (!array_room(&s->node, s->nnodes, &s->cap_nodes, sizeof *s->node))
            return false;
        s->node[s->nnodes++] = (struct stretch_node){ .met = UINT32_MAX };
    }
    return true;
}

static void meet_node(struct stretches *s, uint32_t node)
{
    if (!room_for_node(s, node)) {
        s->failed = true;
    } else if (s->node[node].met != s->stretch) {
        s->failed |= !array_room(&s->met, s->nmet, &s->cap_met, sizeof *s->met);
        if (s->failed)
            return;
        s->node[node].met = s->stretch;
        s->met[s->nmet++] = node;
    }
}

static void keep_row(struct stretches *s, const struct stretch_count *row)
{
    if (s->n == STRETCHES_MOST || !array_room(&s->row, s->n, &s->cap, sizeof *s->row))
        s->failed = true;
    else
        s->row[s->n++] = *row;
}

/* What the tree has more than at the end of a node's last stretch is this one's. */
static void end_stretch(struct stretches *s)
{
    size_t n;
    const struct calltree_node *node = calltree_nodes(*s->tree, &n);
    for (size_t i = 0; i < s->nmet && !s->failed; i++) {
        const struct calltree_node *is = &node[s->met[i]];
        struct stretch_node *was = &s->node[s->met[i]];
        const struct stretch_count row = { s->stretch, s->met[i], is->hits - was->hits,
                                           is->c1 - was->c1 };
        was->hits = is->hits;
        was->c1 = is->c1;
        if (row.hits || row.c1)
            keep_row(s, &row);
    }
    s->stretch += s->nmet > 0;
    s->nmet = 0;
}

static void on_step(void *ctx, const struct calltree_step *step)
{
    struct stretches *s = ctx;
    if (step->flags & CALLTREE_STEP_GAP)
        end_stretch(s);
    else
        meet_node(s, step->node);
}

static void on_enter(void *ctx, const struct calltree_activation *a) { meet_node(ctx, a->node); }

static void on_clear(void *ctx)
{
    struct stretches *s = ctx;
    s->n = s->nnodes = s->nmet = 0;
    s->stretch = 0;
}

void stretches_init(struct stretches *s, struct calltree *const *tree)
{
    *s =
        (struct stretches){ .watch = { s, on_step, on_enter, NULL, on_clear, NULL }, .tree = tree };
}

void stretches_fini(struct stretches *s)
{
    free(s->row);
    free(s->node);
    free(s->met);
    *s = (struct stretches){ .failed = false };
}

/* ---- by function ---- */

/* From here on `node` is an index into the profile's functions. */
static void name_functions(struct stretches *s, const struct profile *p)
{
    for (size_t i = 0; i < s->n; i++)
        s->row[i].node = p->function_of_node[s->row[i].node];
}

static int by_function(const void *a, const void *b)
{
    const struct stretch_count *x = a, *y = b;
    return EITHER(COMPARE(x->node, y->node), COMPARE(x->stretch, y->stretch));
}

static void add_up(struct stretches *s)
{
    size_t kept = 0;
    if (s->n)
        qsort(s->row, s->n, sizeof *s->row, by_function);
    for (size_t i = 0; i < s->n; i++)
        if (kept && by_function(&s->row[kept - 1], &s->row[i]) == 0) {
            s->row[kept - 1].hits += s->row[i].hits;
            s->row[kept - 1].c1 += s->row[i].c1;
        } else {
            s->row[kept++] = s->row[i];
        }
    s->n = kept;
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
    double r = of->sum > 0 ? count / of->sum : 0;
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

/* Rows of one function, and by how much its counter was corrected. */
static void apply_function(struct profile_function *f, const struct stretch_count *row, size_t n,
                           double factor, const struct ratios of[2], double limit)
{
    uint64_t hits = 0, c1 = 0;
    for (size_t i = 0; i < n; i++) {
        hits += row[i].hits;
        c1 += row[i].c1;
    }
    struct jackknife h = jackknife_begin(&of[0], (double)hits),
                     c = jackknife_begin(&of[1], factor * (double)c1);
    for (size_t i = 0; i < n; i++) {
        jackknife_add(&h, row[i].stretch, (double)row[i].hits);
        jackknife_add(&c, row[i].stretch, factor * (double)row[i].c1);
    }
    f->hits_half = jackknife_half(&h, limit);
    f->c1_half = jackknife_half(&c, limit);
}

static size_t rows_of_one(const struct stretches *s, size_t from)
{
    size_t n = 1;
    while (from + n < s->n && s->row[from + n].node == s->row[from].node)
        n++;
    return n;
}

/* The profile's counts have been corrected where they are estimates (profile_take_rates()). */
static double factor_of(const struct stretches *s, const struct profile *p, size_t from, size_t n)
{
    uint64_t c1 = 0;
    for (size_t i = from; i < from + n; i++)
        c1 += s->row[i].c1;
    return c1 ? (double)p->functions[s->row[from].node].c1 / (double)c1 : 1;
}

static void apply_all(const struct stretches *s, struct profile *p, struct ratios of[2])
{
    for (size_t i = 0, n; i < s->n; i += n) {
        n = rows_of_one(s, i);
        double factor = factor_of(s, p, i, n);
        for (size_t k = i; k < i + n; k++) {
            of[0].total[s->row[k].stretch] += (double)s->row[k].hits;
            of[1].total[s->row[k].stretch] += factor * (double)s->row[k].c1;
        }
    }
    double seen = profile_c1_seen(p);
    for (int i = 0; i < 2; i++) {
        of[i].unseen = seen >= 0 ? 1 - seen : 1;
        ratios_sum(&of[i]);
    }
    size_t used = MIN(of[0].used, of[1].used);
    if (used < 2)
        return;
    p->info.stretches = used;
    double limit = student_limit((double)used - 1);
    for (size_t i = 0, n; i < s->n; i += n) {
        n = rows_of_one(s, i);
        apply_function(&p->functions[s->row[i].node], &s->row[i], n, factor_of(s, p, i, n), of,
                       limit);
    }
}

int stretches_apply(struct stretches *s, struct profile *p, struct err *err)
{
    end_stretch(s);
    if (s->failed || p->nfunction_of_node < s->nnodes)
        return 0;
    name_functions(s, p);
    add_up(s);
    double *totals = calloc(2 * ((size_t)s->stretch + 1), sizeof *totals);
    if (!totals)
        return err_set(err, ERR_NOMEM, "close other programs", "intervals: out of memory");
    struct ratios of[2] = { { .total = totals, .n = s->stretch },
                            { .total = totals + s->stretch, .n = s->stretch } };
    apply_all(s, p, of);
    free(totals);
    return 0;
}
