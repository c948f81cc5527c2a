#include <stdio.h>

#include "probe/base/choice.h"
#include "probe/base/list.h"
#include "probe/base/util.h"
#include "profiler/feed/http_priv.h"

/* More would be frames that are old when they are read. */
enum { STREAM_SOCKET_BYTES = 128 * 1024 };

static const char *const security[][2] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
      "'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
};

static void release_body(void *cls) { http_bytes_release(cls); }

static struct MHD_Response *whole_response(struct http_answer *a)
{
    if (!a->body)
        return MHD_create_response_from_buffer(a->fixed_size, (void *)a->fixed,
                                               MHD_RESPMEM_PERSISTENT);
    struct MHD_IoVec io = { a->body->bytes.data, a->body->bytes.size };
    struct MHD_Response *r =
        MHD_create_response_from_iovec(&io, a->body->bytes.size ? 1 : 0, release_body, a->body);
    if (!r)
        http_bytes_release(a->body);
    a->body = NULL;
    return r;
}

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
    if (value && *value)
        MHD_add_response_header(r, name, value);
}

static void add_headers(struct MHD_Response *r, const struct http_answer *a)
{
    char seconds[16];
    for (size_t i = 0; i < ARRAY_LEN(security); i++)
        add_header(r, security[i][0], security[i][1]);
    snprintf(seconds, sizeof seconds, "%u", a->retry_s);
    add_header(r, "Content-Type", a->type);
    if (a->gzipped)
        add_header(r, "Content-Encoding", "gzip");
    if (a->varies)
        add_header(r, "Vary", "Accept-Encoding");
    add_header(r, "Cache-Control", text_or(a->cache, "no-store"));
    add_header(r, "ETag", a->etag);
    add_header(r, "Set-Cookie", a->cookie);
    add_header(r, "Allow", a->allow);
    if (a->retry_s)
        add_header(r, "Retry-After", seconds);
}

size_t http_answer_busy(char *buf, size_t cap)
{
    size_t n = (size_t)snprintf(buf, cap,
                                "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
                                "Content-Length: 0\r\nConnection: close\r\n"
                                "Cache-Control: no-store\r\n");
    for (size_t i = 0; i < ARRAY_LEN(security); i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s: %s\r\n", security[i][0], security[i][1]);
    return n + (size_t)snprintf(buf + n, cap - n, "\r\n");
}

static enum MHD_Result queue_response(struct http_ticket *q, struct MHD_Connection *c,
                                      struct MHD_Response *r, const struct http_answer *a)
{
    if (!r)
        return MHD_NO;
    add_headers(r, a);
    enum MHD_Result ret = MHD_queue_response(c, a->status, r);
    MHD_destroy_response(r);
    q->answered = true;
    q->conn->since_ns = 0;
    return ret;
}

static enum MHD_Result begin_stream(struct http_ticket *q, struct MHD_Connection *c,
                                    struct http_answer *a)
{
    struct http *h = q->conn->h;
    int bytes = STREAM_SOCKET_BYTES;
    struct http_stream *s = q->stream = http_stream_new(h, c, a);
    a->opened(a->stream_ctx, s);
    if (!s) {
        a->retry_s = 5;
        http_fail(a, 503, "readers", "there are 128 readers already",
                  "wait, or end one: GET /api/1/readers lists them");
        return queue_response(q, c, whole_response(a), a);
    }
    setsockopt(q->conn->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              EITHER(h->cfg.stream_s, HTTP_STREAM_S));
    return queue_response(q, c, http_stream_response(s), a);
}

enum MHD_Result http_answer_give(struct http_ticket *q, struct MHD_Connection *c,
                                 struct http_answer *a)
{
    if (a->stream)
        return begin_stream(q, c, a);
    if (a->body && a->body->bytes.failed)
        http_fail(a, 503, "size", "the answer is larger than 64 MB or than memory",
                  "ask for less: nodes=N");
    return queue_response(q, c, whole_response(a), a);
}

enum MHD_Result http_answer_wait(struct http_ticket *q, struct MHD_Connection *c)
{
    struct http *h = q->conn->h;
    LIST_ADD(&h->waiting, q);
    q->waiting = true;
    q->conn->since_ns = 0;
    q->mhd = c;
    MHD_suspend_connection(c);
    return MHD_YES;
}

void http_answer(struct http_ticket *ticket, struct http_answer *a)
{
    LIST_REMOVE(ticket);
    ticket->waiting = false;
    ticket->due = true;
    ticket->later = *a;
    a->body = NULL;
    MHD_resume_connection(ticket->mhd);
}
