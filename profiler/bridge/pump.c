#include "profiler/bridge/pump.h"

#include <string.h>

#include "probe/base/util.h"
#include "probe/host_time.h"

enum {
    PUMP_BATCH = 512,
    PUMP_BATCHES = 16,
    PUMP_LOOK_NS = 100000000,
    REARM_FIRST_MS = 1000,
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

static void wake_reader(struct pump *p)
{
    if (p->cfg.wake)
        p->cfg.wake(p->cfg.wake_ctx);
}

static uint64_t now(struct target *t) { return t->ops->now_ns ? t->ops->now_ns(t) : 0; }

#define LOG(p, ...) log_msg((p)->cfg.log, LOG_PROF, "profile: " __VA_ARGS__)

/* ---- the source: the target's trace, or what stands in for it ---- */

/* What has come back may be a part without a trace. */
static int no_trace(const struct target *t, struct err *err)
{
    return t->ops->trace ? 0
                         : err_set(err, ERR_UNSUPPORTED, "is it the board that was there before?",
                                   "this part has no trace");
}

static int source_arm(struct pump *p, struct target *t, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->arm(p->cfg.source_ctx, t, &p->cfg.trace, err);
    int ret = no_trace(t, err);
    return ret < 0 ? ret : t->ops->trace->arm(t, &p->cfg.trace, err);
}

static uint64_t slice_ns(struct pump *p, struct target *t);

static int source_poll(struct pump *p, struct target *t, struct event *out, size_t cap,
                       struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->poll(p->cfg.source_ctx, t, out, cap, WORKER_SLICE_NS, err);
    int ret = no_trace(t, err);
    return ret < 0 ? ret : t->ops->trace->poll(t, out, cap, slice_ns(p, t), err);
}

static int source_disarm(struct pump *p, struct target *t, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->disarm(p->cfg.source_ctx, t, err);
    int ret = no_trace(t, err);
    return ret < 0 ? ret : t->ops->trace->disarm(t, err);
}

int pump_set_active(struct pump *p, struct target *t, bool active, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->set_active(p->cfg.source_ctx, t, active, err);
    int ret = no_trace(t, err);
    return ret < 0 ? ret : t->ops->trace->set_active(t, active, err);
}

int pump_status(struct pump *p, struct target *t, struct trace_status *out, struct err *err)
{
    const struct pump_source *s = p->cfg.source;
    if (s)
        return s->status(p->cfg.source_ctx, t, out, err);
    int ret = no_trace(t, err);
    return ret < 0 ? ret : t->ops->trace->status(t, out, err);
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

/* Copies the driver's status for the main thread. */
static void look_at_trace(struct pump *p, struct target *t)
{
    struct trace_status status = { 0 };
    bool have = !p->away && pump_status(p, t, &status, NULL) == 0;
    uint64_t at = now(t);
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
static void push_gap(struct pump *p, struct target *t)
{
    size_t room;
    struct event *at = event_queue_space(p->queue, &room);
    p->gap_due = room == 0;
    if (p->gap_due)
        return;
    *at = (struct event){ .kind = EVENT_LOST, .cause = EVENT_CAUSE_LINK, .host_ns = now(t) };
    event_queue_commit(p->queue, 1);
}

static void report_failure(struct pump *p, const struct err *why)
{
    if (p->cfg.failed)
        p->cfg.failed(p->cfg.failed_ctx, why);
}

/* Has profiling begun? What is not traced is told before, and which tasks there are. */
static bool has_begun(const struct event *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].kind != EVENT_UNTRACED && e[i].kind != EVENT_TASK)
            return true;
    return false;
}

/* Moves what there is and what fits: the source writes it into the queue. Returns how many events;
 * *full: there may be more. */
static size_t move_events(struct pump *p, struct target *t, bool *full)
{
    struct err err = { .code = ERR_OK };
    size_t room;
    *full = false;
    if (p->gap_due)
        push_gap(p, t);
    struct event *at = event_queue_space(p->queue, &room);
    if (room == 0)
        return 0;
    room = MIN(room, PUMP_BATCH);
    int n = source_poll(p, t, at, room, &err);
    if (n < 0) {
        set_why(p, &err);
        report_failure(p, &err);
        if (p->phase == PUMP_DRAINING) /* it ends with this: what was still to come is lost */
            push_gap(p, t);
        return 0;
    }
    if (p->waiting_start && !p->met_start)
        p->met_start = has_begun(at, (size_t)n);
    event_queue_commit(p->queue, (size_t)n);
    *full = (size_t)n == room;
    return (size_t)n;
}

/* Several batches, as long as that takes the link no time: what a driver has decoded already must
 * not pile up there. */
static size_t move_batches(struct pump *p, struct target *t)
{
    uint64_t until = now(t) + WORKER_SLICE_NS;
    size_t total = 0;
    unsigned batches = 0;
    bool more;
    do {
        total += move_events(p, t, &more);
    } while (more && ++batches < PUMP_BATCHES && now(t) < until);
    return total;
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
        p->armed_ns = now(t);
    }
    uint64_t gone = now(t) - p->armed_ns;
    return gone < p->cfg.for_ns ? p->cfg.for_ns - gone : 0;
}

static uint64_t slice_ns(struct pump *p, struct target *t)
{
    uint64_t left = p->phase == PUMP_ARMED ? time_left(p, t) : UINT64_MAX;
    return left < WORKER_SLICE_NS ? MAX(left, (uint64_t)1) : WORKER_SLICE_NS;
}

/* No slice goes on beyond the end: what lasts longer is only that the target is held while its
 * events are moved. */
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

static void set_away(struct pump *p, bool away)
{
    p->away = away;
    pthread_mutex_lock(&p->lock);
    p->view.away = away;
    pthread_mutex_unlock(&p->lock);
}

/* The trace goes on where it can; until then this is tried again, with growing pauses. */
static void rearm_trace(struct pump *p, struct target *t)
{
    struct err err = { .code = ERR_OK };
    if (source_arm(p, t, &err) < 0) {
        report_failure(p, &err);
        p->rearm_at_ns = host_ns() + p->rearm_pause_ms * 1000000ull;
        LOG(p, "not armed again: %s; next try in %u ms", err.what, p->rearm_pause_ms);
        p->rearm_pause_ms = MIN(p->rearm_pause_ms * 2, (unsigned)REARM_MAX_MS);
    } else {
        set_away(p, false);
        LOG(p, "armed again behind gap %u", p->view.gaps);
    }
    set_why(p, &err);
    wake_reader(p);
}

static bool on_slice(void *ctx, struct target *t)
{
    struct pump *p = ctx;
    bool running = t->ops->state(t) == TARGET_RUNNING;
    if (p->halted)
        look_at_stop(p, running);
    if (running) /* somebody else resumed it: this is up to a slice late */
        pump_running(p, t);
    if (p->phase != PUMP_ARMED && p->phase != PUMP_DRAINING)
        return false;
    if (p->away && p->rearm_at_ns && host_ns() >= p->rearm_at_ns)
        rearm_trace(p, t);
    bool full = event_queue_room(p->queue) == 0;
    if (full != p->was_full)
        LOG(p, "%s",
            full ? "the call tree is behind, its queue full: events wait at their source"
                 : "the queue has room again");
    p->was_full = full;
    size_t moved = full || p->away ? 0 : move_batches(p, t);
    uint64_t left = time_left(p, t);
    if (p->phase == PUMP_ARMED && left == 0)
        pump_disarm(p, t);
    else if (p->phase == PUMP_DRAINING && moved == 0 && !full)
        set_phase(p, PUMP_ENDED);
    if (moved == 0 || now(t) - p->looked_ns >= PUMP_LOOK_NS)
        look_at_trace(p, t);
    if (moved || full || p->phase == PUMP_ENDED)
        wake_reader(p);
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
    wake_reader(p);
}

/* What the driver has fetched already is saved; it forgets its trace with the next attach. */
static void on_target_gone(void *ctx, struct target *t, const struct err *why)
{
    struct pump *p = ctx;
    if (p->phase == PUMP_DRAINING)
        set_phase(p, PUMP_ENDED); /* the rest is out of reach */
    if (p->phase == PUMP_ARMED && !p->away) {
        LOG(p, "a gap begins: %s", why->what);
        struct trace_status last = { 0 };
        bool more;
        while (move_events(p, t, &more) > 0)
            ;
        if (pump_status(p, t, &last, NULL) == 0) {
            add_counts(&last, &p->before);
            p->before = last;
            pthread_mutex_lock(&p->lock);
            p->view.trace = last;
            pthread_mutex_unlock(&p->lock);
        }
        push_gap(p, t); /* now: it may never come back */
        set_away(p, true);
    }
    p->rearm_at_ns = 0;
    set_why(p, why);
    wake_reader(p);
}

static void on_target_back(void *ctx, struct target *t)
{
    struct pump *p = ctx;
    if (p->phase != PUMP_ARMED || !p->away) { /* armed for the first time while it was got back */
        set_why(p, &(struct err){ .code = ERR_OK });
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->view.gaps++;
    pthread_mutex_unlock(&p->lock);
    p->rearm_pause_ms = REARM_FIRST_MS;
    rearm_trace(p, t);
}

static void on_closing(void *ctx, struct target *t)
{
    struct pump *p = ctx;
    if (p->phase == PUMP_ARMED)
        source_disarm(p, t, NULL);
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
    int ret = source_arm(p, t, err);
    if (ret < 0)
        return ret;
    p->armed_ns = now(t);
    p->waiting_start = p->cfg.trace.has_start;
    p->waiting_run = t->ops->state(t) == TARGET_HALTED;
    set_phase(p, PUMP_ARMED);
    look_at_trace(p, t);
    LOG(p, "armed, the program %s: %s", p->waiting_run ? "halted" : "running", p->view.trace.note);
    return 0;
}

void pump_forget(struct pump *p) { set_phase(p, PUMP_IDLE); }

void pump_running(struct pump *p, struct target *t)
{
    if (p->waiting_run)
        p->armed_ns = now(t);
    p->waiting_run = false;
}

/* What can still be had is moved; what else there was is out of reach. */
static void disarm_failed(struct pump *p, struct target *t, const struct err *why)
{
    move_batches(p, t);
    push_gap(p, t);
    set_why(p, why);
    report_failure(p, why);
}

void pump_disarm(struct pump *p, struct target *t)
{
    struct err err = { .code = ERR_OK };
    if (p->phase != PUMP_ARMED)
        return;
    look_at_trace(p, t);
    int ret = p->away ? 0 : source_disarm(p, t, &err);
    if (ret < 0)
        disarm_failed(p, t, &err);
    LOG(p, "disarmed%s%s: %llu events, %llu lost so far; %s", ret < 0 ? ", not in order: " : "",
        ret < 0 ? err.what : "", (unsigned long long)p->view.trace.events,
        (unsigned long long)p->view.trace.lost, p->view.trace.note);
    set_phase(p, ret < 0 || p->away ? PUMP_ENDED : PUMP_DRAINING); /* away: why says it already */
    wake_reader(p);
}

struct pump_view pump_look(struct pump *p)
{
    pthread_mutex_lock(&p->lock);
    struct pump_view view = p->view;
    pthread_mutex_unlock(&p->lock);
    return view;
}

struct event *pump_front(struct pump *p, size_t *n) { return event_queue_front(p->queue, n); }

void pump_release(struct pump *p, size_t n) { event_queue_release(p->queue, n); }
