/* snapshot: versions, who holds one, and threads that read while events go on. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/snapshot.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

struct owner {
    struct calltree *tree;
    struct snapshots *snapshots;
    unsigned built;
    bool fail;
};

static int build_profile(void *ctx, struct profile **out, struct err *err)
{
    struct owner *o = ctx;
    o->built++;
    if (o->fail)
        return err_set(err, ERR_NOMEM, "", "no memory");
    return profile_build(o->tree, NULL, &(struct profile_info){ .target = "x" }, out, err);
}

static void owner_init(struct owner *o)
{
    *o = (struct owner){ 0 };
    assert_int_equal(calltree_new(NULL, &o->tree, NULL), 0);
    assert_int_equal(snapshots_new(&o->snapshots, NULL), 0);
}

static void owner_fini(struct owner *o)
{
    snapshots_free(o->snapshots);
    calltree_free(o->tree);
}

static void feed_events(struct owner *o, const struct event *e, size_t n)
{
    calltree_feed(o->tree, e, n);
    snapshots_changed(o->snapshots);
}

static const struct snapshot *take_snapshot(struct owner *o)
{
    const struct snapshot *n;
    assert_int_equal(snapshots_take(o->snapshots, build_profile, o, &n, NULL), 0);
    return n;
}

static void snapshot__nothing_changed__is_the_same(void **state)
{
    (void)state;
    struct owner o;
    size_t n;
    const struct event *e = sample_events(&n);
    owner_init(&o);
    const struct snapshot *none = take_snapshot(&o);
    feed_events(&o, e, n / 2);
    const struct snapshot *first = take_snapshot(&o), *again = take_snapshot(&o);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, none);
    assert_int_equal(o.built, 2);
    feed_events(&o, e + n / 2, n - n / 2);
    const struct snapshot *second = take_snapshot(&o), *last = snapshots_last(o.snapshots);
    assert_ptr_equal(second, last);
    assert_true(snapshot_version(none) < snapshot_version(first));
    assert_true(snapshot_version(first) < snapshot_version(second));
    assert_true(snapshot_profile(first)->total_c1 < snapshot_profile(second)->total_c1);
    assert_true(snapshot_release(none));
    assert_false(snapshot_release(first));
    assert_true(snapshot_release(again));
    assert_false(snapshot_release(second));
    assert_true(snapshot_release(last));
    owner_fini(&o);
}

static void snapshot__at_the_end__has_the_reports_figures(void **state)
{
    (void)state;
    struct owner o;
    struct profile *p;
    struct memory_sink one = { 0 }, other = { 0 };
    size_t n;
    const struct event *e = sample_events(&n);
    owner_init(&o);
    feed_events(&o, e, n);
    const struct snapshot *s = take_snapshot(&o);
    assert_int_equal(build_profile(&o, &p, NULL), 0);
    report_json(snapshot_profile(s), sink_to(&one));
    report_json(p, sink_to(&other));
    assert_string_equal(sink_text(&one), sink_text(&other));
    sink_free(&one);
    sink_free(&other);
    profile_free(p);
    snapshot_release(s);
    owner_fini(&o);
}

static void snapshot__last_one_gives_it_back__nobody_has_it(void **state)
{
    (void)state;
    struct owner o;
    owner_init(&o);
    assert_null(snapshots_last(o.snapshots));
    const struct snapshot *n = take_snapshot(&o), *kept = snapshot_keep(n);
    assert_ptr_equal(kept, n);
    assert_false(snapshot_release(kept));
    assert_true(snapshot_release(n));
    assert_null(snapshots_last(o.snapshots));
    assert_false(snapshot_release(NULL));
    n = take_snapshot(&o);
    assert_int_equal(o.built, 2); /* nothing had changed, but nobody had it */
    owner_fini(&o);               /* a reader may outlive the owner */
    assert_int_equal(snapshot_profile(n)->nfunctions, 0);
    assert_true(snapshot_release(n));
}

static void snapshot__no_memory__the_one_before_stays(void **state)
{
    (void)state;
    struct owner o;
    struct err err = { .code = ERR_OK };
    const struct snapshot *n = NULL;
    size_t count;
    const struct event *e = sample_events(&count);
    owner_init(&o);
    const struct snapshot *before = take_snapshot(&o);
    feed_events(&o, e, count);
    o.fail = true;
    assert_int_equal(snapshots_take(o.snapshots, build_profile, &o, &n, &err), -ERR_NOMEM);
    assert_null(n);
    const struct snapshot *last = snapshots_last(o.snapshots);
    assert_ptr_equal(last, before);
    snapshot_release(last);
    assert_true(snapshot_release(before));
    owner_fini(&o);
}

/* ---- threads ---- */

enum { READERS = 3, ROUNDS = 400, AT_LEAST = 20 };

struct reader {
    pthread_t thread;
    struct snapshots *snapshots;
    atomic_bool *stop;
    _Atomic unsigned seen; /* different versions */
    unsigned wrong;
};

/* Whatever is read: sums hold, versions never fall. */
static void check_snapshot(struct reader *r, const struct snapshot *n, uint64_t *version)
{
    const struct profile *p = snapshot_profile(n);
    uint64_t c1 = 0, hits = 0, nodes = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        c1 += p->functions[i].c1;
        hits += p->functions[i].hits;
        r->wrong += strlen(p->functions[i].name) == 0;
    }
    for (size_t i = 0; i < p->nnodes; i++)
        nodes += p->nodes[i].c1;
    r->wrong += c1 != p->total_c1 || hits != p->total_hits || nodes != c1;
    r->wrong += snapshot_version(n) < *version;
    if (snapshot_version(n) != *version)
        r->seen++;
    *version = snapshot_version(n);
}

static void *read_on(void *arg)
{
    struct reader *r = arg;
    uint64_t version = 0;
    while (!atomic_load(r->stop)) {
        const struct snapshot *n = snapshots_last(r->snapshots);
        if (!n)
            continue;
        const struct snapshot *mine = snapshot_keep(n);
        snapshot_release(n);
        check_snapshot(r, mine, &version);
        snapshot_release(mine);
    }
    return NULL;
}

static bool all_have_seen(const struct reader *r, unsigned versions)
{
    for (size_t i = 0; i < READERS; i++)
        if (r[i].seen < versions)
            return false;
    return true;
}

static void snapshot__read_by_threads__while_events_go_on(void **state)
{
    (void)state;
    struct owner o;
    struct reader r[READERS] = { 0 };
    atomic_bool stop = false;
    size_t n;
    const struct event *e = sample_events(&n);
    const struct snapshot *held = NULL;
    owner_init(&o);
    for (size_t i = 0; i < READERS; i++) {
        r[i].snapshots = o.snapshots;
        r[i].stop = &stop;
        assert_int_equal(pthread_create(&r[i].thread, NULL, read_on, &r[i]), 0);
    }
    for (unsigned k = 0; k < ROUNDS || !all_have_seen(r, AT_LEAST); k++) {
        feed_events(&o, &e[k % n], 1);
        const struct snapshot *fresh = take_snapshot(&o);
        snapshot_release(held);
        held = fresh;
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(r[i].thread, NULL);
        assert_int_equal(r[i].wrong, 0);
        assert_true(r[i].seen >= AT_LEAST);
    }
    assert_true(snapshot_release(held));
    owner_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshot__nothing_changed__is_the_same),
        cmocka_unit_test(snapshot__at_the_end__has_the_reports_figures),
        cmocka_unit_test(snapshot__last_one_gives_it_back__nobody_has_it),
        cmocka_unit_test(snapshot__no_memory__the_one_before_stays),
        cmocka_unit_test(snapshot__read_by_threads__while_events_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
