/* Estimated times of live profiles against the cycles the CPU model spent, where that does not go
 * by the driver's table: other figures for each instruction, or wait states of a region. What is
 * compared is the time of each function by itself. */
#include <math.h>

#include "profiler/profile/profile.h"
#include "profiler/core/symbols.h"
#include "tests/s12z/live_rig.h"

/* ---- parts that are not as the table has it ---- */

static uint32_t mix_bits(uint32_t v)
{
    v = (v ^ v >> 15) * 0x2C1B3C6Du;
    v = (v ^ v >> 12) * 0x297A2D39u;
    return v ^ v >> 15;
}

/* Half to two and a half times the table, by the operation. */
static unsigned other_figures(const struct s12z_insn *i, uint32_t pc)
{
    unsigned n = s12z_cycles(i);
    (void)pc;
    return MAX(n * (2 + mix_bits(i->op) % 9) / 4, 1u);
}

/* Every other 512 bytes have a wait state an instruction. */
static unsigned wait_states(const struct s12z_insn *i, uint32_t pc)
{
    return s12z_cycles(i) + (pc >> 9 & 1);
}

/* Everything is half as fast again: fetches take longer everywhere. */
static unsigned slower_cycles(const struct s12z_insn *i, uint32_t pc)
{
    (void)pc;
    return s12z_cycles(i) * 3 / 2 + (s12z_cycles(i) & 1);
}

typedef unsigned cost_fn(const struct s12z_insn *i, uint32_t pc);

static void use_cost(struct live_run *r, cost_fn *cost)
{
    struct s12z_cpu *c = &live_board(r)->cpu;
    c->cost = cost;
    cpu_forget(c, r->p->base, r->p->bytes);
}

/* ---- what was spent ---- */

/* Bus cycles in low..high by the model's counts, at a price an instruction. */
static double spent_cycles(struct live_run *r, uint32_t low, uint32_t high, cost_fn *cost)
{
    double core = 0;
    for (uint32_t pc = low; pc < high; pc++) {
        struct s12z_insn i;
        uint64_t taken, n = live_executed(r, pc, &taken);
        if (n &&
            s12z_decode(r->p->image + (pc - r->p->base), r->p->base + r->p->bytes - pc, pc, &i) > 0)
            core += (double)n * (cost ? cost(&i, pc) : s12z_cycles(&i)) +
                    (double)taken * S12Z_TAKEN_CYCLES;
    }
    return core / 2;
}

struct verdict {
    unsigned functions, within, better, worse;
    double table, corrected, truth; /* sums of |error|, and of the truth */
    double half;                    /* of the spreads */
    uint64_t measurements;
};

/* Functions to which the call tree charges just their own code: jumps in and out without an event
 * put some of it elsewhere, which is no matter of time. */
static void compare_times(struct live_run *r, cost_fn *cost, struct verdict *v)
{
    struct profile *raw, *p;
    assert_int_equal(profile_build(r->tree, NULL, NULL, &raw, NULL), 0);
    assert_int_equal(profile_build(r->tree, NULL, NULL, &p, NULL), 0);
    assert_int_equal(profile_take_rates(p, &r->rates, NULL), 0);
    assert_true(p->info.estimate.is && p->nfunctions == raw->nfunctions);
    for (size_t k = 0; k < p->nfunctions && p->info.estimate.measurements; k++) {
        struct calltree_range range;
        if (!live_resolve(r, p->functions[k].low, &range) || range.low != p->functions[k].low)
            continue;
        double table = spent_cycles(r, (uint32_t)range.low, (uint32_t)range.high, NULL),
               truth = spent_cycles(r, (uint32_t)range.low, (uint32_t)range.high, cost);
        double charged = (double)raw->functions[k].c1, shown = (double)p->functions[k].c1,
               half = (double)p->functions[k].c1_spread;
        if (fabs(charged - table) > 0.01 * table || table < 20)
            continue;
        double off = fabs(shown - truth), before = fabs(charged - truth);
        v->functions++;
        v->within += off <= half + 0.02 * truth + 2; /* the call tree's own inexactness, as above */
        v->better += off < before;
        v->worse += off > before + 0.01 * truth + 2;
        v->table += before;
        v->corrected += off;
        v->truth += truth;
        v->half += half;
        if (getenv("TIME_ROWS"))
            print_message("    %06X truth %10.0f table %10.0f shown %10.0f +- %9.0f%s\n",
                          (unsigned)range.low, truth, charged, shown, half,
                          off <= half + 0.02 * truth + 2 ? "" : "  OUT");
    }
    v->measurements += p->info.estimate.measurements;
    profile_free(raw);
    profile_free(p);
}

static void print_verdict(const char *name, const struct verdict *v)
{
    print_message("  %-28s %4u functions, %4u within their spread, %4u nearer, %3u farther; error "
                  "%5.1f%% by table, %5.1f%% corrected, +-%5.1f%% shown; "
                  "%llu measurements\n",
                  name, v->functions, v->within, v->better, v->worse, 100 * v->table / v->truth,
                  100 * v->corrected / v->truth, 100 * v->half / v->truth,
                  (unsigned long long)v->measurements);
}

static const struct {
    const char *name;
    cost_fn *cost;
} parts[] = {
    { "other figures", other_figures },
    { "wait states", wait_states },
    { "slower", slower_cycles },
    { "as the table", NULL },
};

/* Nearer to the truth as a whole, and the truth within the spread in 95 of 100 functions. */
static void demand_better(const struct verdict *v, bool unlike)
{
    assert_true(v->functions > 5);
    if (unlike && v->corrected >= v->table)
        fail_msg("corrected times are %.1f%% off, the table's were %.1f%%",
                 100 * v->corrected / v->truth, 100 * v->table / v->truth);
    if (!unlike && v->corrected > 0.04 * v->truth)
        fail_msg("what the table had right is %.1f%% off", 100 * v->corrected / v->truth);
    if (20 * v->within < 19 * v->functions)
        fail_msg("%u of %u functions within their spread", v->within, v->functions);
}

static void random_programs(enum trace_capture capture, unsigned rounds, uint64_t seeds)
{
    for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
        struct verdict v = { 0 };
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct gen_options o = { .seed = seed,
                                     .functions = 4 + seed % 20,
                                     .rounds = rounds,
                                     .timer_period = (uint16_t)(701 + 97 * seed % 1500),
                                     .software_exceptions = seed % 3 == 0,
                                     .wait = seed % 5 == 0 };
            struct live_run *r = live_open(",bdc=20M", &o);
            use_cost(r, parts[k].cost);
            live_go(r, &(struct trace_config){ .policy = TRACE_LOSSLESS, .capture = capture }, 0);
            compare_times(r, parts[k].cost, &v);
            live_close(r);
        }
        print_verdict(parts[k].name, &v);
        demand_better(&v, parts[k].cost != NULL);
    }
}

static void bursts__parts_unlike_the_table__stamps_correct_it(void **state)
{
    (void)state;
    random_programs(TRACE_CAPTURE_READOUT, 90, 3);
}

static void pins__parts_unlike_the_table__arrivals_and_stamps_correct_it(void **state)
{
    (void)state;
    random_programs(TRACE_CAPTURE_AUTO, 50, 6);
}

/* ---- the example ---- */

/* docs/examples/motor as if the generator had made it: its code and vectors, its functions. */
static struct gen_program *motor_program(void)
{
    struct symbols *syms;
    uint64_t start;
    assert_int_equal(symbols_open(SOURCE_DIR "/docs/examples/motor/motor.elf", &syms, NULL), 0);
    struct gen_program *p = calloc(1, sizeof *p);
    const struct image *im = symbols_image(syms);
    p->bytes = 0x20000;
    p->base = 0x1000000 - p->bytes;
    p->image = malloc(p->bytes);
    memset(p->image, 0xFF, p->bytes);
    for (size_t k = 0; k < im->nsections; k++)
        if (im->sections[k].data && im->sections[k].addr >= p->base)
            memcpy(p->image + (im->sections[k].addr - p->base), im->sections[k].data,
                   im->sections[k].size);
    for (; p->nfunctions < im->nfunctions; p->nfunctions++)
        p->function[p->nfunctions] =
            (struct gen_function){ .low = (uint32_t)im->functions[p->nfunctions].low,
                                   .high = (uint32_t)im->functions[p->nfunctions].high };
    assert_true(symbols_lookup(syms, "start", &start));
    p->start = (uint32_t)start;
    symbols_close(syms);
    return p;
}

static void motor__each_way__nearer_and_within(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++)
        for (size_t k = 0; k < (way ? 1 : ARRAY_LEN(parts)); k++) { /* bursts take their time */
            struct verdict v = { 0 };
            struct live_run *r = live_open_program(",bdc=20M", motor_program());
            use_cost(r, parts[k].cost);
            live_go(r,
                    &(struct trace_config){ .policy = TRACE_LOSSLESS,
                                            .capture =
                                                way ? TRACE_CAPTURE_READOUT : TRACE_CAPTURE_AUTO },
                    way ? 600 : 20);
            compare_times(r, parts[k].cost, &v);
            print_verdict(parts[k].name, &v);
            demand_better(&v, parts[k].cost != NULL);
            live_close(r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts__parts_unlike_the_table__stamps_correct_it),
        cmocka_unit_test(pins__parts_unlike_the_table__arrivals_and_stamps_correct_it),
        cmocka_unit_test(motor__each_way__nearer_and_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
