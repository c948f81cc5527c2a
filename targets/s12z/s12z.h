/* S12Z debug driver: opens a struct target over any adapter with BDC. */
#ifndef TARGETS_S12Z_S12Z_H
#define TARGETS_S12Z_S12Z_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/probe.h"
#include "targets/target.h"

/* What the caller may choose; all zero gives the defaults. */
struct s12z_options {
    /* "s12zvml128" (default), a row of s12z_chips(); static strings only */
    const char *chip;
    /* change to BDCFCLK (CLKSW) after SYNC: faster, but it follows the program's PLL */
    bool fast_clock;
    /* BDCCIS: memory stays reachable in STOP; the part then draws more current */
    bool keep_clocks;
    /* captures PDO and PDOCLK beside the adapter; borrowed until close. NULL: the adapter itself,
     * if it can */
    struct probe *pdo;
    bool allow_security_byte; /* flash_write may change 0xFFFE00-0xFFFE0F */
};

/* What the driver must know of a part beforehand; it finds out the rest. Source: HDR; ZVM p.127. */
struct s12z_chip {
    const char *name, *help;
    uint32_t ram_end;     /* RAM is 0x001000 .. ram_end */
    uint32_t eeprom_end;  /* EEPROM is 0x100000 .. eeprom_end */
    uint32_t flash_start; /* flash is flash_start .. 0xFFFFFF */
};

/* s12z_chips - every part known, ends with a NULL name; static lifetime. */
const struct s12z_chip *s12z_chips(void);

/* s12z_open - a target on the far end of the adapter's BKGD pin
 * p      borrowed until close; must offer BDC (else -ERR_UNSUPPORTED)
 * opt    copied; NULL: defaults
 * out    state TARGET_DETACHED: nothing has been put on the wire yet. Close with out->ops->close().
 * attach() gives -ERR_SECURED for a secured part and leaves the target DETACHED with the link up:
 * the monitor command `unsecure` works then. */
int s12z_open(struct probe *p, const struct s12z_options *opt, struct target **out,
              struct err *err);

/* s12z_target_ops - the driver's table without a board: registers, canonical addresses. Static
 * lifetime; its functions that take a target are for open ones. */
const struct target_ops *s12z_target_ops(void);

/* s12z_insn_text - as target_ops.insn. */
size_t s12z_insn_text(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian,
                      struct insn *out);

/* s12z_graph - as target_ops.graph. */
int s12z_graph(const struct image *im, struct graph *out, struct err *err);

#endif
