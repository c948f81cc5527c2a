/* The worker: jobs, clients, a target that goes away, an end with a deadline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/bridge/worker.h"
#include "tests/gdbstub/ram_target.h"

struct fixture {
    struct ram_target ram;
    uv_loop_t loop;
    struct worker *w;
    struct worker_client client;
    atomic_uint slices, stops, gones, backs, closings;
    pthread_t loop_thread;
    char trail[64]; /* what ran, in order */
    atomic_uint dones;
};

static bool on_slice(void *ctx, struct target *t)
{
    (void)t;
    atomic_fetch_add(&((struct fixture *)ctx)->slices, 1);
    return false;
}

static void on_stopped(void *ctx, struct target *t, const struct target_stop *stop)
{
    (void)t;
    if (stop->reason == STOP_SWBREAK)
        atomic_fetch_add(&((struct fixture *)ctx)->stops, 1);
}

static void on_gone(void *ctx, struct target *t, const struct err *why)
{
    (void)t;
    assert_string_not_equal(why->what, "");
    atomic_fetch_add(&((struct fixture *)ctx)->gones, 1);
}

static void on_back(void *ctx, struct target *t)
{
    (void)t;
    atomic_fetch_add(&((struct fixture *)ctx)->backs, 1);
}

static void on_closing(void *ctx, struct target *t)
{
    (void)t;
    atomic_fetch_add(&((struct fixture *)ctx)->closings, 1);
}

static int start_worker(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    struct err err;
    ram_target_init(&fx->ram);
    fx->ram.words_per_poll = 10;
    uv_loop_init(&fx->loop);
    struct worker_config cfg = { .target = &fx->ram.target, .loop = &fx->loop };
    if (worker_start(&cfg, &fx->w, &err) < 0)
        return -1;
    fx->client = (struct worker_client){ .ctx = fx,
                                         .slice = on_slice,
                                         .stopped = on_stopped,
                                         .gone = on_gone,
                                         .back = on_back,
                                         .closing = on_closing };
    worker_add_client(fx->w, &fx->client);
    *state = fx;
    return 0;
}

static int stop_worker(void **state)
{
    struct fixture *fx = *state;
    struct err err;
    assert_int_equal(worker_stop(fx->w, 5000, &err), 0);
    uv_run(&fx->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fx->loop), 0);
    free(fx);
    return 0;
}

/* Turns the loop until the count is reached; a test that waits in vain fails. */
static void wait_count(struct fixture *fx, atomic_uint *count, unsigned want)
{
    for (int i = 0; i < 600000 && atomic_load(count) < want; i++) {
        uv_run(&fx->loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    assert_true(atomic_load(count) >= want);
}

struct task {
    struct fixture *fx;
    char name;
    pthread_t ran_on, done_on;
};

static void task_run(void *ctx, struct target *t)
{
    struct task *task = ctx;
    size_t n = strlen(task->fx->trail);
    assert_ptr_equal(t, &task->fx->ram.target);
    task->ran_on = pthread_self();
    task->fx->trail[n] = task->name;
}

static void task_done(void *ctx)
{
    struct task *task = ctx;
    task->done_on = pthread_self();
    atomic_fetch_add(&task->fx->dones, 1);
}

static void worker__jobs__run_in_order_there_complete_here(void **state)
{
    struct fixture *fx = *state;
    struct task tasks[8];
    struct worker_job jobs[8];
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        tasks[i] = (struct task){ .fx = fx, .name = (char)('a' + i) };
        jobs[i] = (struct worker_job){ .run = task_run, .done = task_done, .ctx = &tasks[i] };
        assert_int_equal(worker_post(fx->w, &jobs[i], &err), 0);
    }
    wait_count(fx, &fx->dones, ARRAY_LEN(jobs));
    assert_string_equal(fx->trail, "abcdefgh");
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        assert_true(pthread_equal(tasks[i].done_on, pthread_self()));
        assert_false(pthread_equal(tasks[i].ran_on, pthread_self()));
    }
}

static void set_break_and_go(void *ctx, struct target *t)
{
    const struct resume how = { .kind = RESUME_CONTINUE };
    (void)ctx;
    assert_int_equal(t->ops->insert_bp(t, BP_SOFT, 0x1100, 2, NULL), 0);
    assert_int_equal(t->ops->resume(t, &how, NULL), 0);
}

static void worker__target_runs__slices_then_one_stop(void **state)
{
    struct fixture *fx = *state;
    struct worker_job job = { .run = set_break_and_go };
    assert_int_equal(worker_post(fx->w, &job, NULL), 0);
    wait_count(fx, &fx->stops, 1);
    assert_true(fx->slices >= 0x100 / 2 / 10 - 1);
    unsigned slices = fx->slices;
    wait_count(fx, &fx->slices, slices + 2); /* halted: they go on, slowly */
    assert_int_equal(fx->stops, 1);
}

static void unplug_board(void *ctx, struct target *t)
{
    (void)t;
    ((struct fixture *)ctx)->ram.gone = true;
}

static void plug_board(void *ctx, struct target *t)
{
    (void)t;
    ((struct fixture *)ctx)->ram.gone = false;
}

static void worker__target_goes_and_returns__reported_once_each(void **state)
{
    struct fixture *fx = *state;
    struct worker_job out = { .run = unplug_board, .ctx = fx },
                      in = { .run = plug_board, .ctx = fx };
    assert_int_equal(worker_post(fx->w, &out, NULL), 0);
    wait_count(fx, &fx->gones, 1);
    usleep(250000); /* a first attempt fails */
    assert_int_equal(fx->backs, 0);
    assert_int_equal(worker_post(fx->w, &in, NULL), 0);
    wait_count(fx, &fx->backs, 1);
    assert_int_equal(fx->gones, 1);
    assert_int_equal(fx->ram.attaches, 1);
}

static void fail_twice(void *ctx, struct target *t)
{
    struct fixture *fx = ctx;
    (void)t;
    worker_failed(fx->w, &(struct err){ .code = ERR_FAULT, .what = "no memory there" });
    fx->ram.gone = true;
    worker_failed(fx->w, &(struct err){ .code = ERR_USB, .what = "unplugged" });
    worker_failed(fx->w, &(struct err){ .code = ERR_NO_TARGET, .what = "not attached" });
}

static void keep_reason(void *ctx, struct target *t, const struct err *why)
{
    struct fixture *fx = ctx;
    snprintf(fx->trail, sizeof fx->trail, "%.60s", why->what);
    on_gone(ctx, t, why);
}

static void worker__calls_fail__first_reason_of_a_target_that_is_gone_counts(void **state)
{
    struct fixture *fx = *state;
    struct worker_job job = { .run = fail_twice, .ctx = fx }, in = { .run = plug_board, .ctx = fx };
    fx->client.gone = keep_reason;
    assert_int_equal(worker_post(fx->w, &job, NULL), 0);
    wait_count(fx, &fx->gones, 1);
    assert_string_equal(fx->trail, "unplugged");
    assert_int_equal(worker_post(fx->w, &in, NULL), 0);
    wait_count(fx, &fx->backs, 1);
    assert_int_equal(fx->gones, 1);
}

/* Only the first time. */
static void lose_again(void *ctx, struct target *t)
{
    struct fixture *fx = ctx;
    on_back(ctx, t);
    if (fx->backs == 1)
        worker_lost(fx->w, &(struct err){ .code = ERR_USB, .what = "lost while arming" });
}

static void worker__lost_again_while_clients_hear_of_the_return__is_got_back_again(void **state)
{
    struct fixture *fx = *state;
    struct worker_job out = { .run = unplug_board, .ctx = fx },
                      in = { .run = plug_board, .ctx = fx };
    fx->client.back = lose_again;
    assert_int_equal(worker_post(fx->w, &out, NULL), 0);
    wait_count(fx, &fx->gones, 1);
    assert_int_equal(worker_post(fx->w, &in, NULL), 0);
    wait_count(fx, &fx->backs, 2);
    assert_int_equal(fx->gones, 2);
}

struct pipe_watch {
    struct fixture *fx;
    struct worker_fd wfd;
    atomic_uint bytes;
};

static void pipe_ready(void *ctx, struct target *t, uint32_t events)
{
    struct pipe_watch *p = ctx;
    char c;
    (void)t;
    assert_true(events & POLLIN);
    assert_int_equal(read(p->wfd.fd, &c, 1), 1);
    atomic_fetch_add(&p->bytes, 1);
    if (c == 'q')
        worker_fd_remove(p->fx->w, &p->wfd);
}

static void watch_pipe(void *ctx, struct target *t)
{
    struct pipe_watch *p = ctx;
    (void)t;
    p->wfd.ready = pipe_ready;
    p->wfd.ctx = p;
    assert_int_equal(worker_fd_add(p->fx->w, &p->wfd, POLLIN, NULL), 0);
}

static void worker__descriptor_becomes_ready__served_until_removed(void **state)
{
    struct pipe_watch p = { .fx = *state };
    struct worker_job job = { .run = watch_pipe, .ctx = &p };
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    p.wfd.fd = fds[0];
    assert_int_equal(worker_post(p.fx->w, &job, NULL), 0);
    assert_int_equal(write(fds[1], "abq", 3), 3);
    wait_count(p.fx, &p.bytes, 3);
    assert_int_equal(write(fds[1], "x", 1), 1);
    usleep(120000);
    assert_int_equal(p.bytes, 3);
    close(fds[0]);
    close(fds[1]);
}

static void stop_own_worker__jobs_and_closing_first(void **state)
{
    struct fixture *fx = *state, *own;
    struct task task;
    struct worker_job job = { .run = task_run, .done = task_done, .ctx = &task };
    (void)fx;
    assert_int_equal(start_worker((void **)&own), 0);
    task = (struct task){ .fx = own, .name = 'z' };
    assert_int_equal(worker_post(own->w, &job, NULL), 0);
    assert_int_equal(worker_stop(own->w, 5000, NULL), 0);
    assert_string_equal(own->trail, "z");
    assert_int_equal(own->dones, 1);
    assert_int_equal(own->closings, 1);
    uv_run(&own->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&own->loop), 0);
    free(own);
}

static atomic_bool *stuck_until(void)
{
    atomic_bool *release = malloc(sizeof *release);
    atomic_init(release, false);
    return release;
}

static void stay_stuck(void *ctx, struct target *t)
{
    (void)t;
    while (!atomic_load((atomic_bool *)ctx))
        usleep(1000);
}

static void worker_stop__call_in_progress_hangs__gives_up_in_time(void **state)
{
    struct fixture *fx = *state, *own;
    struct err err = { .code = ERR_OK };
    (void)fx;
    assert_int_equal(start_worker((void **)&own), 0);
    atomic_bool *release = stuck_until();
    struct worker_job *job = calloc(1, sizeof *job), late = { .run = stay_stuck };
    *job = (struct worker_job){ .run = stay_stuck, .ctx = release };
    assert_int_equal(worker_post(own->w, job, NULL), 0);
    assert_int_equal(worker_stop(own->w, 100, &err), -ERR_TIMEOUT);
    assert_string_not_equal(err.hint, "");
    assert_true(worker_stopping(own->w));
    assert_int_equal(worker_post(own->w, &late, &err), -ERR_STATE);
    atomic_store(release, true); /* let it end, so that the test's memory is whole again */
    for (int i = 0; i < 600000 && !atomic_load(&own->closings); i++)
        usleep(1000);
    assert_int_equal(own->closings, 1);
    assert_int_equal(worker_stop(own->w, 5000, &err), 0);
    uv_run(&own->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&own->loop), 0);
    free(own);
    free(job);
    free(release);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start_worker, stop_worker)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(worker__jobs__run_in_order_there_complete_here),
        TEST(worker__target_runs__slices_then_one_stop),
        TEST(worker__target_goes_and_returns__reported_once_each),
        TEST(worker__calls_fail__first_reason_of_a_target_that_is_gone_counts),
        TEST(worker__lost_again_while_clients_hear_of_the_return__is_got_back_again),
        TEST(worker__descriptor_becomes_ready__served_until_removed),
        TEST(stop_own_worker__jobs_and_closing_first),
        TEST(worker_stop__call_in_progress_hangs__gives_up_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
