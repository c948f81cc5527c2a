/* INTC of the board model: interrupt requests, priorities, which one the CPU sees.
 * Source: SH7750 hardware manual section 19 (INTC): table of interrupt sources and their default
 * order. */
#ifndef TARGETS_SIM_SH4_INTC_H
#define TARGETS_SIM_SH4_INTC_H

#include <stdbool.h>
#include <stdint.h>

/* In the manual's default order of priority, most urgent first. */
/* clang-format off */
enum sh4_irq_source {
    SH4_SRC_NMI, SH4_SRC_HUDI, SH4_SRC_GPIO, SH4_SRC_DMTE0, SH4_SRC_DMTE1, SH4_SRC_DMTE2,
    SH4_SRC_DMTE3, SH4_SRC_DMAE, SH4_SRC_TMU0, SH4_SRC_TMU1, SH4_SRC_TMU2, SH4_SRC_TMU2_CAPTURE,
    SH4_SRC_RTC_ALARM, SH4_SRC_RTC_PERIODIC, SH4_SRC_RTC_CARRY, SH4_SRC_SCI_ERI, SH4_SRC_SCI_RXI,
    SH4_SRC_SCI_TXI, SH4_SRC_SCI_TEI, SH4_SRC_SCIF_ERI, SH4_SRC_SCIF_RXI, SH4_SRC_SCIF_BRI,
    SH4_SRC_SCIF_TXI, SH4_SRC_WDT, SH4_SRC_REF_RCMI, SH4_SRC_REF_ROVI, SH4_NSOURCES
};
/* clang-format on */

struct sh4_intc {
    uint16_t icr, ipr[3]; /* IPRA, IPRB, IPRC */
    uint32_t request;     /* bit per source */
    /* level on the encoded IRL pins, 0 none; with ICR.IRLM bit n = pin IRLn */
    uint8_t irl;
    bool nmi_pin;
};

/* sh4_intc_reset - all priorities 0, no requests; NMI pin high. */
void sh4_intc_reset(struct sh4_intc *c);
/* sh4_intc_request - a source's line goes active or inactive. NMI and H-UDI requests stay until
 * acknowledged. */
void sh4_intc_request(struct sh4_intc *c, enum sh4_irq_source source, bool active);
/* sh4_intc_set_nmi - level of the NMI pin; the edge chosen by ICR.NMIE requests an NMI. */
void sh4_intc_set_nmi(struct sh4_intc *c, bool high);
/* sh4_intc_set_irl - requests on the IRL pins: level 0-15 when encoded, bit mask of pins with
 * ICR.IRLM. */
void sh4_intc_set_irl(struct sh4_intc *c, uint8_t irl);
/* sh4_intc_pick - the most urgent request: level 1-15, 16 for NMI, 0 if none; *intevt its code. */
unsigned sh4_intc_pick(const struct sh4_intc *c, uint16_t *intevt);
/* sh4_intc_accepted - the CPU took the request with this code: one-shot requests end. */
void sh4_intc_accepted(struct sh4_intc *c, uint16_t intevt);
/* Register access by P4 address; false if the address is not the INTC's. Size is the register's 16
 * bits. */
bool sh4_intc_read(const struct sh4_intc *c, uint32_t addr, uint32_t *value);
bool sh4_intc_write(struct sh4_intc *c, uint32_t addr, uint32_t value);

#endif
