/* From runs to what a picture of so many pixels shows. */
#include "profiler/feed/timeline.h"

#include <stdlib.h>

#include "probe/base/err.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { LOOK_BACK = 32 /* entries of a pixel that the same one is looked for in */ };

/* A part of a run within one pixel. */
struct piece {
    uint64_t function, from, to;
    uint32_t call;
    uint16_t vector;
    uint8_t flags;
};

/* The span that is being made of a level. */
struct level {
    struct timeline *t;
    uint32_t level;
    struct piece *piece; /* of the pixel */
    size_t n;
    uint64_t pixel;
    struct timeline_span *last; /* NULL: nothing to go on with */
    uint64_t last_pixel;
    uint32_t last_call;
    bool last_many; /* it had several calls in its last pixel */
};

static uint64_t pixel_of(const struct timeline *t, uint64_t at) { return (at - t->from) / t->step; }

/* ---- calls ---- */

static int by_function(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return EITHER(COMPARE(x->function, y->function), COMPARE(x->from, y->from));
}

/* Pieces [from, end) of one function as one span. */
static struct timeline_span span_of(const struct level *l, size_t from, size_t end)
{
    const struct piece *p = l->piece;
    struct timeline_span s = {
        .from = p[from].from,
        .to = p[end - 1].to,
        .function = p[from].function,
        .level = l->level,
        .vector = p[from].vector,
    };
    for (size_t i = from; i < end; i++) {
        s.busy += p[i].to - p[i].from;
        s.times += i == from || p[i].call != p[i - 1].call;
        s.flags |= p[i].flags;
    }
    return s;
}

/* A span goes on in the next pixel if it is the same call, or if both have too many to tell them
 * apart. */
static void give_span(struct level *l, const struct timeline_span *s, uint32_t first, uint32_t last)
{
    struct timeline *t = l->t;
    struct timeline_span *before = l->last;
    bool same = before && l->last_pixel + 1 == l->pixel && before->function == s->function;
    if (same && (l->last_call == first || (l->last_many && s->times > 1))) {
        before->to = s->to;
        before->busy += s->busy;
        before->times += s->times - (l->last_call == first);
        before->flags |= s->flags;
    } else {
        t->calls[t->ncalls] = *s;
        l->last = &t->calls[t->ncalls++];
    }
    l->last_pixel = l->pixel;
    l->last_call = last;
    l->last_many = s->times > 1;
}

/* Who had most of the pixel? */
static void end_pixel(struct level *l)
{
    struct timeline_span best = { 0 };
    uint32_t first = 0, last = 0;
    if (l->n > 1)
        qsort(l->piece, l->n, sizeof *l->piece, by_function);
    for (size_t i = 0, end; i < l->n; i = end) {
        for (end = i + 1; end < l->n && l->piece[end].function == l->piece[i].function;)
            end++;
        struct timeline_span s = span_of(l, i, end);
        if (s.busy <= best.busy)
            continue;
        best = s;
        first = l->piece[i].call;
        last = l->piece[end - 1].call;
    }
    if (best.busy)
        give_span(l, &best, first, last);
    l->n = 0;
}

static void take_run(struct level *l, const struct timeline_run *r)
{
    const struct timeline *t = l->t;
    uint64_t at = MAX(r->from, t->from), to = MIN(r->to, t->to);
    while (at < to) {
        uint64_t pixel = pixel_of(t, at), end = MIN(t->from + (pixel + 1) * t->step, to);
        if (pixel != l->pixel)
            end_pixel(l);
        l->pixel = pixel;
        l->piece[l->n++] = (struct piece){ r->function, at, end, r->call, r->vector, r->flags };
        at = end;
    }
}

/* Indices of the runs of each level that is shown, in order; begin[level] is where they begin. */
static void sort_levels(const struct timeline_runs *r, uint32_t levels, size_t *begin,
                        size_t *order)
{
    for (uint32_t i = 0; i < levels + 2; i++)
        begin[i] = 0;
    for (size_t i = 0; i < r->n; i++) {
        uint32_t level = (uint32_t)(r->run[i].level - r->lowest);
        if (level < levels)
            begin[level + 2]++;
    }
    for (uint32_t i = 2; i < levels + 2; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < r->n; i++) {
        uint32_t level = (uint32_t)(r->run[i].level - r->lowest);
        if (level < levels)
            order[begin[level + 1]++] = i;
    }
}

/* No more spans than pixels on a level, and no more than pieces. */
static size_t most_spans(const struct timeline_runs *r, const struct timeline *t, uint32_t levels)
{
    size_t pixels = (size_t)((t->to - t->from + t->step - 1) / t->step);
    return MAX(pixels * levels, (size_t)1) + (r->n == 0);
}

static int make_calls(const struct timeline_runs *r, struct timeline *t, uint32_t most)
{
    uint32_t levels = MIN(t->levels, most);
    size_t *begin = malloc((levels + 2) * sizeof *begin);
    size_t *order = malloc((r->n + 1) * sizeof *order);
    struct piece *piece = malloc((r->n + 1) * sizeof *piece);
    t->calls = malloc(most_spans(r, t, levels) * sizeof *t->calls);
    bool ok = begin && order && piece && t->calls;
    if (ok)
        sort_levels(r, levels, begin, order);
    for (uint32_t level = 0; ok && level < levels; level++) {
        struct level l = { .t = t, .level = level, .piece = piece };
        for (size_t i = begin[level]; i < begin[level + 1]; i++)
            take_run(&l, &r->run[order[i]]);
        end_pixel(&l);
    }
    free(begin);
    free(order);
    free(piece);
    if (ok)
        return 0;
    return -ERR_NOMEM;
}

/* ---- what is never left out ---- */

static bool is_seen(const struct timeline *t, uint64_t from, uint64_t to)
{
    return from <= t->to && (from >= t->from || to > t->from);
}

static bool is_same_pixel(const struct timeline *t, uint64_t a, uint64_t b)
{
    return a >= t->from && b >= t->from && pixel_of(t, a) == pixel_of(t, b);
}

static void take_handler(struct timeline *t, const struct timeline_run *r, int32_t lowest)
{
    struct timeline_span s = {
        .from = MAX(r->from, t->from),
        .to = MIN(r->to, t->to),
        .function = r->function,
        .level = (uint32_t)(r->level - lowest),
        .times = 1,
        .vector = r->vector,
        .flags = r->flags,
    };
    s.busy = s.to - s.from;
    for (size_t i = t->nhandlers, n = 0; i-- > 0 && n < LOOK_BACK; n++) {
        struct timeline_span *x = &t->handlers[i];
        if (!is_same_pixel(t, x->from, s.from))
            break;
        if (x->function != s.function || x->vector != s.vector ||
            ((x->flags ^ s.flags) & TIMELINE_EXCEPTION) || !is_same_pixel(t, x->to, s.from))
            continue;
        x->to = MAX(x->to, s.to);
        x->busy += s.busy;
        x->times++;
        x->flags |= s.flags;
        return;
    }
    t->handlers[t->nhandlers++] = s;
}

static int make_handlers(const struct timeline_runs *r, struct timeline *t)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += bits_if(r->run[i].flags & TIMELINE_HANDLER, 1);
    t->handlers = malloc((n + 1) * sizeof *t->handlers);
    if (!t->handlers)
        return -ERR_NOMEM;
    for (size_t i = 0; i < r->n; i++)
        if ((r->run[i].flags & TIMELINE_HANDLER) && is_seen(t, r->run[i].from, r->run[i].to))
            take_handler(t, &r->run[i], r->lowest);
    return 0;
}

/* In place: the runs' own lists become the answer's. */
static void make_gaps(struct timeline_runs *r, struct timeline *t)
{
    t->gaps = r->gaps;
    r->gaps = NULL;
    for (size_t i = 0; i < r->ngaps; i++) {
        struct timeline_gap g = t->gaps[i];
        if (!is_seen(t, g.from, g.to))
            continue;
        g.from = MAX(g.from, t->from);
        g.to = MIN(g.to, t->to);
        struct timeline_gap *x = NULL;
        if (t->ngaps)
            x = &t->gaps[t->ngaps - 1];
        if (x && x->cause == g.cause && is_same_pixel(t, x->from, g.from)) {
            x->to = MAX(x->to, g.to);
            x->lost += g.lost;
            x->bound = x->bound || g.bound;
            x->times++;
        } else {
            t->gaps[t->ngaps++] = g;
        }
    }
}

static void make_points(struct timeline_runs *r, struct timeline *t)
{
    t->points = r->points;
    r->points = NULL;
    for (size_t i = 0; i < r->npoints; i++) {
        struct timeline_point p = t->points[i], *same = NULL;
        if (!is_seen(t, p.at, p.at))
            continue;
        for (size_t k = t->npoints, n = 0; k-- > 0 && n < LOOK_BACK && !same; n++)
            if (!is_same_pixel(t, t->points[k].at, p.at))
                break;
            else if (t->points[k].kind == p.kind && t->points[k].cause == p.cause)
                same = &t->points[k];
        if (same)
            same->times++;
        else
            t->points[t->npoints++] = p;
    }
}

/* ---- all of it ---- */

static int set_range(struct timeline *t, const struct timeline_ask *ask)
{
    t->from = t->first;
    t->to = t->last;
    if (ask->has_from)
        t->from = ask->from;
    if (ask->has_to)
        t->to = MIN(ask->to, t->last);
    if (t->from < t->first || t->from > t->to || (t->from == t->to && t->first != t->last))
        return -ERR_NOT_FOUND;
    uint64_t all = t->to - t->from;
    t->step = MAX(all / ask->px + (all % ask->px != 0), (uint64_t)1);
    return 0;
}

int timeline_make(const struct timeline_source *from, const struct timeline_ask *ask,
                  struct timeline *out)
{
    struct timeline_runs r;
    *out = (struct timeline){ 0 };
    int ret = timeline_follow(from, &r);
    out->clock = r.clock;
    out->first = r.first;
    out->last = r.last;
    out->cut = r.cut;
    if (r.highest >= r.lowest)
        out->levels = (uint32_t)(r.highest - r.lowest) + 1;
    if (ret == 0)
        ret = set_range(out, ask);
    if (ret == 0)
        ret = make_calls(&r, out, ask->levels);
    if (ret == 0)
        ret = make_handlers(&r, out);
    if (ret == 0) {
        make_gaps(&r, out);
        make_points(&r, out);
    }
    timeline_runs_free(&r);
    return ret;
}

void timeline_free(struct timeline *t)
{
    free(t->calls);
    free(t->handlers);
    free(t->gaps);
    free(t->points);
    *t = (struct timeline){ 0 };
}
