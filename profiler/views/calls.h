/* Who called a function, and what it called: sums over all call paths that lead through it. */
#ifndef PROFILER_VIEWS_CALLS_H
#define PROFILER_VIEWS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

enum calls_side { CALLS_CALLERS, CALLS_CALLEES };

/* In place of a function: the paths that begin with it (of callers), what it took itself (of
 * callees). */
#define CALLS_ITSELF UINT32_MAX

/* Of callers: what the function took when this one called it. Of callees: what this one took when
 * the function called it. */
struct calls_row {
    uint32_t function; /* index into the profile's, or CALLS_ITSELF */
    uint64_t hits;
    uint64_t c1, c1_children;
    uint64_t c2, c2_children;
    bool doubtful; /* a path of it is */
    /* all of it is within an outer call of the function: c1_children and c2_children are 0 here,
     * and part of another row's */
    bool within;
    bool hits_unknown; /* nothing in the file called it */
    bool own_unknown;  /* c1 and c2: the file tells what calls took with all that was called */
};

struct calls {
    struct calls_row *row; /* in no order; caller frees */
    size_t n;
};

/* calls_find - the function that people mean by `text`: its shown name, its qualified or its
 * linkage name, or an address in it, "0x8c010120"
 * out    index into the profile's functions
 * Returns 0; -ERR_USAGE: there is none, with the nearest names, or there are several, with all. */
int calls_find(const struct profile *p, const char *text, uint32_t *out, struct err *err);

/* calls_of - the rows of one side, from call paths, or calls where those are not known. Over the
 * callers, each sum is the function's own: its hits, C1, C1+children. Over the callees with
 * CALLS_ITSELF, c1_children add up to the function's C1+children unless others that it called have
 * called it again. p      a trace: a statistical profile has no call paths, and gives no rows out
 * free(out->row) Returns 0 or -ERR_NOMEM. */
int calls_of(const struct profile *p, uint32_t function, enum calls_side side, struct calls *out,
             struct err *err);

#endif
