/* Calls from function to function, as gprof and its like want them: by addresses, each pair once.
 */
#ifndef PROFILER_VIEWS_ARCS_H
#define PROFILER_VIEWS_ARCS_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

/* First addresses of the caller, since call sites are not counted apart, and of what it called;
 * from is 0 of what has no caller: an address in no function. */
struct arc {
    uint64_t from, to, count;
};

/* Zero-initialise, then arcs_make(). */
struct arcs {
    struct arc *arc; /* by to, then from */
    size_t n;
};

/* arcs_make - of a profile's call paths, or calls; arcs_fini() frees them. What has no address is
 * left out. s: the program, whose own addresses they get; may be NULL. Returns 0 or -ERR_NOMEM. */
int arcs_make(const struct profile *p, const struct symbols *s, struct arcs *out, struct err *err);

/* arcs_address - a function's first address as the ELF has it: a program may have run in another
 * alias. */
uint64_t arcs_address(const struct profile *p, const struct symbols *s, size_t function);

/* arcs_fini - frees; a zeroed struct is fine. */
void arcs_fini(struct arcs *a);

#endif
