/* The timeline: who ran when, from the last events. Events in, spans out; no sockets, no feed.
 *
 * Stacks are followed as far as the events show: a call opens a level, a return closes the levels
 * above the call it goes back to, a jump into another function replaces the function that jumped, a
 * handler stands on what it interrupted. A function that was on the stack before the first event is
 * found when the program returns to it, and is shown from the beginning. Levels end where events
 * were lost; behind the gap the functions that the program is found in go on, marked as doubtful.
 *
 * A level shows, for each pixel, the function that had most of its time (of equals the one with
 * the lowest address). Handlers, gaps and points are never left out: in one pixel only the same
 * ones are put together, with their number. */
#ifndef PROFILER_FEED_TIMELINE_H
#define PROFILER_FEED_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/event.h"

enum {
    TIMELINE_PX = 1024,
    TIMELINE_PX_MOST = 4096,
    TIMELINE_LEVELS = 32,
    TIMELINE_LEVELS_MOST = 256, /* deeper calls belong to the deepest that is followed */
    TIMELINE_STACKS = 16,       /* tasks that are followed at once */
    TIMELINE_SPANS = 1 << 18,   /* at most; what comes behind them is missing (cut) */
    TIMELINE_UNKEPT = 255       /* cause of a gap: there was no reader, so events were not kept */
};

/* What the times are. */
enum timeline_clock {
    TIMELINE_CYCLES, /* of the target's clock */
    TIMELINE_C1,     /* counter 1 since arming: no event says the time */
    TIMELINE_NUMBERS /* of events: neither is known */
};

enum timeline_flag {
    TIMELINE_DOUBTFUL = 1 << 0,
    TIMELINE_BEFORE = 1 << 1,  /* begun before the first event, or while nothing was seen */
    TIMELINE_OPEN = 1 << 2,    /* goes on behind the last event */
    TIMELINE_HANDLER = 1 << 3, /* entered by an interrupt or exception */
    TIMELINE_EXCEPTION = 1 << 4
};

struct timeline_source {
    const void *ctx;
    const struct event *(*event)(const void *ctx, uint64_t number);
    uint64_t first, end; /* numbers [first, end) */
    /* The start of the function that has an address; false: none is known there. */
    bool (*function)(const void *ctx, uint64_t addr, uint64_t *start);
};

struct timeline_ask {
    bool has_from, has_to; /* else from the first event, to the last */
    uint64_t from, to;
    unsigned px, levels; /* at most TIMELINE_PX_MOST, TIMELINE_LEVELS_MOST; not 0 */
};

/* One or more calls of a function, next to each other, that share pixels. */
struct timeline_span {
    uint64_t from, to; /* within what was asked for */
    uint64_t busy;     /* of that, it and what it called ran */
    uint64_t function; /* its start, or where it was entered if that is not known */
    uint32_t level;    /* 0: the outermost that was seen */
    uint32_t times;    /* calls */
    uint16_t vector;
    uint8_t flags; /* enum timeline_flag */
};

struct timeline_gap {
    uint64_t from, to, lost;
    uint32_t times;
    uint8_t cause; /* enum event_cause, TIMELINE_UNKEPT */
    bool bound;    /* lost is at most that */
};

struct timeline_point {
    uint64_t at;
    uint32_t times;
    uint8_t kind;  /* EVENT_START, EVENT_STOP, EVENT_CLEAR, EVENT_AGAIN, EVENT_NOTE */
    uint8_t cause; /* of a note */
};

struct timeline {
    enum timeline_clock clock;
    uint64_t first, last; /* times of the first and last event there is */
    uint64_t from, to;    /* the range */
    uint64_t step;        /* of a pixel, the last one may have less; 0: there is no range */
    uint32_t levels;      /* there are, in all */
    bool cut;             /* more than TIMELINE_SPANS: the end is missing */
    struct timeline_span *calls, *handlers; /* calls by level, then time; handlers by time */
    struct timeline_gap *gaps;
    struct timeline_point *points;
    size_t ncalls, nhandlers, ngaps, npoints;
};

/* timeline_make - *out is to be freed by timeline_free(), also after a failure.
 * Returns 0; -ERR_NOT_FOUND: the range has left the events, or is not there yet (out->first and
 * out->last say what is there); -ERR_NOMEM. */
int timeline_make(const struct timeline_source *from, const struct timeline_ask *ask,
                  struct timeline *out);

/* timeline_free - all of it. */
void timeline_free(struct timeline *t);

/* ---- between timeline_follow.c and timeline.c ---- */

/* One function on a level for a while. */
struct timeline_run {
    uint64_t from, to, function;
    uint32_t call; /* the same for all runs of one call */
    int32_t level; /* of the first function that was found: 0; its callers are below */
    uint16_t vector;
    uint8_t flags;
};

/* All of the events: runs of a level are in order of time and do not overlap. */
struct timeline_runs {
    struct timeline_run *run;
    size_t n, cap;
    struct timeline_gap *gaps;
    size_t ngaps, cap_gaps;
    struct timeline_point *points;
    size_t npoints, cap_points;
    enum timeline_clock clock;
    uint64_t first, last;
    int32_t lowest;  /* level */
    int32_t highest; /* less than lowest: there are none */
    bool cut, failed;
};

/* timeline_follow - from events to runs. Returns 0 or -ERR_NOMEM; out is to be given to
 * timeline_runs_free() in either case. */
int timeline_follow(const struct timeline_source *from, struct timeline_runs *out);
void timeline_runs_free(struct timeline_runs *r);

#endif
