#include "profiler/cli/project.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "profiler/cli/setting_row.h"
#include "profiler/core/file_atomic.h"

#define CONF_NAME "probeprof.conf"
enum { TRUSTED_MOST = 1 << 20 }; /* bytes of the list */

/* ---- the list ---- */

/* Its path, and the folders it is in made if `make`. */
static int list_path(bool make, char *out, size_t cap, struct err *err)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;
    if (base && *base == '/')
        n = snprintf(out, cap, "%s/probeprof/trusted", base);
    else if (home && *home == '/')
        n = snprintf(out, cap, "%s/.config/probeprof/trusted", home);
    if (n < 0 || (size_t)n >= cap)
        return err_set(err, ERR_USAGE, "set HOME",
                       "there is no place for the list of trusted folders");
    for (char *slash = out + 1; make && (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        if (mkdir(out, 0700) < 0 && errno != EEXIST)
            return err_set(err, ERR_IO, "check its permissions", "make the folder %s: %s", out,
                           strerror(errno));
    }
    return 0;
}

/* The whole list, "" if there is none yet; *out is the caller's to free. */
static int list_read(const char *path, char **out, struct err *err)
{
    uint8_t *data = NULL;
    size_t len = 0;
    int ret = file_read_all(path, TRUSTED_MOST, &data, &len, err);
    if (ret == -ERR_NOT_FOUND && err)
        *err = (struct err){ .code = ERR_OK };
    if (ret < 0 && ret != -ERR_NOT_FOUND)
        return ret;
    *out = calloc(1, len + 1);
    if (*out && len)
        memcpy(*out, data, len);
    free(data);
    if (!*out)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    return 0;
}

static int real_folder(const char *folder, char out[PATH_MAX], struct err *err)
{
    struct stat st;
    if (!realpath(folder, out) || stat(out, &st) < 0)
        return err_set(err, ERR_NOT_FOUND, "check the path", "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode) || strchr(out, '\n'))
        return err_set(err, ERR_USAGE, "name the folder that probeprof.conf is in",
                       "%s is no folder that can be in the list", folder);
    return 0;
}

/* path is folder, or below it. */
static bool is_within(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    if (len && folder[len - 1] == '/')
        len--;
    return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

int project_trusted(void (*take)(void *ctx, const char *folder), void *ctx, struct err *err)
{
    char path[PATH_MAX], *text, *rest = NULL;
    int ret = list_path(false, path, sizeof path, err);
    if (ret == 0)
        ret = list_read(path, &text, err);
    if (ret < 0)
        return ret;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (*line == '/')
            take(ctx, line);
    free(text);
    return 0;
}

struct asked {
    const char *folder;
    bool found;
};

static void look_at_folder(void *ctx, const char *folder)
{
    struct asked *a = ctx;
    a->found = a->found || is_within(a->folder, folder);
}

static bool is_trusted(const char *folder)
{
    struct asked a = { folder, false };
    return project_trusted(look_at_folder, &a, NULL) == 0 && a.found;
}

static void put_line(FILE *f, const char *text)
{
    fputs(text, f);
    fputc('\n', f);
}

/* The list without `folder`, and with it at the end if `add`. */
static int list_change(const char *folder, bool add, struct err *err)
{
    char path[PATH_MAX], real[PATH_MAX], *text = NULL, *rest = NULL, *now = NULL;
    size_t len = 0;
    bool had = false;
    int ret = real_folder(folder, real, err);
    if (ret == 0)
        ret = list_path(true, path, sizeof path, err);
    if (ret == 0)
        ret = list_read(path, &text, err);
    if (ret < 0)
        return ret;
    FILE *f = open_memstream(&now, &len);
    for (char *line = strtok_r(text, "\n", &rest); f && line; line = strtok_r(NULL, "\n", &rest)) {
        had = had || !strcmp(line, real);
        if (strcmp(line, real))
            put_line(f, line);
    }
    if (f && add)
        put_line(f, real);
    if (!f || fclose(f) != 0)
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    else if (!add && !had)
        ret = err_set(err, ERR_NOT_FOUND, "`probeprof trust --list` shows what is",
                      "%s is not in the list", real);
    else
        ret = file_write_atomic(path, (const uint8_t *)now, len, err);
    free(text);
    free(now);
    return ret;
}

int project_trust(const char *folder, struct err *err) { return list_change(folder, true, err); }
int project_distrust(const char *folder, struct err *err)
{
    return list_change(folder, false, err);
}

/* ---- finding it ---- */

static int too_long(const char *path, struct err *err)
{
    return err_set(err, ERR_USAGE, "use shorter folder names", "%.60s..: too long", path);
}

/* folder: where conf is, any way it can be written. */
static int settle_on_file(struct project *p, const char *conf, const char *folder, struct err *err)
{
    char real[PATH_MAX], here[PATH_MAX];
    if (!realpath(folder, real))
        return err_set(err, ERR_NOT_FOUND, "check the path, or --conf off", "conf %s: %s", conf,
                       strerror(errno));
    if (strlen(real) >= sizeof p->folder || strlen(conf) >= sizeof p->conf)
        return too_long(real, err);
    strcpy(p->folder, real);
    memmove(p->conf, conf, strlen(conf) + 1);
    p->here = realpath(".", here) && !strcmp(here, real);
    p->trusted = is_trusted(real);
    return 0;
}

static int find_named(const char *named, struct project *p, struct err *err)
{
    char folder[SETTINGS_TEXT + 1];
    const char *slash = strrchr(named, '/');
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - named) + 1, named);
    else
        strcpy(folder, ".");
    if (access(named, F_OK) < 0)
        return err_set(err, ERR_NOT_FOUND, "check the path, or --conf off", "conf %s: %s", named,
                       strerror(errno));
    int ret = settle_on_file(p, named, folder, err);
    p->trusted = true;
    return ret;
}

/* A file that another user left in /tmp is not the project file of the folders below. */
static int check_owner(const struct project *p, struct err *err)
{
    struct stat st;
    if (p->here || p->trusted || stat(p->conf, &st) < 0 || st.st_uid == geteuid() || st.st_uid == 0)
        return 0;
    return err_set(err, ERR_USAGE, "`probeprof trust FOLDER` if it is to count, else --conf off",
                   "%s belongs to another user, and is not in this folder", p->conf);
}

int project_find(const char *named, struct project *p, struct err *err)
{
    char at[PATH_MAX], conf[PATH_MAX + sizeof CONF_NAME + 1];
    *p = (struct project){ .conf = "" };
    if (!strcmp(named, "off"))
        return 0;
    if (*named)
        return find_named(named, p, err);
    if (access(CONF_NAME, F_OK) == 0)
        return settle_on_file(p, CONF_NAME, ".", err);
    if (!getcwd(at, sizeof at) || *at != '/')
        return 0; /* the folder is gone: there is none above it */
    for (char *slash; (slash = strrchr(at, '/')) && at[1];) {
        slash[slash == at] = 0;
        snprintf(conf, sizeof conf, "%s/" CONF_NAME, text_if(at[1], at));
        if (access(conf, F_OK) < 0)
            continue;
        int ret = settle_on_file(p, conf, at, err);
        if (ret < 0)
            return ret;
        return check_owner(p, err);
    }
    return 0;
}

/* ---- what it may say ---- */

/* An adapter that is plugged in, a simulated board that touches no file, or what no driver takes.
 */
static bool harmless_probe(const char *probe)
{
    size_t len = strcspn(probe, ":,");
    if (strchr(probe, '/'))
        return false;
    if (!strncmp(probe, "sim:", 4))
        return !strstr(probe, "serial") && !strstr(probe, "rom=");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strlen((*d)->name) == len && !strncmp((*d)->name, probe, len))
            return (*d)->ids && !(*d)->own_spec;
    return true;
}

static bool is_off(const char *v) { return !strcmp(v, "no") || !strcmp(v, "off"); }

/* A port of this machine, or none. */
static bool harmless_address(const char *v)
{
    return !strcmp(v, "off") || strspn(v, "0123456789") == strlen(v);
}

/* What such a setting could do to the user; NULL: nothing. */
static const char *risk_of(enum setting_reach reach, const char *v)
{
    switch (reach) {
    case REACH_WRITES: return "writes a file";
    case REACH_DEVICE: return "opens a device or a file";
    case REACH_ADAPTER:
        if (harmless_probe(v))
            return NULL;
        return "opens a device, a socket or a file";
    case REACH_LISTENS:
        if (harmless_address(v))
            return NULL;
        return "opens the bridge to others";
    case REACH_LOCKS:
        if (is_off(v))
            return NULL;
        return "lets a program lock the part";
    case REACH_NOTHING:
    case REACH_READS: break;
    }
    return NULL;
}

/* Appends "folder/" where a relative path begins. */
static void put_path(const struct project *p, const char *path, char *out)
{
    size_t at = strlen(out);
    bool as_it_is = *path == '/' || p->here;
    snprintf(out + at, SETTINGS_TEXT - at, "%s%s%s", text_if(!as_it_is, p->folder),
             text_if(!as_it_is, "/"), path);
}

/* Options of an adapter that are paths. */
static void put_spec(const struct project *p, const char *spec, char *out)
{
    static const char *const names[] = { "serial=file:", "serial=pty:", "serial1=file:",
                                         "serial1=pty:", "rom=",        "file:" };
    for (const char *s = spec; *s;) {
        size_t len = 0;
        bool begins = s == spec || s[-1] == ',' || s[-1] == ':';
        for (size_t i = 0; begins && !len && i < ARRAY_LEN(names); i++)
            if (!strncmp(s, names[i], strlen(names[i])))
                len = strlen(names[i]);
        size_t at = strlen(out);
        snprintf(out + at, SETTINGS_TEXT - at, "%.*s", (int)MAX(len, (size_t)1), s);
        s += MAX(len, (size_t)1);
        if (len && *s && *s != '/')
            put_path(p, "", out);
    }
}

static bool is_inside_folder(const struct project *p, const char *path)
{
    char real[PATH_MAX], *behind = NULL;
    if (file_behind(path, &behind, NULL) < 0)
        return false;
    const char *folder = ".";
    char *slash = strrchr(behind, '/');
    if (slash) {
        slash[slash == behind] = 0;
        folder = behind;
    }
    bool in;
    if (realpath(folder, real))
        in = is_within(real, p->folder);
    else
        in = errno == ENOENT && !strstr(path, "..");
    free(behind);
    return in;
}

static int check_inside(const struct project *p, const char *file, struct err *err)
{
    if (!*file || is_inside_folder(p, file))
        return 0;
    return err_set(err, ERR_USAGE,
                   "name a file in the project's folder, or give this option on the command line",
                   "%s is not in %s", file, p->folder);
}

/* What the serial ports of a simulated board write or link. */
static int check_ports(const struct project *p, const char *spec, struct err *err)
{
    char file[SETTINGS_TEXT];
    int ret = 0;
    for (const char *s = spec; ret == 0 && (s = strstr(s, "serial"));) {
        s += strcspn(s, ":,");
        if (*s != ':')
            continue;
        snprintf(file, sizeof file, "%.*s", (int)strcspn(s + 1, ","), s + 1);
        ret = check_inside(p, file, err);
    }
    return ret;
}

/* Files that are made lie in the project's folder. */
static int check_made(const struct project *p, enum setting_reach reach, const char *v,
                      struct err *err)
{
    if (reach == REACH_WRITES || (reach == REACH_LISTENS && strchr(v, '/')))
        return check_inside(p, v, err);
    if (reach == REACH_ADAPTER && !strncmp(v, "sim:", 4))
        return check_ports(p, v, err);
    return 0;
}

int project_value(const struct project *p, enum setting id, const char *value, char *out,
                  struct err *err)
{
    enum setting_reach reach = setting_row(id)->reach;
    const char *why = risk_of(reach, value);
    if (why && !p->trusted)
        return err_set(
            err, ERR_USAGE,
            "if you know who wrote this file: `probeprof trust` in its folder; or --conf off",
            "this setting %s: it counts only from a folder that you trust", why);
    *out = 0;
    if (reach == REACH_READS && setting_row(id)->words && !strcmp(setting_row(id)->words, value))
        snprintf(out, SETTINGS_TEXT, "%s", value); /* no path, but "off" */
    else if (reach == REACH_READS || reach == REACH_WRITES ||
             (reach == REACH_LISTENS && strchr(value, '/')))
        put_path(p, value, out);
    else if (reach == REACH_ADAPTER || reach == REACH_DEVICE)
        put_spec(p, value, out);
    else
        snprintf(out, SETTINGS_TEXT, "%s", value);
    if (strlen(out) + 1 >= SETTINGS_TEXT)
        return too_long(out, err);
    return check_made(p, reach, out, err);
}
