/* A feed under test: a random program's events go through the real call tree, folds are made of it,
 * readers come, fall behind, are cut in the middle of a line, and come back. After every fold it is
 * checked that sums add up; at the end every reader has what the profile has. What does not hold
 * aborts with its line: tests and fuzzers use it. */
#ifndef TESTS_FEED_RIG_H
#define TESTS_FEED_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/core/symbols.h"

struct rig; /* private to rig.c */

struct rig_config {
    /* Where the next decision comes from: 0 to n - 1. */
    uint32_t (*pick)(void *ctx, uint32_t n);
    void *ctx;
    const struct symbols *symbols; /* NULL: functions have addresses only */
    const char *marks;             /* lines of profiler/profile/marks.h; NULL: none */
    unsigned functions;            /* the program has; up to 4,000 */
    unsigned depth;                /* it goes down to, up to 60 */
    bool estimated;                /* counter 1 is an estimate, and what is known of it changes */
    bool samples;
    bool clears;         /* the profile is cleared now and then */
    uint32_t nodes;      /* what readers ask for */
    uint32_t most_paths; /* of the tree; 0: as it likes */
};

/* rig_new, rig_free - a program about to start, a feed, and readers that have nothing yet. */
struct rig *rig_new(const struct rig_config *cfg);
void rig_free(struct rig *r);

/* rig_run - n events go through the tree. */
void rig_run(struct rig *r, unsigned n);

/* rig_fold - folds, and checks the state. */
void rig_fold(struct rig *r);

/* rig_bustle - one thing that may happen at any time: a mark, a state, a log entry, a clear, what
 * is known of an estimate. */
void rig_bustle(struct rig *r);

/* rig_read - each reader takes a frame, or sleeps, or loses its connection. */
void rig_read(struct rig *r);

/* rig_check - the end: a fold, a last frame for each reader; all equal an uncut one, a fresh one,
 * and the profile of the tree, row by row, and its JSON. */
void rig_check(struct rig *r);

/* rig_cuts, rig_frames, rig_snaps - so many there were. */
unsigned rig_cuts(const struct rig *r);
unsigned rig_frames(const struct rig *r);
unsigned rig_snaps(const struct rig *r);

#endif
