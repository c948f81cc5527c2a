/* Stacks of the call tree, and the rules by which events that do not fit are reconciled.
 *
 * A return fits if it goes a few bytes behind the call instruction of the innermost open call, with a stack
 * pointer near the one at the call. What does not fit is tried, in this order, as
 *   1. a return to an outer call of this stack (longjmp, returns without an event): inner frames close;
 *   2. a return to the innermost call of another stack: the task was switched;
 *   3. the innermost call's address with an unlikely stack pointer;
 *   4. arriving in a function that has an open frame here, stack pointer permitting: inner frames close;
 *   5. arriving in the function on top of another stack: the task was switched;
 *   6. leaving the function in which watching began: its caller becomes the root;
 *   7. a stack never seen: a new one, so that the old one is whole when its task goes on.
 * A return whose target is not known is judged by its stack pointer alone, in the same order; if it is nobody's,
 * the next event tells where it went. On a stack never seen that function has one hit, a doubtful one: its entry
 * was not seen, but it runs.
 * Targets that do not know the stack pointer (S12Z) are followed by addresses alone: a handler that ends elsewhere than where it began leaves its
 * stack standing in it, and goes on with one that stands in a handler and was interrupted there: its own if it fits, else of several the
 * one left longest ago. Should that have been the wrong one, the next return shows it, and the two change places.
 * Stack pointers grow down; only differences are used, in 32-bit arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "profiler/calltree_priv.h"

enum {
    FRAMES_FIRST = 32,
    RETURN_MAX_BYTES = 6,   /* call instruction and its slot: SH-4 always 4, S12Z up to 5 */
    SP_POPPED_LATE = 256,   /* a return's delay slot may still drop this much */
    SP_PUSHED_EARLY = 8,    /* a call's delay slot may have pushed this much: one register */
    SP_SAME_STACK = 8192,   /* farther from the last stack pointer than this is another stack */
    SLOT_BYTES = 4          /* a branch and its delay slot */
};

static struct frame *top_frame(const struct calltree *t)
{
    return &t->cur->frames[t->cur->depth - 1];
}

static void settle(struct calltree *t)
{
    t->node = top_frame(t)->node;
}

static void note_sp(struct stack *s, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_SP))
        return;
    s->last_sp = e->sp;
    s->has_sp = true;
}

/* ---- life ---- */

/* Every stack has its first frames from the start, so that a root always finds a place. */
static bool frames_grow(struct calltree *t, struct stack *s)
{
    if (s->depth >= t->cfg.max_depth)
        return false;
    uint32_t cap = s->cap ? s->cap * 2 : FRAMES_FIRST;
    cap = cap > t->cfg.max_depth ? t->cfg.max_depth : cap;
    struct frame *frames = realloc(s->frames, cap * sizeof *frames);
    if (!frames)
        return false;
    s->frames = frames;
    s->cap = cap;
    return true;
}

int stacks_init(struct calltree *t)
{
    t->stacks = calloc(t->cfg.max_stacks, sizeof *t->stacks);
    if (!t->stacks)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < t->cfg.max_stacks; i++)
        if (!frames_grow(t, &t->stacks[i]))
            return -ERR_NOMEM;
    t->nstacks = 1;
    t->cur = t->stacks;
    return 0;
}

void stacks_fini(struct calltree *t)
{
    for (uint32_t i = 0; t->stacks && i < t->cfg.max_stacks; i++)
        free(t->stacks[i].frames);
    free(t->stacks);
}

static void stack_empty(struct stack *s, uint32_t context)
{
    s->depth = s->overflow = 0;
    s->context = context;
    s->has_sp = s->untraced = false;
}

void stacks_clear(struct calltree *t)
{
    for (uint32_t i = 0; i < t->nstacks; i++)
        stack_empty(&t->stacks[i], 0);
    t->nstacks = 1;
    t->cur = t->stacks;
}

/* The position in the event stream serves as a clock. */
static uint64_t tick(const struct calltree *t)
{
    return t->stats.switches + 1;
}

static void switch_to(struct calltree *t, struct stack *s)
{
    t->stats.switches++;
    t->cur->used = tick(t);
    t->cur = s;
    s->used = tick(t) + 1;
}

static struct stack *stack_oldest(struct calltree *t)
{
    struct stack *oldest = NULL;
    for (uint32_t i = 0; i < t->nstacks; i++) {
        struct stack *s = &t->stacks[i];
        if (s != t->cur && (!oldest || s->used < oldest->used))
            oldest = s;
    }
    return oldest;
}

/* An empty stack becomes the current one. With max_stacks of 1, the only one starts over. */
static void stack_new(struct calltree *t, uint32_t context)
{
    struct stack *s = NULL;
    for (uint32_t i = 0; i < t->nstacks && !s; i++)
        if (t->stacks[i].depth == 0)
            s = &t->stacks[i];
    if (!s && t->nstacks < t->cfg.max_stacks)
        s = &t->stacks[t->nstacks++];
    if (!s) {
        s = stack_oldest(t);
        s = s ? s : t->cur;
        t->stats.stack_overflow++;
    }
    stack_empty(s, context);
    if (s != t->cur)
        switch_to(t, s);
}

/* ---- frames ---- */

/* Beyond max_depth, calls are only counted, so that as many returns can be skipped. */
static struct frame *push(struct calltree *t, uint32_t node, enum frame_kind kind)
{
    struct stack *s = t->cur;
    if (__builtin_expect(s->overflow || (s->depth == s->cap && !frames_grow(t, s)), 0)) {
        s->overflow++;
        t->stats.depth_overflow++;
        node_doubt(&t->nodes[top_frame(t)->node]);
        return NULL;
    }
    struct frame *f = &s->frames[s->depth++];
    *f = (struct frame){ .node = node, .kind = (uint8_t)kind };
    t->node = node;
    return f;
}

static void frame_entered(struct frame *f, uint64_t from, const struct event *e)
{
    f->from = from;
    f->sp = e->sp;
    f->has_sp = (e->flags & EVENT_HAS_SP) != 0;
}

void stack_open_root(struct calltree *t, uint64_t pc, const struct event *e, bool hit)
{
    t->cur->depth = t->cur->overflow = 0;
    uint32_t node = tree_root(t, CALLTREE_FUNCTION, pc);
    t->nodes[node].hits += hit;
    push(t, node, FRAME_ROOT);
    note_sp(t->cur, e);
}

/* Closing frames from the top down to `depth` of them. Handlers without RTE events close here, too. */
static void close_to(struct calltree *t, uint32_t depth)
{
    struct stack *s = t->cur;
    for (uint32_t i = depth; i < s->depth; i++)
        t->stats.untraced_rtes += s->frames[i].untraced;
    s->depth = depth;
    s->overflow = 0;
    settle(t);
}

/* ---- does it fit? ---- */

static bool address_fits(const struct frame *f, uint64_t target)
{
    return target - f->from - 1 < RETURN_MAX_BYTES;
}

/* Is sp what a return from (or in) this frame shows, given what it was at the call? */
static bool sp_fits(const struct frame *f, const struct event *e)
{
    if (!f->has_sp || !(e->flags & EVENT_HAS_SP))
        return true;
    return f->sp - e->sp + SP_PUSHED_EARLY <= SP_POPPED_LATE + SP_PUSHED_EARLY;
}

static bool sp_known(const struct frame *f, const struct event *e)
{
    return f->has_sp && e->flags & EVENT_HAS_SP;
}

/* The call that frame i returns through: a jumped-to function returns where its caller would. */
static uint32_t call_below(const struct stack *s, uint32_t i)
{
    while (i > 0 && s->frames[i].kind == FRAME_TAIL)
        i--;
    return i;
}

static bool sp_far(const struct stack *s, const struct event *e)
{
    if (!s->has_sp || !(e->flags & EVENT_HAS_SP))
        return false;
    int32_t d = (int32_t)(e->sp - s->last_sp);
    return d > SP_SAME_STACK || d < -SP_SAME_STACK;
}

/* Can sp be one seen inside frame i, with the frames above it gone? A function that is returned to has made a
 * call, so it has at least its own return address on the stack: then sp is below what it was on entry. That
 * tells apart the activations of a recursive function. */
static bool sp_inside(const struct stack *s, uint32_t i, const struct event *e)
{
    const struct frame *f = &s->frames[i];
    int32_t above_entry = e->kind == EVENT_RETURN ? -1 : SP_PUSHED_EARLY;
    bool entry_known = f->kind != FRAME_ROOT && sp_known(f, e);
    if (entry_known ? (int32_t)(e->sp - f->sp) > above_entry : sp_far(s, e))
        return false;
    if (i + 1 == s->depth)
        return !sp_far(s, e);
    const struct frame *above = &s->frames[i + 1];
    if (!sp_known(above, e) || above->untraced)
        return true;
    return (int32_t)(e->sp - above->sp) >= -SP_POPPED_LATE;
}

/* Innermost frame in [0, below) that runs the function of addr; -1 if none. */
static long frame_of(const struct calltree *t, uint64_t addr, uint32_t below, const struct event *e)
{
    const struct stack *s = t->cur;
    for (long i = (long)below - 1; i >= 0; i--)
        if (tree_same_function(t, s->frames[i].node, addr) && sp_inside(s, (uint32_t)i, e))
            return i;
    return -1;
}

/* Another stack whose top function holds addr and whose stack pointer was near. */
static struct stack *stack_of(const struct calltree *t, uint64_t addr, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_SP))
        return NULL;
    for (uint32_t i = 0; i < t->nstacks; i++) {
        struct stack *s = &t->stacks[i];
        if (s == t->cur || !s->depth || !s->has_sp || s->overflow || s->context != t->cur->context)
            continue;
        int32_t d = (int32_t)(e->sp - s->last_sp);
        if (d <= SP_POPPED_LATE && d >= -SP_POPPED_LATE && sp_inside(s, s->depth - 1, e) &&
            tree_same_function(t, s->frames[s->depth - 1].node, addr))
            return s;
    }
    return NULL;
}

/* ---- contexts the target names itself ---- */

static void choose_context(struct calltree *t, uint32_t context)
{
    for (uint32_t i = 0; i < t->nstacks; i++)
        if (t->stacks[i].depth && t->stacks[i].context == context) {
            switch_to(t, &t->stacks[i]);
            return;
        }
    if (t->cur->depth == 0)
        t->cur->context = context;
    else
        stack_new(t, context);
}

/* A context not seen before begins where its first event is. */
void stack_context(struct calltree *t, const struct event *e)
{
    choose_context(t, e->context);
    if (t->cur->depth)
        settle(t);
    else if (t->node != CALLTREE_NONE && !t->gap)
        stack_open_root(t, e->flags & EVENT_HAS_PC ? e->pc : 0, e, false);
}

/* ---- arriving somewhere without a matching frame ---- */

static void new_root(struct calltree *t, uint64_t addr, const struct event *e)
{
    stack_open_root(t, addr, e, false);
}

/* A function entered at its first instruction was called, whoever did it: a task begins. Landing in the middle
 * of one, on a stack never seen, is a guess. */
static void new_stack_root(struct calltree *t, uint64_t addr, const struct event *e)
{
    stack_new(t, e->context);
    new_root(t, addr, e);
    if (t->nodes[t->node].addr == addr)
        t->nodes[t->node].hits++;
    else
        tree_doubt(t);
}

static void arrive(struct calltree *t, uint64_t addr, const struct event *e)
{
    struct stack *s = t->cur, *other;
    long i = s->overflow ? -1 : frame_of(t, addr, s->depth, e);
    if (i >= 0) {
        t->stats.unwinds += (uint32_t)i + 1 < s->depth;
        close_to(t, (uint32_t)i + 1);
        return;
    }
    other = stack_of(t, addr, e);
    if (other) {
        switch_to(t, other);
        settle(t);
        return;
    }
    if (s->depth == 1 && !sp_far(s, e)) {
        new_root(t, addr, e);
        return;
    }
    new_stack_root(t, addr, e);
}

/* ---- the place of an event against the frame on top ---- */

/* Interrupted between a call's event and the call itself: the stub still stands at the call. */
static bool at_last_site(const struct calltree *t, const struct event *e)
{
    return e->kind != EVENT_CALL && e->kind != EVENT_RETURN && t->last_pc && e->pc - t->last_pc <= SLOT_BYTES;
}

/* A function was entered without an event: it stands where a jumped-to function would. */
static void infer_entry(struct calltree *t, const struct event *e)
{
    tree_doubt(t);
    uint32_t node = tree_child(t, t->node, e->pc);
    t->stats.inferred++;
    struct frame *f = push(t, node, FRAME_TAIL);
    if (f) {
        f->inferred = true;
        t->nodes[node].hits++;
        node_doubt(&t->nodes[node]);
    }
}

static bool sync_handler_end(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    bool any = false;
    for (uint32_t i = s->untraced ? s->depth : 0; i-- > 1;) {
        if (!s->frames[i].untraced)
            continue;
        any = true;
        if (tree_same_function(t, s->frames[i - 1].node, e->pc) || e->pc == s->frames[i].from) {
            tree_doubt(t);
            close_to(t, i);
            tree_doubt(t);
            return true;
        }
    }
    s->untraced = any;
    return false;
}

void stack_sync(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    struct calltree_range r;
    if (s->overflow || !s->depth || at_last_site(t, e))
        return;
    if (sync_handler_end(t, e))
        return;
    const struct calltree_node *n = &t->nodes[t->node];
    if (n->low == n->high || tree_same_function(t, t->node, e->pc))
        return;
    if (!t->cfg.resolve || !t->cfg.resolve(t->cfg.resolve_ctx, e->pc, &r))
        return;
    struct stack *other = sp_far(s, e) ? stack_of(t, e->pc, e) : NULL;
    if (other) {
        switch_to(t, other);
        settle(t);
        return;
    }
    long i = frame_of(t, e->pc, s->depth - 1, e);
    if (i < 0) {
        infer_entry(t, e);
        return;
    }
    t->stats.inferred++;
    tree_doubt(t);
    close_to(t, (uint32_t)i + 1);
    node_doubt(&t->nodes[t->node]);
}

void stack_relocate(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    while (s->depth > 1 && sp_known(top_frame(t), e) && (int32_t)(e->sp - top_frame(t)->sp) > 0)
        s->depth--;
    s->overflow = 0;
    long i = s->depth && e->flags & EVENT_HAS_PC ? frame_of(t, e->pc, s->depth, e) : -1;
    if (i >= 0)
        close_to(t, (uint32_t)i + 1);
    else if (e->flags & EVENT_HAS_PC || !s->depth)
        new_root(t, e->flags & EVENT_HAS_PC ? e->pc : 0, e);
    else
        settle(t);
    tree_doubt(t);
}

/* ---- calls ---- */

/* A call into the middle of its own function is a local subroutine, or the way to learn PC: it stays
 * part of the function. */
static bool local_call(const struct calltree_node *n, uint64_t target)
{
    return node_contains(n, target) && target != n->low;
}

void stack_call(struct calltree *t, const struct event *e)
{
    t->last_pc = e->flags & EVENT_HAS_PC ? e->pc : 0;
    note_sp(t->cur, e);
    if (e->flags & EVENT_HAS_TARGET && local_call(&t->nodes[t->node], e->target))
        return;
    uint32_t node = tree_child(t, t->node, e->flags & EVENT_HAS_TARGET ? e->target : 0);
    t->nodes[node].hits++;
    struct frame *f = push(t, node, FRAME_CALL);
    if (f)
        frame_entered(f, t->last_pc, e);
}

static void tail_call(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t first = call_below(s, s->depth - 1);
    t->stats.tail_calls++;
    /* State machines jump in circles: a function that is in the chain already is gone back to. */
    for (uint32_t i = s->depth; i-- > first;)
        if (s->frames[i].kind != FRAME_HANDLER && tree_same_function(t, s->frames[i].node, e->target)) {
            close_to(t, i + 1);
            t->nodes[t->node].hits++;
            return;
        }
    uint32_t node = tree_child(t, t->node, e->target);
    t->nodes[node].hits++;
    struct frame *f = push(t, node, FRAME_TAIL);
    if (f && s->frames[first].kind == FRAME_CALL) {
        f->sp = s->frames[first].sp;
        f->has_sp = s->frames[first].has_sp;
    }
}

static bool return_fast(struct calltree *t, const struct event *e);

void stack_jump(struct calltree *t, const struct event *e)
{
    t->last_pc = e->flags & EVENT_HAS_PC ? e->pc : 0;
    note_sp(t->cur, e);
    struct calltree_range r;
    if (!(e->flags & EVENT_HAS_TARGET) || t->cur->overflow || tree_same_function(t, t->node, e->target))
        return;
    if (!t->cfg.resolve || !t->cfg.resolve(t->cfg.resolve_ctx, e->target, &r))
        return; /* without symbols a jump cannot be told from a switch table */
    if (r.low == e->target) {
        tail_call(t, e);
        return;
    }
    if (return_fast(t, e))
        return;
    long i = frame_of(t, e->target, t->cur->depth - 1, e);
    if (i < 0) {
        tail_call(t, e);
        return;
    }
    t->stats.unwinds++;
    close_to(t, (uint32_t)i + 1);
}

/* ---- returns ---- */

static void pop_call(struct calltree *t, uint32_t call)
{
    t->cur->depth = call;
    t->cur->overflow = 0;
    settle(t);
}

/* Rule 0: back behind the innermost call. */
static bool return_fast(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t i = call_below(s, s->depth - 1);
    const struct frame *f = &s->frames[i];
    if (f->kind != FRAME_CALL || !address_fits(f, e->target) || !sp_fits(f, e))
        return false;
    pop_call(t, i);
    return true;
}

/* Is it a return through this call? Without a target, the stack pointer must be known to say so. */
static bool call_fits(const struct frame *f, const struct event *e)
{
    bool there = e->flags & EVENT_HAS_TARGET ? address_fits(f, e->target) : sp_known(f, e);
    return f->kind == FRAME_CALL && there && sp_fits(f, e);
}

/* The innermost call below frame `below` that fits. */
static bool return_outer(struct calltree *t, const struct event *e, uint32_t below)
{
    struct stack *s = t->cur;
    for (uint32_t i = below; i-- > 1;) {
        if (!call_fits(&s->frames[i], e))
            continue;
        t->stats.unwinds++;
        close_to(t, i);
        return true;
    }
    return false;
}

/* Another stack of the same context in which something was called or interrupted. */
static bool other_task(const struct calltree *t, const struct stack *s)
{
    return s != t->cur && s->depth >= 2 && !s->overflow && s->context == t->cur->context;
}

static bool return_elsewhere(struct calltree *t, const struct event *e)
{
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        if (!other_task(t, s))
            continue;
        uint32_t i = call_below(s, s->depth - 1);
        const struct frame *f = &s->frames[i];
        if ((!sp_known(f, e) && e->flags & EVENT_HAS_SP) || !call_fits(f, e))
            continue;
        switch_to(t, s);
        note_sp(s, e);
        pop_call(t, i);
        return true;
    }
    return false;
}

/* The handler that a task left standing is in; 0: none. */
static uint32_t innermost_handler(const struct stack *s)
{
    for (uint32_t i = s->depth; i-- > 1;)
        if (s->frames[i].kind == FRAME_HANDLER)
            return i;
    return 0;
}

/* Without stack pointers: the task was taken for another one that was left at the same place, and that one stands still in its stead. */
static bool return_of_another(struct calltree *t, const struct event *e)
{
    for (uint32_t k = 0; k < t->nstacks && !(e->flags & EVENT_HAS_SP); k++) {
        struct stack *s = &t->stacks[k], *mistaken = t->cur;
        uint32_t i = other_task(t, s) ? innermost_handler(s) : 0, call = i ? call_below(s, i - 1) : 0;
        if (!i || !call_fits(&s->frames[call], e))
            continue;
        struct frame handler = s->frames[i];
        struct frame *f = push(t, handler.node, FRAME_HANDLER);
        if (f)
            *f = handler;
        switch_to(t, s);
        mistaken->used = 0; /* it is next */
        pop_call(t, call);
        return true;
    }
    return false;
}

static bool return_by_address(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t i = call_below(s, s->depth - 1);
    if (s->frames[i].kind != FRAME_CALL || !address_fits(&s->frames[i], e->target) || sp_far(s, e))
        return false;
    pop_call(t, i);
    return true;
}

/* Calls beyond max_depth were only counted, so returns are, too, as long as they happen below the top frame. */
static bool overflow_return(struct calltree *t, const struct event *e)
{
    if (!t->cur->overflow || (sp_known(top_frame(t), e) && (int32_t)(e->sp - top_frame(t)->sp) >= 0))
        return false;
    t->cur->overflow--;
    return true;
}

/* ---- returns of which only the stack pointer is known ---- */

/* The stack whose innermost call was made nearest above sp. */
static struct stack *stack_by_sp(const struct calltree *t, const struct event *e, uint32_t *call)
{
    struct stack *best = NULL;
    uint32_t nearest = UINT32_MAX;
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        if (!other_task(t, s))
            continue;
        uint32_t i = call_below(s, s->depth - 1);
        const struct frame *f = &s->frames[i];
        uint32_t distance = f->sp - e->sp + SP_PUSHED_EARLY;
        if (!call_fits(f, e) || distance >= nearest)
            continue;
        nearest = distance;
        best = s;
        *call = i;
    }
    return best;
}

/* Nobody's return: the next event tells whose function it went to, and gets the time until then. */
static void float_away(struct calltree *t, const struct event *e)
{
    t->stats.orphan_returns++;
    t->floating = true;
    if (sp_far(t->cur, e) && t->cur->depth > 1)
        stack_new(t, e->context);
}

/* Frames entered with a stack pointer at or below the one now are gone: a longjmp. */
static void drop_dead(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t depth = s->depth;
    while (depth > 1 && (!s->frames[depth - 1].has_sp || (int32_t)(e->sp - s->frames[depth - 1].sp) >= 0))
        depth--;
    t->stats.orphan_returns++;
    t->stats.unwinds++;
    close_to(t, depth);
    tree_doubt(t);
}

static void return_blind(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur, *other;
    uint32_t i = call_below(s, s->depth - 1), call = 0;
    const struct frame *f = &s->frames[i];
    if (f->kind == FRAME_CALL && (!sp_known(f, e) || sp_fits(f, e))) {
        pop_call(t, i);
    } else if (!(e->flags & EVENT_HAS_SP)) {
        float_away(t, e);
    } else if (top_frame(t)->inferred) {
        s->depth--; /* it was called by an instruction that is not traced */
        settle(t);
    } else if (return_outer(t, e, i)) {
        return;
    } else if ((other = stack_by_sp(t, e, &call))) {
        switch_to(t, other);
        pop_call(t, call);
    } else if (i == 0 || sp_far(s, e)) {
        float_away(t, e);
    } else if ((int32_t)(e->sp - f->sp) > 0) {
        drop_dead(t, e);
    } else if (f->kind == FRAME_CALL) {
        pop_call(t, i); /* its delay slot drops a large frame */
    }
}

/* Where the program is after a return that was nobody's. */
void stack_place(struct calltree *t, const struct event *e)
{
    bool known = e->flags & EVENT_HAS_PC;
    struct stack *other = known ? stack_of(t, e->pc, e) : NULL;
    if (t->cur->depth == 0 && other) {
        switch_to(t, other);
        settle(t);
        return;
    }
    bool fresh = t->cur->depth == 0;
    new_root(t, known ? e->pc : 0, e);
    if (fresh && known) { /* a task never seen runs this function, so it was entered: as where an entry is inferred */
        t->nodes[t->node].hits++;
        node_doubt(&t->nodes[t->node]);
    }
}

void stack_return(struct calltree *t, const struct event *e)
{
    t->last_pc = e->flags & EVENT_HAS_PC ? e->pc : 0;
    if (!(e->flags & EVENT_HAS_TARGET)) {
        if (!overflow_return(t, e))
            return_blind(t, e);
        note_sp(t->cur, e);
        return;
    }
    if (__builtin_expect(t->cur->overflow, 0) && overflow_return(t, e))
        return;
    if (__builtin_expect(return_fast(t, e), 1)) {
        note_sp(t->cur, e);
        return;
    }
    if (!return_outer(t, e, t->cur->depth) && !return_elsewhere(t, e) && !return_of_another(t, e) && !return_by_address(t, e)) {
        bool local = node_contains(&t->nodes[t->node], e->target) && sp_inside(t->cur, t->cur->depth - 1, e);
        if (!local) {
            t->stats.orphan_returns++;
            arrive(t, e->target, e);
        }
    }
    note_sp(t->cur, e);
}

/* ---- interrupts and exceptions ---- */

void stack_handler(struct calltree *t, const struct event *e)
{
    enum calltree_kind kind = e->kind == EVENT_INTERRUPT ? CALLTREE_INTERRUPT : CALLTREE_EXCEPTION;
    uint32_t node = tree_root(t, kind, e->flags & EVENT_HAS_TARGET ? e->target : 0);
    struct calltree_node *n = &t->nodes[node];
    n->vector = n->hits == 0 ? e->vector : n->vector;
    n->hits++;
    note_sp(t->cur, e);
    if (e->flags & EVENT_UNTRACED_RTE) {
        node_doubt(n);
        tree_doubt(t);
    }
    struct frame *f = push(t, node, FRAME_HANDLER);
    if (!f)
        return;
    frame_entered(f, e->flags & EVENT_HAS_PC ? e->pc : 0, e);
    f->untraced = (e->flags & EVENT_UNTRACED_RTE) != 0;
    f->c1 = t->c1;
    uint32_t open = 0;
    for (uint32_t i = 0; i < t->cur->depth; i++)
        open += t->cur->frames[i].kind == FRAME_HANDLER;
    t->stats.nesting = open > t->stats.nesting ? open : t->stats.nesting;
    t->cur->untraced |= f->untraced;
    t->last_pc = 0;
}

static bool rte_to(struct calltree *t, const struct event *e, bool need_sp)
{
    struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 1;) {
        const struct frame *f = &s->frames[i];
        if (f->kind != FRAME_HANDLER || f->from != e->target || (need_sp && !sp_fits(f, e)))
            continue;
        close_to(t, i);
        return true;
    }
    return false;
}

static bool rte_elsewhere(struct calltree *t, const struct event *e, bool need_sp)
{
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        if (!other_task(t, s))
            continue;
        for (uint32_t i = s->depth; i-- > 1;) {
            const struct frame *f = &s->frames[i];
            if (f->kind != FRAME_HANDLER)
                continue;
            if (f->from == e->target && (!need_sp || (sp_known(f, e) && sp_fits(f, e)))) {
                switch_to(t, s);
                close_to(t, i);
                return true;
            }
            break;
        }
    }
    return false;
}

/* The handler moved the place to resume: past an emulated instruction, or to a fix-up. */
static bool rte_moved(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 1;) {
        if (s->frames[i].kind != FRAME_HANDLER)
            continue;
        bool same = !sp_far(s, e) && (tree_same_function(t, s->frames[i - 1].node, e->target) ||
                                      e->target - s->frames[i].from <= SLOT_BYTES);
        if (!sp_fits(&s->frames[i], e) && !same)
            return false;
        close_to(t, i);
        if (!same)
            arrive(t, e->target, e);
        return true;
    }
    return false;
}

/* Was this frame's handler entered where it would go back to target? Of interrupts only the function may be known. */
static bool goes_back_to(const struct calltree *t, const struct stack *s, uint32_t handler, uint64_t target)
{
    const struct frame *f = &s->frames[handler];
    return f->from ? target - f->from <= SLOT_BYTES : tree_same_function(t, s->frames[handler - 1].node, target);
}

static struct stack *left_standing_at(struct calltree *t, uint64_t target)
{
    struct stack *best = NULL;
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        uint32_t i = other_task(t, s) ? innermost_handler(s) : 0;
        if (i && goes_back_to(t, s, i, target) && (!best || s->used < best->used))
            best = s;
    }
    return best;
}

/* Without stack pointers: the handler ends in another task than it began in. */
static bool rte_task(struct calltree *t, const struct event *e)
{
    struct calltree_range r;
    uint32_t i = e->flags & EVENT_HAS_SP ? 0 : innermost_handler(t->cur);
    if (!i || (t->cur->frames[i].from && goes_back_to(t, t->cur, i, e->target)))
        return false;
    struct stack *s = left_standing_at(t, e->target);
    if (s) {
        switch_to(t, s);
        close_to(t, innermost_handler(s));
        return true;
    }
    bool begins = t->cfg.resolve && t->cfg.resolve(t->cfg.resolve_ctx, e->target, &r) && r.low == e->target;
    if (!begins && (goes_back_to(t, t->cur, i, e->target) || frame_of(t, e->target, t->cur->depth, e) >= 0))
        return false;
    new_stack_root(t, e->target, e);
    return true;
}

/* The innermost handler ends here, unless this RTE turns out to be another's. */
static void note_duration(struct calltree *t)
{
    const struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 1;)
        if (s->frames[i].kind == FRAME_HANDLER) {
            struct calltree_node *n = &t->nodes[s->frames[i].node];
            uint64_t d = t->c1 - s->frames[i].c1;
            n->longest = d > n->longest ? d : n->longest;
            n->shortest = d < n->shortest ? d : n->shortest;
            return;
        }
}

struct calltree_unfinished stack_unfinished(const struct calltree *t)
{
    const struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 0;) {
        const struct frame *f = &s->frames[i];
        if (f->kind != FRAME_HANDLER)
            continue;
        const struct calltree_node *n = &t->nodes[f->node];
        return (struct calltree_unfinished){ n->kind == CALLTREE_EXCEPTION, n->vector, f->from, t->c1 - f->c1 };
    }
    return (struct calltree_unfinished){ 0 };
}

void stack_rte(struct calltree *t, const struct event *e)
{
    t->last_pc = 0;
    if (overflow_return(t, e))
        return;
    if (t->has_c1 && !t->gap)
        note_duration(t);
    if (!(e->flags & EVENT_HAS_TARGET)) {
        for (uint32_t i = t->cur->depth; i-- > 1;)
            if (t->cur->frames[i].kind == FRAME_HANDLER) {
                close_to(t, i);
                return;
            }
        return;
    }
    if (!rte_to(t, e, true) && !rte_elsewhere(t, e, true) && !rte_task(t, e) && !rte_to(t, e, false) && !rte_elsewhere(t, e, false) &&
        !rte_moved(t, e))
        arrive(t, e->target, e);
    note_sp(t->cur, e);
}
