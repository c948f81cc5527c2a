/* A board or adapter that goes away and comes back: getting it back, and telling people. */
#include <string.h>

#include "probe/host_time.h"
#include "probe/jtag_chain.h"
#include "profiler/bridge/board_io.h"
#include "profiler/cli/run.h"

enum { COMPARE_BYTES = 256 << 10 };

/* ---- on the worker ---- */

static void found(struct run *r, int program)
{
    pthread_mutex_lock(&r->link.lock);
    r->link.view.program = program;
    pthread_mutex_unlock(&r->link.lock);
}

/* The target is halted. Memory that lost its power is loaded again, if it was loaded by this run.
 */
static int check_program(struct run *r, struct target *t, struct err *err)
{
    struct board_io io = { .cancelled = run_stopping, .ctx = r };
    struct err differs = { .code = ERR_OK };
    const struct image *im = symbols_image(r->symbols);
    int ret = board_compare(t, im, &io, COMPARE_BYTES, &differs);
    if (ret == 0) {
        found(r, PROGRAM_KEPT);
        return 0;
    }
    if (differs.code != ERR_STATE) { /* not read, rather than another one */
        *err = differs;
        return ret;
    }
    if (!begin_has_loaded(&r->begin)) {
        found(r, PROGRAM_OTHER);
        return 0;
    }
    uint64_t loaded;
    ret = board_load(t, im, &io, &loaded, err);
    if (ret == 0)
        found(r, PROGRAM_LOADED);
    return ret;
}

/* Nobody at the board's other end but a program that runs: then it is not halted for a look at it.
 */
static bool left_alone(const struct run *r)
{
    bool profiling = r->has_pump && r->pump.phase == PUMP_ARMED;
    return !profiling && !gdb_server_attended(r->server);
}

/* The driver restores the clock it was opened with, not the one that was found since. */
static int reopen(struct run *r, struct err *err)
{
    uint32_t got;
    int ret = probe_reopen(r->probe, err);
    if (ret == 0 && r->pdo)
        ret = probe_reopen(r->pdo, err);
    if (ret == 0 && wire_clock(&r->wire))
        ret = r->probe->driver->jtag->set_clock(r->probe, wire_clock(&r->wire), &got, err);
    return ret == 0 ? jtag_chain_verify(r->probe, err) : ret;
}

/* What is in the way may become something else: the adapter is back, but its board has no power. */
static void note_met(struct run *r, const struct err *why)
{
    enum { LASTS = 6 }; /* tries: about a second and a half */
    r->link.met_again = strcmp(r->link.met.what, why->what) ? 0 : r->link.met_again + 1;
    r->link.met = *why;
    if (r->link.met_again != LASTS)
        return;
    pthread_mutex_lock(&r->link.lock);
    r->link.view.now = *why;
    pthread_mutex_unlock(&r->link.lock);
    uv_async_send(&r->wake);
}

/* It met no breakpoint while nobody looked: we have halted it, for a look, now or by a try that
 * failed or just before the board was lost. */
static bool only_held(struct target *t)
{
    enum stop_reason why = t->ops->why_halted(t).reason;
    return why == STOP_REQUEST || why == STOP_RESET;
}

static int recover(struct run *r, struct target *t, struct err *err)
{
    bool beginning = !begin_look(&r->begin).over;
    found(r, beginning ? PROGRAM_ANEW : PROGRAM_UNKNOWN);
    r->link.running = !beginning && worker_was_running(r->worker) && !gdb_server_steps(r->server);
    int ret = reopen(r, err);
    if (ret == 0)
        ret = t->ops->attach(t, err);
    if (ret == 0 && beginning)
        return begin_again(&r->begin, t, err);
    if (ret < 0 || (left_alone(r) && t->ops->state(t) == TARGET_RUNNING))
        return ret < 0 ? ret : 0;
    if (t->ops->state(t) == TARGET_RUNNING)
        ret = board_halt(
            t,
            err); /* the driver undoes here what a trace left behind, and puts breakpoints back */
    bool held = ret == 0 && only_held(t);
    if (ret == 0 && r->symbols && (r->profile || begin_has_loaded(&r->begin)))
        ret = check_program(r, t, err);
    pthread_mutex_lock(&r->link.lock);
    bool anew = r->link.view.program == PROGRAM_LOADED;
    pthread_mutex_unlock(&r->link.lock);
    /* A GDB that waits for its program goes on waiting; one whose program stopped meanwhile is told
     * when it is back. */
    if (ret == 0 && r->link.running && !anew && (held || !gdb_server_attended(r->server))) {
        r->link.running = false;
        ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    }
    return ret;
}

int run_recover(void *ctx, struct target *t, struct err *err)
{
    struct run *r = ctx;
    struct err why = { .code = ERR_OK };
    if (!begin_look(&r->begin).over && begin_waits(&r->begin))
        return err_set(err, ERR_STATE, "", "it begins anew after a pause");
    int ret = recover(r, t, &why);
    if (ret < 0) {
        note_met(r, &why);
        if (err)
            *err = why;
    }
    return ret;
}

static void gone(void *ctx, struct target *t, const struct err *why)
{
    struct run *r = ctx;
    (void)t;
    r->link.met_again = 0;
    pthread_mutex_lock(&r->link.lock);
    r->link.view.gone++;
    r->link.view.why = *why;
    r->link.view.now.code = ERR_OK;
    r->link.view.gone_ns = host_ns();
    pthread_mutex_unlock(&r->link.lock);
    uv_async_send(&r->wake);
}

/* The last to be told: everybody has put back what they need. A program that was started anew is
 * GDB's, if there is one; one that a GDB had halted which left meanwhile is to be profiled. */
static void back(void *ctx, struct target *t)
{
    struct run *r = ctx;
    bool profiling = r->has_pump && r->pump.phase == PUMP_ARMED;
    if ((r->link.running || profiling) && t->ops->state(t) == TARGET_HALTED &&
        !gdb_server_attended(r->server))
        t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE },
                       NULL); /* lost again: told by the next poll */
    r->link.running = false;
    pthread_mutex_lock(&r->link.lock);
    r->link.view.back++;
    r->link.view.last_ns = host_ns() - r->link.view.gone_ns;
    r->link.view.halted = t->ops->state(t) == TARGET_HALTED;
    pthread_mutex_unlock(&r->link.lock);
    uv_async_send(&r->wake);
}

void run_unheard(void *ctx, const char *what, const struct err *why)
{
    struct run *r = ctx;
    pthread_mutex_lock(&r->link.lock);
    r->link.unheard = *why;
    r->link.unheard_what = what;
    pthread_mutex_unlock(&r->link.lock);
    uv_async_send(&r->wake);
}

void run_watch_link(struct run *r)
{
    pthread_mutex_init(&r->link.lock, NULL);
    r->link.client = (struct worker_client){ .ctx = r, .gone = gone, .back = back };
}

/* ---- on the loop ---- */

static void tell_gone(struct run *r, const struct link_view *v)
{
    if (v->gone == r->link.told_gone)
        return;
    run_note(r, "%s: %s; trying again (%s)",
             r->pdo && strstr(v->why.what, r->pdo->name) ? "no capture"
                                                         : "the board does not answer",
             v->why.what, *v->why.hint ? v->why.hint : "Ctrl-C ends it");
    r->link.told = v->why;
    r->link.told_now = 0;
}

static void tell_back(struct run *r, const struct link_view *v)
{
    if (v->back == r->link.told_back)
        return;
    static const char *const program[] = {
        [PROGRAM_UNKNOWN] = "",
        [PROGRAM_KEPT] = ", its program untouched",
        [PROGRAM_LOADED] = "; the program was lost and has been loaded again",
        [PROGRAM_OTHER] = "; its memory does not hold the program any more",
        [PROGRAM_ANEW] = ", and all begins anew",
    };
    bool profiling =
        v->program != PROGRAM_ANEW && r->has_pump && pump_look(&r->pump).phase == PUMP_ARMED;
    run_note(r, "the board is back after %.1f s%s%s%s", (double)v->last_ns / 1e9,
             program[v->program], v->halted ? ", halted" : "",
             profiling ? "; the gap is marked in the profile" : "");
}

/* Back, but the trace cannot be armed: once, for it is tried again and again. */
static void tell_trouble(struct run *r)
{
    struct pump_view v = pump_look(&r->pump);
    bool trouble = v.away && v.phase == PUMP_ARMED && v.why.code != ERR_OK;
    if (trouble && !r->link.told_trouble)
        run_note(r, "not profiling: %s; trying again (%s)", v.why.what,
                 *v.why.hint ? v.why.hint : "Ctrl-C ends it");
    else if (!trouble && r->link.told_trouble)
        run_note(r, "profiling again");
    r->link.told_trouble = trouble;
}

/* Only what asks for another deed: that an adapter which was pulled is not on the bus is no news.
 * And not without end. */
static void tell_now(struct run *r, const struct link_view *v)
{
    enum { MOST = 4 };
    if (v->back == v->gone || v->now.code == ERR_OK || r->link.told_now >= MOST ||
        !strcmp(v->now.hint, r->link.told.hint))
        return;
    run_note(r, "still looking for the board: %s%s%s%s", v->now.what, *v->now.hint ? " (" : "",
             v->now.hint, *v->now.hint ? ")" : "");
    r->link.told = v->now;
    r->link.told_now++;
}

void run_tell_link(struct run *r)
{
    pthread_mutex_lock(&r->link.lock);
    struct link_view v = r->link.view;
    struct err unheard = r->link.unheard;
    const char *what = r->link.unheard_what;
    r->link.unheard.code = ERR_OK;
    pthread_mutex_unlock(&r->link.lock);
    if (unheard.code != ERR_OK)
        run_note(r, "GDB's %s failed: %s%s%s%s", what, unheard.what, *unheard.hint ? " (" : "",
                 unheard.hint, *unheard.hint ? ")" : "");
    bool away = v.gone != v.back;
    if (away) /* back, and lost again before the return was told */
        tell_back(r, &v);
    tell_gone(r, &v);
    tell_now(r, &v);
    if (!away)
        tell_back(r, &v);
    r->link.told_gone = v.gone;
    r->link.told_back = v.back;
    if (r->has_pump && v.back && v.back == v.gone)
        tell_trouble(r);
}
