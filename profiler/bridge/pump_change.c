/* Other counters or points for a trace that goes on: it is disarmed and armed anew. Where the
 * driver can hold the program meanwhile, the call tree does not notice. */
#include <time.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/bridge/board_io.h"
#include "profiler/bridge/pump_priv.h"

static const uint64_t drain_ns = 10000000000, nap_ns = 1000000;

/* One such change. */
struct change {
    const struct trace_config *next;
    bool held;      /* the program stands until the end of it */
    bool was, will; /* active before and afterwards */
    bool hides;     /* the end of what was before is not told: it goes on */
};

static bool same_start(const struct trace_config *a, const struct trace_config *b)
{
    return a->has_start == b->has_start && (!a->has_start || a->start == b->start);
}

static bool same_counters(const struct trace_config *a, const struct trace_config *b)
{
    return a->counter[0] == b->counter[0] && a->counter[1] == b->counter[1];
}

static bool same_stops(const struct trace_config *a, const struct trace_config *b)
{
    bool same = a->nstops == b->nstops;
    for (size_t i = 0; same && i < a->nstops; i++)
        same = a->stops[i] == b->stops[i];
    return same;
}

/* ---- events ---- */

static void nap_and_wake(struct pump *p)
{
    pump_wake_reader(p);
    nanosleep(&(struct timespec){ .tv_nsec = (long)nap_ns }, NULL);
}

/* All that the source has: the main thread makes room meanwhile. What it does not take in time is
 * lost, which is told. */
static void drain_source(struct pump *p, struct target *t)
{
    uint64_t until = host_ns() + drain_ns;
    bool more, late = false;
    for (size_t n = 1; n && !late; late = host_ns() > until) {
        while (event_queue_room(p->queue) == 0 && host_ns() < until)
            nap_and_wake(p);
        n = pump_move_events(p, t, &more);
    }
    if (late)
        pump_push_gap(p, t, EVENT_CAUSE_HOST_QUEUE);
}

static void push_event(struct pump *p, const struct event *e)
{
    size_t room;
    uint64_t until = host_ns() + drain_ns;
    while (event_queue_room(p->queue) == 0 && host_ns() < until)
        nap_and_wake(p);
    struct event *at = event_queue_space(p->queue, &room);
    if (!room)
        return;
    *at = *e;
    event_queue_commit(p->queue, 1);
}

static void push_point(struct pump *p, enum event_point point, uint64_t addr, uint64_t host)
{
    push_event(p, &(struct event){ .kind = EVENT_POINT,
                                   .flags = EVENT_HAS_PC,
                                   .pc = addr,
                                   .point = (uint8_t)point,
                                   .host_ns = host });
}

/* The list is told even if it is the same: a recording may begin in between. */
static void push_points(struct pump *p, uint64_t host)
{
    const struct trace_config *cfg = &p->cfg.trace;
    push_event(p, &(struct event){ .kind = EVENT_POINT, .host_ns = host });
    if (cfg->has_start)
        push_point(p, EVENT_POINT_START, cfg->start, host);
    for (size_t i = 0; i < cfg->nstops; i++)
        push_point(p, EVENT_POINT_STOP, cfg->stops[i], host);
}

/* ---- armed anew ---- */

/* What is armed now begins: its first event, or one of ours, tells so. */
static void report_rearm(struct pump *p, struct target *t, const struct change *c)
{
    bool seamless = c->hides && c->will, more;
    uint64_t host = board_now_ns(t);
    p->again.host_ns = host;
    p->retell = PUMP_AS_IT_IS;
    if (seamless)
        p->retell = PUMP_AGAIN;
    if (!c->will)
        p->retell = PUMP_NO_MARKS;
    if (!seamless) {
        push_event(p, &p->again);
        push_points(p, host);
    }
    if (c->held)
        drain_source(p, t);
    else if (!c->will)
        pump_move_events(p, t, &more);
    if (seamless && p->retell == PUMP_AGAIN) /* it did not say that it has begun */
        push_event(p, &p->again);
    p->retell = PUMP_AS_IT_IS;
    if (seamless)
        push_points(p, host);
}

/* By pump.cfg.trace. A pass, or a pause, that goes on is the driver's business only now. */
static int rearm_trace(struct pump *p, struct target *t, const struct change *c, struct err *err)
{
    int ret = pump_source_arm(p, t, err);
    if (ret < 0 || c->will == !p->cfg.trace.has_start)
        return ret;
    return pump_source_set_active(p, t, c->will, err);
}

/* Is profiling active with the new points? A program that runs on meanwhile may have left its pass.
 */
static bool stays_active(const struct trace_config *is, const struct change *c)
{
    if (!same_start(is, c->next))
        return !c->next->has_start;
    return c->was && (c->held || !c->next->has_start);
}

/* The new configuration, else the old one again, which was armed before. */
static int arm_either(struct pump *p, struct target *t, struct change *c, struct err *err)
{
    struct trace_config old = p->cfg.trace;
    struct err own = { .code = ERR_OK };
    c->will = stays_active(&old, c);
    p->again = (struct event){ .kind = EVENT_AGAIN,
                               .counts = c->next->counter[0] | (uint64_t)c->next->counter[1] << 16,
                               .forgets = !same_counters(&old, c->next) };
    p->cfg.trace = *c->next;
    int ret = rearm_trace(p, t, c, err);
    if (ret >= 0) {
        report_rearm(p, t, c);
        return ret;
    }
    p->cfg.trace = old;
    if (t->ops->state(t) == TARGET_GONE)
        return ret;
    c->will = c->was && (c->held || !old.has_start);
    p->again.counts = old.counter[0] | (uint64_t)old.counter[1] << 16;
    p->again.forgets = 0;
    pump_source_disarm(p, t, NULL);
    if (rearm_trace(p, t, c, &own) >= 0)
        report_rearm(p, t, c);
    else if (t->ops->state(t) != TARGET_GONE)
        pump_trace_lost(p, t, &own);
    return ret;
}

static int change_armed(struct pump *p, struct target *t, struct change *c, struct err *err)
{
    struct trace_status now = { 0 };
    if (c->held)
        drain_source(p, t);
    int ret = pump_status(p, t, &now, err);
    if (ret < 0)
        return ret;
    c->was = now.active;
    c->hides = c->held && c->was && stays_active(&p->cfg.trace, c);
    p->retell = PUMP_AS_IT_IS;
    if (c->hides)
        p->retell = PUMP_NO_STOP;
    ret = pump_source_disarm(p, t, err);
    drain_source(p, t);
    p->retell = PUMP_AS_IT_IS;
    if (ret < 0 && t->ops->state(t) != TARGET_GONE)
        pump_trace_lost(p, t, err);
    if (ret < 0)
        return ret;
    pump_keep_counts(p, t);
    ret = arm_either(p, t, c, err);
    if (ret == 0 && p->waiting_start && !c->next->has_start) { /* its time begins */
        p->waiting_start = false;
        p->armed_ns = board_now_ns(t);
    }
    return ret;
}

static int hold_and_change(struct pump *p, struct target *t, struct change *c, struct err *err)
{
    const struct target_trace_ops *trace = t->ops->trace;
    struct err own = { .code = ERR_OK };
    bool ran = false;
    c->held = trace->hold != NULL;
    if (!c->held)
        return change_armed(p, t, c, err);
    int ret = trace->hold(t, &ran, err);
    if (ret < 0)
        return ret;
    ret = change_armed(p, t, c, err);
    int released = 0;
    if (t->ops->state(t) != TARGET_GONE)
        released = trace->release(t, ran, &own);
    if (ret >= 0 && released < 0)
        return err_set(err, own.code, own.hint, "%s", own.what);
    return ret;
}

static int refuse_change(const struct pump *p, struct target *t, struct err *err)
{
    if (p->cfg.source)
        return err_set(err, ERR_UNSUPPORTED, "start it without --sample",
                       "samples have no counters, and no start and stop points");
    if (p->phase != PUMP_ARMED && p->phase != PUMP_IDLE)
        return err_set(err, ERR_STATE, "start another run", "this run's profile is complete");
    if (p->away || t->ops->state(t) == TARGET_GONE)
        return err_set(err, ERR_STATE, "wait until it is back", "the board is away");
    return 0;
}

int pump_change(struct pump *p, struct target *t, const struct trace_config *next, struct err *err)
{
    struct err why = { .code = ERR_OK };
    struct change c = { .next = next };
    const struct trace_config *is = &p->cfg.trace;
    int ret = refuse_change(p, t, err);
    if (ret < 0 || (same_counters(is, next) && same_start(is, next) && same_stops(is, next)))
        return ret;
    if (!same_start(is, next) || !same_stops(is, next))
        p->cfg.max_passes = 0;   /* whether another pass begins is the main thread's to say */
    if (p->phase == PUMP_IDLE) { /* for when it is armed */
        p->again = (struct event){ .kind = EVENT_AGAIN,
                                   .counts = next->counter[0] | (uint64_t)next->counter[1] << 16,
                                   .forgets = !same_counters(is, next) };
        p->cfg.trace = *next;
        push_event(p, &p->again);
        push_points(p, 0);
        pump_wake_reader(p);
        return 0;
    }
    if ((ret = hold_and_change(p, t, &c, &why)) < 0) {
        pump_report_failure(p, &why);
        return err_set(err, why.code, why.hint, "%s", why.what);
    }
    pump_look_at_trace(p, t);
    pump_wake_reader(p);
    log_msg(p->cfg.log, LOG_PROF, "profile: armed anew: %s", p->view.trace.note);
    return 0;
}
