/* MAC.W and MAC.L, which the single-step files do not have; expected values by hand from the
 * manual's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sim_sh4/rig.h"

static const struct row {
    const char *name, *insn;
    bool s;
    uint32_t a, b, mach, macl, want_mach, want_macl;
} rows[] = {
    { "w: 2*3 on 10", "mac.w @r9+,@r10+", false, 2, 3, 0, 10, 0, 16 },
    { "w: -1*1 borrows", "mac.w @r9+,@r10+", false, 0xFFFF, 1, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF },
    { "w: carry into MACH", "mac.w @r9+,@r10+", false, 1, 1, 0, 0xFFFFFFFF, 1, 0 },
    { "w: only 16 bits count", "mac.w @r9+,@r10+", false, 0x12340002, 0x56780003, 0, 0, 0, 6 },
    { "w: -32768 squared", "mac.w @r9+,@r10+", false, 0x8000, 0x8000, 0, 0, 0, 0x40000000 },
    { "w, S: no overflow", "mac.w @r9+,@r10+", true, 2, 3, 0, 10, 0, 16 },
    { "w, S: up to the maximum", "mac.w @r9+,@r10+", true, 1, 1, 0, 0x7FFFFFFE, 0, 0x7FFFFFFF },
    { "w, S: above saturates", "mac.w @r9+,@r10+", true, 0x7FFF, 0x7FFF, 0, 0x7FFFFFFF, 1,
      0x7FFFFFFF },
    { "w, S: below saturates", "mac.w @r9+,@r10+", true, 0x8000, 0x7FFF, 0, 0x80000000, 1,
      0x80000000 },
    { "w, S: MACL negative", "mac.w @r9+,@r10+", true, 1, 1, 0, 0xFFFFFFFF, 0, 0 },
    { "l: product of 32 bits", "mac.l @r9+,@r10+", false, 0x10000, 0x10000, 0, 5, 1, 5 },
    { "l: negative", "mac.l @r9+,@r10+", false, 0xFFFFFFFF, 2, 0, 1, 0xFFFFFFFF, 0xFFFFFFFF },
    { "l: wraps at 64 bits", "mac.l @r9+,@r10+", false, 1, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000,
      0 },
    { "l, S: no overflow", "mac.l @r9+,@r10+", true, 0x10000, 0x10000, 0, 5, 1, 5 },
    { "l, S: up to the maximum", "mac.l @r9+,@r10+", true, 1, 1, 0x7FFF, 0xFFFFFFFE, 0x7FFF,
      0xFFFFFFFF },
    { "l, S: above saturates", "mac.l @r9+,@r10+", true, 1, 1, 0x7FFF, 0xFFFFFFFF, 0x7FFF,
      0xFFFFFFFF },
    { "l, S: far above", "mac.l @r9+,@r10+", true, 0x7FFFFFFF, 0x7FFFFFFF, 0, 0, 0x7FFF,
      0xFFFFFFFF },
    { "l, S: below saturates", "mac.l @r9+,@r10+", true, 0xFFFFFFFF, 1, 0xFFFF8000, 0, 0xFFFF8000,
      0 },
    { "l, S: far below", "mac.l @r9+,@r10+", true, 0x80000000, 0x7FFFFFFF, 0, 0, 0xFFFF8000, 0 },
    { "l, S: negative, in range", "mac.l @r9+,@r10+", true, 0xFFFFFFFF, 1, 0xFFFFFFFF, 0,
      0xFFFFFFFE, 0xFFFFFFFF },
};

static void mac__rows__accumulated_or_saturated(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int mode = 0; mode < RIG_NMODES; mode++) {
            struct rig *r = rig_open((enum rig_mode)mode);
            char text[64];
            unsigned step = rows[i].insn[4] == 'w' ? 2 : 4;
            print_message("  %s\n", rows[i].name);
            snprintf(text, sizeof text, "%s\n %s\n", rows[i].s ? "sets" : "clrs", rows[i].insn);
            rig_load(r, RIG_CODE, RIG_PRIV, text);
            rig_put(r, RIG_DATA, rows[i].a);
            rig_put(r, RIG_DATA + 16, rows[i].b);
            r->cpu.r[9] = RIG_DATA;
            r->cpu.r[10] = RIG_DATA + 16;
            r->cpu.mach = rows[i].mach;
            r->cpu.macl = rows[i].macl;
            rig_go(r);
            assert_int_equal(r->cpu.mach, rows[i].want_mach);
            assert_int_equal(r->cpu.macl, rows[i].want_macl);
            assert_int_equal(r->cpu.r[9], RIG_DATA + step);
            assert_int_equal(r->cpu.r[10], RIG_DATA + 16 + step);
            rig_close(r);
        }
}

/* The same register twice: two neighbouring operands, and it moves on by two. */
static void mac__same_register__neighbours(void **state)
{
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        rig_load(r, RIG_CODE, RIG_PRIV,
                 "clrmac\n clrs\n mac.l @r9+,@r9+\n sts macl,r8\n mac.w @r9+,@r9+\n");
        rig_put(r, RIG_DATA, 3);
        rig_put(r, RIG_DATA + 4, 5);
        rig_put(r, RIG_DATA + 8, 0x00070002);
        r->cpu.r[9] = RIG_DATA;
        rig_go(r);
        assert_int_equal(r->cpu.r[8], 15);
        assert_int_equal(r->cpu.macl, 29);
        assert_int_equal(r->cpu.r[9], RIG_DATA + 12);
        rig_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mac__rows__accumulated_or_saturated),
        cmocka_unit_test(mac__same_register__neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
