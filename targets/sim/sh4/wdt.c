#include "targets/sim/sh4/wdt.h"

#include "targets/sh4/isa/regs.h"

void sh4_wdt_reset(struct sh4_wdt *w, uint64_t now) { *w = (struct sh4_wdt){ .seen = now }; }

/* WTCSR.CKS: 1/32, 1/64, 1/128, 1/256, 1/512, 1/1024, 1/2048, 1/4096 of the peripheral clock. */
static uint64_t divider_of(const struct sh4_wdt *w)
{
    return 32u << REG_GET(w->wtcsr, SH4_WTCSR_CKS);
}

static bool is_counting(const struct sh4_wdt *w)
{
    return REG_GET(w->wtcsr, SH4_WTCSR_TME) && !w->frozen;
}

void sh4_wdt_freeze(struct sh4_wdt *w, uint64_t now, bool frozen)
{
    if (w->frozen)
        w->seen = now;
    w->frozen = frozen;
}

enum sh4_wdt_action sh4_wdt_advance(struct sh4_wdt *w, uint64_t now)
{
    uint64_t d = divider_of(w);
    uint64_t ticks = 0;
    if (is_counting(w))
        ticks = now / d - w->seen / d;
    bool overflow = w->wtcnt + ticks > 0xFF;
    w->wtcnt = (uint8_t)(w->wtcnt + ticks);
    w->seen = now;
    if (!overflow)
        return SH4_WDT_NOTHING;
    if (!REG_GET(w->wtcsr, SH4_WTCSR_WTIT)) {
        w->wtcsr |= REG_MASK(SH4_WTCSR_IOVF);
        return SH4_WDT_INTERVAL;
    }
    w->wtcsr |= REG_MASK(SH4_WTCSR_WOVF);
    if (REG_GET(w->wtcsr, SH4_WTCSR_RSTS))
        return SH4_WDT_RESET_MANUAL;
    return SH4_WDT_RESET_POWER_ON;
}

uint64_t sh4_wdt_next(const struct sh4_wdt *w)
{
    uint64_t d = divider_of(w);
    if (is_counting(w))
        return (w->seen / d + 0x100 - w->wtcnt) * d;
    return UINT64_MAX;
}

bool sh4_wdt_irq(const struct sh4_wdt *w)
{
    return REG_GET(w->wtcsr, SH4_WTCSR_IOVF) && !REG_GET(w->wtcsr, SH4_WTCSR_WTIT);
}

bool sh4_wdt_read(const struct sh4_wdt *w, uint32_t addr, uint32_t *value)
{
    if (addr != SH4_WTCNT && addr != SH4_WTCSR)
        return false;
    *value = addr == SH4_WTCNT ? w->wtcnt : w->wtcsr;
    return true;
}

bool sh4_wdt_write(struct sh4_wdt *w, uint32_t addr, unsigned size, uint32_t value)
{
    if (addr != SH4_WTCNT && addr != SH4_WTCSR)
        return false;
    uint32_t key = value & 0xFF00;
    if (size == 2 && addr == SH4_WTCNT && key == SH4_WTCNT_KEY)
        w->wtcnt = (uint8_t)value;
    if (size == 2 && addr == SH4_WTCSR && key == SH4_WTCSR_KEY) {
        uint8_t flags = REG_MASK(SH4_WTCSR_WOVF) | REG_MASK(SH4_WTCSR_IOVF);
        uint8_t wanted = (uint8_t)value; /* software can clear flags, not set them */
        w->wtcsr = (uint8_t)((wanted & ~flags) | (wanted & flags & w->wtcsr));
    }
    return true;
}
