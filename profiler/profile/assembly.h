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

/* A text in a file, not terminated, and no byte of it is 0; n 0: none. */
struct assembly_text {
    const char *at;
    size_t n;
};

/* What a file tells of a function; texts are copied. */
struct assembly_function {
    struct assembly_text name;    /* without any it is "[no name]" */
    struct assembly_text linkage; /* the linker's name */
    struct assembly_text file;
    struct assembly_text object; /* library or program: tells namesakes without a file apart */
    int line;                    /* 0 if unknown */
    uint64_t low, high;          /* [low, high); equal if unknown */
};

/* assembly_new - empty; 0 or -ERR_NOMEM. */
int assembly_new(struct assembly **out, struct err *err);

/* assembly_free - NULL is fine. */
void assembly_free(struct assembly *a);

/* assembly_function - its number, added when it is named for the first time: functions of the same
 * name, file, object and address are one. Returns 0 or -ERR_NOMEM. */
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

/* assembly_self - adds what a function took itself, where a file has no call paths; as
 * assembly_take(). */
int assembly_self(struct assembly *a, uint32_t function, const uint64_t count[ASSEMBLY_NCOUNTS],
                  struct err *err);

/* assembly_call - adds calls, where a file has no call paths: how many, and what they took with
 * what they called. caller: ASSEMBLY_ROOT: nobody that is known. Sums that do not fit are the
 * largest number. Returns 0 or -ERR_NOMEM. */
int assembly_call(struct assembly *a, uint32_t caller, uint32_t callee,
                  const uint64_t count[ASSEMBLY_NCOUNTS], struct err *err);

/* assembly_doubt - a function is doubtful. */
void assembly_doubt(struct assembly *a, uint32_t function);

/* assembly_once - calls within a function's own calls have nothing in them, as our own files have
 * it: all calls of it add up to what it took with what it called. Else calls of itself are left
 * out; functions that call one another in a circle get those from outside, and are doubtful. */
void assembly_once(struct assembly *a);

/* assembly_profile - the profile of all that was taken: a trace with sums only, its counters
 * unnamed, for the caller to fill in. a: only to be freed then. out: profile_free(). Returns 0 or
 * -ERR_NOMEM. */
int assembly_profile(struct assembly *a, struct profile **out, struct err *err);

/* assembly_remark - one more remark on a profile that was put together so; kind is static, text its
 * arena's, NULL if there was no memory for it. Returns false: out of memory. */
bool assembly_remark(struct profile *p, const char *kind, uint64_t count, const char *text);

#endif
