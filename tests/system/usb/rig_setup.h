/* What every launcher of models takes: devices with their boards from the command line, and
 * commands while it runs. */
#ifndef TESTS_USB_RIG_SETUP_H
#define TESTS_USB_RIG_SETUP_H

#include "tests/system/usb/bus.h"
#include "tests/system/usb/wiring.h"

enum { RIG_DEVS = 8 };

/* What stood before a MODEL: --board, --chain, --wires. Zeroed by rig_add(). */
struct rig_next {
    const char *board, *chain[2 * WIRING_TAPS];
    unsigned nchain;
    const char *wires;
};

/* rig_add - "MODEL,options" as the bus's next device; bus->dev and wiring have room for RIG_DEVS,
 * zeroed. */
int rig_add(struct bus *bus, struct wiring *wiring, struct rig_next *next, const char *text,
            struct err *err);

/* rig_command - one line: "unplug 0", "plug", "power off", "strike stall 2", ... answer: what to
 * say besides ok. */
int rig_command(struct bus *bus, struct wiring *wiring, const char *line, char *answer, size_t cap,
                struct err *err);

#endif
