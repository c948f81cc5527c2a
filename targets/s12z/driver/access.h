/* What an instruction will read and write in memory: for watchpoints while single-stepping, which
 * hardware ignores then. */
#ifndef TARGETS_S12Z_DRIVER_ACCESS_H
#define TARGETS_S12Z_DRIVER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/s12z/isa/isa.h"

struct s12z_access {
    uint32_t addr;
    uint8_t bytes; /* 1..32 */
    bool read, write;
};
enum { S12Z_MAX_ACCESSES = 2 * S12Z_MAX_OPERANDS + 1, S12Z_FRAME_BYTES = 29 };

/* s12z_accesses - the data accesses of one instruction, without the fetch of its own bytes
 * pc        24-bit address of the instruction
 * reg       the 13 registers before it, in BDC's order (D0-D7, X, Y, S, P, CCW)
 * pointer   reads a 24-bit pointer of an indirect operand; returns 0, or a failure, which ends it
 * out       filled in the order in which the accesses happen
 * Returns how many, or the failure of pointer(). Whether an interrupt comes first cannot be known
 * beforehand. Source: GDB s12z-tdep.c, HDR, binutils s12z-opc.c. Dn counts as unsigned when it is a
 * base and as signed when it is an index; P counts from the instruction's start
 * (docs/unverified.md). */
int s12z_accesses(const struct s12z_insn *i, uint32_t pc, const uint32_t reg[13],
                  int (*pointer)(void *ctx, uint32_t addr, uint32_t *value), void *ctx,
                  struct s12z_access out[S12Z_MAX_ACCESSES]);

#endif
