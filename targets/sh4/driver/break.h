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
/* Sets the UBC up for the user's channels; with `step` channel A is the step's. */
int sh4_ubc_program(struct sh4_target *t, bool step, struct err *err);
/* Sets address and mask of channel n (0: A). The program's own are kept first. */
int sh4_ubc_channel(struct sh4_target *t, unsigned n, uint32_t bar, uint8_t bamr, struct err *err);
/* Notes that the channels' addresses and masks are not known any more. */
void sh4_ubc_forget(struct sh4_target *t);
/* Before a run without our vectors: sets the UBC as the program had it. */
int sh4_ubc_give_back(struct sh4_target *t, struct err *err);
/* The program's value of a register that the debugger uses itself while halted; false if addr is no
 * such register. */
bool sh4_program_reg(struct sh4_target *t, uint32_t addr, uint32_t *value);
/* The same for a write. True: value is kept, and goes to the register when the program runs. */
bool sh4_set_program_reg(struct sh4_target *t, uint32_t addr, uint32_t value);

/* ---- who has which channel (channels.c) ---- */
/* BBR for operand accesses or, if not, instructions. */
uint16_t sh4_ubc_bbr(bool operand, bool read, bool write);
/* The hardware breakpoint or watchpoint that is set so; NULL: none. */
struct sh4_hard *sh4_hard_find(struct sh4_target *t, enum bp_kind kind, uint32_t addr,
                               uint32_t len);
/* Sets one, and deals the channels anew. -ERR_RESOURCE: they do not suffice. */
int sh4_hard_insert(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len,
                    struct err *err);
void sh4_hard_remove(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len);
void sh4_hard_remove_all(struct sh4_target *t);
/* The object that channel B watches alone and exactly, so that it can compare its value; NULL. */
struct sh4_hard *sh4_hard_valued(struct sh4_target *t);
void sh4_channels_deal_again(struct sh4_target *t);

/* ---- what a channel's match means (watch.c) ---- */
/* Keeps what watched objects hold, before the program is let go. */
int sh4_watch_keep(struct sh4_target *t, struct err *err);
/* Channel c has matched, and the program stands behind that access. Returns the object that it was
 * to, or NULL: to none, the window is larger than the objects. */
const struct sh4_hard *sh4_watch_met(struct sh4_target *t, const struct sh4_ubc_channel *c);
/* A step takes channel A from a watchpoint. */
bool sh4_watch_lent(const struct sh4_target *t);
/* A step from `from` is done, which no channel has seen: the object that it accessed, or NULL. */
const struct sh4_hard *sh4_watch_stepped(struct sh4_target *t, uint32_t from);
/* Replaces the program's VBR instructions by their DBR twins, or puts them back. */
int sh4_image_patch(struct sh4_target *t, bool in_memory, struct err *err);
/* Notes bytes that the debugger has written; they are the program's own. */
void sh4_image_note_written(struct sh4_target *t, uint32_t addr, const uint8_t *buf, size_t len);
void sh4_image_forget_written(struct sh4_target *t);
/* After the board was away: finds out which twins are still in its memory. */
int sh4_image_check(struct sh4_target *t, struct err *err);
int sh4_image_undo_stale(struct sh4_target *t, struct err *err);
int sh4_set_image(struct target *t, const struct image *image, struct err *err);
/* The piece that addr lies in or continues. */
struct sh4_written_piece *sh4_written_at(struct sh4_written *w, uint32_t addr);

#endif
