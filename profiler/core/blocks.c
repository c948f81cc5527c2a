#include "profiler/core/blocks.h"
#include "probe/base/choice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

/* A block (kind EVENT_BLOCK: a is low, b high, x the count) or a branch (EVENT_BRANCH: a is its pc,
 * x taken, y not); kind 0: free. */
struct blocks_slot {
    uint64_t a, b, x, y;
    uint8_t kind;
};

static size_t find_slot(const struct blocks *b, uint8_t kind, uint64_t a, uint64_t end)
{
    uint64_t h = (a ^ end << 23 ^ kind) * 0x9E3779B97F4A7C15u;
    size_t k = (size_t)(h >> 32) & (b->nslots - 1);
    while (b->slot[k].kind && (b->slot[k].kind != kind || b->slot[k].a != a || b->slot[k].b != end))
        k = (k + 1) & (b->nslots - 1);
    return k;
}

static bool grow_slots(struct blocks *b)
{
    struct blocks old = *b;
    b->nslots = EITHER(2 * old.nslots, FIRST_SLOTS);
    b->slot = calloc(b->nslots, sizeof *b->slot);
    if (!b->slot) {
        *b = old;
        return false;
    }
    for (size_t k = 0; k < old.nslots; k++)
        if (old.slot[k].kind)
            b->slot[find_slot(b, old.slot[k].kind, old.slot[k].a, old.slot[k].b)] = old.slot[k];
    free(old.slot);
    return true;
}

int blocks_add(struct blocks *b, const struct event *e)
{
    bool block = e->kind == EVENT_BLOCK;
    if ((!block && e->kind != EVENT_BRANCH) || (block && e->target <= e->pc))
        return 0;
    if (2 * b->used >= b->nslots && !grow_slots(b))
        return -ERR_NOMEM;
    struct blocks_slot *s = &b->slot[find_slot(b, e->kind, e->pc, block ? e->target : 0)];
    b->used += s->kind == 0;
    s->kind = e->kind;
    s->a = e->pc;
    s->b = 0;
    if (block)
        s->b = e->target;
    s->x += block ? e->runs : e->taken;
    if (!block)
        s->y += e->not_taken;
    return 0;
}

/* Where the count of what is executed changes, or a block begins all the same. */
struct step {
    uint64_t at, change;
};

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct step *)a)->at, y = ((const struct step *)b)->at;
    return COMPARE(x, y);
}

int blocks_list(const struct blocks *b, struct block_count **out, size_t *n, struct err *err)
{
    struct step *step = malloc((2 * b->used + 1) * sizeof *step);
    struct block_count *list = malloc((2 * b->used + 1) * sizeof *list);
    size_t steps = 0, blocks = 0;
    uint64_t count = 0;
    if (!step || !list) {
        free(step);
        free(list);
        return err_set(err, ERR_NOMEM, "close other programs", "blocks: out of memory");
    }
    for (size_t k = 0; k < b->nslots; k++)
        if (b->slot[k].kind == EVENT_BLOCK) {
            step[steps++] = (struct step){ b->slot[k].a, b->slot[k].x };
            step[steps++] = (struct step){ b->slot[k].b, 0 - b->slot[k].x };
        }
    qsort(step, steps, sizeof *step, by_place);
    for (size_t k = 0; k < steps; k++) {
        count += step[k].change;
        if (count && k + 1 < steps && step[k + 1].at > step[k].at)
            list[blocks++] = (struct block_count){ step[k].at, step[k + 1].at, count };
    }
    free(step);
    *out = list;
    *n = blocks;
    return 0;
}

static int by_pc(const void *a, const void *b)
{
    uint64_t x = ((const struct branch_count *)a)->pc, y = ((const struct branch_count *)b)->pc;
    return COMPARE(x, y);
}

int branches_list(const struct blocks *b, struct branch_count **out, size_t *n, struct err *err)
{
    struct branch_count *list = malloc((b->used + 1) * sizeof *list);
    size_t branches = 0;
    if (!list)
        return err_set(err, ERR_NOMEM, "close other programs", "branches: out of memory");
    for (size_t k = 0; k < b->nslots; k++)
        if (b->slot[k].kind == EVENT_BRANCH)
            list[branches++] = (struct branch_count){ b->slot[k].a, b->slot[k].x, b->slot[k].y };
    qsort(list, branches, sizeof *list, by_pc);
    *out = list;
    *n = branches;
    return 0;
}

void blocks_clear(struct blocks *b)
{
    if (b->slot)
        memset(b->slot, 0, b->nslots * sizeof *b->slot);
    b->used = 0;
}

void blocks_fini(struct blocks *b)
{
    free(b->slot);
    *b = (struct blocks){ 0 };
}
