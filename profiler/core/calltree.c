#include "profiler/core/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/core/calltree_priv.h"

enum {
    DEFAULT_NODES = 1 << 20,
    DEFAULT_DEPTH = 4096,
    DEFAULT_STACKS = 64,
    DEFAULT_TASKS = 4096,
    DEFAULT_ADDRESSES = 1 << 18,
    FIRST_NODES = 256,
    FIRST_SLOTS = 1024,
    SPECIAL_NODES = 2 /* LOST and OTHER always find a place */
};

/* ---- nodes ---- */

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

uint32_t tree_root(struct calltree *t, enum calltree_kind kind, uint64_t addr)
{
    uint32_t key = ROOT_PARENT_OF_KIND_0 + (uint32_t)kind;
    uint32_t node = t->slots[find_slot(t, key, addr)].node;
    return node != CALLTREE_NONE ? node : child_slow(t, CALLTREE_NONE, key, addr, kind);
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

/* ---- events ---- */

/* A counter that went back is taken as standing still: the board was reset, or the wire lied. */
static uint64_t take_step(struct calltree *t, uint64_t now, uint64_t *last, bool *has)
{
    uint64_t d = *has ? now - *last : 0;
    *last = now;
    *has = true;
    if (__builtin_expect((int64_t)d < 0, 0)) {
        t->stats.backwards++;
        tree_doubt(t);
        return 0;
    }
    return d;
}

/* What ran since the program came into code that may be left without an event: that, or its caller
 * already. */
static void end_blind(struct calltree *t, struct calltree_node *n, uint64_t c1)
{
    t->blind = false;
    t->stats.blind_c1 += c1;
    node_doubt(n);
    n->lacking = true;
    if (n->parent != CALLTREE_NONE)
        node_doubt(&t->nodes[n->parent]);
}

static void begin_blind(struct calltree *t)
{
    t->blind = t->node != CALLTREE_NONE;
    if (t->cur->depth)
        t->cur->frames[t->cur->depth - 1].blind = true;
    t->stats.blind_events++;
}

static inline void charge_node(struct calltree *t, const struct event *e)
{
    uint64_t d1 = e->flags & EVENT_HAS_C1 ? take_step(t, e->c1, &t->c1, &t->has_c1) : 0;
    uint64_t d2 = e->flags & EVENT_HAS_C2 ? take_step(t, e->c2, &t->c2, &t->has_c2) : 0;
    struct calltree_node *n = &t->nodes[t->node];
    t->step1 = d1;
    n->c1 += d1;
    n->c2 += d2;
    n->steps++;
    t->stats.total_c1 += d1;
    t->stats.total_c2 += d2;
    if (__builtin_expect(t->gap, 0)) {
        t->stats.gap_c1 += d1;
        t->stats.loss[t->gap_cause].c1 += d1;
    }
    if (__builtin_expect(t->blind, 0))
        end_blind(t, n, d1);
}

static void count_cycles(struct calltree *t, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_TIME))
        return;
    if (t->has_cycles && e->time_cycles > t->cycles)
        t->stats.active_cycles += e->time_cycles - t->cycles;
    t->cycles = e->time_cycles;
    t->has_cycles = true;
}

static void on_start(struct calltree *t, const struct event *e)
{
    t->stats.starts++;
    t->active = true;
    t->gap = t->floating = t->blind = false;
    t->node = CALLTREE_NONE;
    t->has_c1 = t->has_c2 = t->has_cycles = false;
    t->last_pc = 0;
    stacks_clear(t);
    t->cur->context = e->context;
    if (e->flags & EVENT_HAS_C1)
        take_step(t, e->c1, &t->c1, &t->has_c1);
    if (e->flags & EVENT_HAS_C2)
        take_step(t, e->c2, &t->c2, &t->has_c2);
    count_cycles(t, e);
    if (e->flags & EVENT_HAS_PC)
        stack_open_root(t, e->pc, e, true);
}

static void on_stop(struct calltree *t, const struct event *e)
{
    t->stats.stops++;
    if (!t->stats.unfinished.reset)
        t->stats.unfinished = stack_unfinished(t);
    count_cycles(t, e);
    t->active = false;
    t->node = CALLTREE_NONE;
    stacks_clear(t);
}

static void count_loss(struct calltree *t, const struct event *e)
{
    t->gap_cause = e->cause < EVENT_NCAUSES ? e->cause : EVENT_CAUSE_NONE;
    struct calltree_loss *l = &t->stats.loss[t->gap_cause];
    l->gaps++;
    l->events += e->lost_events;
    l->bound |= (e->flags & EVENT_AMOUNT_BOUND) != 0;
}

static void on_lost(struct calltree *t, const struct event *e)
{
    count_loss(t, e);
    t->stats.lost += e->lost_events;
    t->stats.lost_is_bound |= (e->flags & EVENT_AMOUNT_BOUND) != 0;
    t->stats.gaps++;
    t->stats.link_gaps += e->cause == EVENT_CAUSE_LINK;
    if (!t->active)
        return;
    if (e->cause == EVENT_CAUSE_RESET && t->node != CALLTREE_NONE && !t->gap) {
        t->stats.unfinished = stack_unfinished(t);
        t->stats.unfinished.reset = t->stats.unfinished.is;
    }
    if (t->node != CALLTREE_NONE)
        node_doubt(&t->nodes[t->node]);
    t->node = special_node(t, &t->lost_node, CALLTREE_LOST);
    t->gap = true;
    t->floating = false;
}

static void on_sample(struct calltree *t, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_PC))
        return;
    uint32_t node = tree_root(t, CALLTREE_SAMPLE, e->pc);
    t->nodes[node].hits++;
    address_counts_add(&t->sampled, e->pc, node);
}

/* Events that tell where the program is; the others cannot end a gap. */
static bool tells_place(const struct event *e)
{
    switch (e->kind) {
    case EVENT_CALL:
    case EVENT_JUMP:
    case EVENT_RETURN:
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION:
    case EVENT_RTE: return true;
    default: return false;
    }
}

/* Where in the program the event happened must agree with the frame on top. */
static inline void check_place(struct calltree *t, const struct event *e)
{
    const struct calltree_node *n = &t->nodes[t->node];
    if (e->flags & EVENT_HAS_PC && !node_contains(n, e->pc))
        stack_sync(t, e);
}

/* So must its stack pointer; that of a return is judged with where it goes. */
static inline void check_place_and_sp(struct calltree *t, const struct event *e)
{
    const struct stack *s = t->cur;
    if (__builtin_expect(
            s->depth && e->flags & EVENT_HAS_PC && frame_left(&s->frames[s->depth - 1], e), 0))
        stack_sync(t, e);
    else
        check_place(t, e);
}

static void dispatch_event(struct calltree *t, const struct event *e)
{
    switch (e->kind) {
    case EVENT_CALL:
        check_place_and_sp(t, e);
        stack_call(t, e);
        if (__builtin_expect(e->flags & EVENT_BLIND, 0))
            begin_blind(t);
        break;
    case EVENT_RETURN:
        check_place(t, e);
        stack_return(t, e);
        if (__builtin_expect(e->flags & EVENT_BLIND, 0))
            begin_blind(t);
        break;
    case EVENT_JUMP:
        check_place_and_sp(t, e);
        stack_jump(t, e);
        if (__builtin_expect(e->flags & EVENT_BLIND, 0))
            begin_blind(t);
        break;
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION:
        check_place_and_sp(t, e);
        stack_handler(t, e);
        break;
    case EVENT_RTE:
        check_place(t, e);
        stack_rte(t, e);
        break;
    case EVENT_LOST: on_lost(t, e); break;
    case EVENT_STOP: on_stop(t, e); break;
    case EVENT_TIMESTAMP:
        if ((e->flags & EVENT_HAS_PC) && sp_exact(e))
            stack_passed(t, e);
        break;
    case EVENT_START:
        t->stats.starts++; /* again at the start point without a stop between: one long pass */
        break;
    default: break;
    }
}

/* The doubt about an event's counters concerns both sides of it. */
static void dispatch_doubtful(struct calltree *t, const struct event *e)
{
    node_doubt(&t->nodes[t->node]);
    dispatch_event(t, e);
    tree_doubt(t);
}

static void feed_inactive(struct calltree *t, const struct event *e)
{
    if (e->kind == EVENT_START) {
        on_start(t, e);
        return;
    }
    if (e->kind == EVENT_LOST)
        on_lost(t, e);
    t->stats.inactive++;
}

/* No place is known yet, or it was lost: open or find one. */
static bool feed_unplaced(struct calltree *t, const struct event *e)
{
    bool place =
        tells_place(e) || (t->gap && e->kind == EVENT_TIMESTAMP && e->flags & EVENT_HAS_PC);
    if (e->kind == EVENT_LOST || !place)
        return t->node != CALLTREE_NONE;
    if (t->node == CALLTREE_NONE) {
        t->cur->context = e->context;
        stack_open_root(t, e->flags & EVENT_HAS_PC ? e->pc : 0, e, true);
        return true;
    }
    charge_node(t, e);
    if (e->context != t->cur->context)
        stack_context(t, e, true);
    t->gap = false;
    stack_relocate(t, e);
    return true;
}

/* True if the event waits for one that tells the place: its time is not charged yet. */
static bool feed_floating(struct calltree *t, const struct event *e)
{
    bool place = tells_place(e) || e->kind == EVENT_STOP;
    if (!place && e->kind != EVENT_LOST)
        return true;
    if (place)
        stack_place(t, e);
    t->floating = false;
    return false;
}

/* The program has come into another task without an event. Of what ran since the last one that task
 * has all but the end of the switch: who gives way is in the middle of that when it is traced last.
 * Both are doubtful. */
static void switch_unseen(struct calltree *t, const struct event *e)
{
    node_doubt(&t->nodes[t->node]);
    stack_context(t, e, false);
    if (e->kind == EVENT_RETURN || e->kind == EVENT_RTE)
        check_place(t, e);
    else
        check_place_and_sp(t, e);
    tree_doubt(t);
}

/* What is no event of the running program. False: EVENT_CLEAR. */
static bool feed_told(struct calltree *t, const struct event *e)
{
    if (e->kind == EVENT_TASK)
        task_told(t, e);
    return e->kind != EVENT_CLEAR;
}

static void feed_program(struct calltree *t, const struct event *e)
{
    if (__builtin_expect(!t->active, 0)) {
        feed_inactive(t, e);
        return;
    }
    if (__builtin_expect(e->kind == EVENT_SAMPLE, 0))
        on_sample(t, e);
    if (__builtin_expect(t->gap || t->node == CALLTREE_NONE, 0) && !feed_unplaced(t, e)) {
        if (e->kind == EVENT_LOST)
            on_lost(t, e);
        else if (e->kind == EVENT_STOP)
            on_stop(t, e);
        return;
    }
    if (__builtin_expect(t->floating, 0) && feed_floating(t, e))
        return;
    if (__builtin_expect(e->context != t->cur->context, 0) && tells_place(e) &&
        stack_switched_unseen(t, e))
        switch_unseen(t, e);
    charge_node(t, e);
    if (__builtin_expect(e->context != t->cur->context, 0) && tells_place(e) &&
        stack_context(t, e, true))
        return;
    if (__builtin_expect(e->flags & EVENT_DOUBTFUL, 0))
        dispatch_doubtful(t, e);
    else
        dispatch_event(t, e);
}

static bool feed_one(struct calltree *t, const struct event *e)
{
    if (__builtin_expect(e->kind == EVENT_TASK || e->kind == EVENT_CLEAR, 0))
        return feed_told(t, e);
    feed_program(t, e);
    return true;
}

/* What the program has spent up to the last of these events; those that begin and end a profile
 * have been counted. However they came in batches, the sum is the same. */
static void count_batch_cycles(struct calltree *t, const struct event *events, size_t n)
{
    /* of a target that tells no times, all of them would be looked at */
    while (t->has_cycles && n && !(events[n - 1].flags & EVENT_HAS_TIME) &&
           events[n - 1].kind != EVENT_START && events[n - 1].kind != EVENT_STOP)
        n--;
    if (n && t->active)
        count_cycles(t, &events[n - 1]);
}

/* Up to and with the next EVENT_CLEAR, or all. */
static size_t feed_some(struct calltree *t, const struct event *events, size_t n)
{
    size_t i = 0;
    while (i < n && feed_one(t, &events[i]))
        i++;
    t->stats.events += i;
    count_batch_cycles(t, events, i);
    if (i == n)
        return n;
    calltree_clear(t);
    return i + 1;
}

void calltree_feed(struct calltree *t, const struct event *events, size_t n)
{
    while (n) {
        size_t fed = feed_some(t, events, n);
        events += fed;
        n -= fed;
    }
}

/* ---- life ---- */

int calltree_new(const struct calltree_config *cfg, struct calltree **out, struct err *err)
{
    struct calltree *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "", "call tree: out of memory");
    if (cfg)
        t->cfg = *cfg;
    t->cfg.max_nodes = t->cfg.max_nodes ? t->cfg.max_nodes : DEFAULT_NODES;
    t->cfg.max_depth = t->cfg.max_depth ? t->cfg.max_depth : DEFAULT_DEPTH;
    t->cfg.max_stacks = t->cfg.max_stacks ? t->cfg.max_stacks : DEFAULT_STACKS;
    t->cfg.max_tasks = t->cfg.max_tasks ? t->cfg.max_tasks : DEFAULT_TASKS;
    t->sampled.limit = t->cfg.max_addresses ? t->cfg.max_addresses : DEFAULT_ADDRESSES;
    t->lost_node = t->other_node = t->node = CALLTREE_NONE;
    uint32_t limit = t->cfg.max_nodes + SPECIAL_NODES;
    t->cap_nodes = limit < FIRST_NODES ? limit : FIRST_NODES;
    t->nodes = malloc(t->cap_nodes * sizeof *t->nodes);
    if (!t->nodes || !slots_resize(t, FIRST_SLOTS) || stacks_init(t) < 0) {
        calltree_free(t);
        return err_set(err, ERR_NOMEM, "", "call tree: out of memory");
    }
    *out = t;
    return 0;
}

void calltree_free(struct calltree *t)
{
    if (!t)
        return;
    stacks_fini(t);
    address_counts_fini(&t->sampled);
    free(t->tasks);
    free(t->slots);
    free(t->nodes);
    free(t);
}

const struct calltree_node *calltree_nodes(const struct calltree *t, size_t *n)
{
    *n = t->nnodes;
    return t->nodes;
}

const struct address_counts *calltree_addresses(const struct calltree *t) { return &t->sampled; }

const struct calltree_stats *calltree_stats(const struct calltree *t) { return &t->stats; }

bool calltree_active(const struct calltree *t) { return t->active; }

uint32_t calltree_current(const struct calltree *t) { return t->node; }

/* Nodes stay (frames point at them); what they counted goes. */
void calltree_clear(struct calltree *t)
{
    for (uint32_t i = 0; i < t->nnodes; i++) {
        struct calltree_node *n = &t->nodes[i];
        n->hits = n->c1 = n->c2 = n->steps = n->longest = 0;
        n->shortest = UINT64_MAX;
        n->doubts = 0;
        n->doubtful = n->kind == CALLTREE_LOST || n->kind == CALLTREE_OTHER;
        n->lacking = false;
    }
    for (uint32_t k = 0; k < t->nstacks; k++)
        for (uint32_t i = 0; i < t->stacks[k].depth; i++)
            t->stacks[k].frames[i].uncounted = true;
    t->stats = (struct calltree_stats){ .clears = t->stats.clears + 1 };
    address_counts_clear(&t->sampled);
}
