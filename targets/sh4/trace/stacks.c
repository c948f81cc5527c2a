/* On whose stack an event was. */
#include "targets/sh4/isa/regs.h"
#include "probe/base/choice.h"
#include "targets/sh4/trace/decode.h"

enum { TOP = 64 /* bytes: what a task's first function has on its stack when it calls */ };

static bool holds_sp(const struct sh4_trace_stack *s, uint32_t sp)
{
    /* an empty stack's pointer is its upper end */
    return ((sp - s->low - 1) & SH4_PHYS) < s->bytes;
}

static bool overlaps_range(const struct sh4_trace_stack *s, uint32_t low, uint32_t bytes)
{
    return s->bytes &&
           (((low - s->low) & SH4_PHYS) < s->bytes || ((s->low - low) & SH4_PHYS) < bytes);
}

static struct sh4_trace_stack *stack_of(struct sh4_trace_decoder *d, uint32_t sp)
{
    if (d->recent < d->nstacks && holds_sp(&d->stack[d->recent], sp))
        return &d->stack[d->recent];
    for (size_t i = 0; i < d->nstacks; i++)
        if (holds_sp(&d->stack[i], sp)) {
            d->recent = i;
            return &d->stack[i];
        }
    return NULL;
}

static uint32_t sp_behind(const struct event *e)
{
    if (e->flags & EVENT_SP_EXACT)
        return e->sp + (uint32_t)e->amount;
    return e->sp;
}

/* A task begins on this stack again. Of several that have had it since the last look, the one that
 * is known is the last; if its task is gone by now, none is known. */
static void restart_stack(struct sh4_trace_stack *s)
{
    s->begun++;
    if (!s->next) {
        if (s->gone && s->ran)
            s->context = 0;
        return;
    }
    bool last = s->to_come <= 1;
    s->context = 0;
    if (last)
        s->context = s->next;
    if (last)
        s->next = 0;
    s->to_come -= s->to_come > 0;
}

/* A handler may have a stack of its own: it belongs to the task that it interrupted. Other code
 * beside all known stacks belongs to a task that was not seen. */
static uint32_t context_beside(struct sh4_trace_decoder *d)
{
    if (d->tasks && !d->handler)
        d->context = 0;
    return d->context;
}

/* A function never has less on its stack than when it was called, except for its return address. So
 * one that calls from the upper end of the stack, where nothing has returned to, has begun there.
 * Farther down it may be a task that goes on by an RTE that is not traced. */
static bool begins_stack(const struct sh4_trace_stack *s, const struct event *e)
{
    return (e->kind == EVENT_CALL || e->kind == EVENT_JUMP) && !s->rises &&
           (int32_t)(e->sp - s->last) > 0 && ((s->low + s->bytes - e->sp) & SH4_PHYS) <= TOP;
}

uint32_t sh4_trace_context(struct sh4_trace_decoder *d, const struct event *e)
{
    struct sh4_trace_stack *s = stack_of(d, e->sp);
    bool atomic = e->sp >= SH4_TRACE_ATOMIC;
    if (e->kind == EVENT_TIMESTAMP) {
        if (s)
            d->context = s->context;
        return d->context;
    }
    if (s) {
        if (begins_stack(s, e))
            restart_stack(s);
        s->ran = true;
        s->last = sp_behind(e);
        s->rises = e->kind == EVENT_RETURN || e->kind == EVENT_RTE || e->kind == EVENT_START;
        d->context = s->context;
        d->handler = false;
    } else if (!atomic) {
        context_beside(d);
    }
    d->handler |= e->kind == EVENT_INTERRUPT || e->kind == EVENT_EXCEPTION;
    return d->context;
}

/* ---- which stacks there are ---- */

static struct sh4_trace_stack *add_stack(struct sh4_trace_decoder *d)
{
    if (d->nstacks < SH4_TRACE_STACKS)
        return &d->stack[d->nstacks++];
    for (size_t i = 0; i < d->nstacks; i++)
        if (d->stack[i].gone)
            return &d->stack[i];
    return NULL;
}

void sh4_trace_name_stack(struct sh4_trace_decoder *d, uint64_t low, uint64_t high,
                          uint32_t context)
{
    struct sh4_trace_stack *s = add_stack(d);
    if (s)
        *s = (struct sh4_trace_stack){ .low = (uint32_t)low,
                                       .bytes = (uint32_t)(high - low),
                                       .context = context,
                                       .rises = true,
                                       .fixed = true };
}

void sh4_trace_settle_stacks(struct sh4_trace_decoder *d)
{
    for (size_t i = 0; i < d->nstacks; i++) {
        struct sh4_trace_stack *s = &d->stack[i];
        s->ran = s->ran && !s->next;
        s->context = EITHER(s->next, s->context);
        s->next = s->to_come = s->begun = 0;
    }
}

/* The stack that this task has, or takes over; other tasks' stacks that lie there are dropped.
 * NULL: none yet. users: it is in one that the user has named. */
static struct sh4_trace_stack *place_stack(struct sh4_trace_decoder *d, const struct task *k,
                                           bool *users)
{
    struct sh4_trace_stack *found = NULL;
    *users = false;
    for (size_t i = d->nstacks; i-- > 0;) {
        struct sh4_trace_stack *s = &d->stack[i];
        if (!overlaps_range(s, k->low, k->high - k->low))
            continue;
        *users |= s->fixed;
        if (!found || s->context == k->context)
            found = s;
        else if (s->gone)
            s->bytes = 0;
    }
    return found;
}

static void put_task(struct sh4_trace_decoder *d, const struct task *k)
{
    bool users;
    struct sh4_trace_stack *s = place_stack(d, k, &users), *fresh = NULL;
    if (!s && !users)
        fresh = add_stack(d);
    if (fresh)
        *fresh = (struct sh4_trace_stack){
            .low = k->low, .bytes = k->high - k->low, .next = k->context, .rises = true
        };
    if (!s || users)
        return;
    s->next = 0;
    if (s->context != k->context)
        s->next = k->context;
    s->gone = false;
    s->low = k->low;
    s->bytes = k->high - k->low;
}

void sh4_trace_task_stacks(struct sh4_trace_decoder *d, const struct task *task, size_t n)
{
    sh4_trace_settle_stacks(d);
    d->tasks = true;
    for (size_t i = 0; i < d->nstacks; i++)
        d->stack[i].gone = !d->stack[i].fixed;
    for (size_t i = 0; i < n; i++)
        put_task(d, &task[i]);
}

bool sh4_trace_stacks_pass_on(const struct sh4_trace_decoder *d)
{
    for (size_t i = 0; i < d->nstacks; i++)
        if (d->stack[i].next)
            return true;
    return false;
}

/* A stack that no task had before is the task's from its first event on. */
void sh4_trace_stacks_begun(struct sh4_trace_decoder *d, const struct sh4_trace_decoder *seen)
{
    for (size_t i = 0; i < d->nstacks; i++) {
        struct sh4_trace_stack *s = &d->stack[i];
        s->to_come = seen->stack[i].begun;
        if (s->next && !s->to_come && !s->context) {
            s->context = s->next;
            s->next = 0;
        }
    }
}
