#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/cli/command.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/run.h"

/* `doctor` checks the way to the board step by step, which this command does not. */
static void point_at_doctor(struct err *err)
{
    size_t at = strlen(err->hint);
    if (at + 60 < sizeof err->hint)
        snprintf(err->hint + at, sizeof err->hint - at, "%s`probeprof doctor` looks step by step",
                 text_if(at, "; "));
}

/* The first failure is the one that is reported. */
static int leave_run(struct run *r, int ret, struct err *err)
{
    struct cli *cli = r->cli;
    struct err why = { .code = ERR_OK };
    int left = run_fini(r, &why);
    if (left == 0) /* else the worker still uses r: the process ends without it */
        free(r);
    ending_stage(cli->ending, "while the result was written");
    if (ret == 0 && left < 0)
        *err = why;
    else if (left < 0)
        cli_warn(cli, "%s; %s", why.what, why.hint);
    return EITHER(ret, left);
}

static int run_board(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct run *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    r->cli = cli;
    int ret = settings_read(&r->set, settings_opts, argc, argv, cli->probe_env, err);
    if (ret == 0 && !r->set.help && cli->http_env && *cli->http_env)
        ret = settings_set(&r->set, SET_HTTP, ORIGIN_ENV, cli->http_env, err);
    if (ret == 0)
        ret = ending_start(fileno(cli->err_out), &cli->ending, err);
    run_signals_hold();
    if (ret == 0)
        ret = run_parts(r, err);
    if (ret == -ERR_NO_TARGET || ret == -ERR_PROTOCOL)
        point_at_doctor(err);
    if (ret == 0)
        ret = run_loop(r, err);
    return leave_run(r, ret, err);
}

static const char text[] =
    "PROGRAM stands for --elf PROGRAM --load.\n\n"
    "With an ELF, profiling begins at once or at the start point and ends with\n"
    "Ctrl-C, --passes or --for; the result goes to standard output. Without an ELF,\n"
    "or with --no-profile, this is a bridge for GDB:\n"
    "  (gdb) target remote :3333\n"
    "GDB may be connected while profiling; breakpoints go on working, and\n"
    "`monitor profile start|stop|clear|status` acts on the profile. SIGUSR1 prints\n"
    "the table so far. A second Ctrl-C quits at once.\n"
    "\n"
    "Every option but --help and --conf may stand in probeprof.conf in the current\n"
    "folder, under [probeprof]:\n"
    "  elf = program.elf\n"
    "  load = yes\n"
    "Flags override PROBEPROF_PROBE, which overrides that file.\n"
    "\n"
    "Example, on the simulated board, in the folder examples/profexam that is\n"
    "installed in share/doc/probeprof (source: in docs):\n"
    "  probeprof --probe sim:sh7750 --start main+8 --stop 0x0C010030 --passes 1\n";

const struct command command_run = {
    "run",
    "[run] [PROGRAM] [OPTIONS]",
    "bridge a board to GDB and profile the program on it",
    settings_opts,
    text,
    run_board,
};
