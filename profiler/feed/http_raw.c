#include "profiler/feed/http_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/list.h"
#include "profiler/profile/recording_format.h"

struct raw {
    struct raw *next, **at;
    struct raws *all;
    struct http_stream *stream;
    int fd;
    unsigned part;       /* which file of the recording */
    off_t pos;           /* of the next block */
    uint64_t from, seen; /* events: wanted from there on; before pos */
    bool begun, ended;   /* this file */
};

struct raws {
    raw_path *path;
    void *ctx;
    struct raw *first;
    unsigned n;
};

/* A block's header, RECORDING_BLOCK_HEADER bytes: type, flags, stored, plain, events, CRC. */
struct block {
    uint32_t type, stored, events;
};

/* n bytes at an offset; false: they are not there yet. */
static bool read_at(int fd, off_t pos, void *to, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)to + done, n - done, pos + (off_t)done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        if (got > 0)
            done += (size_t)got;
    }
    return true;
}

static bool read_header(const struct raw *one, struct block *b)
{
    uint8_t h[RECORDING_BLOCK_HEADER];
    if (!read_at(one->fd, one->pos, h, sizeof h))
        return false;
    *b = (struct block){ le32(h), le32(h + 8), le32(h + 16) };
    return b->stored <= RECORDING_STORED_MAX;
}

/* Is there something of size n at the next position, whole? */
static bool is_whole(const struct raw *one, size_t n)
{
    struct stat st;
    return fstat(one->fd, &st) == 0 && st.st_size >= one->pos + (off_t)n;
}

static bool give_bytes(struct raw *one, size_t n)
{
    struct http_bytes *b = http_bytes_new();
    char *bytes = malloc(n);
    bool ok = b && bytes && read_at(one->fd, one->pos, bytes, n);
    if (ok)
        http_bytes_add(b, bytes, n);
    ok = ok && !b->bytes.failed;
    if (ok) {
        one->pos += (off_t)n;
        http_stream_put(one->stream, "", b, "");
    }
    http_bytes_release(b);
    free(bytes);
    return ok;
}

/* What comes next, if it is there and wanted. */
static bool serve_one(struct raw *one)
{
    struct block b;
    if (!one->begun) {
        one->begun = is_whole(one, RECORDING_MAGIC_BYTES) && give_bytes(one, RECORDING_MAGIC_BYTES);
        return one->begun;
    }
    while (read_header(one, &b) && is_whole(one, RECORDING_BLOCK_HEADER + b.stored)) {
        bool skipped = b.type == RECORDING_EVENTS && one->seen + b.events <= one->from;
        if (b.type == RECORDING_EVENTS)
            one->seen += b.events;
        if (!skipped) {
            one->ended = b.type == RECORDING_END;
            return give_bytes(one, RECORDING_BLOCK_HEADER + b.stored);
        }
        one->pos += RECORDING_BLOCK_HEADER + (off_t)b.stored;
    }
    return false;
}

/* -1: there is no such file, or it cannot be read; err says why. */
static int open_part(const struct raws *r, unsigned part, struct err *err)
{
    char path[1100];
    if (r->path(r->ctx, part, path, sizeof path, err) < 0)
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        err_set(err, ERR_IO, "look at its folder", "the recording cannot be read");
    return fd;
}

/* From the end of a file to the beginning of the next; false: it was the last. */
static bool next_part(struct raw *one)
{
    int fd = open_part(one->all, one->part + 1, NULL);
    if (fd < 0)
        return false;
    close(one->fd);
    one->fd = fd;
    one->part++;
    one->pos = 0;
    one->begun = one->ended = false;
    return true;
}

unsigned raws_serve(struct raws *r)
{
    unsigned n = 0;
    for (struct raw *one = r->first; one; one = one->next) {
        if (!http_stream_hungry(one->stream))
            continue;
        if (one->ended && !next_part(one))
            http_stream_end(one->stream);
        else
            n += serve_one(one);
    }
    return n;
}

static void raw_ended(void *ctx, struct http_stream *s, bool cut)
{
    struct raw *one = ctx;
    (void)s;
    (void)cut;
    LIST_REMOVE(one);
    one->all->n--;
    close(one->fd);
    free(one);
}

static void raw_opened(void *ctx, struct http_stream *s)
{
    struct raw *one = ctx;
    struct raws *r = one->all;
    if (!s) {
        close(one->fd);
        free(one);
        return;
    }
    one->stream = s;
    LIST_ADD(&r->first, one);
    r->n++;
}

static void fail_open(struct http_answer *a, const struct err *err)
{
    bool io = err->code == ERR_IO;
    http_fail(a, io ? 500 : 409, io ? "io" : "not-now", err->what, err->hint);
}

void raws_open(struct raws *r, uint64_t from, struct http_answer *a)
{
    static const struct http_stream_ops ops = { raw_ended };
    struct err err = { .code = ERR_OK };
    int fd = open_part(r, 0, &err);
    struct raw *one = NULL;
    if (fd >= 0)
        one = calloc(1, sizeof *one);
    if (fd >= 0 && !one) {
        close(fd);
        err_set(&err, ERR_IO, "close other programs", "the feed is out of memory");
    }
    if (!one) {
        fail_open(a, &err);
        return;
    }
    *one = (struct raw){ .all = r, .fd = fd, .from = from };
    a->type = "application/octet-stream";
    a->stream = &ops;
    a->stream_ctx = one;
    a->opened = raw_opened;
}

unsigned raws_count(const struct raws *r) { return r->n; }

int raws_new(raw_path *path, void *ctx, struct raws **out, struct err *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    (*out)->path = path;
    (*out)->ctx = ctx;
    return 0;
}

void raws_free(struct raws *r) { free(r); }
