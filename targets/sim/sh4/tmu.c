#include "targets/sim/sh4/tmu.h"

#include "targets/sh4/isa/regs.h"

enum { RTC_HZ = 16384, CHANNEL_BYTES = SH4_TCOR1 - SH4_TCOR0 };
/* TCR.TPSC is the same field in all channels. Only TCR2 has the bits for input capture. */
static const uint16_t tcr_writable[SH4_TMU_CHANNELS] = { 0x013F, 0x013F, 0x03FF };

void sh4_tmu_reset(struct sh4_tmu *t, uint64_t now, uint32_t pclk_hz)
{
    *t = (struct sh4_tmu){ .seen = now, .pclk_hz = pclk_hz };
    for (unsigned n = 0; n < SH4_TMU_CHANNELS; n++)
        t->channel[n] = (struct sh4_tmu_channel){ UINT32_MAX, UINT32_MAX, 0 };
}

/* Peripheral clocks a count; 0: no clock comes (external TCLK, reserved code). */
static uint64_t divider_of(const struct sh4_tmu *t, unsigned n)
{
    static const uint16_t table[8] = { 4, 16, 64, 256, 1024, 0, 0, 0 };
    unsigned code = REG_GET(t->channel[n].tcr, SH4_TCR_TPSC);
    if (code == 6)
        return t->pclk_hz / RTC_HZ;
    return table[code];
}

static bool is_counting(const struct sh4_tmu *t, unsigned n)
{
    return t->tstr >> n & 1 && divider_of(t, n);
}

void sh4_tmu_advance(struct sh4_tmu *t, uint64_t now)
{
    for (unsigned n = 0; n < SH4_TMU_CHANNELS; n++) {
        struct sh4_tmu_channel *c = &t->channel[n];
        if (!is_counting(t, n))
            continue;
        uint64_t d = divider_of(t, n);
        uint64_t ticks = now / d - t->seen / d;
        if (ticks > c->tcnt) { /* it passed 0: the next count reloads TCOR and sets UNF */
            uint64_t beyond = ticks - c->tcnt - 1;
            c->tcnt = c->tcor - (uint32_t)(beyond % ((uint64_t)c->tcor + 1));
            c->tcr |= REG_MASK(SH4_TCR_UNF);
        } else {
            c->tcnt -= (uint32_t)ticks;
        }
    }
    t->seen = now;
}

uint64_t sh4_tmu_next(const struct sh4_tmu *t)
{
    uint64_t next = SH4_NEVER;
    for (unsigned n = 0; n < SH4_TMU_CHANNELS; n++) {
        const struct sh4_tmu_channel *c = &t->channel[n];
        if (!is_counting(t, n) || !REG_GET(c->tcr, SH4_TCR_UNIE) || REG_GET(c->tcr, SH4_TCR_UNF))
            continue;
        uint64_t d = divider_of(t, n);
        uint64_t at = (t->seen / d + c->tcnt + 1) * d;
        if (at < next)
            next = at;
    }
    return next;
}

bool sh4_tmu_irq(const struct sh4_tmu *t, unsigned n)
{
    uint16_t tcr = t->channel[n].tcr;
    return REG_GET(tcr, SH4_TCR_UNF) && REG_GET(tcr, SH4_TCR_UNIE);
}

bool sh4_tmu_read(const struct sh4_tmu *t, uint32_t addr, uint32_t *value)
{
    switch (addr) {
    case SH4_TOCR: *value = t->tocr; return true;
    case SH4_TSTR: *value = t->tstr; return true;
    case SH4_TCPR2: *value = t->tcpr2; return true;
    }
    if (addr < SH4_TCOR0 || addr > SH4_TCR2)
        return false;
    const struct sh4_tmu_channel *c = &t->channel[(addr - SH4_TCOR0) / CHANNEL_BYTES];
    switch ((addr - SH4_TCOR0) % CHANNEL_BYTES + SH4_TCOR0) {
    case SH4_TCOR0: *value = c->tcor; return true;
    case SH4_TCNT0: *value = c->tcnt; return true;
    case SH4_TCR0: *value = c->tcr; return true;
    default: return false;
    }
}

bool sh4_tmu_write(struct sh4_tmu *t, uint32_t addr, uint32_t value)
{
    switch (addr) {
    case SH4_TOCR: t->tocr = value & 1; return true;
    case SH4_TSTR: t->tstr = value & 7; return true;
    case SH4_TCPR2: return true; /* read only */
    }
    if (addr < SH4_TCOR0 || addr > SH4_TCR2)
        return false;
    unsigned n = (addr - SH4_TCOR0) / CHANNEL_BYTES;
    struct sh4_tmu_channel *c = &t->channel[n];
    switch ((addr - SH4_TCOR0) % CHANNEL_BYTES + SH4_TCOR0) {
    case SH4_TCOR0: c->tcor = value; return true;
    case SH4_TCNT0: c->tcnt = value; return true;
    case SH4_TCR0: {
        /* Software can clear UNF and ICPF, not set them. */
        uint16_t flags = REG_MASK(SH4_TCR_UNF) | REG_MASK(SH4_TCR_ICPF);
        uint16_t wanted = value & tcr_writable[n];
        c->tcr = (uint16_t)((wanted & ~flags) | (wanted & flags & c->tcr));
        return true;
    }
    default: return false;
    }
}
