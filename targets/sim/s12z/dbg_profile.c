/* Code profiling: the lines that the DBG module writes into its trace buffer. Source: ZVHL
 * p.191-226; ZVM p.226-227. */
#include "targets/sim/s12z/dbg_priv.h"

static const uint32_t NO_BRANCHES = 1, FULL = 0x80000000;

/* A field of several bytes in the order of the variant: lowest byte first, or highest first. */
static uint64_t in_order(const struct s12z_dbg *d, uint32_t v, unsigned bytes)
{
    if (d->variant.high_first)
        return __builtin_bswap32(v) >> (8 * (4 - bytes));
    return v;
}

enum cof_kind profile_kind(const struct s12z_dbg *d, enum cof_kind kind, uint32_t pc,
                           unsigned vector)
{
    const struct s12z_dbg_variant *v = &d->variant;
    const struct cpu_page *page = d->board->cpu.page[pc >> BUS_PAGE_BITS];
    const struct s12z_insn *i = page ? &page->insn[pc & ((1u << BUS_PAGE_BITS) - 1)].i : NULL;
    bool is_bit = i && (i->op == S12Z_OP_BRSET || i->op == S12Z_OP_BRCLR),
         is_loop = i && (i->op == S12Z_OP_DB || i->op == S12Z_OP_TB);
    if (kind == COF_BRANCH && ((is_bit && v->silent_bits) || (is_loop && v->silent_loops)))
        return COF_STATIC;
    if (kind == COF_VECTOR && v->silent_traps && vector >= VEC_SPARE && vector <= VEC_SYS)
        return COF_STATIC;
    if (kind == COF_STATIC && v->static_indirect && i && i->general)
        return COF_INDIRECT;
    return kind;
}

/* Writes a line made at core cycle `at`. The line that makes 64 pending is the last one, with
 * TBOVF. */
static void write_line(struct s12z_dbg *d, unsigned info, uint64_t upper, uint64_t at)
{
    uint64_t pending = d->written - d->sent;
    bool overflow = info != INFO_PTS && !(info & INFO_TERM) && pending == DBG_LINES - 1;
    if (overflow) {
        info |= INFO_TBOVF;
        d->efr |= EFR_PTBOVF;
    }
    uint64_t line = upper << 40 | (uint64_t)d->direct << 8;
    if (info == INFO_PTS)
        line = upper << 8;
    d->line[d->written++ % DBG_LINES] = line | info;
    d->direct = NO_BRANCHES;
    d->stamp_from = at;
    pdo_line_written(d);
    if (overflow) {
        d->profiling = d->ending = false;
        dbg_disarm(d, true);
    }
}

/* The timestamp, bus clocks since the last line, above the byte for the vector. */
static uint64_t stamp_field(const struct s12z_dbg *d, uint64_t at, unsigned vector_byte)
{
    return in_order(d, (uint16_t)((at - d->stamp_from) / 2), 2) << 8 | vector_byte;
}

void profile_start(struct s12z_dbg *d)
{
    d->profiling = d->need_start = true;
    d->ending = false;
    d->direct = NO_BRANCHES;
}

void profile_pc(struct s12z_dbg *d, uint32_t pc)
{
    d->need_start = false;
    write_line(d, INFO_PTS, in_order(d, pc, 3), dbg_now(d));
}

/* Writes the last line. It has the format of the change of flow that came in the same cycle, or the
 * plain one (PTW). */
static void last_line(struct s12z_dbg *d, unsigned info, uint64_t upper)
{
    write_line(d, info | INFO_TERM, upper, d->end_at);
    d->profiling = d->need_start = d->ending = false;
    dbg_watch(d);
}

void profile_finish(struct s12z_dbg *d)
{
    if (d->ending)
        last_line(d, INFO_PTW, stamp_field(d, d->end_at, 0));
}

/* Adds the bit of a conditional branch. Returns true if the field is full then. */
static bool field_full(struct s12z_dbg *d, bool taken)
{
    d->direct = d->direct << 1 | taken;
    return d->direct & FULL;
}

void profile_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t dest, unsigned vector)
{
    unsigned info;
    uint64_t upper = 0, now = dbg_now(d);
    if (d->need_start)
        return;
    if (d->ending)
        now = d->end_at;
    profile_advance(d, now); /* the timestamp may have overflowed before */
    if (!d->profiling)
        return;
    switch (kind) {
    case COF_BRANCH:
        if (!field_full(d, taken)) {
            if (d->variant.stamps_from_flow)
                d->stamp_from = now;
            profile_finish(d);
            return;
        }
        info = INFO_PTHF;
        break;
    case COF_INDIRECT:
        info = INFO_PTIB;
        upper = in_order(d, dest, 3);
        break;
    case COF_VECTOR: /* the vector byte has address bits 8:1: 0xFE - 2n for number n */
        info = INFO_PTVB;
        upper = stamp_field(d, now, (0xFEu - 2 * vector) & 0xFF);
        break;
    default: profile_finish(d); return; /* a static change of flow needs no line */
    }
    if (d->ending)
        last_line(d, info, upper);
    else
        write_line(d, info, upper, now);
}

void profile_end(struct s12z_dbg *d)
{
    if (!d->profiling)
        return;
    if (d->need_start) {
        d->profiling = d->need_start = false;
        return;
    }
    d->ending = true;
    d->end_at = dbg_now(d);
    profile_advance(d, d->end_at);
    if (!d->in_access)
        profile_finish(d);
}

uint64_t profile_next(const struct s12z_dbg *d)
{
    if (d->ending)
        return dbg_now(d);
    if (d->profiling && !d->need_start)
        return d->stamp_from + 2ull * TS_OVERFLOW_BUS;
    return UINT64_MAX;
}

void profile_advance(struct s12z_dbg *d, uint64_t now)
{
    while (d->profiling && !d->need_start && now >= d->stamp_from + 2ull * TS_OVERFLOW_BUS) {
        if (DBG_HALTED_ADDS_NOTHING && d->board->cpu.state == CPU_BDM)
            d->stamp_from = now;
        else
            write_line(d, INFO_PTW | INFO_TSOVF, 0xFFFF00, d->stamp_from + 2ull * TS_OVERFLOW_BUS);
    }
}
