/* Stacks of the call tree: their frames, what calls and jumps do to them, contexts the target names
 * itself. */
#include "profiler/core/calltree_stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

/* Every stack has its first frames from the start, so that a root always finds a place. */
bool stack_grow(struct calltree *t, struct stack *s)
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
        if (!stack_grow(t, &t->stacks[i]))
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
        s = s ? s : t->cur;
        t->stats.stack_overflow++;
    }
    stack_empty(s, context);
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
    return f;
}

void stack_open_root(struct calltree *t, uint64_t pc, const struct event *e, bool hit)
{
    t->cur->depth = t->cur->overflow = 0;
    uint32_t node = task_root(t, pc, e);
    t->nodes[node].hits += hit;
    stack_push(t, node, FRAME_ROOT);
    stack_note_sp(t->cur, e);
}

/* Closing frames from the top down to `depth` of them. Handlers without RTE events close here, too.
 */
void stack_close_to(struct calltree *t, uint32_t depth)
{
    struct stack *s = t->cur;
    for (uint32_t i = depth; i < s->depth; i++)
        t->stats.untraced_rtes += s->frames[i].untraced;
    s->depth = depth;
    s->overflow = 0;
    stack_settle(t);
}

/* ---- contexts the target names itself ---- */

/* The function that runs has loaded its stack pointer: what begins a program does, before it is a
 * task with a stack of its own. */
static bool moves_its_stack(const struct calltree *t, const struct event *e, bool starts)
{
    return !starts && t->cur->context == 0 && t->node != CALLTREE_NONE && e->flags & EVENT_HAS_PC &&
           node_contains(&t->nodes[t->node], e->pc);
}

/* Nobody knew yet that there are tasks, and this one has begun to be one. */
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
        task_adopt(t);
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
    stack_open_root(t, starts ? e->target : e->flags & EVENT_HAS_PC ? e->pc : 0, e, false);
    struct calltree_node *n = &t->nodes[t->node];
    n->hits += !starts || n->low == e->target; /* else it was left in there before anyone looked */
    if (!starts)                               /* how it began was not seen: as stack_place() */
        node_doubt(n);
    return starts;
}

/* ---- calls ---- */

/* A call into the middle of its own function is a local subroutine, or the way to learn PC: it
 * stays part of the function. Where nobody knows the functions, one to where it would return to is
 * that, too. */
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
    t->last_pc = e->flags & EVENT_HAS_PC ? e->pc : 0;
    stack_note_sp(t->cur, e);
    if (local_call(&t->nodes[t->node], e))
        return;
    uint32_t node = tree_child(t, t->node, e->flags & EVENT_HAS_TARGET ? e->target : 0);
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
    /* State machines jump in circles: a function that is in the chain already is gone back to. */
    for (uint32_t i = s->depth; i-- > first;)
        if (s->frames[i].kind != FRAME_HANDLER &&
            tree_same_function(t, s->frames[i].node, e->target)) {
            stack_close_to(t, i + 1);
            t->nodes[t->node].hits++;
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
    t->last_pc = e->flags & EVENT_HAS_PC ? e->pc : 0;
    stack_note_sp(t->cur, e);
    struct calltree_range r;
    if (!(e->flags & EVENT_HAS_TARGET) || t->cur->overflow ||
        tree_same_function(t, t->node, e->target))
        return;
    if (!t->cfg.resolve || !t->cfg.resolve(t->cfg.resolve_ctx, e->target, &r))
        return; /* without symbols a jump cannot be told from a switch table */
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
