/* Run control of a target as a table: which state follows on which event, and what callers of the
 * target's interface see in each state. States and events are each driver's own (its run_state.h);
 * tests print the tables into docs/. */
#ifndef TARGETS_RUN_TABLE_H
#define TARGETS_RUN_TABLE_H

#include <stdint.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/target.h"

/* State 0 stands for "the event cannot happen there"; the driver's own begin with 1. */
struct run_table {
    unsigned nstates, nevents;
    const uint8_t *next;       /* by state, then by event */
    const uint8_t *seen;       /* enum target_state, by state */
    const char *const *states; /* names, for logs and docs/ */
    const char *const *events;
    const char *const *state_texts; /* what they mean, for docs/ */
    const char *const *event_texts;
};

/* RUN_TABLE - a table from its rows, uint8_t rows[nstates][nevents], and the driver's lists of
 * states S(name, what callers see, text) and of events E(name, text). */
#define RUN_TABLE(rows, STATES, EVENTS)                                             \
    {                                                                               \
        .nstates = ARRAY_LEN(rows), .nevents = ARRAY_LEN(rows[0]), .next = rows[0], \
        .seen = (const uint8_t[]){ 0, STATES(RUN_SEEN) },                           \
        .states = (const char *const[]){ "refused", STATES(RUN_STATE_NAME) },       \
        .events = (const char *const[]){ EVENTS(RUN_EVENT_NAME) },                  \
        .state_texts = (const char *const[]){ "", STATES(RUN_STATE_TEXT) },         \
        .event_texts = (const char *const[]){ EVENTS(RUN_EVENT_TEXT) },             \
    }
#define RUN_SEEN(name, seen, text)       seen,
#define RUN_STATE_NAME(name, seen, text) #name,
#define RUN_STATE_TEXT(name, seen, text) text,
#define RUN_EVENT_NAME(name, text)       #name,
#define RUN_EVENT_TEXT(name, text)       text,

/* run_table_next - the state that follows; 0: the event cannot happen there. */
static inline unsigned run_table_next(const struct run_table *t, unsigned state, unsigned event)
{
    return t->next[state * t->nevents + event];
}

/* run_table_change - the state that follows, and a line of it in the log (subject target), which
 * name begins. An event that cannot happen in the state is a bug: an assertion fails, and without
 * assertions 0 is returned. */
unsigned run_table_change(const struct run_table *t, unsigned state, unsigned event,
                          const struct log *log, const char *name);

#endif
