/* Watchpoints while single-stepping, where hardware sees nothing: the driver reads instructions
 * before they run. Random programs are run freely with the module's comparators and stepped with
 * the driver's eyes, and both must stop at the same places. */
#include "targets/s12z/driver/access.h"
#include "tests/s12z/live_rig.h"

enum { EVERYTHING = 0x1000000, HITS = 40 };

/* 1100 ld d2,#0 | loop 1103 inc d2 | 1104 bsr sub | 1107 st d2,2000 | 110A ld d3,2010 | 110D bra
 * loop | sub 1110 st d0,2005 (a byte) | 1113 rts */
static const uint8_t program[] = {
    0x90, 0x00, 0x00, 0x30, 0x21, 0x80, 0x0C, 0xC0, 0x20, 0x00,
    0xA1, 0x20, 0x10, 0x20, 0xFF, 0xF6, 0xC4, 0x20, 0x05, 0x05,
};

static void set_breakpoint(struct board *b, enum bp_kind kind, uint32_t addr, unsigned len)
{
    MUST(b, b->ops->insert_bp(b->t, kind, addr, len, &b->err));
}

static void step__over_an_access__is_a_watchpoint_s_stop(void **state)
{
    static const struct {
        const char *name;
        enum bp_kind kind;
        uint32_t addr;
        unsigned len;
        uint32_t pc[5];
    } rows[] = {
        { "write", BP_WATCH_WRITE, 0x2000, 2, { 0x110A, 0x110A } },
        { "one byte of it", BP_WATCH_WRITE, 0x2001, 1, { 0x110A, 0x110A } },
        { "behind it", BP_WATCH_WRITE, 0x2002, 1, { 0 } },
        { "read", BP_WATCH_READ, 0x2010, 2, { 0x110D, 0x110D } },
        { "written, not read", BP_WATCH_READ, 0x2000, 2, { 0 } },
        { "read, not written", BP_WATCH_WRITE, 0x2010, 2, { 0 } },
        { "access", BP_WATCH_ACCESS, 0x2010, 1, { 0x110D, 0x110D } },
        { "return address, pushed and pulled",
          BP_WATCH_ACCESS,
          STACK - 3,
          3,
          { 0x1110, 0x1107, 0x1110, 0x1107, 0x1110 } },
        { "return address, pushed", BP_WATCH_WRITE, STACK - 1, 1, { 0x1110, 0x1110, 0x1110 } },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct board *b = board_start("s12zvml128", program, sizeof program);
        size_t hits = 0;
        print_message("  %s\n", rows[k].name);
        set_breakpoint(b, rows[k].kind, rows[k].addr, rows[k].len);
        for (int n = 0; n < 18; n++) {
            struct target_stop stop = step_board(b);
            if (stop.reason != STOP_WATCH) {
                assert_int_equal(stop.reason, STOP_STEP);
                continue;
            }
            assert_int_equal(stop.watch_addr, rows[k].addr);
            assert_int_equal(stop.watch_kind, rows[k].kind);
            assert_true(hits < 5 && rows[k].pc[hits]);
            assert_int_equal(stop.pc, rows[k].pc[hits++]);
        }
        assert_true(rows[k].pc[0] ? hits >= 2 : hits == 0);
        board_close(b);
    }
}

static void step__off_a_breakpoint_onto_an_access__stops_there(void **state)
{
    (void)state;
    struct board *b = board_start("s12zvml128", program, sizeof program);
    set_breakpoint(b, BP_SOFT, 0x1107, 1);
    set_breakpoint(b, BP_WATCH_WRITE, 0x2000, 2);
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, 0x1107);
    continue_board(b); /* steps off, and that step writes */
    struct target_stop stop = wait_stop(b);
    assert_int_equal(stop.reason, STOP_WATCH);
    assert_int_equal(stop.pc, 0x110A);
    board_close(b);
}

static void range_step__with_a_value__stops_at_that_value(void **state)
{
    (void)state;
    const struct s12z_hard *h;
    struct board *b = board_start("s12zvml128", program, sizeof program);
    set_breakpoint(b, BP_WATCH_WRITE, 0x2000, 2);
    MUST(b, s12z_watch_data(s12z_of(b->t), true, 3, 0xFFFF, &h, &b->err));
    struct target_stop stop = step_range(b, 0, EVERYTHING);
    assert_int_equal(stop.reason, STOP_WATCH);
    assert_int_equal(get_reg(b, R_D2), 3);
    assert_int_equal(get_reg(b, R_P), 0x110A);
    board_close(b);
}

/* Where `kind` of addr..addr+len stops the program of this seed, freely or stepped; how often. */
static size_t count_stops(uint64_t seed, bool stepped, enum bp_kind kind, uint32_t addr,
                          unsigned len, uint32_t *pc)
{
    struct gen_options o = gen_options_random(seed);
    o.flash_bytes = 4096;
    o.rounds = 1;
    o.functions = 6;
    o.software_exceptions = false;
    struct live_run *r = live_open_program(",bdc=8M", gen_program_new(&o));
    size_t n = 0;
    set_breakpoint(r->b, kind, addr, len);
    set_breakpoint(r->b, BP_HARD, r->p->done, 1); /* a BGND, which a step would pass */
    while (n < HITS) {
        if (!stepped)
            continue_board(r->b);
        struct target_stop stop = stepped ? step_range(r->b, 0, EVERYTHING) : wait_stop(r->b);
        if (stop.reason == STOP_HWBREAK)
            break;
        assert_int_equal(stop.reason, STOP_WATCH);
        assert_int_equal(stop.watch_addr, addr);
        pc[n++] = (uint32_t)stop.pc;
    }
    live_close(r);
    return n;
}

static void stepped__random_programs__meet_what_the_comparators_meet(void **state)
{
    size_t total = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        static const struct {
            enum bp_kind kind;
            uint32_t addr;
            unsigned len;
        } rows[] = { { BP_WATCH_WRITE, GEN_RAM, 0x200 },
                     { BP_WATCH_READ, GEN_RAM, 0x200 },
                     { BP_WATCH_ACCESS, GEN_STACK - 40, 40 },
                     { BP_WATCH_READ, GEN_RAM, 1 } };
        for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
            uint32_t free_pc[HITS], step_pc[HITS];
            size_t n = count_stops(seed, false, rows[k].kind, rows[k].addr, rows[k].len, free_pc);
            size_t m = count_stops(seed, true, rows[k].kind, rows[k].addr, rows[k].len, step_pc);
            print_message("  seed %u, row %zu: %zu and %zu\n", (unsigned)seed, k, n, m);
            for (size_t i = 0; i < MIN(n, m); i++)
                if (free_pc[i] != step_pc[i])
                    fail_msg("stop %zu: %06X freely, %06X stepped", i, free_pc[i], step_pc[i]);
            assert_int_equal(n, m);
            total += n;
        }
    }
    assert_true(total > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step__over_an_access__is_a_watchpoint_s_stop),
        cmocka_unit_test(step__off_a_breakpoint_onto_an_access__stops_there),
        cmocka_unit_test(range_step__with_a_value__stops_at_that_value),
        cmocka_unit_test(stepped__random_programs__meet_what_the_comparators_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
