/* What the trace changes of a halted target. It writes no member of struct sh4_target itself
 * (tests/lint/check_layers.py): each function here keeps what the struct's parts promise. */
#ifndef TARGETS_SH4_DRIVER_FOR_TRACE_H
#define TARGETS_SH4_DRIVER_FOR_TRACE_H

#include "targets/sh4/driver/driver.h"

/* ---- how it plugs in ---- */

/* Gives the target the trace's state, which the target has closed; NULL: none. */
void sh4_tracing_is(struct sh4_target *t, struct sh4_trace *trace);
/* asked: the second half of struct sh4_tracing is called from now on. vbr: the VBR to install
 * instead of the kernel's hooks; 0: the kernel's. */
void sh4_tracing_asked(struct sh4_target *t, bool asked, uint32_t vbr);
/* Gives the target what traces of this session have learned; the target frees it. NULL: nothing
 * yet. */
void sh4_tracing_has_found(struct sh4_target *t, struct sh4_trace_found *found);
/* Notes that patches of a stale session are in the program, even if this session has halted it
 * before. */
void sh4_stale_session_found(struct sh4_target *t);

/* ---- registers ---- */

/* Sets a word of the save area; it goes to the target when the program runs. */
void sh4_saved_set(struct sh4_target *t, enum sh4_save word, uint32_t value);
/* The same, at once. On failure the word counts as set, and it is not known whether the target has
 * it. */
int sh4_saved_store(struct sh4_target *t, enum sh4_save word, uint32_t value, struct err *err);
/* R0 to R15 as the program sees them now. */
uint32_t sh4_r(struct sh4_target *t, unsigned n);
void sh4_r_set(struct sh4_target *t, unsigned n, uint32_t value);
void sh4_bank_set(struct sh4_target *t, unsigned bank, unsigned n, uint32_t value);
/* Sets where the program goes on. */
void sh4_goes_on_at(struct sh4_target *t, uint32_t pc);
/* Sets where an exception of the agent's has interrupted the program: PC and SPC, SR and SSR, R15
 * and SGR. */
void sh4_interrupted_at(struct sh4_target *t, uint32_t pc, uint32_t sr, uint32_t r15);
/* Sets the program's VBR, which is not in VBR while vectors of ours are. */
void sh4_program_vbr_is(struct sh4_target *t, uint32_t vbr);
/* Sets what the program loaded into SR, with BL=1, while the trace keeps BL clear; 0: nothing. */
void sh4_sr_meant_is(struct sh4_target *t, uint32_t word);
/* SR becomes what the program meant, at once, so that it stays right if the session is lost before
 * the program runs. */
int sh4_sr_meant_store(struct sh4_target *t, struct err *err);
/* Sets INTEVT, at once. */
int sh4_intevt_store(struct sh4_target *t, uint32_t value, struct err *err);
/* Notes that the program uses no user break of its own. */
void sh4_ubc_program_has_none(struct sh4_target *t);

/* ---- the halted program as one record ----
 * The save area as after an ASE break; TRA, EXPEVT, INTEVT; SPC, SSR, SGR, and which of these are
 * the program's. */
enum {
    SH4_REC_SAVE,
    SH4_REC_TRAP = SH4_SAVE_WORDS,
    SH4_REC_SPC = SH4_REC_TRAP + 3,
    SH4_REC_SSR,
    SH4_REC_SGR,
    SH4_REC_OWN,
    SH4_REC_WORDS
};
void sh4_regs_to_record(const struct sh4_target *t, uint32_t k[SH4_REC_WORDS]);
void sh4_regs_from_record(struct sh4_target *t, const uint32_t k[SH4_REC_WORDS]);

#endif
