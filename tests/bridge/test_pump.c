/* The pump against a scripted target: what moves when, and what the main thread gets to know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/bridge/pump.h"

enum { QUEUE = 64 };

/* A target whose trace gives `left` events, numbered. */
struct scripted {
    struct target base;
    uint64_t left, next;
    uint64_t now_ns;
    enum target_state state;
    int fail_arm;
    int fail_poll, fail_disarm; /* -ERR_*: what they answer instead */
    int fail_next_arm;          /* the next one only */
    unsigned armed, disarmed, polls;
    /* as a trace that tells when profiling begins and ends, and of a program that can be held */
    bool marks, active, start_due, stop_due;
    unsigned held, released, moved_unheld;
    uint16_t counter[2];
};

static struct scripted *scripted_of(struct target *t)
{
    return CONTAINER_OF(t, struct scripted, base);
}

static int arm_trace(struct target *t, const struct trace_config *cfg, struct err *err)
{
    assert_non_null(cfg->image);
    int fail =
        scripted_of(t)->fail_next_arm ? scripted_of(t)->fail_next_arm : scripted_of(t)->fail_arm;
    scripted_of(t)->fail_next_arm = 0;
    if (fail)
        return err_set(err, (enum err_code) - fail, "load it", "trace: scripted failure");
    scripted_of(t)->armed++;
    scripted_of(t)->active = scripted_of(t)->start_due = scripted_of(t)->marks && !cfg->has_start;
    scripted_of(t)->counter[0] = cfg->counter[0];
    scripted_of(t)->counter[1] = cfg->counter[1];
    return 0;
}

static int poll_trace(struct target *t, struct event *out, size_t cap, uint64_t max_ns,
                      struct err *err)
{
    struct scripted *s = scripted_of(t);
    s->polls++;
    assert_true(max_ns > 0 && cap > 0);
    if (s->fail_poll)
        return err_set(err, (enum err_code) - s->fail_poll, "check the cable",
                       "trace: scripted failure");
    size_t n = MIN(cap, s->left);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct event){ .kind = EVENT_CALL, .pc = s->next++ };
    s->left -= n;
    if (n < cap && s->stop_due)
        out[n++] = (struct event){ .kind = EVENT_STOP };
    if (n < cap && s->start_due)
        out[n++] = (struct event){ .kind = EVENT_START, .flags = EVENT_HAS_C1, .c1 = 5 };
    s->stop_due = s->start_due = false;
    return (int)n;
}

static int disarm_trace(struct target *t, struct err *err)
{
    scripted_of(t)->disarmed++;
    scripted_of(t)->stop_due = scripted_of(t)->active;
    scripted_of(t)->active = false;
    scripted_of(t)->moved_unheld += scripted_of(t)->held == scripted_of(t)->released;
    return scripted_of(t)->fail_disarm ? err_set(err, (enum err_code) - scripted_of(t)->fail_disarm,
                                                 "check the cable", "disarm: scripted failure")
                                       : 0;
}

static int trace_status_of(struct target *t, struct trace_status *out, struct err *err)
{
    (void)err;
    *out = (struct trace_status){ .armed = true,
                                  .active = scripted_of(t)->active,
                                  .events = scripted_of(t)->next,
                                  .time.target_cycles = 1000 };
    return 0;
}

static int set_active(struct target *t, bool active, struct err *err)
{
    struct scripted *s = scripted_of(t);
    (void)err;
    s->start_due |= active && !s->active;
    s->stop_due |= !active && s->active;
    s->active = active;
    return 0;
}

static int hold_target(struct target *t, bool *ran, struct err *err)
{
    (void)err;
    scripted_of(t)->held++;
    *ran = scripted_of(t)->state == TARGET_RUNNING;
    scripted_of(t)->state = TARGET_HALTED;
    return 0;
}

static int release_target(struct target *t, bool ran, struct err *err)
{
    (void)err;
    scripted_of(t)->released++;
    scripted_of(t)->state = ran ? TARGET_RUNNING : scripted_of(t)->state;
    return 0;
}

static uint64_t now_ns(struct target *t) { return scripted_of(t)->now_ns; }
static enum target_state state_of(struct target *t) { return scripted_of(t)->state; }

static const struct target_trace_ops trace_ops = {
    .arm = arm_trace, .poll = poll_trace, .disarm = disarm_trace, .status = trace_status_of
};
static const struct target_trace_ops held_ops = { .arm = arm_trace,
                                                  .poll = poll_trace,
                                                  .disarm = disarm_trace,
                                                  .status = trace_status_of,
                                                  .set_active = set_active,
                                                  .hold = hold_target,
                                                  .release = release_target };
static const struct target_trace_ops marking_ops = { .arm = arm_trace,
                                                     .poll = poll_trace,
                                                     .disarm = disarm_trace,
                                                     .status = trace_status_of,
                                                     .set_active = set_active };
static const struct target_ops can_hold = {
    .name = "scripted", .trace = &held_ops, .now_ns = now_ns, .state = state_of
};
static const struct target_ops cannot_hold = {
    .name = "scripted", .trace = &marking_ops, .now_ns = now_ns, .state = state_of
};
static const struct target_ops ops = {
    .name = "scripted", .trace = &trace_ops, .now_ns = now_ns, .state = state_of
};

struct fixture {
    struct pump pump;
    struct scripted target;
    struct image image;
    unsigned wakes;
};

static void count_wake(void *ctx) { ((struct fixture *)ctx)->wakes++; }

static struct fixture *make_pump(uint64_t events, uint64_t for_ns, bool has_start)
{
    struct fixture *fx = test_calloc(1, sizeof *fx);
    fx->target = (struct scripted){
        .base.ops = &ops, .left = events, .now_ns = 1000, .state = TARGET_RUNNING
    };
    struct pump_config cfg = {
        .trace = { .image = &fx->image, .has_start = has_start },
        .for_ns = for_ns,
        .queue_events = QUEUE,
        .wake = count_wake,
        .wake_ctx = fx,
    };
    assert_int_equal(pump_init(&fx->pump, &cfg, NULL), 0);
    return fx;
}

static void free_pump(struct fixture *fx)
{
    pump_fini(&fx->pump);
    test_free(fx);
}

static bool run_slice(struct fixture *fx)
{
    return fx->pump.client.slice(&fx->pump, &fx->target.base);
}

/* Up to cap events, oldest first. */
static size_t take_events(struct fixture *fx, struct event *out, size_t cap)
{
    size_t n, done = 0;
    struct event *at;
    while (done < cap && (at = pump_front(&fx->pump, &n), n > 0)) {
        n = MIN(n, cap - done);
        memcpy(out + done, at, n * sizeof *out);
        pump_release(&fx->pump, n);
        done += n;
    }
    return done;
}

static size_t pop_all(struct fixture *fx, uint64_t *next)
{
    struct event out[QUEUE];
    size_t n, total = 0;
    while ((n = take_events(fx, out, ARRAY_LEN(out))) > 0)
        for (size_t i = 0; i < n; i++, total++)
            if (out[i].kind == EVENT_CALL)
                assert_int_equal(out[i].pc, (*next)++);
    return total;
}

static void pump__many_events_at_once__are_moved_in_one_slice(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(4000, 0, false);
    struct event out[64];
    size_t n, total = 0;
    pump_fini(&fx->pump);
    fx->pump = (struct pump){ 0 };
    struct pump_config cfg = { .trace = { .image = &fx->image }, .queue_events = 8192 };
    assert_int_equal(pump_init(&fx->pump, &cfg, NULL), 0);
    assert_int_equal(pump_arm(&fx->pump, &fx->target.base, NULL), 0);
    run_slice(fx);
    while ((n = take_events(fx, out, ARRAY_LEN(out))) > 0)
        total += n;
    assert_int_equal(total, 4000);
    free_pump(fx);
}

static void pump__not_armed__leaves_the_target_alone(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(10, 0, false);
    assert_false(run_slice(fx));
    assert_int_equal(fx->target.polls, 0);
    pump_disarm(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.disarmed, 0);
    free_pump(fx);
}

static void pump__queue_full__leaves_events_in_the_target(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(200, 0, false);
    uint64_t next = 0;
    assert_int_equal(pump_arm(&fx->pump, &fx->target.base, NULL), 0);
    for (int i = 0; i < 5; i++)
        run_slice(fx);
    assert_int_equal(fx->target.left, 200 - QUEUE);
    assert_true(fx->wakes > 0);
    assert_int_equal(pop_all(fx, &next), QUEUE);
    run_slice(fx);
    assert_int_equal(fx->target.left, 200 - 2 * QUEUE);
    free_pump(fx);
}

static void pump__disarm__drains_the_rest_before_it_ends(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(150, 0, false);
    uint64_t next = 0;
    pump_arm(&fx->pump, &fx->target.base, NULL);
    run_slice(fx);
    pump_disarm(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.disarmed, 1);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_DRAINING);
    size_t got = 0;
    for (int i = 0; i < 10 && pump_look(&fx->pump).phase != PUMP_ENDED; i++) {
        run_slice(fx);
        got += pop_all(fx, &next);
    }
    assert_int_equal(got, 150);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    free_pump(fx);
}

static void pump__time_limit__counts_the_target_s_clock_from_the_start_point(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 500, true);
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.now_ns += 10000; /* the start point has not been met */
    run_slice(fx);
    assert_int_equal(fx->target.disarmed, 0);
    fx->target.left = 1;
    run_slice(fx);
    fx->target.now_ns += 499;
    run_slice(fx);
    assert_int_equal(fx->target.disarmed, 0);
    fx->target.now_ns += 1;
    run_slice(fx);
    assert_int_equal(fx->target.disarmed, 1);
    free_pump(fx);
}

static void pump__time_limit__armed_while_halted__counts_from_the_run(void **state)
{
    (void)state;
    /* by pump_running(), or by the first slice that finds it running */
    for (int reported = 0; reported < 2; reported++) {
        struct fixture *fx = make_pump(1, 500, false);
        fx->target.state = TARGET_HALTED;
        pump_arm(&fx->pump, &fx->target.base, NULL);
        fx->target.now_ns += 10000; /* the way into the program takes its time */
        run_slice(fx);
        assert_int_equal(fx->target.disarmed, 0);
        fx->target.state = TARGET_RUNNING;
        if (reported)
            pump_running(&fx->pump, &fx->target.base);
        else
            run_slice(fx);
        fx->target.now_ns += 499;
        run_slice(fx);
        assert_int_equal(fx->target.disarmed, 0);
        fx->target.now_ns += 1;
        run_slice(fx);
        assert_int_equal(fx->target.disarmed, 1);
        free_pump(fx);
    }
}

static void pump__trace_fails__why_is_seen(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(5, 0, false);
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_poll = -ERR_PROTOCOL;
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_PROTOCOL);
    free_pump(fx);
}

static void pump__last_events_cannot_be_fetched__a_gap_says_so(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(5, 0, false);
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    pump_disarm(&fx->pump, &fx->target.base);
    fx->target.fail_poll = -ERR_PROTOCOL;
    for (int i = 0; i < 10 && pump_look(&fx->pump).phase != PUMP_ENDED; i++)
        run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_int_equal(take_events(fx, out, QUEUE), 1);
    assert_int_equal(out[0].kind, EVENT_LOST);
    assert_int_equal(out[0].cause, EVENT_CAUSE_LINK);
    free_pump(fx);
}

static void pump__trace_cannot_be_disarmed__a_gap_says_so(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(5, 0, false);
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_poll = fx->target.fail_disarm = -ERR_TIMEOUT;
    pump_disarm(&fx->pump, &fx->target.base);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_TIMEOUT);
    assert_int_equal(take_events(fx, out, QUEUE), 1);
    assert_int_equal(out[0].kind, EVENT_LOST);
    assert_int_equal(out[0].cause, EVENT_CAUSE_LINK);
    free_pump(fx);
}

static void pump__target_comes_back__is_armed_again_and_the_gap_is_an_event(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.left = 3; /* fetched by the driver before */
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    assert_true(pump_look(&fx->pump).away);
    assert_int_equal(pump_look(&fx->pump).gaps, 0);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_NO_TARGET);
    fx->target.next = 0; /* a trace armed anew counts from zero */
    fx->pump.client.back(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).away);
    assert_int_equal(pump_look(&fx->pump).gaps, 1);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_OK);
    assert_int_equal(take_events(fx, out, QUEUE), 4);
    assert_int_equal(out[2].kind, EVENT_CALL);
    assert_int_equal(out[3].kind, EVENT_LOST);
    assert_int_equal(out[3].cause, EVENT_CAUSE_LINK);
    fx->target.left = 2;
    run_slice(fx);
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).trace.events, 3 + 2); /* over both */
    assert_int_equal(pump_look(&fx->pump).trace.time.target_cycles, 2000);
    free_pump(fx);
}

static void pump__reset_that_halts__is_a_gap_and_armed_where_it_stands(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.left = 3; /* what the trace has still when it is taken out */
    pump_reset_begins(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.disarmed, 1);
    assert_true(pump_look(&fx->pump).resetting);
    assert_false(pump_look(&fx->pump).away); /* the board answers */
    fx->target.next = 0;
    fx->target.state = TARGET_HALTED;
    pump_reset_over(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).resetting);
    assert_int_equal(pump_look(&fx->pump).resets, 1);
    assert_int_equal(pump_look(&fx->pump).gaps, 0);
    assert_int_equal(take_events(fx, out, QUEUE), 4);
    assert_int_equal(out[2].kind, EVENT_CALL);
    assert_int_equal(out[3].kind, EVENT_LOST);
    assert_int_equal(out[3].cause, EVENT_CAUSE_RESET);
    fx->target.left = 2;
    run_slice(fx);
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).trace.events, 3 + 2);
    pump_reset_over(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.armed, 2);
    free_pump(fx);
}

static void pump__reset_that_lets_run__is_armed_again_when_it_can_be(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_disarm = -ERR_TIMEOUT; /* a CPU that hangs: why it is reset */
    pump_reset_begins(&fx->pump, &fx->target.base);
    fx->target.fail_disarm = 0;
    fx->target.fail_arm = -ERR_FAULT; /* its memory is not set up yet */
    run_slice(fx);
    assert_int_equal(fx->target.armed, 1);
    while (pump_look(&fx->pump).why.code == ERR_OK)
        run_slice(fx);
    assert_true(pump_look(&fx->pump).resetting);
    fx->target.fail_arm = 0;
    while (pump_look(&fx->pump).resetting)
        run_slice(fx);
    assert_int_equal(fx->target.armed, 2);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_OK);
    free_pump(fx);
}

static void pump__lost_since_a_reset__comes_back_by_the_same_gap(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    pump_reset_begins(&fx->pump, &fx->target.base);
    pump_reset_begins(&fx->pump, &fx->target.base);
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    assert_true(pump_look(&fx->pump).away);
    assert_false(pump_look(&fx->pump).resetting);
    fx->pump.client.back(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).away);
    assert_int_equal(take_events(fx, out, QUEUE), 1);
    assert_int_equal(out[0].cause, EVENT_CAUSE_RESET);
    free_pump(fx);
}

static void pump__target_comes_back_without_its_program__is_not_traced_until_it_can_be(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 500, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->target.fail_arm = -ERR_FORMAT;
    fx->pump.client.back(&fx->pump, &fx->target.base);
    assert_true(pump_look(&fx->pump).away);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_FORMAT);
    unsigned polls = fx->target.polls;
    run_slice(fx);
    assert_int_equal(fx->target.polls, polls);
    fx->target.fail_arm = 0;
    fx->pump.rearm_at_ns = 1; /* the pause is over */
    run_slice(fx);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).away);
    assert_true(fx->target.polls > polls);
    free_pump(fx);
}

static void pump__target_comes_back_as_a_part_without_trace__is_asked_again(void **state)
{
    (void)state;
    static const struct target_ops traceless = { .name = "scripted",
                                                 .now_ns = now_ns,
                                                 .state = state_of };
    struct fixture *fx = make_pump(3, 0, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.base.ops = &traceless; /* misread while its power came up */
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->pump.client.back(&fx->pump, &fx->target.base);
    run_slice(fx);
    assert_true(pump_look(&fx->pump).away);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_UNSUPPORTED);
    fx->target.base.ops = &ops;
    fx->pump.rearm_at_ns = 1;
    run_slice(fx);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).away);
    free_pump(fx);
}

static void pump__time_limit_while_the_target_is_away__ends_with_why(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 500, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    fx->target.now_ns += 500;
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_NO_TARGET);
    assert_int_equal(fx->target.disarmed, 0);
    free_pump(fx);
}

static void pump__time_limit__goes_on_while_the_target_is_away(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 500, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.now_ns += 200;
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->target.now_ns += 100;
    fx->pump.client.back(&fx->pump, &fx->target.base);
    fx->target.now_ns += 199;
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    fx->target.now_ns += 1;
    run_slice(fx);
    assert_int_equal(fx->target.disarmed, 1);
    free_pump(fx);
}

static void
pump__armed_for_the_first_time_while_the_target_is_got_back__knows_of_no_gap(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    struct err why = { .code = ERR_USB, .what = "unplugged" };
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    pump_forget(&fx->pump); /* it was lost before it ran */
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_IDLE);
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.back(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.armed, 2);
    assert_int_equal(pump_look(&fx->pump).gaps, 0);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_OK);
    assert_int_equal(take_events(fx, out, QUEUE), 0);
    free_pump(fx);
}

static void note_why(void *ctx, const struct err *why) { *(struct err *)ctx = *why; }

static void pump__trace_fails__is_reported_with_its_reason(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    struct err why = { .code = ERR_OK };
    fx->pump.cfg.failed = note_why;
    fx->pump.cfg.failed_ctx = &why;
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_poll = -ERR_USB;
    run_slice(fx);
    assert_int_equal(why.code, ERR_USB); /* whether the target is gone, the worker asks it */
    assert_string_equal(why.what, "trace: scripted failure");
    free_pump(fx);
}

static void pump__program_stops__is_seen_until_it_runs_again(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    struct target_stop stop = { .reason = STOP_SIGNAL, .pc = 0x8c010000 };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.stopped(&fx->pump, &fx->target.base, &stop);
    assert_int_equal(pump_look(&fx->pump).stop.reason, STOP_SIGNAL);
    assert_int_equal(pump_look(&fx->pump).stop_looks, 0);
    fx->target.state = TARGET_HALTED;
    run_slice(fx);
    run_slice(fx);
    /* it is known to stand still, not only to have stopped once */
    assert_int_equal(pump_look(&fx->pump).stop_looks, 2);
    fx->target.state = TARGET_RUNNING;
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).stop.reason, STOP_NONE);
    free_pump(fx);
}

/* ---- other counters, other points ---- */

static struct fixture *make_changing(const struct target_ops *as, bool has_start)
{
    struct fixture *fx = make_pump(0, 0, has_start);
    fx->target.base.ops = as;
    fx->target.marks = true;
    fx->pump.cfg.trace.counter[0] = 1;
    fx->pump.cfg.trace.counter[1] = 2;
    assert_int_equal(pump_arm(&fx->pump, &fx->target.base, NULL), 0);
    return fx;
}

static int change_to(struct fixture *fx, uint16_t c1, bool has_start, size_t nstops,
                     struct err *err)
{
    struct trace_config next = fx->pump.cfg.trace;
    next.counter[0] = c1;
    next.has_start = has_start;
    next.nstops = nstops;
    next.stops[0] = 0x1234;
    return pump_change(&fx->pump, &fx->target.base, &next, err);
}

/* The kinds of what has come, as letters; without the calls. */
static const char *kinds_told(struct fixture *fx, struct event *again)
{
    static const char letter[EVENT_NKINDS] = {
        [EVENT_START] = 'S', [EVENT_STOP] = 'E', [EVENT_AGAIN] = 'A',
        [EVENT_POINT] = 'p', [EVENT_LOST] = 'L', [EVENT_TIMESTAMP] = 't'
    };
    static char text[QUEUE + 1];
    struct event out[QUEUE];
    size_t n = take_events(fx, out, QUEUE), k = 0;
    for (size_t i = 0; i < n; i++) {
        if (out[i].kind == EVENT_AGAIN && again)
            *again = out[i];
        if (letter[out[i].kind])
            text[k++] = letter[out[i].kind];
    }
    text[k] = 0;
    return text;
}

static void pass_once(struct fixture *fx)
{
    pump_set_active(&fx->pump, &fx->target.base, true, NULL);
    pump_set_active(&fx->pump, &fx->target.base, false, NULL);
    run_slice(fx);
}

static void passes__done__disarms_before_the_main_thread_has_looked(void **state)
{
    (void)state;
    struct fixture *fx = make_changing(&can_hold, true);
    fx->pump.cfg.max_passes = 2;
    pass_once(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    pass_once(fx);
    assert_int_not_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    assert_int_equal(fx->target.disarmed, 1);
    run_slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_string_equal(kinds_told(fx, NULL), "SESE");
    free_pump(fx);
}

static void passes__points_changed__only_the_main_thread_ends_it(void **state)
{
    (void)state;
    struct fixture *fx = make_changing(&can_hold, true);
    fx->pump.cfg.max_passes = 2;
    assert_int_equal(change_to(fx, 1, true, 1, NULL), 0);
    for (int i = 0; i < 4; i++)
        pass_once(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    free_pump(fx);
}

static void change__held__is_as_if_it_had_not_stopped(void **state)
{
    (void)state;
    struct event again = { .kind = EVENT_NONE };
    struct fixture *fx = make_changing(&can_hold, false);
    run_slice(fx);
    assert_string_equal(kinds_told(fx, NULL), "S");
    fx->target.left = 3; /* they come before */
    assert_int_equal(change_to(fx, 7, false, 0, NULL), 0);
    assert_int_equal(fx->target.counter[0], 7);
    assert_int_equal(fx->target.counter[1], 2);
    assert_int_equal(fx->target.held, 1);
    assert_int_equal(fx->target.released, 1);
    assert_int_equal(fx->target.moved_unheld, 0);
    assert_int_equal(fx->target.state, TARGET_RUNNING);
    assert_string_equal(kinds_told(fx, &again), "tAp");
    assert_int_equal(again.counts, 7 | 2 << 16);
    assert_int_equal(again.forgets, 1);
    assert_int_equal(again.flags, EVENT_HAS_C1);
    assert_int_equal(again.c1, 5);
    assert_int_equal(change_to(fx, 7, false, 1, NULL), 0);
    assert_string_equal(kinds_told(fx, &again), "tApp");
    assert_int_equal(again.forgets, 0);
    free_pump(fx);
}

static void change__not_held__tells_an_end_and_a_beginning(void **state)
{
    (void)state;
    struct event again = { .kind = EVENT_NONE };
    struct fixture *fx = make_changing(&cannot_hold, false);
    run_slice(fx);
    kinds_told(fx, NULL);
    assert_int_equal(change_to(fx, 1, false, 1, NULL), 0);
    run_slice(fx);
    assert_string_equal(kinds_told(fx, &again), "EAppS");
    assert_int_equal(again.flags, 0);
    free_pump(fx);
}

/* Whether a pass, or a pause, goes on: the start point decides. */
static void change__pass_or_pause__goes_on_where_the_start_point_stays(void **state)
{
    (void)state;
    static const struct {
        bool start, active, then_start, will;
        const char *told;
    } rows[] = {
        { false, false, false, false, "App" }, /* paused, and stays so */
        { false, true, true, false, "EAppp" }, /* now it waits for the start point */
        { true, false, true, false, "Appp" },  /* it waits still */
        { true, true, true, true, "tAppp" },   /* the pass goes on */
        { true, false, false, true, "AppS" },  /* all is profiled */
        { true, true, false, true, "tApp" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx = make_changing(&can_hold, rows[i].start);
        pump_set_active(&fx->pump, &fx->target.base, rows[i].active, NULL);
        run_slice(fx);
        kinds_told(fx, NULL);
        assert_int_equal(change_to(fx, 1, rows[i].then_start, 1, NULL), 0);
        run_slice(fx);
        const char *got = kinds_told(fx, NULL);
        print_message("row %zu: %s\n", i, got);
        assert_string_equal(got, rows[i].told);
        assert_int_equal(fx->target.active, rows[i].will);
        free_pump(fx);
    }
}

static void change__refused__leaves_all_as_it_was(void **state)
{
    (void)state;
    struct event again = { .kind = EVENT_NONE };
    struct err err = { .code = ERR_OK };
    struct fixture *fx = make_changing(&can_hold, false);
    run_slice(fx);
    kinds_told(fx, NULL);
    fx->target.fail_next_arm = -ERR_USAGE;
    assert_int_equal(change_to(fx, 7, false, 1, &err), -ERR_USAGE);
    assert_string_equal(err.hint, "load it");
    assert_int_equal(fx->target.armed, 2);
    assert_int_equal(fx->target.counter[0], 1);
    assert_int_equal(fx->pump.cfg.trace.counter[0], 1);
    assert_int_equal(fx->target.released, 1);
    assert_true(fx->target.active);
    assert_string_equal(kinds_told(fx, &again), "tAp");
    assert_int_equal(again.forgets, 0);
    assert_int_equal(again.counts, 1 | 2 << 16);
    /* a pass that would have ended goes on likewise */
    fx->target.fail_next_arm = -ERR_USAGE;
    assert_int_equal(change_to(fx, 1, true, 0, &err), -ERR_USAGE);
    assert_true(fx->target.active);
    run_slice(fx);
    assert_string_equal(kinds_told(fx, &again), "EApS");
    free_pump(fx);
}

static void change__cannot_be_armed_again__is_tried_until_it_can(void **state)
{
    (void)state;
    struct err err = { .code = ERR_OK };
    struct fixture *fx = make_changing(&can_hold, false);
    run_slice(fx);
    kinds_told(fx, NULL);
    fx->target.fail_arm = -ERR_TIMEOUT;
    assert_int_equal(change_to(fx, 7, false, 0, &err), -ERR_TIMEOUT);
    assert_true(pump_look(&fx->pump).away);
    assert_int_equal(fx->target.released, 1);
    assert_string_equal(kinds_told(fx, NULL), "tL");
    assert_int_equal(change_to(fx, 7, false, 0, &err), -ERR_STATE);
    fx->target.fail_arm = 0;
    fx->pump.rearm_at_ns = 1;
    run_slice(fx);
    assert_false(pump_look(&fx->pump).away);
    assert_int_equal(fx->target.counter[0], 1);
    free_pump(fx);
}

static void change__target_is_lost_on_the_way__is_a_gap_as_ever(void **state)
{
    (void)state;
    struct err err = { .code = ERR_OK }, why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    struct fixture *fx = make_changing(&can_hold, false);
    run_slice(fx);
    kinds_told(fx, NULL);
    fx->target.fail_disarm = -ERR_USB;
    fx->target.state = TARGET_GONE;
    assert_int_equal(change_to(fx, 7, false, 0, &err), -ERR_STATE);
    fx->target.state = TARGET_RUNNING;
    assert_int_equal(change_to(fx, 7, false, 0, &err), -ERR_USB);
    kinds_told(fx, NULL);
    fx->target.fail_disarm = 0;
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->pump.client.back(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.counter[0], 1);
    assert_false(pump_look(&fx->pump).away);
    free_pump(fx);
}

static void change__before_it_is_armed__is_for_then(void **state)
{
    (void)state;
    struct fixture *fx = make_pump(0, 0, false);
    fx->target.base.ops = &can_hold;
    assert_int_equal(change_to(fx, 7, false, 1, NULL), 0);
    assert_int_equal(fx->target.armed, 0);
    assert_int_equal(pump_arm(&fx->pump, &fx->target.base, NULL), 0);
    assert_int_equal(fx->target.counter[0], 7);
    assert_string_equal(kinds_told(fx, NULL), "App");
    free_pump(fx);
}

static void change__the_same__does_nothing(void **state)
{
    (void)state;
    struct fixture *fx = make_changing(&can_hold, false);
    assert_int_equal(change_to(fx, 1, false, 0, NULL), 0);
    assert_int_equal(fx->target.held, 0);
    assert_int_equal(fx->target.armed, 1);
    free_pump(fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pump__many_events_at_once__are_moved_in_one_slice),
        cmocka_unit_test(pump__not_armed__leaves_the_target_alone),
        cmocka_unit_test(pump__queue_full__leaves_events_in_the_target),
        cmocka_unit_test(pump__disarm__drains_the_rest_before_it_ends),
        cmocka_unit_test(pump__time_limit__counts_the_target_s_clock_from_the_start_point),
        cmocka_unit_test(pump__time_limit__armed_while_halted__counts_from_the_run),
        cmocka_unit_test(pump__trace_fails__why_is_seen),
        cmocka_unit_test(pump__last_events_cannot_be_fetched__a_gap_says_so),
        cmocka_unit_test(pump__trace_cannot_be_disarmed__a_gap_says_so),
        cmocka_unit_test(pump__target_comes_back__is_armed_again_and_the_gap_is_an_event),
        cmocka_unit_test(
            pump__target_comes_back_without_its_program__is_not_traced_until_it_can_be),
        cmocka_unit_test(pump__reset_that_halts__is_a_gap_and_armed_where_it_stands),
        cmocka_unit_test(pump__reset_that_lets_run__is_armed_again_when_it_can_be),
        cmocka_unit_test(pump__lost_since_a_reset__comes_back_by_the_same_gap),
        cmocka_unit_test(pump__target_comes_back_as_a_part_without_trace__is_asked_again),
        cmocka_unit_test(pump__time_limit_while_the_target_is_away__ends_with_why),
        cmocka_unit_test(pump__time_limit__goes_on_while_the_target_is_away),
        cmocka_unit_test(
            pump__armed_for_the_first_time_while_the_target_is_got_back__knows_of_no_gap),
        cmocka_unit_test(pump__trace_fails__is_reported_with_its_reason),
        cmocka_unit_test(pump__program_stops__is_seen_until_it_runs_again),
        cmocka_unit_test(passes__done__disarms_before_the_main_thread_has_looked),
        cmocka_unit_test(passes__points_changed__only_the_main_thread_ends_it),
        cmocka_unit_test(change__held__is_as_if_it_had_not_stopped),
        cmocka_unit_test(change__not_held__tells_an_end_and_a_beginning),
        cmocka_unit_test(change__pass_or_pause__goes_on_where_the_start_point_stays),
        cmocka_unit_test(change__refused__leaves_all_as_it_was),
        cmocka_unit_test(change__cannot_be_armed_again__is_tried_until_it_can),
        cmocka_unit_test(change__target_is_lost_on_the_way__is_a_gap_as_ever),
        cmocka_unit_test(change__before_it_is_armed__is_for_then),
        cmocka_unit_test(change__the_same__does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
