/* H-UDI of the board model: the TAP, SDIR, SDDR, SDBPR, and the commands.
 *
 * It moves bits and reports what a command asks for. CPU, reset and time are the board's, reached
 * by callbacks. Documented commands: BYPASS, reset assert and negate, interrupt; SDDR is
 * documented, too. Private commands, an option: ASERAM write, boot, break, status read. Nothing
 * public confirms what they do on an SH7750 (docs/unverified.md, "H-UDI and ASE"). Another option
 * lets data scans alternate between SDDR and a status register SDSR, as UrJTAG expects it. Source:
 * SH7750 hardware manual, section 21 (H-UDI); UrJTAG fork, urjtag/src/hudi/hudi.c, for the private
 * commands and for SDSR (hudi_sdmode, hudi_sdmode_locked). */
#ifndef TARGETS_SIM_SH4_HUDI_H
#define TARGETS_SIM_SH4_HUDI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/sim/sh4/tap.h"

struct sh4_hudi_ops {
    /* Brings the board up to the present TCK clock, before a value is captured or takes effect. */
    void (*sync)(void *ctx);
    void (*reset_assert)(void *ctx);
    void (*reset_negate)(void *ctx);
    void (*interrupt)(void *ctx);
    void (*ase_break)(void *ctx);
    void (*aseram_write)(void *ctx, unsigned offset, uint32_t word);
    uint32_t (*status)(void *ctx, unsigned selector);
    /* Returns what arrives of a data word: the faults of the wire. May be NULL. */
    uint32_t (*arrive)(void *ctx, uint32_t word);
};

struct sh4_hudi {
    const struct sh4_hudi_ops *ops;
    void *ctx;
    bool private_commands;
    bool alternates; /* data scans alternate between SDDR and SDSR */
    /* SDSR reads as 0, otherwise as another value each time: what it means is not known. */
    bool status_zero;
    bool status_view; /* the next scan shows SDSR; never while the command in SDIR selects SDDR */
    unsigned ir_bits; /* 16; another length is a fault that the host should find */
    enum tap_state state;
    uint32_t ir_shift;
    uint64_t dr_shift;
    unsigned dr_bits; /* length of the selected data register */
    uint16_t sdir;
    uint32_t sddr;
    unsigned status_selector;
    bool aseram_header; /* the next data word is the header, (end << 16) | start */
    unsigned aseram_at, aseram_end;
    bool trst_low;   /* nTRST is low: the TAP ignores TCK */
    bool boot_latch; /* the next exit from reset enters ASE mode */
    uint64_t clocks; /* TCK clocks since power-on */
};

/* sh4_hudi_init - the TAP is in Test-Logic-Reset; SDDR, undefined on the part, is 0. ops and ctx
 * are borrowed. */
void sh4_hudi_init(struct sh4_hudi *h, const struct sh4_hudi_ops *ops, void *ctx);
/* sh4_hudi_trst - Test-Logic-Reset, as nTRST low causes it: SDIR is BYPASS, and the boot latch is
 * cleared. SDDR is kept. */
void sh4_hudi_trst(struct sh4_hudi *h);
/* sh4_hudi_clock - n rising edges of TCK. tms and tdi are packed bits, bit 0 first; tdo is filled
 * unless NULL. */
void sh4_hudi_clock(struct sh4_hudi *h, size_t n, const uint8_t *tms, const uint8_t *tdi,
                    uint8_t *tdo);

#endif
