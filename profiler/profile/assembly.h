/* A profile put together from what a file says: functions, call paths or calls, and counts. */
#ifndef PROFILER_PROFILE_ASSEMBLY_H
#define PROFILER_PROFILE_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

/* In place of a node: a path begins there. */
#define ASSEMBLY_ROOT UINT32_MAX

enum { ASSEMBLY_HITS, ASSEMBLY_C1, ASSEMBLY_C2, ASSEMBLY_NCOUNTS };

struct assembly;

/* What a file tells of a function; texts are copied. */
struct assembly_function {
    const char *name; /* name_len bytes; none of them 0. Without any it is "[no name]" */
    size_t name_len;
    const char *linkage; /* the linker's name; NULL if unknown */
    const char *file;    /* NULL if unknown */
    int line;            /* 0 if unknown */
    uint64_t low, high;  /* [low, high); equal if unknown */
};

/* assembly_new - empty; 0 or -ERR_NOMEM. */
int assembly_new(struct assembly **out, struct err *err);

/* assembly_free - NULL is fine. */
void assembly_free(struct assembly *a);

/* assembly_function - its number, added when it is named for the first time: functions of the same
 * name, file and address are one. Returns 0 or -ERR_NOMEM. */
int assembly_function(struct assembly *a, const struct assembly_function *f, uint32_t *out,
                      struct err *err);

/* assembly_enter - the node of `function` below `parent` (or ASSEMBLY_ROOT), added when it is met
 * for the first time. Returns 0 or -ERR_NOMEM. */
int assembly_enter(struct assembly *a, uint32_t parent, uint32_t function, uint32_t *node,
                   struct err *err);

/* assembly_take - adds what a node's function took on this path itself. Returns 0; -ERR_FORMAT: all
 * counts together have more than 64 bits. */
int assembly_take(struct assembly *a, uint32_t node, const uint64_t count[ASSEMBLY_NCOUNTS],
                  bool doubtful, struct err *err);

/* assembly_profile - the profile of all that was taken: a trace with sums only, its counters
 * unnamed, for the caller to fill in. a: only to be freed then. out: profile_free(). Returns 0 or
 * -ERR_NOMEM. */
int assembly_profile(struct assembly *a, struct profile **out, struct err *err);

#endif
