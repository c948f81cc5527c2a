/* Events: what targets tell the profiler. Both targets make the same ones. What a target cannot
 * know is marked absent, never zero. */
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
    /* a raw trace line: line_bytes, byte 0 lowest; no profile effect, for recordings and
       --trace-lines */
    EVENT_LINE,
    /* code pc..target (exclusive) ran `runs` times more. Blocks may overlap: the counts of an
     * address add up */
    EVENT_BLOCK,
    /* the branch at pc was taken and not taken so many times more than the last such event said */
    EVENT_BRANCH,
    EVENT_SAMPLE,    /* pc: sampled address; without pc: the CPU was asleep */
    EVENT_TIMESTAMP, /* Time and counters. With EVENT_HAS_PC also where the program is, which ends a
                        gap. With EVENT_SP_EXACT as well: the handler of an exception goes on at pc
                        with another stack pointer than the exception left, so it has not gone back
                      */
    EVENT_LOST,      /* lost_events before this one (cause says why) */
    EVENT_NOTE,      /* cause: what happened (enum event_cause), no profile effect */
    EVENT_RATE, /* Counter 1 is estimated: code pc..target (exclusive) really takes factor_per_1e6
                   of it, +- spread_per_1e6. An event without pc is for all other code and begins a
                   new set, with measurements and sources. The last set holds for the whole profile
                 */
    EVENT_UNTRACED, /* A place that gives no events: pc, place_kind, place_cause; `by` if
                       EVENT_HAS_TARGET; code_bytes. An event without pc begins a new list, as after
                       arming */
    EVENT_TASK,  /* A task of the program, as its operating system has it. context is its number in
                    later events. Part 0 has task_number, task and its stack. Each further part has
                    32 bytes more of its name, in c1, c2, target and amount, first byte lowest, 0
                    behind its end */
    EVENT_CLEAR, /* The user starts the counts again: what was counted up to here is forgotten, but
                    not where the program is. Made on the host, between two events of the target */
    /* The trace was armed anew, with other counters or points. `counts` is what the counters count
     * from here on. Where counters are given, too, the next events' begin from these, and the
     * program was held meanwhile: it is where it was. Else EVENT_START tells where it is. Made on
     * the host */
    EVENT_AGAIN,
    /* pc: from here on a start or stop point. Without pc: a new list begins. Made on the host,
     * behind EVENT_AGAIN */
    EVENT_POINT,
    /* target: where the overlay is loaded that lies at pc, its run address, from here on. Without
     * target: from here on nobody knows which one does */
    EVENT_OVERLAY,
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
    /* sp + amount is exactly the stack pointer that the program goes on with: behind a delay slot,
     * or an RTE */
    EVENT_SP_EXACT = 1 << 9,
    EVENT_BLIND = 1 << 10 /* a call, jump or return into code whose end may give no event: the
                             search did not find it, or some of it is not traced */
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

/* Part 0 of an EVENT_TASK: whether the task is new. */
enum event_task {
    EVENT_TASK_NEW,
    EVENT_TASK_AGAIN /* it is known, but its name or stack may have changed */
};
enum { EVENT_TASK_NAME = 32 /* bytes a part */ };

/* Of an EVENT_POINT. */
enum event_point { EVENT_POINT_START, EVENT_POINT_STOP };

/* What estimates are corrected by. */
enum event_source { EVENT_BY_STAMPS = 1, EVENT_BY_ARRIVALS = 2 };

/* 72 bytes, passed in arrays; no pointers, so it can be recorded and replayed as it is. What a
 * member means depends on the kind: names below that share their bytes belong to different kinds.
 * Recordings, and whoever passes events on, use the first name of each. */
struct event {
    uint64_t time_cycles; /* target clock, CPU cycles incl. agent time, since arming */
    uint64_t host_ns;     /* host monotonic clock when received */
    union {
        uint64_t pc;          /* address of the instruction */
        uint64_t task_number; /* EVENT_TASK, part 0: its system's */
    };
    union {
        uint64_t target;    /* where control went; of code: its end */
        uint64_t by;        /* EVENT_UNTRACED: start of the function whose calls are the reason */
        uint64_t stack_low; /* EVENT_TASK, part 0 */
    };
    union {
        uint64_t c1;         /* cumulative counter 1 since arming, agent cost already subtracted */
        uint64_t line_bytes; /* EVENT_LINE */
        uint64_t taken;      /* EVENT_BRANCH: times */
        uint64_t factor_per_1e6; /* EVENT_RATE */
    };
    union {
        uint64_t c2;             /* counter 2, likewise */
        uint64_t not_taken;      /* EVENT_BRANCH: times */
        uint64_t spread_per_1e6; /* EVENT_RATE: +- that much, with 95 % probability */
    };
    union {
        uint64_t amount;       /* 0 where no name below is meant */
        uint64_t lost_events;  /* EVENT_LOST: how many */
        uint64_t missed_looks; /* EVENT_SAMPLE: before it */
        uint64_t looks_per_s;  /* EVENT_START of samples: asked for; 0: of a trace */
        /* EVENT_CALL, EVENT_RETURN, EVENT_TIMESTAMP: what the slot adds to sp, if EVENT_SP_EXACT */
        int64_t slot_adds;
        uint64_t runs;         /* EVENT_BLOCK: times */
        uint64_t measurements; /* EVENT_RATE: it rests on; 0: none, the factor is 1 */
        uint64_t code_bytes;   /* EVENT_UNTRACED: of a stretch of code */
        uint64_t stack_bytes;  /* EVENT_TASK, part 0 */
        uint64_t counts;       /* EVENT_AGAIN: counter 1's code, and above 16 bits counter 2's */
    };
    uint32_t sp; /* stack pointer at the event, before its effect */
    union {
        uint16_t vector;     /* INTEVT/EXPEVT code */
        uint16_t sources;    /* EVENT_RATE: enum event_source */
        uint16_t place_kind; /* EVENT_UNTRACED: enum coverage_kind */
        uint16_t part;       /* EVENT_TASK */
    };
    uint8_t kind; /* enum event_kind */
    union {
        uint8_t cause;       /* enum event_cause */
        uint8_t place_cause; /* EVENT_UNTRACED: enum coverage_cause */
        uint8_t task;        /* EVENT_TASK, part 0: enum event_task */
        uint8_t forgets;     /* EVENT_AGAIN: 1: what was counted is forgotten, as by EVENT_CLEAR */
        uint8_t point;       /* EVENT_POINT: enum event_point */
    };
    uint32_t flags;   /* enum event_flag */
    uint32_t context; /* stack/task id if the target knows it (EVENT_TASK names some), else 0 */
};

/* event_cause_name - one word for machines, "ring-full"; "unknown" for what is none of enum
 * event_cause. Static text. */
const char *event_cause_name(unsigned cause);

_Static_assert(sizeof(struct event) == 72, "recordings and queues count on it");

#endif
