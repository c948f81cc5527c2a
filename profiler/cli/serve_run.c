/* What a run has for the feed: its profile, its state, and commands that go to the board. */
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/run.h"
#include "profiler/cli/serve_state.h"
#include "profiler/cli/view.h"

static const uint64_t second_ns = 1000000000;

/* What is seen of the profile; all zero without one. */
static struct pump_view view_of(struct run *r)
{
    if (!r->has_pump)
        return (struct pump_view){ 0 };
    return pump_look(&r->pump);
}

static unsigned count_sessions(const struct run *r)
{
    if (!r->server)
        return 0;
    return gdb_server_sessions(r->server);
}

/* ---- state objects ---- */

static const char *phase_of(const struct run *r, const struct pump_view *v)
{
    switch (r->phase) {
    case RUN_STARTING: return "starting";
    case RUN_BRIDGING:
        if (r->end_ns)
            return "done";
        return "bridging";
    case RUN_ENDING: return "ending";
    case RUN_QUITTING:
        if (r->end_ns)
            return "done";
        return "quitting";
    case RUN_PROFILING: break;
    }
    if (v->phase != PUMP_ARMED || v->trace.active)
        return "profiling";
    if (r->capture.seen)
        return "paused";
    return "waiting";
}

/* The first few, as far as an object has room. */
static void tell_stops(const struct run *r, struct json_writer *j)
{
    enum { SHOWN = 8 };
    char text[64];
    json_write_key(j, "stop");
    json_write_array(j, true);
    for (size_t i = 0; i < MIN(r->header.nstops, (size_t)SHOWN); i++)
        json_write_string(j, symbols_describe(r->symbols, r->header.stops[i], text, sizeof text));
    json_write_end(j);
}

static void tell_run(struct run *r, const struct pump_view *v, struct feed *f)
{
    struct state_object o;
    struct slowdown slow = live_slowdown(v);
    char start[160];
    struct json_writer *j = state_begin(&o);
    state_text(j, "phase", phase_of(r, v));
    state_text(j, "start", run_start_text(r, start, sizeof start));
    state_number(j, "stops", r->header.nstops);
    tell_stops(r, j);
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

static const char *board_state(const struct run *r, const struct pump_view *v)
{
    if (v->away)
        return "away";
    if (v->stop.reason != STOP_NONE)
        return "halted";
    if (r->has_pump)
        return "running";
    return "unknown";
}

static void tell_target(struct run *r, const struct pump_view *v, struct feed *f)
{
    struct state_object o;
    char where[160] = "", pc[24] = "";
    const char *why = NULL, *hint = NULL;
    struct json_writer *j = state_begin(&o);
    if (v->stop.reason != STOP_NONE) {
        why = v->stop.text;
        symbols_describe(r->symbols, v->stop.pc, where, sizeof where);
        snprintf(pc, sizeof pc, "0x%08llx", (unsigned long long)v->stop.pc);
    }
    if (v->away) {
        why = v->why.what;
        hint = v->why.hint;
    }
    state_text(j, "name", r->part->name);
    state_text(j, "state", board_state(r, v));
    state_text(j, "why", why);
    state_text(j, "hint", hint);
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
    const char *address = NULL;
    if (r->server)
        address = gdb_server_describe(r->server);
    state_text(j, "name", r->probe->name);
    state_flag(j, "away", v->away);
    state_number(j, "gaps", v->gaps);
    pthread_mutex_lock(&r->wire.lock);
    struct target_wire wire = r->wire.seen;
    pthread_mutex_unlock(&r->wire.lock);
    state_number(j, "damaged", wire.damaged);
    state_number(j, "clock_hz", EITHER(wire.hz, r->found_hz));
    state_end(&o, f, FEED_ADAPTER);
    j = state_begin(&o);
    state_number(j, "sessions", count_sessions(r));
    state_text(j, "address", address);
    state_end(&o, f, FEED_GDB);
}

static double ring_fill(const struct trace_status *s)
{
    return ratio_or_0(s->ring_used, s->ring_bytes);
}

static double queue_fill(struct run *r)
{
    size_t n = 0;
    if (r->has_pump)
        n = pump_waiting(&r->pump);
    return MIN(1.0, (double)n / RUN_QUEUE_EVENTS);
}

static void log_stop(struct run *r, const struct pump_view *v)
{
    char where[160], text[320];
    bool halted = v->stop.reason != STOP_NONE;
    if (halted && !r->was_halted) {
        symbols_describe(r->symbols, v->stop.pc, where, sizeof where);
        snprintf(text, sizeof text, "the program stopped at %s%s%s", where,
                 text_if(*v->stop.text, ": "), v->stop.text);
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
        .marks = r->matcher,
        .stretches = &r->capture.stretches,
        .samples = r->set.sample,
        .changes = r->capture.seen,
    };
}

static void run_source(void *ctx, struct feed *f, struct feed_source *from, struct feed_moment *now)
{
    struct run *r = ctx;
    struct pump_view v = view_of(r);
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

/* For how long the board has been away; 0: it is there. */
static unsigned away_seconds(const struct run *r, const struct pump_view *v)
{
    if (!v->away || !r->away_ns)
        return 0;
    return (unsigned)((uv_hrtime() - r->away_ns) / second_ns);
}

/* NULL: there is none. */
static const char *record_name(const struct run *r)
{
    if (r->capture.recording)
        return r->set.record;
    return NULL;
}

static void run_facts(void *ctx, struct http_facts *out)
{
    struct run *r = ctx;
    struct pump_view v = view_of(r);
    *out = (struct http_facts){
        .phase = phase_of(r, &v),
        .profiling = r->phase == RUN_PROFILING || r->phase == RUN_ENDING,
        .away = v.away,
        .away_s = away_seconds(r, &v),
        .events = r->capture.seen,
        .lost = v.trace.lost,
        .lost_is_bound = r->capture.tree && calltree_stats(r->capture.tree)->lost_is_bound,
        .gaps = v.gaps,
        .slow_down = live_slowdown(&v).times,
        .board_ns = v.trace.time.board_ns,
        .host_ns = EITHER(r->end_ns, uv_hrtime()) - r->begin_ns,
        .wire_bits = v.trace.wire_bits,
        .ring_fill = ring_fill(&v.trace),
        .queue_fill = queue_fill(r),
        .gdb_sessions = count_sessions(r),
        .target = r->part->name,
        .probe = r->probe->name,
        .elf = text_given(r->elf_path),
        .counter = { r->header.counter[0].name, r->header.counter[1].name },
        .record = record_name(r),
    };
}

static int no_profile(struct err *err)
{
    return err_set(err, ERR_STATE, "start it with --elf FILE, without --no-profile",
                   "this run takes no profile");
}

static int snapshot_of_run(void *ctx, const char *file, bool marked, const struct snapshot **out,
                           struct err *err)
{
    struct run *r = ctx;
    if (!r->has_pump)
        return no_profile(err);
    if (*file)
        return err_set(err, ERR_UNSUPPORTED, "probeprof view FILE... serves files",
                       "this is a run, not a file");
    if (marked)
        return run_snapshot(r, out, err);
    return run_unmarked(r, out, err);
}

/* ---- all that comes ---- */

/* Of a recording in numbered files the run's first, and those behind it. */
static int numbered_path(const struct run *r, unsigned part, char *path, size_t cap,
                         struct err *err)
{
    char name[ROTATION_PATH];
    const char *file = name;
    unsigned number = r->rotation.number - (r->header.part - 1) + part;
    if (number > r->rotation.number || !rotation_name(r->rotation.path, number, name))
        return err_set(err, ERR_NOT_FOUND, "", "there is no such file");
    bool is_written = number == r->rotation.number && r->capture.recording;
    if (is_written)
        file = recording_part_path(r->capture.recording);
    snprintf(path, cap, "%s", file);
    return 0;
}

static int recording_path(void *ctx, unsigned part, char *path, size_t cap, struct err *err)
{
    struct run *r = ctx;
    if (r->rotation.path && (part || r->capture.recording))
        return numbered_path(r, part, path, cap, err);
    if (part)
        return err_set(err, ERR_NOT_FOUND, "", "it is one file");
    if (!r->capture.recording)
        return err_set(err, ERR_STATE, "start it with --record FILE",
                       "this run is not recorded, or not any more");
    snprintf(path, cap, "%s", recording_part_path(r->capture.recording));
    return 0;
}

static void flush_recording(void *ctx)
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

static void run_code(void *ctx, struct program_code *out)
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
    if (c->what == HTTP_COUNTERS || c->what == HTTP_POINTS) {
        c->ret = run_apply_change(r, t, &c->change, &c->err);
        return;
    }
    if (c->what == HTTP_START && r->pump.phase != PUMP_ARMED)
        c->ret = pump_arm(&r->pump, t, &c->err);
    if (c->ret >= 0 && r->pump.phase != PUMP_ARMED)
        c->ret = err_set(&c->err, ERR_STATE, "start it first", "no profile is running");
    if (c->ret >= 0)
        c->ret = pump_set_active(&r->pump, t, c->what == HTTP_START, &c->err);
}

static const char *done_text(const struct serve_command *c)
{
    if (c->ret < 0)
        return c->err.what;
    switch (c->what) {
    case HTTP_START: return "profiling was started by a reader";
    case HTTP_STOP: return "profiling was paused by a reader";
    case HTTP_COUNTERS: return "a reader has chosen what is counted";
    default: return "a reader has chosen the start and stop points";
    }
}

/* What the change is has come by events: behind them the answer is true. */
static void command_done(void *ctx)
{
    struct run *r = ctx;
    r->command.busy = false;
    run_take_events(r);
    serve_note(&r->serve, "note", done_text(&r->command));
    serve_now(&r->serve);
    serve_done(&r->serve, r->command.ticket, r->command.ret, &r->command.err);
}

static int to_worker(struct run *r, enum http_do what, const struct run_change *change,
                     struct http_ticket *ticket, struct err *err)
{
    if (!r->has_pump)
        return no_profile(err);
    if (r->phase == RUN_STARTING)
        return err_set(err, ERR_STATE, "wait a moment", "the run is only starting");
    if (r->phase != RUN_PROFILING && r->phase != RUN_BRIDGING)
        return err_set(err, ERR_STATE, "wait a moment", "the run is ending");
    if (r->phase == RUN_BRIDGING && r->end_ns)
        return err_set(err, ERR_STATE, "start another run", "this run's profile is complete");
    if (r->command.busy)
        return err_set(err, ERR_STATE, "wait for it", "another command is under way");
    r->command = (struct serve_command){ .what = what, .ticket = ticket, .busy = true };
    if (change)
        r->command.change = *change;
    r->command.job =
        (struct worker_job){ .run = command_on_worker, .done = command_done, .ctx = r };
    int ret = worker_post(r->worker, &r->command.job, err);
    r->command.busy = ret == 0;
    if (ret < 0)
        return ret;
    return 1;
}

static int mark_run(struct run *r, const char *name, struct err *err)
{
    struct feed_source from;
    struct pump_view v = pump_look(&r->pump);
    struct feed_moment now = { uv_hrtime(), serve_wall_ms(), v.trace.time.board_ns };
    source_of(r, &from);
    return feed_mark(serve_feed(&r->serve), name, &from, &now, err);
}

static int save_run(struct run *r, struct err *err)
{
    if (!*r->set.output && !*r->set.record && !*r->set.slice)
        return err_set(err, ERR_STATE, "start it with --output F.prf; or GET /profile.prf",
                       "this run has no file to save to");
    return run_save(r, err);
}

static int clear_run(struct run *r, struct err *err)
{
    if (r->phase != RUN_PROFILING)
        return err_set(err, ERR_STATE, "start one", "no profile is running");
    run_clear(r);
    return 0;
}

static int change_trace(struct run *r, const struct http_command *c, struct http_ticket *ticket,
                        struct err *err)
{
    struct run_change change;
    const char *const counter[] = { c->counter[0], c->counter[1] };
    if (r->set.sample)
        return err_set(err, ERR_UNSUPPORTED, "start it without --sample",
                       "samples have no counters, and no start and stop points");
    int ret;
    if (c->what == HTTP_COUNTERS)
        ret = run_change_counters(r, counter, &change, err);
    else
        ret = run_change_points(r, c, &change, err);
    if (ret < 0)
        return ret;
    return to_worker(r, c->what, &change, ticket, err);
}

static int control_run(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                       struct err *err)
{
    struct run *r = ctx;
    int ret = 0;
    if (!r->has_pump)
        return no_profile(err);
    switch (c->what) {
    case HTTP_START:
    case HTTP_STOP: return to_worker(r, c->what, NULL, ticket, err);
    case HTTP_MARK: ret = mark_run(r, c->name, err); break;
    case HTTP_UNMARK: ret = feed_unmark(serve_feed(&r->serve), c->name, err); break;
    case HTTP_SAVE: ret = save_run(r, err); break;
    case HTTP_CLEAR: ret = clear_run(r, err); break;
    case HTTP_COUNTERS:
    case HTTP_POINTS: return change_trace(r, c, ticket, err);
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

int run_serve(struct run *r, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (strcmp(r->set.http, "off") == 0)
        return 0;
    /* a bridge without a program has no capture: readers get an empty tree */
    int ret = 0;
    if (!r->capture.tree)
        ret = capture_open(&r->capture, NULL, &r->header, NULL, err);
    if (ret < 0)
        return ret;
    ret = serve_start(
        &r->serve,
        &(struct serve_config){
            .loop = &r->loop,
            .source = { r, run_source, run_facts, snapshot_of_run, control_run, recording_path,
                        has_lines, log_line, flush_recording, run_code },
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
    run_about(r);
    run_note(r, "feed: %s", serve_where(&r->serve));
    if (serve_secret(&r->serve)) /* not by run_note(), which the feed's log has, too */
        cli_warn(r->cli,
                 "feed: others can reach it, and have to know this token: %s (in a browser "
                 "%s#t=%s)",
                 serve_secret(&r->serve), serve_where(&r->serve), serve_secret(&r->serve));
    return 0;
}
