/* Events on their way to the caller: a ring of them, and the events that the host makes itself. */
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/pages.h"
#include "probe/base/util.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_queue_init(struct sh4_trace *tr, struct err *err)
{
    tr->queue.event = pages_new(TRACE_QUEUE_MOST * sizeof *tr->queue.event);
    if (tr->queue.event)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
}

void sh4_trace_queue_fini(struct sh4_trace *tr)
{
    pages_free(tr->queue.event, TRACE_QUEUE_MOST * sizeof *tr->queue.event);
}

size_t sh4_trace_take_events(struct sh4_trace *tr, struct event *out, size_t cap)
{
    size_t n = MIN(cap, tr->queue.count);
    for (size_t i = 0; i < n; i++)
        out[i] = tr->queue.event[(tr->queue.head + i) % TRACE_QUEUE_MOST];
    tr->queue.head = (tr->queue.head + n) % TRACE_QUEUE_MOST;
    tr->queue.count -= n;
    return n;
}

static void put_last(struct sh4_trace *tr, const struct event *e)
{
    tr->queue.event[(tr->queue.head + tr->queue.count++) % TRACE_QUEUE_MOST] = *e;
}

void sh4_trace_push(struct sh4_trace *tr, const struct event *e)
{
    if (tr->queue.count + 2 > TRACE_QUEUE_MOST) {
        tr->queue.dropped++;
        tr->sum.lost++;
        return;
    }
    if (tr->queue.dropped) {
        struct event lost = *e;
        lost.kind = EVENT_LOST;
        lost.cause = EVENT_CAUSE_HOST_QUEUE;
        lost.amount = tr->queue.dropped;
        lost.flags &= EVENT_HAS_C1 | EVENT_HAS_C2;
        tr->queue.dropped = 0;
        put_last(tr, &lost);
    }
    put_last(tr, e);
}

void sh4_trace_note_event(struct sh4_trace *tr, enum event_kind kind, uint32_t pc,
                          enum event_cause cause, uint64_t amount)
{
    struct event e = { .kind = (uint8_t)kind,
                       .host_ns = sh4_link_now(&tr->t->link),
                       .cause = (uint8_t)cause,
                       .amount = amount,
                       .c1 = (tr->dec.c16[0] + 8) / 16,
                       .c2 = (tr->dec.c16[1] + 8) / 16,
                       .context = tr->dec.context,
                       .flags = bits_if(tr->cfg.counter[0], EVENT_HAS_C1) |
                                bits_if(tr->cfg.counter[1], EVENT_HAS_C2) };
    if (pc) {
        e.pc = pc;
        e.flags |= EVENT_HAS_PC;
    }
    sh4_trace_push(tr, &e);
}

void sh4_trace_note_reset(struct sh4_trace *tr)
{
    sh4_trace_note_event(tr, EVENT_LOST, 0, EVENT_CAUSE_RESET, 0);
}

/* Events were dropped after the last one in the ring. The agent's closing timestamp is from after
 * the gap, so the loss is reported before it. Otherwise the time of the gap would count for the
 * function before it. */
void sh4_trace_note_lost(struct sh4_trace *tr, uint32_t lost)
{
    struct event *last = NULL;
    if (tr->queue.count)
        last = &tr->queue.event[(tr->queue.head + tr->queue.count - 1) % TRACE_QUEUE_MOST];
    const struct event *before = NULL;
    if (tr->queue.count > 1)
        before = &tr->queue.event[(tr->queue.head + tr->queue.count - 2) % TRACE_QUEUE_MOST];
    if (!last || !before || last->kind != EVENT_TIMESTAMP) {
        sh4_trace_note_event(tr, EVENT_LOST, 0, EVENT_CAUSE_RING_FULL, lost);
        return;
    }
    struct event stamp = *last;
    *last = (struct event){ .kind = EVENT_LOST,
                            .cause = EVENT_CAUSE_RING_FULL,
                            .amount = lost,
                            .host_ns = stamp.host_ns,
                            .c1 = before->c1,
                            .c2 = before->c2,
                            .flags = before->flags & (EVENT_HAS_C1 | EVENT_HAS_C2) };
    sh4_trace_push(tr, &stamp);
}
