#include "profiler/feed/source_text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

static bool is_source_name(const char *name)
{
    static const char *const ends[] = { "c",   "h",   "cc",  "cpp", "cxx", "c++", "hh",  "hpp",
                                        "hxx", "inl", "inc", "s",   "sx",  "asm", "adb", "ads",
                                        "f",   "f90", "rs",  "y",   "l",   "pas" };
    const char *base = strrchr(name, '/'), *dot = strrchr(EITHER(base, name), '.');
    for (size_t i = 0; dot && i < ARRAY_LEN(ends); i++)
        if (strcasecmp(dot + 1, ends[i]) == 0)
            return true;
    return false;
}

/* Opens folder/name if that really lies below the folder, and nowhere else. */
static int open_below(const char *folder, const char *name)
{
    char path[2 * PATH_MAX], real[PATH_MAX], base[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return -1;
    if (!realpath(folder, base) || !realpath(path, real) || !is_source_name(real))
        return -1;
    size_t n = strlen(base);
    if (n < 2 || strncmp(real, base, n) != 0 || real[n] != '/')
        return -1; /* a folder "/" has all there is below it */
    return open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
}

/* The part of the name that is below the directory it was compiled in. */
static const char *part_below(const char *name, const char *directory)
{
    size_t n = 0;
    if (directory)
        n = strlen(directory);
    if (n && strncmp(name, directory, n) == 0 && name[n] == '/')
        return name + n + 1;
    return name;
}

static int find_source(const char *name, const char *directory, const char *elf)
{
    char folder[PATH_MAX] = ".";
    const char *inner = part_below(name, directory), *base = strrchr(name, '/');
    int fd = -1;
    if (directory && *directory == '/' && *inner != '/')
        fd = open_below(directory, inner);
    const char *end = NULL;
    if (elf)
        end = strrchr(elf, '/');
    if (end)
        snprintf(folder, sizeof folder, "%.*s", MAX((int)(end - elf), 1), elf);
    if (fd < 0 && elf && *inner != '/')
        fd = open_below(folder, inner);
    if (fd < 0 && elf && base)
        fd = open_below(folder, base + 1);
    return fd;
}

static bool read_all(int fd, size_t size, struct source_text *out)
{
    out->bytes = malloc(size + 1);
    ssize_t n = 0;
    while (out->bytes && out->size < size &&
           (n = read(fd, out->bytes + out->size, size - out->size)) > 0)
        out->size += (size_t)n;
    if (out->bytes && n >= 0 && !memchr(out->bytes, 0, out->size))
        return true;
    source_text_fini(out);
    return false;
}

void source_text_read(const char *name, const char *directory, const char *elf,
                      struct source_text *out)
{
    struct stat st, program;
    int fd = -1;
    if (is_source_name(name))
        fd = find_source(name, directory, elf);
    if (fd < 0) {
        out->note = "the source file is not where the program was compiled, nor beside its ELF";
        return;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MOST ||
        !read_all(fd, (size_t)st.st_size, out))
        out->note = "the source file cannot be read, is no text, or has more than 4 MB";
    else if (elf && stat(elf, &program) == 0 && st.st_mtime > program.st_mtime)
        out->note = "the source file is newer than the program: lines may have moved";
    close(fd);
}

const char *source_text_line(const struct source_text *t, int n, struct source_at *at, size_t *len)
{
    if (!t->bytes || n < 1)
        return NULL;
    if (!at->line || at->line > n)
        *at = (struct source_at){ 0, 1 };
    for (; at->line < n; at->line++) {
        const char *end = memchr(t->bytes + at->offset, '\n', t->size - at->offset);
        if (!end)
            return NULL;
        at->offset = (size_t)(end + 1 - t->bytes);
    }
    if (at->offset >= t->size)
        return NULL;
    const char *from = t->bytes + at->offset;
    const char *end = memchr(from, '\n', t->size - at->offset);
    *len = end ? (size_t)(end - from) : t->size - at->offset;
    if (*len && from[*len - 1] == '\r')
        --*len;
    return from;
}

void source_text_fini(struct source_text *t)
{
    free(t->bytes);
    *t = (struct source_text){ 0 };
}
