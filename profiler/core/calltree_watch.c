/* What a watched call tree tells: steps as they are charged, activations as frames come and go.
 * Beside each stack's frames stands an array of what is known of their beginnings. */
#include "profiler/core/calltree_watch.h"

#include <stdlib.h>

#include "probe/base/choice.h"
#include "profiler/core/calltree_priv.h"

bool calltree_activation_whole(const struct calltree_activation *a)
{
    return !a->found && !a->cleared && !a->gap && !a->doubtful && a->left == CALLTREE_LEFT_RETURN;
}

static struct calltree_moment moment_now(const struct calltree *t)
{
    const struct event *e = t->watching.event;
    return (struct calltree_moment){
        .c1 = t->c1,
        .c2 = t->c2,
        .cycles = t->watching.cycles,
        .pc = e && e->flags & EVENT_HAS_PC ? e->pc : 0,
        .sp = e && e->flags & EVENT_HAS_SP ? e->sp : 0,
        .flags = bits_if(t->has_c1, EVENT_HAS_C1) | bits_if(t->has_c2, EVENT_HAS_C2) |
                 bits_if(t->watching.has_cycles, EVENT_HAS_TIME) |
                 (e ? e->flags & (EVENT_HAS_PC | EVENT_HAS_SP) : 0u),
    };
}

/* ---- before and after each event ---- */

/* Time is taken where counters are: when the event's step is charged. */
static uint64_t take_cycles(struct calltree *t, const struct event *e)
{
    struct watching *w = &t->watching;
    if (!(e->flags & EVENT_HAS_TIME))
        return 0;
    uint64_t d = 0;
    if (w->has_cycles && e->time_cycles > w->cycles)
        d = e->time_cycles - w->cycles;
    w->cycles = e->time_cycles;
    w->has_cycles = true;
    return d;
}

void watch_before(struct calltree *t, const struct event *e)
{
    struct watching *w = &t->watching;
    w->event = e;
    if (e->kind != EVENT_START || t->active)
        return;
    w->has_cycles = w->entered_known = w->after_doubt = false;
    take_cycles(t, e);
}

/* Where the program goes on behind the event. */
static void note_entered(struct watching *w, const struct event *e)
{
    switch (e->kind) {
    case EVENT_CALL:
    case EVENT_JUMP:
    case EVENT_RETURN:
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION:
    case EVENT_RTE:
        w->entered_known = (e->flags & EVENT_HAS_TARGET) != 0;
        w->entered = e->target;
        break;
    case EVENT_START:
    case EVENT_TIMESTAMP:
        w->entered_known |= (e->flags & EVENT_HAS_PC) != 0;
        if (e->flags & EVENT_HAS_PC)
            w->entered = e->pc;
        break;
    case EVENT_LOST:
    case EVENT_STOP: w->entered_known = false; break;
    default: break;
    }
}

void watch_after(struct calltree *t, const struct event *e)
{
    struct watching *w = &t->watching;
    if (e->kind == EVENT_LOST)
        w->gaps++;
    note_entered(w, e);
    w->event = NULL;
    if (w->cfg.on_event)
        w->cfg.on_event(w->cfg.ctx, e);
}

/* ---- steps ---- */

static struct frame_seen *running_seen(struct calltree *t)
{
    struct stack *s = t->cur;
    bool known = s->depth && s->frames[s->depth - 1].node == t->node;
    if (known)
        return &s->seen[s->depth - 1];
    return NULL;
}

/* The task that the calls on the stack are counted for; 0: none. */
static uint32_t running_task(const struct calltree *t)
{
    const struct stack *s = t->cur;
    uint32_t root = CALLTREE_NONE;
    if (s->depth)
        root = t->nodes[s->frames[0].node].parent;
    if (root == CALLTREE_NONE || t->nodes[root].kind != CALLTREE_TASK)
        return 0;
    return (uint32_t)t->nodes[root].addr;
}

static uint32_t step_flags(const struct calltree *t, const struct event *e,
                           const struct frame_seen *f)
{
    const struct watching *w = &t->watching;
    bool back = w->backwards != t->stats.backwards;
    uint32_t flags = 0;
    if (w->entered_known)
        flags |= CALLTREE_STEP_ENTERED;
    if (e->flags & EVENT_HAS_PC)
        flags |= CALLTREE_STEP_LEFT;
    if (back || w->after_doubt || e->flags & EVENT_DOUBTFUL)
        flags |= CALLTREE_STEP_DOUBTFUL;
    if (t->gap)
        flags |= CALLTREE_STEP_GAP;
    if (t->blind)
        flags |= CALLTREE_STEP_BLIND;
    if (f && f->handler)
        flags |= CALLTREE_STEP_HANDLER;
    return flags;
}

void watch_step(struct calltree *t, const struct event *e, uint64_t c1, uint64_t c2)
{
    struct watching *w = &t->watching;
    struct frame_seen *f = running_seen(t);
    struct calltree_step step = {
        .node = t->node,
        .activation = f ? f->number : 0,
        .entered = w->entered_known ? w->entered : 0,
        .left = event_pc(e),
        .c1 = c1,
        .c2 = c2,
        .cycles = take_cycles(t, e),
        .flags = step_flags(t, e, f),
        .context = running_task(t),
        .end = e,
    };
    if (f) {
        f->c1 += c1;
        f->c2 += c2;
        f->doubtful |= (step.flags & (CALLTREE_STEP_DOUBTFUL | CALLTREE_STEP_BLIND)) != 0;
    }
    w->backs += w->backwards != t->stats.backwards;
    w->backwards = t->stats.backwards;
    w->after_doubt = (e->flags & EVENT_DOUBTFUL) != 0;
    if (w->cfg.on_step)
        w->cfg.on_step(w->cfg.ctx, &step);
}

/* ---- activations ---- */

static struct calltree_activation activation_of(const struct calltree *t, const struct stack *s,
                                                uint32_t i)
{
    const struct frame_seen *f = &s->seen[i];
    bool handler = s->frames[i].kind == FRAME_HANDLER;
    uint64_t below = 0;
    if (i)
        below = s->seen[i - 1].number;
    return (struct calltree_activation){
        .number = f->number,
        .caller = handler ? 0 : below,
        .below = below,
        .handler = handler,
        .node = tree_around(t, s->frames[i].node),
        .depth = i,
        .context = s->context,
        .found = f->found,
        .cleared = f->cleared,
        .in = f->in,
    };
}

void watch_entered(struct calltree *t)
{
    struct watching *w = &t->watching;
    struct stack *s = t->cur;
    uint32_t i = s->depth - 1;
    bool handler = s->frames[i].kind == FRAME_HANDLER;
    s->seen[i] = (struct frame_seen){
        .number = ++w->numbers,
        .in = moment_now(t),
        .gaps = w->gaps,
        .backs = w->backs,
        .found = w->found,
        .handler = handler || (i && s->seen[i - 1].handler),
    };
    w->found = w->begins = false;
    struct calltree_activation a = activation_of(t, s, i);
    if (w->cfg.on_enter)
        w->cfg.on_enter(w->cfg.ctx, &a);
}

static struct calltree_activation activation_left(const struct calltree *t, const struct stack *s,
                                                  uint32_t i, const struct frame_seen *f,
                                                  enum calltree_left how)
{
    struct calltree_activation a = activation_of(t, s, i);
    a.out = moment_now(t);
    a.left = how;
    a.gap = f->gaps != t->watching.gaps;
    a.doubtful = f->doubtful || f->backs != t->watching.backs;
    a.c1 = f->c1;
    a.c2 = f->c2;
    a.c1_children = f->c1 + f->below1;
    a.c2_children = f->c2 + f->below2;
    return a;
}

static void tell_left(struct calltree *t, const struct stack *s, uint32_t i, enum calltree_left how)
{
    const struct calltree_activation a = activation_left(t, s, i, &s->seen[i], how);
    if (t->watching.cfg.on_leave)
        t->watching.cfg.on_leave(t->watching.cfg.ctx, &a);
}

/* To frame i - 1, what frame i took. A handler's time is in nobody's. */
static void add_to_caller(const struct stack *s, uint32_t i, const struct frame_seen *f,
                          struct frame_seen *caller)
{
    if (s->frames[i].kind == FRAME_HANDLER)
        return;
    caller->below1 += f->c1 + f->below1;
    caller->below2 += f->c2 + f->below2;
    caller->doubtful |= f->doubtful;
}

/* What a return ends besides the call it is through: functions that were jumped to return in its
 * stead. */
static uint32_t returned_up_to(const struct stack *s, uint32_t depth)
{
    uint32_t i = depth + 1;
    while (i < s->depth && s->frames[i].kind == FRAME_TAIL)
        i++;
    return i;
}

void watch_left(struct calltree *t, struct stack *s, uint32_t depth, enum calltree_left how)
{
    uint32_t returned = how == CALLTREE_LEFT_RETURN ? returned_up_to(s, depth) : s->depth;
    for (uint32_t i = s->depth; i-- > depth;) {
        if (!s->seen[i].number)
            continue;
        tell_left(t, s, i, i < returned ? how : CALLTREE_LEFT_CLOSED);
        if (i)
            add_to_caller(s, i, &s->seen[i], &s->seen[i - 1]);
    }
}

void watch_again(struct calltree *t)
{
    watch_left(t, t->cur, t->cur->depth - 1, CALLTREE_LEFT_RETURN);
    watch_entered(t);
}

void watch_moved(struct stack *from, uint32_t i, struct stack *to, uint32_t k)
{
    to->seen[k] = from->seen[i];
    from->seen[i].number = 0;
}

void watch_cleared(struct calltree *t)
{
    for (uint32_t k = 0; k < t->nstacks; k++)
        for (uint32_t i = 0; i < t->stacks[k].depth; i++) {
            struct frame_seen *f = &t->stacks[k].seen[i];
            f->cleared = true;
            f->doubtful = false;
            f->c1 = f->c2 = f->below1 = f->below2 = 0;
        }
    t->watching.backwards = 0;
    if (t->watching.cfg.on_clear)
        t->watching.cfg.on_clear(t->watching.cfg.ctx);
}

void watch_rearmed(struct calltree *t, const struct event *e)
{
    for (uint32_t k = 0; k < t->nstacks; k++)
        for (uint32_t i = 0; i < t->stacks[k].depth; i++)
            t->stacks[k].seen[i].cleared = true;
    t->watching.has_cycles = false;
    take_cycles(t, e);
}

/* What those above it took is carried down beside the stack, which stays as it is. */
static void tell_open(const struct calltree *t, const struct stack *s, calltree_watch_tell *tell,
                      void *ctx)
{
    struct frame_seen f = { 0 }, caller;
    for (uint32_t i = s->depth; i-- > 0; f = caller) {
        if (i + 1 == s->depth)
            f = s->seen[i];
        caller = (struct frame_seen){ 0 };
        if (i)
            caller = s->seen[i - 1];
        if (!f.number)
            continue;
        const struct calltree_activation a = activation_left(t, s, i, &f, CALLTREE_LEFT_NOT);
        tell(ctx, &a);
        add_to_caller(s, i, &f, &caller);
    }
}

void calltree_watch_open(const struct calltree *t, calltree_watch_tell *tell, void *ctx)
{
    for (uint32_t k = 0; t->watched && k < t->nstacks; k++)
        tell_open(t, &t->stacks[k], tell, ctx);
}

void calltree_watch_end(struct calltree *t)
{
    if (t->watching.cfg.on_leave)
        calltree_watch_open(t, t->watching.cfg.on_leave, t->watching.cfg.ctx);
}

bool watch_grow(struct stack *s, uint32_t cap)
{
    struct frame_seen *seen = realloc(s->seen, cap * sizeof *seen);
    if (!seen)
        return false;
    s->seen = seen;
    return true;
}
