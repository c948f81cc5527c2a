/* A program that runs is halted for a moment, for what the part does not do while it runs, and goes
 * on as if nothing had happened. */
#ifndef GDBSTUB_MOMENT_H
#define GDBSTUB_MOMENT_H

#include "gdbstub/state.h"

/* moment_halt - halts a target that runs; nobody is told. Returns 1 with *stop, which need not be
 * the halt's, or a failure. */
int moment_halt(struct stub *stub, struct target_stop *stop, struct err *err);

/* moment_insert, moment_remove - stub_insert() and stub_remove(), of a target that may run: it is
 * halted for a moment if the part demands that. If it stops for a reason of its own meanwhile, or
 * where a breakpoint is now, GDB is told of that stop. */
int moment_insert(struct stub *stub, struct breakpoint *bp, struct err *err);
int moment_remove(struct stub *stub, const struct breakpoint *bp, struct err *err);

#endif
