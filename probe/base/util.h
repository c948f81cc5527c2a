/* Small things every layer needs. */
#ifndef PROBE_BASE_UTIL_H
#define PROBE_BASE_UTIL_H

#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* Each argument is evaluated once: MIN(poll(...), 0) once polled twice and forgot a failure. */
#undef MIN /* some system headers bring theirs */
#undef MAX
#define MIN(a, b)                                         \
    ({                                                    \
        __typeof__((a) + (b)) min_a_ = (a), min_b_ = (b); \
        min_a_ < min_b_ ? min_a_ : min_b_;                \
    })
#define MAX(a, b)                                         \
    ({                                                    \
        __typeof__((a) + (b)) max_a_ = (a), max_b_ = (b); \
        max_a_ > max_b_ ? max_a_ : max_b_;                \
    })
/* The struct that holds member `m` at `p`. */
#define CONTAINER_OF(p, type, m) ((type *)((char *)(p)-offsetof(type, m)))

#endif
