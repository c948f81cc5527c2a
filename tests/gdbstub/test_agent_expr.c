/* Agent expressions: each bytecode by the words of GDB's manual, formats judged by the C library's
 * printf, and what is refused. GDB itself is the judge in gdb/ (test_gdb.py, "as GDB evaluates").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gdbstub/agent_printf.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"

enum { UNTOUCHED = 0x5A5A };

/* Memory 00 81 02 83 04 ... from 0x1000 to 0x10FF; registers hold 0x100 times their number. */
struct board {
    char text[8192];
    size_t len;
};

static int read_reg(void *ctx, unsigned n, uint64_t *value, struct err *err)
{
    (void)ctx;
    if (n > 9)
        return err_set(err, ERR_NOT_FOUND, "", "no register %u", n);
    *value = n * 0x100u;
    return 0;
}

static uint8_t byte_at(uint64_t addr)
{
    if (addr >= 0x10C0)
        return "a text\n\0"[(addr - 0x10C0) % 8];
    return (uint8_t)((addr & 0xFF) | (addr & 1) << 7);
}

static int read_mem(void *ctx, uint64_t addr, uint8_t *buf, size_t len, struct err *err)
{
    (void)ctx;
    assert_in_range(len, 1, 64);
    if (addr < 0x1000 || addr + len > 0x1100)
        return err_set(err, ERR_FAULT, "", "bus error");
    for (size_t i = 0; i < len; i++)
        buf[i] = byte_at(addr + i);
    return 0;
}

static void append_text(void *ctx, const char *text, size_t len)
{
    struct board *b = ctx;
    assert_true(b->len + len < sizeof b->text);
    memcpy(b->text + b->len, text, len);
    b->len += len;
    b->text[b->len] = 0;
}

static struct agent_env env_of(struct board *b, bool big)
{
    return (struct agent_env){ .read_reg = read_reg,
                               .read_mem = read_mem,
                               .print = append_text,
                               .ctx = b,
                               .big_endian = big };
}

static size_t bytes_of(const char *hex, uint8_t *code)
{
    size_t n = strlen(hex) / 2;
    assert_true(hex_decode(code, hex, n));
    return n;
}

#define ALL      "ffffffffffffffff"
#define MINUS(n) "25fffffffffffffff" n

static void expression__each_bytecode__as_the_manual_has_it(void **state)
{
    static const struct {
        const char *name, *code;
        uint64_t value;
    } rows[] = {
        { "const8", "22ff27", 0xFF },
        { "const16", "23fffe27", 0xFFFE },
        { "const32", "24fffefdfc27", 0xFFFEFDFC },
        { "const64", "25fffefdfcfbfaf9f827", 0xFFFEFDFCFBFAF9F8 },
        { "add", "220122020227", 3 },
        { "add wraps", MINUS("f") "22020227", 1 },
        { "sub", "220122020327", UINT64_MAX },
        { "mul", "2207" MINUS("b") "0427", (uint64_t)-35 },
        { "div_signed", MINUS("9") "22020527", (uint64_t)-3 },
        { "div_signed of the least", "258000000000000000" MINUS("f") "0527", UINT64_C(1) << 63 },
        { "div_unsigned", MINUS("9") "22020627", (UINT64_MAX - 6) / 2 },
        { "rem_signed", MINUS("9") "22020727", (uint64_t)-1 },
        { "rem_signed of a negative divisor", "2207" MINUS("e") "0727", 1 },
        { "rem_unsigned", MINUS("9") "220a0827", (UINT64_MAX - 6) % 10 },
        { "lsh", "2203223f0927", UINT64_C(1) << 63 },
        { "lsh by all", "220322400927", 0 },
        { "rsh_signed", MINUS("0") "22020a27", (uint64_t)-4 },
        { "rsh_signed by all", MINUS("0") "22fe0a27", UINT64_MAX },
        { "rsh_signed by none", MINUS("0") "22000a27", (uint64_t)-16 },
        { "rsh_unsigned", MINUS("0") "223c0b27", 15 },
        { "log_not", "22000e27", 1 },
        { "log_not of something", "22020e27", 0 },
        { "bit_and", "220c220a0f27", 8 },
        { "bit_or", "220c220a1027", 14 },
        { "bit_xor", "220c220a1127", 6 },
        { "bit_not", "22001227", UINT64_MAX },
        { "equal",
          "2205220513"
          "27",
          1 },
        { "equal, not", "220522061327", 0 },
        { "less_signed", MINUS("f") "22001427", 1 },
        { "less_unsigned", MINUS("f") "22001527", 0 },
        { "less_unsigned of the first",
          "22002201"
          "1527",
          1 },
        { "ext", "22ff160827", UINT64_MAX },
        { "ext of a bit above", "23017f160827", 0x7F },
        { "ext of all", "25" ALL "164027", UINT64_MAX },
        { "zero_ext", "25" ALL "2a1027", 0xFFFF },
        { "ref8", "2310011727", 0x81 },
        { "ref16", "2310011827", 0x0281 },
        { "ref32", "2310001927", 0x83028100 },
        { "ref64", "2310001a27", 0x8706850483028100 },
        { "reg", "26000727", 0x700 },
        { "if_goto taken",
          "2201200007"
          "2209"
          "220827",
          8 },
        { "if_goto not taken",
          "2200200008"
          "2209"
          "27"
          "220827",
          9 },
        { "goto",
          "210005"
          "2209"
          "220827",
          8 },
        { "dup",
          "220728"
          "0227",
          14 },
        { "pop", "220722082927", 7 },
        { "swap", "220922022b0327", (uint64_t)-7 },
        { "pick 0", "220122022203320027", 3 },
        { "pick 2", "220122022203320227", 1 },
        { "rot: a b c is c a b", "2201220222033327", 2 },
        { "rot, its second",
          "22012202220333"
          "2927",
          1 },
        { "rot, its third",
          "22012202220333"
          "292927",
          3 },
        { "counter == 30, by GDB 13.1",
          "23100019162022"
          "1e1327",
          0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t code[64];
        uint64_t value = UNTOUCHED;
        struct board b = { .len = 0 };
        struct agent_env env = env_of(&b, false);
        struct err err = { .code = ERR_OK };
        size_t n = bytes_of(rows[i].code, code);
        print_message("  %s\n", rows[i].name);
        assert_int_equal(agent_check(code, n, &err), 0);
        assert_int_equal(agent_run(code, n, &env, &value, &err), 0);
        assert_true(value == rows[i].value);
    }
}

static void expression__big_endian__memory_is_read_so(void **state)
{
    const uint8_t code[] = { 0x23, 0x10, 0x00, 0x19, 0x27 };
    struct board b = { .len = 0 };
    struct agent_env env = env_of(&b, true);
    uint64_t value = 0;
    struct err err;
    (void)state;
    assert_int_equal(agent_run(code, sizeof code, &env, &value, &err), 0);
    assert_true(value == 0x00810283);
}

/* checked: found before it runs. */
static void expression__wrong__refused_in_words(void **state)
{
    static const struct {
        const char *name, *code, *what;
        bool checked;
    } rows[] = {
        { "empty", "", "0 bytes", true },
        { "floating point", "220101", "bytecode 01", true },
        { "a trace variable", "2c000127", "bytecode 2c", true },
        { "beyond the last bytecode", "ff27", "bytecode ff", true },
        { "cut in a constant", "24000000", "ends within", true },
        { "cut in printf", "2200220034", "ends within", true },
        { "printf, its format cut", "22002200340000086100", "without a format", true },
        { "printf, no NUL",
          "220022003400000161"
          "27",
          "without a format", true },
        { "printf of too few values",
          "2200220034000003256400"
          "27",
          "does not fit", true },
        { "printf of a float",
          "220122002200340100"
          "03256600"
          "27",
          "directive %f", true },
        { "a jump out", "21000927", "no bytecode", true },
        { "a jump into a constant", "23272721000127", "no bytecode", true },
        { "no bits",
          "220116"
          "0027",
          "no bits", true },
        { "65 bits", "22012a4127", "no bits", true },
        { "no end", "2201", "no end", false },
        { "no value", "27", "no value", false },
        { "an empty stack", "0227", "empty", false },
        { "a full stack",
          "2201"
          "28"
          "210002"
          "27",
          "full", false },
        { "for ever",
          "210000"
          "27",
          "does not come", false },
        { "division",
          "2201220005"
          "27",
          "division by zero", false },
        { "remainder",
          "2201220008"
          "27",
          "division by zero", false },
        { "pick too deep", "2201320127", "not that deep", false },
        { "printf without its arguments",
          "2200340000016100"
          "27",
          "without a format", true },
        { "printf on an empty stack", "34000002610027", "empty", false },
        { "no memory there", "22001727", "bus error", false },
        { "no register of that number", "26001027", "no register", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t code[64];
        uint64_t value = UNTOUCHED;
        struct board b = { .len = 0 };
        struct agent_env env = env_of(&b, false);
        struct err err = { .code = ERR_OK };
        size_t n = bytes_of(rows[i].code, code);
        print_message("  %s\n", rows[i].name);
        int checked = agent_check(code, n, &err);
        assert_int_equal(checked < 0, rows[i].checked);
        if (!rows[i].checked)
            assert_true(agent_run(code, n, &env, &value, &err) < 0);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_true(value == UNTOUCHED);
    }
}

/* ---- formats ---- */

static const char *format_printed(struct board *b, const char *fmt, const uint64_t *args,
                                  unsigned nargs)
{
    struct agent_env env = env_of(b, false);
    struct err err = { .code = ERR_OK };
    b->len = 0;
    b->text[0] = 0;
    assert_int_equal(agent_format_check(fmt, nargs, &err), 0);
    assert_int_equal(agent_format_print(fmt, args, &env, &err), 0);
    return b->text;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

/* Every combination of flags, some widths and precisions, each conversion and size. */
static void printf__numbers__as_the_C_library_prints_them(void **state)
{
    static const char *const widths[] = { "", "1", "12", ".0", ".5", "12.5", "3.9" };
    static const char *const sizes[] = { "", "hh", "h", "l", "ll", "z" };
    static const uint64_t values[] = {
        0, 1, 8, 200, 70000, 0x80000000, 0xFFFFFFFF, UINT64_MAX, (uint64_t)-200, UINT64_C(1) << 63
    };
    unsigned compared = 0;
    (void)state;
    for (unsigned flags = 0; flags < 32; flags++)
        for (size_t w = 0; w < ARRAY_LEN(widths); w++)
            for (size_t z = 0; z < ARRAY_LEN(sizes); z++)
                for (const char *c = "diouxX"; *c; c++)
                    for (size_t v = 0; v < ARRAY_LEN(values); v++) {
                        struct board b;
                        char fmt[32], want[128];
                        snprintf(fmt, sizeof fmt, "%%%s%s%s%s%s%s%s%c", flags & 1 ? "-" : "",
                                 flags & 2 ? "+" : "", flags & 4 ? " " : "", flags & 8 ? "#" : "",
                                 flags & 16 ? "0" : "", widths[w], sizes[z], *c);
                        if (z < 3)
                            snprintf(want, sizeof want, fmt, (int)values[v]);
                        else
                            snprintf(want, sizeof want, fmt, (long)values[v]);
                        if (strcmp(format_printed(&b, fmt, &values[v], 1), want) != 0)
                            fail_msg("%s of %llx: %s, not %s", fmt, (unsigned long long)values[v],
                                     b.text, want);
                        compared++;
                    }
    assert_int_equal(compared, 32 * 7 * 6 * 6 * 10);
}

static void printf__text_and_escapes__as_GDB_has_them(void **state)
{
    static const struct {
        const char *fmt;
        uint64_t args[2];
        unsigned nargs;
        const char *want;
    } rows[] = {
        { "plain\\n", { 0 }, 0, "plain\n" },
        { "\\\\\\a\\b\\e\\f\\r\\t\\v\\\"\\'", { 0 }, 0, "\\\a\b\033\f\r\t\v\"'" },
        { "100%%", { 0 }, 0, "100%" },
        { "<%s>", { 0x10C0 }, 1, "<a text\n>" },
        { "<%10s>", { 0x10C1 }, 1, "<     text\n>" },
        { "<%-10.3s>", { 0x10C0 }, 1, "<a t       >" },
        { "<%s>, to the last byte of memory",
          { 0x10F8 },
          1,
          "<a text\n>, to the last byte of memory" },
        { "%c%3c", { 'A', 'B' }, 2, "A  B" },
        { "%p %p", { 0x1234, 0 }, 2, "0x1234 (nil)" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct board b;
        print_message("  %s\n", rows[i].fmt);
        assert_string_equal(format_printed(&b, rows[i].fmt, rows[i].args, rows[i].nargs),
                            rows[i].want);
    }
}

static void printf__string_that_cannot_be_read__fails(void **state)
{
    struct board b = { .len = 0 };
    struct agent_env env = env_of(&b, false);
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(agent_format_print("a%s", (const uint64_t[]){ 0x10 }, &env, &err), -ERR_FAULT);
    assert_string_equal(b.text, "a");
}

static void printf__format_that_is_not_known__refused_in_words(void **state)
{
    static const struct {
        const char *fmt;
        unsigned nargs;
        const char *what;
    } rows[] = {
        { "%f", 1, "directive %f" }, { "%*d", 2, "directive %*" },  { "%n", 1, "directive %n" },
        { "%", 0, "directive %" },   { "%ls", 1, "wide" },          { "\\q", 0, "escape \\q" },
        { "\\", 0, "escape \\" },    { "%d%d", 1, "does not fit" }, { "%d", 2, "does not fit" },
        { "%9999d", 1, "width" },    { "%.9999d", 1, "width" },     { "%99999999999d", 1, "width" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].fmt);
        assert_int_equal(agent_format_check(rows[i].fmt, rows[i].nargs, &err), -ERR_USAGE);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_string_not_equal(err.hint, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expression__each_bytecode__as_the_manual_has_it),
        cmocka_unit_test(expression__big_endian__memory_is_read_so),
        cmocka_unit_test(expression__wrong__refused_in_words),
        cmocka_unit_test(printf__numbers__as_the_C_library_prints_them),
        cmocka_unit_test(printf__text_and_escapes__as_GDB_has_them),
        cmocka_unit_test(printf__string_that_cannot_be_read__fails),
        cmocka_unit_test(printf__format_that_is_not_known__refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
