/* The rules by which events that do not fit are reconciled, and the evidence for them.
 *
 * Where the target says what the program goes on with to the byte (EVENT_SP_EXACT, SH-4), that
 * decides and distance does not:
 *   - a return is through the call, on whatever stack, whose instruction lies before its target and
 * which had the same stack pointer; an RTE ends the handler, on whatever stack, that struck at its
 * target with the same stack pointer;
 *   - no call so: it goes to the activation of the target's function that was last seen with that
 * stack pointer (longjmp, a switch by code that is not traced), else to one on whose stack it lies
 * (doubtful); at a function's first instruction a task begins, and what was on its memory before is
 *     gone, or, with the stack pointer of the call that is returned from, the function is jumped
 * to;
 *   - an event in another function than the one on top, or with more stack than that was entered
 * with, is placed by the same evidence. Without any it was entered from here without an event, if
 * the stack pointer is a little below, or is a task never seen; doubtful either way. If what
 * seemed to be entered turns out not to have returned, it is kept as a task. - without symbols, a
 * frame is known to be gone by a stack pointer above that of its entry, a call made with as much (a
 * function that calls has saved where it returns to), a handler's stack pointer in another task
 * (calltree_left.c); doubtful. Elsewhere:
 *
 * A return fits if it goes a few bytes behind the call instruction of the innermost open call, with
 * a stack pointer near the one at the call. What does not fit is tried, in this order, as 1. a
 * return to an outer call of this stack (longjmp, returns without an event): inner frames close; 2.
 * a return to the innermost call of another stack: the task was switched; 3. the innermost call's
 * address with an unlikely stack pointer; 4. arriving in a function that has an open frame here,
 * stack pointer permitting: inner frames close; 5. arriving in the function on top of another
 * stack: the task was switched; 6. leaving the function in which profiling began: its caller
 * becomes the root; 7. a stack never seen: a new one, so that the old one is whole when its task
 * goes on. A return whose target is not known is judged by its stack pointer alone, in the same
 * order; if it fits none, the next event shows where it went. On a stack never seen that function
 * has one hit, a doubtful one: its entry was not seen, but it runs. Targets that do not know the
 * stack pointer (S12Z) are followed by addresses alone: a handler that ends elsewhere than where it
 * began leaves its stack standing in it, and goes on with one that stands in a handler and was
 * interrupted there: its own if it fits, else of several the one left longest ago. Should that have
 * been the wrong one, the next return shows it, and the two change places. Stack pointers grow
 * down; only differences are used, in 32-bit arithmetic. */
#include "profiler/core/calltree_stack.h"

/* ---- does it fit? ---- */

bool stack_sp_far(const struct stack *s, const struct event *e)
{
    if (!s->has_sp || !(e->flags & EVENT_HAS_SP))
        return false;
    int32_t d = (int32_t)(e->sp - s->last_sp);
    return d > SP_SAME_STACK || d < -SP_SAME_STACK;
}

/* Can sp be one seen inside frame i, with the frames above it gone? A function that is returned to
 * has made a call, so it has at least its own return address on the stack: then sp is below what it
 * was on entry. That tells apart the activations of a recursive function. here: the event is in the
 * function, it does not lead there. */
bool stack_sp_inside(const struct stack *s, uint32_t i, const struct event *e, bool here)
{
    const struct frame *f = &s->frames[i];
    int32_t most = SP_PUSHED_EARLY;
    if (e->kind == EVENT_RETURN && !here)
        most = -1;
    bool entry_known = f->kind != FRAME_ROOT && frame_sp_known(f, e);
    if (entry_known ? (int32_t)(e->sp - f->sp) > most : stack_sp_far(s, e))
        return false;
    if (i + 1 == s->depth)
        return !stack_sp_far(s, e);
    const struct frame *above = &s->frames[i + 1];
    if (!frame_sp_known(above, e) || above->untraced)
        return true;
    return (int32_t)(e->sp - above->sp) >= -SP_POPPED_LATE;
}

/* Innermost frame in [0, below) that runs the function of addr; -1 if none. */
long stack_frame_of(const struct calltree *t, uint64_t addr, uint32_t below, const struct event *e)
{
    const struct stack *s = t->cur;
    for (long i = (long)below - 1; i >= 0; i--)
        if (tree_same_function(t, s->frames[i].node, addr) &&
            stack_sp_inside(s, (uint32_t)i, e, addr == e->pc))
            return i;
    return -1;
}

/* Another stack whose top function holds addr and whose stack pointer was near. */
struct stack *stack_of(const struct calltree *t, uint64_t addr, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_SP))
        return NULL;
    for (uint32_t i = 0; i < t->nstacks; i++) {
        struct stack *s = &t->stacks[i];
        if (s == t->cur || !s->depth || !s->has_sp || s->overflow || s->context != t->cur->context)
            continue;
        int32_t d = (int32_t)(e->sp - s->last_sp);
        if (d <= SP_POPPED_LATE && d >= -SP_POPPED_LATE &&
            stack_sp_inside(s, s->depth - 1, e, addr == e->pc) &&
            tree_same_function(t, s->frames[s->depth - 1].node, addr))
            return s;
    }
    return NULL;
}

/* ---- evidence: in which activation of its function is the program? ---- */

enum grade { NOT_THIS, POSSIBLE, WITHIN, PROVED };
struct place {
    struct stack *s;
    uint32_t frame;
    enum grade grade;
};

/* What the function in frame i had as its stack pointer when it was last seen: at its call, when it
 * was interrupted. */
static bool body_sp(const struct stack *s, uint32_t i, uint32_t *sp)
{
    if (i + 1 == s->depth) {
        *sp = s->last_sp;
        return s->has_sp;
    }
    const struct frame *above = &s->frames[i + 1];
    *sp = above->sp;
    return above->has_sp && above->kind != FRAME_TAIL;
}

static bool in_range(const struct stack *s, uint32_t sp)
{
    return s->has_sp && sp - s->low <= s->high - s->low;
}

/* Frame i, judged by the stack pointer that its function has now: that of the event if it is
 * `here`, else where the event leads to. */
static enum grade grade_frame(const struct stack *s, uint32_t i, const struct event *e, bool here)
{
    uint32_t sp = here ? e->sp : sp_after(e);
    const struct frame *f = &s->frames[i];
    bool entered = f->has_sp && (f->kind == FRAME_CALL || f->kind == FRAME_TAIL);
    uint32_t body;
    if (entered && (int32_t)(sp - f->sp) > (f->exact ? 0 : SP_PUSHED_EARLY))
        return NOT_THIS;
    if (entered && here && e->kind == EVENT_RETURN && frame_sp_proves(f, e))
        return PROVED; /* it stands at its own return */
    if (entered && !here && sp == f->sp)
        return POSSIBLE; /* it is returned to, so it has its own return address on the stack, or in
                            a register */
    if (body_sp(s, i, &body) && body == sp)
        return PROVED;
    if (in_range(s, sp))
        return WITHIN;
    return POSSIBLE;
}

static void consider_frame(const struct calltree *t, struct stack *s, uint32_t i, uint64_t addr,
                           const struct event *e, struct place *best)
{
    enum grade g = grade_frame(s, i, e, addr == e->pc);
    if (s == t->cur ? g == NOT_THIS : g < WITHIN)
        return;
    bool better =
        g > best->grade || (g == best->grade && best->s != t->cur && s->used > best->s->used);
    if (better && tree_same_function(t, s->frames[i].node, addr))
        *best = (struct place){ s, i, g };
}

static bool can_hold(const struct calltree *t, const struct stack *s)
{
    return s->depth && s->has_sp && !s->overflow && s->context == t->cur->context;
}

/* The activation of addr's function, e's own place or where it leads to, that agrees best with the
 * stack pointer: of this stack's frames below `below`, innermost first, else of another stack's.
 * grade NOT_THIS: none. */
static struct place find_place(const struct calltree *t, uint64_t addr, uint32_t below,
                               const struct event *e)
{
    struct place best = { .s = t->cur, .grade = NOT_THIS };
    for (uint32_t i = below; i-- > 0;)
        consider_frame(t, t->cur, i, addr, e, &best);
    for (uint32_t k = 0; k < t->nstacks && best.grade < PROVED; k++)
        if (&t->stacks[k] != t->cur && can_hold(t, &t->stacks[k]))
            for (uint32_t i = t->stacks[k].depth; i-- > 0;)
                consider_frame(t, &t->stacks[k], i, addr, e, &best);
    return best;
}

/* Another stack of the same context in which something was called or interrupted. */
bool stack_other_task(const struct calltree *t, const struct stack *s)
{
    return s != t->cur && s->depth >= 2 && !s->overflow && s->context == t->cur->context;
}

/* The handler that a task left standing is in; 0: none. */
uint32_t stack_innermost_handler(const struct stack *s)
{
    for (uint32_t i = s->depth; i-- > 1;)
        if (s->frames[i].kind == FRAME_HANDLER)
            return i;
    return 0;
}

/* ---- arriving somewhere without a matching frame ---- */

void stack_new_root(struct calltree *t, uint64_t addr, const struct event *e)
{
    stack_open_root(t, addr, e, false);
}

/* The function that the first function of a stack returned to. Without symbols, this place is its
 * only name. */
static void caller_root(struct calltree *t, uint64_t addr, const struct event *e)
{
    stack_drop(t, t->cur, 0, CALLTREE_LEFT_RETURN);
    stack_new_root(t, addr, e);
    if (t->nodes[t->node].low == t->nodes[t->node].high)
        tree_doubt(t);
}

static void doubt_all(struct calltree *t, const struct stack *s)
{
    for (uint32_t i = 0; i < s->depth; i++)
        node_doubt(&t->nodes[s->frames[i].node]);
}

/* A function entered at its first instruction was called: a task begins. In the middle of a
 * function, on a stack never seen, that is a guess; so it is without symbols, where no function's
 * beginning is known. */
void stack_begin_task(struct calltree *t, uint64_t addr, const struct event *e)
{
    struct calltree_range r;
    bool nameless = !t->cfg.resolve || !t->cfg.resolve(t->cfg.resolve_ctx, addr, &r);
    if (nameless && sp_exact(e) && in_range(t->cur, sp_after(e)))
        doubt_all(t, t->cur); /* it may be one of them under another name */
    stack_new(t, e->context);
    t->watching.begins = nameless || r.low == addr;
    stack_new_root(t, addr, e);
    const struct calltree_node *n = &t->nodes[t->node];
    if (n->addr == addr)
        t->nodes[t->node].hits++;
    if (n->addr != addr || n->low == n->high)
        tree_doubt(t);
}

/* A task begins with stack pointer sp: what was on the same stack before it is gone. */
static void forget_overwritten(struct calltree *t, uint32_t sp)
{
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        if (s != t->cur && can_hold(t, s) && s->low <= sp &&
            s->high - sp + SAME_TOP <= 2 * SAME_TOP)
            stack_drop(t, s, 0, CALLTREE_LEFT_FORGOTTEN);
    }
}

bool stack_claimed(const struct calltree *t, uint32_t sp)
{
    for (uint32_t k = 0; k < t->nstacks; k++)
        if (&t->stacks[k] != t->cur && can_hold(t, &t->stacks[k]) && in_range(&t->stacks[k], sp))
            return true;
    return false;
}

/* At a function's first instruction: jumped to by a return, or a task that begins. */
static void arrive_at_start(struct calltree *t, uint64_t addr, const struct event *e)
{
    if (e->kind == EVENT_RETURN &&
        frame_sp_proves(&t->cur->frames[stack_call_below(t->cur, t->cur->depth - 1)], e)) {
        stack_tail_call(t, e);
        return;
    }
    forget_overwritten(t, sp_after(e));
    stack_begin_task(t, addr, e);
}

/* With the stack pointer known to the byte. */
static void arrive_exact(struct calltree *t, uint64_t addr, const struct event *e)
{
    struct stack *s = t->cur;
    struct calltree_range r;
    struct place p = find_place(t, addr, s->depth, e);
    if (t->cfg.resolve && t->cfg.resolve(t->cfg.resolve_ctx, addr, &r) && r.low == addr) {
        arrive_at_start(t, addr, e);
    } else if (p.grade != NOT_THIS && p.s == s && p.frame + 1 == s->depth &&
               (p.grade > POSSIBLE || !stack_claimed(t, sp_after(e)))) {
        stack_settle(t); /* back from a subroutine of its own */
    } else if (p.grade == PROVED || p.grade == WITHIN) {
        t->stats.unwinds += p.s == s && p.frame + 1 < s->depth;
        if (p.s != s)
            stack_switch_to(t, p.s);
        stack_close_to(t, p.frame + 1);
        if (p.grade != PROVED)
            tree_doubt(t);
    } else if (s->depth == 1 && (int32_t)(sp_after(e) - s->high) >= 0 && !stack_sp_far(s, e) &&
               !stack_claimed(t, sp_after(e))) {
        caller_root(t, addr, e);
    } else {
        stack_begin_task(t, addr, e);
    }
}

void stack_arrive(struct calltree *t, uint64_t addr, const struct event *e)
{
    struct stack *s = t->cur, *other;
    if (sp_exact(e) && !s->overflow) {
        arrive_exact(t, addr, e);
        return;
    }
    long i = -1;
    if (!s->overflow)
        i = stack_frame_of(t, addr, s->depth, e);
    if (i >= 0) {
        t->stats.unwinds += (uint32_t)i + 1 < s->depth;
        stack_close_to(t, (uint32_t)i + 1);
        return;
    }
    other = stack_of(t, addr, e);
    if (other) {
        stack_switch_to(t, other);
        stack_settle(t);
        return;
    }
    if (s->depth == 1 && !stack_sp_far(s, e)) {
        caller_root(t, addr, e);
        return;
    }
    stack_begin_task(t, addr, e);
}

/* ---- the place of an event against the frame on top ---- */

/* A function was entered without an event: it stands where a jumped-to function would. */
static void infer_entry(struct calltree *t, const struct event *e)
{
    tree_doubt(t);
    uint32_t node = tree_child(t, t->node, e->pc);
    t->stats.inferred++;
    t->watching.found = true;
    struct frame *f = stack_push(t, node, FRAME_TAIL);
    t->watching.found = false;
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
            stack_close_to(t, i);
            tree_doubt(t);
            return true;
        }
    }
    s->untraced = any;
    return false;
}

/* Can what runs now have been entered from frame i, whose inner ones are gone? Not with a stack
 * pointer above it, nor far below. */
static bool entered_from(const struct stack *s, uint32_t i, const struct event *e)
{
    const struct frame *f = &s->frames[i];
    if (!sp_exact(e) || !s->has_sp)
        return !stack_sp_far(s, e);
    if (i == 0 && !f->exact)
        return e->sp - (s->low - SP_POPPED_LATE) <= s->high - s->low + SP_POPPED_LATE;
    return !f->exact || f->sp - e->sp <= SP_POPPED_LATE;
}

/* No known activation fits: the function was entered from here without an event, or belongs to a
 * task never seen. */
static void enter_unseen(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t depth = s->depth;
    while (depth > 1 && frame_left(&s->frames[depth - 1], e))
        depth--;
    if (entered_from(s, depth - 1, e)) {
        stack_close_to(t, depth);
        if (!tree_same_function(t, t->node, e->pc))
            infer_entry(t, e);
        return;
    }
    tree_doubt(t);
    stack_new(t, e->context);
    stack_new_root(t, e->pc, e);
    t->nodes[t->node].hits++;
    tree_doubt(t);
    t->stats.inferred++;
}

/* What is above frame `below` seems not to have returned: perhaps it is a task of its own, begun
 * without an event. It is kept as one: should it be gone, nothing will be found to belong to it. */
void stack_set_aside(struct calltree *t, uint32_t below, uint32_t last_sp)
{
    struct stack *from = t->cur;
    if (below + 1 >= from->depth || from->overflow || from->untraced)
        return;
    stack_new(t, from->context);
    struct stack *to = t->cur;
    if (to == from)
        return;
    while (to->cap < from->depth - below - 1 && stack_grow(t, to))
        ;
    for (uint32_t i = below + 1; i < from->depth && to->depth < to->cap; i++) {
        if (t->watched)
            watch_moved(from, i, to, to->depth);
        to->frames[to->depth++] = from->frames[i];
    }
    to->last_sp = to->low = to->high = last_sp;
    to->has_sp = true;
    stack_switch_to(t, from);
    doubt_all(t, to);
}

/* The outermost frame above `below` that was entered without an event; 0: none. */
uint32_t stack_inferred_above(const struct stack *s, uint32_t below)
{
    for (uint32_t i = below + 1; i < s->depth; i++)
        if (s->frames[i].inferred)
            return i;
    return 0;
}

static void go_to(struct calltree *t, const struct place *p)
{
    struct stack *s = t->cur;
    uint32_t task = 0;
    if (p->s == s && p->grade == PROVED)
        task = stack_inferred_above(s, p->frame);
    t->stats.inferred++;
    tree_doubt(t);
    if (task)
        stack_set_aside(t, task - 1, s->last_sp);
    if (p->s != s)
        stack_switch_to(t, p->s);
    stack_close_to(t, p->frame + 1);
    node_doubt(&t->nodes[t->node]);
}

/* Without proof, by what agrees. */
static bool sync_loose(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur, *other = stack_sp_far(s, e) ? stack_of(t, e->pc, e) : NULL;
    if (other) {
        stack_switch_to(t, other);
        stack_settle(t);
        return true;
    }
    long i = stack_frame_of(t, e->pc, s->depth - 1, e);
    if (i >= 0)
        go_to(t, &(struct place){ s, (uint32_t)i, POSSIBLE });
    return i >= 0;
}

/* Of two functions without an end the one that addr is likelier in. */
static bool begins_nearer(const struct calltree *t, uint32_t node, uint32_t other, uint64_t addr)
{
    return addr - t->nodes[node].addr < addr - t->nodes[other].addr;
}

/* Does the frame seem to be left without an event? Or it keeps its return address in a register: a
 * function that makes calls has saved it on the stack. */
static bool frame_gone(const struct frame *f, const struct event *e)
{
    return e->kind == EVENT_CALL && f->kind == FRAME_CALL && f->exact && sp_exact(e) &&
           e->sp == f->sp && !call_for_address(e);
}

/* Frame i was called with the stack pointer that the event has, and this is its caller's: that lies
 * nearer, or i may be left without an event. */
static bool is_callers(const struct calltree *t, uint32_t i, const struct event *e)
{
    const struct frame *f = &t->cur->frames[i];
    return f->sp == e->sp &&
           (begins_nearer(t, f[-1].node, f->node, e->pc) || (f->blind && frame_gone(f, e)));
}

/* Without symbols the stack pointer alone shows that frames are gone: by a longjmp, or a return
 * that is not traced. */
static void drop_left(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    uint32_t depth = s->depth;
    while (depth > 1 && frame_left(&s->frames[depth - 1], e))
        depth--;
    if (depth == s->depth && !frame_gone(stack_top(t), e))
        return;
    while (depth > 1 && is_callers(t, depth - 1, e))
        depth--;
    tree_doubt(t);
    t->stats.unwinds++;
    stack_close_to(t, depth);
    tree_doubt(t);
}

void stack_sync(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    struct calltree_range r;
    if (s->overflow || !s->depth || stack_at_last_site(t, e))
        return;
    if (sync_handler_end(t, e))
        return;
    const struct calltree_node *n = &t->nodes[t->node];
    bool nobody = n->low == n->high, here = nobody || tree_same_function(t, t->node, e->pc);
    if (here && !frame_left(stack_top(t), e) &&
        !(nobody && (frame_gone(stack_top(t), e) || stack_top(t)->kind == FRAME_HANDLER)))
        return;
    if (!t->cfg.resolve || !t->cfg.resolve(t->cfg.resolve_ctx, e->pc, &r)) {
        if (stack_handler_judged(t, e))
            drop_left(t, e);
        return;
    }
    struct place p = { .grade = NOT_THIS };
    if (sp_exact(e))
        p = find_place(t, e->pc, s->depth - 1, e);
    if (p.grade == PROVED || (p.grade == WITHIN && (p.s == s || !in_range(s, e->sp))))
        go_to(t, &p);
    else if (!here && !sync_loose(t, e))
        enter_unseen(t, e);
}

void stack_relocate(struct calltree *t, const struct event *e)
{
    struct stack *s = t->cur;
    struct place p = { .grade = NOT_THIS };
    if (s->depth && sp_exact(e) && e->flags & EVENT_HAS_PC)
        p = find_place(t, e->pc, s->depth, e);
    if (p.grade == PROVED || (p.grade == WITHIN && p.s != s && !in_range(s, e->sp))) {
        go_to(t, &p);
        return;
    }
    while (s->depth > 1 && frame_sp_known(stack_top(t), e) &&
           (int32_t)(e->sp - stack_top(t)->sp) > 0)
        stack_drop(t, s, s->depth - 1, CALLTREE_LEFT_CLOSED);
    s->overflow = 0;
    long i = -1;
    if (s->depth && e->flags & EVENT_HAS_PC)
        i = stack_frame_of(t, e->pc, s->depth, e);
    if (i >= 0)
        stack_close_to(t, (uint32_t)i + 1);
    else if (e->flags & EVENT_HAS_PC || !s->depth)
        stack_new_root(t, event_pc(e), e);
    else
        stack_settle(t);
    tree_doubt(t);
}
