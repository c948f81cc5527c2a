/* probeprof.conf: INI in the project folder (project.h). Flags override it. */
#ifndef PROFILER_CLI_CONF_H
#define PROFILER_CLI_CONF_H

#include <stdio.h>

#include "probe/base/err.h"

/* Called for each "key = value", line counts from 1; section is "" before the first [section]. All
 * strings borrowed for the call. A failure ends the parse; its what gets "FILE:LINE: " in front. */
typedef int conf_take(void *ctx, int line, const char *section, const char *key, const char *value,
                      struct err *err);

/* conf_parse - read INI text: [section], key = value, comments from ; or # at the start of a line
 * or after white space, blank lines. Values may stand in double quotes. Lines up to 1023
 * characters. in    open for reading; name: for messages Returns 0; -ERR_USAGE with the line number
 * for malformed lines; what take() returned. */
int conf_parse(FILE *in, const char *name, conf_take *take, void *ctx, struct err *err);

#endif
