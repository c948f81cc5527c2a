/* Board option texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/options.h"
#include "probe/base/util.h"

static int note_option(void *ctx, const char *name, const char *value, struct err *err)
{
    char *out = ctx;
    sprintf(out + strlen(out), "<%s|%s>", name, value);
    return strcmp(name, "bad") ? 0 : err_set(err, ERR_USAGE, "hint", "bad one");
}

static void each__items__names_and_values(void **state)
{
    static const struct {
        const char *text, *out;
        int ret;
    } rows[] = {
        { "", "", 0 },
        { "be", "<be|>", 0 },
        { "a=1,b,c=x=y", "<a|1><b|><c|x=y>", 0 },
        { ",,a,", "<a|>", 0 },
        { "a,bad,c", "<a|><bad|>", -ERR_USAGE },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[200] = "";
        print_message("  %s\n", rows[i].text);
        assert_int_equal(options_each(rows[i].text, note_option, out, NULL), rows[i].ret);
        assert_string_equal(out, rows[i].out);
    }
}

static void hz__units_and_range__or_a_hint(void **state)
{
    static const struct {
        const char *text;
        int ret;
        uint64_t hz;
    } rows[] = {
        { "10M", 0, 10000000 },
        { "500k", 0, 500000 },
        { "1234567", 0, 1234567 },
        { "0x100000", 0, 1048576 },
        { "", -ERR_USAGE, 7 },
        { "10G", -ERR_USAGE, 7 },
        { "99", -ERR_USAGE, 7 },
        { "18446744073709M", -ERR_USAGE, 7 },
        { "101M", -ERR_USAGE, 7 },
        { "-1", -ERR_USAGE, 7 },
        { "-18446744073709541616", -ERR_USAGE, 7 },
        { " 10M", -ERR_USAGE, 7 },
        { "+10M", -ERR_USAGE, 7 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t hz = 7;
        struct err err = { 0 };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(options_hz("tck", rows[i].text, 1000, 100000000, &hz, &err), rows[i].ret);
        assert_int_equal(hz, rows[i].hz);
        assert_int_equal(err.hint[0] != 0, rows[i].ret < 0);
    }
}

static void fault__forms__parsed_or_refused(void **state)
{
    static const char *const kinds[] = { "none", "unplug", "noise", NULL };
    static const struct {
        const char *text;
        int ret;
        struct options_fault f;
    } rows[] = {
        { "unplug", 0, { 1, 0, 0, 0, 0 } },
        { "noise@50", 0, { 2, 50, 0, 0, 0 } },
        { "unplug@2s+500ms", 0, { 1, 0, 2000000000, 500000000, 0 } },
        { "unplug@2s+500ms/10s", 0, { 1, 0, 2000000000, 500000000, 10000000000 } },
        { "unplug@2s+500ms/100ms", -ERR_USAGE, { .kind = 9 } },
        { "unplug@", -ERR_USAGE, { .kind = 9 } },
        { "unplug@0", -ERR_USAGE, { .kind = 9 } },
        { "unplug@2s", -ERR_USAGE, { .kind = 9 } },
        { "unplug@2s+", -ERR_USAGE, { .kind = 9 } },
        { "unplug@-1", -ERR_USAGE, { .kind = 9 } },
        { "unplug@-18446744073709551615s+1s", -ERR_USAGE, { .kind = 9 } },
        { "plug", -ERR_USAGE, { .kind = 9 } },
        { "", -ERR_USAGE, { .kind = 9 } },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct options_fault f = { .kind = 9 };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(options_fault(rows[i].text, kinds, &f, NULL), rows[i].ret);
        assert_memory_equal(&f, &rows[i].f, sizeof f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each__items__names_and_values),
        cmocka_unit_test(hz__units_and_range__or_a_hint),
        cmocka_unit_test(fault__forms__parsed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
