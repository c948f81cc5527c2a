#include <stdlib.h>

#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/settings.h"
#include "profiler/cli/useless.h"
#include "profiler/cli/view.h"

static const struct opt report_opts[] = {
    { "elf", 'e', "E", "ELF to name the functions of a recording with", SET_ELF },
    { "output", 'o', "F.prf", "write the profile in CodeScape's format; F.json: in JSON",
      SET_OUTPUT },
    { "json", 0, NULL, "print the profile as one JSON document", SET_JSON },
#define SETTING SETTING_OPT
#include "profiler/cli/settings_view.def"
#undef SETTING
    { "help", 'h', NULL, "this text", SET_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

static int take(void *ctx, int id, const char *value, struct err *err)
{
    return settings_set(ctx, (enum setting)id, ORIGIN_FLAG, value, err);
}

static int report(struct cli *cli, int argc, char **argv, const char **paths, struct err *err)
{
    struct settings s = { 0 };
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    int n = opts_parse(report_opts, argc, argv, take, &s, paths, (size_t)argc, err);
    if (n < 0)
        return n;
    if (n == 0)
        return err_set(err, ERR_USAGE, "probeprof report run.prf",
                       "report needs a .prf file or a recording");
    int ret = useless_view(&s, err);
    for (int i = 0; ret == 0 && i < n; i++)
        ret = outputs_check(&s, paths[i], err);
    if (ret == 0)
        ret = input_profiles(cli, paths, (size_t)n, s.elf, &p, &syms, err);
    if (ret == 0)
        ret = view_show(&s, p, syms, cli->out, err);
    if (ret == 0 && *s.output)
        ret = view_save(s.output, p, err);
    profile_free(p);
    symbols_close(syms);
    return ret;
}

static int run(struct cli *cli, int argc, char **argv, struct err *err)
{
    const char **paths = calloc((size_t)argc, sizeof *paths);
    if (!paths)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    int ret = report(cli, argc, argv, paths, err);
    free(paths);
    return ret;
}

const struct command command_report = {
    "report",
    "report FILE.prf|RECORDING... [OPTIONS]",
    "show a profile from a .prf file or a recording again",
    report_opts,
    "Example:\n  probeprof report run.prf --tree\n",
    run,
};
