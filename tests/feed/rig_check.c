#include <jansson.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/views/report_json.h"
#include "tests/feed/rig_priv.h"

struct bytes {
    char *at;
    size_t n, cap;
};

static void append_bytes(void *ctx, const char *s, size_t n)
{
    struct bytes *b = ctx;
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->at = realloc(b->at, b->cap);
        REQUIRE(b->at);
    }
    memcpy(b->at + b->n, s, n);
    b->n += n;
}

static struct feed_view view_of(const struct rig *r)
{
    return (struct feed_view){ .parts = FEED_FUNCTIONS | FEED_NODES | FEED_LOGGED | FEED_SERIES,
                               .nodes = r->cfg.nodes };
}

/* ---- states ---- */

/* Parents come first, so what is missing from the children is what the node has itself. */
static void check_sums(const struct feed_node *n, size_t count, const struct feed_totals *t)
{
    uint64_t *c1 = calloc(count + 1, sizeof *c1), *c2 = calloc(count + 1, sizeof *c2);
    uint64_t roots1 = 0, roots2 = 0, hits = 0;
    REQUIRE(c1 && c2);
    for (size_t i = count; i-- > 0;) {
        REQUIRE(n[i].c1_children == n[i].c1 + c1[i]);
        REQUIRE(n[i].c2_children == n[i].c2 + c2[i]);
        hits += n[i].hits;
        if (n[i].parent == FEED_NO_PARENT) {
            roots1 += n[i].c1_children;
            roots2 += n[i].c2_children;
            continue;
        }
        REQUIRE(n[i].parent < i);
        c1[n[i].parent] += n[i].c1_children;
        c2[n[i].parent] += n[i].c2_children;
    }
    REQUIRE(roots1 == t->c1 && roots2 == t->c2 && hits == t->hits);
    free(c1);
    free(c2);
}

/* Within an epoch nothing gets less, but what is corrected anew. */
static void check_growth(struct rig *r, const struct feed_node *n, size_t count)
{
    bool corrected = r->rated != r->rated_before;
    r->has_before &= r->epoch_before == feed_epoch(r->feed);
    r->epoch_before = feed_epoch(r->feed);
    if (r->has_before)
        REQUIRE(count >= r->nbefore);
    for (size_t i = 0; r->has_before && i < r->nbefore; i++) {
        const struct feed_node *b = &r->before[i];
        REQUIRE(n[i].hits >= b->hits && n[i].c2_children >= b->c2_children);
        REQUIRE(corrected || n[i].c1_children >= b->c1_children);
        REQUIRE(n[i].parent == b->parent && n[i].function == b->function);
        REQUIRE(n[i].version >= b->version);
    }
    if (count > r->cap_before) {
        r->cap_before = 2 * count;
        r->before = realloc(r->before, r->cap_before * sizeof *r->before);
        REQUIRE(r->before);
    }
    if (count)
        memcpy(r->before, n, count * sizeof *n);
    r->nbefore = count;
    r->rated_before = r->rated;
    r->has_before = true;
}

static void check_functions(const struct rig *r)
{
    size_t n;
    const struct feed_function *f = feed_functions(r->feed, &n);
    const struct feed_totals *t = feed_totals(r->feed);
    uint64_t c1 = 0, c2 = 0, hits = 0;
    for (size_t i = 0; i < n; i++) {
        c1 += f[i].is.c1;
        c2 += f[i].is.c2;
        hits += f[i].is.hits;
        REQUIRE(f[i].is.c1_children >= f[i].is.c1 && f[i].is.c1_children <= t->c1);
        REQUIRE(f[i].version <= feed_seq(r->feed) && f[i].named <= feed_seq(r->feed));
    }
    REQUIRE(c1 == t->c1 && c2 == t->c2 && hits == t->hits);
}

void check_state(struct rig *r)
{
    size_t n;
    const struct feed_node *nodes = feed_nodes(r->feed, &n);
    check_functions(r);
    if (r->cfg.samples) {
        REQUIRE(n == 0);
        return;
    }
    check_sums(nodes, n, feed_totals(r->feed));
    check_growth(r, nodes, n);
}

/* Just set, a mark has what the state has. */
void check_mark(struct rig *r, const char *name, bool is)
{
    struct bytes b = { 0 };
    struct text_sink out = { append_bytes, &b };
    struct feed_view v = view_of(r);
    int ret = feed_write_mark(r->feed, &v, name, &out, NULL);
    REQUIRE(ret == (is ? 0 : -ERR_NOT_FOUND));
    if (is) {
        json_t *root = json_loadb(b.at, b.n, 0, NULL), *tot = json_object_get(root, "tot");
        const struct feed_totals *t = feed_totals(r->feed);
        REQUIRE((uint64_t)json_integer_value(json_array_get(tot, 0)) == t->hits);
        REQUIRE((uint64_t)json_integer_value(json_array_get(tot, 1)) == t->c1);
        REQUIRE((uint64_t)json_integer_value(json_array_get(tot, 2)) == t->c2);
        size_t k, nodes;
        json_t *row;
        const struct feed_node *n = feed_nodes(r->feed, &nodes);
        json_array_foreach(json_object_get(root, "n"), k, row)
        {
            size_t id = (size_t)json_integer_value(json_array_get(row, 0));
            REQUIRE(id < nodes);
            REQUIRE((uint64_t)json_integer_value(json_array_get(row, 3)) == n[id].c1_children);
            REQUIRE((uint64_t)json_integer_value(json_array_get(row, 5)) == n[id].c2_children);
        }
        json_decref(root);
    }
    free(b.at);
}

/* ---- readers ---- */

/* What a service does for who comes with a position, or without one. */
static void greet_reader(struct rig *r, struct rig_reader *x, struct bytes *b)
{
    struct text_sink out = { append_bytes, b };
    struct feed_view v = view_of(r);
    char text[FEED_POSITION_TEXT];
    uint64_t epoch = 0, seq = 0;
    const struct feed_hello h = { .view = v, .interval_ms = 100 };
    feed_write_hello(r->feed, &h, &out);
    append_bytes(b, "\n", 1);
    if (follow_position(x->w, text))
        REQUIRE(feed_position_parse(text, &epoch, &seq));
    int ret = -ERR_NOT_FOUND;
    if (epoch == feed_epoch(r->feed))
        ret = feed_write_delta(r->feed, &v, seq, 0, &out);
    if (ret == -ERR_NOT_FOUND) {
        r->snaps++;
        ret = feed_write_snap(r->feed, &v, &out);
    }
    REQUIRE(ret == 0);
    x->connected = true;
}

static void next_frame(struct rig *r, struct rig_reader *x, struct bytes *b)
{
    struct text_sink out = { append_bytes, b };
    struct feed_view v = view_of(r);
    char text[FEED_POSITION_TEXT];
    uint64_t epoch = 0, seq = 0;
    bool has = follow_position(x->w, text) && feed_position_parse(text, &epoch, &seq);
    if (!x->connected || !has || epoch != feed_epoch(r->feed)) {
        greet_reader(r, x, b);
        return;
    }
    int ret = feed_write_delta(r->feed, &v, seq, 1, &out);
    if (ret == -ERR_NOT_FOUND) {
        r->snaps++;
        ret = feed_write_snap(r->feed, &v, &out);
    }
    REQUIRE(ret == 0);
}

static void follow_all(struct rig_reader *x, const char *bytes, size_t n)
{
    struct err err = { .code = ERR_OK };
    if (follow_bytes(x->w, bytes, n, &err) < 0) {
        fprintf(stderr, "%s\n%.*s\n", err.what, (int)n, bytes);
        abort();
    }
}

static void read_one(struct rig *r, struct rig_reader *x, bool whole)
{
    struct bytes b = { 0 };
    next_frame(r, x, &b);
    append_bytes(&b, "\n", 1);
    r->frames++;
    if (whole || r->cfg.pick(r->cfg.ctx, 3)) {
        size_t half = r->cfg.pick(r->cfg.ctx, (uint32_t)b.n); /* as packets fall */
        follow_all(x, b.at, half);
        follow_all(x, b.at + half, b.n - half);
    } else {
        follow_all(x, b.at, r->cfg.pick(r->cfg.ctx, (uint32_t)b.n));
        follow_reset_line(x->w);
        x->connected = false;
        r->cuts++;
    }
    free(b.at);
}

void rig_read(struct rig *r)
{
    read_one(r, &r->reader[0], true);
    for (size_t i = 1; i < RIG_READERS; i++)
        if (r->cfg.pick(r->cfg.ctx, (uint32_t)(i + 1)) == 0)
            read_one(r, &r->reader[i], false);
}

/* ---- the end ---- */

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void same_functions(const struct follow *a, const struct follow *b)
{
    size_t n, m;
    const struct follow_function *f = follow_functions(a, &n), *g = follow_functions(b, &m);
    REQUIRE(n == m);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(same_text(f[i].name, g[i].name) && same_text(f[i].file, g[i].file));
        REQUIRE(same_text(f[i].qualified, g[i].qualified));
        REQUIRE(same_text(f[i].linkage, g[i].linkage));
        REQUIRE(f[i].low == g[i].low && f[i].high == g[i].high && f[i].line == g[i].line);
        REQUIRE(f[i].hits == g[i].hits && f[i].c1 == g[i].c1 && f[i].c2 == g[i].c2);
        REQUIRE(f[i].c1_children == g[i].c1_children && f[i].c2_children == g[i].c2_children);
        REQUIRE(f[i].steps == g[i].steps && f[i].doubts == g[i].doubts);
        REQUIRE(f[i].c1_spread == g[i].c1_spread && f[i].flags == g[i].flags);
        REQUIRE(f[i].c1_children_spread == g[i].c1_children_spread);
    }
}

static void same_readers(const struct follow *a, const struct follow *b)
{
    size_t n, m;
    same_functions(a, b);
    const struct follow_node *x = follow_nodes(a, &n), *y = follow_nodes(b, &m);
    REQUIRE(n == m);
    if (n)
        REQUIRE(memcmp(x, y, n * sizeof *x) == 0);
    const struct follow_totals *s = follow_totals(a), *t = follow_totals(b);
    REQUIRE(s->events == t->events && s->hits == t->hits && s->c1 == t->c1 && s->c2 == t->c2);
    REQUIRE(s->hidden == t->hidden && follow_seq(a) == follow_seq(b));
    size_t ha, hb;
    const struct follow_handler *g = follow_handlers(a, &ha), *h = follow_handlers(b, &hb);
    REQUIRE(ha == hb);
    uint64_t sum = 0, other = 0; /* their order is that of their first hit */
    for (size_t i = 0; i < ha; i++) {
        sum += g[i].count * 31 + g[i].c1 + g[i].longest * 7 + g[i].shortest * 5;
        other += h[i].count * 31 + h[i].c1 + h[i].longest * 7 + h[i].shortest * 5;
    }
    REQUIRE(sum == other);
    const struct follow_entry *k = follow_log(a, &n), *l = follow_log(b, &m);
    for (size_t i = 0; i < MIN(n, m); i++) /* the newest: from the end */
        REQUIRE(k[n - 1 - i].number == l[m - 1 - i].number &&
                strcmp(k[n - 1 - i].text, l[m - 1 - i].text) == 0);
    static const char *const objects[] = { "run", "target", "adapter", "gdb" };
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        REQUIRE(
            same_text(follow_text(a, objects[i], "phase"), follow_text(b, objects[i], "phase")));
    const struct follow_point *p = follow_points(a, &n), *q = follow_points(b, &m);
    REQUIRE(n == m);
    for (size_t i = 0; i < n; i++)
        REQUIRE(p[i].number == q[i].number && p[i].events == q[i].events && p[i].c1 == q[i].c1);
}

static struct profile *profile_now(struct rig *r)
{
    struct profile *p = NULL;
    const struct profile_info info = { .target = "sh7750" };
    REQUIRE(profile_build(r->tree, r->cfg.symbols, &info, &p, NULL) == 0);
    p->type = r->cfg.samples ? PROFILE_STATISTICAL : p->type;
    if (r->cfg.estimated)
        REQUIRE(profile_take_rates(p, &r->rates, NULL) == 0);
    REQUIRE(profile_take_tasks(p, &r->tasks, NULL) == 0);
    struct err err = { .code = ERR_OK };
    if (r->marks && profile_apply_marks_partly(p, r->marks, r->cfg.symbols, &err) < 0) {
        fprintf(stderr, "%s\n", err.what);
        abort();
    }
    return p;
}

/* A function of the profile by what it is; -1: the feed has none. */
static long find_function(const struct rig *r, const struct profile_function *is)
{
    size_t n;
    const struct feed_function *f = feed_functions(r->feed, &n);
    for (size_t i = 0; i < n; i++)
        if (f[i].is.low == is->low && f[i].is.task == is->task &&
            strcmp(f[i].is.name, is->name) == 0)
            return (long)i;
    return -1;
}

/* The JSON's function k, and the reader's. */
static void same_as_json(const json_t *j, const struct follow_function *f)
{
    const struct {
        const char *key;
        uint64_t value;
    } each[] = { { "hits", f->hits },
                 { "c1", f->c1 },
                 { "c1_children", f->c1_children },
                 { "c2", f->c2 },
                 { "c2_children", f->c2_children },
                 { "low", f->low },
                 { "high", f->high } };
    for (size_t i = 0; i < ARRAY_LEN(each); i++)
        REQUIRE((uint64_t)json_integer_value(json_object_get(j, each[i].key)) == each[i].value);
    const json_t *spread = json_object_get(j, "c1_spread");
    if (json_is_integer(spread))
        REQUIRE((uint64_t)json_integer_value(spread) == f->c1_spread);
    REQUIRE(json_is_true(json_object_get(j, "doubtful")) == !!(f->flags & FEED_DOUBTFUL));
    REQUIRE(same_text(json_string_value(json_object_get(j, "name")), f->name));
    REQUIRE(same_text(json_string_value(json_object_get(j, "qualified_name")), f->qualified));
    REQUIRE(same_text(json_string_value(json_object_get(j, "linkage_name")), f->linkage));
    REQUIRE(same_text(json_string_value(json_object_get(j, "file")), f->file));
}

static void check_json(struct rig *r, const struct profile *p)
{
    struct bytes b = { 0 };
    report_json(p, &(struct text_sink){ append_bytes, &b });
    json_t *root = json_loadb(b.at, b.n, 0, NULL), *tot = json_object_get(root, "totals");
    json_t *functions = json_object_get(root, "functions"),
           *coverage = json_object_get(root, "coverage");
    const struct follow *w = r->reader[0].w;
    const struct follow_totals *t = follow_totals(w);
    REQUIRE((uint64_t)json_integer_value(json_object_get(tot, "hits")) == t->hits);
    REQUIRE((uint64_t)json_integer_value(json_object_get(tot, "c1")) == t->c1);
    REQUIRE((uint64_t)json_integer_value(json_object_get(tot, "c2")) == t->c2);
    static const char *const seen[] = { "events",   "lost",         "lost_c1", "gaps",
                                        "doubtful", "blind_events", "blind_c1" };
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        double v = -1;
        REQUIRE(follow_number(w, "coverage", seen[i], &v));
        REQUIRE((double)json_integer_value(json_object_get(coverage, seen[i])) == v);
    }
    size_t n;
    const struct follow_function *f = follow_functions(w, &n);
    REQUIRE(n == json_array_size(functions));
    for (size_t i = 0; i < p->nfunctions; i++) {
        long at = find_function(r, &p->functions[i]);
        REQUIRE(at >= 0);
        same_as_json(json_array_get(functions, i), &f[at]);
        REQUIRE(p->functions[i].steps == f[at].steps && p->functions[i].doubts == f[at].doubts);
        REQUIRE(p->functions[i].c1_children_spread == f[at].c1_children_spread);
        REQUIRE(p->functions[i].tagged == !!(f[at].flags & FEED_TAGGED));
        REQUIRE(p->functions[i].group == !!(f[at].flags & FEED_GROUP));
    }
    json_decref(root);
    free(b.at);
}

static void check_handlers(struct rig *r, const struct profile *p)
{
    size_t n, k = 0;
    const struct feed_handler *h = feed_handlers(r->feed, &n);
    for (size_t i = 0; i < n; i++) {
        if (!h[i].count)
            continue;
        REQUIRE(k < p->nhandlers);
        const struct profile_handler *x = &p->handlers[k++];
        REQUIRE(x->vector == h[i].vector && x->exception == h[i].exception);
        REQUIRE(x->count == h[i].count && x->c1 == h[i].c1);
        REQUIRE(x->longest == h[i].longest && x->shortest == h[i].shortest);
    }
    REQUIRE(k == p->nhandlers);
}

/* The profile has paths in pre-order, siblings in the order in which they were made; so do these.
 */
static void check_tree(struct rig *r, const struct profile *p)
{
    size_t n, at = 0;
    const struct feed_node *nodes = feed_nodes(r->feed, &n);
    uint32_t *order = malloc((n + 1) * sizeof *order), *first = malloc((n + 1) * sizeof *first),
             *next = malloc((n + 1) * sizeof *next);
    REQUIRE(order && first && next && p->nnodes == n);
    for (size_t i = 0; i <= n; i++)
        first[i] = next[i] = UINT32_MAX;
    for (size_t i = n; i-- > 0;) {
        size_t parent = nodes[i].parent == FEED_NO_PARENT ? n : nodes[i].parent;
        next[i] = first[parent];
        first[parent] = (uint32_t)i;
    }
    for (uint32_t i = first[n]; i != UINT32_MAX;) {
        order[at++] = i;
        uint32_t down = first[i];
        while (down == UINT32_MAX && i != UINT32_MAX) {
            down = next[i];
            i = down == UINT32_MAX ? nodes[i].parent : i;
        }
        i = down;
    }
    REQUIRE(at == n);
    for (size_t k = 0; k < n; k++) {
        const struct profile_node *x = &p->nodes[k];
        const struct feed_node *y = &nodes[order[k]];
        REQUIRE(x->hits == y->hits && x->c1 == y->c1 && x->c2 == y->c2);
        REQUIRE(x->c1_children == y->c1_children && x->c2_children == y->c2_children);
        REQUIRE(x->doubtful == !!(y->flags & FEED_DOUBTFUL));
        REQUIRE(find_function(r, &p->functions[x->function]) == (long)y->function);
        REQUIRE(x->parent == PROFILE_NO_PARENT ? y->parent == FEED_NO_PARENT
                                               : order[x->parent] == y->parent);
    }
    free(order);
    free(first);
    free(next);
}

/* What a reader is shown of the tree: with all ancestors, the values of the whole tree, no more of
 * them than asked for. */
static void check_shown(const struct rig *r)
{
    size_t n, all;
    const struct follow_node *shown = follow_nodes(r->reader[0].w, &n);
    const struct feed_node *nodes = feed_nodes(r->feed, &all);
    REQUIRE(n + follow_totals(r->reader[0].w)->hidden == all);
    REQUIRE(all > feed_view_nodes(r->cfg.nodes) || n == all);
    REQUIRE(n <= feed_view_nodes(r->cfg.nodes) || !feed_totals(r->feed)->c1);
    for (size_t i = 0; i < n; i++) {
        const struct feed_node *x = &nodes[shown[i].id];
        REQUIRE(x->c1_children == shown[i].c1_children && x->hits == shown[i].hits);
        REQUIRE(x->parent == FEED_NO_PARENT || follow_node(r->reader[0].w, x->parent));
    }
}

void rig_check(struct rig *r)
{
    struct rig_reader fresh = { .w = NULL };
    rig_fold(r);
    for (size_t i = 0; i < RIG_READERS; i++)
        read_one(r, &r->reader[i], true);
    REQUIRE(follow_new(&fresh.w, NULL) == 0);
    read_one(r, &fresh, true);
    for (size_t i = 0; i < RIG_READERS; i++)
        same_readers(r->reader[i].w, fresh.w);
    follow_free(fresh.w);
    struct profile *p = profile_now(r);
    check_json(r, p);
    check_handlers(r, p);
    check_tree(r, p);
    check_shown(r);
    profile_free(p);
}
