/* Requests to the agent, while it has the program halted. */
#ifndef TARGETS_SH4_DRIVER_REQUESTS_H
#define TARGETS_SH4_DRIVER_REQUESTS_H

#include "targets/sh4/driver/state.h"

/* ---- agent primitives (sh4/driver/agent.c); the target must be halted in the agent ---- */

/* One request: a routine of the layout with three arguments. Words may go out after them, or come
 * back with the answer. */
struct sh4_request {
    /* offset from the agent's base: layout->op_..., or any address - agent_base */
    uint32_t routine;
    uint32_t arg[3];     /* r4 r5 r6 */
    const uint32_t *out; /* op_write: nout words follow */
    size_t nout;
    uint32_t *in; /* op_read: nin words come back */
    size_t nin;
    uint32_t slack;      /* more scans than usual to wait for the answer */
    uint32_t r0, status; /* results: r0 (not op_read); 0 or the EXPEVT of a fault the agent met */
};
enum {
    SH4_REQUEST_WORDS = 1024
}; /* most data words of one request, which bounds what a resync must drain */
/* The error of an access that the target refused with this EXPEVT. */
int sh4_agent_fault(uint32_t status, const char *what, unsigned width, uint32_t addr,
                    struct err *err);
/* One store by `routine` of the layout. */
struct sh4_request sh4_agent_poke_request(const struct sh4_agent_layout *a, uint32_t addr,
                                          uint32_t routine, uint32_t value);
/* Runs n requests in as few batches as possible, and repeats damaged ones, up to a limit. Every
 * request must be harmless to repeat. Returns 0 also if the status of a request is not 0. */
int sh4_agent_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);
/* sh4_agent_smaller_blocks - whether what moves n words and failed with ret is to be tried again:
 * a request was damaged, and they can be smaller still. Then t->link.block, which is lowered, says
 * how many words one has at most from now on. What is longer than SH4_LEAST_WORDS has to ask: on a
 * noisy wire it may never arrive whole. */
enum { SH4_LEAST_WORDS = 16 };
bool sh4_agent_smaller_blocks(struct sh4_target *t, size_t n, int ret);
/* sh4_agent_hold - from now on writes (op_write, op_poke) wait, and go in one batch with the next
 * request of another kind, as each batch costs a round trip of the adapter. They are done in order.
 * The failure of one is the failure of the request that took it along.
 * h   the caller's, with any contents; it must stay until sh4_agent_release()
 *
 * sh4_agent_release - does what still waits. Returns 0 or its failure; then it is not known which
 * writes were done, and the whole save area is written again. Fine without sh4_agent_hold(). */
enum { SH4_HELD_REQUESTS = 48, SH4_HELD_WORDS = 256 };
struct sh4_held {
    size_t n, words;
    struct sh4_request req[SH4_HELD_REQUESTS];
    uint32_t data[SH4_HELD_WORDS];
};
void sh4_agent_hold(struct sh4_target *t, struct sh4_held *h);
int sh4_agent_release(struct sh4_target *t, struct err *err);
int sh4_agent_flush(struct sh4_target *t,
                    struct err *err); /* does what waits; later writes wait again */

/* What sh4_leave() asks for in the batch that lets the program go, besides the registers, if the
 * program stops again within `slack` scans. done: it has stopped, and every request was answered;
 * t->regs.loaded is set, too. */
enum { SH4_SOON_REQUESTS = 4 };
struct sh4_soon {
    struct sh4_request req[SH4_SOON_REQUESTS];
    size_t n;
    uint32_t slack;
    bool done;
};

/* op_go, in one batch with requests for when it stops again at once (a step). *stopped says whether
 * these were answered. 1: the program was let go; 0: that is not known, as the request or its
 * answer was damaged. */
static inline int sh4_agent_go(struct sh4_target *t, struct sh4_request *go,
                               struct sh4_request *then, size_t n, bool *stopped, struct err *err)
{
    return t->link.wire->go(t, go, then, n, stopped, err);
}
/* 1: the agent says it is halted and waiting; 0: it does not; <0: link failure. Three scans. */
static inline int sh4_agent_halted(struct sh4_target *t, struct err *err)
{
    return t->link.wire->halted(t, err);
}
/* Brings agent and host back into step after a damaged exchange. */
static inline int sh4_agent_resync(struct sh4_target *t, struct err *err)
{
    return t->link.wire->resync(t, err);
}

/* n accesses of width 1, 2 or 4 at addr, which are not checked for patches. Values are numbers, one
 * for each access. -ERR_FAULT if the target refuses one; what values holds then is undefined. */
int sh4_agent_read(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *values, size_t n,
                   struct err *err);
int sh4_agent_write(struct sh4_target *t, uint32_t addr, unsigned width, const uint32_t *values,
                    size_t n, struct err *err);
/* Reads where there may be no memory. 1: read; 0: the target refuses, which is no error here; < 0:
 * the wire fails. */
int sh4_agent_try_read(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *values,
                       size_t n, struct err *err);
/* One store, which happens exactly once, and with a value that has been checked: for registers. */
int sh4_agent_poke(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t value,
                   struct err *err);
int sh4_agent_peek(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *value,
                   struct err *err);
/* Calls code at an absolute address with r4-r6. The code may clobber r0-r8 and PR, and returns with
 * RTS. *r0 is what it left in r0. */
int sh4_agent_call(struct sh4_target *t, uint32_t addr, const uint32_t arg[3], uint32_t *r0,
                   struct err *err);
/* Writes code (16-bit units, host order) through the caches: the O-cache line is written back and
 * dropped, the I-cache line invalidated. For patches, which are short. addr must be even, and need
 * not be a multiple of 4. */
int sh4_agent_write_code(struct sh4_target *t, uint32_t addr, const uint16_t *insn, size_t n,
                         struct err *err);
/* What to add to a routine's offset so that it runs uncached (0 in ASERAM, the P2 alias in RAM). */
uint32_t sh4_agent_uncached(const struct sh4_target *t);
/* Makes requests, 3 for each line of 32 bytes, after which instruction fetches see what was stored
 * at addr. Returns how many. */
size_t sh4_agent_coherent(struct sh4_target *t, uint32_t addr, size_t len, struct sh4_request *req);
/* n instructions, an even number, as n / 2 words that have them in the order of the target's
 * memory.
 */
void sh4_code_words(const struct sh4_target *t, const uint16_t *code, size_t n, uint32_t *words);
/* Puts code and data (words, SH4_OVERLAY_WORDS at most) into the agent's overlay area; *addr is
 * where that is. */
int sh4_agent_overlay(struct sh4_target *t, const uint32_t *words, size_t n, uint32_t *addr,
                      struct err *err);
enum { SH4_OVERLAY_WORDS = 24 };
/* ---- loops on the board, in the overlay area (sh4/driver/search.c); the target must be halted in
 * the agent ---- */
/* Whether the n words from addr on are these, by a hash of 32 bits for every 16384 of them. The CPU
 * makes the accesses, and addr is a multiple of 4. A fault counts as a difference. *same is
 * untouched on failure. */
int sh4_agent_same(struct sh4_target *t, uint32_t addr, const uint32_t *words, size_t n, bool *same,
                   struct err *err);
/* Finds the first of `places` words, 32 bytes apart from addr on, that holds value. 1 with *found;
 * 0: none does; -ERR_FAULT: not readable. */
int sh4_agent_find(struct sh4_target *t, uint32_t addr, uint32_t places, uint32_t value,
                   uint32_t *found, struct err *err);

/* Writes back the O-cache lines of this range. A write through P2 goes past the O-cache, and a
 * dirty line of the same memory would undo it later. */
int sh4_agent_before_write(struct sh4_target *t, uint32_t addr, size_t len, struct err *err);
/* Writes back and drops the O-cache lines of a range, and invalidates the whole I-cache: after code
 * was loaded. */
int sh4_agent_sync_caches(struct sh4_target *t, uint32_t addr, size_t len, struct err *err);

#endif
