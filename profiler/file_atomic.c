#include "profiler/file_atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int io_error(struct err *err, const char *doing, const char *path, int number)
{
    const char *hint = number == ENOSPC || number == EDQUOT ? "free some space, or write to another disk"
                       : number == EACCES || number == EROFS || number == EPERM ? "check the folder's permissions"
                       : number == ENOENT ? "check that the folder exists"
                                          : "";
    return err_set(err, ERR_IO, hint, "%s %s: %s", doing, path, strerror(number));
}

int file_write_all(int fd, const uint8_t *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Best effort: some file systems cannot sync a directory, and the data is safe by then. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

int file_commit(int fd, const char *temp, const char *path, struct err *err)
{
    int failed = fsync(fd) < 0 ? errno : 0;
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (failed)
        return io_error(err, "write", path, failed);
    if (rename(temp, path) < 0)
        return io_error(err, "rename to", path, errno);
    sync_folder(path);
    return 0;
}

int file_replaceable(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        return 0;
    return err_set(err, ERR_IO, "name a file: what is there would be replaced", "write %s: it is a %s", path,
                   S_ISDIR(st.st_mode) ? "folder" : "device or pipe");
}

/* A new file has the permissions of any new file; a replaced one keeps those it had. */
static mode_t wanted_mode(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0644;
}

int file_write_atomic(const char *path, const uint8_t *data, size_t len, struct err *err)
{
    char *temp = NULL;
    mode_t mode = wanted_mode(path);
    int refused = file_replaceable(path, err);
    if (refused < 0)
        return refused;
    if (asprintf(&temp, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return err_set(err, ERR_NOMEM, "", "write %s: out of memory", path);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        int ret = io_error(err, "create", temp, errno);
        free(temp);
        return ret;
    }
    int ret = file_write_all(fd, data, len);
    if (ret < 0) {
        close(fd);
        ret = io_error(err, "write", path, -ret);
    } else {
        ret = file_commit(fd, temp, path, err);
    }
    if (ret < 0)
        unlink(temp);
    free(temp);
    return ret;
}

static int read_fd(int fd, size_t limit, uint8_t **out, size_t *len, const char *path, struct err *err)
{
    uint8_t *data = NULL;
    size_t used = 0, cap = 0;
    for (;;) {
        if (used == cap) {
            size_t want = cap ? cap * 2 : 64 * 1024;
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
    if (fd < 0)
        return errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "check the name", "%s: no such file", path)
                               : io_error(err, "open", path, errno);
    int ret = read_fd(fd, limit, out, len, path, err);
    close(fd);
    return ret;
}
