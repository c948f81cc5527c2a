/* The formats of printf in agent expressions, as GDB sends them: the text between the quotes of
 * `dprintf`, with its escapes.
 * Source: GDB manual, "Bytecode Descriptions" (printf), "Formatted Output, and Commands". */
#ifndef GDBSTUB_AGENT_PRINTF_H
#define GDBSTUB_AGENT_PRINTF_H

#include "gdbstub/agent_expr.h"

enum { AGENT_MAX_WIDTH = 512, AGENT_MAX_STRING = 4096 };

/* agent_format_check - whether every directive is known and has its argument
 * fmt     ends with a NUL
 * Returns 0, or -ERR_USAGE. Floating point and wide characters are refused: an agent expression has
 * no such values. */
int agent_format_check(const char *fmt, unsigned nargs, struct err *err);

/* agent_format_print - prints what the format says through env->print; %s reads the target's memory
 * up to a NUL, at most AGENT_MAX_STRING bytes.
 * args    as many as were checked, each a value of 64 bits
 * Returns 0, or the failure of reading memory; what comes before was printed. */
int agent_format_print(const char *fmt, const uint64_t *args, const struct agent_env *env,
                       struct err *err);

#endif
