/* Adapters on this machine: what `probeprof list` shows and how --probe picks one.
 *
 * --probe DRIVER[:SERIAL|:@BUS-PATH][:CHANNEL][,OPTION=VALUE...]     ftdi:FT1ABC:B,layout=jtagkey   cmsis-dap:@1-2.3
 * With one adapter alone nothing needs be said; of several one must be named. */
#ifndef PROBE_ADAPTER_H
#define PROBE_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct probe_config;
struct probe_driver;

enum adapter_can { ADAPTER_JTAG = 1 << 0, ADAPTER_BDC = 1 << 1, ADAPTER_PDO = 1 << 2, ADAPTER_STREAM = 1 << 3 };

/* One adapter found, whether or not it can be opened. Text is "" where unknown. */
struct adapter {
    const struct probe_driver *driver;
    uint16_t vid, pid;      /* 0 if not on USB */
    char serial[80];
    char bus_path[32];      /* "1-2.3"; of a serial port its node */
    char channel[8];        /* "A", "B": of adapters with several */
    char product[80];
    char firmware[64];
    unsigned can;           /* enum adapter_can; 0 where it cannot serve us, note says why ("SWD only") */
    char note[128];
    struct err problem;     /* code ERR_OK: it can be opened; else what is in the way and what to do */
};

struct adapter_list {
    struct adapter *row; /* owned; adapter_list_free() */
    size_t n, cap;
};
/* Appends a copy; -ERR_NOMEM at 256 rows. */
int adapter_list_add(struct adapter_list *list, const struct adapter *a, struct err *err);
void adapter_list_free(struct adapter_list *list); /* NULL is fine */

/* adapters_find - asks every driver for its adapters
 * open   also open each that can be, for firmware and abilities (not those another program holds)
 * Returns the count; a driver that fails adds a row with its problem. Close with adapter_list_free(). */
int adapters_find(bool open, struct adapter_list *out, struct err *err);

/* What follows "DRIVER:" in --probe, taken apart. */
struct adapter_spec {
    char serial[80], bus_path[32], channel[8];
    char options[160]; /* "layout=jtagkey,tms=5": the driver's business */
};
int adapter_spec_parse(const char *spec, struct adapter_spec *out, struct err *err);

/* adapter_choose - the one row that spec means
 * Returns its index; -ERR_NOT_FOUND none (hint: what was found instead, how to get permission), -ERR_USAGE several (what lists
 * them, hint shows a --probe that would name the first). */
int adapter_choose(const struct adapter_list *list, const char *driver, const struct adapter_spec *spec, struct err *err);

#endif
