/* How much longer displaced code takes than the program's own, by the pipeline's rules
 * (targets/sh4/isa/timing.h), with everything in the caches. Pure. */
#ifndef TARGETS_SH4_TRACE_STUB_TIME_H
#define TARGETS_SH4_TRACE_STUB_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "targets/sh4/code/sites.h"

enum { SH4_WAY_MOST = 24 };

/* Instructions in the order in which they run, slots behind their branches. */
struct sh4_way {
    uint16_t op[SH4_WAY_MOST];
    size_t n;
    uint32_t taken; /* by index: a branch that is taken */
};

/* sh4_way_add - appends an instruction; what does not fit is left out. */
void sh4_way_add(struct sh4_way *w, uint16_t op, bool taken);

/* sh4_stub_time - cycles that the stub of a point takes more than the instruction, beyond what a
 * plain call or return does, by which the agent's own cost is measured
 * s         the program, for what runs before and behind
 * addr      of the instruction
 * original  the instruction, with its slot
 * stub      what runs instead, from where the agent leaves to
 * to        where both lead
 * What runs before it is taken to be the code above it. */
int sh4_stub_time(const struct sh4_sites *s, uint32_t addr, const struct sh4_way *original,
                  const struct sh4_way *stub, uint32_t to);

/* sh4_calibration_time - what the measured residue has of such time: half of what the loop of
 * calibration takes longer with its two stubs, a JMP and an RTS. It is SH4_CALIBRATION_TIME, so
 * that it need not be worked out for each place. */
int sh4_calibration_time(void);
enum { SH4_CALIBRATION_TIME = 0 };

#endif
