/* Breakpoints that are set and removed while the program runs: it is halted for a moment where the
 * part demands that, and goes on. On a target made of RAM; real GDBs over the boards are in gdb/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gdbstub/stub.h"
#include "probe/base/util.h"
#include "tests/gdbstub/session_rig.h"

static int running_setup(void **state)
{
    if (rig_setup(state) < 0)
        return -1;
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "QNonStop:1");
    fx->ram.bp_needs_halt = true;
    fx->ram.words_per_poll = 1;
    assert_string_equal(talk_first(fx, "vCont;c"), "OK");
    return 0;
}

static void moment__breakpoint_set_and_removed__it_runs_on_and_nothing_is_told(void **state)
{
    static const char *const packets[] = { "Z0,5000,2", "Z1,5010,2",           "Z2,6000,4",
                                           "z2,6000,4", "Z0,5000,2;X3,220127", "z1,5010,2" };
    static const unsigned there[] = { 1, 2, 3, 2, 2, 1 };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(packets); i++) {
        print_message("  %s\n", packets[i]);
        assert_string_equal(talk_first(fx, packets[i]), "OK");
        assert_int_equal(fx->ram.nbps, there[i]);
        assert_int_equal(fx->ram.state, TARGET_RUNNING);
    }
    fx->ram.reg[RAM_PC] = 0x4FFE;
    pump_target(fx);
    assert_string_equal(take_answer(fx, fx->s), "%Stop:" STOP_AT("05", "00500000", ""));
}

static void moment__part_sets_them_while_it_runs__no_halt(void **state)
{
    struct fixture *fx = *state;
    fx->ram.bp_needs_halt = false;
    unsigned resumes = fx->ram.resumes;
    assert_string_equal(talk_first(fx, "Z0,5000,2"), "OK");
    assert_string_equal(talk_first(fx, "z0,5000,2"), "OK");
    assert_int_equal(fx->ram.resumes, resumes);
}

static void moment__program_stops_by_itself_meanwhile__that_is_told(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,5000,2");
    fx->ram.reg[RAM_PC] = 0x4FFE;
    fx->ram.mute = true; /* the breakpoint comes first */
    send_packet(fx->s, "Z0,6000,2", 9);
    assert_string_equal(take_answer(fx, fx->s), "%Stop:" STOP_AT("05", "00500000", "") " OK");
    assert_int_equal(fx->ram.nbps, 2);
}

static void moment__breakpoint_where_it_stands__is_met(void **state)
{
    struct fixture *fx = *state;
    fx->ram.reg[RAM_PC] = 0x5000;
    send_packet(fx->s, "Z0,5000,2", 9);
    assert_string_equal(take_answer(fx, fx->s), "%Stop:" STOP_AT("05", "00500000", "") " OK");
}

static void moment__a_stop_was_asked_for__it_is_that(void **state)
{
    struct fixture *fx = *state;
    send_packet(fx->s, "vCont;t", 7);
    send_packet(fx->s, "Z0,5000,2", 9);
    assert_memory_equal(take_answer(fx, fx->s), "OK %Stop:T00", 12);
    assert_int_equal(fx->ram.nbps, 1);
    assert_int_equal(fx->ram.state, TARGET_HALTED);
}

static void moment__refused_there__it_runs_on(void **state)
{
    struct fixture *fx = *state;
    for (unsigned i = 0; i < RAM_BPS; i++)
        fx->ram.bp[fx->ram.nbps++].len = 0;
    assert_int_equal(talk_first(fx, "Z0,5000,2;X3,220127")[0], 'E');
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_int_equal(fx->stub->nbps, 0);
}

static void moment__no_halt_in_time__refused_and_the_late_halt_is_nobodys(void **state)
{
    struct fixture *fx = *state;
    fx->ram.mute = true;
    const char *said = talk_first(fx, "Z0,5000,2");
    assert_non_null(strstr(said, "does not halt"));
    assert_int_equal(fx->ram.nbps, 0);
    fx->ram.mute = false;
    pump_target(fx);
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
}

static void moment__board_does_not_answer__refused(void **state)
{
    struct fixture *fx = *state;
    fx->ram.gone = true;
    assert_int_equal(talk_first(fx, "Z0,5000,2")[0], 'E');
    fx->ram.gone = false;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, running_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(moment__breakpoint_set_and_removed__it_runs_on_and_nothing_is_told),
        TEST(moment__part_sets_them_while_it_runs__no_halt),
        TEST(moment__program_stops_by_itself_meanwhile__that_is_told),
        TEST(moment__breakpoint_where_it_stands__is_met),
        TEST(moment__a_stop_was_asked_for__it_is_that),
        TEST(moment__refused_there__it_runs_on),
        TEST(moment__no_halt_in_time__refused_and_the_late_halt_is_nobodys),
        TEST(moment__board_does_not_answer__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
