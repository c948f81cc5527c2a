/* What all sessions share: the target, registers as of the last halt, breakpoints. */
#ifndef GDBSTUB_STUB_H
#define GDBSTUB_STUB_H

#include "gdbstub/state.h"

/* What was read at the last halt is not true any more. */
void stub_forget_regs(struct stub *stub);
/* into regs[]; REG_ABSENT is 0 too */
int stub_read_reg(struct stub *stub, unsigned n, struct err *err);
int stub_write_reg(struct stub *stub, unsigned n, const uint8_t *value, struct err *err);
int stub_write_pc(struct stub *stub, uint64_t pc, struct err *err);
bool stub_running(const struct stub *stub);
/* True if the resume would begin at a breakpoint: the stop it makes is in last_stop, the target was
 * not touched but for PC. */
bool stub_meets_breakpoint(struct stub *stub, const struct resume *how);
int stub_resume(struct stub *stub, const struct resume *how, struct err *err);
/* The last resume once more, after a stop that nobody was to see: 1 it runs, 0 it stays at a
 * breakpoint (in last_stop). */
int stub_go_on(struct stub *stub, struct err *err);
/* In place of a resume that a queued Ctrl-C ends at once: the stop is in last_stop, the target was
 * not touched but for PC. */
int stub_interrupt_at_once(struct stub *stub, const struct resume *how, struct err *err);
/* asks; completion comes through stub_stopped() */
int stub_halt(struct stub *stub, struct err *err);
/* The same for an observer: its registers are read, and it goes on. */
int stub_snapshot(struct stub *stub, struct err *err);
int stub_reset(struct stub *stub, enum reset_mode mode, struct err *err);
int stub_insert(struct stub *stub, const struct breakpoint *bp, struct err *err);
int stub_remove(struct stub *stub, const struct breakpoint *bp, struct err *err);
void stub_remove_all(struct stub *stub);
/* takes away those that are leaving */
int stub_settle_breakpoints(struct stub *stub, struct err *err);
int stub_attach(struct stub *stub, struct err *err);
int stub_release(struct stub *stub, struct err *err); /* as for D */
void stub_left(struct stub *stub);                    /* the last connection broke off */
void stub_set_semihosting(struct stub *stub, bool on);

#endif
