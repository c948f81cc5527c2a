#include "profiler/cli/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/cli/replay.h"
#include "profiler/cli/rotation.h"
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

/* A recording in numbered files has none of the name itself. */
static int kind_of(const char *const *path, size_t n, enum input_kind *kind, struct err *err)
{
    unsigned *number = NULL;
    int ret = n == 1 && access(path[0], F_OK) < 0 ? rotation_numbers(path[0], &number, err) : 0;
    free(number);
    *kind = INPUT_RECORDING;
    if (ret == 0)
        ret = what_is(path[0], kind, err);
    if (ret >= 0 && *kind == INPUT_PRF && n > 1)
        return err_set(err, ERR_USAGE, "name one .prf file, or the files of one recording",
                       "%s is a .prf file, which has all of its profile", path[0]);
    return ret < 0 ? ret : 0;
}

int input_profiles(struct cli *cli, const char *const *path, size_t n, const char *elf,
                   struct profile **p, struct symbols **syms, struct err *err)
{
    enum input_kind kind;
    int ret = kind_of(path, n, &kind, err);
    if (ret < 0)
        return ret;
    if (kind == INPUT_PRF && elf && *elf)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--elf names the functions of a recording, and %s is a .prf file, which has "
                       "their names",
                       path[0]);
    if (kind == INPUT_PRF)
        return prf_read(path[0], p, err);
    ret = replay_files(path, n, elf && *elf ? elf : NULL, p, syms, err);
    for (size_t k = 0; ret == 0 && k < (*p)->info.nremarks; k++)
        cli_warn(cli, "%s", (*p)->info.remarks[k].text);
    return ret;
}

int input_profile(struct cli *cli, const char *path, const char *elf, struct profile **p,
                  struct symbols **syms, struct err *err)
{
    return input_profiles(cli, &path, 1, elf, p, syms, err);
}
