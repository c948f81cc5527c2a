#include "profiler/bridge/event_queue.h"

#include <assert.h>
#include <stdatomic.h>

#include "probe/base/pages.h"
#include "probe/base/util.h"

struct event_queue {
    size_t mask;
    _Alignas(64) atomic_size_t head; /* next to pop; written by the consumer */
    _Alignas(64) atomic_size_t tail; /* next to push; written by the producer */
    _Alignas(64) struct event slot[];
};

static size_t queue_bytes(size_t capacity)
{
    return sizeof(struct event_queue) + capacity * sizeof(struct event);
}

struct event_queue *event_queue_new(size_t capacity)
{
    assert(capacity && !(capacity & (capacity - 1)));
    struct event_queue *q = pages_new(queue_bytes(capacity));
    if (!q)
        return NULL;
    q->mask = capacity - 1;
    atomic_init(&q->head, 0);
    atomic_init(&q->tail, 0);
    return q;
}

void event_queue_free(struct event_queue *q)
{
    if (q)
        pages_free(q, queue_bytes(q->mask + 1));
}

size_t event_queue_room(const struct event_queue *q)
{
    size_t head = atomic_load_explicit(&q->head, memory_order_acquire);
    size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    return q->mask + 1 - (tail - head);
}

struct event *event_queue_space(struct event_queue *q, size_t *n)
{
    size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    size_t at = tail & q->mask;
    *n = MIN(event_queue_room(q), q->mask + 1 - at);
    return q->slot + at;
}

void event_queue_commit(struct event_queue *q, size_t n)
{
    size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    assert(n <= event_queue_room(q));
    atomic_store_explicit(&q->tail, tail + n, memory_order_release);
}

size_t event_queue_used(const struct event_queue *q)
{
    size_t tail = atomic_load_explicit(&q->tail, memory_order_acquire);
    return tail - atomic_load_explicit(&q->head, memory_order_relaxed);
}

struct event *event_queue_front(struct event_queue *q, size_t *n)
{
    size_t at = atomic_load_explicit(&q->head, memory_order_relaxed) & q->mask;
    *n = MIN(event_queue_used(q), q->mask + 1 - at);
    return q->slot + at;
}

void event_queue_release(struct event_queue *q, size_t n)
{
    size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    assert(n <= atomic_load_explicit(&q->tail, memory_order_relaxed) - head);
    atomic_store_explicit(&q->head, head + n, memory_order_release);
}
