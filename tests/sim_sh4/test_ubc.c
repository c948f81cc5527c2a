/* UBC matching by itself. Expectations: SH7750 manual, section 20. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/ubc.h"
#include "targets/sh4/isa/regs.h"

enum { A = SH4_UBC_A, B = SH4_UBC_B };
/* BBR values: kind of access, direction, size */
enum {
    INSN = 0x10,
    OPERAND = 0x20,
    EITHER = 0x30,
    RD = 4,
    WR = 8,
    RW = 12,
    ANY = 0,
    BYTE = 1,
    WORD = 2,
    LONG = 3,
    QUAD = 0x40
};
enum { ANY_ASID = 4, LOW10 = 1, LOW12 = 2, ALL = 3, LOW16 = 8, LOW20 = 9 };

static void set_channel(struct sh4_ubc *u, int b, uint32_t bar, uint8_t bamr, uint16_t bbr)
{
    assert_true(sh4_ubc_write(u, b ? SH4_BARB : SH4_BARA, bar));
    assert_true(sh4_ubc_write(u, b ? SH4_BAMRB : SH4_BAMRA, bamr));
    assert_true(sh4_ubc_write(u, b ? SH4_BBRB : SH4_BBRA, bbr));
}

static void insn__conditions__match_or_not(void **state)
{
    static const struct {
        const char *name;
        uint32_t bar;
        uint8_t bamr;
        uint16_t bbr;
        uint32_t pc;
        uint8_t asid;
        bool match;
    } rows[] = {
        { "exact", 0x8C010000, ANY_ASID, INSN | RD | WORD, 0x8C010000, 9, true },
        { "any size", 0x8C010000, ANY_ASID, INSN | RD, 0x8C010000, 9, true },
        { "either kind", 0x8C010000, ANY_ASID, EITHER | RW, 0x8C010000, 9, true },
        { "next instruction", 0x8C010000, ANY_ASID, INSN | RD, 0x8C010002, 9, false },
        { "odd address never", 0x8C010001, ANY_ASID, INSN | RD, 0x8C010000, 9, false },
        { "long size never", 0x8C010000, ANY_ASID, INSN | RD | LONG, 0x8C010000, 9, false },
        { "write only never", 0x8C010000, ANY_ASID, INSN | WR, 0x8C010000, 9, false },
        { "operand only never", 0x8C010000, ANY_ASID, OPERAND | RW, 0x8C010000, 9, false },
        { "RW off", 0x8C010000, ANY_ASID, INSN, 0x8C010000, 9, false },
        { "ASID differs", 0x8C010000, 0, INSN | RD, 0x8C010000, 9, false },
        { "ASID equal", 0x8C010000, 0, INSN | RD, 0x8C010000, 3, true },
        { "low 10 ignored", 0x8C010000, ANY_ASID | LOW10, INSN | RD, 0x8C0103FE, 0, true },
        { "low 10: just beyond", 0x8C010000, ANY_ASID | LOW10, INSN | RD, 0x8C010400, 0, false },
        { "low 12", 0x8C010000, ANY_ASID | LOW12, INSN | RD, 0x8C010FFE, 0, true },
        { "low 16", 0x8C010000, ANY_ASID | LOW16, INSN | RD, 0x8C01FFFE, 0, true },
        { "low 20", 0x8C010000, ANY_ASID | LOW20, INSN | RD, 0x8C0FFFFE, 0, true },
        { "low 20: just beyond", 0x8C010000, ANY_ASID | LOW20, INSN | RD, 0x8C100000, 0, false },
        { "all ignored", 0, ANY_ASID | ALL, INSN | RD, 0x12345678, 0, true },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int b = 0; b < 2; b++) {
            struct sh4_ubc u;
            sh4_ubc_reset(&u);
            print_message("  %s, channel %c\n", rows[i].name, 'A' + b);
            assert_true(sh4_ubc_write(&u, b ? SH4_BASRB : SH4_BASRA, 3));
            set_channel(&u, b, rows[i].bar, rows[i].bamr, rows[i].bbr);
            unsigned want = rows[i].match ? (b ? B : A) : 0;
            assert_int_equal(sh4_ubc_match_insn(&u, rows[i].pc, rows[i].asid), want);
            sh4_ubc_write(&u, SH4_BRCR,
                          REG_MASK(SH4_BRCR_PCBA) | REG_MASK(SH4_BRCR_PCBB) |
                              REG_MASK(SH4_BRCR_DBEB));
            /* after execution */
            assert_int_equal(sh4_ubc_match_insn(&u, rows[i].pc, rows[i].asid), want << 4);
        }
}

static void operand__sizes_and_directions__match_or_not(void **state)
{
    static const struct {
        const char *name;
        uint16_t bbr;
        uint32_t bar, addr;
        unsigned size;
        bool write, match;
    } rows[] = {
        { "long write", OPERAND | WR | LONG, 0x8C000010, 0x8C000010, 4, true, true },
        { "long read not", OPERAND | WR | LONG, 0x8C000010, 0x8C000010, 4, false, false },
        { "either direction", OPERAND | RW | LONG, 0x8C000010, 0x8C000010, 4, false, true },
        { "byte at a long watch not", OPERAND | RW | LONG, 0x8C000010, 0x8C000010, 1, true, false },
        { "BAR low bits below the size ignored", OPERAND | RW | LONG, 0x8C000013, 0x8C000010, 4,
          true, true },
        { "byte compares all bits", OPERAND | RW | BYTE, 0x8C000013, 0x8C000012, 1, true, false },
        { "byte exact", OPERAND | RW | BYTE, 0x8C000013, 0x8C000013, 1, true, true },
        { "word", OPERAND | RW | WORD, 0x8C000012, 0x8C000012, 2, false, true },
        { "quad", OPERAND | RW | QUAD, 0x8C000014, 0x8C000010, 8, true, true },
        { "any: byte inside the watched word", OPERAND | RW, 0x8C000010, 0x8C000011, 1, true,
          false },
        { "any: long covering it", OPERAND | RW, 0x8C000011, 0x8C000010, 4, true, true },
        { "instruction only", INSN | RW, 0x8C000010, 0x8C000010, 4, false, false },
        { "either kind", EITHER | RW, 0x8C000010, 0x8C000010, 4, false, true },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_ubc u;
        sh4_ubc_reset(&u);
        print_message("  %s\n", rows[i].name);
        set_channel(&u, 0, rows[i].bar, ANY_ASID, rows[i].bbr);
        set_channel(&u, 1, rows[i].bar, ANY_ASID, rows[i].bbr);
        assert_int_equal(sh4_ubc_match_operand(&u, rows[i].addr, rows[i].size, rows[i].write, 0, 0),
                         rows[i].match ? A | B : 0);
    }
}

static void operand__data_compare_on_b__value_and_mask(void **state)
{
    static const struct {
        const char *name;
        uint32_t bdrb, bdmrb;
        unsigned size;
        uint64_t value;
        bool match;
    } rows[] = {
        { "long equal", 0x12345678, 0, 4, 0x12345678, true },
        { "long differs", 0x12345678, 0, 4, 0x12345679, false },
        { "masked bit differs", 0x12345678, 1, 4, 0x12345679, true },
        { "word: upper half ignored", 0xFFFF5678, 0, 2, 0x5678, true },
        { "byte in both halves", 0x00004242, 0, 1, 0x42, true },
        { "byte in one half only", 0x00000042, 0, 1, 0x42, false },
        { "byte, upper masked", 0x00000042, 0xFF00, 1, 0x42, true },
        { "quad, low word", 0x11111111, 0, 8, 0x2222222211111111, true },
        { "quad, high word", 0x22222222, 0, 8, 0x2222222211111111, true },
        { "quad, neither", 0x33333333, 0, 8, 0x2222222211111111, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_ubc u;
        sh4_ubc_reset(&u);
        print_message("  %s\n", rows[i].name);
        set_channel(&u, 0, 0x8C000000, ANY_ASID | LOW12, OPERAND | RW);
        set_channel(&u, 1, 0x8C000000, ANY_ASID | LOW12, OPERAND | RW);
        sh4_ubc_write(&u, SH4_BDRB, rows[i].bdrb);
        sh4_ubc_write(&u, SH4_BDMRB, rows[i].bdmrb);
        assert_int_equal(
            sh4_ubc_match_operand(&u, 0x8C000008, rows[i].size, true, rows[i].value, 0), A | B);
        sh4_ubc_write(&u, SH4_BRCR, REG_MASK(SH4_BRCR_DBEB)); /* A never compares data */
        assert_int_equal(
            sh4_ubc_match_operand(&u, 0x8C000008, rows[i].size, true, rows[i].value, 0),
            rows[i].match ? A | B : A);
    }
}

static void hit__independent_and_sequential__flags_and_break(void **state)
{
    (void)state;
    struct sh4_ubc u;
    sh4_ubc_reset(&u);
    assert_true(sh4_ubc_hit(&u, A));
    assert_int_equal(u.brcr, REG_MASK(SH4_BRCR_CMFA));
    assert_true(sh4_ubc_hit(&u, B)); /* sticky */
    assert_int_equal(u.brcr, REG_MASK(SH4_BRCR_CMFA) | REG_MASK(SH4_BRCR_CMFB));
    sh4_ubc_write(&u, SH4_BRCR, REG_MASK(SH4_BRCR_SEQ));
    assert_false(sh4_ubc_hit(&u, B));
    assert_false(sh4_ubc_hit(&u, A));
    assert_int_equal(u.brcr, REG_MASK(SH4_BRCR_SEQ)); /* A alone sets nothing */
    assert_true(sh4_ubc_hit(&u, B));
    assert_int_equal(u.brcr, REG_MASK(SH4_BRCR_SEQ) | REG_MASK(SH4_BRCR_CMFB));
    assert_false(sh4_ubc_hit(&u, B)); /* A has to come again */
    assert_false(sh4_ubc_hit(&u, A | B));
    sh4_ubc_write(&u, SH4_BRCR, 0); /* SEQ=0 forgets A */
    sh4_ubc_write(&u, SH4_BRCR, REG_MASK(SH4_BRCR_SEQ));
    assert_false(sh4_ubc_hit(&u, B));
}

static void armed__registers_written__follows_what_can_match(void **state)
{
    (void)state;
    struct sh4_ubc u;
    uint32_t v;
    sh4_ubc_reset(&u);
    assert_false(u.armed);
    set_channel(&u, 1, 0, 0, INSN | RD);
    assert_true(u.armed && u.armed_insn && !u.armed_operand);
    set_channel(&u, 0, 0, 0, OPERAND | WR);
    assert_true(u.armed_operand);
    set_channel(&u, 1, 0, 0, INSN);
    assert_false(u.armed_insn);
    set_channel(&u, 0, 0, 0, 0);
    assert_false(u.armed);
    assert_true(sh4_ubc_read(&u, SH4_BAMRB, &v));
    assert_false(sh4_ubc_read(&u, SH4_BRCR + 4, &v));
    assert_false(sh4_ubc_write(&u, SH4_TCR0, 0));
    assert_false(sh4_ubc_breaks_to_dbr(&u));
    sh4_ubc_write(&u, SH4_BRCR, 0xFFFF);
    assert_true(sh4_ubc_breaks_to_dbr(&u));
    assert_true(sh4_ubc_read(&u, SH4_BRCR, &v));
    assert_int_equal(v, 0xC4C9); /* the bits that exist */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insn__conditions__match_or_not),
        cmocka_unit_test(operand__sizes_and_directions__match_or_not),
        cmocka_unit_test(operand__data_compare_on_b__value_and_mask),
        cmocka_unit_test(hit__independent_and_sequential__flags_and_break),
        cmocka_unit_test(armed__registers_written__follows_what_can_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
