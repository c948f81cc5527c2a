/* charge: what gprof charges to callers, and what was measured, of trees made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/views/charge.h"

enum { NFUNCTIONS = 6, NOBODY = -1 };

struct row {
    int parent; /* row, or NOBODY */
    uint32_t function;
    uint64_t hits, c1;
};

/* Rows in pre-order; a row of 0 hits and 0 C1 ends them. */
static struct profile *profile_of(const struct row *rows)
{
    struct profile *p;
    assert_int_equal(profile_new(&p, NULL), 0);
    p->type = PROFILE_TRACE;
    p->nfunctions = NFUNCTIONS;
    p->functions = arena_alloc(&p->arena, NFUNCTIONS * sizeof *p->functions);
    for (size_t i = 0; i < NFUNCTIONS; i++)
        p->functions[i] = (struct profile_function){ .low = 16 * i, .high = 16 * i + 16 };
    while (rows[p->nnodes].hits || rows[p->nnodes].c1)
        p->nnodes++;
    p->nodes = arena_alloc(&p->arena, (p->nnodes + 1) * sizeof *p->nodes);
    for (size_t i = 0; i < p->nnodes; i++) {
        p->nodes[i] = (struct profile_node){
            .parent = rows[i].parent == NOBODY ? PROFILE_NO_PARENT : (uint32_t)rows[i].parent,
            .function = rows[i].function,
            .hits = rows[i].hits,
            .c1 = rows[i].c1,
        };
        p->functions[rows[i].function].c1 += rows[i].c1;
        p->total_c1 += rows[i].c1;
        for (int k = (int)i; k != NOBODY; k = rows[k].parent)
            p->nodes[k].c1_children += rows[i].c1;
    }
    return p;
}

static const struct charge_arc *arc_between(const struct charge *c, uint32_t caller,
                                            uint32_t callee)
{
    size_t n, from = charge_callers(c, callee, &n);
    for (size_t i = from; i < from + n; i++)
        if (c->arc[i].caller == caller)
            return &c->arc[i];
    fail_msg("no arc from %u to %u", caller, callee);
    return NULL;
}

static void assert_arc(const struct charge *c, uint32_t caller, uint32_t callee, uint64_t calls,
                       double charged, double below, uint64_t c1, uint64_t c1_children)
{
    const struct charge_arc *a = arc_between(c, caller, callee);
    assert_int_equal(a->calls, calls);
    assert_true(a->charged == charged);
    assert_true(a->charged_below == below);
    assert_int_equal(a->c1, c1);
    assert_int_equal(a->c1_children, c1_children);
}

/* 0 calls 1 once and 2 three times; both call 3, which calls 4. */
static void make__two_callers__are_charged_by_calls_and_measured_by_paths(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { NOBODY, 0, 1, 10 }, { 0, 1, 1, 20 },  { 1, 3, 1, 300 }, { 2, 4, 2, 40 },
        { 0, 2, 3, 30 },      { 4, 3, 3, 100 }, { 5, 4, 2, 8 },   { 0 },
    };
    struct profile *p = profile_of(rows);
    struct charge c = { 0 };
    assert_int_equal(charge_make(p, &c, NULL), 0);
    assert_arc(&c, 1, 3, 1, 100, 12, 300, 340);
    assert_arc(&c, 2, 3, 3, 300, 36, 100, 108);
    assert_arc(&c, 3, 4, 4, 48, 0, 48, 48);
    assert_arc(&c, 0, 1, 1, 20, 112, 20, 360);
    assert_arc(&c, 0, 2, 3, 30, 336, 30, 138);
    assert_arc(&c, PROFILE_NO_PARENT, 0, 1, 0, 0, 10, 508);
    assert_true(c.function[0].charged_below == 498);
    assert_int_equal(c.ncycles, 0);
    size_t n, from = charge_callees(&c, 0, &n);
    assert_int_equal(n, 2);
    assert_int_equal(c.arc[c.by_caller[from]].callee, 1);
    charge_fini(&c);
    profile_free(p);
}

/* 1 calls itself: what it took then is within its outer call, and charged to nobody. */
static void make__recursion__is_charged_to_the_one_who_began_it(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { NOBODY, 0, 1, 1 }, { 0, 1, 2, 10 }, { 1, 1, 5, 50 }, { 2, 2, 5, 7 }, { 0 },
    };
    struct profile *p = profile_of(rows);
    struct charge c = { 0 };
    assert_int_equal(charge_make(p, &c, NULL), 0);
    assert_arc(&c, 0, 1, 2, 60, 7, 10, 67);
    assert_arc(&c, 1, 1, 5, 0, 0, 50, 0);
    assert_true(arc_between(&c, 1, 1)->within);
    assert_int_equal(c.function[1].calls, 2);
    assert_int_equal(c.function[1].self_calls, 5);
    assert_int_equal(c.function[1].cycle, 0);
    charge_fini(&c);
    profile_free(p);
}

/* 1 and 2 call each other. 0 enters the cycle by 1 three times, 5 by 2 once; 2 calls 3, which 4
 * never does. */
static void make__a_cycle__is_charged_as_one_function(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { NOBODY, 0, 1, 1 }, { 0, 1, 3, 10 }, { 1, 2, 4, 20 }, { 2, 1, 2, 30 }, { 2, 3, 8, 40 },
        { 0, 5, 1, 5 },      { 5, 2, 1, 60 }, { 6, 3, 2, 80 }, { 0 },
    };
    struct profile *p = profile_of(rows);
    struct charge c = { 0 };
    assert_int_equal(charge_make(p, &c, NULL), 0);
    assert_int_equal(c.ncycles, 1);
    assert_int_equal(c.function[1].cycle, 1);
    assert_int_equal(c.function[2].cycle, 1);
    assert_int_equal(c.function[3].cycle, 0);
    assert_int_equal(c.cycle[0].calls, 4);
    assert_int_equal(c.cycle[0].c1, 120);
    assert_int_equal(c.cycle[0].c1_children, 240);
    assert_true(c.cycle[0].charged_below == 120);
    assert_arc(&c, 2, 3, 10, 120, 0, 120, 120);
    assert_arc(&c, 0, 1, 3, 90, 90, 10, 100);
    assert_arc(&c, 5, 2, 1, 30, 30, 60, 140);
    assert_arc(&c, 1, 2, 4, 0, 0, 20, 90);
    assert_arc(&c, 2, 1, 2, 0, 0, 30, 0);
    assert_true(c.function[2].charged_below == 120);
    assert_true(c.function[1].charged_below == 0);
    assert_true(c.function[0].charged_below == 245); /* 5 with what it is charged, and the cycle */
    charge_fini(&c);
    profile_free(p);
}

/* Two cycles, one within reach of the other: 1, 2 and 3, 4. */
static void make__a_chain_of_cycles__is_charged_from_its_end(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { NOBODY, 0, 1, 0 }, { 0, 1, 1, 1 },  { 1, 2, 1, 2 },  { 2, 1, 1, 4 },
        { 2, 3, 1, 8 },      { 4, 4, 1, 16 }, { 5, 3, 1, 32 }, { 0 },
    };
    struct profile *p = profile_of(rows);
    struct charge c = { 0 };
    assert_int_equal(charge_make(p, &c, NULL), 0);
    assert_int_equal(c.ncycles, 2);
    assert_int_equal(c.function[3].cycle, 1);
    assert_int_equal(c.function[1].cycle, 2);
    assert_arc(&c, 2, 3, 1, 56, 0, 8, 56);
    assert_arc(&c, 0, 1, 1, 7, 56, 1, 63);
    assert_int_equal(c.cycle[0].c1_children, 56);
    assert_int_equal(c.cycle[1].c1_children, 63);
    charge_fini(&c);
    profile_free(p);
}

static void make__nothing__is_nothing(void **state)
{
    (void)state;
    static const struct row rows[] = { { 0 } };
    struct profile *p = profile_of(rows);
    struct charge c = { 0 };
    assert_int_equal(charge_make(p, &c, NULL), 0);
    assert_int_equal(c.narcs, 0);
    assert_int_equal(c.ncycles, 0);
    charge_fini(&c);
    profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(make__two_callers__are_charged_by_calls_and_measured_by_paths),
        cmocka_unit_test(make__recursion__is_charged_to_the_one_who_began_it),
        cmocka_unit_test(make__a_cycle__is_charged_as_one_function),
        cmocka_unit_test(make__a_chain_of_cycles__is_charged_from_its_end),
        cmocka_unit_test(make__nothing__is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
