#include "profiler/profile/watched.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/naming.h"
#include "profiler/profile/places.h"
#include "targets/overlay.h"

enum { NAME_BYTES = 512 };

struct watched {
    struct calltree_watch watch; /* tells both */
    struct activations live;
    struct places places;
};

static void on_step(void *ctx, const struct calltree_step *s)
{
    struct watched *w = ctx;
    w->places.watch.on_step(&w->places, s);
}

static void on_enter(void *ctx, const struct calltree_activation *a)
{
    struct watched *w = ctx;
    w->places.watch.on_enter(&w->places, a);
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct watched *w = ctx;
    w->live.watch.on_leave(&w->live, a);
    w->places.watch.on_leave(&w->places, a);
}

static void on_clear(void *ctx)
{
    struct watched *w = ctx;
    w->live.watch.on_clear(&w->live);
    w->places.watch.on_clear(&w->places);
}

int watched_new(struct watched **out, struct err *err)
{
    struct watched *w = calloc(1, sizeof *w);
    if (!w)
        return err_set(err, ERR_NOMEM, "close other programs", "watching: out of memory");
    w->watch = (struct calltree_watch){ w, on_step, on_enter, on_leave, on_clear, NULL };
    activations_init(&w->live);
    places_init(&w->places);
    *out = w;
    return 0;
}

const struct calltree_watch *watched_watch(const struct watched *w) { return &w->watch; }

void watched_free(struct watched *w)
{
    if (!w)
        return;
    activations_fini(&w->live);
    places_fini(&w->places);
    free(w);
}

/* What it is taken of, and what for. */
struct taking {
    const struct watched *w;
    const struct calltree *t;
    const struct symbols *syms;
    uint64_t (*canonical)(uint64_t);
    struct arena *arena;
    const struct calltree_node *node;
    size_t nnodes;
    struct profile_watched *to;
};

static uint64_t place_of(const struct taking *x, uint64_t addr)
{
    return overlay_canonical(x->canonical, addr);
}

/* ---- how long functions live ---- */

/* One of the sums that a function has: one a call path, one for each call that is open. */
struct live_part {
    uint64_t key;
    const struct activation_sum *sum;
};

struct live_parts {
    const struct taking *x;
    struct live_part *row;
    size_t n, cap;
};

static uint64_t function_key(const struct taking *x, uint32_t node)
{
    uint64_t addr = x->node[node].addr;
    long f = -1;
    if (x->syms)
        f = symbols_find(x->syms, addr);
    if (f >= 0)
        return symbols_function(x->syms, (size_t)f)->low;
    return addr;
}

static void count_open(void *ctx, const struct calltree_activation *a)
{
    size_t *n = ctx;
    (void)a;
    ++*n;
}

static void add_open(void *ctx, const struct calltree_activation *a)
{
    static const struct activation_sum one = { .cut = 1 };
    struct live_parts *l = ctx;
    if (l->n < l->cap)
        l->row[l->n++] = (struct live_part){ function_key(l->x, a->node), &one };
}

static int by_key(const void *a, const void *b)
{
    const struct live_part *x = a, *y = b;
    return COMPARE(x->key, y->key);
}

static int by_live(const void *a, const void *b)
{
    const struct profile_live *x = a, *y = b;
    return EITHER(COMPARE(y->sum.live, x->sum.live), COMPARE(x->low, y->low));
}

static bool list_parts(struct live_parts *l)
{
    const struct activations *a = &l->x->w->live;
    l->cap = a->n;
    calltree_watch_open(l->x->t, count_open, &l->cap);
    l->row = calloc(l->cap + 1, sizeof *l->row);
    for (uint32_t i = 0; l->row && i < a->n && i < l->x->nnodes; i++)
        if (a->of[i].calls || a->of[i].cut)
            l->row[l->n++] = (struct live_part){ function_key(l->x, i), &a->of[i] };
    if (l->row)
        calltree_watch_open(l->x->t, add_open, l);
    return l->row != NULL;
}

/* Sorted: a row a function. */
static bool sum_parts(const struct live_parts *l)
{
    const struct taking *x = l->x;
    size_t n = 0, k = 0;
    for (size_t i = 0; i < l->n; i++)
        n += i == 0 || l->row[i].key != l->row[i - 1].key;
    struct profile_live *row = arena_alloc(x->arena, (n + 1) * sizeof *row);
    for (size_t i = 0; row && i < l->n; i++) {
        char name[NAME_BYTES];
        struct profile_live *is = &row[k];
        if (i == 0 || l->row[i].key != l->row[i - 1].key) {
            is = &row[k++];
            symbols_describe(x->syms, l->row[i].key, name, sizeof name);
            *is = (struct profile_live){ .low = l->row[i].key, .name = arena_str(x->arena, name) };
        } else {
            is = &row[k - 1];
        }
        if (!is->name)
            return false;
        activation_add(&is->sum, l->row[i].sum);
    }
    if (n)
        qsort(row, n, sizeof *row, by_live);
    x->to->live = row;
    x->to->nlive = n;
    return row != NULL;
}

static bool take_live(const struct taking *x)
{
    struct live_parts l = { .x = x };
    bool ok = list_parts(&l);
    if (ok && l.n)
        qsort(l.row, l.n, sizeof *l.row, by_key);
    ok = ok && sum_parts(&l);
    free(l.row);
    return ok;
}

/* ---- call sites ---- */

static int by_address(const void *a, const void *b)
{
    const struct profile_site *x = a, *y = b;
    return COMPARE(x->address, y->address);
}

/* Of several tasks, and by several aliases. */
static size_t merge_sites(struct profile_site *row, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(row, n, sizeof *row, by_address);
    for (size_t i = 0; i < n; i++) {
        struct profile_site *to = NULL;
        if (kept)
            to = &row[kept - 1];
        if (!to || to->address != row[i].address) {
            row[kept++] = row[i];
            continue;
        }
        to->calls += row[i].calls;
        to->c1 += row[i].c1;
        to->c2 += row[i].c2;
        to->doubtful |= row[i].doubtful;
    }
    return kept;
}

static bool take_sites(const struct taking *x)
{
    size_t n = x->w->places.sites.n, kept = 0;
    struct place_row *now = places_sites_now(&x->w->places, x->t);
    struct profile_site *row = arena_alloc(x->arena, (n + 1) * sizeof *row);
    for (size_t i = 0; now && row && i < n; i++)
        if (now[i].times) /* others were before a clear */
            row[kept++] = (struct profile_site){ place_of(x, now[i].from), now[i].times, now[i].c1,
                                                 now[i].c2, now[i].doubtful };
    bool ok = now && row;
    free(now);
    if (!ok)
        return false;
    x->to->site = row;
    x->to->nsites = merge_sites(row, kept);
    return true;
}

/* ---- stretches ---- */

static int by_place(const void *a, const void *b)
{
    const struct profile_stretch *x = a, *y = b;
    int order = EITHER(COMPARE(x->at, y->at), COMPARE(x->from, y->from));
    return EITHER(order, COMPARE(x->to, y->to));
}

/* Of several call paths. */
static size_t merge_stretches(struct profile_stretch *row, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(row, n, sizeof *row, by_place);
    for (size_t i = 0; i < n; i++) {
        struct profile_stretch *to = NULL;
        if (kept)
            to = &row[kept - 1];
        if (!to || by_place(to, &row[i]) != 0) {
            row[kept++] = row[i];
            continue;
        }
        to->times += row[i].times;
        to->c1 += row[i].c1;
        to->c2 += row[i].c2;
        to->doubtful |= row[i].doubtful;
    }
    return kept;
}

/* What is no code has no place. */
static bool is_code(const struct taking *x, const struct place_row *r)
{
    return r->times && r->node < x->nnodes && naming_is_plain(&x->node[r->node]);
}

static bool take_stretches(const struct taking *x)
{
    const struct place_table *t = &x->w->places.stretches;
    struct profile_stretch *row = arena_alloc(x->arena, (t->n + 1) * sizeof *row);
    size_t n = 0;
    for (size_t i = 0; row && i < t->n; i++) {
        const struct place_row *r = &t->row[i];
        if (is_code(x, r))
            row[n++] = (struct profile_stretch){ place_of(x, x->node[r->node].addr),
                                                 r->from,
                                                 r->to,
                                                 r->times,
                                                 r->c1,
                                                 r->c2,
                                                 r->doubtful };
    }
    if (!row)
        return false;
    x->to->stretch = row;
    x->to->nstretches = merge_stretches(row, n);
    return true;
}

/* ---- all of it ---- */

int watched_take(const struct watched *w, const struct calltree *t, const struct symbols *syms,
                 uint64_t (*canonical)(uint64_t), struct profile *p, struct err *err)
{
    struct profile_watched *to = arena_alloc(&p->arena, sizeof *to);
    struct taking x = { w, t, syms, canonical, &p->arena, NULL, 0, to };
    x.node = calltree_nodes(t, &x.nnodes);
    if (!to || !take_live(&x) || !take_sites(&x) || !take_stretches(&x))
        return err_set(err, ERR_NOMEM, "close other programs", "watched calls: out of memory");
    to->dropped = w->live.dropped + w->places.dropped;
    p->watched = to;
    return 0;
}
