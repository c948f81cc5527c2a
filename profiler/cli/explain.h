/* `probeprof dump --explain`: which unconfirmed encodings make a trace file fit the program. */
#ifndef PROFILER_CLI_EXPLAIN_H
#define PROFILER_CLI_EXPLAIN_H

#include "profiler/cli/command.h"
#include "targets/s12z/offline/trace_input.h"
#include "profiler/core/symbols.h"

struct explain_config {
    const char *path;
    struct trace_input in;      /* its settings are the given ones */
    const struct symbols *syms; /* the program; borrowed */
    uint16_t ivbr;              /* 0: as after reset */
    bool json;
};

/* explain_file - tries, and prints a table of at most 80 columns with a verdict, or one JSON
 * document. Progress goes to a terminal only. Returns 0, whatever the verdict; -ERR_NOT_FOUND,
 * -ERR_IO, -ERR_NOMEM. */
int explain_file(struct cli *cli, const struct explain_config *cfg, struct err *err);

#endif
