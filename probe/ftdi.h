/* FTDI's MPSSE chips (FT232H, FT2232H, FT4232H and their successors) as JTAG adapters: what the
 * files of the driver share. */
#ifndef PROBE_FTDI_H
#define PROBE_FTDI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/adapter.h"
#include "probe/ftdi_mpsse.h"
#include "probe/probe.h"
#include "probe/usb.h"

struct ftdi_context; /* libftdi1's */

/* ---- boards (ftdi_layouts.c) ---- */

/* Where a signal of the target hangs. Bits 0..7: ADBUS, 8..15: ACBUS. data 0: only oe can pull it
 * low; oe 0: it is always driven; oe equal to data: released by turning the pin into an input. */
struct ftdi_pin {
    uint16_t data, oe;
    bool data_inverted; /* a high pin is a low signal */
    bool oe_low;        /* the buffer drives while its pin is low */
};

/* One adapter's wiring. */
struct ftdi_layout {
    const char *name; /* layout=NAME */
    uint16_t vid, pid;
    /* in the product string; NULL: chosen by name only, since others have the same ids and strings
     */
    const char *product;
    char channel;              /* 'A' or 'B': the one with JTAG; 0 any */
    uint16_t value, direction; /* pins at the start; TMS high, TCK and TDI low, TDO an input */
    struct ftdi_pin ntrst, nreset;
};
const struct ftdi_layout *ftdi_layouts(void); /* ends with name NULL */
/* ftdi_layout_of - the layout a device has by its ids and product; "generic" if nothing is known of
 * it. Never NULL. */
const struct ftdi_layout *ftdi_layout_of(uint16_t vid, uint16_t pid, const char *product);
const struct ftdi_layout *ftdi_layout_named(const char *name); /* NULL if there is none */
extern const struct usb_id ftdi_ids[];                         /* of every layout */

/* ---- an open chip ---- */

/* clang-format off */
enum {
    FTDI_BATCHES = 4, FTDI_READS = 4,      /* in flight */
    FTDI_OUT = 16384, FTDI_IN = 16384, FTDI_REPLIES = 4096, FTDI_READ = 16384
};
/* clang-format on */

/* One transfer's worth of commands and what came back. */
struct ftdi_batch {
    struct mpsse_batch m;
    uint8_t out[FTDI_OUT], in[FTDI_IN];
    uint32_t got;
    struct mpsse_reply reply[FTDI_REPLIES];
};

enum ftdi_signal { FTDI_NTRST, FTDI_NRESET, FTDI_ASEBRK, FTDI_VTREF, FTDI_NSIGNALS };

struct ftdi {
    struct probe probe;
    struct adapter row;
    const struct ftdi_layout *layout;
    struct ftdi_pin pin[FTDI_NSIGNALS];
    uint32_t hz, got_hz;
    bool adaptive, falling;
    /* while open */
    struct usb *usb;
    struct usb_info dev;
    struct ftdi_context *ctx;
    uint8_t ep_in, ep_out;
    uint16_t packet;
    uint8_t old_latency;       /* ms, given back at the end */
    uint16_t value, direction; /* of the pins, without TMS */
    unsigned low;              /* enum ftdi_signal bits: those we pull low */
    bool tms_low;              /* after a batch; before the first it is high */
    bool broken;               /* out of step: recover before the next use */
    uint8_t tokens;
    /* in flight: batches first .. first + flying - 1; reads are always posted in turn */
    struct ftdi_batch *batch;
    unsigned first, flying, next_read, posted;
    uint8_t (*read)[FTDI_READ];
    /* totals of earlier openings */
    uint64_t clocks, old_transfers, old_bytes;
};

/* ftdi_session.c */

/* ftdi_start - opens, sets up and proves the chip: in step, loopback of the data path, clock, pins
 * as they were set last. */
int ftdi_start(struct ftdi *f, const struct usb_info *dev, struct err *err);
/* pins become inputs, the latency timer goes back; fine when nothing is open */
void ftdi_stop(struct ftdi *f);
/* ftdi_ready - to be called before anything else: 0, recovering the chip if it is out of step;
 * -ERR_USB it is not open or does not recover. */
int ftdi_ready(struct ftdi *f, struct err *err);
/* ftdi_lost - after a failure: how far the chip came is not known. The caller has to start over,
 * as after an unplugging. Drops what is in flight; the next ftdi_ready() recovers.
 * Returns -ERR_USB, err named. */
int ftdi_lost(struct ftdi *f, struct err *err);
/* ftdi_run - ops, as jtag_ops.execute(). Any failure but -ERR_USAGE is -ERR_USB and leaves the chip
 * to be recovered. */
int ftdi_run(struct ftdi *f, const struct jtag_op *ops, size_t n, struct err *err);
/* ftdi_command - other commands, with nin reply bytes (0 is fine); returns when they have been
 * carried out. */
int ftdi_command(struct ftdi *f, const uint8_t *out, size_t nout, uint8_t *in, size_t nin,
                 struct err *err);
/* These two leave a failure as it is. */
int ftdi_send_pins(struct ftdi *f, struct err *err);  /* value and direction */
int ftdi_send_clock(struct ftdi *f, struct err *err); /* hz, adaptive; sets got_hz */

#endif
