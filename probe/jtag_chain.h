/* A JTAG chain with several devices on it: what it consists of, where the target stands, and a
 * probe that sees the target alone.
 *
 *     jtag_chain_scan(p, &chain)           counts devices, measures their instruction registers,
 * reads their IDCODEs jtag_chain_find(&chain, &want, "")   which of them is the target
 *     jtag_chain_wrap(p, &chain, &place, &alone)   scans of `alone` reach the target; all others
 * are in BYPASS
 *
 * Devices are counted from TDI: place 0 is the one whose TDI is the connector's.
 * Source: IEEE 1149.1: an instruction of all ones is BYPASS, whose register is one bit and captures
 * 0; after Test-Logic-Reset a device shows IDCODE (32 bits, the lowest 1) or, if it has none,
 * BYPASS; an instruction register captures ..01 and has at least two bits. */
#ifndef PROBE_JTAG_CHAIN_H
#define PROBE_JTAG_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct probe;

enum { JTAG_CHAIN_MAX_TAPS = 32, JTAG_CHAIN_MAX_IR = 32 /* bits of one */ };
enum { JTAG_CHAIN_MAX_BITS = JTAG_CHAIN_MAX_TAPS * JTAG_CHAIN_MAX_IR };

struct jtag_chain {
    unsigned taps;                        /* 1..JTAG_CHAIN_MAX_TAPS */
    uint32_t idcode[JTAG_CHAIN_MAX_TAPS]; /* by place; 0: none, BYPASS after reset */
    unsigned ir_bits;                     /* of all instruction registers together */
    /* what they captured, in the order it came: the last place first. May change */
    uint8_t capture[JTAG_CHAIN_MAX_BITS / 8];
};

/* jtag_chain_scan - measures; three scans. Ends with every device in BYPASS and in Run-Test/Idle
 * p   the adapter's own probe
 * -ERR_NO_TARGET: TDO stands still. -ERR_NOT_FOUND: TDI leads straight to TDO, or into nothing.
 * -ERR_RESOURCE: more than JTAG_CHAIN_MAX_TAPS. -ERR_PROTOCOL: bits come back changed. Or the
 * adapter's failure. *out is untouched then. */
int jtag_chain_scan(struct probe *p, struct jtag_chain *out, struct err *err);

/* What is known of the target before. */
struct jtag_chain_want {
    const char *name; /* for messages: "SH7750" */
    unsigned ir_bits;
    bool has_idcode;
};

/* Where the target stands: what is between TDI and it (before), between it and TDO (after). */
struct jtag_place {
    unsigned place;   /* from TDI, 0 first */
    unsigned ir_bits; /* its own */
    unsigned taps_before, taps_after, ir_before, ir_after;
};

/* jtag_chain_find - which device is the target; pure
 * given   "" or what a user says (--chain): IR lengths from TDI to TDO, the target marked:
 * "4,16*,8". The mark may be left out if one length alone is the target's. Without `given` the
 * place must follow from the measured: how many devices there are, which have an IDCODE, and where
 * the captured ..01 allow an instruction register to begin. Returns 0; -ERR_NO_TARGET: no place is
 * possible; -ERR_RESOURCE: several are, `given` has to say; -ERR_USAGE: `given` is malformed or not
 * what was measured. */
int jtag_chain_find(const struct jtag_chain *chain, const struct jtag_chain_want *want,
                    const char *given, struct jtag_place *out, struct err *err);

/* jtag_chain_text - the chain in words: "2 devices (4BA00477, no IDCODE), instruction registers of
 * 20 bits". Returns buf. */
const char *jtag_chain_text(const struct jtag_chain *chain, char *buf, size_t cap);

/* jtag_chain_wrap - a probe whose scans pass through one device of the chain: instructions are
 * padded with ones, data with a bit for each other device. Scans must be exactly as long as the
 * target's register, so jtag_ops.ir_bits says that it is one of several. A data scan after a reset
 * without an instruction between goes through the target's BYPASS. inner   becomes the new probe's,
 * which closes it; on failure it stays the caller's out     close with probe_close();
 * probe_reopen() opens inner again */
int jtag_chain_wrap(struct probe *inner, const struct jtag_chain *chain,
                    const struct jtag_place *place, struct probe **out, struct err *err);

/* jtag_chain_verify - after the board or the adapter was away: whether the chain is the one that p
 * was made for Returns 0, also if nothing answers on it now (the part's driver says that better),
 * and for a probe that is not of jtag_chain_wrap(); -ERR_NO_TARGET: it is another chain; the
 * adapter's failure. */
int jtag_chain_verify(struct probe *p, struct err *err);

#endif
