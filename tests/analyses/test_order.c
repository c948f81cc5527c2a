/* Orders by hand: units and their calls in, sequence and cliques out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/analyses/order.h"

enum { MOST_UNITS = 40, MOST_EDGES = 400 };

struct graph {
    struct order o;
    struct order_unit unit[MOST_UNITS];
    struct order_edge edge[MOST_EDGES];
};

static void set_units(struct graph *g, size_t n, const uint64_t *size)
{
    *g = (struct graph){ .o = { .cache = { 8192, 32, 1 }, .unit = g->unit, .edge = g->edge } };
    for (size_t i = 0; i < n; i++)
        g->unit[i] = (struct order_unit){ .n = 1, .align = 4, .size = size[i] };
    g->o.nunits = g->o.nmoving = n;
}

/* Calls both ways are one edge. */
static void add_calls(struct graph *g, uint32_t caller, uint32_t callee, uint64_t calls)
{
    uint32_t a = caller < callee ? caller : callee, b = caller < callee ? callee : caller;
    struct order_edge *e = g->edge;
    while (e < &g->edge[g->o.nedges] && (e->a != a || e->b != b))
        e++;
    if (e == &g->edge[g->o.nedges]) {
        g->o.nedges++;
        *e = (struct order_edge){ .a = a, .b = b };
    }
    *(caller == a ? &e->ab : &e->ba) += calls;
    g->unit[callee].hits += calls;
}

static void make_order(struct graph *g, enum order_algorithm how)
{
    assert_int_equal(order_make(&g->o, how, NULL), 0);
}

/* Units and edges are the graph's. */
static void drop_order(struct graph *g)
{
    free(g->o.sequence);
    free(g->o.clique);
}

static const char *before_unit(size_t clique, uint32_t i)
{
    if (i)
        return " ";
    return clique ? " | " : "";
}

/* "2 3 | 1": two cliques. */
static void check_sequence(const struct graph *g, const char *wanted)
{
    char got[200] = "";
    for (size_t c = 0; c < g->o.ncliques; c++)
        for (uint32_t i = 0; i < g->o.clique[c].n; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", before_unit(c, i),
                     g->o.sequence[g->o.clique[c].first + i]);
    assert_string_equal(got, wanted);
}

/* 2 and 3 call each other most; 0 is nearer to them than 1 is, and 4 does not fit any more. */
static void cpho__heaviest_pair__grows_by_calls_until_the_cache_is_full(void **state)
{
    static const uint64_t size[] = { 1000, 2000, 3000, 1000, 5000, 100 };
    struct graph g;
    (void)state;
    set_units(&g, ARRAY_LEN(size), size);
    add_calls(&g, 2, 3, 60);
    add_calls(&g, 3, 2, 40);
    add_calls(&g, 1, 2, 70);
    add_calls(&g, 2, 0, 50);
    add_calls(&g, 0, 3, 30);
    add_calls(&g, 4, 3, 90);
    make_order(&g, ORDER_CPHO);
    check_sequence(&g, "2 3 0 1 | 4 | 5");
    assert_int_equal(g.o.clique[0].size, 7000);
    assert_int_equal(g.o.clique[0].hits, 50 + 110 + 180); /* of 0, of 2, of 3; nobody calls 1 */
    drop_order(&g);
}

/* A chain is turned so that the two of the heaviest edge between chains stand side by side. */
static void ph__chains__are_joined_at_their_heaviest_edge(void **state)
{
    static const uint64_t size[] = { 100, 100, 100, 100 };
    struct graph g;
    (void)state;
    set_units(&g, ARRAY_LEN(size), size);
    add_calls(&g, 0, 1, 100);
    add_calls(&g, 2, 3, 90);
    add_calls(&g, 0, 3, 10);
    make_order(&g, ORDER_PH);
    check_sequence(&g, "1 0 3 2");
    drop_order(&g);
}

/* 2 goes behind 1, who calls it most, and both behind 0; 3 has no room in that cluster. The densest
 * comes first. */
static void c3__callee__goes_behind_its_main_caller(void **state)
{
    static const uint64_t size[] = { 4000, 2000, 1000, 5000 };
    struct graph g;
    (void)state;
    set_units(&g, ARRAY_LEN(size), size);
    add_calls(&g, 1, 2, 500);
    add_calls(&g, 0, 2, 400);
    add_calls(&g, 0, 1, 300);
    add_calls(&g, 0, 3, 200);
    make_order(&g, ORDER_C3);
    check_sequence(&g, "0 1 2 | 3");
    drop_order(&g);
}

/* What stays is in no sequence; what is longer than a clique may be stands alone. */
static void order__units_that_stay_or_are_long__are_in_no_clique_of_several(void **state)
{
    static const uint64_t size[] = { 8170, 100, 100, 100 };
    struct graph g;
    (void)state;
    for (enum order_algorithm how = ORDER_CPHO; how <= ORDER_C3; how++) {
        set_units(&g, ARRAY_LEN(size), size);
        g.unit[2].why = ORDER_EXCLUDED;
        g.o.nmoving = 3;
        add_calls(&g, 0, 1, 100);
        add_calls(&g, 1, 3, 10);
        make_order(&g, how);
        assert_int_equal(g.o.ncliques, 2);
        for (size_t c = 0; c < 2; c++)
            assert_true(g.o.clique[c].size == 8170 ? g.o.clique[c].n == 1 : g.o.clique[c].n == 2);
        for (size_t i = 0; i < 3; i++)
            assert_int_not_equal(g.o.sequence[i], 2);
        drop_order(&g);
    }
}

static void check_order(const struct graph *g)
{
    bool seen[MOST_UNITS] = { false };
    size_t n = 0;
    for (size_t c = 0; c < g->o.ncliques; c++) {
        const struct order_clique *q = &g->o.clique[c];
        uint64_t size = 0, hits = 0;
        for (uint32_t i = 0; i < q->n; i++, n++) {
            uint32_t u = g->o.sequence[q->first + i];
            assert_false(seen[u]);
            assert_int_equal(g->unit[u].why, ORDER_MOVES);
            seen[u] = true;
            size = (size + 3) / 4 * 4 + g->unit[u].size;
            hits += g->unit[u].hits;
        }
        assert_true(q->n == 1 || size <= 8192 - 32);
        assert_int_equal(q->size, size);
        assert_int_equal(q->hits, hits);
    }
    assert_int_equal(n, g->o.nmoving);
}

static void order__random_programs__have_each_unit_once_and_cliques_that_fit(void **state)
{
    struct graph g;
    (void)state;
    srand(7);
    for (int k = 0; k < 300; k++) {
        uint64_t size[MOST_UNITS];
        size_t n = 1 + (size_t)rand() % MOST_UNITS;
        for (size_t i = 0; i < n; i++)
            size[i] = 2 + 2 * ((uint64_t)rand() % 2000);
        set_units(&g, n, size);
        for (size_t i = 0; i < n; i++)
            if (rand() % 8 == 0) {
                g.unit[i].why = ORDER_EXCLUDED;
                g.o.nmoving--;
            }
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a + 1; b < n && g.o.nedges < MOST_EDGES; b++)
                if (rand() % 3 == 0 && !g.unit[a].why && !g.unit[b].why)
                    add_calls(&g, a, b, 1 + (uint64_t)rand() % 50);
        make_order(&g, (enum order_algorithm)(k % 3));
        check_order(&g);
        drop_order(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpho__heaviest_pair__grows_by_calls_until_the_cache_is_full),
        cmocka_unit_test(ph__chains__are_joined_at_their_heaviest_edge),
        cmocka_unit_test(c3__callee__goes_behind_its_main_caller),
        cmocka_unit_test(order__units_that_stay_or_are_long__are_in_no_clique_of_several),
        cmocka_unit_test(order__random_programs__have_each_unit_once_and_cliques_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
