/* Halts that come while a handler of the program runs, at each of its instructions: none may cost
 * it SPC and SSR. The board is exact, so the moment of a halt is chosen by how long the program
 * waits before its handler begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sh4/fixture.h"

#define BL 0x10000000u
/* in rounds of the program's loop, each of which takes as long as four of the handler's
 * instructions, or five */
#define FAR_OFF 4000u
#define BEFORE  40u
#define BEHIND  20u
#define PHASES  5

#define NOPS "nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"

/* r9: where the rounds that are left are written. The handler has a part with BL=1, one with BL=0
 * and all interrupts masked, one with BL=1 again, and counts in r8; it keeps SPC and SSR in their
 * registers in the first and the last part, as short handlers do. */
static const char program[] =
    NOPS "start: mov.l r2,@r9\n dt r2\n bf start\n trapa #1\n add #1,r10\n"
         "l: add #1,r11\n bra l\n nop\n"
         " .align 8\n vbr: .space 256\n" NOPS
         "stc.l ssr,@-r15\n stc.l spc,@-r15\n mov.l open,r0\n ldc r0,sr\n" NOPS NOPS
         "mov.l blocked,r0\n ldc r0,sr\n ldc.l @r15+,spc\n ldc.l @r15+,ssr\n" NOPS
         "add #1,r8\n rte\n nop\n"
         ".align 2\n open: .long 0x600000F0\n blocked: .long 0x700000F0\n";

static void begin_round(struct board *b, uint32_t rounds, uint32_t phase)
{
    set_reg(b, R_PC, label_address(b, "start") - 2 * phase);
    set_reg(b, 2, rounds);
    set_reg(b, 8, 0);
    set_reg(b, 10, 0);
    continue_board(b);
}

static struct board *board_with_handler(void)
{
    struct board *b = board_start("sh7750", program);
    set_reg(b, 9, DATA);
    return b;
}

/* How many rounds the program has made when what is tried meets it. */
static uint32_t rounds_until(struct board *b, bool by_read)
{
    begin_round(b, FAR_OFF, 0);
    uint32_t left = 0;
    if (by_read)
        left = get32at(b, DATA);
    else
        assert_int_equal(halt_board(b).reason, STOP_REQUEST);
    if (by_read)
        halt_board(b);
    else
        left = get_reg(b, 2);
    assert_in_range(left, 1, FAR_OFF - BEHIND);
    return FAR_OFF - left;
}

static void handler_has_returned_once(struct board *b)
{
    uint32_t pc = get_reg(b, R_PC);
    assert_in_range(pc, label_address(b, "l"), label_address(b, "l") + 4);
    assert_int_equal(get_reg(b, 8), 1);
    assert_int_equal(get_reg(b, 10), 1);
}

static void is_harmless(const struct target_stop *s, struct board *b)
{
    assert_int_equal(s->reason, STOP_REQUEST);
    assert_string_equal(s->text, "");
    assert_int_equal(get_reg(b, R_SR) & BL, 0);
}

static void halt_or_read(struct board *b, bool by_read)
{
    if (by_read) {
        (void)get32at(b, DATA);
        assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
        return;
    }
    struct target_stop s = halt_board(b);
    is_harmless(&s, b);
    continue_board(b);
}

/* From before the handler begins until it is over and the loop behind it is reached. */
static void at_each_instruction(struct board *b, bool by_read)
{
    uint32_t at = rounds_until(b, by_read);
    for (uint32_t rounds = at > BEFORE ? at - BEFORE : 1; rounds < at + BEHIND; rounds++) {
        for (uint32_t phase = 0; phase < PHASES; phase++) {
            begin_round(b, rounds, phase);
            halt_or_read(b, by_read);
            keeps_running(b);
            struct target_stop s = halt_board(b);
            is_harmless(&s, b);
            handler_has_returned_once(b);
        }
    }
}

static void halt__expected_at_each_instruction_of_a_handler__costs_it_nothing(void **state)
{
    (void)state;
    struct board *b = board_with_handler();
    b->t->ops->expect_halts(b->t, true);
    at_each_instruction(b, false);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    board_close(b);
}

static void read__of_memory_at_each_instruction_of_a_handler__costs_it_nothing(void **state)
{
    (void)state;
    struct board *b = board_with_handler();
    b->t->ops->expect_halts(b->t, true);
    at_each_instruction(b, true);
    board_close(b);
}

/* Most of the time all interrupts are masked, and BL=0: that does not say that the program keeps
 * them masked, nor that a break would be safe a moment later. */
static void halt__of_a_handler_that_masks_interrupts__waits_for_its_end(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: mov #0,r10\n l: trapa #1\n add #1,r10\n bra l\n nop\n"
                  ".align 8\n vbr: .space 256\n" NOPS
                  "stc.l ssr,@-r15\n stc.l spc,@-r15\n mov.l open,r0\n ldc r0,sr\n" NOPS NOPS NOPS
                      NOPS NOPS NOPS "mov.l blocked,r0\n ldc r0,sr\n ldc.l @r15+,spc\n"
                  "ldc.l @r15+,ssr\n" NOPS NOPS "add #1,r8\n rte\n nop\n"
                  ".align 2\n open: .long 0x600000F0\n blocked: .long 0x700000F0\n");
    set_reg(b, 8, 0);
    b->t->ops->expect_halts(b->t, true);
    for (int i = 0; i < 100; i++) {
        continue_board(b);
        struct target_stop s = halt_board(b);
        is_harmless(&s, b);
        uint32_t over = get_reg(b, 8) - get_reg(b, 10);
        assert_true(over <= 1 && get_reg(b, R_PC) < label_address(b, "vbr"));
    }
    board_close(b);
}

/* Its handlers leave no moment in which a break would be safe, and nobody has put vectors in. */
static void halt__of_a_program_full_of_handlers__is_refused_and_costs_nothing(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: mov #0,r8\n l: trapa #1\n add #1,r8\n bra l\n nop\n .align 8\n"
                  "vbr: .space 256\n mov #20,r0\n w: dt r0\n bf w\n rte\n nop\n");
    struct target_stop stop;
    continue_board(b);
    keeps_running(b);
    MUST(b, b->t->ops->halt(b->t, &b->err));
    int ret = 0;
    for (int i = 0; ret == 0 && i < 1000; i++)
        ret = b->t->ops->poll(b->t, 10000000, &stop, &b->err);
    assert_int_equal(ret, -ERR_TIMEOUT);
    assert_non_null(strstr(b->err.what, "runs with SR.BL=1"));
    assert_non_null(strstr(b->err.hint, "monitor halt force"));
    assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    keeps_running(b);
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halt__expected_at_each_instruction_of_a_handler__costs_it_nothing),
        cmocka_unit_test(read__of_memory_at_each_instruction_of_a_handler__costs_it_nothing),
        cmocka_unit_test(halt__of_a_handler_that_masks_interrupts__waits_for_its_end),
        cmocka_unit_test(halt__of_a_program_full_of_handlers__is_refused_and_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
