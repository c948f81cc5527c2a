#include "profiler/views/gunzip.h"

#include <inttypes.h>
#include <zlib.h>

#include "probe/base/choice.h"

static const char hint[] = "the file is cut off or damaged: write it again";

bool gunzip_is(const uint8_t *head, size_t n)
{
    return n >= 3 && head[0] == 0x1F && head[1] == 0x8B && head[2] == 8;
}

static int check_stream(const z_stream *z, int state, const struct buffer *out, size_t most,
                        struct err *err)
{
    if (out->failed || state == Z_MEM_ERROR)
        return err_set(err, ERR_NOMEM, "close other programs", "gzip: out of memory");
    if (out->size > most)
        return err_set(err, ERR_FORMAT, "make a smaller file",
                       "gzip, offset %lu: more than %zu MB come out of it", z->total_in,
                       most >> 20);
    return 0;
}

static int inflate_all(z_stream *z, size_t most, struct buffer *out, struct err *err)
{
    unsigned char part[16384];
    int state = Z_OK, ret = 0;
    while (state == Z_OK && ret == 0) {
        z->next_out = part;
        z->avail_out = sizeof part;
        state = inflate(z, Z_NO_FLUSH);
        buffer_add(out, part, sizeof part - z->avail_out);
        ret = check_stream(z, state, out, most, err);
    }
    if (ret < 0)
        return ret;
    if (state != Z_STREAM_END)
        return err_set(err, ERR_FORMAT, hint, "gzip, offset %lu: %s", z->total_in,
                       text_or(z->msg, "cut short"));
    if (z->avail_in)
        return err_set(err, ERR_FORMAT, hint, "gzip, offset %lu: bytes behind the end",
                       z->total_in);
    return 0;
}

/* 16 more bits of window: a gzip header. Source: zlib.h, inflateInit2(). */
int gunzip(const uint8_t *data, size_t len, size_t most, struct buffer *out, struct err *err)
{
    z_stream z = { .next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)len };
    if (len > UINT32_MAX)
        return err_set(err, ERR_FORMAT, "make a smaller file",
                       "gzip, offset %" PRIu32 ": more than 4 GB", UINT32_MAX);
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return err_set(err, ERR_NOMEM, "close other programs", "gzip: out of memory");
    int ret = inflate_all(&z, most, out, err);
    inflateEnd(&z);
    return ret;
}
