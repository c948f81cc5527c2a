/* targets/sh4/isa/isa.c: decoding against its own table and against GNU objdump, control flow,
 * text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"

static bool condition_holds(uint8_t cond, bool pr, bool sz)
{
    return cond == SH4_COND_ANY || (cond == SH4_COND_PR0 && !pr) || (cond == SH4_COND_PR1 && pr) ||
           (cond == SH4_COND_SZ0 && !sz) || (cond == SH4_COND_SZ1 && sz);
}

static void decode__every_opcode_and_fpscr__gives_the_only_matching_row(void **state)
{
    unsigned seen[SH4_NINSNS] = { 0 };
    (void)state;
    for (unsigned mode = 0; mode < 4; mode++) {
        bool pr = mode & 2, sz = mode & 1;
        for (unsigned op = 0; op < 0x10000; op++) {
            unsigned want = SH4_ILLEGAL;
            for (unsigned i = 1; i < SH4_NINSNS; i++) {
                if ((op & sh4_insns[i].mask) != sh4_insns[i].match ||
                    !condition_holds(sh4_insns[i].cond, pr, sz))
                    continue;
                if (want)
                    fail_msg("%04x is both '%s' and '%s'", op, sh4_insns[want].text,
                             sh4_insns[i].text);
                want = i;
            }
            assert_int_equal(sh4_decode((uint16_t)op, pr, sz), want);
            seen[want]++;
        }
    }
    for (unsigned i = 1; i < SH4_NINSNS; i++)
        if (!seen[i])
            fail_msg("row '%s' is reached by no opcode", sh4_insns[i].text);
}

static void flow__branches__sign_and_targets(void **state)
{
    static const struct {
        const char *name;
        uint16_t op;
        uint32_t pc;
        enum sh4_flow_kind kind;
        bool slot;
        uint32_t target;
    } rows[] = {
        { "bt +0", 0x8900, 0x8C010000, SH4_FLOW_BRANCH, false, 0x8C010004 },
        { "bt disp 0x3f", 0x893F, 0x8C010000, SH4_FLOW_BRANCH, false, 0x8C010082 },
        { "bt disp 0x40", 0x8940, 0x8C010000, SH4_FLOW_BRANCH, false, 0x8C010084 },
        { "bf disp 0x7f", 0x8B7F, 0x8C010000, SH4_FLOW_BRANCH, false, 0x8C010102 },
        { "bt/s disp 0x80", 0x8D80, 0x8C010000, SH4_FLOW_BRANCH, true, 0x8C00FF04 },
        { "bf/s disp 0xbf", 0x8FBF, 0x8C010000, SH4_FLOW_BRANCH, true, 0x8C00FF82 },
        { "bf disp 0xc0", 0x8BC0, 0x8C010000, SH4_FLOW_BRANCH, false, 0x8C00FF84 },
        { "bf disp 0xff", 0x8BFF, 0x8C010000, SH4_FLOW_BRANCH, false, 0x8C010002 },
        { "bra disp 0x3ff", 0xA3FF, 0x8C010000, SH4_FLOW_BRA, true, 0x8C010802 },
        { "bra disp 0x400", 0xA400, 0x8C010000, SH4_FLOW_BRA, true, 0x8C010804 },
        { "bra disp 0x7ff", 0xA7FF, 0x8C010000, SH4_FLOW_BRA, true, 0x8C011002 },
        { "bsr disp 0x800", 0xB800, 0x8C010000, SH4_FLOW_CALL, true, 0x8C00F004 },
        { "bsr disp 0xbff", 0xBBFF, 0x8C010000, SH4_FLOW_CALL, true, 0x8C00F802 },
        { "bra disp 0xfff", 0xAFFF, 0x8C010000, SH4_FLOW_BRA, true, 0x8C010002 },
        { "bra wraps at 0", 0xAFF0, 0x00000000, SH4_FLOW_BRA, true, 0xFFFFFFE4 },
        { "bt wraps at the top", 0x8901, 0xFFFFFFFC, SH4_FLOW_BRANCH, false, 0x00000002 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_flow f = sh4_flow(rows[i].op, rows[i].pc);
        print_message("  %s\n", rows[i].name);
        assert_int_equal(f.kind, rows[i].kind);
        assert_int_equal(f.slot, rows[i].slot);
        assert_int_equal(f.target, rows[i].target);
    }
}

static void flow__register_forms__name_the_register(void **state)
{
    static const struct {
        uint16_t op;
        enum sh4_flow_kind kind;
        bool slot;
        uint8_t reg, imm;
    } rows[] = {
        { 0x430B, SH4_FLOW_CALL_REG, true, 3, 0 },  { 0x4F2B, SH4_FLOW_JMP_REG, true, 15, 0 },
        { 0x0503, SH4_FLOW_CALL_REL, true, 5, 0 },  { 0x0E23, SH4_FLOW_JMP_REL, true, 14, 0 },
        { 0x000B, SH4_FLOW_RTS, true, 0, 0 },       { 0x002B, SH4_FLOW_RTE, true, 0, 0 },
        { 0xC3C3, SH4_FLOW_TRAPA, false, 3, 0xC3 }, { 0x0009, SH4_FLOW_NONE, false, 0, 0 },
        { 0x001B, SH4_FLOW_NONE, false, 0, 0 },     { 0xFFFD, SH4_FLOW_ILLEGAL, false, 15, 0 },
        { 0x0000, SH4_FLOW_ILLEGAL, false, 0, 0 },  { 0xF0BD, SH4_FLOW_NONE, false, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sh4_flow f = sh4_flow(rows[i].op, 0x8C010000);
        print_message("  %04x\n", rows[i].op);
        assert_int_equal(f.kind, rows[i].kind);
        assert_int_equal(f.slot, rows[i].slot);
        assert_int_equal(f.reg, rows[i].reg);
        assert_int_equal(f.imm, rows[i].imm);
    }
}

static void pc_relative__words_and_longs__address(void **state)
{
    static const struct {
        uint16_t op;
        uint32_t pc;
        bool ret;
        uint32_t addr;
    } rows[] = {
        { 0x9000, 0x8C010002, true, 0x8C010006 }, { 0x91FF, 0x8C010000, true, 0x8C010202 },
        { 0xD000, 0x8C010002, true, 0x8C010004 }, { 0xD2FF, 0x8C010000, true, 0x8C010400 },
        { 0xC701, 0x8C010002, true, 0x8C010008 }, { 0xC600, 0x8C010002, false, 7 },
        { 0x0009, 0x8C010000, false, 7 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t addr = 7;
        assert_int_equal(sh4_pc_relative(rows[i].op, rows[i].pc, &addr), rows[i].ret);
        assert_int_equal(addr, rows[i].addr);
    }
}

static void slot_illegal__list_of_the_manual__exactly(void **state)
{
    static const struct {
        uint16_t op;
        bool slot, priv;
    } rows[] = {
        { 0xA000, true, false },  { 0xB000, true, false },  { 0x0023, true, false },
        { 0x0003, true, false },  { 0x400B, true, false },  { 0x402B, true, false },
        { 0x000B, true, false },  { 0x002B, true, true },   { 0x8900, true, false },
        { 0x8B00, true, false },  { 0x8D00, true, false },  { 0x8F00, true, false },
        { 0xC300, true, false },  { 0x001B, true, true },   { 0x0038, true, true },
        { 0xC700, true, false },  { 0x9000, true, false },  { 0xD000, true, false },
        { 0x400E, true, true },   { 0x4007, true, true },   { 0xFFFD, true, false },
        { 0x0000, true, false },  { 0x402E, false, true },  { 0x4F27, false, true },
        { 0x0022, false, true },  { 0x0002, false, true },  { 0x003A, false, true },
        { 0x40FA, false, true },  { 0x00FA, false, true },  { 0x408E, false, true },
        { 0x00F2, false, true },  { 0x4083, false, true },  { 0x4043, false, true },
        { 0x401E, false, false }, { 0x0012, false, false }, { 0x4013, false, false },
        { 0x0009, false, false }, { 0x4010, false, false }, { 0xC601, false, false },
        { 0x6F03, false, false }, { 0xF000, false, false }, { 0x0093, false, false },
        { 0x400A, false, false }, { 0xF3FD, false, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %04x\n", rows[i].op);
        assert_int_equal(sh4_slot_illegal(rows[i].op), rows[i].slot);
        assert_int_equal(sh4_privileged(rows[i].op), rows[i].priv);
    }
}

static void disasm__every_operand_form__text(void **state)
{
    static const struct {
        uint16_t op;
        bool pr, sz;
        const char *text;
    } rows[] = {
        { 0x0009, 0, 0, "nop" },
        { 0x53E3, 0, 0, "mov.l\t@(12,r14),r3" },
        { 0x1E3F, 0, 0, "mov.l\tr3,@(60,r14)" },
        { 0x8143, 0, 0, "mov.w\tr0,@(6,r4)" },
        { 0x845F, 0, 0, "mov.b\t@(15,r5),r0" },
        { 0xC6FF, 0, 0, "mov.l\t@(1020,gbr),r0" },
        { 0xCC80, 0, 0, "tst.b\t#128,@(r0,gbr)" },
        { 0xE1FF, 0, 0, "mov\t#-1,r1" },
        { 0xC3C3, 0, 0, "trapa\t#195" },
        { 0x8B7F, 0, 0, "bf\t0x8c010102" },
        { 0xD102, 0, 0, "mov.l\t0x8c01000c,r1" },
        { 0xC702, 0, 0, "mova\t0x8c01000c,r0" },
        { 0x0FB2, 0, 0, "stc\tr3_bank,r15" },
        { 0x45DE, 0, 0, "ldc\tr5,r5_bank" },
        { 0x467F, 0, 0, "mac.w\t@r7+,@r6+" },
        { 0x462E, 0, 0, "ldc\tr6,vbr" },
        { 0x4F22, 0, 0, "sts.l\tpr,@-r15" },
        { 0xF120, 0, 0, "fadd\tfr2,fr1" },
        { 0xF240, 1, 0, "fadd\tdr4,dr2" },
        { 0xF35C, 0, 1, "fmov\txd4,xd2" },
        { 0xF3F8, 0, 1, "fmov.d\t@r15,xd2" },
        { 0xFF5B, 0, 1, "fmov.d\txd4,@-r15" },
        { 0xF4AE, 0, 0, "fmac\tfr0,fr10,fr4" },
        { 0xF6ED, 0, 0, "fipr\tfv8,fv4" },
        { 0xF5FD, 0, 0, "ftrv\txmtrx,fv4" },
        { 0xF4BD, 1, 0, "fcnvds\tdr4,fpul" },
        { 0xF140, 1, 0, ".word 0xf140" },
        { 0xF4FD, 0, 0, "fsca\tfpul,dr4" },
        { 0x00C3, 0, 0, "movca.l\tr0,@r0" },
        { 0xFFFD, 0, 0, ".word 0xfffd" },
        { 0x8D80, 0, 0, "bt.s\t0x8c00ff04" },
        { 0xF3F9, 0, 0, "fmov\t@r15+,fr3" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[64];
        assert_string_equal(
            sh4_disasm(rows[i].op, 0x8C010000, rows[i].pr, rows[i].sz, buf, sizeof buf),
            rows[i].text);
    }
}

static void disasm__short_buffer__cut_and_terminated(void **state)
{
    (void)state;
    for (size_t cap = 1; cap < 24; cap++) {
        char buf[32];
        memset(buf, 'x', sizeof buf);
        sh4_disasm(0xCC80, 0, false, false, buf, cap);
        assert_memory_equal(buf, "tst.b\t#128,@(r0,gbr)", MIN(cap - 1, 20u));
        assert_int_equal(buf[MIN(cap - 1, 20u)], 0);
        assert_int_equal(buf[cap], 'x');
    }
}

/* ---- GNU objdump as a second opinion ---- */

enum { VMA = 0x8C010000 };

/* Opcodes where objdump 2.40 and the SH-4 manual differ on purpose; each row with its reason. */
static const struct {
    uint16_t match, mask;
    const char *reason;
} known[] = {
    { 0x403A, 0xF0FF, "ldc Rm,sgr: SH-4A only, SGR is read-only on SH-4" },
    { 0x4036, 0xF0FF, "ldc.l @Rm+,sgr: SH-4A only" },
};

static bool is_known(uint16_t op)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if ((op & known[i].mask) == known[i].match)
            return true;
    return false;
}

static FILE *run_objdump(const char *path)
{
    char cmd[256];
    snprintf(cmd, sizeof cmd,
             "sh4-linux-gnu-objdump -D -z -b binary -m sh4 -EL --adjust-vma=0x%x %s", (unsigned)VMA,
             path);
    return popen(cmd, "r");
}

/* True if some FPSCR setting gives objdump's text: it does not know PR and SZ. */
static bool agrees_with_objdump(uint16_t op, uint32_t pc, const char *text)
{
    char buf[64];
    for (unsigned mode = 0; mode < 4; mode++)
        if (strcmp(sh4_disasm(op, pc, mode & 2, mode & 1, buf, sizeof buf), text) == 0)
            return true;
    return false;
}

static void disasm__all_opcodes__same_text_as_objdump(void **state)
{
    char path[] = "/tmp/sh4-isa-XXXXXX", line[256], ours[64];
    unsigned compared = 0, differ = 0;
    (void)state;
    if (system("command -v sh4-linux-gnu-objdump >/dev/null 2>&1") != 0) {
        print_message(
            "SKIPPED: sh4-linux-gnu-objdump not found (package binutils-sh4-linux-gnu)\n");
        skip();
    }
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "wb");
    for (unsigned op = 0; op < 0x10000; op++) {
        uint8_t b[2];
        put_le16(b, (uint16_t)op);
        assert_int_equal(fwrite(b, 1, 2, f), 2);
    }
    fclose(f);
    FILE *p = run_objdump(path);
    assert_non_null(p);
    while (fgets(line, sizeof line, p)) {
        unsigned addr, b0, b1;
        int at = 0;
        if (sscanf(line, " %x:\t%x %x %n", &addr, &b0, &b1, &at) != 3 || !at)
            continue;
        uint16_t op = (uint16_t)(b0 | b1 << 8);
        char *text = line + at + strspn(line + at, " \t");
        text[strcspn(text, "!\n")] = 0; /* a literal's value follows after '!' */
        for (size_t n = strlen(text); n && (text[n - 1] == '\t' || text[n - 1] == ' '); n--)
            text[n - 1] = 0;
        compared++;
        if (!is_known(op) && !agrees_with_objdump(op, addr, text) && differ++ < 20)
            print_message("  %04x: objdump '%s', here '%s'\n", op, text,
                          sh4_disasm(op, addr, 0, 0, ours, sizeof ours));
    }
    pclose(p);
    unlink(path);
    print_message("  %u opcodes compared, %u differ\n", compared, differ);
    assert_int_equal(compared, 0x10000);
    assert_int_equal(differ, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode__every_opcode_and_fpscr__gives_the_only_matching_row),
        cmocka_unit_test(flow__branches__sign_and_targets),
        cmocka_unit_test(flow__register_forms__name_the_register),
        cmocka_unit_test(pc_relative__words_and_longs__address),
        cmocka_unit_test(slot_illegal__list_of_the_manual__exactly),
        cmocka_unit_test(disasm__every_operand_form__text),
        cmocka_unit_test(disasm__short_buffer__cut_and_terminated),
        cmocka_unit_test(disasm__all_opcodes__same_text_as_objdump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
