/* The call tree: events in, one node per call path out, each with its own hits and counters.
 *
 * Guarantees
 * - Every counter step between two events of an active profile is charged to exactly one node, so
 *   C1+children of a node = its C1 + the sum over its children, and the roots add up to the total.
 * - Interrupt and exception handlers are roots of their own: their time is not in the C1+children
 *   of what they interrupted. So are tasks that the target names.
 * - No allocation per event: memory grows with the number of different call paths, up to max_nodes;
 *   later paths are charged to one node of kind CALLTREE_OTHER and counted.
 * - Hits of a function are the times it was entered: calls, tail calls, interrupts, tasks begun at
 * its first instruction, and starts of profiling inside of it. A function that was only returned
 * into has none.
 * - A block is a part of a function, as a node below its function's: hits are the times that the
 *   program came into it from elsewhere, and what is called from within it is below it. It is in
 *   the same activation, so returns, jumps and stacks are followed as if there were no blocks.
 * - A node is marked doubtful when an event flagged so was charged to it or went into it; when it
 * was running as events were lost, or was the first found afterwards; when it was entered or left
 * without an event; when it was first called by code whose calls may have gone unseen, or below
 * such code; for a handler whose RTE is not traced, and the function it interrupted; when a
 * counter went back; beyond max_depth. As the mark stays for good, doubts against steps say how
 * much of the node is meant: one step may have two doubtful ends.
 * - No event sequence is an error. What does not fit (a return without a call, a stack pointer in
 *   another stack, lost events) is reconciled by the rules in calltree_place.c, counted, and marked
 *   doubtful. */
#ifndef PROFILER_CORE_CALLTREE_H
#define PROFILER_CORE_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/address_counts.h"
#include "profiler/core/calltree_watch.h"
#include "targets/event.h"

#define CALLTREE_NONE UINT32_MAX

enum calltree_kind {
    CALLTREE_FUNCTION,  /* called, jumped to, or found running; or a block */
    CALLTREE_INTERRUPT, /* entered by an interrupt: always a root */
    CALLTREE_EXCEPTION, /* entered by an exception: always a root */
    CALLTREE_LOST,      /* root: counter steps during which events were lost */
    CALLTREE_OTHER,     /* root: paths beyond max_nodes */
    CALLTREE_SAMPLE,    /* root: a function found by samples; hits are samples */
    CALLTREE_TASK /* root: a task that an EVENT_TASK announced; addr is its context, its functions
                     are below. No hits, nothing of its own */
};

/* The function an address belongs to, as a resolver answers. */
struct calltree_range {
    /* same for every address (and alias) of one function: its canonical start */
    uint64_t id;
    uint64_t low, high; /* [low, high) in the alias space of the address asked for */
};
/* Returns false if no function is known there; then every call target is a function of its own. */
typedef bool calltree_resolve(void *ctx, uint64_t addr, struct calltree_range *out);

struct calltree_config {
    calltree_resolve *resolve; /* NULL: no symbols */
    /* the user's block that holds an address, a part of a function with a node of its own below
     * that of its function; false: it is in none. NULL: there are no blocks */
    calltree_resolve *block;
    /* for symbols_range(): the struct symbols, open as long as the tree is fed */
    void *resolve_ctx;
    uint32_t max_nodes; /* 0: 1 Mi. 104 bytes each. */
    /* frames per stack; 0: 4096. Deeper calls are charged to the deepest frame. */
    uint32_t max_depth;
    /* tasks followed at once; 0: 64. The one unused longest is forgotten. */
    uint32_t max_stacks;
    /* that have a root of their own; 0: 4096. Functions of later tasks get roots as if no task
     * were known. */
    uint32_t max_tasks;
    /* different addresses of samples that are counted; 0: 256 Ki. 32 bytes each. */
    uint32_t max_addresses;
    /* told of steps and activations; copied. NULL: nobody is */
    const struct calltree_watch *watch;
};

/* What each event touches comes first. */
struct calltree_node {
    uint64_t addr;         /* where the function starts; 0 for LOST and OTHER */
    uint64_t hits, c1, c2; /* self: without callees */
    uint64_t low, high;    /* function range in addr's alias; equal if unknown */
    uint64_t steps;        /* counter steps charged to it, doubtful ones among them */
    uint32_t child[2];     /* cache: two children entered last, CALLTREE_NONE at first */
    /* the lower halves of their addresses, to rule out others quickly */
    uint32_t child_addr[2];
    uint32_t parent;   /* CALLTREE_NONE at roots; always smaller than the node's own index */
    uint16_t vector;   /* INTERRUPT, EXCEPTION: code of the first that came in here */
    uint8_t kind;      /* enum calltree_kind */
    bool block : 1;    /* a block of `parent`'s function, which low and high are of */
    bool doubtful : 1; /* some of its counts may belong elsewhere */
    /* calls out of it may have gone unseen, so all below it may have run more often */
    bool lacking : 1;
    uint32_t doubts; /* how often that happened; stays at its maximum */
    /* handlers: counter 1 from entry to RTE, nested handlers included; longest < shortest: none
     * ended yet */
    uint64_t longest, shortest;
};

/* What one cause (enum event_cause) has lost. */
struct calltree_loss {
    uint64_t gaps, events; /* EVENT_LOSTs, and what they say */
    uint64_t c1;           /* counter 1 steps in those gaps */
    bool bound;            /* some of events is an upper bound */
};

/* An exception whose handler was still open when profiling stopped last, or the part was reset. */
struct calltree_unfinished {
    bool is;
    bool reset; /* that ended it */
    uint16_t vector;
    uint64_t pc; /* where the program took it; 0 unknown */
    uint64_t c1; /* counter 1 since then */
};

/* What was seen, for coverage and for judging the tree. */
struct calltree_stats {
    uint64_t events;    /* fed, of every kind */
    uint64_t inactive;  /* of those, ignored because profiling was not active */
    uint64_t lost;      /* events reported lost */
    bool lost_is_bound; /* some of that is an upper bound */
    uint64_t gaps;      /* EVENT_LOSTs */
    /* of those, because adapter or board were away: how much was lost is not known */
    uint64_t link_gaps;
    uint64_t gap_c1; /* counter 1 steps spent in gaps (also the LOST node's c1) */
    struct calltree_loss loss[EVENT_NCAUSES]; /* all of that by cause; one not known is NONE */
    uint64_t doubtful;                        /* events flagged doubtful, or that did not fit */
    uint64_t starts, stops;
    uint64_t total_c1, total_c2; /* steps charged: the sum over all nodes */
    uint64_t active_cycles;      /* time_cycles between starts and stops, if known */
    uint64_t orphan_returns;     /* returns that matched no frame */
    uint64_t unwinds;            /* returns that closed more than one frame (longjmp) */
    uint64_t switches;           /* changes of stack */
    uint64_t tail_calls;
    /* calls, jumps and returns into code that may be left without an event; handlers that were */
    uint64_t blind_events;
    /* counter 1 from those to the next event (of handlers, from the one before their end): which
     * function it belongs to is not known */
    uint64_t blind_c1;
    uint64_t inferred;       /* frames opened or closed because an event's pc said so */
    uint32_t nesting;        /* most handlers open at once */
    uint64_t untraced_rtes;  /* handlers closed by reconciliation, not by an RTE */
    uint64_t node_overflow;  /* calls charged to OTHER */
    uint64_t depth_overflow; /* calls beyond max_depth */
    uint64_t stack_overflow; /* stacks forgotten beyond max_stacks */
    uint64_t backwards;      /* counter steps below zero, taken as zero */
    uint64_t clears;         /* how often the counts were cleared; it alone is kept */
    struct calltree_unfinished unfinished;
};

struct calltree; /* private to calltree.c */

/* calltree_new - an empty tree, inactive until EVENT_START
 * cfg   copied, with its watch; NULL for defaults without symbols. Returns 0 or -ERR_NOMEM. */
int calltree_new(const struct calltree_config *cfg, struct calltree **out, struct err *err);

/* calltree_free - NULL is fine. */
void calltree_free(struct calltree *t);

/* calltree_feed - take n events in order. Never fails: see calltree_stats. */
void calltree_feed(struct calltree *t, const struct event *events, size_t n);

/* calltree_clear - forget what was counted, keep nodes and stacks: a view starts over without
 * losing its place. What EVENT_CLEAR does, and an EVENT_AGAIN that forgets: a profile that is also
 * recorded is cleared by these, so that its recording agrees. */
void calltree_clear(struct calltree *t);

/* calltree_nodes - all nodes, parents before children; borrowed until the next call but stats
 * n   how many. */
const struct calltree_node *calltree_nodes(const struct calltree *t, size_t *n);

/* calltree_addresses - where samples were taken, in the order they were first met; node is the
 * SAMPLE root whose hits they are, or OTHER. Its hits are the sum over its addresses, but for those
 * in `dropped`: of addresses beyond max_addresses. Borrowed as calltree_nodes(). */
const struct address_counts *calltree_addresses(const struct calltree *t);

/* calltree_stats - counts so far; borrowed as long as the tree, changes with every feed. */
const struct calltree_stats *calltree_stats(const struct calltree *t);

/* calltree_active - between EVENT_START and EVENT_STOP. */
bool calltree_active(const struct calltree *t);

/* calltree_current - node that is being charged, CALLTREE_NONE if inactive. */
uint32_t calltree_current(const struct calltree *t);

#endif
