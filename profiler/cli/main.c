/* probeprof: the composition root. Builds the parts, owns them, and is the only place that exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/boards.h"
#include "profiler/cli/command.h"
#include "profiler/cli/completion.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/view.h"
#include "profiler/views/report_columns.h"
#include "probe/base/nearest.h"

static int run_version(struct cli *cli, int argc, char **argv, struct err *err);
static int run_help(struct cli *cli, int argc, char **argv, struct err *err);

static const struct opt no_opts[] = { { NULL, 0, NULL, NULL, 0 } };
static const struct opt version_opts[] = {
    { "json", 0, NULL, "print one JSON document", 0 },
    { NULL, 0, NULL, NULL, 0 },
};
static const struct command command_version = {
    "version",
    "version [--json]",
    "print the version",
    version_opts,
    "Example:\n  probeprof version\n",
    run_version,
};
static const struct command command_help_cmd = {
    "help",
    "help [COMMAND|columns]",
    "print help on a command, or on the columns of tables",
    no_opts,
    "Examples:\n  probeprof help run\n  probeprof help columns\n",
    run_help,
};
static const struct command *const commands[] = {
    &command_run,      &command_top,   &command_view,    &command_report,   &command_annotate,
    &command_optimize, &command_stat,  &command_diff,    &command_convert,  &command_decode,
    &command_disasm,   &command_graph, &command_dump,    &command_events,   &command_list,
    &command_doctor,   &command_trust, &command_version, &command_help_cmd,
};

void command_help(const struct command *c, FILE *out)
{
    text_print(out, "usage: probeprof %s\n\n%s\n", c->usage, c->summary);
    if (c->opts[0].name) {
        fprintf(out, "\nOptions:\n");
        opts_help(c->opts, out);
    }
    text_print(out, "\n%s\nExit status: 0 done, 1 failed, 2 usage.\n", c->text);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

/* What other debuggers' tools call it, or NULL. */
static const char *called_elsewhere(const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } rows[] = {
        { "probes", "probeprof list" },
        { "devices", "probeprof list" },
        { "adapters", "probeprof list" },
        { "scan", "probeprof list" },
        { "check", "probeprof doctor" },
        { "test", "probeprof doctor" },
        { "diagnose", "probeprof doctor" },
        { "info", "probeprof doctor" },
        { "server", "probeprof --no-profile" },
        { "gdb", "probeprof --no-profile" },
        { "gdbserver", "probeprof --no-profile" },
        { "attach", "probeprof --no-profile" },
        { "flash", "probeprof --load --elf FILE" },
        { "load", "probeprof --load --elf FILE" },
        { "program", "probeprof --load --elf FILE" },
        { "profile", "probeprof --elf FILE" },
        { "record", "probeprof --record FILE" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].theirs, name))
            return rows[i].ours;
    return NULL;
}

static int unknown_command(const char *name, struct err *err)
{
    struct nearest near = { .wanted = name };
    char hint[NEAREST_TEXT];
    if (called_elsewhere(name)) {
        snprintf(hint, sizeof hint, "here it is `%s`", called_elsewhere(name));
        return err_set(err, ERR_USAGE, hint, "there is no command '%s'", name);
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        nearest_offer(&near, commands[i]->name);
    return err_set(err, ERR_USAGE,
                   nearest_text(&near, "`probeprof help` lists the commands", hint, sizeof hint),
                   "there is no command '%s'", name);
}

static void print_overview(FILE *out)
{
    fprintf(out, "usage: probeprof [COMMAND] [OPTIONS]\n\n"
                 "Debugs and profiles SH-4 and S12Z boards: serves GDB, traces calls with\n"
                 "SH-4's performance counters or S12Z's code-profiling trace.\n\n"
                 "Commands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        text_print(out, "  %-10s %s%s\n", commands[i]->name, commands[i]->summary,
                   text_if(commands[i] == &command_run, "; the default"));
    fprintf(out, "\nExample, in a folder whose probeprof.conf names the ELF and the adapter:\n"
                 "  probeprof --start main+8 --stop 0x0C010030\n"
                 "\n`probeprof help COMMAND` tells more.\n");
}

static int take_json(void *ctx, int id, const char *value, struct err *err)
{
    (void)id;
    (void)value;
    (void)err;
    *(bool *)ctx = true;
    return 0;
}

static int run_version(struct cli *cli, int argc, char **argv, struct err *err)
{
    bool json = false;
    int ret = opts_parse(version_opts, argc, argv, take_json, &json, NULL, 0, err);
    if (ret < 0)
        return ret;
    text_print(cli->out,
               json ? "{\"schema\": \"probeprof.version/1\", \"version\": \"%s\"}\n"
                    : "probeprof %s\n",
               PROBEPROF_VERSION);
    return 0;
}

static int run_help(struct cli *cli, int argc, char **argv, struct err *err)
{
    if (argc < 2) {
        print_overview(cli->out);
        return 0;
    }
    bool columns = !strcmp(argv[1], "columns");
    const struct command *c = find_command(argv[1]);
    if (!c && !columns)
        return unknown_command(argv[1], err);
    if (argc > 2)
        return err_set(err, ERR_USAGE, "probeprof help COMMAND", "unexpected argument '%s'",
                       argv[2]);
    if (columns) {
        struct text_sink out = file_sink(cli->out);
        report_columns_text(&out);
        return 0;
    }
    command_help(c, cli->out);
    return 0;
}

static int run_completion(struct cli *cli, int argc, char **argv, struct err *err)
{
    const struct completion c = {
        .command = commands, .n = ARRAY_LEN(commands), .boards = cli->boards, .out = cli->out
    };
    if (argc > 3)
        return err_set(err, ERR_USAGE, "probeprof completion bash|zsh|fish",
                       "unexpected argument '%s'", argv[3]);
    return completion_print(&c, argc == 3 ? argv[2] : "", err);
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

/* A file rather than a command: what begins as an ELF does, or is written as a file is. */
static bool names_program(const char *word)
{
    char magic[4] = "";
    if (find_command(word))
        return false;
    FILE *f = fopen(word, "rbe");
    bool elf = f && fread(magic, 1, sizeof magic, f) == sizeof magic &&
               !memcmp(magic, "\177ELF", sizeof magic);
    if (f)
        fclose(f);
    return elf || (!find_command(word) && (strchr(word, '/') || strstr(word, ".elf")));
}

/* "probeprof --start ..." is "probeprof run --start ...": argv is shifted so that argv[0] names the
 * command. */
static int dispatch_command(struct cli *cli, int argc, char **argv, struct err *err)
{
    if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
        return run_version(cli, 1, argv, err);
    if (argc > 1 && wants_help(2, argv) && argc == 2)
        return run_help(cli, 1, argv, err);
    if (argc > 1 && !strcmp(argv[1], "completion"))
        return run_completion(cli, argc, argv, err);
    const struct command *c = &command_run;
    int skip = 0;
    if (argc > 1 && argv[1][0] != '-' && !names_program(argv[1])) {
        skip = 1;
        c = find_command(argv[1]);
        if (!c)
            return unknown_command(argv[1], err);
    }
    if (wants_help(argc - skip, argv + skip)) {
        command_help(c, cli->out);
        return 0;
    }
    return c->run(cli, argc - skip, argv + skip, err);
}

/* If the program is started with descriptor 0, 1 or 2 closed, the next file opened would get that
 * number, and messages would be written into a recording. Standard output becomes one that cannot
 * be written, which is reported at the end. */
static void occupy_standard_descriptors(void)
{
    static const int modes[] = { O_RDONLY, O_RDONLY, O_WRONLY };
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) < 0)
            return; /* then no file can be opened at all */
}

int main(int argc, char **argv)
{
    occupy_standard_descriptors();
    struct cli cli = { .out = stdout,
                       .err_out = stderr,
                       .probe_env = getenv("PROBEPROF_PROBE"),
                       .http_env = getenv("PROBEPROF_HTTP"),
                       .boards = boards() };
    struct err err = { .code = ERR_OK };
    /* a peer or pager that leaves is an error of one write, not the end; so is a limit on the size
     * of files */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int ret = dispatch_command(&cli, argc, argv, &err);
    if (ret >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
        ret = err_set(&err, ERR_IO, "is the disk full, or the reader gone?",
                      "writing standard output failed");
    if (ret < 0 && *err.what)
        text_print(stderr, "probeprof: %s\n", err.what);
    if (ret < 0 && (*err.hint || err.code == ERR_NOMEM))
        text_print(stderr, "  hint: %s\n",
                   text_or(text_given(err.hint),
                           "close other programs, or raise the limit on memory (ulimit -v)"));
    ending_stop(cli.ending); /* behind the last message, whose reader may be gone, too */
    if (ret >= 0)
        return 0;
    if (err.code == ERR_USAGE)
        return 2;
    return 1;
}
