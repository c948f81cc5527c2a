/* Start and stop points onto comparators and sequencer of the DBG module, as far as they go. Pure.
 *
 * What the module can do (ZVHL p.191-226, ZVM p.226): begin at a comparator's match (Begin
 * alignment; nothing ends it then but a full buffer), or run from arming and end at matches (End
 * alignment, up to four). It cannot do both in one session. Everything else the host does on the
 * lines as they come: it sees every pass of every point (s12z/trace/events.h). */
#ifndef TARGETS_S12Z_DRIVER_PLAN_H
#define TARGETS_S12Z_DRIVER_PLAN_H

#include "targets/s12z/driver/driver.h"

struct s12z_plan {
    struct s12z_dbg_profile dbg; /* for s12z_dbg_claim() */
    bool begins;                 /* the module waits for the start point */
    unsigned stops;              /* stop points in comparators */
    size_t host_points;          /* points only the host acts on */
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
