/* The live line: progress while profiling. On a terminal one line is rewritten; elsewhere a short
 * line is printed every five seconds. */
#ifndef PROFILER_CLI_LIVE_H
#define PROFILER_CLI_LIVE_H

#include <stdio.h>

#include "profiler/cli/live_text.h"
#include "profiler/profile/snapshot.h"

/* Zero-initialise, then live_init(). */
struct live {
    FILE *out;
    unsigned columns; /* 0: not a terminal */
    bool shown;       /* a line is on the terminal and must be cleared before other output */
    const struct symbols *symbols;   /* may be NULL */
    const struct snapshot *snapshot; /* what was shown last; NULL: nothing yet */
    uint64_t take_ns;                /* host clock: the next snapshot is not taken before */
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

/* live_resized - the terminal may have another width now: the next line has it. */
void live_resized(struct live *l);

/* live_tick - show the state now; call a few times a second
 * now       its profile and symbols are filled in here, and its rate
 * source    asked for a snapshot if a line is due, and if that takes no more than one part in 20 of
 *           the time; else the functions are those of the line before
 * now_ns    the host's monotonic clock */
void live_tick(struct live *l, struct live_now *now, const struct live_source *source,
               uint64_t now_ns);

/* live_clear - wipe the line, before anything else is written to the terminal. */
void live_clear(struct live *l);

#endif
