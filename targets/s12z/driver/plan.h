/* Puts start and stop points into comparators and the sequencer of the DBG module, as far as these
 * go. Pure.
 *
 * The module can begin at a comparator's match (Begin alignment; then only a full buffer ends it),
 * or run from arming and end at matches (End alignment, up to four): ZVHL p.191-226, ZVM p.226. It
 * cannot do both in one session. The host does everything else on the lines as they come, where it
 * sees every pass of every point (s12z/trace/events.h). */
#ifndef TARGETS_S12Z_DRIVER_PLAN_H
#define TARGETS_S12Z_DRIVER_PLAN_H

#include "targets/s12z/driver/driver.h"

struct s12z_plan {
    struct s12z_dbg_profile dbg; /* for s12z_dbg_claim() */
    bool begins;                 /* the module waits for the start point */
    unsigned stops;              /* stop points in comparators */
    size_t host_points;          /* points that only the host acts on */
    char text[120];              /* in words; "" when there are no points */
};

/* s12z_plan_make
 * cfg      points, policy
 * inside   profiling is active as the session begins (no wait for the start point then)
 * pins     the lines leave by PDO
 * taken    comparators that others hold, bit n: comparator n */
void s12z_plan_make(const struct trace_config *cfg, bool inside, bool pins, unsigned taken,
                    struct s12z_plan *out);

#endif
