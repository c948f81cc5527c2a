#include "profiler/cli/boards.h"

#include <stddef.h>

#include "targets/sh4/model/board.h"

const struct sim_board_type *const *boards(void)
{
    static const struct sim_board_type *const all[] = { &sh4_board_sh7750, &sh4_board_sh7091, NULL };
    return all;
}
