/* Value change dumps (IEEE 1364, clause 18) of PDO and PDOCLK, as logic analysers write them, to
 * edges. Pure; no allocation. */
#ifndef PROBE_PDO_VCD_H
#define PROBE_PDO_VCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/pdo.h"

enum { PDO_VCD_NAME = 64, PDO_VCD_TOKEN = 256 };

/* Initialise with pdo_vcd_init(). Fields are for reading. */
struct pdo_vcd {
    char want[2][PDO_VCD_NAME]; /* names looked for: clock, data */
    char id[2][PDO_VCD_NAME];   /* their identifier codes; "" until declared */
    char names[160];            /* single-bit signals the file declares, the first ones */
    char token[PDO_VCD_TOKEN], keyword[16], field[4][PDO_VCD_NAME];
    unsigned ntoken, nfields;
    uint64_t tick_hz;  /* by $timescale; 0: the file does not say, or not yet */
    bool body, vector; /* definitions are over; a vector's identifier is due */
    bool meta;         /* words before the first keyword that belong to no VCD */
    unsigned level[2];
    bool changed, timed;
    uint64_t time, line, changes;
};

/* pdo_vcd_init
 * clk, data   variable names, compared without regard to case; NULL: "PDOCLK" and "PDO" */
void pdo_vcd_init(struct pdo_vcd *v, const char *clk, const char *data);

/* pdo_vcd_feed - more text, split anywhere. x and z count as 0.
 * out   edges, times in the file's time units; room for n / 2 + 1
 * Returns their number; -ERR_FORMAT with the line. */
int pdo_vcd_feed(struct pdo_vcd *v, const char *text, size_t n, pdo_edge *out, struct err *err);

/* pdo_vcd_end - the last change, 0 or 1 edge. -ERR_FORMAT if the file never declared the signals.
 */
int pdo_vcd_end(struct pdo_vcd *v, pdo_edge *out, struct err *err);

#endif
