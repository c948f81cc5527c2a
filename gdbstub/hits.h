/* Breakpoints that the program meets, and of which GDB is told only if they want that: conditions
 * are evaluated and commands run, once for each time. What cannot be evaluated is wanted, and
 * last_stop.text says why; of commands that fail GDB's console says so, and the program goes on. */
#ifndef GDBSTUB_HITS_H
#define GDBSTUB_HITS_H

#include "gdbstub/state.h"

/* hits_at_once - a resume as in *how would begin at a breakpoint of GDB's that is wanted, which
 * stops the program at once. Then the stop is in last_stop, and the target was not touched but for
 * PC. */
bool hits_at_once(struct stub *stub, const struct resume *how);

/* hits_go_on - repeats the last resume, after a stop that nobody was to see. If an observer still
 * waits for registers, the halt for it is asked for again. Returns 1 when it runs, 0 when it stays
 * at a breakpoint (in last_stop). */
int hits_go_on(struct stub *stub, struct err *err);

/* hits_pass - the target has stopped for the reason in last_stop. If that is a breakpoint that is
 * not wanted the program goes on as it was told to last. Returns whether it does. Otherwise GDB is
 * told what is in last_stop, which is another reason if one was due there: a halt that was asked
 * for, the end of a step. */
bool hits_pass(struct stub *stub);

/* hits_tell - what commands have printed goes to the console of the GDB that controls, if that
 * takes text now; else it waits for the next call. */
void hits_tell(struct stub *stub);

#endif
