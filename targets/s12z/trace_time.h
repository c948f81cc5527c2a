/* How good the cycle table is for this program: stamps of PTVB and PTW lines against what the walker estimates for the same stretch. */
#ifndef TARGETS_S12Z_TRACE_TIME_H
#define TARGETS_S12Z_TRACE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/s12z/trace_line.h"

/* Zero-initialise. Fields are for reading; bus cycles. */
struct s12z_time {
    uint64_t stretches, measured, estimated; /* from line to stamped line, where the program ran */
    uint64_t waited;                         /* in stretches so long that it must have waited */
    uint64_t last_core;                      /* walker's total at the last line */
    bool placed;                             /* the stretch began at a known place */
    double weight, mean, square;             /* of measured/estimated, weighted by estimated: Welford's sums */
};

/* s12z_time_line - a line has been walked
 * core_cycles   s12z_flow_totals().core_cycles after it
 * placed        s12z_flow_synchronised() after it */
void s12z_time_line(struct s12z_time *t, const struct s12z_line *l, uint64_t core_cycles, bool placed);

/* s12z_time_factor - real cycles in an estimated one, and the standard deviation of that over stretches, weighted by their length.
 * Returns false where fewer than two stretches tell. The partial node at an interrupt counts in the stretch that completes it. */
bool s12z_time_factor(const struct s12z_time *t, double *factor, double *spread);

#endif
