#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/run.h"
#include "profiler/cli/view.h"

enum { TICK_MS = 100 };

/* ---- jobs on the worker ---- */

/* The clients that report on the board are the worker's last: when it is lost or back, all others
 * are notified before. */
static void begin_on_worker(void *ctx, struct target *t)
{
    struct run *r = ctx;
    worker_add_client(r->worker, &r->wire.client);
    worker_add_client(r->worker, &r->recover.client);
    worker_serve(r->worker);
    begin_run(&r->begin, t);
}

/* ---- loop callbacks ---- */

static void on_wake(uv_async_t *handle)
{
    struct run *r = handle->data;
    run_answer(r);
    run_look_at_ending(r);
    recover_tell(&r->recover, &r->say);
    run_look_for_beginning(r);
    if (!r->has_pump || (r->phase != RUN_PROFILING && r->phase != RUN_ENDING))
        return;
    run_take_some(r);
    if (atomic_exchange(&r->clear_wanted, false))
        run_clear(r);
    if (capture_done(&r->capture) || pump_look(&r->pump).phase == PUMP_ENDED)
        run_look_after_profile(r);
}

static void on_tick(uv_timer_t *handle)
{
    struct run *r = handle->data;
    recover_tell(&r->recover, &r->say);
    wire_tell(&r->wire, false, &r->say);
    r->progress.columns = view_columns(r->cli->err_out);
    if (!r->set.quiet)
        progress_tick(&r->progress, uv_hrtime());
    run_look_after_profile(r);
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
    run_signals_start(r);
    return 0;
}

static bool hold_target(void *ctx)
{
    struct run *r = ctx;
    return r->has_pump && r->pump.phase == PUMP_ARMED;
}

static void on_board_reset(void *ctx, bool over)
{
    struct run *r = ctx;
    if (!r->has_pump)
        return;
    if (over)
        pump_reset_over(&r->pump, r->target);
    else
        pump_reset_begins(&r->pump, r->target);
}

static void on_gdb_note(void *ctx, const char *what) { run_note(ctx, "%s", what); }

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

/* NULL: no program was named, or its place is not known (nothing relative goes to GDB, whose folder
 * is another). */
static const char *exec_file(const struct run *r)
{
    if (*r->elf_path == '/')
        return r->elf_path;
    return NULL;
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
        .request_failed = recover_note_request,
        .request_failed_ctx = &r->recover,
        .resets = on_board_reset,
        .resets_ctx = r,
        .tell = on_gdb_note,
        .tell_ctx = r,
        .has_entry = r->symbols != NULL,
        .entry = r->symbols ? symbols_image(r->symbols)->entry : 0,
        .exec_file = exec_file(r),
        .tasks = r->gdb_tasks,
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
                   .image = run_image(r),
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
                                  .image = run_image(r),
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
    run_ask_init(r);
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
    if (ret == 0)
        ret = run_serve(r, err);
    if (ret < 0)
        return ret;
    run_top_begin(r);
    init_begin(r);
    init_recover(r);
    if (!r->profile)
        run_note(r, "bridge only%s; Ctrl-C ends it",
                 text_if(!r->symbols, " (--elf FILE would profile the program)"));
    progress_init(&r->progress, r->cli->err_out, r->set.elf, view_columns(r->cli->err_out));
    r->begin_ns = uv_hrtime();
    r->phase = RUN_STARTING;
    run_post_job(r, begin_on_worker);
    ending_stage(r->cli->ending, RUN_USING_BOARD);
    ending_tell(r->cli->ending, run_wake, r);
    run_signals_take();
    uv_async_send(&r->wake); /* it may have been asked meanwhile */
    uv_run(&r->loop, UV_RUN_DEFAULT);
    recover_tell(&r->recover, &r->say);
    wire_tell(&r->wire, true, &r->say);
    if (r->failure.code == ERR_OK)
        return 0;
    *err = r->failure;
    return -(int)r->failure.code;
}
