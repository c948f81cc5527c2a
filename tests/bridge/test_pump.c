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
    unsigned armed, disarmed, polls;
};

static struct scripted *of(struct target *t) { return CONTAINER_OF(t, struct scripted, base); }

static int arm(struct target *t, const struct trace_config *cfg, struct err *err)
{
    assert_non_null(cfg->image);
    if (of(t)->fail_arm)
        return err_set(err, (enum err_code) - of(t)->fail_arm, "load it",
                       "trace: scripted failure");
    of(t)->armed++;
    return 0;
}

static int poll_trace(struct target *t, struct event *out, size_t cap, uint64_t max_ns,
                      struct err *err)
{
    struct scripted *s = of(t);
    s->polls++;
    assert_true(max_ns > 0 && cap > 0);
    if (s->fail_poll)
        return err_set(err, (enum err_code) - s->fail_poll, "check the cable",
                       "trace: scripted failure");
    size_t n = MIN(cap, s->left);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct event){ .kind = EVENT_CALL, .pc = s->next++ };
    s->left -= n;
    return (int)n;
}

static int disarm(struct target *t, struct err *err)
{
    of(t)->disarmed++;
    return of(t)->fail_disarm ? err_set(err, (enum err_code) - of(t)->fail_disarm,
                                        "check the cable", "disarm: scripted failure")
                              : 0;
}

static int status(struct target *t, struct trace_status *out, struct err *err)
{
    (void)err;
    *out = (struct trace_status){
        .armed = true, .active = true, .events = of(t)->next, .time.target_cycles = 1000
    };
    return 0;
}

static uint64_t now_ns(struct target *t) { return of(t)->now_ns; }
static enum target_state state_of(struct target *t) { return of(t)->state; }

static const struct target_trace_ops trace_ops = {
    .arm = arm, .poll = poll_trace, .disarm = disarm, .status = status
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

static void woken(void *ctx) { ((struct fixture *)ctx)->wakes++; }

static struct fixture *make(uint64_t events, uint64_t for_ns, bool has_start)
{
    struct fixture *fx = test_calloc(1, sizeof *fx);
    fx->target = (struct scripted){
        .base.ops = &ops, .left = events, .now_ns = 1000, .state = TARGET_RUNNING
    };
    struct pump_config cfg = {
        .trace = { .image = &fx->image, .has_start = has_start },
        .for_ns = for_ns,
        .queue_events = QUEUE,
        .wake = woken,
        .wake_ctx = fx,
    };
    assert_int_equal(pump_init(&fx->pump, &cfg, NULL), 0);
    return fx;
}

static void drop(struct fixture *fx)
{
    pump_fini(&fx->pump);
    test_free(fx);
}

static bool slice(struct fixture *fx) { return fx->pump.client.slice(&fx->pump, &fx->target.base); }

/* Up to cap events, oldest first. */
static size_t take(struct fixture *fx, struct event *out, size_t cap)
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
    while ((n = take(fx, out, ARRAY_LEN(out))) > 0)
        for (size_t i = 0; i < n; i++, total++)
            if (out[i].kind == EVENT_CALL)
                assert_int_equal(out[i].pc, (*next)++);
    return total;
}

static void pump__many_events_at_once__are_moved_in_one_slice(void **state)
{
    (void)state;
    struct fixture *fx = make(4000, 0, false);
    struct event out[64];
    size_t n, total = 0;
    pump_fini(&fx->pump);
    fx->pump = (struct pump){ 0 };
    struct pump_config cfg = { .trace = { .image = &fx->image }, .queue_events = 8192 };
    assert_int_equal(pump_init(&fx->pump, &cfg, NULL), 0);
    assert_int_equal(pump_arm(&fx->pump, &fx->target.base, NULL), 0);
    slice(fx);
    while ((n = take(fx, out, ARRAY_LEN(out))) > 0)
        total += n;
    assert_int_equal(total, 4000);
    drop(fx);
}

static void pump__not_armed__leaves_the_target_alone(void **state)
{
    (void)state;
    struct fixture *fx = make(10, 0, false);
    assert_false(slice(fx));
    assert_int_equal(fx->target.polls, 0);
    pump_disarm(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.disarmed, 0);
    drop(fx);
}

static void pump__queue_full__leaves_events_in_the_target(void **state)
{
    (void)state;
    struct fixture *fx = make(200, 0, false);
    uint64_t next = 0;
    assert_int_equal(pump_arm(&fx->pump, &fx->target.base, NULL), 0);
    for (int i = 0; i < 5; i++)
        slice(fx);
    assert_int_equal(fx->target.left, 200 - QUEUE);
    assert_true(fx->wakes > 0);
    assert_int_equal(pop_all(fx, &next), QUEUE);
    slice(fx);
    assert_int_equal(fx->target.left, 200 - 2 * QUEUE);
    drop(fx);
}

static void pump__disarm__drains_the_rest_before_it_ends(void **state)
{
    (void)state;
    struct fixture *fx = make(150, 0, false);
    uint64_t next = 0;
    pump_arm(&fx->pump, &fx->target.base, NULL);
    slice(fx);
    pump_disarm(&fx->pump, &fx->target.base);
    assert_int_equal(fx->target.disarmed, 1);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_DRAINING);
    size_t got = 0;
    for (int i = 0; i < 10 && pump_look(&fx->pump).phase != PUMP_ENDED; i++) {
        slice(fx);
        got += pop_all(fx, &next);
    }
    assert_int_equal(got, 150);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    drop(fx);
}

static void pump__time_limit__counts_the_target_s_clock_from_the_start_point(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 500, true);
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.now_ns += 10000; /* the start point has not been met */
    slice(fx);
    assert_int_equal(fx->target.disarmed, 0);
    fx->target.left = 1;
    slice(fx);
    fx->target.now_ns += 499;
    slice(fx);
    assert_int_equal(fx->target.disarmed, 0);
    fx->target.now_ns += 1;
    slice(fx);
    assert_int_equal(fx->target.disarmed, 1);
    drop(fx);
}

static void pump__time_limit__armed_while_halted__counts_from_the_run(void **state)
{
    (void)state;
    /* by pump_running(), or by the first slice that finds it running */
    for (int told = 0; told < 2; told++) {
        struct fixture *fx = make(1, 500, false);
        fx->target.state = TARGET_HALTED;
        pump_arm(&fx->pump, &fx->target.base, NULL);
        fx->target.now_ns += 10000; /* the way into the program takes its time */
        slice(fx);
        assert_int_equal(fx->target.disarmed, 0);
        fx->target.state = TARGET_RUNNING;
        if (told)
            pump_running(&fx->pump, &fx->target.base);
        else
            slice(fx);
        fx->target.now_ns += 499;
        slice(fx);
        assert_int_equal(fx->target.disarmed, 0);
        fx->target.now_ns += 1;
        slice(fx);
        assert_int_equal(fx->target.disarmed, 1);
        drop(fx);
    }
}

static void pump__trace_fails__why_is_seen(void **state)
{
    (void)state;
    struct fixture *fx = make(5, 0, false);
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_poll = -ERR_PROTOCOL;
    slice(fx);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_PROTOCOL);
    drop(fx);
}

static void pump__last_events_cannot_be_fetched__a_gap_says_so(void **state)
{
    (void)state;
    struct fixture *fx = make(5, 0, false);
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    pump_disarm(&fx->pump, &fx->target.base);
    fx->target.fail_poll = -ERR_PROTOCOL;
    for (int i = 0; i < 10 && pump_look(&fx->pump).phase != PUMP_ENDED; i++)
        slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_int_equal(take(fx, out, QUEUE), 1);
    assert_int_equal(out[0].kind, EVENT_LOST);
    assert_int_equal(out[0].cause, EVENT_CAUSE_LINK);
    drop(fx);
}

static void pump__trace_cannot_be_disarmed__a_gap_says_so(void **state)
{
    (void)state;
    struct fixture *fx = make(5, 0, false);
    struct event out[QUEUE];
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_poll = fx->target.fail_disarm = -ERR_TIMEOUT;
    pump_disarm(&fx->pump, &fx->target.base);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_TIMEOUT);
    assert_int_equal(take(fx, out, QUEUE), 1);
    assert_int_equal(out[0].kind, EVENT_LOST);
    assert_int_equal(out[0].cause, EVENT_CAUSE_LINK);
    drop(fx);
}

static void pump__target_comes_back__is_armed_again_and_the_gap_is_an_event(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 0, false);
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
    assert_int_equal(take(fx, out, QUEUE), 4);
    assert_int_equal(out[2].kind, EVENT_CALL);
    assert_int_equal(out[3].kind, EVENT_LOST);
    assert_int_equal(out[3].cause, EVENT_CAUSE_LINK);
    fx->target.left = 2;
    slice(fx);
    slice(fx);
    assert_int_equal(pump_look(&fx->pump).trace.events, 3 + 2); /* over both */
    assert_int_equal(pump_look(&fx->pump).trace.time.target_cycles, 2000);
    drop(fx);
}

static void pump__target_comes_back_without_its_program__is_not_traced_until_it_can_be(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 500, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->target.fail_arm = -ERR_FORMAT;
    fx->pump.client.back(&fx->pump, &fx->target.base);
    assert_true(pump_look(&fx->pump).away);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_FORMAT);
    unsigned polls = fx->target.polls;
    slice(fx);
    assert_int_equal(fx->target.polls, polls);
    fx->target.fail_arm = 0;
    fx->pump.rearm_at_ns = 1; /* the pause is over */
    slice(fx);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).away);
    assert_true(fx->target.polls > polls);
    drop(fx);
}

static void pump__target_comes_back_as_a_part_without_trace__is_asked_again(void **state)
{
    (void)state;
    static const struct target_ops traceless = { .name = "scripted",
                                                 .now_ns = now_ns,
                                                 .state = state_of };
    struct fixture *fx = make(3, 0, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.base.ops = &traceless; /* misread while its power came up */
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->pump.client.back(&fx->pump, &fx->target.base);
    slice(fx);
    assert_true(pump_look(&fx->pump).away);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_UNSUPPORTED);
    fx->target.base.ops = &ops;
    fx->pump.rearm_at_ns = 1;
    slice(fx);
    assert_int_equal(fx->target.armed, 2);
    assert_false(pump_look(&fx->pump).away);
    drop(fx);
}

static void pump__time_limit_while_the_target_is_away__ends_with_why(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 500, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    fx->target.now_ns += 500;
    slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ENDED);
    assert_int_equal(pump_look(&fx->pump).why.code, ERR_NO_TARGET);
    assert_int_equal(fx->target.disarmed, 0);
    drop(fx);
}

static void pump__time_limit__goes_on_while_the_target_is_away(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 500, false);
    struct err why = { .code = ERR_NO_TARGET, .what = "unplugged" };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.now_ns += 200;
    fx->pump.client.gone(&fx->pump, &fx->target.base, &why);
    fx->target.now_ns += 100;
    fx->pump.client.back(&fx->pump, &fx->target.base);
    fx->target.now_ns += 199;
    slice(fx);
    assert_int_equal(pump_look(&fx->pump).phase, PUMP_ARMED);
    fx->target.now_ns += 1;
    slice(fx);
    assert_int_equal(fx->target.disarmed, 1);
    drop(fx);
}

static void
pump__armed_for_the_first_time_while_the_target_is_got_back__knows_of_no_gap(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 0, false);
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
    assert_int_equal(take(fx, out, QUEUE), 0);
    drop(fx);
}

static void note_why(void *ctx, const struct err *why) { *(struct err *)ctx = *why; }

static void pump__trace_fails__is_told_with_its_reason(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 0, false);
    struct err why = { .code = ERR_OK };
    fx->pump.cfg.failed = note_why;
    fx->pump.cfg.failed_ctx = &why;
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->target.fail_poll = -ERR_USB;
    slice(fx);
    assert_int_equal(why.code, ERR_USB); /* whether the target is gone, the worker asks it */
    assert_string_equal(why.what, "trace: scripted failure");
    drop(fx);
}

static void pump__program_stops__is_seen_until_it_runs_again(void **state)
{
    (void)state;
    struct fixture *fx = make(0, 0, false);
    struct target_stop stop = { .reason = STOP_SIGNAL, .pc = 0x8c010000 };
    pump_arm(&fx->pump, &fx->target.base, NULL);
    fx->pump.client.stopped(&fx->pump, &fx->target.base, &stop);
    assert_int_equal(pump_look(&fx->pump).stop.reason, STOP_SIGNAL);
    assert_int_equal(pump_look(&fx->pump).stop_looks, 0);
    fx->target.state = TARGET_HALTED;
    slice(fx);
    slice(fx);
    /* it is known to stand still, not only to have stopped once */
    assert_int_equal(pump_look(&fx->pump).stop_looks, 2);
    fx->target.state = TARGET_RUNNING;
    slice(fx);
    assert_int_equal(pump_look(&fx->pump).stop.reason, STOP_NONE);
    drop(fx);
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
        cmocka_unit_test(pump__target_comes_back_as_a_part_without_trace__is_asked_again),
        cmocka_unit_test(pump__time_limit_while_the_target_is_away__ends_with_why),
        cmocka_unit_test(pump__time_limit__goes_on_while_the_target_is_away),
        cmocka_unit_test(
            pump__armed_for_the_first_time_while_the_target_is_got_back__knows_of_no_gap),
        cmocka_unit_test(pump__trace_fails__is_told_with_its_reason),
        cmocka_unit_test(pump__program_stops__is_seen_until_it_runs_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
