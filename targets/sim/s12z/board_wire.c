/* The wire's time. The core follows it, and faults come and go in it. */
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

/* A host takes about this long to find a device and open it, or to find that it is not there. */
enum { REOPEN_NS = 100000000 };

/* Lets time pass in which no fault comes or goes. The core stands still while RESET is low or power
 * is missing. */
static void pass_steadily(struct s12z_board *b, uint64_t ns)
{
    b->ns += ns;
    if (!b->reset_low && !board_fault(b, "reset") && !board_fault(b, "no-power"))
        board_follow(b, b->ns, 0);
    else {
        b->ns_base = b->ns;
        b->core_base = b->cpu.cycles;
    }
}

void board_pass_ns(struct s12z_board *b, uint64_t ns)
{
    uint64_t end = b->ns + ns;
    for (uint64_t edge; (edge = board_fault_edge(b)) <= end;) {
        pass_steadily(b, edge - b->ns - 1); /* up to the last ns before the change */
        pass_steadily(b, 1);
        board_fault_turns(b);
    }
    pass_steadily(b, end - b->ns);
}

int board_reopen(struct sim_board *sim, struct err *err)
{
    struct s12z_board *b = CONTAINER_OF(sim, struct s12z_board, sim);
    board_pass_ns(b, REOPEN_NS);
    if (board_fault(b, "unplug"))
        return err_set(err, ERR_USB, "plug the adapter in again", "the adapter is not there");
    b->unplugged = false;
    return 0;
}
