#include "profiler/profile/places.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"

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
    t->nslots = FIRST_SLOTS;
    if (before)
        t->nslots = 2 * before;
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

/* The row with this key, made if there is none; NULL: there is no room. */
static struct place_row *row_of(struct place_table *t, size_t most, const struct place_row *key)
{
    if (grow_slots(t)) {
        uint32_t *slot = find_slot(t, key);
        if (*slot)
            return &t->row[*slot - 1];
        if (t->n < most && array_room(&t->row, t->n, &t->cap, sizeof *t->row)) {
            t->row[t->n] = *key;
            *slot = (uint32_t)++t->n;
            return &t->row[t->n - 1];
        }
    }
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
    struct place_row *r = row_of(&p->stretches, p->most, &key);
    if (!r) {
        p->dropped++;
        return;
    }
    r->times++;
    r->c1 += s->c1;
    r->c2 += s->c2;
    r->doubtful |= s->flags & CALLTREE_STEP_DOUBTFUL;
}

/* Is it a call, and was it seen? Then key is that of its site. */
static bool site_key(const struct calltree_activation *a, struct place_row *key)
{
    *key = (struct place_row){ .from = a->in.pc, .context = a->context };
    return !a->found && a->caller && a->in.flags & EVENT_HAS_PC;
}

static void on_enter(void *ctx, const struct calltree_activation *a)
{
    struct places *p = ctx;
    struct place_row key, *r;
    if (!site_key(a, &key))
        return;
    r = row_of(&p->sites, p->most, &key);
    if (!r) {
        p->dropped++;
        return;
    }
    r->times++;
    r->open++;
}

/* What is within another call from there, the other one has. */
static void end_call(struct place_row *r, const struct calltree_activation *a)
{
    if (!r->open || --r->open)
        return;
    r->c1 += a->c1_children;
    r->c2 += a->c2_children;
    r->doubtful |= a->doubtful || a->gap;
}

static const struct place_row *known_site(const struct places *p,
                                          const struct calltree_activation *a)
{
    struct place_row key;
    if (!p->sites.n || !site_key(a, &key))
        return NULL;
    uint32_t slot = *find_slot(&p->sites, &key);
    if (slot)
        return &p->sites.row[slot - 1];
    return NULL;
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    struct places *p = ctx;
    const struct place_row *r = known_site(p, a);
    if (r)
        end_call(&p->sites.row[r - p->sites.row], a);
}

static void on_clear(void *ctx)
{
    struct places *p = ctx;
    p->dropped = 0;
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
    *p = (struct places){ .watch = { p, on_step, on_enter, on_leave, on_clear, NULL },
                          .most = PLACES_MOST };
}

/* ---- now ---- */

/* A copy of the sites, whose calls end. */
struct ending {
    const struct places *p;
    struct place_row *copy;
};

static void end_open_call(void *ctx, const struct calltree_activation *a)
{
    struct ending *e = ctx;
    const struct place_row *r = known_site(e->p, a);
    if (r)
        end_call(&e->copy[r - e->p->sites.row], a);
}

struct place_row *places_sites_now(const struct places *p, const struct calltree *t)
{
    struct ending e = { p, calloc(p->sites.n + 1, sizeof *e.copy) };
    if (!e.copy)
        return NULL;
    if (p->sites.n)
        memcpy(e.copy, p->sites.row, p->sites.n * sizeof *e.copy);
    calltree_watch_open(t, end_open_call, &e);
    return e.copy;
}

void places_fini(struct places *p)
{
    free(p->sites.row);
    free(p->sites.slot);
    free(p->stretches.row);
    free(p->stretches.slot);
    *p = (struct places){ 0 };
}
