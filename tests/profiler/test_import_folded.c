/* Folded call paths, our own and flamegraph.pl's, become a profile without hits. */
#include <stdlib.h>
#include <string.h>

#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "profiler/views/json_read.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/import_check.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static struct profile *read_text(const char *text)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    int ret = import_folded((const uint8_t *)text, strlen(text), &p, &err);
    if (ret < 0)
        fail_msg("%s", err.what);
    import_check_profile(p);
    return p;
}

static const struct profile_function *function_named(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, name))
            return &p->functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

static void import_folded__names_with_blanks_and_recursion__sums_count_once(void **state)
{
    (void)state;
    struct profile *p = read_text("main;read file 3\r\nmain;read file 4\n\nmain;a;b;a 5\nmain;a 1");
    assert_int_equal(p->nfunctions, 4);
    assert_int_equal(p->total_c1, 13);
    assert_int_equal(function_named(p, "read file")->c1, 7);
    assert_int_equal(function_named(p, "main")->c1, 0);
    assert_int_equal(function_named(p, "main")->c1_children, 13);
    assert_int_equal(function_named(p, "a")->c1, 6);
    assert_int_equal(function_named(p, "a")->c1_children, 6);
    assert_int_equal(p->nnodes, 5);
    profile_free(p);
}

static void import_folded__what_it_does_not_tell__is_unknown(void **state)
{
    (void)state;
    struct profile *p = read_text("main;f 3\n");
    struct memory_sink json = { 0 }, table = { 0 }, tree = { 0 };
    const struct report_options o = { .ascii = true };
    assert_false(profile_knows(p, PROFILE_HITS));
    assert_false(profile_knows(p, PROFILE_ADDRESSES));
    assert_true(profile_knows(p, PROFILE_PATHS));
    report_json(p, sink_to(&json));
    assert_null(strstr(sink_text(&json), "\"hits\""));
    assert_null(strstr(sink_text(&json), "\"low\""));
    assert_non_null(strstr(sink_text(&json), "\"c1\": 3"));
    struct profile *again = NULL;
    struct memory_sink twice = { 0 };
    assert_int_equal(json_to_profile((const uint8_t *)sink_text(&json), json.len, &again, NULL), 0);
    assert_int_equal(again->info.unknown, p->info.unknown);
    report_json(again, sink_to(&twice));
    assert_string_equal(sink_text(&json), sink_text(&twice));
    sink_free(&twice);
    profile_free(again);
    report_functions(p, &o, sink_to(&table));
    assert_null(strstr(sink_text(&table), "hits"));
    assert_non_null(strstr(sink_text(&table), "0   0.0      3  main"));
    report_tree(p, &o, sink_to(&tree));
    assert_non_null(strstr(sink_text(&tree), "     3      3    100  `-f"));
    sink_free(&json);
    sink_free(&table);
    sink_free(&tree);
    profile_free(p);
}

static void import_folded__formats_without_a_way_to_say_unknown__refuse(void **state)
{
    (void)state;
    static const char *const names[] = { "prf", "gmon", "prof1", "lcov" };
    struct profile *p = read_text("main;f 3\n");
    for (size_t i = 0; i < 4; i++) {
        const struct exporter *x;
        struct memory_sink m = { 0 };
        struct err err = { .code = ERR_OK };
        assert_int_equal(exporter_find(names[i], &x, NULL), 0);
        assert_true(x->write(p, &(struct report_options){ 0 }, sink_to(&m), &err) < 0);
        assert_string_not_equal(err.hint, "");
        assert_int_equal(m.len, 0);
        sink_free(&m);
    }
    profile_free(p);
}

static void export_folded__what_we_write__is_the_same_again(void **state)
{
    (void)state;
    struct profile *from = sample_profile(), *p;
    struct memory_sink once = { 0 }, twice = { 0 };
    const struct report_options c1 = { .value = 2 };
    assert_int_equal(export_folded(from, &c1, sink_to(&once), NULL), 0);
    assert_true(import_folded_is((const uint8_t *)sink_text(&once), once.len));
    p = read_text(sink_text(&once));
    assert_int_equal(p->total_c1, from->total_c1);
    assert_int_equal(export_folded(p, &c1, sink_to(&twice), NULL), 0);
    assert_string_equal(sink_text(&once), sink_text(&twice));
    sink_free(&once);
    sink_free(&twice);
    profile_free(p);
    profile_free(from);
}

static void import_folded__what_is_wrong__is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } rows[] = {
        { "a;b 1\na;c 2.5\n", "folded, line 2, offset 10: the count has decimals" },
        { "a;b 1\na;c\n", "folded, line 2, offset 6: no count" },
        { "a;b 1\n12\n", "folded, line 2, offset 6: a count without a call path" },
        { "a;b -1\n", "folded, line 1, offset 4: no count" },
        { "a 18446744073709551616\n", "folded, line 1, offset 2: the count has more than 64" },
        { "a 18446744073709551615\nb 1\n", "folded, line 2, offset 25: all counts together" },
        { "a;b 1 2\na;c 0 4\n", "two counts a line" },
        { "", "folded, offset 0: no call path" },
        { "\n\n", "folded, offset 2: no call path" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile *p = NULL;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].what);
        assert_int_equal(
            import_folded((const uint8_t *)rows[i].text, strlen(rows[i].text), &p, &err),
            -ERR_FORMAT);
        assert_null(p);
        assert_non_null(strstr(err.what, rows[i].what));
        import_check_refusal(-ERR_FORMAT, &err);
    }
    struct err err;
    struct profile *p = NULL;
    assert_int_equal(import_folded((const uint8_t *)"a\0b 1", 5, &p, &err), -ERR_FORMAT);
    assert_non_null(strstr(err.what, "line 1, offset 1: a byte that is 0"));
}

static void importer_of__head_of_a_file__says_what_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } rows[] = {
        { "PROFILER FILE:....", "prf" },
        { "main;f 3\nmain 4\n", "folded" },
        { "# callgrind format\n", "callgrind" },
        { "main 3", "folded" },
        { "a;b 2.5\n", "folded" }, /* refused with its line */
        { "# a text\n", NULL },
        { "chapter 3rd\n", NULL },
        { "12\n", NULL },
        { "", NULL },
        { "\x7f"
          "ELF\1\1 1\n",
          NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct importer *x = importer_of((const uint8_t *)rows[i].text, strlen(rows[i].text));
        print_message("  %s\n", rows[i].text);
        assert_int_equal(x != NULL, rows[i].name != NULL);
        if (x)
            assert_string_equal(x->name, rows[i].name);
    }
}

static void importer_find__each_name__is_that_row(void **state)
{
    (void)state;
    size_t n;
    const struct importer *all = importers(&n), *x = NULL;
    struct err err = { .code = ERR_OK };
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(importer_find(all[i].name, &x, NULL), 0);
        assert_ptr_equal(x, &all[i]);
    }
    assert_int_equal(importer_find("yaml", &x, &err), -ERR_USAGE);
    for (size_t i = 0; i < n; i++)
        assert_non_null(strstr(err.hint, all[i].name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import_folded__names_with_blanks_and_recursion__sums_count_once),
        cmocka_unit_test(import_folded__what_it_does_not_tell__is_unknown),
        cmocka_unit_test(import_folded__formats_without_a_way_to_say_unknown__refuse),
        cmocka_unit_test(export_folded__what_we_write__is_the_same_again),
        cmocka_unit_test(import_folded__what_is_wrong__is_refused_with_its_place),
        cmocka_unit_test(importer_of__head_of_a_file__says_what_it_is),
        cmocka_unit_test(importer_find__each_name__is_that_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
