/* Profiles of one build, added up: what one call tree makes of all their events is the truth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/merge.h"
#include "tests/profiler/sink.h"

enum { CODE = 0x8c010000, NFUNCTIONS = 8, DEPTH = 6, EVENTS = 400, RUNS = 3 };

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    if (addr < CODE || addr >= CODE + NFUNCTIONS * 0x100)
        return false;
    out->id = out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return true;
}

static const struct profile_info about = {
    .target = "sh7750",
    .counter = { { 0x23, "elapsed-time", "cycles" }, { 0x08, "icache-miss", "count" } },
    .build_id = { 1, 2, 3 },
    .build_id_len = 3,
};

/* A run: calls and returns, an interrupt and a loss now and then. */
static size_t make_run(struct event *e, uint64_t seed)
{
    uint32_t from[DEPTH + 1], at[DEPTH + 1] = { CODE };
    uint64_t c1 = 0, c2 = 0;
    size_t n = 0, depth = 0;
    const uint32_t all = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2;
    e[n++] = (struct event){ .kind = EVENT_START, .pc = CODE, .flags = all & ~EVENT_HAS_TARGET };
    while (n < EVENTS - 1) {
        struct event *x = &e[n++];
        *x = (struct event){ .c1 = c1 += random_below(&seed, 50),
                             .c2 = c2 += random_below(&seed, 3) };
        x->flags = all | (random_below(&seed, 50) ? 0u : EVENT_DOUBTFUL);
        if (!random_below(&seed, 60)) {
            x->kind = EVENT_LOST;
            x->flags &= EVENT_HAS_C1 | EVENT_HAS_C2;
            x->cause = (uint8_t)(random_below(&seed, 2) ? EVENT_CAUSE_RING_FULL : EVENT_CAUSE_LINK);
            x->lost_events = random_below(&seed, 9);
        } else if (depth < DEPTH && (depth == 0 || random_below(&seed, 2))) {
            x->kind = EVENT_CALL;
            x->pc = at[depth++] + 8;
            from[depth] = (uint32_t)x->pc;
            x->target = at[depth] = CODE + random_below(&seed, NFUNCTIONS) * 0x100;
        } else {
            x->kind = EVENT_RETURN;
            x->pc = at[depth] + 16;
            x->target = from[depth--] + 4;
        }
    }
    e[n++] = (struct event){ .kind = EVENT_STOP, .c1 = c1, .c2 = c2, .flags = all & ~3u };
    return n;
}

static struct profile *build_of(struct event *const *run, const size_t *len, size_t n,
                                const struct profile_info *info)
{
    const struct calltree_config cfg = { .resolve = resolve_function };
    struct calltree *t;
    struct profile *p;
    assert_int_equal(calltree_new(&cfg, &t, NULL), 0);
    for (size_t i = 0; i < n; i++)
        calltree_feed(t, run[i], len[i]);
    assert_int_equal(profile_build(t, NULL, info, &p, NULL), 0);
    calltree_free(t);
    return p;
}

static const struct profile_function *function_like(const struct profile *p,
                                                    const struct profile_function *f)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, f->name))
            return &p->functions[i];
    fail_msg("no %s", f->name);
    return NULL;
}

static void path_text(const struct profile *p, size_t i, char *buf, size_t cap)
{
    const struct profile_node *n = &p->nodes[i];
    size_t len = 0;
    if (n->parent != PROFILE_NO_PARENT)
        path_text(p, n->parent, buf, cap);
    else
        *buf = 0;
    len = strlen(buf);
    snprintf(buf + len, cap - len, ">%s", p->functions[n->function].name);
}

static const struct profile_node *node_like(const struct profile *p, const char *path)
{
    char text[1000];
    for (size_t i = 0; i < p->nnodes; i++) {
        path_text(p, i, text, sizeof text);
        if (!strcmp(text, path))
            return &p->nodes[i];
    }
    fail_msg("no %s", path);
    return NULL;
}

static void compare_trees(const struct profile *p, const struct profile *truth)
{
    char path[1000];
    assert_int_equal(p->nnodes, truth->nnodes);
    for (size_t i = 0; i < p->nnodes; i++) {
        path_text(p, i, path, sizeof path);
        const struct profile_node *n = &p->nodes[i], *t = node_like(truth, path);
        assert_true(n->parent == PROFILE_NO_PARENT || n->parent < i);
        assert_int_equal(n->hits, t->hits);
        assert_int_equal(n->c1, t->c1);
        assert_int_equal(n->c1_children, t->c1_children);
        assert_int_equal(n->c2, t->c2);
        assert_int_equal(n->c2_children, t->c2_children);
        assert_int_equal(n->doubtful, t->doubtful);
        if (n->parent != PROFILE_NO_PARENT) /* in pre-order */
            assert_true(i < profile_subtree_end(p, n->parent));
    }
}

static void compare_profiles(const struct profile *p, const struct profile *truth)
{
    assert_int_equal(p->nfunctions, truth->nfunctions);
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i], *t = function_like(truth, f);
        assert_true(i == 0 || p->functions[i - 1].low <= f->low || !f->low);
        assert_int_equal(f->hits, t->hits);
        assert_int_equal(f->c1, t->c1);
        assert_int_equal(f->c2, t->c2);
        assert_int_equal(f->c1_children, t->c1_children);
        assert_int_equal(f->c2_children, t->c2_children);
        assert_int_equal(f->steps, t->steps);
        if (f->low) /* that of losses is born with a doubt, in each run */
            assert_int_equal(f->doubts, t->doubts);
    }
    compare_trees(p, truth);
    assert_int_equal(p->total_hits, truth->total_hits);
    assert_int_equal(p->total_c1, truth->total_c1);
    assert_int_equal(p->total_c2, truth->total_c2);
    assert_int_equal(p->info.events, truth->info.events);
    assert_int_equal(p->info.passes, truth->info.passes);
    for (enum coverage_kind k = 0; k < COVERAGE_NKINDS; k++) {
        assert_int_equal(profile_coverage_sum(p, k).amount, profile_coverage_sum(truth, k).amount);
        assert_int_equal(profile_coverage_sum(p, k).c1, profile_coverage_sum(truth, k).c1);
    }
}

static void merge__random_runs__are_what_one_tree_makes_of_all_events(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct event *run[RUNS];
        size_t len[RUNS];
        struct profile *p, *truth, *each[RUNS];
        struct merge_input in[RUNS];
        for (size_t i = 0; i < RUNS; i++) {
            run[i] = malloc(EVENTS * sizeof **run);
            assert_non_null(run[i]);
            len[i] = make_run(run[i], seed * 1000 + i);
            each[i] = build_of(&run[i], &len[i], 1, &about);
            in[i] = (struct merge_input){ each[i], "a.rec", 0 };
        }
        truth = build_of(run, len, RUNS, &about);
        assert_int_equal(profile_merge(in, RUNS, &p, NULL), 0);
        for (size_t i = 0; i < RUNS; i++) { /* nothing of them is borrowed */
            profile_free(each[i]);
            free(run[i]);
        }
        compare_profiles(p, truth);
        profile_free(p);
        profile_free(truth);
    }
}

static void merge__what_does_not_belong_together__is_refused_in_words(void **state)
{
    struct profile_info other_build = about, other_counter = about, no_build = about;
    other_build.build_id[0] = 9;
    other_counter.counter[1] = (struct profile_counter){ 0x04, "dcache-miss", "count" };
    no_build.build_id_len = 0;
    const struct {
        const struct profile_info *info;
        uint64_t code_sum;
        const char *what;
    } rows[] = {
        { &about, 0, NULL },
        { &other_build, 0, "different builds" },
        { &other_counter, 0, "counted different things" },
        { &no_build, 0, "does not say of which build" },
        { &no_build, 7, "different builds" }, /* the first has no sum to compare */
    };
    struct event *run = malloc(EVENTS * sizeof *run);
    (void)state;
    assert_non_null(run);
    size_t len = make_run(run, 1);
    struct profile *first = build_of(&run, &len, 1, &about);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct profile *p = NULL, *second = build_of(&run, &len, 1, rows[i].info);
        const struct merge_input in[] = { { first, "a.rec", 0 },
                                          { second, "b.rec", rows[i].code_sum } };
        struct err err = { .code = ERR_OK };
        assert_int_equal(profile_merge(in, 2, &p, &err), rows[i].what ? -ERR_USAGE : 0);
        if (rows[i].what) {
            assert_non_null(strstr(err.what, rows[i].what));
            assert_non_null(strstr(err.what, "b.rec"));
            assert_string_not_equal(err.hint, "");
            assert_null(p);
        }
        profile_free(p);
        profile_free(second);
    }
    profile_free(first);
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge__random_runs__are_what_one_tree_makes_of_all_events),
        cmocka_unit_test(merge__what_does_not_belong_together__is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
