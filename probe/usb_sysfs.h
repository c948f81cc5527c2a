/* What Linux's sysfs says of USB devices, also of those that may not be opened. Names there are
 * BUS-PORT.PORT and BUS-PORT.PORT:CONFIG.INTERFACE. Source: https://docs.kernel.org/driver-api/usb,
 * Documentation/ABI/testing/sysfs-bus-usb. Each takes the folder, which is "/sys/bus/usb/devices".
 */
#ifndef PROBE_USB_SYSFS_H
#define PROBE_USB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usb_info;

/* usb_sysfs_text - one line of a device's file, without blanks around it and safe to print; "" if
 * there is none. */
void usb_sysfs_text(const char *folder, const char *device, const char *file, char *out,
                    size_t cap);

/* usb_sysfs_has - whether this device is there under its path: not after it was unplugged, nor on
 * systems without sysfs. */
bool usb_sysfs_has(const char *folder, const struct usb_info *dev);

/* usb_sysfs_driver - the kernel driver on an interface, "" if none: "usbfs" is another program. */
void usb_sysfs_driver(const char *folder, const struct usb_info *dev, uint8_t interface, char *out,
                      size_t cap);

#endif
