/* User break controller: two channels that watch instruction and operand accesses.
 *
 * The core asks before and after each instruction and after each operand access, but only while
 * `armed_insn` / `armed_operand` say that some channel could match; it counts matches (events 0x19,
 * 0x1A) and takes the exception when sh4_ubc_hit() says so.
 * Source: SH7750 hardware manual, section 20; bits as in targets/sh4/isa/regs.h. */
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
    struct sh4_ubc_channel ch[2]; /* A, B */
    uint32_t bdrb, bdmrb;
    uint16_t brcr;
    bool a_matched;     /* SEQ mode: A has matched, B may */
    bool armed;         /* some channel can match */
    bool armed_insn;    /* ... an instruction */
    bool armed_operand; /* ... an operand access */
};

/* sh4_ubc_reset - power-on reset: channels off. Manual reset: registers keep their values. */
void sh4_ubc_reset(struct sh4_ubc *ubc);

/* sh4_ubc_match_insn - channels whose condition matches the instruction at pc about to execute
 * Returns SH4_UBC_A/B in bits 1-0 for those that break before it, and in bits 5-4 for those that
 * break after it (to be reported once it has executed). BAR bit 0 set never matches. */
unsigned sh4_ubc_match_insn(const struct sh4_ubc *ubc, uint32_t pc, uint8_t asid);

/* sh4_ubc_match_operand - channels that match an operand access just made
 * size    1, 2, 4 or 8 bytes
 * value   data read or written, right-justified: channel B with DBEB compares it
 * Returns SH4_UBC_A/B bits; operand breaks always come after the instruction. */
unsigned sh4_ubc_match_operand(const struct sh4_ubc *ubc, uint32_t vaddr, unsigned size, bool write,
                               uint64_t value, uint8_t asid);

/* sh4_ubc_hit - channels (SH4_UBC_A/B bits) have matched: sets CMFA/CMFB, minds SEQ
 * Returns true if a user break (EXPEVT 0x1E0) is to be taken. In sequential mode a match of A only
 * opens the way for B; only CMFB is set, when B matches after A. */
bool sh4_ubc_hit(struct sh4_ubc *ubc, unsigned channels);

/* sh4_ubc_breaks_to_dbr - BRCR.UBDE */
bool sh4_ubc_breaks_to_dbr(const struct sh4_ubc *ubc);

/* sh4_ubc_read/write - registers BARA..BRCR, BASRA, BASRB by P4 address. Return false for an
 * address that is none of them. After a write look at `armed` again (sh4_cpu_ubc_armed). */
bool sh4_ubc_read(const struct sh4_ubc *ubc, uint32_t addr, uint32_t *value);
bool sh4_ubc_write(struct sh4_ubc *ubc, uint32_t addr, uint32_t value);

#endif
