/* Memory: as the debugger sees it (access.c, which halts a running target for a moment), and of a
 * halted target (mem.c). Code that was written: written.c. */
#ifndef TARGETS_SH4_DRIVER_MEM_H
#define TARGETS_SH4_DRIVER_MEM_H

#include "targets/sh4/driver/state.h"

/* As target_ops.read_mem, target_ops.write_mem. */
int sh4_read_mem(struct target *t, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err);
int sh4_write_mem(struct target *t, uint64_t addr, unsigned width, const uint8_t *buf, size_t len,
                  struct err *err);
/* Notes that [lo, hi) was written and may be code; and makes the caches coherent with what was
 * noted, before the program runs. */
int sh4_note_written(struct sh4_target *t, uint32_t lo, uint32_t hi, struct err *err);
int sh4_sync_written(struct sh4_target *t, struct err *err);
/* target_ops.same_mem */
int sh4_same_mem(struct target *target, uint64_t addr, const uint8_t *buf, size_t len,
                 struct err *err);
int sh4_mem_read_raw(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf, size_t len,
                     struct err *err);
int sh4_mem_write_raw(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                      size_t len, struct err *err);

/* Checks what the debugger asks for. Forgets what r0-r7 were before a series of writes. */
int sh4_mem_check(struct sh4_target *t, uint64_t addr, unsigned width, size_t len, const char *what,
                  struct err *err);
/* As the debugger sees it, with patches hidden. The target is halted, and the request was checked.
 */
int sh4_mem_read_halted(struct sh4_target *t, uint64_t addr, unsigned width, uint8_t *buf,
                        size_t len, struct err *err);
int sh4_mem_write_halted(struct sh4_target *t, uint64_t addr, unsigned width, const uint8_t *buf,
                         size_t len, struct err *err);
/* Checks the request and does it. The target is halted. */
int sh4_mem_read_checked(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf,
                         size_t len, struct err *err);
int sh4_mem_write_checked(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                          size_t len, struct err *err);

#endif
