/* Interrupts, user breaks (UBC) and ASE breaks, as seen by instructions: when they are taken and
 * what is saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "tests/sim_sh4/rig.h"

enum {
    BARA = 0xFF200000,
    BAMRA = 0xFF200004,
    BBRA = 0xFF200008,
    BARB = 0xFF20000C,
    BAMRB = 0xFF200010,
    BBRB = 0xFF200014,
    BDRB = 0xFF200018,
    BDMRB = 0xFF20001C,
    BRCR = 0xFF200020
};
enum {
    BBR_FETCH = 0x14,
    BBR_READ = 0x24,
    BBR_WRITE = 0x28,
    BBR_RW = 0x2C,
    BRCR_PCBA = 1 << 10,
    BRCR_PCBB = 1 << 6,
    BRCR_DBEB = 1 << 7,
    BRCR_SEQ = 1 << 3,
    BRCR_UBDE = 1,
    BRCR_CMFA = 1 << 15,
    BRCR_CMFB = 1 << 14
};

/* ---- interrupts ---- */

static void interrupt__level_against_imask__taken_or_not(void **state)
{
    static const struct {
        unsigned level, imask;
        bool bl, taken;
    } rows[] = {
        { 15, 15, false, false },
        { 15, 14, false, true },
        { 1, 0, false, true },
        { 1, 1, false, false },
        { 8, 7, false, true },
        { 8, 8, false, false },
        { 15, 0, true, false },
        { SH4_IRQ_NMI, 15, false, true },
        { SH4_IRQ_NMI, 15, true, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int mode = 0; mode < RIG_NMODES; mode++) {
            struct rig *r = rig_open((enum rig_mode)mode);
            print_message("  level %u, IMASK %u, BL %d\n", rows[i].level, rows[i].imask,
                          rows[i].bl);
            rig_load(r, RIG_CODE, 0x40000000 | rows[i].imask << 4 | (rows[i].bl ? 0x10000000u : 0),
                     "at: nop\n nop\n");
            sh4_cpu_set_irq(&r->cpu, rows[i].level, rows[i].level == SH4_IRQ_NMI ? 0x1C0 : 0x400);
            uint32_t pc = rig_go(r);
            assert_int_equal(pc, rows[i].taken ? RIG_VBR + 0x600u : rig_label(r, "end"));
            assert_int_equal(r->acks, rows[i].taken);
            if (rows[i].taken) {
                assert_int_equal(r->cpu.ccn.intevt, rows[i].level == SH4_IRQ_NMI ? 0x1C0 : 0x400);
                assert_int_equal(r->cpu.spc, rig_label(r, "at"));
                assert_int_equal(r->cpu.ssr, 0x40000000 | rows[i].imask << 4);
                assert_int_equal(r->cpu.sgr, RIG_STACK);
                assert_int_equal(sh4_get_sr(&r->cpu) & 0x700000F0, 0x70000000 | rows[i].imask << 4);
            }
            rig_close(r);
        }
}

static void interrupt__nmi_with_nmib__taken_although_bl_in(struct rig *r)
{
    rig_load(r, RIG_CODE, 0x500000F0, "nop\n nop\n");
    r->cpu.nmi_bl = true;
    sh4_cpu_set_irq(&r->cpu, SH4_IRQ_NMI, 0x1C0);
    assert_int_equal(rig_go(r), RIG_VBR + 0x600);
}
BOTH_MODES(interrupt__nmi_with_nmib__taken_although_bl)

/* Raised before every step of a program full of slots: SPC is never a slot's address. */
static void interrupt__at_every_boundary__never_between_branch_and_slot(void **state)
{
    static const char text[] =
        "bra a\ns0: mov #1,r8\na: sett\n bt/s b\ns1: mov #2,r8\nb: bsr f\ns2: mov #3,r8\n bra end\n"
        "s3: mov #4,r8\nf: clrt\n bt/s end\ns4: nop\n rts\ns5: mov #5,r8\n";
    (void)state;
    for (unsigned when = 0; when < 12; when++) {
        struct rig *r = rig_open(RIG_STEP);
        rig_load(r, RIG_CODE, 0x40000000, text);
        for (unsigned i = 0; i < when; i++)
            sh4_cpu_step(&r->cpu);
        uint32_t pc = r->cpu.pc;
        sh4_cpu_set_irq(&r->cpu, 5, 0x420);
        rig_go(r);
        assert_int_equal(r->cpu.spc, pc);
        for (unsigned s = 0; s < 6; s++) {
            char name[4] = { 's', (char)('0' + s), 0 };
            assert_int_not_equal(r->cpu.spc, rig_label(r, name));
        }
        rig_close(r);
    }
}

/* The same in the fast path, by cycle: whatever the cycle of the request, no slot address is saved.
 */
static void interrupt__at_every_cycle_of_a_run__never_between_branch_and_slot(void **state)
{
    static const char text[] =
        "mov #100,r9\nl: bsr f\ns0: add #1,r8\n dt r9\n bf/s l\ns1: add #1,r10\n bra l\ns2: nop\n"
        "f: rts\ns3: add #1,r11\n";
    (void)state;
    for (unsigned when = 1; when < 120; when++) {
        struct rig *r = rig_open(RIG_RUN);
        rig_load(r, RIG_CODE, 0x40000000, text);
        sh4_cpu_run(&r->cpu, r->cpu.cycle + 400 + when);
        uint32_t pc = r->cpu.pc;
        sh4_cpu_set_irq(&r->cpu, 5, 0x420);
        sh4_cpu_run(&r->cpu, r->cpu.cycle + 300);
        assert_int_equal(r->cpu.pc, RIG_VBR + 0x600);
        assert_int_equal(r->cpu.spc, pc);
        for (unsigned s = 0; s < 4; s++) {
            char name[4] = { 's', (char)('0' + s), 0 };
            assert_int_not_equal(r->cpu.spc, rig_label(r, name));
        }
        rig_close(r);
    }
}

static void interrupt__pending_when_imask_drops__taken_after_the_ldc_in(struct rig *r)
{
    rig_load(r, RIG_CODE, 0x400000F0,
             "mov.l s,r0\n nop\n ldc r0,sr\nat: nop\n nop\n nop\n bra end\n nop\n .align 2\n"
             "s: .long 0x40000000\nend: bra end\n nop");
    sh4_cpu_set_irq(&r->cpu, 3, 0x440);
    assert_int_equal(rig_go(r), RIG_VBR + 0x600);
    /* at once, or one later */
    assert_in_range(r->cpu.spc, rig_label(r, "at"), rig_label(r, "at") + 2);
    assert_int_equal(r->cpu.ssr & 0xF0, 0);
}
BOTH_MODES(interrupt__pending_when_imask_drops__taken_after_the_ldc)

static void interrupt__pending_at_rte__taken_at_the_return_address_in(struct rig *r)
{
    rig_load(r, RIG_CODE, 0x500000F0,
             "mova at,r0\n ldc r0,spc\n mov.l s,r1\n ldc r1,ssr\n rte\nslot: mov #1,r8\n .align 2\n"
             "s: .long 0x40000000\nat: nop\n bra end\n nop\nend: bra end\n nop");
    sh4_cpu_set_irq(&r->cpu, 3, 0x440);
    assert_int_equal(rig_go(r), RIG_VBR + 0x600);
    assert_int_equal(r->cpu.spc, rig_label(r, "at"));
    assert_int_equal(r->cpu.r[8], 1);
}
BOTH_MODES(interrupt__pending_at_rte__taken_at_the_return_address)

static void sleep__until_interrupt__goes_on_after_it_in(struct rig *r)
{
    rig_load(r, RIG_CODE, 0x40000000, "sleep\nat: nop\n");
    sh4_cpu_run(&r->cpu, r->cpu.cycle + 5000);
    assert_true(r->cpu.asleep);
    uint64_t before = r->cpu.cycle;
    assert_int_equal(sh4_cpu_run(&r->cpu, before + 5000), SH4_STOP_SLEEP);
    assert_true(r->cpu.cycle >= before + 5000);
    sh4_cpu_set_irq(&r->cpu, 1, 0x400);
    assert_int_equal(rig_go(r), RIG_VBR + 0x600);
    assert_int_equal(r->cpu.spc, rig_label(r, "at"));
    assert_false(r->cpu.asleep);
}
BOTH_MODES(sleep__until_interrupt__goes_on_after_it)

/* ---- ASE break ---- */

static void ase_break__at_every_boundary__never_at_a_slot_whatever_bl(void **state)
{
    static const char text[] =
        "bra a\ns0: mov #1,r8\na: sett\n bt/s b\ns1: mov #2,r8\nb: bsr f\ns2: mov #3,r8\n bra end\n"
        "s3: mov #4,r8\nf: rts\ns4: mov #5,r8\n";
    (void)state;
    for (int bl = 0; bl < 2; bl++)
        for (unsigned when = 0; when < 9; when++) {
            struct rig *r = rig_open(RIG_STEP);
            uint32_t sr = bl ? 0x500000F0 : 0x400000F0;
            rig_load(r, RIG_CODE, sr, text);
            r->cpu.ccn.expevt = 0x123;
            for (unsigned i = 0; i < when; i++)
                sh4_cpu_step(&r->cpu);
            uint32_t pc = r->cpu.pc;
            sh4_cpu_request_ase_break(&r->cpu);
            assert_int_equal(rig_go(r), 0xFC000000);
            assert_true(r->cpu.in_ase);
            assert_int_equal(r->cpu.spc, pc);
            assert_int_equal(r->cpu.ssr & ~1u, sr);
            assert_int_equal(r->cpu.sgr, RIG_STACK);
            assert_int_equal(r->cpu.ccn.expevt, 0x123);
            assert_int_equal(sh4_get_sr(&r->cpu) & 0x70000000, 0x70000000);
            for (unsigned s = 0; s < 5; s++) {
                char name[4] = { 's', (char)('0' + s), 0 };
                assert_int_not_equal(r->cpu.spc, rig_label(r, name));
            }
            rig_close(r);
        }
}

static void ase_break__rte_from_aseram__leaves_ase_and_goes_on_in(struct rig *r)
{
    static const uint8_t kernel[] = { 0x2B, 0x00, 0x01, 0x7A }; /* rte; add #1,r10 */
    rig_load(r, RIG_CODE, 0x400000F0, "nop\nl: bra l\n add #1,r8\n");
    memcpy(r->cpu.aseram, kernel, sizeof kernel);
    sh4_cpu_run(&r->cpu, r->cpu.cycle + 2000);
    sh4_cpu_request_ase_break(&r->cpu);
    /* a run may end where ASE mode does */
    for (uint64_t end = r->cpu.cycle + 2000; r->cpu.cycle < end;)
        sh4_cpu_run(&r->cpu, end);
    assert_false(r->cpu.in_ase);
    assert_int_equal(r->cpu.pc, rig_label(r, "l"));
    assert_int_equal(r->cpu.r[10], 0x100B);
    assert_int_equal(sh4_get_sr(&r->cpu), 0x400000F0);
}
BOTH_MODES(ase_break__rte_from_aseram__leaves_ase_and_goes_on)

/* ---- user breaks ---- */

static void watch_address(struct rig *r, uint32_t addr, uint32_t bbr, uint32_t brcr)
{
    rig_ubc(r, BARA, addr);
    rig_ubc(r, BAMRA, 4); /* any ASID */
    rig_ubc(r, BRCR, brcr);
    rig_ubc(r, BBRA, bbr);
}

static void check_break(struct rig *r, uint32_t spc)
{
    assert_int_equal(rig_go(r), RIG_VBR + 0x100);
    assert_int_equal(r->cpu.ccn.expevt, 0x1E0);
    assert_int_equal(r->cpu.spc, spc);
    assert_true(r->ubc.brcr & BRCR_CMFA);
}

static void ubc__instruction_before__spc_is_it_and_it_has_not_run_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "nop\nat: mov #1,r8\n nop\n");
    watch_address(r, rig_label(r, "at"), BBR_FETCH, 0);
    check_break(r, rig_label(r, "at"));
    assert_int_equal(r->cpu.r[8], 0x1008);
    assert_int_equal(r->cpu.ssr, RIG_PRIV);
    assert_int_equal(r->cpu.sgr, RIG_STACK);
}
BOTH_MODES(ubc__instruction_before__spc_is_it_and_it_has_not_run)

static void ubc__instruction_after__spc_is_the_next_and_it_has_run_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "nop\nat: mov #1,r8\nnext: nop\n");
    watch_address(r, rig_label(r, "at"), BBR_FETCH, BRCR_PCBA);
    check_break(r, rig_label(r, "next"));
    assert_int_equal(r->cpu.r[8], 1);
}
BOTH_MODES(ubc__instruction_after__spc_is_the_next_and_it_has_run)

static void ubc__after_a_branch__spc_is_the_target_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "nop\nat: bra to\n mov #1,r8\n nop\nto: mov #2,r9\n");
    watch_address(r, rig_label(r, "at"), BBR_FETCH, BRCR_PCBA);
    check_break(r, rig_label(r, "to"));
    assert_int_equal(r->cpu.r[8], 1);
    assert_int_equal(r->cpu.r[9], 0x1009);
}
BOTH_MODES(ubc__after_a_branch__spc_is_the_target)

static void ubc__branch_not_taken_before_it__does_not_break_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "bra end\n nop\nat: mov #1,r8\n");
    watch_address(r, rig_label(r, "at"), BBR_FETCH, 0);
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->ubc.brcr & BRCR_CMFA, 0);
}
BOTH_MODES(ubc__branch_not_taken_before_it__does_not_break)

static void ubc__with_ubde__goes_to_dbr_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "nop\nat: mov #1,r8\n");
    r->cpu.dbr = RIG_VBR + 0x700;
    watch_address(r, rig_label(r, "at"), BBR_FETCH, BRCR_UBDE);
    assert_int_equal(rig_go(r), RIG_VBR + 0x700);
    assert_int_equal(r->cpu.ccn.expevt, 0x1E0);
    assert_int_equal(r->cpu.spc, rig_label(r, "at"));
}
BOTH_MODES(ubc__with_ubde__goes_to_dbr)

static void ubc__before_beats_the_exception_of_the_same_instruction_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "nop\nat: .word 0xFFFD\n");
    watch_address(r, rig_label(r, "at"), BBR_FETCH, 0);
    check_break(r, rig_label(r, "at"));
}
BOTH_MODES(ubc__before_beats_the_exception_of_the_same_instruction)

static void ubc__operand__direction_size_and_mask(void **state)
{
    static const struct {
        const char *name, *insn;
        uint32_t bar, bamr, bbr;
        bool hit;
    } rows[] = {
        { "write, watching writes", "mov.l r2,@r1", 0, 4, BBR_WRITE, true },
        { "write, watching reads", "mov.l r2,@r1", 0, 4, BBR_READ, false },
        { "read, watching reads", "mov.l @r1,r2", 0, 4, BBR_READ, true },
        { "read, watching both", "mov.l @r1,r2", 0, 4, BBR_RW, true },
        { "byte inside a long", "mov.b @r1,r2", 1, 4, BBR_RW, false },
        { "long, low bits ignored", "mov.l @r1,r2", 3, 4, BBR_RW, true },
        { "size long, byte access", "mov.b @r1,r2", 0, 4, BBR_RW | 3, false },
        { "size byte, byte access", "mov.b @r1,r2", 0, 4, BBR_RW | 1, true },
        { "size word, word access", "mov.w @r1,r2", 0, 4, BBR_RW | 2, true },
        { "low 10 bits masked", "mov.l @r1,r2", 0x3FC, 5, BBR_RW, true },
        { "low 10 bits masked, outside", "mov.l @r1,r2", 0x400, 5, BBR_RW, false },
        { "other ASID", "mov.l @r1,r2", 0, 0, BBR_RW, false },
        { "instruction watch only", "mov.l @r1,r2", 0, 4, BBR_FETCH, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int mode = 0; mode < RIG_NMODES; mode++) {
            struct rig *r = rig_open((enum rig_mode)mode);
            char text[160];
            print_message("  %s\n", rows[i].name);
            snprintf(text, sizeof text,
                     "mov.l p,r1\n nop\nat: %s\nnext: nop\n bra end\n nop\n .align 2\np: .long "
                     "0x8C020000\n"
                     "end: bra end\n nop",
                     rows[i].insn);
            rig_load(r, RIG_CODE, RIG_PRIV, text);
            rig_ubc(r, 0xFF000014, 0x55); /* BASRA */
            rig_ubc(r, BARA, 0x8C020000 + rows[i].bar);
            rig_ubc(r, BAMRA, rows[i].bamr);
            rig_ubc(r, BBRA, rows[i].bbr);
            uint32_t pc = rig_go(r);
            assert_int_equal(pc, rows[i].hit ? RIG_VBR + 0x100u : rig_label(r, "end"));
            if (rows[i].hit) {
                assert_int_equal(r->cpu.ccn.expevt, 0x1E0);
                assert_int_equal(r->cpu.spc, rig_label(r, "next"));
            }
            rig_close(r);
        }
}

static void ubc__data_value_on_channel_b__only_that_value_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov.l p,r1\n mov #1,r2\n mov.l r2,@r1\n mov #2,r2\nat: mov.l r2,@r1\nnext: nop\n "
             "nop\n nop\n"
             " nop\n nop\n nop\n nop\n bra end\n nop\n .align 2\np: .long 0x8C020000\nend: bra "
             "end\n nop");
    rig_ubc(r, BARB, 0x8C020000);
    rig_ubc(r, BAMRB, 4);
    rig_ubc(r, BDRB, 2);
    rig_ubc(r, BDMRB, 0);
    rig_ubc(r, BRCR, BRCR_DBEB);
    rig_ubc(r, BBRB, BBR_WRITE | 3);
    assert_int_equal(rig_go(r), RIG_VBR + 0x100);
    assert_in_range(r->cpu.spc, rig_label(r, "next"), rig_label(r, "next") + 12);
    assert_true(r->ubc.brcr & BRCR_CMFB);
    assert_int_equal(rig_word(r, 0x8C020000), 2);
}
BOTH_MODES(ubc__data_value_on_channel_b__only_that_value)

static void ubc__sequence__b_counts_only_after_a_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov #2,r9\nl: nop\nb: mov #1,r8\n nop\n nop\n nop\n nop\na: nop\n dt r9\n bf l\n");
    rig_ubc(r, BARA, rig_label(r, "a"));
    rig_ubc(r, BAMRA, 4);
    rig_ubc(r, BARB, rig_label(r, "b"));
    rig_ubc(r, BAMRB, 4);
    rig_ubc(r, BRCR, BRCR_SEQ);
    rig_ubc(r, BBRA, BBR_FETCH);
    rig_ubc(r, BBRB, BBR_FETCH);
    assert_int_equal(rig_go(r), RIG_VBR + 0x100);
    assert_int_equal(r->cpu.spc, rig_label(r, "b"));
    assert_int_equal(r->cpu.r[9], 1); /* second time round */
    assert_int_equal(r->ubc.brcr & (BRCR_CMFA | BRCR_CMFB), BRCR_CMFB);
}
BOTH_MODES(ubc__sequence__b_counts_only_after_a)

static void ubc__condition_while_bl__no_reset_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV | 0x10000000, "nop\nat: mov #1,r8\n nop\n");
    watch_address(r, rig_label(r, "at"), BBR_FETCH, 0);
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->resets, 0);
    assert_int_equal(r->cpu.r[8], 1);
}
BOTH_MODES(ubc__condition_while_bl__no_reset)

/* Written by the program itself, as a monitor does it. */
static void ubc__armed_by_the_program__breaks_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov.l ubc,r1\n mova at,r0\n mov.l r0,@r1\n mov #4,r0\n mov.b r0,@(4,r1)\n mov "
             "#0x14,r0\n mov.w r0,@(8,r1)\n"
             " nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n bra at\n nop\n "
             ".align 2\nubc: .long 0xFF200000\n"
             "at: mov #1,r8\n");
    check_break(r, rig_label(r, "at"));
    assert_int_equal(r->cpu.r[8], 0x1008);
}
BOTH_MODES(ubc__armed_by_the_program__breaks)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupt__level_against_imask__taken_or_not),
        cmocka_unit_test(interrupt__nmi_with_nmib__taken_although_bl),
        cmocka_unit_test(interrupt__at_every_boundary__never_between_branch_and_slot),
        cmocka_unit_test(interrupt__at_every_cycle_of_a_run__never_between_branch_and_slot),
        cmocka_unit_test(interrupt__pending_when_imask_drops__taken_after_the_ldc),
        cmocka_unit_test(interrupt__pending_at_rte__taken_at_the_return_address),
        cmocka_unit_test(sleep__until_interrupt__goes_on_after_it),
        cmocka_unit_test(ase_break__at_every_boundary__never_at_a_slot_whatever_bl),
        cmocka_unit_test(ase_break__rte_from_aseram__leaves_ase_and_goes_on),
        cmocka_unit_test(ubc__instruction_before__spc_is_it_and_it_has_not_run),
        cmocka_unit_test(ubc__instruction_after__spc_is_the_next_and_it_has_run),
        cmocka_unit_test(ubc__after_a_branch__spc_is_the_target),
        cmocka_unit_test(ubc__branch_not_taken_before_it__does_not_break),
        cmocka_unit_test(ubc__with_ubde__goes_to_dbr),
        cmocka_unit_test(ubc__before_beats_the_exception_of_the_same_instruction),
        cmocka_unit_test(ubc__operand__direction_size_and_mask),
        cmocka_unit_test(ubc__data_value_on_channel_b__only_that_value),
        cmocka_unit_test(ubc__sequence__b_counts_only_after_a),
        cmocka_unit_test(ubc__condition_while_bl__no_reset),
        cmocka_unit_test(ubc__armed_by_the_program__breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
