/* Performance counters: PMCR's rules, and each event's count for programs small enough to count by
 * hand. */
#include "tests/sim_sh4/core_rig.h"

#define PMCR1 0xFF000084u
#define PMCR2 0xFF000088u

static struct rig *start_rig(const char *text)
{
    struct rig *r = calloc(1, sizeof *r);
    rig_init(r, false);
    rig_load(r, text);
    return r;
}
static void finish_rig(struct rig *r)
{
    sh4_cpu_fini(&r->cpu);
    free(r);
}

static uint32_t pmc_reg(struct rig *r, uint32_t addr)
{
    uint32_t v = 0xDEAD;
    assert_true(sh4_pmc_read(&r->cpu, addr, &v));
    return v;
}

static void pmcr__every_way_to_write_it__follows_the_rules(void **state)
{
    (void)state;
    struct rig *r = start_rig("loop: bra loop\nnop\n");
    sh4_pmc_write(&r->cpu, PMCR1, 0xFFFF);
    assert_int_equal(pmc_reg(r, PMCR1), 0xC13F); /* PMCLR and the rest read 0 */
    sh4_pmc_write(&r->cpu, PMCR1, 0);
    sh4_pmc_write(&r->cpu, PMCR1, 0x2000); /* clear while stopped */
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 0);
    static const uint16_t not_running[] = { 0x8013, 0x4013, 0x0013 };
    for (size_t i = 0; i < ARRAY_LEN(not_running); i++) { /* needs PMEN and PMST */
        sh4_pmc_write(&r->cpu, PMCR1, not_running[i]);
        sh4_cpu_run(&r->cpu, r->cpu.cycle + 100);
        assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 0);
    }
    sh4_pmc_write(&r->cpu, PMCR1, 0xC013);
    for (int i = 0; i < 5; i++)
        sh4_cpu_step(&r->cpu);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 10);
    sh4_pmc_write(&r->cpu, PMCR1, 0x2000); /* stop, keep */
    sh4_cpu_step(&r->cpu);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 10);
    sh4_pmc_write(&r->cpu, PMCR1, 0xC013); /* go on */
    sh4_cpu_step(&r->cpu);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 12);
    /* PMCLR on a running counter stops it, whatever else is set */
    sh4_pmc_write(&r->cpu, PMCR1, 0xE013);
    sh4_cpu_step(&r->cpu);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 12);
    sh4_pmc_write(&r->cpu, PMCR1, 0x2000);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 0);
    finish_rig(r);
}

static void counters__two_at_once__count_independently_and_wrap_at_48_bits(void **state)
{
    (void)state;
    struct rig *r = start_rig("loop: bra loop\nnop\n");
    r->cpu.pmc[0].count = 0xFFFFFFFFFFFE;
    sh4_pmc_write(&r->cpu, PMCR1, 0xC013);
    sh4_pmc_write(&r->cpu, PMCR2, 0xC011);
    for (int i = 0; i < 3; i++)
        sh4_cpu_step(&r->cpu);
    assert_int_equal(pmc_reg(r, 0xFF100004), 0);
    assert_int_equal(pmc_reg(r, 0xFF100008), 4);
    assert_int_equal(pmc_reg(r, 0xFF10000C), 0);
    assert_int_equal(pmc_reg(r, 0xFF100010), 3);
    sh4_pmc_write(&r->cpu, 0xFF100008, 77); /* read-only */
    assert_int_equal(pmc_reg(r, 0xFF100008), 4);
    finish_rig(r);
}

static void clkf__cycle_events__count_24_per_bus_clock(void **state)
{
    (void)state;
    struct rig *r = start_rig("loop: bra loop\nnop\n");
    r->cpu.cfg.bus_ratio = 3;
    sh4_pmc_write(&r->cpu, PMCR1, 0xC123);
    sh4_pmc_write(&r->cpu, PMCR2, 0xC113);
    uint64_t cycle = r->cpu.cycle, insns = sh4_cpu_total(&r->cpu, EV_INSN);
    sh4_cpu_run(&r->cpu, cycle + 1000);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), (r->cpu.cycle - cycle) * 8);
    /* no cycles: unscaled */
    assert_int_equal(sh4_cpu_perf(&r->cpu, 1), sh4_cpu_total(&r->cpu, EV_INSN) - insns);
    finish_rig(r);
}

static void disabled__if_configured__reads_zero_unless_stopped_by_pmclr(void **state)
{
    (void)state;
    struct rig *r = start_rig("loop: bra loop\nnop\n");
    r->cpu.cfg.perf_off_reads_0 = true;
    sh4_pmc_write(&r->cpu, PMCR1, 0xC013);
    sh4_cpu_step(&r->cpu);
    sh4_pmc_write(&r->cpu, PMCR1, 0x0000);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 0);
    sh4_pmc_write(&r->cpu, PMCR1, 0xC013);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 2); /* it was only hidden */
    sh4_pmc_write(&r->cpu, PMCR1, 0x2000);
    assert_int_equal(sh4_cpu_perf(&r->cpu, 0), 2);
    finish_rig(r);
}

static void sleep_and_ase_mode__while_they_last__count_nothing(void **state)
{
    (void)state;
    struct rig *r = start_rig("sleep\nnop\nend: nop\n");
    sh4_cpu_step(&r->cpu);
    assert_true(r->cpu.asleep);
    uint64_t elapsed = sh4_cpu_total(&r->cpu, EV_ELAPSED);
    assert_int_equal(sh4_cpu_run(&r->cpu, r->cpu.cycle + 5000), SH4_STOP_SLEEP);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_ELAPSED), elapsed);
    r->cpu.aseram[0] = 0x2B; /* rte; nop */
    r->cpu.aseram[2] = 0x09;
    sh4_cpu_request_ase_break(&r->cpu);
    assert_int_equal(sh4_cpu_run(&r->cpu, r->cpu.cycle + 5000), SH4_STOP_REQUEST);
    assert_true(r->cpu.in_ase);
    assert_int_equal(r->cpu.pc, 0xFC000000);
    assert_int_equal(r->cpu.spc, RIG_BASE + 2);
    uint64_t insns = sh4_cpu_total(&r->cpu, EV_INSN), cycle = r->cpu.cycle;
    elapsed = sh4_cpu_total(&r->cpu, EV_ELAPSED);
    assert_int_equal(sh4_cpu_run(&r->cpu, r->cpu.cycle + 5000), SH4_STOP_REQUEST);
    assert_false(r->cpu.in_ase);
    assert_int_equal(r->cpu.pc, RIG_BASE + 2);
    assert_true(r->cpu.cycle > cycle);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_INSN), insns);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_ELAPSED), elapsed);
    finish_rig(r);
}

/* ---- what each event counts ---- */

static const char all_kinds[] =
    /* operands: 2 cached reads (1 miss), 2 cached writes, 1 uncached read, 1 register write */
    "mov.l @r1,r2\nmov.l @r1,r3\nmov.l r3,@r1\nmov.b r3,@r1\nmov.l @r4,r5\nmov.l r5,@r6\n"
    "fadd fr0,fr1\nfldi0 fr2\nflds fr2,fpul\n" /* 3 of the FPU */
    "bsr sub\nnop\n"                           /* branches: BSR, RTS, BF taken, BT not */
    "tst r0,r0\nbt over\nnop\nover: tst r15,r15\nbt never\nmov r1,r1\ntrapa #3\nend: nop\nnever: "
    "nop\n"
    "sub: rts\nnop\n";

static void events__one_of_each_kind__counted(void **state)
{
    static const struct {
        const char *name;
        uint8_t code;
        unsigned count;
    } rows[] = {
        { "operand reads, cached", 0x01, 2 },
        { "operand writes, cached", 0x02, 2 },
        { "UTLB misses", 0x03, 0 },
        { "read misses", 0x04, 1 },
        { "write misses", 0x05, 0 },
        { "instruction TLB misses", 0x07, 0 },
        { "operands", 0x09, 6 },
        { "on-chip I/O", 0x0D, 1 },
        { "cached operands", 0x0E, 4 },
        { "operand misses", 0x0F, 1 },
        { "branches", 0x10, 4 },
        { "branches taken", 0x11, 3 },
        { "calls", 0x12, 1 },
        { "instructions", 0x13, 6 + 3 + 2 + 2 + 2 + 2 + 2 },
        { "FPU instructions", 0x15, 3 },
        { "interrupts", 0x16, 0 },
        { "NMIs", 0x17, 0 },
        { "TRAPAs", 0x18, 1 },
        { "on-chip RAM operands", 0x0B, 0 },
        { "O-cache fill cycles", 0x22, 26 },
        { "O-cache freeze", 0x25, 26 },
    };
    (void)state;
    struct rig *r = start_rig(all_kinds);
    struct sh4_cpu *c = &r->cpu;
    c->r[0] = 0;
    c->r[4] = 0xAC008000;
    c->r[6] = 0xFF000008; /* TTB */
    rig_step_to(r, 0x8C000100);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(sh4_cpu_total(c, rows[i].code), rows[i].count);
    }
    assert_int_equal(c->ccn.tra, 12);
    assert_int_equal(c->ccn.expevt, 0x160);
    assert_int_equal(c->spc, asm_label(&r->prog, "end"));
    finish_rig(r);
}

static void events__interrupts_and_nmi__counted_apart(void **state)
{
    (void)state;
    struct rig *r = start_rig("nop\nnop\nnop\n");
    sh4_cpu_set_irq(&r->cpu, 5, 0x420);
    sh4_cpu_step(&r->cpu);
    assert_int_equal(r->cpu.pc, 0x8C000600);
    assert_int_equal(r->cpu.ccn.intevt, 0x420);
    sh4_set_sr(&r->cpu, SR_MD | SR_IMASK);
    sh4_cpu_set_irq(&r->cpu, SH4_IRQ_NMI, 0x1C0);
    sh4_cpu_step(&r->cpu);
    assert_int_equal(r->cpu.ccn.intevt, 0x1C0);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_IRQ), 1);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_NMI), 1);
    finish_rig(r);
}

static void events__tlb_and_ubc__counted(void **state)
{
    (void)state;
    struct rig *r = start_rig("mov.l @r1,r2\nmov.l @r1,r3\nend: nop\n");
    struct sh4_ubc ubc = { 0 };
    sh4_ubc_reset(&ubc);
    r->cpu.ubc = &ubc;
    sh4_ubc_write(&ubc, 0xFF200000, RIG_BASE);
    sh4_ubc_write(&ubc, 0xFF200004, 4);      /* any ASID */
    sh4_ubc_write(&ubc, 0xFF200008, 0x0016); /* instruction, read, word */
    sh4_ubc_write(&ubc, 0xFF200020, 0x0400); /* after execution */
    sh4_cpu_ubc_armed(&r->cpu, ubc.armed);
    sh4_cpu_step(&r->cpu);
    assert_int_equal(r->cpu.ccn.expevt, 0x1E0);
    assert_int_equal(r->cpu.spc, RIG_BASE + 2);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_UBC_A), 1);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_UBC_B), 0);
    sh4_set_sr(&r->cpu, SR_MD);
    sh4_mmu_write_mmucr(&r->mmu, 1);
    r->cpu.r[1] = 0x00400000;
    r->cpu.pc = RIG_BASE + 2;
    sh4_cpu_step(&r->cpu);
    assert_int_equal(r->cpu.ccn.expevt, 0x040);
    assert_int_equal(r->cpu.pc, 0x8C000400);
    assert_int_equal(r->cpu.ccn.tea, 0x00400000);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_UTLB_MISS), 1);
    finish_rig(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pmcr__every_way_to_write_it__follows_the_rules),
        cmocka_unit_test(counters__two_at_once__count_independently_and_wrap_at_48_bits),
        cmocka_unit_test(clkf__cycle_events__count_24_per_bus_clock),
        cmocka_unit_test(disabled__if_configured__reads_zero_unless_stopped_by_pmclr),
        cmocka_unit_test(sleep_and_ase_mode__while_they_last__count_nothing),
        cmocka_unit_test(events__one_of_each_kind__counted),
        cmocka_unit_test(events__interrupts_and_nmi__counted_apart),
        cmocka_unit_test(events__tlb_and_ubc__counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
