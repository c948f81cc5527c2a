/* Profiling end to end without capture hardware: bursts of 64 lines read over the wire, walked, and
 * compared with the counts the CPU model keeps for itself. A burst that ends by overflow halts the
 * CPU on its last change of flow, so nothing is missed between. */
#include "targets/sim/s12z/board_priv.h"
#include "targets/s12z/trace/flow.h"
#include "tests/sim_s12z/rig.h"

enum {
    DBGC1 = 0x100,
    DBGTCRH = 0x102,
    DBGTCRL = 0x103,
    DBGTB = 0x104,
    DBGEFR = 0x10A,
    LINES = 64,
    CRN_PC = 11,
    IMAGE = 0x2000
};

struct session {
    struct rig r;
    struct s12z_flow *flow;
    uint8_t image[IMAGE];
    unsigned calls, returns, exceptions, rtes, starts, stops, marks;
    uint32_t called; /* target of the first call */
    bool toggle;     /* count from one mark to the next */
};

static void count_event(void *ctx, const struct event *e)
{
    struct session *s = ctx;
    s->calls += e->kind == EVENT_CALL;
    s->returns += e->kind == EVENT_RETURN;
    s->exceptions += e->kind == EVENT_EXCEPTION;
    s->rtes += e->kind == EVENT_RTE;
    s->starts += e->kind == EVENT_START;
    s->stops += e->kind == EVENT_STOP;
    s->marks += e->kind == EVENT_TIMESTAMP;
    if (e->kind == EVENT_CALL && !s->called)
        s->called = (uint32_t)e->target;
    if (e->kind == EVENT_TIMESTAMP && s->toggle)
        s12z_flow_counting(s->flow, s->marks & 1);
}

static void open_session(struct session *s)
{
    static const char path[] = SOURCE_DIR "/tests/s12z/fixtures/flow.bin";
    char name[400];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(s->image, 1, IMAGE, f), IMAGE);
    fclose(f);
    snprintf(name, sizeof name, "sim:s12zvml128,bdc=20M,flash=%s", path);
    s->r = rig_open(name);
    rig_special_reset(&s->r);
    rig_attach(&s->r);
    uint32_t start = (uint32_t)s->image[IMAGE - 3] << 16 | (uint32_t)s->image[IMAGE - 2] << 8 |
                     s->image[IMAGE - 1];
    rig_set_reg(&s->r, CRN_PC, start);
    struct image_section sec = { ".text", 0x1000000 - IMAGE, IMAGE, s->image, true, false };
    struct image im = { .sections = &sec, .nsections = 1, .big_endian = true };
    struct s12z_settings settings = s12z_settings_default();
    assert_int_equal(s12z_flow_new(&im, &settings, count_event, s, &s->flow, NULL), 0);
}

static void write_byte(struct session *s, uint32_t addr, uint8_t v)
{
    assert_int_equal(rig_block(&s->r, BDC_WRITE, addr, 1, &v, 1), BDC_OK);
}

/* Arms, runs until the buffer is full, reads 64 lines and walks them. */
static void run_burst(struct session *s)
{
    struct s12z_settings settings = s12z_settings_default();
    uint8_t raw[8 * LINES], zero[2] = { 0 };
    struct err err = { 0 };
    write_byte(s, DBGTCRH, 0x40);
    write_byte(s, DBGTCRL, 0x02);
    write_byte(s, DBGC1, 0x80 | 0x18);
    assert_int_equal(rig_command(&s->r, BDC_GO, 0, NULL, NULL), BDC_OK);
    for (unsigned k = 0; !(rig_csr(&s->r) & 0x4000); k++)
        assert_true(k < 1000);
    assert_int_equal(rig_block(&s->r, BDC_WRITE, DBGTB, 2, zero, 2), BDC_OK);
    assert_int_equal(rig_block(&s->r, BDC_LINES, 0, 0, raw, sizeof raw), BDC_OK);
    for (unsigned k = 0; k < LINES; k++) {
        struct s12z_line l;
        if (s12z_line_decode(s12z_line_from_command(raw + 8 * k), &settings, &l, &err) < 0 ||
            s12z_flow_line(s->flow, &l, &err) < 0)
            fail_msg("line %u: %s", k, err.what);
    }
}

/* The model's own counts. CPU and board are looked into, which no product code may do. */
struct sim_bdc_view {
    struct probe probe;
    struct sim_board *board;
};
static struct s12z_cpu *cpu_of(struct session *s)
{
    return &((struct s12z_board *)((struct sim_bdc_view *)s->r.p)->board)->cpu;
}

static int same_branch(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken)
{
    uint64_t executed, t;
    cpu_count(cpu_of(ctx), pc, &executed, &t);
    if (t != taken || executed != taken + not_taken)
        fail_msg("branch %06X: traced %llu taken %llu not, model %llu of %llu", pc,
                 (unsigned long long)taken, (unsigned long long)not_taken, (unsigned long long)t,
                 (unsigned long long)executed);
    return 0;
}

static uint64_t traced[IMAGE];
static int note_block(void *ctx, uint32_t low, uint32_t high, uint64_t count)
{
    (void)ctx;
    for (uint32_t a = low; a < high; a++)
        traced[a - (0x1000000 - IMAGE)] += count;
    return 0;
}

static void bursts__thousands_of_branches__counts_equal_the_model(void **state)
{
    (void)state;
    struct session *s = calloc(1, sizeof *s);
    open_session(s);
    for (unsigned k = 0; k < 300; k++)
        run_burst(s);
    const struct s12z_flow_totals *t = s12z_flow_totals(s->flow);
    uint32_t pc = 0;
    print_message("  %llu branches, %llu instructions, %u calls, %u returns, %u exceptions\n",
                  (unsigned long long)t->branches, (unsigned long long)t->instructions, s->calls,
                  s->returns, s->exceptions);
    assert_true(t->branches > 5000 && s->exceptions > 100 && s->calls > 1000);
    assert_int_equal(t->resyncs, 0);
    assert_int_equal(s12z_flow_check(s->flow, &pc), 0);
    assert_int_equal(s12z_flow_branches(s->flow, same_branch, s), 0);
    assert_true(t->instructions == cpu_of(s)->instructions);
    memset(traced, 0, sizeof traced);
    assert_int_equal(s12z_flow_blocks(s->flow, note_block, s), 0);
    for (uint32_t a = 0; a < IMAGE; a++) {
        uint64_t executed, taken;
        cpu_count(cpu_of(s), 0x1000000 - IMAGE + a, &executed, &taken);
        if (executed && executed != traced[a])
            fail_msg("%06X: model %llu, traced %llu", 0x1000000 - IMAGE + a,
                     (unsigned long long)executed, (unsigned long long)traced[a]);
    }
    s12z_flow_free(s->flow);
    rig_close(&s->r);
    free(s);
}

/* Two sessions of the same program; the second watches a function and the middle of it, and counts
 * every other round only. */
static void watched__every_pass_seen__counting_between_marks_is_exact(void **state)
{
    (void)state;
    struct session *probe_run = calloc(1, sizeof *probe_run), *s = calloc(1, sizeof *s);
    open_session(probe_run);
    for (unsigned k = 0; k < 3; k++)
        run_burst(probe_run);
    uint32_t at = probe_run->called;
    assert_true(at != 0);
    s12z_flow_free(probe_run->flow);
    rig_close(&probe_run->r);
    free(probe_run);

    open_session(s);
    assert_int_equal(s12z_flow_watch(s->flow, at), 0);
    s12z_flow_seamless(s->flow, true);
    for (unsigned k = 0; k < 100; k++)
        run_burst(s);
    uint64_t executed, taken, whole = s12z_flow_totals(s->flow)->instructions;
    uint32_t pc = 0;
    cpu_count(cpu_of(s), at, &executed, &taken);
    print_message("  %06X: %u passes, %u calls\n", at, s->marks, s->calls);
    assert_true(s->marks > 100);
    assert_true(executed - s->marks <= 1); /* the node under way is not complete */
    assert_int_equal(s->starts, 1);
    assert_int_equal(s->stops, 0);
    assert_int_equal(s12z_flow_totals(s->flow)->cut, 0);
    assert_int_equal(s12z_flow_check(s->flow, &pc), 0);
    assert_true(cpu_of(s)->instructions - whole < 64);
    s12z_flow_free(s->flow);
    rig_close(&s->r);
    free(s);
}

static void counting__on_every_other_round__counts_those_alone(void **state)
{
    (void)state;
    uint64_t sum[2] = { 0 };
    for (unsigned round = 0; round < 2; round++) {
        struct session *s = calloc(1, sizeof *s);
        open_session(s);
        uint32_t start = rig_reg(&s->r, CRN_PC);
        run_burst(s);
        uint32_t at = s->called;
        s12z_flow_free(s->flow);
        rig_close(&s->r);
        memset(s, 0, sizeof *s);
        open_session(s);
        assert_int_equal(rig_reg(&s->r, CRN_PC), start);
        assert_int_equal(s12z_flow_watch(s->flow, at), 0);
        s12z_flow_seamless(s->flow, true);
        s->toggle = true;
        if (round == 0)
            s12z_flow_counting(s->flow, false);
        else
            s->marks = 1; /* the other half: on until the first mark */
        for (unsigned k = 0; k < 50; k++)
            run_burst(s);
        uint32_t pc = 0;
        assert_int_equal(s12z_flow_check(s->flow, &pc), 0);
        memset(traced, 0, sizeof traced);
        assert_int_equal(s12z_flow_blocks(s->flow, note_block, s), 0);
        for (uint32_t a = 0; a < IMAGE; a++) {
            uint64_t executed, taken;
            cpu_count(cpu_of(s), 0x1000000 - IMAGE + a, &executed, &taken);
            if (executed)
                sum[round] += traced[a];
        }
        if (round == 1)
            assert_true(sum[0] + sum[1] == s12z_flow_totals(s->flow)->instructions);
        s12z_flow_free(s->flow);
        rig_close(&s->r);
        free(s);
    }
    assert_true(sum[0] > 1000 && sum[1] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts__thousands_of_branches__counts_equal_the_model),
        cmocka_unit_test(watched__every_pass_seen__counting_between_marks_is_exact),
        cmocka_unit_test(counting__on_every_other_round__counts_those_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
