/* Displaced execution: code that does, elsewhere, what a patched instruction did. Pure.
 *
 * A stub is position independent and 4-byte aligned. Where possible it is the same for many sites,
 * so that few I-cache lines hold all of them. It runs in the program's own mode and with its
 * registers, and may write only the word below the stack pointer. */
#ifndef TARGETS_SH4_TRACE_STUBS_H
#define TARGETS_SH4_TRACE_STUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/sh4/code/sites.h"

enum { SH4_STUB_MAX = 48 };

/* What displaced code does on the bus more than the original, where no cache helps. It is counted
 * against the stub of a JSR or RTS at a multiple of four, with which calibration measures. An
 * instruction is fetched together with the other one of its aligned pair. */
struct sh4_stub_memory {
    int8_t pairs;         /* fetched */
    int8_t reads, writes; /* of words */
    bool unsure;          /* a pair more or less, depending on which way a condition goes */
};

struct sh4_stub {
    uint8_t bytes[SH4_STUB_MAX]; /* code and literals, target byte order */
    size_t len;                  /* multiple of 4 */
    bool set_pr;                 /* PR must be site + 4 before the stub runs */
    uint8_t value;               /* offset of the literal that the agent fills in: sh4_stub_sr() */
    int8_t extra_insns;          /* instructions it runs more than the original (and its slot) */
    int8_t extra_branches;       /* the same of branches, taken or not */
    int8_t extra_cycles;         /* cycles it is estimated to take longer, all in cache */
    struct sh4_stub_memory more; /* what it takes longer without caches */
};

/* sh4_stub_site - stub of a call, return or jump site
 * s     the program, for how long it takes among the code around it; NULL: extra_cycles stays 0
 * site  one of SH4_SITE_JSR .. SH4_SITE_BRAF
 * out   filled on success
 * Returns 0; -ERR_UNSUPPORTED with the reason for what cannot run elsewhere. */
int sh4_stub_site(const struct sh4_sites *s, const struct sh4_site *site, bool big,
                  struct sh4_stub *out, struct err *err);

/* sh4_slot_adds - what a delay slot adds to the stack pointer
 * by   the constant that it adds, which may be 0; 0 where it adds none
 * Returns false if what it adds is not a constant, or depends on FPSCR.SZ. */
bool sh4_slot_adds(uint16_t slot, int32_t *by);

/* sh4_stub_point - stub of any instruction, for start and stop points
 * s     the program's sites; addr may be any alias
 * out   filled on success; after it the program is where the instruction would have taken it
 * Returns 0; -ERR_USAGE for a place where no point can be, with a near one that works in the hint.
 * The caller checks whether SR.BL may be 1 there. */
int sh4_stub_point(const struct sh4_sites *s, uint32_t addr, bool big, struct sh4_stub *out,
                   struct err *err);

/* sh4_stub_sr - the two stubs of an instruction that reads or loads SR (sh4_site_is_sr())
 * plain  the instruction itself
 * agent  what is left of it after the agent's part: a load's post-increment, if it has one. A read
 *        takes the literal at `value`.
 * For a read both stubs run the same number of instructions more than the original. */
void sh4_stub_sr(const struct sh4_site *site, bool big, struct sh4_stub *plain,
                 struct sh4_stub *agent);

#endif
