/* What distinguishes the modelled parts: identity, sizes of the memories, kind of debug module.
 * Source: HDR; ZVM p.127. */
#ifndef TARGETS_SIM_S12Z_PART_H
#define TARGETS_SIM_S12Z_PART_H

#include <stdbool.h>
#include <stdint.h>

struct s12z_part {
    const char *name;
    uint32_t partid;
    uint32_t ram_end;     /* RAM is 0x001000 .. ram_end */
    uint32_t eeprom_end;  /* EEPROM is 0x100000 .. eeprom_end */
    uint32_t flash_start; /* flash is flash_start .. 0xFFFFFF */
    /* Comparator C, trace buffer and profiling are there. False: only comparators A, B and D. */
    bool full_dbg;
    bool prend; /* DBGTCRL has the PREND bit */
};

#endif
