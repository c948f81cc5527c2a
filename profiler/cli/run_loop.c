#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/run.h"
#include "targets/os/tasks.h"
#include "profiler/cli/view.h"

enum { TICK_MS = 100, TAKE_BATCH = 1024, END_DEADLINE_MS = 10000, ABANDON_DEADLINE_MS = 200 };

static const char using_board[] = "while the board was used",
                  writing_result[] = "while the result was written";

static void fail(struct run *r, const struct err *e)
{
    if (r->failure.code == ERR_OK)
        r->failure = *e;
}

static void quit(struct run *r)
{
    r->phase = RUN_QUITTING;
    uv_stop(&r->loop);
}

/* ---- jobs on the worker ---- */

static void disarm_on_worker(void *ctx, struct target *t)
{
    struct run *r = ctx;
    pump_disarm(&r->pump, t);
}

/* The clients that tell of the board are the worker's last: when it is lost or back, everybody else
 * knows it before. */
static void begin_on_worker(void *ctx, struct target *t)
{
    struct run *r = ctx;
    worker_add_client(r->worker, &r->wire.client);
    worker_add_client(r->worker, &r->recover.client);
    worker_serve(r->worker);
    begin_run(&r->begin, t);
}

/* A worker that is being stopped takes none, and needs none. */
static void post_job(struct run *r, void (*run)(void *, struct target *))
{
    r->job = (struct worker_job){ .run = run, .ctx = r };
    worker_post(r->worker, &r->job, NULL);
}

/* ---- the profile's course ---- */

static void end_profile(struct run *r)
{
    if (r->phase != RUN_PROFILING)
        return;
    r->phase = RUN_ENDING;
    post_job(r, disarm_on_worker);
}

static void tell_loaded(struct run *r, const struct begin_view *v)
{
    char rate[60];
    if (v->loaded)
        run_note(r, "loaded and verified %llu bytes of %s%s%s", (unsigned long long)v->loaded,
                 r->set.elf, progress_rate(v->loaded, v->load_ns, rate, sizeof rate),
                 r->profile ? "" : "; halted at its entry");
}

/* Once the worker is done with beginning, whichever way. */
static void look_for_beginning(struct run *r)
{
    struct begin_view begun = begin_look(&r->begin);
    if (r->phase != RUN_STARTING || !begun.over)
        return;
    if (begun.ret < 0) {
        fail(r, &begun.err);
        quit(r);
        return;
    }
    tell_loaded(r, &begun);
    r->phase = r->profile ? RUN_PROFILING : RUN_BRIDGING;
    if (r->profile) {
        struct pump_view v = pump_look(&r->pump);
        run_note(r, "profiling%s, %s; Ctrl-C ends it", r->set.load ? "" : " the running program",
                 *v.trace.note ? v.trace.note : "every call traced");
        if (r->header.nstops && !r->header.has_start)
            run_note(r, "it ends at the first stop point: without --start nothing would resume it");
    }
}

static void tell_recording_ended(struct run *r, const struct err *why)
{
    fail(r, why);
    run_note(r, "%s (recording ends here, the profile goes on)", why->what);
}

static void take_events(struct run *r)
{
    struct err err = { .code = ERR_OK };
    struct event *events;
    size_t n;
    while (events = pump_front(&r->pump, &n), n > 0) {
        n = MIN(n, TAKE_BATCH);
        if (capture_feed(&r->capture, events, n, &err) < 0)
            tell_recording_ended(r, &err);
        pump_release(&r->pump, n);
    }
}

void run_clear(struct run *r)
{
    struct err err = { .code = ERR_OK };
    take_events(r);
    if (capture_clear(&r->capture, &err) < 0)
        tell_recording_ended(r, &err);
}

static void describe_stop(struct run *r, const struct target_stop *stop)
{
    char where[160];
    symbols_describe(r->symbols, stop->pc, where, sizeof where);
    if (stop->reason == STOP_EXIT)
        run_note(r, "the program ended with status %d", stop->exit_status);
    else
        run_note(r, "the program stopped at %s%s%s", where, *stop->text ? ": " : "", stop->text);
}

/* `probeprof | tee log` and Ctrl-C: the reader is gone by the time there is something to read. */
static bool reader_gone(FILE *out)
{
    struct pollfd p = { .fd = fileno(out) };
    return ferror(out) || (poll(&p, 1, 0) == 1 && p.revents & POLLERR);
}

/* Where the result goes instead: to the terminal, or a new file of this folder or of /tmp. NULL:
 * nowhere. */
static FILE *other_place(struct run *r, char *name, size_t cap)
{
    static const char *const folders[] = { "", "/tmp/" };
    if (isatty(fileno(r->cli->err_out))) {
        run_note(r, "who was to read the result is gone; here it is:");
        return r->cli->err_out;
    }
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        snprintf(name, cap, "%sprobeprof-result-%ld.%s", folders[i], (long)getpid(),
                 view_exporter(&r->set)->suffix);
        FILE *f = fopen(name, "wxe");
        if (f) {
            run_note(r, "who was to read the result is gone: it is in %s", name);
            return f;
        }
    }
    run_note(r, "who was to read the result is gone, and no file can be made for it");
    return NULL;
}

static int show_elsewhere(struct run *r, const struct profile *p, struct err *err)
{
    char name[64] = "";
    FILE *f = other_place(r, name, sizeof name);
    int ret = f ? view_show(&r->set, p, r->symbols, f, err) : 0;
    bool failed = f && fflush(f) != 0;
    if (f && f != r->cli->err_out)
        failed = fclose(f) != 0 || failed;
    if (ret == 0 && failed)
        return err_set(err, ERR_IO, "free some space", "%s: cannot be written",
                       *name ? name : "standard error");
    return ret == 0 ? err_set(err, ERR_IO, "",
                              "writing standard output failed: who was to read it is gone")
                    : ret;
}

static int show_profile(struct run *r, const struct profile *p, struct err *err)
{
    if (reader_gone(r->cli->out))
        return show_elsewhere(r, p, err);
    int ret = view_show(&r->set, p, r->symbols, r->cli->out, err);
    fflush(r->cli->out); /* one that leaves now, as head(1) does, has seen what it wanted */
    return ret;
}

static void show_result(struct run *r)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    live_clear(&r->live);
    if (run_profile(r, &p, &err) < 0) {
        fail(r, &err);
        return;
    }
    ending_stage(r->cli->ending, writing_result);
    if (show_profile(r, p, &err) < 0)
        fail(r, &err);
    if (*r->set.output && outputs_keep(r->set.output, &r->capture))
        outputs_tell_empty(r->cli, r->set.output);
    else if (*r->set.output && view_save(r->set.output, p, &err) < 0)
        fail(r, &err);
    ending_stage(r->cli->ending, using_board);
    profile_free(p);
}

/* Samples have no cycles: what looking cost stands in the note. */
static struct run_time time_of(const struct run *r, const struct pump_view *v)
{
    struct run_time time = v->trace.time;
    time.host_ns = (r->end_ns ? r->end_ns : uv_hrtime()) - r->begin_ns;
    if (!time.target_cycles)
        time.board_ns = 0;
    return time;
}

/* v: as long as the info is used. */
static struct profile_info info_of(const struct run *r, const struct pump_view *v)
{
    struct profile_info info = {
        .target = r->header.target,
        .probe = r->header.probe,
        .elf = r->header.elf,
        .build_id_len = r->header.build_id_len,
        .counter = { r->header.counter[0], r->header.counter[1] },
        .time = time_of(r, v),
        .when = r->header.when,
        .icache_enabled = v->trace.icache_enabled,
        .cache_by_address = r->header.address_cached,
        .note = *v->trace.note ? v->trace.note : NULL,
    };
    memcpy(info.build_id, r->header.build_id, info.build_id_len);
    return info;
}

int run_profile(struct run *r, struct profile **out, struct err *err)
{
    struct pump_view v = pump_look(&r->pump);
    struct profile_info info = info_of(r, &v);
    return capture_profile(&r->capture, &info, out, err);
}

static int take_snapshot(void *ctx, const struct snapshot **out, struct err *err)
{
    struct run *r = ctx;
    struct pump_view v = pump_look(&r->pump);
    struct profile_info info = info_of(r, &v);
    return capture_snapshot(&r->capture, &info, out, err);
}

static void finish_recording(struct run *r, const struct pump_view *v)
{
    struct err err = { .code = ERR_OK };
    struct recording_end end = {
        .time = time_of(r, v),
        .lost = v->trace.lost,
        .icache_enabled = v->trace.icache_enabled,
    };
    memcpy(end.note, v->trace.note, sizeof end.note);
    log_msg(&r->log, LOG_PROF, "profile: %llu events reached the call tree%s%s",
            (unsigned long long)r->capture.seen, r->capture.recording ? " and the recording " : "",
            r->capture.recording ? r->set.record : "");
    int ret = capture_finish_recording(&r->capture, &end, &err);
    if (ret < 0)
        fail(r, &err);
    if (ret > 0)
        outputs_tell_empty(r->cli, r->set.record);
}

static char *duration(uint64_t ns, char *buf, size_t cap)
{
    double ms = (double)ns / 1e6;
    snprintf(buf, cap, ms < 100 ? "%.3g ms" : "%.1f s", ms < 100 ? ms : ms / 1000);
    return buf;
}

/* When --for is over the program stands; the events that are still on the board come after that. */
static void tell_duration(struct run *r, const struct pump_view *v)
{
    struct slowdown slow = live_slowdown(v);
    const struct run_time *t = &v->trace.time;
    uint64_t ns = t->board_ns ? t->board_ns : v->now_ns - v->armed_ns, after = 0;
    char text[80], time[32], fetched[32];
    if (r->set.for_ns && !r->header.has_start && ns > r->set.for_ns)
        after = MIN(ns - r->set.for_ns, t->held_ns);
    run_note(r, "%s of the board's time%s%s%s%s%s", duration(ns - after, time, sizeof time),
             after ? ", and " : "", after ? duration(after, fetched, sizeof fetched) : "",
             after ? " to move the last events" : "", slow.times > 0 ? ", slowed down " : "",
             slowdown_text(&slow, text, sizeof text));
}

static void profile_ended(struct run *r, const struct pump_view *v)
{
    take_events(r);
    r->end_ns = uv_hrtime();
    if (v->why.code != ERR_OK)
        fail(r, &v->why);
    finish_recording(r, v);
    show_result(r);
    if (r->header.has_start && !r->capture.filter.have_first)
        run_note(r, "the program never came to the start point %s: nothing was profiled",
                 r->set.start);
    if (!r->set.json)
        tell_duration(r, v);
    if (gdb_server_sessions(r->server) == 0 || r->terminate) {
        quit(r);
        return;
    }
    r->phase = RUN_BRIDGING;
    ending_answered(r->cli->ending);
    r->asked = 0;
    run_note(r, "the profile is complete; GDB is still connected, Ctrl-C ends the bridge");
}

/* The program has stopped and nobody will let it go on. A GDB that detaches resumes it first, so
 * one look is not enough. */
static bool stopped_for_good(struct run *r, const struct pump_view *v)
{
    bool stopped = r->phase == RUN_PROFILING && v->stop.reason != STOP_NONE &&
                   gdb_server_sessions(r->server) == 0;
    r->halted_ticks = !stopped ? 0 : r->halted_ticks + (v->stop_looks != r->stop_looks);
    r->stop_looks = v->stop_looks;
    return r->halted_ticks >= 3;
}

/* Whoever terminates a program will not wait for a line that moves no more. */
static bool events_are_late(struct run *r)
{
    struct ending_view asked = ending_look(r->cli->ending);
    struct err late;
    if (!asked.terminate || uv_hrtime() - asked.since_ns < ENDING_EVENTS_S * 1000000000ull)
        return false;
    err_set(&late, ERR_TIMEOUT, "the profile is complete up to there",
            "the last events did not come within %d s of the request to end", ENDING_EVENTS_S);
    fail(r, &late);
    return true;
}

static void look_after_profile(struct run *r)
{
    if (!r->has_pump ||
        (r->phase != RUN_PROFILING && r->phase != RUN_ENDING && r->phase != RUN_BRIDGING))
        return;
    take_events(r);
    struct pump_view v = pump_look(&r->pump);
    if (r->phase == RUN_BRIDGING) {
        if (v.phase == PUMP_ARMED) /* monitor profile start */
            r->phase = RUN_PROFILING;
        return;
    }
    if (v.phase == PUMP_ENDED) {
        profile_ended(r, &v);
        return;
    }
    if (r->phase == RUN_ENDING && events_are_late(r)) {
        profile_ended(r, &v);
        return;
    }
    if (capture_done(&r->capture))
        end_profile(r);
    if (stopped_for_good(r, &v)) {
        describe_stop(r, &v.stop);
        end_profile(r);
    }
    if (r->phase == RUN_PROFILING && !r->set.json)
        live_tick(&r->live, &v, &(struct live_source){ take_snapshot, r }, r->capture.seen,
                  uv_hrtime());
}

/* ---- being asked to end ---- */

static void give_up_beginning(struct run *r)
{
    struct err given_up;
    bool loading = r->phase == RUN_STARTING && r->set.load;
    err_set(&given_up, ERR_CANCELLED,
            loading ? "the board holds part of the program at most: load it again"
                    : "patches left on the board are undone at the next attach",
            "quit on request");
    fail(r, &given_up);
    quit(r);
}

/* A bridge has nothing to finish; a profile has, and what was begun is broken off. */
static void asked_to_end(struct run *r)
{
    if (r->phase == RUN_BRIDGING) /* GDB may have started a profile since the last tick */
        look_after_profile(r);
    if (r->phase == RUN_PROFILING) {
        run_note(r, "ending the profile (Ctrl-C again quits at once)");
        end_profile(r);
    } else if (r->phase == RUN_ENDING) {
        run_note(r, "the last events are on their way (Ctrl-C again quits at once)");
    } else if (r->phase == RUN_BRIDGING ||
               (r->phase == RUN_STARTING && !r->profile && !r->set.load)) {
        quit(r);
    } else {
        give_up_beginning(r);
    }
}

static void look_at_ending(struct run *r)
{
    struct ending_view v = ending_look(r->cli->ending);
    bool first = v.asked && !r->asked;
    if (v.asked == r->asked || r->phase == RUN_QUITTING)
        return;
    r->asked = v.asked;
    r->terminate = v.terminate;
    if (v.at_once) {
        r->abandon = r->phase == RUN_ENDING;
        give_up_beginning(r);
    } else if (first) {
        asked_to_end(r);
    }
}

/* ---- loop callbacks ---- */

static void on_wake(uv_async_t *handle)
{
    struct run *r = handle->data;
    look_at_ending(r);
    recover_tell(&r->recover, &r->say);
    look_for_beginning(r);
    if (!r->has_pump || (r->phase != RUN_PROFILING && r->phase != RUN_ENDING))
        return;
    take_events(r);
    if (atomic_exchange(&r->clear_wanted, false))
        run_clear(r);
    if (capture_done(&r->capture) || pump_look(&r->pump).phase == PUMP_ENDED)
        look_after_profile(r);
}

static void on_tick(uv_timer_t *handle)
{
    struct run *r = handle->data;
    recover_tell(&r->recover, &r->say);
    wire_tell(&r->wire, false, &r->say);
    progress_tick(&r->progress, uv_hrtime());
    look_after_profile(r);
}

/* libuv aborts the process where it cannot open its pipe for signals (uv__signal_global_init() in
 * its src/unix/signal.c). */
static bool descriptors_free(void)
{
    int fd[4], n = 0;
    while (n < (int)ARRAY_LEN(fd) && (fd[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        n++;
    for (int i = 0; i < n; i++)
        close(fd[i]);
    return n == (int)ARRAY_LEN(fd);
}

static int start_loop(struct run *r, struct err *err)
{
    if (!descriptors_free() || uv_loop_init(&r->loop) < 0)
        return err_set(err, ERR_NOMEM,
                       "raise the limit on open files (ulimit -n); close other programs",
                       "event loop: out of memory or descriptors");
    r->has_loop = true;
    uv_async_init(&r->loop, &r->wake, on_wake);
    uv_timer_init(&r->loop, &r->tick);
    r->wake.data = r->tick.data = r;
    uv_timer_start(&r->tick, on_tick, TICK_MS, TICK_MS);
    return 0;
}

static bool hold_target(void *ctx)
{
    struct run *r = ctx;
    return r->has_pump && r->pump.phase == PUMP_ARMED;
}

static void on_gdb_told(void *ctx, const char *what) { run_note(ctx, "%s", what); }

static void tell_where_gdb_is(struct run *r)
{
    const char *exposed = gdb_server_exposed(r->server);
    run_note(r, "GDB: %s", gdb_server_describe(r->server));
    if (exposed)
        run_note(r,
                 "warning: whoever reaches %s from another machine controls this board, without a "
                 "password (--gdb :3333 serves this machine only)",
                 exposed);
}

static int start_server(struct run *r, struct err *err)
{
    struct gdb_server_config cfg = {
        .worker = r->worker,
        .loop = &r->loop,
        .log = &r->log,
        .monitor = run_monitor,
        .monitor_ctx = r,
        .version = "probeprof " PROBEPROF_VERSION,
        .hold = hold_target,
        .hold_ctx = r,
        .unheard = recover_note_request,
        .unheard_ctx = &r->recover,
        .tell = on_gdb_told,
        .tell_ctx = r,
        .has_entry = r->symbols != NULL,
        .entry = r->symbols ? symbols_image(r->symbols)->entry : 0,
    };
    int ret = gdb_server_start(&cfg, &r->server, err);
    if (ret == 0 && strcmp(r->set.gdb, "off")) {
        ret = gdb_server_listen(r->server, r->set.gdb, err);
        if (ret == 0)
            tell_where_gdb_is(r);
    }
    return ret;
}

static bool is_stopping(void *ctx)
{
    struct run *r = ctx;
    return atomic_load(&r->leaving) || worker_stopping(r->worker);
}

static void init_begin(struct run *r)
{
    begin_init(&r->begin,
               &(struct begin_config){
                   .worker = r->worker,
                   .image = r->symbols ? symbols_image(r->symbols) : NULL,
                   .load = r->set.load,
                   .pump = r->profile ? &r->pump : NULL,
                   .io = { .cancelled = is_stopping, .tell = run_tell_progress, .ctx = r },
                   .wake = run_wake,
                   .wake_ctx = r,
               });
}

static void init_recover(struct run *r)
{
    recover_init(&r->recover, &(struct recover_config){
                                  .worker = r->worker,
                                  .probe = r->probe,
                                  .pdo = r->pdo,
                                  .image = r->symbols ? symbols_image(r->symbols) : NULL,
                                  .compare = r->profile,
                                  .begin = &r->begin,
                                  .wire = &r->wire,
                                  .pump = r->has_pump ? &r->pump : NULL,
                                  .server = r->server,
                                  .cancelled = is_stopping,
                                  .cancelled_ctx = r,
                                  .wake = run_wake,
                                  .wake_ctx = r,
                              });
}

int run_loop(struct run *r, struct err *err)
{
    int ret = start_loop(r, err);
    r->say = run_say(r);
    wire_init(&r->wire, r->target, r->found_hz);
    if (ret == 0)
        ret = worker_start(&(struct worker_config){ .target = r->target,
                                                    .loop = &r->loop,
                                                    .log = &r->log,
                                                    .recover = recover_board,
                                                    .recover_ctx = &r->recover,
                                                    .held = true },
                           &r->worker, err);
    if (ret == 0 && r->has_pump)
        worker_add_client(r->worker, &r->pump.client);
    if (ret == 0)
        ret = start_server(r, err);
    if (ret < 0)
        return ret;
    init_begin(r);
    init_recover(r);
    if (!r->profile)
        run_note(r, "bridge only%s; Ctrl-C ends it",
                 r->symbols ? "" : " (--elf FILE would profile the program)");
    progress_init(&r->progress, r->cli->err_out, r->set.elf, view_columns(r->cli->err_out));
    r->begin_ns = uv_hrtime();
    r->phase = RUN_STARTING;
    post_job(r, begin_on_worker);
    ending_stage(r->cli->ending, using_board);
    ending_tell(r->cli->ending, run_wake, r);
    uv_async_send(&r->wake); /* it may have been asked meanwhile */
    uv_run(&r->loop, UV_RUN_DEFAULT);
    recover_tell(&r->recover, &r->say);
    wire_tell(&r->wire, true, &r->say);
    if (r->failure.code == ERR_OK)
        return 0;
    *err = r->failure;
    return -(int)r->failure.code;
}

/* ---- leaving ---- */

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static int stop_worker(struct run *r, struct err *err)
{
    unsigned deadline_ms = r->abandon ? ABANDON_DEADLINE_MS : END_DEADLINE_MS;
    int ret = 0;
    if (!r->worker)
        return 0;
    ending_stage(r->cli->ending, "while the board was left");
    atomic_store(&r->leaving, true); /* the server below waits for a download under way, too */
    if (!r->abandon) {
        ret = gdb_server_stop(r->server, deadline_ms, err);
        r->server = NULL;
    }
    if (ret == 0)
        ret = worker_stop(r->worker, deadline_ms, err);
    return ret < 0 ? ret : gdb_server_stop(r->server, deadline_ms, err);
}

static void close_target(struct run *r)
{
    struct err err = { .code = ERR_OK };
    if (!r->target)
        return;
    enum target_state state = r->target->ops->state(r->target);
    if (state != TARGET_DETACHED && state != TARGET_GONE && !r->abandon &&
        r->target->ops->detach(r->target, &err) < 0)
        run_note(r, "leaving the board: %s", err.what);
    r->target->ops->close(r->target);
}

int run_fini(struct run *r, struct err *err)
{
    live_clear(&r->live);
    progress_clear(&r->progress);
    ending_tell(r->cli->ending, NULL, NULL);
    int ret = stop_worker(r, err);
    if (ret < 0)
        return ret;
    if (r->has_loop) {
        uv_walk(&r->loop, close_handle, NULL);
        uv_run(&r->loop, UV_RUN_DEFAULT);
        uv_loop_close(&r->loop);
    }
    close_target(r);
    pump_fini(&r->pump);
    wire_fini(&r->wire);
    begin_fini(&r->begin);
    recover_fini(&r->recover);
    capture_close(&r->capture);
    live_fini(&r->live);
    progress_fini(&r->progress);
    probe_close(r->probe);
    probe_close(r->pdo);
    tasks_free(r->tasks);
    symbols_close(r->symbols);
    return 0;
}
