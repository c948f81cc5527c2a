/* What all sessions share: the target, its registers as of the last halt, and breakpoints. These
 * are the calls by which sessions reach the target.
 *
 * Calls that return int: 0 or a number, or a negative error code with *err filled. */
#ifndef GDBSTUB_STUB_H
#define GDBSTUB_STUB_H

#include "gdbstub/state.h"

/* ---- registers ---- */

/* stub_forget_regs - registers that were read are not true any more: the target ran, or something
 * has changed one. */
void stub_forget_regs(struct stub *stub);

/* stub_read_reg - register n into stub->regs, unless it is there since the last halt. A place
 * without a register becomes REG_ABSENT, and that is no failure. */
int stub_read_reg(struct stub *stub, unsigned n, struct err *err);

/* stub_reg_number - the value of a register that is REG_VALID, as a number; of its low 64 bits if
 * it has more. */
uint64_t stub_reg_number(const struct stub *stub, unsigned n);

/* stub_read_pc - PC of a halted target as a number; false if it cannot be read. */
bool stub_read_pc(struct stub *stub, uint64_t *pc);

/* stub_write_reg - value has regs[n].bytes bytes in the target's byte order. Other registers may be
 * views of the same place, so all are read again afterwards. */
int stub_write_reg(struct stub *stub, unsigned n, const uint8_t *value, struct err *err);

/* stub_write_pc - the same for PC, as a number. */
int stub_write_pc(struct stub *stub, uint64_t pc, struct err *err);

/* ---- running and halting ---- */

/* stub_running - the target runs, as far as its driver knows. */
bool stub_running(const struct stub *stub);

/* stub_interrupt_at_once - takes the place of a resume that a queued Ctrl-C ends at once: the stop
 * is in last_stop, and the target was not touched but for PC. */
int stub_interrupt_at_once(struct stub *stub, const struct resume *how, struct err *err);

/* stub_resume - lets the target go. Breakpoints that GDB has removed leave it before. */
int stub_resume(struct stub *stub, const struct resume *how, struct err *err);

/* stub_halt - asks for a halt for a user; stub_stopped() is called when it stands. */
int stub_halt(struct stub *stub, struct err *err);

/* stub_snapshot - asks for a halt for an observer: registers are read, and the program goes on. */
int stub_snapshot(struct stub *stub, struct err *err);

/* stub_reset - resets the board; last_stop is that reset then. */
int stub_reset(struct stub *stub, enum reset_mode mode, struct err *err);

/* stub_program_begins - the board was reset and stands where its program is to begin, at pc. */
void stub_program_begins(struct stub *stub, uint64_t pc);

/* ---- breakpoints ---- */

/* stub_insert, stub_remove - as GDB asks; both may be repeated. stub_insert takes the actions from
 * *bp, in place of those that the same breakpoint had; after a failure they are still the caller's.
 * A breakpoint that is removed while
 * the target stands stays in it until it goes on. */
int stub_insert(struct stub *stub, struct breakpoint *bp, struct err *err);
int stub_remove(struct stub *stub, const struct breakpoint *bp, struct err *err);

/* stub_settle_breakpoints - takes those out of the target that GDB has removed; returns how many.
 */
int stub_settle_breakpoints(struct stub *stub, struct err *err);

/* ---- attaching ---- */

/* stub_expect_halts - tells the target whether a GDB is there that may halt it at any moment. */
void stub_expect_halts(struct stub *stub, bool yes);
/* stub_attach - attaches a target that is detached, and has the program's exits noticed. */
int stub_attach(struct stub *stub, struct err *err);

/* stub_set_semihosting - has the program's exits and calls of the host taken, or leaves them to it.
 * A failure is logged. */
void stub_set_semihosting(struct stub *stub, bool on);

#endif
