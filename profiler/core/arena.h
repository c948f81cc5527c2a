/* Arena: many small allocations that live and die together. */
#ifndef PROFILER_CORE_ARENA_H
#define PROFILER_CORE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *head;
    size_t used; /* bytes handed out, for limits */
};

/* arena_alloc - n zeroed bytes, aligned for any type; NULL if memory is out. Valid until
 * arena_fini. */
void *arena_alloc(struct arena *a, size_t n);

/* arena_strn, arena_str - a copy with terminator; NULL if memory is out. arena_str(NULL) is NULL.
 */
char *arena_strn(struct arena *a, const char *s, size_t n);
char *arena_str(struct arena *a, const char *s);

/* arena_printf - formatted; NULL if memory is out. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* arena_fini - frees all; a zeroed struct is fine. The arena can be used again. */
void arena_fini(struct arena *a);

#endif
