#include "probe/base/decimal.h"

#include <string.h>

/* From the last digit to the first. */
size_t decimal_digits(char *out, uint64_t value)
{
    char digits[DECIMAL_MOST];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t decimal_thousandths(char *out, uint64_t value)
{
    unsigned rest = (unsigned)(value % 1000);
    size_t n = decimal_digits(out, value / 1000);
    out[n++] = '.';
    out[n++] = (char)('0' + rest / 100);
    out[n++] = (char)('0' + rest / 10 % 10);
    out[n++] = (char)('0' + rest % 10);
    return n;
}
