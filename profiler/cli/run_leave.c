/* The end of a run: everything is given back, the board last. */
#include <stdio.h>

#include "profiler/cli/ending.h"
#include "profiler/cli/run.h"
#include "profiler/cli/top_run.h"
#include "profiler/core/svd.h"
#include "targets/os/tasks.h"

enum { END_DEADLINE_MS = 10000, ABANDON_DEADLINE_MS = 200 };

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static int stop_worker(struct run *r, struct err *err)
{
    unsigned deadline_ms = END_DEADLINE_MS;
    if (r->abandon)
        deadline_ms = ABANDON_DEADLINE_MS;
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
    if (ret < 0)
        return ret;
    return gdb_server_stop(r->server, deadline_ms, err);
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
    run_signals_hold();
    live_clear(&r->live);
    progress_clear(&r->progress);
    ending_tell(r->cli->ending, NULL, NULL);
    int ret = stop_worker(r, err);
    if (ret < 0)
        return ret;
    run_top_end(r);
    serve_stop(&r->serve);
    if (r->has_loop) {
        uv_walk(&r->loop, close_handle, NULL);
        uv_run(&r->loop, UV_RUN_DEFAULT);
        uv_loop_close(&r->loop);
    }
    top_free(r->top);
    close_target(r);
    pump_fini(&r->pump);
    wire_fini(&r->wire);
    run_ask_fini(r);
    begin_fini(&r->begin);
    recover_fini(&r->recover);
    capture_close(&r->capture);
    slices_fini(&r->slices);
    live_fini(&r->live);
    progress_fini(&r->progress);
    probe_close(r->probe);
    probe_close(r->pdo);
    tasks_free(r->tasks);
    tasks_free(r->gdb_tasks);
    svd_close(r->svd);
    marks_matcher_free(r->matcher);
    marks_free(r->marks);
    symbols_close(r->symbols);
    return 0;
}
