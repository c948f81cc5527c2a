/* Samples of a logic analyser to edges of PDO and PDOCLK. Pure; no allocation. */
#ifndef PROBE_PDO_SAMPLES_H
#define PROBE_PDO_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/pdo.h"

enum { PDO_UNIT_MAX = 16 }; /* bytes a sample */

/* Initialise with pdo_samples_init(). Fields are for reading. */
struct pdo_samples {
    unsigned unit, clk, data; /* bytes a sample; bit numbers, 0 the lowest of the first byte */
    bool started;
    uint8_t last[PDO_UNIT_MAX];
    uint64_t tick; /* samples so far */
};

/* pdo_samples_init
 * unit        bytes a sample, 1..PDO_UNIT_MAX, first byte lowest
 * clk, data   bits below 8 * unit */
void pdo_samples_init(struct pdo_samples *s, unsigned unit, unsigned clk, unsigned data);

/* pdo_samples_feed - n samples more
 * out     receives at most cap edges, cap >= 8; the tick is the sample's number, and the first
 * sample always makes one taken   samples looked at: fewer than n only if out is full Returns the
 * edges. Stretches without one cost a comparison for 32 bytes. */
size_t pdo_samples_feed(struct pdo_samples *s, const uint8_t *samples, size_t n, pdo_edge *out,
                        size_t cap, size_t *taken);

#endif
