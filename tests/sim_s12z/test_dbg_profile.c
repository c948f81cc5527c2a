/* Code profiling and its pins, against ZVHL p.191-226 and ZVM p.226-227. Expected lines are written
 * by hand from the tables there and the listings in dbg_rig.h; neither the codec nor the edge
 * decoder of targets/s12z is used. */
#include "tests/sim_s12z/dbg_rig.h"

enum {
    PTS = 0,
    PTIB = 1,
    PTHF = 2,
    PTVB = 3,
    PTW = 7,
    TSOVF = 0x40,
    TBOVF = 0x20,
    TERM = 0x10,
    NONE = 1
};
static uint64_t line_of(unsigned info, uint32_t direct, uint32_t upper)
{
    return (uint64_t)upper << 40 | (uint64_t)direct << 8 | info;
}
static uint64_t without_stamp(uint64_t l) { return l & 0x0000FFFFFFFFFFFF; }

static void start_profile(struct wire *w, uint8_t tcrh, uint8_t tcrl, uint8_t c1)
{
    write_byte(w, R_TCRH, TSOURCE | tcrh);
    write_byte(w, R_TCRL, PROFILE | tcrl);
    write_byte(w, R_C1, ARM | c1);
}

/* All lines since arming; fails if that are not n. */
static void expect_lines(struct wire *w, uint64_t *out, unsigned n)
{
    assert_int_equal(read_byte(w, R_CNT), 2 * n);
    dbg_lines(w, out, n);
}

/* ---- what is written ---- */

static void lines__40_branches_a_call_a_return__are_these(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1450);
    uint64_t l[8];
    start_profile(&w, 0, 0, 0);
    dbg_go(&w, 1000);
    write_byte(&w, R_C1, 0);
    expect_lines(&w, l, 5);
    assert_true(l[0] == 0x00145000);                   /* PTS */
    assert_true(l[1] == line_of(PTHF, 0xFFFFFFFF, 0)); /* 31 taken */
    assert_true(l[2] == line_of(PTIB, 0x3FE, SUB));    /* 8 taken, one not, then the call */
    assert_true(l[3] == line_of(PTIB, NONE, 0x145C));  /* the return */
    assert_true(without_stamp(l[4]) == line_of(PTW | TERM, NONE, 0));
    wire_close(&w);
}

static void lines__handler__have_vector_byte_and_time(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    uint64_t l[16], at[2] = { 0 };
    start_profile(&w, 0, 0, 0);
    /* up to the PTVB; the last but one line is a return's */
    for (unsigned k = 0; read_byte(&w, R_CNT) < 14; k++) {
        if (read_byte(&w, R_CNT) == 12)
            at[0] = w.board->dbg->stamp_from;
        dbg_go(&w, 1);
        assert_true(k < 1000);
    }
    at[1] = w.board->dbg->stamp_from;
    dbg_go(&w, 40);
    write_byte(&w, R_C1, 0);
    dbg_lines(&w, l, 9);
    assert_true(l[0] == 0x00104000);
    assert_true(l[1] == line_of(PTIB, 0xE, SUB)); /* dbne: taken, taken, not */
    assert_true(l[2] == line_of(PTIB, NONE, 0x104C));
    assert_true(l[3] == line_of(PTIB, NONE, 0x104F)); /* the bsr says nothing */
    assert_true(l[4] == line_of(PTIB, NONE, 0x1055));
    assert_true(l[5] == line_of(PTIB, 3, 0x1055)); /* dbne taken */
    /* dbne not taken; SWI */
    assert_true(l[6] == line_of(PTVB, 2, (uint32_t)((at[1] - at[0]) / 2) << 8 | 0xF8));
    assert_true(l[7] == line_of(PTIB, NONE, 0x105A));
    wire_close(&w);
}

static void lines__interrupt__has_its_vector(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1600);
    uint64_t l[4];
    /* IRQ: FFFE00 + 1FC - 4 * 10 */
    memcpy(w.board->flash + (0xFFFFD4 - w.board->part->flash_start), "\x00\x00\x10\x90", 4);
    w.board->cpu.system &= (uint16_t) ~(CCW_I | CCW_X);
    start_profile(&w, 0, 0, 0);
    dbg_go(&w, 5);
    intc_line(w.board->intc, VEC_IRQ, true);
    dbg_go(&w, 14);
    intc_line(w.board->intc, VEC_IRQ, false);
    write_byte(&w, R_C1, 0);
    dbg_lines(&w, l, 2);
    assert_int_equal(l[1] & 0xFF, PTVB);
    assert_int_equal(l[1] >> 40 & 0xFF, 0xEA);
    wire_close(&w);
}

static void tsovf__65536_bus_clocks_without_a_line__tell_themselves(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x14A0);
    uint64_t l[8];
    start_profile(&w, 0, 0, 0);
    dbg_go(&w, 2 * 65536 * 3 + 1000);
    write_byte(&w, R_C1, 0);
    expect_lines(&w, l, 7);
    assert_true(l[1] == line_of(PTIB, NONE, SUB) && l[2] == line_of(PTIB, NONE, 0x14A6));
    for (unsigned k = 3; k < 6; k++)
        assert_true(l[k] == line_of(PTW | TSOVF, NONE, 0xFFFF00));
    assert_int_equal(l[6] & 0xFF, PTW | TERM);
    assert_in_range(l[6] >> 48, 400, 500); /* the rest of the time */
    wire_close(&w);
}

static void tbovf__64_lines_pending__end_disarm_break(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1440);
    uint64_t l[64];
    start_profile(&w, 0, 0, TO_BDM); /* PDOE=0: nothing is ever sent */
    dbg_go(&w, 10000);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    assert_int_equal(read_byte(&w, R_EFR), PTBOVF);
    assert_int_equal(read_byte(&w, R_SR), TBF); /* State0, no PTACT */
    assert_int_equal(read_byte(&w, R_C1) & ARM, 0);
    assert_int_equal(read_byte(&w, R_CNT), 0);
    dbg_lines(&w, l, 64);
    for (unsigned k = 1; k < 64; k++)
        assert_true(l[k] == line_of(PTIB | (k == 63 ? TBOVF : 0), NONE, 0x1443));
    wire_close(&w);
    /* with pins: lines leave while others are made, but a tight loop is faster */
    w = dbg_open(0x1440);
    start_profile(&w, 0, PDOE, TO_BDM);
    dbg_go(&w, 100000);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    assert_true(w.board->dbg->written > 64);
    assert_int_equal(read_byte(&w, R_EFR), PTBOVF);
    assert_int_equal(w.board->dbg->line[(w.board->dbg->written - 1) % 64] & 0xFF, PTIB | TBOVF);
    wire_close(&w);
}

/* ---- the last line ---- */

static void last_line__of_a_change_of_flow_in_the_same_cycle__has_its_format(void **state)
{
    static const struct {
        const char *name;
        uint32_t pc, at;
        unsigned bits, lines;
        uint8_t preset;
        uint64_t last;
    } rows[] = {
        { "indexed call, its push matched", 0x1490, STACK - 3, 4, 2, 0,
          (uint64_t)SUB << 40 | NONE << 8 | PTIB | TERM },
        { "static call", 0x1440, STACK - 3, 4, 2, 0, NONE << 8 | PTW | TERM },
        { "return, its pull matched", 0x1440, STACK - 3, 0x0C, 2, 0,
          (uint64_t)0x1443 << 40 | NONE << 8 | PTIB | TERM },
        { "branch on memory", 0x1470, 0x1100, 0x0C, 2, 1, 3 << 8 | PTW | TERM },
        { "software interrupt, its stacking matched", 0x1059, STACK - 29, 4, 2, 0,
          (uint64_t)0xF8 << 40 | NONE << 8 | PTVB | TERM },
        { "no change of flow", 0x1000, 0x1101, 4, 2, 0, NONE << 8 | PTW | TERM },
    };
    (void)state;
    for (unsigned brk = 0; brk < 3; brk++)
        for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
            struct wire w = dbg_open(rows[k].pc);
            uint64_t l[4];
            print_message("  %s\n", rows[k].name);
            w.board->ram[0x100] = rows[k].preset;
            compare_address(&w, R_ACTL, rows[k].bits, rows[k].at);
            write_byte(&w, R_SCR1, 3);
            start_profile(&w, 0, 0, brk == 1 ? TO_BDM : brk == 2 ? TO_SWI : 0);
            dbg_go(&w, 200);
            expect_lines(&w, l, rows[k].lines);
            assert_int_equal(read_byte(&w, R_SR), 0);
            uint64_t stampless =
                (l[1] & 0x0F) == PTW || (l[1] & 0x0F) == PTVB ? without_stamp(l[1]) : l[1];
            if (stampless != rows[k].last)
                fail_msg("%016llX", (unsigned long long)l[1]);
            wire_close(&w);
        }
}

static void last_line__31st_branch_in_the_same_cycle__is_a_pthf(void **state)
{
    (void)state;
    /* at which count of the loop the read of it matches: 30th, 31st, 32nd branch */
    for (unsigned value = 10; value <= 12; value++) {
        struct wire w = dbg_open(0x1500);
        uint64_t l[4];
        w.board->ram[0x100] = 41;
        compare_address(&w, R_ACTL, 0x0C, 0x1100);
        compare_data(&w, R_ACTL, (22 - value) << 24, 0xFF000000);
        write_byte(&w, R_SCR1, 3);
        start_profile(&w, 0, 0, 0);
        dbg_go(&w, 1000);
        expect_lines(&w, l, value == 12 ? 3 : 2);
        assert_true(value != 10 || without_stamp(l[1]) == line_of(PTW | TERM, 0x7FFFFFFF, 0));
        assert_true(value != 11 || l[1] == line_of(PTHF | TERM, 0xFFFFFFFF, 0));
        assert_true(value != 12 || l[1] == line_of(PTHF, 0xFFFFFFFF, 0));
        assert_true(value != 12 || without_stamp(l[2]) == line_of(PTW | TERM, 3, 0));
        wire_close(&w);
    }
}

static void last_line__handler_entered_next__is_not_in_it(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1000); /* the break goes to SWI: its entry comes after the end */
    uint64_t l[2];
    compare_address(&w, R_ACTL, 4, 0x1101);
    write_byte(&w, R_SCR1, 3);
    start_profile(&w, 0, 0, TO_SWI);
    dbg_go(&w, 20);
    expect_lines(&w, l, 2);
    assert_true(without_stamp(l[1]) == line_of(PTW | TERM, NONE, 0));
    assert_in_range(l[1] >> 48, 1, 4);
    wire_close(&w);
}

/* ---- when it begins ---- */

static void begin__at_final_state__goes_on_behind_64_lines(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    compare_address(&w, R_ACTL, INST, 0x1051);
    write_byte(&w, R_SCR1, 3);
    start_profile(&w, 1, PDOE, 0);
    dbg_go(&w, 20);
    assert_int_equal(read_byte(&w, R_CNT), 0);
    assert_int_equal(read_byte(&w, R_SR), 1);
    dbg_go(&w, 20);
    assert_int_equal(read_byte(&w, R_SR), PTACT | 4);
    assert_int_equal(w.board->dbg->line[0], 0x00105100); /* the trigger is the first instruction */
    write_byte(&w, R_C1, ARM | TRIG);                    /* nothing new */
    for (unsigned k = 0; k < 100; k++) {                 /* a few lines, then time to send them */
        dbg_go(&w, 60);
        dbg_halt(&w);
        board_run_to(w.board, w.board->cpu.cycles + 20 * 64 * 4);
    }
    assert_true(w.board->dbg->written > 300);
    assert_int_equal(read_byte(&w, R_SR), TBF | PTACT | 4);
    assert_int_equal(read_byte(&w, R_EFR) & PTBOVF, 0);
    write_byte(&w, R_C1, 0);
    assert_int_equal(w.board->dbg->line[(w.board->dbg->written - 1) % 64] & 0xFF, PTW | TERM);
    wire_close(&w);
}

static void mid__profiling__is_end(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1440);
    uint64_t l[4];
    compare_address(&w, R_ACTL, INST, 0x1443);
    write_byte(&w, R_SCR1, 3);
    start_profile(&w, 2, 0, TO_BDM);
    dbg_go(&w, 1000);
    expect_lines(&w, l, 3);
    assert_true(l[0] == 0x00144000 && l[1] == line_of(PTIB, NONE, 0x1443));
    assert_int_equal(l[2] & 0xFF, PTW | TERM);
    wire_close(&w);
}

static void halted__any_time__adds_nothing(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1440);
    start_profile(&w, 0, 0, 0);
    dbg_go(&w, 100);
    dbg_halt(&w);
    unsigned cnt = read_byte(&w, R_CNT);
    board_run_to(w.board, w.board->cpu.cycles + 1000000);
    assert_int_equal(read_byte(&w, R_CNT), cnt);
    assert_int_equal(read_byte(&w, R_SR), PTACT | 1);
    write_byte(&w, R_C1, 0);
    assert_int_equal(read_byte(&w, R_CNT), cnt + 2);
    wire_close(&w);
}

static void ptact__after_disarm__until_all_is_sent(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1440);
    uint64_t l[4];
    start_profile(&w, 0, PDOE, 0);
    dbg_go(&w, 200);
    write_byte(&w, R_C1, 0);
    unsigned lines = read_byte(&w, R_CNT) / 2;
    assert_in_range(lines, 5, 60);
    assert_int_equal(read_byte(&w, R_SR), PTACT);
    write_byte(&w, R_SCR1, 0x55); /* registers are locked, the buffer is not to be read */
    write_byte(&w, R_TCRL, 0);
    write_byte(&w, R_C1, ARM);
    assert_int_equal(read_byte(&w, R_SCR1), 0);
    assert_int_equal(read_byte(&w, R_TCRL), PROFILE | PDOE);
    assert_int_equal(read_byte(&w, R_C1), 0);
    dbg_lines(&w, l, 1);
    assert_true(l[0] == 0);
    board_run_to(w.board, w.board->cpu.cycles + lines * 64 * 4);
    assert_int_equal(read_byte(&w, R_SR), 0);
    dbg_lines(&w, l, 2);
    assert_true(l[0] == 0x00144000 && l[1] == line_of(PTIB, NONE, 0x1443));
    write_byte(&w, R_SCR1, 0x55);
    assert_int_equal(read_byte(&w, R_SCR1), 0x55);
    wire_close(&w);
}

/* ---- the pins ---- */

enum { MOST = 200000 };
struct capture {
    pdo_edge edge[MOST];
    size_t n;
    uint64_t bit[MOST]; /* tick of the clock edge, shifted, and the data */
    size_t bits;
};
enum { PS = 10000 }; /* a core clock at the default bus clock of 50 MHz */

/* Bits at every edge of PDOCLK, or every rising one. */
static void take_bits(struct wire *w, struct capture *c, bool rising_only)
{
    uint64_t lost;
    c->n += w->sim->type->pdo_take(w->sim, c->edge + c->n, MOST - c->n, &lost);
    assert_int_equal(lost, 0);
    c->bits = 0;
    for (size_t k = 1; k < c->n; k++)
        if (PDO_CLK(c->edge[k]) != PDO_CLK(c->edge[k - 1]) && (PDO_CLK(c->edge[k]) || !rising_only))
            c->bit[c->bits++] = PDO_TICK(c->edge[k]) << 1 | PDO_DATA(c->edge[k]);
}

static unsigned bytes_of(unsigned info)
{
    return (info & 0x0F) == PTS ? 4 : (info & 0x0F) == PTHF ? 6 : 8;
}

static void pins__every_line__leaves_bit_by_bit(void **state)
{
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        struct wire w = dbg_open_part(&s12z_board_zvml128, full ? "pdoclk=full" : "", 0x1450);
        struct capture *c = calloc(1, sizeof *c);
        assert_int_equal(w.sim->type->pdo_capture(w.sim, true), 0);
        start_profile(&w, 0, PDOE, 0);
        uint64_t armed = board_cycles_to_ps(w.board, w.board->cpu.cycles);
        dbg_go(&w, 1000);
        write_byte(&w, R_C1, 0);
        board_run_to(w.board, w.board->cpu.cycles + 5000);
        assert_int_equal(read_byte(&w, R_SR), 0);
        take_bits(&w, c, full);
        size_t at = 0;
        for (unsigned k = 0; k < w.board->dbg->written; k++) {
            uint64_t l = w.board->dbg->line[k];
            for (unsigned j = 0; j < 8 * bytes_of(l & 0xFF); j++, at++) {
                assert_int_equal(c->bit[at] & 1, l >> j & 1);
                if (j)
                    assert_int_equal((c->bit[at] >> 1) - (c->bit[at - 1] >> 1),
                                     4 * PS); /* two bus clocks */
                else if (at)
                    assert_true((c->bit[at] >> 1) - (c->bit[at - 1] >> 1) >= 4 * PS);
            }
        }
        assert_int_equal(at, c->bits);
        assert_true(c->bit[0] >> 1 > armed);
        /* data is stable around the clock's edge, which comes later */
        for (size_t k = 2; k < c->n; k++)
            if (PDO_DATA(c->edge[k]) != PDO_DATA(c->edge[k - 1]))
                assert_int_equal(PDO_CLK(c->edge[k]), PDO_CLK(c->edge[k - 1]));
        wire_close(&w);
        free(c);
    }
}

static void pins__between_lines__clock_holds(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x14A0); /* wai: a line every 65536 bus clocks */
    struct capture *c = calloc(1, sizeof *c);
    unsigned gaps = 0;
    w.sim->type->pdo_capture(w.sim, true);
    start_profile(&w, 0, PDOE, 0);
    dbg_go(&w, 3 * 131072 + 1000);
    take_bits(&w, c, false);
    for (size_t k = 1; k < c->bits; k++)
        gaps += (c->bit[k] >> 1) - (c->bit[k - 1] >> 1) > 100000u * PS;
    assert_int_equal(gaps, 3);
    assert_int_equal(c->bits, 32 + 2 * 64 + 3 * 64);
    wire_close(&w);
    free(c);
}

static void pins__pdoe_off_or_no_trace__stay_silent(void **state)
{
    pdo_edge e[16];
    uint64_t lost;
    (void)state;
    struct wire w = dbg_open(0x1440);
    w.sim->type->pdo_capture(w.sim, true);
    start_profile(&w, 0, 0, 0);
    dbg_go(&w, 1000);
    assert_int_equal(w.sim->type->pdo_take(w.sim, e, 16, &lost), 1); /* the levels at the start */
    wire_close(&w);
    w = dbg_open_part(&s12z_board_zvl128, "", 0x1440);
    assert_true(w.sim->type->pdo_capture(w.sim, true) < 0);
    wire_close(&w);
}

static void pins__capture_begun_in_a_line__sees_the_rest(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x14A0);
    struct capture *c = calloc(1, sizeof *c);
    start_profile(&w, 0, PDOE, 0);
    dbg_go(&w, 200); /* PTS takes 128 core clocks, the PTIB behind it 256 */
    w.sim->type->pdo_capture(w.sim, true);
    dbg_go(&w, 2000);
    take_bits(&w, c, false);
    assert_in_range(c->bits, 64 + 1, 2 * 64 - 1);
    uint64_t last = 0;
    for (size_t k = 0; k < 64; k++)
        last |= (c->bit[c->bits - 64 + k] & 1) << k;
    assert_true(last == line_of(PTIB, NONE, 0x14A6));
    wire_close(&w);
    free(c);
}

static void reset__while_profiling__cuts_the_stream_without_term(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1440);
    struct capture *c = calloc(1, sizeof *c);
    uint64_t l[4];
    w.sim->type->pdo_capture(w.sim, true);
    start_profile(&w, 0, PDOE, 0);
    dbg_go(&w, 300);
    unsigned cnt = read_byte(&w, R_CNT);
    uint64_t at = board_cycles_to_ps(w.board, w.board->cpu.cycles);
    board_reset(w.board, true);
    assert_int_equal(read_byte(&w, R_SR), 0);
    assert_int_equal(read_byte(&w, R_CNT), cnt);
    board_run_to(w.board, w.board->cpu.cycles + 100000);
    take_bits(&w, c, false);
    assert_true(c->bits > 32 && c->bits < cnt / 2 * 64);
    assert_true(c->bit[c->bits - 1] >> 1 <= at);
    write_byte(&w, R_TCRH, TSOURCE);
    dbg_lines(&w, l, 2);
    assert_true(l[0] == 0x00144000 && l[1] == line_of(PTIB, NONE, 0x1443));
    assert_int_equal(w.board->dbg->line[cnt / 2 - 1] & 0xFF, PTIB);
    wire_close(&w);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines__40_branches_a_call_a_return__are_these),
        cmocka_unit_test(lines__handler__have_vector_byte_and_time),
        cmocka_unit_test(lines__interrupt__has_its_vector),
        cmocka_unit_test(tsovf__65536_bus_clocks_without_a_line__tell_themselves),
        cmocka_unit_test(tbovf__64_lines_pending__end_disarm_break),
        cmocka_unit_test(last_line__of_a_change_of_flow_in_the_same_cycle__has_its_format),
        cmocka_unit_test(last_line__31st_branch_in_the_same_cycle__is_a_pthf),
        cmocka_unit_test(last_line__handler_entered_next__is_not_in_it),
        cmocka_unit_test(begin__at_final_state__goes_on_behind_64_lines),
        cmocka_unit_test(mid__profiling__is_end),
        cmocka_unit_test(halted__any_time__adds_nothing),
        cmocka_unit_test(ptact__after_disarm__until_all_is_sent),
        cmocka_unit_test(pins__every_line__leaves_bit_by_bit),
        cmocka_unit_test(pins__between_lines__clock_holds),
        cmocka_unit_test(pins__pdoe_off_or_no_trace__stay_silent),
        cmocka_unit_test(pins__capture_begun_in_a_line__sees_the_rest),
        cmocka_unit_test(reset__while_profiling__cuts_the_stream_without_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
