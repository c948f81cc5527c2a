/* Which general registers an instruction reads and writes. Pure.
 * Source: the operand columns of isa_table.def; bits 0-15 are R0-R15 of the bank in use. */
#ifndef TARGETS_SH4_ISA_REG_USE_H
#define TARGETS_SH4_ISA_REG_USE_H

#include <stdint.h>

struct sh4_reg_use {
    uint16_t reads, writes;
};

/* sh4_reg_use - general registers read and written by `opcode` (any 16 bits; unknown ones: none).
 * An address register that is post-incremented or pre-decremented counts as read and written. LDC
 * to SR may switch the bank, so it counts as writing R0-R7. */
struct sh4_reg_use sh4_reg_use(uint16_t opcode);

#endif
