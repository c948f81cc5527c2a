/* Exact execution counts of blocks and branches, summed from EVENT_BLOCK and EVENT_BRANCH. */
#ifndef PROFILER_CORE_BLOCKS_H
#define PROFILER_CORE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/event.h"

struct block_count {
    uint64_t low, high, count;
}; /* [low, high) */
struct branch_count {
    uint64_t pc, taken, not_taken;
};

/* Zero-initialise. Memory grows with the number of different blocks, not with events. */
struct blocks {
    struct blocks_slot *slot; /* open addressing, power of two */
    size_t nslots, used;
};

/* blocks_add - counts one event; other kinds are ignored. Blocks may overlap: their counts add up
 * per address. Returns 0 or -ERR_NOMEM. */
int blocks_add(struct blocks *b, const struct event *e);

/* blocks_list, branches_list - the sums: *out ascending by address, caller frees. Blocks do not
 * overlap here: every low and high seen begins one; those never executed are left out. Returns 0 or
 * -ERR_NOMEM. */
int blocks_list(const struct blocks *b, struct block_count **out, size_t *n, struct err *err);
int branches_list(const struct blocks *b, struct branch_count **out, size_t *n, struct err *err);

/* blocks_clear - forget the counts, keep the memory. */
void blocks_clear(struct blocks *b);

/* blocks_fini - frees all; a zeroed struct is fine. */
void blocks_fini(struct blocks *b);

#endif
