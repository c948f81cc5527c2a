/* A track's spans are opened when a step is charged to their function, not when it is entered:
 * until then nobody knows whose stack it is. So a track shows the chain of callers of what runs on
 * it, and changes only where that chain does. */
#include "profiler/profile/spans.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "profiler/core/calltree.h"

enum { NOT_OPEN = UINT32_MAX };

/* An activation that has not ended. */
struct live {
    uint64_t number, caller; /* caller: in whose span it stands; 0: at the bottom of a track */
    uint32_t node;
    uint32_t track, place; /* of its open span; place NOT_OPEN: it has none */
    bool handler;          /* it, or what called it, is one */
    bool found, shown;
};

/* A span that is open. */
struct open_span {
    uint64_t number; /* of its activation; 0: none is known */
    uint32_t node, flags;
    uint64_t c1, c2;
};

struct track {
    enum span_track_kind kind;
    uint32_t context;
    struct open_span *open;
    size_t n, cap;
};

struct spans {
    struct calltree_watch watch;
    void (*take)(void *ctx, const struct span_event *e);
    void *ctx;
    enum spans_clock clock;
    uint64_t at;      /* up to the last step */
    uint64_t stopped; /* what the clock showed when profiling stopped */
    bool active, failed;
    struct live *live; /* by number */
    size_t nlive, cap_live;
    struct track *track;
    size_t ntracks, cap_tracks;
    uint64_t *way; /* of find_way() */
    size_t cap_way;
    struct span_event gap; /* the one that is open, with what was lost */
};

/* ---- activations ---- */

static struct live *find_live(const struct spans *s, uint64_t number)
{
    size_t i = PARTITION_POINT(s->nlive, k, s->live[k].number < number);
    if (number && i < s->nlive && s->live[i].number == number)
        return &s->live[i];
    return NULL;
}

/* ---- tracks ---- */

static bool make_track(struct spans *s, enum span_track_kind kind, uint32_t context)
{
    if (!array_room(&s->track, s->ntracks, &s->cap_tracks, sizeof *s->track)) {
        s->failed = true;
        return false;
    }
    s->track[s->ntracks] = (struct track){ .kind = kind, .context = context };
    s->take(s->ctx, &(struct span_event){ .kind = SPAN_TRACK,
                                          .track = (uint32_t)s->ntracks,
                                          .at = s->at,
                                          .track_kind = kind,
                                          .context = context });
    s->ntracks++;
    return true;
}

/* Its index; made if there is none. ntracks: out of memory. */
static size_t track_of(struct spans *s, enum span_track_kind kind, uint32_t context)
{
    size_t i = 0;
    while (i < s->ntracks && (s->track[i].kind != kind || s->track[i].context != context))
        i++;
    if (i == s->ntracks)
        make_track(s, kind, context);
    return i;
}

/* ---- spans ---- */

static void open_one(struct spans *s, size_t track, uint64_t number, uint32_t node)
{
    struct track *t = &s->track[track];
    struct live *l = find_live(s, number);
    struct open_span span = { .number = number, .node = node };
    if (!array_room(&t->open, t->n, &t->cap, sizeof *t->open)) {
        s->failed = true;
        return;
    }
    if (l) {
        span.flags = bits_if(l->shown, SPAN_CONTINUED) | bits_if(l->found, SPAN_FOUND);
        l->track = (uint32_t)track;
        l->place = (uint32_t)t->n;
        l->shown = true;
    }
    t->open[t->n++] = span;
    s->take(s->ctx, &(struct span_event){ .kind = SPAN_BEGIN,
                                          .track = (uint32_t)track,
                                          .at = s->at,
                                          .node = node,
                                          .cause = s->gap.cause,
                                          .flags = span.flags });
}

/* The innermost of a track. gone: its activation has ended; NULL: that goes on. */
static void close_one(struct spans *s, size_t track, const struct calltree_activation *gone)
{
    struct track *t = &s->track[track];
    const struct open_span *o = &t->open[--t->n];
    struct live *l = find_live(s, o->number);
    struct span_event e = { .kind = SPAN_END,
                            .track = (uint32_t)track,
                            .at = s->at,
                            .node = o->node,
                            .flags = o->flags,
                            .c1 = o->c1,
                            .c2 = o->c2 };
    if (t->kind == SPAN_TRACK_GAPS) {
        e.lost = s->gap.lost;
        e.cause = s->gap.cause;
        e.flags |= s->gap.flags;
    } else if (gone) {
        e.left = gone->left;
        e.flags |= bits_if(gone->gap, SPAN_DOUBTFUL);
    } else {
        e.flags |= SPAN_CONTINUES;
    }
    if (l)
        l->place = NOT_OPEN;
    s->take(s->ctx, &e);
}

static void close_to(struct spans *s, size_t track, size_t n)
{
    while (s->track[track].n > n)
        close_one(s, track, NULL);
}

/* What cannot run at the same time as this track: a handler interrupts a task, which stays. */
static void close_others(struct spans *s, size_t track)
{
    bool handler = s->track[track].kind == SPAN_TRACK_INTERRUPTS;
    for (size_t i = 0; i < s->ntracks; i++)
        if (i != track && s->track[i].n && !(handler && s->track[i].kind == SPAN_TRACK_TASK))
            close_to(s, i, 0);
}

/* Activations from `number` down to one that has a span on the track, into s->way; returns how many
 * spans of the track stay open. */
static size_t find_way(struct spans *s, size_t track, uint64_t number, size_t *n)
{
    const struct live *l = find_live(s, number);
    for (*n = 0; l; l = find_live(s, l->caller)) {
        if (l->place != NOT_OPEN && l->track == track)
            return l->place + (size_t)1;
        if (!array_room(&s->way, *n, &s->cap_way, sizeof *s->way)) {
            s->failed = true;
            return 0;
        }
        s->way[(*n)++] = l->number;
    }
    return 0;
}

/* The track shows what runs now, and everything that it stands on. Returns the track, with its span
 * the innermost; NULL: out of memory. */
static struct track *show_running(struct spans *s, uint64_t number, uint32_t node, uint32_t context)
{
    const struct live *l = find_live(s, number);
    bool handler = l && l->handler;
    size_t n = 0, i = handler ? track_of(s, SPAN_TRACK_INTERRUPTS, 0)
                              : track_of(s, SPAN_TRACK_TASK, context);
    if (i == s->ntracks)
        return NULL;
    close_others(s, i);
    const struct track *t = &s->track[i];
    if (!l && t->n == 1 && !t->open[0].number && t->open[0].node == node)
        return &s->track[i]; /* of no activation, still */
    close_to(s, i, find_way(s, i, number, &n));
    while (n-- > 0)
        open_one(s, i, s->way[n], find_live(s, s->way[n])->node);
    if (!l)
        open_one(s, i, 0, node);
    if (s->failed)
        return NULL;
    return &s->track[i];
}

/* ---- what the tree tells ---- */

static uint64_t clock_of(const struct spans *s, const struct event *e, bool *known)
{
    static const uint32_t flag[] = { EVENT_HAS_TIME, EVENT_HAS_C1, EVENT_HAS_C2, 0 };
    const uint64_t shown[] = { e->time_cycles, e->c1, e->c2, 0 };
    *known = (e->flags & flag[s->clock]) != 0;
    return shown[s->clock];
}

static void charge_span(struct open_span *o, const struct calltree_step *step)
{
    o->c1 += step->c1;
    o->c2 += step->c2;
    o->flags |=
        bits_if(step->flags & (CALLTREE_STEP_DOUBTFUL | CALLTREE_STEP_BLIND), SPAN_DOUBTFUL);
}

/* Of an activation that has been shown already: a further span of it would be empty. */
static bool is_empty(const struct spans *s, const struct calltree_step *step, uint64_t ticks)
{
    const struct live *l = find_live(s, step->activation);
    return !ticks && !step->c1 && !step->c2 && l && l->shown && l->place == NOT_OPEN;
}

static struct track *track_running(struct spans *s, const struct calltree_step *step)
{
    struct track *t = NULL;
    if (step->flags & CALLTREE_STEP_GAP) {
        size_t i = track_of(s, SPAN_TRACK_GAPS, 0);
        t = NULL;
        if (i < s->ntracks)
            t = &s->track[i];
    } else {
        t = show_running(s, step->activation, step->node, step->context);
    }
    if (t && t->n)
        return t;
    return NULL;
}

static void on_step(void *ctx, const struct calltree_step *step)
{
    struct spans *s = ctx;
    const uint64_t took[] = { step->cycles, step->c1, step->c2, 1 };
    struct track *t = NULL;
    if (!is_empty(s, step, took[s->clock]))
        t = track_running(s, step);
    if (t)
        charge_span(&t->open[t->n - 1], step);
    s->at += took[s->clock];
}

static void on_enter(void *ctx, const struct calltree_activation *a)
{
    struct spans *s = ctx;
    const struct live *below = find_live(s, a->below);
    bool nested = below && below->handler;
    struct live l = { .number = a->number,
                      .caller = a->handler && !nested ? 0 : a->below,
                      .node = a->node,
                      .place = NOT_OPEN,
                      .handler = a->handler || nested,
                      .found = a->found };
    if (!array_room(&s->live, s->nlive, &s->cap_live, sizeof *s->live)) {
        s->failed = true;
        return;
    }
    s->live[s->nlive++] = l; /* numbers grow */
}

/* One that never ran, as what the last event enters, is shown all the same: it was entered. */
static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct spans *s = ctx;
    struct live *l = find_live(s, a->number);
    if (!l)
        return;
    if (!l->shown) {
        show_running(s, a->number, l->node, a->context);
        l = find_live(s, a->number);
    }
    if (l->place != NOT_OPEN && l->place < s->track[l->track].n) {
        size_t track = l->track, place = l->place;
        close_to(s, track, place + 1);
        close_one(s, track, a);
    }
    size_t i = (size_t)(l - s->live);
    memmove(l, l + 1, (--s->nlive - i) * sizeof *l);
}

static void open_gap(struct spans *s, const struct event *e)
{
    size_t i = track_of(s, SPAN_TRACK_GAPS, 0);
    if (i == s->ntracks)
        return;
    for (size_t k = 0; k < s->ntracks; k++)
        close_to(s, k, 0);
    s->gap = (struct span_event){ .lost = e->lost_events,
                                  .cause = e->cause,
                                  .flags = bits_if(e->flags & EVENT_AMOUNT_BOUND, SPAN_BOUND) };
    open_one(s, i, 0, CALLTREE_NONE);
    if (!s->active)
        close_to(s, i, 0);
}

/* Between two passes the clock goes on, and nothing is seen. */
static void take_switch(struct spans *s, const struct event *e)
{
    bool known;
    uint64_t now = clock_of(s, e, &known);
    bool starts = e->kind == EVENT_START;
    if (starts && !s->active && known)
        s->at += EXCESS(now, s->stopped);
    if (!starts && known)
        s->stopped = now;
    s->active = starts;
}

static void on_event(void *ctx, const struct event *e)
{
    struct spans *s = ctx;
    switch (e->kind) {
    case EVENT_LOST: open_gap(s, e); return;
    case EVENT_START:
    case EVENT_STOP: take_switch(s, e); break;
    case EVENT_NOTE:
    case EVENT_CLEAR:
    case EVENT_AGAIN: break;
    default: return;
    }
    size_t i = track_of(s, SPAN_TRACK_MARKS, 0);
    if (i < s->ntracks)
        s->take(s->ctx, &(struct span_event){ .kind = SPAN_MARK,
                                              .track = (uint32_t)i,
                                              .at = s->at,
                                              .mark = e->kind,
                                              .cause = e->cause });
}

/* ---- life ---- */

int spans_new(enum spans_clock clock, void (*take)(void *ctx, const struct span_event *e),
              void *ctx, struct spans **out, struct err *err)
{
    struct spans *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "close other programs", "spans: out of memory");
    s->watch = (struct calltree_watch){ s, on_step, on_enter, on_leave, NULL, on_event };
    s->clock = clock;
    s->take = take;
    s->ctx = ctx;
    *out = s;
    return 0;
}

const struct calltree_watch *spans_watch(const struct spans *s) { return &s->watch; }

int spans_end(struct spans *s, struct err *err)
{
    for (size_t i = 0; i < s->ntracks; i++)
        close_to(s, i, 0);
    if (s->failed)
        return err_set(err, ERR_NOMEM, "close other programs", "spans: out of memory");
    return 0;
}

void spans_free(struct spans *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->ntracks; i++)
        free(s->track[i].open);
    free(s->track);
    free(s->live);
    free(s->way);
    free(s);
}
