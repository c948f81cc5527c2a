/* H-UDI of the board model: the TAP, SDIR, SDDR, SDBPR and the commands, documented and private.
 *
 * It moves bits and reports what a command asks for; CPU, reset and time belong to the board,
 * reached through the callbacks. Documented: BYPASS, reset assert/negate, interrupt, SDDR. Private
 * (an option; their meaning on an SH7750 is not confirmed by anything public, docs/unverified.md):
 * ASERAM write, boot, break, status read. An option, too: data scans that alternate between SDDR
 * and a status register SDSR, as UrJTAG keeps track of them. Source: SH7750 hardware manual,
 * section 21; UrJTAG's ST40 fork for the private commands and for
 * SDSR (github.com/jekkos/urjtag-st7xxx, urjtag/src/hudi/hudi.c: hudi_sdmode, hudi_sdmode_locked).
 */
#ifndef TARGETS_SIM_SH4_HUDI_H
#define TARGETS_SIM_SH4_HUDI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/sim/sh4/tap.h"

struct sh4_hudi_ops {
    /* Bring the board up to the present TCK before a value is captured or takes effect. */
    void (*sync)(void *ctx);
    void (*reset_assert)(void *ctx);
    void (*reset_negate)(void *ctx);
    void (*interrupt)(void *ctx);
    void (*ase_break)(void *ctx);
    void (*aseram_write)(void *ctx, unsigned offset, uint32_t word);
    uint32_t (*status)(void *ctx, unsigned selector);
    /* what of a data word gets in: faults of the wire; may be NULL */
    uint32_t (*arrive)(void *ctx, uint32_t word);
};

struct sh4_hudi {
    const struct sh4_hudi_ops *ops;
    void *ctx;
    bool private_commands;
    bool alternates; /* there is an SDSR */
    /* it reads 0; else something else each time: what it tells is not known */
    bool status_zero;
    bool status_view; /* the next scan shows it; never while the command loaded pins SDDR */
    unsigned ir_bits; /* 16; other values are a fault to be found by the host */
    enum tap_state state;
    uint32_t ir_shift;
    uint64_t dr_shift;
    unsigned dr_bits; /* length of the selected data register */
    uint16_t sdir;
    uint32_t sddr;
    unsigned status_selector;
    bool aseram_header; /* the next DR word is (end << 16) | start */
    unsigned aseram_at, aseram_end;
    bool trst_low;   /* nTRST held: the TAP ignores TCK */
    bool boot_latch; /* the next reset exit enters ASE mode */
    uint64_t clocks; /* TCK since power-on */
};

/* sh4_hudi_init - Test-Logic-Reset, SDDR 0 (undefined on the part). ops and ctx borrowed. */
void sh4_hudi_init(struct sh4_hudi *h, const struct sh4_hudi_ops *ops, void *ctx);
/* sh4_hudi_trst - Test-Logic-Reset, as nTRST low gives: SDIR BYPASS, the boot latch falls; SDDR is
 * kept. */
void sh4_hudi_trst(struct sh4_hudi *h);
/* sh4_hudi_clock - n rising edges of TCK; tms, tdi packed bits, bit 0 first; tdo filled if not
 * NULL. */
void sh4_hudi_clock(struct sh4_hudi *h, size_t n, const uint8_t *tms, const uint8_t *tdi,
                    uint8_t *tdo);

#endif
