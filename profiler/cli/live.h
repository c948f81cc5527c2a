/* The live line: what is going on while profiling. One line rewritten on a terminal, plain lines
 * else. */
#ifndef PROFILER_CLI_LIVE_H
#define PROFILER_CLI_LIVE_H

#include <stdio.h>

#include "profiler/bridge/pump.h"
#include "profiler/profile/slowdown.h"
#include "profiler/profile/snapshot.h"
#include "profiler/core/symbols.h"

/* Zero-initialise, then live_init(). */
struct live {
    FILE *out;
    unsigned columns; /* 0: not a terminal */
    bool shown;       /* a line is on the terminal and must be cleared before other output */
    const struct symbols *symbols;   /* may be NULL */
    const struct snapshot *snapshot; /* what was shown last; NULL: nothing yet */
    uint64_t take_ns;                /* not taken anew before */
    uint64_t last_events, last_ns;
    double rate;      /* events per host second, smoothed */
    bool measured;    /* once at least */
    uint64_t next_ns; /* when the next plain line is due */
};

/* What the functions at the top are read from: as snapshots_take(). */
struct live_source {
    int (*take)(void *ctx, const struct snapshot **out, struct err *err);
    void *ctx;
};

/* live_init - out: where it goes, stderr. live_fini() gives back what it read. */
void live_init(struct live *l, FILE *out, const struct symbols *symbols);
void live_fini(struct live *l);

/* live_tick - show the state now; call a few times a second
 * source    asked for a snapshot if a line is due, and if that takes no more than one part in 20 of
 *           the time; else the functions are those of the line before
 * now_ns    the host's monotonic clock
 * seen      events that reached the profile so far */
void live_tick(struct live *l, const struct pump_view *v, const struct live_source *source,
               uint64_t seen, uint64_t now_ns);

/* live_slowdown - of the whole profile so far (profiler/profile/slowdown.h). */
struct slowdown live_slowdown(const struct pump_view *v);

/* live_clear - wipe the line, before anything else is written to the terminal. */
void live_clear(struct live *l);

/* live_text - the line's text without control characters, for tests: returns buf.
 * p             its functions go last; NULL: none
 * events_per_s  rate since the last line */
char *live_text(const struct live *l, const struct pump_view *v, const struct profile *p,
                uint64_t seen, double events_per_s, char *buf, size_t cap);

#endif
