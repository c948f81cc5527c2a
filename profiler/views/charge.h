/* What gprof makes of a profile beside what was measured. gprof knows what a function took itself
 * and who called it how often; it charges the function's time, with what it called, to its callers
 * by the number of their calls. Functions that call each other in a circle are one there, a cycle.
 * Source: gprof, section 4; PA-64, introduction ("chargeback"). */
#ifndef PROFILER_VIEWS_CHARGE_H
#define PROFILER_VIEWS_CHARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

/* Calls of one function by another, or by nobody: PROFILE_NO_PARENT, a path begins there. */
struct charge_arc {
    uint32_t caller, callee; /* indices into the profile's functions */
    uint64_t calls;
    uint64_t c1, c1_children; /* measured: what the callee took then, and with what it called */
    /* c1_children is 0 here: all of it is within an outer call of the callee, and part of
     * another's; or the file does not tell */
    bool within;
    bool own_unknown; /* c1 is 0, and the file does not tell it */
    bool doubtful;    /* a path of it is */
    /* what gprof charges to the caller of what the callee took, and of what that called; 0 where it
     * charges nothing: to nobody, to itself, within a cycle */
    double charged, charged_below;
};

struct charge_function {
    uint64_t calls;       /* by others that are known */
    uint64_t self_calls;  /* by itself */
    uint32_t cycle;       /* number from 1; 0: it is in none */
    double charged_below; /* what it is charged of what it called */
};

/* The functions of a cycle together. */
struct charge_cycle {
    uint64_t calls;           /* into it from outside */
    uint64_t c1, c1_children; /* c1_children is 0 and means nothing without call paths */
    double charged_below;
};

/* Zero-initialise, then charge_make(). */
struct charge {
    struct charge_arc *arc; /* by callee, then caller; nobody is the last */
    size_t narcs;
    uint32_t *by_caller; /* indices into arc, by caller, then callee; those of nobody last */
    struct charge_function *function; /* as the profile's */
    struct charge_cycle *cycle;
    size_t ncycles;
};

/* charge_make - of a trace's counter 1; charge_fini() frees it. Returns 0 or -ERR_NOMEM. */
int charge_make(const struct profile *p, struct charge *out, struct err *err);

/* charge_callers - arcs to a function; *n of them, from c->arc[result] on. */
size_t charge_callers(const struct charge *c, uint32_t function, size_t *n);

/* charge_callees - arcs from a function; *n of them, from c->by_caller[result] on. */
size_t charge_callees(const struct charge *c, uint32_t function, size_t *n);

/* charge_fini - frees; a zeroed struct is fine. */
void charge_fini(struct charge *c);

#endif
