/* Inside of the call tree: nodes (calltree.c) and stacks (calltree_stack.h). */
#ifndef PROFILER_CORE_CALLTREE_PRIV_H
#define PROFILER_CORE_CALLTREE_PRIV_H

#include "profiler/core/address_counts.h"
#include "profiler/core/calltree.h"

/* Parents of roots in the child index: roots of different kinds may start at one address. */
enum { ROOT_PARENT = 0xFFFFFFFF, ROOT_PARENT_OF_KIND_0 = 0xFFFFFFF0 };

enum frame_kind {
    FRAME_ROOT,   /* found running: nothing is known of how it was entered */
    FRAME_CALL,   /* from: the call instruction; returns a few bytes behind it */
    FRAME_TAIL,   /* jumped to: returns where the frame below returns */
    FRAME_HANDLER /* from: the interrupted address */
};

struct frame {
    uint64_t from;
    uint64_t c1; /* handlers: counter 1 on entry */
    uint32_t node;
    uint32_t sp; /* at the event that entered it, behind its slot if known */
    uint8_t kind;
    bool has_sp;
    bool exact;     /* sp is exactly what a return through it, or an RTE, has */
    bool untraced;  /* handler whose RTE gives no event */
    bool pending;   /* handler: the branch at `from` had given its event already */
    bool inferred;  /* TAIL: entered without an event, jumped to or called */
    bool blind;     /* may be left without one */
    bool uncounted; /* handler: entered before counts began again: its time is unknown */
};

/* event_pc - where the event came from; 0 if it does not say. */
static inline uint64_t event_pc(const struct event *e)
{
    return e->flags & EVENT_HAS_PC ? e->pc : 0;
}

/* event_target - where it led; 0 if it does not say. */
static inline uint64_t event_target(const struct event *e)
{
    return e->flags & EVENT_HAS_TARGET ? e->target : 0;
}

/* Of a watched tree: what is known of a frame's beginning, and what it took since. */
struct frame_seen {
    uint64_t number; /* of the activation; 0: it stands in another stack now */
    struct calltree_moment in;
    uint64_t gaps, backs;    /* there had been */
    uint64_t c1, c2;         /* its own */
    uint64_t below1, below2; /* of those it called that have ended */
    bool found, cleared, doubtful;
    bool handler; /* it is one, or below one */
};

/* Of a watched tree (calltree_watch.c). */
struct watching {
    struct calltree_watch cfg;
    const struct event *event; /* that is being fed */
    uint64_t numbers;          /* of activations, given so far */
    uint64_t gaps;
    uint64_t backs;     /* steps in which a counter went back */
    uint64_t backwards; /* calltree_stats.backwards up to the last step */
    uint64_t cycles;    /* of the target's clock, up to the last step */
    uint64_t entered;   /* where the program went on behind the last event */
    bool has_cycles, entered_known;
    bool after_doubt; /* the last event's counters were doubtful */
    bool found;       /* the frame that comes next was not entered now */
    bool begins;      /* it was, though it is a root */
};

struct stack {
    struct frame *frames;
    struct frame_seen *seen; /* as many; NULL: nobody watches */
    uint32_t depth, cap;
    uint32_t overflow; /* frames that found no place above max_depth */
    uint32_t context;
    uint32_t last_sp;
    uint32_t low, high; /* stack pointers it has shown, if has_sp */
    bool has_sp;
    bool untraced; /* may hold handlers whose RTE gives no event */
    uint64_t used; /* event number of last use, for forgetting the oldest */
};

/* A task that an EVENT_TASK announced. */
struct task_known {
    uint32_t context;
    uint32_t low, bytes; /* its stack */
    uint32_t node;       /* its root; CALLTREE_NONE: it has run nothing yet */
};

struct child_slot {
    uint64_t addr;
    uint32_t parent;
    uint32_t node; /* CALLTREE_NONE: free */
};

struct calltree {
    struct calltree_config cfg;
    struct calltree_stats stats;
    struct calltree_node *nodes;
    uint32_t nnodes, cap_nodes;
    struct child_slot *slots; /* open addressing, power of two, at most half full */
    uint32_t nslots, used_slots;
    uint32_t lost_node, other_node; /* CALLTREE_NONE until needed */
    struct address_counts sampled;  /* where samples were taken, by node */

    struct stack *stacks;
    uint32_t nstacks;
    struct stack *cur; /* one of stacks */
    struct task_known *tasks;
    uint32_t ntasks, cap_tasks;
    uint32_t node; /* being charged; CALLTREE_NONE: none yet */

    uint64_t c1, c2;  /* counters at the last event */
    uint64_t step1;   /* of counter 1, up to it */
    uint64_t cycles;  /* time up to which active_cycles is counted */
    uint64_t last_pc; /* of the last traced call, jump or return */
    bool has_c1, has_c2, has_cycles;
    bool active;
    bool floating; /* a return went to an unknown place: the next event's place gets the time */
    /* What makes a step more than a sum, in one word, so that it is one test. */
    union {
        struct {
            bool gap;     /* events were lost since the last one that gave a place */
            bool blind;   /* the last event led into code that may have returned without one */
            bool watched; /* somebody is told of steps and activations */
            bool unused;
        };
        uint32_t special_step;
    };
    uint8_t gap_cause; /* enum event_cause: what lost them */
    struct watching watching;
};

/* ---- nodes ---- */

/* tree_child - the node for `addr` called from `parent`; made if new; the OTHER node when full. */
uint32_t tree_child(struct calltree *t, uint32_t parent, uint64_t addr);

/* tree_block - the node of a block of the function at node `around`; CALLTREE_NONE when full. */
uint32_t tree_block(struct calltree *t, uint32_t around, const struct calltree_range *block);

/* tree_around - the function's node: of a block's the one that it is a part of, else itself. */
static inline uint32_t tree_around(const struct calltree *t, uint32_t node)
{
    return t->nodes[node].block ? t->nodes[node].parent : node;
}

/* tree_root - the root of a kind at `addr`. */
uint32_t tree_root(struct calltree *t, enum calltree_kind kind, uint64_t addr);

/* tree_lost - the node of what ran while events were lost. */
uint32_t tree_lost(struct calltree *t);

/* tree_init - an empty tree by cfg; false: out of memory. */
bool tree_init(struct calltree *t);

/* tree_doubt - mark the node being charged, count the event. */
void tree_doubt(struct calltree *t);

/* node_doubt - mark one node. */
static inline void node_doubt(struct calltree_node *n)
{
    n->doubtful = true;
    n->doubts += n->doubts < UINT32_MAX;
}

static inline bool node_contains(const struct calltree_node *n, uint64_t addr)
{
    return addr - n->low < n->high - n->low;
}

/* tree_same_function - does addr, in any alias, belong to the node's function? */
bool tree_same_function(const struct calltree *t, uint32_t node, uint64_t addr);

/* sp_after - the stack pointer behind the event's slot, as far as known. */
static inline uint32_t sp_after(const struct event *e)
{
    if (e->flags & EVENT_SP_EXACT)
        return e->sp + (uint32_t)e->slot_adds;
    return e->sp;
}

/* sp_exact - is that exactly the stack pointer the program goes on with? */
static inline bool sp_exact(const struct event *e)
{
    return (e->flags & (EVENT_HAS_SP | EVENT_SP_EXACT)) == (EVENT_HAS_SP | EVENT_SP_EXACT);
}

/* frame_left - the event cannot be in this frame: its stack pointer is never above that of its
 * call. */
static inline bool frame_left(const struct frame *f, const struct event *e)
{
    return f->exact && sp_exact(e) && f->kind != FRAME_HANDLER && (int32_t)(e->sp - f->sp) > 0;
}

/* ---- tasks (calltree_task.c) ---- */

/* task_take_event - an EVENT_TASK. task_root - the root for the function at pc, of the task whose
 * context the current stack has and on whose stack sp lies, or of no task. task_assign_stack - the
 * current stack turns out to be that of a task: its calls are the task's from now on. task_holds -
 * does its stack hold sp? task_ends_others - ends the tasks whose stacks now belong to the task of
 * that context. */
void task_take_event(struct calltree *t, const struct event *e);
uint32_t task_root(struct calltree *t, uint64_t pc, const struct event *e);
void task_assign_stack(struct calltree *t);
bool task_holds(const struct calltree *t, uint32_t context, uint32_t sp);
void task_ends_others(struct calltree *t, uint32_t context);

/* ---- watching (calltree_watch.c): only where t->watched ---- */

/* watch_before, watch_after - around each event. watch_step - it ended a step, which has just been
 * charged to t->node. */
void watch_before(struct calltree *t, const struct event *e);
void watch_after(struct calltree *t, const struct event *e);
void watch_step(struct calltree *t, const struct event *e, uint64_t c1, uint64_t c2);
/* watch_entered - a frame was put on top of the current stack. watch_left - those of s above
 * `depth` of them are about to go; how: the lowest of them. watch_again - the function on top has
 * been jumped to once more. watch_moved - frame i of a stack stands as frame k in another now.
 * watch_cleared - by calltree_clear(). */
void watch_entered(struct calltree *t);
void watch_left(struct calltree *t, struct stack *s, uint32_t depth, enum calltree_left how);
void watch_again(struct calltree *t);
void watch_moved(struct stack *from, uint32_t i, struct stack *to, uint32_t k);
void watch_cleared(struct calltree *t);
/* watch_rearmed - counters and time go on from those of the event. */
void watch_rearmed(struct calltree *t, const struct event *e);
/* watch_grow - room for cap frames; false: out of memory. */
bool watch_grow(struct stack *s, uint32_t cap);

/* stack_drop - what is above `depth` frames goes. */
static inline void stack_drop(struct calltree *t, struct stack *s, uint32_t depth,
                              enum calltree_left how)
{
    if (__builtin_expect(t->watched, 0))
        watch_left(t, s, depth, how);
    s->depth = depth;
}

/* ---- stacks: each takes the event after its counters were charged, and leaves t->node right ----
 */

/* stacks_init - one empty stack, and room for cfg.max_stacks; stacks_fini() also after it failed,
 * with -ERR_NOMEM. stacks_clear() is back to that one. */
int stacks_init(struct calltree *t);
void stacks_fini(struct calltree *t);
void stacks_clear(struct calltree *t);
/* Empties the current stack and puts the function around pc on it as a root; hit: it was entered
 * now. */
void stack_open_root(struct calltree *t, uint64_t pc, const struct event *e, bool hit);
/* What an event says of the stack, by its kind. stack_context: the program runs in another context
 * (task, ASID); true if that is all the event says. led: it is this event that leads there. */
bool stack_context(struct calltree *t, const struct event *e, bool led);
/* Did the program enter the event's context earlier, without an event? */
bool stack_switched_unseen(const struct calltree *t, const struct event *e);
void stack_sync(struct calltree *t, const struct event *e);     /* slow half of checking e->pc */
void stack_relocate(struct calltree *t, const struct event *e); /* first place after a gap */
void stack_place(struct calltree *t, const struct event *e);    /* first place after floating */
/* The program is at addr in the function on top: in a block of it, or in none. Only where the tree
 * has blocks. */
void stack_in_block(struct calltree *t, uint64_t addr);
void stack_call(struct calltree *t, const struct event *e);
void stack_jump(struct calltree *t, const struct event *e);
void stack_return(struct calltree *t, const struct event *e);
void stack_handler(struct calltree *t, const struct event *e);
void stack_rte(struct calltree *t, const struct event *e);
/* where a handler will go back to, with another stack pointer than it will have */
void stack_passed(struct calltree *t, const struct event *e);
/* The exception whose handler is the innermost one open. */
struct calltree_unfinished stack_unfinished(const struct calltree *t);

#endif
