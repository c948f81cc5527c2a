/* The live line: rates, coverage, slow-down and the functions at the top. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/cli/live.h"

/* Addresses of docs/examples/profexam/profexam.elf, looked up by name. */
static uint64_t address_of(const struct symbols *s, const char *name)
{
    uint64_t a = 0;
    assert_true(symbols_lookup(s, name, &a));
    return a;
}

static void feed_event(struct calltree *t, uint8_t kind, uint64_t pc, uint64_t target, uint64_t c1)
{
    struct event e = { .kind = kind,
                       .pc = pc,
                       .target = target,
                       .c1 = c1,
                       .sp = 0x0cff0000,
                       .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_SP };
    calltree_feed(t, &e, 1);
}

struct fixture {
    struct symbols *symbols;
    struct calltree *tree;
    struct live live;
    struct snapshots *snapshots;
    struct live_source source;
    unsigned built;
};

static int build_profile(void *ctx, struct profile **out, struct err *err)
{
    struct fixture *fx = ctx;
    fx->built++;
    return profile_build(fx->tree, fx->symbols, NULL, out, err);
}

static int take_snapshot(void *ctx, const struct snapshot **out, struct err *err)
{
    struct fixture *fx = ctx;
    return snapshots_take(fx->snapshots, build_profile, fx, out, err);
}

static int set_up_live(void **state)
{
    struct fixture *fx = test_calloc(1, sizeof *fx);
    *state = fx;
    if (symbols_open(SOURCE_DIR "/docs/examples/profexam/profexam.elf", &fx->symbols, NULL) < 0)
        return -1;
    if (calltree_new(
            &(struct calltree_config){ .resolve = symbols_range, .resolve_ctx = fx->symbols },
            &fx->tree, NULL) < 0)
        return -1;
    FILE *out = fopen("/dev/null", "w");
    if (!out)
        return -1;
    live_init(&fx->live, out, fx->symbols);
    fx->source = (struct live_source){ take_snapshot, fx };
    return snapshots_new(&fx->snapshots, NULL);
}

static int tear_down_live(void **state)
{
    struct fixture *fx = *state;
    fclose(fx->live.out);
    live_fini(&fx->live);
    snapshots_free(fx->snapshots);
    calltree_free(fx->tree);
    symbols_close(fx->symbols);
    test_free(fx);
    return 0;
}

/* main calls BuildList, which calls GetLastNode twice: 100 cycles of BuildList, 900 of GetLastNode.
 */
static void feed_calls(struct fixture *fx)
{
    uint64_t main_ = address_of(fx->symbols, "main"), build = address_of(fx->symbols, "BuildList"),
             last = address_of(fx->symbols, "GetLastNode");
    feed_event(fx->tree, EVENT_START, main_ + 8, main_ + 8, 0);
    feed_event(fx->tree, EVENT_CALL, main_ + 16, build, 0);
    feed_event(fx->tree, EVENT_CALL, build + 40, last, 50);
    feed_event(fx->tree, EVENT_RETURN, last + 60, build + 44, 500);
    feed_event(fx->tree, EVENT_CALL, build + 40, last, 550);
    feed_event(fx->tree, EVENT_RETURN, last + 60, build + 44, 1000);
}

static void live_text__profiling__shows_rates_and_top_functions(void **state)
{
    struct fixture *fx = *state;
    struct pump_view v = { .phase = PUMP_ARMED,
                           .armed_ns = 1000000000,
                           .now_ns = 3500000000,
                           .trace = { .active = true,
                                      .time = { .board_ns = 2500000000,
                                                .held_ns = 1250000000,
                                                .target_cycles = 3000,
                                                .agent_cycles = 1000 } } };
    char text[LIVE_TEXT];
    struct profile *p;
    feed_calls(fx);
    assert_int_equal(build_profile(fx, &p, NULL), 0);
    const struct live_now now = {
        .view = &v, .profile = p, .symbols = fx->symbols, .seen = 12345, .events_per_s = 4000
    };
    assert_string_equal(live_text(&now, 200, text),
                        "2.5 s: 12345 events, 4000/s, slowed 3.0x (agent +0.5, moving events "
                        "+1.5), none lost | GetLastNode 90.0% 2 hits, BuildList 10.0% 1 hits");
    profile_free(p);
}

static void live_text__states__are_said(void **state)
{
    static const struct {
        struct pump_view v;
        uint64_t seen;
        const char *part;
    } rows[] = {
        { { .phase = PUMP_ARMED }, 0, "(waiting for the start point)" },
        { { .phase = PUMP_ARMED }, 5, "(paused)" },
        { { .phase = PUMP_ARMED, .stop = { .reason = STOP_SWBREAK } }, 5, "(halted)" },
        { { .phase = PUMP_ARMED, .gaps = 1 }, 5, "/s, 1 gap" },
        { { .phase = PUMP_ARMED, .gaps = 2, .away = true }, 5, "2 gaps (the board is away)" },
        { { .phase = PUMP_ARMED, .trace = { .lost = 25 } }, 75, "25 LOST, 75.00% covered" },
    };
    char text[LIVE_TEXT];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct live_now now = { .view = &rows[i].v, .seen = rows[i].seen };
        assert_non_null(strstr(live_text(&now, 200, text), rows[i].part));
    }
}

/* A trace that loses events, three functions, an end that was asked for. */
static void all_there_is(struct fixture *fx, struct pump_view *v, struct live_now *now,
                         struct profile **p)
{
    *v = (struct pump_view){ .phase = PUMP_ARMED,
                             .armed_ns = 1000000000,
                             .now_ns = 3500000000,
                             .trace = { .active = true,
                                        .lost = 25,
                                        .time = { .board_ns = 2500000000,
                                                  .held_ns = 1250000000,
                                                  .target_cycles = 3000,
                                                  .agent_cycles = 1000 } } };
    feed_calls(fx);
    assert_int_equal(build_profile(fx, p, NULL), 0);
    *now = (struct live_now){ .view = v,
                              .profile = *p,
                              .symbols = fx->symbols,
                              .seen = 75,
                              .events_per_s = 4000,
                              .passes = 3,
                              .max_passes = 10,
                              .for_ns = 30000000000 };
}

static void live_text__any_width__fits_and_keeps_what_matters(void **state)
{
    static const struct {
        unsigned columns;
        const char *text;
    } rows[] = {
        { 4, "LOST" },
        { 7, "25 LOST" },
        { 24, "25 LOST | GetLas.. 90.0%" },
        { 27, "25 LOST | GetLastNode 90.0%" },
        { 40, "2.5 of 30 s, 25 LOST | GetLastNode 90.0%" },
        { 56, "2.5 of 30 s, 3 of 10 passes, 25 LOST | GetLastNode 90.0%" },
        { 80, "2.5 of 30 s, 3 of 10 passes, 25 LOST, 75.00% covered | GetLastNode 90.0% 2 hits" },
    };
    struct fixture *fx = *state;
    struct pump_view v;
    struct live_now now;
    struct profile *p;
    char text[LIVE_TEXT];
    all_there_is(fx, &v, &now, &p);
    for (unsigned columns = 0; columns < 250; columns++) {
        live_text(&now, columns, text);
        assert_true(strlen(text) <= columns);
        assert_true(columns < 4 || strstr(text, "LOST"));
        assert_true(columns < 24 || strstr(text, "GetLas"));
        assert_true(columns < 27 || strstr(text, "GetLastNode 90.0%"));
        assert_true(columns < 40 || strstr(text, "2.5 of 30 s"));
        assert_true(columns < 56 || strstr(text, "3 of 10 passes"));
    }
    assert_non_null(strstr(text, "(agent +0.5, moving events +1.5)"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(live_text(&now, rows[i].columns, text), rows[i].text);
    profile_free(p);
}

/* Names count by characters; one is never cut within. */
static void live_text__long_name_in_utf8__is_cut_between_characters(void **state)
{
    struct fixture *fx = *state;
    struct pump_view v;
    struct live_now now;
    struct profile *p;
    char text[LIVE_TEXT];
    all_there_is(fx, &v, &now, &p);
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, "GetLastNode"))
            p->functions[i].name = "größte_Übergabe_ohne_Zähler";
    for (unsigned columns = 24; columns < 60; columns++)
        assert_null(strchr(live_text(&now, columns, text), '?'));
    assert_string_equal(live_text(&now, 27, text), "25 LOST | größte_Üb.. 90.0%");
    assert_string_equal(live_text(&now, 26, text), "25 LOST | größte_Ü.. 90.0%");
    profile_free(p);
}

/* Smoothing begins with what is measured first, not with nothing. */
static void live_tick__first_events__rate_is_theirs(void **state)
{
    struct fixture *fx = *state;
    struct pump_view v = { .phase = PUMP_ARMED };
    char *text = NULL;
    size_t n;
    FILE *kept = fx->live.out;
    fx->live.out = open_memstream(&text, &n);
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 0 }, &fx->source, 1000000000);
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 0 }, &fx->source, 6000000000);
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 200 }, &fx->source, 11000000000);
    fclose(fx->live.out);
    fx->live.out = kept;
    assert_non_null(strstr(text, "200 events, 40/s"));
    free(text);
}

/* A line without new events shows the same profile, which nobody makes a second time. */
static void live_tick__nothing_new__the_same_snapshot(void **state)
{
    struct fixture *fx = *state;
    struct pump_view v = { .phase = PUMP_ARMED };
    fx->live.columns = 80;
    feed_calls(fx);
    snapshots_changed(fx->snapshots);
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 6 }, &fx->source, 1000000000000);
    const struct snapshot *first = fx->live.snapshot;
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 6 }, &fx->source, 2000000000000);
    assert_int_equal(fx->built, 1);
    assert_ptr_equal(fx->live.snapshot, first);
    snapshots_changed(fx->snapshots);
    fx->live.take_ns = 2500000000000; /* the last one took long */
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 6 }, &fx->source, 2400000000000);
    assert_int_equal(fx->built, 1);
    live_tick(&fx->live, &(struct live_now){ .view = &v, .seen = 6 }, &fx->source, 3000000000000);
    assert_true(snapshot_version(fx->live.snapshot) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(live_text__profiling__shows_rates_and_top_functions,
                                        set_up_live, tear_down_live),
        cmocka_unit_test_setup_teardown(live_text__states__are_said, set_up_live, tear_down_live),
        cmocka_unit_test_setup_teardown(live_tick__first_events__rate_is_theirs, set_up_live,
                                        tear_down_live),
        cmocka_unit_test_setup_teardown(live_tick__nothing_new__the_same_snapshot, set_up_live,
                                        tear_down_live),
        cmocka_unit_test_setup_teardown(live_text__any_width__fits_and_keeps_what_matters,
                                        set_up_live, tear_down_live),
        cmocka_unit_test_setup_teardown(live_text__long_name_in_utf8__is_cut_between_characters,
                                        set_up_live, tear_down_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
