/* DBG module: registers, comparators, sequencer, breakpoints. Source: reference/s12z.md 2.1-2.4. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/s12z/model/dbg_priv.h"

enum { BASE = 0x0100, LAST = 0x0147, COMPARATORS = 4 };

static uint8_t *comparator(struct s12z_dbg *d, unsigned n) { return &d->reg[DBGACTL + n * COMPARATOR_STEP]; }
static bool exists(const struct s12z_dbg *d, unsigned n) { return n != 2 || d->part->full_dbg; } /* the small module has no C */
static bool enabled(struct s12z_dbg *d, unsigned n) { return exists(d, n) && comparator(d, n)[0] & CTL_COMPE; }
static uint32_t compare_address(struct s12z_dbg *d, unsigned n)
{
    const uint8_t *r = comparator(d, n) + COMPARATOR_ADDR;
    return (uint32_t)r[0] << 16 | (uint32_t)r[1] << 8 | r[2];
}
/* ABCM, CDCM: 0 separate, 1 inside the pair's range, 2 outside; the pair's first one controls then. */
static unsigned range_mode(const struct s12z_dbg *d, unsigned n) { return d->reg[DBGC2] >> (n & 2) & 3; }

void dbg_watch(struct s12z_dbg *d)
{
    struct s12z_cpu *c = &d->board->cpu;
    bool armed = dbg_armed(d);
    c->watch_exec = c->watch_data = false;
    for (unsigned n = 0; n < COMPARATORS && armed; n++)
        if (enabled(d, n)) {
            c->watch_exec |= (comparator(d, n)[0] & CTL_INST) != 0;
            c->watch_data |= !(comparator(d, n)[0] & CTL_INST);
        }
    c->watch_exec |= d->profiling && d->need_start;
    c->watch_cof = d->profiling;
    c->attention = true;
}

/* ---- arming, sequencer ---- */

static void request_break(struct s12z_dbg *d)
{
    struct s12z_cpu *c = &d->board->cpu;
    if (!(d->reg[DBGC1] & C1_BRKCPU))
        return;
    if (d->reg[DBGC1] & C1_BDMBP)
        c->halt_request = c->enbdc;
    else
        c->swi_request = true;
    c->attention = true;
}

void dbg_disarm(struct s12z_dbg *d, bool by_event)
{
    if (!dbg_armed(d))
        return;
    d->state = STATE0;
    d->reg[DBGC1] &= (uint8_t)~C1_ARM;
    profile_end(d);
    dbg_watch(d);
    if (by_event)
        request_break(d);
}

static bool profile_mode(const struct s12z_dbg *d)
{
    return d->part->full_dbg && d->reg[DBGTCRL] & TCRL_PROFILE && d->reg[DBGTCRH] & TCRH_TSOURCE;
}

static void enter(struct s12z_dbg *d, enum dbg_state s)
{
    bool begin = (d->reg[DBGTCRH] & TCRH_TALIGN) == ALIGN_BEGIN;
    d->state = s;
    if (s == FINAL && profile_mode(d) && begin)
        profile_start(d);
    else if (s == FINAL)
        dbg_disarm(d, true);
    dbg_watch(d);
}

static void arm(struct s12z_dbg *d)
{
    d->efr = 0;
    d->written = d->sent = 0;
    d->line_done_at = 0;
    d->readable = false;
    d->state = STATE1;
    if (profile_mode(d) && (d->reg[DBGTCRH] & TCRH_TALIGN) != ALIGN_BEGIN)
        profile_start(d);
    dbg_watch(d);
}

/* A comparator matched: the state's control register says where to (codes: reference/s12z.md 2.2). */
static void match(struct s12z_dbg *d, unsigned n)
{
    static const uint8_t next[4][4] = { { 0 }, { 0, STATE2, STATE3, FINAL }, { 0, STATE1, STATE3, FINAL }, { 0, STATE1, STATE2, FINAL } };
    if (d->state == STATE0 || d->state == FINAL)
        return;
    d->efr |= (uint8_t)(1u << n);
    unsigned code = d->reg[DBGSCR1 + d->state - 1] >> (2 * n) & 3;
    if (code)
        enter(d, next[d->state][code]);
}

/* ---- comparators ---- */

static bool address_matches(struct s12z_dbg *d, unsigned n, uint32_t first, uint32_t last)
{
    unsigned mode = range_mode(d, n);
    if (mode == 0)
        return compare_address(d, n) >= first && compare_address(d, n) <= last;
    if (n & 1)
        return false; /* the second of a pair only bounds */
    bool inside = first >= compare_address(d, n) && first <= compare_address(d, n + 1);
    return mode == 1 ? inside : mode == 2 && !inside;
}

void dbg_exec(struct s12z_dbg *d, uint32_t pc)
{
    if (d->profiling && d->need_start) {
        profile_pc(d, pc);
        dbg_watch(d);
    }
    for (unsigned n = COMPARATORS; n-- > 0 && dbg_armed(d);) /* the highest channel first */
        if (enabled(d, n) && comparator(d, n)[0] & CTL_INST && address_matches(d, n, pc, pc)) {
            match(d, n);
            if (d->profiling && d->need_start) { /* Begin: this instruction is the first one */
                profile_pc(d, pc);
                dbg_watch(d);
            }
        }
}

/* Bytes are compared on the lane of their address; lanes the access does not carry are not looked at. */
static bool data_matches(struct s12z_dbg *d, unsigned n, uint32_t addr, unsigned size, uint32_t v)
{
    const uint8_t *r = comparator(d, n);
    bool equal = true, compared = false;
    if (n & 1)
        return true; /* B and D have no data comparator */
    for (unsigned k = 0; k < size; k++) {
        unsigned lane = (addr + k) & 3, mask = r[COMPARATOR_MASK + lane];
        uint8_t byte = (uint8_t)(v >> (8 * (size - 1 - k)));
        compared |= mask != 0;
        equal &= ((byte ^ r[COMPARATOR_DATA + lane]) & mask) == 0;
    }
    return !compared || equal != (bool)(r[0] & CTL_NDB);
}

void dbg_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v)
{
    for (unsigned n = COMPARATORS; n-- > 0 && dbg_armed(d);) {
        uint8_t ctl = comparator(d, n)[0];
        bool direction = !(ctl & CTL_RWE) || !(ctl & CTL_RW) == write; /* RW=1: reads */
        if (enabled(d, n) && !(ctl & CTL_INST) && direction && address_matches(d, n, addr, addr + size - 1)
            && data_matches(d, n, addr, size, v))
            match(d, n);
    }
}

void dbg_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest, unsigned vector)
{
    (void)pc;
    if (d->profiling)
        profile_cof(d, kind, taken, dest, vector);
}

/* ---- trace buffer readout ---- */

static uint64_t oldest(const struct s12z_dbg *d) { return d->written > DBG_LINES ? d->written - DBG_LINES : 0; }

static uint64_t held(const struct s12z_dbg *d) { return MIN(d->written, (uint64_t)DBG_LINES); }

/* The next 16 bits; after the last line it goes on with the oldest. */
static uint16_t readout_word(struct s12z_dbg *d)
{
    if (!d->readable || dbg_armed(d) || !held(d))
        return 0;
    uint64_t at = d->read_next++ % (4 * held(d));
    return (uint16_t)(d->line[(oldest(d) + at / 4) % DBG_LINES] >> (16 * (at % 4)));
}

uint64_t dbg_readout_long(struct s12z_dbg *d)
{
    if (!d->part->full_dbg)
        return 0;
    uint64_t low = readout_word(d);
    return low | (uint64_t)readout_word(d) << 16;
}

/* ---- registers ---- */

static uint8_t status(const struct s12z_dbg *d)
{
    return (uint8_t)((d->written >= DBG_LINES ? SR_TBF : 0) | (dbg_ptact(d) ? SR_PTACT : 0) | d->state);
}

static uint8_t read_byte(struct s12z_dbg *d, unsigned at)
{
    switch (at) {
    case DBGCNT: return d->written >= DBG_LINES ? 0 : (uint8_t)(2 * d->written);
    case DBGEFR: return d->efr;
    case DBGSR: return status(d);
    case DBGTB: case DBGTB + 1: return 0xEE; /* bytes do not read the buffer */
    default: return d->reg[at];
    }
}

static uint16_t read_reg(void *ctx, uint16_t addr, unsigned size)
{
    struct s12z_dbg *d = ctx;
    unsigned at = addr - BASE;
    if (size == 2 && at == DBGTB)
        return readout_word(d);
    return size == 1 ? read_byte(d, at) : (uint16_t)(read_byte(d, at) << 8 | read_byte(d, at + 1));
}

/* Which bits of a register hold what is written (reference/s12z.md 2.1); comparator C and the trace registers only where they exist. */
static uint8_t writable(const struct s12z_dbg *d, unsigned at)
{
    bool full = d->part->full_dbg;
    switch (at) {
    case DBGC1: return 0x9B;
    case DBGC2: return full ? 0x0F : 0x03;
    case DBGTCRH: return full ? 0x7F : 0;
    case DBGTCRL: return full ? (d->part->prend ? 0x1F : 0x0F) : 0;
    case DBGSCR1: case DBGSCR1 + 1: case DBGSCR1 + 2: return full ? 0xFF : 0xCF;
    case DBGACTL: case DBGCCTL: return at == DBGCCTL && !full ? 0 : 0x6D;
    case DBGBCTL: case DBGDCTL: return 0x2D;
    }
    unsigned n = (at - DBGACTL) / COMPARATOR_STEP, field = at % COMPARATOR_STEP;
    if (at < DBGACTL || !exists(d, n) || field < COMPARATOR_ADDR)
        return 0;
    return field < COMPARATOR_DATA || !(n & 1) ? 0xFF : 0;
}

static void write_c1(struct s12z_dbg *d, uint8_t v)
{
    bool was = dbg_armed(d);
    if (!was && dbg_ptact(d))
        return;
    if (was && !(v & C1_ARM)) {
        d->reg[DBGC1] = v & writable(d, DBGC1);
        dbg_disarm(d, false);
    } else if (!was) {
        d->reg[DBGC1] = v & writable(d, DBGC1);
        if (v & C1_ARM)
            arm(d);
    }
    if (v & C1_TRIG) {
        d->efr |= EFR_TRIGF;
        if (dbg_armed(d))
            enter(d, FINAL);
        else
            request_break(d);
    }
}

static void write_byte(struct s12z_dbg *d, unsigned at, uint8_t v)
{
    if (at == DBGC1)
        write_c1(d, v);
    else if (!dbg_armed(d) && !dbg_ptact(d))
        d->reg[at] = v & writable(d, at);
}

static void write_reg(void *ctx, uint16_t addr, unsigned size, uint16_t v)
{
    struct s12z_dbg *d = ctx;
    unsigned at = addr - BASE;
    if (size == 2 && at == DBGTB) {
        d->readable = d->reg[DBGTCRH] & TCRH_TSOURCE && !dbg_armed(d);
        d->read_next = 0;
    } else if (size == 2) {
        write_byte(d, at, (uint8_t)(v >> 8));
        write_byte(d, at + 1, (uint8_t)v);
    } else {
        write_byte(d, at, (uint8_t)v);
    }
}

static uint64_t next(void *ctx)
{
    struct s12z_dbg *d = ctx;
    return MIN(profile_next(d), pdo_next(d));
}

static void advance(void *ctx, uint64_t now)
{
    struct s12z_dbg *d = ctx;
    pdo_advance(d, now);
    profile_advance(d, now);
}

/* A system reset disarms; buffer contents and count stay, without a final line. */
static void reset(void *ctx)
{
    struct s12z_dbg *d = ctx;
    d->profiling = d->need_start = false;
    d->state = STATE0;
    d->line_done_at = 0;
    d->sent = d->written;
    d->readable = false;
    d->efr = 0;
    memset(d->reg, 0, sizeof d->reg);
    dbg_watch(d);
}

int dbg_new(struct s12z_board *board, const struct s12z_part *part, bool pdoclk_full, struct s12z_dbg **out)
{
    struct s12z_dbg *d = calloc(1, sizeof *d);
    if (!d)
        return -ERR_NOMEM;
    d->board = board;
    d->part = part;
    d->pdoclk_full = pdoclk_full;
    d->noise = 1;
    *out = d;
    return board_add_device(board, &(struct s12z_device){ BASE, LAST, read_reg, write_reg, d, next, advance, reset });
}

void dbg_free(struct s12z_dbg *d)
{
    if (d)
        free(d->edges);
    free(d);
}
