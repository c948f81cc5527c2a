/* A USB device as the host controller sees it, for tests: descriptors and answers to transfers. One
 * model serves every transport of the rig (user-space test bed, QEMU), so nothing here knows where
 * the requests come from.
 *
 * Behind an adapter's model hangs a board by its pins: struct sim_board (probe/sim.h), reached
 * through clock(), set_pins(), bkgd(). A model is written from the adapter's documents and shares
 * no code with the driver in probe/, so that they can disagree. */
#ifndef TESTS_USB_MODEL_H
#define TESTS_USB_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/sim.h"

enum {
    USB_NAK = -1, /* nothing to say, or no room, now: the host tries again */
    /* refused; the endpoint stays halted until the host clears it (not endpoint 0) */
    USB_STALL = -2,
    USB_GONE = -3 /* unplugged: this and everything later */
};

struct usb_model_identity {
    const uint8_t *device; /* 18 bytes */
    const uint8_t *config; /* configuration with all interfaces and endpoints */
    size_t config_len;
    const char *const *strings; /* [1].. by index, ASCII; NULL ends it; [0] unused */
    const uint8_t *hid_report;  /* report descriptor, NULL without HID */
    size_t hid_report_len;
    bool high_speed; /* else full speed */
};

struct usb_model {
    const struct usb_model_type *type;
    struct usb_model_identity id; /* filled by create(), good until destroy() */
};

struct usb_model_type {
    const char *name; /* "ft2232h" */
    const char *help;
    /* options: "name=value,..." or ""; board: borrowed, NULL where the adapter has no pins. */
    int (*create)(const char *options, struct sim_board *board, struct usb_model **out,
                  struct err *err);
    void (*destroy)(struct usb_model *m);
    /* A class or vendor request on endpoint 0 (standard ones are the rig's). setup: 8 bytes as on
     * the wire; data: in or out by bit 7 of setup[0], len = wLength. Returns bytes moved, or
     * USB_STALL. */
    int (*control)(struct usb_model *m, const uint8_t *setup, uint8_t *data, size_t len);
    /* One transfer to a bulk or interrupt endpoint, as long as the host made it (the rig does not
     * cut it into packets). Returns len, less if only so much was taken now, or USB_NAK, USB_STALL.
     */
    int (*out)(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len);
    /* From an IN endpoint: as much as there is now, up to cap bytes (a multiple of the endpoint's
     * packet) and to the first short packet. Returns bytes (0: a zero-length packet; a multiple of
     * the packet size: the transfer goes on, the rig asks again), or USB_NAK, USB_STALL. */
    int (*in)(struct usb_model *m, uint8_t ep, uint8_t *buf, size_t cap);
    /* Whether an IN transfer said nothing that a host would miss (an FTDI chip's two status bytes):
     * such transfers come as time goes, so they are not counted when a fault is to strike the N-th.
     * NULL: only empty ones are such. */
    bool (*idle)(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len);
    /* of the byte in an answer that names its request, for fault=wrong-id; SIZE_MAX: there is none,
     * the fault does nothing */
    size_t id_offset;
    /* The device was reset, or its endpoint's halt cleared (ep 0: reset). May be NULL. */
    void (*clear)(struct usb_model *m, uint8_t ep);
    /* ns from now until an IN endpoint that said USB_NAK may have something by itself (a latency
     * timer); 0: only after a request. May be NULL. */
    uint64_t (*due_ns)(struct usb_model *m, uint8_t ep);
    /* A number the adapter knows of itself and no transfer shows, by name ("latency"), for tests; <
     * 0: no such. May be NULL. */
    long (*ask)(struct usb_model *m, const char *what);
    /* The adapter's own timers go on by ns: called before every request with what passed since the
     * last. The board's time is the rig's business, it has been advanced already. May be NULL. */
    void (*advance)(struct usb_model *m, uint64_t ns);
};

/* Every model, NULL-terminated. Only tests/system/usb/models.c names them. */
const struct usb_model_type *const *usb_models(void);

#endif
