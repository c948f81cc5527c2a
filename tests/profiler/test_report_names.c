/* Names in few columns: what gives way, and that two functions never look alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/views/report_names.h"

static void report_names__one_too_long__gives_way_where_it_hurts_least(void **state)
{
    static const struct {
        const char *name;
        size_t columns;
        const char *text;
    } rows[] = {
        { "main", 10, "main" },
        { "std::vector<int, std::allocator<int> >::push_back(int&&)", 60,
          "std::vector<int, std::allocator<int> >::push_back(int&&)" },
        { "std::vector<int, std::allocator<int> >::push_back(int&&)", 40,
          "std::vector<..>::push_back(int&&)" },
        { "std::vector<int, std::allocator<int> >::push_back(int&&)", 30,
          "std::vector<..>::push_back(..)" },
        { "std::vector<int, std::allocator<int> >::push_back(int&&)", 20, "..::push_back(..)" },
        { "std::vector<int, std::allocator<int> >::push_back(int&&)", 10, NULL },
        { "list::operator<(list const&, list const&)", 25, "list::operator<(..)" },
        { "functor::operator()(int, int, int) const", 30, "functor::operator()(..) const" },
        { "a_very_long_c_name_that_ends_differently_1", 20, "a_very_long_..ntly_1" },
        { "b\033[31mad", 20, "b?[31mad" },
        { "b\xff\x80", 20, "b??" },
        { "b\xc2\x9b"
          "31m",
          20, "b??31m" },
        { "caf\xc3\xa9", 20, "caf\xc3\xa9" },
        { "x", 1, "x" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[200];
        print_message("  %s\n", rows[i].name);
        struct report_names *t = report_names_new(1);
        report_names_set(t, 0, rows[i].name, 0);
        report_names_text(t, 0, rows[i].columns, buf, sizeof buf);
        report_names_free(t);
        assert_true(strlen(buf) <= MAX(rows[i].columns, 5u));
        if (rows[i].text)
            assert_string_equal(buf, rows[i].text);
    }
}

struct expected {
    const char *name, *text;
};

static void expect_names(const struct expected *rows, size_t n, size_t columns)
{
    struct report_names *t = report_names_new(n);
    char buf[200];
    for (size_t i = 0; i < n; i++)
        report_names_set(t, i, rows[i].name, 0x8C010000 + 0x20 * i);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(report_names_text(t, i, columns, buf, sizeof buf), rows[i].text);
    report_names_free(t);
}

static void report_names__alike_when_shortened__show_what_differs(void **state)
{
    (void)state;
    static const struct expected templates[] = { { "Filter<int, 8>::run(int)", ".., 8>::run(..)" },
                                                 { "Filter<float, 4>::run(float)",
                                                   ".., 4>::run(..)" },
                                                 { "main", "main" } };
    static const struct expected overloads[] = { { "shape::draw(int)", "shape::draw(int)" },
                                                 { "shape::draw(char const*)",
                                                   "shape::dra..nst*)" } };
    static const struct expected files[] = {
        { "a_function_of_the_first.c:helper", "a_functi..elper" },
        { "b_function_of_the_first.c:helper", "b_functi..elper" }
    };
    static const struct expected middles[] = { { "read_the_left_sensor_value", "r..e@8c010000" },
                                               { "read_the_rear_sensor_value", "r..e@8c010020" } };
    expect_names(templates, ARRAY_LEN(templates), 15);
    expect_names(overloads, ARRAY_LEN(overloads), 17);
    expect_names(files, ARRAY_LEN(files), 15);
    expect_names(middles, ARRAY_LEN(middles), 13);
}

/* One name twice, as a .prf or an ELF may have it. */
static void report_names__namesakes__told_apart_by_address(void **state)
{
    (void)state;
    static const struct expected rows[] = { { "walk", "walk@8c010000" },
                                            { "walk", "walk@8c010020" },
                                            { "wall", "wall" } };
    expect_names(rows, ARRAY_LEN(rows), 20);
}

static uint32_t random_u32(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Names of few pieces, so that most of them have relatives. */
static void random_name(uint64_t *seed, char *out, size_t cap)
{
    static const char *const piece[] = { "Filter",   "<int, 8>", "<float, 4>", "::",        "run",
                                         "(int)",    "(..)",     "..",         "operator<", "walk",
                                         "\xc3\xa9", "~",        " const" };
    size_t n = 1 + random_u32(seed) % 12;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), cap - strlen(out), "%s",
                 piece[random_u32(seed) % ARRAY_LEN(piece)]);
}

static void report_names__random_names_in_any_columns__never_two_alike(void **state)
{
    (void)state;
    enum { ROUNDS = 60, NAMES = 80, MOST = 48, LEAST = 12 };
    static char text[MOST - LEAST][NAMES][200];
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct report_names *t = report_names_new(NAMES);
        for (size_t i = 0; i < NAMES; i++) {
            char name[200];
            random_name(&seed, name, sizeof name);
            report_names_set(t, i, name, 0x0C010000 + 4 * i);
        }
        for (size_t c = LEAST; c < MOST; c++)
            for (size_t i = 0; i < NAMES; i++)
                report_names_text(t, i, c, text[c - LEAST][i], sizeof text[0][0]);
        for (size_t c = LEAST; c < MOST; c++)
            for (size_t i = 0; i < NAMES; i++)
                for (size_t k = 0; k < i; k++)
                    if (!strcmp(text[c - LEAST][i], text[random_u32(&seed) % (MOST - LEAST)][k]) ||
                        !strcmp(text[c - LEAST][i], text[c - LEAST][k]))
                        fail_msg("round %d, %zu columns: %s", round, c, text[c - LEAST][i]);
        report_names_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_names__one_too_long__gives_way_where_it_hurts_least),
        cmocka_unit_test(report_names__alike_when_shortened__show_what_differs),
        cmocka_unit_test(report_names__namesakes__told_apart_by_address),
        cmocka_unit_test(report_names__random_names_in_any_columns__never_two_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
