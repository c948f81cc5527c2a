/* The register list shared by driver and model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "targets/sh4/isa/regs.h"

static void table__all_rows__ascending_and_found_by_address_alias_and_name(void **state)
{
    (void)state;
    size_t n;
    const struct sh4_reg_info *t = sh4_reg_table(&n);
    assert_true(n > 100);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || t[i].address > t[i - 1].address);
        assert_true(t[i].bits == 8 || t[i].bits == 16 || t[i].bits == 32);
        assert_true(t[i].bits == 32 || t[i].reset >> t[i].bits == 0);
        assert_string_not_equal(t[i].meaning, "");
        assert_ptr_equal(sh4_reg_at(t[i].address), &t[i]);
        assert_ptr_equal(sh4_reg_at(t[i].address & 0x1FFFFFFF), &t[i]); /* area 7 */
        assert_ptr_equal(sh4_reg_named(t[i].name), &t[i]);
    }
    assert_null(sh4_reg_at(0xFF200024));
    assert_null(sh4_reg_named("BRCRX"));
    assert_ptr_equal(sh4_reg_named("brcr"), sh4_reg_at(SH4_BRCR));
}

static void fields__of_each_register__fit_its_width_and_names_are_unique(void **state)
{
    (void)state;
    size_t n, described = 0;
    const struct sh4_reg_info *t = sh4_reg_table(&n);
    for (size_t i = 0; i < n; i++) {
        size_t nf;
        const struct reg_field *f = sh4_reg_fields(t[i].address, &nf);
        assert_int_equal(f != NULL, nf != 0);
        described += nf != 0;
        for (size_t k = 0; k < nf; k++) {
            assert_true(f[k].msb >= f[k].lsb && f[k].msb < t[i].bits);
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(f[j].name, f[k].name);
        }
    }
    assert_true(described >= 25);
}

static void reg_text__brcr__value_and_names(void **state)
{
    (void)state;
    size_t n;
    char buf[80];
    const struct reg_field *f = sh4_reg_fields(SH4_BRCR, &n);
    assert_string_equal(reg_text(f, n, 0x8401, 4, buf, sizeof buf), "8401 CMFA PCBA UBDE");
    f = sh4_sr_fields(&n);
    assert_string_equal(reg_text(f, n, SH4_SR_RESET, 8, buf, sizeof buf),
                        "700000f0 MD RB BL IMASK=f");
    assert_int_equal(SH4_SR_WRITABLE, 0x700083F3);
    assert_int_equal(SH4_FPSCR_WRITABLE, 0x003FFFFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__all_rows__ascending_and_found_by_address_alias_and_name),
        cmocka_unit_test(fields__of_each_register__fit_its_width_and_names_are_unique),
        cmocka_unit_test(reg_text__brcr__value_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
