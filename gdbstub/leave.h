/* A GDB that leaves: by `D`, by `k`, or because its connection has ended. What it set has to leave
 * the target with it, also from one that runs, which is halted for a moment then. What cannot be
 * taken out now is tried again. */
#ifndef GDBSTUB_LEAVE_H
#define GDBSTUB_LEAVE_H

#include "gdbstub/state.h"

/* stub_withdraw - takes all breakpoints out of the target
 * goes_on   a program that ran goes on afterwards, unless it has stopped for a reason of its own
 * Returns 0; a failure: they are still there, and stub_tick() tries again. */
int stub_withdraw(struct stub *stub, bool goes_on, struct err *err);

/* stub_release - what `D` asks for: breakpoints are taken out and the program runs. The target is
 * detached unless another session, or stub_config.hold, still needs it. */
int stub_release(struct stub *stub, struct err *err);

/* stub_left - the last connection broke off: a halted program goes on if stub_config.hold says that
 * somebody waits for it. */
void stub_left(struct stub *stub);

/* stub_hand_over - that session controls from now on; what the one before it set leaves the target.
 * Returns 0, or why that cannot leave: then it is tried again, and all else is done. */
int stub_hand_over(struct stub *stub, struct session *to, struct err *err);

#endif
