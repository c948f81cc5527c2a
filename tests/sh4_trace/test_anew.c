/* A trace that is armed anew while the program is held between: nothing is missed, nothing counted
 * twice, and nothing of it is left in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

enum { RUN_NS = 2000000000, ROUNDS = 20000, CHANGES = 12 };

static struct board b;
static struct asm_prog prog;

/* Six instructions a call of g. */
static const char calls[] = "main: mov.l l_n,r10\n mov #0,r8\n mov #0,r9\n"
                            "m_loop: bsr f\n nop\n dt r10\n bf m_loop\n nop\n"
                            "m_end: bra m_end\n nop\n .align 2\n l_n: .long 20000\n"
                            "f: sts.l pr,@-r15\n mov.l l_g,r1\n jsr @r1\n add #1,r8\n lds.l "
                            "@r15+,pr\n rts\n nop\n .align 2\n l_g: .long g\n"
                            "g: mov #4,r0\n g_spin: dt r0\n bf g_spin\n rts\n add #1,r9\n";

static const struct trace_config one = { .counter = { 0x23, 0x13 } },
                                 other = { .counter = { 0x13, 0x08 } };

/* Instructions that this arming has counted: those of its last event. */
static uint64_t instructions_since(size_t first, bool in_c1)
{
    uint64_t most = 0;
    for (size_t i = first; i < b.nev; i++) {
        uint64_t c = in_c1 ? b.ev[i].c1 : b.ev[i].c2;
        most = c > most ? c : most;
    }
    return most;
}

static uint64_t events_of(enum event_kind kind, const char *at)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b.nev; i++)
        n += b.ev[i].kind == kind && b.ev[i].target == asm_label(&prog, at);
    return n;
}

static void arm_anew(const struct trace_config *cfg)
{
    struct err err = { .code = ERR_OK };
    bool ran;
    assert_int_equal(b.t->ops->trace->hold(b.t, &ran, &err), 0);
    assert_true(ran);
    assert_int_equal(b.t->ops->state(b.t), TARGET_HALTED);
    board_disarm(&b);
    board_arm(&b, cfg);
    assert_int_equal(b.t->ops->trace->release(b.t, ran, &err), 0);
    assert_int_equal(b.t->ops->state(b.t), TARGET_RUNNING);
}

static void memory_is_the_programs(void)
{
    for (size_t i = 0; i + 4 <= prog.len; i += 4)
        assert_int_equal(board_word(&b, BOARD_TEXT + (uint32_t)i),
                         get32(prog.code + i, b.t->big_endian));
}

static uint64_t whole_run(void)
{
    board_open(&b, &prog, "", calls);
    board_arm(&b, &one);
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    uint64_t instructions = instructions_since(0, false);
    board_close(&b);
    return instructions;
}

static void armed_anew__while_it_runs__every_call_is_seen_once(void **state)
{
    (void)state;
    uint64_t whole = whole_run(), sum = 0;
    board_open(&b, &prog, "", calls);
    board_arm(&b, &one);
    board_resume(&b);
    for (int i = 0; i < CHANGES; i++) {
        size_t first = b.nev;
        board_for(&b, 20000);
        arm_anew(i % 2 ? &one : &other);
        sum += instructions_since(first, i % 2 == 1);
    }
    size_t first = b.nev;
    board_halt(&b);
    assert_true(board_reg(&b, 8) < ROUNDS);
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    sum += instructions_since(first, false);
    assert_int_equal(board_reg(&b, 8), ROUNDS);
    assert_int_equal(board_reg(&b, 9), ROUNDS);
    assert_int_equal(events_of(EVENT_CALL, "f"), ROUNDS);
    assert_int_equal(events_of(EVENT_CALL, "g"), ROUNDS);
    assert_int_equal(board_count(&b, EVENT_LOST), 0);
    assert_int_equal(board_count(&b, EVENT_START), CHANGES + 1);
    /* halted in a stub, it is stepped out of it: a jump and its slot that nobody counts */
    print_message("%llu instructions of %llu\n", (unsigned long long)sum,
                  (unsigned long long)whole);
    assert_true(sum <= whole && whole - sum <= 2 * CHANGES);
    memory_is_the_programs();
    board_close(&b);
}

/* Held twice, or where it stands already: it goes on once, or not at all. */
static void held__where_it_stands__stays_so(void **state)
{
    struct err err = { .code = ERR_OK };
    bool ran = true;
    (void)state;
    board_open(&b, &prog, "", calls);
    board_arm(&b, &one);
    assert_int_equal(b.t->ops->trace->hold(b.t, &ran, &err), 0);
    assert_false(ran);
    assert_int_equal(b.t->ops->trace->release(b.t, ran, &err), 0);
    assert_int_equal(b.t->ops->state(b.t), TARGET_HALTED);
    board_run(&b, "m_end", RUN_NS);
    assert_int_equal(events_of(EVENT_CALL, "g"), ROUNDS);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(armed_anew__while_it_runs__every_call_is_seen_once),
        cmocka_unit_test(held__where_it_stands__stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
