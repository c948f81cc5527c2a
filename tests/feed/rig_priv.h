/* Inside of the rig: the program and the owner (rig.c), readers and checks (rig_check.c). */
#ifndef TESTS_FEED_RIG_PRIV_H
#define TESTS_FEED_RIG_PRIV_H

#include <stdio.h>
#include <stdlib.h>

#include "profiler/core/calltree.h"
#include "profiler/core/rates.h"
#include "profiler/core/task_names.h"
#include "profiler/feed/feed.h"
#include "profiler/feed/follow.h"
#include "tests/feed/rig.h"

#define REQUIRE(that)                                                                 \
    do {                                                                              \
        if (!(that)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #that); \
            abort();                                                                  \
        }                                                                             \
    } while (0)

enum { RIG_DEPTH = 64, RIG_READERS = 9 }; /* reader 0 is never cut */

struct rig_reader {
    struct follow *w;
    bool connected;
};

struct rig {
    struct rig_config cfg;
    struct calltree *tree;
    struct feed *feed;
    struct rates rates;
    struct task_names tasks;
    struct marks *marks; /* NULL: none */
    struct marks_matcher *matcher;
    uint64_t changes;

    uint32_t depth, context, function[RIG_DEPTH];
    bool handler[RIG_DEPTH], started;
    uint64_t resume[RIG_DEPTH], c1, c2, cycles, ns;

    struct rig_reader reader[RIG_READERS];
    unsigned cuts, frames, snaps, folds, rated;

    struct feed_node *before; /* of the last state */
    size_t nbefore, cap_before;
    unsigned rated_before;
    uint64_t epoch_before;
    bool has_before;
};

/* check_state - what holds of every state. check_mark - of a mark that was just set. */
void check_state(struct rig *r);
void check_mark(struct rig *r, const char *name, bool is);

#endif
