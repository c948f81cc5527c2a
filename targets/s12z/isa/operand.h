/* Operands of S12Z instructions, from the bytes of an instruction. Private to targets/s12z/isa. */
#ifndef TARGETS_S12Z_ISA_OPERAND_H
#define TARGETS_S12Z_ISA_OPERAND_H

#include "targets/s12z/isa/isa.h"

/* The bytes of an instruction that are still to be read. */
struct operand_cursor {
    const uint8_t *p;
    size_t at, avail;
    bool short_; /* more was to be read than there is */
};

/* operand_take, operand_take_signed - the next n bytes as a number, highest byte first. 0, and
 * short_ is set, if there are too few. */
uint32_t operand_take(struct operand_cursor *c, unsigned n);
int32_t operand_take_signed(struct operand_cursor *c, unsigned n);

/* operand_of_value - an immediate.
 * operand_of_register - a register, by its code.
 * operand_of_memory - what lies at base + value; base S12Z_NOREG: at value. bytes of it. */
struct s12z_operand operand_of_value(int32_t value, unsigned bytes);
struct s12z_operand operand_of_register(unsigned r);
struct s12z_operand operand_of_memory(unsigned base, int32_t value, unsigned bytes);

/* operand_general - the general operand OPR: xb and what follows it. bytes: size of the access.
 * Source: binutils s12z-opc.c. */
struct s12z_operand operand_general(struct operand_cursor *c, unsigned bytes);

#endif
