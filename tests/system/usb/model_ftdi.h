/* The MPSSE engine of FTDI's H chips, between the model's two FIFOs of a channel and a board's
 * pins. Sources: FTDI AN_108 (opcodes, bad commands, pin order), AN_135 (left-justified bits,
 * latency), data sheets (FIFO sizes). */
#ifndef TESTS_USB_MODEL_FTDI_H
#define TESTS_USB_MODEL_FTDI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/sim.h"

enum {
    FIFO_MAX = 4096,
    NPIN = 16,
    PIN_TCK = 1,
    PIN_TDI = 2,
    PIN_TDO = 4,
    PIN_TMS = 8,
    PIN_GPIOL1 = 0x20,
    PIN_RTCK = 0x80
};

/* Twice as long as what it may hold, so that bytes are seldom moved to its beginning. */
struct fifo {
    uint8_t data[2 * FIFO_MAX];
    size_t first, n, size; /* n <= size <= FIFO_MAX bytes from data[first] on */
};
/* At most what there is room for, size - n. */
void fifo_put(struct fifo *f, const uint8_t *bytes, size_t n);
static inline const uint8_t *fifo_bytes(const struct fifo *f) { return f->data + f->first; }
void fifo_take(struct fifo *f, size_t n); /* drops the first n */

/* Where a target's signal hangs: bit 0..7 low, 8..15 high pins; -1 nowhere. inverted: a high pin
 * pulls the signal low. A buffer between may be switched on by a low pin `gate` (-1: none). */
struct signal {
    int bit, gate;
    bool inverted;
};
enum { SIG_NTRST, SIG_NRESET, SIG_ASEBRK, SIG_VTREF, SIG_OE, NSIGNALS };

struct mpsse {
    struct sim_board *board; /* NULL: nothing at the pins */
    struct signal signal[NSIGNALS];
    bool has_rtck, is_ft232h, broken; /* broken: what it loops inside comes back changed */
    struct fifo from_host, to_host;
    bool flush; /* send immediate, or the latency timer is over */
    /* settings */
    bool on, loopback, div5, three_phase, adaptive;
    uint32_t tck_hz;
    uint16_t divisor, value, direction, open_drain; /* pins: low byte ADBUS, high byte ACBUS */
    /* the shift that is under way */
    uint8_t op;
    uint32_t left; /* bytes, or clocks of 8 */
    bool shifting;
    bool tdo;                     /* last level seen */
    unsigned pins_out, pins_mask; /* as the board has them */
};

void mpsse_reset(struct mpsse *m); /* bit mode 0: everything as after power-up, pins are inputs */
void mpsse_run(struct mpsse *m);   /* as far as the FIFOs let it */
uint8_t mpsse_pins(struct mpsse *m, bool high);
void mpsse_drive(struct mpsse *m); /* after value or direction changed */

#endif
