#include "targets/sim/sh4/intc.h"

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"

enum { IPRA, IPRB, IPRC, FIXED };

/* Of each source: its code, the register that has its priority, and the lowest bit of the field. */
static const struct {
    uint16_t intevt;
    uint8_t ipr, shift;
} sources[SH4_NSOURCES] = {
    [SH4_SRC_NMI] = { SH4_INT_NMI, FIXED, 0 },
    [SH4_SRC_HUDI] = { SH4_INT_HUDI, IPRC, SH4_IPRC_HUDI_LSB },
    [SH4_SRC_GPIO] = { SH4_INT_GPIO, IPRC, SH4_IPRC_GPIO_LSB },
    [SH4_SRC_DMTE0] = { SH4_INT_DMTE0, IPRC, SH4_IPRC_DMAC_LSB },
    [SH4_SRC_DMTE1] = { SH4_INT_DMTE1, IPRC, SH4_IPRC_DMAC_LSB },
    [SH4_SRC_DMTE2] = { SH4_INT_DMTE2, IPRC, SH4_IPRC_DMAC_LSB },
    [SH4_SRC_DMTE3] = { SH4_INT_DMTE3, IPRC, SH4_IPRC_DMAC_LSB },
    [SH4_SRC_DMAE] = { SH4_INT_DMAE, IPRC, SH4_IPRC_DMAC_LSB },
    [SH4_SRC_TMU0] = { SH4_INT_TMU0, IPRA, SH4_IPRA_TMU0_LSB },
    [SH4_SRC_TMU1] = { SH4_INT_TMU1, IPRA, SH4_IPRA_TMU1_LSB },
    [SH4_SRC_TMU2] = { SH4_INT_TMU2, IPRA, SH4_IPRA_TMU2_LSB },
    [SH4_SRC_TMU2_CAPTURE] = { SH4_INT_TMU2_CAPTURE, IPRA, SH4_IPRA_TMU2_LSB },
    [SH4_SRC_RTC_ALARM] = { SH4_INT_RTC_ALARM, IPRA, SH4_IPRA_RTC_LSB },
    [SH4_SRC_RTC_PERIODIC] = { SH4_INT_RTC_PERIODIC, IPRA, SH4_IPRA_RTC_LSB },
    [SH4_SRC_RTC_CARRY] = { SH4_INT_RTC_CARRY, IPRA, SH4_IPRA_RTC_LSB },
    [SH4_SRC_SCI_ERI] = { SH4_INT_SCI_ERI, IPRB, SH4_IPRB_SCI_LSB },
    [SH4_SRC_SCI_RXI] = { SH4_INT_SCI_RXI, IPRB, SH4_IPRB_SCI_LSB },
    [SH4_SRC_SCI_TXI] = { SH4_INT_SCI_TXI, IPRB, SH4_IPRB_SCI_LSB },
    [SH4_SRC_SCI_TEI] = { SH4_INT_SCI_TEI, IPRB, SH4_IPRB_SCI_LSB },
    [SH4_SRC_SCIF_ERI] = { SH4_INT_SCIF_ERI, IPRC, SH4_IPRC_SCIF_LSB },
    [SH4_SRC_SCIF_RXI] = { SH4_INT_SCIF_RXI, IPRC, SH4_IPRC_SCIF_LSB },
    [SH4_SRC_SCIF_BRI] = { SH4_INT_SCIF_BRI, IPRC, SH4_IPRC_SCIF_LSB },
    [SH4_SRC_SCIF_TXI] = { SH4_INT_SCIF_TXI, IPRC, SH4_IPRC_SCIF_LSB },
    [SH4_SRC_WDT] = { SH4_INT_WDT, IPRB, SH4_IPRB_WDT_LSB },
    [SH4_SRC_REF_RCMI] = { SH4_INT_REF_RCMI, IPRB, SH4_IPRB_REF_LSB },
    [SH4_SRC_REF_ROVI] = { SH4_INT_REF_ROVI, IPRB, SH4_IPRB_REF_LSB },
};

enum { NMI_LEVEL = 16 };

void sh4_intc_reset(struct sh4_intc *c) { *c = (struct sh4_intc){ .nmi_pin = true }; }

void sh4_intc_request(struct sh4_intc *c, enum sh4_irq_source source, bool active)
{
    uint32_t bit = 1u << source;
    c->request = with_bits(c->request, bit, active);
}

void sh4_intc_set_nmi(struct sh4_intc *c, bool high)
{
    bool rising_wanted = REG_GET(c->icr, SH4_ICR_NMIE);
    if (high != c->nmi_pin && high == rising_wanted)
        sh4_intc_request(c, SH4_SRC_NMI, true);
    c->nmi_pin = high;
}

void sh4_intc_set_irl(struct sh4_intc *c, uint8_t irl) { c->irl = irl & 15; }

/* Independent pins have the fixed levels 13, 10, 7 and 4, and the codes of the encoded levels of
 * the same rank: IRL0 0x240, IRL1 0x2A0, IRL2 0x300, IRL3 0x360. Source: SH7750 hardware manual,
 * section 19, table of interrupt sources. */
static unsigned pick_irl(const struct sh4_intc *c, uint16_t *intevt)
{
    unsigned level = c->irl;
    if (REG_GET(c->icr, SH4_ICR_IRLM)) {
        level = 0;
        for (unsigned pin = 0; pin < 4 && !level; pin++)
            if (c->irl & 1u << pin)
                level = 13 - 3 * pin;
    }
    if (level)
        *intevt = (uint16_t)(SH4_INT_IRL0 + 0x20 * (15 - level));
    return level;
}

static unsigned level_of(const struct sh4_intc *c, unsigned source)
{
    if (sources[source].ipr == FIXED)
        return NMI_LEVEL;
    return c->ipr[sources[source].ipr] >> sources[source].shift & 15;
}

unsigned sh4_intc_pick(const struct sh4_intc *c, uint16_t *intevt)
{
    /* At an equal level IRL comes before every on-chip module, so a source must have a higher
     * one. */
    unsigned best = pick_irl(c, intevt);
    bool low_nmi_masks = REG_GET(c->icr, SH4_ICR_MAI) && !c->nmi_pin;
    for (uint32_t left = c->request; left; left &= left - 1) {
        unsigned source = (unsigned)__builtin_ctz(left);
        unsigned level = level_of(c, source);
        if (level > best) {
            best = level;
            *intevt = sources[source].intevt;
        }
    }
    if (low_nmi_masks && best != NMI_LEVEL)
        return 0;
    return best;
}

void sh4_intc_accepted(struct sh4_intc *c, uint16_t intevt)
{
    if (intevt == SH4_INT_NMI)
        sh4_intc_request(c, SH4_SRC_NMI, false);
    if (intevt == SH4_INT_HUDI)
        sh4_intc_request(c, SH4_SRC_HUDI, false);
}

bool sh4_intc_read(const struct sh4_intc *c, uint32_t addr, uint32_t *value)
{
    switch (addr) {
    case SH4_ICR: *value = c->icr | REG_PUT(c->nmi_pin, SH4_ICR_NMIL); return true;
    case SH4_IPRA: *value = c->ipr[IPRA]; return true;
    case SH4_IPRB: *value = c->ipr[IPRB]; return true;
    case SH4_IPRC: *value = c->ipr[IPRC]; return true;
    default: return false;
    }
}

bool sh4_intc_write(struct sh4_intc *c, uint32_t addr, uint32_t value)
{
    const uint16_t icr_writable = REG_MASK(SH4_ICR_MAI) | REG_MASK(SH4_ICR_NMIB) |
                                  REG_MASK(SH4_ICR_NMIE) | REG_MASK(SH4_ICR_IRLM);
    switch (addr) {
    case SH4_ICR: c->icr = value & icr_writable; return true;
    case SH4_IPRA: c->ipr[IPRA] = (uint16_t)value; return true;
    case SH4_IPRB: c->ipr[IPRB] = value & 0xFFF0; return true;
    case SH4_IPRC: c->ipr[IPRC] = (uint16_t)value; return true;
    default: return false;
    }
}
