/* TMU channels 0-2 of the board model. Time is given in peripheral clocks since power-on (`now`).
 * Counters are computed when they are asked for. Source: SH7750 hardware manual, section 12 (Timer
 * Unit). The prescaler is one free-running divider. */
#ifndef TARGETS_SIM_SH4_TMU_H
#define TARGETS_SIM_SH4_TMU_H

#include <stdbool.h>
#include <stdint.h>

enum { SH4_TMU_CHANNELS = 3 };
#define SH4_NEVER UINT64_MAX

struct sh4_tmu_channel {
    uint32_t tcor, tcnt; /* tcnt is that at the time `seen` */
    uint16_t tcr;
};
struct sh4_tmu {
    struct sh4_tmu_channel channel[SH4_TMU_CHANNELS];
    uint32_t tcpr2;
    uint32_t pclk_hz;
    uint8_t tstr, tocr;
    uint64_t seen; /* the peripheral clock up to which all channels are computed */
};

/* sh4_tmu_reset - registers as after a reset at time now. pclk_hz: for the prescaler setting that
 * is clocked by the RTC. */
void sh4_tmu_reset(struct sh4_tmu *t, uint64_t now, uint32_t pclk_hz);
/* sh4_tmu_advance - computes counters and underflow flags up to `now`, which never goes back. */
void sh4_tmu_advance(struct sh4_tmu *t, uint64_t now);
/* sh4_tmu_next - the peripheral clock of the next underflow that requests an interrupt; SH4_NEVER:
 * none. */
uint64_t sh4_tmu_next(const struct sh4_tmu *t);
/* sh4_tmu_irq - does channel n's underflow request an interrupt, as of the last advance? */
bool sh4_tmu_irq(const struct sh4_tmu *t, unsigned n);
/* Accesses to registers by their P4 address, to be preceded by sh4_tmu_advance(now). False: the
 * address is not the TMU's. */
bool sh4_tmu_read(const struct sh4_tmu *t, uint32_t addr, uint32_t *value);
bool sh4_tmu_write(struct sh4_tmu *t, uint32_t addr, uint32_t value);

#endif
