/* interrupt_lock: seconds of events with a handler, made row by row; what the simulated board makes
 * of a real one is in tests/cli/e2e/interrupts.py. */
#include "profiler/core/interrupt_lock.h"
#include "probe/base/util.h"
#include "tests/profiler/sink.h"

enum { HANDLER = 0x8c000600, CODE = 0x8c010000, TIMER = 0x420, MS = 1000000 };

struct second {
    const char *name;
    uint64_t takes, between; /* counter 1 in the handler, and from its end to the next entry */
    uint64_t apart_ms;       /* host time from entry to entry */
    int lost_every;          /* events are lost behind each so many entries; 0: never */
    unsigned nested;         /* an exception within each handler takes so much of it */
    bool locks;
};

struct feeder {
    struct interrupt_lock lock;
    uint64_t c1, ns;
    unsigned found;
};

static void feed_event(struct feeder *f, enum event_kind kind, uint16_t vector)
{
    struct event e = { .kind = (uint8_t)kind,
                       .pc = CODE,
                       .target = HANDLER,
                       .c1 = f->c1,
                       .host_ns = f->ns,
                       .flags = EVENT_HAS_C1 | EVENT_HAS_PC | EVENT_HAS_TARGET };
    e.vector = vector;
    f->found += interrupt_lock_feed(&f->lock, &e, 1);
}

static void feed_second(struct feeder *f, const struct second *s, int entries)
{
    for (int i = 1; i <= entries; i++) {
        feed_event(f, EVENT_INTERRUPT, TIMER);
        if (s->nested) {
            feed_event(f, EVENT_EXCEPTION, 0x160);
            f->c1 += s->nested;
            feed_event(f, EVENT_RTE, 0);
        }
        f->c1 += s->takes - s->nested;
        feed_event(f, EVENT_RTE, 0);
        f->c1 += s->between;
        feed_event(f, EVENT_CALL, 0);
        f->ns += s->apart_ms * MS;
        if (s->lost_every && i % s->lost_every == 0)
            feed_event(f, EVENT_LOST, 0);
    }
}

static void lock__a_handler_for_seconds__found_where_nothing_else_runs(void **state)
{
    static const struct second rows[] = {
        { "nothing but it", 1000, 0, 1, 0, 0, true },
        { "next to nothing", 1000, 40, 1, 0, 0, true },
        { "6 % between", 1000, 64, 1, 0, 0, false },
        { "as long again", 1000, 1000, 1, 0, 0, false },
        { "seldom", 1000, 10, 200, 0, 0, false },
        { "with an exception within", 1000, 10, 1, 0, 300, true },
        { "no whole second seen", 1000, 0, 1, 900, 0, false },
        { "a second between losses", 1000, 0, 1, 1500, 0, true },
        { "it takes nothing", 0, 0, 1, 0, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct feeder f = { .ns = 5 };
        print_message("  %s\n", rows[i].name);
        feed_second(&f, &rows[i], 4000);
        assert_int_equal(f.lock.found, rows[i].locks);
        assert_int_equal(f.found, rows[i].locks);
        if (rows[i].locks) {
            assert_int_equal(f.lock.vector, TIMER);
            assert_int_equal(f.lock.target, HANDLER);
            assert_in_range(f.lock.share_per_cent, 96, 100);
        }
    }
}

static void lock__less_than_a_second__not_yet(void **state)
{
    static const struct second s = { "", 1000, 0, 1, 0, 0, true };
    struct feeder f = { .ns = 0 };
    (void)state;
    feed_second(&f, &s, 1000);
    assert_int_equal(f.found, 0);
    feed_second(&f, &s, 10);
    assert_int_equal(f.found, 1);
}

static void lock__without_counter_1__never(void **state)
{
    struct interrupt_lock lock = { 0 };
    (void)state;
    for (uint64_t i = 0; i < 4000; i++) {
        struct event e[] = {
            { .kind = EVENT_INTERRUPT, .target = HANDLER, .host_ns = i * MS },
            { .kind = EVENT_RTE, .host_ns = i * MS + MS / 2 },
        };
        assert_false(interrupt_lock_feed(&lock, e, ARRAY_LEN(e)));
    }
    assert_false(lock.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock__a_handler_for_seconds__found_where_nothing_else_runs),
        cmocka_unit_test(lock__less_than_a_second__not_yet),
        cmocka_unit_test(lock__without_counter_1__never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
