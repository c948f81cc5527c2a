/* The random programs of tests/s12z/gen_program.h, run on the model: they end where they should,
 * within the bounds that the generator worked out, and never fault. */
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"
#include "tests/s12z/gen_program.h"
#include "tests/sim_s12z/rig.h"

enum { PROGRAMS = 1000, STILL = 0xA5 };

/* CPU and board are looked into, which no product code may do. */
struct sim_bdc_view {
    struct probe probe;
    struct sim_board *board;
};
static struct s12z_board *board_of(struct rig *r)
{
    return (struct s12z_board *)((struct sim_bdc_view *)r->p)->board;
}

static void put_program(struct s12z_board *b, const struct gen_program *p)
{
    uint32_t size = part_flash_bytes(b->part);
    memset(b->flash, 0xFF, size);
    memcpy(b->flash + size - p->bytes, p->image, p->bytes);
    memset(b->ram, STILL, part_ram_bytes(b->part));
    cpu_forget(&b->cpu, p->base, p->bytes);
    board_reset(b, true);
    b->cpu.state = CPU_RUN;
    b->cpu.instructions = 0;
}

/* Runs until the CPU halts, or that many instructions were executed. */
static void run_board(struct s12z_board *b, uint64_t instructions)
{
    while (b->cpu.state != CPU_BDM && b->cpu.instructions <= instructions)
        board_run_to(b, b->cpu.cycles + 1000);
}

static void check_no_fault(const struct s12z_board *b, const struct gen_program *p, uint64_t seed)
{
    if (b->mmcec || b->cpu.r[S12Z_P] == p->fault + 1)
        fail_msg("seed %llu: machine exception at %06X", (unsigned long long)seed, b->mmcpc);
    for (uint32_t a = GEN_RAM + 0x200; a < GEN_STACK - GEN_STACK_USE; a++)
        if (b->ram[a - RAM_START] != STILL)
            fail_msg("seed %llu: %06X was written", (unsigned long long)seed, a);
}

static void check_end(const struct s12z_board *b, const struct gen_program *p, uint64_t seed)
{
    if (b->cpu.state != CPU_BDM || b->cpu.r[S12Z_P] != p->done + 1 || b->cpu.r[S12Z_S] != GEN_STACK)
        fail_msg("seed %llu: at %06X, stack %06X, after %llu of at most %llu instructions",
                 (unsigned long long)seed, b->cpu.r[S12Z_P], b->cpu.r[S12Z_S],
                 (unsigned long long)b->cpu.instructions, (unsigned long long)p->max_instructions);
    assert_true(b->cpu.instructions <= p->max_instructions);
}

static void programs__a_thousand_that_end__end_within_their_bounds(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    struct s12z_board *b = board_of(&r);
    uint64_t executed = 0, placed = 0, functions = 0;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        struct gen_options o = gen_options_random(seed);
        struct gen_program *p = gen_program_new(&o);
        assert_non_null(p);
        put_program(b, p);
        run_board(b, p->max_instructions);
        check_no_fault(b, p, seed);
        check_end(b, p, seed);
        executed += b->cpu.instructions;
        placed += p->instructions;
        functions += p->nfunctions;
        gen_program_free(p);
    }
    print_message("  %llu functions, %llu instructions, %llu executed\n",
                  (unsigned long long)functions, (unsigned long long)placed,
                  (unsigned long long)executed);
    assert_true(executed > 1000000 && functions > 5 * PROGRAMS);
    rig_close(&r);
}

static void programs__without_end__run_on(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    struct s12z_board *b = board_of(&r);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.forever = true;
        struct gen_program *p = gen_program_new(&o);
        put_program(b, p);
        run_board(b, 50000);
        check_no_fault(b, p, seed);
        assert_int_equal(b->cpu.state, CPU_RUN);
        assert_int_equal(p->done, 0);
        gen_program_free(p);
    }
    rig_close(&r);
}

static void programs__the_same_seed__give_the_same_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct gen_options o = gen_options_random(seed);
        struct gen_program *p = gen_program_new(&o), *q = gen_program_new(&o);
        assert_memory_equal(p->image, q->image, p->bytes);
        o.seed += 1000;
        gen_program_free(q);
        q = gen_program_new(&o);
        assert_memory_not_equal(p->image, q->image, p->bytes);
        gen_program_free(q);
        gen_program_free(p);
    }
}

/* FNV-1a */
static uint64_t hash_bytes(const uint8_t *b, size_t n)
{
    uint64_t h = 0xCBF29CE484222325;
    for (size_t k = 0; k < n; k++)
        h = (h ^ b[k]) * 0x100000001B3;
    return h;
}

/* The order of evaluation is the compiler's choice, the program of a seed must not be: this test is
 * the same for every one. */
static void programs__of_a_seed__are_the_same_by_every_compiler(void **state)
{
    static const struct {
        struct gen_options o;
        uint64_t hash;
    } rows[] = {
        { { .seed = 1 }, 0x908EBC3378657BCB },
        { { .seed = 2, .software_exceptions = true, .astray = true, .general_static = true },
          0x6A96E1E080C72D01 },
        { { .seed = 3, .timer_period = 500, .wait = true, .forever = true }, 0xB95710D332A95E20 },
        { { .seed = 4, .flash_bytes = 0x20000, .functions = 300 }, 0xDDE49BECE166A9F4 },
    };
    bool all = true;
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct gen_program *p = gen_program_new(&rows[k].o);
        assert_non_null(p);
        uint64_t h = hash_bytes(p->image, p->bytes);
        print_message("  seed %llu: %016llX\n", (unsigned long long)rows[k].o.seed,
                      (unsigned long long)h);
        all = all && h == rows[k].hash;
        gen_program_free(p);
    }
    assert_true(all);
}

/* The handler's instructions come on top of the bound, so only the end is checked. */
static void programs__with_timer__are_interrupted_and_end_all_the_same(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    struct s12z_board *b = board_of(&r);
    uint64_t interrupts = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.timer_period = (uint16_t)(400 + 37 * seed);
        o.wait = seed & 1;
        struct gen_program *p = gen_program_new(&o);
        uint64_t n, before, taken;
        put_program(b, p);
        cpu_count(&b->cpu, p->timer, &before, &taken); /* counts outlive programs */
        run_board(b, UINT64_MAX - 1);
        check_no_fault(b, p, seed);
        assert_int_equal(b->cpu.r[S12Z_P], p->done + 1);
        cpu_count(&b->cpu, p->timer, &n, &taken);
        interrupts += n - before;
        gen_program_free(p);
    }
    print_message("  %llu interrupts\n", (unsigned long long)interrupts);
    assert_true(interrupts > 1000);
    rig_close(&r);
}

/* Across all programs every way of moving the PC occurs and is executed. */
static void programs__together__use_every_way(void **state)
{
    (void)state;
    struct rig r = rig_open("sim:s12zvml128");
    struct s12z_board *b = board_of(&r);
    uint64_t ops[S12Z_NOPS] = { 0 }, ways[S12Z_FLOW_TRAP + 1] = { 0 };
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct gen_options o = gen_options_random(seed);
        o.software_exceptions = o.astray = true;
        struct gen_program *p = gen_program_new(&o);
        put_program(b, p);
        run_board(b, p->max_instructions);
        for (uint32_t a = p->base; a < p->code_end; a++) {
            const struct cpu_page *page = b->cpu.page[a >> BUS_PAGE_BITS];
            const struct cpu_insn *u = page ? &page->insn[a & ((1u << BUS_PAGE_BITS) - 1)] : NULL;
            if (u && u->fn) {
                ops[u->i.op] += u->executed;
                ways[u->i.flow] += u->executed;
            }
        }
        gen_program_free(p);
    }
    for (unsigned w = 0; w < ARRAY_LEN(ways); w++)
        if (!ways[w])
            fail_msg("way %u never went", w);
    for (unsigned op = S12Z_OP_BRA; op <= S12Z_OP_JSR; op++)
        if (!ops[op])
            fail_msg("%s was never executed", s12z_op_name((enum s12z_op)op));
    assert_true(ops[S12Z_OP_SWI] && ops[S12Z_OP_SYS] && ops[S12Z_OP_TRAP] && ops[S12Z_OP_SPARE] &&
                ops[S12Z_OP_RTI]);
    rig_close(&r);
}

/* Large ones fit the space they are given and call all they have. */
static void programs__of_any_size__fit(void **state)
{
    static const struct {
        uint32_t bytes;
        unsigned functions;
    } rows[] = {
        { 0x2000, 1 },    { 0x2000, 4000 },  { 0x4000, 100 },
        { 0x20000, 400 }, { 0x20000, 4000 }, { 0x100000, 4000 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct gen_options o = { .seed = k,
                                 .flash_bytes = rows[k].bytes,
                                 .functions = rows[k].functions };
        struct gen_program *p = gen_program_new(&o);
        assert_int_equal(p->bytes, rows[k].bytes);
        assert_true(p->nfunctions <= rows[k].functions && p->code_end <= 0x1000000 - 0x200);
        print_message("  %u KB: %zu functions, %u instructions\n", p->bytes / 1024, p->nfunctions,
                      p->instructions);
        gen_program_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs__a_thousand_that_end__end_within_their_bounds),
        cmocka_unit_test(programs__without_end__run_on),
        cmocka_unit_test(programs__with_timer__are_interrupted_and_end_all_the_same),
        cmocka_unit_test(programs__the_same_seed__give_the_same_bytes),
        cmocka_unit_test(programs__of_a_seed__are_the_same_by_every_compiler),
        cmocka_unit_test(programs__together__use_every_way),
        cmocka_unit_test(programs__of_any_size__fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
