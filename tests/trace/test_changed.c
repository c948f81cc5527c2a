/* Programs that look at their own code, or change it: what they see and run is what they would without a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sh4/sh4_priv.h"
#include "targets/sh4/trace/sh4_trace.h"
#include "tests/trace/board.h"

enum { RUN_NS = 2000000000 };

/* Adds up the code of `work`, calls it, and again. */
static const char adds_up[] =
    "main: mov.l stack,r15\n mov.l cfun,r8\n"
    "bsr sum\n nop\n mov r0,r10\n jsr @r8\n nop\n bsr sum\n nop\n mov r0,r11\n"
    "end_: bra end_\n nop\n"
    ".align 2\n stack: .long 0x0C0E0000\n cfun: .long work\n"
    "sum: mov.l from_,r1\n mov.l to_,r2\n mov #0,r0\n"
    "sum_1: mov.w @r1+,r3\n add r3,r0\n cmp/hs r2,r1\n bf sum_1\n rts\n nop\n"
    ".align 2\n from_: .long work\n to_: .long last\n"
    "work: sts.l pr,@-r15\n mov.l cleaf_,r1\n jsr @r1\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    ".align 2\n cleaf_: .long leaf\n"
    "leaf: rts\n nop\n"
    "last: rts\n nop\n";

static uint32_t sum_of(struct board *b)
{
    uint16_t halves[256];
    uint32_t from = asm_label(b->prog, "work"), n = (asm_label(b->prog, "last") - from) / 2, sum = 0;
    memcpy(halves, b->prog->code + (from - BOARD_TEXT), n * 2);
    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)(int32_t)(int16_t)halves[i];
    return sum;
}

static void checksum__range_left_unpatched__is_that_of_the_untraced_program(void **state)
{
    static struct asm_prog prog;
    struct board b;
    (void)state;
    board_open(&b, &prog, "", adds_up);
    struct trace_config cfg = { .counter = { 0x23, 0x13 }, .nno_patch = 1,
                                .no_patch = { { asm_label(&prog, "work"), asm_label(&prog, "last") } } };
    board_arm(&b, &cfg);
    board_run(&b, "end_", RUN_NS);
    assert_int_equal(board_reg(&b, 10), sum_of(&b));
    assert_int_equal(board_reg(&b, 11), sum_of(&b));
    assert_int_equal(board_count(&b, EVENT_CALL), 3); /* of sum twice, and of work: what is in it is not seen */
    assert_int_equal(board_count(&b, EVENT_RETURN), 2);
    assert_true(board_explains(&b, "left alone on request"));
    struct trace_status st;
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_int_equal(st.untraced_sites, 3);
    board_close(&b);
}

/* The same without the setting: the program sees the traps. That is what the documents say of it. */
static void checksum__all_patched__is_another(void **state)
{
    static struct asm_prog prog;
    struct board b;
    (void)state;
    board_open(&b, &prog, "", adds_up);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", RUN_NS);
    assert_int_not_equal(board_reg(&b, 10), sum_of(&b));
    board_close(&b);
}

static void point__in_a_range_left_unpatched__is_refused(void **state)
{
    static struct asm_prog prog;
    struct board b;
    struct err err = { .code = ERR_OK };
    (void)state;
    board_open(&b, &prog, "", adds_up);
    uint64_t work = asm_label(&prog, "work");
    struct trace_config cfg = { .image = &b.im, .has_start = true, .start = work, .nno_patch = 1, .no_patch = { { work, work + 2 } } };
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "--no-patch"));
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum__range_left_unpatched__is_that_of_the_untraced_program),
        cmocka_unit_test(checksum__all_patched__is_another),
        cmocka_unit_test(point__in_a_range_left_unpatched__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
