/* The live line: what is going on while profiling. One line rewritten on a terminal, plain lines
 * else. */
#ifndef PROFILER_CLI_LIVE_H
#define PROFILER_CLI_LIVE_H

#include <stdio.h>

#include "profiler/core/calltree.h"
#include "profiler/bridge/pump.h"
#include "profiler/profile/slowdown.h"
#include "profiler/core/symbols.h"

/* Zero-initialise, then live_init(). */
struct live {
    FILE *out;
    unsigned columns; /* 0: not a terminal */
    bool shown;       /* a line is on the terminal and must be cleared before other output */
    const struct symbols *symbols; /* may be NULL */
    uint64_t *hits, *c1;           /* per function of symbols, scratch */
    uint64_t last_events, last_ns;
    double rate;      /* events per host second, smoothed */
    bool measured;    /* once at least */
    uint64_t next_ns; /* when the next plain line is due */
};

/* live_init - out: where it goes, stderr. Returns 0 or -ERR_NOMEM. */
int live_init(struct live *l, FILE *out, const struct symbols *symbols, struct err *err);
void live_fini(struct live *l);

/* live_tick - show the state now; call a few times a second
 * host_ns   monotonic clock
 * seen      events that reached the profile so far */
void live_tick(struct live *l, const struct pump_view *v, const struct calltree *tree,
               uint64_t seen, uint64_t host_ns);

/* live_slowdown - of the whole profile so far (profiler/profile/slowdown.h). */
struct slowdown live_slowdown(const struct pump_view *v);

/* live_clear - wipe the line, before anything else is written to the terminal. */
void live_clear(struct live *l);

/* live_text - the line's text without control characters, for tests: returns buf.
 * events_per_s  rate since the last line */
char *live_text(struct live *l, const struct pump_view *v, const struct calltree *tree,
                uint64_t seen, double events_per_s, char *buf, size_t cap);

#endif
