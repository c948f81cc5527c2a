/* Encodings that no document we could read settles. Each is a named setting with its default;
 * docs/unverified.md, "S12Z code profiling: the named settings", has the bench test of each. The
 * decoder can try the variants of those marked [stream] on a capture, and says which are
 * consistent. */
#ifndef TARGETS_S12Z_SETTINGS_H
#define TARGETS_S12Z_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Which PDOCLK edges carry a bit. */
enum s12z_edge_rule { S12Z_EDGES_BOTH, S12Z_EDGES_RISING, S12Z_EDGES_FALLING };

struct s12z_settings {
    /* [stream] when PDO is sampled */
    uint8_t edge_rule;        /* enum s12z_edge_rule; default both: PDOCLK toggles once a bit */
    bool first_edge_is_clock; /* the first edge after idle samples the first bit; default true */
    /* [stream] bytes of a PTHF line on the wire: 6 (default) or 5 */
    uint8_t pthf_bytes;
    /* [stream] JMP or JSR whose general operand is a static address (AA, AB) makes a PTIB; default
     * false */
    bool static_operand_is_indirect;
    /* [stream] SWI, SYS, TRAP and SPARE make a PTVB; default true */
    bool software_exceptions_traced;
    /* [stream] BRSET/BRCLR and DBcc/TBcc make a bit as Bcc does; default true for both */
    bool bit_branches_traced, loop_branches_traced;
    /* [stream] stamps count from the last line (default). False: from the last change of flow, and
     * then they correct no times */
    bool stamp_from_line;
    /* [stream] multi-byte fields have their low byte in the lower byte of the line (default) */
    bool low_byte_first;
};
struct s12z_settings s12z_settings_default(void);

/* BDCFCLK (CLKSW=1) in bus clocks. SYNC then measures the bus clock, from which the flash gets its
 * divider. Assumed: docs/unverified.md. */
enum { S12Z_BDCFCLK_PER_BUS = 1 };
/* Codes of fields of the DBG module. */
enum { S12Z_TALIGN_END = 0, S12Z_TALIGN_BEGIN = 1, S12Z_TALIGN_MID = 2 };
enum {
    S12Z_TRCMOD_NORMAL = 0,
    S12Z_TRCMOD_LOOP1 = 1,
    S12Z_TRCMOD_DETAIL = 2,
    S12Z_TRCMOD_PURE_PC = 3
};
enum { S12Z_RANGE_SEPARATE = 0, S12Z_RANGE_INSIDE = 1, S12Z_RANGE_OUTSIDE = 2 };
/* in each CxSC field; 1 and 2 are the other two states in ascending order */
enum { S12Z_SCR_NONE = 0, S12Z_SCR_FINAL = 3 };
enum { S12Z_TRANGE_ALL = 0, S12Z_TRANGE_TO_D = 1, S12Z_TRANGE_FROM_C = 2, S12Z_TRANGE_C_TO_D = 3 };
enum { S12Z_EEVE_OFF = 0, S12Z_EEVE_ENTRY = 1, S12Z_EEVE_STATE = 2, S12Z_EEVE_GATE = 3 };
/* Places of BDCCSR bits that were derived or remembered, not read (docs/unverified.md).
 * s12z/driver/dbg.h has the whole register. */
enum {
    S12Z_AT_STEAL = 11,
    S12Z_AT_WAIT = 7,
    S12Z_AT_STOP = 6,
    S12Z_AT_RAMWF = 5,
    S12Z_AT_RDINV = 2,
    S12Z_AT_ILLACC = 1,
    S12Z_AT_ILLCMD = 0
};

#endif
