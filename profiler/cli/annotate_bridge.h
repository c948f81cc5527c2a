/* What a running bridge has counted on instructions, for annotate: its profile, and the program
 * here that it is of. */
#ifndef PROFILER_CLI_ANNOTATE_BRIDGE_H
#define PROFILER_CLI_ANNOTATE_BRIDGE_H

#include "profiler/cli/command.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"

/* annotate_bridge_read - the profile of now, and its program. Where calls were made, and stretches,
 * are in a trace's if the bridge watches; a warning says if not.
 * url    as in input_read_url()
 * elf    the program; NULL: where the bridge has it
 * p      caller frees with profile_free(); syms: with symbols_close()
 * Returns 0, what input_read_url() and symbols_open() do; -ERR_UNSUPPORTED: it has samples, and
 * does not say where they were taken; -ERR_FORMAT: the ELF is of another build; -ERR_USAGE: the
 * bridge does not name its program. */
int annotate_bridge_read(struct cli *cli, const char *url, const char *elf, struct profile **p,
                         struct symbols **syms, struct err *err);

#endif
