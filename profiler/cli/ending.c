#include "profiler/cli/ending.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"

/* a second Ctrl-C by hand comes later than that; timeout(1) and service managers signal twice at
 * once */
enum { NS_PER_MS = 1000000, TWICE_MS = 500 };

struct ending {
    int message_fd;
    sigset_t set, before; /* before: the mask that was */
    pthread_t thread;
    atomic_bool stop;
    _Atomic(const char *) stage;
    pthread_mutex_t lock; /* guards the next three */
    struct ending_view view;
    void (*wake)(void *ctx);
    void *wake_ctx;

    /* The thread's. */
    uint64_t first_ns, deadline_ns; /* 0: none */
    const char *cause;              /* of the deadline */
    unsigned after_ms;
};

/* A pipe that is not read must not block the last message, and with it the end of the process. */
static void say_last_word(const struct ending *e, const char *text)
{
    struct pollfd p = { .fd = e->message_fd, .events = POLLOUT };
    if (poll(&p, 1, 0) == 1 && p.revents & POLLOUT && write(e->message_fd, text, strlen(text)) < 0)
        return; /* the receiver is gone */
}

static _Noreturn void give_up(const struct ending *e)
{
    char text[400];
    snprintf(text, sizeof text,
             "%sprobeprof: not ended %.3g s after %s, %s: given up\n"
             "  hint: the board may keep breakpoints and patches, which the next attach undoes; "
             "what was not written is lost, a recording is kept as .part\n",
             text_if(isatty(e->message_fd), "\n"), e->after_ms / 1000.0, e->cause,
             atomic_load(&e->stage));
    say_last_word(e, text);
    _exit(1);
}

/* Nothing has been touched yet: the signal has its default effect. */
static void die_of(const struct ending *e, int signum)
{
    signal(signum, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &e->set, NULL);
    raise(signum);
}

static void set_deadline(struct ending *e, uint64_t now, unsigned ms, const char *cause)
{
    uint64_t at = now + (uint64_t)ms * NS_PER_MS;
    if (e->deadline_ns && e->deadline_ns <= at)
        return;
    e->deadline_ns = at;
    e->after_ms = ms;
    e->cause = cause;
}

static void signal_heard(struct ending *e, int signum)
{
    uint64_t now = host_ns();
    bool terminate = signum != SIGINT;
    if (!atomic_load(&e->stage)) {
        die_of(e, signum);
        return;
    }
    pthread_mutex_lock(&e->lock);
    bool at_once =
        !terminate && e->view.asked && now - e->first_ns >= (uint64_t)TWICE_MS * NS_PER_MS;
    if (!e->view.asked++)
        e->first_ns = now;
    if (terminate && !e->view.terminate)
        e->view.since_ns = now;
    e->view.terminate = e->view.terminate || terminate;
    e->view.at_once = e->view.at_once || at_once;
    if (e->wake)
        e->wake(e->wake_ctx);
    else if (e->view.asked == 1)
        say_last_word(
            e, terminate ? "probeprof: ending as soon as the adapter has answered\n"
                         : "probeprof: ending as soon as the adapter has answered (Ctrl-C again "
                           "quits at once)\n");
    pthread_mutex_unlock(&e->lock);
    if (terminate)
        set_deadline(e, now, ENDING_DEADLINE_S * 1000, signum == SIGTERM ? "SIGTERM" : "SIGHUP");
    if (at_once)
        set_deadline(e, now, ENDING_AT_ONCE_MS, "the second Ctrl-C");
}

/* The next signal, or -1 when the deadline has passed. */
static int wait_signal(const struct ending *e)
{
    for (;;) {
        uint64_t now = host_ns(), left = EXCESS(e->deadline_ns, now);
        struct timespec wait = { .tv_sec = (time_t)(left / 1000000000),
                                 .tv_nsec = (long)(left % 1000000000) };
        int signum;
        if (e->deadline_ns)
            signum = sigtimedwait(&e->set, NULL, &wait);
        else
            signum = sigwaitinfo(&e->set, NULL);
        if (signum > 0 || errno == EAGAIN)
            return signum;
    }
}

static void *listen_to_signals(void *arg)
{
    struct ending *e = arg;
    for (;;) {
        int signum = wait_signal(e);
        if (atomic_load(&e->stop))
            return NULL;
        if (signum < 0)
            give_up(e);
        signal_heard(e, signum);
    }
}

/* A program that was started by nohup(1) stays when its terminal goes. */
static void choose_signals(sigset_t *set)
{
    struct sigaction hup;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hup) < 0 || hup.sa_handler != SIG_IGN)
        sigaddset(set, SIGHUP);
}

int ending_start(int message_fd, struct ending **out, struct err *err)
{
    struct ending *e = calloc(1, sizeof *e);
    if (!e)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    e->message_fd = message_fd;
    choose_signals(&e->set);
    pthread_mutex_init(&e->lock, NULL);
    pthread_sigmask(SIG_BLOCK, &e->set, &e->before);
    int failed = pthread_create(&e->thread, NULL, listen_to_signals, e);
    if (failed) {
        pthread_sigmask(SIG_SETMASK, &e->before, NULL);
        pthread_mutex_destroy(&e->lock);
        free(e);
        return err_set(err, ERR_IO, "raise the limits on processes and memory (ulimit -u, -v)",
                       "no thread can be begun: %s", strerror(failed));
    }
    *out = e;
    return 0;
}

void ending_stage(struct ending *e, const char *what)
{
    if (e)
        atomic_store(&e->stage, what);
}

void ending_tell(struct ending *e, void (*wake)(void *ctx), void *ctx)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->wake = wake;
    e->wake_ctx = ctx;
    pthread_mutex_unlock(&e->lock);
}

struct ending_view ending_look(struct ending *e)
{
    struct ending_view view = { 0 };
    if (!e)
        return view;
    pthread_mutex_lock(&e->lock);
    view = e->view;
    pthread_mutex_unlock(&e->lock);
    return view;
}

void ending_answered(struct ending *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->view.asked = 0;
    e->view.at_once = false;
    pthread_mutex_unlock(&e->lock);
}

void ending_stop(struct ending *e)
{
    if (!e)
        return;
    atomic_store(&e->stop, true);
    pthread_kill(e->thread, SIGTERM);
    pthread_join(e->thread, NULL);
    pthread_mutex_destroy(&e->lock);
    free(e);
}
