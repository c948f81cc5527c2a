/* Call sites and stretches of a tree that is watched: memory has a limit, and what is beyond it is
 * counted. What the sums are is in tests/cli/e2e/annotate.py. */
#include <stdlib.h>

#include "profiler/profile/places.h"
#include "tests/profiler/sink.h"

static void step__more_places_than_rows__are_counted(void **state)
{
    enum { MOST = 1000, MORE = 3 };
    struct places p;
    (void)state;
    places_init(&p);
    p.most = MOST;
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < MOST + MORE; i++) {
            const struct calltree_step s = { .entered = i,
                                             .c1 = 1,
                                             .flags = CALLTREE_STEP_ENTERED };
            p.watch.on_step(p.watch.ctx, &s);
        }
    assert_int_equal(p.stretches.n, MOST);
    assert_int_equal(p.dropped, 2 * MORE);
    assert_int_equal(p.stretches.row[MOST - 1].c1, 2);
    p.watch.on_clear(p.watch.ctx);
    assert_int_equal(p.dropped, 0);
    places_fini(&p);
}

static void leave__of_a_call_without_a_row__changes_nothing(void **state)
{
    struct places p;
    const struct calltree_activation a = { .caller = 1,
                                           .in = { .pc = 4, .flags = EVENT_HAS_PC },
                                           .c1_children = 9 };
    (void)state;
    places_init(&p);
    p.watch.on_leave(p.watch.ctx, &a);
    assert_int_equal(p.sites.n, 0);
    p.watch.on_enter(p.watch.ctx, &a);
    p.watch.on_enter(p.watch.ctx, &a); /* from within itself: the outermost has it */
    p.watch.on_leave(p.watch.ctx, &a);
    p.watch.on_leave(p.watch.ctx, &a);
    assert_int_equal(p.sites.n, 1);
    assert_int_equal(p.sites.row[0].times, 2);
    assert_int_equal(p.sites.row[0].c1, 9);
    places_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step__more_places_than_rows__are_counted),
        cmocka_unit_test(leave__of_a_call_without_a_row__changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
