/* Program and board: loading an ELF through the target, and noticing that the board runs another
 * one. All on the worker thread. */
#ifndef PROFILER_BRIDGE_BOARD_IO_H
#define PROFILER_BRIDGE_BOARD_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/target.h"

enum load_stage { LOAD_NONE, LOAD_ERASE, LOAD_WRITE, LOAD_VERIFY };

/* One look at a download; LOAD_NONE: there is none. Stages may come more than once: flash and RAM
 * one after the other. */
struct load_progress {
    enum load_stage stage;
    uint64_t done, total; /* bytes of this stage; done is 0 while nothing is known of it */
};

struct board_io {
    bool (*cancelled)(void *ctx); /* asked between blocks; NULL: never */
    void *ctx;                    /* of both */
    /* how far board_load() is; NULL: nobody asks */
    void (*tell)(void *ctx, const struct load_progress *now);
};

/* board_load - reset and halt, write every section that has contents (flash through the driver, in
 * blocks of the memory map), read it back, set the PC loaded   bytes written; set on success
 * Afterwards the target is halted at the entry. Returns 0; the target's error; -ERR_FAULT if memory
 * reads back differently; -ERR_CANCELLED. */
int board_load(struct target *t, const struct image *im, const struct board_io *io,
               uint64_t *loaded, struct err *err);

/* board_now_ns - the target's clock in ns; 0 for a target that has none. */
uint64_t board_now_ns(struct target *t);

/* board_halt - halt a running target and wait for it, two seconds of its clock at most
 * Returns 0; -ERR_TIMEOUT; the target's error. */
int board_halt(struct target *t, struct err *err);

/* board_compare - memory against the ELF's code and other sections that the program does not write
 * max_bytes   how much to look at, about, evenly spread
 * Returns 0 when equal; -ERR_STATE when not, saying where and how
 * much; the target's error; -ERR_CANCELLED. */
int board_compare(struct target *t, const struct image *im, const struct board_io *io,
                  uint64_t max_bytes, struct err *err);

#endif
