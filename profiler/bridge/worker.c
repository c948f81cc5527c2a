#include "profiler/bridge/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/bridge/presence.h"

enum {
    MAX_FDS = 64, /* descriptors in the wait */
    RECOVER_FIRST_MS = 100,
    /* back within a second of the return, arming included; a look at the bus costs about a
       millisecond */
    RECOVER_MAX_MS = 250,
};

/* of a loss that nobody has explained */
static const struct err no_answer = { .code = ERR_NO_TARGET, .what = "the target does not answer" };

struct job_list {
    struct worker_job *first, **last;
};

struct worker {
    struct worker_config cfg;
    pthread_t thread;
    int wake_fd;
    struct worker_fd wake;
    uv_async_t async; /* tells the loop of completions */
    bool has_async;

    pthread_mutex_t lock; /* guards the two lists and done_sent */
    pthread_cond_t ended_cond;
    struct job_list queued, finished;
    bool ended;
    atomic_bool stopping;
    atomic_bool posted; /* something is in queued; a hint that costs no lock */
    atomic_bool asleep; /* in a wait that only wake_fd ends */

    /* Below: the worker's thread only. */
    struct worker_client *clients;
    struct pollfd pfd[MAX_FDS];
    struct worker_fd *fds[MAX_FDS]; /* side by side with pfd; NULL: removed during dispatch */
    size_t nfds;
    enum presence presence; /* of the target */
    struct err why_lost;    /* the last time */
    bool was_running;       /* when last seen for certain */
    uint64_t slice_ns;      /* at most cfg.slice_ns */
    unsigned recover_pause_ms;
    uint64_t recover_at_ns;
    uint64_t idle_at_ns; /* next slice() of a halted target */
};

/* ---- job lists ---- */

static void list_init(struct job_list *l)
{
    l->first = NULL;
    l->last = &l->first;
}

static void list_append(struct job_list *l, struct worker_job *job)
{
    job->next = NULL;
    *l->last = job;
    l->last = &job->next;
}

static struct worker_job *list_take_all(struct job_list *l)
{
    struct worker_job *first = l->first;
    list_init(l);
    return first;
}

static void wake_worker(struct worker *w)
{
    uint64_t one = 1;
    if (atomic_exchange(&w->asleep, false) && write(w->wake_fd, &one, sizeof one) < 0)
        log_msg(w->cfg.log, LOG_TARGET, "worker: wake-up failed: %s", strerror(errno));
}

int worker_post(struct worker *w, struct worker_job *job, struct err *err)
{
    pthread_mutex_lock(&w->lock);
    bool stopping = atomic_load(&w->stopping);
    if (!stopping)
        list_append(&w->queued, job);
    atomic_store(&w->posted, true);
    pthread_mutex_unlock(&w->lock);
    if (stopping)
        return err_set(err, ERR_STATE, "", "worker: it is being stopped");
    wake_worker(w);
    return 0;
}

void worker_set_slice(struct worker *w, uint64_t ns)
{
    w->slice_ns = MIN(EITHER(ns, w->cfg.slice_ns), w->cfg.slice_ns);
}

void worker_serve(struct worker *w) { w->cfg.held = false; }

void worker_lost(struct worker *w, const struct err *why)
{
    if (w->presence == PRESENCE_HERE || w->presence == PRESENCE_BACK)
        w->why_lost = *why;
    presence_take(&w->presence, PRESENCE_LOSS);
}

void worker_failed(struct worker *w, const struct err *why)
{
    const struct target *t = w->cfg.target;
    if (t->ops->state(w->cfg.target) == TARGET_GONE)
        worker_lost(w, why);
}

bool worker_was_running(const struct worker *w) { return w->was_running; }

bool worker_stopping(const struct worker *w) { return atomic_load(&w->stopping); }

static void finish_job(struct worker *w, struct worker_job *job)
{
    if (!job->done)
        return;
    if (!w->has_async) {
        job->done(job->ctx);
        return;
    }
    pthread_mutex_lock(&w->lock);
    list_append(&w->finished, job);
    pthread_mutex_unlock(&w->lock);
    uv_async_send(&w->async);
}

static void run_jobs(struct worker *w)
{
    if (!atomic_load(&w->posted))
        return;
    pthread_mutex_lock(&w->lock);
    struct worker_job *job = list_take_all(&w->queued);
    atomic_store(&w->posted, false);
    pthread_mutex_unlock(&w->lock);
    while (job) {
        struct worker_job *next = job->next; /* done() may reuse the job at once */
        bool has_done = job->done != NULL;
        job->run(job->ctx, w->cfg.target);
        if (has_done)
            finish_job(w, job);
        job = next;
    }
}

static void deliver_finished(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    struct worker_job *job = list_take_all(&w->finished);
    pthread_mutex_unlock(&w->lock);
    while (job) {
        struct worker_job *next = job->next;
        job->done(job->ctx);
        job = next;
    }
}

static void on_async(uv_async_t *async) { deliver_finished(async->data); }

/* ---- clients ---- */

void worker_add_client(struct worker *w, struct worker_client *c)
{
    struct worker_client **p = &w->clients;
    while (*p)
        p = &(*p)->next;
    c->next = NULL;
    *p = c;
}

void worker_remove_client(struct worker *w, struct worker_client *c)
{
    for (struct worker_client **p = &w->clients; *p; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            return;
        }
    }
}

static void tell_stopped(struct worker *w, const struct target_stop *stop)
{
    for (struct worker_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        if (c->stopped)
            c->stopped(c->ctx, w->cfg.target, stop);
    }
}

static bool tell_slice(struct worker *w)
{
    bool more = false;
    for (struct worker_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        if (c->slice && c->slice(c->ctx, w->cfg.target))
            more = true;
    }
    return more;
}

/* Of a loss that they do not know yet. */
static void tell_gone(struct worker *w)
{
    const struct err *why = &w->why_lost;
    if (w->presence != PRESENCE_LOST)
        return;
    log_msg(w->cfg.log, LOG_TARGET, "worker: target gone: %s", why->what);
    presence_take(&w->presence, PRESENCE_LOSS_REPORTED);
    w->recover_pause_ms = RECOVER_FIRST_MS;
    w->recover_at_ns = host_ns() + (uint64_t)RECOVER_FIRST_MS * 1000000u;
    for (struct worker_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        if (c->gone)
            c->gone(c->ctx, w->cfg.target, why);
    }
}

static void tell_troubled(struct worker *w, const struct err *why)
{
    log_msg(w->cfg.log, LOG_TARGET, "worker: poll: %s", why->what);
    for (struct worker_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        if (c->troubled)
            c->troubled(c->ctx, w->cfg.target, why);
    }
}

static void tell_back(struct worker *w)
{
    log_msg(w->cfg.log, LOG_TARGET, "worker: target is back");
    presence_take(&w->presence, PRESENCE_TRY_WORKED);
    for (struct worker_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        if (c->back)
            c->back(c->ctx, w->cfg.target);
    }
    presence_take(&w->presence, PRESENCE_RETURN_REPORTED);
}

/* ---- the target's turn ---- */

static void try_recover(struct worker *w)
{
    struct target *t = w->cfg.target;
    struct err err = { .code = ERR_OK };
    int ret;
    if (w->cfg.recover)
        ret = w->cfg.recover(w->cfg.recover_ctx, t, &err);
    else
        ret = t->ops->attach(t, &err);
    enum target_state state = t->ops->state(t);
    if (ret >= 0 && (state == TARGET_RUNNING || state == TARGET_HALTED)) {
        tell_back(w);
        return;
    }
    presence_take(&w->presence, PRESENCE_TRY_FAILED);
    w->recover_pause_ms = MIN(w->recover_pause_ms * 2, (unsigned)RECOVER_MAX_MS);
    w->recover_at_ns = host_ns() + (uint64_t)w->recover_pause_ms * 1000000u;
    log_msg(w->cfg.log, LOG_TARGET, "worker: not back yet: %s", err.what);
}

/* Looks for a stop. A halted target is asked too: halt() and a step may be over before the first
 * poll. */
static void poll_target(struct worker *w, uint64_t max_ns)
{
    struct target *t = w->cfg.target;
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = no_answer;
    err.code = ERR_OK; /* it may be over without a failure */
    int ret = t->ops->poll(t, max_ns, &stop, &err);
    if (ret > 0 && stop.reason == STOP_GONE)
        worker_lost(w, &err);
    worker_failed(w, &err);
    if (w->presence != PRESENCE_HERE) {
        tell_gone(w);
        return;
    }
    if (ret < 0)
        tell_troubled(w, &err);
    if (ret > 0)
        tell_stopped(w, &stop);
}

/* The target is away: a try to get it back, if it is time for one. Returns as serve_target(). */
static int look_for_target(struct worker *w)
{
    if (host_ns() >= w->recover_at_ns)
        try_recover(w);
    if (w->presence != PRESENCE_AWAY)
        return 0;
    tell_slice(w);
    uint64_t now = host_ns();
    if (w->recover_at_ns <= now)
        return 0;
    return (int)((w->recover_at_ns - now) / 1000000u) + 1;
}

/* One turn of the target; returns how long the wait may last, in ms (-1: until something comes). */
static int serve_target(struct worker *w)
{
    struct target *t = w->cfg.target;
    enum target_state state = t->ops->state(t);
    if (w->cfg.held)
        return -1;
    worker_failed(w, &no_answer);
    /* an attach that failed half-way leaves one detached, too */
    if (state == TARGET_DETACHED && w->presence == PRESENCE_HERE)
        return -1;
    tell_gone(w);
    w->was_running = w->was_running || state == TARGET_RUNNING;
    if (w->presence == PRESENCE_AWAY)
        return look_for_target(w);
    uint64_t now = host_ns();
    bool turn = state == TARGET_RUNNING || now >= w->idle_at_ns;
    poll_target(w, turn ? w->slice_ns : 0);
    /* only after it has answered: a call that failed half-way may have left it in between */
    if (turn && w->presence != PRESENCE_AWAY && t->ops->state(t) == TARGET_HALTED)
        w->was_running = false;
    if (turn) {
        bool more = tell_slice(w);
        w->idle_at_ns = more ? 0 : host_ns() + (uint64_t)WORKER_IDLE_MS * 1000000u;
    }
    state = t->ops->state(t);
    if (state == TARGET_RUNNING || state == TARGET_GONE || !w->idle_at_ns)
        return 0;
    return WORKER_IDLE_MS;
}

/* ---- waiting ---- */

/* Removing only marks, since it may happen while the list is walked. */
static void sweep_fds(struct worker *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->nfds; i++) {
        if (!w->fds[i])
            continue;
        w->fds[n] = w->fds[i];
        w->pfd[n++] = w->pfd[i];
    }
    w->nfds = n;
}

/* poll(), not epoll: the descriptors are few, and a wake-up through epoll loses the scheduler's
 * hint that the sender is about to sleep, so worker and debugger run on different cores and each
 * packet pays for waking an idle one (bench_rsp, g on two cores: 17 thousand round trips a second
 * that way). Spinning for the next packet is slower than this as well. */
static void wait_for_work(struct worker *w, int timeout_ms)
{
    sweep_fds(w);
    atomic_store(&w->asleep, timeout_ms != 0);
    bool work = atomic_load(&w->posted) || atomic_load(&w->stopping);
    int ready = poll(w->pfd, w->nfds, work ? 0 : timeout_ms);
    atomic_store(&w->asleep, false);
    for (size_t i = 0, n = w->nfds; ready > 0 && i < n; i++) {
        struct worker_fd *f = w->fds[i];
        if (f && w->pfd[i].revents)
            f->ready(f->ctx, w->cfg.target, (uint32_t)w->pfd[i].revents);
    }
}

static void on_wake(void *ctx, struct target *t, uint32_t events)
{
    struct worker *w = ctx;
    uint64_t n;
    (void)t;
    (void)events;
    if (read(w->wake_fd, &n, sizeof n) < 0 && errno != EAGAIN)
        log_msg(w->cfg.log, LOG_TARGET, "worker: wake-up: %s", strerror(errno));
}

int worker_fd_add(struct worker *w, struct worker_fd *f, uint32_t events, struct err *err)
{
    if (w->nfds == MAX_FDS)
        return err_set(err, ERR_IO, "", "worker: more than %d descriptors", MAX_FDS);
    w->fds[w->nfds] = f;
    w->pfd[w->nfds++] = (struct pollfd){ .fd = f->fd, .events = (short)events };
    return 0;
}

static size_t fd_place(const struct worker *w, const struct worker_fd *f)
{
    size_t i = 0;
    while (i < w->nfds && w->fds[i] != f)
        i++;
    return i;
}

int worker_fd_set(struct worker *w, struct worker_fd *f, uint32_t events, struct err *err)
{
    size_t i = fd_place(w, f);
    if (i == w->nfds)
        return err_set(err, ERR_IO, "", "worker: descriptor %d is not watched", f->fd);
    w->pfd[i].events = (short)events;
    return 0;
}

void worker_fd_remove(struct worker *w, struct worker_fd *f)
{
    size_t i = fd_place(w, f);
    if (i < w->nfds)
        w->fds[i] = NULL;
}

/* ---- life ---- */

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    while (!atomic_load(&w->stopping)) {
        run_jobs(w);
        int timeout_ms = serve_target(w);
        wait_for_work(w, timeout_ms);
    }
    run_jobs(w);
    for (struct worker_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        if (c->closing)
            c->closing(c->ctx, w->cfg.target);
    }
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->ended_cond);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void destroy_worker(struct worker *w)
{
    if (w->wake_fd >= 0)
        close(w->wake_fd);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ended_cond);
    free(w);
}

static void on_async_closed(uv_handle_t *h) { destroy_worker(h->data); }

/* The handle, once initialised, may only be freed by its close callback. */
static void dispose_job(struct worker *w)
{
    if (w->has_async)
        uv_close((uv_handle_t *)&w->async, on_async_closed);
    else
        destroy_worker(w);
}

static int open_wait(struct worker *w, struct err *err)
{
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake_fd < 0)
        return err_set(err, ERR_IO, "raise the limit on open files (ulimit -n)", "worker: %s",
                       strerror(errno));
    w->wake = (struct worker_fd){ .fd = w->wake_fd, .ready = on_wake, .ctx = w };
    return worker_fd_add(w, &w->wake, POLLIN, err);
}

int worker_start(const struct worker_config *cfg, struct worker **out, struct err *err)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w)
        return err_set(err, ERR_NOMEM, "", "worker: out of memory");
    w->cfg = *cfg;
    if (!w->cfg.slice_ns)
        w->cfg.slice_ns = WORKER_SLICE_NS;
    w->slice_ns = w->cfg.slice_ns;
    w->wake_fd = -1;
    list_init(&w->queued);
    list_init(&w->finished);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ended_cond, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&w->lock, NULL);
    int ret = open_wait(w, err);
    if (ret < 0)
        goto fail;
    if (cfg->loop) {
        uv_async_init(cfg->loop, &w->async, on_async);
        w->async.data = w;
        w->has_async = true;
    }
    int e = pthread_create(&w->thread, NULL, worker_main, w);
    if (e) {
        ret = err_set(err, ERR_IO, "raise the limits on processes and memory (ulimit -u, -v)",
                      "worker: thread: %s", strerror(e));
        goto fail;
    }
    *out = w;
    return 0;
fail:
    dispose_job(w);
    return ret;
}

static bool wait_ended(struct worker *w, unsigned deadline_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += deadline_ms / 1000;
    until.tv_nsec += (long)(deadline_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int e = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->ended && e != ETIMEDOUT)
        e = pthread_cond_timedwait(&w->ended_cond, &w->lock, &until);
    bool ended = w->ended;
    pthread_mutex_unlock(&w->lock);
    return ended;
}

int worker_hangs(unsigned deadline_ms, struct err *err)
{
    return err_set(
        err, ERR_TIMEOUT,
        "the board may keep breakpoints and patches, which the next attach undoes; or reset it",
        "the board was not left: what was asked of its adapter has not come to an end within %.3g "
        "s",
        deadline_ms / 1000.0);
}

int worker_stop(struct worker *w, unsigned deadline_ms, struct err *err)
{
    if (!w)
        return 0;
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->stopping, true);
    pthread_mutex_unlock(&w->lock);
    uint64_t one = 1;
    if (write(w->wake_fd, &one, sizeof one) < 0)
        log_msg(w->cfg.log, LOG_TARGET, "worker: wake-up failed: %s", strerror(errno));
    if (!wait_ended(w, deadline_ms)) {
        pthread_detach(w->thread);
        return worker_hangs(deadline_ms, err);
    }
    pthread_join(w->thread, NULL);
    if (w->has_async)
        deliver_finished(w);
    dispose_job(w);
    return 0;
}
