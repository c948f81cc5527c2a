/* Sampling: rates and misses out of events, and intervals that hold what they promise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/sampling.h"

enum { MS = 1000000 };

static void feed_event(struct sampling *s, uint8_t kind, uint8_t cause, uint64_t at_ms,
                       uint64_t amount, uint32_t flags)
{
    sampling_feed(s, &(struct event){ .kind = kind,
                                      .cause = cause,
                                      .host_ns = at_ms * MS,
                                      .amount = amount,
                                      .flags = flags });
}

static void sampling__looks_at_a_rate__rate_misses_and_sleep_are_counted(void **state)
{
    (void)state;
    struct sampling s = { 0 };
    feed_event(&s, EVENT_START, 0, 100, 1000, 0);
    for (unsigned k = 1; k <= 500; k++) /* each second moment is missed */
        feed_event(&s, EVENT_SAMPLE, 0, 100 + 2 * k, 1, k % 5 ? EVENT_HAS_PC : 0);
    struct profile_sampling r = sampling_result(&s);
    assert_int_equal(r.rate_asked, 1000);
    assert_int_equal(r.looks, 500);
    assert_int_equal(r.missed, 500);
    assert_int_equal(r.asleep, 100);
    assert_int_equal(r.running_ns, 1000u * MS);
    assert_true(fabs(sampling_rate(&r) - 500) < 0.001);
}

static void sampling__halted_in_between__that_time_does_not_count(void **state)
{
    (void)state;
    struct sampling s = { 0 };
    feed_event(&s, EVENT_START, 0, 0, 1000, 0);
    feed_event(&s, EVENT_SAMPLE, 0, 1, 0, EVENT_HAS_PC);
    feed_event(&s, EVENT_NOTE, EVENT_CAUSE_HALTED, 2, 0, 0);
    feed_event(&s, EVENT_NOTE, EVENT_CAUSE_RESUMED, 5002, 0, 0);
    feed_event(&s, EVENT_SAMPLE, 0, 5004, 0, EVENT_HAS_PC);
    struct profile_sampling r = sampling_result(&s);
    assert_int_equal(r.running_ns, 4 * MS);
    assert_int_equal(r.looks, 2);
}

static void sampling__board_away__time_counts_from_the_next_look(void **state)
{
    (void)state;
    struct sampling s = { 0 };
    feed_event(&s, EVENT_START, 0, 0, 1000, 0);
    feed_event(&s, EVENT_SAMPLE, 0, 10, 0, EVENT_HAS_PC);
    feed_event(&s, EVENT_LOST, EVENT_CAUSE_LINK, 8000, 0, 0);
    feed_event(&s, EVENT_SAMPLE, 0, 9000, 0, EVENT_HAS_PC);
    feed_event(&s, EVENT_SAMPLE, 0, 9010, 0, EVENT_HAS_PC);
    assert_int_equal(sampling_result(&s).running_ns, 20 * MS);
}

static void sampling__a_trace__is_none_of_its_business(void **state)
{
    (void)state;
    struct sampling s = { 0 };
    feed_event(&s, EVENT_START, 0, 1, 0, EVENT_HAS_PC);
    feed_event(&s, EVENT_CALL, 0, 2, 0, EVENT_HAS_PC);
    feed_event(&s, EVENT_NOTE, EVENT_CAUSE_HALTED, 3, 0, 0);
    struct profile_sampling r = sampling_result(&s);
    assert_int_equal(r.rate_asked + r.looks + r.running_ns, 0);
}

/* Origin: worked out by hand from the formula with z = 1.96. */
static void interval__known_counts__known_ends(void **state)
{
    static const struct {
        uint64_t hits, total;
        double low, high;
    } rows[] = {
        { 0, 10, 0, 0.2775 },        { 10, 10, 0.7225, 1 },         { 5, 10, 0.2366, 0.7634 },
        { 50, 100, 0.4038, 0.5962 }, { 1, 1000, 0.00018, 0.00565 }, { 0, 0, 0, 1 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        double low, high;
        sampling_interval(rows[k].hits, rows[k].total, &low, &high);
        if (fabs(low - rows[k].low) > 0.0001 || fabs(high - rows[k].high) > 0.0001)
            fail_msg("%llu of %llu: %f to %f", (unsigned long long)rows[k].hits,
                     (unsigned long long)rows[k].total, low, high);
    }
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s >> 11;
}

/* Experiments with a known share: the interval holds it in about 95 of 100. */
static void interval__many_experiments__holds_the_true_share_as_often_as_it_says(void **state)
{
    static const struct {
        double share;
        unsigned looks;
    } rows[] = { { 0.5, 100 }, { 0.05, 500 }, { 0.005, 2000 }, { 0.98, 1000 } };
    enum { EXPERIMENTS = 2000 };
    (void)state;
    uint64_t rng = 88172645463325252ull;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        unsigned holds = 0;
        for (unsigned e = 0; e < EXPERIMENTS; e++) {
            unsigned hits = 0;
            double low, high;
            for (unsigned n = 0; n < rows[k].looks; n++)
                hits += (double)next_random(&rng) / 9007199254740992.0 < rows[k].share;
            sampling_interval(hits, rows[k].looks, &low, &high);
            holds += low <= rows[k].share && rows[k].share <= high;
        }
        print_message("  share %.3f, %u looks: held in %.1f %%\n", rows[k].share, rows[k].looks,
                      100.0 * holds / EXPERIMENTS);
        assert_in_range(holds, EXPERIMENTS * 93 / 100, EXPERIMENTS * 98 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling__looks_at_a_rate__rate_misses_and_sleep_are_counted),
        cmocka_unit_test(sampling__halted_in_between__that_time_does_not_count),
        cmocka_unit_test(sampling__board_away__time_counts_from_the_next_look),
        cmocka_unit_test(sampling__a_trace__is_none_of_its_business),
        cmocka_unit_test(interval__known_counts__known_ends),
        cmocka_unit_test(interval__many_experiments__holds_the_true_share_as_often_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
