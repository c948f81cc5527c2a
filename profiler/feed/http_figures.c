#include "profiler/feed/http_figures.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/function.h"
#include "profiler/feed/http_jobs.h"
#include "profiler/feed/http_query.h"
#include "profiler/views/json_writer.h"

void figures_readers(const struct call *c)
{
    struct text_sink out;
    if (!call_knows(c, "") || !call_body(c->a, "application/json", &out))
        return;
    struct json_writer j = { .out = &out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.readers/1");
    json_member_uint(&j, "most", HTTP_MAX_STREAMS);
    json_write_key(&j, "readers");
    readers_write(c->api->readers, c->api->cfg.owner.now_ns(c->api->cfg.owner.ctx), &j);
    json_write_end(&j);
    http_bytes_add(c->a->body, "\n", 1);
}

static void write_coverage(struct json_writer *j, const struct http_facts *f)
{
    static const char *const keys[] = { "events",    "lost",          "lost_is_bound", "gaps",
                                        "slow_down", "board_seconds", "host_seconds" };
    for (size_t i = 0; f->sums_only && i < ARRAY_LEN(keys); i++)
        json_member_null(j, keys[i]);
    if (f->sums_only)
        return;
    json_member_uint(j, "events", f->events);
    json_member_uint(j, "lost", f->lost);
    json_member_bool(j, "lost_is_bound", f->lost_is_bound);
    json_member_uint(j, "gaps", f->gaps);
    json_member_real(j, "slow_down", f->slow_down);
    json_member_real(j, "board_seconds", (double)f->board_ns / 1e9);
    json_member_real(j, "host_seconds", (double)f->host_ns / 1e9);
}

static void write_run(struct json_writer *j, const struct http_facts *f)
{
    json_member_string(j, "phase", f->phase);
    json_member_bool(j, "profiling", f->profiling);
    json_member_string(j, "target", f->target);
    json_member_string(j, "probe", f->probe);
    json_member_string(j, "elf", f->elf);
    json_member_string(j, "c1", f->counter[0]);
    json_member_string(j, "c2", f->counter[1]);
    json_member_string(j, "record", f->record);
    json_member_bool(j, "away", f->away);
    json_member_uint(j, "away_s", f->away_s);
    write_coverage(j, f);
    json_member_real(j, "queue_fill", f->queue_fill);
    json_member_real(j, "ring_fill", f->ring_fill);
    json_member_uint(j, "gdb_sessions", f->gdb_sessions);
}

void figures_status(const struct call *c)
{
    struct http_api *a = c->api;
    struct text_sink out;
    struct http_facts f = { 0 };
    char id[FEED_POSITION_TEXT];
    if (!call_knows(c, "") || !call_body(c->a, "application/json", &out))
        return;
    a->cfg.owner.facts(a->cfg.owner.ctx, &f);
    struct http_counts counts = http_counts(a->http);
    struct json_writer j = { .out = &out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.status/1");
    json_member_string(&j, "version", a->cfg.version);
    json_member_string(&j, "position",
                       feed_position_text(feed_epoch(a->cfg.feed), feed_seq(a->cfg.feed), id));
    json_member_real(&j, "fold_pause_ms", (double)feed_pause_ns(a->cfg.feed) / 1e6);
    write_run(&j, &f);
    json_member_uint(&j, "readers", readers_count(a->readers));
    json_member_uint(&j, "connections", counts.connections);
    json_member_uint(&j, "requests", counts.requests);
    json_member_uint(&j, "refused", counts.refused);
    json_member_uint(&j, "cut", counts.cut);
    json_member_uint(&j, "streamed_bytes", counts.bytes_streamed);
    json_write_end(&j);
    http_bytes_add(c->a->body, "\n", 1);
}

void figures_health(const struct call *c)
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

void figures_metrics(const struct call *c)
{
    struct text_sink out;
    bool open = c->r->accept && strstr(c->r->accept, "application/openmetrics-text");
    if (!call_body(c->a,
                   open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                        : "text/plain; version=0.0.4; charset=utf-8",
                   &out))
        return;
    struct http_counts counts = http_counts(c->api->http);
    c->api->cfg.owner.fold(c->api->cfg.owner.ctx);
    http_metrics(&c->api->cfg, &counts, readers_count(c->api->readers), open, &out);
}

void figures_function(const struct call *c)
{
    const struct http_owner *o = &c->api->cfg.owner;
    struct program_code code = { 0 };
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    char mark[FEED_MARK_NAME];
    const char *id = c->r->path + strlen(FIGURES_FUNCTION);
    bool plain = *id && strspn(id, "0123456789") == strlen(id) && strlen(id) < 10;
    if (!plain) {
        err_set(&err, ERR_NOT_FOUND, "ids are those of the snapshot's names",
                "that is no function");
        call_fail(c->a, &err);
        return;
    }
    if (!call_knows(c, "mark") || !call_body(c->a, "application/json", &out))
        return;
    bool since = http_query_text(c->r->query, "mark", mark, sizeof mark);
    o->fold(o->ctx);
    if (o->code)
        o->code(o->ctx, &code);
    if (function_write(c->api->cfg.feed, strtoul(id, NULL, 10), since ? mark : NULL, &code, &out,
                       &err) < 0)
        call_fail(c->a, &err);
    else
        http_bytes_add(c->a->body, "\n", 1);
}

static void keep_served(struct http_api *api, const struct snapshot *n)
{
    snapshot_release(api->served);
    api->served = snapshot_keep(n);
}

void figures_export(const struct call *c)
{
    const struct http_owner *o = &c->api->cfg.owner;
    const struct exporter *as;
    const struct snapshot *from = NULL;
    struct text_sink out;
    struct err err = { .code = ERR_OK };
    char file[GUARD_MAX_TARGET] = "";
    char marks[8];
    bool json = strcmp(c->argument, "json") == 0;
    if (!call_knows(c, "file marks") ||
        !call_body(c->a, json ? "application/json" : "application/octet-stream", &out))
        return;
    http_query_text(c->r->query, "file", file, sizeof file);
    bool unmarked = http_query_text(c->r->query, "marks", marks, sizeof marks);
    int ret = exporter_find(c->argument, &as, &err);
    if (ret == 0 && unmarked && strcmp(marks, "off") != 0)
        ret = err_set(&err, ERR_USAGE, "marks=off, or leave it out",
                      "parameter marks is not off: others than those of the run are not known");
    if (ret == 0)
        ret = o->snapshot(o->ctx, file, !unmarked, &from, &err);
    if (ret < 0) {
        call_fail(c->a, &err);
        return;
    }
    keep_served(c->api, from);
    c->a->varies = true;
    jobs_export(c, as, from);
}
