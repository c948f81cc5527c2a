/* Events: the one currency between targets and the profiler. Both targets produce the same ones;
 * what a target cannot know is marked absent, never zero. */
#ifndef TARGETS_EVENT_H
#define TARGETS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_NONE,
    EVENT_START,     /* profiling became active (start point hit, or armed without one) */
    EVENT_STOP,      /* profiling became inactive (stop point, or disarmed) */
    EVENT_CALL,      /* pc: call instruction, target: callee; sp valid */
    EVENT_JUMP,      /* tail-call candidate: register or out-of-function jump, pc -> target */
    EVENT_RETURN,    /* pc: return instruction, target: address returned to */
    EVENT_INTERRUPT, /* pc: interrupted address, target: handler, vector: INTEVT code */
    EVENT_EXCEPTION, /* pc: faulting or next address, target: handler, vector: EXPEVT code */
    EVENT_RTE,       /* target: address resumed; pc: the RTE if known */
    /* a raw trace line: c1 its bytes, byte 0 lowest; no profile effect, for recordings and
       --trace-lines */
    EVENT_LINE,
    /* code pc..target (exclusive) ran `amount` times more; blocks may overlap, counts of an address
       add up */
    EVENT_BLOCK,
    /* the branch at pc was taken c1 and not taken c2 times more than the last such event said */
    EVENT_BRANCH,
    EVENT_SAMPLE,    /* pc: sampled address; without pc: the CPU was asleep */
    EVENT_TIMESTAMP, /* time and counters; with EVENT_HAS_PC also where the program is: ends a gap.
                      * With EVENT_SP_EXACT, too: an exception's handler would go back to pc, and
                      * the program is there with another stack pointer than that would have */
    EVENT_LOST,      /* amount events lost before this one (cause says why) */
    EVENT_NOTE,      /* cause: what happened (enum event_cause), no profile effect */
    EVENT_RATE, /* counter 1 is estimated: code pc..target (exclusive) really takes c1 millionths of
                 * it, +- c2 with 95 % probability. Without pc: all other code, a new set begins;
                 * amount: measurements it rests on (0: none, c1 is 1000000), vector: enum
                 * event_source of them. The last set holds for the whole profile */
    EVENT_UNTRACED, /* a place that gives no events. pc; vector: enum coverage_kind; cause: enum
                     * coverage_cause; target, if there: start of the function whose calls are the
                     * reason; amount: bytes, of a stretch of code. Without pc: a new list begins,
                     * of an arming */
    EVENT_TASK, /* a task of the program, as its operating system has it: context is its number in
                 * events from here on, pc the number its system gives it. Part 0 (vector): its
                 * stack is [target, target + amount); cause: enum event_task. Parts from 1: 32
                 * bytes more of its name each, in c1, c2, target, amount, first byte lowest, 0
                 * behind its end */
    EVENT_NKINDS
};

enum event_flag {
    EVENT_HAS_PC = 1 << 0,
    EVENT_HAS_TARGET = 1 << 1,
    EVENT_HAS_C1 = 1 << 2,
    EVENT_HAS_C2 = 1 << 3,
    EVENT_HAS_SP = 1 << 4,
    EVENT_HAS_TIME = 1 << 5,     /* time_cycles is known */
    EVENT_DOUBTFUL = 1 << 6,     /* counters may be attributed wrongly (CodeScape's red) */
    EVENT_AMOUNT_BOUND = 1 << 7, /* amount is an upper bound, not exact */
    EVENT_UNTRACED_RTE = 1 << 8, /* interrupt or exception whose RTE will give no event */
    /* sp + amount is, to the byte, the stack pointer the program goes on with: behind a delay slot,
       an RTE */
    EVENT_SP_EXACT = 1 << 9,
    EVENT_BLIND = 1 << 10 /* a call, jump or return into code whose end may give no event: it was
                             not found, or some of it is not traced */
};

enum event_cause {
    EVENT_CAUSE_NONE,
    EVENT_CAUSE_RING_FULL,  /* target ring overflowed under the live policy */
    EVENT_CAUSE_LINK,       /* adapter or board went away */
    EVENT_CAUSE_HOST_QUEUE, /* host queue full */
    EVENT_CAUSE_CORRUPT,    /* checksum or sequence failure on the wire */
    EVENT_CAUSE_HALTED,     /* debugger halted the target (note) */
    EVENT_CAUSE_RESUMED,    /* debugger resumed it (note) */
    EVENT_CAUSE_FILTER,     /* interrupt filter excluded something (note) */
    EVENT_CAUSE_RESET,      /* the part was reset: what its trace buffer held is lost */
    EVENT_NCAUSES
};

/* Part 0 of an EVENT_TASK: which of them a task with this context is. */
enum event_task {
    EVENT_TASK_NEW,
    EVENT_TASK_AGAIN /* known already: its name or stack may have changed */
};
enum { EVENT_TASK_NAME = 32 /* bytes a part */ };

/* What estimates are corrected by. */
enum event_source { EVENT_BY_STAMPS = 1, EVENT_BY_ARRIVALS = 2 };

/* 80 bytes, passed in arrays; no pointers, so it can be recorded and replayed as is. */
struct event {
    uint64_t time_cycles; /* target clock, CPU cycles incl. agent time, since arming */
    uint64_t host_ns;     /* host monotonic clock when received */
    uint64_t pc;          /* address of the instruction */
    uint64_t target;      /* where control went */
    uint64_t c1, c2;      /* cumulative counters since arming, agent cost already subtracted */
    uint64_t
        amount;       /* EVENT_LOST: how many events; EVENT_SAMPLE: looks missed before it;
                       * EVENT_START of samples: looks a      second asked for; EVENT_CALL, EVENT_RETURN:
                       * what the slot adds to sp, signed, if EVENT_SP_EXACT; elsewhere 0 */
    uint32_t sp;      /* stack pointer at the event, before its effect */
    uint16_t vector;  /* INTEVT/EXPEVT code */
    uint8_t kind;     /* enum event_kind */
    uint8_t cause;    /* enum event_cause */
    uint32_t flags;   /* enum event_flag */
    uint32_t context; /* stack/task id if the target knows it (EVENT_TASK names some), else 0 */
};

#endif
