/* Flash controller FTMRZ: registers, launching commands, time and interrupts. What was remembered,
 * not read, is in docs/unverified.md, "S12Z flash controller of the model". */
#include <stdlib.h>
#include <string.h>

#include "targets/sim/s12z/ftmrz_priv.h"
#include "probe/base/choice.h"
#include "targets/sim/s12z/peripheral.h"

enum {
    FIRST = 0x380,
    LAST = 0x397,
    FCCOB0 = 0x38C,
    FCLKDIV = 0x380,
    FSEC,
    FCCOBIX,
    FPSTAT,
    FCNFG,
    FERCNFG,
    FSTAT,
    FERSTAT,
    FPROT,
    DFPROT,
    FOPT
};
enum { FCLK_MIN_HZ = 800000, FCLK_MAX_HZ = 1600000 };

static void update_lines(struct s12z_ftmrz *f)
{
    struct s12z_intc *i = f->board->intc;
    intc_line(i, VEC_FLASH, f->fstat & FSTAT_CCIF && f->fcnfg & FCNFG_CCIE);
    intc_line(i, VEC_FLASH_ERROR, f->ferstat & FERSTAT_SFDIF && f->fercnfg & FERCNFG_SFDIE);
}

/* ---- commands ---- */

static uint64_t fclk_hz(const struct s12z_ftmrz *f)
{
    return f->board->bus_hz / ((f->fclkdiv & FCLKDIV_FDIV) + 1u);
}

static bool divider_fits(const struct s12z_ftmrz *f)
{
    return fclk_hz(f) >= FCLK_MIN_HZ && fclk_hz(f) <= FCLK_MAX_HZ;
}

static bool fault_strikes(const struct s12z_ftmrz *f, const char *kind)
{
    return board_fault_asked(f->board, kind) && f->changes >= f->board->opt.fault_at;
}

static void set_busy(struct s12z_ftmrz *f, bool busy)
{
    if (f->running->uses_flash)
        bus_flash_busy(&f->board->bus, busy);
    if (f->running->uses_eeprom)
        f->board->eeprom_busy = busy;
}

static void launch_command(struct s12z_ftmrz *f)
{
    const struct ftmrz_command *c = ftmrz_command_find(f->fccob[0] >> 8);
    f->fstat &= (uint8_t)~FSTAT_MGSTAT;
    uint8_t refused = FSTAT_ACCERR;
    if (c && f->fclkdiv & FCLKDIV_LD && f->fccobix >= c->ix_min && f->fccobix <= c->ix_max)
        refused = c->check(f);
    if (refused) {
        f->fstat |= refused;
        return;
    }
    f->running = c;
    f->fstat = (uint8_t)((f->fstat & ~FSTAT_CCIF) | FSTAT_MGBUSY);
    f->done_at =
        f->board->cpu.cycles + 2 * (uint64_t)c->fclk(f) * ((f->fclkdiv & FCLKDIV_FDIV) + 1u);
    set_busy(f, true);
}

static bool change_fails(const struct s12z_ftmrz *f)
{
    bool once = board_fault_asked(f->board, "flash-once") && f->changes == f->board->opt.fault_at;
    return once || fault_strikes(f, "flash") || !divider_fits(f);
}

/* Ends a command. With a divider that makes FCLK too fast or too slow it fails. Silicon may
 * program, but badly. */
static void complete_command(struct s12z_ftmrz *f)
{
    const struct ftmrz_command *c = f->running;
    f->changes += c->changes;
    set_busy(f, false);
    if (c->changes && change_fails(f))
        f->fstat |= FSTAT_MGSTAT;
    else
        f->fstat |= c->finish(f);
    if (c->changes && fault_strikes(f, "flash-weak"))
        ftmrz_weaken(f);
    f->running = NULL;
    f->done_at = UINT64_MAX;
    f->fstat = (uint8_t)((f->fstat & ~FSTAT_MGBUSY) | FSTAT_CCIF);
    update_lines(f);
}

static uint64_t next_moment(void *ctx) { return ((struct s12z_ftmrz *)ctx)->done_at; }

static void advance_clock(void *ctx, uint64_t now)
{
    struct s12z_ftmrz *f = ctx;
    if (now >= f->done_at)
        complete_command(f);
}

/* ---- registers ---- */

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    const struct s12z_ftmrz *f = ctx;
    switch (addr) {
    case FCLKDIV: return f->fclkdiv;
    case FSEC: return f->board->fsec;
    case FCCOBIX: return f->fccobix;
    case FPSTAT: return f->fpstat;
    case FCNFG: return (uint8_t)(f->fcnfg | bits_if(bdc_erasing(f->board->bdc), FCNFG_ERSAREQ));
    case FERCNFG: return f->fercnfg;
    case FSTAT: return f->fstat;
    case FERSTAT: return f->ferstat;
    case FPROT: return f->fprot;
    case DFPROT: return f->dfprot;
    case FOPT: return f->fopt;
    default: break;
    }
    if (addr < FCCOB0)
        return 0;
    uint16_t w = f->fccob[(addr - FCCOB0) / 2];
    return (uint8_t)(addr & 1 ? w : w >> 8);
}

static void write_clkdiv(struct s12z_ftmrz *f, uint8_t v)
{
    if (!(f->fclkdiv & FCLKDIV_LCK))
        f->fclkdiv = FCLKDIV_LD | (v & (FCLKDIV_LCK | FCLKDIV_FDIV));
}

/* In normal mode protection can be added but not removed. */
static void write_protection(struct s12z_ftmrz *f, uint8_t fprot, uint8_t dfprot)
{
    if (ftmrz_special_mode(f) || ftmrz_at_least_as_protected(f, fprot, dfprot)) {
        f->fprot = (uint8_t)((f->fprot & 0x40) | (fprot & ~0x40));
        f->dfprot = dfprot & (DFPROT_OPEN | DFPROT_SIZE);
    }
}

static void write_status(struct s12z_ftmrz *f, uint8_t v)
{
    bool refused_before = f->fstat & (FSTAT_ACCERR | FSTAT_FPVIOL);
    f->fstat &= (uint8_t) ~(v & (FSTAT_ACCERR | FSTAT_FPVIOL));
    if (v & FSTAT_CCIF && !refused_before)
        launch_command(f);
}

static void write_command_word(struct s12z_ftmrz *f, uint16_t addr, uint8_t v)
{
    uint16_t *w = &f->fccob[(addr - FCCOB0) / 2];
    *w = (uint16_t)(addr & 1 ? (*w & 0xFF00) | v : (*w & 0xFF) | v << 8);
}

/* While a command runs, only interrupt enables and the flags of FERSTAT can be written. */
static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_ftmrz *f = ctx;
    bool idle = f->fstat & FSTAT_CCIF;
    if (addr == FCNFG)
        f->fcnfg = v & 0x9F;
    else if (addr == FERCNFG)
        f->fercnfg = v & FERCNFG_SFDIE;
    else if (addr == FERSTAT)
        f->ferstat &= (uint8_t)~v;
    else if (!idle)
        return;
    else if (addr == FCLKDIV)
        write_clkdiv(f, v);
    else if (addr == FCCOBIX)
        f->fccobix = v & 7;
    else if (addr == FSTAT)
        write_status(f, v);
    else if (addr == FPROT)
        write_protection(f, v, f->dfprot);
    else if (addr == DFPROT)
        write_protection(f, f->fprot, v);
    else if (addr >= FCCOB0)
        write_command_word(f, addr, v);
    update_lines(f);
}
DEVICE_BYTES(read_byte, write_byte)

/* Security and protection come from the configuration field. If it cannot be read, the part is
 * secured and all of it is protected. */
static void load_configuration(struct s12z_ftmrz *f)
{
    struct s12z_board *b = f->board;
    const uint8_t *flash = b->flash - b->part->flash_start;
    bool bad = b->flash_bad[(CONFIG_OVERRIDE_KEY - b->part->flash_start) / PHRASE];
    f->fopt = flash[CONFIG_FOPT];
    b->fsec = f->fprot = f->dfprot = 0;
    if (bad)
        return;
    b->fsec = flash[SECURITY_BYTE];
    f->fprot = flash[CONFIG_FPROT];
    f->dfprot = flash[CONFIG_DFPROT] & (DFPROT_OPEN | DFPROT_SIZE);
}

static void reset_registers(void *ctx)
{
    struct s12z_ftmrz *f = ctx;
    if (f->running) {
        set_busy(f, false);
        ftmrz_cut_short(f);
    }
    f->running = NULL;
    f->done_at = UINT64_MAX;
    f->fclkdiv = f->fccobix = f->fpstat = f->fcnfg = f->fercnfg = f->ferstat = 0;
    f->fstat = FSTAT_CCIF;
    f->backdoor_spent = false;
    memset(f->fccob, 0, sizeof f->fccob);
    load_configuration(f);
}

int ftmrz_new(struct s12z_board *board, struct s12z_ftmrz **out)
{
    struct s12z_ftmrz *f = calloc(1, sizeof *f);
    if (!f)
        return -ERR_NOMEM;
    f->board = board;
    f->done_at = UINT64_MAX;
    memset(f->once, 0xFF, sizeof f->once);
    *out = f;
    return board_add_device(board, &(struct s12z_device){ FIRST, LAST, read_byte_device,
                                                          write_byte_device, f, next_moment,
                                                          advance_clock, reset_registers });
}

void ftmrz_free(struct s12z_ftmrz *f) { free(f); }
