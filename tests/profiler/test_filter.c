/* filter: passes, time, interrupts left out, thresholds. */
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/core/filter.h"
#include "tests/profiler/sink.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { ALL = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_TIME };

static struct event make_event(enum event_kind kind, uint64_t c1, uint32_t pc, uint32_t target)
{
    return (struct event){ .kind = (uint8_t)kind,
                           .c1 = c1,
                           .c2 = c1 / 10,
                           .time_cycles = 3 * c1,
                           .pc = pc,
                           .target = target,
                           .flags = ALL };
}

static void filter__passes__ends_with_the_last_stop(void **state)
{
    static const struct {
        uint64_t max;
        size_t kept;
        uint64_t passes;
        bool done;
    } rows[] = { { 0, 12, 4, false },
                 { 1, 3, 1, true },
                 { 3, 9, 3, true },
                 { 4, 12, 4, true },
                 { 5, 12, 4, false } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct event e[12];
        struct filter f;
        for (size_t k = 0; k < 12; k += 3) {
            e[k] = make_event(EVENT_START, 100 * k, 0, 0);
            e[k + 1] = make_event(EVENT_CALL, 100 * k + 10, 0, 0);
            e[k + 2] = make_event(EVENT_STOP, 100 * k + 20, 0, 0);
        }
        filter_init(&f, &(struct filter_config){ .max_passes = rows[i].max });
        assert_int_equal(filter_events(&f, e, 12), rows[i].kept);
        assert_int_equal(e[rows[i].kept - 1].kind, EVENT_STOP);
        assert_int_equal(f.passes, rows[i].passes);
        assert_int_equal(f.done, rows[i].done);
    }
}

static void filter__time__stops_at_the_first_event_too_late(void **state)
{
    struct filter f;
    struct event e[6];
    static const uint64_t ns[] = { 500, 1000, 1400, 1900, 2000, 2100 };
    static const enum event_kind kinds[] = { EVENT_TIMESTAMP, EVENT_START, EVENT_CALL,
                                             EVENT_RETURN,    EVENT_CALL,  EVENT_CALL };
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        e[i] = make_event(kinds[i], 10 * i, 0, 0);
        e[i].host_ns = ns[i];
    }
    filter_init(&f, &(struct filter_config){ .for_ns = 1000 });
    assert_false(filter_expired(&f, 1 << 30)); /* the clock starts with profiling */
    assert_int_equal(filter_events(&f, e, 6), 5);
    assert_int_equal(e[3].kind, EVENT_RETURN);
    assert_int_equal(e[4].kind, EVENT_STOP);
    assert_int_equal(e[4].c1, 40);
    assert_true(f.done);
    assert_true(filter_expired(&f, 0));
}

static void filter__time_without_events__expires(void **state)
{
    struct filter f;
    struct event e = make_event(EVENT_START, 0, 0, 0);
    (void)state;
    e.host_ns = 1000;
    filter_init(&f, &(struct filter_config){ .for_ns = 50 });
    assert_int_equal(filter_events(&f, &e, 1), 1);
    assert_false(filter_expired(&f, 1049));
    assert_true(filter_expired(&f, 1050));
}

/* ---- interrupts ---- */

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    out->id = out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return addr >= 0x1000;
}

enum { MAIN = 0x1000, F = 0x1100, IRQ = 0x1800, EXC = 0x1900 };

static uint64_t node_c1(const struct calltree *t, uint64_t addr, uint64_t *hits)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(t, &n);
    uint64_t c1 = 0;
    *hits = 0;
    for (size_t i = 0; i < n; i++)
        if (nodes[i].addr == addr) {
            c1 += nodes[i].c1;
            *hits += nodes[i].hits;
        }
    return c1;
}

static const struct event storm[] = {
    { .kind = EVENT_START, .c1 = 1000, .pc = MAIN + 8, .flags = ALL },
    { .kind = EVENT_CALL, .c1 = 1010, .pc = MAIN + 16, .target = F, .flags = ALL },
    { .kind = EVENT_INTERRUPT, .c1 = 1015, .pc = F + 6, .target = IRQ, .flags = ALL },
    { .kind = EVENT_CALL, .c1 = 5000, .pc = IRQ + 8, .target = F, .flags = ALL },
    { .kind = EVENT_INTERRUPT, .c1 = 6000, .pc = F + 10, .target = IRQ, .flags = ALL }, /* nested */
    { .kind = EVENT_RTE, .c1 = 7000, .pc = IRQ + 20, .target = F + 10, .flags = ALL },
    { .kind = EVENT_EXCEPTION, .c1 = 7100, .pc = F + 12, .target = EXC, .flags = ALL },
    { .kind = EVENT_RTE, .c1 = 7200, .pc = EXC + 8, .target = F + 14, .flags = ALL },
    { .kind = EVENT_RETURN, .c1 = 8000, .pc = F + 20, .target = IRQ + 12, .flags = ALL },
    { .kind = EVENT_RTE, .c1 = 9000, .pc = IRQ + 24, .target = F + 6, .flags = ALL },
    { .kind = EVENT_RETURN, .c1 = 9020, .pc = F + 20, .target = MAIN + 20, .flags = ALL },
    { .kind = EVENT_STOP, .c1 = 9100, .pc = MAIN + 30, .flags = ALL },
};

static void filter__interrupts_excluded__neither_time_nor_hits(void **state)
{
    static const struct {
        bool exclude;
        uint64_t main, f, f_hits, irq_hits, total;
    } rows[] = {
        { false, 90, 1925, 2, 2, 8100 },
        { true, 90, 25, 1, 0, 115 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct event e[ARRAY_LEN(storm)];
        struct filter f;
        struct calltree *t;
        uint64_t hits;
        memcpy(e, storm, sizeof storm);
        filter_init(&f, &(struct filter_config){ .exclude_interrupts = rows[i].exclude });
        assert_int_equal(
            calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &t, NULL), 0);
        calltree_feed(t, e, filter_events(&f, e, ARRAY_LEN(e)));
        assert_int_equal(node_c1(t, MAIN, &hits), rows[i].main);
        assert_int_equal(node_c1(t, F, &hits), rows[i].f);
        assert_int_equal(hits, rows[i].f_hits);
        node_c1(t, IRQ, &hits);
        assert_int_equal(hits, rows[i].irq_hits);
        assert_int_equal(calltree_stats(t)->total_c1, rows[i].total);
        assert_int_equal(calltree_stats(t)->orphan_returns, 0);
        assert_int_equal(f.excluded, rows[i].exclude);
        calltree_free(t);
    }
}

static void filter__rte_to_another_task__passed_on(void **state)
{
    struct filter f;
    (void)state;
    struct event e[] = { make_event(EVENT_START, 0, MAIN, 0),
                         make_event(EVENT_INTERRUPT, 10, MAIN + 20, IRQ),
                         make_event(EVENT_RTE, 500, IRQ + 8, 0x5000),
                         make_event(EVENT_CALL, 520, 0x5010, F) };
    filter_init(&f, &(struct filter_config){ .exclude_interrupts = true });
    assert_int_equal(filter_events(&f, e, 4), 4);
    assert_int_equal(e[1].kind, EVENT_TIMESTAMP); /* the victim's time up to it */
    assert_int_equal(e[2].kind, EVENT_RTE);
    assert_int_equal(e[2].c1, 10);
    assert_int_equal(e[3].c1, 30);
    assert_int_equal(e[3].c2, 52 - 49);
    assert_int_equal(e[3].time_cycles, 90);
}

static void filter__stop_inside_a_handler__still_stops(void **state)
{
    struct filter f;
    (void)state;
    struct event e[] = { make_event(EVENT_START, 0, MAIN, 0),
                         make_event(EVENT_INTERRUPT, 10, MAIN + 20, IRQ),
                         make_event(EVENT_STOP, 500, IRQ + 8, 0) };
    filter_init(&f, &(struct filter_config){ .exclude_interrupts = true, .max_passes = 1 });
    assert_int_equal(filter_events(&f, e, 3), 3);
    assert_int_equal(e[2].kind, EVENT_STOP);
    assert_int_equal(e[2].c1, 10);
    assert_true(f.done);
}

static void filter__untraced_rte__counted_not_left_out(void **state)
{
    struct filter f;
    (void)state;
    struct event e[] = { make_event(EVENT_START, 0, MAIN, 0),
                         make_event(EVENT_INTERRUPT, 10, MAIN + 20, IRQ),
                         make_event(EVENT_CALL, 50, MAIN + 40, F) };
    e[1].flags |= EVENT_UNTRACED_RTE;
    filter_init(&f, &(struct filter_config){ .exclude_interrupts = true });
    assert_int_equal(filter_events(&f, e, 3), 3);
    assert_int_equal(f.unfiltered, 1);
    assert_int_equal(e[1].kind, EVENT_TIMESTAMP);
    assert_true(e[1].flags & EVENT_DOUBTFUL);
    assert_int_equal(e[2].c1, 50);
}

/* ---- thresholds ---- */

static void threshold__as_written__parsed_or_refused(void **state)
{
    static const struct {
        const char *text;
        int ret;
        uint64_t value, total;
        bool met;
    } rows[] = {
        { ">=10%", 0, 10, 100, true },
        { ">=10%", 0, 9, 100, false },
        { "10%", 0, 10, 100, true },
        { ">10%", 0, 10, 100, false },
        { "> 10 %", 0, 11, 100, true },
        { "<5", 0, 4, 100, true },
        { "<5", 0, 5, 100, false },
        { "<=5", 0, 5, 1, true },
        { "=7", 0, 7, 1, true },
        { "==7", 0, 8, 1, false },
        { "100", 0, 100, 1, true },
        { ">=0.5%", 0, 1, 200, true },
        { ">=10%", 0, 0, 0, false },
        { ".5%", 0, 1, 100, true },
        { "", -ERR_USAGE, 0, 0, false },
        { "ten", -ERR_USAGE, 0, 0, false },
        { ">=", -ERR_USAGE, 0, 0, false },
        { "10%%", -ERR_USAGE, 0, 0, false },
        { "10 hits", -ERR_USAGE, 0, 0, false },
        { "-5", -ERR_USAGE, 0, 0, false },
        { "nan", -ERR_USAGE, 0, 0, false },
        { "1e999", -ERR_USAGE, 0, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct threshold t = { 0 };
        struct err err = { .code = ERR_OK };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(threshold_parse(rows[i].text, &t, &err), rows[i].ret);
        if (rows[i].ret)
            assert_string_not_equal(err.hint, "");
        else
            assert_int_equal(threshold_met(&t, rows[i].value, rows[i].total), rows[i].met);
    }
    assert_true(threshold_met(&(struct threshold){ 0 }, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter__passes__ends_with_the_last_stop),
        cmocka_unit_test(filter__time__stops_at_the_first_event_too_late),
        cmocka_unit_test(filter__time_without_events__expires),
        cmocka_unit_test(filter__interrupts_excluded__neither_time_nor_hits),
        cmocka_unit_test(filter__rte_to_another_task__passed_on),
        cmocka_unit_test(filter__stop_inside_a_handler__still_stops),
        cmocka_unit_test(filter__untraced_rte__counted_not_left_out),
        cmocka_unit_test(threshold__as_written__parsed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
