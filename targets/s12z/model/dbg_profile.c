/* Code profiling: what the DBG writes into its trace buffer. Source: reference/s12z.md 2.6, 2.8-2.12. */
#include "targets/s12z/model/dbg_priv.h"

enum { INFO_PTS = 0, INFO_PTIB = 1, INFO_PTHF = 2, INFO_PTVB = 3, INFO_PTW = 7, INFO_TSOVF = 0x40, INFO_TBOVF = 0x20, INFO_TERM = 0x10 };
static const uint32_t NO_BRANCHES = 1, FULL = 0x80000000;

unsigned profile_line_bytes(uint64_t line)
{
    switch (line & 0x0F) {
    case INFO_PTS: return 4;
    case INFO_PTHF: return DBG_PTHF_BYTES;
    default: return 8;
    }
}

static uint16_t stamp(const struct s12z_dbg *d) { return (uint16_t)((dbg_now(d) - d->stamp_from) / 2); }

/* Writes a line; the one that makes 64 pending is the last. */
static void entry(struct s12z_dbg *d, unsigned info, uint64_t upper)
{
    uint64_t pending = d->written - d->sent;
    bool overflow = info != INFO_PTS && pending == DBG_LINES - 1;
    if (overflow) {
        info |= INFO_TBOVF;
        d->efr |= EFR_PTBOVF;
    }
    uint64_t line = info == INFO_PTS ? upper << 8 : upper << 40 | (uint64_t)d->direct << 8;
    d->line[d->written++ % DBG_LINES] = line | info;
    d->direct = NO_BRANCHES;
    d->stamp_from = dbg_now(d);
    pdo_line_written(d);
    if (overflow) {
        d->profiling = false;
        dbg_disarm(d, true);
    }
}

void profile_start(struct s12z_dbg *d)
{
    d->profiling = d->need_start = true;
    d->direct = NO_BRANCHES;
}

void profile_pc(struct s12z_dbg *d, uint32_t pc)
{
    d->need_start = false;
    entry(d, INFO_PTS, pc);
}

void profile_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t dest, unsigned vector)
{
    if (d->need_start)
        return;
    switch (kind) {
    case COF_BRANCH:
        d->direct = d->direct << 1 | taken;
        if (d->direct & FULL)
            entry(d, INFO_PTHF, 0);
        break;
    case COF_INDIRECT: entry(d, INFO_PTIB, dest); break;
    /* the vector's place: address bits 8:1, so number n is 0xFE - 2n */
    case COF_VECTOR: entry(d, INFO_PTVB, (uint64_t)stamp(d) << 8 | ((0xFEu - 2 * vector) & 0xFF)); break;
    case COF_STATIC: break;
    }
}

void profile_end(struct s12z_dbg *d)
{
    if (!d->profiling)
        return;
    if (!d->need_start)
        entry(d, INFO_PTW | INFO_TERM, (uint64_t)stamp(d) << 8);
    d->profiling = d->need_start = false;
}

uint64_t profile_next(const struct s12z_dbg *d)
{
    return d->profiling && !d->need_start ? d->stamp_from + 2ull * TS_OVERFLOW_BUS : UINT64_MAX;
}

void profile_advance(struct s12z_dbg *d, uint64_t now)
{
    if (now >= profile_next(d)) {
        if (DBG_HALTED_ADDS_NOTHING && d->board->cpu.state == CPU_BDM)
            d->stamp_from = now;
        else
            entry(d, INFO_PTW | INFO_TSOVF, 0xFFFF00);
    }
}
