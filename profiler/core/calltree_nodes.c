/* The nodes of the call tree: found by caller and function, made where there is room. */
#include <stdlib.h>
#include <string.h>

#include "profiler/core/calltree_priv.h"
#include "probe/base/util.h"

enum {
    FIRST_NODES = 256,
    FIRST_SLOTS = 1024,
    SPECIAL_NODES = 2 /* LOST and OTHER always find a place */
};

static uint32_t hash_child(uint32_t parent, uint64_t addr)
{
    uint64_t x = (addr ^ (uint64_t)parent << 32 ^ (uint64_t)parent << 7) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(x >> 32);
}

static uint32_t find_slot(const struct calltree *t, uint32_t parent, uint64_t addr)
{
    uint32_t mask = t->nslots - 1, i = hash_child(parent, addr) & mask;
    while (t->slots[i].node != CALLTREE_NONE &&
           (t->slots[i].addr != addr || t->slots[i].parent != parent))
        i = (i + 1) & mask;
    return i;
}

static bool slots_resize(struct calltree *t, uint32_t n)
{
    struct child_slot *old = t->slots;
    uint32_t nold = t->nslots;
    struct child_slot *fresh = malloc(n * sizeof *fresh);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < n; i++)
        fresh[i].node = CALLTREE_NONE;
    t->slots = fresh;
    t->nslots = n;
    for (uint32_t i = 0; i < nold; i++)
        if (old[i].node != CALLTREE_NONE)
            fresh[find_slot(t, old[i].parent, old[i].addr)] = old[i];
    free(old);
    return true;
}

/* Aliases (another address of a function that is a child already) take slots but no nodes; bounded
 * here. */
static bool slot_put(struct calltree *t, uint32_t parent, uint64_t addr, uint32_t node)
{
    if (t->used_slots >= t->nslots / 2) {
        if (t->nslots / 2 >= t->cfg.max_nodes * (uint64_t)4 || t->nslots > UINT32_MAX / 4)
            return false;
        if (!slots_resize(t, t->nslots * 2))
            return false;
    }
    t->slots[find_slot(t, parent, addr)] = (struct child_slot){ addr, parent, node };
    t->used_slots++;
    return true;
}

static bool nodes_grow(struct calltree *t)
{
    uint32_t limit = t->cfg.max_nodes + SPECIAL_NODES;
    if (t->cap_nodes == limit)
        return false;
    uint32_t cap = t->cap_nodes > limit / 2 ? limit : t->cap_nodes * 2;
    struct calltree_node *nodes = realloc(t->nodes, cap * sizeof *nodes);
    if (!nodes)
        return false;
    t->nodes = nodes;
    t->cap_nodes = cap;
    return true;
}

static uint32_t node_add(struct calltree *t, uint32_t parent, enum calltree_kind kind)
{
    if (t->nnodes == t->cap_nodes && !nodes_grow(t))
        return CALLTREE_NONE;
    struct calltree_node *n = &t->nodes[t->nnodes];
    *n = (struct calltree_node){ .parent = parent,
                                 .child = { CALLTREE_NONE, CALLTREE_NONE },
                                 .kind = (uint8_t)kind,
                                 .shortest = UINT64_MAX };
    return t->nnodes++;
}

/* Both special nodes have their places from the start, so they cannot fail. */
static uint32_t special_node(struct calltree *t, uint32_t *where, enum calltree_kind kind)
{
    if (*where == CALLTREE_NONE) {
        *where = node_add(t, CALLTREE_NONE, kind);
        node_doubt(&t->nodes[*where]);
    }
    return *where;
}

static uint32_t other_node(struct calltree *t)
{
    t->stats.node_overflow++;
    return special_node(t, &t->other_node, CALLTREE_OTHER);
}

static uint32_t special_count(const struct calltree *t)
{
    return (t->lost_node != CALLTREE_NONE) + (t->other_node != CALLTREE_NONE);
}

/* Leaves room for the special nodes: in number, and in memory that is already there. */
static bool node_room(struct calltree *t)
{
    uint32_t missing = SPECIAL_NODES - special_count(t);
    if (t->nnodes - special_count(t) >= t->cfg.max_nodes)
        return false;
    return t->nnodes + 1 + missing <= t->cap_nodes || nodes_grow(t);
}

/* Its caller ran before where calls may have gone unseen: perhaps calls of this, and so of what
 * this calls. */
static void add_lacking(struct calltree_node *n)
{
    n->lacking = true;
    node_doubt(n);
}

static uint32_t child_slow(struct calltree *t, uint32_t parent, uint32_t key, uint64_t addr,
                           enum calltree_kind kind)
{
    struct calltree_range r = { addr, addr, addr };
    bool known =
        kind != CALLTREE_TASK && t->cfg.resolve && t->cfg.resolve(t->cfg.resolve_ctx, addr, &r);
    uint64_t start = known ? r.low : addr;
    if (start != addr) {
        uint32_t slot = find_slot(t, key, start);
        if (t->slots[slot].node != CALLTREE_NONE) {
            uint32_t node = t->slots[slot].node;
            slot_put(t, key, addr, node);
            return node;
        }
    }
    if (!node_room(t))
        return other_node(t);
    uint32_t node = t->nnodes;
    if (!slot_put(t, key, start, node))
        return other_node(t);
    node_add(t, parent, kind);
    t->nodes[node].addr = start;
    t->nodes[node].low = r.low;
    t->nodes[node].high = r.high;
    if (parent != CALLTREE_NONE && t->nodes[parent].lacking)
        add_lacking(&t->nodes[node]);
    if (start != addr)
        slot_put(t, key, addr, node);
    return node;
}

static void remember_child(struct calltree_node *parent, uint32_t node, uint32_t addr)
{
    parent->child[1] = parent->child[0];
    parent->child_addr[1] = parent->child_addr[0];
    parent->child[0] = node;
    parent->child_addr[0] = addr;
}

uint32_t tree_child(struct calltree *t, uint32_t parent, uint64_t addr)
{
    const struct calltree_node *p = &t->nodes[parent];
    for (unsigned k = 0; k < 2; k++)
        if (p->child_addr[k] == (uint32_t)addr && p->child[k] != CALLTREE_NONE &&
            t->nodes[p->child[k]].addr == addr)
            return p->child[k];
    if (p->kind == CALLTREE_LOST || p->kind == CALLTREE_OTHER)
        return other_node(t);
    uint32_t node = t->slots[find_slot(t, parent, addr)].node;
    if (node == CALLTREE_NONE)
        node = child_slow(t, parent, parent, addr, CALLTREE_FUNCTION);
    remember_child(&t->nodes[parent], node, (uint32_t)t->nodes[node].addr);
    return node;
}

/* A function may begin where a block of its caller does: their slots differ. */
uint32_t tree_block(struct calltree *t, uint32_t around, const struct calltree_range *block)
{
    const uint64_t key = block->id | UINT64_C(1) << 63;
    uint32_t slot = find_slot(t, around, key);
    if (t->slots[slot].node != CALLTREE_NONE)
        return t->slots[slot].node;
    uint32_t node = t->nnodes;
    if (!node_room(t) || !slot_put(t, around, key, node)) {
        t->stats.node_overflow++;
        return CALLTREE_NONE;
    }
    node_add(t, around, CALLTREE_FUNCTION);
    struct calltree_node *n = &t->nodes[node];
    n->addr = block->low;
    n->low = t->nodes[around].low;
    n->high = t->nodes[around].high;
    n->block = true;
    if (t->nodes[around].lacking)
        add_lacking(n);
    return node;
}

uint32_t tree_root(struct calltree *t, enum calltree_kind kind, uint64_t addr)
{
    uint32_t key = ROOT_PARENT_OF_KIND_0 + (uint32_t)kind;
    uint32_t node = t->slots[find_slot(t, key, addr)].node;
    if (node != CALLTREE_NONE)
        return node;
    return child_slow(t, CALLTREE_NONE, key, addr, kind);
}

void tree_doubt(struct calltree *t)
{
    t->stats.doubtful++;
    if (t->node != CALLTREE_NONE)
        node_doubt(&t->nodes[t->node]);
}

bool tree_same_function(const struct calltree *t, uint32_t node, uint64_t addr)
{
    const struct calltree_node *n = &t->nodes[node];
    struct calltree_range a, b;
    if (node_contains(n, addr))
        return true;
    if (n->low == n->high || !t->cfg.resolve)
        return false;
    return t->cfg.resolve(t->cfg.resolve_ctx, addr, &a) &&
           t->cfg.resolve(t->cfg.resolve_ctx, n->addr, &b) && a.id == b.id;
}

uint32_t tree_lost(struct calltree *t) { return special_node(t, &t->lost_node, CALLTREE_LOST); }

bool tree_init(struct calltree *t)
{
    uint32_t limit = t->cfg.max_nodes + SPECIAL_NODES;
    t->lost_node = t->other_node = CALLTREE_NONE;
    t->cap_nodes = MIN(limit, FIRST_NODES);
    t->nodes = malloc(t->cap_nodes * sizeof *t->nodes);
    return t->nodes && slots_resize(t, FIRST_SLOTS);
}
