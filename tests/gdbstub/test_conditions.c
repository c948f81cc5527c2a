/* Breakpoints with conditions and commands: of a stop that is not wanted GDB hears nothing. On a
 * target made of RAM; real GDBs over the boards are in gdb/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gdbstub/stub.h"
#include "probe/base/util.h"
#include "tests/gdbstub/session_rig.h"

#define FALSE_X   "X3,220027"
#define TRUE_X    "X3,220127"
#define R0_IS_7   "X7,26000022071327"
#define NO_MEMORY "X7,24000f00001727"
#define SAYS_R0                \
    "X13,26000022002200340100" \
    "0772303d25640a00"         \
    "27"

static int running_setup(void **state)
{
    if (rig_setup(state) < 0)
        return -1;
    no_acks(*state);
    return 0;
}

static void condition__false__goes_on_and_only_then_stops(void **state)
{
    struct fixture *fx = *state;
    assert_string_equal(talk_first(fx, "Z0,1010,2;" FALSE_X), "OK");
    assert_string_equal(talk_first(fx, "Z1,1020,2;" FALSE_X FALSE_X), "OK");
    assert_string_equal(talk_first(fx, "Z0,1030,2;" FALSE_X TRUE_X), "OK");
    assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "30100000", ""));
    assert_int_equal(fx->ram.resumes, 3);
}

static void condition__of_a_register__is_what_it_is_then(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" R0_IS_7);
    talk_first(fx, "Z0,1020,2");
    assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "20100000", ""));
    talk_first(fx, "P0=07000000");
    talk_first(fx, "P5=00100000");
    assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "10100000", ""));
}

/* GDB sends the breakpoint again when its condition changes; the last one counts, none too. */
static void condition__changed__the_last_one_counts(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" TRUE_X);
    talk_first(fx, "Z0,1010,2;" FALSE_X);
    talk_first(fx, "Z0,1020,2;" FALSE_X);
    talk_first(fx, "z0,1020,2");
    talk_first(fx, "Z0,1020,2");
    assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "20100000", ""));
}

static void condition__of_two_at_one_place__either_stops(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" FALSE_X);
    talk_first(fx, "Z1,1010,2;" TRUE_X);
    assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "10100000", ""));
}

static void condition__cannot_be_evaluated__stops_and_says_why(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" NO_MEMORY);
    assert_string_equal(talk_first(fx, "c"),
                        "Oits condition: bus error at 0xf0000\n " STOP_AT("05", "10100000", ""));
}

/* The stop that is not wanted comes first, and the halt was asked for. */
static void condition__false_when_interrupted__the_interrupt_is_the_stop(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" FALSE_X);
    fx->ram.words_per_poll = 1;
    assert_string_equal(talk_first(fx, "c"), "");
    fx->ram.mute = true;
    assert_string_equal(talk_first(fx, "^C"), "");
    for (int i = 0; i < 4; i++)
        pump_target(fx);
    assert_string_equal(take_answer(fx, fx->s), STOP_AT("02", "10100000", ""));
}

static void condition__false_for_an_observers_look__it_is_answered(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" FALSE_X);
    fx->ram.words_per_poll = 1;
    assert_string_equal(talk_first(fx, "c"), "");
    struct session *o = open_second(fx);
    fx->ram.mute = true;
    assert_string_equal(talk_to(fx, o, "?"), "");
    while (fx->ram.reg[RAM_PC] < 0x1010)
        pump_target(fx);
    fx->ram.mute = false;
    pump_target(fx);
    assert_memory_equal(take_answer(fx, o), "T02", 3);
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
}

static void condition__false_where_a_step_ends__the_step_is_the_stop(void **state)
{
    static const char *const ways[] = { "s", "vCont;r100e,1010:1" };
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" FALSE_X);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        print_message("  %s\n", ways[i]);
        talk_first(fx, "P5=0e100000");
        assert_string_equal(talk_first(fx, ways[i]), STOP_AT("05", "10100000", ""));
    }
}

static void condition__false_within_a_range__the_range_goes_on(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;" FALSE_X);
    assert_string_equal(talk_first(fx, "vCont;r1000,1020:1"), STOP_AT("05", "20100000", ""));
}

/* `jump` to a breakpoint, and what is true only where PC is there. */
static void condition__where_the_program_is_told_to_go_on__counts_there(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,3000,2;" FALSE_X);
    talk_first(fx, "Z0,3010,2;X8,260005233010"
                   "1327");
    assert_string_equal(talk_first(fx, "c3000"), STOP_AT("05", "10300000", ""));
    talk_first(fx, "P5=00100000");
    assert_string_equal(talk_first(fx, "c3010"), STOP_AT("05", "10300000", ""));
}

static void condition__malformed__refused_and_nothing_set(void **state)
{
    static const char *const rows[] = { "Z0,1010,2;",
                                        "Z0,1010,2;X",
                                        "Z0,1010,2;X3",
                                        "Z0,1010,2;X3,",
                                        "Z0,1010,2;X3,2200",
                                        "Z0,1010,2;X3,22002g",
                                        "Z0,1010,2;X3,2200277",
                                        "Z0,1010,2;X0,",
                                        "Z0,1010,2;Xffffff,",
                                        "Z0,1010,2;X1,ff",
                                        "Z0,1010,2;cmds:",
                                        "Z0,1010,2;cmds:1",
                                        "Z0,1010,2;cmds:1,",
                                        "Z0,1010,2;cmds:1,22",
                                        "Z0,1010,2;X3,220127;",
                                        "Z0,1010,2;nosuch",
                                        "Z2,1010,2;X3,220027",
                                        "z0,1010,2;X3,220027",
                                        "Z0,1010,2;cmds:1,X3,220127;X3,220127",
                                        "Z0,1010,2;Xffffffffffffffff,22" };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i]);
        assert_int_equal(talk_first(fx, rows[i])[0], 'E');
        assert_int_equal(fx->ram.nbps, 0);
        assert_int_equal(fx->stub->nbps, 0);
    }
}

static void condition__longer_than_kept__refused_in_words(void **state)
{
    static char packet[40000];
    struct fixture *fx = *state;
    int n = snprintf(packet, sizeof packet, "Z0,1010,2;X%x,", AGENT_MAX_BYTES + 1);
    memset(packet + n, '2', 2 * (AGENT_MAX_BYTES + 1));
    assert_non_null(strstr(talk_first(fx, packet), "agent expression of 4097 bytes; at most 4096"));
    n = snprintf(packet, sizeof packet, "Z0,1010,2;");
    for (int i = 0; i < 3000; i++)
        n += snprintf(packet + n, sizeof packet - (size_t)n, TRUE_X);
    assert_non_null(strstr(talk_first(fx, packet), "more than 8192 bytes"));
    assert_int_equal(fx->stub->nbps, 0);
}

/* ---- commands ---- */

static void commands__met__their_text_comes_and_no_stop(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "P0=2a000000");
    assert_string_equal(talk_first(fx, "Z0,1010,2;" TRUE_X ";cmds:1," SAYS_R0 SAYS_R0), "OK");
    assert_string_equal(talk_first(fx, "Z0,1020,2;" FALSE_X ";cmds:0," SAYS_R0), "OK");
    talk_first(fx, "Z0,1040,2");
    assert_string_equal(talk_first(fx, "c"), "Or0=42\nr0=42\n " STOP_AT("05", "40100000", ""));
}

/* A `jump` to a dprintf. */
static void commands__where_the_program_goes_on__run_there(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,3000,2;cmds:1," SAYS_R0);
    talk_first(fx, "Z0,3010,2");
    assert_string_equal(talk_first(fx, "c3000"), "Or0=0\n " STOP_AT("05", "10300000", ""));
}

static void commands__fail__said_and_the_program_goes_on(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "Z0,1010,2;cmds:1," NO_MEMORY);
    talk_first(fx, "Z0,1040,2");
    assert_string_equal(talk_first(fx, "c"), "OCommands at 0x1010: bus error at 0xf0000\n " STOP_AT(
                                                 "05", "40100000", ""));
}

static void commands__non_stop__refused_in_words(void **state)
{
    struct fixture *fx = *state;
    talk_first(fx, "QNonStop:1");
    assert_non_null(strstr(talk_first(fx, "Z0,1010,2;cmds:1," SAYS_R0), "dprintf-style gdb"));
    assert_string_equal(talk_first(fx, "Z0,1010,2;" FALSE_X), "OK");
    assert_int_equal(fx->ram.nbps, 1);
}

static void commands__gdb_has_left__are_gone_with_it(void **state)
{
    struct fixture *fx = *state;
    fx->hold = true;
    talk_first(fx, "Z0,1010,2;cmds:1," SAYS_R0);
    fx->ram.words_per_poll = 1;
    talk_first(fx, "c");
    session_close(fx->s);
    fx->s = NULL;
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, running_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(condition__false__goes_on_and_only_then_stops),
        TEST(condition__of_a_register__is_what_it_is_then),
        TEST(condition__changed__the_last_one_counts),
        TEST(condition__of_two_at_one_place__either_stops),
        TEST(condition__cannot_be_evaluated__stops_and_says_why),
        TEST(condition__false_when_interrupted__the_interrupt_is_the_stop),
        TEST(condition__false_for_an_observers_look__it_is_answered),
        TEST(condition__false_where_a_step_ends__the_step_is_the_stop),
        TEST(condition__false_within_a_range__the_range_goes_on),
        TEST(condition__where_the_program_is_told_to_go_on__counts_there),
        TEST(condition__malformed__refused_and_nothing_set),
        TEST(condition__longer_than_kept__refused_in_words),
        TEST(commands__met__their_text_comes_and_no_stop),
        TEST(commands__where_the_program_goes_on__run_there),
        TEST(commands__fail__said_and_the_program_goes_on),
        TEST(commands__non_stop__refused_in_words),
        TEST(commands__gdb_has_left__are_gone_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
