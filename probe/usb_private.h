/* Shared by usb.c and usb_list.c: libusb's results as errors, and the way to an open handle. */
#ifndef PROBE_USB_PRIVATE_H
#define PROBE_USB_PRIVATE_H

#include <libusb.h>

#include "probe/usb.h"

/* usb_begin - a libusb context of one's own; libusb_exit() it. */
int usb_begin(libusb_context **ctx, struct err *err);

/* usb_open_handle - a handle on this very device (same bus, address and ids); libusb_close() it. */
int usb_open_handle(libusb_context *ctx, const struct usb_info *dev, libusb_device_handle **out,
                    struct err *err);

/* usb_claim_failed - why claiming an interface gave `rc`, as an error. */
int usb_claim_failed(const struct usb_info *dev, uint8_t interface, int rc, struct err *err);

/* usb_handle - libusb's handle of an open device, for libraries that make requests of their own on
 * it. Borrowed. */
libusb_device_handle *usb_handle(struct usb *u);

/* usb_present - whether the device is still where it was found. */
bool usb_present(const struct usb_info *dev);

#endif
