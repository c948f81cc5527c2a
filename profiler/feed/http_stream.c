#include <stdlib.h>

#include "probe/base/list.h"
#include "profiler/feed/http_priv.h"

enum { STREAM_BLOCK = 16 * 1024 };

static ssize_t read_stream(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct http_stream *s = cls;
    (void)pos;
    size_t n = http_pieces_take(&s->frame, buf, max);
    s->sent += n;
    s->h->counts.bytes_streamed += n;
    if (n)
        return (ssize_t)n;
    if (s->over)
        return MHD_CONTENT_READER_END_OF_STREAM;
    MHD_suspend_connection(s->mhd);
    s->suspended = true;
    return 0;
}

void http_stream_resume(struct http_stream *s)
{
    if (s->suspended)
        MHD_resume_connection(s->mhd);
    s->suspended = false;
}

bool http_stream_hungry(const struct http_stream *s) { return s->suspended && !s->over; }

uint64_t http_stream_sent(const struct http_stream *s) { return s->sent; }

void http_stream_put(struct http_stream *s, const char *head, struct http_bytes *body,
                     const char *tail)
{
    http_pieces_set(&s->frame, head, body, tail);
    http_stream_resume(s);
}

void http_stream_end(struct http_stream *s)
{
    s->over = true;
    http_stream_resume(s);
}

void http_stream_ended(struct http_stream *s, bool cut)
{
    LIST_REMOVE(s);
    s->h->counts.streams--;
    s->h->counts.cut += cut;
    s->ops->ended(s->ctx, s, cut);
    http_pieces_clear(&s->frame);
    free(s);
}

struct http_stream *http_stream_new(struct http *h, struct MHD_Connection *c,
                                    const struct http_answer *a)
{
    struct http_stream *s = NULL;
    if (h->counts.streams < HTTP_MAX_STREAMS)
        s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct http_stream){ .h = h, .mhd = c, .ops = a->stream, .ctx = a->stream_ctx };
    LIST_ADD(&h->streams, s);
    h->counts.streams++;
    return s;
}

struct MHD_Response *http_stream_response(struct http_stream *s)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, s, NULL);
}
