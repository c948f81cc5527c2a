/* Runs of bits in packed bytes, bit 0 of byte 0 first: how JTAG scans and adapters' messages hold
 * them. */
#ifndef PROBE_BASE_BITS_H
#define PROBE_BASE_BITS_H

#include <stdint.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

/* bits_get - n bits (1..56) from bit i on, the first of them in bit 0; reads no byte beyond the
 * last of them. */
static inline uint64_t bits_get(const uint8_t *p, uint32_t i, uint32_t n)
{
    uint64_t v = 0;
    uint32_t last = (i + n - 1) / 8;
    for (uint32_t byte = i / 8, shift = 0; byte <= last; byte++, shift += 8)
        v |= (uint64_t)p[byte] << shift;
    return v >> (i % 8) & (((uint64_t)1 << n) - 1);
}

/* bits_or - ORs the low n bits (1..56) of v in at bit i; v has no other bits set. */
static inline void bits_or(uint8_t *p, uint32_t i, uint64_t v, uint32_t n)
{
    v <<= i % 8;
    for (uint32_t byte = i / 8, last = (i + n - 1) / 8; byte <= last; byte++, v >>= 8)
        p[byte] |= (uint8_t)v;
}

/* bits_copy_or - ORs n bits (0 is fine) of src from src_bit on into dst at dst_bit: a copy, where
 * dst's bits are 0. */
static inline void bits_copy_or(uint8_t *dst, uint32_t dst_bit, const uint8_t *src,
                                uint32_t src_bit, uint32_t n)
{
    for (uint32_t k; n > 0; n -= k, dst_bit += k, src_bit += k) {
        k = MIN(n, 56u);
        bits_or(dst, dst_bit, bits_get(src, src_bit, k), k);
    }
}

/* bits_copy - the same with dst's bits replaced; those before and after stay. src and dst may not
 * overlap. */
static inline void bits_copy(uint8_t *dst, uint32_t dst_bit, const uint8_t *src, uint32_t src_bit,
                             uint32_t n)
{
    for (uint32_t k; n > 0; n -= k, dst_bit += k, src_bit += k) {
        if (dst_bit % 8 == 0 && n >= 32) { /* words are what most scans carry */
            put_le32(dst + dst_bit / 8, (uint32_t)bits_get(src, src_bit, k = 32));
            continue;
        }
        k = MIN(n, 8 - dst_bit % 8);
        unsigned shift = dst_bit % 8, mask = ((1u << k) - 1) << shift;
        dst[dst_bit / 8] =
            (uint8_t)((dst[dst_bit / 8] & ~mask) | (unsigned)bits_get(src, src_bit, k) << shift);
    }
}

#endif
