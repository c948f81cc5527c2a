/* Statistical profiling: a look at the PC of the running program at moments nobody can foresee. It
 * stands in the pump where a target's trace stands, and gives: EVENT_START   once; looks_per_s:
 * asked for EVENT_SAMPLE  a look; without EVENT_HAS_PC the CPU was asleep. missed_looks: since the
 * last event that came too late or failed EVENT_NOTE    cause HALTED, RESUMED: the program did not
 * run in between host_ns of each is the link's clock. The moments are a rate apart on average, each
 * up to half a period early or late, so that nothing periodic in the program is always met at the
 * same place. */
#ifndef PROFILER_BRIDGE_SAMPLER_H
#define PROFILER_BRIDGE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/bridge/pump.h"

enum { SAMPLE_RATE_DEFAULT = 1000, SAMPLE_RATE_MAX = 1000000 };

/* Zero-initialise, set the first members. */
struct sampler {
    unsigned rate_hz; /* 1..SAMPLE_RATE_MAX */
    uint64_t seed;    /* of the moments; the same seed gives the same */
    /* Called on the worker: the target need not be asked for anything before `ns` have passed; 0:
     * as usual. May be NULL. */
    void (*pace)(void *ctx, uint64_t ns);
    void *pace_ctx;

    /* the rest is the sampler's; on the worker only */
    uint64_t rng, due_ns, armed_ns;
    uint64_t held_before_ns;              /* by looks before it was armed */
    uint64_t samples, missed, unreported; /* unreported: missed since the last event */
    unsigned failures;                    /* in a row */
    bool armed, active, halted, started;
};

/* For pump_config.source; source_ctx is the struct sampler. Arming fails with -ERR_UNSUPPORTED on a
 * target without sample_pc. */
extern const struct pump_source sampler_source;

#endif
