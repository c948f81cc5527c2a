#include "profiler/bridge/begin.h"

#include <limits.h>

#include "probe/base/util.h"
#include "probe/host_time.h"

/* bytes: how long a running program is kept waiting */
enum { COMPARE_RUNNING = 64 << 10, COMPARE_HALTED = 1 << 20 };
enum { TRIES = 3, LOADS = 10, PAUSE_FIRST_MS = 1000, PAUSE_MAX_MS = 30000 };

void begin_init(struct begin *b, const struct begin_config *cfg)
{
    *b = (struct begin){ .cfg = *cfg, .made = true };
    pthread_mutex_init(&b->lock, NULL);
}

void begin_fini(struct begin *b)
{
    if (b->made)
        pthread_mutex_destroy(&b->lock);
    b->made = false;
}

struct begin_view begin_look(struct begin *b)
{
    pthread_mutex_lock(&b->lock);
    struct begin_view view = b->view;
    pthread_mutex_unlock(&b->lock);
    return view;
}

bool begin_waits(const struct begin *b) { return host_ns() < b->again_ns; }

bool begin_has_loaded(const struct begin *b) { return b->loaded > 0; }

/* Bridging only: the board may hold another program, and GDB may load one later, so nothing is
 * compared here; the driver only touches code that it finds unchanged. */
static int tell_image(struct begin *b, struct target *t, struct err *err)
{
    if (!t->ops->set_image)
        return 0;
    return t->ops->set_image(t, b->cfg.image, err);
}

static int load_program(struct begin *b, struct target *t, struct err *err)
{
    uint64_t since = host_ns();
    int ret = board_load(t, b->cfg.image, &b->cfg.io, &b->loaded, err);
    b->load_ns = host_ns() - since;
    return ret;
}

static int compare_program(struct begin *b, struct target *t, struct err *err)
{
    bool running = t->ops->state(t) == TARGET_RUNNING;
    b->ran = b->ran || running;
    /* memory is readable then, and the trace is armed in one go */
    int ret = 0;
    if (running)
        ret = board_halt(t, err);
    b->answered = b->answered || ret == 0;
    if (ret == 0)
        ret = board_compare(t, b->cfg.image, &b->cfg.io, b->ran ? COMPARE_RUNNING : COMPARE_HALTED,
                            err);
    if (ret < 0) {
        if (b->ran && t->ops->state(t) == TARGET_HALTED)
            t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL);
        return ret;
    }
    return tell_image(b, t, err);
}

static int prepare_program(struct begin *b, struct target *t, struct err *err)
{
    if (!b->cfg.image)
        return 0;
    if (b->cfg.load)
        return load_program(b, t, err);
    if (b->cfg.pump)
        return compare_program(b, t, err);
    return tell_image(b, t, err);
}

static int begin_once(struct begin *b, struct target *t, struct err *err)
{
    int ret = prepare_program(b, t, err);
    if (ret < 0 || !b->cfg.pump)
        return ret;
    b->answered = true;
    ret = pump_arm(b->cfg.pump, t, err);
    if (ret < 0)
        return ret;
    if (t->ops->state(t) == TARGET_HALTED)
        ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    if (ret < 0)
        pump_forget(b->cfg.pump); /* attaching again undoes what is armed */
    else
        pump_running(b->cfg.pump, t);
    return ret;
}

static void set_over(struct begin *b, int ret, const struct err *why)
{
    pthread_mutex_lock(&b->lock);
    b->view = (struct begin_view){
        .over = true, .ret = ret, .err = *why, .loaded = b->loaded, .load_ns = b->load_ns
    };
    pthread_mutex_unlock(&b->lock);
    b->cfg.wake(b->cfg.wake_ctx);
}

/* May the failure pass when the adapter is opened and the board attached again? An adapter or
 * board that is away is waited for as long as it takes. A board that answers wrongly is not: a CPU
 * that has never halted will not halt, and flash is not written for ever. */
static bool worth_another_try(const struct begin *b, struct target *t, int ret)
{
    if (t->ops->state(t) == TARGET_GONE || ret == -ERR_USB || ret == -ERR_NO_TARGET)
        return true;
    unsigned most = UINT_MAX;
    if (b->cfg.load)
        most = LOADS;
    if (!b->answered)
        most = TRIES;
    return (ret == -ERR_TIMEOUT || ret == -ERR_PROTOCOL) && b->tries < most;
}

/* An adapter that was pulled three times is not made to wait; what fails for other reasons is tried
 * less and less often. */
static void pause_before_next(struct begin *b)
{
    b->again_ns = 0;
    if (++b->tries <= TRIES)
        return;
    unsigned late = MIN(b->tries - TRIES - 1, 5u);
    uint64_t ms = MIN((uint64_t)PAUSE_FIRST_MS << late, (uint64_t)PAUSE_MAX_MS);
    b->again_ns = host_ns() + ms * 1000000u;
}

int begin_again(struct begin *b, struct target *t, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = begin_once(b, t, &why);
    b->answered = b->answered || t->ops->state(t) == TARGET_HALTED;
    if (ret < 0 && !b->cfg.io.cancelled(b->cfg.io.ctx) && worth_another_try(b, t, ret)) {
        pause_before_next(b);
        if (err)
            *err = why;
        return ret;
    }
    set_over(b, ret, &why);
    return 0;
}

void begin_run(struct begin *b, struct target *t)
{
    struct err why = { .code = ERR_OK };
    if (begin_again(b, t, &why) < 0)
        worker_lost(b->cfg.worker, &why);
}
