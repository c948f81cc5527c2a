/* Signals after which a run goes on: SIGWINCH, the terminal has another size, and SIGUSR1, the
 * table so far. Those that end it are handled in ending.c. */
#include <pthread.h>
#include <signal.h>

#include "profiler/cli/run.h"

static void set_mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGWINCH);
    pthread_sigmask(how, &set, NULL);
}

void run_signals_hold(void) { set_mask(SIG_BLOCK); }

void run_signals_take(void) { set_mask(SIG_UNBLOCK); }

static void on_show(uv_signal_t *handle, int number)
{
    struct run *r = handle->data;
    struct err err = { .code = ERR_OK };
    (void)number;
    if (r->phase != RUN_PROFILING && r->phase != RUN_ENDING) {
        run_note(r, "no profile is under way: there is no table to show");
        return;
    }
    run_take_events(r);
    if (run_show_table(r, &err) < 0)
        run_note(r, "the table so far: %s", err.what);
}

/* The line is redrawn at once, so that lines which a narrower terminal has wrapped soon disappear.
 */
static void on_resize(uv_signal_t *handle, int number)
{
    (void)number;
    run_look_after_profile(handle->data);
}

void run_signals_start(struct run *r)
{
    uv_signal_init(&r->loop, &r->show);
    uv_signal_init(&r->loop, &r->resize);
    r->show.data = r->resize.data = r;
    uv_signal_start(&r->show, on_show, SIGUSR1);
    uv_signal_start(&r->resize, on_resize, SIGWINCH);
}
