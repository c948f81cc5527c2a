/* The program's commands and what they share. */
#ifndef PROFILER_CLI_COMMAND_H
#define PROFILER_CLI_COMMAND_H

#include <stdio.h>

#include "probe/base/err.h"
#include "probe/sim.h"
#include "profiler/cli/opts.h"

struct ending;

/* Built by main(); borrowed by commands. */
struct cli {
    FILE *out, *err_out;
    /* of a command that drives a board, until all is written; NULL: signals have their default
     * effect */
    struct ending *ending;
    const char *probe_env;                      /* PROBEPROF_PROBE, or NULL */
    const char *http_env;                       /* PROBEPROF_HTTP; NULL: not set */
    const struct sim_board_type *const *boards; /* NULL-terminated */
};

struct command {
    const char *name;
    const char *usage; /* what follows "probeprof " */
    const char *summary;
    const struct opt *opts;
    const char *text; /* more help, ends with an example; each line ends with \n */
    /* argv[0] is the command's name. Returns 0; -ERR_*: main prints *err (nothing if its text is
     * empty: the command has said it all), exits 2 for ERR_USAGE, else 1. */
    int (*run)(struct cli *cli, int argc, char **argv, struct err *err);
};

extern const struct command command_run, command_report, command_convert, command_events,
    command_list, command_doctor, command_decode, command_disasm, command_graph, command_dump,
    command_trust, command_top, command_view, command_annotate, command_diff, command_stat,
    command_optimize;

/* command_help - usage, summary, options, text. */
void command_help(const struct command *c, FILE *out);

/* cli_warn - one line for people on stderr: "probeprof: ..." */
void cli_warn(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
