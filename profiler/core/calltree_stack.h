/* Stacks of the call tree from inside: frames (calltree_stack.c), evidence and unexpected places
 * (calltree_place.c), returns (calltree_return.c), handlers (calltree_handler.c). */
#ifndef PROFILER_CORE_CALLTREE_STACK_H
#define PROFILER_CORE_CALLTREE_STACK_H

#include "profiler/core/calltree_priv.h"

enum {
    FRAMES_FIRST = 32,
    RETURN_MAX_BYTES = 6, /* call instruction and its slot: SH-4 always 4, S12Z up to 5 */
    SP_POPPED_LATE = 256, /* a return's delay slot may still drop this much */
    SP_PUSHED_EARLY = 8,  /* a call's delay slot may have pushed this much: one register */
    SP_SAME_STACK = 8192, /* a stack pointer farther away than this is on another stack */
    SAME_TOP = 64,        /* bytes by which the starts of tasks on one stack may differ */
    SLOT_BYTES = 4        /* a branch and its delay slot */
};

/* stack_top - the frame being charged. */
static inline struct frame *stack_top(const struct calltree *t)
{
    return &t->cur->frames[t->cur->depth - 1];
}

/* stack_settle - charges go to the frame on top. */
static inline void stack_settle(struct calltree *t) { t->node = stack_top(t)->node; }

/* stack_note_sp - what the stack shows at an event. */
static inline void stack_note_sp(struct stack *s, const struct event *e)
{
    if (!(e->flags & EVENT_HAS_SP))
        return;
    s->low = s->has_sp && s->low < e->sp ? s->low : e->sp;
    s->high = s->has_sp && s->high > e->sp ? s->high : e->sp;
    s->last_sp = e->sp;
    s->has_sp = true;
}

/* frame_entered - an event entered f, from an instruction at `from`. */
static inline void frame_entered(struct frame *f, uint64_t from, const struct event *e)
{
    f->from = from;
    f->sp = sp_after(e);
    f->has_sp = (e->flags & EVENT_HAS_SP) != 0;
    f->exact = sp_exact(e);
}

/* frame_address_fits - is target a few bytes behind the call that entered f? */
static inline bool frame_address_fits(const struct frame *f, uint64_t target)
{
    return target - f->from - 1 < RETURN_MAX_BYTES;
}

/* frame_sp_fits - is the stack pointer what a return from (or in) this frame shows, given what it
 * was at the call? To the byte, where that is known. */
static inline bool frame_sp_fits(const struct frame *f, const struct event *e)
{
    if (!f->has_sp || !(e->flags & EVENT_HAS_SP))
        return true;
    if (f->exact && sp_exact(e))
        return f->sp == sp_after(e);
    return f->sp - e->sp + SP_PUSHED_EARLY <= SP_POPPED_LATE + SP_PUSHED_EARLY;
}

/* frame_sp_proves - it is that of this frame's call or interrupt, to the byte. */
static inline bool frame_sp_proves(const struct frame *f, const struct event *e)
{
    return f->has_sp && f->exact && sp_exact(e) && f->sp == sp_after(e);
}

/* frame_sp_known - both have one. */
static inline bool frame_sp_known(const struct frame *f, const struct event *e)
{
    return f->has_sp && e->flags & EVENT_HAS_SP;
}

/* stack_call_below - the call that frame i returns through: a jumped-to function returns where its
 * caller would. */
static inline uint32_t stack_call_below(const struct stack *s, uint32_t i)
{
    while (i > 0 && s->frames[i].kind == FRAME_TAIL)
        i--;
    return i;
}

/* stack_at_last_site - interrupted between a branch's event and the branch itself: the stub still
 * stands at it. */
static inline bool stack_at_last_site(const struct calltree *t, const struct event *e)
{
    return e->kind != EVENT_CALL && e->kind != EVENT_RETURN && t->last_pc &&
           e->pc - t->last_pc <= SLOT_BYTES;
}

/* call_for_address - a call to its own return address: code that reads its own address. */
static inline bool call_for_address(const struct event *e)
{
    const uint32_t both = EVENT_HAS_PC | EVENT_HAS_TARGET;
    return (e->flags & both) == both && e->target - e->pc - 1 < RETURN_MAX_BYTES;
}

/* stack_switch_to - another stack is the current one. */
void stack_switch_to(struct calltree *t, struct stack *s);
/* stack_new - an empty stack becomes the current one. With max_stacks of 1, the only one starts
 * over. */
void stack_new(struct calltree *t, uint32_t context);
/* stack_push - a frame on top; NULL beyond max_depth, where calls are only counted, so that as many
 * returns can be skipped. */
struct frame *stack_push(struct calltree *t, uint32_t node, enum frame_kind kind);
/* stack_close_to - closes frames from the top down to `depth` of them. Handlers without RTE events
 * close here, too. */
void stack_close_to(struct calltree *t, uint32_t depth);
/* stack_return_to - the same by a return, or an RTE, of the outermost of them. */
void stack_return_to(struct calltree *t, uint32_t depth);
/* stack_grow - room for more frames; false if there is none. */
bool stack_grow(struct calltree *t, struct stack *s);
/* stack_sp_far - is the stack pointer far from what the stack showed last? A hint only: where it is
 * known to the byte, it decides nothing. */
bool stack_sp_far(const struct stack *s, const struct event *e);
/* stack_sp_inside - can the stack pointer be one seen inside frame i, with the frames above it
 * gone? here: the event is in the function, it does not lead there. */
bool stack_sp_inside(const struct stack *s, uint32_t i, const struct event *e, bool here);
/* stack_frame_of - innermost frame in [0, below) that runs the function of addr; -1 if none. */
long stack_frame_of(const struct calltree *t, uint64_t addr, uint32_t below, const struct event *e);
/* stack_of - another stack whose top function holds addr and whose stack pointer was near; NULL if
 * none. */
struct stack *stack_of(const struct calltree *t, uint64_t addr, const struct event *e);
/* stack_new_root - the current stack holds nothing but the function around addr, which was not
 * entered now. */
void stack_new_root(struct calltree *t, uint64_t addr, const struct event *e);
/* stack_begin_task - the program is at addr on a stack never seen. At the first instruction of a
 * function it was entered; in the middle of one that is a guess. */
void stack_begin_task(struct calltree *t, uint64_t addr, const struct event *e);
/* stack_arrive - the program went to addr, and no call or interrupt led there. */
void stack_arrive(struct calltree *t, uint64_t addr, const struct event *e);
/* stack_set_aside - what is above frame `below` seems not to have returned: perhaps it is a task of
 * its own, begun without an event. It is kept as one, last seen with last_sp: should it be gone,
 * nothing will be found to belong to it. */
void stack_set_aside(struct calltree *t, uint32_t below, uint32_t last_sp);
/* stack_inferred_above - the outermost frame above `below` that was entered without an event; 0:
 * none. */
uint32_t stack_inferred_above(const struct stack *s, uint32_t below);
/* stack_tail_call - the function on top has jumped to the event's target. */
void stack_tail_call(struct calltree *t, const struct event *e);
/* stack_other_task - another stack of the same context in which something was called or
 * interrupted. */
bool stack_other_task(const struct calltree *t, const struct stack *s);
/* stack_innermost_handler - the handler that a task left standing is in; 0: none. */
uint32_t stack_innermost_handler(const struct stack *s);
/* stack_claimed - has another stack of this context had stack pointers around sp? */
bool stack_claimed(const struct calltree *t, uint32_t sp);
/* stack_handler_judged - without symbols: has the handler on top ended without an event? The stack
 * is then that of the task that runs, and both are doubtful. False: nothing more can be said of the
 * event's place. */
bool stack_handler_judged(struct calltree *t, const struct event *e);
/* stack_return_fast - a return, or a jump, behind the innermost call: done; false if it is not. */
bool stack_return_fast(struct calltree *t, const struct event *e);
/* stack_overflow_return - calls beyond max_depth were only counted, so returns are, too, as long as
 * they happen below the top frame. */
bool stack_overflow_return(struct calltree *t, const struct event *e);

#endif
