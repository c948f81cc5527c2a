/* Adapters on this machine: what `probeprof list` shows and how --probe picks one.
 *
 * --probe DRIVER[:SERIAL|:@BUS-PATH][:CHANNEL][,OPTION=VALUE...]     ftdi:FT1ABC:B,layout=jtagkey
 * cmsis-dap:@1-2.3 With one adapter alone nothing needs be said; of several one must be named. */
#ifndef PROBE_ADAPTER_H
#define PROBE_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct log;
struct probe_driver;
struct usb;
struct usb_id;
struct usb_info;

enum adapter_can {
    ADAPTER_JTAG = 1 << 0,
    ADAPTER_BDC = 1 << 1,
    ADAPTER_PDO = 1 << 2,
    ADAPTER_STREAM = 1 << 3
};

/* One adapter found, whether or not it can be opened. Text is "" where unknown. */
struct adapter {
    const struct probe_driver *driver;
    uint16_t vid, pid; /* 0 if not on USB */
    char serial[80];
    char bus_path[32]; /* "1-2.3"; of a serial port its node */
    char channel[8];   /* "A", "B": of adapters with several */
    char product[80];
    char firmware[64];
    /* enum adapter_can; 0 where it cannot serve us, note says why ("SWD only") */
    unsigned can;
    bool doubtful; /* may as well be something else (a serial cable), which driving its pins could
                    * harm: used only if its driver is named */
    char note[128];
    /* code ERR_OK: it can be opened; else what is in the way and what to do */
    struct err problem;
};

struct adapter_list {
    struct adapter *row; /* owned; adapter_list_free() */
    size_t n, cap;
};
enum { ADAPTER_LIST_MAX = 256 };
/* adapter_list_add - appends a copy; -ERR_NOMEM at ADAPTER_LIST_MAX rows. */
int adapter_list_add(struct adapter_list *list, const struct adapter *a, struct err *err);
/* adapter_list_free - NULL is fine. */
void adapter_list_free(struct adapter_list *list);

/* adapters_find - asks every driver for its adapters, in the order of the driver table
 * open   also open each that can be, for firmware and abilities (not those another program holds)
 * Returns the count, each driver's in the order of their places; a driver that fails adds a row
 * with its problem and neither serial nor bus_path. Close with adapter_list_free(). */
int adapters_find(bool open, struct adapter_list *out, struct err *err);

/* adapter_meant_by - the row that somebody meant who wrote only its serial number, or its place
 * with or without '@', for a hint. Its index or -1. */
int adapter_meant_by(const struct adapter_list *list, const char *text);

/* adapters_scan - appends what is only looked for when the user asks: looking may disturb it
 * (probe_driver.scan) list   of adapters_find() */
int adapters_scan(struct adapter_list *list, struct err *err);

/* What follows "DRIVER:" in --probe, taken apart. */
struct adapter_spec {
    char serial[80], bus_path[32], channel[8];
    char options[160]; /* "layout=jtagkey,tms=5": the driver's business */
    /* enum adapter_can: where no driver is named only adapters that can do one of these count; 0:
     * all */
    unsigned need;
};
/* adapter_spec_parse - a first word with '=' in it is an option already: "layout=jtagkey". Pure.
 * -ERR_USAGE shows the form. */
int adapter_spec_parse(const char *spec, struct adapter_spec *out, struct err *err);

/* adapter_name - what --probe has to say to mean this row: its serial number, or its place where
 * that says nothing. */
void adapter_name(const struct adapter_list *list, size_t row, char *out, size_t cap);

/* adapter_choose - the one row that spec means
 * driver  its name; NULL: any driver whose adapters are told apart by spec (not
 * probe_driver.own_spec) Of a device with several channels the first that can serve us is meant if
 * spec names none. Rows that cannot (can 0) count only if spec names them, doubtful ones only with
 * a driver. Returns its index, whether or not it can be opened; -ERR_NOT_FOUND none (hint: what was
 * found instead, how to get permission), -ERR_USAGE several (what lists them, hint shows a --probe
 * that would name the first). */
int adapter_choose(const struct adapter_list *list, const char *driver,
                   const struct adapter_spec *spec, struct err *err);

/* ---- for drivers ---- */

/* Whether this device is one of ours, and which interface: fills can, channel and note of row, and
 * returns the number of the interface to be claimed; -1: not ours. row has everything that the
 * descriptors say already. */
typedef int adapter_pick(const struct usb_info *dev, struct adapter *row);

/* adapter_list_usb - probe_driver.list for the most part: adds a row for every device that pick
 * wants, with what is in the way of opening it ids   NULL: pick looks at every device on the bus */
int adapter_list_usb(const struct probe_driver *driver, const struct usb_id *ids,
                     adapter_pick *pick, struct adapter_list *out, struct err *err);

/* adapter_list_usb_channels - the same of devices with several channels: one pick for each
 * pick   npicks of them, in the channels' order; all look at one reading of the bus, as a device
 * that comes meanwhile would show some alone */
int adapter_list_usb_channels(const struct probe_driver *driver, const struct usb_id *ids,
                              adapter_pick *const *pick, size_t npicks, struct adapter_list *out,
                              struct err *err);

/* adapter_usb - where the device of a row is now: by its serial number wherever it is plugged in
 * (of two with the same one, that at the old place), else by its place. What open()
 * (probe_config.adapter) and reopen() begin with; then usb_open(). -ERR_USB: it is not there. */
int adapter_usb(const struct adapter *a, struct usb_info *out, struct err *err);

#endif
