#include "profiler/cli/marks_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "profiler/profile/marks_match.h"

enum { SAID = 512 };

void marks_file_beside(const char *elf, char *path)
{
    const char *slash = NULL;
    if (elf)
        slash = strrchr(elf, '/');
    *path = 0;
    if (!elf || !*elf)
        return;
    int folder = 0;
    if (slash)
        folder = (int)(slash - elf + 1);
    if (snprintf(path, MARKS_FILE_PATH, "%.*sprobeprof.marks", folder, elf) >= MARKS_FILE_PATH)
        *path = 0;
}

bool marks_file_path(const char *elf, const char *file, char path[MARKS_FILE_PATH])
{
    bool named = file && *file;
    if (named)
        snprintf(path, MARKS_FILE_PATH, "%s", file);
    else
        marks_file_beside(elf, path);
    return *path && strcmp(path, "off") != 0 && (named || access(path, F_OK) == 0);
}

static void say_what_holds(const char *path, bool named, size_t blocks, bool others, char *said)
{
    size_t n = 0;
    *said = 0;
    if (others && !named)
        n = (size_t)snprintf(said, MARKS_FILE_SAID,
                             "names, tags and groups are those of %s (--marks off: none)", path);
    if (blocks && n < MARKS_FILE_SAID)
        snprintf(said + n, MARKS_FILE_SAID - n, "%sblocks by themselves: %zu, as %s has them",
                 text_if(n, "; "), blocks, path);
}

int marks_file_open(const char *elf, const char *file, bool blocks, struct symbols *syms,
                    char said[MARKS_FILE_SAID], struct marks **out, struct err *err)
{
    char path[MARKS_FILE_PATH];
    struct marks *m = NULL;
    size_t nblocks = 0, nothers = 0, n;
    *out = NULL;
    *said = 0;
    if (!marks_file_path(elf, file, path))
        return 0;
    int ret = marks_read(path, &m, err);
    if (ret == 0 && blocks)
        ret = marks_blocks(m, syms, &nblocks, err);
    if (ret == 0)
        ret = marks_check(m, syms, err);
    if (ret < 0) {
        marks_free(m);
        return ret;
    }
    const struct mark *k = marks_list(m, &n);
    for (size_t i = 0; i < n; i++)
        nothers += k[i].kind != MARK_BLOCK;
    say_what_holds(path, file && *file, nblocks, nothers, said);
    if (nothers)
        *out = m;
    else
        marks_free(m);
    return 0;
}

int marks_file_check_all(const struct marks *m, struct err *err)
{
    size_t n;
    const struct mark *k = marks_list(m, &n);
    for (size_t i = 0; i < n; i++)
        if (k[i].kind == MARK_GROUP || k[i].kind == MARK_EXCLUDE)
            return err_set(err, ERR_USAGE, "leave --all out, or say --marks off",
                           "%s:%d: --all lists functions by themselves: it has no use for groups",
                           marks_file(m), k[i].line);
    return 0;
}

int marks_file_blocks(const char *elf, struct symbols *syms, char *said, struct err *err)
{
    char path[MARKS_FILE_PATH];
    struct marks *m = NULL;
    size_t n = 0;
    *said = 0;
    marks_file_beside(elf, path);
    if (!*path || access(path, F_OK) < 0)
        return 0;
    int ret = marks_read(path, &m, err);
    if (ret == 0)
        ret = marks_blocks(m, syms, &n, err);
    if (n)
        snprintf(said, SAID, "blocks by themselves: %zu, as %.400s has them", n, path);
    marks_free(m);
    return ret;
}
