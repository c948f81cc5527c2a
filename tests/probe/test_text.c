/* Text that nobody here wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "probe/base/text.h"
#include "probe/base/util.h"

static const struct {
    const char *from, *to, *lines;
} rows[] = {
    { "plain text 42", "plain text 42", "plain text 42" },
    { "Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80", "Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80",
      "Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80" },
    { "\x1B[31mred\x1B]0;title\x07", "?[31mred?]0;title?", "?[31mred?]0;title?" },
    { "a\nb\tc\r\b\x7F", "a?b?c???", "a\nb\tc???" },
    { "\xC2\x9B"
      "31m",
      "??31m", "??31m" }, /* C1 in UTF-8 */
    { "\x9B"
      "31m",
      "?31m", "?31m" },                                 /* and as it is in other codes */
    { "\xC2\x85\xC2\xA0", "??\xC2\xA0", "??\xC2\xA0" }, /* up to U+009F */
    { "\xE2\x80\xAE"
      "gpj",
      "???gpj", "???gpj" }, /* right to left */
    { "\xE2\x81\xA6\xE2\x80\x8F\xE2\x80\xA8", "?????????", "?????????" },
    { "\xE2\x80\xA6", "\xE2\x80\xA6", "\xE2\x80\xA6" }, /* an ellipsis is none */
    { "cut \xE2\x82", "cut ??", "cut ??" },
    /* overlong, surrogate, beyond */
    { "\xC0\x9B\xE0\x82\x9B\xED\xA0\x80\xF4\x90\x80\x80\xFF", "?????????????", "?????????????" },
};

static void text__commands_of_terminals__become_question_marks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char a[64], b[64];
        strcpy(a, rows[i].from);
        strcpy(b, rows[i].from);
        text_clean_lines(b, strlen(b));
        print_message("  row %zu\n", i);
        assert_string_equal(text_clean(a), rows[i].to);
        assert_string_equal(b, rows[i].lines);
        assert_string_equal(text_clean(a), rows[i].to);
    }
}

static void text__every_way_out__is_cleaned(void **state)
{
    (void)state;
    char buf[256] = "";
    struct err err;
    err_set(&err, ERR_USAGE, "is it \x1B[1m?", "no %s", "na\nme\x1B]0;x\x07");
    assert_string_equal(err.what, "no na?me?]0;x?");
    assert_string_equal(err.hint, "is it ?[1m?");
    err_prefix(&err, -1,
               "a\x1B"
               "b");
    assert_string_equal(err.what, "a?b: no na?me?]0;x?");
    FILE *f = fmemopen(buf, sizeof buf, "w");
    text_print(f, "%s\n\t%d\n", "\x1B[2Jname", 7);
    fflush(f);
    assert_string_equal(buf, "?[2Jname\n\t7\n");
    fclose(f);
}

static void text__codes__of_every_length(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        uint32_t code;
    } some[] = {
        { "a", 1, 'a' },
        { "\x1B", 1, 0x1B },
        { "\xC2\x9B", 2, 0x9B },
        { "\xE2\x80\xAE", 3, 0x202E },
        { "\xF0\x9F\x98\x80", 4, 0x1F600 },
        { "\xFF", 0, 0xFF },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(some); i++) {
        uint32_t code;
        assert_int_equal(text_code(some[i].text, &code), some[i].len);
        assert_int_equal(code, some[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__commands_of_terminals__become_question_marks),
        cmocka_unit_test(text__every_way_out__is_cleaned),
        cmocka_unit_test(text__codes__of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
