#include "profiler/core/interrupt_lock.h"

enum {
    SHARE_PER_CENT = 95, /* more than that */
    APART_PER_CENT = 5,  /* at most that much between what it takes and how far they are apart */
    ENTRIES_LEAST = 10   /* in a second, for a mean of anything */
};

static const uint64_t second_ns = 1000000000;

static void begin_second(struct interrupt_lock *l, const struct event *e)
{
    l->begun = true;
    l->begin_ns = e->host_ns;
    l->begin_c1 = e->c1;
    l->nhandlers = 0;
    l->outermost = INTERRUPT_LOCK_HANDLERS;
}

/* What is open is not known any more. */
static void forget_second(struct interrupt_lock *l)
{
    l->begun = false;
    l->depth = 0;
}

static size_t place_of_handler(struct interrupt_lock *l, const struct event *e)
{
    size_t i = 0;
    while (i < l->nhandlers &&
           (l->handler[i].target != e->target || l->handler[i].vector != e->vector))
        i++;
    if (i == l->nhandlers && i < INTERRUPT_LOCK_HANDLERS)
        l->handler[l->nhandlers++] = (struct interrupt_lock_handler){ .target = e->target,
                                                                      .vector = e->vector,
                                                                      .first = e->c1 };
    return i;
}

static void enter_handler(struct interrupt_lock *l, const struct event *e)
{
    if (l->depth++)
        return;
    l->outermost = INTERRUPT_LOCK_HANDLERS;
    if (e->kind == EVENT_INTERRUPT)
        l->outermost = place_of_handler(l, e);
    if (l->outermost == INTERRUPT_LOCK_HANDLERS)
        return;
    struct interrupt_lock_handler *h = &l->handler[l->outermost];
    h->entries++;
    h->last = l->entered = e->c1;
}

static void leave_handler(struct interrupt_lock *l, const struct event *e)
{
    if (!l->depth || --l->depth || l->outermost == INTERRUPT_LOCK_HANDLERS)
        return;
    struct interrupt_lock_handler *h = &l->handler[l->outermost];
    h->ends++;
    h->live += e->c1 - l->entered;
}

static bool is_lock(const struct interrupt_lock_handler *h, uint64_t all)
{
    if (h->entries < ENTRIES_LEAST || !h->ends || !all)
        return false;
    double apart = (double)(h->last - h->first) / (double)(h->entries - 1),
           takes = (double)h->live / (double)h->ends;
    return (double)h->live * 100 > (double)all * SHARE_PER_CENT &&
           apart - takes <= apart * APART_PER_CENT / 100 &&
           takes - apart <= apart * APART_PER_CENT / 100;
}

static bool end_second(struct interrupt_lock *l, const struct event *e)
{
    uint64_t all = e->c1 - l->begin_c1;
    for (size_t i = 0; i < l->nhandlers; i++) {
        const struct interrupt_lock_handler *h = &l->handler[i];
        if (!is_lock(h, all))
            continue;
        l->found = true;
        l->target = h->target;
        l->vector = h->vector;
        l->share_per_cent = (unsigned)((double)h->live * 100 / (double)all);
        return true;
    }
    begin_second(l, e);
    return false;
}

/* Which events say nothing of the program. */
static bool is_aside(const struct event *e)
{
    switch (e->kind) {
    case EVENT_START:
    case EVENT_CALL:
    case EVENT_JUMP:
    case EVENT_RETURN:
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION:
    case EVENT_RTE:
    case EVENT_TIMESTAMP: return false;
    default: return true;
    }
}

static bool take_event(struct interrupt_lock *l, const struct event *e)
{
    if (e->kind == EVENT_LOST || e->kind == EVENT_STOP || e->kind == EVENT_AGAIN ||
        e->flags & EVENT_UNTRACED_RTE) {
        forget_second(l);
        return false;
    }
    if (is_aside(e) || !(e->flags & EVENT_HAS_C1))
        return false;
    if (!l->begun)
        begin_second(l, e);
    if (e->kind == EVENT_INTERRUPT || e->kind == EVENT_EXCEPTION)
        enter_handler(l, e);
    else if (e->kind == EVENT_RTE)
        leave_handler(l, e);
    /* between two handlers, so that none is cut */
    return !l->depth && e->host_ns - l->begin_ns >= second_ns && end_second(l, e);
}

bool interrupt_lock_feed(struct interrupt_lock *l, const struct event *events, size_t n)
{
    for (size_t i = 0; i < n && !l->found; i++)
        if (take_event(l, &events[i]))
            return true;
    return false;
}
