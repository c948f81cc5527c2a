/* Faults on demand, those that come and go, and the wave on DBGEEV: what the outside does to a
 * board. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/dbg_priv.h"

/* a host takes about this long to find a device and open it, or not to find it */
enum { REOPEN_NS = 100000000 };
static const uint64_t ns_per_s = 1000000000;

/* Where in its period: UINT64_MAX before it began. */
static uint64_t phase(const struct board_options *o, uint64_t ns)
{
    if (ns < o->fault_from_ns)
        return UINT64_MAX;
    return o->fault_every_ns ? (ns - o->fault_from_ns) % o->fault_every_ns : ns - o->fault_from_ns;
}

static bool shows(const struct s12z_board *b)
{
    const struct board_options *o = &b->opt;
    if (o->fault_for_ns)
        return phase(o, b->ns) < o->fault_for_ns;
    return b->ns >= o->fault_at * ns_per_s / o->bdc_hz; /* KIND@N: N BDC cycles after power-on */
}

bool board_fault(const struct s12z_board *b, const char *kind)
{
    return !strcmp(b->opt.fault, kind) && shows(b);
}

uint64_t board_fault_edge(const struct s12z_board *b)
{
    const struct board_options *o = &b->opt;
    if (!o->fault_for_ns)
        return UINT64_MAX;
    uint64_t at = phase(o, b->ns);
    if (at == UINT64_MAX)
        return o->fault_from_ns;
    if (at < o->fault_for_ns)
        return b->ns + o->fault_for_ns - at;
    return o->fault_every_ns ? b->ns + o->fault_every_ns - at : UINT64_MAX;
}

/* Without power RAM forgets: anything may be in it. */
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
    bool now = shows(b), over = b->fault_shown && !now;
    b->fault_shown = now;
    if (now && !strcmp(b->opt.fault, "unplug"))
        b->unplugged = true;
    if (over && !strcmp(b->opt.fault, "no-power"))
        power_up(b);
    if (over && !strcmp(b->opt.fault, "reset") && !b->reset_low)
        board_reset(b, false);
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

/* ---- DBGEEV ---- */

/* Edges come at multiples of half a period of the board's time, whatever the core's clock is then.
 */
static uint64_t next_edge(void *ctx)
{
    const struct s12z_board *b = ctx;
    uint64_t ns = (b->eev_edges + 1) * ns_per_s / (2 * b->opt.eev_hz);
    return ns <= b->ns_base ? b->core_base : b->core_base + board_ns_to_cycles(b, ns - b->ns_base);
}

static void edges(void *ctx, uint64_t now)
{
    struct s12z_board *b = ctx;
    while (next_edge(b) <= now)
        dbg_eev_pin(b->dbg, ++b->eev_edges & 1);
}

int board_add_eev(struct s12z_board *b)
{
    /* no registers */
    struct s12z_device wave = {
        .first = 1, .last = 0, .ctx = b, .next = next_edge, .advance = edges
    };
    return b->opt.eev_hz ? board_add_device(b, &wave) : 0;
}
