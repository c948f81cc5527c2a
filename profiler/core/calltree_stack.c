/* Stacks of the call tree: their frames, what calls and jumps do to them, contexts that the target
 * reports. */
#include "profiler/core/calltree_stack.h"
#include "probe/base/choice.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

/* Every stack has its first frames from the start, so that a root always finds a place. */
bool stack_grow(struct calltree *t, struct stack *s)
{
    if (s->depth >= t->cfg.max_depth)
        return false;
    uint32_t cap = EITHER(2 * s->cap, FRAMES_FIRST);
    if (cap > t->cfg.max_depth)
        cap = t->cfg.max_depth;
    struct frame *frames = realloc(s->frames, cap * sizeof *frames);
    if (!frames)
        return false;
    s->frames = frames;
    if (t->watched && !watch_grow(s, cap))
        return false;
    s->cap = cap;
    return true;
}

int stacks_init(struct calltree *t)
{
    t->stacks = calloc(t->cfg.max_stacks, sizeof *t->stacks);
    if (!t->stacks)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < t->cfg.max_stacks; i++)
        if (!stack_grow(t, &t->stacks[i]))
            return -ERR_NOMEM;
    t->nstacks = 1;
    t->cur = t->stacks;
    return 0;
}

void stacks_fini(struct calltree *t)
{
    for (uint32_t i = 0; t->stacks && i < t->cfg.max_stacks; i++) {
        free(t->stacks[i].frames);
        free(t->stacks[i].seen);
    }
    free(t->stacks);
}

static void stack_empty(struct calltree *t, struct stack *s, uint32_t context,
                        enum calltree_left how)
{
    stack_drop(t, s, 0, how);
    s->overflow = 0;
    s->context = context;
    s->has_sp = s->untraced = false;
}

void stacks_clear(struct calltree *t)
{
    for (uint32_t i = 0; i < t->nstacks; i++)
        stack_empty(t, &t->stacks[i], 0, CALLTREE_LEFT_STOP);
    t->nstacks = 1;
    t->cur = t->stacks;
}

/* The position in the event stream serves as a clock. */
static uint64_t event_clock(const struct calltree *t) { return t->stats.switches + 1; }

void stack_switch_to(struct calltree *t, struct stack *s)
{
    t->stats.switches++;
    t->cur->used = event_clock(t);
    t->cur = s;
    s->used = event_clock(t) + 1;
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
void stack_new(struct calltree *t, uint32_t context)
{
    struct stack *s = NULL;
    for (uint32_t i = 0; i < t->nstacks && !s; i++)
        if (t->stacks[i].depth == 0)
            s = &t->stacks[i];
    if (!s && t->nstacks < t->cfg.max_stacks)
        s = &t->stacks[t->nstacks++];
    if (!s) {
        s = stack_oldest(t);
        s = EITHER(s, t->cur);
        t->stats.stack_overflow++;
    }
    stack_empty(t, s, context, CALLTREE_LEFT_FORGOTTEN);
    if (s != t->cur)
        stack_switch_to(t, s);
}

/* ---- frames ---- */

/* Beyond max_depth, calls are only counted, so that as many returns can be skipped. */
struct frame *stack_push(struct calltree *t, uint32_t node, enum frame_kind kind)
{
    struct stack *s = t->cur;
    if (__builtin_expect(s->overflow || (s->depth == s->cap && !stack_grow(t, s)), 0)) {
        s->overflow++;
        t->stats.depth_overflow++;
        node_doubt(&t->nodes[stack_top(t)->node]);
        return NULL;
    }
    struct frame *f = &s->frames[s->depth++];
    *f = (struct frame){ .node = node, .kind = (uint8_t)kind };
    t->node = node;
    if (__builtin_expect(t->watched, 0))
        watch_entered(t);
    return f;
}

void stack_open_root(struct calltree *t, uint64_t pc, const struct event *e, bool hit)
{
    stack_drop(t, t->cur, 0, CALLTREE_LEFT_CLOSED);
    t->cur->overflow = 0;
    uint32_t node = task_root(t, pc, e);
    t->nodes[node].hits += hit;
    t->watching.found = !t->watching.begins && !(hit && pc && t->nodes[node].addr == pc);
    stack_push(t, node, FRAME_ROOT);
    stack_note_sp(t->cur, e);
}

/* Closing frames from the top down to `depth` of them. Handlers without RTE events close here, too.
 */
static void frames_end(struct calltree *t, uint32_t depth, enum calltree_left how)
{
    struct stack *s = t->cur;
    for (uint32_t i = depth; i < s->depth; i++)
        t->stats.untraced_rtes += s->frames[i].untraced;
    stack_drop(t, s, depth, how);
    s->overflow = 0;
    stack_settle(t);
}

void stack_close_to(struct calltree *t, uint32_t depth)
{
    frames_end(t, depth, CALLTREE_LEFT_CLOSED);
}

void stack_return_to(struct calltree *t, uint32_t depth)
{
    frames_end(t, depth, CALLTREE_LEFT_RETURN);
}

/* ---- contexts the target names itself ---- */

/* Has the running function loaded its stack pointer? A program's first code does so, before it
 * becomes a task with a stack of its own. */
static bool moves_its_stack(const struct calltree *t, const struct event *e, bool starts)
{
    return !starts && t->cur->context == 0 && t->node != CALLTREE_NONE && e->flags & EVENT_HAS_PC &&
           node_contains(&t->nodes[t->node], e->pc);
}

/* Did this stack belong to the task already, before its context was known? */
static bool was_this_task(const struct calltree *t, const struct event *e)
{
    return t->cur->context == 0 && t->cur->has_sp && task_holds(t, e->context, t->cur->last_sp);
}

static void choose_context(struct calltree *t, const struct event *e, bool starts)
{
    for (uint32_t i = 0; i < t->nstacks; i++)
        if (t->stacks[i].depth && t->stacks[i].context == e->context) {
            stack_switch_to(t, &t->stacks[i]);
            return;
        }
    if (t->cur->depth == 0 || moves_its_stack(t, e, starts) || was_this_task(t, e)) {
        t->cur->context = e->context;
        task_assign_stack(t);
    } else {
        stack_new(t, e->context);
    }
    task_ends_others(t, e->context);
}

bool stack_switched_unseen(const struct calltree *t, const struct event *e)
{
    bool known = t->cur->depth && e->flags & EVENT_HAS_PC;
    return known && !node_contains(&t->nodes[t->node], e->pc) && !was_this_task(t, e);
}

/* A context not seen before begins where its first event is; if that is what started the task,
 * where it leads. */
bool stack_context(struct calltree *t, const struct event *e, bool led)
{
    bool starts =
        led && (e->kind == EVENT_RETURN || e->kind == EVENT_RTE) && e->flags & EVENT_HAS_TARGET;
    choose_context(t, e, starts);
    if (t->cur->depth) {
        stack_settle(t);
        return false;
    }
    if (t->node == CALLTREE_NONE || t->gap)
        return false;
    uint64_t pc = event_pc(e);
    stack_open_root(t, starts ? e->target : pc, e, false);
    struct calltree_node *n = &t->nodes[t->node];
    n->hits +=
        !starts ||
        n->low == e->target; /* else the program was inside of it already when profiling began */
    if (!starts)             /* how it began was not seen: as stack_place() */
        node_doubt(n);
    return starts;
}

/* ---- blocks ---- */

void stack_in_block(struct calltree *t, uint64_t addr)
{
    struct stack *s = t->cur;
    struct calltree_range r;
    if (!s->depth || s->overflow || t->node != stack_top(t)->node)
        return;
    const struct calltree_node *n = &t->nodes[t->node];
    if (n->low == n->high || !tree_same_function(t, t->node, addr))
        return;
    uint32_t node = tree_around(t, t->node);
    bool inside = t->cfg.block(t->cfg.resolve_ctx, addr, &r);
    uint32_t block = CALLTREE_NONE;
    if (inside)
        block = tree_block(t, node, &r);
    if (inside && block == CALLTREE_NONE)
        node_doubt(&t->nodes[node]); /* no room: it has what is the block's */
    else if (inside)
        node = block;
    t->nodes[node].hits += node != t->node && inside && block != CALLTREE_NONE;
    stack_top(t)->node = t->node = node;
}

/* ---- calls ---- */

/* A call into the middle of its own function is a local subroutine, or the way to learn PC: it
 * stays part of the function. Without symbols, a call to its own return address is one, too. */
static bool local_call(const struct calltree_node *n, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_TARGET))
        return false;
    if (n->low == n->high)
        return call_for_address(e);
    return node_contains(n, e->target) && e->target != n->low;
}

void stack_call(struct calltree *t, const struct event *e)
{
    t->last_pc = event_pc(e);
    stack_note_sp(t->cur, e);
    if (local_call(&t->nodes[t->node], e))
        return;
    uint32_t node = tree_child(t, t->node, event_target(e));
    t->nodes[node].hits++;
    struct frame *f = stack_push(t, node, FRAME_CALL);
    if (f)
        frame_entered(f, t->last_pc, e);
}

void stack_tail_call(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t first = stack_call_below(s, s->depth - 1);
    t->stats.tail_calls++;
    /* State machines jump in circles: a function that is in the chain already is returned to. */
    for (uint32_t i = s->depth; i-- > first;)
        if (s->frames[i].kind != FRAME_HANDLER &&
            tree_same_function(t, s->frames[i].node, e->target)) {
            stack_return_to(t, i + 1);
            t->nodes[tree_around(t, t->node)].hits++;
            if (t->watched)
                watch_again(t);
            return;
        }
    uint32_t node = tree_child(t, t->node, e->target);
    t->nodes[node].hits++;
    struct frame *f = stack_push(t, node, FRAME_TAIL);
    if (f && s->frames[first].kind == FRAME_CALL) {
        f->sp = s->frames[first].sp;
        f->has_sp = s->frames[first].has_sp;
        f->exact = s->frames[first].exact;
    }
}

void stack_jump(struct calltree *t, const struct event *e)
{
    t->last_pc = event_pc(e);
    stack_note_sp(t->cur, e);
    struct calltree_range r;
    if (!(e->flags & EVENT_HAS_TARGET) || t->cur->overflow ||
        tree_same_function(t, t->node, e->target))
        return;
    if (!t->cfg.resolve || !t->cfg.resolve(t->cfg.resolve_ctx, e->target, &r))
        return; /* without symbols a tail call and the jump of a switch table look alike */
    if (r.low == e->target) {
        stack_tail_call(t, e);
        return;
    }
    if (stack_return_fast(t, e))
        return;
    long i = stack_frame_of(t, e->target, t->cur->depth - 1, e);
    if (i < 0) {
        stack_tail_call(t, e);
        return;
    }
    t->stats.unwinds++;
    stack_close_to(t, (uint32_t)i + 1);
}
