/* Watching a call tree: what analyses fold over. A watched tree tells of
 *
 *   steps        what was counted between two events, and whose it is. Their sums are the tree's:
 *                over all steps total_c1, total_c2; over those of a node its c1, c2, steps.
 *   activations  one run of a function, from its entry to its end, with what it took itself and
 *                with what it called.
 *
 * The order is that of the program: the step that an event ends, what the event leaves (innermost
 * first), what it enters. Callbacks may read the tree (calltree_nodes()), and must not feed it.
 *
 * A tree that nobody watches pays nothing for this. */
#ifndef PROFILER_CORE_CALLTREE_WATCH_H
#define PROFILER_CORE_CALLTREE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/event.h"

enum calltree_step_flag {
    CALLTREE_STEP_ENTERED = 1 << 0, /* `entered` is known */
    CALLTREE_STEP_LEFT = 1 << 1,    /* `left` is known */
    CALLTREE_STEP_DOUBTFUL =
        1 << 2,                 /* one of its ends is an event flagged so, or a counter went back */
    CALLTREE_STEP_GAP = 1 << 3, /* events were lost in it; its node is the LOST one */
    CALLTREE_STEP_BLIND = 1 << 4,  /* it began in code that may be left without an event */
    CALLTREE_STEP_HANDLER = 1 << 5 /* below an interrupt or exception */
};

/* What was counted between two events of an active profile, all of it charged to one node. Which of
 * the function's instructions took how much of it nobody knows. */
struct calltree_step {
    uint32_t node;       /* index into calltree_nodes() */
    uint64_t activation; /* number of the one that ran; 0: none is known, as in gaps */
    /* address that it went on at when the step began; address of the event that ended it */
    uint64_t entered, left;
    uint64_t c1, c2;  /* 0 also where `end` has not the counter: see its flags */
    uint64_t cycles;  /* of the target's clock, with what tracing took; 0 where not known */
    uint32_t flags;   /* enum calltree_step_flag */
    uint32_t context; /* task whose root the stack's calls are below; 0: none */
    /* that ended it, with its kind, time, stack pointer, context; borrowed during the call */
    const struct event *end;
};

/* A moment, as far as the target tells: flags has EVENT_HAS_C1, _C2, _TIME, _SP, _PC. */
struct calltree_moment {
    uint64_t c1, c2, cycles;
    /* of the instruction that entered or left it; of a function found running, where it was found
     */
    uint64_t pc;
    uint32_t sp;
    uint32_t flags;
};

/* How an activation ended. */
enum calltree_left {
    CALLTREE_LEFT_NOT,      /* it has not, when there are no more events */
    CALLTREE_LEFT_RETURN,   /* by its return or RTE, or its caller's where it jumped to another */
    CALLTREE_LEFT_CLOSED,   /* it is over, and what ended it was not its own return: a longjmp, or
                               something that gave no event */
    CALLTREE_LEFT_STOP,     /* profiling stopped while it ran */
    CALLTREE_LEFT_FORGOTTEN /* its stack is another task's now, or one too many */
};

struct calltree_activation {
    uint64_t number; /* from 1, in the order of their beginnings */
    uint64_t caller; /* number of the one below on its stack; 0: none, and of handlers */
    uint64_t below;  /* the same, of handlers the one they interrupted */
    bool handler;    /* it was entered by an interrupt or exception */
    uint32_t node;   /* as it is now: a stack that turns out to be a task's gets other nodes */
    uint32_t depth;  /* frames below it on its stack */
    uint32_t context;
    /* its entry was not seen: it was running, or is inferred; `in` is when it was found */
    bool found;
    /* it began before calltree_clear(), and what it took until then is not in c1 ...; or before the
     * trace was armed anew, and `in` is of other counters than `out` */
    bool cleared;
    /* counters and place when it began, when it ended. The difference of the counters has handlers
     * in it, and other tasks that ran meanwhile */
    struct calltree_moment in, out;
    /* all below: on_leave only */
    enum calltree_left left;
    bool gap;      /* events were lost while it was open: it may have been left and entered again */
    bool doubtful; /* a step of it, or of what it called, is */
    /* steps charged to it; the same with those of what it called, handlers left out */
    uint64_t c1, c1_children;
    uint64_t c2, c2_children;
};

/* Each may be NULL. */
struct calltree_watch {
    void *ctx;
    void (*on_step)(void *ctx, const struct calltree_step *s);
    void (*on_enter)(void *ctx, const struct calltree_activation *a);
    void (*on_leave)(void *ctx, const struct calltree_activation *a);
    /* what was counted so far is forgotten; what is open stays so */
    void (*on_clear)(void *ctx);
    /* each event that the tree takes, behind all that it has changed */
    void (*on_event)(void *ctx, const struct event *e);
};

/* calltree_activation_whole - was it seen from entry to return, without loss or doubt? Then the
 * differences between `in` and `out` are what one call took. */
bool calltree_activation_whole(const struct calltree_activation *a);

struct calltree;

typedef void calltree_watch_tell(void *ctx, const struct calltree_activation *a);

/* calltree_watch_open - what is open now, on every stack, the innermost first, as if there were no
 * more events: tell is called for each with what on_leave would be, CALLTREE_LEFT_NOT. The tree
 * stays as it is and may be fed further. Nothing if it is not watched.
 * tell   must not feed the tree; ctx is its own */
void calltree_watch_open(const struct calltree *t, calltree_watch_tell *tell, void *ctx);

/* calltree_watch_end - no more events will come: on_leave is called for what is still open, on
 * every stack. Once; the counts of the tree do not change. */
void calltree_watch_end(struct calltree *t);

#endif
