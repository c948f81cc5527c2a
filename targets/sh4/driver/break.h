/* Breakpoints and watchpoints: patches (break.c, patch.c), the user break controller (ubc.c), and
 * the program's VBR instructions (image.c). */
#ifndef TARGETS_SH4_DRIVER_BREAK_H
#define TARGETS_SH4_DRIVER_BREAK_H

#include "targets/sh4/driver/state.h"

/* As target_ops.insert_bp, target_ops.remove_bp. */
int sh4_insert_bp(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err);
int sh4_remove_bp(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err);
struct sh4_patch *sh4_patch_at(struct sh4_target *t, uint32_t addr);
int sh4_patch_set(struct sh4_target *t, struct sh4_patch *p, bool in_memory, struct err *err);
int sh4_patches_check(struct sh4_target *t, struct err *err);
int sh4_patches_remove_all(struct sh4_target *t, struct err *err);
/* UBC as the user's channels want it, with channel A lent to a step if asked. */
int sh4_ubc_program(struct sh4_target *t, bool step, struct err *err);
/* Address and mask of channel n (0: A); the program's own are kept first. */
int sh4_ubc_channel(struct sh4_target *t, unsigned n, uint32_t bar, uint8_t bamr, struct err *err);
/* What is in the addresses and masks of the channels is not known any more. */
void sh4_ubc_forget(struct sh4_target *t);
/* Before a run without our vectors: the UBC as the program had it. */
int sh4_ubc_give_back(struct sh4_target *t, struct err *err);
/* Where a register that the debugger uses itself while halted keeps the program's value; false if
 * addr is none. */
bool sh4_program_reg(struct sh4_target *t, uint32_t addr, uint32_t *value);
/* The same for a write: true if value is kept and goes to the register when the program runs. */
bool sh4_set_program_reg(struct sh4_target *t, uint32_t addr, uint32_t value);
/* A hardware breakpoint or a watchpoint in a channel (two for 8 bytes). */
bool sh4_ubc_same(const struct sh4_ubc_channel *c, enum bp_kind kind, uint32_t addr, uint32_t len);
int sh4_ubc_insert(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len,
                   struct err *err);
void sh4_ubc_remove(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len);
/* VBR instructions to their DBR twins */
int sh4_image_patch(struct sh4_target *t, bool in_memory, struct err *err);
/* the program's own bytes */
void sh4_image_note_written(struct sh4_target *t, uint32_t addr, const uint8_t *buf, size_t len);
void sh4_image_forget_written(struct sh4_target *t);
/* after the board was away: which twins are still in its memory? */
int sh4_image_check(struct sh4_target *t, struct err *err);
int sh4_image_undo_stale(struct sh4_target *t, struct err *err);
int sh4_set_image(struct target *t, const struct image *image, struct err *err);
/* The piece that addr continues or lies in. */
struct sh4_written_piece *sh4_written_at(struct sh4_written *w, uint32_t addr);

#endif
