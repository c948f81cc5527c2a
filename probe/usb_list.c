/* Finding USB devices and saying why one cannot be opened. Linux's sysfs has the strings of devices
 * that may not be opened, and the drivers that hold them: probe/usb_sysfs.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "probe/holder.h"
#include "probe/probe.h"
#include "probe/usb_private.h"
#include "probe/usb_sysfs.h"

#define SYSFS "/sys/bus/usb/devices"

int usb_begin(libusb_context **ctx, struct err *err)
{
    errno = 0;
    int rc = libusb_init(ctx);
    if (rc >= 0)
        return 0;
    const int error = errno;
    const char *why = libusb_strerror(rc), *hint = "is /dev/bus/usb there, and readable?";
    if (error == EMFILE || error == ENFILE) {
        why = strerror(error);
        hint = "raise the limit on open files (ulimit -n)";
    }
    return err_set(err, ERR_USB, hint, "USB: libusb does not start: %s", why);
}

bool usb_present(const struct usb_info *dev)
{
    return access(SYSFS, F_OK) != 0 || usb_sysfs_has(SYSFS, dev);
}

static void fill_path(libusb_device *d, struct usb_info *u)
{
    uint8_t ports[8];
    int n = libusb_get_port_numbers(d, ports, sizeof ports);
    if (n <= 0) {
        snprintf(u->bus_path, sizeof u->bus_path, "usb%u", u->bus);
        return;
    }
    size_t at = (size_t)snprintf(u->bus_path, sizeof u->bus_path, "%u-%u", u->bus, ports[0]);
    for (int i = 1; i < n && at < sizeof u->bus_path; i++)
        at += (size_t)snprintf(u->bus_path + at, sizeof u->bus_path - at, ".%u", ports[i]);
}

static void fill_interface(const struct libusb_interface_descriptor *d, struct usb_interface *itf)
{
    *itf = (struct usb_interface){ .number = d->bInterfaceNumber,
                                   .cls = d->bInterfaceClass,
                                   .subclass = d->bInterfaceSubClass,
                                   .protocol = d->bInterfaceProtocol,
                                   .string = d->iInterface };
    for (int i = 0; i < d->bNumEndpoints && itf->neps < ARRAY_LEN(itf->ep); i++)
        itf->ep[itf->neps++] = (struct usb_endpoint){ .address = d->endpoint[i].bEndpointAddress,
                                                      .type = d->endpoint[i].bmAttributes & 3,
                                                      .max_packet = d->endpoint[i].wMaxPacketSize };
}

static void fill_interfaces(libusb_device *d, struct usb_info *u)
{
    struct libusb_config_descriptor *c;
    if (libusb_get_active_config_descriptor(d, &c) < 0 &&
        libusb_get_config_descriptor(d, 0, &c) < 0)
        return;
    for (int i = 0; i < c->bNumInterfaces && u->nitfs < ARRAY_LEN(u->itf); i++) {
        if (!c->interface[i].num_altsetting)
            continue;
        struct usb_interface *itf = &u->itf[u->nitfs++];
        char name[64];
        fill_interface(&c->interface[i].altsetting[0], itf);
        snprintf(name, sizeof name, "%s:%u.%u", u->bus_path, c->bConfigurationValue, itf->number);
        usb_sysfs_text(SYSFS, name, "interface", itf->label, sizeof itf->label);
    }
    libusb_free_config_descriptor(c);
}

/* Without sysfs the device has to be opened and asked, if that is permitted. */
static void ask_strings(libusb_device *d, const struct libusb_device_descriptor *desc,
                        struct usb_info *u)
{
    const struct {
        uint8_t index;
        char *to;
        int cap;
    } rows[] = {
        { desc->iSerialNumber, u->serial, sizeof u->serial },
        { desc->iProduct, u->product, sizeof u->product },
        { desc->iManufacturer, u->manufacturer, sizeof u->manufacturer },
    };
    libusb_device_handle *h;
    if (libusb_open(d, &h) < 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].index)
            libusb_get_string_descriptor_ascii(h, rows[i].index, (unsigned char *)rows[i].to,
                                               rows[i].cap);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        text_clean(rows[i].to);
    libusb_close(h);
}

static void fill_strings(libusb_device *d, const struct libusb_device_descriptor *desc,
                         struct usb_info *u)
{
    if (!usb_sysfs_has(SYSFS, u)) {
        ask_strings(d, desc, u);
        return;
    }
    usb_sysfs_text(SYSFS, u->bus_path, "serial", u->serial, sizeof u->serial);
    usb_sysfs_text(SYSFS, u->bus_path, "product", u->product, sizeof u->product);
    usb_sysfs_text(SYSFS, u->bus_path, "manufacturer", u->manufacturer, sizeof u->manufacturer);
}

static void fill_info(libusb_device *d, const struct libusb_device_descriptor *desc,
                      struct usb_info *u)
{
    static const enum usb_speed speeds[] = { USB_SPEED_UNKNOWN, USB_LOW,   USB_FULL,
                                             USB_HIGH,          USB_SUPER, USB_SUPER };
    int speed = libusb_get_device_speed(d);
    *u = (struct usb_info){ .vid = desc->idVendor,
                            .pid = desc->idProduct,
                            .bcd_device = desc->bcdDevice,
                            .bus = libusb_get_bus_number(d),
                            .address = libusb_get_device_address(d) };
    u->speed = USB_SPEED_UNKNOWN;
    if (speed >= 0 && (size_t)speed < ARRAY_LEN(speeds))
        u->speed = speeds[speed];
    fill_path(d, u);
    fill_strings(d, desc, u);
    fill_interfaces(d, u);
}

static bool is_wanted(const struct usb_id *ids, const struct libusb_device_descriptor *d)
{
    for (const struct usb_id *id = ids; id && (id->vid || id->pid); id++)
        if (id->vid == d->idVendor && id->pid == d->idProduct)
            return true;
    return !ids;
}

int usb_list(const struct usb_id *ids, struct usb_info *out, size_t cap, struct err *err)
{
    libusb_context *ctx;
    libusb_device **all;
    int ret = usb_begin(&ctx, err), found = 0;
    if (ret < 0)
        return ret;
    ssize_t n = libusb_get_device_list(ctx, &all);
    for (ssize_t i = 0; i < n; i++) {
        struct libusb_device_descriptor d;
        if (libusb_get_device_descriptor(all[i], &d) < 0 || !is_wanted(ids, &d))
            continue;
        if ((size_t)found++ < cap)
            fill_info(all[i], &d, &out[found - 1]);
    }
    if (n >= 0)
        libusb_free_device_list(all, 1);
    libusb_exit(ctx);
    if (n < 0)
        return err_set(err, ERR_USB, "", "USB: the bus cannot be listed: %s",
                       libusb_strerror((int)n));
    return found;
}

/* ---- why not ---- */

static void node_of(const struct usb_info *dev, char *out, size_t cap)
{
    snprintf(out, cap, "/dev/bus/usb/%03u/%03u", dev->bus, dev->address);
}

static int open_failed(const struct usb_info *dev, int rc, struct err *err)
{
    char node[40];
    node_of(dev, node, sizeof node);
    if (rc == LIBUSB_ERROR_ACCESS)
        return err_set(err, ERR_USB,
                       "install 60-probeprof.rules, then plug it in again; without a seat (ssh, a "
                       "service) see service.md of the documents",
                       "USB %s: no permission to open %s", dev->bus_path, node);
    if (rc == LIBUSB_ERROR_NO_DEVICE && usb_present(dev))
        return err_set(err, ERR_USB, "in a container, pass /dev/bus/usb into it",
                       "USB %s: there is no %s", dev->bus_path, node);
    if (rc == LIBUSB_ERROR_NO_DEVICE)
        return err_set(err, ERR_USB, "plug it in again", "USB %s: unplugged", dev->bus_path);
    return err_set(err, ERR_USB, "unplug it, plug it in again", "USB %s: cannot be opened: %s",
                   dev->bus_path, libusb_strerror(rc));
}

static int find_holder(const struct usb_info *dev, uint8_t interface, struct err *err)
{
    char node[40], holder[100], driver[64], hint[160];
    node_of(dev, node, sizeof node);
    usb_sysfs_driver(SYSFS, dev, interface, driver, sizeof driver);
    if (*driver && strcmp(driver, "usbfs") != 0) {
        snprintf(hint, sizeof hint, "unbind it: rmmod %.40s, or end what uses it", driver);
        return err_set(err, ERR_USB, hint, "USB %s: interface %u is held by the kernel driver %s",
                       dev->bus_path, interface, driver);
    }
    if (holder_find("/proc", node, holder, sizeof holder))
        return err_set(err, ERR_USB, "end that program, or name another adapter",
                       "USB %s: interface %u is held by %s", dev->bus_path, interface, holder);
    return err_set(err, ERR_USB, "end the other program; `sudo fuser -v /dev/bus/usb/*/*` shows it",
                   "USB %s: interface %u is held by another program", dev->bus_path, interface);
}

int usb_claim_failed(const struct usb_info *dev, uint8_t interface, int rc, struct err *err)
{
    if (rc == LIBUSB_ERROR_BUSY)
        return find_holder(dev, interface, err);
    if (rc == LIBUSB_ERROR_NOT_FOUND)
        return err_set(err, ERR_USB, "is this the adapter you mean?",
                       "USB %s: there is no interface %u", dev->bus_path, interface);
    return open_failed(dev, rc, err);
}

static bool is_same(libusb_device *d, const struct usb_info *dev)
{
    struct libusb_device_descriptor desc;
    return libusb_get_bus_number(d) == dev->bus && libusb_get_device_address(d) == dev->address &&
           libusb_get_device_descriptor(d, &desc) == 0 && desc.idVendor == dev->vid &&
           desc.idProduct == dev->pid;
}

int usb_open_handle(libusb_context *ctx, const struct usb_info *dev, libusb_device_handle **out,
                    struct err *err)
{
    libusb_device **all;
    ssize_t n = libusb_get_device_list(ctx, &all);
    int rc = LIBUSB_ERROR_NO_DEVICE;
    if (n < 0)
        rc = (int)n;
    for (ssize_t i = 0; i < n; i++)
        if (is_same(all[i], dev))
            rc = libusb_open(all[i], out);
    if (n >= 0)
        libusb_free_device_list(all, 1);
    if (rc < 0)
        return open_failed(dev, rc, err);
    return 0;
}

/* A kernel driver on the interface can be detached: that is no obstacle, and is not tried here. */
static int try_claim(libusb_device_handle *h, uint8_t interface)
{
    if (libusb_kernel_driver_active(h, interface) == 1)
        return 0;
    int rc = libusb_claim_interface(h, interface);
    if (rc == 0)
        libusb_release_interface(h, interface);
    return rc;
}

int usb_check(const struct usb_info *dev, uint8_t interface, struct err *err)
{
    libusb_context *ctx;
    libusb_device_handle *h;
    int ret = usb_begin(&ctx, err);
    if (ret < 0)
        return ret;
    ret = usb_open_handle(ctx, dev, &h, err);
    if (ret == 0) {
        int rc = try_claim(h, interface);
        if (rc < 0)
            ret = usb_claim_failed(dev, interface, rc, err);
        else
            ret = 0;
        libusb_close(h);
    }
    libusb_exit(ctx);
    return ret;
}
