/* The O-cache against a flat memory and a list of lines: random accesses through every alias, cache
 * instructions and memory-mapped arrays, each a real instruction. The reference knows which lines
 * are held, which are dirty and what they contain; it works an entry's number out from the manual's
 * bit lists, not from the model. */
#include "tests/sim_sh4/core_rig.h"

enum { LINES = 2 * RIG_RAM / LINE, OPCODES = 0x0D000000 };

/* Two 64 KB pieces of memory, 0x0C000000 and 0x0E000000 (address bit 25: CCR.OIX), and a place for
 * code. */
struct fixture {
    struct sh4_cpu cpu;
    uint8_t code[4096];
    uint8_t ram[2][RIG_RAM];
    /* reference */
    uint8_t mem[2 * RIG_RAM];
    struct {
        bool held, dirty;
        unsigned entry;
        uint8_t data[LINE];
    } line[LINES];
    uint8_t queue[2][LINE];
    uint64_t seed;
    unsigned ops[32];
};

static uint32_t next_random(struct fixture *fx)
{
    uint64_t z = fx->seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

static int set_up_cache(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    assert_non_null(fx);
    struct sh4_config cfg = { .no_fast_path = true };
    struct sh4_bus bus = { .nwindows = 3,
                           .window = { { 0x0C000000, RIG_RAM, fx->ram[0], RIG_RAM - 1, true },
                                       { 0x0E000000, RIG_RAM, fx->ram[1], RIG_RAM - 1, true },
                                       { OPCODES, sizeof fx->code, fx->code, sizeof fx->code - 1,
                                         true } } };
    assert_int_equal(sh4_cpu_init(&fx->cpu, &cfg, &bus), 0);
    fx->seed = 3;
    for (unsigned i = 0; i < sizeof fx->mem; i++)
        fx->ram[i / RIG_RAM][i % RIG_RAM] = fx->mem[i] = (uint8_t)next_random(fx);
    *state = fx;
    return 0;
}

static int tear_down_cache(void **state)
{
    struct fixture *fx = *state;
    sh4_cpu_fini(&fx->cpu);
    free(fx);
    return 0;
}

/* ---- the model runs one instruction, in P2 ---- */

static uint32_t run_one(struct fixture *fx, uint16_t op, uint32_t r1, uint32_t r0)
{
    put_le16(fx->code, op);
    sh4_set_sr(&fx->cpu, SR_MD | SR_IMASK);
    fx->cpu.r[1] = r1;
    fx->cpu.r[0] = r0;
    fx->cpu.pc = OPCODES | 0xA0000000;
    sh4_cpu_step(&fx->cpu);
    assert_int_equal(fx->cpu.pc, (OPCODES | 0xA0000000) + 2);
    return fx->cpu.r[0];
}
enum {
    RD8 = 0x6010,
    RD16 = 0x6011,
    RD32 = 0x6012,
    WR8 = 0x2100,
    WR16 = 0x2101,
    WR32 = 0x2102,
    TAS = 0x411B,
    OCBI = 0x0193,
    OCBP = 0x01A3,
    OCBWB = 0x01B3,
    PREF = 0x0183,
    MOVCA = 0x01C3
};

static uint32_t read_sized(struct fixture *fx, uint32_t addr, unsigned size)
{
    uint32_t v = run_one(fx, size == 1 ? RD8 : size == 2 ? RD16 : RD32, addr, 0);
    return size == 1 ? v & 0xFF : size == 2 ? v & 0xFFFF : v; /* sign-extended */
}

static void write_sized(struct fixture *fx, uint32_t addr, unsigned size, uint32_t v)
{
    run_one(fx, size == 1 ? WR8 : size == 2 ? WR16 : WR32, addr, v);
}

/* ---- the reference ---- */

/* Where an address stands in mem[]: bit 25 chooses the piece. */
static uint32_t place_of(uint32_t addr) { return (addr >> 25 & 1) * RIG_RAM + addr % RIG_RAM; }

/* Address bits 13-5; with OIX bit 25 stands for 13; in RAM mode bit 12 is taken as 0. */
static unsigned entry_of(const struct fixture *fx, uint32_t addr)
{
    uint32_t ccr = fx->cpu.ccn.ccr;
    unsigned top = ccr & CCR_OIX ? addr >> 25 & 1 : addr >> 13 & 1,
             next = ccr & CCR_ORA ? 0 : addr >> 12 & 1;
    return top * 256 + next * 128 + (addr >> 5) % 128;
}

static void ref_let_go(struct fixture *fx, unsigned l, bool write_back)
{
    if (fx->line[l].held && fx->line[l].dirty && write_back)
        memcpy(fx->mem + l * LINE, fx->line[l].data, LINE);
    fx->line[l].held = fx->line[l].dirty = false;
}

/* The line becomes held; who had the entry goes. */
static void ref_hold(struct fixture *fx, uint32_t addr, bool read_memory)
{
    unsigned l = place_of(addr) / LINE, entry = entry_of(fx, addr);
    if (fx->line[l].held)
        return;
    for (unsigned i = 0; i < LINES; i++)
        if (fx->line[i].held && fx->line[i].entry == entry)
            ref_let_go(fx, i, true);
    fx->line[l].held = true;
    fx->line[l].entry = entry;
    if (read_memory)
        memcpy(fx->line[l].data, fx->mem + l * LINE, LINE);
    else
        memset(fx->line[l].data, 0, LINE);
}

static bool is_uncached(uint32_t addr) { return addr >> 29 == 5; }
/* P1 by CCR.CB, the rest by CCR.WT. */
static bool writes_through(const struct fixture *fx, uint32_t addr)
{
    return addr >> 29 == 4 ? !(fx->cpu.ccn.ccr & CCR_CB) : fx->cpu.ccn.ccr & CCR_WT;
}

static uint32_t ref_read(struct fixture *fx, uint32_t addr, unsigned size)
{
    uint8_t b[4] = { 0 };
    if (!is_uncached(addr))
        ref_hold(fx, addr, true);
    memcpy(b,
           is_uncached(addr) ? fx->mem + place_of(addr)
                             : fx->line[place_of(addr) / LINE].data + addr % LINE,
           size);
    return le32(b);
}

static void ref_write(struct fixture *fx, uint32_t addr, unsigned size, uint32_t v)
{
    uint8_t b[4];
    unsigned l = place_of(addr) / LINE;
    bool through = is_uncached(addr) || writes_through(fx, addr);
    put_le32(b, v);
    if (!through)
        ref_hold(fx, addr, true);
    if (!is_uncached(addr) && fx->line[l].held)
        memcpy(fx->line[l].data + addr % LINE, b, size);
    if (through)
        memcpy(fx->mem + place_of(addr), b, size);
    else
        fx->line[l].dirty = true;
}

/* ---- random operations on both ---- */

static uint32_t draw_address(struct fixture *fx, unsigned size)
{
    static const uint32_t alias[] = { 0x8C000000, 0x8C000000, 0x0C000000, 0xAC000000, 0xCC000000 };
    /* lines that fight for an entry */
    uint32_t v = next_random(fx), far = (v >> 3 & 3) * 0x2000 + (v >> 5 & 1) * 0x1000;
    uint32_t addr = alias[next_random(fx) % ARRAY_LEN(alias)] | (v & 1) << 25 |
                    (far + (v >> 8) % 256) % RIG_RAM;
    return addr & ~(size - 1);
}

static unsigned draw_size(struct fixture *fx) { return 1u << next_random(fx) % 3; }

static void op_read(struct fixture *fx)
{
    unsigned size = draw_size(fx);
    uint32_t addr = draw_address(fx, size), want = ref_read(fx, addr, size);
    assert_int_equal(read_sized(fx, addr, size), want);
}

static void op_write(struct fixture *fx)
{
    unsigned size = draw_size(fx);
    uint32_t addr = draw_address(fx, size), v = next_random(fx);
    ref_write(fx, addr, size, v);
    write_sized(fx, addr, size, v);
}

static void op_tas(struct fixture *fx)
{
    uint32_t addr = draw_address(fx, 1);
    if (!is_uncached(addr))
        ref_let_go(fx, place_of(addr) / LINE, true);
    uint8_t *byte = fx->mem + place_of(addr);
    bool zero = *byte == 0;
    *byte |= 0x80;
    run_one(fx, TAS, addr, 0);
    assert_int_equal(fx->cpu.t, zero);
}

static void op_block(struct fixture *fx)
{
    static const uint16_t ops[] = { OCBI, OCBP, OCBWB, PREF };
    uint16_t op = ops[next_random(fx) % ARRAY_LEN(ops)];
    uint32_t addr = draw_address(fx, 1);
    unsigned l = place_of(addr) / LINE;
    if (op == PREF && !is_uncached(addr))
        ref_hold(fx, addr, true);
    else if (op == OCBWB && fx->line[l].dirty && !is_uncached(addr))
        memcpy(fx->mem + l * LINE, fx->line[l].data, LINE), fx->line[l].dirty = false;
    else if (op != PREF && op != OCBWB && !is_uncached(addr))
        ref_let_go(fx, l, op == OCBP);
    run_one(fx, op, addr, 0);
}

static void op_movca(struct fixture *fx)
{
    uint32_t addr = draw_address(fx, 4), v = next_random(fx);
    if (!is_uncached(addr) && !writes_through(fx, addr))
        ref_hold(fx, addr, false);
    ref_write(fx, addr, 4, v);
    run_one(fx, MOVCA, addr, v);
}

static void op_queue(struct fixture *fx)
{
    uint32_t addr = 0xE0000000 | (draw_address(fx, 4) & 0x03FFFFFC), v = next_random(fx);
    unsigned q = addr / LINE % 2;
    put_le32(fx->queue[q] + addr % LINE, v);
    write_sized(fx, addr, 4, v);
    if (v & 1)
        return;
    memcpy(fx->mem + place_of(addr) / LINE * LINE, fx->queue[q], LINE); /* past the cache */
    run_one(fx, PREF, addr, 0);
}

/* What the address array shows of each line, and its data array. */
static void op_look(struct fixture *fx)
{
    unsigned l = next_random(fx) % LINES;
    for (; !fx->line[l].held; l = (l + 1) % LINES)
        if (next_random(fx) % 4096 == 0)
            return;
    uint32_t paddr = 0x0C000000 + l * LINE % RIG_RAM + (l * LINE / RIG_RAM << 25),
             entry = fx->line[l].entry << 5;
    uint32_t want = (paddr & 0x1FFFFC00) | 1 | (fx->line[l].dirty ? 2 : 0);
    assert_int_equal(run_one(fx, RD32, 0xF4000000 | entry, 0), want);
    uint32_t word = next_random(fx) & 28;
    assert_int_equal(run_one(fx, RD32, 0xF5000000 | entry | word, 0),
                     le32(fx->line[l].data + word));
    if (next_random(fx) & 1)
        return;
    uint32_t v = next_random(fx); /* data array: into the line, without a word to U */
    put_le32(fx->line[l].data + word, v);
    run_one(fx, WR32, 0xF5000000 | entry | word, v);
}

/* V=0 written to an address array entry, associative or not: out of the cache, to memory if dirty.
 */
static void op_array_purge(struct fixture *fx)
{
    uint32_t addr = draw_address(fx, 4);
    unsigned l = place_of(addr) / LINE, entry = entry_of(fx, addr);
    if (next_random(fx) & 1) {
        if (fx->line[l].held && fx->line[l].entry == entry)
            ref_let_go(fx, l, true);
        run_one(fx, WR32, 0xF4000008 | entry << 5, addr & 0x1FFFFC00);
        return;
    }
    for (unsigned i = 0; i < LINES; i++)
        if (fx->line[i].held && fx->line[i].entry == entry)
            ref_let_go(fx, i, true);
    run_one(fx, WR32, 0xF4000000 | entry << 5, addr & 0x1FFFFC00);
}

/* Another mode; the manual wants the cache empty for ORA and OIX. OCI drops what is left. */
static void op_mode(struct fixture *fx)
{
    static const uint32_t modes[] = { CCR_CB,
                                      0,
                                      CCR_WT,
                                      CCR_CB | CCR_WT,
                                      CCR_CB | CCR_ORA,
                                      CCR_CB | CCR_OIX,
                                      CCR_CB | CCR_OIX | CCR_ORA };
    uint32_t v = next_random(fx), ccr = CCR_OCE | modes[v % ARRAY_LEN(modes)];
    bool same = !((ccr ^ fx->cpu.ccn.ccr) & (CCR_ORA | CCR_OIX));
    for (unsigned l = 0; l < LINES && (!same || v >> 16 & 1); l++)
        ref_let_go(fx, l, false);
    run_one(fx, WR32, 0xFF00001C, ccr | (!same || v >> 16 & 1 ? CCR_OCI : 0));
    assert_int_equal(run_one(fx, RD32, 0xFF00001C, 0), ccr);
}

static void op_purge_all(struct fixture *fx)
{
    for (unsigned l = 0; l < LINES; l++) {
        uint32_t addr = 0x8C000000 + l * LINE % RIG_RAM + (l * LINE / RIG_RAM << 25);
        if (fx->line[l].held)
            run_one(fx, OCBP, addr, 0);
        ref_let_go(fx, l, true);
    }
    assert_memory_equal(fx->ram[0], fx->mem, RIG_RAM);
    assert_memory_equal(fx->ram[1], fx->mem + RIG_RAM, RIG_RAM);
}

static const struct {
    unsigned weight;
    void (*run)(struct fixture *);
} ops[] = {
    { 400, op_read }, { 400, op_write },   { 40, op_tas },   { 150, op_block },
    { 60, op_movca }, { 60, op_queue },    { 100, op_look }, { 60, op_array_purge },
    { 4, op_mode },   { 1, op_purge_all },
};

static void
random__accesses_and_cache_instructions__as_flat_memory_and_a_list_of_lines(void **state)
{
    struct fixture *fx = *state;
    unsigned total = 0;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        total += ops[i].weight;
    run_one(fx, WR32, 0xFF000038, 3 << 2); /* QACR: both queues go to area 3 */
    run_one(fx, WR32, 0xFF00003C, 3 << 2);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned w = 0; w < LINE; w += 4)
            write_sized(fx, 0xE0000000 + LINE * i + w, 4, 0);
    op_mode(fx);
    for (unsigned n = 0; n < 200000; n++) {
        unsigned k = next_random(fx) % total, i = 0;
        for (; k >= ops[i].weight; i++)
            k -= ops[i].weight;
        ops[i].run(fx);
        fx->ops[i]++;
    }
    op_purge_all(fx);
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        assert_true(fx->ops[i] > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            random__accesses_and_cache_instructions__as_flat_memory_and_a_list_of_lines,
            set_up_cache, tear_down_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
