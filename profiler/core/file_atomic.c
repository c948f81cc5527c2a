#include "profiler/core/file_atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { LINKS_MAX = 40, PATH_SHOWN = 110 };

static int io_error(struct err *err, const char *doing, const char *path, int number)
{
    static const struct {
        int number;
        const char *hint;
    } hints[] = {
        { ENOSPC, "free some space, or write to another disk" },
        { EDQUOT, "free some space, or write to another disk" },
        { EACCES, "check the folder's permissions" },
        { EPERM, "check the folder's permissions" },
        { EROFS, "write to another disk" },
        { ENOENT, "check that the folder exists" },
        { ENOTDIR, "check that the folder exists" },
        { ENAMETOOLONG, "use a shorter name" },
        { ELOOP, "these links lead to each other: name a file" },
    };
    const char *hint = "try another folder";
    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (hints[i].number == number)
            hint = hints[i].hint;
    /* the reason is to be seen, too */
    size_t len = strlen(path), skip = EXCESS(len, PATH_SHOWN);
    return err_set(err, ERR_IO, hint, "%s %s%s: %s", doing, text_if(skip, "..."), path + skip,
                   strerror(number));
}

int file_write_all(int fd, const uint8_t *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -EIO;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Best effort: some file systems cannot sync a directory, and the data is safe by then. */
void file_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = 0;
    if (slash)
        n = (size_t)(slash - path);
    char *folder;
    if (slash)
        folder = strndup(path, MAX(n, (size_t)1));
    else
        folder = strdup(".");
    int fd = -1;
    if (folder)
        fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

int file_commit(int fd, const char *temp, const char *path, struct err *err)
{
    int ret = 0;
    if (fsync(fd) < 0)
        ret = io_error(err, "write", path, errno);
    else if (rename(temp, path) < 0)
        ret = io_error(err, "rename to", path, errno);
    close(fd); /* only now: until here its lock kept other programs off that name */
    if (ret == 0)
        file_sync_folder(path);
    return ret;
}

int file_replaceable(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        return 0;
    const char *what = "device or pipe";
    if (S_ISDIR(st.st_mode))
        what = "folder";
    return err_set(err, ERR_IO, "name a file: what is there would be replaced",
                   "write %s: it is a %s", path, what);
}

/* The umask is for new files. Best effort: some file systems know no permissions. */
void file_keep_mode(int fd, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        (void)fchmod(fd, st.st_mode & 0777);
}

/* Where the link at path leads, seen from the current folder; NULL with *number set. */
static char *link_target(const char *path, int *number)
{
    char text[PATH_MAX], *out = NULL;
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0) {
        *number = errno;
        return NULL;
    }
    text[n] = 0;
    const char *slash = strrchr(path, '/');
    int folder = 0;
    if (slash && *text != '/')
        folder = (int)(slash + 1 - path);
    *number = ENOMEM;
    if (asprintf(&out, "%.*s%s", folder, path, text) < 0)
        return NULL;
    return out;
}

int file_behind(const char *path, char **out, struct err *err)
{
    char *at = strdup(path);
    int number = ENOMEM;
    if (at)
        number = ELOOP;
    for (int links = 0; at && links < LINKS_MAX; links++) {
        struct stat st;
        if (lstat(at, &st) < 0 || !S_ISLNK(st.st_mode)) {
            *out = at;
            return 0;
        }
        char *next = link_target(at, &number);
        free(at);
        at = next;
        if (at)
            number = ELOOP;
    }
    free(at);
    return io_error(err, "write", path, number);
}

/* Where a file that is not there would be: its folder, and its name in it, which begins at *name.
 * False: no such folder. */
static bool place_of(const char *path, struct stat *folder, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *dir;
    *name = path;
    if (slash) {
        dir = strndup(path, (size_t)(slash - path) + 1);
        *name = slash + 1;
    } else {
        dir = strdup(".");
    }
    bool there = dir && stat(dir, folder) == 0;
    free(dir);
    return there;
}

static bool same_place(const char *a, const char *b)
{
    struct stat x, y;
    const char *p, *q;
    return place_of(a, &x, &p) && place_of(b, &y, &q) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino && strcmp(p, q) == 0;
}

bool file_same(const char *a, const char *b)
{
    struct stat x, y;
    char *p = NULL, *q = NULL;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    bool same = file_behind(a, &p, NULL) == 0 && file_behind(b, &q, NULL) == 0 && same_place(p, q);
    free(p);
    free(q);
    return same;
}

/* A file being written: `real` is what it replaces, `temp` its name until then. */
struct replacement {
    char *real, *temp;
    int fd;
};

static void replacement_drop(struct replacement *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->temp)
        unlink(r->temp);
    free(r->temp);
    free(r->real);
}

static int replacement_open(struct replacement *r, const char *path, struct err *err)
{
    *r = (struct replacement){ .fd = -1 };
    int ret = file_replaceable(path, err);
    if (ret == 0)
        ret = file_behind(path, &r->real, err);
    if (ret < 0)
        return ret;
    if (asprintf(&r->temp, "%s.%ld.tmp", r->real, (long)getpid()) < 0) {
        r->temp = NULL;
        return err_set(err, ERR_NOMEM, "close other programs", "write %s: out of memory", path);
    }
    r->fd = open(r->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (r->fd >= 0) {
        file_keep_mode(r->fd, r->real);
        return 0;
    }
    ret = io_error(err, "write", path, errno);
    free(r->temp);
    r->temp = NULL; /* not ours */
    return ret;
}

int file_writable(const char *path, struct err *err)
{
    struct replacement r;
    int ret = replacement_open(&r, path, err);
    replacement_drop(&r);
    return ret;
}

/* ---- piece by piece ---- */

enum { PIECES = 64 * 1024 };

struct file_atomic {
    struct replacement to;
    char *path; /* as it was named, for errors */
    uint8_t *data;
    size_t n;
    int failed; /* -errno of the first write that did */
};

static void flush_pieces(struct file_atomic *f)
{
    if (!f->failed && f->n)
        f->failed = file_write_all(f->to.fd, f->data, f->n);
    f->n = 0;
}

void file_atomic_add(struct file_atomic *f, const void *data, size_t n)
{
    if (f->n + n > PIECES)
        flush_pieces(f);
    if (n > PIECES && !f->failed)
        f->failed = file_write_all(f->to.fd, data, n);
    if (n > PIECES || f->failed)
        return;
    memcpy(f->data + f->n, data, n);
    f->n += n;
}

static void add_text(void *ctx, const char *text, size_t len) { file_atomic_add(ctx, text, len); }

struct text_sink file_atomic_sink(struct file_atomic *f)
{
    return (struct text_sink){ add_text, f };
}

int file_atomic_close(struct file_atomic *f, bool keep, struct err *err)
{
    int ret = 0;
    if (!f)
        return 0;
    if (keep)
        flush_pieces(f);
    if (keep && f->failed)
        ret = io_error(err, "write", f->path, -f->failed);
    if (keep && ret == 0) {
        ret = file_commit(f->to.fd, f->to.temp, f->to.real, err);
        f->to.fd = -1;
        if (ret == 0) {
            free(f->to.temp);
            f->to.temp = NULL;
        }
    }
    replacement_drop(&f->to);
    free(f->path);
    free(f->data);
    free(f);
    return ret;
}

int file_atomic_open(const char *path, struct file_atomic **out, struct err *err)
{
    struct file_atomic *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, ERR_NOMEM, "close other programs", "write %s: out of memory", path);
    int ret = replacement_open(&f->to, path, err);
    f->path = strdup(path);
    f->data = malloc(PIECES);
    if (ret == 0 && (!f->path || !f->data))
        ret = err_set(err, ERR_NOMEM, "close other programs", "write %s: out of memory", path);
    if (ret < 0) {
        file_atomic_close(f, false, NULL);
        return ret;
    }
    *out = f;
    return 0;
}

int file_write_atomic(const char *path, const uint8_t *data, size_t len, struct err *err)
{
    struct file_atomic *f;
    int ret = file_atomic_open(path, &f, err);
    if (ret < 0)
        return ret;
    file_atomic_add(f, data, len);
    return file_atomic_close(f, true, err);
}

static int read_fd(int fd, size_t limit, uint8_t **out, size_t *len, const char *path,
                   struct err *err)
{
    uint8_t *data = NULL;
    size_t used = 0, cap = 0;
    for (;;) {
        if (used == cap) {
            size_t want = EITHER(2 * cap, 64 * 1024);
            uint8_t *grown = realloc(data, want);
            if (!grown) {
                free(data);
                return err_set(err, ERR_NOMEM, "", "read %s: out of memory", path);
            }
            data = grown;
            cap = want;
        }
        ssize_t n = read(fd, data + used, cap - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int number = errno;
            free(data);
            return io_error(err, "read", path, number);
        }
        if (n == 0)
            break;
        used += (size_t)n;
        if (used > limit) {
            free(data);
            return err_set(err, ERR_FORMAT, "", "%s: larger than %zu bytes", path, limit);
        }
    }
    *out = data;
    *len = used;
    return 0;
}

int file_read_all(const char *path, size_t limit, uint8_t **out, size_t *len, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "check the name", "%s: no such file", path);
    if (fd < 0)
        return io_error(err, "open", path, errno);
    int ret = read_fd(fd, limit, out, len, path, err);
    close(fd);
    return ret;
}
