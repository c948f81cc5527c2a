/* Decoded code for the block path: lines, blocks, and the time each block takes from each pipeline
 * state. Private to decode.c and exec_fast.c.
 *
 * A block starts anywhere in a 32-byte line and ends at its first branch (slot included), at an
 * instruction the block path leaves to the single-step path, after a change of FPSCR, or with the
 * line. It depends only on the line's bytes, so a line of the I-cache, of ASERAM or of uncached
 * memory finds its blocks again by contents; stale I-cache lines run what they hold. */
#ifndef TARGETS_SIM_SH4_DECODE_H
#define TARGETS_SIM_SH4_DECODE_H

#include "targets/sim/sh4/cpu_internal.h"

/* Handlers of exec_fast.c beyond those named like their instruction. */
/* clang-format off */
enum fast_op {
    FOP_BAIL = SH4_NINSNS, /* this instruction needs the single-step path */
    FOP_STRADDLE,          /* the slot is in the next line: still there, and as decoded? */
    FOP_SEQ,               /* block ends, execution goes on at `op` (offset from line start) */
    FOP_BT, FOP_BF,        /* block ends, `op` = target offset, fall-through after it */
    FOP_SET_T, FOP_SET_F,  /* delayed conditional: remember the outcome before the slot */
    FOP_COND,              /* end of those */
    FOP_STATIC,            /* end of BRA, BSR */
    /* before the slot; `op` = offset of pc + 4 */
    FOP_BSR, FOP_BRAF, FOP_BSRF, FOP_JMP, FOP_JSR, FOP_RTS,
    FOP_DYN,               /* end of those with a computed target */
    FOP_COUNT
};
/* clang-format on */

struct dop {
    int32_t label; /* offset of the handler */
    uint16_t op;   /* opcode, or a signed offset from the line's first byte */
    uint8_t n, m;
};

enum line_kind { LINE_CACHED, LINE_ASERAM, LINE_UNCACHED, LINE_KINDS };
/* Decoding depends on FPSCR.PR and SZ (or FD), and on SR.MD. */
enum { FAST_MODES = 10 };

struct trec;
struct block {
    struct trec *rec; /* most recently used first */
    uint32_t first_op;
    uint8_t start, ninsns; /* instruction index in the line; instructions (slot included) */
    uint8_t kind, mode;
    bool wants_after; /* ended before a branch because the line with its slot was not there */
    uint8_t fetches, reads, writes, fpu, branches, calls;
    uint16_t code[18]; /* its opcodes, to account for the part before a bail */
};

/* What one pass through a block from one pipeline state costs; [0] falls through, [1] branch taken.
 */
struct trec {
    uint32_t state_in, out[2];
    uint32_t cycles[2];
    uint32_t max_cycles;
    bool dirty;
    uint64_t hits[2];
    struct block *block;
    struct trec *next, *next_dirty;
    struct sh4_time time[2];
    uint16_t pairs;
};

struct dline {
    uint32_t paddr; /* line address; 0xFFFFFFFF: free */
    uint8_t kind;
    uint8_t raw[LINE];
    uint16_t block[FAST_MODES][16]; /* 0: not decoded yet */
};

enum {
    DLINE_SETS = 512,
    DLINE_WAYS = 4,
    MAX_BLOCKS = 16384,
    MAX_OPS = 131072,
    MAX_RECS = 32768,
    MAX_STATES = 8192,
    STATE_BUCKETS = 16384
};

/* Addresses a user break channel may match: those equal to `addr` but for the bits in `ignore`. */
struct watch {
    uint32_t addr, ignore;
};

struct sh4_blocks {
    /* from the UBC: what they cover is left to the single-step path */
    struct watch insn[2], operand[2];
    unsigned ninsn, noperand;
    const int32_t *labels; /* by sh4_insn_id and fast_op */
    /* the block under way does not come from the I-cache: memory must not change */
    bool uncached_code;
    struct trec *dirty;
    struct dline *iline[IC_LINES]; /* NULL: not looked up since the line changed */
    uint64_t odd_fetches[LINE_KINDS];
    /* by address bits 31-29: 0 where the fast check holds */
    uint32_t ipoison[8], rpoison[8], wpoison[8];
    unsigned nblocks, nops, nrecs, nstates;
    /* the table sizes; tests make them smaller */
    unsigned max_blocks, max_ops, max_recs, max_states;
    unsigned next_way;
    struct dline line[DLINE_SETS][DLINE_WAYS];
    struct block block[MAX_BLOCKS];
    struct dop op[MAX_OPS];
    /* instruction index (of the branch, for its slot) an op belongs to */
    uint8_t unit[MAX_OPS];
    struct trec rec[MAX_RECS];
    uint16_t bucket[STATE_BUCKETS];
    struct sh4_pipe state[MAX_STATES];
};

/* sh4_state_intern - number of a pipeline state; may flush everything, blocks included, when a
 * table is full: then *flushed is set and old block, record and state numbers are void. */
uint32_t sh4_state_intern(struct sh4_cpu *cpu, const struct sh4_pipe *p, bool *flushed);
/* sh4_find_line - the decoded line with these bytes. */
struct dline *sh4_find_line(struct sh4_cpu *cpu, uint32_t paddr, enum line_kind kind,
                            const uint8_t raw[LINE]);
/* sh4_find_block - decoded block at instruction index `start`; straddle: the 2 bytes after the
 * line. NULL: tables were full and have been flushed; look the line up again. */
struct block *sh4_find_block(struct sh4_cpu *cpu, struct dline *l, unsigned mode, unsigned start,
                             const uint8_t *after);
/* sh4_find_rec - time of a block from a state, computed if new. NULL: tables were flushed. */
struct trec *sh4_find_rec(struct sh4_cpu *cpu, struct block *b, uint32_t state);
/* sh4_account_part - the first k instructions of the block have run (k short of its branch): books
 * and time. */
void sh4_account_part(struct sh4_cpu *cpu, const struct block *b, uint32_t state, unsigned k);

#endif
