#include "targets/sh4/isa/regs.h"

#include <strings.h>

#include "probe/base/util.h"

const uint16_t sh4_handler_offset[SH4_NHANDLERS] = { SH4_VEC_GENERAL, SH4_VEC_TLB_MISS,
                                                     SH4_VEC_INTERRUPT };

static const struct reg_field sr[] = REG_FIELDS(SH4_SR);
static const struct reg_field fpscr[] = REG_FIELDS(SH4_FPSCR);
static const struct reg_field mmucr[] = REG_FIELDS(SH4_MMUCR);
static const struct reg_field pteh[] = REG_FIELDS(SH4_PTEH);
static const struct reg_field ptel[] = REG_FIELDS(SH4_PTEL);
static const struct reg_field ptea[] = REG_FIELDS(SH4_PTEA);
static const struct reg_field ccr[] = REG_FIELDS(SH4_CCR);
static const struct reg_field pmcr[] = REG_FIELDS(SH4_PMCR);
static const struct reg_field bbr[] = REG_FIELDS(SH4_BBR);
static const struct reg_field bamr[] = REG_FIELDS(SH4_BAMR);
static const struct reg_field brcr[] = REG_FIELDS(SH4_BRCR);
static const struct reg_field frqcr[] = REG_FIELDS(SH4_FRQCR);
static const struct reg_field wtcsr[] = REG_FIELDS(SH4_WTCSR);
static const struct reg_field tcr[] = REG_FIELDS(SH4_TCR);
static const struct reg_field tstr[] = REG_FIELDS(SH4_TSTR);
static const struct reg_field rcr1[] = REG_FIELDS(SH4_RCR1);
static const struct reg_field rcr2[] = REG_FIELDS(SH4_RCR2);
static const struct reg_field icr[] = REG_FIELDS(SH4_ICR);
static const struct reg_field ipra[] = REG_FIELDS(SH4_IPRA);
static const struct reg_field iprb[] = REG_FIELDS(SH4_IPRB);
static const struct reg_field iprc[] = REG_FIELDS(SH4_IPRC);
static const struct reg_field scsmr2[] = REG_FIELDS(SH4_SCSMR2);
static const struct reg_field scscr2[] = REG_FIELDS(SH4_SCSCR2);
static const struct reg_field scfsr2[] = REG_FIELDS(SH4_SCFSR2);
static const struct reg_field scfcr2[] = REG_FIELDS(SH4_SCFCR2);
static const struct reg_field scfdr2[] = REG_FIELDS(SH4_SCFDR2);
static const struct reg_field sclsr2[] = REG_FIELDS(SH4_SCLSR2);
static const struct reg_field sdir[] = REG_FIELDS(SH4_SDIR);

static const struct {
    uint32_t address;
    const struct reg_field *fields;
    uint8_t nfields;
} described[] = {
/* clang-format off */
#define D(addr, list) { addr, list, ARRAY_LEN(list) }
    /* clang-format on */
    D(SH4_MMUCR, mmucr),   D(SH4_PTEH, pteh),     D(SH4_PTEL, ptel),     D(SH4_PTEA, ptea),
    D(SH4_CCR, ccr),       D(SH4_PMCR1, pmcr),    D(SH4_PMCR2, pmcr),    D(SH4_BBRA, bbr),
    D(SH4_BBRB, bbr),      D(SH4_BAMRA, bamr),    D(SH4_BAMRB, bamr),    D(SH4_BRCR, brcr),
    D(SH4_FRQCR, frqcr),   D(SH4_WTCSR, wtcsr),   D(SH4_TCR0, tcr),      D(SH4_TCR1, tcr),
    D(SH4_TCR2, tcr),      D(SH4_TSTR, tstr),     D(SH4_RCR1, rcr1),     D(SH4_RCR2, rcr2),
    D(SH4_ICR, icr),       D(SH4_IPRA, ipra),     D(SH4_IPRB, iprb),     D(SH4_IPRC, iprc),
    D(SH4_SCSMR2, scsmr2), D(SH4_SCSCR2, scscr2), D(SH4_SCFSR2, scfsr2), D(SH4_SCFCR2, scfcr2),
    D(SH4_SCFDR2, scfdr2), D(SH4_SCLSR2, sclsr2), D(SH4_SDIR, sdir),
#undef D
};

#define INFO(n, a, w, r, t) { #n, a##u, w, r##u, t },
static const struct sh4_reg_info table[] = { SH4_REGS(INFO) };
#undef INFO

const uint32_t sh4_pmcr[2] = { SH4_PMCR1, SH4_PMCR2 };
const uint32_t sh4_pmctr_high[2] = { SH4_PMCTR1H, SH4_PMCTR2H };
const uint32_t sh4_pmctr_low[2] = { SH4_PMCTR1L, SH4_PMCTR2L };

const struct sh4_reg_info *sh4_reg_table(size_t *n)
{
    *n = ARRAY_LEN(table);
    return table;
}

/* Area 7 addresses (physical, through the TLB) stand for the same registers. */
static uint32_t p4_address(uint32_t address)
{
    if ((address & 0xFF000000u) == 0x1F000000u)
        return address | 0xE0000000u;
    return address;
}

const struct sh4_reg_info *sh4_reg_at(uint32_t address)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].address == p4_address(address))
            return &table[i];
    return NULL;
}

const struct sh4_reg_info *sh4_reg_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcasecmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

const struct reg_field *sh4_reg_fields(uint32_t address, size_t *n)
{
    for (size_t i = 0; i < ARRAY_LEN(described); i++)
        if (described[i].address == p4_address(address)) {
            *n = described[i].nfields;
            return described[i].fields;
        }
    *n = 0;
    return NULL;
}

const struct reg_field *sh4_sr_fields(size_t *n)
{
    *n = ARRAY_LEN(sr);
    return sr;
}

const struct reg_field *sh4_fpscr_fields(size_t *n)
{
    *n = ARRAY_LEN(fpscr);
    return fpscr;
}
