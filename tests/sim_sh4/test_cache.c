/* Caches that hold real data: what memory, O-cache and I-cache each contain after every kind of
 * access. */
#include "targets/sh4/isa/regs.h"
#include "tests/sim_sh4/core_rig.h"

struct fixture {
    struct rig r;
};

static int set_up_rig(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    rig_init(*state, false);
    return 0;
}
static int tear_down_rig(void **state)
{
    struct fixture *fx = *state;
    sh4_cpu_fini(&fx->r.cpu);
    free(fx);
    return 0;
}

/* Runs `text` up to its label "end", from the current registers, at RIG_BASE; stale I-cache lines
 * included. */
static void run_text(struct rig *r, const char *text)
{
    rig_load(r, text);
    rig_step_to(r, asm_label(&r->prog, "end"));
}
/* The same at a place whose lines were not fetched before. */
static void run_fresh(struct rig *r, unsigned place, const char *text)
{
    uint32_t at = RIG_BASE + 0x100 * (place + 1);
    r->prog.nlabels = 0;
    asm_text(&r->prog, at, text);
    memcpy(r->ram + (at & 0xFFFF), r->prog.code, r->prog.len);
    r->cpu.pc = at;
    rig_step_to(r, asm_label(&r->prog, "end"));
}

#define DATA        0x8C004000u
#define UNCACHED(a) ((a) | 0x20000000u)

static void store__copy_back__memory_is_stale_until_written_back(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    rig_set32(r, DATA, 0x11111111);
    r->cpu.r[1] = DATA;
    r->cpu.r[2] = 0x22222222;
    r->cpu.r[3] = UNCACHED(DATA);
    run_text(r, "mov.l r2,@r1\nmov.l @r3,r4\nmov.l @r1,r5\nocbwb @r1\nmov.l @r3,r6\nend: nop\n");
    assert_int_equal(r->cpu.r[4], 0x11111111);
    assert_int_equal(r->cpu.r[5], 0x22222222);
    assert_int_equal(r->cpu.r[6], 0x22222222);
}

static void store__write_through__memory_follows_and_a_miss_allocates_nothing(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    r->cpu.ccn.ccr = CCR_OCE | CCR_ICE | CCR_WT; /* P1 with CB=0, P0 with WT=1 */
    r->cpu.r[1] = DATA;
    r->cpu.r[2] = 0x33333333;
    r->cpu.r[3] = DATA & SH4_PHYS;
    run_text(r, "mov.l r2,@r1\nend: nop\n");
    assert_int_equal(rig_mem32(r, DATA), 0x33333333);
    assert_true(r->cpu.fast->otag[sh4_oc_index(&r->cpu, DATA)] & TAG_INVALID);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OC_WRITE_MISS), 1);
    run_fresh(r, 0, "mov.l @r3,r4\nadd #1,r2\nmov.l r2,@r3\nmov.l @r1,r5\nend: nop\n");
    assert_int_equal(r->cpu.r[5], 0x33333334);
    assert_int_equal(rig_mem32(r, DATA), 0x33333334);
}

static void line__evicted_dirty__written_back_and_paid_for(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    const struct sh4_costs *c = &r->cpu.cfg.costs;
    r->cpu.r[1] = DATA;
    r->cpu.r[2] = 0x44444444;
    r->cpu.r[3] = DATA + 0x4000; /* same entry, 16 KB on */
    run_text(r, "mov.l r2,@r1\nend: nop\n");
    assert_int_equal(rig_mem32(r, DATA), 0);
    uint64_t freeze = sh4_cpu_total(&r->cpu, EV_FREEZE_OC),
             fill = sh4_cpu_total(&r->cpu, EV_OC_FILL);
    assert_int_equal(freeze, c->ofill);
    run_fresh(r, 0, "mov.l @r3,r4\nend: nop\n");
    assert_int_equal(rig_mem32(r, DATA), 0x44444444);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_FREEZE_OC) - freeze, c->ofill + c->writeback);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OC_FILL) - fill, c->ofill);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OC_READ_MISS), 1);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OC_WRITE_MISS), 1);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OC_MISS), 2);
}

static void instructions__patched_in_memory__run_old_until_invalidated(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    const char *text = "mov #1,r1\nbra end\nnop\nend: nop\n";
    run_text(r, text);
    assert_int_equal(r->cpu.r[1], 1);
    put_le16(r->ram + (RIG_BASE & 0xFFFF), 0xE102); /* mov #2,r1 */
    r->cpu.pc = RIG_BASE;
    rig_step_to(r, asm_label(&r->prog, "end"));
    assert_int_equal(r->cpu.r[1], 1);
    sh4_write_ccr(&r->cpu, r->cpu.ccn.ccr | CCR_ICI);
    r->cpu.pc = RIG_BASE;
    rig_step_to(r, asm_label(&r->prog, "end"));
    assert_int_equal(r->cpu.r[1], 2);
}

static void fetch__second_time__misses_once_per_line(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    run_text(
        r, "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nen"
           "d: nop\n");
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_IC_MISS), 2);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_FREEZE_IC), 2 * r->cpu.cfg.costs.ifill);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_FETCH_C), 9); /* two instructions a fetch */
    r->cpu.pc = RIG_BASE;
    rig_step_to(r, asm_label(&r->prog, "end"));
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_IC_MISS), 2);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_FETCH_C), 18);
}

static void block_instructions__each__do_their_part(void **state)
{
    static const struct {
        const char *name, *text;
        uint32_t memory, cached;
        bool valid;
    } rows[] = {
        { "OCBI drops the data", "mov.l r2,@r1\nocbi @r1\nend: nop\n", 0x01010101, 0x01010101,
          false },
        { "OCBP writes and drops", "mov.l r2,@r1\nocbp @r1\nend: nop\n", 0x55555555, 0x55555555,
          false },
        { "OCBWB writes and keeps", "mov.l r2,@r1\nocbwb @r1\nend: nop\n", 0x55555555, 0x55555555,
          true },
        { "PREF fetches", "pref @r1\nend: nop\n", 0x01010101, 0x01010101, true },
        { "MOVCA allocates unread", "mov r2,r0\nmovca.l r0,@r1\nend: nop\n", 0x01010101, 0x55555555,
          true },
    };
    struct rig *r = &((struct fixture *)*state)->r;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t at = DATA + 64 * (uint32_t)i;
        uint8_t b[4];
        print_message("  %s\n", rows[i].name);
        rig_set32(r, at, 0x01010101);
        r->cpu.r[1] = at;
        r->cpu.r[2] = 0x55555555;
        run_fresh(r, (unsigned)i, rows[i].text);
        assert_int_equal(rig_mem32(r, at), rows[i].memory);
        assert_true(sh4_cpu_peek(&r->cpu, at, b, 4));
        assert_int_equal(le32(b), rows[i].cached);
        assert_int_equal(!(r->cpu.fast->otag[sh4_oc_index(&r->cpu, at)] & TAG_INVALID),
                         rows[i].valid);
    }
}

static void ram_mode__8_kb_at_7c000000__beside_half_a_cache(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    r->cpu.ccn.ccr |= CCR_ORA;
    r->cpu.r[1] = 0x7C001000;
    r->cpu.r[2] = 0x66666666;
    r->cpu.r[3] = 0x7C000000; /* shadow of the same 4 KB */
    r->cpu.r[4] = 0x7C002000; /* the other 4 KB */
    r->cpu.r[7] = DATA + 0x1000;
    run_text(r, "mov.l r2,@r1\nmov.l @r3,r5\nmov.l @r4,r6\nmov.l r2,@r7\nmov.l @r7,r8\nend: nop\n");
    assert_int_equal(r->cpu.r[5], 0x66666666);
    assert_int_equal(r->cpu.r[6], 0);
    assert_int_equal(r->cpu.r[8], 0x66666666);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_RAM_OP), 3);
    assert_int_equal(sh4_oc_index(&r->cpu, DATA + 0x1000) & 0x80, 0);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OP_ALL), 5);
    assert_int_equal(sh4_cpu_total(&r->cpu, EV_OP_C), 2);
}

static void index__oix_and_iix__use_bit_25(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    assert_int_equal(sh4_oc_index(&r->cpu, 0x8C002020), 0x101);
    assert_int_equal(sh4_ic_index(&r->cpu, 0x8C001020), 0x81);
    r->cpu.ccn.ccr |= CCR_OIX | CCR_IIX;
    assert_int_equal(sh4_oc_index(&r->cpu, 0x8C002020), 0x001);
    assert_int_equal(sh4_oc_index(&r->cpu, 0x8E002020), 0x101);
    assert_int_equal(sh4_ic_index(&r->cpu, 0x8C001020), 0x01);
    assert_int_equal(sh4_ic_index(&r->cpu, 0x8E001020), 0x81);
}

static void arrays__read_write_and_associative_write__move_tags_and_data(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    struct sh4_cpu *c = &r->cpu;
    unsigned i = sh4_oc_index(c, DATA);
    uint32_t entry = i << 5;
    r->cpu.r[1] = DATA;
    r->cpu.r[2] = 0x77777777;
    run_text(r, "mov.l r2,@r1\nend: nop\n");
    assert_int_equal(sh4_cache_array_read(c, 0xF4000000 | entry), 0x0C004003); /* tag, U, V */
    assert_int_equal(sh4_cache_array_read(c, 0xF5000000 | entry), 0x77777777);
    /* Associative, another tag: nothing. The right tag with V=0: written back, invalid. */
    sh4_cache_array_write(c, 0xF4000008 | entry, 0x0C008000);
    assert_int_equal(c->fast->otag[i], 0x0C004000);
    sh4_cache_array_write(c, 0xF4000008 | entry, 0x0C004000);
    assert_true(c->fast->otag[i] & TAG_INVALID);
    assert_int_equal(rig_mem32(r, DATA), 0x77777777);
    /* Plain write: a line made by hand. */
    sh4_cache_array_write(c, 0xF5000004 | entry, 0x12345678);
    sh4_cache_array_write(c, 0xF4000000 | entry, 0x0C004000 | 1);
    uint8_t b[4];
    assert_true(sh4_cpu_peek(c, DATA + 4, b, 4));
    assert_int_equal(le32(b), 0x12345678);
    assert_int_equal(rig_mem32(r, DATA + 4), 0);
    /* The I-cache's: data written there is what runs. */
    unsigned k = sh4_ic_index(c, RIG_BASE);
    sh4_cache_array_write(c, 0xF1000000 | k << 5, 0x0009E17B); /* mov #123,r1; nop */
    c->pc = RIG_BASE;
    sh4_cpu_step(c);
    assert_int_equal(c->r[1], 123);
}

static void store_queues__written_and_sent__reach_memory_by_qacr(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    r->cpu.ccn.qacr[0] = r->cpu.ccn.qacr[1] = 3 << 2; /* area 3 */
    r->cpu.r[1] = 0xE0004040;                         /* queue 0 */
    r->cpu.r[2] = 0x11110000;
    r->cpu.r[3] = 0xE0004060; /* queue 1 */
    r->cpu.r[4] = 0x22220000;
    run_text(r, "mov.l r2,@r1\nmov.l r2,@(28,r1)\nmov.l r4,@r3\npref @r1\nend: nop\n");
    assert_int_equal(rig_mem32(r, 0x4040), 0x11110000);
    assert_int_equal(rig_mem32(r, 0x405C), 0x11110000);
    assert_int_equal(rig_mem32(r, 0x4060), 0);
    run_fresh(r, 0, "pref @r3\nend: nop\n");
    assert_int_equal(rig_mem32(r, 0x4060), 0x22220000);
}

static void ccr__oci_written__drops_dirty_lines_unwritten_and_reads_zero(void **state)
{
    struct rig *r = &((struct fixture *)*state)->r;
    r->cpu.r[1] = DATA;
    r->cpu.r[2] = 0x99999999;
    r->cpu.r[3] = 0xFF00001C;
    r->cpu.r[4] = CCR_OCE | CCR_ICE | CCR_OCI | CCR_ICI;
    run_text(r, "mov.l r2,@r1\nmov.l r4,@r3\nmov.l @r3,r5\nmov.l @r1,r6\nend: nop\n");
    assert_int_equal(r->cpu.r[5], CCR_OCE | CCR_ICE);
    assert_int_equal(r->cpu.r[6], 0);
    assert_int_equal(rig_mem32(r, DATA), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_rig, tear_down_rig)
    static const struct CMUnitTest tests[] = {
        T(store__copy_back__memory_is_stale_until_written_back),
        T(store__write_through__memory_follows_and_a_miss_allocates_nothing),
        T(line__evicted_dirty__written_back_and_paid_for),
        T(instructions__patched_in_memory__run_old_until_invalidated),
        T(fetch__second_time__misses_once_per_line),
        T(block_instructions__each__do_their_part),
        T(ram_mode__8_kb_at_7c000000__beside_half_a_cache),
        T(index__oix_and_iix__use_bit_25),
        T(arrays__read_write_and_associative_write__move_tags_and_data),
        T(store_queues__written_and_sent__reach_memory_by_qacr),
        T(ccr__oci_written__drops_dirty_lines_unwritten_and_reads_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
