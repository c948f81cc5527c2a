/* How a trace ends: time since the last event is counted, and a program that hangs does not make it
 * last longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

enum { RUN_NS = 5000000, CYCLES_PER_US = 200 };

/* One call, then a loop in which nothing is traced, with SR as at l_sr. */
#define LOOP(sr)                                                                                   \
    "main: bsr f\n nop\n mov.l l_sr,r0\n ldc r0,sr\n m_loop: bra m_loop\n add #1,r8\n .align 2\n " \
    "l_sr: .long " sr "\n"                                                                         \
    "f: rts\n nop\n"

static const struct event *last_of_kind(const struct board *b, enum event_kind kind)
{
    for (size_t i = b->nev; i-- > 0;)
        if (b->ev[i].kind == kind)
            return &b->ev[i];
    fail_msg("no event of kind %d", kind);
    return NULL;
}

static void
end__no_event_for_long__time_until_the_end_is_counted_and_the_end_comes_soon(void **state)
{
    static const struct {
        const char *name, *src;
        uint64_t most_ns;
    } rows[] = {
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
        /* BRA, its slot: three or four cycles */
        assert_true(last_of_kind(&b, EVENT_STOP)->c2 >= cycles / 3);
        assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
        /* what was not traced is not the agent's */
        assert_true(st.time.agent_cycles * 100 < st.time.target_cycles);
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
    board_arm(&b, &(struct trace_config){
                      .counter = { 0x23, 0x13 }, .nstops = 1, .stops = { asm_label(&prog, "f") } });
    board_resume(&b);
    board_for(&b, RUN_NS);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_STOP), 1);
    assert_true(last_of_kind(&b, EVENT_STOP)->c1 < 1000);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_true(st.time.agent_cycles * 100 < st.time.target_cycles);
    board_close(&b);
}

/* ---- halts: what the way into the debug kernel and out of it takes is not the program's ---- */

/* 1 instruction, 50 rounds of 6 with f's two, 20 of 2 and 1 behind them. */
#define COUNTED                                                                                  \
    "main: mov #50,r9\n m_loop: bsr f\n nop\n m_back: dt r9\n bf m_loop\n mov #20,r9\n m_tail: " \
    "dt r9\n bf m_tail\n m_end: bra m_end\n nop\n f: rts\n m_slot: nop\n"
enum { COUNTED_ALL = 1 + 50 * 6 + 1 + 20 * 2 };

static uint64_t counted_insns(const struct board *b, unsigned insns_counter)
{
    const struct event *stop = last_of_kind(b, EVENT_STOP);
    return insns_counter ? stop->c2 : stop->c1;
}

/* To m_end with a breakpoint there; n more halts on the way, each of one kind. */
static uint64_t run_counted(unsigned halts, bool hard, bool caches)
{
    static struct board b;
    static struct asm_prog prog;
    struct err err = { .code = ERR_OK };
    struct target_stop stop;
    board_open(&b, &prog, "", COUNTED);
    if (!caches)
        board_set_word(&b, 0xFF00001C, 0);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    uint32_t at = asm_label(&prog, "m_back");
    for (unsigned i = 0; i < halts; i++) {
        assert_int_equal(b.t->ops->insert_bp(b.t, hard ? BP_HARD : BP_SOFT, at, 2, &err), 0);
        board_resume(&b);
        while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
            ;
        assert_int_equal(stop.pc, at);
        assert_int_equal(b.t->ops->remove_bp(b.t, hard ? BP_HARD : BP_SOFT, at, 2, &err), 0);
    }
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    uint64_t n = counted_insns(&b, true);
    print_message("  %u halts, %s, caches %s: %u instructions of %u, %u cycles\n", halts,
                  hard ? "hard" : "soft", caches ? "on" : "off", (unsigned)n, COUNTED_ALL,
                  (unsigned)counted_insns(&b, false));
    board_close(&b);
    return n;
}

static void halts__by_breakpoints__no_instruction_of_the_kernel_is_the_programs(void **state)
{
    (void)state;
    for (int caches = 1; caches >= 0; caches--)
        for (int hard = 0; hard < 2; hard++)
            for (unsigned halts = 0; halts < 4; halts++)
                assert_int_equal(run_counted(halts, hard, caches), COUNTED_ALL);
}

/* By 0 to 4 steps behind each of three breakpoints: the ways in and out have taken more by then
 * than they do once they are in the caches. */
static void halts__by_steps_in_a_row__no_instruction_of_the_kernel_is_the_programs(void **state)
{
    static const char *const where[] = { "m_loop", "m_back" };
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(where); i++)
        for (int steps = 0; steps < 5; steps++) {
            static struct board b;
            static struct asm_prog prog;
            board_open(&b, &prog, "", COUNTED);
            board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
            for (int round = 0; round < 3; round++) {
                board_run(&b, where[i], 2000000000);
                for (int k = 0; k < steps; k++) {
                    assert_int_equal(b.t->ops->resume(b.t, &step, NULL), 0);
                    while (b.t->ops->poll(b.t, 1000000, &stop, NULL) == 0)
                        ;
                }
            }
            board_run(&b, "m_end", 2000000000);
            board_disarm(&b);
            assert_int_equal(counted_insns(&b, true), COUNTED_ALL);
            board_close(&b);
        }
}

/* From start points of every kind on: a site, its slot's neighbour, behind the loop. */
static void start__at_a_point__all_behind_it_is_counted(void **state)
{
    static const struct {
        const char *at;
        unsigned behind;
    } rows[] = { { "main", COUNTED_ALL },
                 { "m_loop", COUNTED_ALL - 1 },
                 { "m_back", COUNTED_ALL - 5 },
                 { "m_tail", 40 } };
    (void)state;
    for (int caches = 1; caches >= 0; caches--)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            static struct board b;
            static struct asm_prog prog;
            board_open(&b, &prog, "", COUNTED);
            if (!caches)
                board_set_word(&b, 0xFF00001C, 0);
            board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 },
                                                  .has_start = true,
                                                  .start = asm_label(&prog, rows[i].at) });
            board_run(&b, "m_end", 2000000000);
            board_disarm(&b);
            print_message("  from %s on: %u instructions of %u\n", rows[i].at,
                          (unsigned)counted_insns(&b, true), rows[i].behind);
            assert_int_equal(counted_insns(&b, true), rows[i].behind);
            board_close(&b);
        }
}

/* Interrupted in a loop that counts its rounds: three instructions each. */
static void halt__by_the_host__no_instruction_of_the_kernel_is_the_programs(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    board_open(&b, &prog, "",
               "main: bsr f\n nop\n m_loop: add #1,r8\n bra m_loop\n nop\n f: rts\n nop\n");
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    for (unsigned i = 1; i <= 3; i++) {
        board_resume(&b);
        board_for(&b, 1000000);
        board_halt(&b);
    }
    uint32_t rounds = board_reg(&b, 8);
    board_disarm(&b);
    print_message("  %u instructions of %u\n", (unsigned)counted_insns(&b, true), 4 + 3 * rounds);
    /* where in the round it was is not looked at */
    assert_in_range(counted_insns(&b, true), 4 + 3 * rounds, 4 + 3 * rounds + 2);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            end__no_event_for_long__time_until_the_end_is_counted_and_the_end_comes_soon),
        cmocka_unit_test(halts__by_breakpoints__no_instruction_of_the_kernel_is_the_programs),
        cmocka_unit_test(halts__by_steps_in_a_row__no_instruction_of_the_kernel_is_the_programs),
        cmocka_unit_test(start__at_a_point__all_behind_it_is_counted),
        cmocka_unit_test(halt__by_the_host__no_instruction_of_the_kernel_is_the_programs),
        cmocka_unit_test(end__behind_a_stop_point__nothing_is_counted_nor_the_agent_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
