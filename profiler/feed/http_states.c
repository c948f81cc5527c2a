#include "profiler/feed/http_states.h"

#include <stdio.h>
#include <string.h>

#include "profiler/feed/http_query.h"
#include "profiler/feed/http_timeline.h"

/* ---- what is wished for ---- */

/* view, nodes, and since, or where a stream broke off. */
static int read_wish(const struct call *c, struct reader_wish *w, struct err *err)
{
    char text[128];
    uint64_t nodes = FEED_NODES_DEFAULT, interval = READER_DEFAULT_MS;
    w->view.parts = FEED_FUNCTIONS | FEED_NODES | FEED_LOGGED;
    int ret = 0;
    if (http_query_text(c->r->query, "view", text, sizeof text))
        ret = feed_view_parse(text, &w->view.parts, err);
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

void states_stream(const struct call *c)
{
    struct reader_wish w = { .sse = strcmp(c->argument, "sse") == 0 };
    struct err err = { .code = ERR_OK };
    if (!call_knows(c, "view nodes interval reader since"))
        return;
    if (read_wish(c, &w, &err) < 0) {
        call_fail(c->a, &err);
        return;
    }
    if (c->r->last_event_id)
        w.knows = feed_position_parse(c->r->last_event_id, &w.epoch, &w.seq);
    snprintf(w.peer, sizeof w.peer, "%s", c->r->peer);
    if (strcmp(c->r->method, "HEAD") == 0) {
        c->a->type = "application/x-ndjson";
        if (w.sse)
            c->a->type = "text/event-stream";
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
    if (!call_body(c->a, "application/json", &out))
        return;
    if (feed_write_mark(c->api->cfg.feed, &w->view, name, &out, &err) < 0)
        call_fail(c->a, &err);
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
    if (call_knows_tag(c))
        return;
    if (!call_body(c->a, "application/json", &out))
        return;
    int ret;
    if (w->knows)
        ret = feed_write_delta(f, &w->view, w->seq, 0, &out);
    else
        ret = feed_write_snap(f, &w->view, &out);
    http_bytes_add(c->a->body, "\n", 1);
    if (ret == -ERR_NOT_FOUND)
        answer_gone(c);
    else if (ret < 0)
        http_fail(c->a, 503, "memory", "the feed is out of memory", "close other programs");
}

void states_snapshot(const struct call *c)
{
    struct reader_wish w = { 0 };
    struct err err = { .code = ERR_OK };
    char name[HTTP_COMMAND_TEXT];
    if (!call_knows(c, "view nodes since mark"))
        return;
    if (read_wish(c, &w, &err) < 0)
        call_fail(c->a, &err);
    else if (http_query_text(c->r->query, "mark", name, sizeof name))
        answer_mark(c, &w, name);
    else
        answer_state(c, &w);
}

void states_series(const struct call *c)
{
    struct text_sink out;
    if (!call_knows(c, "") || !call_body(c->a, "application/json", &out))
        return;
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    feed_write_series(c->api->cfg.feed, &out);
    http_bytes_add(c->a->body, "\n", 1);
}

void states_range(const struct call *c)
{
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    uint64_t from = 0, to = INT64_MAX;
    if (!call_knows(c, "from to"))
        return;
    int ret = http_query_number(c->r->query, "from", 0, INT64_MAX, &from, &err);
    if (ret == 0)
        ret = http_query_number(c->r->query, "to", 0, INT64_MAX, &to, &err);
    if (ret < 0) {
        call_fail(c->a, &err);
        return;
    }
    if (!call_body(c->a, "application/json", &out))
        return;
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    if (feed_write_range(c->api->cfg.feed, (int64_t)from, (int64_t)to, &out, &err) < 0)
        call_fail(c->a, &err);
    else
        http_bytes_add(c->a->body, "\n", 1);
}

void states_log(const struct call *c)
{
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    uint64_t from = 0;
    if (!call_knows(c, "from"))
        return;
    if (http_query_number(c->r->query, "from", 0, INT64_MAX, &from, &err) < 0) {
        call_fail(c->a, &err);
        return;
    }
    if (!call_body(c->a, "application/json", &out))
        return;
    feed_write_log(c->api->cfg.feed, from, &out);
    http_bytes_add(c->a->body, "\n", 1);
}

void states_timeline(const struct call *c)
{
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    if (!call_knows(c, HTTP_TIMELINE_NAMES) || !call_body(c->a, "application/json", &out))
        return;
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    if (http_timeline(c->api->cfg.feed, c->r->query, &out, &err) < 0)
        call_fail(c->a, &err);
}
