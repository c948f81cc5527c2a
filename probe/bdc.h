/* BDC link: background debug commands over the one-wire BKGD pin of S12Z parts. What a target
 * driver sees of any BDC adapter.
 *
 * A caller fills an array of struct bdc_op and executes it in one go; the driver packs as many as
 * fit into one transfer. Multi-byte fields travel most significant byte first, as on the wire.
 *
 * Two kinds of adapter fit: those with a raw byte pipe (OSBDM, the simulated wire) do every op;
 * those whose firmware offers whole actions (USBDM) do BDC_READ and BDC_WRITE, registers,
 * BACKGROUND, GO, STEP1, BDCCSR, and refuse the rest with -ERR_UNSUPPORTED before anything is sent;
 * can() tells beforehand. Source for the commands: MC9S12ZVM and S12ZVHY reference manuals, chapter
 * S12ZBDC. */
#ifndef PROBE_BDC_H
#define PROBE_BDC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/bdc_commands.h"

struct probe;

enum bdc_op_kind {
    BDC_COMMAND, /* one command, `opcode`; tx and rx as long as bdc_shape() says */
    BDC_READ,    /* len bytes from addr in accesses of `width` (1, 2, 4): READ_MEM, then DUMP_MEM */
    BDC_WRITE,   /* len bytes to addr: WRITE_MEM, then FILL_MEM */
    /* len bytes (a multiple of 8) of trace lines by READ_DBGTB, in wire order 3,2,1,0,7,6,5,4 */
    BDC_LINES,
    BDC_PAUSE /* `len` BDC clock cycles with the line idle */
};

/* What the target did with an op. An op that was not reached keeps BDC_NOT_SENT. */
enum bdc_outcome {
    BDC_NOT_SENT,
    BDC_OK,
    /* answered with a 64-cycle ACK: an error flag of BDCCSRL is set; rx was filled all the same */
    BDC_LONG_ACK,
    BDC_NO_ACK /* no ACK within the adapter's limit; the batch ends here */
};

struct bdc_op {
    enum bdc_op_kind kind;
    uint8_t opcode;           /* BDC_COMMAND: enum bdc_opcode */
    uint8_t width;            /* BDC_READ, BDC_WRITE: 1, 2 or 4; addr and len must be multiples */
    uint32_t addr;            /* 24 bits; commands with an address, BDC_READ, BDC_WRITE */
    const uint8_t *tx;        /* data sent; NULL only where there is none */
    uint8_t *rx;              /* filled as bytes arrive; NULL only where there is none */
    uint32_t len;             /* see kind; ignored for BDC_COMMAND */
    enum bdc_outcome outcome; /* out; of the last command of a block */
    uint64_t at_ns;           /* out: the link's clock when the op was complete */
};

enum bdc_pin {
    BDC_PIN_BKGD = 1 << 0,  /* held low while RESET rises: special single chip mode */
    BDC_PIN_RESET = 1 << 1, /* active low */
    BDC_PIN_VTREF = 1 << 2  /* input only: target has power */
};

struct bdc_ops {
    /* Of BDCCSR only the high byte can be read (the low one reads 0), and a long ACK is not
     * reported: an access that failed shows as bytes 0xEE, if at all. Such an adapter's sync() also
     * sets ENBDC and sends ACK_ENABLE. */
    bool no_flags;
    /* The fastest BDC clock it can talk at; sync() may find a faster one. 0: faster than any
     * part's. */
    uint32_t max_hz;
    /* Executes n ops in order; stops after the first BDC_NO_ACK, and after a BDC_LONG_ACK if
     * stop_on_long is set. Returns how many ops were executed (n if all), or < 0 when the adapter
     * itself failed: -ERR_USB it is gone; -ERR_TIMEOUT it was brought back in step, and what may be
     * repeated may be tried again. The outcome of each op says what the target did. ACKs are
     * awaited if set_ack(true) was the last. */
    int (*execute)(struct probe *p, struct bdc_op *ops, size_t n, bool stop_on_long,
                   struct err *err);
    /* SYNC: measures the target's BDC clock and uses it from then on. *hz: the clock found.
     * -ERR_NO_TARGET when nothing answers. Drops a partial command, clears OVRUN, cancels GO_UNTIL
     * and ERASE_FLASH. */
    int (*sync)(struct probe *p, uint32_t *hz, struct err *err);
    /* Uses hz without measuring (a wrong one gives garbage: the caller's decision). */
    int (*set_clock)(struct probe *p, uint32_t hz, struct err *err);
    /* Whether the adapter waits for ACK pulses. The caller sends ACK_ENABLE or ACK_DISABLE itself,
     * where can() says so. -ERR_UNSUPPORTED for true: it knows none and leaves fixed pauses; ACK
     * must be disabled then. An adapter that cannot send ACK_DISABLE sees none at this clock. */
    int (*set_ack)(struct probe *p, bool on, struct err *err);
    /* Which ops this adapter can do. opcode is looked at for BDC_COMMAND only. */
    bool (*can)(struct probe *p, enum bdc_op_kind kind, uint8_t opcode);
    /* Pins, levels 1 = high or released. Pins the adapter lacks: -ERR_UNSUPPORTED, nothing changed.
     */
    int (*set_pins)(struct probe *p, unsigned mask, unsigned value, struct err *err);
    int (*get_pins)(struct probe *p, unsigned *value, unsigned *known, struct err *err);
    /* The target's supply at the connector, in millivolts. NULL: this adapter cannot measure it;
     * then BDC_PIN_VTREF may tell whether there is any. */
    int (*voltage)(struct probe *p, unsigned *mv, struct err *err);
    /* Lets time pass with the wire idle: real adapters sleep, a simulated board advances its
     * virtual clock. */
    int (*wait)(struct probe *p, uint64_t ns, struct err *err);
    /* The wire's own clock, monotonic, ns. */
    uint64_t (*now_ns)(struct probe *p);
    /* Totals since open; any pointer may be NULL. */
    void (*stats)(struct probe *p, uint64_t *bdc_cycles, uint64_t *transfers, uint64_t *bytes);
};

#endif
