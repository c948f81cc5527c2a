/* The DBG module without profiling, against ZVHL p.191-223 sentence by sentence: registers,
 * sequencer, comparators, breakpoints, buffer. The trace modes are in test_dbg_trace.c, profiling
 * in test_dbg_profile.c. */
#include "tests/sim_s12z/dbg_rig.h"

/* ---- registers ---- */

/* What each register keeps of FF, from 0x0100 on; DBGC1 without ARM and TRIG, the status and data
 * port without writes. */
static const uint8_t masks_full[0x48] = {
    0x1B, 0x0F, 0x7F, 0x0F, 0,    0, 0,    0xFF, 0xFF, 0xFF, 0,    0,    0,    0,    0,
    0,    0x6D, 0,    0,    0,    0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0x2D, 0,    0,    0, 0,    0xFF, 0xFF, 0xFF, 0,    0,    0,    0,    0,
    0,    0,    0,    0x6D, 0,    0, 0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0x2D, 0, 0,    0,    0,    0xFF, 0xFF, 0xFF,
};
enum { AT_TB = 4 };

static uint8_t mask_of(const struct sim_board_type *part, unsigned at)
{
    uint8_t m = masks_full[at];
    if (part == &s12z_board_zvmc256)
        return at == 3 ? 0x1F : m; /* PREND */
    if (part == &s12z_board_zvml128)
        return m;
    if (at == 2 || at == 3 || (at >= 0x30 && at < 0x40))
        return 0; /* the small module: no trace, no comparator C */
    return at == 1 ? 0x03 : at >= 7 && at <= 9 ? 0xCF : m;
}

static void registers__of_each_part__keep_their_bits(void **state)
{
    static const struct sim_board_type *const parts[] = { &s12z_board_zvml128, &s12z_board_zvmc256,
                                                          &s12z_board_zvl128 };
    (void)state;
    for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
        struct wire w = dbg_open_part(parts[p], "", 0x1600);
        for (unsigned at = 0; at < ARRAY_LEN(masks_full); at++) {
            if ((at & ~1u) == AT_TB)
                continue;
            write_byte(&w, R_C1 + at, at ? 0xFF : 0x3F);
            if (read_byte(&w, R_C1 + at) != mask_of(parts[p], at))
                fail_msg("%s %03X: %02X", parts[p]->name, R_C1 + at, read_byte(&w, R_C1 + at));
            write_byte(&w, R_C1 + at, 0);
            assert_int_equal(read_byte(&w, R_C1 + at), 0);
        }
        wire_close(&w);
    }
}

static void registers__armed__refuse_writes(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1600);
    write_byte(&w, R_C1, ARM | 0x10);
    for (unsigned at = 1; at < ARRAY_LEN(masks_full); at++)
        if ((at & ~1u) != AT_TB) {
            uint8_t was = read_byte(&w, R_C1 + at);
            write_byte(&w, R_C1 + at, 0xFF);
            assert_int_equal(read_byte(&w, R_C1 + at), was);
        }
    write_byte(&w, R_C1, ARM | 0x0B); /* armed: nothing but ARM and TRIG */
    assert_int_equal(read_byte(&w, R_C1), ARM | 0x10);
    write_byte(&w, R_C1, 0x08); /* disarming changes nothing else */
    assert_int_equal(read_byte(&w, R_C1), 0x10);
    write_byte(&w, R_C1, 0x08);
    assert_int_equal(read_byte(&w, R_C1), 0x08);
    wire_close(&w);
}

static void arm__any_time__goes_to_state1_and_clears_flags(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1600);
    write_byte(&w, R_C1, TRIG);
    assert_int_equal(read_byte(&w, R_EFR), TRIGF);
    assert_int_equal(read_byte(&w, R_C1), 0); /* TRIG reads 0 */
    write_byte(&w, R_C1, ARM);
    assert_int_equal(read_byte(&w, R_SR), 1);
    assert_int_equal(read_byte(&w, R_EFR), 0);
    assert_int_equal(read_byte(&w, R_CNT), 0);
    write_byte(&w, R_C1, 0);
    assert_int_equal(read_byte(&w, R_SR), 0);
    wire_close(&w);
}

/* ---- sequencer ---- */

static unsigned control_of(unsigned channel) { return R_ACTL + 0x10 * channel; }

/* Every code of every channel in every state: reference 2.2. The way into the state is made by
 * another channel. */
static void sequencer__every_code__leads_where_the_table_says(void **state)
{
    static const uint8_t to[4][4] = { { 0 }, { 1, 2, 3, 0 }, { 2, 1, 3, 0 }, { 3, 1, 2, 0 } };
    (void)state;
    for (unsigned from = 1; from <= 3; from++)
        for (unsigned n = 0; n < 4; n++)
            for (unsigned code = 0; code < 4; code++) {
                struct wire w = dbg_open(0x1600);
                unsigned other = (n + 1) % 4;
                compare_address(&w, control_of(n), INST, 0x1604);
                compare_address(&w, control_of(other), INST, 0x1602);
                if (from > 1)
                    write_byte(&w, R_SCR1, (uint8_t)((from - 1) << (2 * other)));
                uint8_t scr = read_byte(&w, R_SCR1 + from - 1);
                write_byte(&w, R_SCR1 + from - 1, (uint8_t)(scr | code << (2 * n)));
                write_byte(&w, R_C1, ARM);
                dbg_go(&w, 3);
                assert_int_equal(read_byte(&w, R_SR) & SSF, from);
                dbg_go(&w, 10);
                assert_int_equal(read_byte(&w, R_SR) & SSF, to[from][code]);
                assert_int_equal(read_byte(&w, R_C1) & ARM, to[from][code] ? ARM : 0);
                assert_int_equal(read_byte(&w, R_EFR), 1 << n | 1 << other);
                wire_close(&w);
            }
}

static void sequencer__matches_of_one_cycle__highest_that_leads_anywhere_wins(void **state)
{
    static const struct {
        const char *name;
        uint8_t scr1, scr2;
        unsigned ssf;
    } rows[] = {
        { "3 over 0", 2 << 6 | 1 << 0, 0, 3 },
        { "2 over 1", 2 << 4 | 1 << 2, 0, 3 },
        { "3 leads nowhere", 1 << 2, 0, 2 },
        { "the new state sees no match of this cycle", 1 << 6, 3 << 0, 2 },
        { "Final has no precedence of its own", 1 << 6 | 3 << 0, 0, 2 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = dbg_open(0x1600);
        print_message("  %s\n", rows[k].name);
        for (unsigned n = 0; n < 4; n++)
            compare_address(&w, control_of(n), INST, 0x1604);
        write_byte(&w, R_SCR1, rows[k].scr1);
        write_byte(&w, R_SCR2, rows[k].scr2);
        write_byte(&w, R_C1, ARM);
        dbg_go(&w, 10);
        assert_int_equal(read_byte(&w, R_SR) & SSF, rows[k].ssf);
        assert_int_equal(read_byte(&w, R_EFR), 0x0F);
        wire_close(&w);
    }
}

static void external_event__state_transition__replaces_channel_3(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1600);
    compare_address(&w, R_DCTL, INST, 0x1604);
    write_byte(&w, R_SCR1, 1 << 6);
    write_byte(&w, R_C1, ARM | 2);
    dbg_go(&w, 10);
    assert_int_equal(read_byte(&w, R_SR) & SSF, 1); /* D is cut off */
    dbg_eev_pin(w.board->dbg, true);
    assert_int_equal(read_byte(&w, R_SR) & SSF, 2);
    assert_true(read_byte(&w, R_EFR) & EEVF);
    wire_close(&w);
}

/* ---- comparators ---- */

static bool matches_access(struct wire *w, uint32_t addr, unsigned size, bool write, uint32_t v)
{
    write_byte(w, R_C1, 0);
    write_byte(w, R_C1, ARM);
    dbg_data(w->board->dbg, addr, size, write, v);
    return read_byte(w, R_EFR) & 1;
}

static void access__direction__is_looked_at_with_rwe_only(void **state)
{
    static const struct {
        unsigned bits;
        bool read, write;
    } rows[] = { { 0, true, true }, { 8, true, true }, { 4, false, true }, { 12, true, false } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = dbg_open(0x1600);
        compare_address(&w, R_ACTL, rows[k].bits, 0x1100);
        assert_int_equal(matches_access(&w, 0x1100, 1, false, 0), rows[k].read);
        assert_int_equal(matches_access(&w, 0x1100, 1, true, 0), rows[k].write);
        wire_close(&w);
    }
}

/* Comparator A on 0x1101, data 11223344. */
static void access__data__is_compared_on_the_lanes_of_the_address(void **state)
{
    static const struct {
        const char *name;
        uint32_t mask;
        unsigned ndb;
        uint32_t addr;
        unsigned size;
        uint32_t v;
        bool match;
    } rows[] = {
        { "no mask: any data", 0, 0, 0x1101, 1, 0x99, true },
        { "no mask, NDB: nothing can differ", 0, 0x40, 0x1101, 1, 0x99, false },
        { "its byte", 0x00FF0000, 0, 0x1101, 1, 0x22, true },
        { "its byte, other data", 0x00FF0000, 0, 0x1101, 1, 0x23, false },
        { "its byte in a word", 0x00FF0000, 0, 0x1100, 2, 0x9922, true },
        { "its byte in a long", 0x00FF0000, 0, 0x1100, 4, 0x99229999, true },
        { "its byte in a pointer at 1", 0x00FF0000, 0, 0x1101, 3, 0x229999, true },
        { "some bits", 0x000F0000, 0, 0x1101, 1, 0xF2, true },
        { "NDB, equal", 0x00FF0000, 0x40, 0x1101, 1, 0x22, false },
        { "NDB, different", 0x00FF0000, 0x40, 0x1101, 1, 0x23, true },
        { "NDB, difference is masked", 0x000F0000, 0x40, 0x1101, 1, 0xF2, false },
        { "all four, long", 0xFFFFFFFF, 0, 0x1100, 4, 0x11223344, true },
        { "all four, but a byte only", 0xFFFFFFFF, 0, 0x1101, 1, 0x22, false },
        { "all four, but a word only", 0xFFFFFFFF, 0, 0x1100, 2, 0x1122, false },
        { "long at 1: split at the boundary", 0x00FFFFFF, 0, 0x1101, 4, 0x22334499, true },
        { "long at 2: the first part has lanes 2 and 3", 0x0000FFFF, 0, 0x10FE, 4, 0x3344 << 16,
          false },
        { "another address", 0, 0, 0x1102, 2, 0, false },
    };
    (void)state;
    struct wire w = dbg_open(0x1600);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        write_byte(&w, R_C1, 0);
        compare_address(&w, R_ACTL, rows[k].ndb, 0x1101);
        compare_data(&w, R_ACTL, 0x11223344, rows[k].mask);
        assert_int_equal(matches_access(&w, rows[k].addr, rows[k].size, true, rows[k].v),
                         rows[k].match);
    }
    wire_close(&w);
}

static void range__inside_and_outside__of_data_and_code(void **state)
{
    static const struct {
        unsigned mode;
        uint32_t at;
        bool match;
    } rows[] = {
        { 1, 0x10FF, false }, { 1, 0x1100, true }, { 1, 0x1180, true },  { 1, 0x11FF, true },
        { 1, 0x1200, false }, { 2, 0x10FF, true }, { 2, 0x1100, false }, { 2, 0x1180, false },
        { 2, 0x11FF, false }, { 2, 0x1200, true },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned pair = 0; pair < 2; pair++)
            for (unsigned inst = 0; inst < 2; inst++) {
                struct wire w = dbg_open(rows[k].at);
                unsigned first = pair ? R_CCTL : R_ACTL;
                memset(w.board->ram + 0x100, 1, 0x110); /* nops */
                compare_address(&w, first, inst ? INST : 0, 0x1100);
                compare_address(&w, first + 0x10, 0, 0x11FF); /* its bits count for nothing */
                write_byte(&w, first + 0x10, 0);
                write_byte(&w, R_C2, (uint8_t)(rows[k].mode << (2 * pair)));
                write_byte(&w, R_C1, ARM);
                if (inst)
                    dbg_exec(w.board->dbg, rows[k].at);
                else
                    dbg_data(w.board->dbg, rows[k].at, 1, false, 0);
                assert_int_equal(read_byte(&w, R_EFR), rows[k].match ? pair ? 4 : 1 : 0);
                wire_close(&w);
            }
}

static void range__with_data__uses_the_first_ones_data(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1600);
    compare_address(&w, R_ACTL, 0, 0x1100);
    compare_address(&w, R_BCTL, 0, 0x11FF);
    compare_data(&w, R_ACTL, 0x00005500, 0x0000FF00);
    write_byte(&w, R_C2, 1);
    assert_true(matches_access(&w, 0x1142, 1, true, 0x55));
    assert_false(matches_access(&w, 0x1142, 1, true, 0x54));
    assert_false(matches_access(&w, 0x1141, 1, true, 0x55));
    wire_close(&w);
}

/* ---- breakpoints ---- */

static void breakpoint__on_an_instruction__is_before_it(void **state)
{
    (void)state;
    for (unsigned swi = 0; swi < 2; swi++) {
        struct wire w = dbg_open(0x1000);
        const struct s12z_cpu *c = &w.board->cpu;
        compare_address(&w, R_ACTL, INST, 0x1006);
        write_byte(&w, R_SCR1, 3);
        write_byte(&w, R_C1, ARM | (swi ? TO_SWI : TO_BDM));
        if (swi)
            w.board->ram[HANDLER - RAM_START] = 0; /* bgnd */
        dbg_go(&w, 100);
        assert_int_equal(c->state, CPU_BDM);
        assert_int_equal(c->r[S12Z_D2], 1);
        assert_int_equal(read_byte(&w, R_C1) & ARM, 0);
        assert_int_equal(read_byte(&w, 0x1101), 0); /* the store was not executed */
        if (!swi)
            assert_int_equal(c->r[S12Z_P], 0x1006);
        else
            assert_memory_equal(w.board->ram + STACK - 3 - RAM_START, "\x00\x10\x06", 3);
        wire_close(&w);
    }
}

static void breakpoint__on_data__is_at_most_two_instructions_later(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1000);
    compare_address(&w, R_ACTL, 0x0C - 8, 0x1101); /* writes */
    compare_data(&w, R_ACTL, 0x00050000, 0x00FF0000);
    write_byte(&w, R_SCR1, 3);
    write_byte(&w, R_C1, ARM | TO_BDM);
    dbg_go(&w, 1000);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    assert_in_range(w.board->cpu.r[S12Z_D2], 5, 6);
    assert_true(w.board->cpu.r[S12Z_P] == 0x1009 || w.board->cpu.r[S12Z_P] == 0x1003 ||
                w.board->cpu.r[S12Z_P] == 0x1006);
    wire_close(&w);
}

static void breakpoint__not_asked_for_or_not_possible__runs_on(void **state)
{
    static const struct {
        const char *name;
        uint8_t c1, csr;
        bool software, trig_only;
    } rows[] = {
        { "BRKCPU=0", ARM, 0x80, false, false },
        { "ENBDC=0", ARM | TO_BDM, 0x00, false, false },
        { "ARM cleared", ARM | TO_BDM, 0x80, true, false },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct wire w = dbg_open(0x1000);
        print_message("  %s\n", rows[k].name);
        compare_address(&w, R_ACTL, INST, rows[k].software ? 0x1080 : 0x1006);
        write_byte(&w, R_SCR1, 3);
        w.board->cpu.enbdc = rows[k].csr;
        write_byte(&w, R_C1, rows[k].c1);
        dbg_go(&w, 100);
        if (rows[k].software)
            write_byte(&w, R_C1, 0);
        dbg_go(&w, 100);
        assert_int_equal(w.board->cpu.state, CPU_RUN);
        assert_int_equal(read_byte(&w, R_C1) & ARM, 0);
        wire_close(&w);
    }
}

static void breakpoint__by_trig__also_when_disarmed_but_not_in_bdm(void **state)
{
    (void)state;
    for (unsigned armed = 0; armed < 2; armed++) {
        struct wire w = dbg_open(0x1000);
        dbg_go(&w, 100);
        write_byte(&w, R_C1, (uint8_t)(TRIG | TO_BDM | (armed ? ARM : 0)));
        dbg_go(&w, 100);
        assert_int_equal(w.board->cpu.state, CPU_BDM);
        assert_int_equal(read_byte(&w, R_EFR), TRIGF);
        write_byte(&w, R_C1, TRIG | TO_BDM); /* halted already: nothing stays behind */
        dbg_go(&w, 100);
        assert_int_equal(w.board->cpu.state, CPU_RUN);
        wire_close(&w);
    }
}

static void breakpoint__during_step1__is_ignored(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1006);
    compare_address(&w, R_ACTL, 0, 0x1100);
    write_byte(&w, R_SCR1, 3);
    write_byte(&w, R_C1, ARM | TO_BDM);
    wire_bits(&w, BDC_STEP1, 8); /* the store */
    wire_pause(&w, 40);
    assert_int_equal(w.board->cpu.r[S12Z_P], 0x1009);
    wire_bits(&w, BDC_GO, 8);
    wire_pause(&w, 40);
    assert_int_equal(w.board->cpu.state, CPU_RUN);
    wire_close(&w);
}

static void breakpoint__on_swi__bdm_first_then_swi(void **state)
{
    (void)state;
    struct wire w = dbg_open(0x1040);
    compare_address(&w, R_ACTL, INST, 0x1059);
    write_byte(&w, R_SCR1, 3);
    write_byte(&w, R_C1, ARM | TO_BDM);
    dbg_go(&w, 1000);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    assert_int_equal(w.board->cpu.r[S12Z_P], 0x1059);
    w.board->ram[HANDLER - RAM_START] = 0;
    dbg_go(&w, 100);
    assert_int_equal(w.board->cpu.r[S12Z_P], HANDLER + 1);
    wire_close(&w);
}

static void small_module__no_trace__has_breakpoints_only(void **state)
{
    unsigned ack;
    (void)state;
    struct wire w = dbg_open_part(&s12z_board_zvl128, "", 0x1000);
    write_byte(&w, R_TCRH, TSOURCE);
    write_byte(&w, R_TCRL, PROFILE);
    for (unsigned n = 0; n < 4; n++)
        compare_address(&w, control_of(n), INST, 0x1006);
    write_byte(&w, R_SCR1, 3 << 6);
    write_byte(&w, R_C1, ARM | TO_BDM);
    assert_int_equal(read_byte(&w, R_SR), 1);
    dbg_go(&w, 100);
    assert_int_equal(w.board->cpu.r[S12Z_P], 0x1006);
    assert_int_equal(read_byte(&w, R_EFR), 0x0B);
    assert_int_equal(read_byte(&w, R_CNT), 0);
    wire_acked(&w, BDC_ACK_ENABLE, 8);
    ack = wire_acked(&w, BDC_READ_DBGTB, 8);
    assert_int_equal(ack, BDC_ACK_CYCLES);
    assert_int_equal(wire_receive(&w, 32), 0);
    assert_int_equal(wire_pulse(&w).length, BDC_ACK_CYCLES);
    assert_int_equal(wire_receive(&w, 32), 0);
    assert_int_equal(wire_csr(&w) & 0xFF, 0);
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers__of_each_part__keep_their_bits),
        cmocka_unit_test(registers__armed__refuse_writes),
        cmocka_unit_test(arm__any_time__goes_to_state1_and_clears_flags),
        cmocka_unit_test(sequencer__every_code__leads_where_the_table_says),
        cmocka_unit_test(sequencer__matches_of_one_cycle__highest_that_leads_anywhere_wins),
        cmocka_unit_test(external_event__state_transition__replaces_channel_3),
        cmocka_unit_test(access__direction__is_looked_at_with_rwe_only),
        cmocka_unit_test(access__data__is_compared_on_the_lanes_of_the_address),
        cmocka_unit_test(range__inside_and_outside__of_data_and_code),
        cmocka_unit_test(range__with_data__uses_the_first_ones_data),
        cmocka_unit_test(breakpoint__on_an_instruction__is_before_it),
        cmocka_unit_test(breakpoint__on_data__is_at_most_two_instructions_later),
        cmocka_unit_test(breakpoint__not_asked_for_or_not_possible__runs_on),
        cmocka_unit_test(breakpoint__by_trig__also_when_disarmed_but_not_in_bdm),
        cmocka_unit_test(breakpoint__during_step1__is_ignored),
        cmocka_unit_test(breakpoint__on_swi__bdm_first_then_swi),
        cmocka_unit_test(small_module__no_trace__has_breakpoints_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
