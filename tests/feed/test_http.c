/* The feed's service over real sockets: a feed, its server, and clients that read and write bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <pthread.h>
#include <zlib.h>

#include "probe/base/util.h"
#include "profiler/feed/gzip.h"
#include "profiler/feed/http_api.h"
#include "profiler/feed/http_jobs.h"
#include "profiler/profile/recording.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

struct fixture {
    struct feed *feed;
    struct calltree *tree;
    struct http_api *api;
    uint64_t now_ns; /* goes on with what is done here, however long that takes */
    uint64_t changes;
    uint32_t c1;
    struct http_command got;
    struct http_ticket *ticket;
    int control_ret;
    bool away, lines;
    char record[64];
    char logged[512];
    struct snapshots *snapshots;
    struct http_work *works[64];
    size_t nworks;
};

static uint64_t now_ns(void *ctx)
{
    const struct fixture *fx = ctx;
    return fx->now_ns;
}

static void fold_feed(void *ctx)
{
    struct fixture *fx = ctx;
    struct feed_source from = { .tree = fx->tree, .changes = fx->changes };
    struct feed_moment now = { .ns = now_ns(fx), .wall_ms = 1700000000000 };
    assert_true(feed_fold(fx->feed, &from, &now, NULL) >= 0);
}

static void tell_facts(void *ctx, struct http_facts *out)
{
    const struct fixture *fx = ctx;
    *out = (struct http_facts){ .phase = "profiling",
                                .profiling = true,
                                .away = fx->away,
                                .away_s = fx->away ? 61 : 0,
                                .events = 75,
                                .lost = 25,
                                .target = "sh7750",
                                .probe = "a\"b\\c\n" };
}

static int build_profile(void *ctx, struct profile **out, struct err *err)
{
    const struct fixture *fx = ctx;
    return profile_build(fx->tree, NULL, &(struct profile_info){ .target = "sh7750" }, out, err);
}

static int take_snapshot(void *ctx, const char *file, bool marked, const struct snapshot **out,
                         struct err *err)
{
    struct fixture *fx = ctx;
    if (*file)
        return err_set(err, ERR_STATE, "probeprof view", "no file %s", file);
    if (!marked)
        return err_set(err, ERR_STATE, "", "as it is without marks");
    snapshots_changed(fx->snapshots);
    return snapshots_take(fx->snapshots, build_profile, fx, out, err);
}

static int queue_work(void *ctx, struct http_work *w)
{
    struct fixture *fx = ctx;
    assert_true(fx->nworks < ARRAY_LEN(fx->works));
    fx->works[fx->nworks++] = w;
    return 0;
}

static void *run_work(void *ctx)
{
    struct http_work *w = ctx;
    w->run(w);
    return NULL;
}

/* What was begun is done by another thread, the oldest first. */
static void do_work(struct fixture *fx)
{
    pthread_t thread;
    if (!fx->nworks)
        return;
    struct http_work *w = fx->works[0];
    memmove(fx->works, fx->works + 1, --fx->nworks * sizeof fx->works[0]);
    assert_int_equal(pthread_create(&thread, NULL, run_work, w), 0);
    pthread_join(thread, NULL);
    w->end(w);
}

static int take_command(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                        struct err *err)
{
    struct fixture *fx = ctx;
    fx->got = *c;
    fx->ticket = ticket;
    return fx->control_ret < 0
               ? err_set(err, (enum err_code) - fx->control_ret, "do this", "cannot do that")
               : fx->control_ret;
}

static int tell_recording(void *ctx, unsigned part, char *path, size_t cap, struct err *err)
{
    const struct fixture *fx = ctx;
    if (part)
        return err_set(err, ERR_NOT_FOUND, "", "one file");
    if (!*fx->record)
        return err_set(err, ERR_STATE, "start it with --record FILE", "not recorded");
    snprintf(path, cap, "%s", fx->record);
    return 0;
}

static int has_lines(void *ctx, struct err *err)
{
    const struct fixture *fx = ctx;
    return fx->lines ? 0 : err_set(err, ERR_UNSUPPORTED, "follow events", "no lines");
}

static void take_log(void *ctx, const char *line)
{
    struct fixture *fx = ctx;
    snprintf(fx->logged, sizeof fx->logged, "%s", line);
}

enum { HAS = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 };

/* One call more, which makes the profile another one. */
static void feed_call(struct fixture *fx)
{
    fx->c1 += 10;
    struct event e[] = {
        { .kind = EVENT_CALL, .flags = HAS, .pc = 0x100, .target = 0x200, .c1 = fx->c1 },
        { .kind = EVENT_RETURN, .flags = HAS, .pc = 0x204, .target = 0x104, .c1 = fx->c1 + 5 },
    };
    calltree_feed(fx->tree, e, ARRAY_LEN(e));
    fx->changes += ARRAY_LEN(e);
}

static void open_api(struct fixture *fx, const struct guard_rules *rules, const char *page)
{
    struct http_api_config cfg = {
        .feed = fx->feed,
        .owner = { fx, fold_feed, tell_facts, take_snapshot, take_command, tell_recording,
                   has_lines, now_ns, queue_work, take_log, NULL },
        .rules = *rules,
        .version = "1.2.3",
        .page = page,
        .stream_s = 5,
    };
    assert_int_equal(http_api_new(&cfg, &fx->api, NULL), 0);
}

static int set_up_api(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    struct event start = { .kind = EVENT_START, .flags = HAS, .pc = 0x100 };
    fx->now_ns = 1000000000;
    assert_int_equal(feed_new(0xABCD, &fx->feed, NULL), 0);
    assert_int_equal(calltree_new(NULL, &fx->tree, NULL), 0);
    assert_int_equal(snapshots_new(&fx->snapshots, NULL), 0);
    calltree_feed(fx->tree, &start, 1);
    fx->changes = 1;
    feed_call(fx);
    fold_feed(fx);
    open_api(fx, &(struct guard_rules){ .port = 3334 }, NULL);
    *state = fx;
    return 0;
}

static int tear_down_api(void **state)
{
    struct fixture *fx = *state;
    http_api_free(fx->api);
    while (fx->nworks)
        do_work(fx);
    snapshots_free(fx->snapshots);
    feed_free(fx->feed);
    calltree_free(fx->tree);
    free(fx);
    return 0;
}

/* ---- a client ---- */

struct client {
    int fd;
    char got[1 << 20];
    size_t n;
    bool closed;
};

static struct client *client_new(struct fixture *fx)
{
    struct client *c = calloc(1, sizeof *c);
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    c->fd = fd[0];
    http_add(http_api_http(fx->api), fd[1], "127.0.0.1:5", false, true, now_ns(fx));
    return c;
}

static void client_free(struct client *c)
{
    close(c->fd);
    free(c);
}

static void send_text(struct client *c, const char *text)
{
    assert_int_equal(send(c->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void receive_text(struct client *c)
{
    ssize_t n = recv(c->fd, c->got + c->n, sizeof c->got - 1 - c->n, 0);
    if (n > 0)
        c->n += (size_t)n;
    c->got[c->n] = 0;
    c->closed = c->closed || n == 0;
}

/* The server works and the client reads until the text has come; NULL: until it is closed. */
static void serve_until(struct fixture *fx, struct client *c, const char *text)
{
    for (int i = 0; i < 4000; i++) {
        fx->now_ns += 500000;
        http_api_serve(fx->api);
        do_work(fx);
        receive_text(c);
        if (text ? strstr(c->got, text) != NULL : c->closed)
            return;
    }
    fail_msg("%s never came; got: %s", text ? text : "the end", c->got);
}

static void forget_answer(struct client *c)
{
    c->n = 0;
    c->got[0] = 0;
}

/* One whole exchange; the answer stays in c->got. */
static struct client *send_request(struct fixture *fx, const char *request)
{
    struct client *c = client_new(fx);
    send_text(c, request);
    serve_until(fx, c, NULL);
    return c;
}

#define US        "Host: localhost:3334\r\n"
#define LAST      "Connection: close\r\n\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" US LAST
#define POST_HEAD(n)                                                                             \
    "POST /api/1/control HTTP/1.1\r\n" US "Content-Type: application/json\r\nX-Probeprof: 1\r\n" \
    "Content-Length: " n "\r\n" LAST

static void expect_answer(struct fixture *fx, const char *request, const char *status,
                          const char *within)
{
    struct client *c = send_request(fx, request);
    if (strncmp(c->got + 9, status, 3) != 0 || !strstr(c->got, within))
        print_message("%s\n-> %s\n", request, c->got);
    assert_memory_equal(c->got + 9, status, 3);
    assert_non_null(strstr(c->got, within));
    /* every answer has the page's rules of conduct */
    assert_non_null(strstr(c->got, "Content-Security-Policy: default-src 'none'; script-src"));
    assert_non_null(strstr(c->got, "Cross-Origin-Opener-Policy: same-origin\r\n"));
    assert_non_null(strstr(c->got, "Cross-Origin-Resource-Policy: same-origin\r\n"));
    assert_non_null(strstr(c->got, "X-Content-Type-Options: nosniff\r\n"));
    assert_non_null(strstr(c->got, "Referrer-Policy: no-referrer\r\n"));
    assert_non_null(strstr(c->got, "Cache-Control: no-"));
    client_free(c);
}

/* A POST of that body. */
static void expect_post(struct fixture *fx, const char *path, const char *body, const char *status,
                        const char *within)
{
    char request[600];
    snprintf(request, sizeof request,
             "POST %s HTTP/1.1\r\n" US
             "Content-Type: application/json\r\nX-Probeprof: 1\r\nContent-Length: %zu\r\n" LAST
             "%s",
             path, strlen(body), body);
    expect_answer(fx, request, status, within);
}

/* ---- whole answers ---- */

static void api__each_path__answers(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *request, *status, *within;
    } rows[] = {
        { GET("/"), "200", "<!DOCTYPE html" },
        { GET("/assets/index.html"), "200", "text/html" },
        { GET("/assets/../http.c"), "404", "\"code\":\"path\"" },
        { GET("/assets/%2e%2e/x"), "404", "\"code\":\"path\"" },
        { GET("/nothing"), "404", "\"hint\":" },
        { GET("/api/1/snapshot"), "200", "\"frame\":\"snap\"" },
        { GET("/api/1/snapshot?view=functions"), "200", "ETag: \"000000000000abcd-" },
        { GET("/api/1/snapshot?view=all"), "400", "view" },
        { GET("/api/1/snapshot?nodes=65537"), "400", "nodes" },
        { GET("/api/1/snapshot?since=x"), "400", "since" },
        { GET("/api/1/snapshot?since=1-1"), "410", "\"code\":\"since\"" },
        { GET("/api/1/snapshot?other=1"), "400", "unknown parameter 'other'" },
        { GET("/api/1/snapshot?nodes=1&nodes=1"), "400", "twice" },
        { GET("/api/1/events?interval=4"), "400", "interval" },
        { GET("/api/1/series"), "200", "application/json" },
        { GET("/api/1/log?from=0"), "200", "application/json" },
        { GET("/api/1/log?from=-1"), "400", "from" },
        { GET("/api/1/readers"), "200", "probeprof.readers/1" },
        { GET("/api/1/status"), "200", "\"lost\": 25" },
        { GET("/healthz"), "200", "\r\n\r\nok\n" },
        { GET("/profile.json"), "200", "\"probeprof.profile/1\"" },
        { GET("/profile.prf"), "200", "Content-Type: application/octet-stream" },
        { GET("/profile.json?file=a.rec"), "409", "no file a.rec" },
        { GET("/profile.json?other=1"), "400", "other" },
        { GET("/profile.json?marks=off"), "409", "without marks" },
        { GET("/profile.json?marks=mine"), "400", "marks=off" },
        { GET("/api/1/function/0"), "200", "\"callees\":[{\"function\":1," },
        { GET("/api/1/function/1"), "200", "\"callers\":[{\"function\":0," },
        { GET("/api/1/function/9"), "404", "no function 9" },
        { GET("/api/1/function/-1"), "404", "error" },
        { GET("/api/1/raw"), "409", "--record FILE" },
        { GET("/api/1/raw?from=x"), "400", "from" },
        { GET("/api/1/lines"), "409", "no lines" },
        { GET("/api/1/control"), "405", "Allow: POST" },
        { GET("/api/1/snapshot?mark=none"), "404", "error" },
        { "GET / HTTP/1.1\r\nHost: evil.example\r\n" LAST, "403", "\"code\":\"host\"" },
        { "GET / HTTP/1.1\r\n" US US LAST, "403", "\"code\":\"host\"" },
        { "OPTIONS /api/1/control HTTP/1.1\r\n" US LAST, "403", "\"code\":\"options\"" },
        { "DELETE / HTTP/1.1\r\n" US LAST, "405", "Allow: GET, HEAD" },
        { "HEAD /api/1/events HTTP/1.1\r\n" US LAST, "200", "text/event-stream" },
        { POST_HEAD("5000"), "413", "\"code\":\"body\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_answer(fx, rows[i].request, rows[i].status, rows[i].within);
    assert_non_null(strstr(fx->logged, "127.0.0.1:5: "));
}

/* What libmicrohttpd refuses by itself has none of our headers, and nothing that they would guard:
 * a text of its own, no word of the request, and the connection ends. */
static void refused__by_the_library__says_nothing_of_the_request(void **state)
{
    static const char *const rows[] = {
        "GET /SECRET<script>\r\n\r\n",
        "GET /SECRET HTTP/9.9\r\n" US LAST,
        "GET /SECRET HTTP/1.1\r\n\r\n",
        "GET /SECRET HTTP/1.1\r\n" US "a SECRET line\r\n" LAST,
        "POST /SECRET HTTP/1.1\r\n" US "Content-Length: SECRET\r\n" LAST,
    };
    static char large[40000];
    struct fixture *fx = *state;
    for (size_t i = 0; i <= ARRAY_LEN(rows); i++) {
        snprintf(large, sizeof large, "GET /%035000d HTTP/1.1\r\n" US LAST, 0);
        struct client *c = send_request(fx, i < ARRAY_LEN(rows) ? rows[i] : large);
        assert_true(strncmp(c->got, "HTTP/1.1 4", 10) == 0 ||
                    strncmp(c->got, "HTTP/1.1 505 ", 13) == 0);
        assert_non_null(strstr(c->got, "Connection: close\r\n"));
        assert_null(strstr(c->got, "SECRET"));
        assert_null(strstr(c->got, "00000"));
        assert_null(strstr(c->got, "Set-Cookie"));
        client_free(c);
    }
}

/* ---- compressed ones ---- */

/* The body of an answer as it was before it was compressed. */
static char *inflate_body(const struct client *c)
{
    const char *body = strstr(c->got, "\r\n\r\n") + 4;
    z_stream z = { .next_in = (unsigned char *)body,
                   .avail_in = (unsigned)(c->n - (size_t)(body - c->got)) };
    char *plain = calloc(1, sizeof c->got);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (unsigned char *)plain;
    z.avail_out = sizeof c->got - 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    return plain;
}

/* Enough functions for an answer that is worth it. */
static void call_many(struct fixture *fx)
{
    for (uint32_t k = 0; k < 100; k++) {
        fx->c1 += 10;
        struct event e[] = {
            { .kind = EVENT_CALL,
              .flags = HAS,
              .pc = 0x100,
              .target = 0x1000 + 16 * k,
              .c1 = fx->c1 },
            { .kind = EVENT_RETURN,
              .flags = HAS,
              .pc = 0x1008 + 16 * k,
              .target = 0x104,
              .c1 = fx->c1 + 5 },
        };
        calltree_feed(fx->tree, e, ARRAY_LEN(e));
        fx->changes += ARRAY_LEN(e);
    }
}

static void gzip__if_accepted__is_the_same_and_smaller(void **state)
{
    static const char *const paths[] = { "/api/1/snapshot", "/profile.json", "/profile.prf",
                                         "/api/1/function/0" };
    struct fixture *fx = *state;
    char request[200], length[64];
    call_many(fx);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" US LAST, paths[i]);
        struct client *plain = send_request(fx, request);
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\n" US "Accept-Encoding: br, gzip\r\n" LAST, paths[i]);
        struct client *small = send_request(fx, request);
        size_t head = (size_t)(strstr(small->got, "\r\n\r\n") + 4 - small->got);
        assert_null(strstr(plain->got, "Content-Encoding"));
        assert_non_null(strstr(plain->got, "Vary: Accept-Encoding\r\n"));
        assert_non_null(strstr(small->got, "Content-Encoding: gzip\r\n"));
        assert_non_null(strstr(small->got, "Vary: Accept-Encoding\r\n"));
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", small->n - head);
        assert_non_null(strstr(small->got, length));
        assert_true(small->n < plain->n / 2);
        char *body = inflate_body(small);
        assert_int_equal(
            strlen(body) > 0 ? memcmp(body, strstr(plain->got, "\r\n\r\n") + 4, 20) : 1, 0);
        if (strstr(paths[i], "prf") == NULL)
            assert_string_equal(body, strstr(plain->got, "\r\n\r\n") + 4);
        free(body);
        client_free(plain);
        client_free(small);
    }
}

static void gzip__tags__are_of_their_own_and_both_known(void **state)
{
    struct fixture *fx = *state;
    char id[FEED_POSITION_TEXT], tag[80], request[400];
    call_many(fx);
    fold_feed(fx);
    feed_position_text(feed_epoch(fx->feed), feed_seq(fx->feed), id);
    snprintf(tag, sizeof tag, "ETag: \"%s-gzip\"\r\n", id);
    expect_answer(fx, "GET /api/1/snapshot HTTP/1.1\r\n" US "Accept-Encoding: gzip\r\n" LAST, "200",
                  tag);
    snprintf(tag, sizeof tag, "ETag: \"%s\"\r\n", id);
    expect_answer(fx, GET("/api/1/snapshot"), "200", tag);
    static const char *const forms[] = { "\"%s-gzip\"", "\"%s\"", "W/\"%s-gzip\"",
                                         "\"1-1\", \"%s\"" };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        char known[120];
        snprintf(known, sizeof known, forms[i], id);
        snprintf(request, sizeof request,
                 "GET /api/1/snapshot HTTP/1.1\r\n" US
                 "Accept-Encoding: gzip\r\nIf-None-Match: %s\r\n" LAST,
                 known);
        expect_answer(fx, request, "304", "Vary: Accept-Encoding\r\n");
    }
}

static void gzip__accept_encoding__as_it_is_meant(void **state)
{
    static const struct {
        const char *value;
        bool accepted;
    } rows[] = {
        { NULL, false },          { "", false },         { "gzip", true },
        { "GZIP", true },         { "x-gzip", true },    { "br, zstd", false },
        { "br;q=1, gzip", true }, { "gzip;q=0", false }, { "gzip; q=0.000", false },
        { "gzip;q=0.001", true }, { "*", true },         { "*;q=0", false },
        { "gzip;q=0, *", false }, { "identity", false }, { "gzipped", false },
        { " ,, gzip ,", true },   { "gzip;q=", true },   { ";,;", false },
        { "*, gzip;q=0", false }, { "gzip;Q=0", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (gzip_accepted(rows[i].value) != rows[i].accepted)
            print_message("%s\n", rows[i].value);
        assert_int_equal(gzip_accepted(rows[i].value), rows[i].accepted);
    }
}

/* The service ends while another thread still writes; it may also be the last to have the profile.
 */
static void gzip__service_gone_meanwhile__ends_for_nothing(void **state)
{
    struct fixture *fx = *state;
    struct client *c = client_new(fx);
    send_text(c, GET("/profile.json"));
    for (int i = 0; i < 4000 && !fx->nworks; i++)
        http_api_serve(fx->api);
    assert_int_equal(fx->nworks, 1);
    http_api_free(fx->api);
    fx->api = NULL;
    receive_text(c);
    assert_memory_equal(c->got + 9, "503", 3);
    client_free(c);
}

static void gzip__more_at_once_than_are_made__are_to_come_again(void **state)
{
    struct fixture *fx = *state;
    struct client *c[JOBS_MOST + 1];
    for (size_t i = 0; i < ARRAY_LEN(c); i++) {
        c[i] = client_new(fx);
        send_text(c[i], GET("/profile.json"));
        for (int k = 0; k < 4000 && fx->nworks <= i && i < JOBS_MOST; k++)
            http_api_serve(fx->api);
    }
    assert_int_equal(fx->nworks, JOBS_MOST);
    serve_until(fx, c[JOBS_MOST], "Retry-After: 1\r\n");
    for (size_t i = 0; i < JOBS_MOST; i++)
        serve_until(fx, c[i], "\"probeprof.profile/1\"");
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        client_free(c[i]);
}

static void snapshot__known_state__is_304_and_deltas_follow(void **state)
{
    struct fixture *fx = *state;
    char request[300], id[FEED_POSITION_TEXT];
    expect_answer(fx, GET("/api/1/snapshot"), "200",
                  "\"snap\""); /* the feed remembers for views it knows */
    feed_position_text(feed_epoch(fx->feed), feed_seq(fx->feed), id);
    snprintf(request, sizeof request,
             "GET /api/1/snapshot HTTP/1.1\r\n" US "If-None-Match: \"%s\"\r\n" LAST, id);
    expect_answer(fx, request, "304", "\r\n\r\n");
    feed_call(fx);
    expect_answer(fx, request, "200", "\"snap\"");
    snprintf(request, sizeof request, "GET /api/1/snapshot?since=%s HTTP/1.1\r\n" US LAST, id);
    expect_answer(fx, request, "200", "\"delta\"");
    feed_position_text(feed_epoch(fx->feed), feed_seq(fx->feed) + 5, id);
    snprintf(request, sizeof request, "GET /api/1/snapshot?since=%s HTTP/1.1\r\n" US LAST, id);
    expect_answer(fx, request, "410", "the feed is at 000000000000abcd-");
}

/* Calls for the timeline; the function at 0x200 is one of the profile, that at 0x900 is none. */
static void see_calls(struct fixture *fx)
{
    const struct event e[] = {
        { .kind = EVENT_START, .flags = EVENT_HAS_PC | EVENT_HAS_C1, .pc = 0x100, .c1 = 1000 },
        { .kind = EVENT_CALL, .flags = HAS, .pc = 0x100, .target = 0x200, .c1 = 1010 },
        { .kind = EVENT_CALL, .flags = HAS, .pc = 0x200, .target = 0x900, .c1 = 1020 },
        { .kind = EVENT_LOST, .cause = EVENT_CAUSE_RING_FULL, .lost_events = 3 },
        { .kind = EVENT_STOP, .flags = EVENT_HAS_C1, .c1 = 1100 },
    };
    assert_int_equal(feed_events(fx->feed, e, ARRAY_LEN(e)), 0);
}

static void timeline__events_kept__are_told_of(void **state)
{
    struct fixture *fx = *state;
    expect_answer(fx, GET("/api/1/timeline"), "409", "no events are kept");
    see_calls(fx);
    expect_answer(fx, GET("/api/1/timeline"), "200", "\"schema\":\"probeprof.timeline/1\"");
    expect_answer(fx, GET("/api/1/timeline"), "200", "\"clock\":\"c1\"");
    expect_answer(fx, GET("/api/1/timeline"), "200", "\"first\":1000,\"last\":1100,\"from\":1000");
    expect_answer(fx, GET("/api/1/timeline"), "200",
                  "[[0,1000,1020,20,1,0,1],[1,1010,1020,10,1,1,1]]");
    expect_answer(fx, GET("/api/1/timeline"), "200",
                  "\"gaps\":[[1020,1100,1,\"ring-full\",3,false]]");
    expect_answer(fx, GET("/api/1/timeline"), "200",
                  "[1000,1,\"start\",null],[1100,1,\"stop\",null]");
    expect_answer(fx, GET("/api/1/timeline?from=1005&to=1015&px=10&levels=1"), "200",
                  "\"calls\":[[0,1005,1015,10,1,0,1]]");
    expect_answer(fx, GET("/api/1/timeline?from=999"), "409", "from 1000 to 1100");
    expect_answer(fx, GET("/api/1/timeline?from=0"), "409", "from 1000 to 1100");
    expect_answer(fx, GET("/api/1/timeline?from=1100"), "409", "from 1000 to 1100");
    expect_answer(fx, GET("/api/1/timeline?from=20&to=20"), "400", "parameter to");
    expect_answer(fx, GET("/api/1/timeline?px=4097"), "400", "parameter px");
    expect_answer(fx, GET("/api/1/timeline?px=0"), "400", "parameter px");
    expect_answer(fx, GET("/api/1/timeline?levels=257"), "400", "parameter levels");
    expect_answer(fx, GET("/api/1/timeline?depth=1"), "400", "unknown parameter 'depth'");
}

static void timeline__function_without_id__stands_by_address(void **state)
{
    struct fixture *fx = *state;
    const struct event e[] = {
        { .kind = EVENT_CALL, .flags = HAS, .pc = 0x100, .target = 0x90000, .c1 = 1010 },
        { .kind = EVENT_RETURN, .flags = HAS, .pc = 0x90010, .target = 0x104, .c1 = 1030 },
        { .kind = EVENT_CALL, .flags = HAS, .pc = 0x100, .target = 0x200, .c1 = UINT64_MAX / 2 },
    };
    assert_int_equal(feed_events(fx->feed, e, ARRAY_LEN(e)), 0);
    expect_answer(fx, GET("/api/1/timeline"), "200", "[1,1010,1030,20,1,\"0x00090000\",0]");
    expect_answer(fx, GET("/api/1/timeline"), "200", "\"last\":\"9223372036854775807\"");
}

static void health__board_away_for_a_minute__is_503(void **state)
{
    struct fixture *fx = *state;
    fx->away = true;
    expect_answer(fx, GET("/healthz"), "503", "\"hint\":");
}

static void metrics__foreign_text__is_quoted(void **state)
{
    struct fixture *fx = *state;
    expect_answer(fx, GET("/metrics"), "200", "probe=\"a\\\"b\\\\c?\"");
    expect_answer(fx, GET("/metrics"), "200", "# TYPE probeprof_lost_events_total counter\n");
    expect_answer(fx, GET("/metrics"), "200", "probeprof_coverage_ratio 0.75\n");
    expect_answer(fx,
                  "GET /metrics HTTP/1.1\r\n" US "Accept: application/openmetrics-text\r\n" LAST,
                  "200", "# TYPE probeprof_lost_events counter\nprobeprof_lost_events_total 25\n");
}

static void page__from_a_folder__is_what_is_there(void **state)
{
    struct fixture *fx = *state;
    char dir[] = "/tmp/test_http_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.js", dir);
    FILE *f = fopen(path, "w");
    fputs("let a = 1;", f);
    fclose(f);
    http_api_free(fx->api);
    open_api(fx, &(struct guard_rules){ .port = 3334 }, dir);
    expect_answer(fx, GET("/assets/a.js"), "200", "let a = 1;");
    expect_answer(fx, GET("/assets/a.js"), "200", "text/javascript");
    expect_answer(fx, GET("/"), "404", "error");
    expect_answer(fx, GET("/assets/.a.js"), "404", "error");
    expect_answer(fx, GET("/assets//etc/passwd"), "404", "error");
    unlink(path);
    rmdir(dir);
}

/* ---- commands ---- */

static void control__bad_body__is_named(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *body, *within;
    } rows[] = {
        { "{}", "do: it is missing" },
        { "[]", "JSON object" },
        { "{\"do\":\"dance\"}", "no command" },
        { "{\"do\":\"start\",\"name\":\"x\"}", "takes no member" },
        { "{\"do\":\"points\",\"stop\":[\"a\",\"b\"],\"x\":1}", "x" },
        { "{\"do\":\"mark\",\"name\":7}", "name" },
        { "{\"do\":\"mark\",\"name\":\"a\\u0000b\"}", "JSON" },
        { "{\"do\":\"points\",\"stop\":[1]}", "stop" },
        { "{\"do\":\"points\",\"start\":[\"a\",\"b\"]}", "start: more than 1 point" },
        { "", "JSON" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_post(fx, "/api/1/control", rows[i].body, "400", rows[i].within);
    assert_null(fx->ticket);
}

static void control__command__reaches_the_owner(void **state)
{
    struct fixture *fx = *state;
    expect_post(fx, "/api/1/control", "{\"do\":\"mark\",\"name\":\"b\\u00f6ot\"}", "200",
                "\"position\":");
    assert_int_equal(fx->got.what, HTTP_MARK);
    assert_string_equal(fx->got.name, "b\xC3\xB6ot");
    expect_post(fx, "/api/1/control", "{\"do\":\"points\",\"start\":\"f\",\"stop\":[\"a\",\"b\"]}",
                "200", "seq");
    assert_int_equal(fx->got.nstops, 2);
    assert_string_equal(fx->got.stop[1], "b");
    assert_string_equal(fx->got.start, "f");
    expect_post(fx, "/api/1/control", "{\"do\":\"points\",\"start\":[\"g\"]}", "200", "seq");
    assert_true(fx->got.has_start && !fx->got.has_stop);
    assert_string_equal(fx->got.start, "g");
    expect_post(fx, "/api/1/control", "{\"do\":\"points\",\"start\":null,\"stop\":\"\"}", "200",
                "seq");
    assert_true(fx->got.has_start && fx->got.has_stop);
    assert_string_equal(fx->got.start, "");
    assert_int_equal(fx->got.nstops, 0);
    expect_post(fx, "/api/1/control", "{\"do\":\"counters\",\"c2\":\"branches\"}", "200", "seq");
    assert_string_equal(fx->got.counter[0], "");
    assert_string_equal(fx->got.counter[1], "branches");
    fx->control_ret = -ERR_STATE;
    expect_post(fx, "/api/1/control", "{\"do\":\"start\"}", "409", "\"hint\":\"do this\"");
}

static void control__body_in_pieces__is_whole(void **state)
{
    struct fixture *fx = *state;
    struct client *c = client_new(fx);
    send_text(c, POST_HEAD("14"));
    for (const char *b = "{\"do\":\"clear\"}"; *b; b++) {
        char one[2] = { *b, 0 };
        http_api_serve(fx->api);
        send_text(c, one);
    }
    serve_until(fx, c, NULL);
    assert_memory_equal(c->got + 9, "200", 3);
    assert_int_equal(fx->got.what, HTTP_CLEAR);
    client_free(c);
}

static void control__later__is_answered_when_it_is_done(void **state)
{
    struct fixture *fx = *state;
    struct client *c = client_new(fx);
    struct err err = { .code = ERR_STATE, .what = "no board", .hint = "plug it in" };
    fx->control_ret = 1;
    send_text(c, POST_HEAD("13") "{\"do\":\"stop\"}");
    for (int i = 0; i < 20; i++) {
        http_api_serve(fx->api);
        receive_text(c);
    }
    assert_int_equal(c->n, 0);
    http_api_done(fx->api, fx->ticket, -ERR_STATE, &err);
    serve_until(fx, c, NULL);
    assert_non_null(strstr(c->got, "plug it in"));
    assert_memory_equal(c->got + 9, "409", 3);
    client_free(c);
    c = client_new(fx); /* one that is never answered: the server ends all the same */
    send_text(c, POST_HEAD("13") "{\"do\":\"stop\"}");
    http_api_serve(fx->api);
    http_api_serve(fx->api);
    client_free(c);
}

/* ---- streams ---- */

static struct client *follow_feed(struct fixture *fx, const char *request)
{
    struct client *c = client_new(fx);
    send_text(c, request);
    serve_until(fx, c, "\"snap\"");
    return c;
}

static void stream__sse__hello_snap_and_deltas_with_ids(void **state)
{
    struct fixture *fx = *state;
    char id[FEED_POSITION_TEXT], line[80];
    struct client *c =
        follow_feed(fx, "GET /api/1/events?interval=5&reader=r1 HTTP/1.1\r\n" US "\r\n");
    assert_non_null(strstr(c->got, "Content-Type: text/event-stream\r\n"));
    assert_non_null(strstr(c->got, "\"hello\""));
    assert_true(strstr(c->got, "\"hello\"") < strstr(c->got, "\"snap\""));
    forget_answer(c);
    feed_call(fx);
    fold_feed(fx);
    serve_until(fx, c, "\"delta\"");
    snprintf(line, sizeof line, "id: %s\ndata: {",
             feed_position_text(feed_epoch(fx->feed), feed_seq(fx->feed), id));
    assert_non_null(strstr(c->got, line));
    assert_non_null(strstr(c->got, "}\n\n"));
    /* an orderly end says so */
    forget_answer(c);
    http_api_serve(fx->api);
    http_api_free(fx->api);
    fx->api = NULL;
    for (int i = 0; i < 100 && !c->closed; i++)
        receive_text(c);
    assert_non_null(strstr(c->got, "\"bye\""));
    client_free(c);
}

static void stream__idle__is_kept_awake_and_hears_news_at_once(void **state)
{
    struct fixture *fx = *state;
    struct client *c = follow_feed(fx, "GET /api/1/events?interval=1000 HTTP/1.1\r\n" US "\r\n");
    fx->now_ns += 6000000000;
    serve_until(fx, c, ":\n\n");
    fx->now_ns += 1100000000;
    uint64_t began = now_ns(fx);
    feed_call(fx);
    fold_feed(fx);
    serve_until(fx, c, "\"delta\"");
    assert_true(now_ns(fx) - began < 3000000000);
    fx->now_ns += 31000000000; /* its position is made new, too */
    forget_answer(c);
    serve_until(fx, c, "\"delta\"");
    client_free(c);
}

static void stream__resumed__gets_the_difference_only(void **state)
{
    struct fixture *fx = *state;
    char request[200], id[FEED_POSITION_TEXT];
    expect_answer(fx, GET("/api/1/snapshot"), "200", "\"snap\"");
    feed_position_text(feed_epoch(fx->feed), feed_seq(fx->feed), id);
    feed_call(fx);
    fold_feed(fx);
    struct client *c = client_new(fx);
    snprintf(request, sizeof request,
             "GET /api/1/events?since=0-0 HTTP/1.1\r\n" US "Last-Event-ID: %s\r\n\r\n", id);
    send_text(c, request);
    serve_until(fx, c, "\"delta\"");
    assert_null(strstr(c->got, "\"snap\""));
    client_free(c);
    c = follow_feed(fx, "GET /api/1/events HTTP/1.1\r\n" US "Last-Event-ID: 99-1\r\n\r\n");
    client_free(c); /* another epoch's: everything, and no error */
}

static void stream__ndjson_over_http_1_0__is_lines_of_json(void **state)
{
    struct fixture *fx = *state;
    struct client *c = follow_feed(fx, "GET /api/1/feed.ndjson?interval=5 HTTP/1.0\r\n" US "\r\n");
    feed_call(fx);
    fold_feed(fx);
    serve_until(fx, c, "\"delta\"");
    serve_until(fx, c, "}\n");
    char *line = strstr(c->got, "\r\n\r\n") + 4, *next;
    unsigned frames = 0;
    for (; (next = strchr(line, '\n')); line = next + 1) {
        *next = 0;
        json_t *frame = json_loads(line, 0, NULL);
        if (!frame)
            print_message("%s\n", line);
        assert_true(json_is_object(frame));
        json_decref(frame);
        frames++;
    }
    assert_true(frames >= 3);
    client_free(c);
}

static void stream__new_epoch__greets_anew(void **state)
{
    struct fixture *fx = *state;
    struct client *c = follow_feed(fx, "GET /api/1/feed.ndjson?interval=5 HTTP/1.0\r\n" US "\r\n");
    forget_answer(c);
    feed_restart(fx->feed, 0x1234);
    fold_feed(fx);
    serve_until(fx, c, "\"snap\"");
    assert_non_null(strstr(c->got, "\"hello\""));
    assert_non_null(strstr(c->got, "1234"));
    client_free(c);
}

/* Many, one of which takes nothing: the others get every frame; it is counted, cut, and told. */
static void stream__reader_takes_nothing__others_do_not_notice(void **state)
{
    struct fixture *fx = *state;
    struct client *stuck =
        follow_feed(fx, "GET /api/1/events?interval=5&reader=stuck HTTP/1.1\r\n" US "\r\n");
    struct client *c = follow_feed(fx, "GET /api/1/events?interval=5 HTTP/1.1\r\n" US "\r\n");
    bool told = false;
    for (unsigned i = 0; i < 60 || !told; i++) {
        /* new functions, so that frames are large */
        for (unsigned k = 0; i < 60 && k < 400; k++) {
            uint64_t at = 0x1000 + 0x100ull * (i * 400 + k);
            struct event e[] = {
                { .kind = EVENT_CALL, .flags = HAS, .pc = 0x100, .target = at },
                { .kind = EVENT_RETURN, .flags = HAS, .pc = at + 4, .target = 0x104 }
            };
            calltree_feed(fx->tree, e, ARRAY_LEN(e));
            fx->changes += 2;
        }
        feed_call(fx);
        fold_feed(fx);
        char id[FEED_POSITION_TEXT + 8], text[FEED_POSITION_TEXT];
        snprintf(id, sizeof id, "id: %s\n",
                 feed_position_text(feed_epoch(fx->feed), feed_seq(fx->feed), text));
        forget_answer(c);
        serve_until(fx, c, id);
        serve_until(fx, c, "}\n\n");
        told = told || strstr(c->got, "reader stuck of 127.0.0.1:5 was cut");
        fx->now_ns += 5000000;
        assert_true(i < 20000);
        if (i == 20) {
            struct client *asks = send_request(fx, GET("/api/1/readers"));
            const char *row = strstr(asks->got, "\"stuck\"");
            assert_non_null(row);
            assert_true(strtoul(strstr(row, "\"merged\": ") + 10, NULL, 10) > 3);
            client_free(asks);
        }
    }
    assert_int_equal(http_counts(http_api_http(fx->api)).cut, 1);
    client_free(stuck);
    stuck = client_new(fx);
    send_text(stuck, "GET /api/1/events?interval=5&reader=stuck HTTP/1.1\r\n" US "\r\n");
    serve_until(fx, stuck, "\"hello\"");
    serve_until(fx, stuck, "nothing was taken");
    client_free(stuck);
    client_free(c);
}

static void stream__too_many__are_told_so(void **state)
{
    struct fixture *fx = *state;
    struct client *c[HTTP_MAX_STREAMS];
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        c[i] = follow_feed(fx, "GET /api/1/events?interval=1000 HTTP/1.1\r\n" US "\r\n");
    expect_answer(fx, GET("/api/1/events"), "503", "Retry-After: 5");
    expect_answer(fx, GET("/api/1/events"), "503", "\"code\":\"readers\"");
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        client_free(c[i]);
}

/* ---- everything, as it comes ---- */

static void lines__too_many_for_a_listener__are_said_to_be_lost(void **state)
{
    struct fixture *fx = *state;
    char text[32];
    struct client *c = client_new(fx);
    fx->lines = true;
    send_text(c, "GET /api/1/lines HTTP/1.0\r\n" US "\r\n");
    serve_until(fx, c, "\r\n\r\n");
    assert_true(http_api_wants_lines(fx->api));
    http_api_line(fx->api, "PTS 1234");
    serve_until(fx, c, "\r\n\r\nPTS 1234\n");
    forget_answer(c);
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "PTIB %d", i);
        http_api_line(fx->api, text);
    }
    serve_until(fx, c, "PTIB 9999\n");
    assert_memory_equal(c->got, "# lost 1808\nPTIB 1808\n", 22);
    http_api_line(fx->api, "last");
    http_api_finish(fx->api);
    serve_until(fx, c, NULL);
    assert_non_null(strstr(c->got, "last\n"));
    client_free(c);
}

/* Written while it is read: what the reader has is a recording of the same events. */
static void raw__from_an_event__is_a_recording(void **state)
{
    struct fixture *fx = *state;
    enum { BLOCKS = 6, N = RECORDING_BLOCK_EVENTS };
    char path[] = "/tmp/test_http_XXXXXX";
    struct recording_writer *w;
    struct recording *rec;
    struct event e[64] = { 0 };
    struct client *c = client_new(fx), *late = client_new(fx);
    close(mkstemp(path));
    assert_int_equal(recording_create(path, &(struct recording_header){ .target = "t" }, &w, NULL),
                     0);
    snprintf(fx->record, sizeof fx->record, "%s.part", path);
    send_text(c, "GET /api/1/raw HTTP/1.0\r\n" US "\r\n");
    send_text(late, "GET /api/1/raw?from=8191 HTTP/1.0\r\n" US "\r\n");
    for (uint64_t i = 0; i < (uint64_t)BLOCKS * N; i += ARRAY_LEN(e)) {
        for (uint64_t k = 0; k < ARRAY_LEN(e); k++)
            e[k] = (struct event){ .kind = EVENT_CALL, .pc = (i + k) * 2654435761u % 65521 };
        assert_int_equal(recording_write(w, e, ARRAY_LEN(e), NULL), 0);
        if (i % N == 0) {
            http_api_serve(fx->api);
            receive_text(c);
        }
    }
    assert_int_equal(recording_finish(w, &(struct recording_end){ .events = BLOCKS * N }, NULL), 0);
    serve_until(fx, c, NULL);
    serve_until(fx, late, NULL);
    struct {
        struct client *c;
        uint64_t first;
    } rows[] = { { c, 0 }, { late, N } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *body = memmem(rows[i].c->got, rows[i].c->n, "\r\n\r\n", 4);
        size_t head = (size_t)(body + 4 - rows[i].c->got);
        uint64_t at = rows[i].first;
        assert_int_equal(
            recording_open_bytes((const uint8_t *)body + 4, rows[i].c->n - head, &rec, NULL), 0);
        for (int n; (n = recording_read(rec, e, ARRAY_LEN(e), NULL)) > 0;)
            for (int k = 0; k < n; k++, at++)
                assert_int_equal(e[k].pc, at * 2654435761u % 65521);
        assert_int_equal(at, BLOCKS * N);
        assert_non_null(recording_end_info(rec));
        recording_close(rec);
    }
    unlink(path);
    client_free(c);
    client_free(late);
}

/* ---- limits ---- */

static void request__that_never_ends__is_closed(void **state)
{
    struct fixture *fx = *state;
    struct client *c = client_new(fx);
    send_text(c, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < 5; i++) {
        http_api_serve(fx->api);
        send_text(c, "X: y\r\n");
        fx->now_ns += 1900000000;
        receive_text(c);
        assert_false(c->closed);
    }
    fx->now_ns += 1900000000;
    serve_until(fx, c, NULL);
    client_free(c);
}

static void connections__beyond_the_limit__are_turned_away(void **state)
{
    struct fixture *fx = *state;
    int fd[HTTP_MAX_CONNECTIONS + 1][2];
    for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd[i]), 0);
        http_add(http_api_http(fx->api), fd[i][1], "127.0.0.1:5", false, true, now_ns(fx));
    }
    char got[128] = "";
    assert_true(recv(fd[HTTP_MAX_CONNECTIONS][0], got, sizeof got - 1, 0) > 0);
    assert_memory_equal(got, "HTTP/1.1 503", 12);
    assert_true(recv(fd[0][0], got, sizeof got - 1, 0) < 0);
    assert_int_equal(http_counts(http_api_http(fx->api)).connections, HTTP_MAX_CONNECTIONS);
    for (size_t i = 0; i < ARRAY_LEN(fd); i++)
        close(fd[i][0]);
    for (int i = 0; i < 50; i++)
        http_api_serve(fx->api);
    assert_int_equal(http_counts(http_api_http(fx->api)).connections, 0);
    for (unsigned i = 0; i <= HTTP_MAX_AN_ADDRESS; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd[i]), 0);
        http_add(http_api_http(fx->api), fd[i][1], "192.168.1.9:5", false, false, now_ns(fx));
    }
    assert_int_equal(http_counts(http_api_http(fx->api)).connections, HTTP_MAX_AN_ADDRESS);
    for (unsigned i = 0; i <= HTTP_MAX_AN_ADDRESS; i++)
        close(fd[i][0]);
}

/* ---- tokens ---- */

static void token__asked_for__by_header_or_cookie(void **state)
{
    struct fixture *fx = *state;
    expect_post(fx, "/api/1/login", "{\"token\":\"none\"}", "404", "no token");
    http_api_free(fx->api);
    open_api(fx, &(struct guard_rules){ .port = 3334, .token = TOKEN }, NULL);
    expect_answer(fx, GET("/"), "200", "<!DOCTYPE html");
    expect_answer(fx, GET("/profile.json"), "401", "Bearer");
    expect_answer(fx,
                  "GET /profile.json HTTP/1.1\r\n" US "Authorization: Bearer " TOKEN "\r\n" LAST,
                  "200", "\"probeprof.profile/1\"");
    expect_post(fx, "/api/1/login", "{\"token\":\"" TOKEN "\"}", "204",
                "Set-Cookie: probeprof=" TOKEN "; Path=/; HttpOnly; SameSite=Strict\r\n");
    expect_answer(fx, "GET /profile.json HTTP/1.1\r\n" US "Cookie: probeprof=" TOKEN "\r\n" LAST,
                  "200", "\"probeprof.profile/1\"");
    for (int i = 0; i < 5; i++)
        expect_post(fx, "/api/1/login", "{\"token\":\"none\"}", "401", "\"code\":\"token\"");
    expect_post(fx, "/api/1/login", "{\"token\":\"none\"}", "429", "Retry-After: 60");
    expect_post(fx, "/api/1/login", "{\"token\":\"" TOKEN "\"}", "204", "Set-Cookie");
    fx->now_ns += 61000000000;
    expect_post(fx, "/api/1/login", "{\"token\":\"none\"}", "401", "\"code\":\"token\"");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up_api, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(api__each_path__answers),
        T(refused__by_the_library__says_nothing_of_the_request),
        T(gzip__if_accepted__is_the_same_and_smaller),
        T(gzip__tags__are_of_their_own_and_both_known),
        T(gzip__accept_encoding__as_it_is_meant),
        T(gzip__service_gone_meanwhile__ends_for_nothing),
        T(gzip__more_at_once_than_are_made__are_to_come_again),
        T(snapshot__known_state__is_304_and_deltas_follow),
        T(timeline__events_kept__are_told_of),
        T(timeline__function_without_id__stands_by_address),
        T(health__board_away_for_a_minute__is_503),
        T(metrics__foreign_text__is_quoted),
        T(page__from_a_folder__is_what_is_there),
        T(control__bad_body__is_named),
        T(control__command__reaches_the_owner),
        T(control__body_in_pieces__is_whole),
        T(control__later__is_answered_when_it_is_done),
        T(stream__sse__hello_snap_and_deltas_with_ids),
        T(stream__idle__is_kept_awake_and_hears_news_at_once),
        T(stream__resumed__gets_the_difference_only),
        T(stream__ndjson_over_http_1_0__is_lines_of_json),
        T(stream__new_epoch__greets_anew),
        T(stream__reader_takes_nothing__others_do_not_notice),
        T(stream__too_many__are_told_so),
        T(lines__too_many_for_a_listener__are_said_to_be_lost),
        T(raw__from_an_event__is_a_recording),
        T(request__that_never_ends__is_closed),
        T(connections__beyond_the_limit__are_turned_away),
        T(token__asked_for__by_header_or_cookie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
