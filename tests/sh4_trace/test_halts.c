/* The trace halts the program for its own purposes, and polls for events, while the user has asked
 * for something else: what the user asked for still happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/sh4/driver/driver.h"
#include "tests/sh4_trace/board.h"

enum { REG_PC = 16, REG_SR = 22, SLICE_NS = 1000000 };

static struct board b;
static struct asm_prog prog;
static struct err err;

/* m_spin is a loop in which nothing is traced; `hand` is the handler of TRAPA, and never ends. */
static const char calls[] = "main: mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_g,r1\n jsr @r1\n nop\n"
                            "mov #0,r8\n"
                            "m_spin: add #1,r8\n bra m_spin\n nop\n"
                            "m_trap: trapa #7\n"
                            "m_end: bra m_end\n nop\n .align 2\n l_g: .long g\n l_vec: .long vec\n"
                            "g: rts\n add #1,r9\n"
                            ".align 4\n vec: .space 256\n hand: bra hand\n add #1,r0\n";

static uint32_t address_of(const char *label) { return asm_label(&prog, label); }

static void arm_and_run(void)
{
    struct trace_config cfg = { .counter = { 0x23, 0x13 } };
    board_open(&b, &prog, "", calls);
    board_arm(&b, &cfg);
    board_resume(&b);
    board_for(&b, 2 * SLICE_NS);
}

static struct target_stop next_stop(void)
{
    struct target_stop stop = { .reason = STOP_NONE };
    int ret = b.t->ops->poll(b.t, 100 * (uint64_t)SLICE_NS, &stop, &err);
    if (ret < 0)
        fail_msg("poll: %s", err.what);
    return stop;
}

static void halt__asked_before_the_trace_ends__is_reported(void **state)
{
    (void)state;
    arm_and_run();
    assert_int_equal(b.t->ops->halt(b.t, &err), 0);
    assert_int_equal(b.t->ops->trace->disarm(b.t, &err), 0);
    assert_int_equal(next_stop().reason, STOP_REQUEST);
    assert_int_equal(b.t->ops->state(b.t), TARGET_HALTED);
    board_close(&b);
}

/* m_loop calls most of the time, so that most halts would be in a stub, or in the agent. */
static const char busy[] =
    "main: mov.l l_g,r1\n mov #0,r8\n mov #0,r9\n"
    "m_loop: jsr @r1\n add #1,r8\n bra m_loop\n nop\n .align 2\n l_g: .long g\n"
    "g: rts\n add #1,r9\n l_end: nop\n";

static void halt__in_a_stub__is_shown_where_the_program_is(void **state)
{
    enum { HALTS = 60, REG_R8 = 8, REG_R9 = 9 };
    (void)state;
    struct trace_config cfg = { .counter = { 0x23, 0x13 } };
    uint32_t seed = 1, before = 0;
    board_open(&b, &prog, "", busy);
    board_arm(&b, &cfg);
    for (unsigned i = 0; i < HALTS; i++) {
        seed = seed * 1664525 + 1013904223;
        board_resume(&b);
        board_for(&b, SLICE_NS / 2 + seed % SLICE_NS);
        assert_int_equal(b.t->ops->halt(b.t, &err), 0);
        struct target_stop stop = next_stop();
        assert_int_equal(stop.reason, STOP_REQUEST);
        assert_int_equal(stop.pc, board_reg(&b, REG_PC));
        assert_in_range(stop.pc & 0x1FFFFFFF, address_of("main"), address_of("l_end") - 2);
        uint32_t calls_made = board_reg(&b, REG_R8), bodies = board_reg(&b, REG_R9);
        assert_true(calls_made - bodies <= 1); /* the program goes on as if nothing had been */
        assert_true(calls_made > before);
        before = calls_made;
    }
    board_close(&b);
}

/* A timer's handlers take most of the time, so that many halts are where an RTE has led. */
static const char handlers[] =
    "main: mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n"
    "mov.l l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n mov.l l_tcr,r0\n"
    "mov #32,r1\n mov.w r1,@r0\n mov.l l_tstr,r0\n mov #1,r1\n mov.b r1,@r0\n mov #0,r8\n"
    "mov.l l_sr,r0\n ldc r0,sr\n"
    "m_loop: bsr sub\n add #1,r8\n bra m_loop\n nop\n"
    "sub: rts\n nop\n .align 2\n"
    "l_vec: .long v_ec\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n"
    "l_tcor: .long 0xFFD80008\n l_per: .long 100\n l_tcr: .long 0xFFD80010\n"
    "l_tstr: .long 0xFFD80004\n l_sr: .long 0x40000000\n"
    ".align 4\n v_ec: .space 1536\n"
    "hand: mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n rte\n nop\n .align 2\n"
    "h_tcr: .long 0xFFD80010\n l_end: nop\n";

static void halt__where_an_RTE_has_led__is_shown_where_the_program_is(void **state)
{
    enum { HALTS = 200, REG_R8 = 8 };
    (void)state;
    struct trace_config cfg = { .counter = { 0x23, 0x13 } };
    uint32_t seed = 1;
    board_open(&b, &prog, "", handlers);
    board_arm(&b, &cfg);
    for (unsigned i = 0; i < HALTS; i++) {
        seed = seed * 1664525 + 1013904223;
        board_resume(&b);
        board_for(&b, SLICE_NS / 50 + seed % (SLICE_NS / 20));
        assert_int_equal(b.t->ops->halt(b.t, &err), 0);
        struct target_stop stop = next_stop();
        assert_int_equal(stop.reason, STOP_REQUEST);
        assert_int_equal(stop.pc, board_reg(&b, REG_PC));
        assert_in_range(stop.pc & 0x1FFFFFFF, address_of("main"), address_of("l_end") - 2);
    }
    board_close(&b);
}

static void range__under_way_when_the_trace_is_switched__ends_in_the_range(void **state)
{
    (void)state;
    arm_and_run();
    board_halt(&b);
    struct resume how = { .kind = RESUME_RANGE,
                          .range_lo = address_of("m_spin"),
                          .range_hi = address_of("m_spin") + 6 };
    assert_int_equal(b.t->ops->resume(b.t, &how, &err), 0);
    assert_int_equal(b.t->ops->trace->set_active(b.t, false, &err), 0);
    struct target_stop stop = next_stop();
    assert_int_equal(stop.reason, STOP_STEP);
    assert_in_range(stop.pc, how.range_lo, how.range_hi - 1);
    board_close(&b);
}

static void ignore_text(void *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
}

static void run_monitor(const char *name, char *word)
{
    const struct text_sink sink = { .write = ignore_text };
    char *argv[] = { (char *)name, word };
    for (const struct monitor_command *c = b.t->ops->monitor; c->name; c++)
        if (!strcmp(c->name, name))
            assert_int_equal(c->run(b.t, 2, argv, &sink, &err), 0);
}

/* It counts as running, and stands between two polls: looking for events does not let it go. */
static void events__polled_while_the_host_steps__leave_the_program_standing(void **state)
{
    (void)state;
    struct event ev[8];
    arm_and_run();
    board_halt(&b);
    run_monitor("catch", "trapa");
    board_set_reg(&b, REG_PC, address_of("m_trap"));
    board_resume(&b);
    assert_int_equal(next_stop().reason, STOP_SIGNAL);
    assert_int_equal(b.t->ops->insert_bp(b.t, BP_SOFT, address_of("m_spin"), 2, &err), 0);
    board_resume(&b);
    for (int i = 0; i < 3; i++) {
        struct target_stop stop;
        assert_true(sh4_host_steps(sh4_of(b.t)));
        assert_true(b.t->ops->trace->poll(b.t, ev, 8, SLICE_NS, &err) >= 0);
        if (b.t->ops->poll(b.t, SLICE_NS, &stop, &err) != 0)
            fail_msg("stopped, or failed: %s", err.what);
    }
    assert_int_equal(b.t->ops->halt(b.t, &err), 0);
    assert_int_equal(next_stop().reason, STOP_REQUEST);
    assert_int_equal(board_reg(&b, REG_SR) >> 28, 7);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halt__asked_before_the_trace_ends__is_reported),
        cmocka_unit_test(halt__in_a_stub__is_shown_where_the_program_is),
        cmocka_unit_test(halt__where_an_RTE_has_led__is_shown_where_the_program_is),
        cmocka_unit_test(range__under_way_when_the_trace_is_switched__ends_in_the_range),
        cmocka_unit_test(events__polled_while_the_host_steps__leave_the_program_standing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
