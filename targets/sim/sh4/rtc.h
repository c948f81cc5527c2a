/* RTC of the board model: 64 Hz counter, calendar, carry, periodic and alarm interrupts. Time is
 * given in peripheral clocks (`now`). The crystal is derived from it at pclk_hz, so that runs
 * repeat exactly. Source: SH7750 hardware manual, section 11 (Realtime Clock). */
#ifndef TARGETS_SIM_SH4_RTC_H
#define TARGETS_SIM_SH4_RTC_H

#include <stdbool.h>
#include <stdint.h>

enum { SH4_RTC_ALARMS = 6 };

struct sh4_rtc {
    uint32_t pclk_hz;
    uint64_t seen256;                       /* 1/256 s since power-on up to which all is computed */
    uint64_t offset256;                     /* 1/256 s at which the dividers were last reset */
    uint8_t sec, min, hour, wday, day, mon; /* binary here, BCD in the registers */
    uint16_t year;
    uint8_t alarm[SH4_RTC_ALARMS]; /* as written: ENB in bit 7, BCD below */
    uint8_t rcr1, rcr2;
};

/* sh4_rtc_init - power-on at peripheral clock 0. The calendar, undefined on the part, is
 * 2000-01-01. */
void sh4_rtc_init(struct sh4_rtc *r, uint32_t pclk_hz);
/* sh4_rtc_reset - the part was reset: all interrupts are off. A power-on reset also starts the
 * clock and disables the alarms. Time and calendar go on. */
void sh4_rtc_reset(struct sh4_rtc *r, bool power_on);
/* sh4_rtc_advance - computes calendar and flags up to `now`. */
void sh4_rtc_advance(struct sh4_rtc *r, uint64_t now);
/* sh4_rtc_next - the peripheral clock of the next carry, period or second that may request an
 * interrupt; UINT64_MAX: the clock is stopped, or no interrupt is enabled. */
uint64_t sh4_rtc_next(const struct sh4_rtc *r);
/* sh4_rtc_irq_alarm, _periodic, _carry - is this interrupt requested, as of the last advance? */
bool sh4_rtc_irq_alarm(const struct sh4_rtc *r);
bool sh4_rtc_irq_periodic(const struct sh4_rtc *r);
bool sh4_rtc_irq_carry(const struct sh4_rtc *r);
/* Accesses to registers by their P4 address, to be preceded by sh4_rtc_advance(now). False: the
 * address is not the RTC's. */
bool sh4_rtc_read(const struct sh4_rtc *r, uint32_t addr, uint32_t *value);
bool sh4_rtc_write(struct sh4_rtc *r, uint32_t addr, uint32_t value);

#endif
