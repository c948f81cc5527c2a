#include "profiler/profile/places.h"

#include <stdlib.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "profiler/profile/naming.h"

enum { FIRST_SLOTS = 256 };

static size_t hash_row(const struct place_row *k)
{
    uint64_t x = k->from * 0x9E3779B97F4A7C15u;
    x = (x ^ k->to) * 0xBF58476D1CE4E5B9u;
    x = (x ^ ((uint64_t)k->node << 32 | k->context)) * 0x94D049BB133111EBu;
    return (size_t)(x >> 32);
}

static bool same_key(const struct place_row *a, const struct place_row *b)
{
    return a->from == b->from && a->to == b->to && a->node == b->node && a->context == b->context;
}

static uint32_t *find_slot(const struct place_table *t, const struct place_row *key)
{
    size_t mask = t->nslots - 1, i = hash_row(key) & mask;
    while (t->slot[i] && !same_key(&t->row[t->slot[i] - 1], key))
        i = (i + 1) & mask;
    return &t->slot[i];
}

static bool grow_slots(struct place_table *t)
{
    size_t before = t->nslots;
    uint32_t *slot = t->slot;
    if (t->n < before / 2)
        return true;
    t->nslots = before ? 2 * before : FIRST_SLOTS;
    t->slot = calloc(t->nslots, sizeof *t->slot);
    if (!t->slot) {
        t->slot = slot;
        t->nslots = before;
        return false;
    }
    free(slot);
    for (size_t i = 0; i < t->n; i++)
        *find_slot(t, &t->row[i]) = (uint32_t)i + 1;
    return true;
}

/* The row with this key, made if there is none; NULL: out of memory. */
static struct place_row *row_of(struct places *p, struct place_table *t,
                                const struct place_row *key)
{
    if (grow_slots(t)) {
        uint32_t *slot = find_slot(t, key);
        if (*slot)
            return &t->row[*slot - 1];
        if (array_room(&t->row, t->n, &t->cap, sizeof *t->row)) {
            t->row[t->n] = *key;
            *slot = (uint32_t)++t->n;
            return &t->row[t->n - 1];
        }
    }
    p->failed = true;
    return NULL;
}

static void on_step(void *ctx, const struct calltree_step *s)
{
    struct places *p = ctx;
    struct place_row key = { .node = s->node };
    if (s->flags & CALLTREE_STEP_ENTERED)
        key.from = s->entered;
    if (s->flags & CALLTREE_STEP_LEFT)
        key.to = s->left;
    struct place_row *r = row_of(p, &p->stretches, &key);
    if (!r)
        return;
    r->times++;
    r->c1 += s->c1;
    r->c2 += s->c2;
    r->doubtful |= s->flags & CALLTREE_STEP_DOUBTFUL;
}

/* The site that an activation was called from; NULL: it is no call, or nobody saw it. */
static struct place_row *site_of(struct places *p, const struct calltree_activation *a)
{
    if (a->found || !a->caller || !(a->in.flags & EVENT_HAS_PC))
        return NULL;
    return row_of(p, &p->sites, &(struct place_row){ .from = a->in.pc, .context = a->context });
}

static void on_enter(void *ctx, const struct calltree_activation *a)
{
    struct place_row *r = site_of(ctx, a);
    if (!r)
        return;
    r->times++;
    r->open++;
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct place_row *r = site_of(ctx, a);
    if (!r || !r->open || --r->open)
        return; /* within another call from there, which has it */
    r->c1 += a->c1_children;
    r->c2 += a->c2_children;
    r->doubtful |= a->doubtful || a->gap;
}

static void on_clear(void *ctx)
{
    struct places *p = ctx;
    struct place_table *const both[] = { &p->sites, &p->stretches };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->n; i++) {
            struct place_row *r = &both[k]->row[i];
            r->times = r->c1 = r->c2 = 0;
            r->doubtful = false;
        }
}

void places_init(struct places *p)
{
    *p = (struct places){ .watch = { p, on_step, on_enter, on_leave, on_clear, NULL } };
}

static int by_place(const void *a, const void *b)
{
    const struct place_row *x = a, *y = b;
    int order = COMPARE(x->at, y->at);
    order = EITHER(order, COMPARE(x->from, y->from));
    order = EITHER(order, COMPARE(x->to, y->to));
    order = EITHER(order, COMPARE(x->node, y->node));
    return EITHER(order, COMPARE(x->context, y->context));
}

static uint64_t place_of(uint64_t (*canonical)(uint64_t), uint64_t addr)
{
    if (canonical)
        return canonical(addr);
    return addr;
}

static void sort_rows(struct place_table *t)
{
    if (t->n)
        qsort(t->row, t->n, sizeof *t->row, by_place);
}

static void place_stretches(struct place_table *t, const struct calltree *tree,
                            uint64_t (*canonical)(uint64_t))
{
    size_t nnodes, n = 0;
    const struct calltree_node *node = calltree_nodes(tree, &nnodes);
    for (size_t i = 0; i < t->n; i++) {
        struct place_row r = t->row[i];
        if (r.node >= nnodes || !naming_is_plain(&node[r.node]))
            continue;
        r.at = place_of(canonical, node[r.node].addr);
        t->row[n++] = r;
    }
    t->n = n;
}

int places_sort(struct places *p, const struct calltree *tree, uint64_t (*canonical)(uint64_t),
                struct err *err)
{
    for (size_t i = 0; i < p->sites.n; i++)
        p->sites.row[i].at = place_of(canonical, p->sites.row[i].from);
    place_stretches(&p->stretches, tree, canonical);
    sort_rows(&p->sites);
    sort_rows(&p->stretches);
    if (!p->failed)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "places: out of memory");
}

const struct place_row *places_within(const struct place_table *t, uint64_t low, uint64_t high,
                                      size_t *n)
{
    size_t from = PARTITION_POINT(t->n, i, t->row[i].at < low);
    *n = PARTITION_POINT(t->n, i, t->row[i].at < high) - from;
    return t->row + from;
}

void places_fini(struct places *p)
{
    free(p->sites.row);
    free(p->sites.slot);
    free(p->stretches.row);
    free(p->stretches.slot);
    *p = (struct places){ 0 };
}
