/* The launcher's parts: bus.c behind imitations of the kernel's interfaces (usbfs.c, hidraw.c,
 * through files.h), described in a sysfs that umockdev keeps (sysfs.c). */
#ifndef TESTS_USB_RIG_H
#define TESTS_USB_RIG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <umockdev.h>

#include "tests/system/usb/bus.h"
#include "tests/system/usb/files.h"
#include "tests/system/usb/rig_setup.h"
#include "tests/system/usb/wiring.h"

enum { RIG_FIRST_ADDRESS = 2 };

/* One plugging of a device: its nodes under /dev. Stays after unplugging, as programs may hold it
 * open. */
struct node {
    struct node *next;
    struct rig *rig;
    struct bus_dev *dev;
    uint8_t address;
    bool gone;
    char devnode[40], syspath[160];
    struct file_node file;
    /* pty behind /dev/bus/usb/...: polls writable while something can be reaped */
    int master, slave;
    bool ready;
    struct fs_urb *done; /* complete, in order of completion, waiting to be reaped */
    struct fs_urb *pending;
    struct {
        struct file *owner;
        bool driver;
    } itf[BUS_INTERFACES];
    struct hidraw *hid;
    char hid_name[32]; /* under /sys/bus/hid; "" without */
    unsigned hidraw_number;
};

struct rig {
    pthread_mutex_t lock;
    UMockdevTestbed *bed;
    struct bus bus;
    struct bus_dev dev[RIG_DEVS];
    struct wiring wiring[RIG_DEVS]; /* wiring[i] is dev[i]'s */
    struct node *nodes;
    uint8_t next_address;
    unsigned nhidraw;
    int wake[2];              /* a byte: the main loop's timers have changed */
    uint64_t sleeps_until_ns; /* the main loop, at the latest */
    struct files files;
};

/* usbfs.c: the node of a device that has come. */
int usbfs_attach(struct node *n, struct err *err);
void usbfs_gone(struct node *n);
/* poll state after completions, or after virtual time went on */
void usbfs_update(struct node *n);
/* virtual time of the next completion not yet to be seen; UINT64_MAX none */
uint64_t usbfs_next_ns(const struct node *n);

/* hidraw.c: /dev/hidrawN for a model with a report descriptor. */
int hidraw_attach(struct node *n, struct err *err);
/* every now and then: ends waits that nobody gives up */
void hidraw_tick(struct node *n);
/* poll state and a waiting reader, after virtual time went on */
void hidraw_update(struct node *n);
/* virtual time at which the next report is there; UINT64_MAX none */
uint64_t hidraw_next_ns(const struct node *n);
void hidraw_gone(struct node *n);

/* sysfs.c */
int sysfs_root(struct rig *rig, struct err *err); /* the root hub */
/* fills devnode, syspath; without the uevent */
int sysfs_add(struct rig *rig, struct node *n, struct err *err);
/* a node under /dev becomes a link */
int sysfs_link(struct rig *rig, const char *path, const char *target, struct err *err);
/* uevents of device and interfaces */
void sysfs_tell(struct rig *rig, struct node *n, bool add);
void sysfs_remove(struct rig *rig, struct node *n);
/* adds hid and hidraw; number of the hidraw node */
unsigned sysfs_hidraw(struct rig *rig, struct node *n, struct err *err);

#endif
