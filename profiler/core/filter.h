/* Filters between the event source and the call tree: passes, time limit, and interrupts left out
 * by the host. Start and stop points themselves act on the target. */
#ifndef PROFILER_CORE_FILTER_H
#define PROFILER_CORE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/event.h"

struct filter_config {
    uint64_t max_passes;     /* start/stop pairs; 0: no limit */
    uint64_t for_ns;         /* host time from the first active event; 0: no limit */
    bool exclude_interrupts; /* `--irq-filter auto` where the target has not done it (recordings) */
};

/* Visible, so that it can be copied; init with filter_init(), nothing to free. */
struct filter {
    struct filter_config cfg;
    uint64_t passes;   /* pairs completed */
    uint64_t first_ns; /* host time of the first active event */
    bool have_first, active, done;
    /* interrupts left out */
    uint32_t depth;          /* nesting of handlers being left out */
    uint64_t resume_pc;      /* where the outermost interrupt struck */
    uint64_t in_c1, in_c2;   /* counters when it began */
    uint64_t off_c1, off_c2; /* counter steps left out so far */
    uint64_t off_cycles, in_cycles;
    uint64_t last_c1, last_c2, last_cycles; /* of the last event that had them */
    uint64_t excluded;                      /* handlers left out */
    uint64_t excluded_events;
    uint64_t unfiltered; /* interrupts that could not be left out: their RTE is not traced */
};

/* filter_init - ready for the first event. cfg is copied. */
void filter_init(struct filter *f, const struct filter_config *cfg);

/* filter_event - pass one event through
 * in    the event as it came
 * out   the event to use, counters reduced by what was left out; may be in itself
 * Returns true if out is to be used. Once f->done, returns false for ever. The STOP that ends the
 * last pass is passed on. When time runs out, the event that noticed it becomes a STOP. */
bool filter_event(struct filter *f, const struct event *in, struct event *out);

/* filter_events - n events in place; returns how many remain. */
size_t filter_events(struct filter *f, struct event *events, size_t n);

/* filter_expired - whether the time limit has passed at host time now_ns (no event needed). */
bool filter_expired(const struct filter *f, uint64_t now_ns);

/* A threshold as people write it: ">=10%", ">100", "10%" (at least), "<5". */
struct threshold {
    enum {
        THRESHOLD_NONE,
        THRESHOLD_GE,
        THRESHOLD_GT,
        THRESHOLD_LE,
        THRESHOLD_LT,
        THRESHOLD_EQ
    } op;
    bool percent;
    double value;
};

/* threshold_parse - 0, or -ERR_USAGE with an example in the hint. */
int threshold_parse(const char *text, struct threshold *out, struct err *err);

/* threshold_met - does value (of total) meet it? THRESHOLD_NONE is always met. */
bool threshold_met(const struct threshold *t, uint64_t value, uint64_t total);

/* threshold_met_by - the same of a number, whether t is of a percentage or not. */
bool threshold_met_by(const struct threshold *t, double v);

#endif
