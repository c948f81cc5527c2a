/* Points over time: the counts of each second, and of each ten. A point is closed by the first
 * fold behind its end, so it may span more; it says how much. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"

const struct series_point *series_at(const struct series *s, uint64_t number)
{
    if (!s->ring || number >= s->n || s->n - number > s->size)
        return NULL;
    return &s->ring[number % s->size];
}

void series_fini(struct feed *f)
{
    struct series *each[] = { &f->second, &f->ten };
    for (size_t i = 0; i < ARRAY_LEN(each); i++) {
        range_fini(each[i]);
        free(each[i]->ring);
        *each[i] = (struct series){ .size = each[i]->size, .every_ns = each[i]->every_ns };
    }
}

static uint64_t weight_of(const struct feed *f, size_t i)
{
    const struct profile_function *is = &f->functions[i].is;
    if (f->totals.samples)
        return is->hits;
    return is->c1;
}

static uint64_t *weight_at(struct feed *f, const struct series *s, size_t i)
{
    if (s == &f->second)
        return &f->extra[i].at_second;
    return &f->extra[i].at_ten;
}

/* Corrections of an estimate may take back what was counted. */
static uint64_t growth_of(uint64_t from, uint64_t to) { return EXCESS(to, from); }

static void put_top(struct series_point *p, uint32_t function, uint64_t weight)
{
    unsigned k = FEED_TOP;
    if (p->ntop < FEED_TOP)
        k = p->ntop++;
    for (; k > 0 && p->top_weight[k - 1] < weight; k--)
        if (k < FEED_TOP) {
            p->top[k] = p->top[k - 1];
            p->top_weight[k] = p->top_weight[k - 1];
        }
    if (k < FEED_TOP) {
        p->top[k] = function;
        p->top_weight[k] = weight;
    }
}

static uint64_t lost_so_far(const struct feed *f)
{
    uint64_t lost = 0;
    for (unsigned k = 0; k < EVENT_NCAUSES; k++)
        lost += f->stats.loss[k].events;
    return lost;
}

static void begin_point(struct feed *f, struct series *s)
{
    s->running = true;
    s->began_ns = f->now.ns;
    s->at = f->totals;
    s->lost_at = lost_so_far(f);
    s->wire_at = f->gauges.wire_bits;
    s->most = (struct feed_gauges){ 0 };
    for (size_t i = 0; i < f->nfunctions; i++)
        *weight_at(f, s, i) = weight_of(f, i);
    range_begin(f, s);
}

static void close_point(struct feed *f, struct series *s)
{
    struct series_point p = {
        .version = f->seq + 1,
        .wall_ms = f->now.wall_ms,
        .span_ms = (f->now.ns - s->began_ns) / 1000000,
        .events = growth_of(s->at.events, f->totals.events),
        .lost = growth_of(s->lost_at, lost_so_far(f)),
        .c1 = growth_of(s->at.c1, f->totals.c1),
        .c2 = growth_of(s->at.c2, f->totals.c2),
        .wire_bits = growth_of(s->wire_at, f->gauges.wire_bits),
        .ring_fill = (float)s->most.ring_fill,
        .queue_fill = (float)s->most.queue_fill,
        .slow_down = (float)s->most.slow_down,
    };
    for (size_t i = 0; i < f->nfunctions; i++) {
        uint64_t weight = growth_of(*weight_at(f, s, i), weight_of(f, i));
        if (weight)
            put_top(&p, (uint32_t)i, weight);
    }
    range_point(f, s, &p);
    s->ring[s->n++ % s->size] = p;
    feed_next(f);
}

/* With the first point: a feed that lives less has no day's room. */
static bool room_for_point(struct series *s)
{
    if (!s->ring)
        s->ring = calloc(s->size, sizeof *s->ring);
    return s->ring != NULL;
}

void series_fold(struct feed *f)
{
    struct series *each[] = { &f->second, &f->ten };
    for (size_t i = 0; i < ARRAY_LEN(each); i++) {
        struct series *s = each[i];
        s->most.ring_fill = MAX(s->most.ring_fill, f->gauges.ring_fill);
        s->most.queue_fill = MAX(s->most.queue_fill, f->gauges.queue_fill);
        s->most.slow_down = MAX(s->most.slow_down, f->gauges.slow_down);
        bool over = s->running && f->now.ns - s->began_ns >= s->every_ns;
        if (over && room_for_point(s))
            close_point(f, s);
        if (over || !s->running)
            begin_point(f, s);
    }
}
