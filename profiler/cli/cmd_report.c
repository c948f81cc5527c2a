#include <errno.h>
#include <string.h>

#include "profiler/cli/capture.h"
#include "profiler/cli/command.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/settings.h"
#include "profiler/cli/useless.h"
#include "profiler/cli/view.h"
#include "profiler/views/prf.h"

static const struct opt report_opts[] = {
    { "elf", 'e', "E", "ELF to name the functions of a recording with", SET_ELF },
    { "output", 'o', "F.prf", "write the profile in CodeScape's format", SET_OUTPUT },
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

enum report_input { INPUT_PRF, INPUT_RECORDING };

static int what_is(const char *path, enum report_input *kind, struct err *err)
{
    uint8_t head[64];
    FILE *in = fopen(path, "rb");
    if (!in)
        return err_set(err, ERR_NOT_FOUND, "check the path", "%s: %s", path, strerror(errno));
    size_t n = fread(head, 1, sizeof head, in);
    bool failed = ferror(in);
    int error = errno;
    fclose(in);
    if (failed)
        return err_set(err, ERR_IO, "give a .prf file or a recording", "%s: %s", path,
                       strerror(error));
    if (prf_is(head, n))
        *kind = INPUT_PRF;
    else if (recording_is(head, n))
        *kind = INPUT_RECORDING;
    else
        return err_set(err, ERR_FORMAT,
                       "give a file that --output or --record wrote, or one of CodeScape's",
                       "%s is neither a .prf file nor a recording", path);
    return 0;
}

static int load(struct cli *cli, const struct settings *s, const char *path, struct profile **p,
                struct symbols **syms, struct err *err)
{
    enum report_input kind;
    int ret = what_is(path, &kind, err);
    if (ret < 0)
        return ret;
    if (kind == INPUT_PRF && *s->elf)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--elf names the functions of a recording, and %s is a .prf file, which has "
                       "their names",
                       path);
    if (kind == INPUT_PRF)
        return prf_read(path, p, err);
    ret = capture_replay(path, *s->elf ? s->elf : NULL, p, syms, err);
    for (size_t k = 0; ret == 0 && k < (*p)->info.nremarks; k++)
        cli_warn(cli, "%s", (*p)->info.remarks[k].text);
    return ret;
}

static int run(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct settings s = { 0 };
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    const char *path;
    int ret = opts_parse(report_opts, argc, argv, take, &s, &path, 1, err);
    if (ret < 0)
        return ret;
    if (ret == 0)
        return err_set(err, ERR_USAGE, "probeprof report run.prf",
                       "report needs a .prf file or a recording");
    ret = useless_view(&s, err);
    if (ret == 0)
        ret = outputs_check(&s, path, err);
    if (ret == 0)
        ret = load(cli, &s, path, &p, &syms, err);
    if (ret == 0)
        ret = view_show(&s, p, syms, cli->out, err);
    if (ret == 0 && *s.output)
        ret = view_save(s.output, p, err);
    profile_free(p);
    symbols_close(syms);
    return ret;
}

const struct command command_report = {
    "report",
    "report FILE.prf|RECORDING [OPTIONS]",
    "show a profile from a .prf file or a recording again",
    report_opts,
    "Example:\n  probeprof report run.prf --tree\n",
    run,
};
