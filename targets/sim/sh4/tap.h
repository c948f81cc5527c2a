/* IEEE 1149.1 TAP controller: its sixteen states and their transitions. */
#ifndef TARGETS_SIM_SH4_TAP_H
#define TARGETS_SIM_SH4_TAP_H

#include <stdint.h>

/* clang-format off */
enum tap_state {
    TAP_RESET, TAP_IDLE, TAP_SELECT_DR, TAP_CAPTURE_DR, TAP_SHIFT_DR, TAP_EXIT1_DR, TAP_PAUSE_DR,
    TAP_EXIT2_DR, TAP_UPDATE_DR, TAP_SELECT_IR, TAP_CAPTURE_IR, TAP_SHIFT_IR, TAP_EXIT1_IR,
    TAP_PAUSE_IR, TAP_EXIT2_IR, TAP_UPDATE_IR, TAP_NSTATES
};
/* clang-format on */

/* tap_next - the state after one rising edge of TCK with TMS at `tms` (0 or 1). */
static inline enum tap_state tap_next(enum tap_state s, unsigned tms)
{
    static const uint8_t next[TAP_NSTATES][2] = {
        [TAP_RESET] = { TAP_IDLE, TAP_RESET },
        [TAP_IDLE] = { TAP_IDLE, TAP_SELECT_DR },
        [TAP_SELECT_DR] = { TAP_CAPTURE_DR, TAP_SELECT_IR },
        [TAP_CAPTURE_DR] = { TAP_SHIFT_DR, TAP_EXIT1_DR },
        [TAP_SHIFT_DR] = { TAP_SHIFT_DR, TAP_EXIT1_DR },
        [TAP_EXIT1_DR] = { TAP_PAUSE_DR, TAP_UPDATE_DR },
        [TAP_PAUSE_DR] = { TAP_PAUSE_DR, TAP_EXIT2_DR },
        [TAP_EXIT2_DR] = { TAP_SHIFT_DR, TAP_UPDATE_DR },
        [TAP_UPDATE_DR] = { TAP_IDLE, TAP_SELECT_DR },
        [TAP_SELECT_IR] = { TAP_CAPTURE_IR, TAP_RESET },
        [TAP_CAPTURE_IR] = { TAP_SHIFT_IR, TAP_EXIT1_IR },
        [TAP_SHIFT_IR] = { TAP_SHIFT_IR, TAP_EXIT1_IR },
        [TAP_EXIT1_IR] = { TAP_PAUSE_IR, TAP_UPDATE_IR },
        [TAP_PAUSE_IR] = { TAP_PAUSE_IR, TAP_EXIT2_IR },
        [TAP_EXIT2_IR] = { TAP_SHIFT_IR, TAP_UPDATE_IR },
        [TAP_UPDATE_IR] = { TAP_IDLE, TAP_SELECT_DR },
    };
    return (enum tap_state)next[s][tms & 1];
}

#endif
