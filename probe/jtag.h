/* JTAG link: batched scans, pins, clock. What a target driver sees of any JTAG adapter.
 *
 * A caller fills an array of struct jtag_op and executes it in one go; the driver packs as many as
 * fit into one transfer, keeps several transfers in flight where the adapter can, and returns when
 * all results are in place. Every call starts and ends in Run-Test/Idle (JTAG_RESET ends there
 * too), and so does every op; only between two scans of one call, the first without idle clocks, an
 * adapter may leave that state out and go from Update on to the next scan. Bits travel least
 * significant first, as IEEE 1149.1 shift order and every adapter have it. */
#ifndef PROBE_JTAG_H
#define PROBE_JTAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct probe;

enum jtag_op_kind {
    JTAG_RESET, /* TMS=1 for five clocks (Test-Logic-Reset), then Run-Test/Idle; data unused */
    JTAG_IR,    /* scan the instruction register */
    JTAG_DR,    /* scan a data register */
    JTAG_IDLE   /* `bits` clocks in Run-Test/Idle; data unused */
};

struct jtag_op {
    enum jtag_op_kind kind;
    uint32_t bits;      /* 1..JTAG_MAX_BITS for scans */
    const uint8_t *tdi; /* ceil(bits/8) bytes, bit 0 first; NULL shifts zeros */
    uint8_t *tdo;       /* same size, filled on success; NULL if not wanted; may equal tdi */
    /* Run-Test/Idle clocks after Update, beyond the one that leads there; 0 is fine */
    uint32_t idle_clocks;
};
enum { JTAG_MAX_BITS = 65536 };

enum jtag_pin {
    JTAG_PIN_NTRST = 1 << 0,  /* TAP reset, active low */
    JTAG_PIN_NRESET = 1 << 1, /* system reset, active low */
    JTAG_PIN_ASEBRK = 1 << 2, /* SH: ASEBRK/BRKACK, shared pin, active low, open drain */
    JTAG_PIN_VTREF = 1 << 3   /* input only: target has power */
};

/* Common to all members: synchronous, called from one thread at a time, in effect in the order of
 * the calls (a pin set before execute() is set before its first clock). After open the output pins
 * are released (high). Failures: -ERR_USB the adapter is gone or does not recover: close it and
 * open it again; -ERR_TIMEOUT a transfer was late, the driver has drained it and is usable.
 * execute, set_clock, now_ns, batch_bits and stats are there in every driver; any other member may
 * be NULL where the adapter has nothing of the kind. */
struct jtag_ops {
    /* Executes n ops in order. On failure no tdo is to be trusted and the TAP state is unknown
     * (run JTAG_RESET next). n may be 0. Blocks at most the adapter's own deadline. Ops may be far
     * longer than one transfer: the driver cuts where it likes, also inside a scan (TCK stands
     * still in Shift then), and reads while it writes where the adapter's buffers are small. ops,
     * tdi and tdo are the caller's and only used until the return. */
    int (*execute)(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err);
    /* Drives the pins in `mask` to the levels in `value` (1 = high or released). Pins the adapter
     * lacks: -ERR_UNSUPPORTED, nothing changed. Returns when the levels are out; how long they are
     * held is wait()'s. */
    int (*set_pins)(struct probe *p, unsigned mask, unsigned value, struct err *err);
    /* Reads pin levels; *known says which bits of *value the adapter can see. */
    int (*get_pins)(struct probe *p, unsigned *value, unsigned *known, struct err *err);
    /* The target's supply at the connector (VTref), in millivolts. NULL: this adapter cannot
     * measure it; then JTAG_PIN_VTREF may tell whether there is any. */
    int (*voltage)(struct probe *p, unsigned *mv, struct err *err);
    /* Asks for TCK of at most hz; *got_hz is what the adapter will really use. */
    int (*set_clock)(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err);
    /* Lets time pass without clocking TCK: real adapters sleep, a simulated board advances its
     * virtual clock by the same time. */
    int (*wait)(struct probe *p, uint64_t ns, struct err *err);
    /* The wire's own clock, monotonic, ns: host time on hardware, virtual time on a simulation. */
    uint64_t (*now_ns)(struct probe *p);
    /* Largest batch in bits that still gives good latency. A hint for callers with more to say than
     * they need answered at once; larger batches work, too. */
    size_t (*batch_bits)(struct probe *p);
    /* Of a probe that is one device of several on its chain (jtag_chain.h): how long that device's
     * instruction register is. Scans then have to be exactly as long as the register they pass.
     * NULL: the device may be alone; longer scans come out delayed. */
    unsigned (*ir_bits)(struct probe *p);
    /* Totals since open, for "wire use" figures; any pointer may be NULL. */
    void (*stats)(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers, uint64_t *bytes);
};

/* Inline constructors for op arrays. */
static inline struct jtag_op jtag_ir(uint32_t bits, const uint8_t *tdi, uint8_t *tdo)
{
    return (struct jtag_op){ .kind = JTAG_IR, .bits = bits, .tdi = tdi, .tdo = tdo };
}
static inline struct jtag_op jtag_dr(uint32_t bits, const uint8_t *tdi, uint8_t *tdo)
{
    return (struct jtag_op){ .kind = JTAG_DR, .bits = bits, .tdi = tdi, .tdo = tdo };
}
static inline struct jtag_op jtag_idle(uint32_t clocks)
{
    return (struct jtag_op){ .kind = JTAG_IDLE, .bits = clocks };
}
static inline struct jtag_op jtag_reset(void) { return (struct jtag_op){ .kind = JTAG_RESET }; }

/* jtag_check - -ERR_USAGE for an op that cannot be, else 0. Before anything is sent: a refusal in
 * the middle would leave transfers in flight. */
int jtag_check(const struct jtag_op *ops, size_t n, struct err *err);

#endif
