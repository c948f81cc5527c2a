/* Tasks that the target has told of: each has a root of its own, whatever function it begins with.
 */
#include <stdlib.h>

#include "profiler/core/calltree_stack.h"

enum {
    TASKS_FIRST = 16,
    PHYS = 0x1FFFFFFF /* stacks may be told at another alias than they are used at */
};

static struct task_known *find_task(const struct calltree *t, uint32_t context)
{
    for (uint32_t i = 0; i < t->ntasks && context; i++)
        if (t->tasks[i].context == context)
            return &t->tasks[i];
    return NULL;
}

static bool grow_tasks(struct calltree *t)
{
    uint32_t cap = t->cap_tasks ? 2 * t->cap_tasks : TASKS_FIRST;
    struct task_known *more =
        t->cap_tasks < t->cfg.max_tasks ? realloc(t->tasks, cap * sizeof *more) : NULL;
    if (!more)
        return false;
    t->tasks = more;
    t->cap_tasks = cap;
    return true;
}

void task_told(struct calltree *t, const struct event *e)
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
    return ((sp - k->low - 1) & PHYS) < k->bytes; /* an empty stack's pointer is its upper end */
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
    return there ? tree_child(t, node_of(t, k), pc) : tree_root(t, CALLTREE_FUNCTION, pc);
}

/* The frames up to the first handler, which is a root by itself. */
void task_adopt(struct calltree *t)
{
    struct stack *s = t->cur;
    struct task_known *k = find_task(t, s->context);
    if (!k || !s->depth)
        return;
    uint32_t parent = node_of(t, k);
    for (uint32_t i = 0; i < s->depth && s->frames[i].kind != FRAME_HANDLER; i++)
        parent = s->frames[i].node = tree_child(t, parent, t->nodes[s->frames[i].node].addr);
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
            (task_has_sp(other, k->low + k->bytes) || task_has_sp(k, other->low + other->bytes)))
            s->depth = s->overflow = 0;
    }
}
