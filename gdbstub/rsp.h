/* The framing of GDB's remote serial protocol: bytes to packets, escapes, numbers, sums. Pure
 * functions over bytes: no I/O, no allocation, no state but the caller's.
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

/* A decoder belongs to its caller, who zeroes it and sets buf and cap, and changes nothing else. */
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

/* rsp_decode - takes bytes until something is complete
 * in, len   received bytes; they may be split anywhere
 * item      what was found
 * Returns how many bytes were used, at least 1 if len > 0; call again with the rest. Escapes (0x7D)
 * are undone. A '$' inside a body begins another packet: the one before it was cut off. */
size_t rsp_decode(struct rsp_decoder *d, const uint8_t *in, size_t len, enum rsp_item *item);

enum rsp_opening {
    RSP_OPENING_BAD,   /* another protocol */
    RSP_OPENING_MORE,  /* a debugger's so far, and nothing to answer yet */
    RSP_OPENING_WHOLE, /* whole packets, or a 0x03, and nothing behind them */
};

/* rsp_opening - whether a debugger begins a connection so
 * p, n   all that has come so far
 * In the first packets of GDB and LLDB (qSupported, QStartNoAckMode) every character is one of '!'
 * to
 * '~'. The first line of an HTTP request has a blank in it, whatever its method is; '+' and '$g#67'
 * may be methods, too. Source: RFC 9110, 5.6.2 (tchar). */
enum rsp_opening rsp_opening(const uint8_t *p, size_t n);

/* rsp_checksum - sum of the bytes modulo 256. */
uint8_t rsp_checksum(const uint8_t *p, size_t n);

/* rsp_binary_encode - writes n bytes with escapes for '#', '$', '}' and '*' into at most 2 * n; in
 * may be the second half of out. Returns the length. */
size_t rsp_binary_encode(uint8_t *out, const uint8_t *in, size_t n);

/* rsp_number - reads an unsigned hexadecimal number at *p, and moves *p behind it
 * Returns false, with *p and *out untouched, if there is no digit or it exceeds 64 bits. */
bool rsp_number(const char **p, uint64_t *out);

/* rsp_crc32 - goes on with the sum that qCRC asks for over n bytes; begin with 0xFFFFFFFF
 * Polynomial 0x04C11DB7, most significant bit first, without a final inversion. Source: GDB manual,
 * General Query Packets (qCRC); "Separate Debug Files" names the same generator. */
uint32_t rsp_crc32(uint32_t crc, const uint8_t *p, size_t n);

#endif
