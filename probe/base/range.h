/* Searching what is sorted. */
#ifndef PROBE_BASE_RANGE_H
#define PROBE_BASE_RANGE_H

#include <stddef.h>

/* PARTITION_POINT - of n rows, where those for which `before` is true stand in front of all others:
 * the index of the first for which it is not; n if there is none. `i` is the name of the index in
 * `before`: size_t behind = PARTITION_POINT(n, i, row[i].low <= addr);      the last row at or
 * below addr is behind - 1 */
#define PARTITION_POINT(n, i, before)                                 \
    ({                                                                \
        size_t range_lo_ = 0, range_hi_ = (n);                        \
        while (range_lo_ < range_hi_) {                               \
            const size_t i = range_lo_ + (range_hi_ - range_lo_) / 2; \
            if (before)                                               \
                range_lo_ = i + 1;                                    \
            else                                                      \
                range_hi_ = i;                                        \
        }                                                             \
        range_lo_;                                                    \
    })

#endif
