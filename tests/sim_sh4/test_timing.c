/* Pipeline time against figures worked out by hand from the manual's rules (reference 5.1-5.4). */
#include "tests/sim_sh4/core_rig.h"

struct row {
    const char *name, *text; /* measured from the first instruction to the label "end" */
    unsigned cycles, pairs, freeze_reg, freeze_fpu, freeze_branch, lock;
};

/* Runs once to warm the caches, then again from an empty pipeline. The last group's own cycle is
 * included. */
static void expect_timing(const struct row *row, uint32_t fpscr)
{
    static const uint8_t ev[] = { EV_PAIR, EV_FREEZE_REG, EV_FREEZE_FPU, EV_FREEZE_BRANCH,
                                  EV_ISSUE_LOCK };
    struct rig *r = calloc(1, sizeof *r);
    uint64_t before[ARRAY_LEN(ev)];
    rig_init(r, false);
    rig_load(r, row->text);
    uint64_t cycle = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        r->cpu.pc = RIG_BASE;
        for (unsigned i = 1; i < 16; i++)
            r->cpu.r[i] = 0x8C008000 + 0x100 * i;
        r->cpu.r[9] = asm_label(&r->prog, "end"); /* for jumps */
        r->cpu.pr = r->cpu.spc = r->cpu.r[9];
        r->cpu.ssr = sh4_get_sr(&r->cpu);
        r->cpu.t = 0;
        sh4_set_fpscr(&r->cpu, fpscr);
        sh4_pipe_reset(&r->cpu.fast->pipe);
        for (unsigned i = 0; i < ARRAY_LEN(ev); i++)
            before[i] = sh4_cpu_total(&r->cpu, ev[i]);
        cycle = r->cpu.cycle;
        rig_step_to(r, asm_label(&r->prog, "end"));
    }
    unsigned open = r->cpu.fast->pipe.open != PIPE_EMPTY;
    print_message("  %s\n", row->name);
    assert_int_equal(r->cpu.cycle - cycle + open, row->cycles);
    const unsigned want[] = { row->pairs, row->freeze_reg, row->freeze_fpu, row->freeze_branch,
                              row->lock };
    for (unsigned i = 0; i < ARRAY_LEN(ev); i++)
        assert_int_equal(sh4_cpu_total(&r->cpu, ev[i]) - before[i], want[i]);
    sh4_cpu_fini(&r->cpu);
    free(r);
}

static void issue__pairs_and_integer_latencies__as_the_tables_say(void **state)
{
    static const struct row rows[] = {
        { "MT with MT", "nop\nnop\nend: nop\n", 1, 1, 0, 0, 0, 0 },
        { "EX not with EX", "add r1,r2\nadd r3,r4\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "EX with MT", "add r1,r2\nmov r3,r4\nend: nop\n", 1, 1, 0, 0, 0, 0 },
        { "LS not with LS", "mov.l @r1,r2\nmov.l @r3,r4\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "CO alone", "nop\nclrs\nnop\nend: nop\n", 3, 0, 0, 0, 0, 0 },
        { "pairs again with the next", "add r1,r2\nadd r3,r4\nmov.l @r5,r6\nend: nop\n", 2, 1, 0, 0,
          0, 0 },
        { "result one cycle later", "add r1,r2\nmov r2,r3\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "latency 0 feeds its partner", "mov r1,r2\nadd r2,r3\nend: nop\n", 1, 1, 0, 0, 0, 0 },
        { "load and use", "mov.l @r1,r2\nadd r2,r3\nend: nop\n", 3, 0, 1, 0, 0, 0 },
        { "load, something else, use", "mov.l @r1,r2\nadd r5,r6\nadd r7,r8\nadd r2,r3\nend: nop\n",
          3, 1, 0, 0, 0, 0 },
        { "incremented address at once", "mov.l @r1+,r2\nmov.l @r1,r3\nend: nop\n", 2, 0, 0, 0, 0,
          0 },
        { "load as shifted value", "mov.l @r1,r2\nshad r4,r2\nend: nop\n", 3, 0, 1, 0, 0, 0 },
        { "load as shift count", "mov.l @r1,r2\nshad r2,r4\nend: nop\n", 4, 0, 2, 0, 0, 0 },
        { "multiply and fetch", "mul.l r1,r2\nsts macl,r3\nend: nop\n", 5, 0, 2, 0, 0, 1 },
        { "multiplies every two cycles", "mul.l r1,r2\nmul.l r3,r4\nend: nop\n", 4, 0, 0, 0, 0, 2 },
        { "TAS holds issue for five, and reads and writes on the bus (14 + 4)",
          "tas.b @r1\nnop\nend: nop\n", 6 + 18, 0, 0, 0, 0, 4 },
        { "compare and branch", "tst r1,r1\nbt end\nnop\nend: nop\n", 2, 1, 0, 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_timing(&rows[i], FPSCR_RESET);
}

static void issue__fpu_single__latencies_and_units(void **state)
{
    static const struct row rows[] = {
        { "dependent", "fadd fr0,fr1\nfadd fr1,fr2\nend: nop\n", 4, 0, 0, 2, 0, 0 },
        { "independent", "fadd fr0,fr1\nfmul fr2,fr3\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "stored late", "fadd fr0,fr1\nfmov.s fr1,@r1\nend: nop\n", 3, 0, 0, 1, 0, 0 },
        { "load and use", "fmov.s @r1,fr1\nfadd fr1,fr2\nend: nop\n", 3, 0, 0, 1, 0, 0 },
        { "move feeds its partner", "fmov fr1,fr2\nfadd fr2,fr3\nend: nop\n", 1, 1, 0, 0, 0, 0 },
        { "two divisions", "fdiv fr0,fr1\nfdiv fr2,fr3\nend: nop\n", 11, 0, 0, 9, 0, 0 },
        { "two square roots", "fsqrt fr1\nfsqrt fr3\nend: nop\n", 10, 0, 0, 8, 0, 0 },
        { "division beside addition", "fdiv fr0,fr1\nfadd fr2,fr3\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "division's result", "fdiv fr0,fr1\nfadd fr1,fr3\nend: nop\n", 13, 0, 0, 11, 0, 0 },
        { "older slower result first", "fdiv fr0,fr1\nfldi0 fr1\nend: nop\n", 13, 0, 0, 11, 0, 0 },
        { "FTRC to STS", "ftrc fr0,fpul\nsts fpul,r1\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "FTRC to FLOAT", "ftrc fr0,fpul\nfloat fpul,fr1\nend: nop\n", 4, 0, 0, 2, 0, 0 },
        { "FPSCR load blocks the FPU", "lds r1,fpscr\nfadd fr0,fr1\nend: nop\n", 4, 0, 0, 2, 0, 0 },
        { "FTRV every four cycles", "ftrv xmtrx,fv0\nftrv xmtrx,fv4\nend: nop\n", 5, 0, 0, 3, 0,
          0 },
        { "FIPR on freshly moved data", "fmov fr8,fr3\nfipr fv0,fv4\nend: nop\n", 4, 0, 0, 2, 0,
          0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_timing(&rows[i], FPSCR_RESET);
}

static void issue__fpu_double__latencies_and_units(void **state)
{
    static const struct row rows[] = {
        { "unit busy for six", "fadd dr0,dr2\nfadd dr4,dr6\nend: nop\n", 7, 0, 0, 5, 0, 0 },
        { "low-order half", "fadd dr0,dr2\nfmov fr3,fr5\nend: nop\n", 8, 0, 0, 6, 0, 0 },
        { "high-order half", "fadd dr0,dr2\nfmov fr2,fr5\nend: nop\n", 9, 0, 0, 7, 0, 0 },
        { "moved operand waits three", "fmov fr0,fr2\nfadd dr2,dr4\nend: nop\n", 4, 0, 0, 2, 0, 0 },
        { "source overwritten", "fadd dr0,dr2\nfmov fr6,fr0\nend: nop\n", 3, 0, 0, 1, 0, 0 },
        { "compare holds issue", "fcmp/eq dr0,dr2\nnop\nend: nop\n", 3, 0, 0, 0, 0, 1 },
        { "two divisions", "fdiv dr0,dr2\nfdiv dr4,dr6\nend: nop\n", 24, 0, 0, 22, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_timing(&rows[i], FPSCR_RESET | FPSCR_PR);
}

static void branch__every_kind__costs_what_the_table_says(void **state)
{
    static const struct row rows[] = {
        { "BT not taken pairs", "bt far\nnop\nend: nop\nnop\nfar: nop\n", 1, 1, 0, 0, 0, 0 },
        { "BF taken", "bf end\nnop\nnop\nend: nop\n", 2, 0, 0, 0, 1, 0 },
        { "BF over one instruction", "bf end\nnop\nend: nop\n", 1, 0, 0, 0, 0, 0 },
        { "BF/S taken", "bf/s end\nnop\nnop\nend: nop\n", 2, 1, 0, 0, 1, 0 },
        { "BT/S not taken", "bt/s far\nnop\nend: nop\nfar: nop\n", 1, 1, 0, 0, 0, 0 },
        { "BRA, slot pairs", "bra end\nnop\nnop\nend: nop\n", 2, 1, 0, 0, 1, 0 },
        { "BRA, slot fills the bubble", "bra end\nclrs\nnop\nend: nop\n", 2, 0, 0, 0, 0, 0 },
        { "JMP", "jmp @r9\nnop\nnop\nend: nop\n", 3, 0, 0, 0, 0, 1 },
        { "RTS", "rts\nnop\nnop\nend: nop\n", 3, 0, 0, 0, 0, 1 },
        { "RTE", "rte\nnop\nnop\nend: nop\n", 6, 0, 0, 0, 0, 4 },
        { "JMP on a fresh load", "mov.l lit,r9\njmp @r9\nnop\n.align 2\nlit: .long end\nend: nop\n",
          5, 0, 1, 0, 0, 1 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_timing(&rows[i], FPSCR_RESET);
}

/* elapsed = groups + freezes + issue locks + other waits, but for a group still open. */
static void counts__whole_program__elapsed_time_is_accounted_for(void **state)
{
    static const char text[] =
        "mov #100,r4\nmov.l buf,r5\nfldi1 fr0\n"
        "loop: mov.l @r5+,r1\nadd r1,r2\nfadd fr0,fr1\nfmov.s fr1,@r5\nmul.l r1,r2\nsts macl,r3\n"
        "bsr sub\nadd #28,r5\ndt r4\nbf loop\nend: nop\n"
        "sub: fdiv fr0,fr1\nrts\nfadd fr1,fr2\n.align 2\nbuf: .long 0x8C002000\n";
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        struct rig *r = calloc(1, sizeof *r);
        rig_init(r, blocks);
        rig_load(r, text);
        while (r->cpu.pc != asm_label(&r->prog, "end"))
            sh4_cpu_run(&r->cpu, r->cpu.cycle + 1);
        struct sh4_cpu *c = &r->cpu;
        uint64_t sum = sh4_cpu_total(c, EV_INSN) - sh4_cpu_total(c, EV_PAIR) -
                       (c->fast->pipe.open != PIPE_EMPTY);
        static const uint8_t waits[] = { EV_FREEZE_IC,  EV_FREEZE_OC,  EV_FREEZE_BRANCH,
                                         EV_FREEZE_REG, EV_FREEZE_FPU, EV_ISSUE_LOCK,
                                         EV_OTHER_WAIT };
        for (unsigned i = 0; i < ARRAY_LEN(waits); i++)
            sum += sh4_cpu_total(c, waits[i]);
        assert_int_equal(sh4_cpu_total(c, EV_ELAPSED), sum);
        assert_int_equal(sh4_cpu_total(c, EV_CALL), 100);
        assert_int_equal(sh4_cpu_total(c, EV_INSN), 3 + 100 * 13);
        sh4_cpu_fini(c);
        free(r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(issue__pairs_and_integer_latencies__as_the_tables_say),
        cmocka_unit_test(issue__fpu_single__latencies_and_units),
        cmocka_unit_test(issue__fpu_double__latencies_and_units),
        cmocka_unit_test(branch__every_kind__costs_what_the_table_says),
        cmocka_unit_test(counts__whole_program__elapsed_time_is_accounted_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
