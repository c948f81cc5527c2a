/* What a trace does not see: places that give no events, code that was not searched, and events
 * that were lost. A report without these would look complete and be wrong. Places travel as events
 * (EVENT_UNTRACED), losses as EVENT_LOST, so a recording has both. */
#ifndef TARGETS_COVERAGE_H
#define TARGETS_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

enum coverage_kind {
    /* an instruction that calls: the call is not seen, and its time is the caller's */
    COVERAGE_CALL,
    /* one that returns: the time until the next event stays with the function that ended */
    COVERAGE_RETURN,
    COVERAGE_JUMP, /* one that may leave its function by a jump */
    COVERAGE_CODE, /* a stretch of code: amount is its bytes */
    COVERAGE_NPLACES,
    /* From here on no places. Events that were lost: amount is how many, cause an enum event_cause
     */
    COVERAGE_LOST = COVERAGE_NPLACES,
    /* The board was away, or reset (cause), amount times; how many events that cost is not known.
     * What counter 1 moved by meanwhile is in the row of lost events with the same cause */
    COVERAGE_AWAY,
    /* the program entered code whose end may give no event, amount times */
    COVERAGE_BLIND,
    COVERAGE_NKINDS
};

enum coverage_cause {
    COVERAGE_BLOCKED,    /* exceptions are blocked there: no trap can be taken */
    COVERAGE_SLOT,       /* a branch leads to its delay slot */
    COVERAGE_BAD_SLOT,   /* its delay slot holds an instruction that may not stand in one */
    COVERAGE_FIXED,      /* it cannot be executed elsewhere */
    COVERAGE_ROM,        /* memory there takes no patch */
    COVERAGE_TRANSLATED, /* its address is translated */
    COVERAGE_LIMIT,      /* more places than can be traced at once */
    COVERAGE_DEBUGGER,   /* the debugger uses what would trace it */
    COVERAGE_UNREACHED,  /* no control flow that was found leads there */
    COVERAGE_OTHER,
    COVERAGE_ASKED,   /* left alone on request, or of the agent in the program */
    COVERAGE_CHANGED, /* the program has replaced the code there */
    COVERAGE_COPIED,  /* the program has copied it elsewhere, which is where it runs */
    COVERAGE_NCAUSES
};

/* One thing that was not seen. */
struct coverage_row {
    uint64_t address; /* of a place; of a loss 0 */
    uint64_t by;      /* of a place: start of the function whose calls are the reason; 0: none */
    uint64_t amount;  /* as its kind says; of a call, return or jump 0 */
    uint64_t c1;      /* of a loss: steps of counter 1 meanwhile */
    uint8_t kind;     /* enum coverage_kind */
    uint8_t cause;    /* of a place enum coverage_cause, of a loss enum event_cause */
    bool bound;       /* amount is an upper bound */
};

/* coverage_cause_text, coverage_cause_name, coverage_kind_name - a sentence's end for people ("may
 * run with exceptions blocked, ..."), and one word each for machines. Static text, never NULL. */
const char *coverage_cause_text(enum coverage_cause cause);
const char *coverage_cause_name(enum coverage_cause cause);
const char *coverage_kind_name(enum coverage_kind kind);

#endif
