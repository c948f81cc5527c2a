/* report: what people see, line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "probe/base/util.h"
#include "profiler/views/report.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

typedef int reporter(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out);

static int print_summary(const struct profile *p, const struct report_options *o,
                         const struct text_sink *out)
{
    report_summary(p, o, out);
    return 0;
}

static void expect_report(reporter *report, const struct profile *p, const struct report_options *o,
                          const char *text)
{
    struct memory_sink m = { 0 };
    assert_int_equal(report(p, o, sink_to(&m)), 0);
    assert_string_equal(sink_text(&m), text);
    sink_free(&m);
}

static int print_header(const struct profile *p, const struct report_options *o,
                        const struct text_sink *out)
{
    report_header(p, o, out);
    return 0;
}

static void add_loss(struct profile *p, struct coverage_row row)
{
    assert_int_equal(profile_add_coverage(p, &row, 1, NULL), 0);
}

static const char *report_shown(const struct profile *p, size_t k)
{
    return *p->functions[k].qualified ? p->functions[k].qualified : p->functions[k].name;
}

static void report__sample__function_list(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    expect_report(
        report_functions, p, &(struct report_options){ 0 },
        "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
        "  hits hits%     C1   C1%  C1+ch     C2  C2+ch cache   ?%  function\n"
        "     2  18.2   2035  81.4   2035     42     42     1       list.c:walk\n"
        "     1   9.1    145   5.8   2345      2     47     8   20 ?main\n"
        "     1   9.1    100   4.0    100      2      2     0       list::walk(..)\n"
        "     1   9.1     80   3.2     80      2      2     -       0xac000000\n"
        "     1   9.1     55   2.2    155      1      3    48       interrupt 0x8c000600\n"
        "     2  18.2     35   1.4   2070      0     42     4       list_sum\n"
        "     2  18.2     35   1.4     35      1      1     5       tree.c:walk\n"
        "     1   9.1     15   0.6     50      0      1     7   50 ?tree_depth\n");
    profile_free(p);
}

static void report__sample__tree(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    expect_report(report_tree, p, &(struct report_options){ 0 },
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits     C1  C1+ch C1+ch%     C2  C2+ch  call path\n"
                  "     1    145   2345   93.8      2     47 ?main\n"
                  "     2     35   2070   82.8      0     42  ├─list_sum\n"
                  "     2   2035   2035   81.4     42     42  │ └─list.c:walk\n"
                  "     1     80     80    3.2      2      2  ├─0xac000000\n"
                  "     1     15     50    2.0      0      1 ?└─tree_depth\n"
                  "     1     20     35    1.4      1      1    └─tree.c:walk\n"
                  "     1     15     15    0.6      0      0      └─tree.c:walk\n"
                  "     1     55    155    6.2      1      3  interrupt 0x8c000600\n"
                  "     1    100    100    4.0      2      2  └─list::walk(node*, int)\n");
    profile_free(p);
}

/* Everything takes twice its estimate, +- 0.5 of it; list.c:walk three times, +- 0.3. 0: nothing is
 * known beyond the estimate. */
static struct profile *estimated_profile(uint64_t measurements)
{
    struct profile *p = sample_profile();
    /* an earlier set */
    const struct event e[] = { { .kind = EVENT_RATE, .c1 = 7000000, .c2 = 1, .amount = 1 },
                               { .kind = EVENT_RATE,
                                 .c1 = measurements ? 2000000 : 1000000,
                                 .c2 = 500000,
                                 .amount = measurements,
                                 .vector = EVENT_BY_STAMPS },
                               { .kind = EVENT_RATE,
                                 .flags = EVENT_HAS_PC | EVENT_HAS_TARGET,
                                 .c1 = 3000000,
                                 .c2 = 300000 } };
    struct rates r = { .given = false };
    size_t k = 0;
    while (k < p->nfunctions && strcmp(report_shown(p, k), "list.c:walk"))
        k++;
    assert_true(k < p->nfunctions);
    for (size_t i = 0; i < (measurements ? 3 : 2); i++) {
        struct event ev = e[i];
        ev.pc = i == 2 ? p->functions[k].low : 0;
        ev.target = i == 2 ? p->functions[k].high : 0;
        assert_int_equal(rates_add(&r, &ev), 0);
    }
    assert_int_equal(profile_take_rates(p, &r, NULL), 0);
    rates_fini(&r);
    return p;
}

static void report__estimated_counter__corrected_alike_everywhere_with_its_spread(void **state)
{
    (void)state;
    struct profile *p = estimated_profile(12);
    struct memory_sink m = { 0 };
    expect_report(
        report_functions, p, &(struct report_options){ 0 },
        "C1 elapsed-time (cycles, estimate), C2 icache-miss (count)\n"
        "  hits hits%     C1   C1%   +-%  C1+ch     C2  C2+ch cache   ?%  function\n"
        "     2  18.2   6105  86.8    10   6105     42     42     1       list.c:walk\n"
        "     1   9.1    290   4.1    25   6725      2     47     8   20 ?main\n"
        "     1   9.1    200   2.8    25    200      2      2     0       list::walk(..)\n"
        "     1   9.1    160   2.3    25    160      2      2     -       0xac000000\n"
        "     1   9.1    110   1.6    25    310      1      3    48       interrup..00600\n"
        "     2  18.2     70   1.0    26   6175      0     42     4       list_sum\n"
        "     2  18.2     70   1.0    26     70      1      1     5       tree.c:walk\n"
        "     1   9.1     30   0.4    27    100      0      1     7   50 ?tree_depth\n");
    expect_report(report_tree, p, &(struct report_options){ 0 },
                  "C1 elapsed-time (cycles, estimate), C2 icache-miss (count)\n"
                  "  hits     C1  C1+ch C1+ch%     C2  C2+ch  call path\n"
                  "     1    290   6725   95.6      2     47 ?main\n"
                  "     2     70   6175   87.8      0     42  ├─list_sum\n"
                  "     2   6105   6105   86.8     42     42  │ └─list.c:walk\n"
                  "     1    160    160    2.3      2      2  ├─0xac000000\n"
                  "     1     30    100    1.4      0      1 ?└─tree_depth\n"
                  "     1     40     70    1.0      1      1    └─tree.c:walk\n"
                  "     1     30     30    0.4      0      0      └─tree.c:walk\n"
                  "     1    110    310    4.4      1      3  interrupt 0x8c000600\n"
                  "     1    200    200    2.8      2      2  └─list::walk(node*, int)\n");
    expect_report(print_summary, p, &(struct report_options){ 0 },
                  "total     11 hits in 1 pass\n"
                  "C1        7,035 elapsed-time cycles\n"
                  "C2        50 icache-miss\n"
                  "estimate  C1: a cycle table, corrected x2.81 by 12 time stamps;\n"
                  "          with 95 % probability the true C1 is within +- percent of it\n"
                  "coverage  22 events, 0 lost, 1 doubtful\n"
                  "          ? marks what may in part be a neighbour's; ?% is how much, at most\n"
                  "time      5,000 target cycles, 2.5 s on the host\n"
                  "slow-down 2.5x (agent +1.0, moving events +0.5)\n");
    for (size_t k = 0; k < p->nfunctions; k++)
        p->functions[k].cache_line =
            PROFILE_NOT_CACHED; /* a part without a cache: the column goes */
    report_functions(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_non_null(strstr(sink_text(&m), "C1%   +-%  C1+ch     C2  C2+ch   ?%  function\n"));
    sink_free(&m);
    profile_free(p);
}

static void report__estimated_by_the_table_alone__said(void **state)
{
    (void)state;
    struct profile *p = estimated_profile(0);
    struct memory_sink m = { 0 };
    assert_int_equal(p->total_c1, 2500);
    report_functions(p, &(struct report_options){ 0 }, sink_to(&m));
    report_summary(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_non_null(strstr(sink_text(&m), "C1 elapsed-time (cycles, estimate)"));
    assert_non_null(strstr(sink_text(&m), "estimate  C1: a cycle table alone"));
    assert_null(strstr(sink_text(&m), "+-"));
    sink_free(&m);
    profile_free(p);
}

static void report__header__what_the_profile_says_of_itself(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    expect_report(print_header, p, &(struct report_options){ 0 },
                  "profile   small-le.elf, build 00ff10, sh7750, sim:sh7750\n"
                  "          2026-11-21 13:45 UTC, 1 pass, nothing lost\n"
                  "\n");
    assert_true(profile_c1_seen(p) == 1);
    add_loss(p, (struct coverage_row){ .kind = COVERAGE_LOST, .amount = 7, .c1 = 250 });
    p->info.elf = "/a/folder/and a program with a name that is as long as this is";
    memset(p->info.build_id, 0xAB, p->info.build_id_len = 20);
    p->info.probe = "ftdi:a-serial-number,that=somebody,has=made,for=us";
    p->info.passes = 12;
    p->info.when = 0;
    expect_report(
        print_header, p, &(struct report_options){ 0 },
        "profile   and a program with a nam, build abababababab.., sh7750, ftdi:a-serial-\n"
        "          12 passes, 90.00 % of C1 seen\n"
        "\n");
    add_loss(
        p, (struct coverage_row){ .kind = COVERAGE_AWAY, .cause = EVENT_CAUSE_LINK, .amount = 1 });
    p->info.elf = p->info.target = NULL;
    p->info.build_id_len = 0;
    expect_report(print_header, p, &(struct report_options){ 0 },
                  "profile   ftdi:a-serial-number,that=somebody,has=made,for=us\n"
                  "          12 passes, with gaps\n"
                  "\n");
    p->info.probe = NULL;
    p->info.passes = 0;
    p->info.sums_only = true;
    assert_true(profile_c1_seen(p) < 0);
    expect_report(print_header, p, &(struct report_options){ 0 }, "");
    profile_free(p);
}

static void report__threshold__rows_that_meet_it_and_a_count(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    struct report_options o = { .ascii = true, .sort = REPORT_SORT_NAME };
    assert_int_equal(threshold_parse(">=15%", &o.hits, NULL), 0);
    expect_report(
        report_functions, p, &o,
        "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
        "  hits hits%     C1   C1%  C1+ch     C2  C2+ch cache   ?%  function\n"
        "     2  18.2   2035  81.4   2035     42     42     1       list.c:walk\n" /* both are
                                                                                      named walk:
                                                                                      by cost */
        "     2  18.2     35   1.4   2070      0     42     4       list_sum\n"
        "     2  18.2     35   1.4     35      1      1     5       tree.c:walk\n"
        "5 functions outside of the hits threshold not shown\n");
    /* A path stays if one below it meets the threshold. */
    expect_report(report_tree, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits     C1  C1+ch C1+ch%     C2  C2+ch  call path\n"
                  "     1    145   2345   93.8      2     47 ?main\n"
                  "     2     35   2070   82.8      0     42  `-list_sum\n"
                  "     2   2035   2035   81.4     42     42    `-list.c:walk\n"
                  "6 call paths outside of the hits threshold not shown\n");
    profile_free(p);
}

/* Their own order, and any of them. */
static void report__columns_asked_for__those_in_that_order(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    struct report_options o = { .limit = 2, .ascii = true };
    assert_int_equal(cell_list_parse("?%,c1+children,C1+ch%,c2%,HITS,function", &o.columns, NULL),
                     0);
    assert_int_equal(report_check_columns(p, &o, false, NULL), 0);
    expect_report(report_functions, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  ?%  C1+ch C1+ch%   C2%   hits  function\n"
                  "       2035   81.4  84.0      2  list.c:walk\n"
                  "  20   2345   93.8   4.0      1 ?main\n"
                  "6 more functions not shown\n");
    assert_int_equal(cell_list_parse("line,c2+ch%,c1%", &o.columns, NULL), 0);
    assert_int_equal(report_check_columns(p, &o, true, NULL), 0);
    expect_report(report_tree, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "cache C2+ch%   C1%  call path\n"
                  "    8   94.0   5.8 ?main\n"
                  "    4   84.0   1.4  +-list_sum\n"
                  "more call paths not shown\n");
    profile_free(p);
}

static void report__columns_that_cannot_be__refused_with_what_there_is(void **state)
{
    static const struct {
        const char *text;
        bool tree, up, samples;
        const char *what, *hint; /* in the message */
    } rows[] = {
        { "c3", false, false, false, "no column \"c3\"",
          "hits%, +-, hits+-, C1, C1%, smp%, smp+-, seen%, C1+-, +-%, C1+ch" },
        { "", false, false, false, "no column \"\"", "help columns" },
        { "function", false, false, false, "no column \"function\"", "help columns" },
        { "c1,,c2", false, false, false, "no column \"\"", "C2+ch%, cache, ?%" },
        { "hits,c1,Hits", false, false, false, "hits is given twice", "once" },
        { "+-", false, false, false, "no +- here: hits were counted", "here are hits, hits%, C1," },
        { "+-%", false, false, false, "no +-% here: C1 is no estimate", "here are hits" },
        { "?%", true, false, false, "of functions, not of call paths", "C2+ch%, cache" },
        { "c1+ch", true, true, false, "--tree=up has a function's own",
          "here are hits, hits%, C1, C1%, C2, C2%" },
        { "c1", false, false, true, "samples have hits only", "here are hits, hits%, +-, cache" },
        { "c1,c1%,c1+ch,c1+ch%,c2,c2%,c2+ch,c2+ch%,hits,hits%,cache", false, false, false,
          "need 87 columns of the terminal, and there are 80", "fewer" },
    };
    (void)state;
    struct profile *p = sample_profile();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { .code = ERR_OK };
        struct report_options o = { .up = rows[i].up };
        p->type = rows[i].samples ? PROFILE_STATISTICAL : PROFILE_TRACE;
        int ret = cell_list_parse(rows[i].text, &o.columns, &err);
        ret = ret < 0 ? ret : report_check_columns(p, &o, rows[i].tree, &err);
        print_message("  %s: %s; %s\n", rows[i].text, err.what, err.hint);
        assert_int_equal(ret, -ERR_USAGE);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_non_null(strstr(err.hint, rows[i].hint));
    }
    p->type = PROFILE_TRACE;
    profile_free(p);
}

static void report__losses__shares_of_what_was_seen_with_intervals(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    struct memory_sink m = { 0 };
    struct report_options o = { .limit = 2 };
    add_loss(p, (struct coverage_row){ .kind = COVERAGE_LOST, .amount = 7, .c1 = 100 });
    p->info.stretches = 1234;
    for (size_t i = 0; i < p->nfunctions; i++) {
        p->functions[i].c1_half = 0.0005;
        p->functions[i].hits_half = 0.0432;
    }
    expect_report(report_functions, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits hits%     C1 seen%  C1+-  C1+ch     C2  C2+ch   ?%  function\n"
                  "     2  18.2   2035  84.8  0.05   2035     42     42       list.c:walk\n"
                  "     1   9.1    145   6.0  0.05   2345      2     47   20 ?main\n"
                  "6 more functions not shown\n");
    assert_int_equal(cell_list_parse("c1%,hits+-,cache", &o.columns, NULL), 0);
    assert_int_equal(report_check_columns(p, &o, false, NULL), 0);
    expect_report(report_functions, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  C1% hits+- cache  function\n"
                  " 81.4    4.3     1  list.c:walk\n"
                  "  5.8    4.3     8 ?main\n"
                  "6 more functions not shown\n");
    report_summary(p, &o, sink_to(&m));
    assert_non_null(strstr(sink_text(&m), "coverage  22 events, 7 lost, 1 doubtful\n"
                                          "          96.00 % of C1 seen\n"
                                          "          with 95 % probability the true share of C1 is "
                                          "within +- C1+- of\n"
                                          "          seen%, if losses are like the 1,234 stretches "
                                          "between them\n"));
    sink_free(&m);
    p->info.stretches = 0; /* one stretch tells nothing */
    assert_int_equal(cell_list_parse("c1+-", &o.columns, NULL), 0);
    assert_int_equal(report_check_columns(p, &o, false, NULL), -ERR_USAGE);
    profile_free(p);
}

static struct report_options hot_options(const char *a, const char *fails)
{
    struct report_options o = { .ascii = true };
    assert_int_equal(hot_add(&o.hot, "--hot", a, false, NULL), 0);
    if (fails)
        assert_int_equal(hot_add(&o.hot, "--fail-if-any", fails, true, NULL), 0);
    return o;
}

static void report__thresholds_of_hot_spots__mark_rows_and_count_them(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    struct hot_failures failures = { .n = 0 };
    struct report_options o = hot_options("c1 >= 4%", "?%>=20");
    o.limit = 3;
    o.failures = &failures;
    assert_int_equal(report_check_columns(p, &o, false, NULL), 0);
    expect_report(report_functions, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits hits%     C1   C1%  C1+ch     C2  C2+ch cache   ?%  function\n"
                  "     2  18.2   2035  81.4   2035     42     42     1      !list.c:walk\n"
                  "     1   9.1    145   5.8   2345      2     47     8   20!?main\n"
                  "     1   9.1    100   4.0    100      2      2     0      !list::walk(..)\n"
                  "5 more functions not shown\n"
                  "4 functions marked !: c1 >= 4%, ?%>=20\n"); /* one of them is behind the limit */
    assert_int_equal(failures.n, 2);
    assert_string_equal(failures.names, "main, tree_depth");
    o = hot_options("c1+ch%>90", "hits>1");
    failures = (struct hot_failures){ .n = 0 };
    o.failures = &failures;
    o.limit = 4;
    expect_report(report_tree, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits     C1  C1+ch C1+ch%     C2  C2+ch  call path\n"
                  "     1    145   2345   93.8      2     47!?main\n"
                  "     2     35   2070   82.8      0     42 !+-list_sum\n"
                  "     2   2035   2035   81.4     42     42 !| `-list.c:walk\n"
                  "     1     80     80    3.2      2      2  +-0xac000000\n"
                  "more call paths not shown\n"
                  "3 call paths marked !: c1+ch%>90, hits>1\n");
    assert_string_equal(failures.names, "list_sum, list.c:walk");
    o = hot_options("c2>1000", NULL);
    o.limit = 1;
    expect_report(report_functions, p, &o,
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits hits%     C1   C1%  C1+ch     C2  C2+ch cache   ?%  function\n"
                  "     2  18.2   2035  81.4   2035     42     42     1       list.c:walk\n"
                  "7 more functions not shown\n"
                  "no function meets c2>1000\n");
    profile_free(p);
}

static void report__hot_rows_on_a_terminal__have_a_colour(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p = sample_profile();
    struct report_options o = hot_options("c1>=5%", NULL);
    o.color = true;
    report_functions(p, &o, sink_to(&m));
    assert_non_null(strstr(sink_text(&m), "\033[1;33m     2  18.2   2035"));
    assert_non_null(strstr(sink_text(&m), "!list.c:walk\033[0m\n"));
    assert_non_null(strstr(sink_text(&m), "\033[1;31m     1   9.1    145")); /* doubtful, too */
    assert_non_null(strstr(sink_text(&m), "\033[31m     1   9.1     15"));   /* that alone */
    assert_non_null(strstr(sink_text(&m), "\n     2  18.2     35"));
    sink_free(&m);
    report_tree(p, &o, sink_to(&m));
    assert_non_null(strstr(sink_text(&m), "\033[1;33m     2   2035   2035"));
    sink_free(&m);
    profile_free(p);
}

static void report__thresholds_that_cannot_be__refused(void **state)
{
    static const struct {
        const char *text;
        bool tree;
        const char *what;
    } rows[] = {
        { "c1", false, "\"c1\" is no column with a threshold" },
        { ">=10%", false, "no column \"\"" },
        { "c3>1", false, "no column \"c3\"" },
        { "c1>=many", false, "\">=many\" is no threshold" },
        { "c1>=10%%", false, "is no threshold" },
        { "cache>=10%", false, "there is no sum of cache" },
        { "+->1", false, "no +- here" },
        { "?%>10", true, "not of call paths" },
        { "c1>=000000000000000000000000000000000000000000000000001", false, "is no column with" },
    };
    (void)state;
    struct profile *p = sample_profile();
    struct report_options many = { .width = 0 };
    struct err err = { .code = ERR_OK };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct report_options o = { .width = 0 };
        int ret = hot_add(&o.hot, "--hot", rows[i].text, false, &err);
        ret = ret < 0 ? ret : report_check_columns(p, &o, rows[i].tree, &err);
        print_message("  %s: %s; %s\n", rows[i].text, err.what, err.hint);
        assert_int_equal(ret, -ERR_USAGE);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_string_not_equal(err.hint, "");
    }
    for (int i = 0; i < HOT_MOST; i++)
        assert_int_equal(hot_add(&many.hot, "--hot", "c1>1", false, NULL), 0);
    assert_int_equal(hot_add(&many.hot, "--hot", "c1>1", false, &err), -ERR_USAGE);
    assert_int_equal(many.hot.n, HOT_MOST);
    profile_free(p);
}

static void report__limit__says_that_there_is_more(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    expect_report(report_functions, p, &(struct report_options){ .limit = 1 },
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits hits%     C1   C1%  C1+ch     C2  C2+ch cache   ?%  function\n"
                  "     2  18.2   2035  81.4   2035     42     42     1       list.c:walk\n"
                  "7 more functions not shown\n");
    expect_report(report_tree, p, &(struct report_options){ .limit = 1, .ascii = true },
                  "C1 elapsed-time (cycles), C2 icache-miss (count)\n"
                  "  hits     C1  C1+ch C1+ch%     C2  C2+ch  call path\n"
                  "     1    145   2345   93.8      2     47 ?main\n"
                  "more call paths not shown\n");
    profile_free(p);
}

static void report__color__doubtful_values_red_and_nothing_else(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p = sample_profile();
    report_functions(p, &(struct report_options){ .color = true }, sink_to(&m));
    const char *text = sink_text(&m);
    assert_non_null(strstr(
        text, "\033[31m     1   9.1    145   5.8   2345      2     47     8   20 ?main\033[0m\n"));
    assert_non_null(strstr(text, "\n     2  18.2   2035")); /* not doubtful: no colour */
    sink_free(&m);
    report_functions(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_null(strchr(sink_text(&m), '\033'));
    sink_free(&m);
    profile_free(p);
}

static void report__all__functions_never_hit_too(void **state)
{
    (void)state;
    struct symbols *s;
    struct memory_sink m = { 0 };
    struct profile *p = sample_profile();
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0);
    report_functions(p, &(struct report_options){ .all = true, .symbols = s }, sink_to(&m));
    assert_non_null(strstr(sink_text(&m),
                           "     0   0.0      0   0.0      0      0      0     -       plain\n"));
    assert_non_null(strstr(sink_text(&m), "  start\n"));
    const char *main_row = strstr(sink_text(&m), "?main\n");
    assert_non_null(main_row);
    assert_null(strstr(main_row + 1, " main\n")); /* once is enough */
    sink_free(&m);
    symbols_close(s);
    profile_free(p);
}

static void report__summary__totals_coverage_and_slow_down(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    expect_report(print_summary, p, &(struct report_options){ 0 },
                  "total     11 hits in 1 pass\n"
                  "C1        2,500 elapsed-time cycles\n"
                  "C2        50 icache-miss\n"
                  "coverage  22 events, 0 lost, 1 doubtful\n"
                  "          ? marks what may in part be a neighbour's; ?% is how much, at most\n"
                  "time      5,000 target cycles, 2.5 s on the host\n"
                  "slow-down 2.5x (agent +1.0, moving events +0.5)\n");
    add_loss(p, (struct coverage_row){
                    .kind = COVERAGE_LOST, .amount = 1234567, .c1 = 250, .bound = true });
    p->info.doubtful = 0;
    p->info.time.host_ns = p->info.time.target_cycles = 0;
    p->info.passes = 19;
    p->info.note = "2 places untraced";
    expect_report(print_summary, p, &(struct report_options){ 0 },
                  "total     11 hits in 19 passes\n"
                  "C1        2,500 elapsed-time cycles\n"
                  "C2        50 icache-miss\n"
                  "coverage  22 events, at most 1,234,567 lost, 0 doubtful\n"
                  "          90.00 % of C1 seen\n"
                  "note      2 places untraced\n");
    p->ncoverage = 0;
    add_loss(
        p, (struct coverage_row){ .kind = COVERAGE_AWAY, .cause = EVENT_CAUSE_LINK, .amount = 2 });
    p->info.note = NULL;
    expect_report(print_summary, p, &(struct report_options){ 0 },
                  "total     11 hits in 19 passes\n"
                  "C1        2,500 elapsed-time cycles\n"
                  "C2        50 icache-miss\n"
                  "coverage  22 events, 0 lost, 0 doubtful\n"
                  "          the board was away 2 times: what ran then is not in here\n");
    p->info.note = "shinobi: the routine sbIrqHandler was patched; 3 places are not traced: BL is "
                   "set there, or they are in ROM";
    p->info.counter[0].name = "bus-cycles"; /* says its unit itself */
    struct memory_sink list = { 0 };
    report_functions(p, &(struct report_options){ 0 }, sink_to(&list));
    assert_memory_equal(sink_text(&list), "C1 bus-cycles, C2 icache-miss (count)\n", 38);
    sink_free(&list);
    struct memory_sink m = { 0 };
    report_summary(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_non_null(strstr(sink_text(&m), "C1        2,500 bus-cycles\n"));
    assert_non_null(strstr(
        sink_text(&m), "note      shinobi: the routine sbIrqHandler was patched; 3 places are not\n"
                       "          traced: BL is set there, or they are in ROM\n"));
    sink_free(&m);
    profile_free(p);
}

static void report__statistical__hits_only(void **state)
{
    (void)state;
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    p->type = PROFILE_STATISTICAL;
    p->functions = arena_alloc(&p->arena, sizeof *p->functions);
    p->functions[0] = (struct profile_function){ .name = "walk",
                                                 .linkage = "",
                                                 .qualified = "",
                                                 .low = 0x20,
                                                 .high = 0x40,
                                                 .hits = 123456,
                                                 .cache_line = 1 };
    p->nfunctions = 1;
    p->total_hits = 123456;
    expect_report(report_functions, p, &(struct report_options){ 0 },
                  "  hits hits%    +- cache  function\n"
                  "123.5k   100  0.00     1  walk\n");
    expect_report(report_tree, p, &(struct report_options){ 0 },
                  "a statistical profile has no call paths\n");
    expect_report(print_summary, p, &(struct report_options){ 0 },
                  "total     123,456 hits (samples)\n");
    profile_free(p);
}

static void report__one_counter__no_columns_for_the_other(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p = sample_profile();
    p->info.counter[1] = (struct profile_counter){ 0 };
    p->total_c2 = 0;
    report_functions(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_null(strstr(sink_text(&m), "C2"));
    sink_free(&m);
    profile_free(p);
}

static void report__nothing_hit__says_so(void **state)
{
    (void)state;
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    expect_report(report_functions, p, &(struct report_options){ 0 },
                  "  hits hits% cache  function\nno function was hit\n");
    expect_report(report_tree, p, &(struct report_options){ 0 }, "  hits  call path\n");
    profile_free(p);
}

/* ---- widths ---- */

static unsigned widest_line(const char *text)
{
    unsigned most = 0, n = 0;
    for (; *text; text++) {
        n = *text == '\n' ? 0 : n + ((*text & 0xC0) != 0x80);
        most = n > most ? n : most;
    }
    return most;
}

/* A chain as deep as they come, with names as long as they come and numbers as big as they come. */
static struct profile *deep_profile(uint32_t depth)
{
    struct profile *p;
    char name[600];
    assert_int_equal(profile_new(&p, NULL), 0);
    p->functions = arena_alloc(&p->arena, depth * sizeof *p->functions);
    p->nodes = arena_alloc(&p->arena, depth * sizeof *p->nodes);
    p->nfunctions = p->nnodes = depth;
    p->total_hits = p->total_c1 = p->total_c2 = UINT64_MAX;
    for (uint32_t i = 0; i < depth; i++) {
        int n = snprintf(name, sizeof name, "space::outer<int, std::vector<%u> >::", i);
        memset(name + n, 'x', (i * 7) % 300);
        strcpy(name + n + (i * 7) % 300, "(int, char const*) const");
        p->functions[i] = (struct profile_function){ .name = arena_str(&p->arena, name),
                                                     .linkage = "",
                                                     .qualified = "",
                                                     .hits = UINT64_MAX / (i + 1),
                                                     .c1 = UINT64_MAX / (i + 1),
                                                     .c1_children = UINT64_MAX,
                                                     .c2 = 99999 + i,
                                                     .c2_children = 1000000 + i,
                                                     .cache_line = 255,
                                                     .doubtful = i % 2 };
        p->nodes[i] = (struct profile_node){ .parent = i ? i - 1 : PROFILE_NO_PARENT,
                                             .function = i,
                                             .hits = 1,
                                             .c1 = i,
                                             .c1_children = UINT64_MAX - i,
                                             .doubtful = i % 3 == 0 };
    }
    return p;
}

static void report__any_profile__no_line_too_wide(void **state)
{
    static const unsigned widths[] = { 40, 80, 81, 200 };
    (void)state;
    struct profile *p = deep_profile(5000);
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        struct memory_sink m = { 0 };
        struct report_options o = { .width = widths[i], .ascii = i % 2 };
        unsigned limit = MAX(widths[i], 76u);
        report_functions(p, &o, sink_to(&m));
        report_tree(p, &o, sink_to(&m));
        assert_true(widest_line(sink_text(&m)) <= limit);
        sink_free(&m);
    }
    profile_free(p);
}

/* Tables of a large profile need memory of their own. */
static void report__no_memory__is_an_error_and_nothing_is_shown(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its allocator ends the program */
#endif
    struct memory_sink m = { 0 };
    struct profile *p = deep_profile(60000);
    struct rlimit old, none;
    getrlimit(RLIMIT_AS, &old);
    none = (struct rlimit){ 0, old.rlim_max };
    setrlimit(RLIMIT_AS, &none);
    int functions = report_functions(p, &(struct report_options){ 0 }, sink_to(&m)),
        tree = report_tree(p, &(struct report_options){ 0 }, sink_to(&m));
    setrlimit(RLIMIT_AS, &old);
    assert_int_equal(functions, -ERR_NOMEM);
    assert_int_equal(tree, -ERR_NOMEM);
    assert_string_equal(sink_text(&m), "");
    assert_int_equal(report_tree(p, &(struct report_options){ 0 }, sink_to(&m)), 0);
    sink_free(&m);
    profile_free(p);
}

static void report__sums_that_do_not_add_up__columns_hold(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p = deep_profile(20);
    p->total_hits = p->total_c1 = 1;
    report_functions(p, &(struct report_options){ 0 }, sink_to(&m));
    report_tree(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_true(widest_line(sink_text(&m)) <= 80);
    assert_non_null(strstr(sink_text(&m), ">999"));
    sink_free(&m);
    profile_free(p);
}

static void report_number__six_columns__exact_while_it_can(void **state)
{
    static const struct {
        unsigned long long value;
        const char *text;
    } rows[] = { { 0, "0" },
                 { 99999, "99999" },
                 { 100000, "100.0k" },
                 { 123456, "123.5k" },
                 { 999949, "999.9k" },
                 { 999950, "1.000M" },
                 { 1234567, "1.235M" },
                 { 9999499, "9.999M" },
                 { 9999500, "10.00M" },
                 { 99994999, "99.99M" },
                 { 99995000, "100.0M" },
                 { 999950000, "1.000G" },
                 { 18446744073709551615ull, "18.45E" } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[32];
        assert_string_equal(report_number(rows[i].value, buf, sizeof buf), rows[i].text);
    }
    for (unsigned long long v = 1; v < UINT64_MAX / 3; v += v / 7 + 1) {
        char buf[32];
        assert_true(strlen(report_number(v, buf, sizeof buf)) <= 6);
    }
}

static void report_sort__every_column__orders_rows(void **state)
{
    static const struct {
        const char *text;
        bool reverse;
        const char *first, *last;
    } rows[] = {
        { "c1", false, "list.c:walk", "tree_depth" },
        { "C1", true, "tree_depth", "list.c:walk" },
        { "hits", false, "list.c:walk", "tree_depth" },
        { "c1+children", false, "main", "tree.c:walk" },
        { "c1-children", true, "tree.c:walk", "main" },
        { "c2", false, "list.c:walk", "tree_depth" },
        { "c2+children", false, "main", "tree_depth" },
        { "line", false, "list::walk(node*, int)", "0xac000000" },
        { "name", false, "0xac000000", "tree_depth" },
        { "address", false, "interrupt 0x8c000600", "0xac000000" },
    };
    (void)state;
    struct profile *p = sample_profile();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct memory_sink m = { 0 };
        struct report_options o = { .reverse = rows[i].reverse, .width = 100 };
        char first[80], last[80];
        print_message("  %s\n", rows[i].text);
        assert_int_equal(report_sort_parse(rows[i].text, &o.sort, NULL), 0);
        report_functions(p, &o, sink_to(&m));
        const char *row = strchr(strchr(sink_text(&m), '\n') + 1, '\n');
        snprintf(first, sizeof first, "%s\n", rows[i].first);
        snprintf(last, sizeof last, "%s\n", rows[i].last);
        const char *found = strstr(row, first);
        assert_non_null(found);
        assert_ptr_equal(strchr(row + 1, '\n'), found + strlen(first) - 1);
        assert_string_equal(sink_text(&m) + m.len - strlen(last), last);
        sink_free(&m);
    }
    struct err err = { .code = ERR_OK };
    enum report_sort sort;
    assert_int_equal(report_sort_parse("cost", &sort, &err), -ERR_USAGE);
    assert_non_null(strstr(err.hint, "c1+children"));
    profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report__sample__function_list),
        cmocka_unit_test(report__sample__tree),
        cmocka_unit_test(report__estimated_counter__corrected_alike_everywhere_with_its_spread),
        cmocka_unit_test(report__estimated_by_the_table_alone__said),
        cmocka_unit_test(report__header__what_the_profile_says_of_itself),
        cmocka_unit_test(report__threshold__rows_that_meet_it_and_a_count),
        cmocka_unit_test(report__columns_asked_for__those_in_that_order),
        cmocka_unit_test(report__columns_that_cannot_be__refused_with_what_there_is),
        cmocka_unit_test(report__losses__shares_of_what_was_seen_with_intervals),
        cmocka_unit_test(report__thresholds_of_hot_spots__mark_rows_and_count_them),
        cmocka_unit_test(report__hot_rows_on_a_terminal__have_a_colour),
        cmocka_unit_test(report__thresholds_that_cannot_be__refused),
        cmocka_unit_test(report__limit__says_that_there_is_more),
        cmocka_unit_test(report__color__doubtful_values_red_and_nothing_else),
        cmocka_unit_test(report__all__functions_never_hit_too),
        cmocka_unit_test(report__summary__totals_coverage_and_slow_down),
        cmocka_unit_test(report__statistical__hits_only),
        cmocka_unit_test(report__one_counter__no_columns_for_the_other),
        cmocka_unit_test(report__nothing_hit__says_so),
        cmocka_unit_test(report__any_profile__no_line_too_wide),
        cmocka_unit_test(report__no_memory__is_an_error_and_nothing_is_shown),
        cmocka_unit_test(report__sums_that_do_not_add_up__columns_hold),
        cmocka_unit_test(report_number__six_columns__exact_while_it_can),
        cmocka_unit_test(report_sort__every_column__orders_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
