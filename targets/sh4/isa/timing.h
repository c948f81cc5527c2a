/* SH-4 pipeline time: two-way in-order issue, latencies, unit occupancy, branch costs.
 *
 * The whole state is struct sh4_pipe. sh4_pipe_settle makes equal situations equal bytes, and the
 * timing of blocks is memoised by that. Cache misses and other waits freeze the whole pipeline;
 * they only add to the clock, and never enter this state. Pure functions. Sources: GCC's
 * config/sh/sh4.md and sh_adjust_cost(); SH7750 hardware manual, section 8 (table 8.2, figure 8.3).
 */
#ifndef TARGETS_SH4_ISA_TIMING_H
#define TARGETS_SH4_ISA_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* Resources with a ready time. FRn are 16-31, XFn 32-47. */
enum sh4_resource {
    RES_R0 = 0,
    RES_FR0 = 16,
    RES_XF0 = 32,
    RES_T = 48,
    RES_MACH,
    RES_MACL,
    RES_PR,
    RES_GBR,
    RES_FPUL,
    RES_FPSCR,
    RES_SR,
    RES_VBR,
    RES_SSR,
    RES_SPC,
    RES_DBR,
    RES_BANK,
    RES_F1,
    RES_F3,   /* FPU units */
    RES_MULT, /* the multiplier */
    SH4_NRES
};

/* nothing issued in the base cycle yet; else the group of its one instruction */
enum { PIPE_EMPTY = 0xFF };
struct sh4_pipe {
    /* time from which usable by the most demanding consumer; <= base: at once */
    uint16_t ready[SH4_NRES];
    uint8_t slack[SH4_NRES]; /* cycles ordinary consumers may use it earlier */
    /* now; moves on with every instruction and is brought back to 0 in time */
    uint16_t base;
    uint16_t war_until; /* until when ... */
    uint16_t war;       /* ... a double FADD/FSUB/FMUL still reads these FR registers */
    /* PIPE_EMPTY, or group of the instruction that may still find a partner */
    uint8_t open;
    uint8_t pad;
};

/* What issuing one instruction or finishing a branch took. All cycles. */
struct sh4_time {
    uint32_t cycles; /* base moved by this */
    uint32_t after;  /* of them, from the instruction's own issue on */
    uint16_t freeze_reg, freeze_fpu, freeze_branch, issue_lock;
    bool paired;
};

/* Timing of one opcode under one FPSCR.PR/SZ. */
struct sh4_tdesc {
    uint64_t src;    /* resources read, units needed */
    uint64_t strict; /* of those, read by a consumer that gets no slack */
    uint64_t store;  /* FR read by an FMOV store: one cycle later than by arithmetic */
    uint64_t waw;    /* FR/FPUL written: not before an older, slower result */
    uint16_t war;
    /* branch_taken: cycles to the target's issue; 0: no branch */
    uint8_t ndst, group, issue, branch_taken;
    struct {
        uint8_t res, latency, slack;
    } dst[12];
    bool fpu, branch, call, sts_fpul, swap_banks;
    uint8_t reads, writes; /* operand accesses, for static counts */
};

/* sh4_tdesc_make - decode an opcode for timing. pr, sz as in FPSCR. */
void sh4_tdesc_make(uint16_t opcode, bool pr, bool sz, struct sh4_tdesc *d);

/* Opcodes met recently. Opaque; zeroed memory is a valid empty one. */
struct sh4_tdesc_cache {
    struct {
        uint32_t key;
        struct sh4_tdesc d;
    } slot[1024];
};
/* sh4_tdesc_get - the same through the cache; borrowed until the next call. */
const struct sh4_tdesc *sh4_tdesc_get(struct sh4_tdesc_cache *c, uint16_t opcode, bool pr, bool sz);

/* sh4_pipe_reset - everything ready, nothing issued. */
void sh4_pipe_reset(struct sh4_pipe *p);
/* sh4_pipe_settle - the same state with base 0 and nothing that no longer matters: comparable as
 * bytes. */
void sh4_pipe_settle(struct sh4_pipe *p);
/* sh4_pipe_issue - the next instruction in program order; adds to *t. */
void sh4_pipe_issue(struct sh4_pipe *p, const struct sh4_tdesc *d, struct sh4_time *t);
/* sh4_pipe_redirect - a taken branch: its target is the next instruction
 * since     cycles since the branch's own issue (sum of `after` of it and `cycles` of its slot)
 * distance  cycles from branch issue to target issue at least */
void sh4_pipe_redirect(struct sh4_pipe *p, unsigned since, unsigned distance, struct sh4_time *t);

#endif
