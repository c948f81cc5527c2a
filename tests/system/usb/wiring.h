/* What hangs at an adapter's pins: a simulated board, TAPs of other parts on its chain, its power
 * switch. To a model it is one struct sim_board. */
#ifndef TESTS_USB_WIRING_H
#define TESTS_USB_WIRING_H

#include "probe/sim.h"
#include "tests/system/usb/tap.h"

enum { WIRING_TAPS = 4 };

struct wiring {
    struct sim_board base; /* what models get */
    const struct sim_board_type *type;
    char options[200];
    struct sim_board *board; /* the real one */
    /* between TDI and the board, between the board and TDO */
    struct tap before[WIRING_TAPS], after[WIRING_TAPS];
    unsigned nbefore, nafter;
    /* the board's TAP is not on the chain: other devices are, of --chain instead:... */
    bool alone;
    enum {
        WIRES_GOOD,
        TDI_HIGH,
        TDI_LOW,
        TMS_HIGH,
        TMS_LOW,
        TCK_OPEN,
        TDO_HIGH,
        TDO_LOW,
        TDI_TDO_SWAPPED,
        TMS_TDI_SWAPPED,
        TDI_TDO_SHORTED
    } wires;
    bool off;
    uint64_t tck_clocks, off_ns; /* off_ns: time while the power was off */
    uint32_t tck_hz;
    unsigned pin_mask, pins; /* as set last, for the board that powers up */
};

/* wiring_open - the board of "sim:NAME[,options]"; w zeroed. Returns 0, -ERR_USAGE, the board's
 * error. */
int wiring_open(struct wiring *w, const char *spec, struct err *err);
/* "before:", "after:" (default before) or "instead:" (the board is not on the chain), then as
 * tap_parse(). */
int wiring_chain(struct wiring *w, const char *text, struct err *err);
/* What is wrong with the JTAG wires: "tdi-high", "tms-tdi-swapped", ... */
int wiring_fault(struct wiring *w, const char *text, struct err *err);
/* Off: TDO, BKGD, VTREF low. On: the board starts anew, memory gone. */
int wiring_power(struct wiring *w, bool on, struct err *err);
void wiring_close(struct wiring *w); /* zeroed is fine */

#endif
