/* What can be said of any link, JTAG or BDC, without knowing what is behind it: power, reset, and
 * whether bits pass unharmed. */
#ifndef PROBE_LINK_H
#define PROBE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct probe;

enum link_power { LINK_POWER_UNKNOWN, LINK_POWER_OFF, LINK_POWER_ON };

/* link_power - whether the target has power, as the adapter sees it
 * mv   millivolts where the adapter measures them, 0 where it can only tell yes or no; may be NULL
 * Less than 0.8 V counts as none: open inputs float to some tenths. Returns an enum link_power, or
 * the adapter's failure. */
int link_power(struct probe *p, unsigned *mv, struct err *err);

/* link_reset - pulses the target's reset pin: low for 20 ms, then 20 ms for it to start
 * -ERR_UNSUPPORTED if the adapter has no such pin; -ERR_NO_TARGET if the pin stays low. */
int link_reset(struct probe *p, struct err *err);

/* link_still_hint - what to look at where TDO stays at this level. Static text. */
const char *link_still_hint(bool level);

enum { LINK_MAX_PATTERN = 16384 };
/* link_check - whether a JTAG chain passes bits unharmed at the present clock: all devices in
 * BYPASS, a pattern through them bits   of the pattern, at most LINK_MAX_PATTERN; a few thousand
 * find a clock that is clearly too fast taps   out: devices on the chain; may be NULL. 0 means that
 * TDI leads straight to TDO. Ends in BYPASS and Run-Test/Idle. -ERR_NO_TARGET: TDO stands still, or
 * TDI does; -ERR_PROTOCOL: bits came back changed; -ERR_UNSUPPORTED: not JTAG. Source: IEEE 1149.1:
 * an instruction of all ones is BYPASS, one bit per device, which captures 0. */
int link_check(struct probe *p, uint32_t bits, unsigned *taps, struct err *err);

/* link_rate - how many bits a second pass through the chain in long scans, by the link's clock:
 * what the adapter really does, whatever clock it says it has Every device is in BYPASS
 * (link_check() leaves them so); takes some 20 ms, or the time of 2048 bits. Returns 0 or the
 * adapter's failure. */
int link_rate(struct probe *p, uint32_t *bits_per_s, struct err *err);

/* link_hz_text - a clock for people: "4500 kHz", "457 Hz". Returns buf. */
const char *link_hz_text(uint32_t hz, char *buf, size_t cap);

struct link_speed {
    uint32_t hz; /* in use now */
    /* bits were lost at this clock; 0: none was, the adapter or most_hz is the limit */
    uint32_t failed_hz;
    unsigned taps;
};

/* link_speed_auto - the fastest clock at which link_check() passes many times: raised step by step;
 * where a step fails, three quarters of the one before it most_hz   not tried beyond; 0: what the
 * adapter can do Returns 0; link_check()'s failure if even the slowest clock (100 kHz) does not
 * work; the adapter's failure. */
int link_speed_auto(struct probe *p, uint32_t most_hz, struct link_speed *out, struct err *err);

#endif
