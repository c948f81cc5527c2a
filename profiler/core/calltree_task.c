/* Tasks that the target announced: each has a root of its own, whatever function it begins with. */
#include <stdlib.h>

#include "profiler/core/calltree_stack.h"
#include "probe/base/choice.h"
#include "targets/address.h"

enum { TASKS_FIRST = 16 };

static struct task_known *find_task(const struct calltree *t, uint32_t context)
{
    for (uint32_t i = 0; i < t->ntasks && context; i++)
        if (t->tasks[i].context == context)
            return &t->tasks[i];
    return NULL;
}

static bool grow_tasks(struct calltree *t)
{
    uint32_t cap = EITHER(2 * t->cap_tasks, TASKS_FIRST);
    struct task_known *more = NULL;
    if (t->cap_tasks < t->cfg.max_tasks)
        more = realloc(t->tasks, cap * sizeof *more);
    if (!more)
        return false;
    t->tasks = more;
    t->cap_tasks = cap;
    return true;
}

void task_take_event(struct calltree *t, const struct event *e)
{
    struct task_known *k = find_task(t, e->context);
    if (e->part || !e->context || (!k && t->ntasks == t->cap_tasks && !grow_tasks(t)))
        return;
    if (!k) {
        k = &t->tasks[t->ntasks++];
        *k = (struct task_known){ .context = e->context, .node = CALLTREE_NONE };
    }
    k->low = (uint32_t)e->stack_low;
    k->bytes = (uint32_t)e->stack_bytes;
}

static bool task_has_sp(const struct task_known *k, uint32_t sp)
{
    /* The system may know the stack at another alias than the program uses it at. An empty stack's
     * pointer is its upper end. */
    return ((sp - k->low - 1) & ADDRESS_PHYSICAL) < k->bytes;
}

bool task_holds(const struct calltree *t, uint32_t context, uint32_t sp)
{
    const struct task_known *k = find_task(t, context);
    return k && task_has_sp(k, sp);
}

static uint32_t node_of(struct calltree *t, struct task_known *k)
{
    if (k->node == CALLTREE_NONE)
        k->node = tree_root(t, CALLTREE_TASK, k->context);
    return k->node;
}

uint32_t task_root(struct calltree *t, uint64_t pc, const struct event *e)
{
    struct task_known *k = find_task(t, t->cur->context);
    bool there =
        k && (!(e->flags & EVENT_HAS_SP) || task_has_sp(k, e->sp) || task_has_sp(k, sp_after(e)));
    if (there)
        return tree_child(t, node_of(t, k), pc);
    return tree_root(t, CALLTREE_FUNCTION, pc);
}

/* The node of the same function, or block of it, below another parent. */
static uint32_t same_node_below(struct calltree *t, uint32_t parent, uint32_t node)
{
    struct calltree_range r;
    uint32_t below = tree_child(t, parent, t->nodes[tree_around(t, node)].addr);
    if (!t->nodes[node].block || !t->cfg.block(t->cfg.resolve_ctx, t->nodes[node].addr, &r))
        return below;
    uint32_t block = tree_block(t, below, &r);
    if (block == CALLTREE_NONE)
        return below;
    return block;
}

/* The frames up to the first handler, which is a root by itself. */
void task_assign_stack(struct calltree *t)
{
    struct stack *s = t->cur;
    struct task_known *k = find_task(t, s->context);
    if (!k || !s->depth)
        return;
    uint32_t parent = node_of(t, k);
    for (uint32_t i = 0; i < s->depth && s->frames[i].kind != FRAME_HANDLER; i++)
        parent = s->frames[i].node = same_node_below(t, parent, s->frames[i].node);
    stack_settle(t);
}

void task_ends_others(struct calltree *t, uint32_t context)
{
    const struct task_known *k = find_task(t, context);
    for (uint32_t i = 0; k && i < t->nstacks; i++) {
        struct stack *s = &t->stacks[i];
        const struct task_known *other =
            s == t->cur || s->context == context ? NULL : find_task(t, s->context);
        if (other &&
            (task_has_sp(other, k->low + k->bytes) || task_has_sp(k, other->low + other->bytes))) {
            stack_drop(t, s, 0, CALLTREE_LEFT_FORGOTTEN);
            s->overflow = 0;
        }
    }
}
