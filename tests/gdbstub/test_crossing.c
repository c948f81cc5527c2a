/* What crosses on the way: a stop and a Ctrl-C, a stop and GDB's answer to a request for a file, a
 * call of the program and a question of GDB's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/gdbstub/session_rig.h"

static const struct err no_halt = { .code = ERR_TIMEOUT, .what = "halt: no answer" };

/* ---- host I/O ---- */

/* The program runs up to its request for 16 bytes of file 3. */
static void run_to_read(struct fixture *fx)
{
    no_acks(fx);
    talk_monitor(fx, fx->s, "fileio on");
    put_syscall(fx, 3, 3, 0x3000, 16);
    assert_string_equal(talk_first(fx, "c"), "Fread,3,3000,10");
}

/* The board is reset while GDB reads the file: the stop is told, and GDB's answer comes behind. */
static void file_answer__behind_a_stop__does_not_restart_the_program(void **state)
{
    struct fixture *fx = *state;
    run_to_read(fx);
    lose_target(fx);
    fx->ram.gone = false;
    fx->ram.last = (struct target_stop){ .reason = STOP_RESET, .signal = 5, .pc = 0x1000 };
    stub_back(fx->stub);
    assert_string_equal(take_answer(fx, fx->s),
                        "OThe target is back.\n " STOP_AT("05", "00100000", ""));
    unsigned resumes = fx->ram.resumes;
    /* F has no reply: one would be taken for the answer to GDB's next packet */
    assert_string_equal(talk_first(fx, "F10"), "");
    assert_int_equal(fx->ram.resumes, resumes);
    assert_int_equal(fx->ram.state, TARGET_HALTED);
    assert_string_equal(talk_first(fx, "p5"), "00100000");
}

static void file_answer__behind_a_question_mark__does_not_restart_the_program(void **state)
{
    struct fixture *fx = *state;
    run_to_read(fx);
    talk_first(fx, "?");
    unsigned resumes = fx->ram.resumes;
    assert_string_equal(talk_first(fx, "F10"), "");
    assert_int_equal(fx->ram.resumes, resumes);
}

static void file_answer__of_a_board_that_is_gone__the_call_is_asked_again(void **state)
{
    struct fixture *fx = *state;
    run_to_read(fx);
    lose_target(fx);
    assert_string_equal(talk_first(fx, "F10"), "");
    fx->ram.gone = false;
    stub_back(fx->stub); /* the program stands at its call */
    assert_string_equal(take_answer(fx, fx->s), "OThe target is back.\n Fread,3,3000,10");
    talk_first(fx, "Z0,1006,2");
    assert_string_equal(talk_first(fx, "F10"), STOP_AT("05", "06100000", ""));
    assert_int_equal(fx->ram.result, 16);
}

/* A board's own start-up runs before `run` halts it; what it asks for there is refused, and the
 * next stop of the program that was begun is not another beginning. */
static void run__start_up_does_host_io__program_begins_at_its_entry(void **state)
{
    static const struct {
        const char *name, *fileio;
        uint16_t word;
        uint32_t number;
    } rows[] = {
        { "a file", "fileio on", RAM_SYSCALL, 3 },
        { "a file, refused", "fileio off", RAM_SYSCALL, 3 },
        { "text", "fileio on", RAM_SYSCALL, 4 },
        { "its exit", "fileio on", RAM_EXIT, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        talk_monitor(fx, fx->s, rows[i].fileio);
        fx->ram.start_up_call = rows[i].number;
        ram_put_word(&fx->ram, 4, rows[i].word); /* the reset vector is 0 */
        assert_string_equal(talk_first(fx, "vRun;"), "T0505:34120000;06:00000000;thread:1;");
        assert_int_equal(fx->ram.state, TARGET_HALTED);
        fx->ram.words_per_poll = 1;
        assert_string_equal(talk_first(fx, "c"), "");
        assert_memory_equal(talk_first(fx, "^C"), "T02", 3);
        assert_int_not_equal(fx->ram.reg[RAM_PC], 0x1234);
        rig_teardown((void **)&fx);
    }
}

/* An O packet in front of the stop, where GDB expects the stop alone, hangs it. */
static void question_mark__program_writes_meanwhile__stop_comes_alone(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    put_syscall(fx, 4, 1, 0x3000, 5);
    fx->ram.state = TARGET_RUNNING;
    send_packet(fx->s, "?", 1);
    fx->ram.halt_asked = false; /* not in time */
    pump_target(fx);
    assert_memory_equal(take_answer(fx, fx->s), "T02", 3);
}

static void look_of_an_observer__program_calls_meanwhile__answered(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    struct session *o = open_second(fx);
    put_syscall(fx, 23, 0, 0, 0); /* the time */
    fx->ram.words_per_poll = 1;
    send_packet(fx->s, "c", 1);
    send_packet(o, "?", 1);
    fx->ram.halt_asked = false; /* not in time */
    pump_target(fx);
    assert_memory_equal(take_answer(fx, o), "T02", 3);
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
}

/* ---- a halt that does not come ---- */

static void halt_fails__run_or_a_question_waits__answered(void **state)
{
    static const char *const packets[] = { "?", "vRun;" };
    struct err err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(packets); i++) {
        struct fixture *fx;
        print_message("  %s\n", packets[i]);
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        fx->ram.words_per_poll = 1;
        fx->ram.state = TARGET_RUNNING;
        send_packet(fx->s, packets[i], strlen(packets[i]));
        for (uint64_t s = 1; s < 10; s++) /* it takes longer than the patience */
            session_tick(fx->s, s * 1000000000, &err);
        assert_string_equal(take_answer(fx, fx->s), "");
        stub_troubled(fx->stub, &no_halt);
        assert_string_equal(take_answer(fx, fx->s), "T02thread:1;");
        rig_teardown((void **)&fx);
    }
}

/* ---- Ctrl-C ---- */

/* "Interrupts received while the program is stopped are queued": GDB manual, "Interrupts". */
static void ctrl_c__behind_a_stop__interrupts_the_next_resume(void **state)
{
    static const char *const resumes[] = { "c", "s", "vCont;c:1", "vCont;r1000,1100:1" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(resumes); i++) {
        struct fixture *fx;
        print_message("  %s\n", resumes[i]);
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        talk_first(fx, "Z0,1006,2");
        assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "06100000", ""));
        assert_string_equal(talk_first(fx, "^C"), "");
        talk_first(fx, "z0,1006,2");
        unsigned before = fx->ram.resumes;
        assert_string_equal(talk_first(fx, resumes[i]), STOP_AT("02", "06100000", ""));
        assert_int_equal(fx->ram.resumes, before);
        assert_string_equal(talk_first(fx, "s"), STOP_AT("05", "08100000", "")); /* once */
        rig_teardown((void **)&fx);
    }
}

/* The program has stopped, GDB does not know yet. */
static void ctrl_c__ahead_of_a_stop_of_the_programs__interrupts_the_next_resume(void **state)
{
    enum { HALTED_AT_ONCE, BREAKPOINT_FIRST };
    (void)state;
    for (int how = HALTED_AT_ONCE; how <= BREAKPOINT_FIRST; how++) {
        struct fixture *fx;
        struct target_stop stop;
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        talk_first(fx, "Z0,1006,2");
        send_packet(fx->s, "c", 1);
        if (how == HALTED_AT_ONCE)
            assert_int_equal(fx->ram.target.ops->poll(&fx->ram.target, 0, &stop, NULL), 1);
        feed_bytes(fx->s, "\003", 1);
        if (how == BREAKPOINT_FIRST) {
            fx->ram.halt_asked = false; /* not in time */
            assert_int_equal(fx->ram.target.ops->poll(&fx->ram.target, 0, &stop, NULL), 1);
        }
        stub_stopped(fx->stub, &stop);
        assert_string_equal(take_answer(fx, fx->s), STOP_AT("05", "06100000", ""));
        talk_first(fx, "z0,1006,2");
        assert_string_equal(talk_first(fx, "c"), STOP_AT("02", "06100000", ""));
        assert_string_equal(talk_first(fx, "s"), STOP_AT("05", "08100000", ""));
        rig_teardown((void **)&fx);
    }
}

static void ctrl_c__as_the_program_asks_for_a_file__stops_behind_the_answer(void **state)
{
    struct fixture *fx = *state;
    run_to_read(fx);
    assert_string_equal(talk_first(fx, "^C"), "");
    assert_string_equal(talk_first(fx, "F10"), STOP_AT("02", "02100000", ""));
    assert_int_equal(fx->ram.result, 16);
}

static void ctrl_c__and_then_a_question__the_answer_is_the_stop(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    assert_string_equal(talk_first(fx, "^C"), "");
    assert_string_equal(talk_first(fx, "?"), STOP_AT("05", "00100000", ""));
    assert_string_equal(talk_first(fx, "s"), STOP_AT("05", "02100000", ""));
}

/* ---- two debuggers ---- */

static void detach__another_looks_on__it_controls_a_board_that_answers(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    struct session *o = open_second(fx);
    assert_string_equal(talk_first(fx, "D"), "OK");
    assert_int_equal(fx->ram.detaches, 0);
    assert_true(session_controls(o));
    session_close(fx->s);
    fx->s = o;
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_memory_equal(talk_first(fx, "vCont;c"), "", 1);
    assert_memory_equal(talk_first(fx, "^C"), "T02", 3);
    assert_string_equal(talk_first(fx, "M2000,1:01"), "OK");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_answer__behind_a_stop__does_not_restart_the_program),
        TEST(file_answer__behind_a_question_mark__does_not_restart_the_program),
        TEST(file_answer__of_a_board_that_is_gone__the_call_is_asked_again),
        cmocka_unit_test(run__start_up_does_host_io__program_begins_at_its_entry),
        TEST(question_mark__program_writes_meanwhile__stop_comes_alone),
        TEST(look_of_an_observer__program_calls_meanwhile__answered),
        cmocka_unit_test(halt_fails__run_or_a_question_waits__answered),
        cmocka_unit_test(ctrl_c__behind_a_stop__interrupts_the_next_resume),
        cmocka_unit_test(ctrl_c__ahead_of_a_stop_of_the_programs__interrupts_the_next_resume),
        TEST(ctrl_c__as_the_program_asks_for_a_file__stops_behind_the_answer),
        TEST(ctrl_c__and_then_a_question__the_answer_is_the_stop),
        TEST(detach__another_looks_on__it_controls_a_board_that_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
