/* Registers of the DBG module (S12ZDBGV2), and BDCCSR, each described once.
 * Source: HDR, mc9s12zvml128.h; ZVHL p.149-226. Codes that these do not have: settings.h. */
#ifndef TARGETS_S12Z_DRIVER_DBG_H
#define TARGETS_S12Z_DRIVER_DBG_H

#include "probe/base/reg.h"
#include "targets/s12z/settings.h"

enum s12z_dbg_reg {
    S12Z_DBGC1 = 0x0100,
    S12Z_DBGC2 = 0x0101,
    S12Z_DBGTCRH = 0x0102,
    S12Z_DBGTCRL = 0x0103,
    S12Z_DBGTB = 0x0104,
    S12Z_DBGCNT = 0x0106,
    S12Z_DBGSCR1 = 0x0107,
    S12Z_DBGSCR2 = 0x0108,
    S12Z_DBGSCR3 = 0x0109,
    S12Z_DBGEFR = 0x010A,
    S12Z_DBGSR = 0x010B,
    S12Z_DBGACTL = 0x0110, /* comparator n at + n * S12Z_COMPARATOR_STEP: B 0120, C 0130, D 0140 */
    S12Z_COMPARATOR_STEP = 0x10,
    S12Z_COMPARATOR_ADDRESS = 5,
    S12Z_COMPARATOR_DATA = 8,
    S12Z_COMPARATOR_MASK = 12 /* data and mask: A and C only */
};
enum { S12Z_COMPARATORS = 4 };

/* clang-format off */
#define S12Z_DBGC1_FIELDS(F, P)                      \
    F(P, ARM, 7, 7, "armed")                         \
    F(P, TRIG, 6, 6, "go to Final State now")        \
    F(P, BDMBP, 4, 4, "breakpoints halt (else SWI)") \
    F(P, BRKCPU, 3, 3, "breakpoints on")             \
    F(P, EEVE, 1, 0, "external event pin")
/* clang-format on */
#define S12Z_DBGC2_FIELDS(F, P)                                  \
    F(P, CDCM, 3, 2, "C and D: 1 inside, 2 outside their range") \
    F(P, ABCM, 1, 0, "A and B likewise")
/* clang-format off */
#define S12Z_DBGTCRH_FIELDS(F, P)      \
    F(P, TSOURCE, 6, 6, "trace on")    \
    F(P, TRANGE, 5, 4, "range traced") \
    F(P, TRCMOD, 3, 2, "trace mode")   \
    F(P, TALIGN, 1, 0, "0 End, 1 Begin, 2 Mid")
#define S12Z_DBGTCRL_FIELDS(F, P)                     \
    F(P, PREND, 4, 4, "profiling end (ZVMC256 only)") \
    F(P, DSTAMP, 3, 3, "comparator D forces a stamp") \
    F(P, PDOE, 2, 2, "PDO and PDOCLK pins driven")    \
    F(P, PROFILE, 1, 1, "code profiling")             \
    F(P, STAMP, 0, 0, "timestamps")
/* clang-format on */
#define S12Z_DBGSCR_FIELDS(F, P)        \
    F(P, C3SC, 7, 6, "next state on D") \
    F(P, C2SC, 5, 4, "on C") F(P, C1SC, 3, 2, "on B") F(P, C0SC, 1, 0, "on A")
/* clang-format off */
#define S12Z_DBGEFR_FIELDS(F, P)                      \
    F(P, PTBOVF, 7, 7, "profiling buffer overflowed") \
    F(P, TRIGF, 6, 6, "TRIG was written")             \
    F(P, EEVF, 4, 4, "external event")                \
    F(P, ME3, 3, 3, "D matched")                      \
    F(P, ME2, 2, 2, "C matched")                      \
    F(P, ME1, 1, 1, "B matched")                      \
    F(P, ME0, 0, 0, "A matched")
#define S12Z_DBGSR_FIELDS(F, P)                   \
    F(P, TBF, 7, 7, "trace buffer full")          \
    F(P, PTACT, 4, 4, "profile still being sent") \
    F(P, SSF, 2, 0, "state: 0 disarmed, 1-3, 4 Final")
#define S12Z_DBGXCTL_FIELDS(F, P)       \
    F(P, NDB, 6, 6, "data must differ") \
    F(P, INST, 5, 5, "opcode address")  \
    F(P, RW, 3, 3, "1 reads, 0 writes") \
    F(P, RWE, 2, 2, "RW counts")        \
    F(P, COMPE, 0, 0, "enabled")
#define S12Z_BDCCSR_FIELDS(F, P)                                          \
    F(P, ENBDC, 15, 15, "BDC enabled")                                    \
    F(P, BDMACT, 14, 14, "halted in active BDM")                          \
    F(P, BDCCIS, 13, 13, "core clocks stay on in STOP")                   \
    F(P, STEAL, S12Z_AT_STEAL, S12Z_AT_STEAL, "takes bus cycles at once") \
    F(P, CLKSW, 10, 10, "BDCFCLK in use")                                 \
    F(P, UNSEC, 9, 9, "not secured")                                      \
    F(P, ERASE, 8, 8, "mass erase under way")                             \
    F(P, WAIT, S12Z_AT_WAIT, S12Z_AT_WAIT, "WAI was entered")             \
    F(P, STOP, S12Z_AT_STOP, S12Z_AT_STOP, "STOP was entered")            \
    F(P, RAMWF, S12Z_AT_RAMWF, S12Z_AT_RAMWF, "RAM write fault (ECC)")    \
    F(P, OVRUN, 4, 4, "command overrun")                                  \
    F(P, NORESP, 3, 3, "no response")                                     \
    F(P, RDINV, S12Z_AT_RDINV, S12Z_AT_RDINV, "invalid data read")        \
    F(P, ILLACC, S12Z_AT_ILLACC, S12Z_AT_ILLACC, "illegal access")        \
    F(P, ILLCMD, S12Z_AT_ILLCMD, S12Z_AT_ILLCMD, "illegal command")
/* clang-format on */
REG_DEFINE(S12Z_DBGC1);
REG_DEFINE(S12Z_DBGC2);
REG_DEFINE(S12Z_DBGTCRH);
REG_DEFINE(S12Z_DBGTCRL);
REG_DEFINE(S12Z_DBGSCR);
REG_DEFINE(S12Z_DBGEFR);
REG_DEFINE(S12Z_DBGSR);
REG_DEFINE(S12Z_DBGXCTL);
REG_DEFINE(S12Z_BDCCSR);

#endif
