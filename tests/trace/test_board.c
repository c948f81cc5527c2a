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

static const char nested[] =
    "main: mov #0,r8\n mov.l l_n,r9\n"
    "m_loop: mov.l l_f,r1\n jsr @r1\n mov r9,r4\n add r0,r8\n"
    "mov #5,r4\n bsr fact\n nop\n add r0,r8\n"
    "dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_n: .long 200\n l_f: .long f\n"
    "f: sts.l pr,@-r15\n mov.l r8,@-r15\n bsr g\n mov r4,r8\n add r8,r0\n mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n nop\n"
    "g: mov r4,r0\n shll r0\n rts\n add #1,r0\n"
    "fact: sts.l pr,@-r15\n mov.l r4,@-r15\n tst r4,r4\n bt f_one\n"
    "bsr fact\n add #-1,r4\n mov.l @r15,r4\n mul.l r0,r4\n sts macl,r0\n bra f_out\n nop\n"
    "f_one: mov #1,r0\n"
    "f_out: add #4,r15\n lds.l @r15+,pr\n rts\n nop\n";

static void board__calls__every_event_arrives_and_the_result_is_the_same(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open(&b, &prog, "", nested);
    board_run(&b, "m_end", 2000000000);
    uint32_t plain = board_reg(&b, 8);
    board_close(&b);
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    assert_int_equal(board_reg(&b, 8), plain);
    board_disarm(&b);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %u events, lost %u, wire bits/event %.1f, residue %u %u\n  %s\n", (unsigned)st.events, (unsigned)st.lost,
                  (double)st.wire_bits / (double)st.events, st.agent_cost[0], st.agent_cost[1], st.note);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 8);
    assert_int_equal(st.lost, 0);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(board__calls__every_event_arrives_and_the_result_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
