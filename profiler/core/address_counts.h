/* How often each address was met: where in its function a sample was taken. */
#ifndef PROFILER_CORE_ADDRESS_COUNTS_H
#define PROFILER_CORE_ADDRESS_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct address_count {
    uint64_t address, hits;
    uint32_t node; /* what the address was counted for when it was first met: the caller's number */
};

/* Zero-initialise but for limit. Memory grows with the number of different addresses, up to limit;
 * those that come later are counted in dropped. */
struct address_counts {
    uint32_t limit; /* rows at most; below 2^30 */
    struct address_count *row;
    uint32_t n, cap;
    uint32_t *slot; /* open addressing, power of two: index into row + 1; 0: free */
    uint32_t nslots;
    uint64_t dropped; /* times an address was met that found no row: limit, or no memory */
};

/* address_counts_add - one more of that address. Allocates only when the table doubles. */
void address_counts_add(struct address_counts *a, uint64_t address, uint32_t node);

/* address_counts_clear - forget what was counted, keep the memory. */
void address_counts_clear(struct address_counts *a);

/* address_counts_fini - frees all; a zeroed struct is fine. */
void address_counts_fini(struct address_counts *a);

#endif
