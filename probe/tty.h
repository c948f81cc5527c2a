/* Serial ports: which there are, and opening one raw at any rate. For drivers in probe/ only. */
#ifndef PROBE_TTY_H
#define PROBE_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

/* One serial port as sysfs shows it. Text is "" where unknown. */
struct tty_info {
    char node[64];   /* "/dev/ttyUSB0" */
    char serial[80]; /* of the USB device */
    char place[48];  /* USB interface: "1-2.3:1.0"; "" if not on USB */
    char product[80];
    uint16_t vid, pid; /* 0 if not on USB */
};

enum { TTY_MAX = 64 };

/* tty_find - every port with hardware behind it, sorted by node; without touching any
 * sysfs   "/sys"
 * Returns how many of them were put into out, at most cap; 0 too where there is no sysfs.
 * Source: Documentation/ABI/testing/sysfs-class-tty (type 0: a UART driver's place without a UART),
 * sysfs-bus-usb. */
int tty_find(const char *sysfs, struct tty_info *out, size_t cap);

/* tty_again - which of those in list is `was` now: on USB by serial number and interface, else by
 * place; not on USB by node Returns its index or -1. */
int tty_again(const struct tty_info *list, int n, const struct tty_info *was);

/* tty_open - raw, 8N1, no flow control unless rtscts, for us alone
 * Returns a non-blocking descriptor; -ERR_USB not there, not permitted, in use or not a terminal;
 * -ERR_UNSUPPORTED a rate it cannot do. */
int tty_open(const char *node, uint32_t baud, bool rtscts, struct err *err);

/* tty_problem - why tty_open() would fail now, without opening: permissions, or a program that has
 * it open. 0 or -ERR_USB. */
int tty_problem(const char *node, struct err *err);

/* tty_set_baud - as stream_ops.set_baud. */
int tty_set_baud(int fd, const char *name, uint32_t baud, uint32_t *got, struct err *err);

#endif
