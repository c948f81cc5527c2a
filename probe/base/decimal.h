/* Numbers as decimal digits, where millions of them are written. */
#ifndef PROBE_BASE_DECIMAL_H
#define PROBE_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_MOST = 20 /* digits of 2^64 - 1 */ };

/* decimal_digits - what printf() writes for %llu, without an ending 0.
 * out   DECIMAL_MOST bytes; those behind the digits stay as they are
 * Returns how many digits there are, from 1. */
size_t decimal_digits(char *out, uint64_t value);

/* decimal_thousandths - value / 1000 with all three decimals: "0.007". At most DECIMAL_MOST + 1
 * bytes, without an ending 0; returns how many. */
size_t decimal_thousandths(char *out, uint64_t value);

#endif
