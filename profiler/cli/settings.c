#include "profiler/cli/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/cli/conf.h"
#include "profiler/cli/project.h"
#include "profiler/cli/setting_row.h"
#include "probe/base/nearest.h"

/* clang-format off */
const struct opt settings_opts[] = {
#define SETTING SETTING_OPT
#define COMMAND_SETTING(...)
#include SETTINGS_TABLE
#undef SETTING
#undef COMMAND_SETTING
    { NULL, 0, NULL, NULL, 0 },
};
/* clang-format on */

int settings_set(struct settings *s, enum setting id, enum origin origin, const char *value,
                 struct err *err)
{
    const struct setting_row *row = setting_row(id);
    if (row->negates) {
        id = row->of;
        row = setting_row(id);
        value = "no";
    }
    if (s->origin[id] > origin)
        return 0;
    int ret = row->read(&(struct setting_value){ s, row, origin, value }, err);
    if (ret == 0)
        s->origin[id] = origin;
    return ret;
}

int settings_blame(const struct settings *s, enum setting id, int ret, struct err *err)
{
    char place[SETTINGS_TEXT + 16];
    if (ret >= 0 || s->origin[id] != ORIGIN_CONF)
        return ret;
    snprintf(place, sizeof place, "%s:%d", s->conf_path, s->conf_line[id]);
    return err_prefix(err, ret, place);
}

/* --load and --no-load are one setting. */
static int contradicts_flag(const struct settings *s, enum setting id, struct err *err)
{
    bool yes = !setting_row(id)->negates;
    enum setting one = id;
    if (!yes)
        one = setting_row(id)->of;
    const struct setting_row *no = setting_negation(one);
    if (!no || s->origin[one] != ORIGIN_FLAG || setting_is_on(s, one) == yes)
        return 0;
    return err_set(err, ERR_USAGE, "leave one of them out", "--%s and --%s contradict each other",
                   setting_row(one)->name, no->name);
}

static int take_flag(void *ctx, int id, const char *value, struct err *err)
{
    int ret = contradicts_flag(ctx, (enum setting)id, err);
    if (ret < 0)
        return ret;
    return settings_set(ctx, (enum setting)id, ORIGIN_FLAG, value, err);
}

/* Where the file is, and what it sets. */
struct conf_reader {
    const struct project *project;
    struct settings *settings;
};

static int take_value(struct conf_reader *c, enum setting id, int line, const char *value,
                      struct err *err)
{
    char text[SETTINGS_TEXT];
    if (c->settings->origin[id] > ORIGIN_CONF) /* it is overridden, so it cannot do harm */
        return 0;
    int ret = project_value(c->project, id, value, text, err);
    if (ret == 0)
        ret = settings_set(c->settings, id, ORIGIN_CONF, text, err);
    c->settings->conf_line[id] = line;
    return ret;
}

static int take_conf(void *ctx, int line, const char *section, const char *key, const char *value,
                     struct err *err)
{
    char hint[NEAREST_TEXT];
    struct nearest near = { .wanted = key };
    if (strcmp(section, "probeprof") && strcmp(section, "profile"))
        return err_set(err, ERR_USAGE, "settings go under [probeprof] or [profile]",
                       "%s stands in section [%s]", key, section);
    for (const struct opt *o = settings_opts; o->name; o++) {
        const struct setting_row *row = setting_row((enum setting)o->id);
        if (row->negates || row->needs & FLAG_ONLY)
            continue;
        if (!strcmp(o->name, key))
            return take_value(ctx, (enum setting)o->id, line, value, err);
        nearest_offer(&near, o->name);
    }
    return err_set(
        err, ERR_USAGE,
        nearest_text(&near, "`probeprof run --help` lists the settings", hint, sizeof hint),
        "unknown setting '%s'", key);
}

/* A file that was found has to be one; one that was named may be a pipe. */
static bool may_be_conf(int fd, bool found)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return false;
    if (found)
        return S_ISREG(st.st_mode);
    return !S_ISDIR(st.st_mode);
}

/* A file that was found, not named, may be anything: a pipe without a writer would block the
 * program for ever. errno is 0: it is no file. */
static FILE *open_conf(const char *path, bool found)
{
    int flags = O_RDONLY | O_CLOEXEC;
    if (found)
        flags |= O_NONBLOCK;
    int fd = open(path, flags);
    if (fd < 0)
        return NULL;
    FILE *in = NULL;
    int why = 0;
    if (may_be_conf(fd, found)) {
        in = fdopen(fd, "r");
        why = errno;
    }
    if (!in)
        close(fd);
    errno = why;
    return in;
}

static int conf_not_opened(const char *path, int error, struct err *err)
{
    if (error == 0)
        return err_set(err, ERR_NOT_FOUND, "name a file, or --conf off",
                       "conf %s: not a regular file", path);
    return err_set(err, ERR_NOT_FOUND, "check the path, or --conf off", "conf %s: %s", path,
                   strerror(error));
}

static int read_conf(struct settings *s, struct err *err)
{
    struct project p;
    int ret = project_find(s->conf, &p, err);
    if (ret < 0 || !*p.conf)
        return ret;
    FILE *in = open_conf(p.conf, !*s->conf);
    if (!in)
        return conf_not_opened(p.conf, errno, err);
    strcpy(s->conf_path, p.conf);
    ret = conf_parse(in, p.conf, take_conf, &(struct conf_reader){ &p, s }, err);
    fclose(in);
    return ret;
}

/* "probeprof fw.elf": load it, and profile it. */
static int take_program(struct settings *s, const char *program, struct err *err)
{
    if (s->origin[SET_ELF] == ORIGIN_FLAG)
        return err_set(err, ERR_USAGE, "name one program", "%s and --elf %s", program, s->elf);
    int ret = settings_set(s, SET_ELF, ORIGIN_FLAG, program, err);
    if (ret == 0 && s->origin[SET_LOAD] != ORIGIN_FLAG)
        ret = settings_set(s, SET_LOAD, ORIGIN_FLAG, "yes", err);
    return ret;
}

/* Commands that load a program take it as their argument. */
static bool takes_program(const struct opt *opts)
{
    while (opts->name && opts->id != SET_LOAD)
        opts++;
    return opts->name != NULL;
}

int settings_read(struct settings *s, const struct opt *opts, int argc, char **argv,
                  const char *probe_env, struct err *err)
{
    const char *program = NULL;
    *s = (struct settings){ 0 };
    int ret = opts_parse(opts, argc, argv, take_flag, s, &program, takes_program(opts), err);
    if (ret > 0)
        ret = take_program(s, program, err);
    if (ret >= 0 && !s->help && probe_env && *probe_env)
        ret = settings_set(s, SET_PROBE, ORIGIN_ENV, probe_env, err);
    if (ret >= 0 && !s->help)
        ret = read_conf(s, err);
    return MIN(ret, 0);
}
