/* The block path against the single-step path: random programs run on two cores that differ in
 * nothing else, in slices of random length, must agree in every register, memory and cache byte,
 * cycle and all counts. */
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
#include "targets/sim/sh4/decode.h"

enum { RAM_SIZE = 64 << 10, ROM_SIZE = 4096 };
#define RAM_BASE 0x0C000000u
#define STEADY   0xFFF00008u

struct machine {
    struct sh4_cpu cpu;
    struct sh4_mmu mmu;
    struct sh4_ubc ubc;
    uint8_t ram[RAM_SIZE], rom[ROM_SIZE];
    uint32_t io;     /* what a device register holds; changes with every access */
    uint32_t steady; /* another, which only the test changes */
};

struct fixture {
    struct machine m[2]; /* block path, single-step path */
    uint64_t seed;
};

static uint32_t next_random(struct fixture *fx)
{
    fx->seed = fx->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(fx->seed >> 33);
}
static bool one_in(struct fixture *fx, unsigned n) { return next_random(fx) % n == 0; }

static uint64_t device_read(void *ctx, uint32_t addr, unsigned size)
{
    struct machine *m = ctx;
    (void)size;
    if (addr == STEADY)
        return m->steady;
    m->io = m->io * 17 + addr + (uint32_t)m->cpu.cycle; /* sees the time of the access */
    return m->io;
}
static void device_write(void *ctx, uint32_t addr, unsigned size, uint64_t v)
{
    struct machine *m = ctx;
    m->io ^= (uint32_t)v + addr + size;
    if ((v & 7) == 3)
        sh4_cpu_limit(&m->cpu, m->cpu.cycle + 20);
    if ((v & 15) == 5)
        sh4_cpu_set_irq(&m->cpu, (unsigned)(v >> 4 & 15), 0x420);
}
static bool device_stable(void *ctx, uint32_t addr)
{
    (void)ctx;
    return addr == STEADY;
}
static void acknowledge_irq(void *ctx, unsigned level, uint16_t intevt)
{
    struct machine *m = ctx;
    (void)level, (void)intevt;
    sh4_cpu_set_irq(&m->cpu, 0, 0);
}

/* Instructions that end most programs' usefulness come rarely. */
static uint16_t random_opcode(struct fixture *fx)
{
    static const uint16_t rare[] = {
        SH4_RTE,          SH4_TRAPA_IMM,     SH4_SLEEP,      SH4_LDTLB,        SH4_LDC_RM_SR,
        SH4_LDC_L_INC_SR, SH4_JMP_ATRM,      SH4_JSR_ATRM,   SH4_BRAF_RM,      SH4_BSRF_RM,
        SH4_LDC_RM_VBR,   SH4_LDC_L_INC_VBR, SH4_RTS,        SH4_LDS_RM_FPSCR, SH4_LDS_L_INC_FPSCR,
        SH4_FRCHG,        SH4_FSCHG,         SH4_LDC_RM_GBR, SH4_LDC_L_INC_GBR
    };
    for (;;) {
        unsigned id = 1 + next_random(fx) % (SH4_NINSNS - 1);
        bool skip = false;
        for (unsigned i = 0; i < ARRAY_LEN(rare); i++)
            skip |= id == rare[i] && !one_in(fx, 8);
        if (skip)
            continue;
        uint16_t op =
            sh4_insns[id].match | (uint16_t)(next_random(fx) & (uint16_t)~sh4_insns[id].mask);
        if (op >> 12 == 0xA || op >> 12 == 0xB) /* keep BRA, BSR near */
            op = (uint16_t)((op & 0xF000) | (next_random(fx) & 0x3F) | (one_in(fx, 2) ? 0xFC0 : 0));
        return one_in(fx, 200) ? (uint16_t)next_random(fx) : op;
    }
}

static uint32_t random_pointer(struct fixture *fx)
{
    static const uint32_t base[] = { 0x8C000000, 0x8C000000, 0x8C000000, 0x0C000000, 0x0C000000,
                                     0xAC000000, 0xCC000000, 0x7C000000, 0xFC000000, 0xE0000000,
                                     0xFF200000, 0x8C000000, 0xAF000000, 0xFF000084 };
    uint32_t b = base[next_random(fx) % ARRAY_LEN(base)], off = next_random(fx) & 0xFFFC;
    if (b == 0xFF200000)
        off &= 0x3C;
    if (b == 0xFF000084)
        off &= 4;
    return b + off;
}

static void fill_code(struct fixture *fx, uint8_t *p, size_t bytes, bool big)
{
    for (size_t i = 0; i < bytes; i += 2)
        put16(p + i, random_opcode(fx), big);
}

/* Reset lands here: caches on in some mode, then into RAM. */
static void make_rom(struct fixture *fx, uint8_t *rom, bool big)
{
    static const uint32_t ccr[] = { 0x90D, 0x90D, 0x90D, 0x909, 0x90B, 0x000,
                                    0x100, 0x001, 0x92D, 0x98D, 0x890D };
    /* mov.l (28),r0; mov.l (32),r1; mov.l r1,@r0; mov.l (36),r0; jmp @r0; nop */
    static const uint16_t code[] = { 0xD006, 0xD107, 0x2012, 0xD007, 0x402B, 0x0009 };
    for (unsigned i = 0; i < ARRAY_LEN(code); i++)
        put16(rom + 2 * i, code[i], big);
    put32(rom + 28, 0xFF00001C, big);
    put32(rom + 32, ccr[next_random(fx) % ARRAY_LEN(ccr)], big);
    put32(rom + 36,
          (one_in(fx, 6)   ? 0xAC000000
           : one_in(fx, 6) ? 0x0C000000
                           : 0x8C000000) +
              0x1000,
          big);
}

static void machine_init(struct machine *m, bool big, bool slow, bool fpu7091)
{
    struct sh4_config cfg = { .big = big,
                              .no_fast_path = slow,
                              .variant = fpu7091 ? SH4_VARIANT_7091 : SH4_VARIANT_7750 };
    struct sh4_bus bus = {
        .ctx = m,
        .nwindows = 2,
        .window = { { RAM_BASE, 0x01000000, m->ram, RAM_SIZE - 1, true },
                    { 0, 0x200000, m->rom, ROM_SIZE - 1, false } },
        .read = device_read,
        .write = device_write,
        .io_read = device_read,
        .io_write = device_write,
        .irq_ack = acknowledge_irq,
        .stable = device_stable,
    };
    assert_int_equal(sh4_cpu_init(&m->cpu, &cfg, &bus), 0);
    sh4_mmu_init(&m->mmu, &m->cpu.ccn);
    m->cpu.mmu = &m->mmu;
    sh4_ubc_reset(&m->ubc);
    m->cpu.ubc = &m->ubc;
    m->io = 1;
}

static void same_caches(const struct sh4_cpu *a, const struct sh4_cpu *b)
{
    assert_memory_equal(a->fast->otag, b->fast->otag, sizeof a->fast->otag);
    assert_memory_equal(a->fast->odirty, b->fast->odirty, sizeof a->fast->odirty);
    assert_memory_equal(a->fast->odata, b->fast->odata, sizeof a->fast->odata);
    assert_memory_equal(a->fast->itag, b->fast->itag, sizeof a->fast->itag);
    assert_memory_equal(a->fast->idata, b->fast->idata, sizeof a->fast->idata);
    assert_memory_equal(a->fast->sq, b->fast->sq, sizeof a->fast->sq);
}

static void same_state(struct fixture *fx, const char *where)
{
    struct sh4_cpu *a = &fx->m[0].cpu, *b = &fx->m[1].cpu;
    if (a->pc != b->pc || a->cycle != b->cycle)
        print_error("%s: block path pc %08x cycle %llu, single steps pc %08x cycle %llu\n", where,
                    a->pc, (unsigned long long)a->cycle, b->pc, (unsigned long long)b->cycle);
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->cycle, b->cycle);
    assert_memory_equal(a->r, b->r, offsetof(struct sh4_cpu, until) - offsetof(struct sh4_cpu, r));
    assert_int_equal(a->asleep, b->asleep);
    assert_int_equal(a->in_ase, b->in_ase);
    assert_int_equal(a->last_operand, b->last_operand);
    assert_int_equal(a->last_external, b->last_external);
    for (unsigned ev = 0; ev < SH4_NEVENTS; ev++) {
        uint64_t na = sh4_cpu_total(a, ev), nb = sh4_cpu_total(b, ev);
        if (na != nb)
            print_error("%s: event %02x: %llu in blocks, %llu by steps, pc %08x\n", where, ev,
                        (unsigned long long)na, (unsigned long long)nb, a->pc);
        assert_int_equal(na, nb);
    }
    assert_int_equal(sh4_cpu_perf(a, 0), sh4_cpu_perf(b, 0));
    assert_int_equal(sh4_cpu_perf(a, 1), sh4_cpu_perf(b, 1));
    sh4_pipe_settle(&a->fast->pipe);
    sh4_pipe_settle(&b->fast->pipe);
    assert_memory_equal(&a->fast->pipe, &b->fast->pipe, sizeof a->fast->pipe);
    assert_int_equal(a->fast->dead, b->fast->dead);
    assert_memory_equal(fx->m[0].mmu.utlb, fx->m[1].mmu.utlb, sizeof fx->m[0].mmu.utlb);
    assert_memory_equal(&fx->m[0].ubc, &fx->m[1].ubc, sizeof fx->m[0].ubc);
    assert_int_equal(fx->m[0].io, fx->m[1].io);
}

/* The same disturbance to both: pointers in registers, sometimes another program, ASE break,
 * interrupt. */
static void disturb_both(struct fixture *fx, bool big)
{
    uint32_t ptr[16], at = next_random(fx) % RAM_SIZE & ~31u, gbr = random_pointer(fx),
                      vbr = 0x8C002000;
    for (unsigned i = 0; i < 16; i++)
        ptr[i] = random_pointer(fx);
    uint8_t code[128];
    fill_code(fx, code, sizeof code, big);
    bool patch = one_in(fx, 4), ase = one_in(fx, 20), wake = one_in(fx, 4), unblock = one_in(fx, 2),
         fp = one_in(fx, 2);
    bool jump = one_in(fx, 3), user = one_in(fx, 12);
    uint32_t go = (one_in(fx, 5)   ? 0xAC000000
                   : one_in(fx, 5) ? 0xFC000000
                                   : 0x8C000000) +
                  (next_random(fx) & 0xFFFE);
    uint32_t bar[2] = { random_pointer(fx) + (one_in(fx, 3) ? 2 : 0), random_pointer(fx) },
             bbr = next_random(fx), bam = next_random(fx);
    bool arm = one_in(fx, 6), disarm = one_in(fx, 4), at_on = one_in(fx, 8), at_off = one_in(fx, 3);
    uint32_t tlb = next_random(fx);
    uint32_t fpscr = next_random(fx) & 0x3F0003, count = 0xC000 | next_random(fx) % 0x2A;
    for (unsigned k = 0; k < 2; k++) {
        struct machine *m = &fx->m[k];
        for (unsigned i = 1; i < 16; i++)
            m->cpu.r[i] = ptr[i];
        m->cpu.r[0] &= 0xFC;
        m->cpu.gbr = gbr;
        m->cpu.vbr = vbr;
        if (patch && at + sizeof code <= RAM_SIZE)
            memcpy(m->ram + at, code, sizeof code); /* behind the caches' back */
        if (patch)
            memcpy(m->cpu.aseram + (at & 0x380), code, sizeof code);
        if (unblock)
            sh4_set_sr(&m->cpu,
                       user ? 0 : (sh4_get_sr(&m->cpu) & ~(SR_BL | SR_FD | 0xF0u)) | SR_MD);
        if (fp)
            sh4_set_fpscr(&m->cpu, fpscr);
        for (unsigned i = 0; (arm || disarm) && i < 2; i++) {
            sh4_ubc_write(&m->ubc, 0xFF200000 + 12 * i, bar[i]);
            sh4_ubc_write(&m->ubc, 0xFF200004 + 12 * i, (bam >> 8 * i & 0xB & (bam >> 16)) | 4);
            sh4_ubc_write(&m->ubc, 0xFF200008 + 12 * i, arm ? bbr >> 8 * i & 0x3C : 0);
            sh4_ubc_write(&m->ubc, 0xFF200020, bbr >> 16 & 0x448);
            sh4_cpu_ubc_armed(&m->cpu, m->ubc.armed);
        }
        /* some pages of 1 MB, cached or not, some write-protected */
        for (unsigned i = 0; at_on && i < 8; i++) {
            m->cpu.ccn.pteh = i << 20;
            m->cpu.ccn.ptel =
                0x0C000000 | 0x196 | (tlb >> 4 * i & 0xF) << 2 | (tlb & 1u << i ? 0 : 1);
            m->cpu.ccn.mmucr = i << 10;
            sh4_mmu_ldtlb(&m->mmu);
        }
        if (at_on || at_off)
            sh4_mmu_write_mmucr(&m->mmu, at_on ? 1 : 4);
        if (jump)
            m->cpu.pc = go;
        if (ase)
            sh4_cpu_request_ase_break(&m->cpu);
        if (wake)
            sh4_cpu_set_irq(&m->cpu, 15, 0x400);
        sh4_pmc_write(&m->cpu, 0xFF000084, count);
    }
}

/* Tables so small that they are flushed all the time. */
static void cramp_tables(struct sh4_cpu *cpu)
{
    cpu->fast->blocks->max_blocks = 24;
    cpu->fast->blocks->max_ops = 256;
    cpu->fast->blocks->max_recs = 20;
    cpu->fast->blocks->max_states = 12;
}

static void run_pair(struct fixture *fx, uint64_t seed, bool big, bool cramped)
{
    fx->seed = seed;
    struct machine *a = &fx->m[0], *b = &fx->m[1];
    memset(fx->m, 0, sizeof fx->m);
    fill_code(fx, a->ram, RAM_SIZE, big);
    fill_code(fx, a->cpu.aseram, sizeof a->cpu.aseram, big);
    make_rom(fx, a->rom, big);
    memcpy(b->ram, a->ram, RAM_SIZE);
    memcpy(b->rom, a->rom, ROM_SIZE);
    uint8_t aseram[1024];
    fill_code(fx, aseram, sizeof aseram, big);
    for (unsigned k = 0; k < 2; k++) {
        machine_init(&fx->m[k], big, k == 1, seed & 1);
        memcpy(fx->m[k].cpu.aseram, aseram, sizeof aseram);
    }
    if (cramped)
        cramp_tables(&a->cpu);
    char where[64];
    for (unsigned slice = 0; slice < 60; slice++) {
        uint64_t until = a->cpu.cycle + 1 + next_random(fx) % (one_in(fx, 8) ? 20000 : 600);
        snprintf(where, sizeof where, "seed %llu slice %u", (unsigned long long)seed, slice);
        sh4_cpu_run(&a->cpu, until);
        sh4_cpu_run(&b->cpu, until);
        same_state(fx, where);
        disturb_both(fx, big);
    }
    same_caches(&a->cpu, &b->cpu);
    assert_memory_equal(a->ram, b->ram, RAM_SIZE);
    for (unsigned k = 0; k < 2; k++)
        sh4_cpu_fini(&fx->m[k].cpu);
}

static void random_programs__blocks_and_steps__agree_in_everything(void **state)
{
    struct fixture *fx = *state;
    const char *n = getenv("SH4_PATHS"); /* more programs, for a long run */
    for (uint64_t seed = 1; seed <= (n ? strtoull(n, NULL, 0) : 150); seed++)
        run_pair(fx, seed, false, false);
}
static void random_programs__big_endian__agree_in_everything(void **state)
{
    for (uint64_t seed = 1001; seed <= 1060; seed++)
        run_pair(*state, seed, true, false);
}

static void random_programs__tables_that_overflow__agree_in_everything(void **state)
{
    for (uint64_t seed = 2001; seed <= 2040; seed++)
        run_pair(*state, seed, false, true);
}

/* ---- waiting loops ---- */

static void waiting__any_loop__skipped_to_the_cycle(void **state)
{
    static const struct {
        const char *name;
        uint32_t at;
        uint16_t code[10];
    } rows[] = {
        { "bra .", 0x8C001000, { 0xAFFE, 0x0009 } },
        { "poll a register, cached code", 0x8C001000, { 0x6012, 0x2008, 0x89FC, 0xAFFB, 0x0009 } },
        { "poll a register from ASERAM", 0xFC000000, { 0x6012, 0x2008, 0x89FC, 0xAFFB, 0x0009 } },
        { "poll a register, uncached code",
          0xAC001000,
          { 0x6012, 0x2008, 0x89FC, 0xAFFB, 0x0009 } },
        { "poll memory", 0x8C001000, { 0x6022, 0x2008, 0x8BFC, 0xAFFB, 0x0009 } },
        { "count while waiting", 0x8C001000, { 0x6012, 0x7301, 0x2008, 0x89FB, 0xAFFA, 0x0009 } },
        { "poll what changes", 0x8C001000, { 0x6042, 0x2008, 0x8BFC, 0xAFFB, 0x0009 } },
        { "count down", 0x8C001000, { 0x4510, 0x8BFD, 0xAFFC, 0x0009 } },
        { "count down twice", 0x8C001000, { 0x4510, 0x4510, 0x8BFC, 0xAFFB, 0x0009 } },
        { "what counts is read, too", 0x8C001000, { 0x4510, 0x3590, 0x8BFC, 0xAFFB, 0x0009 } },
        { "... as a register of the other bank",
          0x8C001000,
          { 0x4A0E, 0x4510, 0x4B0E, 0x08D2, 0x3890, 0x6893, 0x8BF8, 0xAFF7, 0x0009 } },
        { "poll and count down",
          0xAC001000,
          { 0x6012, 0xC81F, 0x8BFC, 0x4510, 0x8BFA, 0xAFF9, 0x0009 } },
    };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        fx->seed = i + 1;
        memset(fx->m, 0, sizeof fx->m);
        for (unsigned k = 0; k < 2; k++) {
            struct machine *m = &fx->m[k];
            machine_init(m, false, k == 1, false);
            for (unsigned j = 0; j < ARRAY_LEN(rows[i].code); j++) {
                put_le16(m->ram + 0x1000 + 2 * j, rows[i].code[j]);
                put_le16(m->cpu.aseram + 2 * j, rows[i].code[j]);
            }
            m->cpu.ccn.ccr = 0x105;
            m->cpu.pc = rows[i].at;
            m->cpu.r[1] = STEADY;
            m->cpu.r[2] = 0x8C002000;
            m->cpu.r[4] = 0xFF200000;
            m->cpu.r[5] = 5000;
            m->cpu.r[9] = 1000;
            m->cpu.r[10] = 0x70000000; /* bank 1 as after reset; bank 0 */
            m->cpu.r[11] = 0x50000000;
        }
        for (unsigned slice = 0; slice < 40; slice++) {
            uint64_t until = fx->m[0].cpu.cycle + 1 + next_random(fx) % 3000;
            for (unsigned k = 0; k < 2; k++) {
                fx->m[k].steady = slice % 7 == 6;
                sh4_cpu_run(&fx->m[k].cpu, until);
            }
            same_state(fx, rows[i].name);
        }
        for (unsigned k = 0; k < 2; k++)
            sh4_cpu_fini(&fx->m[k].cpu);
    }
}

/* A body of what waiting loops are made of, and of what they are not; it comes back by what was
 * counted, or always. */
static void random_loop(struct fixture *fx, uint16_t code[8])
{
    static const uint16_t ops[] = {
        0x6012, 0x6011, 0xC81F, 0x2008, 0x2338, 0x4510, 0x4310, 0x7301, 0x73FF,
        0x7580, 0x0009, 0x6353, 0x3350, 0x3530, 0x0329, 0x0002, 0x4A0E, 0x4B0E,
        0x43BE, 0x03B2, 0x4500, 0x2AAA, 0x353C, 0x8801, 0x4613, 0x6042,
    }; /* MOV @R1,R0; TST; DT R5, R3; ADD #; MOV, CMP R5,R3; MOVT; STC SR; LDC R10, R11,SR; LDC, STC
          R3_BANK; SHLL; XOR; ADD; ...; MOV @R4,R0 */
    /* BF BT BF/S BT/S BRA */
    static const uint16_t back[] = { 0x8B00, 0x8900, 0x8F00, 0x8D00, 0xA000 };
    unsigned n = 1 + next_random(fx) % 4;
    uint16_t some[3];
    for (unsigned i = 0; i < ARRAY_LEN(some); i++)
        some[i] = ops[next_random(fx) % ARRAY_LEN(ops)];
    for (unsigned i = 0; i < n; i++)
        code[i] = some[next_random(fx) % ARRAY_LEN(some)];
    uint16_t b = back[next_random(fx) % ARRAY_LEN(back)];
    code[n] = (uint16_t)(b | (uint16_t)(-(int)(n + 2) & (b >> 12 == 0xA ? 0xFFF : 0xFF)));
    code[n + 1] = one_in(fx, 3) ? ops[next_random(fx) % ARRAY_LEN(ops)] : 0x0009;
    code[n + 2] = (uint16_t)(0xA000 | (-(int)(n + 4) & 0xFFF)); /* and on for ever */
    code[n + 3] = 0x0009;
}

static void start_loop(struct fixture *fx, const uint16_t code[8])
{
    uint32_t r3 = one_in(fx, 2) ? next_random(fx) : next_random(fx) % 100,
             r5 = one_in(fx, 2) ? next_random(fx) : next_random(fx) % 2000;
    for (unsigned k = 0; k < 2; k++) {
        struct machine *m = &fx->m[k];
        machine_init(m, false, k == 1, false);
        for (unsigned j = 0; j < 8; j++)
            put_le16(m->ram + 0x1000 + 2 * j, code[j]);
        m->cpu.ccn.ccr = 0x105;
        m->cpu.pc = 0x8C001000;
        m->cpu.r[1] = STEADY;
        m->cpu.r[3] = r3;
        m->cpu.r[4] = 0xFF200000;
        m->cpu.r[5] = r5;
        m->cpu.r[10] = 0x70000000;
        m->cpu.r[11] = 0x50000000;
    }
}

static void waiting__random_loops__skipped_to_the_cycle(void **state)
{
    struct fixture *fx = *state;
    memset(fx->m, 0, sizeof fx->m);
    for (unsigned seed = 1; seed <= 1000; seed++) {
        uint16_t code[8] = { 0 };
        char name[32];
        snprintf(name, sizeof name, "loop %u", seed);
        fx->seed = seed;
        random_loop(fx, code);
        start_loop(fx, code);
        for (unsigned slice = 0; slice < 8; slice++) {
            uint64_t until = fx->m[0].cpu.cycle + 1 + next_random(fx) % 3000;
            for (unsigned k = 0; k < 2; k++) {
                fx->m[k].steady = slice % 7 == 6;
                sh4_cpu_run(&fx->m[k].cpu, until);
            }
            same_state(fx, name);
        }
        for (unsigned k = 0; k < 2; k++)
            sh4_cpu_fini(&fx->m[k].cpu);
    }
}

static int set_up_machines(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state == NULL;
}
static int tear_down_machines(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs__blocks_and_steps__agree_in_everything),
        cmocka_unit_test(random_programs__big_endian__agree_in_everything),
        cmocka_unit_test(random_programs__tables_that_overflow__agree_in_everything),
        cmocka_unit_test(waiting__any_loop__skipped_to_the_cycle),
        cmocka_unit_test(waiting__random_loops__skipped_to_the_cycle),
    };
    return cmocka_run_group_tests(tests, set_up_machines, tear_down_machines);
}
