/* Files of marks, and what they make of a profile. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/marks.h"
#include "profiler/profile/marks_edit.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static void marks__lines__are_read_or_refused_with_their_number(void **state)
{
    static const struct {
        const char *text, *what, *hint;
    } rows[] = {
        { "", NULL, NULL },
        { "# a comment\n\n   \ttag main  \r\n", NULL, NULL },
        { "tag main", NULL, NULL },
        { "rename f = a name = with equals\n", NULL, NULL },
        { "block b = main+2..main+4\n", NULL, NULL },
        { "\nfoo main\n", "m:2: \"foo\" is no mark", "tag, rename" },
        { "tag\n", "m:1: which function?", "tag main" },
        { "rename main\n", "m:1: there is no ' = '", "rename fn_12" },
        { "rename main = \n", "m:1: there is no ' = '", "rename fn_12" },
        { "rename /f/ = g\n", "m:1: one name is not for several", "name one function" },
        { "group  = f\n", "m:1: there is no ' = '", "group libc" },
        { "group g = /(/\n", "m:1: /(/: ", "regular expressions" },
        { "block b = main\n", "m:1: a block is NAME = LOW..HIGH", "block inner" },
        { "block b = ..x\n", "m:1: a block is NAME = LOW..HIGH", "block inner" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct marks *m = NULL;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].text);
        int ret = marks_parse(rows[i].text, strlen(rows[i].text), "m", &m, &err);
        assert_int_equal(ret, rows[i].what ? -ERR_FORMAT : 0);
        if (rows[i].what) {
            assert_non_null(strstr(err.what, rows[i].what));
            assert_non_null(strstr(err.hint, rows[i].hint));
        }
        marks_free(m);
    }
}

static const struct profile_function *function_named(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, name))
            return &p->functions[i];
    return NULL;
}

static int apply_marks(struct profile *p, const char *text, struct err *err)
{
    struct marks *m = NULL;
    assert_int_equal(marks_parse(text, strlen(text), "m", &m, NULL), 0);
    int ret = profile_apply_marks(p, m, NULL, err);
    marks_free(m);
    return ret;
}

/* The tree must say what the functions say. */
static void check_sums(const struct profile *p, const struct profile *before)
{
    uint64_t c1 = 0, of_nodes = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        uint64_t own = 0;
        for (size_t k = 0; k < p->nnodes; k++)
            own += p->nodes[k].function == i ? p->nodes[k].c1 : 0;
        assert_int_equal(own, p->functions[i].c1);
        assert_true(p->functions[i].c1_children >= p->functions[i].c1);
        assert_true(p->functions[i].c1_children <= p->total_c1);
        c1 += p->functions[i].c1;
    }
    for (size_t k = 0; k < p->nnodes; k++)
        of_nodes += p->nodes[k].c1;
    assert_int_equal(c1, before->total_c1);
    assert_int_equal(of_nodes, before->total_c1);
}

static void marks__tag_and_rename__leave_every_number(void **state)
{
    struct profile *p = sample_profile(), *before = sample_profile();
    (void)state;
    assert_int_equal(apply_marks(p, "tag list_sum\nrename list_sum = sum of a list\n", NULL), 0);
    assert_int_equal(p->nfunctions, before->nfunctions);
    const struct profile_function *f = function_named(p, "sum of a list"),
                                  *was = function_named(before, "list_sum");
    assert_non_null(f);
    assert_null(function_named(p, "list_sum"));
    assert_true(f->tagged);
    assert_string_equal(f->linkage, was->linkage);
    assert_int_equal(f->hits, was->hits);
    assert_int_equal(f->c1_children, was->c1_children);
    check_sums(p, before);
    profile_free(p);
    profile_free(before);
}

/* One of the group calls the other: what it called is in there once. */
static void marks__group__is_one_function_with_the_sums(void **state)
{
    struct profile *p = sample_profile(), *before = sample_profile();
    const struct profile_function *main_ = function_named(before, "main"),
                                  *sum = function_named(before, "list_sum");
    (void)state;
    assert_non_null(main_);
    assert_non_null(sum);
    assert_true(sum->c1 > 0);
    assert_int_equal(apply_marks(p, "group both = main\ngroup both = /^list_/\n", NULL), 0);
    const struct profile_function *f = function_named(p, "both");
    assert_non_null(f);
    assert_null(function_named(p, "main"));
    assert_int_equal(f->hits, main_->hits + sum->hits);
    assert_int_equal(f->c1, main_->c1 + sum->c1);
    assert_int_equal(f->c1_children, main_->c1_children); /* which called the others */
    check_sums(p, before);
    profile_free(p);
    profile_free(before);
}

static void marks__exclude__is_one_row_and_sums_stay(void **state)
{
    struct profile *p = sample_profile(), *before = sample_profile();
    char address[64];
    (void)state;
    snprintf(address, sizeof address, "exclude 0x%llx\nexclude /^tree_/\n",
             (unsigned long long)function_named(before, "list_sum")->low + 2);
    assert_int_equal(apply_marks(p, address, NULL), 0);
    const struct profile_function *f = function_named(p, "(excluded)");
    assert_non_null(f);
    assert_int_equal(
        f->c1,
        function_named(before, "list_sum")->c1 + function_named(before, "tree_depth")->c1 +
            (function_named(before, "tree_walk") ? function_named(before, "tree_walk")->c1 : 0));
    check_sums(p, before);
    profile_free(p);
    profile_free(before);
}

static void marks__what_cannot_be__is_refused_with_file_and_line(void **state)
{
    static const struct {
        const char *text;
        int ret;
        const char *what, *hint;
    } rows[] = {
        { "tag list_sun\n", -ERR_NOT_FOUND, "m:1: no function is \"list_sun\"", "list_sum" },
        { "\ntag /^nothing/\n", -ERR_NOT_FOUND, "m:2: no function", "" },
        { "group a = main\ngroup b = main\n", -ERR_USAGE, "m:2: main is in line 1 already", "one" },
        { "group a = main\nexclude main\n", -ERR_USAGE, "m:2: main is in line 1", "one of them" },
        { "block b = main..main+4\n", -ERR_UNSUPPORTED, "m:1: block b was not", "leave it out" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct profile *p = sample_profile(), *before = sample_profile();
        struct err err = { .code = ERR_OK };
        assert_int_equal(apply_marks(p, rows[i].text, &err), rows[i].ret);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_non_null(strstr(err.hint, rows[i].hint));
        assert_string_not_equal(err.hint, "");
        assert_int_equal(p->nfunctions, before->nfunctions);
        check_sums(p, before);
        profile_free(p);
        profile_free(before);
    }
}

/* Each change on a text: what it is then, and how many lines came and went. */
static void marks_edit__each_change__leaves_everything_else_as_it_is(void **state)
{
    static const struct {
        const char *text;
        enum marks_change change;
        const char *name, *then; /* NULL: it is refused, with `what` and `hint` */
        size_t tagged, untagged;
        const char *what, *hint;
    } rows[] = {
        { "", MARKS_TAG, "main", "tag main\n", 1, 0, NULL, NULL },
        { "# a\n\n  tag list_sum\r\n# b", MARKS_TAG, "main",
          "# a\n\n  tag list_sum\r\n# b\ntag main\n", 1, 0, NULL, NULL },
        { "tag main\n", MARKS_TAG, "main", "tag main\n", 0, 0, NULL, NULL },
        { "tag main\n", MARKS_TAG, "  main ", "tag main\n", 0, 0, NULL, NULL },
        { "tag /^m/\n", MARKS_TAG, "main", "tag /^m/\ntag main\n", 1, 0, NULL, NULL },
        { "", MARKS_TAG, "/^list/", "tag /^list/\n", 1, 0, NULL, NULL },
        { "rename main = the one\n", MARKS_TAG, "the one", "rename main = the one\ntag main\n", 1,
          0, NULL, NULL },
        { "group g = main\ngroup g = /^list/\n", MARKS_TAG, "g",
          "group g = main\ngroup g = /^list/\ntag main\ntag /^list/\n", 2, 0, NULL, NULL },
        { "#\n\ttag main # \ntag main\nexclude x\n", MARKS_UNTAG, "main",
          "#\n\ttag main # \nexclude x\n", 0, 1, NULL, NULL }, /* the first is of "main #" */
        { "tag main\ntag list_sum", MARKS_UNTAG, "list_sum", "tag main\n", 0, 1, NULL, NULL },
        { "tag 0x8c010120\ntag list_sum\n", MARKS_UNTAG, "main", "tag list_sum\n", 0, 1, NULL,
          NULL },
        { "tag _main\ntag main\n", MARKS_UNTAG, "0x8c010120", "tag _main\n", 0, 1, NULL, NULL },
        { "rename main = m\ntag main\n", MARKS_UNTAG, "m", "rename main = m\n", 0, 1, NULL, NULL },
        { "tag main\ntag list_sum\n", MARKS_UNTAG, "/^(main|list)/", "", 0, 2, NULL, NULL },
        { "tag /^m/\ntag main\n", MARKS_UNTAG, "/^m/", "", 0, 2, NULL, NULL },
        { "#1\ntag /^m/\n#2\ntag main\n#3\nrename main = tag\n", MARKS_UNTAG_ALL, NULL,
          "#1\n#2\n#3\nrename main = tag\n", 0, 2, NULL, NULL },
        { "# none", MARKS_UNTAG_ALL, NULL, "# none", 0, 0, NULL, NULL },
        { "x\ntag /^m/\n", MARKS_UNTAG, "main", NULL, 0, 0, "m:1: \"x\" is no mark", "tag" },
        { "\ntag /^m/\n", MARKS_UNTAG, "main", NULL, 0, 0, "m: no line tags \"main\"", "line 2" },
        { "", MARKS_UNTAG, "main", NULL, 0, 0, "m: no line tags \"main\"", "--show tagged" },
        { "", MARKS_TAG, " ", NULL, 0, 0, "\" \" is no function to tag", "as the report has it" },
        { "", MARKS_TAG, "a\nexclude b", NULL, 0, 0, "no line end", "one function" },
        { "", MARKS_TAG, "/(/", NULL, 0, 0, "is no function to tag", "EXPRESSION" },
    };
    (void)state;
    struct profile *p = sample_profile();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buffer text = { .size = 0 };
        struct marks_edited done = { .tagged = 0 };
        struct err err = { .code = ERR_OK };
        const struct marks_edit e = { rows[i].change, rows[i].name };
        buffer_add(&text, rows[i].text, strlen(rows[i].text));
        int ret = marks_edit(&text, "m", &e, p, &done, &err);
        print_message("  %s: %s; %s\n", rows[i].text, err.what, err.hint);
        assert_int_equal(ret < 0, rows[i].then == NULL);
        const char *then = rows[i].then ? rows[i].then : rows[i].text;
        assert_int_equal(text.size, strlen(then));
        assert_memory_equal(text.size ? text.data : "", then, text.size);
        assert_int_equal(done.tagged, rows[i].tagged);
        assert_int_equal(done.untagged, rows[i].untagged);
        if (!rows[i].then) {
            assert_non_null(strstr(err.what, rows[i].what));
            assert_non_null(strstr(err.hint, rows[i].hint));
        }
        buffer_fini(&text);
    }
    profile_free(p);
}

/* Those of a .prf are in no line. */
static void marks_edit__tags_of_the_profile_itself__go_too(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    struct buffer text = { .size = 0 };
    struct marks_edited done = { .tagged = 0 };
    for (size_t i = 0; i < p->nfunctions; i++)
        p->functions[i].tagged = true;
    assert_int_equal(
        marks_edit(&text, "m", &(struct marks_edit){ MARKS_UNTAG, "main" }, p, &done, NULL), 0);
    assert_int_equal(done.untagged, 1);
    assert_false(function_named(p, "main")->tagged);
    assert_true(function_named(p, "list_sum")->tagged);
    assert_int_equal(
        marks_edit(&text, "m", &(struct marks_edit){ MARKS_UNTAG_ALL, NULL }, p, &done, NULL), 0);
    assert_int_equal(done.untagged, p->nfunctions);
    for (size_t i = 0; i < p->nfunctions; i++)
        assert_false(p->functions[i].tagged);
    assert_int_equal(text.size, 0);
    buffer_fini(&text);
    profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks__lines__are_read_or_refused_with_their_number),
        cmocka_unit_test(marks__tag_and_rename__leave_every_number),
        cmocka_unit_test(marks__group__is_one_function_with_the_sums),
        cmocka_unit_test(marks__exclude__is_one_row_and_sums_stay),
        cmocka_unit_test(marks__what_cannot_be__is_refused_with_file_and_line),
        cmocka_unit_test(marks_edit__each_change__leaves_everything_else_as_it_is),
        cmocka_unit_test(marks_edit__tags_of_the_profile_itself__go_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
