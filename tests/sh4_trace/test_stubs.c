#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/reg_use.h"
#include "targets/sh4/trace/stub_time.h"
#include "targets/sh4/trace/stubs.h"
#include "tests/sh4_trace/rig.h"

enum {
    CODE = RIG_TEXT,
    STUB = 0x0C030000,
    DATA = 0x0C040000,
    DATA_BYTES = 0x10000,
    VECTORS = RIG_VBR
};

static uint32_t next_random(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    return *s ^= *s << 5;
}

/* A machine in a random state: registers are even addresses of data (most instructions then do not
 * fault). */
static void random_state(struct sh4_cpu *c, uint8_t *ram, uint32_t *seed)
{
    for (int i = 0; i < 16; i++)
        c->r[i] = DATA + 0x1000 + (next_random(seed) & 0x3FFC);
    c->r[0] = next_random(seed) & 0xFFC;
    c->r[15] = DATA + 0x8000 + (next_random(seed) & 0xFFC);
    for (int i = 0; i < 8; i++)
        c->rb[i] = next_random(seed);
    for (int i = 0; i < 16; i++) {
        c->fr[i] = next_random(seed) & 0x7F7FFFFF;
        c->xf[i] = next_random(seed) & 0x7F7FFFFF;
    }
    c->pr = CODE + 0x800 + (next_random(seed) & 0x7C);
    c->gbr = DATA + (next_random(seed) & 0xFFC);
    c->mach = next_random(seed);
    c->macl = next_random(seed);
    c->fpul = next_random(seed);
    c->dbr = next_random(seed);
    c->ssr = 0x40000000;
    c->spc = CODE + 0x900;
    c->vbr = VECTORS;
    sh4_set_sr(c, 0x40000000 | (next_random(seed) & 0x303));
    for (uint32_t i = 0; i < DATA_BYTES; i += 4)
        put_le32(ram + (DATA - RIG_RAM) + i, DATA + 0x2000 + (next_random(seed) & 0x1FFC));
}

/* Runs from pc until control has left [pc, pc+len); false after an exception or a loop. */
static bool run_out(struct sh4_cpu *c, uint32_t pc, uint32_t len)
{
    c->pc = pc;
    for (int i = 0; i < 12; i++) {
        sh4_cpu_step(c);
        if (c->pc - VECTORS < 0x1000 || c->pc == 0xA0000000)
            return false;
        if (c->pc - pc >= len)
            return true;
    }
    return false;
}

static void same_state(const struct sh4_cpu *a, const struct sh4_cpu *b, const char *what)
{
    bool same = !memcmp(a->r, b->r, sizeof a->r) && !memcmp(a->rb, b->rb, sizeof a->rb) &&
                !memcmp(a->fr, b->fr, sizeof a->fr) && !memcmp(a->xf, b->xf, sizeof a->xf) &&
                a->pc == b->pc && a->pr == b->pr && a->gbr == b->gbr && a->mach == b->mach &&
                a->macl == b->macl && a->fpul == b->fpul && a->fpscr == b->fpscr &&
                a->ssr == b->ssr && a->spc == b->spc && sh4_get_sr(a) == sh4_get_sr(b);
    if (!same) {
        for (int i = 0; i < 16; i++)
            if (a->r[i] != b->r[i])
                print_message("r%d %08x != %08x\n", i, a->r[i], b->r[i]);
        fail_msg("%s: pc %08x %08x pr %08x %08x sr %08x %08x", what, a->pc, b->pc, a->pr, b->pr,
                 sh4_get_sr(a), sh4_get_sr(b));
    }
}

/* The instruction (and slot) where it was, against its stub elsewhere; both from the same state.
 * Returns false if the original raised an exception, which the stub may then do, too. */
static bool compare_with_stub(const struct sh4_stub *st, uint16_t op, uint16_t slot, bool delayed,
                              uint32_t seed, const char *what)
{
    static struct rig r[2];
    static struct asm_prog prog;
    uint32_t sp;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        uint32_t s = seed;
        rig_open(&r[i], &prog, "nop\n", 0, 0);
        random_state(&r[i].cpu, r[i].ram, &s);
        put_le16(r[i].ram + (CODE - RIG_RAM) + 0x100, op);
        put_le16(r[i].ram + (CODE - RIG_RAM) + 0x102, slot);
        for (uint32_t k = 0x104; k < 0x600; k += 4)
            put_le32(r[i].ram + (CODE - RIG_RAM) + k, DATA + 0x3000 + k);
        memcpy(r[i].ram + (STUB - RIG_RAM), st->bytes, st->len);
        if (i && st->set_pr)
            r[i].cpu.pr = CODE + 0x104;
        ok = run_out(&r[i].cpu, i ? STUB : CODE + 0x100, i ? (uint32_t)st->len : delayed ? 4 : 2);
    }
    if (ok && r[0].cpu.r[15] - DATA >= DATA_BYTES)
        ok = false; /* no stack any more: a stub needs the word below it */
    if (ok) {
        same_state(&r[0].cpu, &r[1].cpu, what);
        sp = r[0].cpu.r[15];
        for (uint32_t k = 0; k < DATA_BYTES; k += 4)
            if (DATA + k - (sp - 16) >= 16)
                assert_int_equal(rig_word(&r[0], DATA + k), rig_word(&r[1], DATA + k));
    }
    rig_close(&r[0]);
    if (r[1].ram && (ok || r[1].cpu.fast))
        rig_close(&r[1]);
    memset(r, 0, sizeof r);
    return ok;
}

/* clang-format off */
static const uint16_t slots[] = {
    0x0009, /* nop */            0xE705, /* mov #5,r7 */      0x6EF6, /* mov.l @r15+,r14 */
    0x4F26, /* lds.l @r15+,pr */ 0x7FFC, /* add #-4,r15 */    0x2F86, /* mov.l r8,@-r15 */
    0x341C, /* add r1,r4 */      0x002A, /* sts pr,r0 */      0x4011, /* cmp/pz r0 */
    0x6153, /* mov r5,r1 */      0xF05C, /* fmov fr5,fr0 */   0x0018, /* sett */
};
/* clang-format on */

static void stubs__sites_from_random_states__do_what_the_original_does(void **state)
{
    (void)state;
    uint32_t seed = 0x12345;
    size_t compared = 0;
    for (unsigned kind = SH4_SITE_JSR; kind <= SH4_SITE_BRAF; kind++)
        for (size_t k = 0; k < ARRAY_LEN(slots); k++)
            for (unsigned reg = 0; reg < 3; reg++) {
                static const uint16_t base[] = { 0x400B, 0xB000, 0x0003, 0x000B,
                                                 0x402B, 0xA000, 0x0023 };
                struct sh4_site s = { .addr = CODE + 0x100,
                                      .kind = (uint8_t)kind,
                                      .slot = slots[k],
                                      .reg = (uint8_t)(reg ? 4 * reg : 0) };
                bool stat = kind == SH4_SITE_BSR || kind == SH4_SITE_BRA;
                s.opcode = (uint16_t)(base[kind] | (stat                   ? 0x123
                                                    : kind == SH4_SITE_RTS ? 0
                                                                           : s.reg << 8));
                s.has_target = stat;
                s.target = CODE + 0x104 + 2 * 0x123;
                struct sh4_stub st;
                char what[64];
                if (sh4_stub_site(NULL, &s, false, &st, NULL) < 0) {
                    assert_true(sh4_reg_use(s.slot).writes >> s.reg & 1);
                    continue;
                }
                snprintf(what, sizeof what, "%s slot %04x reg %u", sh4_site_kind_name(kind), s.slot,
                         s.reg);
                compared +=
                    compare_with_stub(&st, s.opcode, s.slot, true, next_random(&seed), what);
            }
    print_message("  %zu compared\n", compared);
    assert_true(compared > 150);
}

/* Every opcode the search takes for an instruction, at a place followed by RTS. */
static void stubs__points_on_random_instructions__do_what_the_original_does(void **state)
{
    (void)state;
    uint32_t seed = 0xBEEF;
    size_t compared = 0, refused = 0;
    for (int i = 0; i < 1500; i++) {
        uint16_t op = (uint16_t)next_random(&seed),
                 slot = slots[next_random(&seed) % ARRAY_LEN(slots)];
        struct sh4_flow f = sh4_flow(op, CODE + 0x100);
        uint8_t code[0x600];
        if (!sh4_decode(op, false, false) || f.kind == SH4_FLOW_RTE || op == 0x001B ||
            (op & 0xF0FF) == 0x400E)
            continue;
        for (size_t k = 0; k < sizeof code; k += 2)
            put_le16(code + k, 0x0009);
        put_le16(code, 0xA07E); /* bra CODE+0x100 */
        put_le16(code + 0x100, op);
        put_le16(code + 0x102, f.slot ? slot : 0x0009);
        put_le16(code + 0x120, 0x000B);
        struct image_section sec = { ".text", CODE, 0x124, code, true, false };
        struct image im = { .path = "test", .entry = CODE, .sections = &sec, .nsections = 1 };
        struct sh4_sites_config cfg = { 0 };
        struct sh4_sites s;
        struct sh4_stub st;
        char what[64], text[48];
        assert_int_equal(sh4_sites_find(&im, &cfg, &s, NULL), 0);
        if (sh4_sites_code(&s, CODE + 0x100) & SH4_CODE_INSN) {
            struct err err = { .code = ERR_OK };
            snprintf(what, sizeof what, "%04x %s", op,
                     sh4_disasm(op, CODE + 0x100, false, false, text, sizeof text));
            if (sh4_stub_point(&s, CODE + 0x100, false, &st, &err) < 0)
                refused++;
            else if (!sh4_dbr_twin(op) && op >> 8 != 0xDF && op >> 8 != 0x9F)
                compared += compare_with_stub(&st, op, f.slot ? slot : 0x0009, f.slot,
                                              next_random(&seed), what);
        }
        sh4_sites_fini(&s);
    }
    print_message("  %zu compared, %zu refused\n", compared, refused);
    assert_true(compared > 400);
}

static void points__bad_places__are_refused_with_a_hint(void **state)
{
    (void)state;
    static struct asm_prog p;
    static const struct {
        const char *label;
        uint32_t off;
    } rows[] = {
        { "m_slot", 0 }, { "m_lit", 0 }, { "m_trap", 0 }, { "m_sr", 0 }, { "m_lit", 4 },
    };
    memset(&p, 0, sizeof p);
    asm_text(
        &p, CODE,
        "main: mov.l m_lit,r0\n m_trap: trapa #3\n mov.l m_bits,r1\n m_sr: ldc r1,sr\n m_bl: nop\n"
        "rts\n m_slot: nop\n .align 2\n m_lit: .long 5\n m_bits: .long 0x50000000\n");
    struct image_section sec = { ".text", CODE, p.len, p.code, true, false };
    struct image im = { .path = "test", .entry = CODE, .sections = &sec, .nsections = 1 };
    struct sh4_sites_config cfg = { 0 };
    struct sh4_sites s;
    assert_int_equal(sh4_sites_find(&im, &cfg, &s, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { .code = ERR_OK };
        struct sh4_stub st;
        print_message("  %s+%u\n", rows[i].label, rows[i].off);
        assert_int_equal(
            sh4_stub_point(&s, asm_label(&p, rows[i].label) + rows[i].off, false, &st, &err),
            -ERR_USAGE);
        assert_string_not_equal(err.hint, "");
        print_message("    %s (%s)\n", err.what, err.hint);
    }
    sh4_sites_fini(&s);
}

static void reg_use__every_instruction__changes_only_what_it_says(void **state)
{
    (void)state;
    static struct rig r;
    static struct asm_prog prog;
    uint32_t seed = 77;
    size_t n = 0;
    rig_open(&r, &prog, "nop\n", 0, 0);
    r.cpu.ccn.ccr = 0; /* code changes all the time */
    for (uint32_t op = 0; op < 0x10000; op += 7) {
        struct sh4_flow f = sh4_flow((uint16_t)op, CODE);
        if (!sh4_decode((uint16_t)op, false, false) || f.kind != SH4_FLOW_NONE || op == 0x001B ||
            (op & 0xF0FF) == 0x400E || (op & 0xF0FF) == 0x4007)
            continue;
        uint32_t before[16];
        random_state(&r.cpu, r.ram, &seed);
        uint8_t b[2];
        put_le16(b, (uint16_t)op);
        sh4_cpu_poke(&r.cpu, CODE + (n % 64) * 32, b, 2);
        r.cpu.pc = CODE + (n++ % 64) * 32;
        memcpy(before, r.cpu.r, sizeof before);
        sh4_cpu_step(&r.cpu);
        if (r.cpu.pc - VECTORS < 0x1000)
            continue;
        for (int i = 0; i < 16; i++)
            if (r.cpu.r[i] != before[i] && !(sh4_reg_use((uint16_t)op).writes >> i & 1))
                fail_msg("%04x changes r%d", op, i);
    }
    rig_close(&r);
}

/* What stubs take is compared with those of the loop that calibrates. */
static void times__of_calibrations_loop__are_as_they_are_taken_to_be(void **state)
{
    (void)state;
    assert_int_equal(sh4_calibration_time(), SH4_CALIBRATION_TIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times__of_calibrations_loop__are_as_they_are_taken_to_be),
        cmocka_unit_test(stubs__sites_from_random_states__do_what_the_original_does),
        cmocka_unit_test(stubs__points_on_random_instructions__do_what_the_original_does),
        cmocka_unit_test(points__bad_places__are_refused_with_a_hint),
        cmocka_unit_test(reg_use__every_instruction__changes_only_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
