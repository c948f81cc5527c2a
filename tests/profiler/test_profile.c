/* profile: from call tree and symbols to functions and paths. */
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/profile.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { ALL = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 };

static const struct profile_function *function_named(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, name) || !strcmp(p->functions[i].qualified, name))
            return &p->functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

static void profile__recursion__counted_once_in_children(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    const struct profile_function *walk = function_named(p, "tree.c:walk");
    assert_int_equal(walk->hits, 2);
    assert_int_equal(walk->c1, 35);
    assert_int_equal(walk->c1_children, 35); /* not 35 + 15 */
    const struct profile_function *sum = function_named(p, "list_sum");
    assert_int_equal(sum->c1_children, 2070); /* both calls */
    profile_free(p);
}

static void profile__namesakes__told_apart_others_not(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    assert_string_equal(function_named(p, "list.c:walk")->name, "walk");
    assert_string_equal(function_named(p, "tree.c:walk")->linkage, "walk");
    assert_string_equal(function_named(p, "main")->qualified, "");
    assert_string_equal(function_named(p, "main")->file, "/src/tree.c");
    assert_int_equal(function_named(p, "main")->line, 14);
    profile_free(p);
}

static void profile__cache_line_and_description__by_address_and_kind(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    assert_int_equal(function_named(p, "main")->cache_line, (0x8c010114 >> 5) & 255);
    assert_int_equal(function_named(p, "main")->description, PROFILE_FUNCTION);
    const struct profile_function *irq = function_named(p, "interrupt 0x8c000600");
    assert_int_equal(irq->cache_line, 0x600 >> 5);
    assert_int_equal(irq->description, PROFILE_INTERRUPT_600);
    const struct profile_function *p2 = function_named(p, "0xac000000");
    assert_int_equal(p2->cache_line, PROFILE_NOT_CACHED);
    assert_true(p2->high > p2->low);
    profile_free(p);
}

static void profile__exceptions__described_by_vector(void **state)
{
    static const struct {
        uint16_t vector;
        uint8_t description;
    } rows[] = { { 0x040, PROFILE_EXCEPTION_400 },
                 { 0x060, PROFILE_EXCEPTION_400 },
                 { 0x080, PROFILE_EXCEPTION_100 },
                 { 0x160, PROFILE_EXCEPTION_100 },
                 { 0x000, PROFILE_VECTOR } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct calltree *t;
        struct profile *p;
        const struct event e[] = { { .kind = EVENT_START, .pc = 0x1000, .flags = ALL },
                                   { .kind = EVENT_EXCEPTION,
                                     .pc = 0x1010,
                                     .target = 0x2000,
                                     .vector = rows[i].vector,
                                     .flags = ALL } };
        assert_int_equal(calltree_new(NULL, &t, NULL), 0);
        calltree_feed(t, e, 2);
        assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
        assert_int_equal(function_named(p, "exception 0x00002000")->description,
                         rows[i].description);
        profile_free(p);
        calltree_free(t);
    }
}

static void profile__stripped__functions_are_what_was_called(void **state)
{
    static const struct event e[] = {
        { .kind = EVENT_START, .pc = 0x8c010114, .flags = ALL },
        { .kind = EVENT_CALL, .pc = 0x8c010120, .target = 0x8c010088, .c1 = 5, .flags = ALL },
        { .kind = EVENT_CALL, .pc = 0x8c010090, .target = 0x8c010020, .c1 = 6, .flags = ALL },
        { .kind = EVENT_STOP, .c1 = 9, .flags = ALL }
    };
    static const struct {
        const char *name;
        uint64_t low, high;
    } rows[] = {
        { "0x8c010020", 0x8c010020, 0x8c010088 }, /* up to the next entry */
        { "0x8c010088", 0x8c010088, 0x8c010114 },
        { "0x8c010114", 0x8c010114, 0x8c010150 }, /* up to the section's end */
    };
    (void)state;
    struct symbols *s;
    struct calltree *t;
    struct profile *p;
    assert_int_equal(symbols_open(FIXTURES "stripped-le.elf", &s, NULL), 0);
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = symbols_range, .resolve_ctx = s }, &t,
                     NULL),
        0);
    calltree_feed(t, e, ARRAY_LEN(e));
    assert_int_equal(profile_build(t, s, NULL, &p, NULL), 0);
    assert_int_equal(p->nfunctions, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_string_equal(p->functions[i].name, rows[i].name);
        assert_int_equal(p->functions[i].low, rows[i].low);
        assert_int_equal(p->functions[i].high, rows[i].high);
    }
    profile_free(p);
    calltree_free(t);
    symbols_close(s);
}

static uint64_t without_area(uint64_t addr) { return addr & 0x1fffffff; }

/* The ELF is linked for P1, the program runs in P0, and one call goes through P2: one function all
 * the same. */
static void profile__aliases__one_function(void **state)
{
    static const struct event e[] = {
        { .kind = EVENT_START, .pc = 0x0c01011c, .flags = ALL },
        { .kind = EVENT_CALL, .pc = 0x0c010120, .target = 0x0c010088, .c1 = 5, .flags = ALL },
        { .kind = EVENT_RETURN, .pc = 0x0c0100a0, .target = 0x0c010124, .c1 = 6, .flags = ALL },
        { .kind = EVENT_CALL, .pc = 0x0c010128, .target = 0xac010088, .c1 = 7, .flags = ALL },
        { .kind = EVENT_RETURN, .pc = 0xac0100a0, .target = 0x0c01012c, .c1 = 27, .flags = ALL },
        { .kind = EVENT_STOP, .c1 = 30, .flags = ALL }
    };
    (void)state;
    struct symbols *s;
    struct calltree *t;
    struct profile *p;
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0);
    assert_int_equal(symbols_set_canonical(s, without_area, NULL), 0);
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = symbols_range, .resolve_ctx = s }, &t,
                     NULL),
        0);
    calltree_feed(t, e, ARRAY_LEN(e));
    assert_int_equal(profile_build(t, s, NULL, &p, NULL), 0);
    assert_int_equal(p->nfunctions, 2);
    assert_int_equal(function_named(p, "list_sum")->hits, 2);
    assert_int_equal(function_named(p, "list_sum")->c1, 21);
    assert_int_equal(function_named(p, "list_sum")->low, 0x8c010088); /* as the ELF has it */
    assert_int_equal(function_named(p, "main")->c1, 9);
    assert_int_equal(calltree_stats(t)->doubtful, 0);
    profile_free(p);
    calltree_free(t);
    symbols_close(s);
}

static void profile__samples_only__statistical(void **state)
{
    static const struct event e[] = {
        { .kind = EVENT_START, .flags = 0 },
        { .kind = EVENT_SAMPLE, .pc = 0x8c010024, .flags = EVENT_HAS_PC },
        { .kind = EVENT_SAMPLE, .pc = 0x8c010026, .flags = EVENT_HAS_PC },
        { .kind = EVENT_SAMPLE, .pc = 0x8c010120, .flags = EVENT_HAS_PC }
    };
    (void)state;
    struct symbols *s;
    struct calltree *t;
    struct profile *p;
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0);
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = symbols_range, .resolve_ctx = s }, &t,
                     NULL),
        0);
    calltree_feed(t, e, ARRAY_LEN(e));
    assert_int_equal(profile_build(t, s, NULL, &p, NULL), 0);
    assert_int_equal(p->type, PROFILE_STATISTICAL);
    assert_int_equal(p->nnodes, 0);
    assert_int_equal(p->total_hits, 3);
    assert_int_equal(function_named(p, "walk")->hits, 2);
    profile_free(p);
    calltree_free(t);
    symbols_close(s);
}

static void profile__lost_events__have_a_line_of_their_own(void **state)
{
    /* clang-format off */
    static const struct event e[] = {
        { .kind = EVENT_START, .pc = 0x1000, .flags = ALL },
        { .kind = EVENT_LOST, .amount = 7, .c1 = 10, .flags = EVENT_HAS_C1 },
        { .kind = EVENT_CALL, .pc = 0x1010, .target = 0x2000, .c1 = 110, .flags = ALL },
        { .kind = EVENT_STOP, .c1 = 120, .flags = ALL } };
    (void)state;
    struct calltree *t;
    struct profile *p;
    assert_int_equal(calltree_new(NULL, &t, NULL), 0);
    calltree_feed(t, e, ARRAY_LEN(e));
    assert_int_equal(profile_build(t, NULL, &(struct profile_info){ .target = "x" }, &p, NULL), 0);
    const struct profile_function *lost = function_named(p, "(lost events)");
    assert_int_equal(lost->c1, 100);
    assert_true(lost->doubtful);
    assert_int_equal(lost->low, 0);
    assert_int_equal(profile_coverage_sum(p, COVERAGE_LOST).amount, 7);
    assert_int_equal(profile_coverage_sum(p, COVERAGE_LOST).c1, 100);
    assert_int_equal(p->info.passes, 1);
    assert_int_equal(p->total_c1, 120);
    profile_free(p);
    calltree_free(t);
}
/* clang-format on */

/* The doubtful call ends a step of main and begins one of F, the doubtful return the other way
 * round. */
static void profile__doubt_share__of_the_steps_at_most_all(void **state)
{
    enum { MAIN = 0x1000, F = 0x2000, SP = 0x9000, DOUBT = ALL | EVENT_DOUBTFUL };
    static const struct event e[] = {
        { .kind = EVENT_START, .pc = MAIN, .sp = SP, .flags = ALL },
        { .kind = EVENT_CALL, .pc = MAIN + 4, .target = F, .sp = SP, .c1 = 1, .flags = DOUBT },
        { .kind = EVENT_RETURN,
          .pc = F + 4,
          .target = MAIN + 8,
          .sp = SP,
          .c1 = 2,
          .flags = DOUBT },
        { .kind = EVENT_CALL, .pc = MAIN + 8, .target = F, .sp = SP, .c1 = 3, .flags = ALL },
        { .kind = EVENT_RETURN, .pc = F + 4, .target = MAIN + 12, .sp = SP, .c1 = 4, .flags = ALL },
        { .kind = EVENT_CALL, .pc = MAIN + 12, .target = F, .sp = SP, .c1 = 5, .flags = ALL },
        { .kind = EVENT_RETURN, .pc = F + 4, .target = MAIN + 16, .sp = SP, .c1 = 6, .flags = ALL },
        { .kind = EVENT_STOP, .pc = MAIN + 20, .c1 = 9, .flags = ALL }
    };
    (void)state;
    struct calltree *t;
    struct profile *p;
    assert_int_equal(calltree_new(NULL, &t, NULL), 0);
    calltree_feed(t, e, ARRAY_LEN(e));
    assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
    const struct profile_function *f = function_named(p, "0x00002000"),
                                  *m = function_named(p, "0x00001000");
    assert_int_equal(f->steps, 3);
    assert_int_equal(f->doubts, 2);
    assert_int_equal(m->steps, 4);
    assert_int_equal(m->doubts, 2);
    assert_true(m->doubtful && profile_doubt_share(m) == 0.5);
    profile_free(p);
    calltree_clear(t);
    calltree_feed(t, e, ARRAY_LEN(e) - 1);
    assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
    assert_int_equal(function_named(p, "0x00002000")->steps, 3);
    profile_free(p);
    calltree_free(t);
    assert_true(profile_doubt_share(&(struct profile_function){ .doubts = 1 }) == 1);
    assert_true(profile_doubt_share(&(struct profile_function){ .steps = 3, .doubts = 4 }) == 1);
    assert_true(profile_doubt_share(&(struct profile_function){ .doubtful = true }) < 0);
}

static void profile__walking__children_and_siblings(void **state)
{
    (void)state;
    struct profile *p = sample_profile();
    size_t seen = 0;
    for (size_t i = 0; i < p->nnodes; i++) {
        for (size_t c = profile_first_child(p, i); c < p->nnodes; c = profile_next_sibling(p, c)) {
            assert_int_equal(p->nodes[c].parent, i);
            assert_true(c < profile_subtree_end(p, i));
            seen++;
        }
        if (p->nodes[i].parent == PROFILE_NO_PARENT)
            seen++;
    }
    assert_int_equal(seen, p->nnodes);
    profile_free(p);
}

static void arena__any_size__aligned_zeroed_and_separate(void **state)
{
    (void)state;
    struct arena a = { 0 };
    uint64_t seed = 3;
    unsigned char *last = NULL;
    size_t last_n = 0;
    for (int i = 0; i < 2000; i++) {
        size_t n = random_below(&seed, i % 50 ? 300 : 200000);
        unsigned char *p = arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0xEE, n);
        for (size_t k = 0; k < last_n; k++)
            assert_int_equal(last[k], 0xEE);
        last = p;
        last_n = n < 300 ? n : 0;
    }
    assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    assert_null(arena_str(&a, NULL));
    assert_null(arena_alloc(&a, SIZE_MAX - 3));
    arena_fini(&a);
    assert_int_equal(a.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile__recursion__counted_once_in_children),
        cmocka_unit_test(profile__namesakes__told_apart_others_not),
        cmocka_unit_test(profile__cache_line_and_description__by_address_and_kind),
        cmocka_unit_test(profile__exceptions__described_by_vector),
        cmocka_unit_test(profile__stripped__functions_are_what_was_called),
        cmocka_unit_test(profile__aliases__one_function),
        cmocka_unit_test(profile__samples_only__statistical),
        cmocka_unit_test(profile__lost_events__have_a_line_of_their_own),
        cmocka_unit_test(profile__doubt_share__of_the_steps_at_most_all),
        cmocka_unit_test(profile__walking__children_and_siblings),
        cmocka_unit_test(arena__any_size__aligned_zeroed_and_separate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
