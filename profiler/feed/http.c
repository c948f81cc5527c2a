/* Traps of libmicrohttpd 0.9.75 that shape this file: a reader of content that has nothing must
 * suspend its connection, or the loop spins; after a connection is resumed one MHD_run() only takes
 * note of that; its parser takes two Host lines and others that RFC 9112 refuses, so the guard gets
 * every line. */
#include "profiler/feed/http.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"

enum {
    POOL_BYTES = 32 * 1024, /* a connection's: headers of 16 KB, and chunks of a stream */
    STREAM_BLOCK = 16 * 1024,
    STREAM_SOCKET_BYTES = 128 * 1024, /* more would be frames that are old when they are read */
    RUNS_AT_ONCE = 16,
    PEER_TEXT = 96,
    MAX_FAILURES = 5, /* wrong tokens a minute */
};
static const uint64_t second_ns = 1000000000;

/* One accepted socket. */
struct http_conn {
    struct http_conn *next, **at;
    struct http *h;
    char peer[PEER_TEXT];
    size_t host_n; /* of peer, without the port */
    bool unix_socket, loopback;
    int fd;
    uint64_t since_ns; /* nothing whole came since then; 0: it is being answered */
};

struct http_stream {
    struct http_stream *next, **at;
    struct http *h;
    struct MHD_Connection *mhd;
    const struct http_stream_ops *ops;
    void *ctx;
    struct http_pieces frame; /* what it is given now */
    uint64_t sent;
    bool suspended, over;
};

/* One request, from its first line to the end of its answer. */
struct http_ticket {
    struct http_ticket *next, **at; /* among those that are answered later */
    struct MHD_Connection *mhd;
    struct http_answer later;
    bool waiting, due; /* for http_answer(); it has come */
    struct http_conn *conn;
    char target[GUARD_MAX_TARGET + 2]; /* one more than allowed, so that it shows */
    char body[GUARD_MAX_BODY + 1];
    size_t body_len;
    bool begun, answered;
    struct http_stream *stream;
};

struct http {
    struct http_config cfg;
    struct MHD_Daemon *mhd;
    struct http_conn *conns;
    struct http_stream *streams;
    struct http_ticket *waiting;
    struct http_counts counts;
    struct http_conn *adding; /* while MHD_add_connection() makes it one of ours */
    bool running; /* a handler may want what it changed to go out: it goes with the turn it is in */
    uint64_t now_ns;
    uint64_t failures[MAX_FAILURES]; /* when, oldest first */
};

static const char *const security[][2] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
      "'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
};

static void log_line(struct http *h, const char *line)
{
    if (h->cfg.log)
        h->cfg.log(h->cfg.ctx, line);
}

/* ---- streams ---- */

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

static void resume(struct http_stream *s)
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
    resume(s);
}

void http_stream_end(struct http_stream *s)
{
    s->over = true;
    resume(s);
}

static void stream_ended(struct http_stream *s, bool cut)
{
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    s->h->counts.streams--;
    s->h->counts.cut += cut;
    s->ops->ended(s->ctx, s, cut);
    http_pieces_clear(&s->frame);
    free(s);
}

static struct http_stream *stream_new(struct http *h, struct MHD_Connection *c,
                                      const struct http_answer *a)
{
    struct http_stream *s = h->counts.streams < HTTP_MAX_STREAMS ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    *s = (struct http_stream){ .h = h, .mhd = c, .ops = a->stream, .ctx = a->stream_ctx };
    s->next = h->streams;
    s->at = &h->streams;
    if (s->next)
        s->next->at = &s->next;
    h->streams = s;
    h->counts.streams++;
    return s;
}

/* ---- answers ---- */

static void release_body(void *cls) { http_bytes_release(cls); }

static struct MHD_Response *whole(struct http_answer *a)
{
    if (!a->body)
        return MHD_create_response_from_buffer(a->fixed_size, (void *)a->fixed,
                                               MHD_RESPMEM_PERSISTENT);
    struct MHD_IoVec io = { a->body->data, a->body->size };
    struct MHD_Response *r =
        MHD_create_response_from_iovec(&io, a->body->size ? 1 : 0, release_body, a->body);
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
    add_header(r, "Cache-Control", a->cache ? a->cache : "no-store");
    add_header(r, "ETag", a->etag);
    add_header(r, "Set-Cookie", a->cookie);
    add_header(r, "Allow", a->allow);
    add_header(r, "Retry-After", a->retry_s ? seconds : NULL);
}

static enum MHD_Result queue(struct http_ticket *q, struct MHD_Connection *c,
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
    struct http_stream *s = q->stream = stream_new(h, c, a);
    a->opened(a->stream_ctx, s);
    if (!s) {
        a->retry_s = 5;
        http_fail(a, 503, "readers", "there are 128 readers already",
                  "wait, or end one: GET /api/1/readers lists them");
        return queue(q, c, whole(a), a);
    }
    setsockopt(q->conn->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              h->cfg.stream_s ? h->cfg.stream_s : HTTP_STREAM_S);
    return queue(
        q, c,
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, s, NULL), a);
}

/* ---- requests ---- */

struct lines {
    struct guard_header at[GUARD_MAX_HEADERS + 1];
    size_t n;
};

static enum MHD_Result take_line(void *cls, enum MHD_ValueKind kind, const char *key,
                                 size_t key_size, const char *value, size_t value_size)
{
    struct lines *l = cls;
    (void)kind;
    if (l->n < ARRAY_LEN(l->at))
        l->at[l->n++] = (struct guard_header){ { key, key_size },
                                               { value ? value : "", value ? value_size : 0 } };
    return MHD_YES;
}

/* Wrong tokens come at five a minute at most, so that nobody tries many. */
static bool too_many_failures(struct http *h)
{
    bool many = h->failures[0] && h->now_ns - h->failures[0] < 60 * second_ns;
    memmove(h->failures, h->failures + 1, sizeof h->failures - sizeof h->failures[0]);
    h->failures[MAX_FAILURES - 1] = h->now_ns;
    return many;
}

void http_wrong_token(struct http *h, struct http_answer *a)
{
    if (!too_many_failures(h)) {
        http_fail(a, 401, "token", "the token is another one",
                  "the program printed it when it began; or see --http-token-file");
        return;
    }
    a->retry_s = 60;
    http_fail(a, 429, "token", "too many wrong tokens", "wait a minute");
}

static enum MHD_Result refuse(struct http_ticket *q, struct MHD_Connection *c,
                              const struct guard_verdict *v)
{
    struct http *h = q->conn->h;
    struct http_answer a = { .allow = v->allow };
    char line[PEER_TEXT + 96];
    h->counts.refused++;
    snprintf(line, sizeof line, "%s: refused, %s", q->conn->peer, v->what);
    log_line(h, line);
    if (v->cause == GUARD_BAD_TOKEN)
        http_wrong_token(h, &a);
    else
        http_fail(&a, v->status, v->code, v->what, v->hint);
    return queue(q, c, whole(&a), &a);
}

static enum MHD_Result judge(struct http_ticket *q, struct MHD_Connection *c, const char *method)
{
    struct http *h = q->conn->h;
    struct lines lines = { .n = 0 };
    MHD_get_connection_values_n(c, MHD_HEADER_KIND, take_line, &lines);
    struct guard_request r = {
        .method = { method, strlen(method) },
        .target = { q->target, strlen(q->target) },
        .headers = lines.at,
        .nheaders = lines.n,
        .unix_socket = q->conn->unix_socket,
    };
    struct guard_verdict v = guard_judge(&r, &h->cfg.rules);
    q->begun = true;
    return v.cause == GUARD_PASSES ? MHD_YES : refuse(q, c, &v);
}

static enum MHD_Result give(struct http_ticket *q, struct MHD_Connection *c, struct http_answer *a)
{
    if (a->stream)
        return begin_stream(q, c, a);
    if (a->body && a->body->failed)
        http_fail(a, 503, "size", "the answer is larger than 64 MB or than memory",
                  "ask for less: nodes=N");
    return queue(q, c, whole(a), a);
}

static enum MHD_Result wait_for_answer(struct http_ticket *q, struct MHD_Connection *c)
{
    struct http *h = q->conn->h;
    q->next = h->waiting;
    q->at = &h->waiting;
    if (q->next)
        q->next->at = &q->next;
    h->waiting = q;
    q->waiting = true;
    q->conn->since_ns = 0;
    q->mhd = c;
    MHD_suspend_connection(c);
    return MHD_YES;
}

void http_answer(struct http_ticket *ticket, struct http_answer *a)
{
    *ticket->at = ticket->next;
    if (ticket->next)
        ticket->next->at = ticket->at;
    ticket->waiting = false;
    ticket->due = true;
    ticket->later = *a;
    a->body = NULL;
    MHD_resume_connection(ticket->mhd);
}

static enum MHD_Result answer(struct http_ticket *q, struct MHD_Connection *c, const char *method)
{
    struct http *h = q->conn->h;
    struct http_answer a = { .status = 200 };
    char path[sizeof q->target];
    size_t n = strcspn(q->target, "?");
    snprintf(path, sizeof path, "%.*s", (int)n, q->target);
    q->body[q->body_len] = 0;
    struct http_request r = {
        .method = method,
        .path = path,
        .query = q->target[n] ? q->target + n + 1 : "",
        .if_none_match = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-None-Match"),
        .last_event_id = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Last-Event-ID"),
        .accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept"),
        .body = q->body,
        .body_len = q->body_len,
        .peer = q->conn->peer,
        .ticket = q,
    };
    h->counts.requests++;
    h->cfg.answer(h->cfg.ctx, &r, &a);
    return a.later ? wait_for_answer(q, c) : give(q, c, &a);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls)
{
    struct http_ticket *q = *con_cls;
    (void)cls;
    (void)url;
    (void)version;
    if (!q)
        return MHD_NO;
    if (!q->begun)
        return judge(q, c, method);
    if (q->due) {
        q->due = false;
        return give(q, c, &q->later);
    }
    if (!*size)
        return q->answered || q->waiting ? MHD_YES : answer(q, c, method);
    /* the guard has seen the length; what comes beyond it is none of ours */
    size_t n = MIN(*size, sizeof q->body - 1 - q->body_len);
    memcpy(q->body + q->body_len, data, n);
    q->body_len += n;
    *size = 0;
    return MHD_YES;
}

/* Before anything of it is looked at: the request's target as it was sent. */
static void *on_target(void *cls, const char *uri, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_ticket *q = info && info->socket_context ? calloc(1, sizeof *q) : NULL;
    (void)cls;
    if (!q)
        return NULL;
    q->conn = info->socket_context;
    snprintf(q->target, sizeof q->target, "%s", uri);
    return q;
}

static void on_completed(void *cls, struct MHD_Connection *c, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct http_ticket *q = *con_cls;
    struct http *h = cls;
    (void)c;
    if (!q)
        return;
    if (q->stream)
        stream_ended(q->stream, why == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED);
    if (q->waiting)
        *q->at = q->next;
    if (q->waiting && q->next)
        q->next->at = q->at;
    http_bytes_release(q->due ? q->later.body : NULL);
    q->conn->since_ns = h->now_ns;
    free(q);
    *con_cls = NULL;
}

/* ---- connections ---- */

static void on_connection(void *cls, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *h = cls;
    struct http_conn *conn = *context;
    (void)c;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = h->adding;
        h->adding = NULL;
    } else if (conn) {
        *conn->at = conn->next;
        if (conn->next)
            conn->next->at = conn->at;
        h->counts.connections--;
        free(conn);
        *context = NULL;
    }
}

static bool is_same_host(const struct http_conn *a, const struct http_conn *b)
{
    return a->host_n == b->host_n && memcmp(a->peer, b->peer, a->host_n) == 0;
}

static bool has_room(const struct http *h, const struct http_conn *conn)
{
    unsigned same = 0;
    for (const struct http_conn *other = h->conns; other; other = other->next)
        same += is_same_host(other, conn);
    return h->counts.connections < HTTP_MAX_CONNECTIONS &&
           (conn->loopback || same < HTTP_MAX_AN_ADDRESS);
}

static void turn_away(int fd)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";
    ssize_t n = send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n; /* it is gone, or it hears */
    close(fd);
}

static struct http_conn *conn_new(struct http *h, int fd, const char *peer, bool unix_socket,
                                  bool loopback)
{
    struct http_conn *conn = calloc(1, sizeof *conn);
    if (!conn)
        return NULL;
    snprintf(conn->peer, sizeof conn->peer, "%s", peer);
    const char *colon = strrchr(conn->peer, ':');
    conn->host_n = colon ? (size_t)(colon - conn->peer) : strlen(conn->peer);
    conn->unix_socket = unix_socket;
    conn->loopback = loopback || unix_socket;
    conn->h = h;
    conn->fd = fd;
    return conn;
}

void http_add(struct http *h, int fd, const char *peer, bool unix_socket, bool loopback,
              uint64_t now_ns)
{
    struct sockaddr from = { .sa_family = AF_UNIX }; /* who it is we know better */
    struct http_conn *conn = conn_new(h, fd, peer, unix_socket, loopback);
    h->now_ns = now_ns;
    if (!conn || !has_room(h, conn)) {
        free(conn);
        turn_away(fd);
        return;
    }
    conn->since_ns = now_ns;
    conn->next = h->conns;
    conn->at = &h->conns;
    if (conn->next)
        conn->next->at = &conn->next;
    h->conns = conn;
    h->counts.connections++;
    h->adding = conn;
    if (MHD_add_connection(h->mhd, fd, &from, sizeof from) != MHD_YES && h->adding) {
        h->adding = NULL; /* it has closed the socket */
        h->conns = conn->next;
        if (conn->next)
            conn->next->at = &h->conns;
        h->counts.connections--;
        free(conn);
    }
}

/* A request that comes a byte at a time keeps its connection awake, but not for ever. */
static void end_slow_ones(struct http *h)
{
    for (struct http_conn *c = h->conns; c; c = c->next)
        if (c->since_ns && h->now_ns - c->since_ns > HTTP_REQUEST_S * second_ns)
            shutdown(c->fd, SHUT_RDWR);
}

/* ---- the server ---- */

int http_new(const struct http_config *cfg, struct http **out, struct err *err)
{
    struct http *h = calloc(1, sizeof *h);
    if (!h)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    h->cfg = *cfg;
    h->mhd = MHD_start_daemon(
        MHD_USE_NO_LISTEN_SOCKET | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, h, MHD_OPTION_URI_LOG_CALLBACK, on_target, h, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_REQUEST_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (!h->mhd) {
        free(h);
        return err_set(err, ERR_IO, "raise the limit on open files (ulimit -n)",
                       "feed: the HTTP server cannot be started");
    }
    *out = h;
    return 0;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    /* what is suspended may not be stopped */
    while (h->waiting) {
        struct http_answer a = { .retry_s = 5 };
        http_fail(&a, 503, "ending", "the program ends", "start it again");
        http_answer(h->waiting, &a);
    }
    for (struct http_stream *s = h->streams; s; s = s->next)
        http_stream_end(s);
    http_run(h, h->now_ns);
    for (struct http_stream *s = h->streams; s; s = s->next)
        resume(s);
    MHD_stop_daemon(h->mhd);
    free(h);
}

void http_set_rules(struct http *h, const struct guard_rules *rules) { h->cfg.rules = *rules; }

int http_fd(const struct http *h)
{
    return MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static bool is_due(const struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;
    return MHD_get_timeout(h->mhd, &ms) == MHD_YES && ms == 0;
}

void http_run(struct http *h, uint64_t now_ns)
{
    int left = RUNS_AT_ONCE;
    if (h->running)
        return;
    h->running = true;
    h->now_ns = now_ns;
    end_slow_ones(h);
    do
        MHD_run(h->mhd);
    while (--left && is_due(h));
    h->running = false;
}

unsigned http_wait_ms(const struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(h->mhd, &ms) != MHD_YES)
        return 1000;
    return (unsigned)MAX(1u, MIN(ms, 1000u));
}

struct http_counts http_counts(const struct http *h) { return h->counts; }
