#include "profiler/cli/report_marks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/profile/marks.h"

/* "" if there is none. */
static void marks_beside(const char *elf, char *path, size_t cap)
{
    const char *slash = elf ? strrchr(elf, '/') : NULL;
    *path = 0;
    if (!elf || !*elf)
        return;
    int folder = slash ? (int)(slash - elf + 1) : 0;
    if (snprintf(path, cap, "%.*sprobeprof.marks", folder, elf) >= (int)cap ||
        access(path, F_OK) < 0)
        *path = 0;
}

/* Rows of functions that never ran are the program's, each by itself. */
static int check_all(const struct settings *s, const struct marks *m, struct err *err)
{
    size_t n;
    const struct mark *k = marks_list(m, &n);
    for (size_t i = 0; s->all && i < n; i++)
        if (k[i].kind == MARK_GROUP || k[i].kind == MARK_EXCLUDE)
            return err_set(err, ERR_USAGE, "leave --all out, or say --marks off",
                           "%s:%d: --all lists functions by themselves: it has no use for groups",
                           marks_file(m), k[i].line);
    return 0;
}

int report_marks(struct cli *cli, const struct settings *s, const char *file, struct profile *p,
                 const struct symbols *syms, struct err *err)
{
    char beside[4096];
    struct marks *m = NULL;
    const char *path = file;
    if (!file) {
        marks_beside(p->info.elf, beside, sizeof beside);
        path = beside;
    }
    if (!*path || !strcmp(path, "off"))
        return 0;
    int ret = marks_read(path, &m, err);
    if (ret == 0)
        ret = check_all(s, m, err);
    if (ret == 0)
        ret = profile_apply_marks(p, m, syms, err);
    if (ret == 0 && !file)
        cli_warn(cli, "names, tags and groups are those of %s (--marks off: none)", path);
    marks_free(m);
    return ret;
}
