/* What top shows: rows in, lines out, keys between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/top_source.h"
#include "profiler/cli/top_view.h"

enum { ROWS = 80 };

static const char hello[] =
    "{\"frame\":\"hello\",\"v\":\"probeprof.feed/1\",\"epoch\":\"00000000000000aa\",\"seq\":1,"
    "\"target\":\"sh7750\",\"probe\":\"sim:sh7750\",\"elf\":\"/a/b/"
    "game.elf\",\"type\":\"trace\"}\n";
/* main calls walk, walk calls itself and strlen; an interrupt; one name is an attack */
static const char snap[] =
    "{\"frame\":\"snap\",\"epoch\":\"00000000000000aa\",\"s\":1,\"e\":100,\"t\":5,\"w\":1000000,"
    "\"i\":null,\"log_lost\":0,\"tot\":[23,1000,50],\"names\":["
    "[0,\"main\",\"main.c\",7,4096,4160,1,null,\"main\",1,0],"
    "[1,\"walk\",\"list.c\",30,4160,4224,1,\"list.c:walk\",\"walk\",1,0],"
    "[2,\"\\u001b[2Jhostile\\u202e\\u0007\",null,0,4224,4288,1,null,\"h\",1,0],"
    "[3,\"timer\",null,0,4288,4352,5,null,\"timer\",1,0]],"
    "\"f\":[[0,1,100,900,5,40,10,0,0,0,0],[1,20,600,800,20,30,10,5,0,0,1],"
    "[2,1,200,200,15,15,4,0,0,0,0],[3,1,100,100,10,10,2,0,0,0,2]],"
    "\"h\":[[3,3,1024,0,1,100,77,70]],"
    "\"n\":[[0,null,0,1,100,900,5,40,0],[1,0,1,20,600,800,20,35,1],[2,1,2,1,200,200,15,15,0],"
    "[3,null,3,1,100,100,10,10,2]],\"hid\":6,"
    "\"st\":{\"coverage\":{\"events\":100,\"lost\":12,\"lost_is_bound\":false,\"ratio\":0.89,"
    "\"gaps\":1},\"target\":{\"state\":\"running\"},\"run\":{\"phase\":\"profiling\","
    "\"slow_down\":2.7},\"marks\":{\"marks\":[]}},"
    "\"log\":[[0,1000000,\"gap\",\"ring-full\",\"12 events lost\\u001b[31m\",12,0,1,0,0]]}\n";
/* two seconds later: 30 hits, 400 of C1 and 10 of C2 more, all in walk */
static const char delta[] =
    "{\"frame\":\"delta\",\"from\":1,\"s\":2,\"e\":300,\"t\":6,\"w\":1002000,\"i\":2000,"
    "\"merged\":0,\"tot\":[53,1400,60],\"f\":[[0,1,100,1300,5,50,10,0,0,0,0],"
    "[1,50,1000,1200,30,40,40,5,0,0,1]],\"n\":[[0,1,100,1300,5,50,0],[1,50,1000,1200,30,45,1]],"
    "\"hid\":6,\"st\":{\"coverage\":{\"events\":300,\"lost\":12,\"ratio\":0.96,\"gaps\":1}}}\n";

struct shown {
    struct top_line line[ROWS + 20];
    size_t n, columns;
};

struct fixture {
    struct follow *w;
    struct top_view *v;
    struct shown shown;
};

static void take_line(void *ctx, size_t row, const struct top_line *l)
{
    struct shown *s = ctx;
    size_t columns = 0, n;
    assert_int_equal(row, s->n);
    for (const char *p = l->text; *p; p += n) {
        n = text_character(p);
        assert_int_not_equal(n, 0); /* no UTF-8, or a command to a terminal */
        columns++;
    }
    assert_true(columns <= s->columns);
    s->line[s->n++] = *l;
}

static void feed_line(struct fixture *f, const char *line)
{
    struct err err = { .code = ERR_OK };
    uint64_t before = follow_frames(f->w);
    int ret = follow_bytes(f->w, line, strlen(line), &err);
    assert_string_equal(err.what, "");
    assert_int_equal(ret, 1);
    if (follow_frames(f->w) != before)
        assert_int_equal(top_view_frame(f->v, f->w, NULL), 0);
}

static int set_up_view(void **state)
{
    static struct fixture f;
    f = (struct fixture){ .w = NULL };
    *state = &f;
    if (follow_new(&f.w, NULL) < 0 || top_view_new(1000, &f.v, NULL) < 0)
        return -1;
    feed_line(&f, hello);
    return 0;
}

static int tear_down_view(void **state)
{
    struct fixture *f = *state;
    top_view_free(f->v);
    follow_free(f->w);
    return 0;
}

static void draw_view(struct fixture *f, size_t rows, size_t columns, bool utf8)
{
    const struct top_size size = { rows, columns, utf8 };
    f->shown.n = 0;
    f->shown.columns = columns;
    top_view_lines(f->v, f->w, &size, take_line, &f->shown);
    assert_int_equal(f->shown.n, rows);
}

static void press_keys(struct fixture *f, const char *s)
{
    for (; *s; s++)
        assert_int_equal(top_view_key(f->v, f->w, *s == '\n' ? TOP_KEY_ENTER : (unsigned)*s),
                         TOP_STAY);
}

/* The line that has the text; fails if there is none. */
static size_t line_with(const struct fixture *f, const char *text)
{
    for (size_t i = 0; i < f->shown.n; i++)
        if (strstr(f->shown.line[i].text, text))
            return i;
    for (size_t i = 0; i < f->shown.n; i++)
        print_message("|%s\n", f->shown.line[i].text);
    fail_msg("no line has \"%s\"", text);
    return 0;
}

static bool has_line(const struct fixture *f, const char *text)
{
    for (size_t i = 0; i < f->shown.n; i++)
        if (strstr(f->shown.line[i].text, text))
            return true;
    return false;
}

static void test_totals_sorted_by_c1(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 100, true);
    assert_true(line_with(f, "list.c:walk") < line_with(f, "hostile"));
    assert_true(line_with(f, "hostile") < line_with(f, "main"));
    const char *walk = f->shown.line[line_with(f, "list.c:walk")].text;
    assert_non_null(strstr(walk, "     20  60.0     600   80.0      20"));
    assert_non_null(strstr(walk, " 50.0 ")); /* 5 of 10 measurements are doubtful */
    assert_int_equal(f->shown.line[line_with(f, "list.c:walk")].style, TOP_CHOSEN);
    assert_non_null(strstr(f->shown.line[line_with(f, "timer")].text, "77"));
    assert_int_equal(f->shown.line[line_with(f, "timer")].text[1], 'H');
}

static void test_head_says_what_is_lost_in_60_columns(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 60, true);
    line_with(f, "LOST 12 events");
    assert_int_equal(f->shown.line[0].style, TOP_WARN);
    draw_view(f, 24, 120, true);
    line_with(f, "89.00 % covered, 1 gap");
    line_with(f, "slowed 2.7x  game.elf  sim:sh7750");
    line_with(f, "6 paths not shown");
}

static void test_hostile_names_are_text(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 100, true); /* take_line() looks at each character */
    line_with(f, "?[2Jhostile??");
    press_keys(f, "g");
    draw_view(f, 24, 100, true);
    line_with(f, "12 events lost?[31m");
}

static void test_rates_after_a_second_frame(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    feed_line(f, delta);
    draw_view(f, 24, 100, true);
    line_with(f, "hits/s");
    line_with(f, "100 ev/s");
    const char *walk = f->shown.line[line_with(f, "list.c:walk")].text;
    assert_non_null(strstr(walk, "     15 100.0     200  100.0       5"));
    press_keys(f, "i");
    draw_view(f, 24, 100, true);
    walk = f->shown.line[line_with(f, "list.c:walk")].text;
    assert_non_null(strstr(walk, "     50  71.4    1000   85.7      30"));
}

static void test_since_mark(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    press_keys(f, "m");
    draw_view(f, 24, 100, true);
    line_with(f, "since mark -0 s");
    feed_line(f, delta);
    draw_view(f, 24, 100, true);
    line_with(f, "since mark -2 s");
    line_with(f, "     15 100.0     200");
}

static void test_filter_sort_and_search(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    press_keys(f, "\\walk\n");
    draw_view(f, 24, 100, true);
    line_with(f, "list.c:walk");
    line_with(f, "filter \"walk\"");
    assert_false(has_line(f, "hostile"));
    press_keys(f, "\\\n<"); /* none; by name */
    draw_view(f, 24, 100, true);
    assert_true(line_with(f, "  main") < line_with(f, "  timer"));
    press_keys(f, "I");
    draw_view(f, 24, 100, true);
    assert_true(line_with(f, "  main") > line_with(f, "  timer"));
    press_keys(f, "/mai\n");
    draw_view(f, 24, 100, true);
    assert_int_equal(f->shown.line[line_with(f, "  main")].style, TOP_CHOSEN);
    press_keys(f, "H");
    draw_view(f, 24, 100, true);
    assert_false(has_line(f, "  main"));
    line_with(f, "  timer");
}

static void test_tree_and_one_function(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 100, true);
    press_keys(f, "t");
    draw_view(f, 24, 100, true);
    size_t at = line_with(f, "  - main");
    line_with(f, "call paths");
    assert_non_null(strstr(f->shown.line[at + 1].text, "    - list.c:walk"));
    assert_non_null(strstr(f->shown.line[at + 2].text, "        ?[2Jhostile"));
    press_keys(f, "j\n"); /* walk */
    draw_view(f, 24, 100, true);
    line_with(f, "list.c:30");
    assert_true(line_with(f, "called by") < line_with(f, "  main"));
    assert_true(line_with(f, "calls (shown") < line_with(f, "hostile"));
    press_keys(f, "h");
    draw_view(f, 24, 100, true);
    line_with(f, "this help");
}

/* Where events were lost: of 1,400 of C1 200 were counted meanwhile. */
static void test_one_function_with_losses(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 100, true);
    press_keys(f, "t");
    draw_view(f, 24, 100, true);
    press_keys(f, "j\n");
    draw_view(f, 24, 100, true);
    assert_false(has_line(f, "of what was seen"));
    feed_line(f,
              "{\"frame\":\"delta\",\"from\":1,\"s\":2,\"e\":300,\"t\":6,\"w\":1002000,\"i\":2000,"
              "\"merged\":0,\"tot\":[53,1400,60],\"f\":[[1,50,1000,1200,30,40,40,5,0,0,1,0.01,"
              "0.025]],\"hid\":6,\"st\":{\"coverage\":{\"events\":300,\"lost\":12,"
              "\"lost_c1\":200,\"ratio\":0.96,\"gaps\":1}}}\n");
    draw_view(f, 24, 100, true);
    line_with(f, "of what was seen of C1 83.3 % +- 2.5, with 95 % probability");
    line_with(f, "called by");
    line_with(f, "calls (shown");
}

/* Of main's tree, and of the whole. */
static void test_tree_folds(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 100, true);
    press_keys(f, "t");
    draw_view(f, 24, 100, true);
    line_with(f, "  - main");
    line_with(f, "    - list.c:walk");
    line_with(f, "        ?[2Jhostile"); /* it calls nothing: no sign */
    press_keys(f, "j-");
    draw_view(f, 24, 100, true);
    line_with(f, "    + list.c:walk");
    assert_false(has_line(f, "hostile"));
    assert_int_equal(f->shown.line[line_with(f, "+ list.c:walk")].style, TOP_CHOSEN);
    press_keys(f, "-"); /* folded already: to its caller */
    draw_view(f, 24, 100, true);
    assert_int_equal(f->shown.line[line_with(f, "- main")].style, TOP_CHOSEN);
    top_view_key(f->v, f->w, TOP_KEY_LEFT);
    draw_view(f, 24, 100, true);
    line_with(f, "  + main");
    assert_false(has_line(f, "walk"));
    top_view_key(f->v, f->w, TOP_KEY_RIGHT);
    draw_view(f, 24, 100, true);
    line_with(f, "    + list.c:walk"); /* as it was left */
    press_keys(f, "**");
    draw_view(f, 24, 100, true);
    line_with(f, "hostile");
    press_keys(f, "*");
    draw_view(f, 24, 100, true);
    line_with(f, "  + main");
    line_with(f, "    timer");
    press_keys(f, "+");
    feed_line(f, delta); /* stays as it is while figures change */
    draw_view(f, 24, 100, true);
    line_with(f, "    + list.c:walk");
    assert_false(has_line(f, "hostile"));
}

static void test_columns_are_chosen(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    draw_view(f, 24, 80, true);
    line_with(f, "C1 C1+ch%      C2    ?%  function");
    top_view_key(f->v, f->w, TOP_KEY_F1 + 1);
    draw_view(f, 24, 80, true);
    assert_int_equal(f->shown.line[line_with(f, "[x] C1 ")].style, TOP_CHOSEN);
    line_with(f, "[x] longest  of a handler, from its entry to its return (from a width of 90)");
    press_keys(f, " jj ");
    draw_view(f, 24, 80, true);
    line_with(f, "[ ] C1 ");
    line_with(f, "[ ] C2 ");
    top_view_key(f->v, f->w, TOP_KEY_ESCAPE);
    draw_view(f, 24, 80, true);
    line_with(f, "C1% C1+ch%    ?%  function");
    assert_non_null(
        strstr(f->shown.line[line_with(f, "walk")].text, "     20  60.0   80.0  50.0  list"));
    top_view_key(f->v, f->w, TOP_KEY_F1 + 1);
    press_keys(f, "jjjjjjjjjjjk "); /* as far as they go */
    draw_view(f, 24, 80, true);
    line_with(f, "[ ] +-C1");
}

static void test_fits_every_size(void **state)
{
    struct fixture *f = *state;
    static const char pages[] = "ithgtc-s";
    feed_line(f, snap);
    feed_line(f, delta);
    for (size_t k = 0; k < sizeof pages; k++) {
        for (size_t rows = 1; rows < 40; rows += 3)
            for (size_t columns = 1; columns < 200; columns += 7)
                draw_view(f, rows, columns, true);
        if (pages[k])
            top_view_key(f->v, f->w, (unsigned char)pages[k]);
    }
    top_view_key(f->v, f->w, TOP_KEY_F1 + 1);
    for (size_t columns = 1; columns < 200; columns += 7)
        draw_view(f, 9, columns, true);
}

static void test_ascii_where_utf8_is_not_shown(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    feed_line(f, delta);
    draw_view(f, 24, 120, false);
    for (size_t i = 0; i < f->shown.n; i++)
        for (const char *p = f->shown.line[i].text; *p; p++)
            assert_true((unsigned char)*p < 0x80);
    line_with(f, "@"); /* the bar of walk */
}

static void test_table_has_head_titles_and_rows(void **state)
{
    struct fixture *f = *state;
    const struct top_size size = { 2, 100, true };
    feed_line(f, snap);
    f->shown.n = 0;
    f->shown.columns = 100;
    top_view_table(f->v, f->w, &size, take_line, &f->shown);
    assert_int_equal(f->shown.n, 5);
    assert_int_equal(line_with(f, "list.c:walk"), 3);
}

static void test_interval_is_asked_for(void **state)
{
    struct fixture *f = *state;
    press_keys(f, "d0.25");
    assert_int_equal(top_view_key(f->v, f->w, TOP_KEY_ENTER), TOP_INTERVAL);
    assert_int_equal(top_view_interval(f->v), 250);
    assert_int_equal(top_view_key(f->v, f->w, 'q'), TOP_QUIT);
}

static void test_samples_are_sorted_by_hits(void **state)
{
    struct fixture *f = *state;
    feed_line(f, "{\"frame\":\"snap\",\"epoch\":\"00000000000000aa\",\"s\":1,\"e\":9,\"t\":5,"
                 "\"w\":1000000,\"tot\":[40,0,0],"
                 "\"names\":[[0,\"rare\",null,0,1,2,1,null,null,null,0],"
                 "[1,\"often\",null,0,3,4,1,null,null,null,0]],"
                 "\"f\":[[0,10,0,0,0,0,0,0,0,0,32],[1,30,0,0,0,0,0,0,0,0,32]]}\n");
    draw_view(f, 24, 100, true);
    assert_true(line_with(f, "often") < line_with(f, "rare"));
    line_with(f, "by samples");
    assert_non_null(strstr(f->shown.line[line_with(f, "often")].text, "     30  75.0"));
    assert_false(has_line(f, "C1%"));
}

static void test_freeze(void **state)
{
    struct fixture *f = *state;
    feed_line(f, snap);
    press_keys(f, "p");
    feed_line(f, delta);
    draw_view(f, 24, 100, true);
    line_with(f, "FROZEN");
    line_with(f, "     20  60.0");
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *port, *path;
    } good[] = {
        { NULL, "127.0.0.1", "3334", "" },
        { ":1234", "127.0.0.1", "1234", "" },
        { "localhost", "localhost", "3334", "" },
        { "http://127.0.0.1:80/", "127.0.0.1", "80", "" },
        { "http://[::1]:3334", "::1", "3334", "" },
        { "[fe80::1]:5", "fe80::1", "5", "" },
        { "/run/user/1000/probeprof.sock", NULL, NULL, "/run/user/1000/probeprof.sock" },
        { "unix:a.sock", NULL, NULL, "a.sock" },
    };
    static const char *const bad[] = {
        "https://h", ":0",    ":65536",   ":x",      "[::1",     "h:",    "http://h:80/p",
        "unix:",     "a b:1", "h:80\r\n", "ftp://x", "h:123456", "u@h:80"
    };
    struct top_address a;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_int_equal(top_address_parse(good[i].text, &a, NULL), 0);
        assert_string_equal(a.path, good[i].path);
        if (good[i].host) {
            assert_string_equal(a.host, good[i].host);
            assert_string_equal(a.port, good[i].port);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = { .code = ERR_OK };
        assert_int_equal(top_address_parse(bad[i], &a, &err), -ERR_USAGE);
        assert_int_not_equal(err.hint[0], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_totals_sorted_by_c1, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_head_says_what_is_lost_in_60_columns, set_up_view,
                                        tear_down_view),
        cmocka_unit_test_setup_teardown(test_hostile_names_are_text, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_rates_after_a_second_frame, set_up_view,
                                        tear_down_view),
        cmocka_unit_test_setup_teardown(test_since_mark, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_filter_sort_and_search, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_tree_and_one_function, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_one_function_with_losses, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_tree_folds, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_columns_are_chosen, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_fits_every_size, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_ascii_where_utf8_is_not_shown, set_up_view,
                                        tear_down_view),
        cmocka_unit_test_setup_teardown(test_table_has_head_titles_and_rows, set_up_view,
                                        tear_down_view),
        cmocka_unit_test_setup_teardown(test_interval_is_asked_for, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_freeze, set_up_view, tear_down_view),
        cmocka_unit_test_setup_teardown(test_samples_are_sorted_by_hits, set_up_view,
                                        tear_down_view),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
