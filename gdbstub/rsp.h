/* GDB remote serial protocol: framing and number coding, pure functions over bytes.
 * Source: GDB manual, appendix "GDB Remote Serial Protocol": Overview (packets, checksum, escapes,
 * acknowledgment), Notification Packets, Interrupts. */
#ifndef GDBSTUB_RSP_H
#define GDBSTUB_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rsp_item {
    RSP_MORE,      /* all bytes used, nothing complete yet */
    RSP_PACKET,    /* a packet with a good checksum is in buf[0..len), NUL after it */
    RSP_BAD,       /* a packet ended, its checksum is wrong */
    RSP_OVERLONG,  /* a packet ended that did not fit buf */
    RSP_ACK,       /* '+' */
    RSP_NAK,       /* '-' */
    RSP_INTERRUPT, /* 0x03 between packets; inside one it is data */
};

/* Caller's struct; zero it and set buf and cap, nothing else. */
struct rsp_decoder {
    uint8_t *buf; /* cap + 1 bytes */
    size_t cap;   /* longest payload taken, after unescaping */
    size_t len;
    enum rsp_state { RSP_IDLE, RSP_BODY, RSP_ESCAPE, RSP_SUM1, RSP_SUM2 } state;
    uint8_t sum; /* of the body so far */
    uint8_t sum_high;
    bool overlong;
    uint64_t junk; /* bytes outside packets that mean nothing, and bodies cut off by a new '$' */
};

/* rsp_decode - take bytes until something is complete
 * in, len   received bytes, split anywhere
 * item      what was found
 * Returns the number of bytes used, at least 1 if len > 0; call again with the rest. Escapes (0x7D)
 * are undone. A '$' inside a body starts a new packet: the old one was cut off. */
size_t rsp_decode(struct rsp_decoder *d, const uint8_t *in, size_t len, enum rsp_item *item);

enum rsp_opening {
    RSP_OPENING_BAD,   /* another protocol */
    RSP_OPENING_MORE,  /* a debugger's so far, nothing to answer yet */
    RSP_OPENING_WHOLE, /* whole packets, or a 0x03, and nothing behind */
};

/* rsp_opening - is this what a debugger says first? Nothing of GDB's and LLDB's first packets
 * (qSupported, QStartNoAckMode) is outside of '!' to '~'; a request of HTTP has a space within its
 * first line, whatever its method is: '+' and '$g#67' are methods, too (RFC 9110, 5.6.2 tchar). p,
 * n   all that came so far */
enum rsp_opening rsp_opening(const uint8_t *p, size_t n);

/* rsp_checksum - sum of the bytes modulo 256. */
uint8_t rsp_checksum(const uint8_t *p, size_t n);

/* rsp_hex_encode - 2n digits, no terminator. in may be the second half of out. */
void rsp_hex_encode(char *out, const uint8_t *in, size_t n);

/* rsp_hex_decode - n bytes from 2n digits; false (out may be partly written) at the first other
 * character. in and out may be the same place. */
bool rsp_hex_decode(uint8_t *out, const char *in, size_t n);

/* rsp_binary_encode - escape '#', '$', '}' and '*' of n bytes into at most 2n; in may be the second
 * half of that. Returns the length. */
size_t rsp_binary_encode(uint8_t *out, const uint8_t *in, size_t n);

/* rsp_number - unsigned hexadecimal number at *p, which moves behind it
 * Returns false, *p and *out untouched, if there is no digit or it exceeds 64 bits. */
bool rsp_number(const char **p, uint64_t *out);

/* rsp_crc32 - the CRC of qCRC: polynomial 0x04C11DB7, most significant bit first, no final
 * inversion; start with 0xFFFFFFFF. Source: GDB manual, "Separate Debug Files" names the same
 * generator; General Query Packets, qCRC. */
uint32_t rsp_crc32(uint32_t crc, const uint8_t *p, size_t n);

#endif
