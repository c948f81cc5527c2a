/* Exceptions at instruction level: code, vector, SPC/SSR/SGR, TEA/TRA, slots, privilege, FPU
 * disable, BL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "tests/sim_sh4/rig.h"

static void check_entry(struct rig *r, uint32_t code, uint32_t spc, uint32_t ssr)
{
    assert_int_equal(r->cpu.ccn.expevt, code);
    assert_int_equal(r->cpu.pc, RIG_VBR + 0x100);
    assert_int_equal(r->cpu.spc, spc);
    assert_int_equal(r->cpu.ssr, ssr);
    assert_int_equal(r->cpu.sgr, r->cpu.r[15]);
    assert_int_equal(sh4_get_sr(&r->cpu) & 0x70000000, 0x70000000);
    assert_int_equal(sh4_get_sr(&r->cpu) & ~0x70000000u, ssr & ~0x70000000u);
}

/* "at" is where SPC must point. */
static const struct exception_row {
    const char *name;
    uint32_t sr;
    const char *text;
    uint32_t code;
    uint32_t tea; /* 0: not looked at */
} exceptions[] = {
    { "undefined FFFD", RIG_PRIV, "nop\nat: .word 0xFFFD", 0x180, 0 },
    { "undefined 0000", RIG_PRIV, "at: .word 0", 0x180, 0 },
    { "undefined in slot", RIG_PRIV, "at: bra end\n .word 0xFFFD", 0x1A0, 0 },
    { "undefined in slot of bt/s not taken", RIG_PRIV, "clrt\nat: bt/s end\n .word 0xFFFD", 0x1A0,
      0 },
    { "FFFD with FD=1 is undefined", RIG_PRIV | 0x8000, "at: .word 0xFFFD", 0x180, 0 },
    { "read word odd", RIG_PRIV, "mov.l p,r1\nat: mov.w @r1,r2\n .align 2\np: .long 0x8C020001",
      0x0E0, 0x8C020001 },
    { "read long +2", RIG_PRIV, "mov.l p,r1\nat: mov.l @r1+,r2\n .align 2\np: .long 0x8C020002",
      0x0E0, 0x8C020002 },
    { "write word odd", RIG_PRIV, "mov.l p,r1\nat: mov.w r2,@-r1\n .align 2\np: .long 0x8C020003",
      0x100, 0x8C020001 },
    { "write long +2", RIG_PRIV, "mov.l p,r1\nat: mov.l r2,@(4,r1)\n .align 2\np: .long 0x8C020002",
      0x100, 0x8C020006 },
    { "read in slot", RIG_PRIV,
      "mov.l p,r1\nat: bra end\n mov.l @r1,r2\n .align 2\np: .long 0x8C020001", 0x0E0, 0x8C020001 },
    { "write in slot of rts", RIG_PRIV,
      "mov.l p,r1\nat: rts\n mov.l r2,@r1\n .align 2\np: .long 0x8C020001", 0x100, 0x8C020001 },
    { "read of gbr byte form is a read", RIG_USER,
      "mov.l p,r1\n ldc r1,gbr\n mov #0,r0\nat: tst.b #1,@(r0,gbr)\n .align 2\n"
      "p: .long 0x8C020001",
      0x0E0, 0x8C020001 },
    { "tas in user mode is a read and a write", RIG_USER,
      "mov.l p,r1\nat: tas.b @r1\n .align 2\np: .long 0x8C020001", 0, 0x8C020001 },
    { "user reads P1", RIG_USER, "mov.l p,r1\nat: mov.b @r1,r2\n .align 2\np: .long 0x8C020001",
      0x0E0, 0x8C020001 },
    { "user writes P2", RIG_USER, "mov.l p,r1\nat: mov.b r2,@r1\n .align 2\np: .long 0xAC020001",
      0x100, 0xAC020001 },
    { "user writes P4", RIG_USER, "mov.l p,r1\nat: mov.l r2,@r1\n .align 2\np: .long 0xFF000010",
      0x100, 0xFF000010 },
    { "user jumps to P1", RIG_USER, "mov.l p,r1\n jmp @r1\n nop\n .align 2\np: .long 0x8C020000",
      0x0E0, 0x8C020000 },
    { "fetch odd", RIG_PRIV, "mov.l p,r1\n jmp @r1\n nop\n .align 2\np: .long 0x8C020001", 0x0E0,
      0x8C020001 },
    { "fmov.d at +4", RIG_PRIV,
      "fschg\n mov.l p,r1\nat: fmov.d @r1,dr0\n .align 2\np: .long 0x8C020004", 0x0E0, 0x8C020004 },
    { "fmov.d store at +4", RIG_PRIV,
      "fschg\n mov.l p,r1\nat: fmov.d dr0,@r1\n .align 2\np: .long 0x8C020004", 0x100, 0x8C020004 },
    { "mac.l second operand", RIG_PRIV,
      "mov.l p,r1\n mov.l p,r2\n add #1,r1\nat: mac.l @r1+,@r2+\n .align 2\n"
      "p: .long 0x8C020000",
      0x0E0, 0x8C020001 },
    { "fpu divide by zero, enabled", RIG_PRIV,
      "mov.l p,r1\n lds r1,fpscr\n fldi1 fr1\n fldi0 fr0\nat: fdiv fr0,fr1\n .align 2\n"
      "p: .long 0x400",
      0x120, 0 },
    { "fpu invalid, enabled", RIG_PRIV,
      "mov.l p,r1\n lds r1,fpscr\n fldi0 fr1\n fldi0 fr0\nat: fdiv fr0,fr1\n .align 2\n"
      "p: .long 0x800",
      0x120, 0 },
    { "fpu exception in slot", RIG_PRIV,
      "mov.l p,r1\n lds r1,fpscr\n fldi1 fr1\n fldi0 fr0\nat: bra end\n fdiv fr0,fr1\n"
      " .align 2\np: .long 0x400",
      0x120, 0 },
};

static void exception_row_in(struct rig *r, const struct exception_row *row)
{
    uint32_t origin = row->sr & 0x40000000 ? (uint32_t)RIG_CODE : RIG_CODE & 0x1FFFFFFF;
    rig_load(r, origin, row->sr, row->text);
    r->cpu.pr = rig_label(r, "end");
    rig_go(r);
    uint32_t jump = strstr(row->text, "jmp @r1") ? row->tea : rig_label(r, "at");
    /* 0: read or write form, the manual leaves it open */
    uint32_t code = row->code ? row->code : r->cpu.ccn.expevt;
    assert_true(code == 0x0E0 || code == 0x100 || row->code);
    check_entry(r, code, jump, row->sr | (sh4_get_sr(&r->cpu) & 1));
    if (row->tea)
        assert_int_equal(r->cpu.ccn.tea, row->tea);
}

static void exception__each_cause__code_vector_and_saved_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
        for (int mode = 0; mode < RIG_NMODES; mode++) {
            struct rig *r = rig_open((enum rig_mode)mode);
            print_message("  %s%s\n", exceptions[i].name, mode == RIG_RUN ? " (run)" : "");
            exception_row_in(r, &exceptions[i]);
            rig_close(r);
        }
}

/* Nothing of a re-execution type exception may be left half done. */
static void exception__address_error__registers_untouched_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "mov.l p,r1\n mov.l @r1+,r2\n .align 2\np: .long 0x8C020002");
    rig_go(r);
    assert_int_equal(r->cpu.r[9], 0x1009);
    assert_int_equal(r->cpu.rb[1], 0x8C020002); /* r1 of bank 0, seen from bank 1 */
    assert_int_equal(r->cpu.rb[2], 0x1002);
    rig_load(r, RIG_CODE, RIG_PRIV, "mov.l p,r9\n mov.l r10,@-r9\n .align 2\np: .long 0x8C020002");
    rig_go(r);
    assert_int_equal(r->cpu.r[9], 0x8C020002);
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov.l p,r9\n add #1,r10\n mac.w @r9+,@r10+\n .align 2\np: .long 0x8C020000");
    rig_go(r);
    assert_int_equal(r->cpu.r[9], 0x8C020000);
    assert_int_equal(r->cpu.r[10], 0x100B);
}
BOTH_MODES(exception__address_error__registers_untouched)

static void fpu_exception__divide_by_zero__destination_kept_and_cause_set_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov.l p,r1\n lds r1,fpscr\n fldi1 fr1\n fldi0 fr0\n fdiv fr0,fr1\n .align 2\np: "
             ".long 0x400");
    rig_go(r);
    assert_int_equal(r->cpu.fr[1], 0x3F800000);
    assert_int_equal(r->cpu.fpscr, 0x8420); /* cause and flag Z */
}
BOTH_MODES(fpu_exception__divide_by_zero__destination_kept_and_cause_set)

static void trapa__any__spc_is_next_and_tra_is_imm_times_4_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV | 3, "nop\n trapa #0xC3\nat: nop");
    rig_go(r);
    check_entry(r, 0x160, rig_label(r, "at"), RIG_PRIV | 3);
    assert_int_equal(r->cpu.ccn.tra, 0xC3 << 2);
}
BOTH_MODES(trapa__any__spc_is_next_and_tra_is_imm_times_4)

static void entry__user_mode__bank_1_becomes_active_in(struct rig *r)
{
    rig_load(r, RIG_CODE & 0x1FFFFFFF, RIG_USER, "mov #7,r0\n trapa #1");
    for (unsigned i = 0; i < 8; i++)
        r->cpu.rb[i] = 0xB0 + i;
    rig_go(r);
    assert_int_equal(r->cpu.r[0], 0xB0);
    assert_int_equal(r->cpu.rb[0], 7);
    assert_int_equal(*sh4_bank_reg(&r->cpu, 0, 0), 7);
    assert_int_equal(*sh4_bank_reg(&r->cpu, 1, 7), 0xB7);
}
BOTH_MODES(entry__user_mode__bank_1_becomes_active)

/* ---- delay slots ---- */

static void slot__every_illegal_instruction__1a0_with_the_branch_address(void **state)
{
    static const uint16_t branches[] = { 0xA004, 0xB004, 0x400B, 0x402B, 0x0023,
                                         0x0003, 0x000B, 0x8D04, 0x8F04 };
    static const uint16_t slots[] = {
        0xA000, 0xB000, 0x0023, 0x0003, 0x400B, 0x402B, 0x000B, 0x002B, 0x8900, 0x8B00, 0x8D00,
        0x8F00, 0xC310, 0x001B, 0x0038, 0xC700, 0x9001, 0xD001, 0x400E, 0x4F07, 0xFFFD, 0x0000,
    };
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        for (size_t b = 0; b < ARRAY_LEN(branches); b++)
            for (size_t s = 0; s < ARRAY_LEN(slots); s++) {
                char text[80], name[64];
                snprintf(text, sizeof text,
                         "mov #2,r0\nat: .word 0x%04x\n .word 0x%04x\n nop\n nop\n", branches[b],
                         slots[s]);
                rig_load(r, RIG_CODE, RIG_PRIV, text);
                r->cpu.pr = RIG_CODE;
                rig_go(r);
                if (r->cpu.ccn.expevt != 0x1A0 || r->cpu.spc != rig_label(r, "at"))
                    fail_msg("%04x with slot %04x %s: EXPEVT %03x SPC %08x", branches[b], slots[s],
                             sh4_disasm(slots[s], 0, 0, 0, name, sizeof name), r->cpu.ccn.expevt,
                             r->cpu.spc);
            }
        rig_close(r);
    }
}

static void slot__legal_system_instructions__run_in_privileged_mode_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov.l p,r1\n bra a\n ldc r1,dbr\na: bra b\n ldc r1,ssr\nb: bra c\n stc sr,r8\nc: bra "
             "d\n ldc r1,r3_bank\n"
             "d: bra e\n sts pr,r9\ne: bra end\n ldc r1,gbr\n .align 2\np: .long 0x12345678");
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->cpu.dbr, 0x12345678);
    assert_int_equal(r->cpu.ssr, 0x12345678);
    assert_int_equal(r->cpu.gbr, 0x12345678);
    assert_int_equal(r->cpu.rb[3], 0x12345678);
    assert_int_equal(r->cpu.r[8], RIG_PRIV);
}
BOTH_MODES(slot__legal_system_instructions__run_in_privileged_mode)

static void slot__branch_register_written_in_slot__old_target_taken_in(struct rig *r)
{
    /* The target is read before the slot; PR is written by the call before its slot runs. */
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mova end,r0\n mov r0,r1\n jmp @r1\n mov #0,r1\n nop\n .align 2\nend: bra end\n nop");
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    rig_load(r, RIG_CODE, RIG_PRIV, "bsr f\n sts pr,r8\nback: nop\nf: bra end\n nop");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], rig_label(r, "back"));
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mova end,r0\n lds r0,pr\n rts\n lds r1,pr\n nop\n .align 2\nend: bra end\n nop");
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->cpu.pr, 0x1001);
}
BOTH_MODES(slot__branch_register_written_in_slot__old_target_taken)

static void slot__t_written_in_slot_of_bts__old_t_decides_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV, "sett\n bt/s end\n clrt\n mov #1,r8\n");
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->cpu.r[8], 0x1008);
    assert_int_equal(r->cpu.t, 0);
}
BOTH_MODES(slot__t_written_in_slot_of_bts__old_t_decides)

/* ---- privilege ---- */

static void privilege__every_privileged_instruction_in_user_mode__180_or_1a0(void **state)
{
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        for (unsigned id = 1; id < SH4_NINSNS; id++) {
            uint16_t op = sh4_insns[id].match;
            char text[80];
            if (!sh4_privileged(op))
                continue;
            snprintf(text, sizeof text, "nop\nat: .word 0x%04x\n nop\n", op);
            rig_load(r, RIG_CODE & 0x1FFFFFFF, RIG_USER, text);
            rig_go(r);
            if (r->cpu.ccn.expevt != 0x180)
                fail_msg("%s: EXPEVT %03x", sh4_insns[id].text, r->cpu.ccn.expevt);
            check_entry(r, 0x180, rig_label(r, "at"), RIG_USER);
            snprintf(text, sizeof text, "nop\nat: bra end\n .word 0x%04x\n nop\n", op);
            rig_load(r, RIG_CODE & 0x1FFFFFFF, RIG_USER, text);
            rig_go(r);
            if (r->cpu.ccn.expevt != 0x1A0)
                fail_msg("%s in a slot: EXPEVT %03x", sh4_insns[id].text, r->cpu.ccn.expevt);
            check_entry(r, 0x1A0, rig_label(r, "at"), RIG_USER);
        }
        rig_close(r);
    }
}

static void privilege__gbr_and_fpu_system_registers__allowed_in_user_mode_in(struct rig *r)
{
    rig_load(r, RIG_CODE & 0x1FFFFFFF, RIG_USER,
             "mov #4,r1\n ldc r1,gbr\n stc gbr,r8\n lds r1,fpul\n sts fpul,r9\n lds r1,mach\n sts "
             "fpscr,r10\n bra end\n nop");
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->cpu.r[8], 4);
    assert_int_equal(r->cpu.r[9], 4);
    assert_int_equal(r->cpu.r[10], 0x00040001);
}
BOTH_MODES(privilege__gbr_and_fpu_system_registers__allowed_in_user_mode)

/* ---- FPU disable ---- */

static bool uses_fpu(enum sh4_insn_id id)
{
    const char *t = sh4_insns[id].text;
    return sh4_insns[id].match >= 0xF000 ||
           ((strncmp(t, "lds", 3) == 0 || strncmp(t, "sts", 3) == 0) && strstr(t, "FP"));
}

static void fpu_disable__every_fpu_instruction__800_or_820(void **state)
{
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        for (unsigned id = 1; id < SH4_NINSNS; id++) {
            char text[80];
            uint32_t fpscr = sh4_insns[id].cond == SH4_COND_PR1   ? 1u << 19
                             : sh4_insns[id].cond == SH4_COND_SZ1 ? 1u << 20
                                                                  : 0;
            if (!uses_fpu((enum sh4_insn_id)id))
                continue;
            for (int slot = 0; slot < 2; slot++) {
                snprintf(text, sizeof text, "at: %s\n .word 0x%04x\n nop\n",
                         slot ? "bra end" : "nop", sh4_insns[id].match);
                rig_load(r, RIG_CODE, RIG_PRIV | 0x8000, text);
                sh4_set_fpscr(&r->cpu, fpscr);
                rig_go(r);
                uint32_t want = slot ? 0x820 : 0x800;
                if (r->cpu.ccn.expevt != want || r->cpu.spc != rig_label(r, "at") + (slot ? 0 : 2))
                    fail_msg("%s (slot %d): EXPEVT %03x SPC %08x", sh4_insns[id].text, slot,
                             r->cpu.ccn.expevt, r->cpu.spc);
            }
        }
        rig_close(r);
    }
}

/* ---- BL ---- */

static void blocked__exception_with_bl__resets(void **state)
{
    static const char *const texts[] = { "trapa #1", ".word 0xFFFD", "mov.l @(1,r1),r2",
                                         "bra end\n .word 0xFFFD" };
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++)
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            struct rig *r = rig_open((enum rig_mode)mode);
            rig_load(r, RIG_CODE, RIG_PRIV | 0x10000000,
                     i == 2 ? "mov #1,r1\n mov.w @r1,r2" : texts[i]);
            assert_int_equal(rig_go(r), 0xA0000000);
            assert_int_equal(r->cpu.ccn.expevt, 0x020);
            assert_int_equal(sh4_get_sr(&r->cpu) & 0x700080F0, 0x700000F0);
            assert_int_equal(r->cpu.vbr, 0);
            assert_true(r->resets >= 1);
            rig_close(r);
        }
}

/* ---- RTE ---- */

static void rte__slot__runs_with_the_restored_sr_in(struct rig *r)
{
    /* The slot's r0 is the one of the restored bank. */
    rig_load(r, RIG_CODE, 0x600000F0,
             "mova end,r0\n ldc r0,spc\n mov.l s,r1\n ldc r1,ssr\n mov #1,r0\n rte\n mov r0,r8\n"
             " .align 2\ns: .long 0x400000F1\nend: bra end\n nop");
    r->cpu.rb[0] = 0x55;
    assert_int_equal(rig_go(r), rig_label(r, "end"));
    assert_int_equal(r->cpu.r[8], 0x55);
    assert_int_equal(sh4_get_sr(&r->cpu), 0x400000F1);
}
BOTH_MODES(rte__slot__runs_with_the_restored_sr)

static void rte__from_trapa_handler__program_goes_on_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov #5,r9\nloop: trapa #3\n dt r9\n bf loop\n bra end\n nop\n .align 2\nend: bra "
             "end\n nop\n"
             " .org 0x8C010200\nh: mov #0,r0\n"
             " add #1,r10\n rte\n add #2,r11\n");
    r->cpu.vbr = rig_label(r, "h") - 0x100;
    for (unsigned n = 0; n < 1000 && r->cpu.pc != rig_label(r, "end"); n++)
        sh4_cpu_step(&r->cpu);
    assert_int_equal(r->cpu.pc, rig_label(r, "end"));
    assert_int_equal(r->cpu.r[10], 0x100A + 5);
    assert_int_equal(r->cpu.r[11], 0x100B + 10);
    assert_int_equal(sh4_get_sr(&r->cpu), RIG_PRIV | 1);
}
BOTH_MODES(rte__from_trapa_handler__program_goes_on)

static void rte__to_user_mode__privilege_ends_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov.l p,r0\n ldc r0,spc\n mov #0,r1\n ldc r1,ssr\n rte\n nop\n .align 2\np: .long "
             "u-0x80000000\nu: nop\nat: stc sr,r0\n");
    rig_go(r);
    check_entry(r, 0x180, rig_label(r, "at") & 0x1FFFFFFF, 0);
}
BOTH_MODES(rte__to_user_mode__privilege_ends)

static void ldc_sr__reserved_bits__read_as_zero_in(struct rig *r)
{
    rig_load(r, RIG_CODE, RIG_PRIV,
             "mov #-1,r9\n mov.l m,r8\n ldc r8,sr\n stc sr,r10\n .align 2\nm: .long 0xCFFF7FFF");
    rig_go(r);
    assert_int_equal(r->cpu.r[10], 0x400003F3);
}
BOTH_MODES(ldc_sr__reserved_bits__read_as_zero)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exception__each_cause__code_vector_and_saved_state),
        cmocka_unit_test(exception__address_error__registers_untouched),
        cmocka_unit_test(fpu_exception__divide_by_zero__destination_kept_and_cause_set),
        cmocka_unit_test(trapa__any__spc_is_next_and_tra_is_imm_times_4),
        cmocka_unit_test(entry__user_mode__bank_1_becomes_active),
        cmocka_unit_test(slot__every_illegal_instruction__1a0_with_the_branch_address),
        cmocka_unit_test(slot__legal_system_instructions__run_in_privileged_mode),
        cmocka_unit_test(slot__branch_register_written_in_slot__old_target_taken),
        cmocka_unit_test(slot__t_written_in_slot_of_bts__old_t_decides),
        cmocka_unit_test(privilege__every_privileged_instruction_in_user_mode__180_or_1a0),
        cmocka_unit_test(privilege__gbr_and_fpu_system_registers__allowed_in_user_mode),
        cmocka_unit_test(fpu_disable__every_fpu_instruction__800_or_820),
        cmocka_unit_test(blocked__exception_with_bl__resets),
        cmocka_unit_test(rte__slot__runs_with_the_restored_sr),
        cmocka_unit_test(rte__from_trapa_handler__program_goes_on),
        cmocka_unit_test(rte__to_user_mode__privilege_ends),
        cmocka_unit_test(ldc_sr__reserved_bits__read_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
