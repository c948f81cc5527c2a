#include "profiler/core/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/core/calltree_priv.h"

enum {
    DEFAULT_NODES = 1 << 20,
    DEFAULT_DEPTH = 4096,
    DEFAULT_STACKS = 64,
    DEFAULT_TASKS = 4096,
    DEFAULT_ADDRESSES = 1 << 18
};

/* ---- events ---- */

/* A counter that went back counts as unchanged: the board was reset, or the value was damaged. */
static uint64_t take_step(struct calltree *t, uint64_t now, uint64_t *last, bool *has)
{
    uint64_t d = 0;
    if (*has)
        d = now - *last;
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

static void special_step(struct calltree *t, const struct event *e, uint64_t d1, uint64_t d2)
{
    if (t->watched)
        watch_step(t, e, d1, d2);
    if (t->gap) {
        t->stats.gap_c1 += d1;
        t->stats.loss[t->gap_cause].c1 += d1;
    }
    if (t->blind)
        end_blind(t, &t->nodes[t->node], d1);
}

static inline void charge_node(struct calltree *t, const struct event *e)
{
    uint64_t d1 = 0;
    if (e->flags & EVENT_HAS_C1)
        d1 = take_step(t, e->c1, &t->c1, &t->has_c1);
    uint64_t d2 = 0;
    if (e->flags & EVENT_HAS_C2)
        d2 = take_step(t, e->c2, &t->c2, &t->has_c2);
    struct calltree_node *n = &t->nodes[t->node];
    t->step1 = d1;
    n->c1 += d1;
    n->c2 += d2;
    n->steps++;
    t->stats.total_c1 += d1;
    t->stats.total_c2 += d2;
    if (__builtin_expect(t->special_step, 0))
        special_step(t, e, d1, d2);
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
    t->gap_cause = EVENT_CAUSE_NONE;
    if (e->cause < EVENT_NCAUSES)
        t->gap_cause = e->cause;
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
    t->node = tree_lost(t);
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

/* Whether an event's pc is where the program was until then: that of an interrupt is one at which
 * it has not done anything yet. */
static bool tells_way_out(const struct event *e)
{
    bool leaves = e->kind == EVENT_CALL || e->kind == EVENT_JUMP || e->kind == EVENT_RETURN;
    return leaves && e->flags & EVENT_HAS_PC;
}

/* Before an event takes effect: a block may begin with the very instruction. */
static void follow_block_to(struct calltree *t, const struct event *e)
{
    if (tells_way_out(e) && !t->gap)
        stack_in_block(t, e->pc);
}

/* And where it leads. */
static void follow_block_behind(struct calltree *t, const struct event *e)
{
    if (!t->active || t->gap || t->floating || t->node == CALLTREE_NONE)
        return;
    bool place = e->kind == EVENT_START || (e->kind == EVENT_TIMESTAMP && !sp_exact(e));
    if (tells_place(e) && e->flags & EVENT_HAS_TARGET)
        stack_in_block(t, e->target);
    else if (e->kind == EVENT_RETURN && t->nodes[t->node].block) /* it may have ended there */
        tree_doubt(t);
    else if (place && e->flags & EVENT_HAS_PC)
        stack_in_block(t, e->pc);
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
        stack_open_root(t, event_pc(e), e, true);
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

/* The program has entered another task without an event. The time since the last event is charged
 * to that task, though the end of the switch belongs to the other one, whose last event came in the
 * middle of it. Both are doubtful. */
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

/* What is no event of the running program. False: what was counted up to here is to be summed
 * first. */
static bool feed_out_of_band(struct calltree *t, const struct event *e)
{
    if (e->kind == EVENT_TASK)
        task_take_event(t, e);
    return e->kind == EVENT_TASK;
}

/* Within the loop over events of a tree that nobody watches, which a call of it would slow down by
 * a twentieth; the compiler by itself makes one function of it for both loops. */
__attribute__((always_inline)) static inline void feed_program(struct calltree *t,
                                                               const struct event *e)
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
    if (__builtin_expect(t->cfg.block != NULL, 0))
        follow_block_to(t, e);
    if (__builtin_expect(e->flags & EVENT_DOUBTFUL, 0))
        dispatch_doubtful(t, e);
    else
        dispatch_event(t, e);
}

__attribute__((always_inline)) static inline bool feed_one(struct calltree *t,
                                                           const struct event *e)
{
    if (__builtin_expect(e->kind == EVENT_TASK || e->kind == EVENT_CLEAR || e->kind == EVENT_AGAIN,
                         0))
        return feed_out_of_band(t, e);
    feed_program(t, e);
    if (__builtin_expect(t->cfg.block != NULL, 0))
        follow_block_behind(t, e);
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

static bool feed_watched(struct calltree *t, const struct event *e)
{
    watch_before(t, e);
    bool fed = feed_one(t, e);
    watch_after(t, e);
    return fed;
}

/* How long handlers took that are open now is not known. */
static void forget_entries(struct calltree *t)
{
    for (uint32_t k = 0; k < t->nstacks; k++)
        for (uint32_t i = 0; i < t->stacks[k].depth; i++)
            t->stacks[k].frames[i].uncounted = true;
}

/* Counters and time begin anew, the program is where it was. */
static void on_again(struct calltree *t, const struct event *e)
{
    t->stats.events++;
    forget_entries(t);
    if (!t->active || !(e->flags & (EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_TIME)))
        return;
    t->has_c1 = t->has_c2 = t->has_cycles = false;
    if (e->flags & EVENT_HAS_C1)
        take_step(t, e->c1, &t->c1, &t->has_c1);
    if (e->flags & EVENT_HAS_C2)
        take_step(t, e->c2, &t->c2, &t->has_c2);
    count_cycles(t, e);
    if (t->watched)
        watch_rearmed(t, e);
}

/* Up to and with the next event that something begins anew with, or all. */
static size_t feed_some(struct calltree *t, const struct event *events, size_t n)
{
    size_t i = 0;
    if (t->watched)
        while (i < n && feed_watched(t, &events[i]))
            i++;
    else
        while (i < n && feed_one(t, &events[i]))
            i++;
    t->stats.events += i;
    count_batch_cycles(t, events, i);
    if (i == n)
        return n;
    if (events[i].kind == EVENT_AGAIN)
        on_again(t, &events[i]);
    if (events[i].kind == EVENT_CLEAR || events[i].forgets)
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
    t->cfg.max_nodes = EITHER(t->cfg.max_nodes, DEFAULT_NODES);
    t->cfg.max_depth = EITHER(t->cfg.max_depth, DEFAULT_DEPTH);
    t->cfg.max_stacks = EITHER(t->cfg.max_stacks, DEFAULT_STACKS);
    t->cfg.max_tasks = EITHER(t->cfg.max_tasks, DEFAULT_TASKS);
    t->sampled.limit = EITHER(t->cfg.max_addresses, DEFAULT_ADDRESSES);
    t->node = CALLTREE_NONE;
    t->watched = t->cfg.watch != NULL;
    if (t->watched)
        t->watching.cfg = *t->cfg.watch;
    t->cfg.watch = NULL;
    if (!tree_init(t) || stacks_init(t) < 0) {
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
    forget_entries(t);
    if (t->watched)
        watch_cleared(t);
    t->stats = (struct calltree_stats){ .clears = t->stats.clears + 1 };
    address_counts_clear(&t->sampled);
}
