/* Kinds of breakpoints in GDB's remote protocol: for the stub that GDB talks to, and for the client
 * of somebody else's stub. Source: GDB manual, "Packets" (Z0 to Z4) and "Stop Reply Packets"
 * (watch, rwatch, awatch). */
#ifndef TARGETS_GDB_KINDS_H
#define TARGETS_GDB_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/target.h"

enum { GDB_Z_TYPES = 5 };

/* gdb_z_type - the digit behind Z and z, 0 to 4. */
static inline unsigned gdb_z_type(enum bp_kind kind)
{
    static const uint8_t types[GDB_Z_TYPES] = { [BP_SOFT] = 0,
                                                [BP_HARD] = 1,
                                                [BP_WATCH_WRITE] = 2,
                                                [BP_WATCH_READ] = 3,
                                                [BP_WATCH_ACCESS] = 4 };
    return types[kind];
}

/* gdb_kind_of_z - the kind of breakpoint that this digit means; false if it means none. */
static inline bool gdb_kind_of_z(uint64_t type, enum bp_kind *kind)
{
    for (enum bp_kind k = BP_SOFT; k <= BP_WATCH_ACCESS; k++)
        if (gdb_z_type(k) == type) {
            *kind = k;
            return true;
        }
    return false;
}

/* gdb_watch_word - the word for a watchpoint of this kind in a stop reply, with its colon. */
static inline const char *gdb_watch_word(enum bp_kind kind)
{
    switch (kind) {
    case BP_WATCH_READ: return "rwatch:";
    case BP_WATCH_ACCESS: return "awatch:";
    default: return "watch:";
    }
}

#endif
