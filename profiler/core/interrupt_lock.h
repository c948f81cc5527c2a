/* Interrupt lock: a handler that, slowed down by being traced, takes longer than its interrupts are
 * apart. Each time it ends the next one is pending, and the program gets nowhere. Source: the seed
 * document of CodeScape's profiler, "Selecting an interrupt lock filter". */
#ifndef PROFILER_CORE_INTERRUPT_LOCK_H
#define PROFILER_CORE_INTERRUPT_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/event.h"

enum { INTERRUPT_LOCK_HANDLERS = 32 };

/* Of a second: one handler. */
struct interrupt_lock_handler {
    uint64_t target; /* where it begins */
    uint16_t vector;
    uint64_t entries, ends; /* ends: those whose entry was seen */
    uint64_t live;          /* counter 1 from entry to end, of those */
    uint64_t first, last;   /* counter 1 at the first and the last entry */
};

/* Zero-initialise; no resources. */
struct interrupt_lock {
    bool found;              /* there was one; the members below say of which handler */
    uint64_t target;         /* where it begins */
    uint16_t vector;         /* INTEVT's code, or the vector's number */
    unsigned share_per_cent; /* of counter 1 in that second */

    /* the second under way */
    bool begun;
    uint64_t begin_ns, begin_c1;
    struct interrupt_lock_handler handler[INTERRUPT_LOCK_HANDLERS];
    size_t nhandlers;
    /* how many handlers are on top of one another now; of the outermost, its place in `handler`
     * (nhandlers: none) and the counter when it was entered */
    unsigned depth;
    size_t outermost;
    uint64_t entered;
};

/* interrupt_lock_feed - n events more, in their order
 * Looks at stretches of a second by the events' host_ns, without gaps: a loss, a stop and events
 * without counter 1 begin another one. It is a lock where one handler has more than 95 % of counter
 * 1, and where its entries are apart what it takes, within 5 %.
 * Returns true once: these events end the first such second; l->found stays. */
bool interrupt_lock_feed(struct interrupt_lock *l, const struct event *events, size_t n);

#endif
