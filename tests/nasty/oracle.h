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
struct oracle_node {
    int parent, function; /* parent: -1 at roots */
    bool exception;       /* root entered by one */
    uint64_t hits, count; /* entries, instructions of its own */
    /* how it is entered has no branch of its own (fall-through): a mark is accepted */
    bool loose;
};
struct oracle;

/* oracle_run - the tree of a log
 * steps       n of them, and the one after, where the program is over; borrowed, as code and f are
 * code        what runs; functions sorted by address, without gaps. rom, copied: what runs
 * elsewhere named       false: nobody knows the functions, so there are only calls: what is jumped
 * to or run into belongs to the one that did it Returns NULL, with a reason, if the log cannot be
 * understood. */
struct oracle *oracle_run(const struct step *steps, size_t n, const struct asm_prog *code,
                          const struct asm_prog *rom, const struct asm_prog *copied,
                          const struct oracle_function *f, size_t nf, bool named,
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
