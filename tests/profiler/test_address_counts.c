/* Sampled addresses: counted, told apart by function, bounded. */
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/profile.h"
#include "tests/profiler/sink.h"

enum { CODE = 0x8c010000, CODE_BYTES = 0x400, SAMPLES = 20000 };

static void feed_sample(struct calltree *t, uint64_t pc)
{
    calltree_feed(
        t, &(struct event){ .kind = EVENT_SAMPLE, .pc = pc, .flags = pc ? EVENT_HAS_PC : 0 }, 1);
}

static struct calltree *tree_of(struct symbols *s, uint32_t max_addresses, uint32_t max_nodes)
{
    struct calltree *t;
    const struct calltree_config cfg = { .resolve = s ? symbols_range : NULL,
                                         .resolve_ctx = s,
                                         .max_addresses = max_addresses,
                                         .max_nodes = max_nodes };
    assert_int_equal(calltree_new(&cfg, &t, NULL), 0);
    calltree_feed(t, &(struct event){ .kind = EVENT_START, .amount = 1000 }, 1);
    return t;
}

/* Hits of each function, as its addresses have them. */
static uint64_t sum_of(const struct profile *p, size_t function)
{
    size_t n;
    uint64_t hits = 0;
    const struct profile_address *a = profile_addresses_of(p, function, &n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(a[i].function, function);
        assert_true(i == 0 || a[i].address > a[i - 1].address);
        hits += a[i].hits;
    }
    return hits;
}

static void addresses__of_each_function__add_up_to_its_samples(void **state)
{
    (void)state;
    struct symbols *s;
    struct profile *p;
    static uint64_t counted[CODE_BYTES / 2];
    uint64_t random = 7, hits = 0;
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0);
    struct calltree *t = tree_of(s, 0, 0);
    for (unsigned k = 0; k < SAMPLES; k++) {
        uint32_t at = random_below(&random, CODE_BYTES / 2);
        counted[at]++;
        feed_sample(t, CODE + 2 * (uint64_t)at);
        feed_sample(t, 0); /* asleep: no place */
    }
    assert_int_equal(profile_build(t, s, NULL, &p, NULL), 0);
    assert_int_equal(p->type, PROFILE_STATISTICAL);
    for (size_t i = 0; i < p->nfunctions; i++) {
        assert_int_equal(sum_of(p, i), p->functions[i].hits);
        hits += p->functions[i].hits;
    }
    assert_int_equal(hits, SAMPLES);
    for (size_t i = 0; i < p->naddresses; i++) {
        const struct profile_function *f = &p->functions[p->addresses[i].function];
        assert_int_equal(p->addresses[i].hits, counted[(p->addresses[i].address - CODE) / 2]);
        assert_true(p->addresses[i].address >= f->low && p->addresses[i].address < f->high);
    }
    assert_int_equal(p->addresses_dropped, 0);
    profile_free(p);
    calltree_free(t);
    symbols_close(s);
}

static void addresses__more_than_fit__are_counted_as_dropped(void **state)
{
    enum { LIMIT = 600, MET = 1000, ROUNDS = 3 };
    (void)state;
    struct profile *p;
    struct calltree *t = tree_of(NULL, LIMIT, 0);
    uint64_t hits = 0;
    for (unsigned k = 0; k < ROUNDS * MET; k++)
        feed_sample(t, CODE + 2 * (uint64_t)(k % MET));
    assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
    assert_int_equal(p->naddresses, LIMIT);
    for (size_t i = 0; i < p->nfunctions; i++)
        hits += sum_of(p, i);
    assert_int_equal(hits, ROUNDS * LIMIT);
    assert_int_equal(p->addresses_dropped, ROUNDS * (MET - LIMIT));
    assert_int_equal(p->total_hits, hits + p->addresses_dropped);
    profile_free(p);
    calltree_free(t);
}

/* Functions that found no node are one, and so are their addresses. */
static void addresses__of_functions_beyond_the_limit__are_with_the_others(void **state)
{
    (void)state;
    struct profile *p;
    struct calltree *t = tree_of(NULL, 0, 4);
    for (unsigned k = 0; k < 100; k++)
        feed_sample(t, CODE + 2 * (uint64_t)(k % 10));
    assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
    assert_int_equal(p->naddresses, 10);
    for (size_t i = 0; i < p->nfunctions; i++)
        assert_int_equal(sum_of(p, i), p->functions[i].hits);
    profile_free(p);
    calltree_free(t);
}

static void addresses__after_clear__start_over(void **state)
{
    (void)state;
    struct calltree *t = tree_of(NULL, 0, 0);
    for (unsigned k = 0; k < 100; k++)
        feed_sample(t, CODE + 2 * (uint64_t)k);
    calltree_clear(t);
    assert_int_equal(calltree_addresses(t)->n, 0);
    feed_sample(t, CODE + 6);
    feed_sample(t, CODE + 6);
    assert_int_equal(calltree_addresses(t)->n, 1);
    assert_int_equal(calltree_addresses(t)->row[0].hits, 2);
    calltree_free(t);
}

static void addresses__of_a_trace__are_none(void **state)
{
    (void)state;
    struct profile *p;
    size_t n = 1;
    struct calltree *t = tree_of(NULL, 0, 0);
    assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
    assert_null(profile_addresses_of(p, 0, &n));
    assert_int_equal(n, 0);
    profile_free(p);
    calltree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses__of_each_function__add_up_to_its_samples),
        cmocka_unit_test(addresses__more_than_fit__are_counted_as_dropped),
        cmocka_unit_test(addresses__of_functions_beyond_the_limit__are_with_the_others),
        cmocka_unit_test(addresses__after_clear__start_over),
        cmocka_unit_test(addresses__of_a_trace__are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
