/* What each function did within a point of the series: kept small, as varints of the growth, so
 * that any range of the history can be summed. Counter 1 is kept uncorrected, so that later
 * corrections of an estimate hold for the past, too. */
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"

enum {
    RANGE_BYTES = 4 << 20, /* of a series, at most */
    VARINT_BYTES = 10,
    ROW_VARINTS = 1 + FUNCTION_FIGURES
};

static struct function_figures *figures_at(struct feed *f, const struct series *s, size_t i)
{
    return &f->extra[i].at[s == &f->ten];
}

/* As the tree has them: not corrected. */
static struct function_figures figures_now(const struct feed *f, size_t i)
{
    const struct function_sums *to = &f->extra[i].to;
    const struct profile_function *is = &f->functions[i].is;
    return (struct function_figures){ { is->hits, f->has_rates ? to->estimated_own : is->c1,
                                        f->has_rates ? to->estimated : is->c1_children, is->c2,
                                        is->c2_children } };
}

void range_begin(struct feed *f, struct series *s)
{
    for (size_t i = 0; i < f->nfunctions; i++)
        *figures_at(f, s, i) = figures_now(f, i);
}

/* ---- keeping ---- */

static uint8_t *put_varint(uint8_t *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (uint8_t)(v | 0x80);
    *at++ = (uint8_t)v;
    return at;
}

static const uint8_t *take_varint(const uint8_t *at, uint64_t *v)
{
    unsigned shift = 0;
    for (*v = 0; *at & 0x80; shift += 7)
        *v |= (uint64_t)(*at++ & 0x7F) << shift;
    *v |= (uint64_t)*at++ << shift;
    return at;
}

/* A row of what has grown since the point began; none if nothing has. */
static uint8_t *put_function(struct feed *f, const struct series *s, size_t i, size_t *last,
                             uint8_t *at)
{
    struct function_figures now = figures_now(f, i), *before = figures_at(f, s, i);
    bool any = false;
    for (size_t k = 0; k < FUNCTION_FIGURES; k++)
        any = any || now.v[k] != before->v[k];
    if (!any)
        return at;
    at = put_varint(at, i - *last);
    *last = i;
    for (size_t k = 0; k < FUNCTION_FIGURES; k++)
        at = put_varint(at, EXCESS(now.v[k], before->v[k]));
    return at;
}

static void forget_before(struct series *s, uint64_t number)
{
    for (; s->range_first < number; s->range_first++) {
        struct series_point *p = &s->ring[s->range_first % s->size];
        s->range_bytes -= p->ndid;
        free(p->did);
        p->did = NULL;
        p->ndid = 0;
    }
}

void range_point(struct feed *f, struct series *s, struct series_point *p)
{
    size_t last = 0;
    uint8_t *rows = malloc(f->nfunctions * ROW_VARINTS * VARINT_BYTES + 1), *at = rows;
    if (s->n >= s->size) /* its place is taken */
        forget_before(s, s->n - s->size + 1);
    for (size_t i = 0; rows && i < f->nfunctions; i++)
        at = put_function(f, s, i, &last, at);
    size_t n = 0;
    if (rows)
        n = (size_t)(at - rows);
    uint8_t *small = NULL;
    if (rows)
        small = realloc(rows, n + 1);
    p->did = EITHER(small, rows);
    p->ndid = (uint32_t)n;
    s->range_bytes += n;
    while (s->range_bytes > RANGE_BYTES && s->range_first < s->n)
        forget_before(s, s->range_first + 1);
    if (!rows) /* a hole: older rows cannot be summed across it */
        forget_before(s, s->n);
    s->range_first += !rows;
}

void range_fini(struct series *s)
{
    if (s->ring)
        forget_before(s, s->n);
}

/* ---- summing ---- */

static int64_t begin_of(const struct series_point *p) { return p->wall_ms - (int64_t)p->span_ms; }

/* When the oldest point that has rows began; INT64_MAX: there is none. */
static int64_t oldest_ms(const struct series *s)
{
    if (s->range_first < s->n)
        return begin_of(series_at(s, s->range_first));
    return INT64_MAX;
}

static void add_rows(struct history_range *r, const struct series_point *p)
{
    uint64_t id = 0, v;
    for (const uint8_t *at = p->did, *end = at + p->ndid; at < end;) {
        at = take_varint(at, &v);
        id += v;
        for (size_t k = 0; k < FUNCTION_FIGURES; k++) {
            at = take_varint(at, &v);
            r->sum[id].v[k] += v;
        }
    }
}

static void add_point(struct history_range *r, uint64_t number, const struct series_point *p)
{
    if (!r->n)
        r->first = number;
    if (!r->n)
        r->from_ms = begin_of(p);
    r->last = number;
    r->to_ms = p->wall_ms;
    r->span_ms += p->span_ms;
    r->events += p->events;
    r->lost += p->lost;
    r->n++;
    add_rows(r, p);
}

static void add_points(struct history_range *r, int64_t from_ms, int64_t to_ms)
{
    for (uint64_t n = r->s->range_first; n < r->s->n; n++) {
        const struct series_point *p = series_at(r->s, n);
        if (p->wall_ms > from_ms && p->wall_ms <= to_ms)
            add_point(r, n, p);
    }
}

static struct function_figures corrected_figures(const struct feed *f, size_t i,
                                                 const struct function_figures *sum)
{
    const struct function_extra *x = &f->extra[i];
    struct function_figures is = *sum;
    const struct member *m = NULL;
    if (f->nmembers)
        m = &f->members[x->member];
    if (m && !f->functions[i].is.group && m->is_rated)
        is.v[FIGURE_C1] = rate_corrected(&m->rate, is.v[FIGURE_C1]);
    else if (f->has_rates && x->to.estimated_own) /* several functions, as they are by and large */
        is.v[FIGURE_C1] = rate_by(is.v[FIGURE_C1], (double)x->to.c1 / (double)x->to.estimated_own);
    if (f->has_rates && x->to.estimated)
        is.v[FIGURE_C1_CHILDREN] =
            rate_by(is.v[FIGURE_C1_CHILDREN], (double)x->to.c1_children / (double)x->to.estimated);
    return is;
}

static int nothing_there(const struct feed *f, struct err *err)
{
    char hint[160];
    int64_t oldest = MIN(oldest_ms(&f->second), oldest_ms(&f->ten));
    if (oldest == INT64_MAX)
        return err_set(err, ERR_STATE, "ask again in a second", "there is no history yet");
    const struct series *s = f->second.n ? &f->second : &f->ten;
    snprintf(hint, sizeof hint, "there is something from %lld to %lld", (long long)oldest,
             (long long)series_at(s, s->n - 1)->wall_ms);
    return err_set(err, ERR_STATE, hint,
                   "no point of the history that is kept ended in this range");
}

/* Seconds, as long as none of them is forgotten, or if they reach as far back as is asked for. */
static const struct series *series_for(const struct feed *f, int64_t from_ms)
{
    bool seconds = f->second.range_first == 0 || oldest_ms(&f->second) <= from_ms ||
                   oldest_ms(&f->ten) == INT64_MAX;
    if (seconds)
        return &f->second;
    return &f->ten;
}

int range_sum(const struct feed *f, int64_t from_ms, int64_t to_ms, struct history_range *out,
              struct err *err)
{
    struct history_range r = { .s = series_for(f, from_ms),
                               .sum = calloc(f->nfunctions + 1, sizeof *r.sum) };
    if (!r.sum)
        return err_set(err, ERR_NOMEM, "close other programs", "range: out of memory");
    add_points(&r, from_ms, to_ms);
    if (!r.n) {
        free(r.sum);
        return nothing_there(f, err);
    }
    for (size_t i = 0; i < f->nfunctions; i++)
        r.sum[i] = corrected_figures(f, i, &r.sum[i]);
    *out = r;
    return 0;
}
