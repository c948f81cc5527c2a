/* Running, stepping, halting and stops. */
#ifndef TARGETS_SH4_DRIVER_RUN_H
#define TARGETS_SH4_DRIVER_RUN_H

#include "targets/sh4/driver/requests.h"

/* signal numbers of GDB's remote protocol */
enum {
    SIGNAL_INT = 2,
    SIGNAL_ILL = 4,
    SIGNAL_TRAP = 5,
    SIGNAL_FPE = 8,
    SIGNAL_BUS = 10,
    SIGNAL_SEGV = 11
};

/* Whether vectors of ours have to be installed while it runs, because something of the user's or of
 * the agent's needs them. */
bool sh4_needs_hooks(const struct sh4_target *t);
/* Steps the halted target. off: it steps off a breakpoint, and is to run on after that. 1: the step
 * is done, and it stands; 0: it runs, or has reset itself (SH4_RUN_RESET). */
int sh4_step_start(struct sh4_target *t, bool off, struct err *err);
/* The agent lets the program run, or with `steps` makes steps while the PC is in [lo, hi). The
 * caller changes the state. */
int sh4_leave(struct sh4_target *t, uint32_t lo, uint32_t hi, bool steps, struct err *err);
/* Code of the agent's runs instead of the program, from pc and with SR as given. soon: what is
 * asked for in the same batch; NULL: nothing. The state stays as it was; call sh4_agents_code_ran()
 * when the code is back. */
int sh4_run_agents_code(struct sh4_target *t, uint32_t pc, uint32_t sr, struct sh4_soon *soon,
                        struct err *err);
/* ret >= 0: that code is back. If it is not, the target counts as running. Returns ret. */
int sh4_agents_code_ran(struct sh4_target *t, int ret);
/* Lets the program run on from where the host says, without single-stepping, whatever SR.BL is. */
int sh4_run_freely(struct sh4_target *t, struct err *err);

/* ---- why it stopped (sh4/driver/stop.c) ---- */
/* The agent is halted: takes over what it knows. 1: a stop; 0: the program must run on. */
int sh4_take_over(struct sh4_target *t, struct err *err);
/* Puts back what a step took out or changed. */
int sh4_end_step(struct sh4_target *t, struct err *err);
/* It has stopped, or a step is done: works out what the caller sees. Returns as poll() does. */
int sh4_settle(struct sh4_target *t, struct target_stop *stop, struct err *err);
/* found: patches were found in the program. They are a stale session's unless this one made them.
 */
void sh4_note_stale_session(struct sh4_target *t, bool found);

/* ---- asking a running program to halt (sh4/driver/halt.c) ---- */
int sh4_halt(struct target *target, struct err *err); /* target_ops.halt */
int sh4_poll(struct target *target, uint64_t max_ns, struct target_stop *stop,
             struct err *err); /* target_ops.poll */
/* Asks it to halt, and returns when it has or when that has failed. */
int sh4_halt_now(struct sh4_target *t, struct err *err);
/* 1: the agent waits, and its version is known; 0: it does not wait. */
int sh4_seen_halted(struct sh4_target *t, struct err *err);
/* Whether a resident agent has this version. Over a byte stream its halts are counted from here on.
 */
int sh4_check_resident(struct sh4_target *t, struct err *err);
/* The CPU has reset itself and runs: halts it, as if asked to. */
int sh4_halt_the_reset(struct sh4_target *t, struct err *err);
int sh4_reset_is_held(struct err *err, const char *what);

/* target_ops: sh4/driver/resume.c, sh4/driver/attach.c */
int sh4_resume(struct target *target, const struct resume *given, struct err *err);
int sh4_attach(struct target *target, struct err *err);
int sh4_detach(struct target *target, struct err *err);
int sh4_reset(struct target *target, enum reset_mode mode, struct err *err);
/* ---- SR.BL=1 and breakpoints (sh4/driver/bl.c) ---- */
/* Lets the program run on from where the host says: freely, or single-stepped if it could meet a
 * breakpoint with BL=1. */
int sh4_let_go(struct sh4_target *t, struct err *err);
/* Single-steps until end_ns, until a stop (returns 1), or until BL=0. In the last case it runs
 * freely from there: returns 0, and sh4_host_steps() is false. */
int sh4_steps_by_host(struct sh4_target *t, uint64_t end_ns, struct target_stop *stop,
                      struct err *err);
/* ---- a CPU that resets itself (sh4/driver/self_reset.c) ---- */
/* Reads EXPEVT once in a while, to see whether the running CPU has reset itself since it was
 * resumed. If it has, the state says so. */
int sh4_look_for_reset(struct sh4_target *t, struct err *err);
/* Before a trace, halted: EXPEVT gets a value that no reset leaves. 1: the internal status read
 * shows it; 0: a reset would not be seen. */
int sh4_mark_expevt(struct sh4_target *t, struct err *err);
/* -ERR_NO_TARGET if a CPU that was marked so has been reset since, by whatever: nothing of the
 * trace is left in it. 0 if not. */
int sh4_reset_while_traced(struct sh4_target *t, struct err *err);
/* Whether EXPEVT says that the CPU was reset: manually, by an exception with SR.BL=1, or by several
 * TLB hits. And the error of a trace that ended so. */
bool sh4_is_reset(uint32_t expevt);
int sh4_reset_error(uint32_t expevt, struct err *err);
/* 1: a step with BL=1 did not come back because it has reset the CPU. The CPU runs, and the state
 * says so. */
int sh4_reset_in_step(struct sh4_target *t, struct err *err);
void sh4_stop_was_reset(struct sh4_target *t); /* halted again: the stop to report */
/* ---- a running target, halted for a moment (sh4/driver/temporary_halt.c) ---- */
/* The member expect_halts of struct target_ops. */
void sh4_expect_halts(struct target *target, bool yes);
int sh4_hudi_priority(struct sh4_target *t, struct err *err);   /* halted: makes sure of it */
int sh4_hudi_undo_stale(struct sh4_target *t, struct err *err); /* of a lost session: undone */
/* Notes that our vectors are not installed any more, and that nothing of ours is in IPRC. */
void sh4_hudi_forget(struct sh4_target *t);
/* before detach: the interrupt's priority as it was */
int sh4_hudi_restore(struct sh4_target *t, struct err *err);
enum sh4_temporary { SH4_WAS_HALTED, SH4_RAN, SH4_HOST_STEPPED };
/* Halts a running target until sh4_end_temporary_halt(); does nothing to a halted one. -ERR_STATE
 * while a step or a halt is under way, or if SR.BL stays set. If it meets a stop of its own on the
 * way, it stays halted, and the next poll reports that stop. */
int sh4_temporary_halt(struct sh4_target *t, enum sh4_temporary *was, const char *what,
                       struct err *err);
/* done: the result of what was done meanwhile. Returns it, or if that was no failure, the failure
 * to let the program run. */
int sh4_sample_pc(struct target *t, uint64_t *pc, struct err *err); /* sh4/driver/sample.c */
int sh4_end_temporary_halt(struct sh4_target *t, enum sh4_temporary was, int done, struct err *err);
/* Halts the program if it runs, until sh4_unpause() with the same `ran`. If it meets a stop of its
 * own on the way, it stays halted, and the next poll reports that stop. -ERR_TIMEOUT: it does not
 * halt. */
int sh4_pause(struct sh4_target *t, bool *ran, struct err *err);
int sh4_unpause(struct sh4_target *t, bool ran, struct err *err);
/* The same for a trace that ends: a program that hangs need not be left as it was. */
int sh4_pause_to_end(struct sh4_target *t, bool *ran, struct err *err);
/* Makes a step that no caller has asked for, and waits for its end. */
int sh4_own_step(struct sh4_target *t, struct err *err);
/* Lets the program run on, and halts it again at once. What stopped it is in t->stop. */
int sh4_own_halt_again(struct sh4_target *t, struct err *err);

#endif
