/* The feed's edges, one by one; what holds of all states is in test_feed_random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/feed/feed.h"
#include "profiler/feed/follow.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

struct fixture {
    struct feed *feed;
    struct calltree *tree;
    struct follow *w;
    struct feed_source from;
    struct feed_moment now;
};

static const struct feed_view everything = { .parts = FEED_FUNCTIONS | FEED_NODES | FEED_LOGGED |
                                                      FEED_SERIES };

static int set_up_feed(void **state)
{
    static struct fixture f;
    size_t n;
    f = (struct fixture){ .now = { .ns = 1, .wall_ms = 1000 } };
    *state = &f;
    if (feed_new(0xAB, &f.feed, NULL) < 0 || calltree_new(NULL, &f.tree, NULL) < 0 ||
        follow_new(&f.w, NULL) < 0)
        return -1;
    const struct event *e = sample_events(&n);
    calltree_feed(f.tree, e, n);
    f.from = (struct feed_source){ .tree = f.tree };
    return 0;
}

static int tear_down_feed(void **state)
{
    struct fixture *f = *state;
    feed_free(f->feed);
    calltree_free(f->tree);
    follow_free(f->w);
    return 0;
}

static int fold_feed(struct fixture *f, uint64_t ms)
{
    f->now.ns += ms * 1000000;
    f->now.wall_ms += (int64_t)ms;
    return feed_fold(f->feed, &f->from, &f->now, NULL);
}

/* A frame into the reader: 0, or what the feed or the reader says. */
static int give_frame(struct fixture *f, int wrote, struct memory_sink *m)
{
    if (wrote == 0)
        wrote = follow_bytes(f->w, sink_text(m), m->len, NULL);
    if (wrote >= 0)
        wrote = follow_bytes(f->w, "\n", 1, NULL);
    sink_free(m);
    return wrote < 0 ? wrote : 0;
}

static int give_snap(struct fixture *f)
{
    struct memory_sink m = { 0 };
    const struct feed_hello h = { .view = everything, .interval_ms = 100, .cut = "too slow" };
    feed_write_hello(f->feed, &h, sink_to(&m));
    assert_int_equal(give_frame(f, 0, &m), 0);
    return give_frame(f, feed_write_snap(f->feed, &everything, sink_to(&m)), &m);
}

static int give_delta(struct fixture *f, uint64_t since)
{
    struct memory_sink m = { 0 };
    return give_frame(f, feed_write_delta(f->feed, &everything, since, 3, sink_to(&m)), &m);
}

static void test_a_fold_without_news_is_no_state(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(fold_feed(f, 10), 1);
    assert_int_equal(feed_seq(f->feed), 1);
    assert_int_equal(fold_feed(f, 10), 0);
    assert_int_equal(feed_seq(f->feed), 1);
    assert_int_equal(feed_state(f->feed, FEED_RUN, "{\"phase\":\"done\"}", NULL), 0);
    assert_int_equal(fold_feed(f, 10), 1);
    assert_int_equal(feed_state(f->feed, FEED_RUN, "{\"phase\":\"done\"}", NULL), 0);
    assert_int_equal(fold_feed(f, 10), 0);
}

static void test_hello_and_delta_say_what_they_are(void **state)
{
    struct fixture *f = *state;
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    assert_string_equal(follow_hello(f->w)->cut, "too slow");
    assert_int_equal(follow_hello(f->w)->interval_ms, 100);
    feed_state(f->feed, FEED_GDB, "{\"sessions\":2}", NULL);
    fold_feed(f, 250);
    assert_int_equal(give_delta(f, 1), 0);
    assert_int_equal(follow_totals(f->w)->span_ms, 250);
    assert_int_equal(follow_totals(f->w)->merged, 3);
    double sessions = 0;
    assert_true(follow_number(f->w, "gdb", "sessions", &sessions) && sessions == 2);
}

static void test_a_number_ahead_is_no_position(void **state)
{
    struct fixture *f = *state;
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    assert_int_equal(give_delta(f, 2), -ERR_NOT_FOUND);
}

static void test_restart_keeps_state_and_log(void **state)
{
    struct fixture *f = *state;
    double sessions = 0;
    size_t n;
    feed_state(f->feed, FEED_GDB, "{\"sessions\":1}", NULL);
    feed_log(f->feed, &(struct feed_log_entry){ .kind = "note", .text = "before" });
    fold_feed(f, 10);
    calltree_clear(f->tree);
    assert_int_equal(fold_feed(f, 10), 1); /* sees it */
    assert_int_not_equal(feed_epoch(f->feed), 0xAB);
    assert_int_equal(give_snap(f), 0);
    assert_true(follow_number(f->w, "gdb", "sessions", &sessions) && sessions == 1);
    assert_string_equal(follow_log(f->w, &n)->text, "before");
    assert_int_equal(follow_totals(f->w)->c1, 0);
}

static void test_log_says_what_a_reader_missed(void **state)
{
    struct fixture *f = *state;
    char text[16];
    size_t n;
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    for (unsigned k = 0; k < FEED_LOG_ENTRIES + 5; k++) {
        snprintf(text, sizeof text, "%u", k);
        feed_log(f->feed, &(struct feed_log_entry){ .kind = "note", .text = text });
    }
    fold_feed(f, 10);
    assert_int_equal(give_delta(f, 1), 0);
    assert_int_equal(follow_totals(f->w)->log_lost, 5);
    const struct follow_entry *e = follow_log(f->w, &n);
    assert_int_equal(e[n - 1].number, FEED_LOG_ENTRIES + 4);
}

static void test_repeats_in_one_state_are_one_entry(void **state)
{
    struct fixture *f = *state;
    size_t n;
    for (int k = 0; k < 3; k++)
        feed_log(f->feed, &(struct feed_log_entry){ .kind = "stop", .text = "again" });
    fold_feed(f, 10);
    feed_log(f->feed, &(struct feed_log_entry){ .kind = "stop", .text = "again" });
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    const struct follow_entry *e = follow_log(f->w, &n);
    assert_int_equal(n, 2);
    assert_int_equal(e[0].times, 3);
    assert_int_equal(e[1].times, 1);
}

static void test_points_of_a_second_and_of_ten(void **state)
{
    struct fixture *f = *state;
    size_t n;
    feed_gauge(f->feed, &(struct feed_gauges){ .wire_bits = 5, .slow_down = 2 });
    for (int k = 0; k <= 24; k++)
        fold_feed(f, 500);
    assert_int_equal(give_snap(f), 0);
    const struct follow_point *p = follow_points(f->w, &n);
    assert_int_equal(n, 12);
    assert_int_equal(p[0].span_ms, 1000);
    assert_int_equal(p[11].number, 11);
    fold_feed(f, 3500); /* no fold meanwhile: one point has all of it */
    assert_int_equal(give_delta(f, feed_seq(f->feed) - 1), 0);
    p = follow_points(f->w, &n);
    assert_int_equal(n, 13);
    assert_int_equal(p[12].span_ms, 3500);
}

static void test_marks_have_names_and_an_end(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "", "a\nb", "\x1b[2J", "\xff",
        "0123456789012345678901234567890123456789012345678901234567890123"
    };
    struct memory_sink m = { 0 };
    char name[8];
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = { .code = ERR_OK };
        assert_int_equal(feed_mark(f->feed, bad[i], &f->from, &f->now, &err), -ERR_USAGE);
        assert_int_not_equal(err.hint[0], 0);
    }
    for (int k = 0; k < FEED_MARKS; k++) {
        snprintf(name, sizeof name, "m%d", k);
        assert_int_equal(feed_mark(f->feed, name, &f->from, &f->now, NULL), 0);
    }
    assert_int_equal(feed_mark(f->feed, "more", &f->from, &f->now, NULL), -ERR_RESOURCE);
    assert_int_equal(feed_mark(f->feed, "m3", &f->from, &f->now, NULL), 0); /* moves */
    assert_int_equal(feed_unmark(f->feed, "m0", NULL), 0);
    assert_int_equal(feed_unmark(f->feed, "m0", NULL), -ERR_NOT_FOUND);
    assert_int_equal(feed_write_mark(f->feed, &everything, "m0", sink_to(&m), NULL),
                     -ERR_NOT_FOUND);
    assert_int_equal(m.len, 0);
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    assert_string_equal(follow_mark(f->w, 0), "m1");
    assert_null(follow_mark(f->w, FEED_MARKS - 1));
}

/* The mark's own fold finds that the counts were cleared: older marks are gone then. */
static void test_a_mark_just_behind_a_clear(void **state)
{
    struct fixture *f = *state;
    struct event clear = { .kind = EVENT_CLEAR };
    assert_int_equal(feed_mark(f->feed, "a", &f->from, &f->now, NULL), 0);
    assert_int_equal(feed_mark(f->feed, "b", &f->from, &f->now, NULL), 0);
    calltree_feed(f->tree, &clear, 1);
    assert_int_equal(feed_mark(f->feed, "b", &f->from, &f->now, NULL), 0);
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    assert_string_equal(follow_mark(f->w, 0), "b");
    assert_null(follow_mark(f->w, 1));
}

static void test_state_objects_are_objects(void **state)
{
    struct fixture *f = *state;
    char big[FEED_STATE_BYTES + 8];
    memset(big, ' ', sizeof big);
    big[0] = '{';
    big[sizeof big - 2] = '}';
    big[sizeof big - 1] = 0;
    assert_int_equal(feed_state(f->feed, FEED_RUN, "[]", NULL), -ERR_USAGE);
    assert_int_equal(feed_state(f->feed, FEED_RUN, "{\n}", NULL), -ERR_USAGE);
    assert_int_equal(feed_state(f->feed, FEED_RUN, big, NULL), -ERR_USAGE);
    assert_int_equal(feed_state(f->feed, FEED_COVERAGE, "{}", NULL), -ERR_USAGE);
}

static void test_the_last_events_are_kept(void **state)
{
    struct fixture *f = *state;
    static struct event e[FEED_EVENTS / 2 + 7];
    uint64_t first, end;
    for (uint64_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < ARRAY_LEN(e); i++)
            e[i].pc = k * ARRAY_LEN(e) + i;
        assert_int_equal(feed_events(f->feed, e, ARRAY_LEN(e)), 0);
    }
    feed_events_kept(f->feed, &first, &end);
    assert_int_equal(end, 3 * ARRAY_LEN(e));
    assert_int_equal(end - first, FEED_EVENTS);
    for (uint64_t k = first; k < end; k += 1000)
        assert_int_equal(feed_event(f->feed, k)->pc, k);
    assert_int_equal(feed_event(f->feed, end - 1)->pc, end - 1);
}

static void test_folds_take_a_twentieth(void **state)
{
    struct fixture *f = *state;
    feed_took(f->feed, 3000000);
    assert_int_equal(feed_pause_ns(f->feed), 60000000);
    feed_took(f->feed, UINT64_MAX);
    assert_true(feed_pause_ns(f->feed) == UINT64_MAX);
}

static void test_positions_and_views(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "-", "1-", "-1", "1", "1-2-3", "1-2 ", "x-1", "1-0x2", "A-1", "00000000000000001-1"
    };
    char text[FEED_POSITION_TEXT];
    uint64_t epoch, seq;
    unsigned parts;
    feed_position_text(UINT64_MAX, 0x1F, text);
    assert_string_equal(text, "ffffffffffffffff-1f");
    assert_true(feed_position_parse(text, &epoch, &seq) && epoch == UINT64_MAX && seq == 0x1F);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(feed_position_parse(bad[i], &epoch, &seq));
    assert_int_equal(feed_view_parse("log,functions", &parts, NULL), 0);
    assert_int_equal(parts, FEED_LOGGED | FEED_FUNCTIONS);
    assert_int_equal(feed_view_parse("", &parts, NULL), -ERR_USAGE);
    assert_int_equal(feed_view_parse("functions,,log", &parts, NULL), -ERR_USAGE);
    assert_int_equal(feed_view_parse("function", &parts, NULL), -ERR_USAGE);
    assert_int_equal(feed_view_nodes(0), 4096);
    assert_int_equal(feed_view_nodes(257), 1024);
    assert_int_equal(feed_view_nodes(UINT32_MAX), 65536);
}

/* ---- what is no feed ---- */

static void test_reader_says_where_it_is_wrong(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *line, *what;
    } rows[] = {
        { "{\"frame\":\"snap\"}", "epoch" },
        { "{\"frame\":\"delta\",\"from\":0,\"s\":1}", "without a snapshot" },
        { "[1]", "has no \"frame\"" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":-1,\"t\":0,\"w\":0}",
          "s, e, t or w" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"names\":[[1,\"f\",null,0,0,0,0,null,null,null,0]]}",
          "names[0]: its id is not the next one" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"f\":[[0,0,0,0,0,0,0,0,0,0,0]]}",
          "f[0]: nothing has named that function" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"names\":[[0,\"f\",null,0,0,0,0,null,null,null,0]],"
          "\"n\":[[3,2,0,1,1,1,1,1,0]]}",
          "path 3's parent is not shown" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"names\":[[0,\"f\",null,0,0,0,0,null,null,null,0]],"
          "\"n\":[[3,3,0,1,1,1,1,1,0]]}",
          "n[0]: its parent does not come before it" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"n\":[[3,1,1,1,1,1,0]]}",
          "n[0]: that path has not been shown yet" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"tot\":[1,\"18446744073709551616\",0]}",
          "tot" },
        { "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
          "\"st\":{\"run\":3}}",
          "st: run is no object" },
        { "{\"frame\":\"snap\"", "byte" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { .code = ERR_OK };
        struct memory_sink m = { 0 };
        const struct feed_hello h = { .view = everything };
        follow_restart(f->w);
        feed_write_hello(f->feed, &h, sink_to(&m));
        assert_int_equal(give_frame(f, 0, &m), 0);
        assert_int_equal(follow_bytes(f->w, rows[i].line, strlen(rows[i].line), NULL), 0);
        assert_int_equal(follow_bytes(f->w, "\n", 1, &err), -ERR_PROTOCOL);
        if (!strstr(err.what, rows[i].what) || !strstr(err.what, "line "))
            fail_msg("row %zu: %s", i, err.what);
        assert_int_not_equal(err.hint[0], 0);
    }
}

static void test_reader_sees_a_hole(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[] = {
        "{\"frame\":\"delta\",\"from\":2,\"s\":3,\"e\":0,\"t\":0,\"w\":0}\n",
        "{\"frame\":\"delta\",\"from\":1,\"s\":0,\"e\":0,\"t\":0,\"w\":0}\n",
    };
    fold_feed(f, 10);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char position[FEED_POSITION_TEXT];
        follow_restart(f->w);
        assert_int_equal(give_snap(f), 0);
        assert_true(follow_position(f->w, position));
        assert_int_equal(follow_bytes(f->w, rows[i], strlen(rows[i]), NULL), -ERR_PROTOCOL);
        assert_false(follow_position(f->w, position)); /* nothing to go on from */
    }
}

static void test_reader_takes_all_of_64_bits(void **state)
{
    struct fixture *f = *state;
    static const char big[] =
        "{\"frame\":\"snap\",\"epoch\":\"00000000000000ab\",\"s\":1,\"e\":0,\"t\":0,\"w\":0,"
        "\"tot\":[\"18446744073709551615\",9007199254740992,\"9007199254740993\"]}\n";
    struct memory_sink m = { 0 };
    feed_write_hello(f->feed, &(struct feed_hello){ .view = everything }, sink_to(&m));
    assert_int_equal(give_frame(f, 0, &m), 0);
    assert_int_equal(follow_bytes(f->w, big, strlen(big), NULL), 1);
    assert_true(follow_totals(f->w)->hits == UINT64_MAX);
    assert_true(follow_totals(f->w)->c1 == (uint64_t)1 << 53);
    assert_true(follow_totals(f->w)->c2 == ((uint64_t)1 << 53) + 1);
}

static void test_counts_above_2_to_53_come_back(void **state)
{
    struct fixture *f = *state;
    const uint64_t more = ((uint64_t)1 << 60) + 7;
    const struct event e = {
        .kind = EVENT_TIMESTAMP, .c1 = more, .c2 = more, .flags = EVENT_HAS_C1 | EVENT_HAS_C2
    };
    calltree_feed(f->tree, &(struct event){ .kind = EVENT_START, .pc = 64, .flags = EVENT_HAS_PC },
                  1);
    calltree_feed(f->tree,
                  &(struct event){ .kind = EVENT_TIMESTAMP, .flags = EVENT_HAS_C1 | EVENT_HAS_C2 },
                  1);
    calltree_feed(f->tree, &e, 1);
    fold_feed(f, 10);
    assert_int_equal(give_snap(f), 0);
    assert_true(calltree_stats(f->tree)->total_c1 >= more);
    assert_true(follow_totals(f->w)->c1 == calltree_stats(f->tree)->total_c1);
}

#define CASE(t) cmocka_unit_test_setup_teardown(t, set_up_feed, tear_down_feed)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_fold_without_news_is_no_state),
        CASE(test_hello_and_delta_say_what_they_are),
        CASE(test_a_number_ahead_is_no_position),
        CASE(test_restart_keeps_state_and_log),
        CASE(test_log_says_what_a_reader_missed),
        CASE(test_repeats_in_one_state_are_one_entry),
        CASE(test_points_of_a_second_and_of_ten),
        CASE(test_marks_have_names_and_an_end),
        CASE(test_a_mark_just_behind_a_clear),
        CASE(test_state_objects_are_objects),
        CASE(test_the_last_events_are_kept),
        CASE(test_folds_take_a_twentieth),
        cmocka_unit_test(test_positions_and_views),
        CASE(test_reader_says_where_it_is_wrong),
        CASE(test_reader_sees_a_hole),
        CASE(test_reader_takes_all_of_64_bits),
        CASE(test_counts_above_2_to_53_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
