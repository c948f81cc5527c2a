/* What a running bridge has counted on instructions, for annotate: its profile, and the program
 * here that it is of. */
#ifndef PROFILER_CLI_ANNOTATE_BRIDGE_H
#define PROFILER_CLI_ANNOTATE_BRIDGE_H

#include "profiler/cli/command.h"
#include "profiler/core/symbols.h"
#include "profiler/feed/listing.h"
#include "profiler/profile/profile.h"

/* annotate_bridge_read - the profile of now, and its program's code with the counts of blocks and
 * branches. Where calls were made, stretches and points are no part of it, which a warning says.
 * url    as in input_read_url()
 * elf    the program; NULL: where the bridge has it
 * p      caller frees with profile_free(); syms: with symbols_close()
 * code   borrows both
 * Returns 0, what input_read_url() and symbols_open() do; -ERR_UNSUPPORTED: it has samples, whose
 * addresses are in recordings; -ERR_FORMAT: the ELF is of another build; -ERR_USAGE: the bridge
 * does not name its program. */
int annotate_bridge_read(struct cli *cli, const char *url, const char *elf, struct profile **p,
                         struct symbols **syms, struct program_code *code, struct err *err);

#endif
