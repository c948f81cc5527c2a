/* The ordinary trace modes: Normal, Loop1, Detail and Pure PC. Source: ZVHL p.213-222. Three points
 * of it are easily missed: a run of Pure PC has its full address in its last entry, Detail wraps
 * the bytes of an access into one entry, and an external event forces an entry in Normal and Loop1
 * only. */
#include "targets/sim/s12z/dbg_priv.h"

enum { CET_NONE = 0, CET_VECTOR = 1, CET_SOURCE = 2, CET_DESTINATION = 3 };
enum {
    INF_CTI = 0x08,
    INF_EEVI = 0x04,
    TSINF_PC = 0x04,
    TSINF = 0x02,
    INF_TOVF = 0x01,
    CXINF_MAT = 0x80,
    STAMP_OVERFLOW = 0x10000,
    LAST_START = 4 /* last byte of a line at which a full address may begin */
};

static bool has_stamps(const struct s12z_dbg *d)
{
    return d->reg[DBGTCRL] & TCRL_STAMP && trace_mode(d) != TRACE_PURE_PC;
}

/* ---- lines ---- */

static void line_complete(struct s12z_dbg *d)
{
    d->written++;
    d->half = false;
    if (d->lines_left && --d->lines_left == 0)
        dbg_disarm(d, true);
}

static void put_line(struct s12z_dbg *d, uint64_t line)
{
    d->line[d->written % DBG_LINES] = line;
    line_complete(d);
}

/* Entries of 32 bits share a line. The lower half comes first. */
static void put_half(struct s12z_dbg *d, uint32_t v)
{
    uint64_t *line = &d->line[d->written % DBG_LINES];
    if (d->half) {
        *line |= (uint64_t)v << 32;
        line_complete(d);
        return;
    }
    *line = v;
    d->half = true;
}

/* The timestamp of an entry: core clocks since the last one, less one. That of the first entry is
 * 0. */
static uint64_t take_stamp(struct s12z_dbg *d, uint64_t at)
{
    uint64_t since = at - d->stamp_from, v = d->stamped && since ? since - 1 : 0;
    d->stamped = true;
    d->stamp_from = at;
    return v & 0xFFFF;
}

static void put_pc(struct s12z_dbg *d, unsigned cinf, uint32_t pc, uint64_t at)
{
    uint32_t v = (uint32_t)cinf << 24 | pc;
    if (has_stamps(d))
        put_line(d, take_stamp(d, at) << 48 | v);
    else
        put_half(d, v);
}

/* Detail: writes a line with the time, behind an access or alone. */
static void put_time(struct s12z_dbg *d, unsigned tsinf, uint64_t at)
{
    put_line(d, take_stamp(d, at) << 48 | (uint64_t)(tsinf | TSINF | TSINF_PC) << 24 | d->pc);
}

/* Writes an entry that neither a change of flow nor an access made. */
static void put_forced(struct s12z_dbg *d, unsigned inf, uint64_t at)
{
    if (trace_mode(d) == TRACE_DETAIL)
        put_time(d, inf, at);
    else
        put_pc(d, CET_NONE << 6 | inf, d->pc, at);
}

/* ---- timestamps that overflow ---- */

uint64_t trace_next(const struct s12z_dbg *d)
{
    if (d->tracing && d->stamped && has_stamps(d))
        return d->stamp_from + STAMP_OVERFLOW;
    return UINT64_MAX;
}

void trace_advance(struct s12z_dbg *d, uint64_t now)
{
    while (now >= trace_next(d)) {
        if (d->board->cpu.state == CPU_BDM)
            d->stamp_from = now; /* there is no tracing in active BDM */
        else
            put_forced(d, INF_TOVF, trace_next(d));
    }
}

/* ---- Normal and Loop1 ---- */

/* Does the change of flow repeat the last one, so that Loop1 leaves it out? Vectors are never left
 * out. */
static bool is_repeated(struct s12z_dbg *d, uint32_t pc, uint32_t dest)
{
    bool again = d->looped && d->loop_from == pc && d->loop_to == dest;
    d->looped = true;
    d->loop_from = pc;
    d->loop_to = dest;
    return again && trace_mode(d) == TRACE_LOOP1;
}

void trace_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest)
{
    trace_advance(d, dbg_now(d));
    if (!d->tracing || trace_mode(d) > TRACE_LOOP1 || dbg_gated(d))
        return;
    switch (kind) {
    case COF_BRANCH:
        if (taken && !is_repeated(d, pc, dest))
            put_pc(d, CET_SOURCE << 6, pc, dbg_now(d));
        break;
    case COF_INDIRECT:
        if (!is_repeated(d, pc, dest))
            put_pc(d, CET_DESTINATION << 6, dest, dbg_now(d));
        break;
    case COF_VECTOR:
        d->looped = false;
        put_pc(d, CET_VECTOR << 6, dest, dbg_now(d));
        break;
    case COF_STATIC: break;
    }
}

/* ---- Detail ---- */

static uint32_t bound_address(const struct s12z_dbg *d, unsigned control)
{
    const uint8_t *r = &d->reg[control + COMPARATOR_ADDR];
    return (uint32_t)r[0] << 16 | (uint32_t)r[1] << 8 | r[2];
}

/* TRANGE: comparators C and D bound the traced addresses, unless they are enabled for matches. */
static bool in_range(const struct s12z_dbg *d, uint32_t addr)
{
    unsigned range = d->reg[DBGTCRH] >> TCRH_TRANGE_SHIFT & 3;
    bool below = range & 1 && !(d->reg[DBGDCTL] & CTL_COMPE),
         above = range & 2 && !(d->reg[DBGCCTL] & CTL_COMPE);
    return (!below || addr <= bound_address(d, DBGDCTL)) &&
           (!above || addr >= bound_address(d, DBGCCTL));
}

void trace_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v)
{
    trace_advance(d, dbg_now(d));
    if (!d->tracing || trace_mode(d) != TRACE_DETAIL || !in_range(d, addr) || dbg_gated(d))
        return;
    uint64_t line = (uint64_t)((size - 1) << 6 | (write ? 0u : 0x20u)) << 24 | addr;
    /* the byte at an address with bits 1:0 = 0 is byte 7 of the line */
    for (unsigned k = 0; k < size; k++)
        line |= (uint64_t)(v >> (8 * (size - 1 - k)) & 0xFF) << (8 * (7 - ((addr + k) & 3)));
    put_line(d, line);
    if (d->tracing && has_stamps(d))
        put_time(d, 0, dbg_now(d));
}

/* ---- Pure PC ---- */

static void close_pure(struct s12z_dbg *d, unsigned flags)
{
    if (!d->payload)
        return;
    uint64_t line = d->pure | (uint64_t)(flags | d->payload << 4) << 56;
    d->pure = 0;
    d->payload = 0;
    put_line(d, line);
}

/* Adds an entry: the low byte of the PC if compressed, else all three bytes. A full one is marked
 * if its place in the line has a mark. */
static void put_pure(struct s12z_dbg *d, uint32_t pc, bool full, unsigned flags)
{
    d->pure |= (uint64_t)(full ? pc : pc & 0xFF) << (8 * d->payload);
    if (full && d->payload < LAST_START)
        d->pure |= 1ull << (56 + d->payload);
    d->payload += full ? 3 : 1;
    if (d->payload > LAST_START || flags)
        close_pure(d, flags);
}

/* Stores the PC before this one. It ends a run, and is stored in full, if the present PC lies in
 * other 256 bytes. */
static void pure_pc(struct s12z_dbg *d, uint32_t pc)
{
    bool had = d->has_next;
    d->has_next = false; /* put_pure() may end the trace with this line */
    if (had)
        put_pure(d, d->next_pc, d->payload == LAST_START || (d->next_pc ^ pc) >> 8, 0);
    d->has_next = d->tracing;
    d->next_pc = pc;
}

static void end_run(struct s12z_dbg *d, unsigned flags)
{
    if (d->has_next)
        put_pure(d, d->next_pc, true, flags);
    close_pure(d, flags);
    d->has_next = false;
}

/* ---- all modes ---- */

void trace_start(struct s12z_dbg *d)
{
    d->tracing = true;
    d->stamped = d->looped = d->has_next = d->half = false;
    d->payload = 0;
    d->pure = 0;
    d->pc = d->board->cpu.r[S12Z_P];
}

void trace_trigger(struct s12z_dbg *d)
{
    if (trace_mode(d) == TRACE_PURE_PC)
        end_run(d, CXINF_MAT);
    d->lines_left = MID_LINES;
}

void trace_exec(struct s12z_dbg *d, uint32_t pc)
{
    d->pc = pc;
    if (trace_mode(d) == TRACE_PURE_PC && !dbg_gated(d))
        pure_pc(d, pc);
}

void trace_comparator_d(struct s12z_dbg *d)
{
    trace_advance(d, dbg_now(d));
    if (d->tracing && has_stamps(d) && !dbg_gated(d))
        put_forced(d, INF_CTI, dbg_now(d));
}

void trace_external(struct s12z_dbg *d)
{
    if (d->tracing && trace_mode(d) <= TRACE_LOOP1)
        put_pc(d, CET_NONE << 6 | INF_EEVI, d->pc, dbg_now(d));
}

void trace_end(struct s12z_dbg *d)
{
    if (!d->tracing)
        return;
    d->tracing = false;
    d->lines_left = 0;
    if (trace_mode(d) == TRACE_PURE_PC)
        end_run(d, 0);
}
