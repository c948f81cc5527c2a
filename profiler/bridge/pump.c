#include "profiler/bridge/pump.h"

#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/bridge/board_io.h"
#include "profiler/bridge/pump_priv.h"

enum {
    PUMP_BATCH = 512,
    PUMP_BATCHES = 16,
    PUMP_LOOK_NS = 100000000,
    REARM_FIRST_MS = 1000,
    START_UP_MS = 100, /* a board that was reset gets this long for its own start-up */
    REARM_MAX_MS = 30000
};

static void set_phase(struct pump *p, enum pump_phase phase)
{
    p->phase = phase;
    pthread_mutex_lock(&p->lock);
    p->view.phase = phase;
    pthread_mutex_unlock(&p->lock);
}

static void set_why(struct pump *p, const struct err *why)
{
    pthread_mutex_lock(&p->lock);
    p->view.why = *why;
    pthread_mutex_unlock(&p->lock);
}

void pump_wake_reader(struct pump *p)
{
    if (p->cfg.wake)
        p->cfg.wake(p->cfg.wake_ctx);
}

#define LOG(p, ...) log_msg((p)->cfg.log, LOG_PROF, "profile: " __VA_ARGS__)

/* ---- the source: the target's trace, or what stands in for it ---- */

/* The part that came back may have no trace. */
static int refuse_no_trace(struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "is it the board that was there before?",
                   "this part has no trace");
}

int pump_source_arm(struct pump *p, struct target *t, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->arm(p->cfg.source_ctx, t, &p->cfg.trace, err);
    if (!t->ops->trace)
        return refuse_no_trace(err);
    return t->ops->trace->arm(t, &p->cfg.trace, err);
}

static uint64_t slice_ns(struct pump *p, struct target *t);

static int source_poll(struct pump *p, struct target *t, struct event *out, size_t cap,
                       struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->poll(p->cfg.source_ctx, t, out, cap, WORKER_SLICE_NS, err);
    if (!t->ops->trace)
        return refuse_no_trace(err);
    return t->ops->trace->poll(t, out, cap, slice_ns(p, t), err);
}

int pump_source_disarm(struct pump *p, struct target *t, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->disarm(p->cfg.source_ctx, t, err);
    if (!t->ops->trace)
        return refuse_no_trace(err);
    return t->ops->trace->disarm(t, err);
}

int pump_source_set_active(struct pump *p, struct target *t, bool active, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->set_active(p->cfg.source_ctx, t, active, err);
    if (!t->ops->trace)
        return refuse_no_trace(err);
    return t->ops->trace->set_active(t, active, err);
}

int pump_status(struct pump *p, struct target *t, struct trace_status *out, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->status(p->cfg.source_ctx, t, out, err);
    if (!t->ops->trace)
        return refuse_no_trace(err);
    return t->ops->trace->status(t, out, err);
}

/* What earlier traces of this profile counted, on top. */
static void add_counts(struct trace_status *s, const struct trace_status *before)
{
    s->events += before->events;
    s->lost += before->lost;
    s->doubtful += before->doubtful;
    run_time_add(&s->time, &before->time);
    s->wire_bits += before->wire_bits;
}

void pump_keep_counts(struct pump *p, struct target *t)
{
    struct trace_status last = { 0 };
    if (pump_status(p, t, &last, NULL) < 0)
        return;
    add_counts(&last, &p->before);
    p->before = last;
    pthread_mutex_lock(&p->lock);
    p->view.trace = last;
    pthread_mutex_unlock(&p->lock);
}

/* Copies the driver's status for the main thread. */
void pump_look_at_trace(struct pump *p, struct target *t)
{
    struct trace_status status = { 0 };
    bool have = !p->away && pump_status(p, t, &status, NULL) == 0;
    uint64_t at = board_now_ns(t);
    add_counts(&status, &p->before);
    pthread_mutex_lock(&p->lock);
    if (have)
        p->view.trace = status;
    if (p->phase == PUMP_ARMED) /* what follows is the way out */
        p->view.now_ns = at;
    p->view.armed_ns = p->armed_ns;
    pthread_mutex_unlock(&p->lock);
    p->looked_ns = at;
}

/* The gap is an event: how much was lost cannot be known. */
void pump_push_gap(struct pump *p, struct target *t, enum event_cause cause)
{
    size_t room;
    struct event *at = event_queue_space(p->queue, &room);
    p->gap_due = room == 0;
    p->gap_cause = cause;
    if (p->gap_due)
        return;
    *at = (struct event){ .kind = EVENT_LOST, .cause = (uint8_t)cause, .host_ns = board_now_ns(t) };
    event_queue_commit(p->queue, 1);
}

void pump_report_failure(struct pump *p, const struct err *why)
{
    if (p->cfg.failed)
        p->cfg.failed(p->cfg.failed_ctx, why);
}

/* Has profiling begun? Rows on untraced code and on tasks come before that. */
static bool has_begun(const struct event *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].kind != EVENT_UNTRACED && e[i].kind != EVENT_TASK)
            return true;
    return false;
}

/* The trace is armed again, and the program has not moved. */
static void become_again(struct pump *p, struct event *e)
{
    e->kind = EVENT_AGAIN;
    e->counts = p->again.counts;
    e->forgets = p->again.forgets;
    p->retell = PUMP_AS_IT_IS;
}

/* As pump.retell has it; returns how many events remain. */
static size_t rewrite_marks(struct pump *p, struct event *e, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool start = e[i].kind == EVENT_START, stop = e[i].kind == EVENT_STOP;
        if (p->retell == PUMP_NO_MARKS && (start || stop))
            continue;
        if (p->retell == PUMP_NO_STOP && stop)
            e[i].kind = EVENT_TIMESTAMP;
        if (p->retell == PUMP_AGAIN && start)
            become_again(p, &e[i]);
        e[kept++] = e[i];
    }
    return kept;
}

/* As filter.h counts them. The worker ends the profile itself: how long the program runs on behind
 * its last pass must not depend on when the main thread looks. */
static void count_passes(struct pump *p, const struct event *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p->passes += e[i].kind == EVENT_STOP && p->in_pass;
        if (e[i].kind == EVENT_START || e[i].kind == EVENT_STOP)
            p->in_pass = e[i].kind == EVENT_START;
    }
}

static bool passes_are_done(const struct pump *p)
{
    return p->cfg.max_passes && p->passes >= p->cfg.max_passes;
}

size_t pump_move_events(struct pump *p, struct target *t, bool *full)
{
    struct err err = { .code = ERR_OK };
    size_t room;
    *full = false;
    if (p->gap_due)
        pump_push_gap(p, t, p->gap_cause);
    struct event *at = event_queue_space(p->queue, &room);
    if (room == 0)
        return 0;
    room = MIN(room, PUMP_BATCH);
    int n = source_poll(p, t, at, room, &err);
    if (n < 0) {
        set_why(p, &err);
        pump_report_failure(p, &err);
        if (p->phase == PUMP_DRAINING) /* it ends with this: events still on the board are lost */
            pump_push_gap(p, t, EVENT_CAUSE_LINK);
        return 0;
    }
    if (p->waiting_start && !p->met_start)
        p->met_start = has_begun(at, (size_t)n);
    size_t kept = p->retell ? rewrite_marks(p, at, (size_t)n) : (size_t)n;
    if (p->cfg.max_passes)
        count_passes(p, at, kept);
    event_queue_commit(p->queue, kept);
    *full = (size_t)n == room;
    return (size_t)n;
}

/* Takes several batches while they need no transfer: events that a driver has decoded must not
 * pile up there. */
static size_t move_batches(struct pump *p, struct target *t)
{
    uint64_t until = board_now_ns(t) + WORKER_SLICE_NS;
    size_t total = 0;
    unsigned batches = 0;
    bool more;
    do {
        total += pump_move_events(p, t, &more);
    } while (more && ++batches < PUMP_BATCHES && board_now_ns(t) < until && !passes_are_done(p));
    return total;
}

int pump_set_active(struct pump *p, struct target *t, bool active, struct err *err)
{
    int ret = pump_source_set_active(p, t, active, err);
    if (ret < 0 || p->away)
        return ret;
    move_batches(p, t); /* who is told that it is done finds the events there */
    pump_look_at_trace(p, t);
    return ret;
}

/* How much of the profile's time is left; UINT64_MAX: it has no end, or has not begun. */
static uint64_t time_left(struct pump *p, struct target *t)
{
    if (!p->cfg.for_ns || p->waiting_run)
        return UINT64_MAX;
    if (p->waiting_start) { /* time before the start point is not profiled time */
        if (!p->met_start)
            return UINT64_MAX;
        p->waiting_start = false;
        p->armed_ns = board_now_ns(t);
    }
    uint64_t gone = board_now_ns(t) - p->armed_ns;
    return EXCESS(p->cfg.for_ns, gone);
}

static uint64_t slice_ns(struct pump *p, struct target *t)
{
    uint64_t left = UINT64_MAX;
    if (p->phase == PUMP_ARMED)
        left = time_left(p, t);
    if (left < WORKER_SLICE_NS)
        return MAX(left, (uint64_t)1);
    return WORKER_SLICE_NS;
}

/* No slice goes on beyond the end. Only moving events, while the target is held, can take longer.
 */
static void set_pace(struct pump *p, uint64_t left)
{
    if (p->cfg.pace && !p->cfg.source && p->cfg.for_ns)
        p->cfg.pace(p->cfg.pace_ctx,
                    p->phase == PUMP_ARMED && left < WORKER_SLICE_NS ? MAX(left, (uint64_t)1) : 0);
}

/* Somebody resumed the target: the stop is history. */
static void forget_stop(struct pump *p)
{
    p->halted = false;
    pthread_mutex_lock(&p->lock);
    p->view.stop.reason = STOP_NONE;
    pthread_mutex_unlock(&p->lock);
}

static void look_at_stop(struct pump *p, bool running)
{
    if (running) {
        forget_stop(p);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->view.stop_looks++;
    pthread_mutex_unlock(&p->lock);
}

/* why: a debugger's reset, or the target is lost. */
static void set_away(struct pump *p, bool away, bool reset)
{
    p->away = away;
    p->resetting = away && reset;
    pthread_mutex_lock(&p->lock);
    p->view.away = away && !reset;
    p->view.resetting = p->resetting;
    pthread_mutex_unlock(&p->lock);
}

/* The trace goes on where it can; until then this is tried again, with growing pauses. */
static void rearm_trace(struct pump *p, struct target *t)
{
    struct err err = { .code = ERR_OK };
    if (pump_source_arm(p, t, &err) < 0) {
        pump_report_failure(p, &err);
        p->rearm_at_ns = host_ns() + p->rearm_pause_ms * 1000000ull;
        LOG(p, "not armed again: %s; next try in %u ms", err.what, p->rearm_pause_ms);
        p->rearm_pause_ms = MIN(p->rearm_pause_ms * 2, (unsigned)REARM_MAX_MS);
    } else {
        set_away(p, false, false);
        LOG(p, "armed again behind gap %u", p->view.gaps + p->view.resets);
    }
    set_why(p, &err);
    pump_wake_reader(p);
}

void pump_trace_lost(struct pump *p, struct target *t, const struct err *why)
{
    pump_keep_counts(p, t);
    pump_push_gap(p, t, EVENT_CAUSE_LINK);
    set_away(p, true, false);
    set_why(p, why);
    p->rearm_pause_ms = REARM_FIRST_MS;
    p->rearm_at_ns = host_ns() + REARM_FIRST_MS * 1000000ull;
    pump_wake_reader(p);
}

static bool on_slice(void *ctx, struct target *t)
{
    struct pump *p = ctx;
    bool running = t->ops->state(t) == TARGET_RUNNING;
    if (p->halted)
        look_at_stop(p, running);
    if (running) /* another client resumed it: the time is up to a slice late */
        pump_running(p, t);
    if (p->phase != PUMP_ARMED && p->phase != PUMP_DRAINING)
        return false;
    if (p->away && p->rearm_at_ns && host_ns() >= p->rearm_at_ns)
        rearm_trace(p, t);
    static const char *const queue_words[] = {
        [false] = "the queue has room again",
        [true] = "the call tree is behind, its queue full: events wait at their source",
    };
    bool full = event_queue_room(p->queue) == 0;
    if (full != p->was_full)
        LOG(p, "%s", queue_words[full]);
    p->was_full = full;
    size_t moved = 0;
    if (!full && !p->away)
        moved = move_batches(p, t);
    uint64_t left = time_left(p, t);
    bool ends = p->phase == PUMP_DRAINING && moved == 0 && !full;
    if (p->phase == PUMP_ARMED && (left == 0 || passes_are_done(p)))
        pump_disarm(p, t);
    if (moved == 0 || board_now_ns(t) - p->looked_ns >= PUMP_LOOK_NS)
        pump_look_at_trace(p, t);
    if (ends) /* behind the last look: who sees the end takes its figures for final */
        set_phase(p, PUMP_ENDED);
    if (moved || full || p->phase == PUMP_ENDED)
        pump_wake_reader(p);
    set_pace(p, left);
    return p->phase == PUMP_DRAINING || moved >= PUMP_BATCH;
}

static void on_stopped(void *ctx, struct target *t, const struct target_stop *stop)
{
    struct pump *p = ctx;
    (void)t;
    p->halted = true;
    pthread_mutex_lock(&p->lock);
    p->view.stop = *stop;
    pthread_mutex_unlock(&p->lock);
    pump_wake_reader(p);
}

/* All that can still be had of a trace that ends is moved, and its sums are kept. */
static void keep_the_rest(struct pump *p, struct target *t)
{
    bool more;
    while (pump_move_events(p, t, &more) > 0)
        ;
    pump_keep_counts(p, t);
}

/* Saves the events that the driver has fetched: it drops its trace with the next attach. */
static void on_target_gone(void *ctx, struct target *t, const struct err *why)
{
    struct pump *p = ctx;
    if (p->phase == PUMP_DRAINING)
        set_phase(p, PUMP_ENDED); /* the rest is out of reach */
    if (p->phase == PUMP_ARMED && !p->away) {
        LOG(p, "a gap begins: %s", why->what);
        keep_the_rest(p, t);
        pump_push_gap(p, t, EVENT_CAUSE_LINK); /* now: it may never come back */
        set_away(p, true, false);
    } else if (p->resetting) { /* that gap goes on */
        set_away(p, true, false);
    }
    p->rearm_at_ns = 0;
    set_why(p, why);
    pump_wake_reader(p);
}

static void on_target_back(void *ctx, struct target *t)
{
    struct pump *p = ctx;
    if (p->phase != PUMP_ARMED || !p->away) { /* it was armed for the first time during recovery */
        set_why(p, &(struct err){ .code = ERR_OK });
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->view.gaps++;
    pthread_mutex_unlock(&p->lock);
    p->rearm_pause_ms = REARM_FIRST_MS;
    rearm_trace(p, t);
}

void pump_reset_begins(struct pump *p, struct target *t)
{
    struct err err = { .code = ERR_OK };
    if (p->phase != PUMP_ARMED || (p->away && !p->resetting))
        return;
    if (!p->away) {
        if (pump_source_disarm(p, t, &err) < 0)
            LOG(p, "not taken out before a reset: %s", err.what);
        keep_the_rest(p, t);
        pump_push_gap(p, t, EVENT_CAUSE_RESET);
        LOG(p, "a gap begins: a debugger resets the board");
        pthread_mutex_lock(&p->lock);
        p->view.resets++;
        pthread_mutex_unlock(&p->lock);
    }
    set_away(p, true, true);
    p->rearm_pause_ms = REARM_FIRST_MS;
    p->rearm_at_ns = host_ns() + START_UP_MS * 1000000ull;
    pump_wake_reader(p);
}

void pump_reset_over(struct pump *p, struct target *t)
{
    if (p->phase == PUMP_ARMED && p->resetting)
        rearm_trace(p, t);
}

static void on_closing(void *ctx, struct target *t)
{
    struct pump *p = ctx;
    if (p->phase == PUMP_ARMED)
        pump_source_disarm(p, t, NULL);
    p->phase = PUMP_ENDED;
}

int pump_init(struct pump *p, const struct pump_config *cfg, struct err *err)
{
    p->cfg = *cfg;
    p->queue = event_queue_new(cfg->queue_events);
    if (!p->queue)
        return err_set(err, ERR_NOMEM, "close other programs", "event queue: out of memory");
    pthread_mutex_init(&p->lock, NULL);
    p->client = (struct worker_client){
        .ctx = p,
        .slice = on_slice,
        .stopped = on_stopped,
        .gone = on_target_gone,
        .back = on_target_back,
        .closing = on_closing,
    };
    return 0;
}

void pump_fini(struct pump *p)
{
    if (!p->queue)
        return;
    event_queue_free(p->queue);
    pthread_mutex_destroy(&p->lock);
    p->queue = NULL;
}

int pump_arm(struct pump *p, struct target *t, struct err *err)
{
    int ret = pump_source_arm(p, t, err);
    if (ret < 0)
        return ret;
    p->armed_ns = board_now_ns(t);
    p->waiting_start = p->cfg.trace.has_start;
    p->waiting_run = t->ops->state(t) == TARGET_HALTED;
    set_phase(p, PUMP_ARMED);
    pump_look_at_trace(p, t);
    LOG(p, "armed, the program %s: %s", p->waiting_run ? "halted" : "running", p->view.trace.note);
    return 0;
}

void pump_forget(struct pump *p) { set_phase(p, PUMP_IDLE); }

void pump_running(struct pump *p, struct target *t)
{
    if (p->waiting_run)
        p->armed_ns = board_now_ns(t);
    p->waiting_run = false;
}

/* Moves the events that can still be read; the others are out of reach. */
static void disarm_failed(struct pump *p, struct target *t, const struct err *why)
{
    move_batches(p, t);
    pump_push_gap(p, t, EVENT_CAUSE_LINK);
    set_why(p, why);
    pump_report_failure(p, why);
}

void pump_disarm(struct pump *p, struct target *t)
{
    struct err err = { .code = ERR_OK };
    if (p->phase != PUMP_ARMED)
        return;
    pump_look_at_trace(p, t);
    int ret = 0;
    if (!p->away)
        ret = pump_source_disarm(p, t, &err);
    if (ret < 0)
        disarm_failed(p, t, &err);
    LOG(p, "disarmed%s%s: %llu events, %llu lost so far; %s", text_if(ret < 0, ", not in order: "),
        text_if(ret < 0, err.what), (unsigned long long)p->view.trace.events,
        (unsigned long long)p->view.trace.lost, p->view.trace.note);
    set_phase(p, ret < 0 || p->away ? PUMP_ENDED : PUMP_DRAINING); /* away: why says it already */
    pump_wake_reader(p);
}

struct pump_view pump_look(struct pump *p)
{
    pthread_mutex_lock(&p->lock);
    struct pump_view view = p->view;
    pthread_mutex_unlock(&p->lock);
    return view;
}

size_t pump_waiting(const struct pump *p) { return event_queue_used(p->queue); }

struct event *pump_front(struct pump *p, size_t *n) { return event_queue_front(p->queue, n); }

void pump_release(struct pump *p, size_t n) { event_queue_release(p->queue, n); }
