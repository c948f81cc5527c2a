/* Which rows top shows, and with which values. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/top_view_priv.h"

static const char *const sort_names[] = {
    "C1", "C1 with children", "hits", "C2", "C2 with children", "longest", "doubt", "name"
};
enum { BY_C1, BY_C1_CHILDREN, BY_HITS, BY_C2, BY_C2_CHILDREN, BY_LONGEST, BY_DOUBT, BY_NAME };

const char *top_sort_name(unsigned key)
{
    if (key < ARRAY_LEN(sort_names))
        return sort_names[key];
    return NULL;
}

/* ---- history ---- */

static bool room_for_past(struct top_view *v, size_t n)
{
    if (n <= v->npast)
        return true;
    struct top_past *past = realloc(v->past, n * sizeof *past);
    if (!past)
        return false;
    memset(past + v->npast, 0, (n - v->npast) * sizeof *past);
    for (size_t i = v->npast; i < n; i++)
        past[i].first = v->frames;
    v->past = past;
    v->npast = n;
    return true;
}

static struct top_base base_difference(const struct top_base *a, const struct top_base *b)
{
    return (struct top_base){
        .hits = EXCESS(a->hits, b->hits),
        .c1 = EXCESS(a->c1, b->c1),
        .c1_children = EXCESS(a->c1_children, b->c1_children),
        .c2 = EXCESS(a->c2, b->c2),
        .c2_children = EXCESS(a->c2_children, b->c2_children),
    };
}

/* Buckets that lie between the last frame and this one are empty. */
static void turn_buckets(struct top_view *v)
{
    int64_t before = v->bucket_ms / TOP_BUCKET_MS, now = v->now_ms / TOP_BUCKET_MS;
    for (int64_t k = MAX(before + 1, now - TOP_BUCKETS + 1); k <= now; k++)
        for (size_t i = 0; i < v->npast; i++)
            v->past[i].bucket[(uint64_t)k % TOP_BUCKETS] = 0;
    v->bucket_ms = MAX(v->bucket_ms, v->now_ms);
}

/* What a function's bar grows by: the chosen counter, or hits where none is counted. */
static uint64_t bar_growth(const struct top_view *v, const struct top_past *p)
{
    const struct top_base grown = base_difference(&p->now, &p->last);
    uint64_t step = grown.c1;
    if (v->second)
        step = grown.c2;
    if (!step && !p->now.c1)
        return grown.hits;
    return step;
}

static void take_function(struct top_view *v, const struct follow_function *f, size_t i,
                          bool snapped)
{
    struct top_past *p = &v->past[i];
    p->last = p->now;
    p->now = (struct top_base){ f->hits, f->c1, f->c1_children, f->c2, f->c2_children };
    if (snapped)
        p->last = p->now;
    size_t bucket = (uint64_t)v->now_ms / TOP_BUCKET_MS % TOP_BUCKETS;
    p->bucket[bucket] += (float)bar_growth(v, p);
}

/* A snapshot after others may be of another epoch: what was known before has other ids. */
static void forget_epoch(struct top_view *v)
{
    if (v->npast)
        memset(v->past, 0, v->npast * sizeof *v->past);
    v->npast = 0;
    v->has_mark = false;
    v->nturned = 0;
    if (v->mode == TOP_SINCE_MARK)
        v->mode = TOP_BY_INTERVAL;
    v->total = v->total_last = (struct top_base){ 0 };
}

/* A snapshot has nothing before it that it could have grown since. */
static void take_totals(struct top_view *v, const struct follow_totals *t, bool snapped)
{
    v->last_ms = v->now_ms;
    v->total_last = v->total;
    v->events_last = v->events;
    v->now_ms = t->wall_ms;
    v->total = (struct top_base){ t->hits, t->c1, t->c1, t->c2, t->c2 };
    v->events = t->events;
    if (!snapped)
        return;
    v->last_ms = v->now_ms;
    v->total_last = v->total;
    v->events_last = v->events;
}

int top_view_frame(struct top_view *v, const struct follow *w, struct err *err)
{
    size_t n;
    const struct follow_function *f = follow_functions(w, &n);
    bool snapped = follow_snapped(w);
    if (v->paused)
        return 0;
    if (snapped)
        forget_epoch(v);
    v->frames++;
    v->no_hits = follow_hello(w)->no_hits;
    v->no_children = follow_hello(w)->no_children;
    for (size_t k = 0; k < 2; k++)
        v->no_counter[k] = follow_hello(w)->no_counter[k];
    if (!room_for_past(v, n))
        return err_set(err, ERR_NOMEM, "close other programs", "top: out of memory");
    take_totals(v, follow_totals(w), snapped);
    turn_buckets(v);
    for (size_t i = 0; i < n; i++)
        take_function(v, &f[i], i, snapped);
    return 0;
}

enum top_mode top_rows_mode(const struct top_view *v)
{
    if (v->mode == TOP_BY_INTERVAL && v->now_ms <= v->last_ms)
        return TOP_TOTAL;
    return v->mode;
}

double top_rows_seconds(const struct top_view *v)
{
    int64_t from = v->last_ms;
    if (v->mode == TOP_SINCE_MARK)
        from = v->mark_ms;
    if (top_rows_mode(v) == TOP_TOTAL || v->now_ms <= from)
        return 0;
    return (double)(v->now_ms - from) / 1e3;
}

bool top_rows_samples(const struct top_view *v) { return !v->total.c1 && !v->total.c2; }

struct top_base top_rows_total(const struct top_view *v)
{
    switch (top_rows_mode(v)) {
    case TOP_TOTAL: return v->total;
    case TOP_SINCE_MARK: return base_difference(&v->total, &v->total_mark);
    default: return base_difference(&v->total, &v->total_last);
    }
}

/* ---- rows ---- */

static struct top_base value_of(const struct top_view *v, size_t i)
{
    const struct top_past *p = &v->past[i];
    switch (top_rows_mode(v)) {
    case TOP_TOTAL: return p->now;
    case TOP_SINCE_MARK: return base_difference(&p->now, &p->mark);
    default: return base_difference(&p->now, &p->last);
    }
}

static double key_of(const struct top_view *v, const struct top_row *r,
                     const struct follow_function *f)
{
    unsigned by = v->sort;
    if (top_rows_samples(v) && by != BY_DOUBT)
        return (double)r->is.hits;
    if (v->second && (by == BY_C1 || by == BY_C1_CHILDREN))
        by += BY_C2 - BY_C1;
    switch (by) {
    case BY_C1: return (double)r->is.c1;
    case BY_C1_CHILDREN: return (double)r->is.c1_children;
    case BY_HITS: return (double)r->is.hits;
    case BY_C2: return (double)r->is.c2;
    case BY_C2_CHILDREN: return (double)r->is.c2_children;
    case BY_LONGEST: return (double)f->c1_longest;
    case BY_DOUBT:
        if (f->steps)
            return (double)f->doubts / (double)f->steps;
        return 0;
    default: return 0;
    }
}

static bool put_row(struct top_view *v, const struct top_row *row)
{
    if (!array_room(&v->rows, v->nrows, &v->cap_rows, sizeof *v->rows))
        return false;
    v->rows[v->nrows++] = *row;
    return true;
}

static bool is_wanted(const struct top_view *v, const struct follow_function *f,
                      const struct top_base *is)
{
    const char *name = text_or(f->qualified, f->name);
    bool ran = f->hits || f->c1 || f->c1_children || f->c2_children;
    if (v->handlers && !(f->flags & (FEED_INTERRUPT | FEED_EXCEPTION)))
        return false;
    if (*v->filter && (!name || !strcasestr(name, v->filter)))
        return false;
    return ran && (double)is->hits >= v->least;
}

struct order {
    const struct follow_function *f;
    bool by_name, invert;
};

static int by_name(const struct order *o, const struct top_row *x, const struct top_row *y)
{
    return strcmp(text_or(o->f[x->id].name, ""), text_or(o->f[y->id].name, ""));
}

/* The greatest first, or the least, those that are equal by their ids. */
static int by_key(const void *a, const void *b, void *ctx)
{
    const struct top_row *x = a, *y = b;
    const struct order *o = ctx;
    int order = COMPARE(y->key, x->key);
    if (o->by_name)
        order = by_name(o, x, y);
    if (o->invert)
        order = -order;
    return EITHER(order, COMPARE(x->id, y->id));
}

static bool take_functions(struct top_view *v, const struct follow *w)
{
    size_t n;
    const struct follow_function *f = follow_functions(w, &n);
    for (size_t i = 0; i < MIN(n, v->npast); i++) {
        struct top_row row = { .id = (uint32_t)i, .function = (uint32_t)i, .is = value_of(v, i) };
        row.key = key_of(v, &row, &f[i]);
        if (is_wanted(v, &f[i], &row.is) && !put_row(v, &row))
            return false;
    }
    struct order o = { f, v->sort == BY_NAME, v->invert };
    if (v->nrows)
        qsort_r(v->rows, v->nrows, sizeof *v->rows, by_key, &o);
    return true;
}

/* ---- the tree: totals, heaviest child first ---- */

struct tree {
    const struct follow_node *node;
    size_t n;
    uint32_t *first, *next; /* by index; n: none */
};

/* Where a node is among those that were turned, or would be. */
static size_t place_of(const struct top_view *v, uint32_t node)
{
    size_t low = 0, high = v->nturned;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (v->turned[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_folded(const struct top_view *v, uint32_t node)
{
    size_t i = place_of(v, node);
    bool turned = i < v->nturned && v->turned[i] == node;
    return turned != v->all_folded;
}

void top_rows_fold(struct top_view *v, uint32_t node, bool fold)
{
    size_t i = place_of(v, node);
    if (is_folded(v, node) == fold)
        return;
    if (i < v->nturned && v->turned[i] == node) {
        memmove(&v->turned[i], &v->turned[i + 1], (--v->nturned - i) * sizeof *v->turned);
        return;
    }
    if (v->nturned == v->cap_turned) {
        size_t cap = 64;
        if (v->cap_turned)
            cap = 2 * v->cap_turned;
        uint32_t *turned = realloc(v->turned, cap * sizeof *turned);
        if (!turned)
            return;
        v->turned = turned;
        v->cap_turned = cap;
    }
    memmove(&v->turned[i + 1], &v->turned[i], (v->nturned++ - i) * sizeof *v->turned);
    v->turned[i] = node;
}

void top_rows_fold_all(struct top_view *v)
{
    v->all_folded = !v->all_folded;
    v->nturned = 0;
}

static uint64_t node_weight(const struct top_view *v, const struct follow_node *n)
{
    uint64_t counted = n->c1_children;
    if (v->second)
        counted = n->c2_children;
    return EITHER(counted, n->hits);
}

/* t->n: it has none. */
static size_t parent_index(const struct follow *w, const struct tree *t,
                           const struct follow_node *n)
{
    const struct follow_node *parent = NULL;
    if (n->parent != FEED_NO_PARENT)
        parent = follow_node(w, n->parent);
    if (!parent)
        return t->n;
    return (size_t)(parent - t->node);
}

struct heavy {
    const struct top_view *v;
    const struct follow_node *node;
};

static int lightest_first(const void *a, const void *b, void *ctx)
{
    const struct heavy *h = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint64_t x = node_weight(h->v, &h->node[i]), y = node_weight(h->v, &h->node[k]);
    return EITHER(COMPARE(x, y), COMPARE(k, i));
}

/* Each is put in front of its siblings, the heaviest last. */
static void link_siblings(const struct follow *w, struct tree *t, const uint32_t *order)
{
    for (size_t k = 0; k < t->n; k++) {
        uint32_t i = order[k];
        uint32_t *list = &t->first[parent_index(w, t, &t->node[i])];
        t->next[i] = *list;
        *list = i;
    }
}

static bool put_tree_rows(struct top_view *v, const struct follow *w, struct tree *t)
{
    size_t nf;
    const struct follow_function *f = follow_functions(w, &nf);
    uint32_t path[TOP_DEPTH];
    unsigned depth = 0;
    path[0] = t->first[t->n];
    for (;;) {
        uint32_t i = path[depth];
        if (i == t->n) {
            if (depth == 0)
                return true;
            depth--;
            path[depth] = t->next[path[depth]];
            continue;
        }
        const struct follow_node *n = &t->node[i];
        bool kids = t->first[i] != t->n, folded = kids && is_folded(v, n->id);
        struct top_row row = { n->id, n->function, depth, .kids = kids, .folded = folded };
        row.is = (struct top_base){ n->hits, n->c1, n->c1_children, n->c2, n->c2_children };
        if (n->function < nf && (!*v->filter || is_wanted(v, &f[n->function], &row.is)) &&
            !put_row(v, &row))
            return false;
        if (!folded && depth + 1 < TOP_DEPTH)
            path[++depth] = t->first[i];
        else
            path[depth] = t->next[i];
    }
}

static bool take_tree(struct top_view *v, const struct follow *w)
{
    struct tree t = { .n = 0 };
    t.node = follow_nodes(w, &t.n);
    t.first = malloc((t.n + 1) * sizeof *t.first);
    t.next = malloc((t.n + 1) * sizeof *t.next);
    uint32_t *order = malloc((t.n + 1) * sizeof *order);
    bool ok = t.first && t.next && order;
    for (size_t i = 0; ok && i <= t.n; i++) {
        t.first[i] = t.next[i] = (uint32_t)t.n;
        order[i] = (uint32_t)i;
    }
    if (ok) {
        struct heavy h = { v, t.node };
        qsort_r(order, t.n, sizeof *order, lightest_first, &h);
        link_siblings(w, &t, order);
        ok = put_tree_rows(v, w, &t);
    }
    free(order);
    free(t.first);
    free(t.next);
    return ok;
}

bool top_rows_take(struct top_view *v, const struct follow *w)
{
    v->nrows = 0;
    if (v->page == TOP_FUNCTIONS)
        return take_functions(v, w);
    return v->page != TOP_TREE || take_tree(v, w);
}
