#include "profiler/cli/rotation.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/util.h"

bool rotation_name(const char *path, unsigned number, char *name)
{
    int n = snprintf(name, ROTATION_PATH, "%s.%03u", path, number);
    return n > 0 && n < ROTATION_PATH;
}

/* "base.017", or that with ".part", is being written: 17; 0 if it is something else. */
static unsigned number_of(const char *file, const char *base)
{
    size_t len = strlen(base);
    char *end;
    if (strncmp(file, base, len) || file[len] != '.' || !isdigit((unsigned char)file[len + 1]))
        return 0;
    unsigned long n = strtoul(file + len + 1, &end, 10);
    if (*end && strcmp(end, ".part"))
        return 0;
    if (strlen(file + len + 1) < 3 || n > ROTATION_MOST)
        return 0;
    return (unsigned)n;
}

struct numbers {
    unsigned *n;
    size_t used, cap;
};

static bool add_number(struct numbers *list, unsigned n)
{
    if (!array_room(&list->n, list->used, &list->cap, sizeof *list->n))
        return false;
    list->n[list->used++] = n;
    return true;
}

static int by_number(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

/* All of a folder, a number once. */
static int find_numbers(const char *path, struct numbers *list, struct err *err)
{
    char folder[ROTATION_PATH];
    const char *base = basename(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(base - path), path);
    if (!*folder)
        strcpy(folder, ".");
    DIR *d = opendir(folder);
    if (!d)
        return 0; /* whoever makes a file there says why not */
    int ret = 0;
    for (struct dirent *e = readdir(d); e && ret == 0; e = readdir(d)) {
        unsigned n = number_of(e->d_name, base);
        if (n && !add_number(list, n))
            ret = err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", path);
    }
    closedir(d);
    if (ret < 0 || !list->used)
        return ret;
    qsort(list->n, list->used, sizeof *list->n, by_number);
    size_t kept = 1;
    for (size_t i = 1; i < list->used; i++)
        if (list->n[i] != list->n[kept - 1])
            list->n[kept++] = list->n[i];
    list->used = kept;
    return 0;
}

int rotation_numbers(const char *path, unsigned **out, struct err *err)
{
    struct numbers list = { 0 };
    int ret = find_numbers(path, &list, err);
    if (ret < 0) {
        free(list.n);
        return ret;
    }
    *out = list.n;
    return (int)list.used;
}

int rotation_begin(struct rotation *r, const char *path, uint64_t bytes, uint64_t ns,
                   struct err *err)
{
    struct numbers list = { 0 };
    *r = (struct rotation){ .path = path, .bytes = bytes, .ns = ns };
    int ret = find_numbers(path, &list, err);
    if (ret == 0 && list.used)
        r->number = list.n[list.used - 1];
    free(list.n);
    if (ret < 0)
        return ret;
    return rotation_next(r, err);
}

bool rotation_due(const struct rotation *r, uint64_t bytes, uint64_t now_ns)
{
    if (!r->path)
        return false;
    return (r->bytes && bytes >= r->bytes) || (r->ns && now_ns - r->since_ns >= r->ns);
}

int rotation_next(struct rotation *r, struct err *err)
{
    if (r->number >= ROTATION_MOST)
        return err_set(err, ERR_USAGE, "move old ones away, or let files be larger",
                       "%s.%u: there are no numbers left", r->path, r->number);
    if (!rotation_name(r->path, r->number + 1, r->name))
        return err_set(err, ERR_USAGE, "use a shorter name", "%.60s..: too long", r->path);
    r->number++;
    return 0;
}

void rotation_file_begun(struct rotation *r, uint64_t now_ns) { r->since_ns = now_ns; }
