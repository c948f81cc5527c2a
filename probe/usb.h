/* USB for the adapter drivers: finding devices, opening one interface, transfers with a deadline
 * and as many of them in flight as a driver wants. The only part beside the drivers of libftdi1 and
 * hidapi that knows libusb. One struct usb is used by one thread at a time; different ones share
 * nothing.
 *
 * Errors, everywhere below: -ERR_USB the device is gone or its transport failed (err says how:
 * unplugged, held by another program, no permission and which udev rule helps), -ERR_TIMEOUT a
 * deadline passed (the transfer is then cancelled and its buffer free again), -ERR_PROTOCOL the
 * endpoint stalled, and the halt has been cleared: what else was in flight on it ends the same way;
 * or more came than was asked for. Source for the meaning of libusb's results: libusb-1.0's API
 * documentation, and its core.c and io.c. */
#ifndef PROBE_USB_H
#define PROBE_USB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"

struct usb;
struct usb_id;

enum usb_speed { USB_SPEED_UNKNOWN, USB_LOW, USB_FULL, USB_HIGH, USB_SUPER };

/* One interface (its first alternate setting) as the descriptors have it. */
struct usb_interface {
    uint8_t number, cls, subclass, protocol;
    uint8_t string; /* index of its name, 0 none; usb_string() reads it */
    char label[64]; /* its name as sysfs has it, "" if that is not known without opening */
    struct usb_endpoint {
        uint8_t address; /* bit 7: IN */
        uint8_t type;    /* 0 control, 1 isochronous, 2 bulk, 3 interrupt */
        uint16_t max_packet;
    } ep[8]; /* in the descriptors' order */
    uint8_t neps;
};

/* One device on the bus. Strings are "" where there is none or it cannot be read; on Linux they
 * come from sysfs, so also for devices that may not be opened. */
struct usb_info {
    uint16_t vid, pid, bcd_device;
    uint8_t bus, address; /* changes with every plugging; bus_path does not */
    char bus_path[32];    /* "1-2.3": bus and ports, as the kernel writes it */
    char serial[80], product[80], manufacturer[80];
    enum usb_speed speed;
    struct usb_interface itf[8];
    uint8_t nitfs;
};

/* usb_list - every device on the bus whose ids stand in `ids` ({0,0} ends it), or every one if ids
 * is NULL out   at most cap rows; returns how many there are in all (may be more than cap). */
int usb_list(const struct usb_id *ids, struct usb_info *out, size_t cap, struct err *err);

/* usb_check - whether this device could be opened now: 0, or the failure that usb_open() would give
 * Leaves the device as it was; a kernel driver stays bound. */
int usb_check(const struct usb_info *dev, uint8_t interface, struct err *err);

/* usb_open - opens a device found by usb_list() and claims one interface
 * A kernel driver on that interface is detached, and attached again by usb_close(); other
 * interfaces are left alone. log    may be NULL; subject usb, one line a transfer out    close with
 * usb_close(). Untouched on failure. */
int usb_open(const struct usb_info *dev, uint8_t interface, const struct log *log, struct usb **out,
             struct err *err);
void usb_close(struct usb *u); /* NULL is fine; cancels what is in flight and waits for that */

/* usb_string - descriptor string `index` as UTF-8, cut to cap; returns its length. */
int usb_string(struct usb *u, uint8_t index, char *buf, size_t cap, struct err *err);

/* usb_control - one request on endpoint 0; type has the direction in bit 7. Returns bytes moved. */
int usb_control(struct usb *u, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                uint8_t *buf, size_t len, unsigned timeout_ms, struct err *err);

/* usb_bulk - one transfer on a bulk or interrupt endpoint, waited for. Returns bytes moved; a read
 * may be short: it ends with a short packet, or at its deadline if anything had come by then (an
 * answer of whole packets need not be followed by an empty one). -ERR_TIMEOUT of a write: part of
 * it may have been taken. */
int usb_bulk(struct usb *u, uint8_t ep, uint8_t *buf, size_t len, unsigned timeout_ms,
             struct err *err);

/* Many in flight: slots are numbered by the caller; a slot holds one transfer at a time. Transfers
 * on one endpoint happen in the order of their submission. The transfer objects exist from usb_open
 * on: nothing is allocated here. */
enum { USB_SLOTS = 64 };
/* buf belongs to the transfer until usb_wait() or usb_cancel_all() has returned. slot must be free.
 */
int usb_submit(struct usb *u, unsigned slot, uint8_t ep, uint8_t *buf, size_t len, struct err *err);
/* Waits for one; the slot is free afterwards, whatever the result. Returns bytes moved, as
 * usb_bulk(); 0 ms looks only whether it is there. A deadline that passes cancels this transfer,
 * not those behind it. */
int usb_wait(struct usb *u, unsigned slot, unsigned timeout_ms, struct err *err);
/* Whether one has completed; waits for nothing and cancels nothing. A slot that is free has not. */
bool usb_ready(struct usb *u, unsigned slot);
void usb_cancel_all(struct usb *u); /* returns when every slot is free */

/* usb_drain - reads and drops what an IN endpoint still holds: until nothing comes for quiet_ms, at
 * most `most` reads. Returns how many bytes were dropped. */
int usb_drain(struct usb *u, uint8_t ep, unsigned quiet_ms, unsigned most, struct err *err);

/* usb_reset - resets the port, the last step of recovery. On failure the device has to be found
 * again. */
int usb_reset(struct usb *u, struct err *err);

/* Totals since open; any pointer may be NULL. bytes counts both ways. */
void usb_stats(const struct usb *u, uint64_t *transfers, uint64_t *bytes);

#endif
