/* Value change dumps (IEEE 1364, clause 18) of PDO and PDOCLK, as logic analysers write them, to edges. No allocation. */
#ifndef TARGETS_S12Z_TRACE_VCD_H
#define TARGETS_S12Z_TRACE_VCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/s12z/trace_edges.h"

enum { S12Z_VCD_NAME = 64, S12Z_VCD_TOKEN = 256 };

/* Initialise with s12z_vcd_init(). Fields are for reading. */
struct s12z_vcd {
    struct s12z_edges *out;
    char want[2][S12Z_VCD_NAME];  /* names looked for: clock, data */
    char id[2][S12Z_VCD_NAME];    /* their identifier codes; "" until declared */
    char token[S12Z_VCD_TOKEN], keyword[16], field[4][S12Z_VCD_NAME];
    unsigned ntoken, nfields;
    bool body, vector;            /* definitions are over; a vector's identifier is due */
    unsigned level[2];
    bool changed, timed;
    uint64_t time, line, changes;
};

/* s12z_vcd_init
 * clk, data   variable names, compared without regard to case; NULL: "PDOCLK" and "PDO"
 * out         receives edges, times in the file's time units; borrowed */
void s12z_vcd_init(struct s12z_vcd *v, const char *clk, const char *data, struct s12z_edges *out);

/* s12z_vcd_feed - more text, split anywhere. Returns 0; -ERR_FORMAT with the line; what the edges' sink returned. x and z count as 0. */
int s12z_vcd_feed(struct s12z_vcd *v, const char *text, size_t n, struct err *err);

/* s12z_vcd_end - the last change; does not end the edges. -ERR_FORMAT if the file never declared the signals. */
int s12z_vcd_end(struct s12z_vcd *v, struct err *err);

#endif
