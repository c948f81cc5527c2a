#include "targets/sim/sh4/rtc.h"

#include "targets/sh4/isa/regs.h"

enum { HZ = 256, ALARM_ENB = 0x80 };

static uint8_t to_bcd(unsigned v) { return (uint8_t)(v / 10 << 4 | v % 10); }
static uint8_t from_bcd(unsigned v) { return (uint8_t)((v >> 4 & 15) * 10 + (v & 15)); }

void sh4_rtc_init(struct sh4_rtc *r, uint32_t pclk_hz)
{
    *r = (struct sh4_rtc){ .pclk_hz = pclk_hz, .day = 1, .mon = 1, .year = 2000, .wday = 6 };
    r->rcr2 = REG_MASK(SH4_RCR2_RTCEN) | REG_MASK(SH4_RCR2_START);
}

void sh4_rtc_reset(struct sh4_rtc *r, bool power_on)
{
    const uint8_t going = REG_MASK(SH4_RCR2_RTCEN) | REG_MASK(SH4_RCR2_START);
    r->rcr1 &= (uint8_t) ~(REG_MASK(SH4_RCR1_CIE) | REG_MASK(SH4_RCR1_AIE));
    r->rcr2 = power_on ? going : r->rcr2 & going;
    for (unsigned i = 0; power_on && i < SH4_RTC_ALARMS; i++)
        r->alarm[i] &= (uint8_t)~ALARM_ENB;
}

static bool is_counting(const struct sh4_rtc *r)
{
    return REG_GET(r->rcr2, SH4_RCR2_START) && REG_GET(r->rcr2, SH4_RCR2_RTCEN);
}

static unsigned days_in(unsigned month, unsigned year)
{
    static const uint8_t days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month < 1 || month > 12)
        return 31; /* an invalid month was written; the manual does not say what follows */
    return days[month - 1] + (month == 2 && leap);
}

static bool alarm_matches(const struct sh4_rtc *r)
{
    const uint8_t now[SH4_RTC_ALARMS] = { r->sec, r->min, r->hour, r->wday, r->day, r->mon };
    bool any = false;
    for (unsigned i = 0; i < SH4_RTC_ALARMS; i++) {
        if (!(r->alarm[i] & ALARM_ENB))
            continue;
        any = true;
        if (from_bcd(r->alarm[i] & 0x7F) != now[i])
            return false;
    }
    return any;
}

static void next_second(struct sh4_rtc *r)
{
    r->rcr1 |= REG_MASK(SH4_RCR1_CF);
    if (++r->sec >= 60) {
        r->sec = 0;
        if (++r->min >= 60) {
            r->min = 0;
            if (++r->hour >= 24) {
                r->hour = 0;
                r->wday = (uint8_t)((r->wday + 1) % 7);
                if (++r->day > days_in(r->mon, r->year)) {
                    r->day = 1;
                    if (++r->mon > 12) {
                        r->mon = 1;
                        r->year = (uint16_t)((r->year + 1) % 10000);
                    }
                }
            }
        }
    }
    if (alarm_matches(r))
        r->rcr1 |= REG_MASK(SH4_RCR1_AF);
}

/* RCR2.PES as a number of 1/256 s. */
static unsigned period_in_256ths(const struct sh4_rtc *r)
{
    static const uint16_t table[8] = { 0, 1, 4, 16, 64, 128, 256, 512 };
    return table[REG_GET(r->rcr2, SH4_RCR2_PES)];
}

static uint64_t ticks_of_256ths(const struct sh4_rtc *r, uint64_t now)
{
    return (uint64_t)((__extension__(unsigned __int128) now * HZ) / r->pclk_hz);
}

void sh4_rtc_advance(struct sh4_rtc *r, uint64_t now)
{
    uint64_t to = ticks_of_256ths(r, now);
    uint64_t from = r->seen256;
    r->seen256 = to;
    if (to <= from)
        return;
    if (!is_counting(r)) {
        r->offset256 += to - from; /* the dividers do not count */
        return;
    }
    uint64_t a = from - r->offset256, b = to - r->offset256;
    unsigned period = period_in_256ths(r);
    if (period && b / period != a / period)
        r->rcr2 |= REG_MASK(SH4_RCR2_PEF);
    for (uint64_t s = b / HZ - a / HZ; s; s--)
        next_second(r);
}

uint64_t sh4_rtc_next(const struct sh4_rtc *r)
{
    if (!is_counting(r))
        return UINT64_MAX;
    unsigned period = period_in_256ths(r);
    bool seconds = REG_GET(r->rcr1, SH4_RCR1_CIE) || REG_GET(r->rcr1, SH4_RCR1_AIE);
    if (!period && !seconds)
        return UINT64_MAX;
    unsigned step = seconds ? HZ : period;
    if (period && period < step)
        step = period;
    uint64_t at256 = ((r->seen256 - r->offset256) / step + 1) * step + r->offset256;
    return (uint64_t)((__extension__(unsigned __int128) at256 * r->pclk_hz + HZ - 1) / HZ);
}

bool sh4_rtc_irq_alarm(const struct sh4_rtc *r)
{
    return REG_GET(r->rcr1, SH4_RCR1_AF) && REG_GET(r->rcr1, SH4_RCR1_AIE);
}

bool sh4_rtc_irq_periodic(const struct sh4_rtc *r)
{
    return REG_GET(r->rcr2, SH4_RCR2_PEF) && period_in_256ths(r);
}

bool sh4_rtc_irq_carry(const struct sh4_rtc *r)
{
    return REG_GET(r->rcr1, SH4_RCR1_CF) && REG_GET(r->rcr1, SH4_RCR1_CIE);
}

bool sh4_rtc_read(const struct sh4_rtc *r, uint32_t addr, uint32_t *value)
{
    switch (addr) {
    case SH4_R64CNT: *value = (r->seen256 - r->offset256) >> 1 & 0x7F; return true;
    case SH4_RSECCNT: *value = to_bcd(r->sec); return true;
    case SH4_RMINCNT: *value = to_bcd(r->min); return true;
    case SH4_RHRCNT: *value = to_bcd(r->hour); return true;
    case SH4_RWKCNT: *value = r->wday; return true;
    case SH4_RDAYCNT: *value = to_bcd(r->day); return true;
    case SH4_RMONCNT: *value = to_bcd(r->mon); return true;
    case SH4_RYRCNT:
        *value = (uint32_t)to_bcd(r->year / 100) << 8 | to_bcd(r->year % 100);
        return true;
    case SH4_RCR1: *value = r->rcr1; return true;
    case SH4_RCR2: *value = r->rcr2; return true;
    }
    if (addr < SH4_RSECAR || addr > SH4_RMONAR || addr & 3)
        return false;
    *value = r->alarm[(addr - SH4_RSECAR) / 4];
    return true;
}

static void write_rcr2(struct sh4_rtc *r, uint8_t value)
{
    uint8_t pef = REG_MASK(SH4_RCR2_PEF);
    uint8_t strobes = REG_MASK(SH4_RCR2_ADJ) | REG_MASK(SH4_RCR2_RESET);
    if (value & strobes) /* both reset the dividers */
        r->offset256 = r->seen256;
    if (REG_GET(value, SH4_RCR2_ADJ)) {
        bool up = r->sec >= 30;
        r->sec = 0;
        if (up)
            r->sec = 59;
        if (up)
            next_second(r);
    }
    r->rcr2 = (uint8_t)((value & ~pef & ~strobes) | (value & pef & r->rcr2));
}

bool sh4_rtc_write(struct sh4_rtc *r, uint32_t addr, uint32_t value)
{
    uint8_t v = (uint8_t)value;
    switch (addr) {
    case SH4_R64CNT: return true; /* read only */
    case SH4_RSECCNT: r->sec = from_bcd(v & 0x7F); return true;
    case SH4_RMINCNT: r->min = from_bcd(v & 0x7F); return true;
    case SH4_RHRCNT: r->hour = from_bcd(v & 0x3F); return true;
    case SH4_RWKCNT: r->wday = v & 7; return true;
    case SH4_RDAYCNT: r->day = from_bcd(v & 0x3F); return true;
    case SH4_RMONCNT: r->mon = from_bcd(v & 0x1F); return true;
    case SH4_RYRCNT:
        r->year = (uint16_t)(from_bcd(value >> 8 & 0xFF) * 100 + from_bcd(v));
        return true;
    case SH4_RCR1: { /* writing 0 clears CF and AF; CF may also be set */
        uint8_t af = REG_MASK(SH4_RCR1_AF);
        r->rcr1 = (uint8_t)((v & (REG_MASK(SH4_RCR1_CF) | REG_MASK(SH4_RCR1_CIE) |
                                  REG_MASK(SH4_RCR1_AIE))) |
                            (v & af & r->rcr1));
        return true;
    }
    case SH4_RCR2: write_rcr2(r, v); return true;
    }
    if (addr < SH4_RSECAR || addr > SH4_RMONAR || addr & 3)
        return false;
    r->alarm[(addr - SH4_RSECAR) / 4] = v;
    return true;
}
