/* Returns: which call, on which stack, is over. The rules are in calltree_place.c. */
#include "profiler/core/calltree_stack.h"

/* ---- returns ---- */

static void pop_plain(struct calltree *t, uint32_t call)
{
    t->cur->depth = call;
    t->cur->overflow = 0;
    stack_settle(t);
}

__attribute__((noinline, cold)) static bool pop_watched(struct calltree *t, uint32_t call)
{
    watch_left(t, t->cur, call, CALLTREE_LEFT_RETURN);
    pop_plain(t, call);
    return true;
}

/* Always true: so that the rare half is called last, and the other needs no stack frame. */
static inline bool pop_call(struct calltree *t, uint32_t call)
{
    if (__builtin_expect(t->watched, 0))
        return pop_watched(t, call);
    pop_plain(t, call);
    return true;
}

/* Rule 0: back behind the innermost call. */
bool stack_return_fast(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t i = stack_call_below(s, s->depth - 1);
    const struct frame *f = &s->frames[i];
    if (f->kind != FRAME_CALL || !frame_address_fits(f, e->target) || !frame_sp_fits(f, e))
        return false;
    return pop_call(t, i);
}

/* Is it a return through this call? Without a target, the stack pointer must be known to say so. */
static bool call_fits(const struct frame *f, const struct event *e)
{
    bool there;
    if (e->flags & EVENT_HAS_TARGET)
        there = frame_address_fits(f, e->target);
    else
        there = frame_sp_known(f, e);
    return f->kind == FRAME_CALL && there && frame_sp_fits(f, e);
}

/* The innermost call below frame `below` that fits. */
static bool return_outer(struct calltree *t, const struct event *e, uint32_t below)
{
    struct stack *s = t->cur;
    for (uint32_t i = below; i-- > 1;) {
        if (!call_fits(&s->frames[i], e))
            continue;
        uint32_t task = 0;
        if (frame_sp_proves(&s->frames[i], e))
            task = stack_inferred_above(s, i);
        if (task)
            stack_set_aside(t, task - 1, s->last_sp);
        t->stats.unwinds++;
        stack_return_to(t, i);
        return true;
    }
    return false;
}

static bool return_elsewhere(struct calltree *t, const struct event *e)
{
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        if (!stack_other_task(t, s))
            continue;
        uint32_t i = stack_call_below(s, s->depth - 1);
        const struct frame *f = &s->frames[i];
        if ((!frame_sp_known(f, e) && e->flags & EVENT_HAS_SP) || !call_fits(f, e))
            continue;
        stack_switch_to(t, s);
        stack_note_sp(s, e);
        pop_call(t, i);
        return true;
    }
    return false;
}

/* Any call on another stack whose address and stack pointer are those of this return: tasks may be
 * left by calls that are not traced. Of several, one is of a task that is gone: the one that ran
 * last is taken. */
static bool return_proved(struct calltree *t, const struct event *e)
{
    struct stack *best = NULL;
    uint32_t call = 0, fit = 0;
    for (uint32_t k = 0; k < t->nstacks && sp_exact(e); k++) {
        struct stack *s = &t->stacks[k];
        if (!stack_other_task(t, s))
            continue;
        for (uint32_t i = s->depth; i-- > 1;)
            if (s->frames[i].kind == FRAME_CALL && frame_address_fits(&s->frames[i], e->target) &&
                frame_sp_proves(&s->frames[i], e)) {
                call = best && best->used > s->used ? call : i;
                best = best && best->used > s->used ? best : s;
                fit++;
                break;
            }
    }
    if (!best)
        return false;
    if (fit > 1)
        tree_doubt(t);
    stack_switch_to(t, best);
    stack_note_sp(best, e);
    stack_return_to(t, call);
    if (fit > 1)
        tree_doubt(t);
    return true;
}

/* Without stack pointers: the task was mistaken for another one that was left at the same place;
 * that one is still waiting there. */
static bool return_of_another(struct calltree *t, const struct event *e)
{
    for (uint32_t k = 0; k < t->nstacks && !(e->flags & EVENT_HAS_SP); k++) {
        struct stack *s = &t->stacks[k], *mistaken = t->cur;
        uint32_t i = stack_other_task(t, s) ? stack_innermost_handler(s) : 0,
                 call = i ? stack_call_below(s, i - 1) : 0;
        if (!i || !call_fits(&s->frames[call], e))
            continue;
        struct frame handler = s->frames[i];
        t->watching.found = true;
        struct frame *f = stack_push(t, handler.node, FRAME_HANDLER);
        t->watching.found = false;
        if (f)
            *f = handler;
        stack_switch_to(t, s);
        mistaken->used = 0; /* it is next */
        pop_call(t, call);
        return true;
    }
    return false;
}

static bool return_by_address(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t i = stack_call_below(s, s->depth - 1);
    const struct frame *f = &s->frames[i];
    if (f->kind != FRAME_CALL || !frame_address_fits(f, e->target) || stack_sp_far(s, e) ||
        (f->exact && sp_exact(e)))
        return false;
    pop_call(t, i);
    return true;
}

/* Calls beyond max_depth were only counted, so returns are, too, as long as they happen below the
 * top frame. */
bool stack_overflow_return(struct calltree *t, const struct event *e)
{
    if (!t->cur->overflow ||
        (frame_sp_known(stack_top(t), e) && (int32_t)(e->sp - stack_top(t)->sp) >= 0))
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
        if (!stack_other_task(t, s))
            continue;
        uint32_t i = stack_call_below(s, s->depth - 1);
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

/* A return that fits no call: the next event shows which function it went to, and that gets the
 * time until then. */
static void float_away(struct calltree *t, const struct event *e)
{
    t->stats.orphan_returns++;
    t->floating = true;
    if (stack_sp_far(t->cur, e) && t->cur->depth > 1)
        stack_new(t, e->context);
}

/* Frames entered with a stack pointer at or below the one now are gone: a longjmp. */
static void drop_dead(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t depth = s->depth;
    while (depth > 1 &&
           (!s->frames[depth - 1].has_sp || (int32_t)(e->sp - s->frames[depth - 1].sp) >= 0))
        depth--;
    t->stats.orphan_returns++;
    t->stats.unwinds++;
    stack_close_to(t, depth);
    tree_doubt(t);
}

static void return_blind(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur, *other;
    uint32_t i = stack_call_below(s, s->depth - 1), call = 0;
    const struct frame *f = &s->frames[i];
    if (f->kind == FRAME_CALL && (!frame_sp_known(f, e) || frame_sp_fits(f, e))) {
        pop_call(t, i);
    } else if (!(e->flags & EVENT_HAS_SP)) {
        float_away(t, e);
    } else if (stack_top(t)->inferred) {
        /* it was called by an instruction that is not traced */
        stack_drop(t, s, s->depth - 1, CALLTREE_LEFT_CLOSED);
        stack_settle(t);
    } else if (return_outer(t, e, i)) {
        return;
    } else if ((other = stack_by_sp(t, e, &call))) {
        stack_switch_to(t, other);
        pop_call(t, call);
    } else if (i == 0 || stack_sp_far(s, e)) {
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
    struct stack *other = NULL;
    if (known)
        other = stack_of(t, e->pc, e);
    if (t->cur->depth == 0 && other) {
        stack_switch_to(t, other);
        stack_settle(t);
        return;
    }
    bool fresh = t->cur->depth == 0;
    stack_new_root(t, known ? e->pc : 0, e);
    /* a task never seen runs this function, so it was entered: as where an entry is inferred */
    if (fresh && known) {
        t->nodes[t->node].hits++;
        node_doubt(&t->nodes[t->node]);
    }
}

void stack_return(struct calltree *t, const struct event *e)
{
    t->last_pc = event_pc(e);
    if (!(e->flags & EVENT_HAS_TARGET)) {
        if (!stack_overflow_return(t, e))
            return_blind(t, e);
        stack_note_sp(t->cur, e);
        return;
    }
    if (__builtin_expect(t->cur->overflow, 0) && stack_overflow_return(t, e))
        return;
    if (__builtin_expect(stack_return_fast(t, e), 1)) {
        stack_note_sp(t->cur, e);
        return;
    }
    if (!return_outer(t, e, t->cur->depth) && !return_proved(t, e) && !return_elsewhere(t, e) &&
        !return_of_another(t, e) && !return_by_address(t, e)) {
        bool local = !sp_exact(e) && node_contains(&t->nodes[t->node], e->target) &&
                     stack_sp_inside(t->cur, t->cur->depth - 1, e, false);
        if (!local) {
            t->stats.orphan_returns++;
            stack_arrive(t, e->target, e);
        }
    }
    stack_note_sp(t->cur, e);
}
