/* The wire's time, which the core follows; faults come and go in it. */
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

/* a host takes about this long to find a device and open it, or not to find it */
enum { REOPEN_NS = 100000000 };

/* Time passes on the wire; the core follows. While RESET is low it stands still. */
static void pass_steadily(struct s12z_board *b, uint64_t ns)
{
    b->ns += ns;
    if (!b->reset_low && !board_fault(b, "reset") && !board_fault(b, "no-power"))
        board_run_to(b, b->core_base + board_ns_to_cycles(b, b->ns - b->ns_base));
    else {
        b->ns_base = b->ns;
        b->core_base = b->cpu.cycles;
    }
}

void board_pass_ns(struct s12z_board *b, uint64_t ns)
{
    uint64_t end = b->ns + ns;
    for (uint64_t edge; (edge = board_fault_edge(b)) <= end;) {
        pass_steadily(b, edge - b->ns - 1); /* as it was before */
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
