/* Agent expressions: the bytecode into which GDB compiles conditions and commands of breakpoints,
 * so that they can be evaluated here without a word to GDB. Bytes come from the peer: they are
 * checked before they are kept, and again while they run. No I/O of its own, no allocation.
 * Source: GDB manual, appendix "The GDB Agent Expression Mechanism". */
#ifndef GDBSTUB_AGENT_EXPR_H
#define GDBSTUB_AGENT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

enum {
    AGENT_MAX_BYTES = 4096,  /* of one expression */
    AGENT_MAX_STACK = 100,   /* values */
    AGENT_MAX_STEPS = 10000, /* bytecodes run in one evaluation, jumps back among them */
};

/* What an expression may ask of the target, which stands, and where its text goes. */
struct agent_env {
    /* Register by GDB's number, as an unsigned number. 0 or an error. */
    int (*read_reg)(void *ctx, unsigned n, uint64_t *value, struct err *err);
    /* len bytes of memory, 1 to 64. 0 or an error. */
    int (*read_mem)(void *ctx, uint64_t addr, uint8_t *buf, size_t len, struct err *err);
    /* A piece of what printf prints. */
    void (*print)(void *ctx, const char *text, size_t len);
    void *ctx;
    bool big_endian;
};

/* agent_check - whether the expression can be evaluated here: every bytecode is known and whole,
 * jumps lead to bytecodes, formats have directives that are known.
 * Returns 0, or -ERR_USAGE with *err saying what is wrong and at which byte. */
int agent_check(const uint8_t *code, size_t len, struct err *err);

/* agent_run - evaluates an expression
 * value   what it leaves on top of its stack; NULL: it is run for what it prints
 * Returns 0; -ERR_USAGE for an expression that is wrong (see agent_check()), divides by zero, or
 * exceeds the limits above; what read_reg and read_mem return. *value is untouched then. */
int agent_run(const uint8_t *code, size_t len, const struct agent_env *env, uint64_t *value,
              struct err *err);

#endif
