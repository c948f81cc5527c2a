/* WDT of the board model: watchdog and interval timer. Time is given in peripheral clocks (`now`).
 * Source: SH7750 hardware manual, section 10 (Clock Oscillation Circuits). */
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
    uint8_t wtcnt, wtcsr; /* wtcnt is that at the time `seen` */
    bool frozen;          /* it does not count in ASE mode */
    uint64_t seen;
};

/* sh4_wdt_reset - registers as after a power-on reset at time now. */
void sh4_wdt_reset(struct sh4_wdt *w, uint64_t now);
/* sh4_wdt_freeze - stops counting, or goes on with it, from now on (ASE mode). */
void sh4_wdt_freeze(struct sh4_wdt *w, uint64_t now, bool frozen);
/* sh4_wdt_advance - computes the counter up to now. Returns what an overflow asks for. The caller
 * does the reset; INTERVAL means that the interval interrupt is requested (sh4_wdt_irq). */
enum sh4_wdt_action sh4_wdt_advance(struct sh4_wdt *w, uint64_t now);
/* sh4_wdt_next - the peripheral clock of the next overflow; UINT64_MAX: it does not count. */
uint64_t sh4_wdt_next(const struct sh4_wdt *w);
/* sh4_wdt_irq - is the interval interrupt requested? */
bool sh4_wdt_irq(const struct sh4_wdt *w);
/* Accesses to registers by their P4 address, to be preceded by sh4_wdt_advance(now). Reads have 8
 * bits. Writes must have 16 bits, with the key 0x5A (WTCNT) or 0xA5 (WTCSR) in the high byte;
 * others are ignored. False: the address is not the WDT's. */
bool sh4_wdt_read(const struct sh4_wdt *w, uint32_t addr, uint32_t *value);
bool sh4_wdt_write(struct sh4_wdt *w, uint32_t addr, unsigned size, uint32_t value);

#endif
