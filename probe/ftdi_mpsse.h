/* JTAG ops as commands of FTDI's MPSSE engine, and its replies as their results. Pure: bytes in and
 * out of a caller's buffers.
 *
 * Long shifts go as bytes, the last bit of a scan goes out with TMS; TMS commands have at most 6
 * bits (some FT2232 parts are reported to get 7 wrong), so the end of one DR scan and the beginning
 * of the next are one command. A scan of 32 bits behind another takes 12 bytes out and 5 back.
 * Source: FTDI AN_108, Command Processor for MPSSE (opcodes, order of bits). */
#ifndef PROBE_FTDI_MPSSE_H
#define PROBE_FTDI_MPSSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/jtag.h"

enum {
    MPSSE_MIN_OUT = 64, /* least capacities of a batch */
    MPSSE_MIN_IN = 16,
    MPSSE_MIN_REPLIES = 8,
    MPSSE_PACKET_DATA = 510 /* of one packet to the host, behind its two status bytes */
};

/* Reply bytes that belong to an op's tdo. */
struct mpsse_reply {
    uint8_t *dst;  /* NULL: of no interest */
    uint32_t bit;  /* first bit in dst */
    uint32_t bits; /* 8 or more: whole bytes; fewer: of one byte, from bit `at` on */
    uint8_t at;
    bool last; /* of its op: the rest of dst's last byte becomes 0 */
};

/* What one transfer carries. Buffers and capacities are the caller's; mpsse_begin() empties it. */
struct mpsse_batch {
    uint8_t *out;
    struct mpsse_reply *reply;
    uint32_t cap_out, cap_in, cap_replies;
    /* bytes of a full packet to the host without its status; 0: MPSSE_PACKET_DATA, high speed */
    uint32_t packet_data;
    bool falling; /* TDO is sampled on the falling edge: helps at high TCK */
    uint32_t nout, nin, nreplies;
    uint64_t clocks;
    uint8_t token; /* echoed at the end of the replies */
    /* TMS bits not put down yet: what follows may join them */
    struct {
        uint8_t bits, n;
        bool tdi, data, read; /* level for all of them; one of them is a data bit, and is read */
        uint8_t read_at;
        struct mpsse_reply reply;
    } tms;
};

/* Where in the ops an encoding is. Set ops and n, all else 0. */
struct mpsse_cursor {
    const struct jtag_op *ops;
    size_t n, i;
    unsigned phase;
    uint32_t done; /* bits of the scan, or idle clocks */
};

/* mpsse_begin - empties it; its buffers and limits stay. */
void mpsse_begin(struct mpsse_batch *b);
/* mpsse_encode - puts down as many ops as fit, also part of one
 * Returns whether all are done. After false finish this batch and go on in another. */
bool mpsse_encode(struct mpsse_cursor *c, struct mpsse_batch *b);
/* mpsse_finish - ends it: an opcode that does not exist (0xAA or 0xAB), whose echo ends the replies
 * and shows that none is missing or old, and send-immediate. The number of reply bytes is then not
 * a multiple of packet_data: such an answer would wait for the latency timer. */
void mpsse_finish(struct mpsse_batch *b, uint8_t token);
/* mpsse_decode - puts the replies (b->nin bytes, without status bytes) where they belong
 * -ERR_PROTOCOL if they do not end with the echo of the token; nothing is delivered then. */
int mpsse_decode(const struct mpsse_batch *b, const uint8_t *in, struct err *err);

/* mpsse_strip - takes the two status bytes off every packet of `packet` bytes, in place; returns
 * what is left. */
size_t mpsse_strip(uint8_t *data, size_t n, size_t packet);

/* mpsse_divisor - for a TCK of at most hz (above 0): value for opcode 0x86; *slow: the 12 MHz base
 * is needed. *got_hz is what it gives. TCK = base / (2 * (1 + divisor)), base 60 or 12 MHz. Source:
 * AN_108, 3.8.2. */
uint16_t mpsse_divisor(uint32_t hz, bool *slow, uint32_t *got_hz);

#endif
