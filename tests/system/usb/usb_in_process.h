/* probe/usb.h without a bus: drivers talk to device models in the same process, at once and without
 * time. For tests of drivers that need many transfers or a sanitizer; the rig has real libraries
 * between the two. Link usb_in_process.c into the test: it takes the place of probe/usb.c. */
#ifndef TESTS_USB_IN_PROCESS_H
#define TESTS_USB_IN_PROCESS_H

#include "tests/system/usb/model.h"

enum in_process_fault {
    IN_PROCESS_NONE,
    IN_PROCESS_UNPLUG,  /* the device is gone as the transfer begins, until plugged again */
    IN_PROCESS_TIMEOUT, /* the transfer does not happen */
    IN_PROCESS_STALL,
    /* OUT: the probe never sees it; IN: its data is dropped, the host gets nothing */
    IN_PROCESS_LOST,
    IN_PROCESS_NFAULTS
};

/* The device at place i (0..3); m is borrowed, NULL unplugs. */
void in_process_plug(unsigned i, struct usb_model *m);
/* `kind` strikes the n-th bulk transfer from now (1: the next); 0: none. */
void in_process_fault(enum in_process_fault kind, unsigned n);
unsigned in_process_transfers(void); /* bulk transfers so far */
unsigned in_process_resets(void);    /* of a port */
unsigned in_process_waiting(void);   /* the most that were in flight at once */

#endif
