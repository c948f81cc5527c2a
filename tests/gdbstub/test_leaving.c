/* A GDB that leaves while the program runs takes its breakpoints along, and the program goes on: on
 * a target made of RAM, where everything can fail, and over the real drivers and simulated boards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/s12z/s12z.h"
#include "targets/sh4/sh4.h"
#include "targets/sim/s12z/board.h"
#include "targets/sim/sh4/board.h"
#include "tests/gdbstub/session_rig.h"

enum { SECOND = 1000000000, SR = 22 };

/* A program that runs, with a breakpoint that it has not reached. */
static void set_and_run(struct fixture *fx)
{
    no_acks(fx);
    fx->hold = true; /* a profile */
    fx->ram.bp_needs_halt = true;
    fx->ram.words_per_poll = 1;
    talk_first(fx, "Z0,5000,2");
    talk_first(fx, "Z2,6000,4");
    assert_string_equal(talk_first(fx, "c"), "");
    assert_int_equal(fx->ram.nbps, 2);
}

static void leave_session(struct fixture *fx, const char *how)
{
    if (how)
        assert_string_equal(talk_first(fx, how), "OK");
    session_close(fx->s);
    fx->s = NULL;
}

static void leaving__program_runs__breakpoints_go_and_it_runs_on(void **state)
{
    static const char *const ways[] = { NULL, "D" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct fixture *fx;
        print_message("  %s\n", ways[i] ? ways[i] : "the connection ends");
        assert_int_equal(rig_setup((void **)&fx), 0);
        set_and_run(fx);
        leave_session(fx, ways[i]);
        assert_int_equal(fx->ram.nbps, 0);
        assert_int_equal(fx->ram.state, TARGET_RUNNING);
        assert_int_equal(fx->ram.detaches, 0);
        rig_teardown((void **)&fx);
    }
}

static void leaving__detach_without_a_profile__nothing_stays(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    fx->hold = false;
    assert_string_equal(talk_first(fx, "D"), "OK");
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.detaches, 1);
}

static void leaving__an_observer_waits__is_not_notified_of_the_halt(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    struct session *o = open_second(fx);
    assert_string_equal(talk_to(fx, o, "c"), "");
    leave_session(fx, NULL);
    assert_string_equal(take_answer(fx, o), "");
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_memory_equal(talk_to(fx, o, "^C"), "T02", 3); /* and it controls now */
    fx->s = o;
}

/* The CPU does not halt in time; then it does. */
static void leaving__no_halt_in_time__tried_again(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    fx->ram.mute = true;
    leave_session(fx, NULL);
    assert_int_equal(fx->ram.nbps, 2);
    stub_tick(fx->stub, SECOND);
    assert_int_equal(fx->ram.nbps, 2);
    fx->ram.mute = false;
    stub_tick(fx->stub, SECOND + 1); /* not at once */
    assert_int_equal(fx->ram.nbps, 2);
    stub_tick(fx->stub, (uint64_t)3 * SECOND);
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    unsigned resumes = fx->ram.resumes;
    stub_tick(fx->stub, (uint64_t)9 * SECOND);
    assert_int_equal(fx->ram.resumes, resumes);
}

static void leaving__no_halt_in_time__its_breakpoint_stops_nobody(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    fx->ram.mute = true;
    leave_session(fx, NULL);
    fx->ram.mute = fx->ram.halt_asked = false;
    fx->ram.reg[RAM_PC] = 0x4FF0;
    fx->ram.words_per_poll = 100;
    pump_target(fx);
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_in_range(fx->ram.reg[RAM_PC], 0x5001, 0x7000);
}

static void leaving__board_is_gone__breakpoints_go_when_it_is_back(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    lose_target(fx);
    leave_session(fx, NULL);
    fx->ram.gone = false; /* with the breakpoints, which the driver has put back */
    stub_back(fx->stub);
    stub_tick(fx->stub, SECOND);
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
}

static void leaving__program_exits_just_then__observers_are_notified(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    struct session *o = open_second(fx);
    assert_string_equal(talk_to(fx, o, "c"), "");
    ram_put_word(&fx->ram, fx->ram.reg[RAM_PC], RAM_EXIT);
    fx->ram.mute = true; /* the exit comes first */
    leave_session(fx, NULL);
    assert_string_equal(take_answer(fx, o), "W00");
    assert_int_equal(fx->ram.nbps, 0);
    fx->s = o;
}

/* ---- taking control ---- */

static void control__taken__the_other_observes_and_its_breakpoints_go(void **state)
{
    struct fixture *fx = *state;
    set_and_run(fx);
    struct session *o = open_second(fx);
    assert_string_equal(talk_monitor(fx, o, "control"),
                        "=This GDB observes; `monitor control take`.\n");
    assert_string_equal(talk_monitor(fx, o, "control take"), "=This GDB controls the target.\n");
    assert_true(session_controls(o));
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_string_equal(take_answer(fx, fx->s),
                        "OAnother GDB has taken control; this one observes.\n");
    assert_memory_equal(talk_to(fx, o, "^C"), "", 1); /* it waits for nothing */
    assert_memory_equal(take_answer(fx, fx->s), "T02", 3);
    assert_string_equal(talk_to(fx, o, "M2000,1:01"), "OK");
    assert_string_equal(talk_first(fx, "M2000,1:02"), "E10");
    assert_string_equal(talk_monitor(fx, o, "control take"), "=This GDB controls the target.\n");
    session_close(o); /* and back */
    assert_true(session_controls(fx->s));
}

/* Ticks, a second apart. */
static void wait_s(struct fixture *fx, unsigned seconds)
{
    static uint64_t at = SECOND;
    for (unsigned i = 0; i <= seconds; i++, at += SECOND) {
        stub_tick(fx->stub, at);
        for (struct session *s = fx->stub->sessions; s; s = s->next)
            session_tick(s, at, NULL);
    }
}

static void says_nothing(struct fixture *fx) { (void)fx; }
static void begins_a_packet(struct fixture *fx)
{
    no_acks(fx);
    talk_first(fx, "Z0,5000,2");
    feed_bytes(fx->s, "$m10", 4);
}
static void takes_no_answer(struct fixture *fx)
{
    no_acks(fx);
    talk_first(fx, "Z0,5000,2");
    send_packet(fx->s, "g", 1);
}

static void control__kept_by_who_is_silent__goes_to_who_asks(void **state)
{
    static const struct {
        const char *name;
        void (*is_silent)(struct fixture *fx);
    } rows[] = { { "it has said nothing", says_nothing },
                 { "a packet without an end", begins_a_packet },
                 { "it reads nothing", takes_no_answer } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(rig_setup((void **)&fx), 0);
        rows[i].is_silent(fx);
        wait_s(fx, 1);
        struct session *o = open_second(fx);
        assert_string_equal(talk_to(fx, o, "M2000,1:02"), "E10"); /* it may only be slow */
        wait_s(fx, 5);
        assert_false(session_controls(o)); /* nobody asks */
        assert_string_equal(talk_to(fx, o, "M2000,1:02"), "OK");
        assert_true(session_controls(o));
        assert_int_equal(fx->ram.nbps, 0);
        rig_teardown((void **)&fx);
    }
}

static void control__of_a_user_who_thinks__stays(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    wait_s(fx, 3);
    feed_bytes(fx->s, "$m10", 4);
    wait_s(fx, 1);
    feed_bytes(fx->s, "00,1#", 5); /* slow, but it goes on */
    wait_s(fx, 1);
    feed_bytes(fx->s, "8e", 2);
    take_answer(fx, fx->s);
    wait_s(fx, 3600);
    struct session *o = open_second(fx);
    assert_string_equal(talk_to(fx, o, "M2000,1:02"), "E10");
    assert_true(session_controls(fx->s));
}

/* ---- over the real drivers ---- */

struct board {
    const char *spec;
    bool big;
    uint32_t code, there; /* a branch to itself; what comes behind it, with the breakpoint */
    unsigned pc, bp_size;
    uint8_t program[12], through[4]; /* what the branch is replaced by */
    size_t bytes, through_bytes;
};

static const struct board boards[] = {
    /* A: bra A; nop; B: nop; bra B; nop, in P2: no cache */
    { "sim:sh7750,cpu=100M",
      false,
      0xAC010000,
      0xAC010004,
      16,
      2,
      { 0xFE, 0xAF, 0x09, 0x00, 0x09, 0x00, 0xFD, 0xAF, 0x09, 0x00 },
      { 0x09, 0x00 },
      10,
      2 },
    /* A: bra A; B: nop; bra B. The branch becomes one to its own second byte, a nop. */
    { "sim:s12zvml128",
      true,
      0x1100,
      0x1102,
      11,
      1,
      { 0x20, 0x00, 0x01, 0x20, 0x7F },
      { 0x20, 0x01 },
      5,
      2 },
};

static struct target *open_board(const struct board *b, struct probe **probe)
{
    static const struct sim_board_type *const types[] = { &sh4_board_sh7750, &s12z_board_zvml128,
                                                          NULL };
    const struct probe_config cfg = { .boards = types };
    struct target_stop stop;
    struct target *t = NULL;
    struct err err = { .code = ERR_OK };
    uint8_t pc[4] = { 0 };
    int ret = probe_open(b->spec, &cfg, probe, &err);
    if (ret == 0)
        ret = b->big ? s12z_open(*probe, &(struct s12z_options){ .chip = "s12zvml128" }, &t, &err)
                     : sh4_open(*probe, &(struct sh4_options){ .allow_private = true }, &t, &err);
    if (ret == 0)
        ret = t->ops->attach(t, &err);
    if (ret == 0)
        ret = t->ops->reset(t, RESET_HALT, &err);
    if (ret == 0)
        ret = t->ops->poll(t, 300000000, &stop, &err);
    if (ret >= 0)
        ret = t->ops->write_mem(t, b->code, 0, b->program, b->bytes, &err);
    unsigned bytes = t ? t->ops->regs[b->pc].bytes : 0;
    for (unsigned k = 0; k < bytes && k < sizeof pc; k++)
        pc[b->big ? bytes - 1 - k : k] = (uint8_t)(b->code >> (8 * k));
    if (ret == 0)
        ret = t->ops->write_reg(t, b->pc, pc, &err);
    /* BL is set by the reset: a breakpoint would be another one */
    if (ret == 0 && !b->big)
        ret = t->ops->write_reg(t, SR, (const uint8_t[]){ 0xF0, 0, 0, 0x40 }, &err);
    if (ret < 0)
        fail_msg("%s: %s", b->spec, err.what);
    return t;
}

static bool runs_for(struct target *t, struct stub *stub, uint64_t ns)
{
    struct target_stop stop;
    struct err err;
    for (uint64_t at = 0; at < ns; at += 1000000)
        if (t->ops->poll(t, 1000000, &stop, &err) > 0)
            stub_stopped(stub, &stop);
    return t->ops->state(t) == TARGET_RUNNING;
}

static bool wait_for_profile(void *ctx)
{
    (void)ctx;
    return true;
}

static void leaving__on_the_boards__the_place_is_passed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(boards); i++)
        for (int detaches = 0; detaches < 2; detaches++) {
            const struct board *b = &boards[i];
            struct probe *probe;
            struct stub *stub;
            struct session *s;
            struct err err;
            char packet[64];
            print_message("  %s, %s\n", b->spec, detaches ? "D" : "the connection ends");
            struct target *t = open_board(b, &probe);
            const struct stub_config cfg = { .target = t,
                                             .version = "x",
                                             .hold = wait_for_profile };
            assert_int_equal(stub_new(&cfg, &stub, &err), 0);
            assert_int_equal(session_open(stub, NULL, NULL, &s, &err), 0);
            snprintf(packet, sizeof packet, "Z0,%x,%u", b->there, b->bp_size);
            send_packet(s, packet, strlen(packet));
            send_packet(s, "c", 1);
            assert_true(runs_for(t, stub, 3000000));
            if (detaches)
                send_packet(s, "D", 1);
            session_close(s);
            assert_int_equal(t->ops->state(t), TARGET_RUNNING);
            assert_int_equal(t->ops->write_mem(t, b->code, 0, b->through, b->through_bytes, &err),
                             0);
            assert_true(runs_for(t, stub, 5000000));
            stub_free(stub);
            t->ops->close(t);
            probe_close(probe);
        }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaving__program_runs__breakpoints_go_and_it_runs_on),
        TEST(leaving__detach_without_a_profile__nothing_stays),
        TEST(leaving__an_observer_waits__is_not_notified_of_the_halt),
        TEST(leaving__no_halt_in_time__tried_again),
        TEST(leaving__no_halt_in_time__its_breakpoint_stops_nobody),
        TEST(leaving__board_is_gone__breakpoints_go_when_it_is_back),
        TEST(leaving__program_exits_just_then__observers_are_notified),
        TEST(control__taken__the_other_observes_and_its_breakpoints_go),
        cmocka_unit_test(control__kept_by_who_is_silent__goes_to_who_asks),
        TEST(control__of_a_user_who_thinks__stays),
        cmocka_unit_test(leaving__on_the_boards__the_place_is_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
