/* What a run has for the feed: its profile, its state, and commands that go to the board. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/run.h"
#include "profiler/cli/serve_state.h"
#include "profiler/cli/view.h"
#include "profiler/views/exporters.h"

static const uint64_t second_ns = 1000000000;

/* ---- state objects ---- */

static const char *phase_of(const struct run *r, const struct pump_view *v)
{
    switch (r->phase) {
    case RUN_STARTING: return "starting";
    case RUN_BRIDGING: return r->end_ns ? "done" : "bridging";
    case RUN_ENDING: return "ending";
    case RUN_QUITTING: return r->end_ns ? "done" : "quitting";
    case RUN_PROFILING: break;
    }
    if (v->phase != PUMP_ARMED || v->trace.active)
        return "profiling";
    return r->capture.seen ? "paused" : "waiting";
}

static void tell_run(struct run *r, const struct pump_view *v, struct feed *f)
{
    struct state_object o;
    struct slowdown slow = live_slowdown(v);
    struct json_writer *j = state_begin(&o);
    state_text(j, "phase", phase_of(r, v));
    state_text(j, "start", r->set.start);
    state_number(j, "stops", r->set.nstops);
    state_number(j, "passes_wanted", r->set.passes);
    state_number(j, "for_ns", r->set.for_ns);
    state_text(j, "record", r->set.record);
    state_text(j, "output", r->set.output);
    state_text(j, "note", v->trace.note);
    state_number(j, "sites", v->trace.sites);
    state_number(j, "untraced_sites", v->trace.untraced_sites);
    state_rounded(j, "slow_down", slow.times);
    state_rounded(j, "slow_down_agent", slow.agent);
    state_rounded(j, "slow_down_moving", slow.moving);
    state_end(&o, f, FEED_RUN);
}

static void tell_target(struct run *r, const struct pump_view *v, struct feed *f)
{
    struct state_object o;
    char where[160] = "", pc[24] = "";
    bool halted = v->stop.reason != STOP_NONE;
    struct json_writer *j = state_begin(&o);
    if (halted) {
        symbols_describe(r->symbols, v->stop.pc, where, sizeof where);
        snprintf(pc, sizeof pc, "0x%08llx", (unsigned long long)v->stop.pc);
    }
    state_text(j, "name", r->part->name);
    state_text(j, "state",
               v->away       ? "away"
               : halted      ? "halted"
               : r->has_pump ? "running"
                             : "unknown");
    state_text(j, "why", v->away ? v->why.what : halted ? v->stop.text : NULL);
    state_text(j, "hint", v->away ? v->why.hint : NULL);
    state_text(j, "pc", pc);
    state_text(j, "where", where);
    json_write_key(j, "away_since_ms");
    if (v->away)
        json_write_int(j, r->away_ms);
    else
        json_write_null(j);
    state_end(&o, f, FEED_TARGET);
}

static void tell_others(struct run *r, const struct pump_view *v, struct feed *f)
{
    struct state_object o;
    struct json_writer *j = state_begin(&o);
    state_text(j, "name", r->probe->name);
    state_flag(j, "away", v->away);
    state_number(j, "gaps", v->gaps);
    pthread_mutex_lock(&r->wire.lock);
    struct target_wire wire = r->wire.seen;
    pthread_mutex_unlock(&r->wire.lock);
    state_number(j, "damaged", wire.damaged);
    state_number(j, "clock_hz", wire.hz ? wire.hz : r->found_hz);
    state_end(&o, f, FEED_ADAPTER);
    j = state_begin(&o);
    state_number(j, "sessions", r->server ? gdb_server_sessions(r->server) : 0);
    state_text(j, "address", r->server ? gdb_server_describe(r->server) : NULL);
    state_end(&o, f, FEED_GDB);
}

static double ring_fill(const struct trace_status *s)
{
    return s->ring_bytes ? (double)s->ring_used / s->ring_bytes : 0;
}

static double queue_fill(struct run *r)
{
    size_t n = 0;
    if (r->has_pump)
        pump_front(&r->pump, &n);
    return MIN(1.0, (double)n / RUN_QUEUE_EVENTS);
}

static void log_stop(struct run *r, const struct pump_view *v)
{
    char where[160], text[320];
    bool halted = v->stop.reason != STOP_NONE;
    if (halted && !r->was_halted) {
        symbols_describe(r->symbols, v->stop.pc, where, sizeof where);
        snprintf(text, sizeof text, "the program stopped at %s%s%s", where,
                 *v->stop.text ? ": " : "", v->stop.text);
        serve_note(&r->serve, "stop", text);
    }
    r->was_halted = halted;
}

static void source_of(struct run *r, struct feed_source *from)
{
    *from = (struct feed_source){
        .tree = r->capture.tree,
        .symbols = r->capture.symbols,
        .rates = &r->capture.rates,
        .tasks = &r->capture.tasks,
        .samples = r->set.sample,
        .changes = r->capture.seen,
    };
}

static void look(void *ctx, struct feed *f, struct feed_source *from, struct feed_moment *now)
{
    struct run *r = ctx;
    struct pump_view v = r->has_pump ? pump_look(&r->pump) : (struct pump_view){ 0 };
    if (v.away && !r->away_ms) {
        r->away_ms = now->wall_ms;
        r->away_ns = uv_hrtime();
    } else if (!v.away) {
        r->away_ms = 0;
    }
    now->board_ns = v.trace.time.board_ns;
    tell_run(r, &v, f);
    tell_target(r, &v, f);
    tell_others(r, &v, f);
    log_stop(r, &v);
    feed_gauge(f, &(struct feed_gauges){ .wire_bits = v.trace.wire_bits,
                                         .ring_fill = ring_fill(&v.trace),
                                         .queue_fill = queue_fill(r),
                                         .slow_down = live_slowdown(&v).times });
    source_of(r, from);
}

/* ---- figures and files ---- */

static void facts(void *ctx, struct http_facts *out)
{
    struct run *r = ctx;
    struct pump_view v = r->has_pump ? pump_look(&r->pump) : (struct pump_view){ 0 };
    *out = (struct http_facts){
        .phase = phase_of(r, &v),
        .profiling = r->phase == RUN_PROFILING || r->phase == RUN_ENDING,
        .away = v.away,
        .away_s = (unsigned)(v.away && r->away_ns ? (uv_hrtime() - r->away_ns) / second_ns : 0),
        .events = r->capture.seen,
        .lost = v.trace.lost,
        .lost_is_bound = r->capture.tree && calltree_stats(r->capture.tree)->lost_is_bound,
        .gaps = v.gaps,
        .slow_down = live_slowdown(&v).times,
        .board_ns = v.trace.time.board_ns,
        .host_ns = (r->end_ns ? r->end_ns : uv_hrtime()) - r->begin_ns,
        .wire_bits = v.trace.wire_bits,
        .ring_fill = ring_fill(&v.trace),
        .queue_fill = queue_fill(r),
        .gdb_sessions = r->server ? gdb_server_sessions(r->server) : 0,
        .target = r->part->name,
        .probe = r->probe->name,
        .elf = *r->elf_path ? r->elf_path : NULL,
        .counter = { r->header.counter[0].name, r->header.counter[1].name },
        .record = r->capture.recording ? r->set.record : NULL,
    };
}

static int no_profile(struct err *err)
{
    return err_set(err, ERR_STATE, "start it with --elf FILE, without --no-profile",
                   "this run takes no profile");
}

static int export(void *ctx, const char *format, const struct text_sink *out, struct err *err)
{
    struct run *r = ctx;
    const struct exporter *x;
    const struct snapshot *n = NULL;
    if (!r->has_pump)
        return no_profile(err);
    int ret = exporter_find(format, &x, err);
    if (ret == 0)
        ret = run_snapshot(r, &n, err);
    if (ret == 0)
        ret = x->write(snapshot_profile(n), NULL, out, err);
    if (n) { /* whoever asks next, without an event since, gets the same again */
        snapshot_release(r->served);
        r->served = n;
    }
    return ret;
}

/* ---- all that comes ---- */

static int recording(void *ctx, char *path, size_t cap, struct err *err)
{
    struct run *r = ctx;
    if (!r->capture.recording)
        return err_set(err, ERR_STATE, "start it with --record FILE",
                       "this run is not recorded, or not any more");
    snprintf(path, cap, "%s", recording_part_path(r->capture.recording));
    return 0;
}

static void flush(void *ctx)
{
    struct run *r = ctx;
    if (r->capture.recording)
        recording_flush(r->capture.recording, NULL); /* a failure shows with the next block */
}

static int has_lines(void *ctx, struct err *err)
{
    struct run *r = ctx;
    if (!r->has_pump)
        return no_profile(err);
    if (!r->target->ops->trace || !r->target->ops->trace->line_text)
        return err_set(err, ERR_UNSUPPORTED, "follow /api/1/events", "%s: its trace has no lines",
                       r->part->name);
    if (!r->set.trace_lines)
        return err_set(err, ERR_STATE, "start it with --trace-lines",
                       "this run does not keep the trace's lines");
    return 0;
}

static void code(void *ctx, struct program_code *out)
{
    const struct run *r = ctx;
    state_code(&r->capture, out);
}

/* ---- commands ---- */

static void command_on_worker(void *ctx, struct target *t)
{
    struct run *r = ctx;
    struct serve_command *c = &r->command;
    c->err = (struct err){ .code = ERR_OK };
    c->ret = 0;
    if (c->what == HTTP_START && r->pump.phase != PUMP_ARMED)
        c->ret = pump_arm(&r->pump, t, &c->err);
    if (c->ret >= 0 && r->pump.phase != PUMP_ARMED)
        c->ret = err_set(&c->err, ERR_STATE, "start it first", "no profile is running");
    if (c->ret >= 0)
        c->ret = pump_set_active(&r->pump, t, c->what == HTTP_START, &c->err);
}

static void command_done(void *ctx)
{
    struct run *r = ctx;
    r->command.busy = false;
    serve_note(&r->serve, "note",
               r->command.ret < 0              ? r->command.err.what
               : r->command.what == HTTP_START ? "profiling was started by a reader"
                                               : "profiling was paused by a reader");
    serve_now(&r->serve);
    serve_done(&r->serve, r->command.ticket, r->command.ret, &r->command.err);
}

static int to_worker(struct run *r, enum http_do what, struct http_ticket *ticket, struct err *err)
{
    if (!r->has_pump)
        return no_profile(err);
    if (r->phase != RUN_PROFILING && r->phase != RUN_BRIDGING)
        return err_set(err, ERR_STATE, "wait a moment", "the run is %s",
                       r->phase == RUN_STARTING ? "only starting" : "ending");
    if (r->phase == RUN_BRIDGING && r->end_ns)
        return err_set(err, ERR_STATE, "start another run", "this run's profile is complete");
    if (r->command.busy)
        return err_set(err, ERR_STATE, "wait for it", "another command is under way");
    r->command = (struct serve_command){ .what = what, .ticket = ticket, .busy = true };
    r->command.job =
        (struct worker_job){ .run = command_on_worker, .done = command_done, .ctx = r };
    int ret = worker_post(r->worker, &r->command.job, err);
    r->command.busy = ret == 0;
    return ret < 0 ? ret : 1;
}

static int mark(struct run *r, const char *name, struct err *err)
{
    struct feed_source from;
    struct pump_view v = pump_look(&r->pump);
    struct feed_moment now = { uv_hrtime(), serve_wall_ms(), v.trace.time.board_ns };
    source_of(r, &from);
    return feed_mark(serve_feed(&r->serve), name, &from, &now, err);
}

static int save(struct run *r, struct err *err)
{
    if (!*r->set.output && !*r->set.record && !*r->set.slice)
        return err_set(err, ERR_STATE, "start it with --output F.prf; or GET /profile.prf",
                       "this run has no file to save to");
    return run_save(r, err);
}

static int clear(struct run *r, struct err *err)
{
    if (r->phase != RUN_PROFILING)
        return err_set(err, ERR_STATE, "start one", "no profile is running");
    run_clear(r);
    return 0;
}

static int control(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                   struct err *err)
{
    struct run *r = ctx;
    int ret = 0;
    if (!r->has_pump)
        return no_profile(err);
    switch (c->what) {
    case HTTP_START:
    case HTTP_STOP: return to_worker(r, c->what, ticket, err);
    case HTTP_MARK: ret = mark(r, c->name, err); break;
    case HTTP_UNMARK: ret = feed_unmark(serve_feed(&r->serve), c->name, err); break;
    case HTTP_SAVE: ret = save(r, err); break;
    case HTTP_CLEAR: ret = clear(r, err); break;
    case HTTP_COUNTERS:
    case HTTP_POINTS:
        return err_set(err, ERR_UNSUPPORTED,
                       "end this run and start it with --c1, --c2, --start, --stop",
                       "what is counted, and where, is settled when the trace is armed");
    case HTTP_SHOW:
    case HTTP_NDO:
        return err_set(err, ERR_UNSUPPORTED, "probeprof view FILE... serves files",
                       "this is a run, not a file");
    }
    if (ret == 0)
        serve_now(&r->serve);
    return ret;
}

static void log_line(void *ctx, const char *line)
{
    struct run *r = ctx;
    log_msg(&r->log, LOG_RSP, "feed: %s", line);
}

/* ---- beginning ---- */

static void tell_about(struct run *r)
{
    char id[2 * sizeof r->header.build_id + 1] = "";
    for (size_t i = 0; i < r->header.build_id_len; i++)
        snprintf(id + 2 * i, 3, "%02x", r->header.build_id[i]);
    const struct profile_counter *c = r->header.counter;
    feed_about(serve_feed(&r->serve),
               &(struct feed_about){
                   .version = PROBEPROF_VERSION,
                   .target = r->part->name,
                   .probe = r->probe->name,
                   .elf = *r->elf_path ? r->elf_path : NULL,
                   .build_id = *id ? id : NULL,
                   .counter = { c[0].name, c[1].name },
                   .unit = { c[0].unit, c[1].unit },
               },
               NULL);
}

int run_serve(struct run *r, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (strcmp(r->set.http, "off") == 0)
        return 0;
    /* a bridge without a program has no capture: readers get an empty tree */
    int ret = r->capture.tree ? 0 : capture_open(&r->capture, NULL, &r->header, NULL, err);
    if (ret < 0)
        return ret;
    ret = serve_start(&r->serve,
                      &(struct serve_config){
                          .loop = &r->loop,
                          .source = { r, look, facts, export, control, recording, has_lines,
                                      log_line, flush, code },
                          .address = r->set.http,
                          .page = r->set.page,
                          .version = PROBEPROF_VERSION,
                          .token_file = r->set.http_token_file,
                          .host = r->set.http_host,
                      },
                      &why);
    if (ret == -ERR_USAGE || ret == -ERR_NOT_FOUND)
        return settings_blame(&r->set, SET_HTTP, err_set(err, why.code, why.hint, "%s", why.what),
                              err);
    if (ret < 0) {
        run_note(r, "%s; the run goes on without the feed (--http :PORT, or --http off)", why.what);
        return 0;
    }
    tell_about(r);
    run_note(r, "feed: %s", serve_where(&r->serve));
    if (serve_secret(&r->serve)) /* not by run_note(), which the feed's log has, too */
        cli_warn(r->cli,
                 "feed: others can reach it, and have to know this token: %s (in a browser "
                 "%s#t=%s)",
                 serve_secret(&r->serve), serve_where(&r->serve), serve_secret(&r->serve));
    return 0;
}
