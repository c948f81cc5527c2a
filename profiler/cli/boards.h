/* The one place that names every simulated board. */
#ifndef PROFILER_CLI_BOARDS_H
#define PROFILER_CLI_BOARDS_H

#include "probe/sim.h"

/* boards - what --probe sim:NAME can be; NULL-terminated, static lifetime. */
const struct sim_board_type *const *boards(void);

#endif
