/* Callers and callees of functions that call themselves, directly and through others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/views/calls.h"
#include "profiler/views/paths_up.h"

enum { MAIN, F, G, H, NFUNCTIONS };

/* main -> F -> F -> G -> F -> H, each with hits 1 and C1 of a power of ten. */
static struct profile_node nodes[] = {
    { .parent = PROFILE_NO_PARENT, .function = MAIN, .hits = 1, .c1 = 1, .c1_children = 111111 },
    { .parent = 0, .function = F, .hits = 1, .c1 = 10, .c1_children = 111110 },
    { .parent = 1, .function = F, .hits = 1, .c1 = 100, .c1_children = 111100 },
    { .parent = 2, .function = G, .hits = 1, .c1 = 1000, .c1_children = 111000 },
    { .parent = 3, .function = F, .hits = 1, .c1 = 10000, .c1_children = 110000, .doubtful = true },
    { .parent = 4, .function = H, .hits = 1, .c1 = 100000, .c1_children = 100000 },
};
static struct profile_function functions[NFUNCTIONS] = {
    { .name = "main", .linkage = "", .qualified = "", .low = 0x100, .high = 0x110 },
    { .name = "walk", .linkage = "", .qualified = "list.c:walk", .low = 0x110, .high = 0x120 },
    { .name = "walk",
      .linkage = "_Z4walkv",
      .qualified = "tree.c:walk",
      .low = 0x120,
      .high = 0x130 },
    { .name = "leaf", .linkage = "", .qualified = "", .low = 0x130, .high = 0x140 },
};
static struct profile profile = { .type = PROFILE_TRACE,
                                  .functions = functions,
                                  .nfunctions = NFUNCTIONS,
                                  .nodes = nodes,
                                  .nnodes = ARRAY_LEN(nodes) };

static struct calls_row row_of(const struct calls *c, uint32_t function)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->row[i].function == function)
            return c->row[i];
    fail_msg("no row of function %u", function);
    return (struct calls_row){ 0 };
}

static void callers__of_one_that_recurs__outer_calls_have_all_and_inner_ones_none(void **state)
{
    struct calls c;
    (void)state;
    assert_int_equal(calls_of(&profile, F, CALLS_CALLERS, &c, NULL), 0);
    assert_int_equal(c.n, 3);
    struct calls_row from_main = row_of(&c, MAIN), itself = row_of(&c, F), from_g = row_of(&c, G);
    assert_int_equal(from_main.c1, 10);
    assert_int_equal(from_main.c1_children, 111110);
    assert_false(from_main.within);
    assert_int_equal(itself.c1, 100);
    assert_true(itself.within);
    assert_int_equal(from_g.c1, 10000);
    assert_true(from_g.within);
    assert_int_equal(from_g.c1_children, 0);
    assert_true(from_g.doubtful);
    assert_false(from_main.doubtful);
    free(c.row);
}

static void callees__of_one_that_recurs__a_chain_of_itself_is_one_call(void **state)
{
    struct calls c;
    (void)state;
    assert_int_equal(calls_of(&profile, F, CALLS_CALLEES, &c, NULL), 0);
    assert_int_equal(c.n, 4);
    struct calls_row itself = row_of(&c, CALLS_ITSELF), g = row_of(&c, G), h = row_of(&c, H);
    assert_int_equal(itself.c1, 10110);
    assert_int_equal(itself.c1_children, 10110);
    assert_int_equal(itself.hits, 3);
    assert_int_equal(g.c1_children, 111000); /* below the second F, which is no other call */
    assert_false(g.within);
    assert_true(h.within); /* below a call from G: part of G's */
    assert_int_equal(h.c1, 100000);
    assert_true(row_of(&c, F).within);
    free(c.row);
}

static void callers__of_one_that_nothing_called__it_begins(void **state)
{
    struct calls c;
    (void)state;
    assert_int_equal(calls_of(&profile, MAIN, CALLS_CALLERS, &c, NULL), 0);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.row[0].function, CALLS_ITSELF);
    assert_int_equal(c.row[0].c1_children, 111111);
    free(c.row);
}

static void find__names_and_addresses__one_function_or_the_choices(void **state)
{
    static const struct {
        const char *text;
        uint32_t function;
    } good[] = { { "main", MAIN }, { "list.c:walk", F }, { "tree.c:walk", G }, { "_Z4walkv", G },
                 { "0x110", F },   { "0x12f", G },       { "leaf", H } };
    struct err err = { 0 };
    uint32_t found;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_int_equal(calls_find(&profile, good[i].text, &found, &err), 0);
        assert_int_equal(found, good[i].function);
    }
    assert_int_equal(calls_find(&profile, "walk", &found, &err), -ERR_USAGE);
    assert_non_null(strstr(err.hint, "list.c:walk"));
    assert_non_null(strstr(err.hint, "tree.c:walk"));
    assert_int_equal(calls_find(&profile, "leav", &found, &err), -ERR_USAGE);
    assert_non_null(strstr(err.hint, "leaf"));
    assert_int_equal(calls_find(&profile, "0x140", &found, &err), -ERR_USAGE);
    assert_int_equal(calls_find(&profile, "0x", &found, &err), -ERR_USAGE);
    assert_int_equal(calls_find(&profile, "0x11111111111111111", &found, &err), -ERR_USAGE);
}

/* The node that a way from a root leads to. */
static const struct profile_node *node_at(const struct paths_up *u, const uint32_t *way,
                                          size_t depth)
{
    uint32_t parent = PROFILE_NO_PARENT;
    for (size_t d = 0; d < depth; d++) {
        uint32_t i = 0;
        while (i < u->n && (u->nodes[i].parent != parent || u->nodes[i].function != way[d]))
            i++;
        assert_true(i < u->n);
        parent = i;
    }
    return &u->nodes[parent];
}

static void up__of_one_that_recurs__roots_have_the_function_s_own_and_callers_add_up(void **state)
{
    struct paths_up u;
    (void)state;
    assert_int_equal(paths_up(&profile, &u, NULL), 0);
    assert_int_equal(u.cut, 0);
    assert_int_equal(node_at(&u, (uint32_t[]){ F }, 1)->c1, 10110);
    assert_int_equal(node_at(&u, (uint32_t[]){ F }, 1)->hits, 3);
    assert_true(node_at(&u, (uint32_t[]){ F }, 1)->doubtful);
    assert_int_equal(node_at(&u, (uint32_t[]){ F, MAIN }, 2)->c1, 10);
    assert_int_equal(node_at(&u, (uint32_t[]){ F, F }, 2)->c1, 100);
    assert_int_equal(node_at(&u, (uint32_t[]){ F, F, MAIN }, 3)->c1, 100);
    assert_int_equal(node_at(&u, (uint32_t[]){ F, G, F, F, MAIN }, 5)->c1, 10000);
    assert_int_equal(node_at(&u, (uint32_t[]){ H, F, G, F, F, MAIN }, 6)->c1, 100000);
    assert_int_equal(node_at(&u, (uint32_t[]){ MAIN }, 1)->c1_children, 1);
    for (uint32_t i = 0; i < u.n; i++)
        assert_true(u.nodes[i].parent == PROFILE_NO_PARENT || u.nodes[i].parent < i);
    free(u.nodes);
}

static void up__thousands_of_calls_deep__cut_and_said(void **state)
{
    enum { DEEP = 3000 };
    struct profile deep = profile;
    struct paths_up u;
    (void)state;
    deep.nodes = calloc(DEEP, sizeof *deep.nodes);
    assert_non_null(deep.nodes);
    deep.nnodes = DEEP;
    for (uint32_t i = 0; i < DEEP; i++)
        deep.nodes[i] = (struct profile_node){
            .parent = i ? i - 1 : PROFILE_NO_PARENT, .function = i % NFUNCTIONS, .hits = 1, .c1 = i
        };
    assert_int_equal(paths_up(&deep, &u, NULL), 0);
    assert_int_equal(u.cut, DEEP - PATHS_UP_DEPTH - 1);
    uint64_t sum = 0;
    for (size_t i = 0; i < u.n; i++)
        sum += u.nodes[i].parent == PROFILE_NO_PARENT ? u.nodes[i].c1 : 0;
    assert_int_equal(sum, (uint64_t)DEEP * (DEEP - 1) / 2); /* what is cut is in its root */
    free(u.nodes);
    free(deep.nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers__of_one_that_recurs__outer_calls_have_all_and_inner_ones_none),
        cmocka_unit_test(callees__of_one_that_recurs__a_chain_of_itself_is_one_call),
        cmocka_unit_test(callers__of_one_that_nothing_called__it_begins),
        cmocka_unit_test(up__of_one_that_recurs__roots_have_the_function_s_own_and_callers_add_up),
        cmocka_unit_test(up__thousands_of_calls_deep__cut_and_said),
        cmocka_unit_test(find__names_and_addresses__one_function_or_the_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
