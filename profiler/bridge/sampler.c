#include "profiler/bridge/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/bridge/board_io.h"

enum { FAILURES_MAX = 100, NS_PER_S = 1000000000 };

/* How long looks have held the board up so far: 0 where they do not. */
static uint64_t held_ns(struct target *t)
{
    if (!t->ops->sample_held_ns)
        return 0;
    return t->ops->sample_held_ns(t);
}

/* A random interval between half a period and one and a half. */
static uint64_t random_interval_ns(struct sampler *s)
{
    uint64_t period = NS_PER_S / s->rate_hz;
    s->rng ^= s->rng << 13;
    s->rng ^= s->rng >> 7;
    s->rng ^= s->rng << 17;
    return period / 2 + (s->rng >> 11) % MAX(period, 1u);
}

static void set_pace(struct sampler *s, uint64_t ns)
{
    if (s->pace)
        s->pace(s->pace_ctx, ns);
}

static int arm_sampler(void *ctx, struct target *t, const struct trace_config *cfg, struct err *err)
{
    struct sampler *s = ctx;
    (void)cfg;
    if (!t->ops->sample_pc)
        return err_set(err, ERR_UNSUPPORTED, "profile it by trace, without --sample",
                       "%s: this part's PC cannot be sampled", t->ops->name);
    if (!s->rng)
        s->rng = (s->seed + 1) * 0x9E3779B97F4A7C15ull;
    s->armed_ns = board_now_ns(t);
    s->held_before_ns = held_ns(t);
    s->due_ns = s->armed_ns + random_interval_ns(s);
    s->failures = 0;
    s->armed = s->active = true;
    s->halted = false;
    return 0;
}

static int disarm_sampler(void *ctx, struct target *t, struct err *err)
{
    struct sampler *s = ctx;
    (void)t, (void)err;
    s->armed = s->active = false;
    set_pace(s, 0);
    return 0;
}

/* The next moment that is still to come; those that have passed are missed. */
static void plan_next_look(struct sampler *s, struct target *t)
{
    uint64_t at = board_now_ns(t);
    s->due_ns += random_interval_ns(s);
    while (s->due_ns <= at) {
        s->missed++;
        s->unreported++;
        s->due_ns += random_interval_ns(s);
    }
    set_pace(s, s->due_ns - at);
}

static int note_change(struct target *t, enum event_cause cause, struct event *out)
{
    *out =
        (struct event){ .kind = EVENT_NOTE, .cause = (uint8_t)cause, .host_ns = board_now_ns(t) };
    return 1;
}

/* The program is halted, paused by `monitor profile stop`, or runs again. 1: an event says so; 0:
 * nothing new. */
static int look_whether_it_runs(struct sampler *s, struct target *t, struct event *out)
{
    bool runs = t->ops->state(t) == TARGET_RUNNING && s->active;
    if (runs == !s->halted)
        return 0;
    s->halted = !runs;
    if (runs)
        s->due_ns = board_now_ns(t) + random_interval_ns(s);
    else
        set_pace(s, 0);
    return note_change(t, runs ? EVENT_CAUSE_RESUMED : EVENT_CAUSE_HALTED, out);
}

/* A sample that failed counts as missed. A target that never answers, or cannot, is an error,
 * unless it has stopped (err is NULL then). */
static int look_failed(struct sampler *s, struct target *t, const struct err *why, struct err *err)
{
    s->missed++;
    s->unreported++;
    plan_next_look(s, t);
    if (!err || (++s->failures < FAILURES_MAX && why->code != ERR_UNSUPPORTED))
        return 0;
    *err = *why;
    return -(int)why->code;
}

static int take_sample(struct sampler *s, struct target *t, struct event *out, struct err *err)
{
    uint64_t pc = 0;
    struct err why = { .code = ERR_PROTOCOL };
    int ret = t->ops->sample_pc(t, &pc, &why);
    if (ret < 0) {
        enum target_state state = t->ops->state(t);
        int trouble = look_failed(s, t, &why, state == TARGET_RUNNING ? err : NULL);
        if (state == TARGET_GONE && err) /* recovery reports why */
            *err = why;
        if (state == TARGET_GONE)
            return ret;
        return trouble;
    }
    *out = (struct event){ .kind = EVENT_SAMPLE,
                           .host_ns = board_now_ns(t),
                           .pc = pc,
                           .flags = ret ? EVENT_HAS_PC : 0,
                           .missed_looks = s->unreported };
    s->unreported = 0;
    s->failures = 0;
    s->samples++;
    plan_next_look(s, t);
    return 1;
}

static int poll_sampler(void *ctx, struct target *t, struct event *out, size_t cap, uint64_t max_ns,
                        struct err *err)
{
    struct sampler *s = ctx;
    (void)max_ns;
    if (!s->armed || cap == 0)
        return 0;
    if (!s->started) {
        s->started = true;
        *out = (struct event){ .kind = EVENT_START,
                               .host_ns = board_now_ns(t),
                               .looks_per_s = s->rate_hz };
        return 1;
    }
    int ret = look_whether_it_runs(s, t, out);
    if (ret || s->halted)
        return ret;
    uint64_t at = board_now_ns(t);
    if (at < s->due_ns) {
        set_pace(s, s->due_ns - at);
        return 0;
    }
    return take_sample(s, t, out, err);
}

static int set_active(void *ctx, struct target *t, bool active, struct err *err)
{
    struct sampler *s = ctx;
    (void)t, (void)err;
    s->active = active;
    return 0;
}

static int sampler_status(void *ctx, struct target *t, struct trace_status *out, struct err *err)
{
    struct sampler *s = ctx;
    (void)err;
    uint64_t held = held_ns(t) - s->held_before_ns, ns = board_now_ns(t) - s->armed_ns;
    *out = (struct trace_status){ .armed = s->armed,
                                  .active = s->active,
                                  .events = s->samples,
                                  .time.held_ns = held,
                                  .time.board_ns = number_if(held, ns) };
    int n =
        snprintf(out->note, sizeof out->note, "looking at the PC %u times a second", s->rate_hz);
    if (held && s->samples && ns)
        snprintf(out->note + n, sizeof out->note - (size_t)n,
                 "; each look halts the program, for %.3g ms on average: %.1f%% of the time it "
                 "stood still",
                 (double)held / (double)s->samples / 1e6, 100.0 * (double)held / (double)ns);
    n = (int)strlen(out->note);
    if (s->unreported) /* no sample came after them to tell */
        snprintf(out->note + n, sizeof out->note - (size_t)n, "; the last %llu looks were missed",
                 (unsigned long long)s->unreported);
    return 0;
}

const struct pump_source sampler_source = { arm_sampler, poll_sampler, disarm_sampler, set_active,
                                            sampler_status };
