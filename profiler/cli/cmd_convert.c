#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/view.h"

enum { OPT_TO, OPT_OUTPUT, OPT_VALUE, OPT_ELF, OPT_HELP };

static const struct opt convert_opts[] = {
    { "to", 0, "FORMAT", "pprof, callgrind, speedscope, folded, gmon, lcov, prf, json", OPT_TO },
    { "output", 'o', "F", "where to; default: standard output, if the format is text", OPT_OUTPUT },
    { "value", 0, "WHICH",
      "of folded and gmon: hits, c1 or c2; default c1, or hits without counters", OPT_VALUE },
    { "elf", 'e', "E", "ELF to name the functions of a recording with", OPT_ELF },
    { "help", 'h', NULL, "this text", OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct convert {
    const struct exporter *to;
    const char *output, *elf;
    int value; /* 1 hits, 2 c1, 3 c2; 0: not said */
};

static int take_value(struct convert *c, const char *text, struct err *err)
{
    int value;
    int ret = opt_word("value", text, "hits c1 c2", &value, err);
    c->value = ret == 0 ? value + 1 : c->value;
    return ret;
}

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct convert *c = ctx;
    switch (id) {
    case OPT_TO: return exporter_find(value, &c->to, err);
    case OPT_OUTPUT: c->output = value; return 0;
    case OPT_VALUE: return take_value(c, value, err);
    case OPT_ELF: c->elf = value; return 0;
    default: return 0;
    }
}

static int check_request(const struct convert *c, const char *path, struct err *err)
{
    if (!path)
        return err_set(err, ERR_USAGE, "probeprof convert run.rec --to pprof -o run.pb.gz",
                       "convert needs a .prf file or a recording");
    if (!c->to)
        return err_set(err, ERR_USAGE,
                       "--to pprof, callgrind, speedscope, folded, gmon, lcov, prf or json",
                       "convert needs a format");
    if (c->value && strcmp(c->to->name, "folded") != 0 && strcmp(c->to->name, "gmon") != 0)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--value is for folded and gmon: %s has every counter", c->to->name);
    if (c->output && !strcmp(c->output, path))
        return err_set(err, ERR_USAGE, "choose another name for -o",
                       "-o %s is the file that is read", path);
    return 0;
}

/* Binary formats are refused on a terminal; text is cleaned there like any other. */
static int write_to_output(struct cli *cli, const struct convert *c, const struct profile *p,
                           const struct report_options *o, struct err *err)
{
    struct text_sink sink = file_sink(cli->out);
    if (c->to->needs & EXPORT_NEEDS_FILE && isatty(fileno(cli->out)))
        return err_set(err, ERR_USAGE, "add -o FILE", "%s is nothing for a terminal", c->to->name);
    return c->to->write(p, o, &sink, err);
}

static int run_convert(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct convert c = { 0 };
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    const char *path = NULL;
    int ret = opts_parse(convert_opts, argc, argv, take_option, &c, &path, 1, err);
    if (ret < 0)
        return ret;
    ret = check_request(&c, ret ? path : NULL, err);
    if (ret == 0)
        ret = input_profile(cli, path, c.elf, &p, &syms, err);
    const struct report_options o = { .ascii = true, .symbols = syms, .value = (unsigned)c.value };
    if (ret == 0)
        ret = c.output ? exporter_save(c.to, p, &o, c.output, err)
                       : write_to_output(cli, &c, p, &o, err);
    profile_free(p);
    symbols_close(syms);
    return ret;
}

const struct command command_convert = {
    "convert",
    "convert FILE.prf|RECORDING --to FORMAT [-o F]",
    "a profile for pprof, KCachegrind, speedscope, flame graphs",
    convert_opts,
    "Each format keeps hits and both counters, call paths where it knows them, and\n"
    "what was not seen (docs/formats.md).\n\n"
    "Example:\n"
    "  probeprof convert run.rec --to pprof -o run.pb.gz\n"
    "then:\n"
    "  go tool pprof run.pb.gz\n",
    run_convert,
};
