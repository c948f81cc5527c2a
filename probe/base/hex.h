/* Bytes as hexadecimal digits, and back. */
#ifndef PROBE_BASE_HEX_H
#define PROBE_BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* hex_digit - the value of a digit, 0 to 15; -1 for any other character. */
int hex_digit(char c);

/* hex_encode - writes 2 * n lower-case digits, the high half of a byte first, without a terminator.
 * in may be the second half of out. */
void hex_encode(char *out, const uint8_t *in, size_t n);

/* hex_string - the same with a terminator: out has 2 * n + 1 bytes. */
void hex_string(char *out, const uint8_t *in, size_t n);

/* hex_decode - reads n bytes from 2 * n digits of either case; all 2 * n characters are read, a
 * terminator among them, too. out and in may be the same place.
 * Returns false if one of them is no digit; out may be partly written then. */
bool hex_decode(uint8_t *out, const char *in, size_t n);

#endif
