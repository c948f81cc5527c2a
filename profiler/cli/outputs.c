#include "profiler/cli/outputs.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/capture.h"
#include "profiler/cli/command.h"
#include "profiler/core/file_atomic.h"

/* "file:PATH,more" of --pdo. */
static const char *captured_file(const struct settings *s, char *buf, size_t cap)
{
    if (strncmp(s->pdo, "file:", 5))
        return "";
    size_t len = strcspn(s->pdo + 5, ",");
    snprintf(buf, cap, "%.*s", (int)len, s->pdo + 5);
    return buf;
}

/* The rename would replace the file that standard output writes to, and its contents would be
 * lost. */
static bool is_open_as(const char *path, int fd)
{
    struct stat a, b;
    return stat(path, &a) == 0 && fstat(fd, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int check_one(const struct settings *s, const char *option, const char *path,
                     const char *input, struct err *err)
{
    char pdo[SETTINGS_TEXT];
    const struct {
        const char *path, *what;
    } inputs[] = {
        { s->elf, "the program" },
        { s->conf_path, "the settings" },
        { captured_file(s, pdo, sizeof pdo), "the capture" },
        { text_or(input, ""), "what is read" },
    };
    for (size_t i = 0; i < ARRAY_LEN(inputs); i++)
        if (*inputs[i].path && file_same(path, inputs[i].path))
            return err_set(err, ERR_USAGE, "name another file", "%s %s would replace %s", option,
                           path, inputs[i].what);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (is_open_as(path, fd))
            return err_set(err, ERR_USAGE, "name another file",
                           "%s %s would replace the file that standard %s goes to", option, path,
                           fd == STDOUT_FILENO ? "output" : "error");
    int ret = file_writable(path, err);
    if (ret < 0)
        return err_prefix(err, ret, option);
    return 0;
}

int outputs_check(const struct settings *s, const char *input, struct err *err)
{
    int ret = 0;
    if (*s->output)
        ret = settings_blame(s, SET_OUTPUT, check_one(s, "--output", s->output, input, err), err);
    if (ret == 0 && *s->record)
        ret = settings_blame(s, SET_RECORD, check_one(s, "--record", s->record, input, err), err);
    if (ret == 0 && *s->slice)
        ret = settings_blame(s, SET_SLICE, check_one(s, "--slice", s->slice, input, err), err);
    if (ret == 0 && *s->output && *s->record && file_same(s->output, s->record))
        return err_set(err, ERR_USAGE, "name two files", "--output and --record both write %s",
                       s->output);
    if (ret == 0 && *s->slice && *s->record && file_same(s->slice, s->record))
        return err_set(err, ERR_USAGE, "name two files", "--slice and --record both write %s",
                       s->slice);
    return ret;
}

void outputs_tell_kept(struct cli *cli, const struct capture *c)
{
    if (!c->recording)
        return;
    const char *kept = recording_kept(c->recording);
    if (kept)
        cli_warn(cli, "what an interrupted run had recorded is kept as %s", kept);
}

bool outputs_keep(const char *path, const struct capture *c)
{
    struct stat st;
    return c->seen == 0 && stat(path, &st) == 0 && st.st_size > 0;
}

void outputs_tell_empty(struct cli *cli, const char *path)
{
    cli_warn(cli, "nothing was recorded: %s stays as it was", path);
}
