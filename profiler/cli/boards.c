#include "profiler/cli/boards.h"

#include <stddef.h>

#ifdef PROBEPROF_SIM
#include "targets/sim/s12z/board.h"
#include "targets/sim/sh4/board.h"
#endif

const struct sim_board_type *const *boards(void)
{
    static const struct sim_board_type *const all[] = {
#ifdef PROBEPROF_SIM
        &sh4_board_sh7750,
        &sh4_board_sh7091,
        &s12z_board_zvml128,
        &s12z_board_zvmc256,
        &s12z_board_zvl128,
#endif
        NULL,
    };
    return all;
}
