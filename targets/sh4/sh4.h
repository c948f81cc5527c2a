/* SH-4 debug driver: opens a struct target over any adapter with JTAG. */
#ifndef TARGETS_SH4_SH4_H
#define TARGETS_SH4_SH4_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/probe.h"
#include "targets/target.h"

/* What the caller may choose; all zero gives the defaults. (Not named sh4_config: the board model
 * has one.) */
struct sh4_options {
    const char *variant; /* "sh7750" (default), "sh7091"; copied by name, static strings only */
    bool big_endian;     /* byte order of the part (its MD5 pin) */
    /* use the private H-UDI commands: ASE break, ASE boot, ASERAM, status read */
    bool allow_private;
    uint32_t agent_ram;       /* target RAM the agent may use for tracing; 0: 0x8C004000 */
    uint32_t agent_ram_bytes; /* 0: 48 KB */
    uint32_t tck_hz;          /* wanted wire clock; 0: leave the adapter's */
    /* tck_hz was found by trying scans through BYPASS: attach tries it with SDDR, and it is lowered
     * when words come back damaged */
    bool tck_auto;
};
#define SH4_AGENT_RAM_DEFAULT 0x8C004000u
#define SH4_AGENT_RAM_BYTES   (48u * 1024u)

/* sh4_open - a target on the far end of the adapter's JTAG pins
 * p      borrowed until close; must offer JTAG (else -ERR_UNSUPPORTED)
 * opt    copied; NULL: defaults without private commands
 * out    state TARGET_DETACHED: nothing has been put on the wire yet. Close with out->ops->close().
 * Without allow_private everything goes through a resident agent, which is in target RAM already.
 * With it the agent is put into ASERAM, and target memory is not touched before a breakpoint is
 * set. */
int sh4_open(struct probe *p, const struct sh4_options *opt, struct target **out, struct err *err);

/* sh4_target_ops - the driver's table without a board, for `probeprof events` and for symbols:
 * counter events, canonical addresses, registers. Static lifetime. Functions in it that take a
 * target are for open ones. */
const struct target_ops *sh4_target_ops(void);

/* sh4_insn - as target_ops.insn. FPSCR is not known: an instruction is taken for double precision,
 * or for a 64-bit move, only where it can be nothing else. */
size_t sh4_insn(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian, struct insn *out);

/* sh4_graph - as target_ops.graph: what the site search reaches (targets/sh4/code/sites.h). */
int sh4_graph(const struct image *im, struct graph *out, struct err *err);

#endif
