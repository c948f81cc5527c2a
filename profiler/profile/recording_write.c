#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "probe/base/bytes.h"
#include "profiler/core/file_atomic.h"
#include "profiler/profile/recording_format.h"

enum { ZSTD_LEVEL = 3 };

struct recording_writer {
    char *path, *part;
    int fd;
    uint64_t bytes;
    bool failed; /* nothing more can be written */
    bool has_events;
    char *kept; /* what an earlier run left, under its new name; NULL: nothing */
    ZSTD_CCtx *zstd;
    struct event *events; /* RECORDING_BLOCK_EVENTS, the block being filled */
    size_t nevents;
    uint8_t *plain; /* RECORDING_PLAIN_MAX */
    uint8_t *block; /* header and RECORDING_STORED_MAX */
};

static int write_error(struct recording_writer *w, int number, struct err *err)
{
    w->failed = true;
    return err_set(err, ERR_IO,
                   number == ENOSPC ? "free some space; what was recorded so far can be used"
                                    : "what was recorded so far can be used",
                   "recording %s: %s", w->part, strerror(number));
}

static int put_block(struct recording_writer *w, uint32_t type, uint32_t flags,
                     const uint8_t *plain, size_t len, uint32_t events, struct err *err)
{
    uint8_t *b = w->block;
    if (w->failed)
        return err_set(err, ERR_IO, "", "recording %s: given up after an earlier error", w->part);
    size_t stored = ZSTD_compressCCtx(w->zstd, b + RECORDING_BLOCK_HEADER, RECORDING_STORED_MAX,
                                      plain, len, ZSTD_LEVEL);
    if (ZSTD_isError(stored))
        return err_set(err, ERR_NOMEM, "", "recording %s: %s", w->part, ZSTD_getErrorName(stored));
    put_le32(b, type);
    put_le32(b + 4, flags);
    put_le32(b + 8, (uint32_t)stored);
    put_le32(b + 12, (uint32_t)len);
    put_le32(b + 16, events);
    put_le32(b + 20, recording_crc(recording_crc(0, b, 20), b + RECORDING_BLOCK_HEADER, stored));
    int ret = file_write_all(w->fd, b, RECORDING_BLOCK_HEADER + stored);
    if (ret < 0)
        return write_error(w, -ret, err);
    w->bytes += RECORDING_BLOCK_HEADER + stored;
    w->has_events = w->has_events || events > 0;
    return 0;
}

static int put_text_block(struct recording_writer *w, uint32_t type, char *text, struct err *err)
{
    if (!text)
        return err_set(err, ERR_NOMEM, "", "recording %s: out of memory", w->part);
    int ret =
        strlen(text) > RECORDING_TEXT_MAX
            ? err_set(err, ERR_USAGE, "", "recording %s: header too long", w->part)
            : put_block(w, type, RECORDING_VERSION, (const uint8_t *)text, strlen(text), 0, err);
    free(text);
    return ret;
}

/* The name leads to the file that is open: nobody has renamed it to a finished recording, or put
 * another in its place. */
static bool part_is_ours(const struct recording_writer *w)
{
    struct stat mine, there;
    return w->fd >= 0 && fstat(w->fd, &mine) == 0 && lstat(w->part, &there) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

static void remove_part(struct recording_writer *w)
{
    if (part_is_ours(w))
        unlink(w->part);
}

static int close_part(struct recording_writer *w, int ret)
{
    close(w->fd);
    w->fd = -1;
    return ret;
}

/* Opens and locks the part. If the file was renamed before it was locked, it is tried again. */
static int lock_part(struct recording_writer *w, struct err *err)
{
    enum { TRIES = 100 };
    struct stat st;
    for (int i = 0; i < TRIES; i++) {
        w->fd = open(w->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
        if (w->fd < 0)
            return err_set(err, ERR_IO, "check the folder and its permissions", "create %s: %s",
                           w->part, strerror(errno));
        errno = EINVAL;
        if (fstat(w->fd, &st) < 0 || !S_ISREG(st.st_mode) || flock(w->fd, LOCK_EX | LOCK_NB) < 0) {
            const char *why = "not a file that can be written";
            if (errno == EWOULDBLOCK)
                why = "another program is recording there";
            return close_part(
                w, err_set(err, ERR_IO, "choose another name", "recording %s: %s", w->part, why));
        }
        if (part_is_ours(w))
            return 0;
        close_part(w, 0);
    }
    return err_set(err, ERR_IO, "choose another name", "recording %s: others keep replacing it",
                   w->part);
}

/* Nothing is lost with it: it is empty, or a recording that ended before its first event. */
static bool worth_nothing(int fd)
{
    uint8_t head[RECORDING_BLOCK_HEADER], magic[RECORDING_MAGIC_BYTES];
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size == 0)
        return true;
    if (pread(fd, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, RECORDING_MAGIC, sizeof magic))
        return false;
    for (off_t at = RECORDING_MAGIC_BYTES; pread(fd, head, sizeof head, at) == sizeof head;
         at += RECORDING_BLOCK_HEADER + (off_t)le32(head + 8))
        if (le32(head) == RECORDING_EVENTS)
            return false;
    return true;
}

/* Under the first name that is free: no rename replaces anything. */
static int keep_part(struct recording_writer *w, struct err *err)
{
    enum { NAMES = 1000 };
    for (int i = 1; i < NAMES; i++) {
        free(w->kept);
        if (asprintf(&w->kept, "%s.%d", w->part, i) < 0) {
            w->kept = NULL;
            return err_set(err, ERR_NOMEM, "close other programs", "recording %s: out of memory",
                           w->part);
        }
        if (renameat2(AT_FDCWD, w->part, AT_FDCWD, w->kept, RENAME_NOREPLACE) == 0)
            return 0;
        bool other_kind = errno == EINVAL || errno == ENOSYS; /* of file system */
        if (other_kind && link(w->part, w->kept) == 0)
            return unlink(w->part) == 0 ? 0
                                        : err_set(err, ERR_IO, "choose another name",
                                                  "rename %s: %s", w->part, strerror(errno));
        if (errno != EEXIST)
            break;
    }
    return err_set(err, ERR_IO, "choose another name, or move it away",
                   "%s holds events of an earlier run, and cannot be renamed: %s", w->part,
                   strerror(errno));
}

static int open_part(struct recording_writer *w, struct err *err)
{
    int ret = lock_part(w, err);
    if (ret == 0 && !worth_nothing(w->fd)) {
        ret = close_part(w, keep_part(w, err));
        if (ret == 0)
            ret = lock_part(w, err);
        if (ret == 0 && !worth_nothing(w->fd))
            ret =
                close_part(w, err_set(err, ERR_IO, "choose another name",
                                      "recording %s: another program is recording there", w->part));
    }
    if (ret < 0)
        return ret;
    if (ftruncate(w->fd, 0) < 0)
        return write_error(w, errno, err);
    ret = file_write_all(w->fd, (const uint8_t *)RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
    if (ret < 0)
        return write_error(w, -ret, err);
    w->bytes = RECORDING_MAGIC_BYTES;
    return 0;
}

static bool writer_alloc(struct recording_writer *w)
{
    if (asprintf(&w->part, "%s.part", w->path) < 0)
        w->part = NULL;
    w->zstd = ZSTD_createCCtx();
    w->events = malloc(RECORDING_BLOCK_EVENTS * sizeof *w->events);
    w->plain = malloc(RECORDING_PLAIN_MAX);
    w->block = malloc(RECORDING_BLOCK_HEADER + RECORDING_STORED_MAX);
    return w->part && w->zstd && w->events && w->plain && w->block;
}

static void writer_free(struct recording_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    ZSTD_freeCCtx(w->zstd);
    free(w->events);
    free(w->plain);
    free(w->block);
    free(w->path);
    free(w->part);
    free(w->kept);
    free(w);
}

int recording_create(const char *path, const struct recording_header *h,
                     struct recording_writer **out, struct err *err)
{
    struct recording_writer *w = calloc(1, sizeof *w);
    if (!w)
        return err_set(err, ERR_NOMEM, "", "recording %s: out of memory", path);
    w->fd = -1;
    int ret = file_replaceable(path, err);
    if (ret == 0)
        ret = file_behind(path, &w->path, err);
    if (ret == 0 && !writer_alloc(w))
        ret = err_set(err, ERR_NOMEM, "", "recording %s: out of memory", path);
    if (ret == 0)
        ret = open_part(w, err);
    if (ret == 0)
        ret = put_text_block(w, RECORDING_HEADER, recording_header_text(h), err);
    if (ret < 0) {
        remove_part(w);
        writer_free(w);
        return ret;
    }
    *out = w;
    return 0;
}

const char *recording_kept(const struct recording_writer *w) { return w->kept; }

int recording_flush(struct recording_writer *w, struct err *err)
{
    if (!w->nevents)
        return 0;
    size_t len = recording_encode(w->events, w->nevents, w->plain);
    int ret = put_block(w, RECORDING_EVENTS, 0, w->plain, len, (uint32_t)w->nevents, err);
    w->nevents = 0;
    return ret;
}

int recording_write(struct recording_writer *w, const struct event *events, size_t n,
                    struct err *err)
{
    while (n) {
        size_t some = RECORDING_BLOCK_EVENTS - w->nevents;
        some = some < n ? some : n;
        memcpy(w->events + w->nevents, events, some * sizeof *events);
        w->nevents += some;
        events += some;
        n -= some;
        int ret = 0;
        if (w->nevents == RECORDING_BLOCK_EVENTS)
            ret = recording_flush(w, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

const char *recording_part_path(const struct recording_writer *w) { return w->part; }

uint64_t recording_bytes(const struct recording_writer *w) { return w->bytes; }

/* An existing file is worth more than a run without an event. */
static bool keeps_old(const struct recording_writer *w)
{
    struct stat st;
    return !w->has_events && !w->failed && stat(w->path, &st) == 0 && st.st_size > 0;
}

int recording_finish(struct recording_writer *w, const struct recording_end *end, struct err *err)
{
    int ret = recording_flush(w, err);
    if (ret == 0 && keeps_old(w)) {
        recording_abandon(w);
        return 1;
    }
    if (ret == 0)
        ret = put_text_block(w, RECORDING_END, recording_end_text(end), err);
    if (ret == 0) {
        file_keep_mode(w->fd, w->path);
        ret = file_commit(w->fd, w->part, w->path, err);
        w->fd = -1;
    }
    writer_free(w);
    return ret;
}

void recording_abandon(struct recording_writer *w)
{
    if (!w)
        return;
    remove_part(w);
    writer_free(w);
}
