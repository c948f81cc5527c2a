/* What the outside does to a board: power and reset that go and come again, an adapter that is
 * unplugged, the wave on DBGEEV. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/dbg_priv.h"

static const uint64_t ns_per_s = 1000000000;

/* RAM loses its contents without power, so the program finds pseudo-random bytes in it. */
static void power_up(struct s12z_board *b)
{
    uint32_t x = 0x5EED;
    for (uint32_t k = 0; k < part_ram_bytes(b->part); k++)
        b->ram[k] = (uint8_t)((x = x * 1103515245u + 12345u) >> 16);
    memset(b->ram_raw, 0, part_ram_bytes(b->part) / 2);
    b->ram_faults = 0;
    board_reset(b, false);
}

void board_fault_turns(struct s12z_board *b)
{
    bool now = board_fault_shows(b), over = b->fault_shown && !now;
    b->fault_shown = now;
    if (now && board_fault_asked(b, "unplug"))
        b->unplugged = true;
    if (over && board_fault_asked(b, "no-power"))
        power_up(b);
    if (over && board_fault_asked(b, "reset") && !b->reset_low)
        board_reset(b, false);
}

/* ---- DBGEEV ---- */

/* The edges lie at multiples of half a period on the wire's time, so that they do not move when the
 * core clock changes. */
static uint64_t next_edge(void *ctx)
{
    const struct s12z_board *b = ctx;
    uint64_t ns = (b->eev_edges + 1) * ns_per_s / (2 * b->opt.eev_hz);
    return board_cycle_at(b, ns);
}

static void make_edges(void *ctx, uint64_t now)
{
    struct s12z_board *b = ctx;
    while (next_edge(b) <= now)
        dbg_eev_pin(b->dbg, ++b->eev_edges & 1);
}

int board_add_eev(struct s12z_board *b)
{
    /* It has no registers, hence the empty range of addresses. */
    struct s12z_device wave = {
        .first = 1, .last = 0, .ctx = b, .next = next_edge, .advance = make_edges
    };
    if (b->opt.eev_hz)
        return board_add_device(b, &wave);
    return 0;
}
