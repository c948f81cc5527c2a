/* The example docs/examples/motor on the model: it does what its README says, and fills the trace
 * buffer only on demand. */
#include "probe/base/util.h"
#include "profiler/core/symbols.h"
#include "targets/sim/s12z/board_priv.h"
#include "tests/sim_s12z/rig.h"

enum {
    DBGC1 = 0x100,
    DBGTCRH = 0x102,
    DBGTCRL = 0x103,
    DBGEFR = 0x10A,
    PTBOVF = 0x80,
    ARM = 0x80,
    ROUND_CYCLES = 10000
};

struct motor {
    struct rig r;
    struct symbols *syms;
};

/* CPU and board are looked into, which no product code may do. */
struct sim_bdc_view {
    struct probe probe;
    struct sim_board *board;
};
static struct s12z_board *board_of(struct motor *m)
{
    return (struct s12z_board *)((struct sim_bdc_view *)m->r.p)->board;
}

static uint32_t symbol_address(struct motor *m, const char *name)
{
    uint64_t a = 0;
    if (!symbols_lookup(m->syms, name, &a))
        fail_msg("no symbol %s", name);
    return (uint32_t)a;
}

static void open_motor(struct motor *m, const char *entry)
{
    assert_int_equal(symbols_open(SOURCE_DIR "/docs/examples/motor/motor.elf", &m->syms, NULL), 0);
    m->r = rig_open("sim:s12zvml128,bdc=20M");
    struct s12z_board *b = board_of(m);
    const struct image *im = symbols_image(m->syms);
    for (size_t k = 0; k < im->nsections; k++)
        if (im->sections[k].data && im->sections[k].addr >= b->part->flash_start)
            memcpy(b->flash + (im->sections[k].addr - b->part->flash_start), im->sections[k].data,
                   im->sections[k].size);
    rig_special_reset(&m->r);
    rig_attach(&m->r);
    assert_int_equal(rig_reg(&m->r, 11), symbol_address(m, "start"));
    rig_set_reg(&m->r, 11, symbol_address(m, entry));
}

static void close_motor(struct motor *m)
{
    symbols_close(m->syms);
    rig_close(&m->r);
}

static void go_cycles(struct motor *m, uint64_t cycles)
{
    struct s12z_board *b = board_of(m);
    assert_int_equal(rig_command(&m->r, BDC_GO, 0, NULL, NULL), BDC_OK);
    board_run_to(b, b->cpu.cycles + cycles);
}

static uint64_t times_executed(struct motor *m, const char *name)
{
    uint64_t n, taken;
    cpu_count(&board_of(m)->cpu, symbol_address(m, name), &n, &taken);
    return n;
}

static void write_byte(struct motor *m, uint32_t addr, uint8_t v)
{
    assert_int_equal(rig_block(&m->r, BDC_WRITE, addr, 1, &v, 1), BDC_OK);
}

static uint8_t read_byte(struct motor *m, uint32_t addr)
{
    uint8_t v = 0;
    assert_int_equal(rig_block(&m->r, BDC_READ, addr, 1, &v, 1), BDC_OK);
    return v;
}

/* Between a count and its multiple a round may be under way. */
static void expect_ratio(struct motor *m, const char *name, unsigned a_round)
{
    uint64_t rounds = times_executed(m, "transform"), n = times_executed(m, name);
    if (n + a_round < a_round * rounds || n > a_round * (rounds + 1))
        fail_msg("%s: %llu in %llu rounds", name, (unsigned long long)n,
                 (unsigned long long)rounds);
}

static void motor__some_rounds__calls_as_its_readme_says(void **state)
{
    static const struct {
        const char *name;
        unsigned a_round;
    } rows[] = {
        { "read_currents", 1 }, { "regulate", 1 },  { "commutate", 1 },
        { "average", 3 },       { "reading", 3 },   { "pi_step", 4 },
        { "clamp", 4 },         { "magnitude", 4 }, { "duty", 1 },
    };
    (void)state;
    struct motor m;
    open_motor(&m, "start");
    go_cycles(&m, 400u * ROUND_CYCLES);
    assert_true(times_executed(&m, "transform") > 300);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        expect_ratio(&m, rows[k].name, rows[k].a_round);
    assert_true(times_executed(&m, "idle") && times_executed(&m, "ramp") &&
                times_executed(&m, "run") && times_executed(&m, "brake"));
    assert_true(times_executed(&m, "phase_a") && times_executed(&m, "phase_b") &&
                times_executed(&m, "phase_c"));
    assert_int_equal(times_executed(&m, "tiny") + times_executed(&m, "fault"), 0);
    close_motor(&m);
}

static void motor__with_timer__is_interrupted(void **state)
{
    (void)state;
    struct motor m;
    open_motor(&m, "start");
    go_cycles(&m, 100u * ROUND_CYCLES);
    uint64_t due = 100u * ROUND_CYCLES / 20000;
    assert_in_range(times_executed(&m, "tick"), due - 1, due + 1);
    close_motor(&m);
}

static void arm_trace(struct motor *m)
{
    write_byte(m, DBGTCRH, 0x40);
    write_byte(m, DBGTCRL, 0x06); /* profiling, on the pins too */
    write_byte(m, DBGC1, ARM);
}

static void motor__traced_through_the_pins__overflows_on_demand_only(void **state)
{
    (void)state;
    struct motor m;
    open_motor(&m, "start");
    arm_trace(&m);
    go_cycles(&m, 300u * ROUND_CYCLES);
    uint64_t rounds = times_executed(&m, "transform");
    print_message("  %llu rounds, %llu core clocks each\n", (unsigned long long)rounds,
                  300ull * ROUND_CYCLES / (unsigned long long)rounds);
    assert_int_equal(read_byte(&m, DBGEFR) & PTBOVF, 0);
    assert_true(read_byte(&m, DBGC1) & ARM);
    write_byte(&m, symbol_address(&m, "burst"), 500 >> 8);
    write_byte(&m, symbol_address(&m, "burst") + 1, 500 & 0xFF);
    board_run_to(board_of(&m), board_of(&m)->cpu.cycles + 3u * ROUND_CYCLES);
    assert_in_range(times_executed(&m, "tiny"), 500, 500 + 65535);
    assert_int_equal(read_byte(&m, DBGEFR) & PTBOVF, PTBOVF);
    close_motor(&m);
}

static void motor__from_start_burst__overflows_in_the_first_round(void **state)
{
    (void)state;
    struct motor m;
    open_motor(&m, "start_burst");
    arm_trace(&m);
    go_cycles(&m, 3u * ROUND_CYCLES);
    assert_int_equal(times_executed(&m, "tiny"), 500);
    assert_int_equal(read_byte(&m, DBGEFR) & PTBOVF, PTBOVF);
    close_motor(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motor__some_rounds__calls_as_its_readme_says),
        cmocka_unit_test(motor__with_timer__is_interrupted),
        cmocka_unit_test(motor__traced_through_the_pins__overflows_on_demand_only),
        cmocka_unit_test(motor__from_start_burst__overflows_in_the_first_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
