/* Where on its JTAG chain the part stands. */
#ifndef PROFILER_CLI_CHAIN_H
#define PROFILER_CLI_CHAIN_H

#include <stddef.h>

#include "probe/base/err.h"

struct part;
struct probe;

/* chain_find_part - scans, and puts a probe that sees the part alone (jtag_chain.h) in place of
 * *probe where other devices share its chain given  --chain, "" none text   what stands there, in
 * words, "" for a part alone; cap 200 is enough A part alone on its chain is left to its own
 * driver, and so is a wire on which nothing comes back: it knows its pins better. Returns 0;
 * -ERR_RESOURCE: --chain has to say where; -ERR_NO_TARGET: the part is not there; -ERR_USAGE:
 * --chain is not what was measured. */
int chain_find_part(struct probe **probe, const struct part *part, const char *given, char *text,
                    size_t cap, struct err *err);

#endif
