/* The sampler against a scripted target: when it looks, and what it says when it cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/bridge/sampler.h"

enum { US = 1000, PERIOD = 1000 * US };

/* The clock runs as far as the sampler says nobody need ask. */
struct scripted {
    struct target base;
    uint64_t now_ns, cost_ns; /* of a look */
    enum target_state state;
    int fail; /* -ERR_*: what looks answer */
    bool asleep;
    unsigned looks;
    uint64_t paced;
};

static struct scripted *scripted_of(struct target *t)
{
    return CONTAINER_OF(t, struct scripted, base);
}
static uint64_t now_ns(struct target *t) { return scripted_of(t)->now_ns; }
static enum target_state state_of(struct target *t) { return scripted_of(t)->state; }

static int sample_pc(struct target *t, uint64_t *pc, struct err *err)
{
    struct scripted *s = scripted_of(t);
    s->now_ns += s->cost_ns;
    s->looks++;
    if (s->fail == -ERR_USB)
        s->state = TARGET_GONE;
    if (s->fail)
        return err_set(err, (enum err_code) - s->fail, "check the cable",
                       "sample: scripted failure");
    *pc = 0x1000 + s->looks;
    return !s->asleep;
}

static const struct target_ops ops = {
    .name = "scripted", .now_ns = now_ns, .state = state_of, .sample_pc = sample_pc
};
static const struct target_ops without = { .name = "blind", .now_ns = now_ns, .state = state_of };

static void note_pace(void *ctx, uint64_t ns) { ((struct scripted *)ctx)->paced = ns; }

static struct sampler armed_sampler(struct scripted *t, uint64_t seed)
{
    *t = (struct scripted){ .base.ops = &ops, .state = TARGET_RUNNING, .cost_ns = 10 * US };
    struct sampler s = { .rate_hz = 1000, .seed = seed, .pace = note_pace, .pace_ctx = t };
    assert_int_equal(sampler_source.arm(&s, &t->base, NULL, NULL), 0);
    return s;
}

/* The next event; time passes as the sampler asks for. */
static struct event next_event(struct sampler *s, struct scripted *t)
{
    struct event e = { .kind = EVENT_NONE };
    struct err err = { .code = ERR_OK };
    for (unsigned k = 0; k < 1000; k++) {
        int ret = sampler_source.poll(s, &t->base, &e, 8, 2 * PERIOD, &err);
        if (ret < 0)
            fail_msg("%s", err.what);
        if (ret > 0)
            return e;
        t->now_ns += t->paced ? t->paced : 100 * US;
    }
    return e;
}

static void sampler__running__looks_a_period_apart_on_average(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    struct event e = next_event(&s, &t);
    assert_int_equal(e.kind, EVENT_START);
    assert_int_equal(e.amount, 1000);
    uint64_t first = 0, last = 0, shortest = UINT64_MAX, longest = 0;
    for (unsigned k = 0; k < 5000; k++, last = e.host_ns) {
        e = next_event(&s, &t);
        assert_int_equal(e.kind, EVENT_SAMPLE);
        assert_int_equal(e.pc, 0x1000 + t.looks);
        assert_int_equal(e.host_ns, t.now_ns);
        assert_int_equal(e.amount, 0);
        if (!k)
            first = e.host_ns;
        else
            shortest = MIN(shortest, e.host_ns - last), longest = MAX(longest, e.host_ns - last);
    }
    assert_in_range((last - first) / 4999, PERIOD * 98 / 100, PERIOD * 102 / 100);
    assert_in_range(shortest, PERIOD / 2, PERIOD * 51 / 100);
    assert_in_range(longest, PERIOD * 149 / 100, PERIOD * 3 / 2);
}

static void sampler__same_seed__same_moments(void **state)
{
    (void)state;
    struct scripted t[3];
    struct sampler s[3] = { armed_sampler(&t[0], 7), armed_sampler(&t[1], 7),
                            armed_sampler(&t[2], 8) };
    unsigned differ = 0;
    for (unsigned k = 0; k < 200; k++) {
        struct event a = next_event(&s[0], &t[0]), b = next_event(&s[1], &t[1]),
                     c = next_event(&s[2], &t[2]);
        assert_int_equal(a.host_ns, b.host_ns);
        differ += a.host_ns != c.host_ns;
    }
    assert_true(differ > 150);
}

static void sampler__looks_slower_than_the_rate__misses_are_counted(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    uint64_t missed = 0;
    t.cost_ns = 5 * PERIOD / 2;
    next_event(&s, &t);
    for (unsigned k = 0; k < 1000; k++)
        missed += next_event(&s, &t).amount;
    assert_in_range(1000 + missed, t.now_ns / PERIOD * 97 / 100, t.now_ns / PERIOD * 103 / 100);
    assert_true(missed > 1400);
}

static void sampler__asleep__a_look_without_a_place(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    t.asleep = true;
    next_event(&s, &t);
    struct event e = next_event(&s, &t);
    assert_int_equal(e.kind, EVENT_SAMPLE);
    assert_int_equal(e.flags & EVENT_HAS_PC, 0);
}

static void sampler__halted_and_resumed__says_so_and_does_not_look(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    struct event e;
    next_event(&s, &t);
    next_event(&s, &t);
    t.state = TARGET_HALTED;
    e = next_event(&s, &t);
    assert_int_equal(e.kind, EVENT_NOTE);
    assert_int_equal(e.cause, EVENT_CAUSE_HALTED);
    unsigned looks = t.looks;
    t.now_ns += 100 * PERIOD;
    assert_int_equal(sampler_source.poll(&s, &t.base, &e, 8, PERIOD, NULL), 0);
    assert_int_equal(t.looks, looks);
    t.state = TARGET_RUNNING;
    e = next_event(&s, &t);
    assert_int_equal(e.cause, EVENT_CAUSE_RESUMED);
    e = next_event(&s, &t);
    assert_int_equal(e.kind, EVENT_SAMPLE);
    assert_int_equal(e.amount, 0); /* the halt was no miss */
    assert_int_equal(sampler_source.set_active(&s, &t.base, false, NULL), 0);
    assert_int_equal(next_event(&s, &t).cause, EVENT_CAUSE_HALTED);
}

static void sampler__failures__are_missed_looks_until_there_are_too_many(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    struct event e;
    struct err err = { .code = ERR_OK };
    next_event(&s, &t);
    t.fail = -ERR_TIMEOUT;
    for (unsigned k = 0; k < 3; k++, t.now_ns += 2 * PERIOD)
        assert_int_equal(sampler_source.poll(&s, &t.base, &e, 8, PERIOD, &err), 0);
    t.fail = 0;
    assert_in_range(next_event(&s, &t).amount, 2, 6);
    t.fail = -ERR_TIMEOUT;
    int ret = 0;
    for (unsigned k = 0; ret == 0 && k < 1000; k++, t.now_ns += 2 * PERIOD)
        ret = sampler_source.poll(&s, &t.base, &e, 8, PERIOD, &err);
    assert_int_equal(ret, -ERR_TIMEOUT);
    assert_string_not_equal(err.hint, "");
}

static void sampler__target_is_gone__says_why_at_once(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    struct event e;
    struct err err = { .code = ERR_OK };
    next_event(&s, &t);
    t.fail = -ERR_USB;
    int ret = 0;
    for (unsigned k = 0; ret == 0 && k < 3; k++, t.now_ns += 2 * PERIOD)
        ret = sampler_source.poll(&s, &t.base, &e, 8, PERIOD, &err);
    assert_int_equal(ret, -ERR_USB);
    assert_int_equal(err.code, ERR_USB);
}

static void sampler__what_cannot_be_sampled__is_said_at_once(void **state)
{
    (void)state;
    struct scripted t;
    struct sampler s = armed_sampler(&t, 1);
    struct event e;
    struct err err = { .code = ERR_OK };
    next_event(&s, &t);
    t.fail = -ERR_UNSUPPORTED;
    t.now_ns += 2 * PERIOD;
    assert_int_equal(sampler_source.poll(&s, &t.base, &e, 8, PERIOD, &err), -ERR_UNSUPPORTED);
    t.base.ops = &without;
    assert_int_equal(sampler_source.arm(&s, &t.base, NULL, &err), -ERR_UNSUPPORTED);
    assert_string_not_equal(err.hint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampler__running__looks_a_period_apart_on_average),
        cmocka_unit_test(sampler__same_seed__same_moments),
        cmocka_unit_test(sampler__looks_slower_than_the_rate__misses_are_counted),
        cmocka_unit_test(sampler__asleep__a_look_without_a_place),
        cmocka_unit_test(sampler__halted_and_resumed__says_so_and_does_not_look),
        cmocka_unit_test(sampler__failures__are_missed_looks_until_there_are_too_many),
        cmocka_unit_test(sampler__target_is_gone__says_why_at_once),
        cmocka_unit_test(sampler__what_cannot_be_sampled__is_said_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
