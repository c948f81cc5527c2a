/* Reading recordings. A file is used up to the first byte that is missing or wrong; what that was
 * is kept as text, not as an error: the events before it are good. */
#include "profiler/profile/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "probe/base/bytes.h"
#include "profiler/profile/recording_format.h"

struct block {
    uint32_t type, flags, stored, plain, events;
    uint64_t offset; /* in the file */
};

struct recording {
    FILE *file; /* NULL: bytes in memory */
    const uint8_t *data;
    size_t len;
    uint64_t offset; /* of the next byte to read */
    struct arena arena;
    struct recording_header header;
    struct recording_end end;
    bool have_end;
    bool over; /* nothing more to read, for good or bad */
    char damage[256];
    uint64_t nread; /* events given out and decoded */
    uint8_t *stored, *plain;
    struct event *events;
    size_t nevents, next;
    ZSTD_DCtx *zstd;
};

/* Bytes got; fewer than n at the end of the file. */
static size_t get_bytes(struct recording *r, void *to, size_t n)
{
    if (r->file) {
        n = fread(to, 1, n, r->file);
    } else {
        n = n < r->len - r->offset ? n : r->len - (size_t)r->offset;
        if (n)
            memcpy(to, r->data + r->offset, n);
    }
    r->offset += n;
    return n;
}

static int say_damaged(struct recording *r, uint64_t offset, const char *what)
{
    r->over = true;
    snprintf(r->damage, sizeof r->damage,
             "%s at offset %" PRIu64 "; the %" PRIu64 " events before it are used", what, offset,
             r->nread);
    return 0;
}

static int cut_short(struct recording *r, uint64_t offset, size_t got, size_t wanted,
                     const char *what)
{
    char text[120];
    snprintf(text, sizeof text, "cut short: %zu of %zu bytes of %s", got, wanted, what);
    return say_damaged(r, offset, text);
}

/* Sizes are checked before anything is read or allocated by them. */
static bool block_plausible(const struct block *b)
{
    return b->stored <= RECORDING_STORED_MAX && b->plain <= RECORDING_PLAIN_MAX &&
           b->events <= RECORDING_BLOCK_EVENTS;
}

/* One block into r->plain. Returns 1, or 0 at the end (damage tells why). */
static int read_block(struct recording *r, struct block *b)
{
    uint8_t h[RECORDING_BLOCK_HEADER];
    b->offset = r->offset;
    size_t n = get_bytes(r, h, sizeof h);
    if (n == 0)
        return say_damaged(r, b->offset, "not finished: the file ends without an end block");
    if (n < sizeof h)
        return cut_short(r, b->offset, n, sizeof h, "a block header");
    b->type = le32(h);
    b->flags = le32(h + 4);
    b->stored = le32(h + 8);
    b->plain = le32(h + 12);
    b->events = le32(h + 16);
    if (!block_plausible(b))
        return say_damaged(r, b->offset, "damaged block header");
    n = get_bytes(r, r->stored, b->stored);
    if (n < b->stored)
        return cut_short(r, b->offset, n, b->stored, "a block");
    if (recording_crc(recording_crc(0, h, 20), r->stored, b->stored) != le32(h + 20))
        return say_damaged(r, b->offset, "damaged block, wrong checksum");
    size_t plain =
        ZSTD_decompressDCtx(r->zstd, r->plain, RECORDING_PLAIN_MAX, r->stored, b->stored);
    if (ZSTD_isError(plain) || plain != b->plain)
        return say_damaged(r, b->offset, "damaged block, it does not decompress");
    return 1;
}

static int read_header(struct recording *r, struct err *err)
{
    char magic[RECORDING_MAGIC_BYTES];
    struct block b;
    if (get_bytes(r, magic, sizeof magic) < sizeof magic ||
        memcmp(magic, RECORDING_MAGIC, sizeof magic))
        return err_set(err, ERR_FORMAT, "give a file made with --record", "not a recording");
    if (!read_block(r, &b))
        return err_set(err, ERR_FORMAT, "record again", "recording: header: %s", r->damage);
    if (b.type != RECORDING_HEADER || b.plain > RECORDING_TEXT_MAX)
        return err_set(err, ERR_FORMAT, "record again",
                       "recording: no header block at offset %" PRIu64, b.offset);
    if (b.flags < 1 || b.flags > RECORDING_VERSION)
        return err_set(err, ERR_FORMAT, "use the program version that made it",
                       "recording: version %u, this program reads %d", b.flags, RECORDING_VERSION);
    char *text = arena_strn(&r->arena, (const char *)r->plain, b.plain);
    if (!text)
        return err_set(err, ERR_NOMEM, "", "recording: out of memory");
    return recording_parse_header(text, &r->arena, &r->header, err);
}

static int take_end(struct recording *r, const struct block *b)
{
    uint8_t more;
    struct err err = { .code = ERR_OK };
    if (b->plain > RECORDING_TEXT_MAX)
        return say_damaged(r, b->offset, "damaged end block");
    char *text = arena_strn(&r->arena, (const char *)r->plain, b->plain);
    if (!text || recording_parse_end(text, &r->end, &err) < 0)
        return say_damaged(r, b->offset, "damaged end block");
    r->have_end = true;
    r->over = true;
    if (r->end.events != r->nread)
        return say_damaged(r, b->offset, "events are missing before the end block");
    uint64_t at = r->offset;
    if (get_bytes(r, &more, 1) == 1)
        return say_damaged(r, at, "bytes behind the end block");
    return 0;
}

/* Fills r->events with the next block's. Returns how many, 0 at the end. */
static size_t next_block(struct recording *r)
{
    struct block b;
    r->next = r->nevents = 0;
    while (!r->over) {
        if (!read_block(r, &b))
            return 0;
        if (b.type == RECORDING_END)
            return (size_t)take_end(r, &b);
        if (b.type != RECORDING_EVENTS || !b.events)
            continue; /* of a later version */
        if (recording_decode(r->plain, b.plain, r->events, b.events) < 0)
            return (size_t)say_damaged(r, b.offset, "damaged events");
        r->nevents = b.events;
        r->nread += b.events;
        return r->nevents;
    }
    return 0;
}

int recording_read(struct recording *r, struct event *out, size_t cap, struct err *err)
{
    size_t n = 0;
    while (n < cap && (r->next < r->nevents || next_block(r))) {
        size_t some = r->nevents - r->next;
        some = some < cap - n ? some : cap - n;
        memcpy(out + n, r->events + r->next, some * sizeof *out);
        r->next += some;
        n += some;
    }
    if (n == 0 && r->file && ferror(r->file))
        return err_set(err, ERR_IO, "", "recording: read: %s", strerror(EIO));
    return (int)n;
}

static int start_reading(struct recording *r, struct recording **out, struct err *err)
{
    r->stored = malloc(RECORDING_STORED_MAX);
    r->plain = malloc(RECORDING_PLAIN_MAX);
    r->events = malloc(RECORDING_BLOCK_EVENTS * sizeof *r->events);
    r->zstd = ZSTD_createDCtx();
    int ret = r->stored && r->plain && r->events && r->zstd
                  ? read_header(r, err)
                  : err_set(err, ERR_NOMEM, "", "recording: out of memory");
    if (ret < 0) {
        recording_close(r);
        return ret;
    }
    *out = r;
    return 0;
}

int recording_open(const char *path, struct recording **out, struct err *err)
{
    struct recording *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
    r->file = fopen(path, "rbe");
    if (!r->file) {
        int number = errno;
        free(r);
        return err_set(err, number == ENOENT ? ERR_NOT_FOUND : ERR_IO, "check the name", "%s: %s",
                       path, strerror(number));
    }
    int ret = start_reading(r, out, err);
    if (ret < 0)
        return err_prefix(err, ret, path);
    return 0;
}

int recording_open_bytes(const uint8_t *data, size_t len, struct recording **out, struct err *err)
{
    struct recording *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(err, ERR_NOMEM, "", "recording: out of memory");
    r->data = data;
    r->len = len;
    return start_reading(r, out, err);
}

const struct recording_header *recording_header(const struct recording *r) { return &r->header; }

const char *recording_damage(const struct recording *r)
{
    if (r->damage[0])
        return r->damage;
    return NULL;
}

const struct recording_end *recording_end_info(const struct recording *r)
{
    if (r->have_end)
        return &r->end;
    return NULL;
}

void recording_close(struct recording *r)
{
    if (!r)
        return;
    if (r->file)
        fclose(r->file);
    ZSTD_freeDCtx(r->zstd);
    free(r->stored);
    free(r->plain);
    free(r->events);
    arena_fini(&r->arena);
    free(r);
}

bool recording_is(const uint8_t *data, size_t len)
{
    return len >= RECORDING_MAGIC_BYTES && !memcmp(data, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
}
