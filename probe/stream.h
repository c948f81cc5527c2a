/* Byte stream link: a serial port or a socket with an SH-4 agent or a GDB remote stub at its far
 * end; or datagrams to a Dreamcast's loader. What a target driver sees of any adapter that moves
 * bytes both ways.
 *
 * Every call has a deadline of its own; none is restarted by a signal. After -ERR_USB the stream is
 * gone: probe_reopen(). */
#ifndef PROBE_STREAM_H
#define PROBE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct probe;

enum stream_trait {
    /* --probe said that a GDB remote stub is at the far end; without it: whatever the target driver
       wants there */
    STREAM_RSP = 1 << 0,
    /* bytes arrive whole and in order, or the stream ends (sockets); else they may be damaged or
       missing */
    STREAM_LOSSLESS = 1 << 1,
    STREAM_DCLOAD = 1 << 2,   /* --probe said that dcload-serial is to load the agent */
    STREAM_DATAGRAMS = 1 << 3 /* a Dreamcast's dcload-ip: what is written and read at once is a
                                 datagram, which may be lost, late, or come twice */
};

struct stream_ops {
    /* enum stream_trait bits of this open adapter. */
    unsigned (*traits)(struct probe *p);
    /* Waits until something is there, at most max_ns (0: takes what is there already), then gives
     * up to cap bytes of it. Returns how many; 0: nothing came in time. -ERR_USB: the port was
     * unplugged, or the far end closed the connection. */
    int (*read)(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err);
    /* Hands over all of buf, which the system may still hold when this returns. 0; -ERR_TIMEOUT:
     * not all was taken within max_ns, and how much of it nobody knows; -ERR_USB as read(). */
    int (*write)(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns, struct err *err);
    /* Drops what has come and was not read. */
    int (*flush)(struct probe *p, struct err *err);
    /* Bits per second of a serial line, 8N1; what was written before still leaves at the old rate,
     * what comes while it changes is lost. *got (may be NULL): the rate the port really has, within
     * 3 percent. -ERR_UNSUPPORTED, nothing changed: the port cannot, or is a socket. open() sets
     * the rate of the adapter's options; reopen() the last one set. */
    int (*set_baud)(struct probe *p, uint32_t baud, uint32_t *got, struct err *err);
    /* Bits per second that --probe asks for, whatever set_baud() has made of them since; 0: a
     * socket. */
    uint32_t (*baud)(struct probe *p);
    /* How long an answer of the far end may take, as --probe says; 0: it does not, and the target
     * driver knows. The member may be NULL. */
    unsigned (*timeout_ms)(struct probe *p);
    /* The link's clock, monotonic, ns. */
    uint64_t (*now_ns)(struct probe *p);
    /* Datagrams only, NULL for all others: questions and answers that carry no number go through a
     * second local port. ask() sends one; fresh: through a port that was not used before, so that
     * an answer to an older question never comes to answer(), which is as read(). */
    int (*ask)(struct probe *p, const uint8_t *buf, size_t len, bool fresh, struct err *err);
    int (*answer)(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err);
    /* Totals since open: bytes, and system calls that moved some; any pointer may be NULL. */
    void (*stats)(struct probe *p, uint64_t *sent, uint64_t *received, uint64_t *transfers);
};

#endif
