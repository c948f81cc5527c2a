/* Program and board: loading an ELF through the target, and noticing that the board runs another one.
 * All on the worker thread. */
#ifndef PROFILER_BRIDGE_BOARD_IO_H
#define PROFILER_BRIDGE_BOARD_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/cli/progress.h"
#include "targets/target.h"

struct board_io {
    bool (*cancelled)(void *ctx); /* asked between blocks; NULL: never */
    void *ctx;
    struct progress *progress;    /* told how far board_load() is; may be NULL */
};

/* board_load - reset and halt, write every section that has contents (flash through the driver, in blocks of the memory map), read it back, set the PC
 * loaded   bytes written; set on success
 * Afterwards the target is halted at the entry. Returns 0; the target's error; -ERR_FAULT if memory reads
 * back differently; -ERR_CANCELLED. */
int board_load(struct target *t, const struct image *im, const struct board_io *io, uint64_t *loaded, struct err *err);

/* board_halt - halt a running target and wait for it, two seconds of its clock at most
 * Returns 0; -ERR_TIMEOUT; the target's error. */
int board_halt(struct target *t, struct err *err);

/* board_compare - memory against the ELF's code and other sections that the program does not write
 * max_bytes   how much to look at, about, evenly spread
 * Returns 0 when equal; -ERR_STATE when not, saying where and how
 * much; the target's error; -ERR_CANCELLED. */
int board_compare(struct target *t, const struct image *im, const struct board_io *io, uint64_t max_bytes,
                  struct err *err);

#endif
