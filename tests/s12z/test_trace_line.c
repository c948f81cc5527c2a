/* The line codec: rows worked out from ZVM p.226-227, round trips, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/s12z/trace/line.h"

static void decode__worked_examples__as_the_text_says(void **state)
{
    static const struct {
        const char *name;
        uint64_t raw;
        struct s12z_line l;
    } rows[] = {
        { "PTIB to FE1234 after T,N,T",
          0xFE12340000000D01,
          { .format = S12Z_PTIB, .nbranches = 3, .branches = 5, .address = 0xFE1234 } },
        { "PTS at FE0000", 0x00000000FE000000, { .format = S12Z_PTS, .address = 0xFE0000 } },
        { "31 taken",
          0x000000FFFFFFFF02,
          { .format = S12Z_PTHF, .nbranches = 31, .branches = 0x7FFFFFFF } },
        { "N x 8", 0x0000000000010007, { .format = S12Z_PTW, .nbranches = 8 } },
        { "RTI timer, stamp 0x1234",
          0x1234E80000000103,
          { .format = S12Z_PTVB, .vector = 0xE8, .stamp = 0x1234 } },
        { "TERM", 0x0010000000000117, { .format = S12Z_PTW, .end = true, .stamp = 0x0010 } },
        { "TBOVF on a PTIB",
          0x0010000000000121,
          { .format = S12Z_PTIB, .overflow = true, .address = 0x001000 } },
        { "TSOVF",
          0xFFFF000000000147,
          { .format = S12Z_PTW, .stamp_overflow = true, .stamp = 0xFFFF } },
    };
    struct s12z_settings s = s12z_settings_default();
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct s12z_line l;
        print_message("  %s\n", rows[k].name);
        memset(&l, 0, sizeof l);
        assert_int_equal(s12z_line_decode(rows[k].raw, &s, &l, NULL), 0);
        assert_memory_equal(&l, &rows[k].l, sizeof l);
        assert_true(s12z_line_encode(&l, &s) == rows[k].raw);
    }
}

static void decode__what_is_no_line__refused(void **state)
{
    static const struct {
        const char *name;
        uint64_t raw;
    } rows[] = {
        { "bit 7 of INFO", 0x0000000000000181 }, { "format 4", 0x0000000000000104 },
        { "no stop bit", 0x0000000000000001 },   { "odd vector", 0x0000E90000000103 },
        { "TERM on PTS", 0x0000000000000010 },   { "PTS with more", 0x0000000100000000 },
        { "PTW byte 5", 0x0000010000000107 },    { "PTHF of 30", 0x0000004000000002 },
    };
    struct s12z_settings s = s12z_settings_default();
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct s12z_line l;
        struct err err = { 0 };
        print_message("  %s\n", rows[k].name);
        assert_int_equal(s12z_line_decode(rows[k].raw, &s, &l, &err), -ERR_FORMAT);
        assert_string_not_equal(err.hint, "");
    }
}

/* Whatever decodes encodes to the same number, in both byte orders. */
static void codec__random_lines__round_trip(void **state)
{
    (void)state;
    srand(11);
    unsigned decoded = 0;
    for (unsigned k = 0; k < 2000000; k++) {
        struct s12z_settings s = s12z_settings_default();
        struct s12z_line l;
        uint64_t raw = (uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand();
        static const uint64_t keep[] = { 0xFFFFFFFF, ~0ull, 0xFFFFFFFFFF, ~0ull, ~(0xFFull << 40) };
        raw &= keep[rand() % 5];
        s.low_byte_first = k & 1;
        if (s12z_line_decode(raw, &s, &l, NULL) < 0)
            continue;
        assert_true(s12z_line_encode(&l, &s) == raw);
        decoded++;
    }
    assert_true(decoded > 10000);
}

static void readout__both_paths__same_line(void **state)
{
    static const uint8_t dbgtb[] = { 0x0D, 0x01, 0, 0, 0x34, 0, 0xFE, 0x12 },
                         command[] = { 0, 0, 0x0D, 0x01, 0xFE, 0x12, 0x34, 0 };
    (void)state;
    assert_true(s12z_line_from_dbgtb(dbgtb) == 0xFE12340000000D01);
    assert_true(s12z_line_from_command(command) == 0xFE12340000000D01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode__worked_examples__as_the_text_says),
        cmocka_unit_test(decode__what_is_no_line__refused),
        cmocka_unit_test(codec__random_lines__round_trip),
        cmocka_unit_test(readout__both_paths__same_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
