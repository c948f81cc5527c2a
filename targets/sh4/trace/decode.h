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

enum { SH4_TRACE_DISTURBED = 2 /* events until the agent runs as it did at calibration */ };
enum { SH4_TRACE_STACKS = 384 };
/* from here on R15 is minus the length of a section of GNU's user-space atomics */
#define SH4_TRACE_ATOMIC 0xFFFFFF80u
enum { SH4_TRACE_CLOSE = 5, SH4_TRACE_RETURN_UNKNOWN = 1, SH4_TRACE_INSIDE = 64 };

/* How the program gets to its own handler after an interrupt or exception: each way is by another
 * part of the debug kernel's vectors. */
enum sh4_trace_pass {
    SH4_TRACE_PASS_INTERRUPT,
    SH4_TRACE_PASS_GENERAL,
    SH4_TRACE_PASS_TRAPA,
    SH4_TRACE_PASS_TLB,
    SH4_TRACE_PASSES
};

/* How the program gets into the debug kernel: by a breakpoint, by a user break of channel A or B,
 * by the host's interrupt. An ASE break counts nothing. */
/* clang-format off */
enum sh4_trace_halt {
    SH4_TRACE_HALT_TRAP, SH4_TRACE_HALT_A, SH4_TRACE_HALT_B, SH4_TRACE_HALT_INTERRUPT,
    SH4_TRACE_HALTS, SH4_TRACE_HALT_ASE = SH4_TRACE_HALTS
};
/* clang-format on */

/* Who makes a record: the agent; the host, of a halted program; or the host again, of a program
 * that has not run since its last record. */
enum sh4_trace_maker { SH4_TRACE_OF_AGENT, SH4_TRACE_OF_HOST, SH4_TRACE_OF_HOST_AGAIN };

/* What the ways in and out of the agent add to each counter, compared with a site's trap and the
 * plain exit, as measured. */
struct sh4_trace_ways {
    int32_t pass[SH4_TRACE_PASSES][2];
    int32_t pending[2]; /* the exit with time pending */
    int32_t no_trap[2]; /* entered by an interrupt or exception of the program */
    /* through the agent into the kernel, which stops the counters */
    int32_t halt[SH4_TRACE_HALTS][2];
};

/* Costs without caches in 1/16 cycles; all zero: not measured. */
struct sh4_trace_memory {
    int32_t pair, read,
        write; /* of fetching a pair of instructions, reading a word, writing a word */
    /* what a pair, two reads and a write in a row, as at the end of a stub, take beyond each alone
     */
    int32_t far_jump;
};

/* The stack of a task. */
struct sh4_trace_stack {
    uint32_t low, bytes;
    uint32_t context;
    /* context of the task that has this stack next; 0: none */
    uint32_t next;
    uint32_t begun;   /* how many times a task was seen to begin on it since the last look */
    uint32_t to_come; /* how many begin before it is the next task's */
    uint32_t last;    /* the stack pointer behind the last event on it */
    bool rises;       /* it may have become less than that since, without an event */
    bool fixed;       /* named by the user */
    bool ran;         /* its task has run */
    bool gone;        /* its task does not exist any more */
};

/* The caller's struct: set the first part, zero the rest. */
struct sh4_trace_decoder {
    const struct sh4_trace_plan *plan; /* borrowed */
    uint16_t code[2];                  /* counter events; 0 = counter absent */
    int32_t residue16[2]; /* per event in 1/16 counts, measured with a plain call and return */
    struct sh4_trace_ways ways;
    /* the program runs without caches: the cost of displaced code comes from memory16 */
    bool uncached;
    /* the program has switched its caches since the ring was last read, and it is not known between
     * which events; or nothing was measured with the caches as they are */
    bool guessed;
    /* the least cycles of an event's residue while a cache is off; 0: not known */
    int32_t one_cache16;
    struct sh4_trace_memory memory16;
    int32_t first[2]; /* residue of the first record after arming, before which no stub ran */
    bool started;     /* the first record was seen */
    /* enum sh4_trace_halt: how the program came into the kernel, for records that the host makes */
    uint8_t halt;
    /* instructions that way had less than the one that was measured (halt_time.c) */
    uint8_t way_less;
    uint8_t of_host; /* enum sh4_trace_maker of the records that are being decoded */
    /* how many of the next events are doubtful: the agent spent time without a record, or its lines
     * are not in the caches */
    uint8_t disturbed;
    bool has_vbr;
    uint32_t vbr; /* the program's; K_VBR records change it */

    uint64_t c16[2]; /* cumulative, 1/16 counts */
    /* elapsed cycles before start points were met, traps on the way there included; each wait is
     * less than 2^32 */
    uint64_t outside;
    int64_t debt16[2]; /* what was subtracted too much as residue, to be made up for later */
    uint32_t last;     /* number of the event whose stub ran last */
    /* the last record's enum sh4_trace_kind, or SH4_TRACE_K_END for a short one */
    uint32_t last_kind;
    uint16_t last_vector; /* the last record's code, if it was an interrupt or exception */
    uint32_t site;        /* the site whose stub the program runs, if it runs one */
    /* stubs that were interrupted: where, and whose */
    struct {
        uint32_t at, sp, site;
    } inside[SH4_TRACE_INSIDE];
    unsigned ninside;
    uint32_t at;      /* where the program goes on behind the last event; 0: not known */
    uint32_t sp_base; /* of short records */
    struct sh4_trace_stack stack[SH4_TRACE_STACKS];
    size_t nstacks, recent;
    bool tasks; /* some stacks were found by looking for tasks, not named by the user */
    /* an interrupt or exception has come since the last event on a known stack */
    bool handler;
    /* context of the last event; it stays the same beside all known stacks */
    uint32_t context;
    /* last target by number, plan->nids entries; caller allocates, zeroed. Bit 0: blind */
    uint32_t *target;
    /* whether code there may end without an event; asked once for each new target. NULL: it may not
     */
    bool (*blind)(const void *ctx, uint32_t target);
    const void *blind_ctx;
    /* the return addresses that the agent has; SH4_TRACE_RETURN_UNKNOWN: it has another */
    uint32_t kept[SH4_TRACE_KEPT_RETURNS];
    uint64_t events, doubtful, corrupt;
};

/* sh4_trace_decode - decodes words of the ring
 * words, n   in ring order; only whole records are consumed
 * host_ns    goes into every event
 * out, cap   events; cap is at least 2, as a record gives one event or two (an RTE and the next
 *            interrupt)
 * used       words consumed; less than n if out is full or the last record is incomplete
 * Returns the number of events. Words that make no sense are skipped one by one, counted in
 * d->corrupt, and each run of them is reported as one EVENT_LOST. */
size_t sh4_trace_decode(struct sh4_trace_decoder *d, const uint32_t *words, size_t n,
                        uint64_t host_ns, struct event *out, size_t cap, size_t *used);

/* sh4_trace_name_stack - the user says that [low, high) is the stack of `context`; nothing changes
 * that.
 * sh4_trace_task_stacks - these are the tasks now. Stacks that lie in one that the user named are
 * left out. Words that are decoded next may be older: where a stack has passed from one task to
 * another, it belongs to the new one from the event on that shows it.
 * sh4_trace_settle_stacks - all that is decoded from now on is younger than the last look.
 * sh4_trace_stacks_pass_on - whether some stack passes from one task to another. Then the words are
 * decoded once beforehand, with a copy of the decoder.
 * sh4_trace_stacks_begun - takes over what that copy has seen.
 * sh4_trace_context - the context of an event whose other members are set. */
void sh4_trace_name_stack(struct sh4_trace_decoder *d, uint64_t low, uint64_t high,
                          uint32_t context);
void sh4_trace_task_stacks(struct sh4_trace_decoder *d, const struct task *task, size_t n);
void sh4_trace_settle_stacks(struct sh4_trace_decoder *d);
bool sh4_trace_stacks_pass_on(const struct sh4_trace_decoder *d);
void sh4_trace_stacks_begun(struct sh4_trace_decoder *d, const struct sh4_trace_decoder *seen);
uint32_t sh4_trace_context(struct sh4_trace_decoder *d, const struct event *e);

/* sh4_trace_filter_cost - how many counts one filtered interrupt itself adds to counter n (0 or 1).
 */
int32_t sh4_trace_filter_cost(const struct sh4_trace_decoder *d, int n);
/* sh4_trace_into_kernel - what the way into the debug kernel, by which the program came there, adds
 * to counter n (0 or 1) beyond an event's residue. Not for an ASE break. */
int32_t sh4_trace_into_kernel(const struct sh4_trace_decoder *d, int n);
/* sh4_trace_decode_forget - the return addresses that the agent has are no longer known. Returns
 * have no target until the agent has sent others, or is seen to have them. zeroed: it is known to
 * have none. */
void sh4_trace_decode_forget(struct sh4_trace_decoder *d, bool zeroed);
/* sh4_trace_decode_lost - the agent dropped `events` events: what they cost is subtracted from what
 * comes next. */
void sh4_trace_decode_lost(struct sh4_trace_decoder *d, uint32_t events);

#endif
