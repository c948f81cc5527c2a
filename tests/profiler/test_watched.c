/* What a watched tree puts into a profile while it goes on, reckoned by hand. That a bridge shows
 * what its recording shows is in tests/cli/e2e/bridgeurl.py. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/profile/watched.h"
#include "tests/profiler/sink.h"

/* Functions of 0x100 bytes; the same code is seen 0x20000000 higher, too. */
enum { CODE = 0x0c010000, M = CODE, F = CODE + 0x100, G = CODE + 0x200, SP = 0x0cff0000 };
enum { ALIAS = 0x20000000 };

static uint64_t without_alias(uint64_t addr) { return addr & ~(uint64_t)ALIAS; }

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    out->id = without_alias(addr) & ~0xFFull;
    out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return true;
}

/* Each event adds `cost` to C1 and one to C2 before it happens. */
struct row {
    enum event_kind kind;
    uint32_t pc, target, sp, cost;
};

struct fixture {
    struct watched *w;
    struct calltree *t;
    uint64_t c1, c2;
};

static void begin_watch(struct fixture *f)
{
    *f = (struct fixture){ .c1 = 0 };
    assert_int_equal(watched_new(&f->w, NULL), 0);
    const struct calltree_config cfg = { .resolve = resolve_function,
                                         .watch = watched_watch(f->w) };
    assert_int_equal(calltree_new(&cfg, &f->t, NULL), 0);
}

static void feed_rows(struct fixture *f, const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct event e = { .kind = (uint8_t)row[i].kind,
                           .pc = row[i].pc,
                           .target = row[i].target,
                           .sp = row[i].sp,
                           .c1 = f->c1 += row[i].cost,
                           .c2 = ++f->c2 };
        e.flags = EVENT_HAS_C1 | EVENT_HAS_C2 | (e.pc ? EVENT_HAS_PC : 0u) |
                  (e.target ? EVENT_HAS_TARGET : 0u) | (e.sp ? EVENT_HAS_SP : 0u);
        calltree_feed(f->t, &e, 1);
    }
}

static struct profile *build_profile(const struct fixture *f)
{
    struct profile *p;
    assert_int_equal(
        profile_build(f->t, NULL, &(struct profile_info){ .target = "sh7750" }, &p, NULL), 0);
    assert_null(p->watched);
    assert_int_equal(watched_take(f->w, f->t, NULL, without_alias, p, NULL), 0);
    return p;
}

static void end_watch(struct fixture *f)
{
    calltree_free(f->t);
    watched_free(f->w);
}

static const struct profile_live *live_of(const struct profile *p, uint64_t low)
{
    for (size_t i = 0; i < p->watched->nlive; i++)
        if (p->watched->live[i].low == low)
            return &p->watched->live[i];
    fail_msg("no row of %llx", (unsigned long long)low);
    return NULL;
}

static void check_live(const struct profile *p, uint64_t low, uint64_t calls, uint64_t cut,
                       uint64_t live, uint64_t work)
{
    const struct activation_sum *s = &live_of(p, low)->sum;
    assert_int_equal(s->calls, calls);
    assert_int_equal(s->cut, cut);
    assert_int_equal(s->live, live);
    assert_int_equal(s->work, work);
}

static void check_site(const struct profile_site *s, uint64_t address, uint64_t calls, uint64_t c1,
                       uint64_t c2)
{
    assert_int_equal(s->address, address);
    assert_int_equal(s->calls, calls);
    assert_int_equal(s->c1, c1);
    assert_int_equal(s->c2, c2);
}

/* M has called F, which has called G and returned; and is in F and G once more, by another alias.
 */
static const struct row calls[] = {
    { EVENT_START, M, 0, SP, 0 },
    { EVENT_CALL, M + 0x10, F, SP, 1 },
    { EVENT_CALL, F + 0x10, G, SP - 16, 2 },
    { EVENT_RETURN, G + 0x20, F + 0x14, SP - 16, 4 },
    { EVENT_RETURN, F + 0x20, M + 0x14, SP, 8 },
    { EVENT_CALL, M + 0x10 + ALIAS, F, SP, 16 },
    { EVENT_CALL, F + 0x10, G, SP - 16, 32 },
    { EVENT_TIMESTAMP, G + 8, 0, SP - 16, 64 },
};
static const struct row returns[] = {
    { EVENT_RETURN, G + 0x20, F + 0x14, SP - 16, 128 },
    { EVENT_RETURN, F + 0x20, M + 0x14 + ALIAS, SP, 256 },
};

static void take__in_a_call__counts_what_it_took_so_far(void **state)
{
    struct fixture f;
    (void)state;
    begin_watch(&f);
    feed_rows(&f, calls, ARRAY_LEN(calls));
    for (int again = 0; again < 2; again++) { /* to look changes nothing */
        struct profile *p = build_profile(&f);
        assert_int_equal(p->watched->nlive, 3);
        assert_int_equal(p->watched->live[0].low, F); /* the longest in all comes first */
        check_live(p, F, 1, 1, 14, 10);
        check_live(p, G, 1, 1, 4, 4);
        check_live(p, M, 0, 1, 0, 0);
        assert_int_equal(p->watched->nsites, 2);
        check_site(&p->watched->site[0], M + 0x10, 2, 14 + 96, 3 + 2);
        check_site(&p->watched->site[1], F + 0x10, 2, 4 + 64, 1 + 1);
        profile_free(p);
    }
    feed_rows(&f, returns, ARRAY_LEN(returns));
    struct profile *p = build_profile(&f);
    check_live(p, F, 2, 0, 14 + 480, 10 + 288);
    check_live(p, G, 2, 0, 4 + 192, 4 + 192);
    check_site(&p->watched->site[0], M + 0x10, 2, 14 + 480, 3 + 4);
    check_site(&p->watched->site[1], F + 0x10, 2, 4 + 192, 1 + 2);
    profile_free(p);
    end_watch(&f);
}

static void take__stretches__are_of_one_function_and_in_order(void **state)
{
    static const struct profile_stretch expect[] = {
        { M, M, M + 0x10, 1, 1, 1, false },
        { M, M + 0x14, M + 0x10 + ALIAS, 1, 16, 1, false },
        { F, F, F + 0x10, 2, 2 + 32, 2, false },
        { F, F + 0x14, F + 0x20, 2, 8 + 256, 2, false },
        { G, G, G + 8, 1, 64, 1, false },
        { G, G, G + 0x20, 1, 4, 1, false },
        { G, G + 8, G + 0x20, 1, 128, 1, false },
    };
    struct fixture f;
    (void)state;
    begin_watch(&f);
    feed_rows(&f, calls, ARRAY_LEN(calls));
    feed_rows(&f, returns, ARRAY_LEN(returns));
    struct profile *p = build_profile(&f);
    assert_int_equal(p->watched->nstretches, ARRAY_LEN(expect));
    for (size_t i = 0; i < ARRAY_LEN(expect); i++) {
        const struct profile_stretch *is = &p->watched->stretch[i];
        assert_int_equal(is->at, expect[i].at);
        assert_int_equal(is->from, expect[i].from);
        assert_int_equal(is->to, expect[i].to);
        assert_int_equal(is->times, expect[i].times);
        assert_int_equal(is->c1, expect[i].c1);
        assert_int_equal(is->c2, expect[i].c2);
        assert_false(is->doubtful);
    }
    profile_free(p);
    end_watch(&f);
}

/* What was open then is cut, and its call was before. */
static void take__after_a_clear__knows_what_came_since(void **state)
{
    static const struct row clear[] = { { EVENT_CLEAR, 0, 0, 0, 0 } };
    struct fixture f;
    (void)state;
    begin_watch(&f);
    feed_rows(&f, calls, ARRAY_LEN(calls));
    feed_rows(&f, clear, 1);
    feed_rows(&f, returns, ARRAY_LEN(returns));
    struct profile *p = build_profile(&f);
    check_live(p, F, 0, 1, 0, 0);
    check_live(p, G, 0, 1, 0, 0);
    check_live(p, M, 0, 1, 0, 0);
    assert_int_equal(p->watched->nsites, 0);
    assert_int_equal(p->watched->nstretches, 2);
    assert_int_equal(p->watched->dropped, 0);
    profile_free(p);
    end_watch(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take__in_a_call__counts_what_it_took_so_far),
        cmocka_unit_test(take__stretches__are_of_one_function_and_in_order),
        cmocka_unit_test(take__after_a_clear__knows_what_came_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
