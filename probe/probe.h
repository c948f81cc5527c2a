/* Adapters: opening, closing, what each offers. See HACKING.md for how to add one. */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "probe/adapter.h"
#include "probe/base/err.h"
#include "probe/base/log.h"
#include "probe/bdc.h"
#include "probe/jtag.h"
#include "probe/pdo.h"
#include "probe/stream.h"

struct sim_board_type;

/* USB ids of a driver; a table of them ends with {0, 0}. */
struct usb_id {
    uint16_t vid, pid;
};

/* Everything a driver may need to open. All pointers are borrowed and must outlive the probe. */
struct probe_config {
    /* the row of list() that --probe meant; NULL for drivers with own_spec. Good for the call. */
    const struct adapter *adapter;
    const char *spec; /* with adapter: the options, "layout=jtagkey"; else what follows "DRIVER:" in
                       * --probe, "sh7750,be" after "sim:"; "" if none */
    uint32_t speed_hz;                          /* wanted wire clock; 0 = driver's default */
    const struct sim_board_type *const *boards; /* NULL-terminated; boards a "sim" probe can be */
    const struct log *log;                      /* may be NULL */
};

struct probe_driver {
    const char *name;         /* what --probe=NAME takes */
    const char *help;         /* one line, for `probeprof list --drivers` */
    const struct usb_id *ids; /* NULL for a driver without USB */
    /* Appends the adapters of this kind that are there now, without disturbing them; with `open` it
     * may open each for a moment to ask it for firmware and abilities. NULL: nothing that could be
     * found (simulated boards). */
    int (*list)(bool open, struct adapter_list *out, struct err *err);
    /* As list(), for devices of one id that is in no table: named by hand,
     * "ftdi:vid=0403,pid=abcd". NULL: of this kind none can be. */
    int (*list_id)(const struct usb_id *id, struct adapter_list *out, struct err *err);
    /* As list(), for adapters that looking for may disturb: only where the user asked for it. NULL:
     * none of that kind. */
    int (*scan)(struct adapter_list *out, struct err *err);
    bool own_spec; /* what follows NAME in --probe is not adapter.h's form but the driver's own: a
                    * tty, a host. Its adapters are listed, but never used without being named */
    int (*open)(const struct probe_config *cfg, struct probe **out, struct err *err);
    void (*close)(struct probe *p); /* NULL is fine; also after a failed transfer */
    /* Lets go of the device and opens the same one again, by serial number or place on the bus,
     * with the settings of open(). p stays valid whatever the result, and may be tried again. NULL:
     * there is nothing to re-open. */
    int (*reopen)(struct probe *p, struct err *err);
    const struct jtag_ops *jtag;     /* NULL: this adapter has no JTAG */
    const struct bdc_ops *bdc;       /* NULL: this adapter has no BDC */
    const struct pdo_ops *pdo;       /* NULL: this adapter cannot capture PDO */
    const struct stream_ops *stream; /* NULL: this adapter moves no plain bytes */
};

/* One open adapter. Drivers embed it as first member of their own struct. */
struct probe {
    const struct probe_driver *driver;
    const struct log *log;
    char name[64]; /* for logs and reports: "sim:sh7750", "ftdi 1-2.3" */
};

/* probe_drivers - every driver, NULL-terminated; static lifetime. Only probe/drivers.c names them.
 */
const struct probe_driver *const *probe_drivers(void);

/* Drivers that this build does not have, and why: ends with a NULL name. */
struct probe_absent {
    const char *name, *why;
};
const struct probe_absent *probe_absent_drivers(void);

/* probe_default - the name of the one adapter that is there, for probe_open()
 * need   enum adapter_can: only those that can do one of these count; 0: all
 * name   PROBE_NAME_MAX bytes; untouched on failure: -ERR_USAGE none is there (hint: the simulated
 * board) or several are, -ERR_NOT_FOUND those that are there cannot serve us. */
enum { PROBE_NAME_MAX = 160 };
int probe_default(unsigned need, char *name, size_t cap, struct err *err);

/* probe_named - whether name begins with a driver's: 0, or -ERR_USAGE with the near ones. */
int probe_named(const char *name, struct err *err);

/* probe_open - open what --probe names: "DRIVER" or "DRIVER:spec" (adapter.h)
 * name   the whole text; NULL or "": the one adapter that is there. Without any the error lists
 * what was looked for and shows the command that runs the simulated board; it never picks the
 * simulator, a serial port or a host by itself. cfg    its adapter and spec are ignored, taken from
 * name out    the open probe; close with probe_close(). Untouched on failure. Returns 0; -ERR_USAGE
 * for an unknown driver (hint names the near ones), or for several adapters; -ERR_NOT_FOUND; what
 * is in the way of opening the adapter; the driver's error. */
int probe_open(const char *name, const struct probe_config *cfg, struct probe **out,
               struct err *err);

/* probe_reopen - after transfers failed: the adapter may have been unplugged and plugged in again
 * Returns 0, also where there is nothing to re-open; -ERR_USB while it is not there. Pointers to p
 * stay valid. */
int probe_reopen(struct probe *p, struct err *err);

/* probe_close - NULL is fine. */
void probe_close(struct probe *p);

#endif
