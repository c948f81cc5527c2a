/* Small things every layer needs. */
#ifndef PROBE_BASE_UTIL_H
#define PROBE_BASE_UTIL_H

#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#ifndef MIN /* some system headers bring them */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
/* The struct that holds member `m` at `p`. */
#define CONTAINER_OF(p, type, m) ((type *)((char *)(p) - offsetof(type, m)))

#endif
