/* Handlers that end without an event: an RTE leads to another task than the one that was
 * interrupted, and no handler was open there. */
#include "profiler/core/calltree_stack.h"

/* code so far behind a handler's first instruction is taken for its own, if nothing says otherwise
 */
enum { HANDLER_CODE = 4096 };

/* The task that stands in a handler, at its frame `handler`, goes on with stack pointer sp: how far
 * is that from where it was? UINT32_MAX: too far. */
static uint32_t frame_distance(const struct stack *s, uint32_t handler, uint32_t sp)
{
    const struct frame *f = &s->frames[handler];
    if (!f->exact || (int32_t)(sp - s->high) > 0 || (int32_t)(f->sp - sp) > SP_POPPED_LATE)
        return UINT32_MAX;
    if (sp > f->sp)
        return sp - f->sp;
    return f->sp - sp;
}

/* The task that was left in a handler and goes on with the event's stack pointer; NULL: one that
 * was never seen. */
static struct stack *task_that_goes_on(struct calltree *t, const struct event *e)
{
    uint32_t best = UINT32_MAX, handler;
    struct stack *found = NULL;
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        bool mine = s == t->cur || stack_other_task(t, s);
        if (!mine || !(handler = stack_innermost_handler(s)))
            continue;
        uint32_t d = frame_distance(s, handler, e->sp);
        if (d < best || (d == best && d != UINT32_MAX && s == t->cur)) {
            best = d;
            found = s;
        }
    }
    return found;
}

static void task_goes_on(struct calltree *t, const struct event *e)
{
    struct stack *s = task_that_goes_on(t, e);
    t->stats.inferred++;
    if (s) {
        if (s != t->cur)
            stack_switch_to(t, s);
        stack_close_to(t, stack_innermost_handler(s));
    } else {
        stack_new(t, e->context);
        stack_new_root(t, e->pc, e);
    }
}

/* What returns now ran since some handler ended: its frame on s, and those that it has jumped to.
 */
static void doubt_returning(struct calltree *t, const struct stack *s, const struct event *e)
{
    for (uint32_t i = s->depth; i-- > 1;) {
        const struct frame *f = &s->frames[i];
        if (f->kind != FRAME_CALL || !frame_address_fits(f, e->target) || !frame_sp_proves(f, e))
            continue;
        node_doubt(&t->nodes[f->node]);
        for (uint32_t k = i + 1; k < s->depth && s->frames[k].kind == FRAME_TAIL; k++)
            node_doubt(&t->nodes[s->frames[k].node]);
        return;
    }
}

/* A handler is on top, and the event does not come from deeper in its stack. */
static bool stands_in_handler(const struct calltree *t, const struct event *e)
{
    const struct frame *f = stack_top(t);
    return f->kind == FRAME_HANDLER && f->exact && sp_exact(e) &&
           f->sp - e->sp - 1 >= SP_POPPED_LATE;
}

bool stack_handler_judged(struct calltree *t, const struct event *e)
{
    const struct frame *f = stack_top(t);
    if (!stands_in_handler(t, e))
        return true;
    node_doubt(&t->nodes[f->node]);
    if (e->pc - t->nodes[tree_around(t, f->node)].addr < HANDLER_CODE && !stack_claimed(t, e->sp))
        return false; /* on a stack of its own, perhaps */
    t->stats.blind_events++;
    t->stats.blind_c1 += t->step1;
    if (e->kind == EVENT_RETURN) { /* whose call it was tells more */
        for (uint32_t k = 0; k < t->nstacks && e->flags & EVENT_HAS_TARGET; k++)
            if (&t->stacks[k] == t->cur || stack_other_task(t, &t->stacks[k]))
                doubt_returning(t, &t->stacks[k], e);
        return false;
    }
    task_goes_on(t, e);
    while (stands_in_handler(t, e)) /* of several within each other */
        stack_close_to(t, t->cur->depth - 1);
    tree_doubt(t);
    return true;
}

/* Is there a handler that would go back to the event's place with its stack pointer? Then it has.
 */
static bool is_end_of(const struct calltree *t, const struct stack *s, const struct event *e)
{
    if (s->context != t->cur->context || s->overflow)
        return false;
    for (uint32_t i = s->depth; i-- > 1;)
        if (s->frames[i].kind == FRAME_HANDLER && s->frames[i].from == e->pc &&
            frame_sp_proves(&s->frames[i], e))
            return true;
    return false;
}

void stack_passed(struct calltree *t, const struct event *e)
{
    struct event rte = *e;
    rte.kind = EVENT_RTE;
    rte.flags = (e->flags & ~(uint32_t)EVENT_HAS_PC) | EVENT_HAS_TARGET;
    rte.target = e->pc;
    for (uint32_t k = 0; k < t->nstacks; k++)
        if (is_end_of(t, &t->stacks[k], e)) {
            stack_rte(t, &rte);
            return;
        }
}
