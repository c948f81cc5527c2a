/* Intervals of shares, held against leaving out one stretch at a time by hand. Those of recordings
 * are in tests/cli/e2e/intervals.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/stretches.h"
#include "profiler/profile/student.h"
#include "tests/profiler/sink.h"

enum { CODE = 0x8c010000, M = CODE, F = CODE + 0x100, G = CODE + 0x200, SP = 0x8cff0000 };
enum { FUNCTIONS = 3, STRETCHES = 400 };
enum { PLACE = EVENT_HAS_PC | EVENT_HAS_C1, MOVE = PLACE | EVENT_HAS_TARGET | EVENT_HAS_SP };

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    if (addr < CODE || addr >= CODE + 0x100 * FUNCTIONS)
        return false;
    out->id = out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return true;
}

/* A program that runs, and what is known of it here. */
struct program {
    struct calltree *tree;
    struct stretches stretches;
    uint64_t c1;
    double count[2][STRETCHES][FUNCTIONS]; /* hits, counter 1 */
    size_t n;                              /* stretch under way */
    size_t joined;                         /* so many are one; 0: 1 */
    double lost;
};

static void program_begin(struct program *g)
{
    *g = (struct program){ .c1 = 1000 };
    const struct calltree_config cfg = { .resolve = resolve_function };
    assert_int_equal(calltree_new(&cfg, &g->tree, NULL), 0);
    const struct event start = { .kind = EVENT_START, .flags = PLACE, .pc = M + 4, .c1 = g->c1 };
    calltree_feed(g->tree, &start, 1);
    g->count[0][0][0] = 1;
}

static void feed_event(struct program *g, enum event_kind kind, uint64_t pc, uint64_t target,
                       double *to)
{
    unsigned cost = (unsigned)rand() % 200;
    g->c1 += cost;
    *to += cost;
    const struct event e = { .kind = (uint8_t)kind,
                             .flags = target ? MOVE : PLACE,
                             .pc = pc,
                             .target = target,
                             .sp = SP,
                             .c1 = g->c1 };
    calltree_feed(g->tree, &e, 1);
}

static void call_function(struct program *g, uint64_t function)
{
    double(*c1)[FUNCTIONS] = g->count[1];
    size_t f = (function - CODE) / 0x100;
    feed_event(g, EVENT_CALL, M + 8, function, &c1[g->n][0]);
    g->count[0][g->n][f]++;
    feed_event(g, EVENT_RETURN, function + 16, M + 10, &c1[g->n][f]);
}

static void lose_events(struct program *g)
{
    const struct event lost = { .kind = EVENT_LOST, .amount = 5, .cause = EVENT_CAUSE_RING_FULL };
    calltree_feed(g->tree, &lost, 1);
    stretches_end(&g->stretches, g->tree);
    feed_event(g, EVENT_TIMESTAMP, M + 20, 0, &g->lost);
    g->n++;
}

static void clear_counts(struct program *g)
{
    const struct event clear = { .kind = EVENT_CLEAR };
    calltree_feed(g->tree, &clear, 1);
    memset(g->count, 0, sizeof g->count);
    g->n = 0;
    g->lost = 0;
}

static struct profile *program_end(struct program *g)
{
    struct profile *p;
    feed_event(g, EVENT_STOP, M + 30, 0, &g->count[1][g->n][0]);
    g->n++;
    assert_int_equal(profile_build(g->tree, NULL, NULL, &p, NULL), 0);
    assert_int_equal(stretches_apply(&g->stretches, g->tree, p, NULL), 0);
    stretches_fini(&g->stretches);
    calltree_free(g->tree);
    return p;
}

/* As the program was told of: neighbours are one. */
static void join_stretches(struct program *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n; k++) {
        n = k / g->joined;
        for (int what = 0; what < 2; what++)
            for (size_t f = 0; f < FUNCTIONS; f++) {
                double v = g->count[what][k][f];
                g->count[what][k][f] = 0;
                g->count[what][n][f] += v;
            }
    }
    g->n = n + 1;
}

/* Half the interval of function f's share, and the share. */
static double by_hand(const struct program *g, int what, size_t f, double *share)
{
    double total = 0, own = 0, c1 = 0, mean = 0, spread = 0, left[STRETCHES];
    for (size_t k = 0; k < g->n; k++) {
        for (size_t i = 0; i < FUNCTIONS; i++) {
            total += g->count[what][k][i];
            c1 += g->count[1][k][i];
        }
        own += g->count[what][k][f];
    }
    for (size_t k = 0; k < g->n; k++) {
        double out = 0;
        for (size_t i = 0; i < FUNCTIONS; i++)
            out += g->count[what][k][i];
        left[k] = (own - g->count[what][k][f]) / (total - out);
        mean += left[k] / (double)g->n;
    }
    for (size_t k = 0; k < g->n; k++)
        spread += (left[k] - mean) * (left[k] - mean);
    *share = own / total;
    double n = (double)g->n, unseen = g->lost / (g->lost + c1);
    return student_limit(n - 1) * sqrt((n - 1) / n * spread * unseen);
}

static const struct profile_function *function_at(const struct profile *p, uint64_t low)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (p->functions[i].low == low)
            return &p->functions[i];
    fail_msg("no function at %llx", (unsigned long long)low);
    return NULL;
}

static void check_profile(const struct program *g, const struct profile *p)
{
    assert_int_equal(p->info.stretches, g->n);
    for (size_t f = 0; f < FUNCTIONS; f++) {
        const struct profile_function *is = function_at(p, CODE + 0x100 * f);
        double share, hits = by_hand(g, 0, f, &share);
        assert_true(fabs((double)is->hits / (double)p->total_hits - share) < 1e-12);
        assert_true(fabs(is->hits_half - hits) < 1e-9 * (hits + 1e-3));
        double c1 = by_hand(g, 1, f, &share);
        assert_true(fabs((double)is->c1 / (double)profile_seen_c1(p) - share) < 1e-12);
        assert_true(fabs(is->c1_half - c1) < 1e-9 * (c1 + 1e-3));
        assert_true(is->c1_half > 0);
    }
}

static void stretches__random_programs__one_left_out_at_a_time(void **state)
{
    (void)state;
    srand(7);
    for (int run = 0; run < 50; run++) {
        struct program *g = test_malloc(sizeof *g);
        program_begin(g);
        for (int i = 0; i < 2 + run * 7; i++) {
            for (int k = rand() % 6; k >= 0; k--)
                call_function(g, rand() % 3 ? F : G);
            call_function(g, G); /* a stretch without a hit is none of hits */
            lose_events(g);
            if (i == 20 && run % 2)
                clear_counts(g);
        }
        call_function(g, F);
        struct profile *p = program_end(g);
        check_profile(g, p);
        profile_free(p);
        test_free(g);
    }
}

/* With less room than there are rows: 2, 4, 8 neighbours are one stretch. */
static void stretches__more_than_there_is_room_for__are_joined(void **state)
{
    (void)state;
    srand(9);
    for (size_t most = 700; most <= 1000; most += 300) {
        struct program *g = test_malloc(sizeof *g);
        program_begin(g);
        g->stretches.most = most;
        for (int i = 0; i < STRETCHES - 1; i++) {
            for (int k = rand() % 3; k >= 0; k--)
                call_function(g, rand() % 3 ? F : G);
            call_function(g, F);
            lose_events(g);
        }
        call_function(g, G);
        g->joined = (size_t)1 << g->stretches.shift;
        assert_true(g->joined > 1);
        struct profile *p = program_end(g);
        join_stretches(g);
        assert_int_equal(p->info.stretches_joined, g->joined);
        check_profile(g, p);
        profile_free(p);
        test_free(g);
    }
}

/* Fewer than that tell nothing: then there is no interval, rather than a wrong one. */
static void stretches__no_room_at_all__tell_nothing(void **state)
{
    (void)state;
    struct program *g = test_malloc(sizeof *g);
    program_begin(g);
    g->stretches.most = 100;
    for (int i = 0; i < STRETCHES - 1; i++) {
        call_function(g, F);
        lose_events(g);
    }
    struct profile *p = program_end(g);
    assert_int_equal(p->info.stretches, 0);
    profile_free(p);
    test_free(g);
}

static void stretches__nothing_lost__tell_nothing(void **state)
{
    (void)state;
    struct program *g = test_malloc(sizeof *g);
    program_begin(g);
    call_function(g, F);
    struct profile *p = program_end(g);
    assert_int_equal(p->info.stretches, 0);
    profile_free(p);
    test_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches__random_programs__one_left_out_at_a_time),
        cmocka_unit_test(stretches__more_than_there_is_room_for__are_joined),
        cmocka_unit_test(stretches__no_room_at_all__tell_nothing),
        cmocka_unit_test(stretches__nothing_lost__tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
