/* Programs that crash while they are traced, and whose CPU is reset by it: nothing that was
 * recorded before is lost. */
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

enum { CALLS = 50, EXPEVT_READ = 0x0E0, RUN_NS = 5000000 };

/* CALLS calls of f, the last of which reads from an odd address; `before` runs first. The vectors
 * at VBR hold nothing. */
#define CRASH(before)                                                                           \
    "main: mov.l l_vbr,r0\n ldc r0,vbr\n mov #50,r8\n" before                                   \
    "m_next: bsr f\n nop\n bra m_next\n nop\n"                                                  \
    "f: dt r8\n bf f_fine\n mov #1,r1\n f_read: mov.l @r1,r0\n f_fine: rts\n nop\n .align 2\n " \
    "l_ccr: .long 0xff00001c\n l_sr: .long 0x50000000\n l_vbr: .long 0x0c400000\n l_oc: .long " \
    "0xf4000000\n l_lines: .word 512\n"
/* Written back through the address array (SH7750 hardware manual, section 4.5.3), then off. */
#define CACHES_OFF                                                                                 \
    "mov.l l_oc,r1\n mov.w l_lines,r2\n mov #0,r0\n m_line: mov.l r0,@r1\n dt r2\n bf/s m_line\n " \
    "add #32,r1\n"                                                                                 \
    "mov.l l_ccr,r1\n mov.l r0,@r1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
#define BLOCKED "mov.l l_sr,r0\n ldc r0,sr\n"

static const struct crash {
    const char *name, *src;
} rows[] = {
    { "no handler, caches on", CRASH("") },
    { "no handler, caches off", CRASH(CACHES_OFF) },
    { "exceptions blocked", CRASH(BLOCKED) },
};

/* Every call, every return but the last, the exception, the loss by the reset; C1 grows by the same
 * in every round. */
static void all_is_there(const struct board *b)
{
    const struct event *exception = NULL, *lost = NULL;
    uint64_t step[CALLS + 1] = { 0 }, last = 0;
    size_t calls = 0;
    for (size_t i = 0; i < b->nev; i++) {
        const struct event *e = &b->ev[i];
        exception = e->kind == EVENT_EXCEPTION ? e : exception;
        lost = e->kind == EVENT_LOST ? e : lost;
        if (e->kind != EVENT_CALL)
            continue;
        step[calls++] = e->c1 - last;
        last = e->c1;
    }
    assert_int_equal(calls, CALLS);
    assert_int_equal(board_count(b, EVENT_RETURN), CALLS - 1);
    for (size_t i = 10; i < CALLS; i++)
        assert_in_range(step[i], step[10] - 1, step[10] + 1);
    assert_non_null(exception);
    assert_int_equal(exception->vector, EXPEVT_READ);
    assert_int_equal(exception->pc, asm_label(b->prog, "f_read"));
    assert_non_null(lost);
    assert_ptr_equal(lost, exception + 1);
    assert_int_equal(lost->cause, EVENT_CAUSE_RESET);
}

static void begin_crash(struct board *b, struct asm_prog *prog, const struct crash *row)
{
    print_message("  %s\n", row->name);
    board_open(b, prog, "", row->src);
    board_arm(b, &(struct trace_config){ .counter = { 0x13, 0x23 } });
    board_resume(b);
}

static void crash__reset_met_when_the_profile_ends__all_events_and_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct board b;
        static struct asm_prog prog;
        struct err err = { .code = ERR_OK };
        begin_crash(&b, &prog, &rows[i]);
        board_for(&b, RUN_NS);
        assert_int_equal(b.t->ops->trace->disarm(b.t, &err), -ERR_NO_TARGET);
        assert_non_null(strstr(err.what, "the CPU was reset (EXPEVT 020)"));
        board_for(&b, 1); /* what is left in the queue */
        all_is_there(&b);
        board_close(&b);
    }
}

static void crash__reset_met_while_it_runs__all_events_then_the_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct board b;
        static struct asm_prog prog;
        struct err err = { .code = ERR_OK };
        int n = 0;
        begin_crash(&b, &prog, &rows[i]);
        uint64_t limit = b.t->ops->now_ns(b.t) + 1000000000;
        while (n >= 0 && b.t->ops->now_ns(b.t) < limit) {
            n = b.t->ops->trace->poll(b.t, b.ev + b.nev, BOARD_MAX_EVENTS - b.nev, RUN_NS, &err);
            b.nev += n > 0 ? (size_t)n : 0;
        }
        assert_int_equal(n, -ERR_NO_TARGET);
        assert_non_null(strstr(err.what, "the CPU was reset (EXPEVT 020)"));
        all_is_there(&b);
        board_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crash__reset_met_when_the_profile_ends__all_events_and_the_reason),
        cmocka_unit_test(crash__reset_met_while_it_runs__all_events_then_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
