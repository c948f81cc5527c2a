#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/list.h"
#include "probe/base/util.h"
#include "profiler/feed/gzip.h"
#include "profiler/feed/http_priv.h"

enum {
    POOL_BYTES = 32 * 1024, /* a connection's: headers of 16 KB, and chunks of a stream */
    RUNS_AT_ONCE = 16,
};
static const uint64_t second_ns = 1000000000;

static void log_line(struct http *h, const char *line)
{
    if (h->cfg.log)
        h->cfg.log(h->cfg.ctx, line);
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
                                               { text_or(value, ""), value ? value_size : 0 } };
    return MHD_YES;
}

/* Wrong tokens come at five a minute at most, so that nobody tries many. */
static bool too_many_failures(struct http *h)
{
    bool many = h->failures[0] && h->now_ns - h->failures[0] < 60 * second_ns;
    memmove(h->failures, h->failures + 1, sizeof h->failures - sizeof h->failures[0]);
    h->failures[HTTP_MAX_FAILURES - 1] = h->now_ns;
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

static enum MHD_Result refuse_request(struct http_ticket *q, struct MHD_Connection *c,
                                      const struct guard_verdict *v)
{
    struct http *h = q->conn->h;
    struct http_answer a = { .allow = v->allow };
    char line[HTTP_PEER_TEXT + 96];
    h->counts.refused++;
    snprintf(line, sizeof line, "%s: refused, %s", q->conn->peer, v->what);
    log_line(h, line);
    if (v->cause == GUARD_BAD_TOKEN)
        http_wrong_token(h, &a);
    else
        http_fail(&a, v->status, v->code, v->what, v->hint);
    return http_answer_give(q, c, &a);
}

static enum MHD_Result judge_request(struct http_ticket *q, struct MHD_Connection *c,
                                     const char *method)
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
    if (v.cause == GUARD_PASSES)
        return MHD_YES;
    return refuse_request(q, c, &v);
}

static enum MHD_Result answer_request(struct http_ticket *q, struct MHD_Connection *c,
                                      const char *method)
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
        .gzip = gzip_accepted(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding")),
        .body = q->body,
        .body_len = q->body_len,
        .peer = q->conn->peer,
        .ticket = q,
    };
    h->counts.requests++;
    h->cfg.answer(h->cfg.ctx, &r, &a);
    if (a.later)
        return http_answer_wait(q, c);
    return http_answer_give(q, c, &a);
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
        return judge_request(q, c, method);
    if (q->due) {
        q->due = false;
        return http_answer_give(q, c, &q->later);
    }
    if (!*size && (q->answered || q->waiting))
        return MHD_YES;
    if (!*size)
        return answer_request(q, c, method);
    /* the guard has checked the length; further bytes are dropped */
    size_t n = MIN(*size, sizeof q->body - 1 - q->body_len);
    memcpy(q->body + q->body_len, data, n);
    q->body_len += n;
    *size = 0;
    return MHD_YES;
}

/* Called before the request is parsed: keeps its target as it was sent. */
static void *on_target(void *cls, const char *uri, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_ticket *q = NULL;
    if (info && info->socket_context)
        q = calloc(1, sizeof *q);
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
        http_stream_ended(q->stream, why == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED);
    if (q->waiting)
        LIST_REMOVE(q);
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
        LIST_REMOVE(conn);
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
    char busy[1024];
    size_t len = http_answer_busy(busy, sizeof busy);
    ssize_t n = send(fd, busy, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n; /* a failure means that the client is gone */
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
    if (colon)
        conn->host_n = (size_t)(colon - conn->peer);
    else
        conn->host_n = strlen(conn->peer);
    conn->unix_socket = unix_socket;
    conn->loopback = loopback || unix_socket;
    conn->h = h;
    conn->fd = fd;
    return conn;
}

void http_add(struct http *h, int fd, const char *peer, bool unix_socket, bool loopback,
              uint64_t now_ns)
{
    struct sockaddr from = { .sa_family = AF_UNIX }; /* the peer's address is in conn */
    struct http_conn *conn = conn_new(h, fd, peer, unix_socket, loopback);
    h->now_ns = now_ns;
    if (!conn || !has_room(h, conn)) {
        free(conn);
        turn_away(fd);
        return;
    }
    conn->since_ns = now_ns;
    LIST_ADD(&h->conns, conn);
    h->counts.connections++;
    h->adding = conn;
    if (MHD_add_connection(h->mhd, fd, &from, sizeof from) != MHD_YES && h->adding) {
        h->adding = NULL; /* it has closed the socket */
        LIST_REMOVE(conn);
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
        http_stream_resume(s);
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
