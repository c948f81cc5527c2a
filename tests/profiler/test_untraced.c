/* Places that gave no events: from the target's events to the summary and to JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "probe/base/util.h"
#include "profiler/views/report.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static struct event untraced_place(uint64_t pc, enum coverage_kind kind, enum coverage_cause cause)
{
    return (struct event){ .kind = EVENT_UNTRACED,
                           .flags = EVENT_HAS_PC,
                           .pc = pc,
                           .vector = (uint16_t)kind,
                           .cause = (uint8_t)cause };
}

/* The sample with two blocked places in one of its functions, one outside of all, and some code
 * that was not searched. */
static struct profile *sample_with_places(void)
{
    struct profile *p = sample_profile();
    struct untraced u = { 0 };
    uint64_t walk = 0;
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].qualified, "list.c:walk"))
            walk = p->functions[i].low;
    /* of an earlier arming */
    const struct event e[] = { untraced_place(0x1234, COVERAGE_CALL, COVERAGE_ROM),
                               { .kind = EVENT_UNTRACED },
                               untraced_place(walk + 4, COVERAGE_RETURN, COVERAGE_BLOCKED),
                               untraced_place(0xF0000000, COVERAGE_CALL, COVERAGE_BLOCKED),
                               untraced_place(walk + 2, COVERAGE_CALL, COVERAGE_BLOCKED) };
    struct event code = untraced_place(0xF0000010, COVERAGE_CODE, COVERAGE_UNREACHED);
    code.amount = 64;
    for (size_t i = 0; i < ARRAY_LEN(e); i++)
        assert_int_equal(untraced_add(&u, &e[i]), 0);
    assert_int_equal(untraced_add(&u, &code), 0);
    assert_int_equal(profile_take_untraced(p, &u, NULL, NULL), 0);
    untraced_fini(&u);
    return p;
}

static void untraced__summary__causes_functions_and_share_of_hits(void **state)
{
    (void)state;
    struct profile *p = sample_with_places();
    struct memory_sink m = { 0 };
    report_summary(p, &(struct report_options){ 0 }, sink_to(&m));
    const char *text = strstr(sink_text(&m), "untraced");
    assert_non_null(text);
    const char expected[] =
        "untraced  3 places; 18.2 % of the hits are of functions that hold some\n"
        "          3 places: may run with SR.BL=1, where a trap resets the CPU:\n"
        "          list.c:walk, 0xf0000000\n"
        "          64 bytes of code not reached by control flow, so not searched:\n"
        "          0xf0000010\n";
    if (strncmp(text, expected, sizeof expected - 1))
        fail_msg("%s", text);
    sink_free(&m);
    profile_free(p);
}

static void untraced__json__one_row_a_place(void **state)
{
    (void)state;
    struct profile *p = sample_with_places();
    struct memory_sink m = { 0 };
    report_json(p, sink_to(&m));
    json_t *all = json_loads(sink_text(&m), 0, NULL), *coverage = json_object_get(all, "coverage"),
           *rows = json_object_get(coverage, "untraced");
    assert_int_equal(json_integer_value(json_object_get(coverage, "untraced_hits")), 2);
    assert_int_equal(json_array_size(rows), 4);
    json_t *first = json_array_get(rows, 0), *last = json_array_get(rows, 3);
    assert_string_equal(json_string_value(json_object_get(first, "kind")), "call");
    assert_string_equal(json_string_value(json_object_get(first, "cause")), "blocked");
    assert_string_equal(json_string_value(json_object_get(first, "function")), "list.c:walk");
    assert_true(json_is_null(json_object_get(first, "bytes")));
    assert_string_equal(json_string_value(json_object_get(last, "kind")), "code");
    assert_int_equal(json_integer_value(json_object_get(last, "bytes")), 64);
    json_decref(all);
    sink_free(&m);
    profile_free(p);
}

static struct event traced_event(uint8_t kind, uint8_t cause, uint64_t amount, uint64_t c1)
{
    return (struct event){ .kind = kind,
                           .cause = cause,
                           .amount = amount,
                           .c1 = c1,
                           .pc = 0x1010,
                           .target = 0x2000,
                           .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 };
}

static void expect_loss(const struct profile_coverage *row, enum coverage_kind kind, uint8_t cause,
                        uint64_t amount, uint64_t c1, bool bound)
{
    assert_int_equal(row->at.kind, kind);
    assert_int_equal(row->at.cause, cause);
    assert_int_equal(row->at.amount, amount);
    assert_int_equal(row->at.c1, c1);
    assert_int_equal(row->at.bound, bound);
    assert_null(row->name);
}

static void coverage__losses_and_places__are_rows_by_cause_that_add_up(void **state)
{
    struct event e[] = { traced_event(EVENT_START, 0, 0, 0),
                         traced_event(EVENT_CALL, 0, 0, 100),
                         traced_event(EVENT_LOST, EVENT_CAUSE_LINK, 0, 110),
                         traced_event(EVENT_CALL, 0, 0, 150),
                         traced_event(EVENT_LOST, EVENT_CAUSE_RING_FULL, 7, 160),
                         traced_event(EVENT_CALL, 0, 0, 165),
                         traced_event(EVENT_LOST, EVENT_CAUSE_RING_FULL, 5, 170),
                         traced_event(EVENT_CALL, 0, 0, 200),
                         traced_event(EVENT_LOST, 250, 3, 210), /* of a later version */
                         traced_event(EVENT_CALL, 0, 0, 300),
                         traced_event(EVENT_STOP, 0, 0, 310) };
    struct calltree *t;
    struct profile *p;
    struct untraced u = { 0 };
    size_t n;
    (void)state;
    e[6].flags |= EVENT_AMOUNT_BOUND;
    assert_int_equal(calltree_new(NULL, &t, NULL), 0);
    calltree_feed(t, e, ARRAY_LEN(e));
    assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
    struct event at = untraced_place(0x2004, COVERAGE_CALL, COVERAGE_ROM);
    assert_int_equal(untraced_add(&u, &at), 0);
    assert_int_equal(profile_take_untraced(p, &u, NULL, NULL), 0);
    const struct profile_coverage *row = profile_coverage(p, &n);
    assert_int_equal(n, 5);
    assert_int_equal(row[0].at.address, 0x2004);
    expect_loss(&row[1], COVERAGE_LOST, EVENT_CAUSE_NONE, 3, 90, false);
    expect_loss(&row[2], COVERAGE_LOST, EVENT_CAUSE_RING_FULL, 12, 35, true);
    expect_loss(&row[3], COVERAGE_LOST, EVENT_CAUSE_LINK, 0, 40, false);
    expect_loss(&row[4], COVERAGE_AWAY, EVENT_CAUSE_LINK, 1, 0, false);
    struct coverage_row sum = profile_coverage_sum(p, COVERAGE_LOST);
    assert_int_equal(sum.amount, calltree_stats(t)->lost);
    assert_int_equal(sum.c1, calltree_stats(t)->gap_c1);
    assert_int_equal(sum.bound, calltree_stats(t)->lost_is_bound);
    untraced_fini(&u);
    profile_free(p);
    calltree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untraced__summary__causes_functions_and_share_of_hits),
        cmocka_unit_test(untraced__json__one_row_a_place),
        cmocka_unit_test(coverage__losses_and_places__are_rows_by_cause_that_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
