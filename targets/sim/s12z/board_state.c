/* What any part of a board may ask of it: its clock, its devices, the other parts. */
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

enum { NS_PER_S = 1000000000 };

struct s12z_intc *board_intc(struct s12z_board *b) { return b->intc; }

struct s12z_dbg *board_dbg(struct s12z_board *b) { return b->dbg; }

struct s12z_cpu *board_cpu(struct s12z_board *b) { return &b->cpu; }

uint64_t board_now(const struct s12z_board *b) { return b->cpu.cycles; }

void board_replan(struct s12z_board *b) { b->cpu.until = b->cpu.cycles; }

bool board_secured(const struct s12z_board *b)
{
    return (b->fsec & 3) != 2; /* Source: ZVHL p.152; ZVM p.163. */
}

int board_add_device(struct s12z_board *b, const struct s12z_device *d)
{
    if (b->ndevices == BOARD_MAX_DEVICES)
        return -ERR_RESOURCE;
    b->device[b->ndevices++] = *d;
    for (unsigned a = d->first; a <= d->last; a++)
        b->device_at[a] = (uint8_t)b->ndevices;
    return 0;
}

static uint64_t core_hz(const struct s12z_board *b) { return 2 * b->bus_hz; }

uint64_t board_cycles_to_ps(const struct s12z_board *b, uint64_t cycles)
{
    __int128 since = (__int128)cycles - b->core_base;
    return (uint64_t)(b->ns_base * (__int128)1000 + since * 1000000000000 / (__int128)core_hz(b));
}

uint64_t board_cycle_at(const struct s12z_board *b, uint64_t ns)
{
    return b->core_base + board_ns_to_cycles(b, ns - MIN(ns, b->ns_base));
}

/* Seconds and the rest are converted separately: the product would overflow for long times. */
uint64_t board_ns_to_cycles(const struct s12z_board *b, uint64_t ns)
{
    return ns / NS_PER_S * core_hz(b) + ns % NS_PER_S * core_hz(b) / NS_PER_S;
}
