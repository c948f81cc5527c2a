/* Running, stepping, halting and stops. */
#ifndef TARGETS_SH4_DRIVER_RUN_H
#define TARGETS_SH4_DRIVER_RUN_H

#include "targets/sh4/driver/requests.h"

/* numbers of GDB's remote protocol */
enum {
    SIGNAL_INT = 2,
    SIGNAL_ILL = 4,
    SIGNAL_TRAP = 5,
    SIGNAL_FPE = 8,
    SIGNAL_BUS = 10,
    SIGNAL_SEGV = 11
};

/* Vectors of ours have to be installed while it runs: something of the user's or the agent's needs
 * them. */
bool sh4_needs_hooks(const struct sh4_target *t);
/* A step of the halted target. off: off a breakpoint, the program is to run on after it. 1: done
 * already, it stands; 0: it runs, or has reset itself (SH4_RUN_RESET). */
int sh4_step_start(struct sh4_target *t, bool off, struct err *err);
/* The agent lets the program run, or (steps) step, while its PC is in [lo, hi). The state is the
 * caller's to change. */
int sh4_leave(struct sh4_target *t, uint32_t lo, uint32_t hi, bool steps, struct err *err);
/* Code of the agent's runs in the program's place, from pc with SR as given. soon: what is asked
 * for in the same batch, NULL: nothing. The state stays: it is as before once sh4_agents_code_ran()
 * is told so. */
int sh4_run_agents_code(struct sh4_target *t, uint32_t pc, uint32_t sr, struct sh4_soon *soon,
                        struct err *err);
/* ret says whether that came back; if not, the target runs. Returns ret. */
int sh4_agents_code_ran(struct sh4_target *t, int ret);
/* On from where the host says, without single-stepping whatever SR.BL is. */
int sh4_run_freely(struct sh4_target *t, struct err *err);

/* ---- why it stopped (sh4/driver/stop.c) ---- */
/* The agent is halted: takes over its view. 1: a stop; 0: it must run on. */
int sh4_take_over(struct sh4_target *t, struct err *err);
/* What a step took out or changed is put back. */
int sh4_end_step(struct sh4_target *t, struct err *err);
/* Stopped or done with a step: what the caller sees. Returns as poll() does. */
int sh4_settle(struct sh4_target *t, struct target_stop *stop, struct err *err);
/* found: patches of a session that was lost are in the program, unless this one made them. */
void sh4_note_stale_session(struct sh4_target *t, bool found);

/* ---- asking a running program to halt (sh4/driver/halt.c) ---- */
int sh4_halt(struct target *target, struct err *err); /* target_ops.halt */
int sh4_poll(struct target *target, uint64_t max_ns, struct target_stop *stop,
             struct err *err); /* target_ops.poll */
/* Until it has halted, or that fails. */
int sh4_halt_now(struct sh4_target *t, struct err *err);
/* 1: the agent waits, and is one that this version can talk to; 0: it does not. */
int sh4_seen_halted(struct sh4_target *t, struct err *err);
/* Whether a resident agent is of this version; over a byte stream its halts are counted anew. */
int sh4_check_resident(struct sh4_target *t, struct err *err);
/* The CPU is on its own way since it reset itself: it is caught there, as if asked to. */
int sh4_halt_the_reset(struct sh4_target *t, struct err *err);
int sh4_reset_is_held(struct err *err, const char *what);

/* target_ops: sh4/driver/resume.c, sh4/driver/attach.c */
int sh4_resume(struct target *target, const struct resume *given, struct err *err);
int sh4_attach(struct target *target, struct err *err);
int sh4_detach(struct target *target, struct err *err);
int sh4_reset(struct target *target, enum reset_mode mode, struct err *err);
/* ---- SR.BL=1 and breakpoints (sh4/driver/bl.c) ---- */
/* Runs on from where the host says: freely, or single-stepped if a breakpoint could be met with
 * BL=1. */
int sh4_let_go(struct sh4_target *t, struct err *err);
/* Single-steps until end_ns, a stop (1), or BL=0, from where it runs freely (0, and
 * sh4_host_steps() is false). */
int sh4_steps_by_host(struct sh4_target *t, uint64_t end_ns, struct target_stop *stop,
                      struct err *err);
/* ---- a CPU that resets itself (sh4/driver/self_reset.c) ---- */
/* Looks, once in a while only, whether the running CPU has reset itself since the resume: then its
 * state says so. */
int sh4_look_for_reset(struct sh4_target *t, struct err *err);
/* Before a trace, halted: EXPEVT must not look as after a reset. 1 if the internal status read
 * shows that; else a reset would not show. */
int sh4_mark_expevt(struct sh4_target *t, struct err *err);
/* -ERR_NO_TARGET if a CPU marked so has been reset since, whoever did it: nothing of the trace is
 * left in it. 0 if not. */
int sh4_reset_while_traced(struct sh4_target *t, struct err *err);
/* Whether EXPEVT says manual reset, an exception with SR.BL=1, or several TLB hits; and the error
 * that a trace has ended by one of these. */
bool sh4_is_reset(uint32_t expevt);
int sh4_reset_error(uint32_t expevt, struct err *err);
/* 1 after a step with BL=1 that did not come back because it has reset the CPU: that runs, and its
 * state says so. */
int sh4_reset_in_step(struct sh4_target *t, struct err *err);
void sh4_stop_was_reset(struct sh4_target *t); /* halted again: the stop to report */
/* ---- a running target, halted for a moment (sh4/driver/temporary_halt.c) ---- */
int sh4_hudi_priority(struct sh4_target *t, struct err *err);   /* halted: makes sure of it */
int sh4_hudi_undo_stale(struct sh4_target *t, struct err *err); /* of a lost session: undone */
/* Our vectors are not installed any more, and nothing of ours is in IPRC. */
void sh4_hudi_forget(struct sh4_target *t);
/* before detach: the interrupt's priority as it was */
int sh4_hudi_restore(struct sh4_target *t, struct err *err);
enum sh4_temporary { SH4_WAS_HALTED, SH4_RAN, SH4_HOST_STEPPED };
/* Makes a running target halted, until sh4_end_temporary_halt(); nothing to do for a halted one.
 * -ERR_STATE while a step or a halt is under way, or SR.BL stays set. A stop of its own on the way
 * is kept for the next poll; it stays halted then. */
int sh4_temporary_halt(struct sh4_target *t, enum sh4_temporary *was, const char *what,
                       struct err *err);
/* done: result of what was done meanwhile; returned, or else a failure to let it run. */
int sh4_sample_pc(struct target *t, uint64_t *pc, struct err *err); /* sh4/driver/sample.c */
int sh4_end_temporary_halt(struct sh4_target *t, enum sh4_temporary was, int done, struct err *err);
/* Halts the program, if it runs, until sh4_unpause() with the same `ran`. A stop of its own met on
 * the way is kept for the next poll; then it stays halted. -ERR_TIMEOUT: it does not halt. */
int sh4_pause(struct sh4_target *t, bool *ran, struct err *err);
int sh4_unpause(struct sh4_target *t, bool ran, struct err *err);
/* The same for a trace that ends: a program that hangs need not be left as if nothing had been. */
int sh4_pause_to_end(struct sh4_target *t, bool *ran, struct err *err);
/* A step that no caller has asked for, to its end. */
int sh4_own_step(struct sh4_target *t, struct err *err);

#endif
