/* The peripherals a board has, made in one place; each is a file of its own. */
#include "targets/s12z/model/peripheral.h"

#include <stdlib.h>

#include "targets/s12z/model/board_priv.h"

struct s12z_peripherals {
    struct s12z_board *board;
};

int peripherals_new(struct s12z_board *board, const char *serial0, const char *serial1, struct s12z_peripherals **out, struct err *err)
{
    struct s12z_peripherals *p = calloc(1, sizeof *p);
    (void)serial0, (void)serial1;
    if (!p)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", board->part->name);
    p->board = board;
    *out = p;
    int ret = ftmrz_new(board, &board->ftmrz);
    return ret < 0 ? err_set(err, (enum err_code)-ret, "", "%s: cannot make its peripherals", board->part->name) : 0;
}

void peripherals_free(struct s12z_peripherals *p)
{
    if (!p)
        return;
    ftmrz_free(p->board->ftmrz);
    free(p);
}
