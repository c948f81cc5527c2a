#include "profiler/cli/input.h"

#include <errno.h>
#include <string.h>

#include "profiler/cli/capture.h"
#include "profiler/views/prf.h"

enum input_kind { INPUT_PRF, INPUT_RECORDING };

static int what_is(const char *path, enum input_kind *kind, struct err *err)
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

int input_profile(struct cli *cli, const char *path, const char *elf, struct profile **p,
                  struct symbols **syms, struct err *err)
{
    enum input_kind kind;
    int ret = what_is(path, &kind, err);
    if (ret < 0)
        return ret;
    if (kind == INPUT_PRF && elf && *elf)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--elf names the functions of a recording, and %s is a .prf file, which has "
                       "their names",
                       path);
    if (kind == INPUT_PRF)
        return prf_read(path, p, err);
    ret = capture_replay(path, elf && *elf ? elf : NULL, p, syms, err);
    for (size_t k = 0; ret == 0 && k < (*p)->info.nremarks; k++)
        cli_warn(cli, "%s", (*p)->info.remarks[k].text);
    return ret;
}
