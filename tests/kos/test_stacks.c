/* On whose stack an event was, when stacks pass from one task to the next between two looks at the
 * list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sh4/trace/decode.h"

enum {
    LOW = 0x8C100000,
    HIGH = 0x8C101000,
    OTHER_LOW = 0x8C200000,
    OTHER_HIGH = 0x8C201000,
    KERNEL = 0x8C010FF0,
    TOP_SP = HIGH - 8
};

static struct task make_task(uint32_t context, uint32_t low, uint32_t high)
{
    return (
        struct task){ .context = context, .number = (int32_t)context, .low = low, .high = high };
}

static uint32_t context_at(struct sh4_trace_decoder *d, enum event_kind kind, uint32_t sp)
{
    return sh4_trace_context(
        d, &(struct event){ .kind = (uint8_t)kind, .sp = sp, .flags = EVENT_HAS_SP });
}

/* What the driver does at a drain: the list, a look ahead, then the events themselves. */
struct step {
    enum event_kind kind;
    uint32_t sp, context;
};
static void drain_steps(struct sh4_trace_decoder *d, const struct step *s, size_t n)
{
    if (sh4_trace_stacks_pass_on(d)) {
        struct sh4_trace_decoder *copy = malloc(sizeof *copy);
        assert_non_null(copy);
        *copy = *d;
        for (size_t i = 0; i < copy->nstacks; i++)
            copy->stack[i].next = 0;
        for (size_t i = 0; i < n; i++)
            context_at(copy, s[i].kind, s[i].sp);
        sh4_trace_stacks_begun(d, copy);
        free(copy);
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(context_at(d, s[i].kind, s[i].sp), s[i].context);
}

/* A task's life: its first call from the top of its stack, work, and giving way for ever. */
#define LIFE(context)                                                            \
    { EVENT_CALL, TOP_SP, context }, { EVENT_CALL, HIGH - 64, context },         \
        { EVENT_RETURN, HIGH - 64, context }, { EVENT_RETURN, TOP_SP, context }, \
        { EVENT_CALL, TOP_SP, context }, { EVENT_CALL, HIGH - 40, context },     \
    {                                                                            \
        EVENT_JUMP, HIGH - 40, context                                           \
    }

static struct sh4_trace_decoder *new_decoder(void)
{
    struct sh4_trace_decoder *d = calloc(1, sizeof *d);
    assert_non_null(d);
    return d;
}

static void stacks__new_task__has_its_first_events_from_before_it_was_seen(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task k[] = { make_task(1, LOW, HIGH), make_task(2, OTHER_LOW, OTHER_HIGH) };
    const struct step s[] = { LIFE(1),
                              { EVENT_CALL, OTHER_HIGH, 2 },
                              { EVENT_INTERRUPT, OTHER_HIGH - 100, 2 },
                              { EVENT_CALL, KERNEL, 2 },
                              { EVENT_RTE, HIGH - 40, 1 } };
    sh4_trace_task_stacks(d, k, 2);
    drain_steps(d, s, ARRAY_LEN(s));
    free(d);
}

static void stacks__passed_on_between_looks__each_has_its_own(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task one = make_task(1, LOW, HIGH), two = make_task(2, LOW, HIGH);
    const struct step first[] = { { EVENT_CALL, TOP_SP, 1 }, { EVENT_CALL, HIGH - 64, 1 } };
    const struct step second[] = { { EVENT_RETURN, HIGH - 64, 1 },
                                   { EVENT_RETURN, TOP_SP, 1 },
                                   { EVENT_CALL, TOP_SP, 1 },
                                   { EVENT_JUMP, HIGH - 40, 1 },
                                   LIFE(2) };
    sh4_trace_task_stacks(d, &one, 1);
    drain_steps(d, first, ARRAY_LEN(first));
    sh4_trace_task_stacks(d, &two, 1);
    drain_steps(d, second, ARRAY_LEN(second));
    free(d);
}

/* One before that nobody saw, one after. */
static void stacks__tasks_that_nobody_saw__are_nobodys(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task two = make_task(2, LOW, HIGH);
    const struct step first[] = { LIFE(0), LIFE(2) }, second[] = { LIFE(0) };
    sh4_trace_task_stacks(d, &two, 1);
    drain_steps(d, first, ARRAY_LEN(first));
    sh4_trace_task_stacks(d, NULL, 0); /* it is gone */
    drain_steps(d, second, ARRAY_LEN(second));
    free(d);
}

/* Who was left farther down goes on by an RTE that is not traced: no other has begun. */
static void stacks__resumed_without_an_event__is_the_same_task(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task one = make_task(1, LOW, HIGH), two = make_task(2, LOW, HIGH);
    const struct step s[] = { { EVENT_CALL, TOP_SP, 1 },
                              { EVENT_CALL, HIGH - 200, 1 },
                              { EVENT_JUMP, HIGH - 200, 1 },
                              { EVENT_RETURN, HIGH - 180, 1 },
                              { EVENT_CALL, HIGH - 100, 1 } };
    sh4_trace_task_stacks(d, &one, 1);
    drain_steps(d, s, ARRAY_LEN(s));
    sh4_trace_task_stacks(d, &two, 1);
    drain_steps(d, s + 3, 2);
    /* What comes after the next look is the new one's in any case. */
    sh4_trace_settle_stacks(d);
    assert_int_equal(context_at(d, EVENT_RETURN, HIGH - 100), 2);
    free(d);
}

static void stacks__beside_all__is_the_handlers_victim_or_nobody(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task one = make_task(1, LOW, HIGH);
    const struct step s[] = { LIFE(1),
                              { EVENT_CALL, 0x8C300000, 0 },
                              { EVENT_CALL, HIGH - 100, 1 },
                              { EVENT_EXCEPTION, HIGH - 100, 1 },
                              { EVENT_CALL, KERNEL, 1 } };
    sh4_trace_task_stacks(d, &one, 1);
    drain_steps(d, s, ARRAY_LEN(s));
    free(d);
}

/* GNU's user-space atomics: R15 is no stack pointer just then. */
static void stacks__interrupted_in_an_atomic_section__is_the_same_tasks(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task one = make_task(1, LOW, HIGH);
    const struct step s[] = { LIFE(1),
                              { EVENT_INTERRUPT, 0xFFFFFFF0, 1 },
                              { EVENT_CALL, KERNEL, 1 },
                              { EVENT_CALL, HIGH - 100, 1 } };
    sh4_trace_task_stacks(d, &one, 1);
    drain_steps(d, s, ARRAY_LEN(s));
    free(d);
}

static void stacks__named_by_the_user__stay_the_users(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    const struct task k[] = { make_task(5, LOW + 256, HIGH), make_task(6, OTHER_LOW, OTHER_HIGH) };
    sh4_trace_name_stack(d, LOW, HIGH, 1);
    sh4_trace_task_stacks(d, k, 2);
    const struct step s[] = { LIFE(1), { EVENT_CALL, OTHER_HIGH, 6 }, { EVENT_CALL, HIGH, 1 } };
    drain_steps(d, s, ARRAY_LEN(s));
    /* Without tasks, what lies beside them is of the last one, as ever. */
    struct sh4_trace_decoder *plain = new_decoder();
    sh4_trace_name_stack(plain, LOW, HIGH, 1);
    assert_int_equal(context_at(plain, EVENT_CALL, HIGH), 1);
    assert_int_equal(context_at(plain, EVENT_CALL, 0x8C300000), 1);
    free(d);
    free(plain);
}

static void stacks__more_than_there_is_room_for__leave_those_that_are_there(void **state)
{
    (void)state;
    struct sh4_trace_decoder *d = new_decoder();
    for (uint32_t i = 0; i < 2 * SH4_TRACE_STACKS; i++) {
        struct task k = make_task(i + 1, LOW + i * 4096, HIGH + i * 4096);
        sh4_trace_task_stacks(d, &k, 1);
        const struct step s = { EVENT_CALL, HIGH + i * 4096, i + 1 };
        drain_steps(d, &s, 1);
    }
    assert_true(d->nstacks <= SH4_TRACE_STACKS);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks__new_task__has_its_first_events_from_before_it_was_seen),
        cmocka_unit_test(stacks__passed_on_between_looks__each_has_its_own),
        cmocka_unit_test(stacks__tasks_that_nobody_saw__are_nobodys),
        cmocka_unit_test(stacks__resumed_without_an_event__is_the_same_task),
        cmocka_unit_test(stacks__beside_all__is_the_handlers_victim_or_nobody),
        cmocka_unit_test(stacks__interrupted_in_an_atomic_section__is_the_same_tasks),
        cmocka_unit_test(stacks__named_by_the_user__stay_the_users),
        cmocka_unit_test(stacks__more_than_there_is_room_for__leave_those_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
