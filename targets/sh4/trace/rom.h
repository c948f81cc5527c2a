/* Code that takes no patch (ROM, write-protected RAM). It is traced by stepping: channel A of the
 * user break controller breaks behind every instruction in a window of addresses. Pure: no target,
 * no I/O. */
#ifndef TARGETS_SH4_TRACE_ROM_H
#define TARGETS_SH4_TRACE_ROM_H

#include <stddef.h>
#include <stdint.h>

#include "targets/sh4/code/sites.h"

/* A range that one channel can watch: a power of two at a multiple of itself. */
struct sh4_rom_window {
    uint32_t base, bytes; /* bytes 0: none */
    uint8_t bamr;         /* address mask of BAMRA, any ASID */
};

/* sh4_rom_window - the smallest window that holds the functions of most sites marked `stepped`
 * ss      sites outside of it, or all if there is no window, are unmarked and get the reason
 *         SH4_UNTRACED_ROM
 * avoid   the agent's RAM, [avoid, avoid + avoid_bytes), physical, which may not be stepped
 * out     bytes 0 if no site is left
 * Masks are 1 KB, 4 KB, 64 KB and 1 MB. Source: SH7750 hardware manual, section 20 (BAMRA). */
void sh4_rom_window(struct sh4_sites *ss, uint32_t avoid, uint32_t avoid_bytes,
                    struct sh4_rom_window *out);

#endif
