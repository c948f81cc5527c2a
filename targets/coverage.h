/* What a trace does not see: places that give no events, and code nobody searched. A report without
 * these would be confidently wrong. They travel as events (EVENT_UNTRACED), so a recording has
 * them, too. */
#ifndef TARGETS_COVERAGE_H
#define TARGETS_COVERAGE_H

enum coverage_kind {
    /* an instruction that calls: the call is not seen, and its time is the caller's */
    COVERAGE_CALL,
    /* one that returns: the time until the next event stays with the function that ended */
    COVERAGE_RETURN,
    COVERAGE_JUMP, /* one that may leave its function by a jump */
    COVERAGE_CODE, /* a stretch of code: amount is its bytes */
    COVERAGE_NKINDS
};

enum coverage_cause {
    COVERAGE_BLOCKED,    /* exceptions are blocked there: no trap can be taken */
    COVERAGE_SLOT,       /* a branch leads to its delay slot */
    COVERAGE_BAD_SLOT,   /* no instruction that may stand there is in its delay slot */
    COVERAGE_FIXED,      /* it cannot be executed elsewhere */
    COVERAGE_ROM,        /* memory there takes no patch */
    COVERAGE_TRANSLATED, /* its address is translated */
    COVERAGE_LIMIT,      /* more places than can be traced at once */
    COVERAGE_DEBUGGER,   /* what would trace it is in the debugger's use */
    COVERAGE_UNREACHED,  /* no control flow that was found leads there */
    COVERAGE_OTHER,
    COVERAGE_ASKED,   /* left alone on request */
    COVERAGE_CHANGED, /* the program has replaced the code there */
    COVERAGE_COPIED,  /* the program has copied it elsewhere, which is where it runs */
    COVERAGE_NCAUSES
};

/* coverage_cause_text, coverage_cause_name, coverage_kind_name - a sentence's end for people ("may
 * run with exceptions blocked, ..."), and one word each for machines. Static text, never NULL. */
const char *coverage_cause_text(enum coverage_cause cause);
const char *coverage_cause_name(enum coverage_cause cause);
const char *coverage_kind_name(enum coverage_kind kind);

#endif
