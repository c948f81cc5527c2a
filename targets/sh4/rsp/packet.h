/* Packets of GDB's remote protocol as a client meets them: bytes to packets and back. No I/O, no
 * allocation. Source: GDB manual, appendix "GDB Remote Serial Protocol", Overview (framing,
 * escapes, run-length encoding, notifications). */
#ifndef TARGETS_SH4_RSP_PACKET_H
#define TARGETS_SH4_RSP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RSP_BODY_MAX = 16384 };

enum rsp_event {
    RSP_MORE,   /* nothing complete yet */
    RSP_ACK,    /* '+' */
    RSP_NAK,    /* '-' */
    RSP_PACKET, /* body is complete, its checksum right, escapes and runs undone */
    RSP_BAD     /* a packet with a wrong checksum, a broken run, or longer than RSP_BODY_MAX */
};

struct rsp_parser {
    enum { RSP_IDLE, RSP_IN_BODY, RSP_IN_RUN, RSP_IN_ESCAPE, RSP_SUM1, RSP_SUM2 } state;
    char body[RSP_BODY_MAX + 1]; /* ends with a 0 that len does not count */
    size_t len;
    uint8_t sum, given;
    bool damaged, notification;
    uint64_t noise; /* bytes outside of any packet */
};

/* rsp_parse - feeds bytes until one completes something
 * ev   what it is; body is valid until the next call
 * Returns how many bytes were used (all, with RSP_MORE); feed the rest again. A '$' begins a new
 * packet wherever it comes. Notifications ('%') are skipped. A parser begins as zeros. */
size_t rsp_parse(struct rsp_parser *p, const uint8_t *in, size_t n, enum rsp_event *ev);

/* rsp_frame - "$body#sum", with the four characters that need it escaped
 * Returns its length, 0 if cap is too small; cap 2 * n + 4 always does. */
size_t rsp_frame(char *out, size_t cap, const char *body, size_t n);

#endif
