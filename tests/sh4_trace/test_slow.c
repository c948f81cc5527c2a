/* The slow-down that the trace's account gives, against how far the program really came in the same
 * time of the board. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/profile/slowdown.h"
#include "tests/sh4_trace/board.h"

/* Whether a full ring is found sooner or later depends on how its filling and the host's looks fall
 * together: rings of several sizes, over one period of that, which is 9 KB. */
enum { RUN_NS = 400000000, SIZES = 9, STEP = 1024 };

/* A few hundred cycles between two calls, so that both shares are of a size that can be judged. */
static const char program[] = "main: mov.l l_v,r9\n mov #0,r8\n"
                              "m_loop: mov #50,r2\n"
                              "m_idle: dt r2\n bf m_idle\n"
                              "bsr f\n add #1,r8\n bra m_loop\n mov.l r8,@r9\n"
                              ".align 2\n l_v: .long 0xAC0E0000\n"
                              "f: rts\n nop\n";

static uint32_t rounds_done(struct board *b)
{
    board_halt(b);
    uint32_t n = board_reg(b, 8);
    board_resume(b);
    return n;
}

/* Rounds in RUN_NS, traced as cfg says or not at all. */
static uint32_t rounds_in_run(const struct trace_config *cfg, uint32_t less,
                              struct trace_status *st)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_config own;
    board_open(&b, &prog, "", program);
    if (cfg) {
        own = *cfg;
        own.ram_base = SH4_AGENT_RAM_DEFAULT;
        own.ram_bytes = SH4_AGENT_RAM_BYTES - less;
        own.start = own.has_start ? asm_label(&prog, "m_loop") : 0;
        board_arm(&b, &own);
    }
    board_resume(&b);
    board_for(&b, 1000000);
    uint32_t before = rounds_done(&b);
    board_for(&b, RUN_NS);
    uint32_t n = rounds_done(&b) - before;
    if (cfg)
        assert_int_equal(b.t->ops->trace->status(b.t, st, NULL), 0);
    board_close(&b);
    return n;
}

static void trace_status__counters_of_any_kind__slow_down_is_the_true_one(void **state)
{
    static const struct {
        const char *name;
        struct trace_config cfg;
        double within;
    } rows[] = {
        { "time on C1", { .counter = { 0x23, 0x13 } }, 0.02 },
        { "time on C2", { .counter = { 0x08, 0x23 } }, 0.02 },
        { "no time", { .counter = { 0x13, 0x08 } }, 0.1 },
        { "bus ratio", { .counter = { 0x23, 0x13 }, .counter_ratio = true }, 0.1 },
        { "start point", { .counter = { 0x23, 0x13 }, .has_start = true }, 0.03 },
        { "start point, no time", { .counter = { 0x13, 0x08 }, .has_start = true }, 0.1 },
        { "filter", { .counter = { 0x23, 0x13 }, .irq_filter = IRQ_FILTER_AUTO }, 0.1 },
    };
    (void)state;
    double plain = rounds_in_run(NULL, 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double truth = 0, reported = 0;
        for (uint32_t k = 0; k < SIZES; k++) {
            struct trace_status st;
            char text[80];
            double times = plain / rounds_in_run(&rows[i].cfg, k * STEP, &st);
            struct slowdown s = slowdown_of(&st.time);
            print_message("  %s: %s, really %.2f\n", rows[i].name,
                          slowdown_text(&s, text, sizeof text), times);
            assert_true(st.events > 1000 && times > 1.5);
            truth += times;
            reported += s.times;
        }
        assert_true(reported > truth * (1 - rows[i].within) &&
                    reported < truth * (1 + rows[i].within));
    }
}

static void trace_status__halted_by_a_debugger__time_does_not_count(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_status before, after;
    struct target_stop stop;
    (void)state;
    board_open(&b, &prog, "", program);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_resume(&b);
    board_for(&b, 5000000);
    board_halt(&b);
    assert_int_equal(b.t->ops->trace->status(b.t, &before, NULL), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(b.t->ops->poll(b.t, 1000000, &stop, NULL), 0);
    assert_int_equal(b.t->ops->trace->status(b.t, &after, NULL), 0);
    assert_true(before.time.board_ns > 4000000 && before.time.board_ns == after.time.board_ns);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_status__counters_of_any_kind__slow_down_is_the_true_one),
        cmocka_unit_test(trace_status__halted_by_a_debugger__time_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
