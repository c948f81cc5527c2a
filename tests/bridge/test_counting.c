/* counting: what two counters say of a stretch of an untraced program, on the simulated board. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/bridge/counting.h"
#include "tests/sh4/fixture.h"

enum { INSTRUCTIONS = 0x13, CYCLES = 0x23, ROUNDS = 1000 };

/* Calls f for ever: 3 + 2 * 1000 instructions from a (its first included) to b (not included). */
#define CALLS                                                          \
    "start: mov.l fa,r1\n"                                             \
    " l: nop\n nop\n jsr @r1\n nop\n bra l\n nop\n"                    \
    " f: nop\n a: mov.w n,r0\n k: dt r0\n bf k\n b: nop\n rts\n nop\n" \
    " n: .word 1000\n .align 2\n fa: .long f\n"

static uint64_t residue_of(struct board *b, const struct counting_config *c, int which)
{
    uint64_t v[2];
    MUST(b, counting_residue(c, b->t, v, &b->err));
    return v[which];
}

static void stretch__between_points__counts_what_runs_there(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", CALLS);
    uint64_t stop = label_address(b, "b");
    const struct counting_config c = { .event = { INSTRUCTIONS, CYCLES },
                                       .has_start = true,
                                       .start = label_address(b, "a"),
                                       .stop = &stop,
                                       .nstops = 1 };
    for (int i = 0; i < 3; i++) {
        struct counted s;
        MUST(b, counting_stretch(&c, b->t, &s, &b->err));
        assert_true(s.begun);
        assert_int_equal(s.end, COUNTED_STOP);
        assert_int_equal(get_reg(b, R_PC), stop);
        assert_true(s.least_ns <= s.most_ns && s.most_ns > 0);
        assert_int_equal(s.steps, 0);
        assert_in_range(s.value[0], 1 + 2 * ROUNDS, 1 + 2 * ROUNDS + residue_of(b, &c, 0));
    }
    board_close(b);
}

static void stretch__start_is_stop__is_one_round(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", CALLS);
    uint64_t stop = label_address(b, "l");
    const struct counting_config c = {
        .event = { INSTRUCTIONS, 0 }, .has_start = true, .start = stop, .stop = &stop, .nstops = 1
    };
    const uint64_t round = 6 + 1 + 1 + 2 * ROUNDS + 3;
    for (int i = 0; i < 3; i++) {
        struct counted s;
        MUST(b, counting_stretch(&c, b->t, &s, &b->err));
        assert_int_equal(s.end, COUNTED_STOP);
        assert_int_equal(s.steps, 1);
        assert_in_range(s.value[0], round, round + 2 * residue_of(b, &c, 0));
        while (get_reg(b, R_PC) != stop) /* the residue's instruction has left it */
            step_board(b);
    }
    board_close(b);
}

static void stretch__for_a_time__is_halted_then(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: mov #0,r0\n l: add #1,r0\n bra l\n nop");
    struct counting_config c = { .event = { INSTRUCTIONS, 0 } };
    struct counted s;
    c.until_ns = b->t->ops->now_ns(b->t) + 20000000;
    MUST(b, counting_stretch(&c, b->t, &s, &b->err));
    assert_int_equal(s.end, COUNTED_TIME);
    assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
    assert_in_range(s.least_ns, 19000000, 20500000);
    assert_in_range(s.most_ns, s.least_ns, 30000000);
    uint64_t ran = 1 + 3 * (uint64_t)get_reg(b, 0); /* give or take a part of a round */
    assert_true(ran > 1000);
    assert_in_range(s.value[0], ran - 3, ran + 3 + residue_of(b, &c, 0));
    board_close(b);
}

static void stretch__more_points_than_channels__is_refused(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", CALLS);
    const uint64_t stop[] = { label_address(b, "b"), label_address(b, "k"), label_address(b, "l") };
    struct counting_config c = { .event = { INSTRUCTIONS, 0 },
                                 .has_start = true,
                                 .start = label_address(b, "a"),
                                 .stop = stop,
                                 .nstops = 3 };
    struct counted s;
    struct err err = { .code = ERR_OK };
    assert_int_equal(counting_stretch(&c, b->t, &s, &err), -ERR_RESOURCE);
    assert_non_null(strstr(err.what, "3 points"));
    c.nstops = 2;
    MUST(b, counting_stretch(&c, b->t, &s, &b->err)); /* nothing was left behind */
    assert_int_equal(s.end, COUNTED_STOP);
    assert_int_equal(s.stop.pc, stop[1]);
    board_close(b);
}

/* With BL=1 no break can be taken: the driver steps, which the counters see. */
static void stretch__begun_with_bl__says_that_it_was_stepped(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: mov #10,r0\n l: dt r0\n bf l\n ldc r2,sr\n e: nop\n bra e\n nop");
    uint64_t stop = label_address(b, "e");
    const struct counting_config c = { .event = { INSTRUCTIONS, 0 }, .stop = &stop, .nstops = 1 };
    struct counted s;
    set_reg(b, 2, SR_PLAIN);
    set_reg(b, R_SR, SR_PLAIN | 0x10000000);
    MUST(b, counting_stretch(&c, b->t, &s, &b->err));
    assert_int_equal(s.end, COUNTED_STOP);
    assert_in_range(s.steps, 20, 23);
    assert_in_range(s.value[0], 22, 22 + (s.steps + 1) * residue_of(b, &c, 0));
    board_close(b);
}

static bool always_true(void *ctx)
{
    (void)ctx;
    return true;
}

static void stretch__cancelled_before_its_start__has_no_values(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", CALLS);
    const struct counting_config c = { .event = { INSTRUCTIONS, 0 },
                                       .has_start = true,
                                       .start = label_address(b, "fa"),
                                       .io = { .cancelled = always_true } };
    struct counted s;
    MUST(b, counting_stretch(&c, b->t, &s, &b->err));
    assert_false(s.begun);
    assert_int_equal(s.end, COUNTED_ASKED);
    assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretch__between_points__counts_what_runs_there),
        cmocka_unit_test(stretch__start_is_stop__is_one_round),
        cmocka_unit_test(stretch__for_a_time__is_halted_then),
        cmocka_unit_test(stretch__more_points_than_channels__is_refused),
        cmocka_unit_test(stretch__begun_with_bl__says_that_it_was_stepped),
        cmocka_unit_test(stretch__cancelled_before_its_start__has_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
