/* Decoded code of the block path: lines, blocks, and the time that each block takes from each state
 * of the pipeline. Private to decode.c and exec_fast.c.
 *
 * A block begins anywhere in a line of 32 bytes. It ends with its first branch and that one's slot,
 * before an instruction for the single-step path, after a change of FPSCR, or with the line. It
 * depends only on the bytes of the line. A line of the I-cache, of ASERAM or of uncached memory
 * therefore finds its blocks by its contents, and an I-cache line that memory no longer agrees with
 * still executes what it holds. */
#ifndef TARGETS_SIM_SH4_DECODE_H
#define TARGETS_SIM_SH4_DECODE_H

#include "targets/sim/sh4/cpu_internal.h"

/* Handlers of exec_fast.inc that are not named like an instruction. */
/* clang-format off */
enum fast_op {
    FOP_BAIL = SH4_NINSNS, /* the instruction needs the single-step path */
    FOP_STRADDLE,          /* checks that the slot, which lies in the next line, is as decoded */
    /* end of a block; execution goes on at `op`, an offset from the line's start */
    FOP_SEQ,
    /* end of a block; `op` is the target's offset, `n` that of the fall-through */
    FOP_BT, FOP_BF,
    FOP_SET_T, FOP_SET_F,  /* BT/S, BF/S: keep the condition, which the slot may change */
    FOP_COND,              /* end of BT/S, BF/S */
    FOP_STATIC,            /* end of BRA, BSR */
    /* These come before the slot; `op` is the offset of pc + 4. */
    FOP_BSR, FOP_BRAF, FOP_BSRF, FOP_JMP, FOP_JSR, FOP_RTS,
    FOP_DYN,               /* end of a branch to a computed target */
    FOP_COUNT
};
/* clang-format on */

struct dop {
    int32_t label; /* offset of the handler */
    uint16_t op;   /* opcode, or a signed offset from the first byte of the line */
    uint8_t n, m;
};

enum line_kind { LINE_CACHED, LINE_ASERAM, LINE_UNCACHED, LINE_KINDS };
/* Decoding depends on FPSCR.PR and SZ (or FD), and on SR.MD. */
enum { FAST_MODES = 10 };

struct trec;
struct block {
    struct trec *rec; /* the most recently used is the first */
    uint32_t first_op;
    /* index of its first instruction in the line; number of instructions with the slot */
    uint8_t start, ninsns;
    uint8_t kind, mode;
    bool wants_after; /* it ends before a branch since the line with the slot was not there */
    uint8_t fetches, reads, writes, fpu, branches, calls;
    uint16_t code[18]; /* opcodes, to count the part before a bail-out */
};

/* What a block costs from one state of the pipeline. Index 0: it falls through, 1: it branches. */
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
    uint32_t tag; /* address of the line, and bit 0; 0: free */
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

/* Addresses that a channel of the UBC may match: those that differ from `addr` in `ignore` only. */
struct watch {
    uint32_t addr, ignore;
};

struct sh4_blocks {
    /* From the UBC: what these cover is left to the single-step path. */
    struct watch insn[2], operand[2];
    unsigned ninsn, noperand;
    const int32_t *labels; /* by sh4_insn_id and fast_op */
    /* The block under way is not in the I-cache, so stores may change it. */
    bool uncached_code;
    struct trec *dirty;
    struct dline *iline[IC_LINES]; /* NULL: not looked up since the line changed */
    uint64_t odd_fetches[LINE_KINDS];
    /* By address bits 31-29: 0 where the inline check may decide (exec_fast.c, set_poison). */
    uint32_t ipoison[8], rpoison[8], wpoison[8];
    unsigned nblocks, nops, nrecs, nstates;
    /* Sizes of the tables, which tests make smaller. */
    unsigned max_blocks, max_ops, max_recs, max_states;
    unsigned next_way;
    struct dline line[DLINE_SETS][DLINE_WAYS];
    struct block block[MAX_BLOCKS];
    struct dop op[MAX_OPS];
    /* Number of the instruction in the block that an op belongs to; for a slot that of its
     * branch. */
    uint8_t unit[MAX_OPS];
    struct trec rec[MAX_RECS];
    uint16_t bucket[STATE_BUCKETS];
    struct sh4_pipe state[MAX_STATES];
};

/* sh4_state_intern - the number of a state of the pipeline. If a table is full, all tables are
 * flushed and *flushed is set: earlier numbers of states and pointers to blocks and records do not
 * hold then. */
uint32_t sh4_state_intern(struct sh4_cpu *cpu, const struct sh4_pipe *p, bool *flushed);
/* sh4_find_line - the decoded line with these bytes, made if there is none. */
struct dline *sh4_find_line(struct sh4_cpu *cpu, uint32_t paddr, enum line_kind kind,
                            const uint8_t raw[LINE]);
/* sh4_find_block - the block that begins at instruction index `start` of the line. after: the two
 * bytes after the line, NULL if they are not known. NULL: the tables were full and have been
 * flushed, so the line has to be looked up again. */
struct block *sh4_find_block(struct sh4_cpu *cpu, struct dline *l, unsigned mode, unsigned start,
                             const uint8_t *after);
/* sh4_find_rec - the time of a block from a state, computed if it is new. NULL: the tables were
 * flushed. */
struct trec *sh4_find_rec(struct sh4_cpu *cpu, struct block *b, uint32_t state);
/* sh4_account_part - adds time and counts of the first k instructions of a block, which do not
 * reach its branch. */
void sh4_account_part(struct sh4_cpu *cpu, const struct block *b, uint32_t state, unsigned k);

#endif
