/* No state of the simulated board holds up who waits for it: its time goes on while it is asked
 * for, even if nothing else is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/board.h"
#include "tests/sh4/fixture.h"

enum { SLICE_NS = 20000000, MOST_QUESTIONS = 400000 };

static void time__only_asked_for__goes_on_whatever_the_board_does(void **state)
{
    static const char *const options[] = {
        "",
        "fault=held",
        "fault=no-power",
        "fault=no-clock",
        "fault=silent",
        "fault=unplug",
        "fault=stuck-tdo",
        "fault=no-power@1ms+50ms",
        "private=off",
        "cpu=1000000",
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(options); k++) {
        struct err err = { .code = ERR_OK };
        struct sim_board *b = NULL;
        unsigned asked = 0;
        print_message("  %s\n", options[k]);
        if (sh4_board_sh7750.create(options[k], NULL, &b, &err) < 0)
            fail_msg("%s: %s", options[k], err.what);
        uint64_t end = b->type->now_ns(b) + SLICE_NS;
        while (b->type->now_ns(b) < end && asked < MOST_QUESTIONS)
            asked++;
        assert_in_range(asked, 1, MOST_QUESTIONS - 1);
        b->type->destroy(b);
    }
}

/* With a breakpoint set the driver steps code with BL=1, and it can step a branch to itself without
 * asking the board for anything. */
static void branch_to_itself__bl_set_and_a_breakpoint__polls_end_and_a_halt_arrives(void **state)
{
    (void)state;
    struct target_stop s;
    struct board *b = board_start("sh7750", "start: bra start\n nop\n e: bra e\n nop\n");
    set_reg(b, R_SR, 0x700000F0);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(b->t->ops->poll(b->t, SLICE_NS, &s, &b->err), 0);
    s = halt_board(b);
    assert_int_equal(s.reason, STOP_REQUEST);
    assert_int_equal(s.pc, label_address(b, "start"));
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time__only_asked_for__goes_on_whatever_the_board_does),
        cmocka_unit_test(branch_to_itself__bl_set_and_a_breakpoint__polls_end_and_a_halt_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
