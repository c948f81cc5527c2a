/* One instruction of any CPU, for listings and graphs. Each target makes it from its own tables
 * (target_ops.insn). */
#ifndef TARGETS_INSN_H
#define TARGETS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_flow {
    INSN_NEXT,          /* goes on behind itself */
    INSN_BRANCH,        /* to target, or on */
    INSN_JUMP,          /* to target */
    INSN_CALL,          /* calls target */
    INSN_JUMP_INDIRECT, /* where a register or memory says */
    INSN_CALL_INDIRECT,
    INSN_RETURN,
    INSN_HANDLER_RETURN, /* from an interrupt or exception */
    INSN_TRAP,           /* through a vector */
    INSN_NONE            /* no instruction of this CPU: data, most likely */
};

struct insn {
    /* as GNU objdump writes it, a tab behind the operation; of INSN_NONE the data */
    char text[96];
    unsigned bytes;
    enum insn_flow flow;
    bool has_target;
    bool slot; /* the instruction behind it is executed with it, before it takes effect */
    /* it reads, or computes, the address `data`, which lies in the code around it */
    bool has_data;
    uint64_t target, data;
    unsigned data_bytes; /* how many it reads there; 0: it computes the address only */
};

/* insn_columns - its text with the operands in a column of their own, in buf of cap bytes, cut if
 * it does not fit. Returns buf. */
const char *insn_columns(const struct insn *i, char *buf, size_t cap);

#endif
