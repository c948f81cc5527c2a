/* Hardware registers described once, as X-macro field lists next to their manual's section.
 *
 *   #define SH4_BRCR_FIELDS(F, P) F(P, CMFA, 15, 15, "channel A matched") ...
 *   REG_DEFINE(SH4_BRCR)            in a header: SH4_BRCR_CMFA_MSB, ..., overlap check
 *   REG_FIELDS(SH4_BRCR)            as initialiser of a const struct reg_field[]
 *   REG_GET(v, SH4_BRCR_SEQ), REG_MASK(SH4_BRCR_SEQ), REG_PUT(x, SH4_BRCR_SEQ)
 */
#ifndef PROBE_BASE_REG_H
#define PROBE_BASE_REG_H

#include <stddef.h>
#include <stdint.h>

#define REG_BITS(msb, lsb) ((uint32_t)((((uint64_t)1 << ((msb) - (lsb) + 1)) - 1) << (lsb)))
#define REG_MASK(f)        REG_BITS(f##_MSB, f##_LSB)
#define REG_GET(v, f)      (((uint32_t)(v)&REG_MASK(f)) >> f##_LSB)
#define REG_PUT(x, f)      (((uint32_t)(x) << f##_LSB) & REG_MASK(f))
/* A list is NAME_FIELDS(F, P) with rows F(P, field, msb, lsb, "meaning of 1"). */
#define REG_ENUM_(P, n, msb, lsb, text) P##_##n##_MSB = msb, P##_##n##_LSB = lsb,
#define REG_ROW_(P, n, msb, lsb, text)  { #n, msb, lsb, text },
#define REG_ADD_(P, n, msb, lsb, text)  +(uint64_t)REG_BITS(msb, lsb)
#define REG_OR_(P, n, msb, lsb, text)   | REG_BITS(msb, lsb)
#define REG_DEFINE(R)                                                                    \
    enum { R##_FIELDS(REG_ENUM_, R) R##_ALL_FIELDS = (int)(0u R##_FIELDS(REG_OR_, R)) }; \
    _Static_assert((0u R##_FIELDS(REG_ADD_, R)) == (0u R##_FIELDS(REG_OR_, R)),          \
                   #R " fields overlap")
/* clang-format off */
#define REG_FIELDS(R) { R##_FIELDS(REG_ROW_, R) }
/* clang-format on */

struct reg_field {
    const char *name;
    uint8_t msb, lsb;
    const char *meaning; /* of 1, or of the whole field */
};

/* reg_text - "8401 CMFA PCBA UBDE": value in hex (digits wide), names of set one-bit fields, and
 * NAME=value for wider non-zero ones.
 * fields, nfields   the register's table
 * value, digits     the value and how many hex digits to print
 * buf, cap          output, always terminated
 * Returns buf. */
char *reg_text(const struct reg_field *fields, size_t nfields, uint32_t value, int digits,
               char *buf, size_t cap);

#endif
