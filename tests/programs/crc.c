/* CRC-32 by bits, by a table, and by nibbles in assembly; all three have to agree. */
#include "program.h"
const u32 expected = 0xffbae609;
enum { BYTES = 64 };
static u32 table[256];
static u8 data[BYTES];
u32 crc_fast(u32 crc, const u8 *p, u32 n);
static u32 crc_byte(u32 crc, u8 v)
{
    crc ^= v;
    for (u32 k = 0; k < 8; k++)
        crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    return crc;
}
static u32 crc_bits(u32 crc, const u8 *p, u32 n)
{
    while (n--)
        crc = crc_byte(crc, *p++);
    return crc;
}
static void fill_table(void)
{
    for (u32 k = 0; k < 256; k += 8)
        table[k] = crc_byte(0, k);
}
static u32 crc_table(u32 crc, const u8 *p, u32 n)
{
    while (n--) {
        u32 k = (crc ^ *p++) & 255;
        if (!table[k])
            table[k] = crc_byte(0, k);
        crc = table[k] ^ crc >> 8;
    }
    return crc;
}
u32 program(void)
{
    for (u32 k = 0; k < BYTES; k++)
        data[k] = k * 37 + 11;
    fill_table();
    u32 x = ~crc_bits(~0u, data, BYTES), y = ~crc_table(~0u, data, BYTES), z = ~0u;
    for (u32 k = 0; k < BYTES; k += 16)
        z = crc_fast(z, data + k, 16);
    return x == y && x == ~z ? x : 0;
}
