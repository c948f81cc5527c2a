/* INTC of the board model: interrupt requests, their priorities, and which one the CPU gets.
 * Source: SH7750 hardware manual, section 19 (Interrupt Controller), table of interrupt sources
 * with their default order. */
#ifndef TARGETS_SIM_SH4_INTC_H
#define TARGETS_SIM_SH4_INTC_H

#include <stdbool.h>
#include <stdint.h>

/* In the manual's default order of priority, the most urgent first. */
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
    uint16_t icr, ipr[3]; /* IPRA, IPRB and IPRC */
    uint32_t request;     /* one bit a source */
    /* The level on the encoded IRL pins, 0: none. With ICR.IRLM bit n is the pin IRLn. */
    uint8_t irl;
    bool nmi_pin;
};

/* sh4_intc_reset - all priorities are 0, there are no requests, and the NMI pin is high. */
void sh4_intc_reset(struct sh4_intc *c);
/* sh4_intc_request - sets a source's request. NMI and H-UDI requests stay until they are
 * accepted. */
void sh4_intc_request(struct sh4_intc *c, enum sh4_irq_source source, bool active);
/* sh4_intc_set_nmi - sets the level of the NMI pin. The edge that ICR.NMIE selects requests an
 * NMI. */
void sh4_intc_set_nmi(struct sh4_intc *c, bool high);
/* sh4_intc_set_irl - sets the IRL pins: a level of 0-15 if encoded, a bit mask of pins with
 * ICR.IRLM. */
void sh4_intc_set_irl(struct sh4_intc *c, uint8_t irl);
/* sh4_intc_pick - the most urgent request. Returns its level, 1-15, 16 for an NMI, or 0 if there is
 * none; *intevt is its code. */
unsigned sh4_intc_pick(const struct sh4_intc *c, uint16_t *intevt);
/* sh4_intc_accepted - the CPU has accepted the request with this code. NMI and H-UDI requests
 * end. */
void sh4_intc_accepted(struct sh4_intc *c, uint16_t intevt);
/* Accesses to registers by their P4 address, 16 bits. False: the address is not the INTC's. */
bool sh4_intc_read(const struct sh4_intc *c, uint32_t addr, uint32_t *value);
bool sh4_intc_write(struct sh4_intc *c, uint32_t addr, uint32_t value);

#endif
