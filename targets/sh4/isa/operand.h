/* Which memory an instruction has accessed, told from the registers behind it. Pure. */
#ifndef TARGETS_SH4_ISA_OPERAND_H
#define TARGETS_SH4_ISA_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

struct sh4_access {
    uint32_t addr;
    uint8_t bytes;
    bool reads, writes;
};

/* The registers that addresses are made of. sz: FPSCR.SZ. */
struct sh4_address_regs {
    uint32_t r[16], gbr;
    bool sz;
};

enum { SH4_MOST_ACCESSES = 2 };

/* sh4_accesses_behind - what the instruction op at `pc` has accessed; g is as it left the registers
 * Returns how many accesses, 0 for an instruction that accesses none, and -1 if the instruction has
 * overwritten the register that the address came from.
 * Source: the operand columns of isa_table.def, SH-4 programming manual, "Addressing modes". */
int sh4_accesses_behind(uint16_t op, uint32_t pc, const struct sh4_address_regs *g,
                        struct sh4_access out[SH4_MOST_ACCESSES]);

/* A load that has put what it read over the register that its address came from. */
struct sh4_lost_load {
    uint8_t reg, bytes;
    bool has_disp; /* the address was reg + disp, and no other register's */
    uint8_t disp;
};
/* sh4_lost_load - whether the instruction op is one: sh4_accesses_behind() says -1 of it, and of
 * LDC to SR.
 */
bool sh4_lost_load(uint16_t op, struct sh4_lost_load *out);

#endif
