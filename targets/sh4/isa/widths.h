/* The widths of accesses to memory: 1, 2 or 4 bytes, at addresses that are multiples of them. */
#ifndef TARGETS_SH4_ISA_WIDTHS_H
#define TARGETS_SH4_ISA_WIDTHS_H

#include <stddef.h>

#include "probe/base/bytes.h"

/* sh4_widest_access - the widest access that begins at addr and stays within len bytes. */
static inline unsigned sh4_widest_access(uint32_t addr, size_t len)
{
    if (addr % 4 == 0 && len >= 4)
        return 4;
    if (addr % 2 == 0 && len >= 2)
        return 2;
    return 1;
}

/* sh4_get_value - the value of width bytes at p, in the target's byte order. */
static inline uint32_t sh4_get_value(const uint8_t *p, unsigned width, bool big)
{
    if (width == 4)
        return get32(p, big);
    if (width == 2)
        return get16(p, big);
    return *p;
}

/* sh4_put_value - writes it. */
static inline void sh4_put_value(uint8_t *p, unsigned width, uint32_t v, bool big)
{
    if (width == 4)
        put32(p, v, big);
    else if (width == 2)
        put16(p, (uint16_t)v, big);
    else
        *p = (uint8_t)v;
}

#endif
