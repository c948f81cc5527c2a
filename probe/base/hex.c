#include "probe/base/hex.h"

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    if (lower >= 'a' && lower <= 'f')
        return lower - 'a' + 10;
    return -1;
}

void hex_encode(char *out, const uint8_t *in, size_t n)
{
    /* Arithmetic instead of a table, so that the compiler can do many bytes at a time. */
    for (size_t i = 0; i < n; i++) {
        unsigned high = in[i] >> 4, low = in[i] & 15u;
        out[2 * i] = (char)(high + '0' + (high > 9 ? 'a' - '0' - 10 : 0));
        out[2 * i + 1] = (char)(low + '0' + (low > 9 ? 'a' - '0' - 10 : 0));
    }
}

void hex_string(char *out, const uint8_t *in, size_t n)
{
    hex_encode(out, in, n);
    out[2 * n] = 0;
}

/* Value of a digit, or a number with bit 8 set, without a branch. */
static inline unsigned digit_or_bit8(uint8_t c)
{
    unsigned digit = (uint8_t)(c - '0');
    unsigned letter = (uint8_t)((c | 0x20) - 'a');
    unsigned from_letter = 0x100;
    if (letter < 6)
        from_letter = letter + 10;
    if (digit < 10)
        return digit;
    return from_letter;
}

bool hex_decode(uint8_t *out, const char *in, size_t n)
{
    const uint8_t *p = (const uint8_t *)in;
    unsigned bad = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned high = digit_or_bit8(p[2 * i]), low = digit_or_bit8(p[2 * i + 1]);
        bad |= high | low;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return bad < 0x100;
}
