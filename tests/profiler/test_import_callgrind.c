/* Callgrind's files, Valgrind's and our own, become functions and calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/views/calls.h"
#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "profiler/views/json_read.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/import_check.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static struct profile *read_text(const char *text, size_t n)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    int ret = import_callgrind((const uint8_t *)text, n, &p, &err);
    if (ret < 0)
        fail_msg("%s", err.what);
    import_check_profile(p);
    return p;
}

static struct profile *read_corpus(const char *name)
{
    char path[400];
    size_t n;
    snprintf(path, sizeof path, SOURCE_DIR "/tests/fuzz/corpus/fuzz_callgrind/%s", name);
    char *text = (char *)load_file(path, &n);
    assert_true(import_callgrind_is((const uint8_t *)text, n));
    struct profile *p = read_text(text, n);
    free(text);
    return p;
}

static uint32_t index_of(const struct profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, name))
            return i;
    fail_msg("no function %s", name);
    return 0;
}

static const struct profile_function *function_named(const struct profile *p, const char *name)
{
    return &p->functions[index_of(p, name)];
}

static void import_callgrind__valgrinds_file__has_its_sums(void **state)
{
    (void)state;
    struct profile *p = read_corpus("valgrind.out");
    const struct profile_function *main_ = function_named(p, "main"),
                                  *fib = function_named(p, "fib"),
                                  *puts_ = function_named(p, "puts");
    assert_string_equal(p->info.counter[0].name, "Ir");
    assert_string_equal(p->info.counter[1].name, "Dr");
    assert_int_equal(p->total_c1, 60);
    assert_int_equal(p->total_c2, 12);
    assert_int_equal(main_->c1, 25); /* with the inlined code of another file */
    assert_int_equal(main_->c1_children, 60);
    assert_true(main_->hits_unknown);
    assert_string_equal(main_->file, "t.c");
    assert_int_equal(fib->hits, 4);
    assert_int_equal(fib->c1, 30);
    assert_int_equal(fib->c1_children, 30); /* not the 40 of its calls of itself */
    assert_int_equal(puts_->hits, 2);
    assert_null(puts_->file);
    assert_false(fib->doubtful);
    assert_int_equal(p->info.nremarks, 1); /* Dw */
    assert_string_equal(p->info.remarks[0].kind, "events-left-out");
    assert_false(profile_knows(p, PROFILE_PATHS));
    assert_true(profile_knows(p, PROFILE_HITS));
    profile_free(p);
}

static void calls_of__a_graph__has_the_files_calls(void **state)
{
    (void)state;
    struct profile *p = read_corpus("valgrind.out");
    struct calls c;
    assert_int_equal(calls_of(p, index_of(p, "fib"), CALLS_CALLERS, &c, NULL), 0);
    assert_int_equal(c.n, 2);
    for (size_t i = 0; i < c.n; i++) {
        bool itself = c.row[i].function == index_of(p, "fib");
        assert_int_equal(c.row[i].hits, itself ? 3 : 1);
        assert_int_equal(c.row[i].c1_children, itself ? 0 : 30);
        assert_int_equal(c.row[i].within, itself);
        assert_true(c.row[i].own_unknown);
    }
    free(c.row);
    assert_int_equal(calls_of(p, index_of(p, "main"), CALLS_CALLEES, &c, NULL), 0);
    assert_int_equal(c.n, 3);
    assert_int_equal(c.row[0].function, CALLS_ITSELF);
    assert_true(c.row[0].hits_unknown);
    assert_int_equal(c.row[0].c1, 25);
    free(c.row);
    profile_free(p);
}

static void import_callgrind__functions_in_a_circle__are_doubtful(void **state)
{
    (void)state;
    struct profile *p = read_corpus("circle.out");
    assert_true(function_named(p, "a")->doubtful);
    assert_true(function_named(p, "b")->doubtful);
    assert_false(function_named(p, "main")->doubtful);
    assert_int_equal(function_named(p, "a")->c1_children,
                     11); /* from main: the calls within are within */
    assert_int_equal(function_named(p, "b")->c1_children, 6); /* its own: at least */
    assert_int_equal(function_named(p, "main")->c1_children, 12);
    assert_string_equal(p->info.remarks[0].kind, "circles");
    assert_int_equal(p->info.remarks[0].count, 2);
    profile_free(p);
}

static void import_callgrind__our_file__doubt_and_coverage_are_found_again(void **state)
{
    (void)state;
    struct profile *p = read_corpus("ours.callgrind");
    assert_int_equal(p->nfunctions, 2); /* [program] is nobody */
    assert_string_equal(p->info.counter[0].name, "elapsed-time");
    assert_string_equal(p->info.counter[0].unit, "cycles");
    assert_true(function_named(p, "f")->doubtful);
    assert_false(function_named(p, "main")->doubtful);
    assert_int_equal(function_named(p, "main")->hits, 1);
    assert_false(function_named(p, "main")->hits_unknown);
    assert_non_null(strstr(p->info.note, "24 events, 1 lost, 2 doubtful"));
    profile_free(p);
}

static void export_callgrind__what_we_write__has_the_same_functions(void **state)
{
    (void)state;
    struct profile *from = sample_profile();
    struct memory_sink m = { 0 };
    const struct report_options o = { 0 };
    assert_int_equal(export_callgrind(from, &o, sink_to(&m), NULL), 0);
    struct profile *p = read_text(sink_text(&m), m.len);
    assert_int_equal(p->total_c1, from->total_c1);
    assert_int_equal(p->total_c2, from->total_c2);
    for (size_t i = 0; i < from->nfunctions; i++) {
        const struct profile_function *f = &from->functions[i], *g;
        if (!f->hits && !f->c1)
            continue;
        g = function_named(p, profile_shown_name(f));
        assert_int_equal(g->hits, f->hits);
        assert_int_equal(g->c1, f->c1);
        assert_int_equal(g->c1_children, f->c1_children);
        assert_int_equal(g->c2, f->c2);
        assert_int_equal(g->c2_children, f->c2_children);
        assert_int_equal(g->doubtful, f->doubtful);
    }
    sink_free(&m);
    profile_free(p);
    profile_free(from);
}

static void report_json__a_graph__has_calls_and_no_tree(void **state)
{
    (void)state;
    struct profile *p = read_corpus("valgrind.out"), *again = NULL;
    struct memory_sink once = { 0 }, twice = { 0 };
    report_json(p, sink_to(&once));
    assert_null(strstr(sink_text(&once), "\"tree\""));
    assert_non_null(strstr(sink_text(&once), "\"calls\""));
    assert_int_equal(json_to_profile((const uint8_t *)sink_text(&once), once.len, &again, NULL), 0);
    report_json(again, sink_to(&twice));
    assert_string_equal(sink_text(&once), sink_text(&twice));
    sink_free(&once);
    sink_free(&twice);
    profile_free(again);
    profile_free(p);
}

static void import_callgrind__calls_of_unknown_number__hits_are_unknown(void **state)
{
    (void)state;
    static const char text[] = "events: cpu\nfn=main\n1 5\ncfn=f\ncalls=0 3\n1 7\nfn=f\n3 7\n";
    struct profile *p = read_text(text, strlen(text));
    assert_false(profile_knows(p, PROFILE_HITS));
    assert_int_equal(function_named(p, "main")->c1_children, 12);
    profile_free(p);
}

static void import_callgrind__what_is_wrong__is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } rows[] = {
        { "", "offset 0: the file ends before the events: line" },
        { "version: 2\n", "line 1, offset 10: a version above 1" },
        { "events: Ir\nfn=(3)\n", "line 2, offset 14: a number in brackets that has had no name" },
        { "events: Ir\nfn=f\n1 x\n", "line 3, offset 18: no whole number" },
        { "events: Ir\nfn=f\n1 2 3\n", "line 3, offset 20: more costs than events" },
        { "events: Ir\n1 2\n", "line 2, offset 11: costs without an fn=" },
        { "events: Ir\nfn=f\n1 18446744073709551616\n", "a number of more than 64 bits" },
        { "events: Ir\nfn=f\n1 18446744073709551615\n2 1\n", "line 4, offset 39: all costs" },
        { "events: Ir\nfn=f\ncalls=1 2\n1 2\n", "line 3, offset 16: calls without a cfn=" },
        { "events: Ir\nfn=f\ncfn=g\ncalls=1 2\n", "the file ends before the costs of calls" },
        { "events: Ir\nfn=f\n1 5\ntotals: 6\n", "line 4, offset 28: the costs above do not add" },
        { "events: Ir\nsummary: 6\nfn=f\n1 5\n", "the file ends before its costs add up" },
        { "events: Ir\nhello\n", "line 2, offset 11: this line is not understood" },
        { "events: Ir\n", "line 2, offset 11: the file ends before its first function" },
        { "positions: there\n", "line 1, offset 11: a kind of position" },
        { "events: Ir\nevents: Dr\n", "line 2, offset 19: other events than before" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile *p = NULL;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].what);
        assert_int_equal(
            import_callgrind((const uint8_t *)rows[i].text, strlen(rows[i].text), &p, &err),
            -ERR_FORMAT);
        assert_null(p);
        if (!strstr(err.what, rows[i].what))
            fail_msg("%s", err.what);
        import_check_refusal(-ERR_FORMAT, &err);
    }
}

/* Whatever is missing at the end shows, but for what stands behind the totals. */
static void import_callgrind__cut_anywhere__is_refused(void **state)
{
    (void)state;
    size_t n;
    char *text = (char *)load_file(SOURCE_DIR "/tests/fuzz/corpus/fuzz_callgrind/valgrind.out", &n);
    size_t totals = (size_t)(strstr(text, "totals: 60 12") - text) + strlen("totals: 60 12");
    size_t last = (size_t)(strstr(text, "\ntotals:") - text);
    for (size_t cut = 0; cut < totals; cut++) {
        struct profile *p = NULL;
        struct err err = { .code = ERR_OK };
        int ret = import_callgrind((const uint8_t *)text, cut, &p, &err);
        if (ret == 0 && cut < last - 1)
            fail_msg("cut at %zu", cut);
        if (ret < 0)
            import_check_refusal(ret, &err);
        profile_free(p);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import_callgrind__valgrinds_file__has_its_sums),
        cmocka_unit_test(calls_of__a_graph__has_the_files_calls),
        cmocka_unit_test(import_callgrind__functions_in_a_circle__are_doubtful),
        cmocka_unit_test(import_callgrind__our_file__doubt_and_coverage_are_found_again),
        cmocka_unit_test(export_callgrind__what_we_write__has_the_same_functions),
        cmocka_unit_test(report_json__a_graph__has_calls_and_no_tree),
        cmocka_unit_test(import_callgrind__calls_of_unknown_number__hits_are_unknown),
        cmocka_unit_test(import_callgrind__what_is_wrong__is_refused_with_its_place),
        cmocka_unit_test(import_callgrind__cut_anywhere__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
