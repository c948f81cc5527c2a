/* json_writer: what the writer makes, read back by jansson; report_json: the document of
 * "probeprof.profile/1". */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

static json_t *parse_sink(const struct memory_sink *m)
{
    json_error_t e;
    json_t *j = json_loads(sink_text(m), JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!j)
        fail_msg("line %d column %d: %s in\n%s", e.line, e.column, e.text, sink_text(m));
    return j;
}

static void json__strings__escaped_and_valid(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "plain", "plain" },
        { "", "" },
        { "quote \" backslash \\ slash /", "quote \" backslash \\ slash /" },
        { "tab\tline\nbell\a\x7f", "tab\tline\nbell\a\x7f" },
        { "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "bad \xff here", "bad \xef\xbf\xbd here" },
        { "cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd" },
        { "overlong \xc0\x80", "overlong \xef\xbf\xbd\xef\xbf\xbd" },
        { "surrogate \xed\xa0\x80", "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "</script>", "</script>" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct memory_sink m = { 0 };
        struct json_writer j = { .out = sink_to(&m) };
        json_write_string(&j, rows[i].in);
        json_t *back = parse_sink(&m);
        assert_string_equal(json_string_value(back), rows[i].out);
        json_decref(back);
        sink_free(&m);
    }
}

static void json__members__a_key_and_its_value(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct json_writer j = { .out = sink_to(&m), .compact = true };
    json_write_object(&j, false);
    json_member_string(&j, "string", "");
    json_member_text(&j, "no_text", "");
    json_member_text(&j, "text", "x");
    json_member_uint(&j, "uint", UINT64_MAX);
    json_member_uint_if(&j, "unknown", false, 1);
    json_member_uint_if(&j, "known", true, 0);
    json_member_real(&j, "real", 0.5);
    json_member_bool(&j, "bool", true);
    json_member_null(&j, "null");
    json_member_count(&j, "exact", (uint64_t)1 << 53);
    json_member_count(&j, "beyond", ((uint64_t)1 << 53) + 1);
    json_write_end(&j);
    assert_string_equal(sink_text(&m),
                        "{\"string\":\"\",\"no_text\":null,\"text\":\"x\","
                        "\"uint\":18446744073709551615,\"unknown\":null,\"known\":0,"
                        "\"real\":0.5,\"bool\":true,\"null\":null,"
                        "\"exact\":9007199254740992,\"beyond\":\"9007199254740993\"}");
    sink_free(&m);
}

static void json__numbers__exact(void **state)
{
    (void)state;
    static const double reals[] = { 0, 0.1, -1.5, 1e300, 5e-324, 123456789.123456789, 1.0 / 3 };
    struct memory_sink m = { 0 };
    struct json_writer j = { .out = sink_to(&m), .compact = true };
    json_write_array(&j, false);
    json_write_uint(&j, 0);
    json_write_uint(&j, UINT64_MAX);
    json_write_int(&j, INT64_MIN);
    json_write_real(&j, NAN);
    json_write_real(&j, INFINITY);
    json_write_bool(&j, true);
    json_write_null(&j);
    json_write_end(&j);
    assert_string_equal(sink_text(&m),
                        "[0,18446744073709551615,-9223372036854775808,null,null,true,null]");
    sink_free(&m);
    for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
        struct memory_sink r = { 0 };
        struct json_writer k = { .out = sink_to(&r) };
        json_write_real(&k, reals[i]);
        json_t *back = parse_sink(&r);
        assert_true(json_number_value(back) == reals[i]);
        json_decref(back);
        sink_free(&r);
    }
}

/* Read back by jansson it would be a double. */
static void json__thousandths__are_digits_as_they_stand(void **state)
{
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        { 0, "0.000" },
        { 7, "0.007" },
        { 1500, "1.500" },
        { 9007199254740993, "9007199254740.993" }, /* 2^53 + 1 */
        { UINT64_MAX, "18446744073709551.615" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct memory_sink m = { 0 };
        struct json_writer j = { .out = sink_to(&m) };
        json_write_thousandths(&j, rows[i].value);
        json_decref(parse_sink(&m));
        assert_string_equal(sink_text(&m), rows[i].text);
        sink_free(&m);
    }
}

static void json__nesting__commas_and_lines_in_place(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct json_writer j = { .out = sink_to(&m) };
    json_write_object(&j, false);
    json_write_key(&j, "empty");
    json_write_array(&j, false);
    json_write_end(&j);
    json_write_key(&j, "rows");
    json_write_array(&j, false);
    for (int i = 0; i < 2; i++) {
        json_write_object(&j, true);
        json_write_key(&j, "a");
        json_write_int(&j, i);
        json_write_key(&j, "b");
        json_write_array(&j, false);
        json_write_int(&j, 1);
        json_write_int(&j, 2);
        json_write_end(&j);
        json_write_end(&j);
    }
    json_write_end(&j);
    json_write_end(&j);
    assert_string_equal(sink_text(&m),
                        "{\n  \"empty\": [],\n  \"rows\": [\n    {\"a\": 0, \"b\": [1, 2]},\n"
                        "    {\"a\": 1, \"b\": [1, 2]}\n  ]\n}");
    sink_free(&m);
}

/* ---- the document ---- */

static uint64_t number_at(json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    if (!json_is_integer(v))
        fail_msg("%s is no integer", key);
    return (uint64_t)json_integer_value(v);
}

static const char *text_at(json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    if (!json_is_string(v))
        fail_msg("%s is no string", key);
    return json_string_value(v);
}

static void expect_null(json_t *object, const char *key)
{
    if (!json_is_null(json_object_get(object, key)))
        fail_msg("%s is not null", key);
}

static void report_json__sample__every_key_of_the_schema(void **state)
{
    static const char *const keys[] = { "schema",   "target",    "probe", "elf",
                                        "build_id", "counters",  "time",  "coverage",
                                        "passes",   "functions", "tree" };
    static const char *const function_keys[] = {
        "name", "linkage_name", "file",        "line", "low",         "high",     "cache_line",
        "hits", "c1",           "c1_children", "c2",   "c2_children", "doubtful", "doubt_share"
    };
    static const char *const node_keys[] = { "id",   "parent",      "function",
                                             "hits", "c1",          "c1_children",
                                             "c2",   "c2_children", "doubtful" };
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p = sample_profile();
    report_json(p, sink_to(&m));
    assert_int_equal(sink_text(&m)[m.len - 1], '\n');
    json_t *j = parse_sink(&m);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_non_null(json_object_get(j, keys[i]));
    assert_string_equal(text_at(j, "schema"), "probeprof.profile/1");
    assert_string_equal(text_at(j, "target"), "sh7750");
    assert_string_equal(text_at(j, "build_id"), "00ff10");
    assert_string_equal(text_at(j, "started"), "2026-11-21T13:45:59Z");
    json_t *c = json_array_get(json_object_get(j, "counters"), 0);
    assert_int_equal(number_at(c, "code"), 0x23);
    assert_string_equal(text_at(c, "name"), "elapsed-time");
    assert_string_equal(text_at(c, "unit"), "cycles");
    json_t *time = json_object_get(j, "time");
    assert_int_equal(number_at(time, "target_cycles"), 5000);
    assert_true(json_real_value(json_object_get(time, "host_seconds")) == 2.5);
    assert_true(json_real_value(json_object_get(time, "board_seconds")) == 2.5);
    assert_true(json_real_value(json_object_get(time, "held_seconds")) == 0.5);
    assert_true(json_real_value(json_object_get(json_object_get(time, "slow_down"), "times")) ==
                2.5);
    json_t *coverage = json_object_get(j, "coverage");
    assert_int_equal(number_at(coverage, "events"), p->info.events);
    assert_int_equal(number_at(coverage, "lost"), 0);
    assert_int_equal(number_at(coverage, "doubtful"), p->info.doubtful);
    assert_int_equal(number_at(j, "passes"), 1);
    json_t *functions = json_object_get(j, "functions"), *tree = json_object_get(j, "tree");
    assert_int_equal(json_array_size(functions), p->nfunctions);
    assert_int_equal(json_array_size(tree), p->nnodes);
    for (size_t i = 0; i < p->nfunctions; i++) {
        json_t *f = json_array_get(functions, i);
        for (size_t k = 0; k < ARRAY_LEN(function_keys); k++)
            assert_non_null(json_object_get(f, function_keys[k]));
        assert_string_equal(text_at(f, "name"), p->functions[i].name);
        assert_int_equal(number_at(f, "low"), p->functions[i].low);
        assert_int_equal(number_at(f, "c1"), p->functions[i].c1);
        assert_int_equal(number_at(f, "c1_children"), p->functions[i].c1_children);
        assert_int_equal(number_at(f, "c2_children"), p->functions[i].c2_children);
        assert_int_equal(json_is_true(json_object_get(f, "doubtful")), p->functions[i].doubtful);
        assert_true(json_number_value(json_object_get(f, "doubt_share")) ==
                    profile_doubt_share(&p->functions[i]));
        if (!p->functions[i].file)
            expect_null(f, "file");
        if (p->functions[i].cache_line == PROFILE_NOT_CACHED)
            expect_null(f, "cache_line");
        else
            assert_int_equal(number_at(f, "cache_line"), p->functions[i].cache_line);
    }
    for (size_t i = 0; i < p->nnodes; i++) {
        json_t *n = json_array_get(tree, i);
        for (size_t k = 0; k < ARRAY_LEN(node_keys); k++)
            assert_non_null(json_object_get(n, node_keys[k]));
        assert_int_equal(number_at(n, "id"), i);
        assert_int_equal(number_at(n, "function"), p->nodes[i].function);
        assert_int_equal(number_at(n, "hits"), p->nodes[i].hits);
        if (p->nodes[i].parent == PROFILE_NO_PARENT)
            expect_null(n, "parent");
        else
            assert_int_equal(number_at(n, "parent"), p->nodes[i].parent);
    }
    json_decref(j);
    profile_free(p);
    sink_free(&m);
}

/* A consumer that knows nothing but the document can check it. */
static void report_json__identity__holds_in_the_document(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p = sample_profile();
    report_json(p, sink_to(&m));
    json_t *j = parse_sink(&m), *tree = json_object_get(j, "tree");
    uint64_t roots = 0;
    for (size_t i = 0; i < json_array_size(tree); i++) {
        json_t *n = json_array_get(tree, i);
        uint64_t sum = number_at(n, "c1");
        for (size_t k = 0; k < json_array_size(tree); k++) {
            json_t *child = json_array_get(tree, k), *parent = json_object_get(child, "parent");
            if (json_is_integer(parent) && (size_t)json_integer_value(parent) == i)
                sum += number_at(child, "c1_children");
        }
        assert_int_equal(number_at(n, "c1_children"), sum);
        if (json_is_null(json_object_get(n, "parent")))
            roots += sum;
    }
    assert_int_equal(number_at(json_object_get(j, "totals"), "c1"), roots);
    json_decref(j);
    profile_free(p);
    sink_free(&m);
}

static void report_json__nothing_known__nulls(void **state)
{
    (void)state;
    struct memory_sink m = { 0 };
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    report_json(p, sink_to(&m));
    json_t *j = parse_sink(&m);
    expect_null(j, "target");
    expect_null(j, "elf");
    expect_null(j, "build_id");
    expect_null(j, "started");
    assert_true(json_is_null(json_array_get(json_object_get(j, "counters"), 0)));
    assert_int_equal(json_array_size(json_object_get(j, "tree")), 0);
    json_decref(j);
    profile_free(p);
    sink_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json__strings__escaped_and_valid),
        cmocka_unit_test(json__members__a_key_and_its_value),
        cmocka_unit_test(json__numbers__exact),
        cmocka_unit_test(json__thousandths__are_digits_as_they_stand),
        cmocka_unit_test(json__nesting__commas_and_lines_in_place),
        cmocka_unit_test(report_json__sample__every_key_of_the_schema),
        cmocka_unit_test(report_json__identity__holds_in_the_document),
        cmocka_unit_test(report_json__nothing_known__nulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
