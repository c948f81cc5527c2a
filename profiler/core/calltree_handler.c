/* Interrupts and exceptions: what they interrupt, and which of them an RTE ends. */
#include "profiler/core/calltree_stack.h"

/* ---- interrupts and exceptions ---- */

void stack_handler(struct calltree *t, const struct event *e)
{
    enum calltree_kind kind = e->kind == EVENT_INTERRUPT ? CALLTREE_INTERRUPT : CALLTREE_EXCEPTION;
    uint32_t node = tree_root(t, kind, event_target(e));
    struct calltree_node *n = &t->nodes[node];
    if (n->hits == 0)
        n->vector = e->vector;
    n->hits++;
    stack_note_sp(t->cur, e);
    if (e->flags & EVENT_UNTRACED_RTE) {
        node_doubt(n);
        tree_doubt(t);
    }
    struct frame *f = stack_push(t, node, FRAME_HANDLER);
    if (!f)
        return;
    frame_entered(f, event_pc(e), e);
    f->untraced = (e->flags & EVENT_UNTRACED_RTE) != 0;
    f->pending = e->flags & EVENT_HAS_PC && stack_at_last_site(t, e);
    f->c1 = t->c1;
    uint32_t open = 0;
    for (uint32_t i = 0; i < t->cur->depth; i++)
        open += t->cur->frames[i].kind == FRAME_HANDLER;
    if (open > t->stats.nesting)
        t->stats.nesting = open;
    t->cur->untraced |= f->untraced;
    t->last_pc = 0;
}

/* Handler i is over. A branch that was interrupted behind its event is still to be done, and may be
 * interrupted again. */
static void resume_below(struct calltree *t, uint32_t i)
{
    const struct frame *f = &t->cur->frames[i];
    t->last_pc = 0;
    if (f->pending)
        t->last_pc = f->from;
    stack_return_to(t, i);
}

static bool rte_to(struct calltree *t, const struct event *e, bool need_sp)
{
    struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 1;) {
        const struct frame *f = &s->frames[i];
        if (f->kind != FRAME_HANDLER || f->from != e->target ||
            ((need_sp || sp_exact(e)) && !frame_sp_fits(f, e)))
            continue;
        uint32_t inner = stack_innermost_handler(s);
        if (inner > i && s->frames[inner].exact) /* it has not ended */
            stack_set_aside(t, i, s->frames[inner].sp);
        resume_below(t, i);
        return true;
    }
    return false;
}

static bool rte_elsewhere(struct calltree *t, const struct event *e, bool need_sp)
{
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        if (!stack_other_task(t, s))
            continue;
        for (uint32_t i = s->depth; i-- > 1;) {
            const struct frame *f = &s->frames[i];
            if (f->kind != FRAME_HANDLER)
                continue;
            if (f->from == e->target &&
                ((!need_sp && !sp_exact(e)) || (frame_sp_known(f, e) && frame_sp_fits(f, e)))) {
                stack_switch_to(t, s);
                resume_below(t, i);
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
        if (s->frames[i].exact && sp_exact(e) && !frame_sp_proves(&s->frames[i], e))
            return false;
        bool same =
            !stack_sp_far(s, e) && (tree_same_function(t, s->frames[i - 1].node, e->target) ||
                                    e->target - s->frames[i].from <= SLOT_BYTES);
        if (!frame_sp_fits(&s->frames[i], e) && !same)
            return false;
        stack_return_to(t, i);
        if (!same)
            stack_arrive(t, e->target, e);
        return true;
    }
    return false;
}

/* Was this frame's handler entered where it would go back to target? Of interrupts only the
 * function may be known. */
static bool goes_back_to(const struct calltree *t, const struct stack *s, uint32_t handler,
                         uint64_t target)
{
    const struct frame *f = &s->frames[handler];
    if (f->from)
        return target - f->from <= SLOT_BYTES;
    return tree_same_function(t, s->frames[handler - 1].node, target);
}

static struct stack *left_standing_at(struct calltree *t, uint64_t target)
{
    struct stack *best = NULL;
    for (uint32_t k = 0; k < t->nstacks; k++) {
        struct stack *s = &t->stacks[k];
        uint32_t i = 0;
        if (stack_other_task(t, s))
            i = stack_innermost_handler(s);
        if (i && goes_back_to(t, s, i, target) && (!best || s->used < best->used))
            best = s;
    }
    return best;
}

/* Without stack pointers: the handler ends in another task than it began in. */
static bool rte_task(struct calltree *t, const struct event *e)
{
    struct calltree_range r;
    uint32_t i = e->flags & EVENT_HAS_SP ? 0 : stack_innermost_handler(t->cur);
    if (!i || (t->cur->frames[i].from && goes_back_to(t, t->cur, i, e->target)))
        return false;
    struct stack *s = left_standing_at(t, e->target);
    if (s) {
        stack_switch_to(t, s);
        stack_return_to(t, stack_innermost_handler(s));
        return true;
    }
    bool begins =
        t->cfg.resolve && t->cfg.resolve(t->cfg.resolve_ctx, e->target, &r) && r.low == e->target;
    if (!begins && (goes_back_to(t, t->cur, i, e->target) ||
                    stack_frame_of(t, e->target, t->cur->depth, e) >= 0))
        return false;
    stack_begin_task(t, e->target, e);
    return true;
}

/* The innermost handler ends here, unless this RTE turns out to be another's. */
static void note_duration(struct calltree *t)
{
    const struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 1;)
        if (s->frames[i].kind == FRAME_HANDLER) {
            struct calltree_node *n = &t->nodes[tree_around(t, s->frames[i].node)];
            uint64_t d = t->c1 - s->frames[i].c1;
            if (s->frames[i].uncounted)
                return;
            if (d > n->longest)
                n->longest = d;
            if (d < n->shortest)
                n->shortest = d;
            return;
        }
}

struct calltree_unfinished stack_unfinished(const struct calltree *t)
{
    const struct stack *s = t->cur;
    for (uint32_t i = s->depth; i-- > 0;) {
        const struct frame *f = &s->frames[i];
        const struct calltree_node *n = &t->nodes[tree_around(t, f->node)];
        /* an interrupt may strike a program that is lost already */
        if (f->kind != FRAME_HANDLER || n->kind != CALLTREE_EXCEPTION)
            continue;
        /* it has before, after as long: it is under way */
        bool returns = n->shortest != UINT64_MAX && t->c1 - f->c1 <= 2 * n->longest;
        return (struct calltree_unfinished){
            .is = !returns, .vector = n->vector, .pc = f->from, .c1 = t->c1 - f->c1
        };
    }
    return (struct calltree_unfinished){ 0 };
}

void stack_rte(struct calltree *t, const struct event *e)
{
    t->last_pc = 0;
    if (stack_overflow_return(t, e))
        return;
    if (t->has_c1 && !t->gap)
        note_duration(t);
    if (!(e->flags & EVENT_HAS_TARGET)) {
        for (uint32_t i = t->cur->depth; i-- > 1;)
            if (t->cur->frames[i].kind == FRAME_HANDLER) {
                stack_return_to(t, i);
                return;
            }
        return;
    }
    if (!rte_to(t, e, true) && !rte_elsewhere(t, e, true) && !rte_task(t, e) &&
        !rte_to(t, e, false) && !rte_elsewhere(t, e, false) && !rte_moved(t, e))
        stack_arrive(t, e->target, e);
    stack_note_sp(t->cur, e);
}
