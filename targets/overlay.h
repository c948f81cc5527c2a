/* Addresses in overlays: code that lies at the same run address at different times. Which of them
 * is meant stands above the 32 bits that an address has on both CPUs: the overlay's number, which
 * is 1 + the index of its section in the program's image; 0 where it is not known, and outside of
 * overlays. Targets give, and are given, plain addresses; capture.c puts the number in. */
#ifndef TARGETS_OVERLAY_H
#define TARGETS_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

enum { OVERLAY_SHIFT = 32 };
#define OVERLAY_BITS (UINT64_MAX << OVERLAY_SHIFT)

/* overlay_address - a plain address in overlay number n, or in none (0). */
static inline uint64_t overlay_address(uint64_t plain, size_t n)
{
    return plain | (uint64_t)n << OVERLAY_SHIFT;
}

/* overlay_plain - the address as the CPU has it. */
static inline uint64_t overlay_plain(uint64_t addr) { return addr & ~OVERLAY_BITS; }

/* overlay_number - of the overlay that holds addr; 0: none, or not known. */
static inline size_t overlay_number(uint64_t addr) { return (size_t)(addr >> OVERLAY_SHIFT); }

/* overlay_canonical - as target_ops.canonical, which knows of no overlays; NULL: every address is
 * its own. */
static inline uint64_t overlay_canonical(uint64_t (*canonical)(uint64_t), uint64_t addr)
{
    if (!canonical)
        return addr;
    return (addr & OVERLAY_BITS) | canonical(overlay_plain(addr));
}

#endif
