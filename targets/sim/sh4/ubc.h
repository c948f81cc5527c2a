/* User break controller (UBC): two channels that compare instruction and operand accesses.
 *
 * The core asks before and after each instruction and after each operand access, but only while
 * `armed_insn` or `armed_operand` says that a channel could match. It counts the matches (events
 * 0x19 and 0x1A), and takes the exception if sh4_ubc_hit() says so. Source: SH7750 hardware manual,
 * section 20 (User Break Controller); targets/sh4/isa/regs.h has the bits. */
#ifndef TARGETS_SIM_SH4_UBC_H
#define TARGETS_SIM_SH4_UBC_H

#include <stdbool.h>
#include <stdint.h>

enum { SH4_UBC_A = 1, SH4_UBC_B = 2 };

struct sh4_ubc_channel {
    uint32_t bar;
    uint8_t bamr, basr;
    uint16_t bbr;
};

struct sh4_ubc {
    struct sh4_ubc_channel ch[2]; /* channels A and B */
    uint32_t bdrb, bdmrb;
    uint16_t brcr;
    bool a_matched;     /* SEQ mode: A has matched, so B may match */
    bool armed;         /* some channel can match */
    bool armed_insn;    /* ... an instruction access */
    bool armed_operand; /* ... an operand access */
};

/* sh4_ubc_reset - a power-on reset: both channels are off. A manual reset keeps all registers. */
void sh4_ubc_reset(struct sh4_ubc *ubc);

/* sh4_ubc_match_insn - the channels that match the instruction at pc, which is about to be
 * executed. Returns SH4_UBC_A and SH4_UBC_B in bits 1-0 for channels that break before it, and in
 * bits 5-4 for those that break after it, to be reported when it has been executed. A channel with
 * bit 0 of BAR set never matches. */
unsigned sh4_ubc_match_insn(const struct sh4_ubc *ubc, uint32_t pc, uint8_t asid);

/* sh4_ubc_match_operand - the channels that match an operand access just made
 * size    1, 2, 4 or 8 bytes
 * value   data read or written, right-justified; channel B compares it if DBEB is set
 * Returns SH4_UBC_A and SH4_UBC_B. Operand breaks always come after the instruction. */
unsigned sh4_ubc_match_operand(const struct sh4_ubc *ubc, uint32_t vaddr, unsigned size, bool write,
                               uint64_t value, uint8_t asid);

/* sh4_ubc_hit - these channels have matched: sets CMFA and CMFB. Returns true if a user break
 * (EXPEVT 0x1E0) has to be taken. In sequential mode a match of A only enables B, and only CMFB is
 * set, when B matches after A. */
bool sh4_ubc_hit(struct sh4_ubc *ubc, unsigned channels);

/* sh4_ubc_breaks_to_dbr - BRCR.UBDE: user breaks load the PC from DBR. */
bool sh4_ubc_breaks_to_dbr(const struct sh4_ubc *ubc);

/* sh4_ubc_read, sh4_ubc_write - registers BARA to BRCR, BASRA and BASRB, by their P4 address.
 * False: the address is none of these. After a write `armed` may have changed
 * (sh4_cpu_ubc_armed). */
bool sh4_ubc_read(const struct sh4_ubc *ubc, uint32_t addr, uint32_t *value);
bool sh4_ubc_write(struct sh4_ubc *ubc, uint32_t addr, uint32_t value);

#endif
