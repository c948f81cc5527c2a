/* Who ran when: the activations of a watched call tree as spans on tracks, in the order of time. A
 * fold whose memory grows with the calls that are open, not with the run.
 *
 * Tracks: one a task, one for all interrupts and exceptions, one for gaps, one for marks. On a
 * track spans nest and never overlap otherwise. A span is one activation, from where it began to
 * where it ended, but for two cases in which it ends and a further span of the same activation
 * begins later: while another task runs, and where events were lost, since nobody saw what ran
 * then. Spans of the interrupted task stay open below a handler.
 *
 * Each step is in exactly one span: that of the function that it is charged to. So the sums over
 * all spans of a function, of all tracks, are the function's c1 and c2. */
#ifndef PROFILER_PROFILE_SPANS_H
#define PROFILER_PROFILE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/calltree_watch.h"

/* What time is taken from. */
enum spans_clock {
    SPANS_CYCLES, /* of the target's clock, with what tracing took */
    SPANS_C1,     /* a counter that counts elapsed cycles of the program */
    SPANS_C2,
    SPANS_STEPS /* none of these is known: each step is 1 */
};

enum span_track_kind { SPAN_TRACK_TASK, SPAN_TRACK_INTERRUPTS, SPAN_TRACK_GAPS, SPAN_TRACK_MARKS };

/* SPAN_TRACK comes once a track, before all else on it. */
enum span_event_kind { SPAN_TRACK, SPAN_BEGIN, SPAN_END, SPAN_MARK };

enum span_flag {
    SPAN_CONTINUED = 1 << 0, /* it goes on with an activation that had a span before */
    SPAN_CONTINUES = 1 << 1, /* the activation goes on behind its end */
    SPAN_FOUND = 1 << 2,     /* the entry was not seen: it was running, or is inferred */
    /* a step of it is, it may have been left and entered again in a gap, or its end was not seen */
    SPAN_DOUBTFUL = 1 << 3,
    SPAN_BOUND = 1 << 4 /* of a gap: lost is an upper bound */
};

struct span_event {
    enum span_event_kind kind;
    uint32_t track; /* numbers from 0, in the order in which tracks appear */
    uint64_t at;    /* of the clock, since tracing was armed; never goes back */
    /* SPAN_TRACK */
    enum span_track_kind track_kind;
    uint32_t context; /* of a task; 0: no system's task is known */
    /* SPAN_BEGIN, SPAN_END: whose it is, in calltree_nodes(); of a gap CALLTREE_NONE */
    uint32_t node;
    uint32_t flags; /* enum span_flag: CONTINUED and FOUND of a beginning, all of an end */
    /* SPAN_END: charged to it meanwhile, without what it called; of a gap, what was counted in it
     */
    uint64_t c1, c2;
    enum calltree_left left; /* SPAN_END, without SPAN_CONTINUES: how the activation ended */
    uint64_t lost;           /* SPAN_END of a gap: events, see SPAN_BOUND */
    uint8_t cause;           /* of a gap, and of a mark that is a note: enum event_cause */
    uint8_t mark; /* SPAN_MARK: EVENT_START, EVENT_STOP, EVENT_NOTE, EVENT_CLEAR, EVENT_AGAIN */
};

struct spans; /* private to spans.c */

/* spans_new - take: called for each, in order; e is borrowed during the call. Returns 0 with *out,
 * or -ERR_NOMEM. */
int spans_new(enum spans_clock clock, void (*take)(void *ctx, const struct span_event *e),
              void *ctx, struct spans **out, struct err *err);

/* spans_watch - to be told of a tree from its first event to calltree_watch_end(); as long as s. */
const struct calltree_watch *spans_watch(const struct spans *s);

/* spans_end - closes what is still open. Returns 0; -ERR_NOMEM: spans are missing. */
int spans_end(struct spans *s, struct err *err);

/* spans_free - NULL is fine. */
void spans_free(struct spans *s);

#endif
