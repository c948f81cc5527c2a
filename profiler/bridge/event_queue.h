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

/* Producer's side. */
size_t event_queue_room(const struct event_queue *q);
/* event_queue_push - n events, at most event_queue_room(). */
void event_queue_push(struct event_queue *q, const struct event *events, size_t n);

/* Consumer's side: moves up to cap events out, oldest first; returns how many. */
size_t event_queue_pop(struct event_queue *q, struct event *out, size_t cap);

#endif
