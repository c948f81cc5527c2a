/* From the words of the trace ring to events. Pure: no target, no I/O. */
#ifndef TARGETS_SH4_TRACE_DECODE_H
#define TARGETS_SH4_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/event.h"
#include "targets/os/tasks.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/trace/plan.h"
#include "targets/target.h"

enum { SH4_TRACE_DISTURBED = 2 /* events, until the agent runs as when it was calibrated */ };
enum { SH4_TRACE_STACKS = 384 };
/* R15 from there on is minus the length of a section of GNU's user-space atomics */
#define SH4_TRACE_ATOMIC 0xFFFFFF80u
enum { SH4_TRACE_CLOSE = 5, SH4_TRACE_RETURN_UNKNOWN = 1, SH4_TRACE_INSIDE = 64 };

/* How the program gets to its own handler behind an interrupt or exception: each by another part of
 * the debug kernel's vectors. */
enum sh4_trace_pass {
    SH4_TRACE_PASS_INTERRUPT,
    SH4_TRACE_PASS_GENERAL,
    SH4_TRACE_PASS_TRAPA,
    SH4_TRACE_PASS_TLB,
    SH4_TRACE_PASSES
};

/* How the program gets into the debug kernel: by a breakpoint, a user break of channel A or B, the
 * host's interrupt. By an ASE break nothing is counted. */
/* clang-format off */
enum sh4_trace_halt {
    SH4_TRACE_HALT_TRAP, SH4_TRACE_HALT_A, SH4_TRACE_HALT_B, SH4_TRACE_HALT_INTERRUPT,
    SH4_TRACE_HALTS, SH4_TRACE_HALT_ASE = SH4_TRACE_HALTS
};
/* clang-format on */

/* Who makes a record: the agent; the host, of a program that has halted; or once more, of one that
 * has not run since the last it made so. */
enum sh4_trace_maker { SH4_TRACE_OF_AGENT, SH4_TRACE_OF_HOST, SH4_TRACE_OF_HOST_AGAIN };

/* What ways in and out of the agent add to each counter against a site's trap and the plain exit,
 * as measured. */
struct sh4_trace_ways {
    int32_t pass[SH4_TRACE_PASSES][2];
    int32_t pending[2]; /* left with time pending */
    int32_t no_trap[2]; /* entered by an interrupt or exception of the program */
    /* through the agent into the kernel, which stops the counters */
    int32_t halt[SH4_TRACE_HALTS][2];
};

/* 1/16 cycles without caches; all zero: not measured. */
struct sh4_trace_memory {
    int32_t pair, read, write; /* a pair of instructions fetched, a word read, a word written */
    /* of a pair, two reads and a write in a row, which are a stub's way back; more than of each
     * alone */
    int32_t far_jump;
};

/* The stack of a task. */
struct sh4_trace_stack {
    uint32_t low, bytes;
    uint32_t context;
    /* of the task that has, or will have, this stack after that one; 0: none */
    uint32_t next;
    uint32_t begun;   /* how many times somebody was seen to begin on it, since the last look */
    uint32_t to_come; /* so many begin before it is the next one's */
    uint32_t last;    /* stack pointer behind the last event on it, */
    bool rises;       /* ... and whether it may have grown less since without an event */
    bool fixed;       /* named by the user */
    bool ran;         /* its task has */
    bool gone;        /* ... and is not there any more */
};

/* Caller's struct: set the first part, zero the rest. */
struct sh4_trace_decoder {
    const struct sh4_trace_plan *plan; /* ours_alone */
    uint16_t code[2];                  /* counter events; 0 = counter absent */
    int32_t residue16[2]; /* per event in 1/16 counts, measured with a plain call and return */
    struct sh4_trace_ways ways;
    /* the program runs without caches: what displaced code takes is reckoned from memory16 */
    bool uncached;
    /* it has switched them since the ring was last read, nobody knows between which events, or was
     * not measured with them as they are */
    bool guessed;
    /* the residue of an event without one of the caches takes so many cycles at least; 0: not
     * known */
    int32_t one_cache16;
    struct sh4_trace_memory memory16;
    int32_t first[2]; /* of the first record after arming: no stub ran before it */
    bool started;     /* the first record was seen */
    /* enum sh4_trace_halt: how the program came into the kernel, of records the host makes */
    uint8_t halt;
    uint8_t of_host; /* enum sh4_trace_maker, of the records that are decoded */
    /* so many events to come are doubtful: the agent took time for what leaves no record, or its
     * lines are not in the caches */
    uint8_t disturbed;
    bool has_vbr;
    uint32_t vbr; /* the program's; K_VBR tells of changes */

    uint64_t c16[2]; /* cumulative, 1/16 counts */
    /* elapsed cycles that passed before start points were met, traps on the way there included;
     * each less than 2^32 */
    uint64_t outside;
    int64_t debt16[2]; /* what subtracting the residue took too much, to be taken off later */
    uint32_t last;     /* number of the event whose stub ran last */
    /* of the last record: enum sh4_trace_kind, or SH4_TRACE_K_END for a short one */
    uint32_t last_kind;
    uint16_t last_vector; /* of the last record, an interrupt's or exception's code */
    uint32_t site;        /* whose stub the program runs, if it runs one */
    /* stub addresses that were interrupted, and whose stub it was */
    struct {
        uint32_t at, sp, site;
    } inside[SH4_TRACE_INSIDE];
    unsigned ninside;
    uint32_t at;      /* where the last event left the program going, 0 not known */
    uint32_t sp_base; /* of short records */
    struct sh4_trace_stack stack[SH4_TRACE_STACKS];
    size_t nstacks, recent;
    bool tasks; /* stacks of tasks are known that nobody has named */
    /* since the last event on a known stack an interrupt or exception has come */
    bool handler;
    /* of the last event: of its stack's range; beside all ranges that stays */
    uint32_t context;
    /* last target by number, plan->nids entries; caller allocates, zeroed. Bit 0: blind */
    uint32_t *target;
    /* may code there end without an event? Asked once a new target; NULL: no */
    bool (*blind)(const void *ctx, uint32_t target);
    const void *blind_ctx;
    /* return addresses as the agent has them; SH4_TRACE_RETURN_UNKNOWN: it has another */
    uint32_t kept[SH4_TRACE_KEPT_RETURNS];
    uint64_t events, doubtful, corrupt;
};

/* sh4_trace_decode - decode words of the ring
 * words, n   in ring order; only whole records are consumed
 * host_ns    goes into every event
 * out, cap   events, cap at least 2: a record gives one, or two (an RTE and the next interrupt)
 * used       words consumed; less than n if out is full or the last record is incomplete
 * Returns the number of events. Words that make no sense are skipped one by one, counted in
 * d->corrupt and reported as one EVENT_LOST each run. */
size_t sh4_trace_decode(struct sh4_trace_decoder *d, const uint32_t *words, size_t n,
                        uint64_t host_ns, struct event *out, size_t cap, size_t *used);

/* sh4_trace_name_stack - [low, high) is the stack of `context`, as the user says: nothing changes
 * that. sh4_trace_task_stacks - these are the tasks there are now; stacks that lie in one that was
 * named are left out. What is decoded next may be older: where a stack has passed from one task to
 * another, it is the new one's from the event on that shows it. sh4_trace_settle_stacks - all that
 * is decoded from now on is younger than the last look. sh4_trace_stacks_pass_on - do some pass
 * from one task to another? Then the words are decoded beforehand, with a copy of the decoder, and
 * sh4_trace_stacks_begun is told what that has seen.
 * sh4_trace_context - the context of an event, all else of which is there. */
void sh4_trace_name_stack(struct sh4_trace_decoder *d, uint64_t low, uint64_t high,
                          uint32_t context);
void sh4_trace_task_stacks(struct sh4_trace_decoder *d, const struct task *task, size_t n);
void sh4_trace_settle_stacks(struct sh4_trace_decoder *d);
bool sh4_trace_stacks_pass_on(const struct sh4_trace_decoder *d);
void sh4_trace_stacks_begun(struct sh4_trace_decoder *d, const struct sh4_trace_decoder *seen);
uint32_t sh4_trace_context(struct sh4_trace_decoder *d, const struct event *e);

/* sh4_trace_filter_cost - what one filtered interrupt adds to counter n (0 or 1) by itself, counts.
 */
int32_t sh4_trace_filter_cost(const struct sh4_trace_decoder *d, int n);
/* sh4_trace_decode_forget - what the agent keeps of return addresses is no longer known: returns
 * have no target until it has sent, or was seen to keep, others. With `zeroed` it is known that it
 * has none. */
void sh4_trace_decode_forget(struct sh4_trace_decoder *d, bool zeroed);
/* sh4_trace_decode_lost - the agent dropped `events` events: what it cost will be taken off what
 * comes next. */
void sh4_trace_decode_lost(struct sh4_trace_decoder *d, uint32_t events);

#endif
