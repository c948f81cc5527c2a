/* MMU at instruction level: faults, what they save, and programs that mend them and go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sim_sh4/rig.h"

enum { MMUCR_AT = 1, MMUCR_TI = 4, MMUCR_SV = 1 << 8 };
/* PTEL: PPN, V 8, SZ 7/4 (4 KB: 0x10), PR 6-5, C 3, D 2, SH 1, WT 0 */
enum {
    PTEL_V = 0x100,
    PTEL_4K = 0x10,
    PTEL_D = 4,
    PTEL_SH = 2,
    PTEL_C = 8,
    PR_KRO = 0,
    PR_KRW = 0x20,
    PR_URO = 0x40,
    PR_URW = 0x60,
    ASID = 7
};
enum { V_DATA = 0x00400000, V_CODE = 0x00500000 };

/* Loads an entry as LDTLB does, through the same registers. */
static void map_page(struct rig *r, uint32_t vpn, uint32_t ppn, uint32_t flags, unsigned asid)
{
    uint32_t old = r->cpu.ccn.pteh;
    r->cpu.ccn.pteh = vpn | asid;
    r->cpu.ccn.ptel = ppn | flags | PTEL_V | PTEL_4K;
    sh4_mmu_ldtlb(&r->mmu);
    r->cpu.ccn.mmucr += 1 << 10; /* URC: the next entry */
    r->cpu.ccn.pteh = old;
    sh4_mmu_changed(&r->mmu);
}

static void mmu_on(struct rig *r)
{
    sh4_mmu_write_mmucr(&r->mmu, (r->cpu.ccn.mmucr & ~0xFFu) | MMUCR_AT);
    r->cpu.ccn.pteh = ASID;
    sh4_mmu_changed(&r->mmu);
}

enum { NO_PAGE = 0xFFFF };
static const struct row {
    const char *name;
    uint32_t flags; /* NO_PAGE: nothing mapped */
    unsigned asid;
    uint32_t sr;
    const char *insn;
    uint32_t code; /* 0: no fault */
} rows[] = {
    { "read, nothing mapped", NO_PAGE, ASID, RIG_PRIV, "mov.l @r1,r2", 0x040 },
    { "write, nothing mapped", NO_PAGE, ASID, RIG_PRIV, "mov.l r2,@r1", 0x060 },
    { "read, other asid", PR_KRW | PTEL_D, ASID + 1, RIG_PRIV, "mov.l @r1,r2", 0x040 },
    { "read, other asid, shared", PR_KRW | PTEL_D | PTEL_SH, ASID + 1, RIG_PRIV, "mov.l @r1,r2",
      0 },
    { "read, privileged page", PR_KRO, ASID, RIG_PRIV, "mov.l @r1,r2", 0 },
    { "write, privileged read-only", PR_KRO | PTEL_D, ASID, RIG_PRIV, "mov.l r2,@r1", 0x0C0 },
    { "write, clean page", PR_KRW, ASID, RIG_PRIV, "mov.l r2,@r1", 0x080 },
    { "write, dirty page", PR_KRW | PTEL_D, ASID, RIG_PRIV, "mov.l r2,@r1", 0 },
    { "read-only and clean: protection first", PR_KRO, ASID, RIG_PRIV, "mov.l r2,@r1", 0x0C0 },
    { "user reads privileged page", PR_KRW | PTEL_D, ASID, RIG_USER, "mov.l @r1,r2", 0x0A0 },
    { "user writes privileged page", PR_KRW | PTEL_D, ASID, RIG_USER, "mov.l r2,@r1", 0x0C0 },
    { "user writes user read-only", PR_URO | PTEL_D, ASID, RIG_USER, "mov.l r2,@r1", 0x0C0 },
    { "user reads user read-only", PR_URO, ASID, RIG_USER, "mov.l @r1,r2", 0 },
    { "user writes user page", PR_URW | PTEL_D, ASID, RIG_USER, "mov.l r2,@r1", 0 },
    { "post-increment read", NO_PAGE, ASID, RIG_PRIV, "mov.l @r1+,r2", 0x040 },
    { "pre-decrement write", NO_PAGE, ASID, RIG_PRIV, "mov.l r2,@-r1", 0x060 },
    { "alignment before translation", NO_PAGE, ASID, RIG_PRIV, "mov.l @(2,r1),r0", 0 },
    { "fmov read", NO_PAGE, ASID, RIG_PRIV, "fmov.s @r1,fr2", 0x040 },
    { "tas", NO_PAGE, ASID, RIG_PRIV, "tas.b @r1", 0x040 },
    { "movca", NO_PAGE, ASID, RIG_PRIV, "movca.l r0,@r1", 0x060 },
    { "ocbwb", NO_PAGE, ASID, RIG_PRIV, "ocbwb @r1", 0x040 },
    { "pref is silent", NO_PAGE, ASID, RIG_PRIV, "pref @r1", 0 },
};

static void run_row(enum rig_mode mode, const struct row *row, bool in_slot)
{
    struct rig *r = rig_open(mode);
    char text[200];
    bool user = !(row->sr & 0x40000000), unaligned = strstr(row->name, "alignment") != NULL;
    const char *insn = unaligned ? "mov.w @(2,r1),r0" : row->insn;
    snprintf(text, sizeof text, in_slot ? "nop\nat: bra end\n %s\n nop\n" : "nop\nat: %s\n nop\n",
             insn);
    rig_load(r, user ? (uint32_t)V_CODE : (uint32_t)RIG_CODE, row->sr, text);
    memcpy(r->ram + (RIG_CODE & (RIG_RAM_BYTES - 1)), r->prog.code, r->prog.len);
    map_page(r, V_CODE, 0x0C010000, PR_URW | PTEL_D, ASID);
    if (row->flags != NO_PAGE)
        map_page(r, V_DATA, RIG_DATA, row->flags, row->asid);
    mmu_on(r);
    r->cpu.r[1] = V_DATA + 0x124 + (unaligned ? 1 : 0);
    uint32_t r1 = r->cpu.r[1], code = unaligned ? 0x0E0 : row->code;
    rig_put(r, RIG_DATA + 0x124, 0x1234);
    uint32_t pc = rig_go(r);
    if (!code) {
        if (pc != rig_label(r, "end"))
            fail_msg("fault %03x at %08x", r->cpu.ccn.expevt, r->cpu.spc);
    } else {
        uint32_t tea = strstr(insn, "@-") ? r1 - 4 : unaligned ? r1 + 2 : r1;
        assert_int_equal(r->cpu.ccn.expevt, code);
        assert_int_equal(pc, RIG_VBR + (code == 0x040 || code == 0x060 ? 0x400 : 0x100));
        assert_int_equal(r->cpu.spc, rig_label(r, "at"));
        assert_int_equal(r->cpu.ssr, row->sr);
        assert_int_equal(r->cpu.ccn.tea, tea);
        if (!unaligned)
            assert_int_equal(r->cpu.ccn.pteh, (tea & ~0x3FFu) | ASID);
        assert_int_equal(r->cpu.rb[1], r1); /* address register untouched */
    }
    rig_close(r);
}

static void fault__each_access_and_page__code_vector_and_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        for (int mode = 0; mode < RIG_NMODES; mode++)
            for (int slot = 0; slot < 2; slot++)
                run_row((enum rig_mode)mode, &rows[i], slot);
    }
}

static void fetch__faults__code_and_address(void **state)
{
    static const struct {
        const char *name;
        uint32_t flags, sr, code;
    } cases[] = {
        { "nothing mapped", NO_PAGE, RIG_PRIV, 0x040 },
        { "nothing mapped, user", NO_PAGE, RIG_USER, 0x040 },
        { "user, privileged page", PR_KRW | PTEL_D, RIG_USER, 0x0A0 },
        { "user, user page", PR_URO, RIG_USER, 0 },
        { "privileged, privileged page", PR_KRO, RIG_PRIV, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int mode = 0; mode < RIG_NMODES; mode++) {
            struct rig *r = rig_open((enum rig_mode)mode);
            print_message("  %s\n", cases[i].name);
            rig_load(r, V_CODE, cases[i].sr, "nop\n");
            memcpy(r->ram + (RIG_CODE & (RIG_RAM_BYTES - 1)), r->prog.code, r->prog.len);
            if (cases[i].flags != NO_PAGE)
                map_page(r, V_CODE, 0x0C010000, cases[i].flags, ASID);
            mmu_on(r);
            uint32_t pc = rig_go(r);
            assert_int_equal(r->cpu.ccn.expevt, cases[i].code);
            if (!cases[i].code) {
                assert_int_equal(pc, rig_label(r, "end"));
            } else {
                assert_int_equal(pc, RIG_VBR + (cases[i].code == 0x040 ? 0x400 : 0x100));
                assert_int_equal(r->cpu.spc, V_CODE);
                assert_int_equal(r->cpu.ccn.tea, V_CODE);
            }
            rig_close(r);
        }
}

/* The slot lies on the next page, which is not mapped: the branch is run again afterwards. */
static void fetch__slot_on_an_unmapped_page__spc_is_the_branch(void **state)
{
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        rig_load(r, V_CODE + 0xFFC, RIG_PRIV, "nop\nat: bsr end\n mov #1,r8\n nop\n");
        memcpy(r->ram + 0x10FFC, r->prog.code, r->prog.len);
        map_page(r, V_CODE, 0x0C010000, PR_KRW | PTEL_D, ASID);
        mmu_on(r);
        assert_int_equal(rig_go(r), RIG_VBR + 0x400);
        assert_int_equal(r->cpu.ccn.expevt, 0x040);
        assert_int_equal(r->cpu.spc, V_CODE + 0xFFE);
        assert_int_equal(r->cpu.ccn.tea, V_CODE + 0x1000);
        assert_int_equal(r->cpu.r[8], 0x1008);
        rig_close(r);
    }
}

/* With the MMU on the page of a store queue address decides about writes to the queue, too. */
static void store_queue__page_protection__judged_at_the_store(void **state)
{
    static const struct {
        const char *name;
        uint32_t flags, sr, code;
    } queue[] = {
        { "not mapped", NO_PAGE, RIG_PRIV, 0x060 },
        { "clean page", PR_KRW, RIG_PRIV, 0x080 },
        { "read-only page", PR_KRO | PTEL_D, RIG_PRIV, 0x0C0 },
        { "privileged page, user", PR_KRW | PTEL_D, RIG_USER, 0x0C0 },
        { "user page, user", PR_URW | PTEL_D, RIG_USER, 0 },
    };
    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(queue); i++) {
        struct rig *r = rig_open((enum rig_mode)(i % 2));
        const uint32_t data = 0xE0000020;
        print_message("  %s\n", queue[i / 2].name);
        rig_load(r, RIG_CODE & 0x1FFFFFFF, queue[i / 2].sr,
                 "mov.l q,r1\n mov #0x5A,r2\nat: mov.l r2,@r1\n pref @r1\n bra end\n nop\n .align "
                 "2\nq: .long 0xE0000020\n"
                 "end: bra end\n nop");
        map_page(r, RIG_CODE & 0x1FFFFFFF, RIG_CODE & 0x1FFFFFFF, PR_URW | PTEL_D, ASID);
        if (queue[i / 2].flags != NO_PAGE)
            map_page(r, 0xE0000000, RIG_DATA, queue[i / 2].flags, ASID);
        mmu_on(r);
        uint32_t pc = rig_go(r);
        if (queue[i / 2].code) {
            assert_int_equal(pc, RIG_VBR + (queue[i / 2].code == 0x060 ? 0x400 : 0x100));
            assert_int_equal(r->cpu.ccn.expevt, queue[i / 2].code);
            assert_int_equal(r->cpu.ccn.tea, data);
            assert_int_equal(r->cpu.spc, rig_label(r, "at"));
        } else {
            assert_int_equal(pc, rig_label(r, "end"));
            assert_int_equal(rig_word(r, RIG_DATA + 0x20), 0x5A);
        }
        rig_close(r);
    }
}

static void translation__two_pages_to_one_frame__same_memory(void **state)
{
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        rig_load(
            r, RIG_CODE, RIG_PRIV,
            "mov.l a,r1\n mov.l b,r3\n mov #0x5A,r2\n mov.l r2,@r1\n mov.l @r3,r8\n bra end\n nop\n"
            " .align 2\na: .long 0x00400010\nb: .long 0xC0600010\nend: bra end\n nop");
        map_page(r, V_DATA, RIG_DATA, PR_KRW | PTEL_D, ASID);
        map_page(r, 0xC0600000, RIG_DATA, PR_KRW | PTEL_D, ASID);
        mmu_on(r);
        assert_int_equal(rig_go(r), rig_label(r, "end"));
        assert_int_equal(r->cpu.r[8], 0x5A);
        assert_int_equal(rig_word(r, RIG_DATA + 0x10), 0x5A);
        rig_close(r);
    }
}

static void multiple_hit__two_entries__reset_140(void **state)
{
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        rig_load(r, RIG_CODE, RIG_PRIV,
                 "mov.l a,r1\n mov.l @r1,r2\n .align 2\na: .long 0x00400010\n");
        map_page(r, V_DATA, RIG_DATA, PR_KRW | PTEL_D, ASID);
        map_page(r, V_DATA, RIG_DATA, PR_KRW | PTEL_D, ASID);
        mmu_on(r);
        assert_int_equal(rig_go(r), 0xA0000000);
        if (mode == RIG_STEP)
            assert_int_equal(r->cpu.ccn.expevt, 0x140);
        assert_true(r->resets >= 1);
        rig_close(r);
    }
}

/* A miss handler in the program: LDTLB maps the page one to one into RAM, RTE runs the access
 * again. */
static void miss_handler__ldtlb_and_rte__program_goes_on(void **state)
{
    static const char text[] =
        " mov.l mmucr,r1\n mov #1,r0\n mov.l r0,@r1\n mov.l va,r9\n mov #10,r10\n mov #0,r11\n"
        "loop: mov.l r10,@r9\n mov.l @r9,r0\n add r0,r11\n mov.l step,r0\n add r0,r9\n dt r10\n "
        "bf/s loop\n add #1,r8\n"
        " bra end\n nop\n .align 2\nmmucr: .long 0xFF000010\nva: .long 0x00400000\nstep: .long "
        "0x1000\n"
        "end: bra end\n nop\n .align 2\n .org 0x8C010600\n" /* vbr + 0x400 */
        "miss: mov.l pteh,r0\n mov.l @r0,r1\n mov.l mask,r2\n and r2,r1\n mov.l frame,r2\n add "
        "r2,r1\n mov.l flags,r2\n or r2,r1\n"
        " mov.l r1,@(4,r0)\n ldtlb\n add #1,r14\n rte\n nop\n .align 2\npteh: .long "
        "0xFF000000\nmask: .long 0xFF000\n"
        "frame: .long 0x0C000000\nflags: .long 0x134\n"; /* V, 4 KB, KRW, D */
    (void)state;
    for (int mode = 0; mode < RIG_NMODES; mode++) {
        struct rig *r = rig_open((enum rig_mode)mode);
        rig_load(r, RIG_CODE, RIG_PRIV, text);
        r->cpu.vbr = RIG_CODE + 0x200;
        for (unsigned n = 0; n < 2000 && r->cpu.pc != rig_label(r, "end"); n++) {
            if (mode == RIG_STEP)
                sh4_cpu_step(&r->cpu);
            else
                sh4_cpu_run(&r->cpu, r->cpu.cycle + 500);
        }
        assert_int_equal(r->cpu.pc, rig_label(r, "end"));
        assert_int_equal(r->cpu.r[14], 0x100E + 10); /* one miss a page */
        assert_int_equal(r->cpu.r[11], 55);
        assert_int_equal(r->cpu.r[8], 0x1008 + 10);
        assert_int_equal(rig_word(r, 0x0C009000), 1); /* last page written */
        rig_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault__each_access_and_page__code_vector_and_address),
        cmocka_unit_test(fetch__faults__code_and_address),
        cmocka_unit_test(fetch__slot_on_an_unmapped_page__spc_is_the_branch),
        cmocka_unit_test(store_queue__page_protection__judged_at_the_store),
        cmocka_unit_test(translation__two_pages_to_one_frame__same_memory),
        cmocka_unit_test(multiple_hit__two_entries__reset_140),
        cmocka_unit_test(miss_handler__ldtlb_and_rte__program_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
