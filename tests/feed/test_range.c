/* Parts of the history: what functions did in any of them is the difference of what they had at its
 * ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "probe/base/util.h"
#include "profiler/feed/feed.h"
#include "tests/profiler/sink.h"

enum { FUNCTIONS = 40, SECONDS = 75, FIGURES = 5 };

struct fixture {
    struct feed *feed;
    struct calltree *tree;
    struct rates rates;
    struct feed_source from;
    struct feed_moment now;
    uint64_t c1, random;
    uint64_t at[SECONDS + 1][FUNCTIONS + 1][FIGURES]; /* by address, at the end of each second */
};

enum { HAS = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 };

static uint64_t address_of(unsigned function) { return 0x1000 + 0x100 * function; }

static unsigned pick_below(struct fixture *f, unsigned n)
{
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(f->random >> 33) % n;
}

static void feed_event_of(struct fixture *f, enum event_kind kind, uint64_t pc, uint64_t target)
{
    f->c1 += 1 + pick_below(f, 1000);
    calltree_feed(f->tree,
                  &(struct event){ .kind = kind,
                                   .flags = HAS,
                                   .pc = pc,
                                   .target = target,
                                   .c1 = (uint32_t)f->c1,
                                   .c2 = (uint32_t)(f->c1 / 7) },
                  1);
}

/* A function calls another, which calls itself: recursion counts once. */
static void call_some(struct fixture *f, unsigned calls)
{
    for (unsigned k = 0; k < calls; k++) {
        uint64_t a = address_of(1 + pick_below(f, FUNCTIONS - 1)),
                 b = address_of(1 + pick_below(f, 4));
        feed_event_of(f, EVENT_CALL, address_of(0) + 4, a);
        feed_event_of(f, EVENT_CALL, a + 4, b);
        feed_event_of(f, EVENT_CALL, b + 4, b);
        feed_event_of(f, EVENT_RETURN, b + 8, b + 6);
        feed_event_of(f, EVENT_RETURN, b + 8, a + 6);
        feed_event_of(f, EVENT_RETURN, a + 8, address_of(0) + 6);
    }
}

static int set_up_feed(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    *f = (struct fixture){ .now = { .ns = 1, .wall_ms = 1000000 }, .random = 7 };
    if (feed_new(0xAB, &f->feed, NULL) < 0 || calltree_new(NULL, &f->tree, NULL) < 0)
        return -1;
    f->from = (struct feed_source){ .tree = f->tree };
    feed_event_of(f, EVENT_START, address_of(0), 0);
    return 0;
}

static int tear_down_feed(void **state)
{
    struct fixture *f = *state;
    feed_free(f->feed);
    calltree_free(f->tree);
    rates_fini(&f->rates);
    free(f);
    return 0;
}

static void keep_figures(struct fixture *f, unsigned second)
{
    size_t n;
    const struct feed_function *fn = feed_functions(f->feed, &n);
    for (size_t i = 0; i < n; i++) {
        const struct profile_function *is = &fn[i].is;
        const uint64_t v[FIGURES] = { is->hits, is->c1, is->c1_children, is->c2, is->c2_children };
        memcpy(f->at[second][(is->low - address_of(0)) / 0x100], v, sizeof v);
    }
}

/* The next second: half of them bring nothing, the others much. */
static void pass_second(struct fixture *f, unsigned second)
{
    call_some(f, pick_below(f, 2) ? 0 : pick_below(f, 60));
    f->now.ns += 1000000000;
    f->now.wall_ms += 1000;
    assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    keep_figures(f, second);
}

/* Begins with a fold that no point has, as a run does. */
static void pass_time(struct fixture *f, unsigned seconds)
{
    assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    keep_figures(f, 0);
    for (unsigned k = 1; k <= seconds; k++)
        pass_second(f, k);
}

static json_t *range_of(const struct fixture *f, int64_t from_ms, int64_t to_ms)
{
    struct memory_sink m = { 0 };
    assert_int_equal(feed_write_range(f->feed, from_ms, to_ms, sink_to(&m), NULL), 0);
    json_t *range = json_loads(sink_text(&m), 0, NULL);
    assert_non_null(range);
    sink_free(&m);
    return range;
}

static uint64_t number_at(const json_t *o, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(o, key));
}

static uint64_t address_in(const json_t *range, json_int_t id)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(range, "names"), i,
                       row) if (json_integer_value(json_array_get(row, 0)) ==
                                id) return (uint64_t)json_integer_value(json_array_get(row, 4));
    fail_msg("function %d has no name", (int)id);
    return 0;
}

/* Every function's figures are those of the one end less those of the other; those that are not
 * there did nothing. */
static void compare_range(const struct fixture *f, unsigned from, unsigned to)
{
    json_t *range = range_of(f, 1000000 + 1000 * from, 1000000 + 1000 * to), *row;
    uint64_t left[FUNCTIONS + 1][FIGURES], hits = 0;
    size_t i;
    for (size_t k = 0; k <= FUNCTIONS; k++)
        for (size_t v = 0; v < FIGURES; v++)
            left[k][v] = f->at[to][k][v] - f->at[from][k][v];
    json_array_foreach(json_object_get(range, "f"), i, row)
    {
        size_t k = (address_in(range, json_integer_value(json_array_get(row, 0))) - 0x1000) / 0x100;
        hits += left[k][0];
        for (size_t v = 0; v < FIGURES; v++) {
            assert_int_equal(json_integer_value(json_array_get(row, v + 1)), left[k][v]);
            left[k][v] = 0;
        }
    }
    for (size_t k = 0; k <= FUNCTIONS; k++)
        for (size_t v = 0; v < FIGURES; v++)
            assert_int_equal(left[k][v], 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(range, "tot"), 0)), hits);
    assert_int_equal(number_at(range, "span"), 1000 * (to - from));
    assert_int_equal(number_at(range, "every"), 1);
    json_decref(range);
}

static void range__between_any_two_seconds__is_what_lies_between(void **state)
{
    struct fixture *f = *state;
    pass_time(f, SECONDS);
    for (unsigned from = 0; from < SECONDS; from += 3)
        for (unsigned to = from + 1; to <= SECONDS; to += 5)
            compare_range(f, from, to);
}

static uint64_t total_c1(const json_t *range)
{
    return (uint64_t)json_integer_value(json_array_get(json_object_get(range, "tot"), 1));
}

static void learn_factor(struct fixture *f, uint32_t per_1e6)
{
    struct event set = { .kind = EVENT_RATE, .measurements = 9, .factor_per_1e6 = per_1e6 };
    assert_int_equal(rates_add(&f->rates, &set), 0);
    f->from.rates = &f->rates;
}

/* But for rounding: of each function here, of each path there. */
static void range__estimated_counter__is_corrected_by_what_is_known_later(void **state)
{
    struct fixture *f = *state;
    size_t nodes;
    learn_factor(f, 1000000);
    pass_time(f, 20);
    json_t *before = range_of(f, 1003000, 1015000), *all;
    learn_factor(f, 1500000);
    f->now.ns += 1;
    assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    json_t *after = range_of(f, 1003000, 1015000);
    all = range_of(f, 0, INT64_MAX);
    feed_nodes(f->feed, &nodes);
    assert_in_range(2 * total_c1(after), 3 * total_c1(before) - 2 * nodes,
                    3 * total_c1(before) + 2 * nodes);
    assert_in_range(total_c1(all), feed_totals(f->feed)->c1 - nodes,
                    feed_totals(f->feed)->c1 + nodes);
    json_decref(before);
    json_decref(after);
    json_decref(all);
}

static void range__without_points__says_what_there_is(void **state)
{
    struct fixture *f = *state;
    struct memory_sink m = { 0 };
    struct err err = { .code = ERR_OK };
    assert_int_equal(feed_write_range(f->feed, 0, INT64_MAX, sink_to(&m), &err), -ERR_STATE);
    assert_string_equal(err.what, "there is no history yet");
    pass_time(f, 3);
    assert_int_equal(feed_write_range(f->feed, 0, 1000500, sink_to(&m), &err), -ERR_STATE);
    assert_string_equal(err.hint, "there is something from 1000000 to 1003000");
    assert_int_equal(m.len, 0);
    feed_restart(f->feed, 0xCD);
    assert_int_equal(feed_write_range(f->feed, 0, INT64_MAX, sink_to(&m), &err), -ERR_STATE);
    sink_free(&m);
}

/* Ten minutes later seconds are gone: tens tell of what was before. */
static void range__older_than_seconds__is_of_tens(void **state)
{
    struct fixture *f = *state;
    assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    for (unsigned k = 0; k < FEED_SECONDS + 100; k++) {
        call_some(f, 1);
        f->now.ns += 1000000000;
        f->now.wall_ms += 1000;
        assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    }
    json_t *late = range_of(f, 1000000 + 101 * 1000, INT64_MAX), *early = range_of(f, 0, INT64_MAX);
    assert_int_equal(number_at(late, "every"), 1);
    assert_int_equal(number_at(early, "every"), 10);
    assert_int_equal(number_at(early, "span"), 1000 * (FEED_SECONDS + 100));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(early, "tot"), 0)),
                     3 * (FEED_SECONDS + 100)); /* calls since the first fold */
    json_decref(late);
    json_decref(early);
}

/* A point's begin is its end less whole milliseconds, so tens may seem to begin before seconds. */
static void range__of_all__is_of_seconds_as_long_as_none_is_forgotten(void **state)
{
    struct fixture *f = *state;
    assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    for (unsigned k = 0; k < 25; k++) {
        call_some(f, 1);
        f->now.ns += 1000400000;
        f->now.wall_ms += 1000;
        assert_true(feed_fold(f->feed, &f->from, &f->now, NULL) >= 0);
    }
    json_t *all = range_of(f, 0, INT64_MAX);
    assert_int_equal(number_at(all, "every"), 1);
    assert_int_equal(number_at(all, "last"), 24);
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(range__between_any_two_seconds__is_what_lies_between,
                                        set_up_feed, tear_down_feed),
        cmocka_unit_test_setup_teardown(
            range__estimated_counter__is_corrected_by_what_is_known_later, set_up_feed,
            tear_down_feed),
        cmocka_unit_test_setup_teardown(range__without_points__says_what_there_is, set_up_feed,
                                        tear_down_feed),
        cmocka_unit_test_setup_teardown(range__of_all__is_of_seconds_as_long_as_none_is_forgotten,
                                        set_up_feed, tear_down_feed),
        cmocka_unit_test_setup_teardown(range__older_than_seconds__is_of_tens, set_up_feed,
                                        tear_down_feed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
