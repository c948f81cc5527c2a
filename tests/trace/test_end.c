/* How a trace ends: time since the last event is counted, and a program that hangs does not make it last longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/trace/board.h"

enum { RUN_NS = 5000000, CYCLES_PER_US = 200 };

/* One call, then a loop in which nothing is traced, with SR as at l_sr. */
#define LOOP(sr) \
    "main: bsr f\n nop\n mov.l l_sr,r0\n ldc r0,sr\n m_loop: bra m_loop\n add #1,r8\n .align 2\n l_sr: .long " sr "\n" \
    "f: rts\n nop\n"

static const struct event *last_of_kind(const struct board *b, enum event_kind kind)
{
    for (size_t i = b->nev; i-- > 0;)
        if (b->ev[i].kind == kind)
            return &b->ev[i];
    fail_msg("no event of kind %d", kind);
    return NULL;
}

static void end__no_event_for_long__time_until_the_end_is_counted_and_the_end_comes_soon(void **state)
{
    static const struct { const char *name, *src; uint64_t most_ns; } rows[] = {
        { "interrupts open", LOOP("0x40000000"), 500000 },
        { "all interrupts masked", LOOP("0x400000F0"), 2000000 },
        { "exceptions blocked", LOOP("0x50000000"), 4000000 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct board b;
        static struct asm_prog prog;
        struct trace_status st;
        print_message("  %s\n", rows[i].name);
        board_open(&b, &prog, "", rows[i].src);
        board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
        board_resume(&b);
        board_for(&b, RUN_NS);
        uint64_t since = b.t->ops->now_ns(b.t);
        board_disarm(&b);
        uint64_t cycles = last_of_kind(&b, EVENT_STOP)->c1, took = b.t->ops->now_ns(b.t) - since;
        print_message("    %u cycles, %u us to end\n", (unsigned)cycles, (unsigned)(took / 1000));
        assert_true(cycles >= (uint64_t)RUN_NS / 1000 * CYCLES_PER_US);
        assert_true(cycles <= ((uint64_t)RUN_NS + rows[i].most_ns) / 1000 * CYCLES_PER_US);
        assert_true(last_of_kind(&b, EVENT_STOP)->c2 >= cycles / 3); /* BRA, its slot: three or four cycles */
        assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
        assert_true(st.agent_cycles * 100 < st.target_cycles); /* what was not traced is not the agent's */
        board_close(&b);
    }
}

/* Behind the only stop point nothing is the program's slow-down, and nothing is counted. */
static void end__behind_a_stop_point__nothing_is_counted_nor_the_agent_s(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    (void)state;
    board_open(&b, &prog, "", LOOP("0x40000000"));
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 }, .nstops = 1, .stops = { asm_label(&prog, "f") } });
    board_resume(&b);
    board_for(&b, RUN_NS);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_STOP), 1);
    assert_true(last_of_kind(&b, EVENT_STOP)->c1 < 1000);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_true(st.agent_cycles * 100 < st.target_cycles);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end__no_event_for_long__time_until_the_end_is_counted_and_the_end_comes_soon),
        cmocka_unit_test(end__behind_a_stop_point__nothing_is_counted_nor_the_agent_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
