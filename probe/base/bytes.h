/* Byte order helpers: hardware and file words are read and written only through these. */
#ifndef PROBE_BASE_BYTES_H
#define PROBE_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

static inline uint16_t le16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t le64(const uint8_t *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }
static inline uint16_t be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static inline uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}
static inline void put_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
static inline void put_le32(uint8_t *p, uint32_t v)
{
    put_le16(p, (uint16_t)v);
    put_le16(p + 2, (uint16_t)(v >> 16));
}
static inline void put_le64(uint8_t *p, uint64_t v)
{
    put_le32(p, (uint32_t)v);
    put_le32(p + 4, (uint32_t)(v >> 32));
}
static inline void put_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}
static inline void put_be32(uint8_t *p, uint32_t v)
{
    put_be16(p, (uint16_t)(v >> 16));
    put_be16(p + 2, (uint16_t)v);
}
/* Target byte order chosen at run time. */
static inline uint16_t get16(const uint8_t *p, bool big) { return big ? be16(p) : le16(p); }
static inline uint32_t get32(const uint8_t *p, bool big) { return big ? be32(p) : le32(p); }
static inline void put16(uint8_t *p, uint16_t v, bool big)
{
    if (big)
        put_be16(p, v);
    else
        put_le16(p, v);
}
static inline void put32(uint8_t *p, uint32_t v, bool big)
{
    if (big)
        put_be32(p, v);
    else
        put_le32(p, v);
}

#endif
