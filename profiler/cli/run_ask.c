/* What the worker needs of the main thread: symbols, above all, which belong to that. */
#include <time.h>

#include "profiler/cli/run.h"

enum { ANSWER_S = 10 };
static const uint64_t nap_ns = 1000000;

void run_ask_init(struct run *r) { pthread_mutex_init(&r->ask.lock, NULL); }

void run_ask_fini(struct run *r) { pthread_mutex_destroy(&r->ask.lock); }

/* True: there is an answer, or none will be waited for any more. */
static bool is_answered(struct run *r, bool give_up, bool *answered)
{
    pthread_mutex_lock(&r->ask.lock);
    *answered = r->ask.state == RUN_ANSWERED;
    bool over = *answered || give_up;
    if (over)
        r->ask.state = RUN_NOT_ASKED;
    pthread_mutex_unlock(&r->ask.lock);
    return over;
}

int run_ask(struct run *r, int (*fn)(struct run *r, void *ctx, struct err *err), void *ctx,
            struct err *err)
{
    uint64_t until = uv_hrtime() + ANSWER_S * 1000000000ull;
    bool answered;
    pthread_mutex_lock(&r->ask.lock);
    r->ask.fn = fn;
    r->ask.ctx = ctx;
    r->ask.err = err;
    r->ask.state = RUN_ASKED;
    pthread_mutex_unlock(&r->ask.lock);
    run_wake(r);
    while (!is_answered(r, atomic_load(&r->leaving) || uv_hrtime() > until, &answered))
        nanosleep(&(struct timespec){ .tv_nsec = (long)nap_ns }, NULL);
    if (answered)
        return r->ask.ret;
    if (atomic_load(&r->leaving))
        return err_set(err, ERR_CANCELLED, "start it again", "probeprof is ending");
    return err_set(err, ERR_TIMEOUT, "try again",
                   "the program's symbols could not be asked in %d s", ANSWER_S);
}

void run_answer(struct run *r)
{
    pthread_mutex_lock(&r->ask.lock);
    if (r->ask.state == RUN_ASKED) {
        r->ask.ret = r->ask.fn(r, r->ask.ctx, r->ask.err);
        r->ask.state = RUN_ANSWERED;
    }
    pthread_mutex_unlock(&r->ask.lock);
}
