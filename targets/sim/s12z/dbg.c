/* DBG module: registers, comparators, sequencer, breakpoints. Source: ZVHL p.191-226; HDR. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/pages.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/dbg_priv.h"

enum { BASE = 0x0100, LAST = 0x0147, COMPARATORS = 4 };

static uint8_t *comparator_regs(struct s12z_dbg *d, unsigned n)
{
    return &d->reg[DBGACTL + n * COMPARATOR_STEP];
}
/* The small DBG module has no comparator C. */
static bool comparator_exists(const struct s12z_dbg *d, unsigned n)
{
    return n != 2 || d->part->full_dbg;
}
static bool comparator_on(struct s12z_dbg *d, unsigned n)
{
    return comparator_exists(d, n) && comparator_regs(d, n)[0] & CTL_COMPE;
}
static uint32_t compare_address(struct s12z_dbg *d, unsigned n)
{
    const uint8_t *r = comparator_regs(d, n) + COMPARATOR_ADDR;
    return (uint32_t)r[0] << 16 | (uint32_t)r[1] << 8 | r[2];
}
/* ABCM and CDCM: 0 separate, 1 inside the pair's range, 2 outside of it. The control register of
 * the pair's first comparator counts for a range. */
static unsigned range_mode(const struct s12z_dbg *d, unsigned n)
{
    return d->reg[DBGC2] >> (n & 2) & 3;
}

void dbg_watch(struct s12z_dbg *d)
{
    struct s12z_cpu *c = &d->board->cpu;
    bool armed = dbg_armed(d);
    c->watch_exec = d->tracing || d->ending || (d->profiling && d->need_start);
    c->watch_data = d->tracing && trace_mode(d) == TRACE_DETAIL;
    for (unsigned n = 0; n < COMPARATORS && armed; n++)
        if (comparator_on(d, n)) {
            c->watch_exec |= (comparator_regs(d, n)[0] & CTL_INST) != 0;
            c->watch_data |= !(comparator_regs(d, n)[0] & CTL_INST);
        }
    c->watch_cof = d->profiling || (d->tracing && trace_mode(d) <= TRACE_LOOP1);
    c->attention = true;
}

/* ---- arming, sequencer ---- */

static void request_break(struct s12z_dbg *d)
{
    struct s12z_cpu *c = &d->board->cpu;
    if (!(d->reg[DBGC1] & C1_BRKCPU) || c->state == CPU_BDM)
        return;
    if (!(d->reg[DBGC1] & C1_BDMBP))
        c->swi_request = true;
    else if (c->enbdc)
        c->halt_request = true;
    c->attention = true;
}

void dbg_disarm(struct s12z_dbg *d, bool by_event)
{
    if (!dbg_armed(d))
        return;
    d->state = STATE0;
    d->reg[DBGC1] &= (uint8_t)~C1_ARM;
    profile_end(d);
    trace_end(d);
    dbg_watch(d);
    if (by_event)
        request_break(d);
}

static bool trace_allowed(const struct s12z_dbg *d)
{
    return d->part->full_dbg && d->reg[DBGTCRH] & TCRH_TSOURCE && !board_secured(d->board);
}
static bool profile_mode(const struct s12z_dbg *d)
{
    return trace_allowed(d) && d->reg[DBGTCRL] & TCRL_PROFILE;
}
static bool tracing_mode(const struct s12z_dbg *d)
{
    return trace_allowed(d) && !(d->reg[DBGTCRL] & TCRL_PROFILE);
}

/* Final State: tracing begins, goes on for a number of lines, or ends, depending on TALIGN. */
static void enter_final(struct s12z_dbg *d)
{
    unsigned align = d->reg[DBGTCRH] & TCRH_TALIGN;
    if (profile_mode(d) && align == ALIGN_BEGIN) {
        profile_start(d);
    } else if (tracing_mode(d) && align == ALIGN_BEGIN) {
        d->lines_left = DBG_LINES;
        trace_start(d);
    } else if (tracing_mode(d) && align == ALIGN_MID) {
        trace_trigger(d);
    } else {
        dbg_disarm(d, true);
    }
}

static void enter_state(struct s12z_dbg *d, enum dbg_state s)
{
    if (d->state == FINAL)
        return; /* Final State is left for State0 only. */
    d->state = s;
    if (s == FINAL)
        enter_final(d);
    dbg_watch(d);
}

static void arm_module(struct s12z_dbg *d)
{
    bool begin = (d->reg[DBGTCRH] & TCRH_TALIGN) == ALIGN_BEGIN;
    d->efr = 0;
    d->written = d->sent = d->lines_left = 0;
    d->line_done_at = 0;
    d->readable = d->half = false;
    d->state = STATE1;
    if (profile_mode(d) && !begin)
        profile_start(d);
    else if (tracing_mode(d) && !begin)
        trace_start(d);
    dbg_watch(d);
}

/* The state to which the control register of the present state sends channel n; STATE0: none.
 * Codes: ZVHL p.211-223. */
static enum dbg_state next_state(const struct s12z_dbg *d, unsigned n)
{
    static const uint8_t next[4][4] = { { 0 },
                                        { 0, STATE2, STATE3, FINAL },
                                        { 0, STATE1, STATE3, FINAL },
                                        { 0, STATE1, STATE2, FINAL } };
    if (d->state == STATE0 || d->state == FINAL)
        return STATE0;
    return next[d->state][d->reg[DBGSCR1 + d->state - 1] >> (2 * n) & 3];
}

/* Takes the matches of one cycle, one bit a channel. The highest channel that leads to a state
 * decides. */
static void take_matches(struct s12z_dbg *d, unsigned channels)
{
    /* The external event takes the place of channel 3 then. */
    bool cut_off = (d->reg[DBGC1] & C1_EEVE) == EEVE_STATE;
    if (d->state == STATE0 || d->state == FINAL)
        return;
    d->efr |= (uint8_t)channels;
    for (unsigned n = COMPARATORS; n-- > 0;)
        if (channels >> n & 1 && !(n == 3 && cut_off) && next_state(d, n) != STATE0) {
            enter_state(d, next_state(d, n));
            return;
        }
}

void dbg_eev_pin(struct s12z_dbg *d, bool high)
{
    unsigned use = d->reg[DBGC1] & C1_EEVE;
    bool event = high && !d->eev && use && dbg_armed(d);
    d->eev = high;
    if (!event)
        return;
    d->efr |= EFR_EEVF;
    if (use == EEVE_ENTRY)
        trace_external(d);
    else if (use == EEVE_STATE && next_state(d, 3) != STATE0)
        enter_state(d, next_state(d, 3));
}

/* ---- comparators ---- */

static bool address_matches(struct s12z_dbg *d, unsigned n, uint32_t first, uint32_t last)
{
    unsigned mode = range_mode(d, n);
    if (mode == 0)
        return compare_address(d, n) >= first && compare_address(d, n) <= last;
    if (n & 1)
        return false; /* the second comparator of a pair is only a bound */
    bool inside = first >= compare_address(d, n) && first <= compare_address(d, n + 1);
    if (mode == 1)
        return inside;
    return mode == 2 && !inside;
}

static void first_of_profile(struct s12z_dbg *d, uint32_t pc)
{
    if (!d->profiling || !d->need_start)
        return;
    profile_pc(d, pc);
    dbg_watch(d);
}

/* DSTAMP: comparator D makes an entry for the time of its match, whatever else the match does. */
static void stamp_of_d(struct s12z_dbg *d, unsigned channels)
{
    if (channels & 8 && d->tracing && d->reg[DBGTCRL] & TCRL_STAMP && d->reg[DBGTCRL] & TCRL_DSTAMP)
        trace_comparator_d(d);
}

void dbg_exec(struct s12z_dbg *d, uint32_t pc)
{
    unsigned channels = 0;
    profile_finish(d);
    first_of_profile(d, pc);
    for (unsigned n = 0; n < COMPARATORS && dbg_armed(d); n++)
        if (comparator_on(d, n) && comparator_regs(d, n)[0] & CTL_INST &&
            address_matches(d, n, pc, pc))
            channels |= 1u << n;
    stamp_of_d(d, channels); /* The entry has the PC of the instruction before: ZVHL p.221. */
    if (channels)
        take_matches(d, channels);
    /* Begin alignment: the match may have started profiling with this instruction. */
    first_of_profile(d, pc);
    if (d->tracing)
        trace_exec(d, pc);
}

/* Compares bytes on the lanes of their addresses. "Equal" asks that every lane with a mask was
 * accessed and is equal; "different" (NDB), that a lane which was accessed differs. */
static bool data_matches(struct s12z_dbg *d, unsigned n, uint32_t addr, unsigned size, uint32_t v)
{
    const uint8_t *r = comparator_regs(d, n);
    bool equal = true, different = false;
    if (n & 1)
        return true; /* B and D have no data comparator */
    for (unsigned lane = 0; lane < 4; lane++) {
        unsigned k = (lane - addr) & 3, mask = r[COMPARATOR_MASK + lane];
        bool accessed = k < size;
        uint8_t byte = 0;
        if (accessed)
            byte = (uint8_t)(v >> (8 * (size - 1 - k)));
        bool differs = ((byte ^ r[COMPARATOR_DATA + lane]) & mask) != 0;
        equal &= !mask || (accessed && !differs);
        different |= accessed && differs;
    }
    if (r[0] & CTL_NDB)
        return different;
    return equal;
}

/* An access inside of one aligned long. */
static void access_cycle(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v)
{
    unsigned channels = 0;
    for (unsigned n = 0; n < COMPARATORS && dbg_armed(d); n++) {
        uint8_t ctl = comparator_regs(d, n)[0];
        bool direction = !(ctl & CTL_RWE) || !(ctl & CTL_RW) == write; /* RW=1: reads */
        if (comparator_on(d, n) && !(ctl & CTL_INST) && direction &&
            address_matches(d, n, addr, addr + size - 1) && data_matches(d, n, addr, size, v))
            channels |= 1u << n;
    }
    stamp_of_d(d, channels);
    if (!channels)
        return;
    d->in_access = true;
    d->end_addr = addr;
    take_matches(d, channels);
    d->in_access = false;
}

void dbg_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v)
{
    /* An access is split where an aligned long ends. */
    unsigned first = MIN(size, 4 - (addr & 3)), rest = size - first;
    access_cycle(d, addr, first, write, v >> (8 * rest));
    if (rest)
        access_cycle(d, addr + first, rest, write, v & ((1u << (8 * rest)) - 1));
    if (d->tracing)
        trace_data(d, addr, size, write, v);
}

/* Does the change of flow belong to the access that ended profiling? An exception entry does so
 * only if its stacking or its vector fetch was that access. */
static bool same_event(const struct s12z_dbg *d, enum cof_kind kind, unsigned vector)
{
    enum { FRAME_BYTES = 29, VECTOR_BYTES = 4 };
    return kind != COF_VECTOR || d->end_addr - d->board->cpu.r[S12Z_S] < FRAME_BYTES ||
           d->end_addr - intc_vector_address(d->board->intc, vector) < VECTOR_BYTES;
}

void dbg_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector)
{
    if (kind == COF_BRANCH && profile_branch(d, taken))
        return;
    if (d->ending && !same_event(d, kind, vector))
        profile_finish(d);
    if (d->profiling)
        profile_cof(d, d->unusual ? profile_kind(d, kind, pc, vector) : kind, taken, dest, vector);
    else if (d->tracing)
        trace_cof(d, kind, taken, pc, dest);
}

/* ---- trace buffer readout ---- */

static uint64_t count_lines(const struct s12z_dbg *d) { return d->written + d->half; }
static uint64_t oldest_line(const struct s12z_dbg *d) { return EXCESS(count_lines(d), DBG_LINES); }
static uint64_t lines_held(const struct s12z_dbg *d)
{
    return MIN(count_lines(d), (uint64_t)DBG_LINES);
}

/* Reads the next 16 bits. After the last line the oldest one follows. */
static uint16_t readout_word(struct s12z_dbg *d)
{
    profile_finish(d);
    if (!d->readable || dbg_armed(d) || dbg_ptact(d) || !(d->reg[DBGTCRH] & TCRH_TSOURCE) ||
        !lines_held(d))
        return 0;
    uint64_t at = d->read_next++ % (4 * lines_held(d));
    return (uint16_t)(d->line[(oldest_line(d) + at / 4) % DBG_LINES] >> (16 * (at % 4)));
}

uint64_t dbg_readout_long(struct s12z_dbg *d)
{
    if (!d->part->full_dbg)
        return 0;
    uint64_t low = readout_word(d);
    return low | (uint64_t)readout_word(d) << 16;
}

/* ---- registers ---- */

static uint8_t status_byte(const struct s12z_dbg *d)
{
    return (uint8_t)(bits_if(d->written >= DBG_LINES, SR_TBF) | bits_if(dbg_ptact(d), SR_PTACT) |
                     d->state);
}

static uint8_t read_byte(struct s12z_dbg *d, unsigned at)
{
    switch (at) {
    case DBGCNT:
        /* it counts on beyond 64 lines; TBF is set then */
        return (2 * d->written + d->half) & 0x7F;
    case DBGEFR: return d->efr;
    case DBGSR: return status_byte(d);
    case DBGTB:
    case DBGTB + 1: return 0xEE; /* byte accesses do not read the buffer */
    default: return d->reg[at];
    }
}

static uint16_t read_reg(void *ctx, uint16_t addr, unsigned size)
{
    struct s12z_dbg *d = ctx;
    unsigned at = addr - BASE;
    profile_finish(d);
    if (size == 2 && at == DBGTB)
        return readout_word(d);
    if (size == 1)
        return read_byte(d, at);
    return (uint16_t)(read_byte(d, at) << 8 | read_byte(d, at + 1));
}

/* The bits of a register that hold what is written. Comparator C and the trace registers have none
 * where they do not exist. Source: ZVHL p.223; HDR. */
static uint8_t writable_bits(const struct s12z_dbg *d, unsigned at)
{
    bool full = d->part->full_dbg;
    switch (at) {
    case DBGC1: return 0x9B;
    case DBGC2:
        if (full)
            return 0x0F;
        return 0x03;
    case DBGTCRH:
        if (full)
            return 0x7F;
        return 0;
    case DBGTCRL:
        if (full)
            return (d->part->prend ? 0x1F : 0x0F);
        return 0;
    case DBGSCR1:
    case DBGSCR1 + 1:
    case DBGSCR1 + 2:
        if (full)
            return 0xFF;
        return 0xCF;
    case DBGACTL:
    case DBGCCTL:
        if (at == DBGCCTL && !full)
            return 0;
        return 0x6D;
    case DBGBCTL:
    case DBGDCTL: return 0x2D;
    }
    unsigned n = (at - DBGACTL) / COMPARATOR_STEP, field = at % COMPARATOR_STEP;
    if (at < DBGACTL || !comparator_exists(d, n) || field < COMPARATOR_ADDR)
        return 0;
    if (field < COMPARATOR_DATA || !(n & 1))
        return 0xFF;
    return 0;
}

/* While armed only ARM and TRIG can be written. A write that disarms changes nothing else. */
static void write_c1(struct s12z_dbg *d, uint8_t v)
{
    bool was = dbg_armed(d);
    if (!was && dbg_ptact(d))
        return;
    if (was && !(v & C1_ARM))
        dbg_disarm(d, false);
    else if (!was) {
        d->reg[DBGC1] = v & writable_bits(d, DBGC1);
        if (v & C1_ARM)
            arm_module(d);
    }
    if (!(v & C1_TRIG))
        return;
    d->efr |= EFR_TRIGF;
    if (dbg_armed(d))
        enter_state(d, FINAL);
    else
        request_break(d);
}

static void write_byte(struct s12z_dbg *d, unsigned at, uint8_t v)
{
    if (at == DBGC1)
        write_c1(d, v);
    else if (!dbg_armed(d) && !dbg_ptact(d))
        d->reg[at] = v & writable_bits(d, at);
}

static void write_reg(void *ctx, uint16_t addr, unsigned size, uint16_t v)
{
    struct s12z_dbg *d = ctx;
    unsigned at = addr - BASE;
    profile_finish(d);
    if (size == 2 && at == DBGTB) {
        d->readable = d->reg[DBGTCRH] & TCRH_TSOURCE && !dbg_armed(d) && !dbg_ptact(d) &&
                      !board_secured(d->board);
        d->read_next = 0;
    } else if (size == 2) {
        write_byte(d, at, (uint8_t)(v >> 8));
        write_byte(d, at + 1, (uint8_t)v);
    } else {
        write_byte(d, at, (uint8_t)v);
    }
}

static uint64_t next_moment(void *ctx)
{
    struct s12z_dbg *d = ctx;
    uint64_t t = MIN(profile_next(d), pdo_next(d));
    return MIN(t, trace_next(d));
}

static void advance_clock(void *ctx, uint64_t now)
{
    struct s12z_dbg *d = ctx;
    pdo_advance(d, now);
    profile_finish(d);
    profile_advance(d, now);
    trace_advance(d, now);
}

/* A system reset disarms. Contents and count of the buffer stay, and no final line is written. */
static void reset_module(void *ctx)
{
    struct s12z_dbg *d = ctx;
    d->profiling = d->need_start = d->ending = d->tracing = d->has_next = false;
    d->state = STATE0;
    pdo_stop(d);
    d->readable = false;
    d->read_next = 0;
    d->efr = 0;
    memset(d->reg, 0, sizeof d->reg);
    dbg_watch(d);
}

int dbg_new(struct s12z_board *board, const struct s12z_part *part,
            const struct s12z_dbg_variant *variant, struct s12z_dbg **out)
{
    struct s12z_dbg *d = calloc(1, sizeof *d);
    if (!d)
        return -ERR_NOMEM;
    d->board = board;
    d->part = part;
    d->variant = *variant;
    d->unusual = variant->static_indirect || variant->silent_traps || variant->silent_bits ||
                 variant->silent_loops || variant->stamps_from_flow;
    d->pdoclk = variant->clock_inverted;
    d->noise = 1;
    *out = d;
    return board_add_device(board,
                            &(struct s12z_device){ BASE, LAST, read_reg, write_reg, d, next_moment,
                                                   advance_clock, reset_module });
}

void dbg_free(struct s12z_dbg *d)
{
    if (d)
        pages_free(d->edges, PDO_EDGES * sizeof *d->edges);
    free(d);
}
