/* Bounded queue of events from the adapter's worker thread to the main thread.
 *
 * One producer, one consumer, no locks. It never drops: the producer asks for room first and leaves
 * the events in the target's own ring when there is none, where the trace policy decides (stall, or
 * drop and report it with an EVENT_LOST). */
#ifndef PROFILER_BRIDGE_EVENT_QUEUE_H
#define PROFILER_BRIDGE_EVENT_QUEUE_H

#include <stddef.h>

#include "targets/event.h"

struct event_queue;

/* event_queue_new - room for `capacity` events, a power of two. NULL: out of memory. */
struct event_queue *event_queue_new(size_t capacity);
void event_queue_free(struct event_queue *q); /* NULL is fine */

/* Producer's side: events are written in their place. */

size_t event_queue_room(const struct event_queue *q); /* how many events fit */

/* event_queue_space - where the next events go; *n: how many fit there in a row, 0 only when there
 * is no room. */
struct event *event_queue_space(struct event_queue *q, size_t *n);

/* event_queue_commit - the first n of that space are written: the consumer may have them. */
void event_queue_commit(struct event_queue *q, size_t n);

/* Consumer's side: events are read where they lie. */

size_t event_queue_used(const struct event_queue *q); /* how many there are */

/* event_queue_front - the oldest events, which the consumer may also change; *n: how many lie in a
 * row, 0 only when there are none. */
struct event *event_queue_front(struct event_queue *q, size_t *n);

/* event_queue_release - done with the first n of them. */
void event_queue_release(struct event_queue *q, size_t n);

#endif
