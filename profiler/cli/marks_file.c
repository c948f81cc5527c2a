#include "profiler/cli/marks_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/profile/marks.h"

enum { SAID = 512 };

void marks_file_beside(const char *elf, char *path)
{
    const char *slash = elf ? strrchr(elf, '/') : NULL;
    *path = 0;
    if (!elf || !*elf)
        return;
    int folder = slash ? (int)(slash - elf + 1) : 0;
    if (snprintf(path, MARKS_FILE_PATH, "%.*sprobeprof.marks", folder, elf) >= MARKS_FILE_PATH)
        *path = 0;
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
