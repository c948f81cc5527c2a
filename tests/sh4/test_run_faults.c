/* Failures, resets and the trace's own halts in the middle of what run control does: nothing of the
 * user's is lost by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/sh4/driver/driver.h"
#include "tests/sh4/bad_wire.h"
#include "tests/sh4/fixture.h"

#define SR_BL 0x700000F0u

static const char turns[] = "turns: add #1,r0\n bra turns\n nop\n";

static int poll_once(struct board *b, struct target_stop *stop)
{
    *stop = (struct target_stop){ .reason = STOP_NONE };
    return b->t->ops->poll(b->t, 1000000, stop, &b->err);
}

/* Stands on a breakpoint, and goes on from there: the first poll sees the step off it end. */
static struct board *step_off(void)
{
    struct board *b = board_start("sh7750", turns);
    bad_wire_take(b);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "turns"), 2, &b->err));
    continue_board(b);
    return b;
}

static void stops_at_it_again(struct board *b)
{
    struct target_stop s = wait_stop(b);
    assert_int_equal(s.reason, STOP_SWBREAK);
    assert_int_equal(s.pc, label_address(b, "turns"));
}

/* Whichever transfer fails: what is told is the failure, then that the program stands, and the
 * breakpoint is met when it goes on. */
static void step_off__a_transfer_fails_at_its_end__the_breakpoint_stays(void **state)
{
    unsigned failures = 0;
    (void)state;
    for (unsigned k = 1;; k++) {
        struct target_stop stop;
        struct board *b = step_off();
        bad_wire.after = k;
        bad_wire.with = ERR_PROTOCOL;
        int ret = poll_once(b, &stop);
        bool over = bad_wire.after != 0;
        bad_wire.after = 0;
        if (ret < 0) {
            failures++;
            stop = wait_stop(b);
            if (stop.reason != STOP_SWBREAK)
                continue_board(b);
        }
        if (stop.reason != STOP_SWBREAK)
            stops_at_it_again(b);
        board_close(b);
        if (over)
            break;
    }
    assert_true(failures > 2);
}

static void step_off__cut_off_by_a_reset__the_breakpoint_stays(void **state)
{
    (void)state;
    struct board *b = step_off();
    MUST(b, b->t->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    set_reg(b, R_SR, SR_PLAIN);
    set_reg(b, R_PC, label_address(b, "turns") + 2);
    continue_board(b);
    stops_at_it_again(b);
    board_close(b);
}

/* Steps in a range, SR.BL set: the second instruction resets the CPU, which runs then. */
static void range__into_a_reset__says_so(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #1,r0\n mov.l @r0,r1\n nop\n nop\n e: nop\n");
    set_reg(b, R_SR, SR_BL);
    struct target_stop s = step_range(b, CODE, CODE + 8);
    assert_int_equal(s.reason, STOP_RESET);
    assert_non_null(strstr(s.text, "reset itself"));
    board_close(b);
}

/* The same where a range that SR.BL does not block leads into a handler. */
static void range__a_handler_that_resets__says_so(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: nop\n trapa #5\n nop\n"
                              "vbr: .space 256\n general: mov.l @r1,r2\n rte\n nop\n");
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    set_reg(b, R_R0B1 + 1, 1);
    struct target_stop s = step_range(b, CODE, CODE + 0x400);
    assert_int_equal(s.reason, STOP_RESET);
    board_close(b);
}

/* An agent that is not this program's is found when it is attached again. */
static void attach__again_fails__is_detached(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", turns);
    uint8_t v[4];
    bad_wire_take(b);
    unsigned failed = 0;
    for (unsigned k = 1; k < 200; k++) {
        bad_wire.after = k;
        bad_wire.with = ERR_PROTOCOL;
        if (b->t->ops->attach(b->t, &b->err) == 0)
            break;
        failed++;
        assert_int_equal(b->t->ops->state(b->t), TARGET_DETACHED);
        assert_int_equal(b->t->ops->read_mem(b->t, CODE, 0, v, 4, &b->err), -ERR_STATE);
    }
    assert_true(failed > 2);
    assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_off__a_transfer_fails_at_its_end__the_breakpoint_stays),
        cmocka_unit_test(step_off__cut_off_by_a_reset__the_breakpoint_stays),
        cmocka_unit_test(range__into_a_reset__says_so),
        cmocka_unit_test(range__a_handler_that_resets__says_so),
        cmocka_unit_test(attach__again_fails__is_detached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
