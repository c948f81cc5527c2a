/* Which call paths readers are shown: the heaviest by counter 1 with children. A parent has never
 * less than its child, so what is above a threshold is a tree with its roots; where counter 1 is
 * not counted, hits decide, and ancestors are taken in. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"

enum { LEAST_LIMIT = 256, FIRST_IDS = 256, FEWEST_GONE = 1024 };
static const uint64_t choose_ns = 2000000000, unused_ns = 60000000000;
static const double come_in = 1.25; /* times the threshold; below it one leaves */

uint32_t feed_view_nodes(uint32_t asked)
{
    uint32_t n = LEAST_LIMIT;
    while (n < EITHER(asked, FEED_NODES_DEFAULT) && n < FEED_NODES_MOST)
        n *= 4;
    return n;
}

static void drop_set(struct shown *s)
{
    free(s->id);
    free(s->since);
    free(s->gone);
    *s = (struct shown){ .used = false };
}

void shown_fini(struct feed *f)
{
    for (size_t i = 0; i < FEED_SHOWN_SETS; i++)
        drop_set(&f->shown[i]);
}

static size_t node_count(const struct feed *f)
{
    if (f->totals.samples)
        return 0;
    return f->nnodes;
}

static bool room_for_ids(struct shown *s, size_t n)
{
    size_t cap = EITHER(s->cap, FIRST_IDS);
    if (n <= s->cap)
        return true;
    while (cap < n)
        cap *= 2;
    uint32_t *id = realloc(s->id, cap * sizeof *id);
    s->id = EITHER(id, s->id);
    uint64_t *since = realloc(s->since, cap * sizeof *since);
    s->since = EITHER(since, s->since);
    if (id && since)
        s->cap = cap;
    return id && since;
}

/* All of them, as long as there are no more than the limit. */
static bool show_all(const struct feed *f, struct shown *s, uint64_t next)
{
    size_t n = node_count(f);
    if (!room_for_ids(s, n))
        return false;
    for (size_t i = s->n; i < n; i++) {
        s->id[i] = (uint32_t)i;
        s->since[i] = next;
    }
    s->n = n;
    return true;
}

/* ---- choosing ---- */

static uint64_t weight_of(const struct feed *f, size_t i)
{
    if (f->totals.c1)
        return f->nodes[i].c1_children;
    return f->nodes[i].hits;
}

/* The k-th largest of n, which are reordered. */
static uint64_t kth_largest(uint64_t *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        uint64_t pivot = v[low + (high - low) / 2];
        size_t i = low, j = high;
        while (i <= j) {
            while (v[i] > pivot)
                i++;
            while (v[j] < pivot)
                j--;
            if (i > j)
                break;
            uint64_t t = v[i];
            v[i++] = v[j];
            v[j] = t;
            if (j == 0)
                break;
            j--;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return v[k];
}

/* No more than `limit` nodes weigh that much. */
static bool find_threshold(const struct feed *f, uint32_t limit, uint64_t *out)
{
    size_t n = f->nnodes, at_least = 0;
    uint64_t *weight = malloc(n * sizeof *weight);
    if (!weight)
        return false;
    for (size_t i = 0; i < n; i++)
        weight[i] = weight_of(f, i);
    uint64_t t = kth_largest(weight, n, limit - 1);
    for (size_t i = 0; i < n; i++)
        at_least += weight[i] >= t;
    free(weight);
    *out = at_least > limit ? t + 1 : t;
    return true;
}

/* 1: shown before, 2: shown from now on. Ancestors of what is shown are, too. */
static void mark_nodes(const struct feed *f, const struct shown *s, uint64_t threshold,
                       uint8_t *mark)
{
    double in = s->n ? (double)threshold * come_in : (double)threshold;
    for (size_t k = 0; k < s->n; k++)
        mark[s->id[k]] = 1;
    for (size_t i = f->nnodes; i-- > 0;) {
        uint64_t w = weight_of(f, i);
        if ((double)w >= in || (mark[i] & 1 && w >= threshold))
            mark[i] |= 2;
        if (mark[i] & 2 && f->nodes[i].parent != FEED_NO_PARENT)
            mark[f->nodes[i].parent] |= 2;
    }
}

static bool put_gone(struct shown *s, uint32_t id, uint64_t next)
{
    if (!array_room(&s->gone, s->ngone, &s->cap_gone, sizeof *s->gone))
        return false;
    s->gone[s->ngone++] = (struct shown_gone){ id, next };
    return true;
}

/* Those that are back are not gone; of too many the older half is forgotten. */
static void tidy_gone(struct shown *s, const uint8_t *mark)
{
    size_t kept = 0, most = MAX((size_t)2 * s->limit, (size_t)FEWEST_GONE);
    for (size_t i = 0; i < s->ngone; i++)
        if (!(mark[s->gone[i].id] & 2))
            s->gone[kept++] = s->gone[i];
    s->ngone = kept;
    if (kept <= most)
        return;
    size_t cut = kept - most / 2;
    s->forgotten = s->gone[cut - 1].seq;
    memmove(s->gone, s->gone + cut, (kept - cut) * sizeof *s->gone);
    s->ngone = kept - cut;
}

/* The set that the marks say; false: out of memory. */
static bool take_marks(struct feed *f, struct shown *s, const uint8_t *mark)
{
    size_t n = 0, old = 0, count = 0;
    uint64_t next = f->seq + 1;
    for (size_t i = 0; i < f->nnodes; i++)
        count += mark[i] >> 1;
    uint32_t *id = malloc((count + 1) * sizeof *id);
    uint64_t *since = malloc((count + 1) * sizeof *since);
    bool ok = id && since;
    for (size_t i = 0; ok && i < f->nnodes; i++) {
        if (mark[i] & 2) {
            id[n] = (uint32_t)i;
            since[n++] = mark[i] & 1 ? s->since[old] : next;
        } else if (mark[i] & 1) {
            ok = put_gone(s, (uint32_t)i, next);
        }
        f->changed |= mark[i] == 1 || mark[i] == 2;
        old += mark[i] & 1;
    }
    if (!ok) {
        free(id);
        free(since);
        return false;
    }
    tidy_gone(s, mark);
    free(s->id);
    free(s->since);
    s->id = id;
    s->since = since;
    s->n = n;
    s->cap = count + 1;
    return true;
}

static bool choose_nodes(struct feed *f, struct shown *s)
{
    uint64_t threshold;
    uint8_t *mark = calloc(f->nnodes, 1);
    bool ok = mark && find_threshold(f, s->limit, &threshold);
    if (ok) {
        mark_nodes(f, s, threshold, mark);
        ok = take_marks(f, s, mark);
    }
    free(mark);
    s->next_ns = f->now.ns + choose_ns;
    return ok;
}

static bool update_set(struct feed *f, struct shown *s)
{
    if (node_count(f) <= s->limit)
        return show_all(f, s, f->seq + 1);
    return f->now.ns < s->next_ns || choose_nodes(f, s);
}

/* A set that finds no memory is dropped: its readers get a snapshot. */
void shown_fold(struct feed *f)
{
    for (size_t i = 0; i < FEED_SHOWN_SETS; i++) {
        struct shown *s = &f->shown[i];
        if (s->used && (f->now.ns - s->used_ns > unused_ns || !update_set(f, s)))
            drop_set(s);
    }
}

/* A new set is made of the present state's rows: no reader knows it yet. */
struct shown *shown_for(struct feed *f, uint32_t limit)
{
    size_t at = 0;
    for (uint32_t n = LEAST_LIMIT; n < limit; n *= 4)
        at++;
    struct shown *s = &f->shown[at];
    if (!s->used) {
        *s = (struct shown){ .limit = limit, .used = true, .born = f->seq };
        if (!update_set(f, s)) {
            drop_set(s);
            return NULL;
        }
        for (size_t i = 0; i < s->n; i++)
            s->since[i] = f->seq;
    }
    s->used_ns = f->now.ns;
    return s;
}
