/* Profiling lines to events: the flow walker's calls, returns and interrupts, with counters and
 * time; start and stop points; counts of blocks and branches; gaps. Live traces and `probeprof
 * decode` share it, so that they cannot differ.
 *
 * Start and stop points act here on every pass, exactly, wherever the line came from. What the DBG
 * module can do of that is decided by the caller (s12z/driver/plan.h). Blocks and branches are
 * counted only while profiling is active. Memory is allocated when new code or many events at once
 * are met. */
#ifndef TARGETS_S12Z_TRACE_EVENTS_H
#define TARGETS_S12Z_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/event.h"
#include "targets/image.h"
#include "targets/s12z/driver/counters.h"
#include "targets/s12z/settings.h"
#include "targets/s12z/trace/culprits.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/line.h"
#include "targets/s12z/trace/time.h"
#include "targets/target.h"

struct s12z_events_config {
    const struct image *image; /* borrowed for the call */
    struct s12z_settings settings;
    uint16_t ivbr; /* 0: as after reset */
    bool has_start;
    uint32_t start;
    const uint64_t *stops;
    size_t nstops;
    uint16_t counter[2]; /* enum s12z_counter */
    bool seamless;       /* s12z_flow_seamless() */
    bool lines;          /* give every line as EVENT_LINE, too */
};

/* Totals since s12z_events_new(). */
struct s12z_events_totals {
    uint64_t events; /* given out, without lines, blocks and branches */
    uint64_t lines, overflows, sessions;
    /* what s12z_events_gap() was given: lines are an estimate, cycles are bus cycles */
    uint64_t gaps, gap_lines, gap_cycles;
    uint64_t misfits; /* lines that did not fit the program */
    /* sessions that began while another one was under way: its last line is missing, or the part
     * was reset */
    uint64_t unended;
    /* lines behind the last line of a session that do not begin one: a first line is missing */
    uint64_t headless;
    /* lines before the first address, as when the stream begins in the middle or after damage */
    uint64_t unplaced;
    uint64_t passes_cut; /* passes that a gap ended, as their stop point may lie in it */
    struct err first_misfit;
};

struct s12z_events;

/* s12z_events_new - cfg is copied. Returns 0; -ERR_NOMEM; -ERR_RESOURCE with more points than the
 * walker can watch. */
int s12z_events_new(const struct s12z_events_config *cfg, struct s12z_events **out,
                    struct err *err);
void s12z_events_free(struct s12z_events *e); /* NULL is fine */

/* When a line's sending began on the pins; zero where lines do not come over them. */
struct s12z_arrival {
    uint64_t tick;
    double bus_ticks; /* ticks in a bus clock; 0: not known */
    bool prompt;      /* nothing was being sent before it, so it was made at that time */
};

/* s12z_events_line - the next line
 * raw    as s12z_line_decode() took it
 * l      its meaning
 * at     NULL: not known
 * at_ns  when it was received, for event.host_ns
 * Returns 0 or -ERR_NOMEM. A line that does not fit the program is no failure: it becomes an
 * EVENT_LOST, and is counted. */
int s12z_events_line(struct s12z_events *e, uint64_t raw, const struct s12z_line *l,
                     const struct s12z_arrival *at, uint64_t at_ns, struct err *err);

/* s12z_events_gap - lines are missing here
 * lines   about how many; the event says that this is no exact number
 * cycles  bus cycles that passed; 0: unknown. If C1 counts them, it advances by them, so that the
 *         time of a gap shows. */
int s12z_events_gap(struct s12z_events *e, uint64_t lines, uint64_t cycles, enum event_cause cause,
                    struct err *err);

/* s12z_events_set_active - `monitor profile start|stop`: as if the program passed a start or stop
 * point here. */
int s12z_events_set_active(struct s12z_events *e, bool active, struct err *err);

/* s12z_events_stopped - the module ended the session at a stop point in one of its comparators,
 * before the instruction there. */
int s12z_events_stopped(struct s12z_events *e, uint32_t pc, struct err *err);

/* s12z_events_end - no more lines come: gives counts, EVENT_STOP if still active, and EVENT_RATEs
 * if C1 is bus cycles. These are also given at the beginning, and each time the number of
 * measurements has doubled. */
int s12z_events_end(struct s12z_events *e, struct err *err);

/* s12z_events_take - moves up to cap events out, oldest first; returns how many. */
size_t s12z_events_take(struct s12z_events *e, struct event *out, size_t cap);
size_t
s12z_events_waiting(const struct s12z_events *e); /* how many s12z_events_take() could move */

/* s12z_events_active - whether it is between a start and a stop point */
bool s12z_events_active(const struct s12z_events *e);

/* s12z_events_begins - will the first place known begin it, without a start point? */
bool s12z_events_begins(const struct s12z_events *e);
/* The totals, the flow walker and the times that it works with, borrowed until s12z_events_free().
 */
const struct s12z_events_totals *s12z_events_totals(const struct s12z_events *e);
struct s12z_flow *s12z_events_flow(struct s12z_events *e);
const struct s12z_time *s12z_events_time(const struct s12z_events *e); /* what C1 is worth */

/* s12z_events_culprits - the functions that filled the buffer: how many of the 64 lines before each
 * overflow their returns and other indirect jumps made, most first, up to cap. low is the
 * function's start, or the instruction's address where the image has no name for it. Returns how
 * many rows. */
size_t s12z_events_culprits(const struct s12z_events *e, struct s12z_culprit *out, size_t cap);

/* s12z_events_range - a range without the function that fills the buffer most: from where that
 * returns to (start) to where it is called (stop). If it is called again and again within one call
 * of its caller, the caller takes its place, and so on outwards. False if there is no such
 * function, or several functions call it. */
bool s12z_events_range(const struct s12z_events *e, uint32_t *start, uint32_t *stop);

#endif
