/* The halted program's registers (regs.c), and the priority of the interrupt that halts it
 * (hudi.c). */
#ifndef TARGETS_SH4_DRIVER_REGS_H
#define TARGETS_SH4_DRIVER_REGS_H

#include "targets/sh4/driver/requests.h"

enum { SH4_LOAD_REQUESTS = 2 };
/* sh4_regs_requests - the requests that bring a halted program's registers here: the save area,
 * then TRA, EXPEVT and INTEVT. req points into t. */
void sh4_regs_requests(struct sh4_target *t, struct sh4_request req[SH4_LOAD_REQUESTS]);
/* Reads the save area and the trap registers from the agent; writes back what changed. */
int sh4_regs_load(struct sh4_target *t, struct err *err);
int sh4_regs_store(struct sh4_target *t, struct err *err); /* writes back what changed */
int sh4_fpu_load(struct sh4_target *t, struct err *err);
int sh4_fpu_store(struct sh4_target *t, struct err *err);
/* r0-r15 as the program sees them now */
uint32_t *sh4_reg_r(struct sh4_target *t, unsigned n);
uint32_t *sh4_reg_bank(struct sh4_target *t, unsigned bank, unsigned n);
/* The state becomes that of the exception's first handler instruction. */
void sh4_enter_handler(struct sh4_target *t);
/* sh4_reg_number - by name, case ignored: those of sh4_target_regs, and r0_bank to r7_bank, which
 * are the bank that is not active now, as the instructions STC and LDC have them (SH-4 programming
 * manual, "LDC"). Returns SH4_NREGS if there is none of that name. */
unsigned sh4_reg_number(const struct sh4_target *t, const char *name);
int sh4_read_reg(struct target *t, unsigned n, uint8_t *buf, struct err *err);
int sh4_write_reg(struct target *t, unsigned n, const uint8_t *buf, struct err *err);
/* SR as the program means it: the value that is shown for it, and setting a new one. */
uint32_t sh4_sr_shown(const struct sh4_target *t);
void sh4_sr_load(struct sh4_target *t, uint32_t value);

extern const struct target_reg sh4_target_regs[];
enum { SH4_NREGS = 67 + 2 + 16 + 3, SH4_REG_PC = 16, SH4_REG_SP = 15 };
/* sh4_exception_text - as target_ops.exception_text, by EXPEVT. */
const char *sh4_exception_text(uint16_t code);

#endif
