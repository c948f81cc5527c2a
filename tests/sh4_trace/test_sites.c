#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/reg_use.h"
#include "targets/sh4/code/sites.h"
#include "tests/sim_sh4/asm.h"

enum { TEXT = 0x0C010000 };

struct program {
    struct asm_prog asmp;
    struct image_section sec[2];
    struct image_function fn[8];
    struct image im;
    struct sh4_sites found;
};

/* Labels that start with a letter and carry no '_' are functions, each up to the next one. */
static void find_sites(struct program *p, const char *src, const struct sh4_sites_config *cfg)
{
    struct err err = { .code = ERR_OK };
    memset(p, 0, sizeof *p);
    asm_text(&p->asmp, TEXT, src);
    p->sec[0] = (struct image_section){ ".text", TEXT, p->asmp.len, p->asmp.code, true, false };
    size_t n = 0;
    for (size_t i = 0; i < p->asmp.nlabels; i++)
        if (!strchr(p->asmp.labels[i].name, '_'))
            p->fn[n++] =
                (struct image_function){ p->asmp.labels[i].name, p->asmp.labels[i].value, 0 };
    for (size_t i = 0; i < n; i++)
        p->fn[i].high = i + 1 < n ? p->fn[i + 1].low : TEXT + p->asmp.len;
    p->im = (struct image){ .path = "test",
                            .entry = TEXT,
                            .sections = p->sec,
                            .nsections = 1,
                            .functions = p->fn,
                            .nfunctions = n };
    assert_int_equal(sh4_sites_find(&p->im, cfg, &p->found, &err), 0);
}

static const struct sh4_site *site_at(struct program *p, const char *label)
{
    const struct sh4_site *s = sh4_sites_at(&p->found, asm_label(&p->asmp, label));
    if (!s)
        fail_msg("no site at %s", label);
    return s;
}

static const struct sh4_sites_config open_entry = { 0 };
static const struct sh4_sites_config blocked_entry = { .entry_blocked = true };

static void sites__every_kind__found_with_target(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p,
               "main: mov.l l_f,r1\n"
               "m_jsr: jsr @r1\n mov #1,r4\n"
               "m_bsr: bsr f\n nop\n"
               "mov.l l_rel,r2\n"
               "m_bsrf: bsrf r2\n nop\n"
               "m_after: jsr @r4\n nop\n"
               "mov.l l_f,r0\n"
               "m_jmp: jmp @r0\n lds.l @r15+,pr\n"
               ".align 2\n"
               "l_f: .long f\n"
               "l_rel: .long f-m_after\n"
               "f: rts\n nop\n"
               "g: bra f\n nop\n",
               &open_entry);
    static const struct {
        const char *label;
        enum sh4_site_kind kind;
        bool target;
    } rows[] = {
        { "m_jsr", SH4_SITE_JSR, true },   { "m_bsr", SH4_SITE_BSR, true },
        { "m_bsrf", SH4_SITE_BSRF, true }, { "m_after", SH4_SITE_JSR, false },
        { "m_jmp", SH4_SITE_JMP, true },   { "f", SH4_SITE_RTS, false },
        { "g", SH4_SITE_BRA, true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct sh4_site *s = site_at(&p, rows[i].label);
        print_message("  %s\n", rows[i].label);
        assert_int_equal(s->kind, rows[i].kind);
        assert_int_equal(s->why, SH4_TRACED);
        assert_int_equal(s->has_target, rows[i].target);
        if (rows[i].target)
            assert_int_equal(s->target, asm_label(&p.asmp, "f"));
    }
    assert_int_equal(p.found.nsites, ARRAY_LEN(rows));
    sh4_sites_fini(&p.found);
}

static void sites__data_that_looks_like_code__is_not_taken(void **state)
{
    (void)state;
    static struct program p;
    /* Pool behind a call that does not return, loaded by code before it; a byte table of a switch.
     */
    find_sites(&p,
               "main: mov.l l_exit,r0\n mov.l l_b,r5\n"
               "jsr @r0\n nop\n"
               ".align 2\n"
               "l_exit: .long ending\n"
               "l_b: .long 0x000B000B\n"
               "ending: bra ending\n nop\n"
               "sel: mova t_0,r0\n mov.b @(r0,r4),r4\n"
               "s_braf: braf r4\n nop\n"
               "s_base: .align 2\n"
               "t_0: .word 0x0B0B\n"
               ".word 0x0B05\n" /* misaligned target ends the table */
               "c_0: rts\n mov #1,r0\n",
               &open_entry);
    assert_int_equal(sh4_sites_code(&p.found, asm_label(&p.asmp, "l_b")), SH4_CODE_LITERAL);
    assert_null(sh4_sites_at(&p.found, asm_label(&p.asmp, "l_b")));
    assert_null(sh4_sites_at(&p.found, asm_label(&p.asmp, "s_braf")));
    sh4_sites_fini(&p.found);
}

static void sites__switch_table__cases_are_searched(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p,
               "sel: mova t_0,r0\n mov.w @(r0,r4),r4\n braf r4\n nop\n"
               "s_base: .align 2\n"
               "t_0: .word c_0-s_base\n .word c_1-s_base\n"
               "c_0: rts\n mov #1,r0\n"
               "c_1: mov.l l_f,r1\n jmp @r1\n nop\n .align 2\n l_f: .long f\n"
               "f: rts\n nop\n",
               &open_entry);
    assert_int_equal(site_at(&p, "c_0")->kind, SH4_SITE_RTS);
    assert_int_equal(sh4_sites_code(&p.found, asm_label(&p.asmp, "t_0")) &
                         (SH4_CODE_INSN | SH4_CODE_LITERAL),
                     SH4_CODE_LITERAL);
    assert_true(sh4_sites_code(&p.found, asm_label(&p.asmp, "c_1")) & SH4_CODE_INSN);
    sh4_sites_fini(&p.found);
}

/* A table of one byte and what fills it up, and behind it code that only a branch leads to. */
static void sites__table_of_an_odd_length__ends_at_its_fill(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p,
               "sel: mova t_0,r0\n tst r4,r4\n bt d_0\n mov.b @(r0,r4),r4\n braf r4\n nop\n"
               ".align 2\n"
               "t_0: .word 0x0008\n"
               "d_0: mov #2,r1\n m_rts: rts\n nop\n"
               "c_0: rts\n mov #1,r0\n",
               &open_entry);
    assert_true(sh4_sites_code(&p.found, asm_label(&p.asmp, "d_0")) & SH4_CODE_INSN);
    assert_int_equal(site_at(&p, "m_rts")->kind, SH4_SITE_RTS);
    assert_int_equal(site_at(&p, "c_0")->kind, SH4_SITE_RTS);
    sh4_sites_fini(&p.found);
}

static void sites__branch_to_slot__is_left_alone(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p, "main: tst r4,r4\n bt m_slot\n m_rts: rts\n m_slot: mov #1,r0\n rts\n nop\n",
               &open_entry);
    assert_int_equal(site_at(&p, "m_rts")->why, SH4_UNTRACED_SLOT);
    sh4_sites_fini(&p.found);
}

/* Start-up with BL=1, a helper called then, the switch to BL=0, then main. */
static const char startup[] =
    "start: mov.l l_early,r0\n"
    "s_early: jsr @r0\n nop\n"
    "mov.l l_sr,r0\n ldc r0,sr\n"
    "mov.l l_main,r0\n"
    "s_main: jsr @r0\n nop\n"
    "s_end: bra s_end\n nop\n"
    ".align 2\n l_early: .long early\n l_sr: .long 0x40000000\n l_main: .long main\n"
    "early: rts\n nop\n"
    "main: sts.l pr,@-r15\n mov.l m_f,r1\n"
    "m_call: jsr @r1\n nop\n"
    "lds.l @r15+,pr\n m_rts: rts\n nop\n .align 2\n m_f: .long f\n"
    "f: nop\n f_rts: rts\n nop\n";

static void bl__startup_until_sr_is_set__is_left_alone(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p, startup, &blocked_entry);
    assert_int_equal(site_at(&p, "s_early")->why, SH4_UNTRACED_BL);
    assert_int_equal(site_at(&p, "early")->why, SH4_UNTRACED_BL);
    assert_int_equal(site_at(&p, "s_main")->why, SH4_TRACED);
    assert_int_equal(site_at(&p, "m_call")->why, SH4_TRACED);
    assert_int_equal(site_at(&p, "f_rts")->why, SH4_TRACED);
    assert_true(sh4_sites_may_block(&p.found, asm_label(&p.asmp, "s_early")));
    assert_false(sh4_sites_may_block(&p.found, asm_label(&p.asmp, "s_main")));
    sh4_sites_fini(&p.found);
    find_sites(&p, startup, &open_entry);
    assert_int_equal(site_at(&p, "s_early")->why, SH4_TRACED);
    sh4_sites_fini(&p.found);
}

static void bl__set_restored_and_called_through_pointers__closure_is_left_alone(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p,
               "main: stc sr,r8\n mov.l l_bl,r1\n mov r8,r0\n or r1,r0\n ldc r0,sr\n" /* BL=1 */
               "mov.l l_a,r1\n"
               "m_a: jsr @r1\n nop\n"
               "ldc r8,sr\n" /* as at entry */
               "mov.l l_b,r1\n"
               "m_b: jsr @r1\n nop\n"
               "m_rts: rts\n nop\n .align 2\n"
               "l_bl: .long 0x10000000\n l_a: .long a\n l_b: .long b\n"
               "a: mov.l @r4,r0\n"
               "a_ind: jmp @r0\n nop\n" /* unknown: every function whose address is taken */
               "b: mov.l b_c,r0\n rts\n nop\n .align 2\n b_c: .long c\n"
               "c: rts\n nop\n"
               "d: rts\n nop\n",
               &open_entry);
    static const struct {
        const char *label;
        enum sh4_untraced why;
    } rows[] = {
        { "m_a", SH4_UNTRACED_BL }, { "a_ind", SH4_UNTRACED_BL }, { "c", SH4_UNTRACED_BL },
        { "m_b", SH4_TRACED },      { "m_rts", SH4_TRACED },      { "d", SH4_TRACED },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].label);
        assert_int_equal(site_at(&p, rows[i].label)->why, rows[i].why);
    }
    sh4_sites_fini(&p.found);
}

static void bl__callee_that_changes_it__changes_the_caller(void **state)
{
    (void)state;
    static struct program p;
    find_sites(
        &p,
        "main: bsr lock\n nop\n"
        "m_in: bsr f\n nop\n"
        "bsr unlock\n nop\n"
        "m_out: bsr g\n nop\n"
        "m_rts: rts\n nop\n"
        "lock: stc sr,r0\n mov.l k_bl,r1\n or r1,r0\n ldc r0,sr\n rts\n nop\n .align 2\n k_bl: "
        ".long 0x10000000\n"
        "unlock: stc sr,r0\n mov.l u_bl,r1\n and r1,r0\n ldc r0,sr\n rts\n nop\n .align 2\n u_bl: "
        ".long 0xEFFFFFFF\n"
        "f: rts\n nop\n"
        "g: rts\n nop\n",
        &open_entry);
    assert_int_equal(site_at(&p, "m_in")->why, SH4_UNTRACED_BL);
    assert_int_equal(site_at(&p, "f")->why, SH4_UNTRACED_BL);
    assert_int_equal(site_at(&p, "m_out")->why, SH4_TRACED);
    assert_int_equal(site_at(&p, "g")->why, SH4_TRACED);
    sh4_sites_fini(&p.found);
}

static void vbr__accesses_and_handlers__found_whatever_bl(void **state)
{
    (void)state;
    static struct program p;
    find_sites(
        &p,
        "main: mov.l l_v,r0\n m_ldc: ldc r0,vbr\n m_stc: stc vbr,r1\n m_stcl: stc.l vbr,@-r15\n"
        "m_ldcl: ldc.l @r15+,vbr\n m_rts: rts\n nop\n .align 2\n l_v: .long vec\n"
        ".align 4\n vec: .space 1536\n"
        "hand: nop\n h_call: bsr f\n nop\n h_rte: rte\n nop\n"
        "f: rts\n nop\n",
        &open_entry);
    assert_int_equal(asm_label(&p.asmp, "hand"), asm_label(&p.asmp, "vec") + 0x600);
    assert_int_equal(site_at(&p, "m_ldc")->kind, SH4_SITE_LDC_VBR);
    assert_int_equal(site_at(&p, "m_stc")->kind, SH4_SITE_STC_VBR);
    assert_int_equal(site_at(&p, "m_stcl")->kind, SH4_SITE_STCL_VBR);
    assert_int_equal(site_at(&p, "m_ldcl")->kind, SH4_SITE_LDCL_VBR);
    assert_int_equal(site_at(&p, "m_rts")->why, SH4_TRACED);
    assert_int_equal(site_at(&p, "h_call")->why, SH4_UNTRACED_BL);
    assert_int_equal(site_at(&p, "f")->why, SH4_UNTRACED_BL);
    assert_int_equal(site_at(&p, "h_rte")->why, SH4_UNTRACED_OTHER);
    sh4_sites_fini(&p.found);
}

/* No pointer leads to them, they begin like nothing, and where the call and the jump stand no
 * register is known by what is right before. */
static void sites__constants_across_branches__what_they_lead_to_is_searched(void **state)
{
    (void)state;
    static struct program p;
    find_sites(&p,
               "m_main: sts.l pr,@-r15\n mov.l l_f,r8\n m_loop: jsr @r8\n nop\n dt r9\n bf m_loop\n"
               "mov.l l_g,r2\n tst r0,r0\n bt m_b\n nop\n"
               "m_b: jmp @r2\n lds.l @r15+,pr\n .align 2\n l_f: .long f_\n l_g: .long g_\n"
               "f_: rts\n nop\n"
               "g_: add #1,r0\n rts\n nop\n",
               &open_entry);
    assert_int_equal(p.im.nfunctions, 0);
    assert_int_equal(site_at(&p, "f_")->kind, SH4_SITE_RTS);
    assert_int_equal(site_at(&p, "m_loop")->target, asm_label(&p.asmp, "f_"));
    assert_true(sh4_sites_code(&p.found, asm_label(&p.asmp, "g_")) & SH4_CODE_INSN);
    sh4_sites_fini(&p.found);
}

static void sites__image_without_code__is_an_error(void **state)
{
    (void)state;
    struct image im = { .path = "empty.elf" };
    struct sh4_sites s;
    struct err err = { .code = ERR_OK };
    assert_int_equal(sh4_sites_find(&im, &open_entry, &s, &err), -ERR_FORMAT);
    assert_string_not_equal(err.hint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites__every_kind__found_with_target),
        cmocka_unit_test(sites__data_that_looks_like_code__is_not_taken),
        cmocka_unit_test(sites__switch_table__cases_are_searched),
        cmocka_unit_test(sites__table_of_an_odd_length__ends_at_its_fill),
        cmocka_unit_test(sites__branch_to_slot__is_left_alone),
        cmocka_unit_test(bl__startup_until_sr_is_set__is_left_alone),
        cmocka_unit_test(bl__set_restored_and_called_through_pointers__closure_is_left_alone),
        cmocka_unit_test(bl__callee_that_changes_it__changes_the_caller),
        cmocka_unit_test(vbr__accesses_and_handlers__found_whatever_bl),
        cmocka_unit_test(sites__constants_across_branches__what_they_lead_to_is_searched),
        cmocka_unit_test(sites__image_without_code__is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
