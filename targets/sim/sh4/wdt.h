/* WDT of the board model: watchdog and interval timer. Time in peripheral clocks (`now`).
 * Source: SH7750 hardware manual section 10 (clock oscillation circuits, watchdog timer). */
#ifndef TARGETS_SIM_SH4_WDT_H
#define TARGETS_SIM_SH4_WDT_H

#include <stdbool.h>
#include <stdint.h>

enum sh4_wdt_action {
    SH4_WDT_NOTHING,
    SH4_WDT_INTERVAL,
    SH4_WDT_RESET_POWER_ON,
    SH4_WDT_RESET_MANUAL
};

struct sh4_wdt {
    uint8_t wtcnt, wtcsr; /* wtcnt as of `seen` */
    bool frozen;          /* ASE mode: does not count */
    uint64_t seen;
};

/* sh4_wdt_reset - as after power-on at time now. */
void sh4_wdt_reset(struct sh4_wdt *w, uint64_t now);
/* sh4_wdt_freeze - stop or go on counting from now (ASE mode). */
void sh4_wdt_freeze(struct sh4_wdt *w, uint64_t now, bool frozen);
/* sh4_wdt_advance - bring the counter up to now. Returns what an overflow demands: the caller
 * performs the reset; INTERVAL means the interrupt line (sh4_wdt_irq) went active. */
enum sh4_wdt_action sh4_wdt_advance(struct sh4_wdt *w, uint64_t now);
/* sh4_wdt_next - peripheral clock of the next overflow; UINT64_MAX if it does not count. */
uint64_t sh4_wdt_next(const struct sh4_wdt *w);
/* sh4_wdt_irq - interval interrupt line. */
bool sh4_wdt_irq(const struct sh4_wdt *w);
/* Register access by P4 address after sh4_wdt_advance(now). Reads are 8 bits; writes must be 16
 * bits with the key 0x5A (WTCNT) or 0xA5 (WTCSR) in the high byte, others are ignored. false: not
 * the WDT's address. */
bool sh4_wdt_read(const struct sh4_wdt *w, uint32_t addr, uint32_t *value);
bool sh4_wdt_write(struct sh4_wdt *w, uint32_t addr, unsigned size, uint32_t value);

#endif
