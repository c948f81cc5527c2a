/* Private to the J-Link driver: the open probe, and what its parts offer each other. */
#ifndef PROBE_JLINK_H
#define PROBE_JLINK_H

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/jlink_protocol.h"
#include "probe/jtag_stream.h"
#include "probe/probe.h"
#include "probe/usb.h"

enum {
    JLINK_CHUNKS = 4,
    JLINK_MAX_FIELDS = 4096,                             /* of one batch */
    JLINK_INS = JLINK_MAX_BITS / 8 / JLINK_TRANSFER + 1, /* reads of one reply */
    /* unless option timeout says otherwise; as libjaylink. A batch's own time comes on top */
    JLINK_REPLY_MS = 1000,
    JLINK_MAX_EMPTY = 4 /* packets in a row */
};

/* One batch: a chunk of the stream, and its request and reply. */
struct jlink_batch {
    uint8_t tms[JLINK_MAX_BITS / 8], tdi[JLINK_MAX_BITS / 8];
    uint8_t out[JLINK_MAX_REQUEST];
    uint8_t in[JLINK_INS * JLINK_TRANSFER + JLINK_TRANSFER];
    struct jtag_field field[JLINK_MAX_FIELDS];
    enum jlink_command command;
    size_t want;    /* bytes of its reply */
    unsigned reads; /* of them that wait on the bus */
    bool flying;
};

struct jlink {
    struct probe probe;
    struct adapter adapter; /* how it is found again */
    struct usb *usb;        /* NULL: lost */
    uint8_t ep_in, ep_out;
    unsigned max_packet;
    uint64_t past_transfers, past_bytes; /* of connections that were closed */
    /* what it is */
    uint8_t caps[JLINK_CAPS_BYTES];
    unsigned hw_major;
    char firmware[64];
    uint32_t base_hz, memory;
    uint16_t min_div;
    /* what was asked of it */
    unsigned reply_ms;
    uint32_t wanted_hz, tck_hz;
    unsigned pins;       /* outputs, as set last */
    uint16_t handle;     /* of our registration, 0: none */
    unsigned millivolts; /* as read last */
    /* bytes of replies that came with others */
    uint8_t rest[2 * JLINK_TRANSFER];
    size_t nrest;
    struct jtag_stream stream;
    struct jtag_chunk chunk[JLINK_CHUNKS];
    struct jlink_batch batch[JLINK_CHUNKS];
    struct jlink_batch *awaited; /* whose reply is to come */
    bool wrote;                  /* HW_JTAG_WRITE since the last GET_RESULT */
};

/* ---- jlink_ask.c: one request after the other ---- */

/* jlink_need - waits until n bytes of reply are in j->rest. */
int jlink_need(struct jlink *j, size_t n, unsigned timeout_ms, struct err *err);

/* jlink_take - the first n of them, which leave j->rest. */
void jlink_take(struct jlink *j, uint8_t *reply, size_t n);

/* jlink_ask_within - sends a request, and fetches n bytes of reply (0: it has none; at most
 * JLINK_TRANSFER) within timeout_ms. */
int jlink_ask_within(struct jlink *j, const uint8_t *request, size_t len, uint8_t *reply, size_t n,
                     unsigned timeout_ms, struct err *err);

/* jlink_ask - sends a one-byte request, and fetches n bytes of reply (0: it has none; at most
 * JLINK_TRANSFER). */
int jlink_ask(struct jlink *j, enum jlink_command command, uint8_t *reply, size_t n,
              struct err *err);

/* ---- jlink_session.c ---- */

/* jlink_get_state - pins and supply as the probe sees them; j->millivolts is that supply. */
int jlink_get_state(struct jlink *j, struct jlink_state *state, struct err *err);
/* the output pins in mask, as j->pins has them */
int jlink_drive(struct jlink *j, unsigned mask, struct err *err);
int jlink_set_speed(struct jlink *j, uint32_t hz, struct err *err);

/* jlink_interface - the interface with the two bulk endpoints, or NULL: class and subclass 255.
 * Others are a serial port, a disk. */
const struct usb_interface *jlink_interface(const struct usb_info *dev, uint8_t *in, uint8_t *out,
                                            unsigned *max_packet);

/* jlink_connect - opens j->adapter, proves that it is in step, and sets everything up as j says;
 * j->usb is NULL after a failure. */
int jlink_connect(struct jlink *j, struct err *err);
void jlink_disconnect(struct jlink *j); /* keeps the totals */
/* before the last jlink_disconnect(): the probe's table is small */
void jlink_unregister(struct jlink *j);

/* jlink_recovered - after a failure: back in step, or lost. Returns `ret` as jtag.h has it, or
 * -ERR_USB. */
int jlink_recovered(struct jlink *j, int ret, struct err *err);

/* jlink_look - opens j->adapter, asks for firmware and abilities, closes it again; nothing that
 * touches the target. */
int jlink_look(struct jlink *j, bool *can_jtag, struct err *err);

/* ---- jlink_batch.c ---- */

void jlink_batch_init(struct jlink *j);               /* once, for the life of j */
void jlink_set_batch(struct jlink *j, uint32_t bits); /* of the largest from now on */

/* jlink_run - executes ops; any failure but -ERR_USAGE leaves requests and replies behind:
 * jlink_recovered(). */
int jlink_run(struct jlink *j, const struct jtag_op *ops, size_t n, struct err *err);

/* jlink_try_batches - when it has been opened: makes batches smaller until the probe's memory holds
 * one. Clocks with TMS high only. */
int jlink_try_batches(struct jlink *j, struct err *err);

#endif
