#include "profiler/core/folder_atomic.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/core/file_atomic.h"

struct folder_atomic {
    char *path, *temp;
    char *at[FOLDER_ATOMIC_FILES]; /* below temp */
    struct file_atomic *file[FOLDER_ATOMIC_FILES];
    size_t n;
    bool made; /* temp is there */
};

static int no_memory(const char *path, struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "write %s: out of memory", path);
}

/* "x/" is the folder x. */
static char *without_slashes(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return strndup(path, n);
}

static int open_files(struct folder_atomic *f, const char *const *name, struct err *err)
{
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < f->n; i++) {
        if (asprintf(&f->at[i], "%s/%s", f->temp, name[i]) < 0) {
            f->at[i] = NULL;
            return no_memory(f->path, err);
        }
        ret = file_atomic_open(f->at[i], &f->file[i], err);
    }
    return ret;
}

static int make_folder(struct folder_atomic *f, struct err *err)
{
    struct stat st;
    bool there = lstat(f->path, &st) == 0;
    /* removed here, it shows that it was empty */
    if (there && (!S_ISDIR(st.st_mode) || (rmdir(f->path) < 0 && errno == ENOTEMPTY)))
        return err_set(err, ERR_IO, "name a folder that is not there yet, or remove it",
                       "write %s: there is something", f->path);
    if (mkdir(f->temp, 0777) < 0)
        return err_set(err, ERR_IO, "check that the folder exists, and its permissions",
                       "write %s: %s", f->path, strerror(errno));
    f->made = true;
    return 0;
}

int folder_atomic_open(const char *path, const char *const *name, size_t n,
                       struct folder_atomic **out, struct err *err)
{
    assert(n <= FOLDER_ATOMIC_FILES);
    struct folder_atomic *f = calloc(1, sizeof *f);
    if (!f)
        return no_memory(path, err);
    f->n = n;
    f->path = without_slashes(path);
    if (!f->path || asprintf(&f->temp, "%s.%ld.tmp", f->path, (long)getpid()) < 0)
        f->temp = NULL;
    int ret = f->temp ? make_folder(f, err) : no_memory(path, err);
    if (ret == 0)
        ret = open_files(f, name, err);
    if (ret < 0) {
        folder_atomic_close(f, false, NULL);
        return ret;
    }
    *out = f;
    return 0;
}

struct text_sink folder_atomic_sink(struct folder_atomic *f, size_t i)
{
    return file_atomic_sink(f->file[i]);
}

static int rename_folder(struct folder_atomic *f, struct err *err)
{
    if (rename(f->temp, f->path) < 0)
        return err_set(err, ERR_IO, "name another folder", "rename to %s: %s", f->path,
                       strerror(errno));
    f->made = false;
    file_sync_folder(f->path);
    return 0;
}

int folder_atomic_close(struct folder_atomic *f, bool keep, struct err *err)
{
    int ret = 0;
    if (!f)
        return 0;
    for (size_t i = 0; i < f->n; i++) {
        int closed = file_atomic_close(f->file[i], keep && ret == 0, err);
        if (ret == 0)
            ret = closed;
    }
    if (keep && ret == 0)
        ret = rename_folder(f, err);
    for (size_t i = 0; i < f->n; i++) {
        if (f->made && f->at[i])
            unlink(f->at[i]);
        free(f->at[i]);
    }
    if (f->made)
        rmdir(f->temp);
    free(f->temp);
    free(f->path);
    free(f);
    return ret;
}
