#include "profiler/cli/top_source.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

static const char *const no_bridge =
    "start one with probeprof run, whose --http says where; or name its address";
enum { AGAIN_MS = 1 };

/* ---- addresses ---- */

static int not_an_address(const char *text, struct err *err)
{
    return err_set(err, ERR_USAGE, "http://127.0.0.1:3334, [::1]:3334, :3334, or a socket's path",
                   "'%s' is no address of a feed", text);
}

static bool is_port(const char *s)
{
    return *s && strlen(s) <= 5 && strspn(s, "0123456789") == strlen(s) && atoi(s) > 0 &&
           atoi(s) < 65536;
}

/* An IPv6 address stands in brackets, since it has colons itself. Without a host it is this one.
 * Moves *at behind it; false: it is none. */
static bool take_host(const char **at, struct top_address *out)
{
    const bool bracket = **at == '[';
    const char *host = *at + bracket, *end_at = ":/";
    if (bracket)
        end_at = "]";
    const size_t len = strcspn(host, end_at);
    if (bracket && host[len] != ']')
        return false;
    if (len >= sizeof out->host)
        return false;
    *at = host + len + bracket;
    strcpy(out->host, "127.0.0.1");
    if (len)
        snprintf(out->host, sizeof out->host, "%.*s", (int)len, host);
    return !strpbrk(out->host, " \t\r\n@\\\"<>");
}

/* Moves *at behind it. One that is too long is left out, as if none were given. */
static void take_port(const char **at, struct top_address *out)
{
    if (**at != ':')
        return;
    const char *port = *at + 1;
    const size_t digits = strcspn(port, "/");
    if (digits < sizeof out->port)
        snprintf(out->port, sizeof out->port, "%.*s", (int)digits, port);
    *at = port + digits;
}

static int parse_tcp(const char *text, const char *at, struct top_address *out, struct err *err)
{
    if (!take_host(&at, out))
        return not_an_address(text, err);
    take_port(&at, out);
    if (is_port(out->port) && (!*at || !strcmp(at, "/")))
        return 0;
    return not_an_address(text, err);
}

int top_address_parse(const char *text, struct top_address *out, struct err *err)
{
    static const char http[] = "http://", unix_[] = "unix:";
    *out = (struct top_address){ .host = "127.0.0.1", .port = "3334" };
    if (!text)
        return 0;
    if (strncmp(text, http, sizeof http - 1) == 0)
        return parse_tcp(text, text + sizeof http - 1, out, err);
    const char *path = NULL;
    if (strchr(text, '/') && !strstr(text, "://"))
        path = text;
    if (strncmp(text, unix_, sizeof unix_ - 1) == 0)
        path = text + sizeof unix_ - 1;
    if (!path && strstr(text, "://"))
        return not_an_address(text, err);
    if (!path)
        return parse_tcp(text, text, out, err);
    if (!*path || strlen(path) >= sizeof out->path)
        return not_an_address(text, err);
    strcpy(out->path, path);
    return 0;
}

/* ---- one connection ---- */

static void begin_connection(struct top_source *s);

static void on_retry(uv_timer_t *t) { begin_connection(t->data); }

static void on_closed(uv_handle_t *h)
{
    struct top_source *s = h->data;
    s->has_link = false;
}

static void drop_connection(struct top_source *s)
{
    if (s->has_link && !uv_is_closing(&s->link.handle))
        uv_close(&s->link.handle, on_closed);
}

static void connection_lost(struct top_source *s, const struct err *why)
{
    drop_connection(s);
    if (s->closing)
        return;
    unsigned wait = s->events.lost(s->ctx, why);
    if (wait && !s->closing)
        uv_timer_start(&s->retry, on_retry, wait, 0);
}

static void connection_lost_by(struct top_source *s, int code, const char *what)
{
    struct err why = { .code = ERR_OK };
    if (*s->to.path)
        err_set(&why, ERR_IO, no_bridge, "%s: %s: %s", s->to.path, what, uv_strerror(code));
    else
        err_set(&why, ERR_IO, no_bridge, "%s port %s: %s: %s", s->to.host, s->to.port, what,
                uv_strerror(code));
    connection_lost(s, &why);
}

/* An answer that is no stream says why, in JSON. */
static void connection_refused(struct top_source *s, const char *body)
{
    struct err why = { .code = ERR_OK };
    int status = 0;
    sscanf(s->answer, "HTTP/%*s %d", &status);
    json_t *root = json_loads(body, JSON_DISABLE_EOF_CHECK, NULL),
           *error = json_object_get(root, "error");
    const char *what = json_string_value(json_object_get(error, "what")),
               *hint = json_string_value(json_object_get(error, "hint"));
    if (status)
        err_set(&why, ERR_IO, text_or(hint, "is that probeprof's feed?"), "%s (HTTP status %d)",
                text_or(what, "refused"), status);
    else
        err_set(&why, ERR_PROTOCOL, no_bridge, "what answers there does not speak HTTP");
    json_decref(root);
    connection_lost(s, &why);
}

/* The head ends with an empty line; what follows it is the stream. False: no more of it. */
static bool take_head(struct top_source *s, const char *at, size_t n)
{
    size_t room = sizeof s->answer - 1 - s->answered, some = MIN(n, room);
    memcpy(s->answer + s->answered, at, some);
    s->answered += some;
    s->answer[s->answered] = 0;
    char *end = strstr(s->answer, "\r\n\r\n");
    bool ok = !strncmp(s->answer, "HTTP/1.", 7) && !strncmp(s->answer + 8, " 200", 4);
    if (!end && s->answered < sizeof s->answer - 1)
        return true;
    if (!end) {
        connection_refused(s, "");
        return false;
    }
    if (!ok)
        return true; /* the rest of it says why: until it ends */
    s->in_body = true;
    size_t head = (size_t)(end + 4 - s->answer), before = s->answered - some;
    return head - before >= n || s->events.bytes(s->ctx, at + head - before, n - (head - before));
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
    struct top_source *s = h->data;
    (void)hint;
    *buf = uv_buf_init(s->buf, sizeof s->buf);
}

static bool take_bytes(struct top_source *s, size_t n)
{
    if (s->in_body)
        return s->events.bytes(s->ctx, s->buf, n);
    return take_head(s, s->buf, n);
}

/* What follows the head of the answer, "" if nothing does. */
static const char *answer_body(const struct top_source *s)
{
    static const char empty_line[] = "\r\n\r\n";
    const char *end = strstr(s->answer, empty_line);
    if (end)
        return end + strlen(empty_line);
    return "";
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct top_source *s = stream->data;
    (void)buf;
    if (n == 0)
        return;
    if (n > 0) {
        if (!take_bytes(s, (size_t)n))
            drop_connection(s);
        return;
    }
    if (!s->in_body && s->answered)
        connection_refused(s, answer_body(s));
    else
        connection_lost_by(s, (int)n, "the feed");
}

static void on_written(uv_write_t *w, int status)
{
    (void)w;
    (void)status; /* reading says it, too */
}

/* Returns its length. */
static int make_request(struct top_source *s, const char *path)
{
    const char *host = s->to.host;
    if (*s->to.path)
        host = "localhost";
    const bool six = strchr(host, ':'), has_token = *s->token;
    return snprintf(
        s->request, sizeof s->request, "GET %s HTTP/1.0\r\nHost: %s%s%s:%s\r\n%s%s%s\r\n", path,
        text_if(six, "["), host, text_if(six, "]"), s->to.port,
        text_if(has_token, "Authorization: Bearer "), s->token, text_if(has_token, "\r\n"));
}

static void on_connected(uv_connect_t *c, int status)
{
    struct top_source *s = c->data;
    char path[1024];
    if (s->closing || status == UV_ECANCELED)
        return;
    if (status < 0) {
        connection_lost_by(s, status, "no connection");
        return;
    }
    s->events.ask(s->ctx, path, sizeof path);
    uv_buf_t buf = uv_buf_init(s->request, (unsigned)make_request(s, path));
    uv_write(&s->write, &s->link.stream, &buf, 1, on_written);
    uv_read_start(&s->link.stream, on_alloc, on_read);
}

static void on_resolved(uv_getaddrinfo_t *r, int status, struct addrinfo *found)
{
    struct top_source *s = r->data;
    if (!s->closing && status < 0) {
        connection_lost_by(s, status, "no such host");
    } else if (!s->closing) {
        int ret = uv_tcp_connect(&s->connect, &s->link.tcp, found->ai_addr, on_connected);
        if (ret < 0)
            connection_lost_by(s, ret, "no connection");
    }
    uv_freeaddrinfo(found);
}

/* The handle of the last connection is closed by the loop; until then there is no other. */
static void begin_connection(struct top_source *s)
{
    if (s->has_link) {
        uv_timer_start(&s->retry, on_retry, AGAIN_MS, 0);
        return;
    }
    s->in_body = false;
    s->answered = 0;
    s->answer[0] = 0;
    s->has_link = true;
    if (*s->to.path) {
        uv_pipe_init(s->loop, &s->link.pipe, 0);
        s->link.handle.data = s->connect.data = s;
        uv_pipe_connect(&s->connect, &s->link.pipe, s->to.path, on_connected);
        return;
    }
    uv_tcp_init(s->loop, &s->link.tcp);
    s->link.handle.data = s->connect.data = s->resolve.data = s;
    int ret = uv_getaddrinfo(s->loop, &s->resolve, on_resolved, s->to.host, s->to.port,
                             &(struct addrinfo){ .ai_socktype = SOCK_STREAM });
    if (ret < 0)
        connection_lost_by(s, ret, "no such host");
}

void top_source_start(struct top_source *s)
{
    uv_timer_init(s->loop, &s->retry);
    s->retry.data = s;
    s->has_retry = true;
    begin_connection(s);
}

void top_source_again(struct top_source *s)
{
    drop_connection(s);
    uv_timer_start(&s->retry, on_retry, AGAIN_MS, 0);
}

void top_source_stop(struct top_source *s)
{
    s->closing = true;
    drop_connection(s);
    if (s->has_retry)
        uv_close((uv_handle_t *)&s->retry, NULL);
    s->has_retry = false;
}
