/* The part of driver "sim" that serves boards with a BKGD pin; used by sim.c alone. */
#ifndef PROBE_SIM_BDC_H
#define PROBE_SIM_BDC_H

#include "probe/probe.h"
#include "probe/sim.h"

/* sim_bdc_wrap - an open probe around a board that has just been made
 * board  owned by the probe on success, still the caller's on failure
 * Returns 0 or -ERR_NOMEM. */
int sim_bdc_wrap(struct sim_board *board, const struct probe_config *cfg, struct probe **out,
                 struct err *err);

#endif
