/* How a run begins on the board: the program is loaded or compared, the trace armed, and off it
 * goes. */
#include <limits.h>

#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/bridge/board_io.h"
#include "profiler/cli/run.h"

/* bytes: how long a running program is kept waiting */
enum { COMPARE_RUNNING = 64 << 10, COMPARE_HALTED = 1 << 20 };
enum { TRIES = 3, LOADS = 10, PAUSE_FIRST_MS = 1000, PAUSE_MAX_MS = 30000 };

bool run_stopping(void *ctx)
{
    struct run *r = ctx;
    return atomic_load(&r->leaving) || worker_stopping(r->worker);
}

/* Bridging only: the board may hold anything, GDB may load it later; the driver touches what it
 * finds unchanged. */
static int tell_image(struct run *r, struct target *t, struct err *err)
{
    return t->ops->set_image ? t->ops->set_image(t, symbols_image(r->symbols), err) : 0;
}

void run_tell_progress(void *ctx, const struct load_progress *now)
{
    progress_tell(&((struct run *)ctx)->progress, now);
}

static int load(struct run *r, struct target *t, const struct board_io *io, struct err *err)
{
    uint64_t since = uv_hrtime();
    int ret = board_load(t, symbols_image(r->symbols), io, &r->begin.loaded, err);
    r->begin.load_ns = uv_hrtime() - since;
    return ret;
}

static int prepare(struct run *r, struct target *t, struct err *err)
{
    struct board_io io = { .cancelled = run_stopping, .ctx = r, .tell = run_tell_progress };
    const struct image *im = symbols_image(r->symbols);
    if (r->set.load)
        return load(r, t, &io, err);
    bool running = t->ops->state(t) == TARGET_RUNNING;
    r->begin.ran = r->begin.ran || running;
    /* memory is readable then, and the trace is armed in one go */
    int ret = running ? board_halt(t, err) : 0;
    r->begin.answered = r->begin.answered || ret == 0;
    if (ret == 0)
        ret = board_compare(t, im, &io, r->begin.ran ? COMPARE_RUNNING : COMPARE_HALTED, err);
    if (ret < 0) {
        if (r->begin.ran && t->ops->state(t) == TARGET_HALTED)
            t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL);
        return ret;
    }
    return tell_image(r, t, err);
}

static int begin(struct run *r, struct target *t, struct err *err)
{
    int ret = !r->symbols                 ? 0
              : r->profile || r->set.load ? prepare(r, t, err)
                                          : tell_image(r, t, err);
    if (ret < 0 || !r->profile)
        return ret;
    r->begin.answered = true;
    ret = pump_arm(&r->pump, t, err);
    if (ret < 0)
        return ret;
    if (t->ops->state(t) == TARGET_HALTED)
        ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    if (ret < 0)
        pump_forget(&r->pump); /* attaching again undoes what is armed */
    else
        pump_running(&r->pump, t);
    return ret;
}

static void over(struct run *r, int ret)
{
    r->begin.ret = ret;
    atomic_store(&r->begin.over, true);
    uv_async_send(&r->wake);
}

/* Whether it may be better when the adapter has been opened and the board attached anew. An adapter
 * or board that is away is waited for as long as it takes. What answers, but not as it should, is
 * something else: a CPU that has never halted for us does not halt, and flash is not written for
 * ever. */
static bool worth_another_try(const struct run *r, struct target *t, int ret)
{
    if (t->ops->state(t) == TARGET_GONE || ret == -ERR_USB || ret == -ERR_NO_TARGET)
        return true;
    unsigned most = !r->begin.answered ? TRIES : r->set.load ? LOADS : UINT_MAX;
    return (ret == -ERR_TIMEOUT || ret == -ERR_PROTOCOL) && r->begin.tries < most;
}

/* An adapter that was pulled three times is not made to wait; what fails for other reasons is tried
 * less and less often. */
static void pause_before_next(struct run *r)
{
    unsigned late = ++r->begin.tries > TRIES ? MIN(r->begin.tries - TRIES - 1, 5u) : 0;
    uint64_t ms = MIN((uint64_t)PAUSE_FIRST_MS << late, (uint64_t)PAUSE_MAX_MS);
    r->begin.again_ns = r->begin.tries > TRIES ? host_ns() + ms * 1000000u : 0;
}

int run_begin_again(struct run *r, struct target *t, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = begin(r, t, &why);
    r->begin.answered = r->begin.answered || t->ops->state(t) == TARGET_HALTED;
    if (ret < 0 && !run_stopping(r) && worth_another_try(r, t, ret)) {
        pause_before_next(r);
        if (err)
            *err = why;
        return ret;
    }
    r->begin.err = why;
    over(r, ret);
    return 0;
}

void run_begin(void *ctx, struct target *t)
{
    struct run *r = ctx;
    struct err why = { .code = ERR_OK };
    worker_add_client(r->worker, &r->wire.client);
    worker_add_client(r->worker, &r->link.client);
    worker_serve(r->worker);
    if (run_begin_again(r, t, &why) < 0)
        worker_lost(r->worker, &why);
}
