/* Functions that call one another in circles: the strongly connected components of a graph of
 * calls. */
#ifndef PROFILER_PROFILE_CIRCLES_H
#define PROFILER_PROFILE_CIRCLES_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise, then circles_find(). A function alone is a component, too, whether it calls
 * itself or not. */
struct circles {
    uint32_t *of; /* by function: its component, from 1 on; all that it calls have it or a lower one
                   */
    uint32_t *order; /* the functions, component after component */
    uint32_t n;      /* components */
};

/* circles_find - of functions 0 to n-1
 * first   n + 1 of them: the callees of function i are callee[first[i]] to callee[first[i + 1] - 1]
 * callee  may name one several times
 * Returns 0; -ERR_NOMEM. circles_fini() in both cases. */
int circles_find(struct circles *c, size_t n, const size_t *first, const uint32_t *callee);

/* circles_fini - frees; a zeroed struct is fine. */
void circles_fini(struct circles *c);

#endif
