/* What is true of a run: the call tree by an execution log, from the instruction set and the
 * stacks' places alone. Nothing of the profiler or of the trace is used here. */
#ifndef TESTS_NASTY_ORACLE_H
#define TESTS_NASTY_ORACLE_H

#include "tests/sim_sh4/asm.h"
#include "tests/nasty/gen.h"

/* One executed instruction, with R15 and R8 before it. */
struct step {
    uint32_t pc, sp, r8;
};
struct oracle_function {
    char name[32];
    uint32_t low, high;
};
/* A part of a function that is measured by itself. */
struct oracle_block {
    uint32_t low, high;
};
struct oracle_node {
    /* parent: -1 at roots; function: from nf on a block, whose parent is its function's node */
    int parent, function;
    bool exception;       /* root entered by one */
    uint64_t hits, count; /* entries, instructions of its own */
    /* how it is entered has no branch of its own (fall-through): a mark is accepted */
    bool loose;
};
struct oracle;
/* What runs. All of it is borrowed. */
struct oracle_program {
    const struct asm_prog *code, *rom, *copied; /* the latter two: what runs elsewhere */
    const struct oracle_function *f;            /* sorted by address, without gaps */
    size_t nf;
    const struct oracle_block *block;
    size_t nblocks;
    /* false: nobody knows the functions, so there are only calls: what is jumped to or run into
     * belongs to the one that did it */
    bool named;
};

/* oracle_run - the tree of a log
 * steps   n of them, and the one after, where the program is over; borrowed
 * Returns NULL, with a reason, if the log cannot be understood. */
struct oracle *oracle_run(const struct step *steps, size_t n, const struct oracle_program *of,
                          const struct nasty_program *p, char why[128]);
const struct oracle_node *oracle_nodes(const struct oracle *o, size_t *n);
/* How to tell an event: its instruction's place, of an exception where SPC points, of an RTE where
 * that leads; and the stack pointer there. */
struct oracle_event {
    uint32_t place, sp;
};
/* oracle_between - count instructions only from the first time of `first` to a time of `last`, the
 * first and the last event that were seen, with `seen` instructions between them. Returns how many
 * there were. */
uint64_t oracle_between(struct oracle *o, struct oracle_event first, struct oracle_event last,
                        uint64_t seen);
void oracle_free(struct oracle *o);

#endif
