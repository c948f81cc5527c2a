#include "profiler/bridge/recover.h"

#include <string.h>

#include "probe/base/choice.h"
#include "probe/host_time.h"
#include "probe/jtag_chain.h"
#include "profiler/bridge/board_io.h"

enum { COMPARE_BYTES = 256 << 10 };

/* ---- on the worker ---- */

static void set_program(struct recover *r, enum recover_program program)
{
    pthread_mutex_lock(&r->lock);
    r->view.program = program;
    pthread_mutex_unlock(&r->lock);
}

static bool is_profiling(const struct recover *r)
{
    return r->cfg.pump && r->cfg.pump->phase == PUMP_ARMED;
}

/* The target is halted. Memory that lost its power is loaded again, if it was loaded by this run.
 */
static int check_program(struct recover *r, struct target *t, enum recover_program *found,
                         struct err *err)
{
    struct board_io io = { .cancelled = r->cfg.cancelled, .ctx = r->cfg.cancelled_ctx };
    struct err differs = { .code = ERR_OK };
    int ret = board_compare(t, r->cfg.image, &io, COMPARE_BYTES, &differs);
    *found = PROGRAM_KEPT;
    if (ret == 0)
        return 0;
    *found = PROGRAM_UNKNOWN;
    if (differs.code != ERR_STATE) { /* it could not be read; it did not differ */
        *err = differs;
        return ret;
    }
    *found = PROGRAM_OTHER;
    if (!begin_has_loaded(r->cfg.begin))
        return 0;
    uint64_t loaded;
    ret = board_load(t, r->cfg.image, &io, &loaded, err);
    *found = ret == 0 ? PROGRAM_LOADED : PROGRAM_UNKNOWN;
    return ret;
}

/* Is there neither a profile nor a GDB? Then a program that runs is not halted to be compared. */
static bool left_alone(const struct recover *r)
{
    return !is_profiling(r) && !gdb_server_attended(r->cfg.server);
}

/* The driver restores the clock it was opened with, not the one that was found since. */
static int reopen_adapters(struct recover *r, struct err *err)
{
    struct probe *probe = r->cfg.probe;
    uint32_t got, clock_hz = wire_clock(r->cfg.wire);
    int ret = probe_reopen(probe, err);
    if (ret == 0 && r->cfg.pdo)
        ret = probe_reopen(r->cfg.pdo, err);
    if (ret == 0 && clock_hz)
        ret = probe->driver->jtag->set_clock(probe, clock_hz, &got, err);
    if (ret != 0)
        return ret;
    return jtag_chain_verify(probe, err);
}

/* The obstacle may change: the adapter is back, but its board has no power. */
static void note_met(struct recover *r, const struct err *why)
{
    enum { LASTS = 6 }; /* tries: about a second and a half */
    bool is_same = strcmp(r->met.what, why->what) == 0;
    r->met_again = is_same ? r->met_again + 1 : 0;
    r->met = *why;
    if (r->met_again != LASTS)
        return;
    pthread_mutex_lock(&r->lock);
    r->view.now = *why;
    pthread_mutex_unlock(&r->lock);
    r->cfg.wake(r->cfg.wake_ctx);
}

/* Was the program halted by us rather than by a breakpoint? To be compared, in this try, in one
 * that failed, or just before the board was lost. */
static bool only_held(struct target *t)
{
    enum stop_reason why = t->ops->why_halted(t).reason;
    return why == STOP_REQUEST || why == STOP_RESET;
}

/* The board is attached again and is not to be left alone: compares its program, and resumes it if
 * it shall run. */
static int see_to_program(struct recover *r, struct target *t, struct err *err)
{
    enum recover_program found = PROGRAM_UNKNOWN;
    int ret = 0;
    /* the driver removes the remains of a trace here, and restores breakpoints */
    if (t->ops->state(t) == TARGET_RUNNING)
        ret = board_halt(t, err);
    bool held = ret == 0 && only_held(t);
    if (ret == 0 && r->cfg.image && (r->cfg.compare || begin_has_loaded(r->cfg.begin)))
        ret = check_program(r, t, &found, err);
    set_program(r, found);
    /* A GDB that waits for its program goes on waiting. If the program stopped meanwhile, it gets
     * a stop reply when the board is back. */
    bool goes_on = held || !gdb_server_attended(r->cfg.server);
    if (ret == 0 && r->running && found != PROGRAM_LOADED && goes_on) {
        r->running = false;
        ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    }
    return ret;
}

static int try_once(struct recover *r, struct target *t, struct err *err)
{
    bool beginning = !begin_look(r->cfg.begin).over;
    set_program(r, beginning ? PROGRAM_BEGINS : PROGRAM_UNKNOWN);
    r->running =
        !beginning && worker_was_running(r->cfg.worker) && !gdb_server_steps(r->cfg.server);
    int ret = reopen_adapters(r, err);
    if (ret == 0)
        ret = t->ops->attach(t, err);
    if (ret == 0 && beginning)
        return begin_again(r->cfg.begin, t, err);
    if (ret < 0)
        return ret;
    if (left_alone(r) && t->ops->state(t) == TARGET_RUNNING)
        return 0;
    return see_to_program(r, t, err);
}

int recover_board(void *ctx, struct target *t, struct err *err)
{
    struct recover *r = ctx;
    struct err why = { .code = ERR_OK };
    if (!begin_look(r->cfg.begin).over && begin_waits(r->cfg.begin))
        return err_set(err, ERR_STATE, "", "it is repeated after a pause");
    int ret = try_once(r, t, &why);
    if (ret < 0) {
        note_met(r, &why);
        if (err)
            *err = why;
    }
    return ret;
}

static void on_gone(void *ctx, struct target *t, const struct err *why)
{
    struct recover *r = ctx;
    (void)t;
    r->met_again = 0;
    pthread_mutex_lock(&r->lock);
    r->view.gone++;
    r->view.why = *why;
    r->view.now.code = ERR_OK;
    r->view.gone_ns = host_ns();
    pthread_mutex_unlock(&r->lock);
    r->cfg.wake(r->cfg.wake_ctx);
}

/* Every client has restored its state. A program that was restarted is left to GDB, if there is
 * one. A program that was halted by a GDB which has left meanwhile is resumed and profiled. */
static void on_back(void *ctx, struct target *t)
{
    struct recover *r = ctx;
    if ((r->running || is_profiling(r)) && t->ops->state(t) == TARGET_HALTED &&
        !gdb_server_attended(r->cfg.server))
        t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE },
                       NULL); /* lost again: the next poll reports it */
    r->running = false;
    pthread_mutex_lock(&r->lock);
    r->view.back++;
    r->view.last_ns = host_ns() - r->view.gone_ns;
    r->view.halted = t->ops->state(t) == TARGET_HALTED;
    pthread_mutex_unlock(&r->lock);
    r->cfg.wake(r->cfg.wake_ctx);
}

void recover_note_request(void *ctx, const char *what, const struct err *why)
{
    struct recover *r = ctx;
    pthread_mutex_lock(&r->lock);
    r->view.request_failed = *why;
    r->view.request = what;
    pthread_mutex_unlock(&r->lock);
    r->cfg.wake(r->cfg.wake_ctx);
}

void recover_init(struct recover *r, const struct recover_config *cfg)
{
    *r = (struct recover){ .cfg = *cfg,
                           .client = { .ctx = r, .gone = on_gone, .back = on_back },
                           .made = true };
    pthread_mutex_init(&r->lock, NULL);
}

void recover_fini(struct recover *r)
{
    if (r->made)
        pthread_mutex_destroy(&r->lock);
    r->made = false;
}

/* ---- on the loop ---- */

/* What is to be done about a board that is away. */
static const char *advice_of(const struct err *why)
{
    return text_or(text_given(why->hint), "Ctrl-C ends it");
}

/* Which of the two adapters failed is known by its name. */
static void tell_gone(struct recover_said *said, const struct recover_view *v,
                      const struct probe *pdo, const struct say *to)
{
    if (v->gone == said->gone)
        return;
    say_line(to, "%s: %s; trying again (%s)",
             pdo && strstr(v->why.what, pdo->name) ? "no capture" : "the board does not answer",
             v->why.what, advice_of(&v->why));
    said->why = v->why;
    said->others = 0;
}

static void tell_back(const struct recover_said *said, const struct recover_view *v,
                      const struct pump_view *pump, const struct say *to)
{
    static const char *const program[] = {
        [PROGRAM_UNKNOWN] = "",
        [PROGRAM_KEPT] = ", its program untouched",
        [PROGRAM_LOADED] = "; the program was lost and has been loaded again",
        [PROGRAM_OTHER] = "; its memory does not hold the program any more",
        [PROGRAM_BEGINS] = ", and everything is repeated",
    };
    if (v->back == said->back)
        return;
    bool profiling = v->program != PROGRAM_BEGINS && pump->phase == PUMP_ARMED;
    say_line(to, "the board is back after %.1f s%s%s%s", (double)v->last_ns / 1e9,
             program[v->program], text_if(v->halted, ", halted"),
             text_if(profiling, "; the gap is marked in the profile"));
}

/* The board is back, but the trace cannot be armed. Reported once, as it is tried again and again.
 */
static void tell_trouble(struct recover_said *said, const struct pump_view *v, const struct say *to)
{
    bool trouble = v->away && v->phase == PUMP_ARMED && v->why.code != ERR_OK;
    if (trouble && !said->trouble)
        say_line(to, "not profiling: %s; trying again (%s)", v->why.what, advice_of(&v->why));
    else if (!trouble && said->trouble)
        say_line(to, "profiling again");
    said->trouble = trouble;
}

/* Reports an obstacle only if the user has to do something else about it: an adapter that was
 * pulled is expected to be missing from the bus. The number of reports is limited. */
static void tell_now(struct recover_said *said, const struct recover_view *v, const struct say *to)
{
    enum { MOST = 4 };
    if (v->back == v->gone || v->now.code == ERR_OK || said->others >= MOST ||
        !strcmp(v->now.hint, said->why.hint))
        return;
    say_line(to, "still looking for the board: %s%s%s%s", v->now.what, text_if(*v->now.hint, " ("),
             v->now.hint, text_if(*v->now.hint, ")"));
    said->why = v->now;
    said->others++;
}

static void tell_request(const struct recover_view *v, const struct say *to)
{
    const struct err *why = &v->request_failed;
    if (why->code != ERR_OK)
        say_line(to, "GDB's %s failed: %s%s%s%s", v->request, why->what, text_if(*why->hint, " ("),
                 why->hint, text_if(*why->hint, ")"));
}

void recover_tell(struct recover *r, const struct say *to)
{
    pthread_mutex_lock(&r->lock);
    struct recover_view v = r->view;
    r->view.request_failed.code = ERR_OK;
    pthread_mutex_unlock(&r->lock);
    struct pump_view pump = { .phase = PUMP_IDLE };
    if (r->cfg.pump)
        pump = pump_look(r->cfg.pump);
    tell_request(&v, to);
    bool away = v.gone != v.back;
    if (away) /* back, and lost again before the return was reported */
        tell_back(&r->said, &v, &pump, to);
    tell_gone(&r->said, &v, r->cfg.pdo, to);
    tell_now(&r->said, &v, to);
    if (!away)
        tell_back(&r->said, &v, &pump, to);
    r->said.gone = v.gone;
    r->said.back = v.back;
    if (v.back && !away)
        tell_trouble(&r->said, &pump, to);
}
