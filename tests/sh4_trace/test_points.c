/* Start and stop points where no trap can stand, since SR.BL may be 1 there, and those the program
 * stands on when it is let go: the same windows, to the instruction, as a trap gives elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

enum { RUN_NS = 2000000000, ROUNDS = 20, WINDOW = 40 };
#define MAYBE "may be 1 there"

static struct board b;
static struct asm_prog prog;

/* sets() is called with BL=1, by a TRAPA's handler, and with BL=0: what it leaves in BL nobody
 * knows, so neither what main has behind its calls. The window from m_open to m_close is of 32
 * instructions and two calls of g, four each. */
static const char windows[] =
    "main: mov #20,r10\n mov #0,r8\n mov #0,r9\n mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_zero,r13\n"
    "m_loop: bsr k\n nop\n trapa #7\n bsr sets\n mov r13,r4\n"
    "m_open: mov #10,r0\n m_spin: dt r0\n bf/s m_spin\n nop\n mov.l l_g,r1\n jsr @r1\n nop\n jsr "
    "@r1\n nop\n"
    "m_close: nop\n dt r10\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_vec: .long vec\n l_zero: .long 0x40000000\n l_g: .long "
    "g\n"
    "sets: ldc r4,sr\n rts\n nop\n"
    "g: rts\n add #1,r9\n"
    "k: rts\n nop\n"
    ".align 4\n vec: .space 256\n"
    "hand: sts.l pr,@-r15\n bsr sets\n stc sr,r4\n lds.l @r15+,pr\n rte\n add #1,r8\n";

static uint32_t address_of(const char *label) { return asm_label(&prog, label); }

static void arm_points(const char *start, const char *stop)
{
    struct trace_config cfg = { .counter = { 0x23, 0x13 },
                                .has_start = start != NULL,
                                .start = start ? address_of(start) : 0 };
    if (stop)
        cfg.stops[cfg.nstops++] = address_of(stop);
    board_arm(&b, &cfg);
}

static const char *status_note(void)
{
    static struct trace_status st;
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    return st.note;
}

static void result_is_right(void)
{
    assert_int_equal(board_reg(&b, 8), ROUNDS);
    assert_int_equal(board_reg(&b, 9), 2 * ROUNDS);
}

static void points__where_bl_may_be_1__are_watched_by_user_breaks(void **state)
{
    (void)state;
    board_open(&b, &prog, "", windows);
    arm_points("m_open", "m_close");
    assert_non_null(
        strstr(status_note(), "2 point(s) watched by user breaks: SR.BL may be 1 there"));
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    result_is_right();
    assert_int_equal(board_count(&b, EVENT_START), ROUNDS);
    assert_int_equal(board_count(&b, EVENT_STOP), ROUNDS);

    const struct event *start = NULL;
    for (size_t i = 0; i < b.nev; i++) {
        const struct event *e = &b.ev[i];
        if (e->kind == EVENT_START)
            start = e;
        if (e->kind == EVENT_START || e->kind == EVENT_STOP) {
            assert_int_equal(e->pc, address_of(e->kind == EVENT_START ? "m_open" : "m_close"));
            assert_int_equal(e->sp, BOARD_STACK);
        }
        if (e->kind == EVENT_STOP)
            assert_int_equal(e->c2 - start->c2, WINDOW);
    }
    board_close(&b);
}

/* With BL=1 the place is passed as if no point were there: neither a stop nor a reset. */
static const char often_blocked[] =
    "main: mov #20,r10\n mov #0,r8\n mov #0,r9\n mov.l l_vec,r0\n ldc r0,vbr\n"
    "m_loop: bsr both\n nop\n trapa #7\n dt r10\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_vec: .long vec\n"
    "both: add #1,r8\n b_in: add #2,r9\n rts\n nop\n"
    ".align 4\n vec: .space 256\n"
    "hand: sts.l pr,@-r15\n bsr both\n nop\n lds.l @r15+,pr\n rte\n nop\n";

static void point__met_with_bl_1_too__acts_only_with_bl_0(void **state)
{
    (void)state;
    board_open(&b, &prog, "", often_blocked);
    arm_points(NULL, "b_in");
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 8), 2 * ROUNDS);
    assert_int_equal(board_reg(&b, 9), 4 * ROUNDS);
    assert_int_equal(board_count(&b, EVENT_STOP), 1);
    board_close(&b);
    board_open(&b, &prog, "", often_blocked);
    arm_points("b_in", NULL);
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_START), 1);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), ROUNDS);
    board_close(&b);
}

/* BL is 1 for certain: a point there would never be met. */
static void point__where_bl_is_1__is_refused(void **state)
{
    static const char *const where[] = { "hand", "h_in" };
    static const char src[] = "main: mov.l l_vec,r0\n ldc r0,vbr\n trapa #7\n m_end: bra m_end\n "
                              "nop\n .align 2\n l_vec: .long d_vec\n"
                              ".align 4\n d_vec: .space 256\n hand: bsr inner\n nop\n rte\n nop\n "
                              "inner: add #1,r8\n h_in: rts\n nop\n";
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(where); i++) {
        struct err err = { .code = ERR_OK };
        board_open(&b, &prog, "", src);
        struct trace_config cfg = { .image = &b.im,
                                    .counter = { 0x23, 0x13 },
                                    .has_start = true,
                                    .start = address_of(where[i]) };
        assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), -ERR_USAGE);
        assert_non_null(strstr(err.what, "runs with SR.BL=1, where a trap resets the CPU"));
        board_close(&b);
    }
}

static void hold_breakpoints(unsigned n, bool on)
{
    static const uint32_t somewhere[] = { 0x0C000100, 0x0C000200 };
    struct err err = { .code = ERR_OK };
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(on ? b.t->ops->insert_bp(b.t, BP_HARD, somewhere[i], 2, &err)
                            : b.t->ops->remove_bp(b.t, BP_HARD, somewhere[i], 2, &err),
                         0);
}

/* The debugger's breakpoints come first; what is not watched meanwhile is told. */
static void points__channels_are_the_debuggers__reported_until_they_are_given_back(void **state)
{
    (void)state;
    board_open(&b, &prog, "", windows);
    hold_breakpoints(1, true);
    arm_points("m_open", NULL);
    board_run(&b, "g", RUN_NS);
    assert_int_equal(board_count(&b, EVENT_START), 1);
    board_disarm(&b);
    hold_breakpoints(2, true);
    arm_points("m_open", NULL);
    board_run(&b, "g", RUN_NS);
    board_run(&b, "k", RUN_NS);
    assert_int_equal(board_count(&b, EVENT_START), 1);
    assert_non_null(strstr(status_note(), "1 point(s) NOT watched: the break channels are GDB's"));
    hold_breakpoints(2, false);
    board_run(&b, "g", RUN_NS);
    assert_null(strstr(status_note(), "NOT watched"));
    assert_int_equal(board_count(&b, EVENT_START), 2);
    board_disarm(&b);
    board_run(&b, "m_end", RUN_NS);
    result_is_right();
    board_close(&b);
}

/* A breakpoint on a point is a stop first; the point acts when the program goes on, by whatever is
 * used for that. */
static void points__debugger_stops_there__they_act_when_it_goes_on(void **state)
{
    static const char *const plain = "main: mov #20,r10\n m_loop: bsr g\n nop\n m_open: nop\n bsr "
                                     "g\n nop\n m_close: nop\n dt r10\n bf m_loop\n nop\n"
                                     "m_end: bra m_end\n nop\n g: rts\n add #1,r9\n";
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    (void)state;
    for (int trap = 0; trap < 2; trap++) {
        board_open(&b, &prog, "", trap ? plain : windows);
        arm_points("m_open", "m_close");
        assert_true(!trap == !!strstr(status_note(), "watched"));
        board_run(&b, "m_open", RUN_NS);
        assert_int_equal(board_count(&b, EVENT_START), 0);
        board_run(&b, "m_close", RUN_NS);
        assert_int_equal(board_count(&b, EVENT_START), 1);
        assert_int_equal(board_count(&b, EVENT_STOP), 0);
        assert_int_equal(b.t->ops->resume(b.t, &step, &err), 0);
        while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
            ;
        assert_int_equal(stop.pc, address_of("m_close") + 2);
        board_run(&b, "m_open", RUN_NS);
        assert_int_equal(board_count(&b, EVENT_STOP), 1);
        board_run(&b, "m_end", RUN_NS);
        board_disarm(&b);
        assert_int_equal(board_count(&b, EVENT_START), ROUNDS);
        assert_int_equal(board_count(&b, EVENT_STOP), ROUNDS);
        assert_int_equal(board_reg(&b, 9), 2 * ROUNDS);
        board_close(&b);
    }
}

/* What the agent knows a trap by is its return address: breaks and faults of the instruction behind
 * a point have the same. */
static void point__break_and_fault_right_behind_it__are_what_they_are(void **state)
{
    static const char *const src =
        "main: mov #20,r10\n mov #0,r8\n mov.l l_vec,r0\n ldc r0,vbr\n mov #1,r1\n m_loop: bsr g\n "
        "nop\n m_open: add #1,r9\n mov.l @r1,r2\n dt r10\n bf m_loop\n nop\n"
        "m_end: bra m_end\n nop\n g: rts\n nop\n .align 2\n l_vec: .long vec\n"
        ".align 4\n vec: .space 256\n hand: stc spc,r3\n add #2,r3\n ldc r3,spc\n rte\n add "
        "#1,r8\n";
    struct err err = { .code = ERR_OK };
    struct target_stop stop;
    (void)state;
    board_open(&b, &prog, "", src);
    arm_points("m_open", NULL);
    assert_int_equal(b.t->ops->insert_bp(b.t, BP_HARD, address_of("m_open") + 2, 2, &err), 0);
    board_resume(&b);
    while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
        ;
    assert_int_equal(stop.pc, address_of("m_open") + 2);
    assert_int_equal(b.t->ops->remove_bp(b.t, BP_HARD, address_of("m_open") + 2, 2, &err), 0);
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 8), ROUNDS);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), ROUNDS);
    board_close(&b);
}

/* The program stands where its profile is to start. */
static void start__where_the_program_stands__starts_at_once(void **state)
{
    (void)state;
    board_open(&b, &prog, "", windows);
    arm_points("main", NULL);
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    result_is_right();
    assert_int_equal(board_count(&b, EVENT_START), 1);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), ROUNDS);
    board_close(&b);
}

/* Time between the last event and "profile stop" is the program's: it ran in a loop. */
static void stop__by_the_user_in_a_loop__its_time_is_counted(void **state)
{
    static const char *const src =
        "main: bsr g\n nop\n m_spin: bra m_spin\n nop\n g: rts\n add #1,r9\n";
    struct err err = { .code = ERR_OK };
    (void)state;
    board_open(&b, &prog, "", src);
    arm_points(NULL, NULL);
    board_resume(&b);
    board_for(&b, 5000000);
    assert_int_equal(b.t->ops->trace->set_active(b.t, false, &err), 0);
    board_for(&b, 5000000);
    assert_int_equal(b.t->ops->trace->set_active(b.t, true, &err), 0);
    board_for(&b, 1000000);
    board_halt(&b);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_STOP), 2);
    uint64_t until[2], n = 0;
    for (size_t i = 0; i < b.nev; i++)
        if (b.ev[i].kind == EVENT_STOP)
            until[n++] = b.ev[i].c1;
    print_message("  %u cycles, then %u\n", (unsigned)until[0], (unsigned)(until[1] - until[0]));
    assert_true(until[0] > 500000 && until[1] > until[0] && until[1] - until[0] < until[0]);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points__where_bl_may_be_1__are_watched_by_user_breaks),
        cmocka_unit_test(point__met_with_bl_1_too__acts_only_with_bl_0),
        cmocka_unit_test(point__where_bl_is_1__is_refused),
        cmocka_unit_test(points__channels_are_the_debuggers__reported_until_they_are_given_back),
        cmocka_unit_test(points__debugger_stops_there__they_act_when_it_goes_on),
        cmocka_unit_test(point__break_and_fault_right_behind_it__are_what_they_are),
        cmocka_unit_test(start__where_the_program_stands__starts_at_once),
        cmocka_unit_test(stop__by_the_user_in_a_loop__its_time_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
