/* What GDB has given a breakpoint along: conditions, without one of which it is not to be told of a
 * stop there, and commands that take the place of the stop (dprintf).
 * Source: GDB manual, "Packets" (Z0), "General Query Packets" (ConditionalBreakpoints,
 * BreakpointCommands). */
#ifndef GDBSTUB_ACTIONS_H
#define GDBSTUB_ACTIONS_H

#include "gdbstub/agent_expr.h"
#include "probe/base/buffer.h"

/* Zero-initialise; actions_fini() frees it. */
struct actions {
    struct buffer code; /* one expression behind the other, each with its length before it */
    unsigned conditions, commands;
};

enum { ACTIONS_MAX_BYTES = 2 * AGENT_MAX_BYTES }; /* of all expressions of a breakpoint */

/* actions_parse - reads ";X LEN,CODE...;cmds:PERSIST,X LEN,CODE..." into an empty struct
 * p   behind the breakpoint's kind: at its ';', or at the end
 * Returns 0; -ERR_USAGE; -ERR_RESOURCE for more than ACTIONS_MAX_BYTES; -ERR_NOMEM. What was read
 * until then is to be freed. */
int actions_parse(const char *p, struct actions *out, struct err *err);

/* actions_stop - what a breakpoint that the program stands at wants
 * Returns 1: GDB is to be told: there are no conditions, or one of them is true, and there are no
 * commands. 0: the program goes on; if no condition forbids it, commands have run. A failure: what
 * was asked cannot be evaluated. */
int actions_stop(const struct actions *a, const struct agent_env *env, struct err *err);

/* actions_fini - frees the expressions; there are none then. */
void actions_fini(struct actions *a);

#endif
