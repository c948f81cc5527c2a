/* The pins PDO and PDOCLK: pending lines are sent bit by bit, two bus clocks a bit. PDO changes
 * with the bus clock, PDOCLK half a bit later. Source: ZVHL p.222-225; ZVM p.226. */
#include "targets/sim/s12z/dbg_priv.h"
#include "probe/base/choice.h"
#include "probe/base/pages.h"

static uint64_t to_ps(const struct s12z_dbg *d, uint64_t cycles)
{
    return board_cycles_to_ps(d->board, cycles);
}

static void make_edge(struct s12z_dbg *d, uint64_t cycles)
{
    if (d->edge_put - d->edge_take == PDO_EDGES) {
        d->edge_lost++;
        return;
    }
    d->edges[d->edge_put++ % PDO_EDGES] = PDO_EDGE(to_ps(d, cycles), d->pdoclk, d->pdo);
}

static void clock_edges(struct s12z_dbg *d, uint64_t at)
{
    d->pdoclk ^= 1;
    make_edge(d, at + BIT_CYCLES / 2);
    if (d->variant.clock_full) {
        d->pdoclk ^= 1;
        make_edge(d, at + BIT_CYCLES - 1);
    }
}

static void make_bit(struct s12z_dbg *d, uint64_t at, unsigned value)
{
    if (value != d->pdo) {
        d->pdo = value;
        make_edge(d, at);
    }
    clock_edges(d, at);
}

static bool bit_flips(struct s12z_dbg *d)
{
    if (!board_fault_asked(d->board, "pdo-noise"))
        return false;
    d->noise = d->noise * 6364136223846793005u + 1442695040888963407u;
    return (d->noise >> 33) % EITHER(d->board->opt.fault_at, 1) == 0;
}

static unsigned line_bits(const struct s12z_dbg *d)
{
    return 8 * profile_line_bytes(d, d->line[d->sent % DBG_LINES]);
}

/* Makes the edges of the line under way from bit `from` on. They are made at once and have the
 * times at which they will come. */
static void make_edges(struct s12z_dbg *d, unsigned from)
{
    uint64_t line = d->line[d->sent % DBG_LINES];
    for (unsigned k = from; k < line_bits(d); k++)
        make_bit(d, d->line_began_at + k * BIT_CYCLES, (line >> k & 1) ^ bit_flips(d));
}

/* Begins the next pending line. */
static void begin_line(struct s12z_dbg *d, uint64_t at)
{
    unsigned bits = line_bits(d);
    d->line_began_at = at;
    d->line_done_at = at + (uint64_t)bits * BIT_CYCLES;
    d->bits_sent += bits;
    if (d->capture)
        make_edges(d, 0);
}

/* Begins the first line after an idle time. In the variant clock_first an edge without a bit
 * precedes it, which can be recognised only after a pause. */
static void begin_line_after_idle(struct s12z_dbg *d, uint64_t at)
{
    enum { IDLE_CYCLES = 4 * BIT_CYCLES };
    if (d->variant.clock_first) {
        at = MAX(at, d->idle_since + IDLE_CYCLES);
        if (d->capture)
            clock_edges(d, at);
        at += BIT_CYCLES;
    }
    begin_line(d, at);
}

void pdo_line_written(struct s12z_dbg *d)
{
    if (!d->line_done_at && (d->reg[DBGTCRL] & TCRL_PDOE) && d->sent < d->written) {
        begin_line_after_idle(d, dbg_now(d) + 2);
        board_replan(d->board);
    }
}

uint64_t pdo_next(const struct s12z_dbg *d)
{
    if (d->line_done_at)
        return d->line_done_at;
    return UINT64_MAX;
}

void pdo_advance(struct s12z_dbg *d, uint64_t now)
{
    while (d->line_done_at && d->line_done_at <= now) {
        uint64_t at = d->line_done_at;
        d->line_done_at = 0;
        d->idle_since = at;
        d->sent++;
        if (d->sent < d->written)
            begin_line(d, at);
    }
}

/* Removes the edges that would have come after now. */
static void drop_future(struct s12z_dbg *d)
{
    uint64_t now = to_ps(d, dbg_now(d));
    while (d->edge_put > d->edge_take && PDO_TICK(d->edges[(d->edge_put - 1) % PDO_EDGES]) > now)
        d->edge_put--;
    if (d->edge_put > d->edge_take) {
        d->pdo = PDO_DATA(d->edges[(d->edge_put - 1) % PDO_EDGES]);
        d->pdoclk = PDO_CLK(d->edges[(d->edge_put - 1) % PDO_EDGES]);
    }
}

void pdo_stop(struct s12z_dbg *d)
{
    if (d->line_done_at && d->edges)
        drop_future(d);
    d->line_done_at = 0;
    d->sent = d->written;
}

int dbg_pdo_capture(struct s12z_dbg *d, bool on)
{
    if (!d->part->full_dbg)
        return -1;
    if (on && !d->edges && !(d->edges = pages_new(PDO_EDGES * sizeof *d->edges)))
        return -1;
    d->capture = on;
    d->edge_put = d->edge_take = d->edge_lost = 0;
    if (!on)
        return 0;
    make_edge(d, dbg_now(d));         /* the levels at the beginning */
    if (d->line_done_at > dbg_now(d)) /* the rest of the line under way is captured */
        make_edges(d, dbg_now(d) < d->line_began_at
                          ? 0
                          : (unsigned)((dbg_now(d) - d->line_began_at) / BIT_CYCLES) + 1);
    return 0;
}

size_t dbg_pdo_take(struct s12z_dbg *d, pdo_edge *out, size_t cap, uint64_t *lost)
{
    size_t n = 0;
    for (; n < cap && d->edge_take < d->edge_put; n++)
        out[n] = d->edges[d->edge_take++ % PDO_EDGES];
    if (d->edge_take == d->edge_put) /* begins anew, where memory has been written before */
        d->edge_take = d->edge_put = 0;
    *lost = d->edge_lost;
    d->edge_lost = 0;
    return n;
}

unsigned profile_line_bytes(const struct s12z_dbg *d, uint64_t line)
{
    switch (line & 0x0F) {
    case INFO_PTS: return 4;
    case INFO_PTHF:
        if (d->variant.short_pthf)
            return 5;
        return 6;
    default: return 8;
    }
}
