#include "profiler/feed/http_api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/function.h"
#include "profiler/feed/http_lines.h"
#include "profiler/feed/http_query.h"
#include "profiler/feed/http_raw.h"
#include "profiler/feed/http_timeline.h"
#include "profiler/views/json_writer.h"

enum { BLOCKS_AT_ONCE = 16 };

struct http_api {
    struct http_api_config cfg;
    struct http *http;
    struct readers *readers;
    struct raws *raws;
    struct lines *lines;
};

/* What a handler has to do with. */
struct call {
    struct http_api *api;
    const struct http_request *r;
    struct http_answer *a;
    const char *argument; /* of its row */
};

/* ---- what handlers share ---- */

static void fail(struct http_answer *a, const struct err *err)
{
    switch (err->code) {
    case ERR_USAGE: http_fail(a, 400, "parameter", err->what, err->hint); break;
    case ERR_NOT_FOUND: http_fail(a, 404, "not-found", err->what, err->hint); break;
    case ERR_NOMEM: http_fail(a, 503, "memory", err->what, err->hint); break;
    case ERR_IO: http_fail(a, 500, "io", err->what, err->hint); break;
    default: http_fail(a, 409, "not-now", err->what, err->hint); break;
    }
}

/* The body to write an answer into; false: there is no memory, and that is the answer. */
static bool begin_body(struct http_answer *a, const char *type, struct text_sink *out)
{
    a->body = http_bytes_new();
    a->type = type;
    if (!a->body) {
        http_fail(a, 503, "memory", "the feed is out of memory", "close other programs");
        return false;
    }
    *out = http_bytes_sink(a->body);
    return true;
}

/* Parameters that are refused are answered. */
static bool knows(const struct call *c, const char *names)
{
    struct err err = { .code = ERR_OK };
    if (http_query_known(c->r->query, names, &err) == 0)
        return true;
    fail(c->a, &err);
    return false;
}

static bool is_same_tag(const struct call *c)
{
    return c->r->if_none_match && strcmp(c->r->if_none_match, c->a->etag) == 0;
}

/* view, nodes, and since, or where a stream broke off. */
static int read_wish(const struct call *c, struct reader_wish *w, struct err *err)
{
    char text[128];
    uint64_t nodes = FEED_NODES_DEFAULT, interval = READER_DEFAULT_MS;
    w->view.parts = FEED_FUNCTIONS | FEED_NODES | FEED_LOGGED;
    int ret = http_query_text(c->r->query, "view", text, sizeof text)
                  ? feed_view_parse(text, &w->view.parts, err)
                  : 0;
    if (ret == 0)
        ret = http_query_number(c->r->query, "nodes", 0, FEED_NODES_MOST, &nodes, err);
    if (ret == 0)
        ret = http_query_number(c->r->query, "interval", READER_LEAST_MS, READER_MOST_MS, &interval,
                                err);
    w->view.nodes = feed_view_nodes((uint32_t)nodes);
    w->interval_ms = (unsigned)interval;
    http_query_text(c->r->query, "reader", w->id, sizeof w->id);
    if (ret == 0 && http_query_text(c->r->query, "since", text, sizeof text)) {
        w->knows = feed_position_parse(text, &w->epoch, &w->seq);
        if (!w->knows)
            return err_set(err, ERR_USAGE, "an id that a frame had",
                           "parameter since is no position");
    }
    return ret;
}

/* ---- states ---- */

static void answer_stream(const struct call *c)
{
    struct reader_wish w = { .sse = strcmp(c->argument, "sse") == 0 };
    struct err err = { .code = ERR_OK };
    if (!knows(c, "view nodes interval reader since"))
        return;
    if (read_wish(c, &w, &err) < 0) {
        fail(c->a, &err);
        return;
    }
    if (c->r->last_event_id)
        w.knows = feed_position_parse(c->r->last_event_id, &w.epoch, &w.seq);
    snprintf(w.peer, sizeof w.peer, "%s", c->r->peer);
    if (strcmp(c->r->method, "HEAD") == 0) {
        c->a->type = w.sse ? "text/event-stream" : "application/x-ndjson";
        return;
    }
    readers_open(c->api->readers, &w, c->api->cfg.owner.now_ns(c->api->cfg.owner.ctx), c->a);
}

static void answer_gone(const struct call *c)
{
    char id[FEED_POSITION_TEXT], hint[96];
    struct feed *f = c->api->cfg.feed;
    snprintf(hint, sizeof hint, "ask without since; the feed is at %s",
             feed_position_text(feed_epoch(f), feed_seq(f), id));
    http_fail(c->a, 410, "since", "what changed since then cannot be told any more", hint);
}

/* The values at a mark instead. */
static void answer_mark(const struct call *c, const struct reader_wish *w, const char *name)
{
    struct err err = { .code = ERR_OK };
    struct text_sink out;
    if (!begin_body(c->a, "application/json", &out))
        return;
    if (feed_write_mark(c->api->cfg.feed, &w->view, name, &out, &err) < 0)
        fail(c->a, &err);
    else
        http_bytes_add(c->a->body, "\n", 1);
}

static void answer_state(const struct call *c, const struct reader_wish *w)
{
    struct feed *f = c->api->cfg.feed;
    struct text_sink out;
    char id[FEED_POSITION_TEXT];
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    if (w->knows && w->epoch != feed_epoch(f)) {
        answer_gone(c);
        return;
    }
    snprintf(c->a->etag, sizeof c->a->etag, "\"%s\"",
             feed_position_text(feed_epoch(f), feed_seq(f), id));
    if (is_same_tag(c)) {
        c->a->status = 304;
        return;
    }
    if (!begin_body(c->a, "application/json", &out))
        return;
    int ret = w->knows ? feed_write_delta(f, &w->view, w->seq, 0, &out)
                       : feed_write_snap(f, &w->view, &out);
    http_bytes_add(c->a->body, "\n", 1);
    if (ret == -ERR_NOT_FOUND)
        answer_gone(c);
    else if (ret < 0)
        http_fail(c->a, 503, "memory", "the feed is out of memory", "close other programs");
}

static void answer_snapshot(const struct call *c)
{
    struct reader_wish w = { 0 };
    struct err err = { .code = ERR_OK };
    char name[HTTP_COMMAND_TEXT];
    if (!knows(c, "view nodes since mark"))
        return;
    if (read_wish(c, &w, &err) < 0)
        fail(c->a, &err);
    else if (http_query_text(c->r->query, "mark", name, sizeof name))
        answer_mark(c, &w, name);
    else
        answer_state(c, &w);
}

static void answer_series(const struct call *c)
{
    struct text_sink out;
    if (!knows(c, "") || !begin_body(c->a, "application/json", &out))
        return;
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    feed_write_series(c->api->cfg.feed, &out);
    http_bytes_add(c->a->body, "\n", 1);
}

static void answer_log(const struct call *c)
{
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    uint64_t from = 0;
    if (!knows(c, "from"))
        return;
    if (http_query_number(c->r->query, "from", 0, INT64_MAX, &from, &err) < 0) {
        fail(c->a, &err);
        return;
    }
    if (!begin_body(c->a, "application/json", &out))
        return;
    feed_write_log(c->api->cfg.feed, from, &out);
    http_bytes_add(c->a->body, "\n", 1);
}

static void answer_timeline(const struct call *c)
{
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    if (!knows(c, HTTP_TIMELINE_NAMES) || !begin_body(c->a, "application/json", &out))
        return;
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    if (http_timeline(c->api->cfg.feed, c->r->query, &out, &err) < 0)
        fail(c->a, &err);
}

/* ---- everything, as it comes ---- */

static void answer_raw(const struct call *c)
{
    const struct http_owner *o = &c->api->cfg.owner;
    struct err err = { .code = ERR_OK };
    char path[1100];
    uint64_t from = 0;
    if (!knows(c, "from"))
        return;
    int ret = http_query_number(c->r->query, "from", 0, INT64_MAX, &from, &err);
    if (ret == 0)
        ret = o->recording(o->ctx, path, sizeof path, &err);
    if (ret < 0)
        fail(c->a, &err);
    else
        raws_open(c->api->raws, path, from, c->a);
}

static void answer_lines(const struct call *c)
{
    const struct http_owner *o = &c->api->cfg.owner;
    struct err err = { .code = ERR_OK };
    if (!knows(c, ""))
        return;
    if (o->lines(o->ctx, &err) < 0)
        fail(c->a, &err);
    else
        lines_open(c->api->lines, c->a);
}

/* ---- figures ---- */

static void text(struct json_writer *j, const char *key, const char *value)
{
    json_write_key(j, key);
    json_write_string(j, value);
}

static void number(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    json_write_uint(j, value);
}

static void flag(struct json_writer *j, const char *key, bool value)
{
    json_write_key(j, key);
    json_write_bool(j, value);
}

static void real(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, key);
    json_write_real(j, value);
}

static void answer_readers(const struct call *c)
{
    struct text_sink out;
    if (!knows(c, "") || !begin_body(c->a, "application/json", &out))
        return;
    struct json_writer j = { .out = &out };
    json_write_object(&j, false);
    text(&j, "schema", "probeprof.readers/1");
    number(&j, "most", HTTP_MAX_STREAMS);
    json_write_key(&j, "readers");
    readers_write(c->api->readers, c->api->cfg.owner.now_ns(c->api->cfg.owner.ctx), &j);
    json_write_end(&j);
    http_bytes_add(c->a->body, "\n", 1);
}

static void write_run(struct json_writer *j, const struct http_facts *f)
{
    text(j, "phase", f->phase);
    flag(j, "profiling", f->profiling);
    text(j, "target", f->target);
    text(j, "probe", f->probe);
    text(j, "elf", f->elf);
    text(j, "c1", f->counter[0]);
    text(j, "c2", f->counter[1]);
    text(j, "record", f->record);
    flag(j, "away", f->away);
    number(j, "away_s", f->away_s);
    number(j, "events", f->events);
    number(j, "lost", f->lost);
    flag(j, "lost_is_bound", f->lost_is_bound);
    number(j, "gaps", f->gaps);
    real(j, "slow_down", f->slow_down);
    real(j, "board_seconds", (double)f->board_ns / 1e9);
    real(j, "host_seconds", (double)f->host_ns / 1e9);
    real(j, "queue_fill", f->queue_fill);
    real(j, "ring_fill", f->ring_fill);
    number(j, "gdb_sessions", f->gdb_sessions);
}

static void answer_status(const struct call *c)
{
    struct http_api *a = c->api;
    struct text_sink out;
    struct http_facts f = { 0 };
    char id[FEED_POSITION_TEXT];
    if (!knows(c, "") || !begin_body(c->a, "application/json", &out))
        return;
    a->cfg.owner.facts(a->cfg.owner.ctx, &f);
    struct http_counts counts = http_counts(a->http);
    struct json_writer j = { .out = &out };
    json_write_object(&j, false);
    text(&j, "schema", "probeprof.status/1");
    text(&j, "version", a->cfg.version);
    text(&j, "position", feed_position_text(feed_epoch(a->cfg.feed), feed_seq(a->cfg.feed), id));
    real(&j, "fold_pause_ms", (double)feed_pause_ns(a->cfg.feed) / 1e6);
    write_run(&j, &f);
    number(&j, "readers", readers_count(a->readers));
    number(&j, "connections", counts.connections);
    number(&j, "requests", counts.requests);
    number(&j, "refused", counts.refused);
    number(&j, "cut", counts.cut);
    number(&j, "streamed_bytes", counts.bytes_streamed);
    json_write_end(&j);
    http_bytes_add(c->a->body, "\n", 1);
}

static void answer_health(const struct call *c)
{
    struct http_facts f = { 0 };
    c->api->cfg.owner.facts(c->api->cfg.owner.ctx, &f);
    if (f.away && f.away_s >= HTTP_AWAY_S) {
        http_fail(c->a, 503, "away", "the board has been away for more than a minute",
                  "look at its power and its cable; /api/1/log says why");
        return;
    }
    c->a->type = "text/plain; charset=utf-8";
    c->a->fixed = "ok\n";
    c->a->fixed_size = 3;
}

static void answer_metrics(const struct call *c)
{
    struct text_sink out;
    bool open = c->r->accept && strstr(c->r->accept, "application/openmetrics-text");
    if (!begin_body(c->a,
                    open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                         : "text/plain; version=0.0.4; charset=utf-8",
                    &out))
        return;
    struct http_counts counts = http_counts(c->api->http);
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    http_metrics(&c->api->cfg, &counts, readers_count(c->api->readers), open, &out);
}

static const char function_path[] = "/api/1/function/";

static void answer_function(const struct call *c)
{
    const struct http_owner *o = &c->api->cfg.owner;
    struct program_code code = { 0 };
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    const char *id = c->r->path + strlen(function_path);
    bool plain = *id && strspn(id, "0123456789") == strlen(id) && strlen(id) < 10;
    if (!plain) {
        err_set(&err, ERR_NOT_FOUND, "ids are those of the snapshot's names",
                "that is no function");
        fail(c->a, &err);
        return;
    }
    if (!knows(c, "") || !begin_body(c->a, "application/json", &out))
        return;
    o->fold(o->ctx);
    if (o->code)
        o->code(o->ctx, &code);
    if (function_write(c->api->cfg.feed, strtoul(id, NULL, 10), &code, &out, &err) < 0)
        fail(c->a, &err);
    else
        http_bytes_add(c->a->body, "\n", 1);
}

static void answer_export(const struct call *c)
{
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    bool json = strcmp(c->argument, "json") == 0;
    if (!knows(c, "") ||
        !begin_body(c->a, json ? "application/json" : "application/octet-stream", &out))
        return;
    if (c->api->cfg.owner.export(c->api->cfg.owner.ctx, c->argument, &out, &err) < 0)
        fail(c->a, &err);
}

/* ---- commands ---- */

static void write_done(struct http_api *api, struct http_answer *a)
{
    char line[FEED_POSITION_TEXT + 64], id[FEED_POSITION_TEXT];
    struct text_sink out;
    if (!begin_body(a, "application/json", &out))
        return;
    int n = snprintf(line, sizeof line, "{\"position\":\"%s\",\"seq\":%llu}\n",
                     feed_position_text(feed_epoch(api->cfg.feed), feed_seq(api->cfg.feed), id),
                     (unsigned long long)feed_seq(api->cfg.feed));
    http_bytes_add(a->body, line, (size_t)n);
}

void http_api_done(struct http_api *api, struct http_ticket *ticket, int ret, const struct err *err)
{
    struct http_answer a = { .status = 200 };
    if (ret < 0)
        fail(&a, err);
    else
        write_done(api, &a);
    http_answer(ticket, &a);
    http_run(api->http, api->cfg.owner.now_ns(api->cfg.owner.ctx));
}

static void answer_control(const struct call *c)
{
    struct http_command command;
    struct err err = { .code = ERR_OK };
    const struct http_owner *o = &c->api->cfg.owner;
    int ret = knows(c, "") ? http_command_parse(c->r->body, c->r->body_len, &command, &err) : 0;
    if (c->a->body)
        return;
    if (ret == 0)
        ret = o->control(o->ctx, &command, c->r->ticket, &err);
    if (ret < 0)
        fail(c->a, &err);
    else if (ret > 0)
        c->a->later = true;
    else
        write_done(c->api, c->a);
}

/* The token itself is the cookie: scripts of the page do not see it, and no other site's request
 * brings it. */
static void answer_login(const struct call *c)
{
    const char *token = c->api->cfg.rules.token;
    json_t *root = json_loadb(c->r->body, c->r->body_len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *said = json_object_get(root, "token");
    struct guard_text given = { json_string_value(said), json_string_length(said) };
    if (!token) {
        http_fail(c->a, 404, "token", "this feed asks for no token", "just ask");
    } else if (!given.at || !guard_same(given, (struct guard_text){ token, strlen(token) })) {
        http_wrong_token(c->api->http, c->a);
    } else {
        c->a->status = 204;
        snprintf(c->a->cookie, sizeof c->a->cookie,
                 "probeprof=%s; Path=/; HttpOnly; SameSite=Strict", token);
    }
    json_decref(root);
}

/* ---- the paths ---- */

static const struct {
    const char *path;
    void (*answer)(const struct call *c);
    const char *argument;
} paths[] = {
    { "/api/1/snapshot", answer_snapshot, NULL },
    { "/api/1/events", answer_stream, "sse" },
    { "/api/1/feed.ndjson", answer_stream, "ndjson" },
    { "/api/1/series", answer_series, NULL },
    { "/api/1/log", answer_log, NULL },
    { "/api/1/timeline", answer_timeline, NULL },
    { "/api/1/raw", answer_raw, NULL },
    { "/api/1/lines", answer_lines, NULL },
    { "/api/1/readers", answer_readers, NULL },
    { "/api/1/status", answer_status, NULL },
    { "/api/1/control", answer_control, NULL },
    { "/api/1/login", answer_login, NULL },
    { "/healthz", answer_health, NULL },
    { "/metrics", answer_metrics, NULL },
    { "/profile.json", answer_export, "json" },
    { "/profile.prf", answer_export, "prf" },
};

static void answer(void *ctx, const struct http_request *r, struct http_answer *a)
{
    struct http_api *api = ctx;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (strcmp(r->path, paths[i].path) == 0) {
            paths[i].answer(&(struct call){ api, r, a, paths[i].argument });
            return;
        }
    if (strncmp(r->path, function_path, strlen(function_path)) == 0)
        answer_function(&(struct call){ api, r, a, NULL });
    else
        http_static(&api->cfg, r, a);
}

/* ---- the service ---- */

static void log_line(void *ctx, const char *line)
{
    struct http_api *a = ctx;
    if (a->cfg.owner.log)
        a->cfg.owner.log(a->cfg.owner.ctx, line);
}

int http_api_new(const struct http_api_config *cfg, struct http_api **out, struct err *err)
{
    struct http_api *a = calloc(1, sizeof *a);
    if (!a)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    a->cfg = *cfg;
    int ret = readers_new(cfg->feed, &a->readers, err);
    if (ret == 0)
        ret = raws_new(&a->raws, err);
    if (ret == 0)
        ret = lines_new(&a->lines, err);
    if (ret == 0)
        ret = http_new(&(struct http_config){ cfg->rules, answer, a, log_line, cfg->stream_s },
                       &a->http, err);
    if (ret < 0)
        http_api_free(a);
    else
        *out = a;
    return ret;
}

void http_api_free(struct http_api *a)
{
    if (!a)
        return;
    if (a->http)
        readers_end(a->readers, "the program ends", "start it again");
    http_free(a->http);
    readers_free(a->readers);
    raws_free(a->raws);
    lines_free(a->lines);
    free(a);
}

struct http *http_api_http(struct http_api *a) { return a->http; }

struct readers *http_api_readers(struct http_api *a) { return a->readers; }

void http_api_serve(struct http_api *a)
{
    uint64_t now = a->cfg.owner.now_ns(a->cfg.owner.ctx);
    readers_serve(a->readers, now);
    lines_serve(a->lines);
    raws_serve(a->raws);
    http_run(a->http, now);
    /* blocks go one by one; others want something, too */
    for (int i = 0; i < BLOCKS_AT_ONCE && raws_serve(a->raws); i++)
        http_run(a->http, now);
}

void http_api_line(struct http_api *a, const char *text) { lines_add(a->lines, text); }

bool http_api_wants_lines(const struct http_api *a) { return lines_wanted(a->lines); }

unsigned http_api_raws(const struct http_api *a) { return raws_count(a->raws); }

void http_api_finish(struct http_api *a) { lines_end(a->lines); }
