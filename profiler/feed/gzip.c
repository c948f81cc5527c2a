#include "profiler/feed/gzip.h"

#include <string.h>
#include <strings.h>

#include <zlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum {
    LEVEL = 1, /* the fastest: who asks is near */
    WINDOW = 15,
    AS_GZIP = 16, /* zlib.h, deflateInit2() */
    BLOCK = 1 << 16
};

/* "q=0", "q=0.0" and so on behind a name. */
static bool has_weight_0(const char *parameters, const char *end)
{
    const char *q = parameters;
    while (q < end && (*q == ' ' || *q == '\t' || *q == ';'))
        q++;
    if (end - q < 3 || (*q | 0x20) != 'q' || q[1] != '=')
        return false;
    for (q += 2; q < end; q++)
        if (!strchr("0. \t", *q))
            return false;
    return true;
}

bool gzip_accepted(const char *accept_encoding)
{
    int gzip = -1, any = -1; /* not named */
    const char *at = text_or(accept_encoding, "");
    while (*at) {
        at += strspn(at, ", \t");
        size_t whole = strcspn(at, ","), name = strcspn(at, "; \t,");
        int wanted = !has_weight_0(at + name, at + whole);
        if ((name == 4 && strncasecmp(at, "gzip", name) == 0) ||
            (name == 6 && strncasecmp(at, "x-gzip", name) == 0))
            gzip = wanted;
        if (name == 1 && *at == '*')
            any = wanted;
        at += whole;
    }
    if (gzip >= 0)
        return gzip;
    return any > 0;
}

static bool deflate_all(z_stream *z, struct http_bytes *out)
{
    unsigned char block[BLOCK];
    int ret;
    do {
        z->next_out = block;
        z->avail_out = sizeof block;
        ret = deflate(z, Z_FINISH);
        http_bytes_add(out, (const char *)block, sizeof block - z->avail_out);
    } while (ret == Z_OK);
    return ret == Z_STREAM_END && !out->bytes.failed;
}

struct http_bytes *gzip_bytes(const struct http_bytes *plain)
{
    z_stream z = { 0 };
    struct http_bytes *out = http_bytes_new();
    if (!out ||
        deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW + AS_GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        http_bytes_release(out);
        return NULL;
    }
    z.next_in = (unsigned char *)plain->bytes.data;
    z.avail_in = (unsigned)plain->bytes.size; /* HTTP_MOST_BYTES at most */
    bool ok = deflate_all(&z, out);
    deflateEnd(&z);
    if (ok)
        return out;
    http_bytes_release(out);
    return NULL;
}
