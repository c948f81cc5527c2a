/* The instructions of a range, and what was measured on each of them: samples, exact counts,
 * directions of branches. Instructions without a measurement are marked so; nothing is spread over
 * neighbours. */
#ifndef PROFILER_FEED_LISTING_H
#define PROFILER_FEED_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/address_counts.h"
#include "profiler/core/blocks.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"
#include "targets/insn.h"

enum { LISTING_MOST = 16384 }; /* instructions */

/* The program, and what was counted by address. All borrowed; what is NULL is not known. */
struct program_code {
    const char *elf; /* its file, as it was opened; for its source files */
    const struct symbols *symbols;
    /* of target_ops; canonical NULL: each address is its own */
    size_t (*insn)(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian,
                   struct insn *out);
    uint64_t (*canonical)(uint64_t addr);
    const struct address_counts *samples; /* of a statistical profile */
    const struct blocks *blocks;
    /* has the counts of blocks and branches where `blocks` is NULL, samples where `samples` is */
    const struct profile *sums;
};

struct listing_row {
    uint64_t address; /* as the ELF has it */
    struct insn insn;
    const char *file; /* NULL: not known; borrowed from the symbols */
    int line;
    bool counted, branched;
    uint64_t hits;             /* samples; 0: none was taken here */
    uint64_t count;            /* if counted: how often it was executed */
    uint64_t taken, not_taken; /* if branched */
};

/* Zero-initialise. */
struct listing {
    struct listing_row *row; /* ascending */
    size_t n;
    bool cut;       /* there are more than LISTING_MOST */
    size_t overlay; /* the number of the overlay that they are in; 0: none */
};

/* listing_make - the instructions of [low, high), in any alias, and in the overlay whose number low
 * has (overlay.h); rows have plain addresses; literals that they read become
 * INSN_NONE. None if the program has no such code, or is not known. Returns 0 or -ERR_NOMEM. */
int listing_make(const struct program_code *c, uint64_t low, uint64_t high, struct listing *out,
                 struct err *err);

/* listing_at - the row whose instruction holds the address, in any alias of c; NULL: none does. An
 * address without an overlay is in the list's. */
struct listing_row *listing_at(const struct listing *l, const struct program_code *c,
                               uint64_t addr);

/* listing_row_add - adds what was measured on one instruction to the sum of several: counts of
 * execution are not added, since the instructions of a line run together, or fewer of them. */
void listing_row_add(struct listing_row *sum, const struct listing_row *r);

/* listing_fini - frees; a zeroed struct is fine. */
void listing_fini(struct listing *l);

#endif
