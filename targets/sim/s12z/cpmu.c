/* Clocks, reset and power management (CPMU): PLL, real-time interrupt, watchdog (COP). Source of
 * the bits: HDR. The behaviour is remembered, not read (docs/unverified.md, "S12Z peripherals of
 * the model"). The board's option bus= stands for a PLL that is set already. From the program's
 * first write to a register of the PLL on, SYNDIV and POSTDIV determine the bus clock. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/bdc_priv.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/peripheral.h"

enum {
    BASE = 0x6C0,
    LAST = 0x6DF,
    RFLG = 0x6C3,
    SYNR,
    REFDIV,
    POSTDIV,
    IFLG,
    INT,
    CLKS,
    PLL,
    RTI,
    COP,
    ARMCOP = 0x6CF,
    OSC = 0x6DA,
    PROT = 0x6DB
};
enum {
    RFLG_PORF = 0x40,
    RFLG_COPRF = 0x08,
    RFLG_PMRF = 0x01,
    IFLG_RTIF = 0x80,
    IFLG_LOCKIF = 0x10,
    IFLG_LOCK = 0x08,
    IFLG_OSCIF = 0x02,
    IFLG_UPOSC = 0x01,
    CLKS_PLLSEL = 0x80,
    CLKS_PSTP = 0x40,
    CLKS_PRE = 0x08,
    CLKS_COPOSCSEL1 = 0x10,
    RTI_RTDEC = 0x80,
    COP_WCOP = 0x80,
    COP_RSBCK = 0x40,
    COP_WRTMASK = 0x20,
    COP_CR = 0x07,
    OSC_OSCE = 0x80
};
enum {
    IRC_HZ = 1000000,
    CRYSTAL_HZ = 4000000,
    ACLK_HZ = 20000,
    LOCK_US = 200,
    VEC_PLL_LOCK = 32,
    RESET_SYNR = 0x58,
    RESET_POSTDIV = 3
};

struct s12z_cpmu {
    struct s12z_board *board;
    uint8_t reg[LAST - BASE + 1];
    struct gate clock;       /* stands still in active BDM if RSBCK is set */
    uint64_t rti_at, cop_at; /* in the clock's time; UINT64_MAX: off */
    uint64_t cop_from;       /* the clock's time at which the watchdog was last served */
    uint64_t lock_at;        /* core cycle at which the PLL locks */
    bool cop_written;        /* CPMUCOP has been written; in normal mode that works once */
    bool cop_half;           /* 0x55 was written, so 0xAA has to follow */
    bool reset_due;
};

static uint8_t *reg_at(struct s12z_cpmu *c, unsigned addr) { return &c->reg[addr - BASE]; }

static void update_lines(struct s12z_cpmu *c)
{
    uint8_t on = *reg_at(c, IFLG) & *reg_at(c, INT);
    intc_line(c->board->intc, VEC_RTI, on & IFLG_RTIF);
    intc_line(c->board->intc, VEC_PLL_LOCK, on & IFLG_LOCKIF);
}

/* The clock goes on in STOP with PRE, in pseudo stop. */
static unsigned sleep_states(struct s12z_cpmu *c)
{
    bool pseudo = (*reg_at(c, CLKS) & (CLKS_PSTP | CLKS_PRE)) == (CLKS_PSTP | CLKS_PRE);
    return bits_if(*reg_at(c, COP) & COP_RSBCK, GATE_BDM) | bits_if(pseudo, GATE_RUNS_IN_STOP);
}

/* Core cycles that n cycles of a clock of `hz` take. */
static uint64_t to_cycles(const struct s12z_cpmu *c, uint64_t n, uint64_t hz)
{
    return (uint64_t)((unsigned __int128)n * 2 * c->board->bus_hz / hz);
}

/* ---- PLL ---- */

static uint64_t pll_bus_hz(struct s12z_cpmu *c)
{
    uint64_t ref = IRC_HZ;
    if (*reg_at(c, OSC) & OSC_OSCE)
        ref = CRYSTAL_HZ / ((*reg_at(c, REFDIV) & 15u) + 1);
    uint64_t vco = 2 * ref * ((*reg_at(c, SYNR) & 63u) + 1);
    unsigned divider = 4;
    if (*reg_at(c, IFLG) & IFLG_LOCK)
        divider = (*reg_at(c, POSTDIV) & 31u) + 1;
    if (!(*reg_at(c, CLKS) & CLKS_PLLSEL))
        return CRYSTAL_HZ / 2;
    return vco / divider / 2;
}

static void restart_timers(struct s12z_cpmu *c);

static void apply_pll(struct s12z_cpmu *c)
{
    uint64_t old = c->board->bus_hz;
    board_set_bus_hz(c->board, pll_bus_hz(c));
    if (old != c->board->bus_hz)
        restart_timers(
            /* Their clocks stay, but their periods are other numbers of core cycles now. */
            c);
}

static void set_lock(struct s12z_cpmu *c, bool locked)
{
    bool was = *reg_at(c, IFLG) & IFLG_LOCK;
    if (was != locked)
        *reg_at(c, IFLG) = (uint8_t)((*reg_at(c, IFLG) ^ IFLG_LOCK) | IFLG_LOCKIF);
}

static void write_pll(struct s12z_cpmu *c, uint16_t addr, uint8_t v)
{
    if (*reg_at(c, PROT) & 1)
        return;
    *reg_at(c, addr) = v;
    bool unlocks = addr == SYNR || addr == REFDIV || addr == OSC;
    if (unlocks)
        set_lock(c, false);
    if (addr == OSC)
        *reg_at(c, IFLG) &= (uint8_t)~IFLG_UPOSC;
    if (addr == OSC && v & OSC_OSCE)
        *reg_at(c, IFLG) |= IFLG_UPOSC | IFLG_OSCIF;
    apply_pll(c);
    if (unlocks)
        c->lock_at = c->board->cpu.cycles + to_cycles(c, LOCK_US, 1000000);
}

/* ---- real-time interrupt and watchdog ---- */

/* Periods in cycles of their clocks; 0: off. */
static uint64_t rti_period(uint8_t v)
{
    static const uint8_t thousands[] = { 1, 2, 5, 10, 20, 50, 100, 200 };
    unsigned rate = v >> 4 & 7, modulus = (v & 15u) + 1;
    if (v & RTI_RTDEC)
        return (uint64_t)thousands[rate] * 1000 * modulus;
    if (rate)
        return (uint64_t)modulus << (9 + rate);
    return 0;
}
static uint64_t cop_period(uint8_t v)
{
    static const uint8_t bits[] = { 0, 14, 16, 18, 20, 22, 23, 24 };
    if (v & COP_CR)
        return 1u << bits[v & COP_CR];
    return 0;
}

static uint64_t rti_cycles(struct s12z_cpmu *c)
{
    return to_cycles(c, rti_period(*reg_at(c, RTI)), IRC_HZ);
}
static uint64_t cop_cycles(struct s12z_cpmu *c)
{
    return to_cycles(c, cop_period(*reg_at(c, COP)),
                     *reg_at(c, CLKS) & CLKS_COPOSCSEL1 ? ACLK_HZ : IRC_HZ);
}

static void restart_rti(struct s12z_cpmu *c)
{
    if (rti_period(*reg_at(c, RTI)))
        c->rti_at = gate_time(&c->clock, sleep_states(c)) + rti_cycles(c);
    else
        c->rti_at = UINT64_MAX;
}
static void restart_cop(struct s12z_cpmu *c)
{
    c->cop_from = gate_time(&c->clock, sleep_states(c));
    if (cop_period(*reg_at(c, COP)))
        c->cop_at = c->cop_from + cop_cycles(c);
    else
        c->cop_at = UINT64_MAX;
}
static void restart_timers(struct s12z_cpmu *c)
{
    restart_rti(c);
    restart_cop(c);
}

/* The reset is done by advance_clock(), since it must not come in the middle of an instruction. */
static void want_reset(struct s12z_cpmu *c) { c->reset_due = true; }

/* Serves the watchdog: 0x55 has to be written, then 0xAA. In window mode that is allowed only in
 * the last quarter of the period. */
static void serve_cop(struct s12z_cpmu *c, uint8_t v)
{
    if (c->cop_at == UINT64_MAX)
        return;
    uint64_t spent = gate_time(&c->clock, sleep_states(c)) - c->cop_from;
    if ((v != 0x55 && v != 0xAA) || (*reg_at(c, COP) & COP_WCOP && spent < cop_cycles(c) / 4 * 3)) {
        want_reset(c);
    } else if (v == 0x55) {
        c->cop_half = true;
    } else if (c->cop_half) {
        c->cop_half = false;
        restart_cop(c);
    }
}

static void write_cop(struct s12z_cpmu *c, uint8_t v)
{
    bool special = !(c->board->mode & 0x80);
    uint8_t keep = COP_RSBCK;
    if (special || !c->cop_written)
        keep |= COP_WCOP | COP_CR;
    if (v & COP_WRTMASK)
        keep &= (uint8_t) ~(COP_WCOP | COP_CR); /* only RSBCK is written */
    else
        c->cop_written = true;
    *reg_at(c, COP) = (uint8_t)((*reg_at(c, COP) & ~keep) | (v & keep));
    restart_cop(c);
}

/* ---- device ---- */

static uint64_t next_moment(void *ctx)
{
    struct s12z_cpmu *c = ctx;
    if (c->reset_due)
        return c->board->cpu.cycles;
    uint64_t t = MIN(c->rti_at, c->cop_at);
    return MIN(gate_when(&c->clock, sleep_states(c), t), c->lock_at);
}

static void cop_reset(struct s12z_cpmu *c)
{
    struct s12z_board *b = c->board;
    c->reset_due = false;
    board_reset(b, !bdc_level(b->bdc));
    *reg_at(c, RFLG) |= RFLG_COPRF;
}

static void catch_up(struct s12z_cpmu *c, uint64_t now)
{
    uint64_t time = gate_time(&c->clock, sleep_states(c));
    if (time >= c->cop_at)
        want_reset(c);
    while (time >= c->rti_at) {
        *reg_at(c, IFLG) |= IFLG_RTIF;
        c->rti_at += rti_cycles(c);
    }
    if (now >= c->lock_at) {
        c->lock_at = UINT64_MAX;
        set_lock(c, true);
        apply_pll(c);
    }
    update_lines(c);
}

static void advance_clock(void *ctx, uint64_t now)
{
    struct s12z_cpmu *c = ctx;
    catch_up(c, now);
    if (c->reset_due)
        cop_reset(c);
}

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    struct s12z_cpmu *c = ctx;
    catch_up(c, c->board->cpu.cycles);
    if (addr == ARMCOP)
        return 0;
    return *reg_at(ctx, addr);
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_cpmu *c = ctx;
    catch_up(c, c->board->cpu.cycles);
    switch (addr) {
    case RFLG: *reg_at(c, addr) &= (uint8_t)~v; break;
    case IFLG: *reg_at(c, addr) &= (uint8_t) ~(v & (IFLG_RTIF | IFLG_LOCKIF | IFLG_OSCIF)); break;
    case INT: *reg_at(c, addr) = v & (IFLG_RTIF | IFLG_LOCKIF | IFLG_OSCIF); break;
    case SYNR:
    case REFDIV:
    case POSTDIV:
    case CLKS:
    case OSC: write_pll(c, addr, v); break;
    case PROT: *reg_at(c, addr) = v != 0x26; break;
    case RTI:
        *reg_at(c, addr) = v;
        restart_rti(c);
        break;
    case COP: write_cop(c, v); break;
    case ARMCOP: serve_cop(c, v); break;
    default: *reg_at(c, addr) = v; break;
    }
    update_lines(c);
}
DEVICE_BYTES(read_byte, write_byte)

/* In normal mode the watchdog's first setting comes, inverted, from the option byte of the flash.
 * In special mode it is off. */
static void reset_registers(void *ctx)
{
    struct s12z_cpmu *c = ctx;
    struct s12z_board *b = c->board;
    uint8_t flags = *reg_at(c, RFLG), option = b->flash[0xFFFE0E - b->part->flash_start];
    memset(c->reg, 0, sizeof c->reg);
    *reg_at(c, RFLG) = flags | RFLG_PMRF;
    *reg_at(c, SYNR) = RESET_SYNR;
    *reg_at(c, REFDIV) = 0x0F;
    *reg_at(c, POSTDIV) = RESET_POSTDIV;
    *reg_at(c, IFLG) = IFLG_LOCK;
    *reg_at(c, CLKS) = CLKS_PLLSEL;
    if (b->mode & 0x80)
        *reg_at(c, COP) = (uint8_t)((~option & COP_CR) | bits_if(!(option & 8), COP_WCOP));
    c->cop_written = c->cop_half = c->reset_due = false;
    c->lock_at = UINT64_MAX;
    restart_timers(c);
}

int cpmu_new(struct s12z_board *board, struct s12z_cpmu **out)
{
    struct s12z_cpmu *c = calloc(1, sizeof *c);
    if (!c)
        return -ERR_NOMEM;
    c->board = c->clock.board = board;
    *reg_at(c, RFLG) = RFLG_PORF;
    *out = c;
    return board_add_device(board, &(struct s12z_device){ BASE, LAST, read_byte_device,
                                                          write_byte_device, c, next_moment,
                                                          advance_clock, reset_registers });
}

void cpmu_free(struct s12z_cpmu *c) { free(c); }
