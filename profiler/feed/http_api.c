#include "profiler/feed/http_api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/http_figures.h"
#include "profiler/feed/http_jobs.h"
#include "profiler/feed/http_lines.h"
#include "profiler/feed/http_query.h"
#include "profiler/feed/http_raw.h"
#include "profiler/feed/http_states.h"

enum { BLOCKS_AT_ONCE = 16 };

/* ---- everything, as it comes ---- */

static void answer_raw(const struct call *c)
{
    struct err err = { .code = ERR_OK };
    uint64_t from = 0;
    if (!call_knows(c, "from"))
        return;
    if (http_query_number(c->r->query, "from", 0, INT64_MAX, &from, &err) < 0)
        call_fail(c->a, &err);
    else
        raws_open(c->api->raws, from, c->a);
}

static void answer_lines(const struct call *c)
{
    const struct http_owner *o = &c->api->cfg.owner;
    struct err err = { .code = ERR_OK };
    if (!call_knows(c, ""))
        return;
    if (o->lines(o->ctx, &err) < 0)
        call_fail(c->a, &err);
    else
        lines_open(c->api->lines, c->a);
}

/* ---- commands ---- */

static void write_done(struct http_api *api, struct http_answer *a)
{
    char line[FEED_POSITION_TEXT + 64], id[FEED_POSITION_TEXT];
    struct text_sink out;
    if (!call_body(a, "application/json", &out))
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
        call_fail(&a, err);
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
    int ret = 0;
    if (call_knows(c, ""))
        ret = http_command_parse(c->r->body, c->r->body_len, &command, &err);
    if (c->a->body)
        return;
    if (ret == 0)
        ret = o->control(o->ctx, &command, c->r->ticket, &err);
    if (ret < 0)
        call_fail(c->a, &err);
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
    { "/api/1/snapshot", states_snapshot, NULL },
    { "/api/1/events", states_stream, "sse" },
    { "/api/1/feed.ndjson", states_stream, "ndjson" },
    { "/api/1/series", states_series, NULL },
    { "/api/1/log", states_log, NULL },
    { "/api/1/range", states_range, NULL },
    { "/api/1/timeline", states_timeline, NULL },
    { "/api/1/raw", answer_raw, NULL },
    { "/api/1/lines", answer_lines, NULL },
    { "/api/1/readers", figures_readers, NULL },
    { "/api/1/status", figures_status, NULL },
    { "/api/1/control", answer_control, NULL },
    { "/api/1/login", answer_login, NULL },
    { "/healthz", figures_health, NULL },
    { "/metrics", figures_metrics, NULL },
    { "/profile.json", figures_export, "json" },
    { "/profile.prf", figures_export, "prf" },
};

static void find_answer(const struct call *c)
{
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (strcmp(c->r->path, paths[i].path) == 0) {
            paths[i].answer(&(struct call){ c->api, c->r, c->a, paths[i].argument });
            return;
        }
    if (strncmp(c->r->path, FIGURES_FUNCTION, strlen(FIGURES_FUNCTION)) == 0)
        figures_function(c);
    else
        http_static(&c->api->cfg, c->r, c->a);
}

static void answer_path(void *ctx, const struct http_request *r, struct http_answer *a)
{
    const struct call c = { ctx, r, a, NULL };
    find_answer(&c);
    jobs_gzip(&c);
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
        ret = raws_new(cfg->owner.recording, cfg->owner.ctx, &a->raws, err);
    if (ret == 0)
        ret = lines_new(&a->lines, err);
    if (ret == 0)
        ret = jobs_new(&a->jobs, err);
    if (ret == 0)
        ret = http_new(&(struct http_config){ cfg->rules, answer_path, a, log_line, cfg->stream_s },
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
    jobs_free(a->jobs);
    http_free(a->http);
    snapshot_release(a->served);
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
