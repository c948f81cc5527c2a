/* PDO capture link: samples the profiling pins PDO and PDOCLK of an S12Z part. What the trace
 * source sees of any logic analyser or capture pod.
 *
 * A capture is a list of edges: each entry says when the levels changed and what they are since.
 * Decoding them into lines is targets/s12z's business, so the same decoder serves files (VCD, raw
 * samples) and live links. */
#ifndef PROBE_PDO_H
#define PROBE_PDO_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct probe;

/* One change: bits 63..2 time in ticks of the capture's own clock since start(), bit 1 PDOCLK, bit
 * 0 PDO: the levels from then on. Times never go back. The first entry after start() gives the
 * levels at tick 0. */
typedef uint64_t pdo_edge;
#define PDO_EDGE(tick, clk, pdo) ((uint64_t)(tick) << 2 | (uint64_t)(clk) << 1 | (uint64_t)(pdo))
#define PDO_TICK(e)              ((e) >> 2)
#define PDO_CLK(e)               ((unsigned)((e) >> 1) & 1)
#define PDO_DATA(e)              ((unsigned)(e)&1)

struct pdo_ops {
    /* Begins a capture; drops what an earlier one left. *tick_hz: unit of the edges' times. */
    int (*start)(struct probe *p, uint64_t *tick_hz, struct err *err);
    /* Moves up to cap edges out. Returns how many, 0 = none now. *lost: edges dropped before the
     * first one returned because nobody read in time (0 normally). */
    int (*read)(struct probe *p, pdo_edge *out, size_t cap, uint64_t *lost, struct err *err);
    int (*stop)(struct probe *p, struct err *err);
    /* The three below may be NULL: then edges are there as soon as they happen, and their times are
     * exact. Samples a second, 0 if times are exact. Known from open() on. */
    uint64_t (*sample_hz)(struct probe *p);
    /* The tick up to which read() has given every edge: later ones may still be on their way.
     * UINT64_MAX: nothing more will come. */
    uint64_t (*seen)(struct probe *p);
    /* Waits until what was on the pins when it was called can be read; some seconds at most, then
     * -ERR_USB. */
    int (*catch_up)(struct probe *p, struct err *err);
};

#endif
