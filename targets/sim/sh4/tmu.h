/* TMU 0-2 of the board model. Time is given in peripheral clocks since power-on (`now`); counters
 * are worked out when asked for, never ticked. Source: SH7750 hardware manual section 12 (TMU). The
 * prescaler is one free-running divider. */
#ifndef TARGETS_SIM_SH4_TMU_H
#define TARGETS_SIM_SH4_TMU_H

#include <stdbool.h>
#include <stdint.h>

enum { SH4_TMU_CHANNELS = 3 };
#define SH4_NEVER UINT64_MAX

struct sh4_tmu_channel {
    uint32_t tcor, tcnt; /* tcnt as of `seen` */
    uint16_t tcr;
};
struct sh4_tmu {
    struct sh4_tmu_channel channel[SH4_TMU_CHANNELS];
    uint32_t tcpr2;
    uint32_t pclk_hz;
    uint8_t tstr, tocr;
    uint64_t seen; /* all channels are right for this peripheral clock */
};

/* sh4_tmu_reset - registers as after reset at time now. pclk_hz: for the RTC-clocked prescaler
 * setting. */
void sh4_tmu_reset(struct sh4_tmu *t, uint64_t now, uint32_t pclk_hz);
/* sh4_tmu_advance - bring counters and underflow flags up to `now` (never earlier than before). */
void sh4_tmu_advance(struct sh4_tmu *t, uint64_t now);
/* sh4_tmu_next - peripheral clock of the next underflow that raises an interrupt; SH4_NEVER if
 * none. */
uint64_t sh4_tmu_next(const struct sh4_tmu *t);
/* sh4_tmu_irq - is channel n's underflow interrupt line active? As of the last advance. */
bool sh4_tmu_irq(const struct sh4_tmu *t, unsigned n);
/* Register access by P4 address after sh4_tmu_advance(now); false if the address is not the TMU's.
 */
bool sh4_tmu_read(const struct sh4_tmu *t, uint32_t addr, uint32_t *value);
bool sh4_tmu_write(struct sh4_tmu *t, uint32_t addr, uint32_t value);

#endif
