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
#include "profiler/file_atomic.h"
#include "profiler/recording_format.h"

enum { ZSTD_LEVEL = 3 };

struct recording_writer {
    char *path, *part;
    int fd;
    uint64_t bytes;
    bool failed;      /* nothing more can be written */
    ZSTD_CCtx *zstd;
    struct event *events; /* RECORDING_BLOCK_EVENTS, the block being filled */
    size_t nevents;
    uint8_t *plain;   /* RECORDING_PLAIN_MAX */
    uint8_t *block;   /* header and RECORDING_STORED_MAX */
};

static int write_error(struct recording_writer *w, int number, struct err *err)
{
    w->failed = true;
    return err_set(err, ERR_IO, number == ENOSPC ? "free some space; what was recorded so far can be used"
                                                 : "what was recorded so far can be used",
                   "recording %s: %s", w->part, strerror(number));
}

static int put_block(struct recording_writer *w, uint32_t type, uint32_t flags, const uint8_t *plain, size_t len,
                     uint32_t events, struct err *err)
{
    uint8_t *b = w->block;
    if (w->failed)
        return err_set(err, ERR_IO, "", "recording %s: given up after an earlier error", w->part);
    size_t stored = ZSTD_compressCCtx(w->zstd, b + RECORDING_BLOCK_HEADER, RECORDING_STORED_MAX, plain, len, ZSTD_LEVEL);
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
    return 0;
}

static int put_text_block(struct recording_writer *w, uint32_t type, char *text, struct err *err)
{
    if (!text)
        return err_set(err, ERR_NOMEM, "", "recording %s: out of memory", w->part);
    int ret = strlen(text) > RECORDING_TEXT_MAX
                  ? err_set(err, ERR_USAGE, "", "recording %s: header too long", w->part)
                  : put_block(w, type, RECORDING_VERSION, (const uint8_t *)text, strlen(text), 0, err);
    free(text);
    return ret;
}

/* A part that an earlier run left is used again; one that a run is writing is not. */
static int lock_part(struct recording_writer *w, struct err *err)
{
    struct stat st;
    if (fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode) && flock(w->fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(w->fd, 0) == 0)
        return 0;
    int number = errno;
    close(w->fd);
    w->fd = -1;
    return err_set(err, ERR_IO, "choose another name", "recording %s: %s", w->part,
                   number == EWOULDBLOCK ? "another program is recording there" : "not a file that can be written");
}

static int open_part(struct recording_writer *w, struct err *err)
{
    w->fd = open(w->part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (w->fd < 0)
        return err_set(err, ERR_IO, "check the folder and its permissions", "create %s: %s", w->part, strerror(errno));
    int ret = lock_part(w, err);
    if (ret < 0)
        return ret;
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
    free(w);
}

int recording_create(const char *path, const struct recording_header *h, struct recording_writer **out,
                     struct err *err)
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
        if (w->fd >= 0)
            unlink(w->part);
        writer_free(w);
        return ret;
    }
    *out = w;
    return 0;
}

int recording_flush(struct recording_writer *w, struct err *err)
{
    if (!w->nevents)
        return 0;
    size_t len = recording_encode(w->events, w->nevents, w->plain);
    int ret = put_block(w, RECORDING_EVENTS, 0, w->plain, len, (uint32_t)w->nevents, err);
    w->nevents = 0;
    return ret;
}

int recording_write(struct recording_writer *w, const struct event *events, size_t n, struct err *err)
{
    while (n) {
        size_t some = RECORDING_BLOCK_EVENTS - w->nevents;
        some = some < n ? some : n;
        memcpy(w->events + w->nevents, events, some * sizeof *events);
        w->nevents += some;
        events += some;
        n -= some;
        int ret = w->nevents == RECORDING_BLOCK_EVENTS ? recording_flush(w, err) : 0;
        if (ret < 0)
            return ret;
    }
    return 0;
}

uint64_t recording_bytes(const struct recording_writer *w)
{
    return w->bytes;
}

int recording_finish(struct recording_writer *w, const struct recording_end *end, struct err *err)
{
    int ret = recording_flush(w, err);
    if (ret == 0)
        ret = put_text_block(w, RECORDING_END, recording_end_text(end), err);
    if (ret == 0) {
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
    unlink(w->part);
    writer_free(w);
}
