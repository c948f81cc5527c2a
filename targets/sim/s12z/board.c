#include "targets/sim/s12z/board.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/bdc.h"
#include "targets/sim/s12z/bdc_priv.h"
#include "targets/sim/s12z/board_priv.h"

enum {
    MODE_REG = 0x70,
    MODE_MODC = 0x80,
    MMC_FIRST = 0x80,
    MMC_LAST = 0x87,
    PARTID_LAST = 0x03,
    NS_PER_S = 1000000000
};
/* MMCEC fields; their codes are assumptions (docs/unverified.md): who, what, how (enum mmc_access),
 * error. */
enum {
    MMCEC_INITIATOR_CPU = 1 << 12,
    MMCEC_TARGET_SHIFT = 8,
    MMCEC_ACCESS_SHIFT = 4,
    MMCEC_ILLEGAL = 1,
    MMCEC_ECC = 2,
    MMCCCR_BITS = CCW_U | CCW_X | CCW_I
};

static struct s12z_board *self(struct sim_board *b)
{
    return CONTAINER_OF(b, struct s12z_board, sim);
}

struct s12z_intc *board_intc(struct s12z_board *b) { return b->intc; }
struct s12z_dbg *board_dbg(struct s12z_board *b) { return b->dbg; }
struct s12z_cpu *board_cpu(struct s12z_board *b) { return &b->cpu; }
uint64_t board_now(const struct s12z_board *b) { return b->cpu.cycles; }
void board_entered_bdm(struct s12z_board *b) { bdc_entered(b->bdc); }
void board_waiting(struct s12z_board *b, bool stop) { bdc_waiting(b->bdc, stop); }
void board_left_wait(struct s12z_board *b) { bdc_left_wait(b->bdc); }
void board_replan(struct s12z_board *b) { b->cpu.until = b->cpu.cycles; }

bool board_secured(const struct s12z_board *b)
{
    return (b->fsec & 3) != 2; /* ZVHL p.152, ZVM p.163 */
}

/* ---- registers of the board itself: PARTID, MODE, MMC error capture ---- */

static uint16_t own_byte(struct s12z_board *b, uint16_t addr)
{
    if (addr <= PARTID_LAST)
        return b->part->partid >> (8 * (3 - addr)) & 0xFF;
    switch (addr) {
    case MODE_REG: return b->mode;
    case 0x80: return b->mmcec >> 8;
    case 0x81: return b->mmcec & 0xFF;
    case 0x82: return b->mmcccr >> 8;
    case 0x83: return b->mmcccr & 0xFF;
    case 0x85: return b->mmcpc >> 16 & 0xFF;
    case 0x86: return b->mmcpc >> 8 & 0xFF;
    case 0x87: return b->mmcpc & 0xFF;
    default: return 0;
    }
}

static uint16_t own_read(void *ctx, uint16_t addr, unsigned size)
{
    return size == 1 ? own_byte(ctx, addr)
                     : (uint16_t)(own_byte(ctx, addr) << 8 | own_byte(ctx, addr + 1));
}

/* MMCEC is cleared by writing ones to it; MODC can only be set by software, from special to normal
 * mode. */
static void own_write(void *ctx, uint16_t addr, unsigned size, uint16_t v)
{
    struct s12z_board *b = ctx;
    if (addr == MODE_REG)
        b->mode |= (size == 2 ? v >> 8 : v) & MODE_MODC;
    else if (addr == 0x80 || addr == 0x81)
        b->mmcec &= (uint16_t) ~(size == 2 ? v : addr == 0x80 ? v << 8 : v);
}

/* 0 nothing there, 1 registers, 2 RAM, 3 EEPROM, 4 flash */
static unsigned mmc_target(const struct s12z_board *b, uint32_t addr)
{
    if (addr < RAM_START)
        return 1;
    if (addr <= b->part->ram_end)
        return 2;
    if (addr >= EEPROM_START && addr <= b->part->eeprom_end)
        return 3;
    return addr >= b->part->flash_start ? 4 : 0;
}

void board_machine_exception(struct s12z_board *b, uint32_t addr, enum mmc_access access,
                             enum bus_result why, uint32_t pc, uint16_t ccw)
{
    if (b->mmcec)
        return; /* the first one is kept until it is cleared */
    b->mmcec =
        (uint16_t)(MMCEC_INITIATOR_CPU | mmc_target(b, addr) << MMCEC_TARGET_SHIFT |
                   access << MMCEC_ACCESS_SHIFT | (why == BUS_ILLEGAL ? MMCEC_ILLEGAL : MMCEC_ECC));
    b->mmcccr = ccw & MMCCCR_BITS;
    b->mmcpc = pc;
}

void board_erase_flash(struct s12z_board *b)
{
    uint32_t n = part_flash_bytes(b->part);
    memset(b->flash, 0xFF, n);
    memset(b->flash_bad, 0, n / 8);
    bus_flash_changed(&b->bus, b->part->flash_start, n);
}

void board_erase_eeprom(struct s12z_board *b)
{
    uint32_t n = part_eeprom_bytes(b->part);
    memset(b->eeprom, 0xFF, n);
    memset(b->eeprom_bad, 0, n / 2);
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

/* ---- time ---- */

static uint64_t next_event(const struct s12z_board *b)
{
    uint64_t t = UINT64_MAX;
    for (size_t k = 0; k < b->ndevices; k++)
        if (b->device[k].next)
            t = MIN(t, b->device[k].next(b->device[k].ctx));
    return t;
}

static void advance_devices(struct s12z_board *b)
{
    for (size_t k = 0; k < b->ndevices; k++)
        if (b->device[k].advance)
            b->device[k].advance(b->device[k].ctx, b->cpu.cycles);
}

/* Devices see what passed in one state of the CPU at a time. While it waits or is halted the clock
 * goes on. */
void board_run_to(struct s12z_board *b, uint64_t cycles)
{
    while (b->cpu.cycles < cycles) {
        cpu_wake(&b->cpu);
        uint64_t limit = MIN(cycles, MAX(next_event(b), b->cpu.cycles + 1));
        b->spent_in = b->cpu.state;
        if (b->cpu.state == CPU_RUN)
            cpu_run(&b->cpu, limit);
        else
            b->cpu.cycles = limit;
        advance_devices(b);
    }
}

/* ---- reset and pins ---- */

void board_reset(struct s12z_board *b, bool special)
{
    b->mode = special ? 0 : MODE_MODC;
    b->mmcec = b->mmcccr = 0;
    b->mmcpc = 0;
    board_set_bus_hz(b, b->opt.bus_hz);
    for (size_t k = 0; k < b->ndevices; k++)
        if (b->device[k].reset)
            b->device[k].reset(b->device[k].ctx);
    b->eeprom_busy = false;
    if (b->flash_busy)
        bus_flash_busy(&b->bus, false);
    bdc_reset(b->bdc, special);
    cpu_reset(&b->cpu, special);
}

static int set_pins(struct sim_board *sim, unsigned mask, unsigned value, struct err *err)
{
    struct s12z_board *b = self(sim);
    if (mask & ~(unsigned)(BDC_PIN_BKGD | BDC_PIN_RESET))
        return err_set(err, ERR_UNSUPPORTED, "BKGD and RESET are all this board has",
                       "no such pin to drive");
    if (mask & BDC_PIN_BKGD)
        bdc_hold(b->bdc, !(value & BDC_PIN_BKGD));
    if (!(mask & BDC_PIN_RESET))
        return 0;
    bool low = !(value & BDC_PIN_RESET);
    if (b->reset_low && !low && !board_fault(b, "reset"))
        board_reset(b, !bdc_level(b->bdc));
    b->reset_low = low;
    return 0;
}

static int get_pins(struct sim_board *sim, unsigned *value, unsigned *known, struct err *err)
{
    struct s12z_board *b = self(sim);
    (void)err;
    *known = BDC_PIN_BKGD | BDC_PIN_RESET | BDC_PIN_VTREF;
    *value =
        (bdc_level(b->bdc) ? BDC_PIN_BKGD : 0) |
        (b->reset_low || board_fault(b, "reset") || board_fault(b, "no-power") ? 0
                                                                               : BDC_PIN_RESET) |
        (board_fault(b, "no-power") ? 0 : BDC_PIN_VTREF);
    return 0;
}

static uint64_t core_hz(const struct s12z_board *b) { return 2 * b->bus_hz; }

uint64_t board_cycles_to_ps(const struct s12z_board *b, uint64_t cycles)
{
    __int128 since = (__int128)cycles - b->core_base;
    return (uint64_t)(b->ns_base * (__int128)1000 + since * 1000000000000 / (__int128)core_hz(b));
}

void board_set_bus_hz(struct s12z_board *b, uint64_t hz)
{
    if (b->bus_hz == hz)
        return;
    b->ns_base = board_cycles_to_ps(b, b->cpu.cycles) / 1000;
    b->core_base = b->cpu.cycles;
    b->bus_hz = hz;
    bdc_set_clock(b->bdc);
}

uint64_t board_ns_to_cycles(const struct s12z_board *b,
                            uint64_t ns) /* rounded down; exact for long times */
{
    return ns / NS_PER_S * core_hz(b) + ns % NS_PER_S * core_hz(b) / NS_PER_S;
}

static uint64_t now_ns(struct sim_board *sim)
{
    struct s12z_board *b = self(sim);
    return b->ns;
}

/* Time passes on the wire; the core follows. While RESET is low it stands still. */
static void pass(struct s12z_board *b, uint64_t ns)
{
    b->ns += ns;
    if (!b->reset_low && !board_fault(b, "reset") && !board_fault(b, "no-power"))
        board_run_to(b, b->core_base + board_ns_to_cycles(b, b->ns - b->ns_base));
    else {
        b->ns_base = b->ns;
        b->core_base = b->cpu.cycles;
    }
}

void board_pass_ns(struct s12z_board *b, uint64_t ns)
{
    uint64_t end = b->ns + ns;
    for (uint64_t edge; (edge = board_fault_edge(b)) <= end;) {
        pass(b, edge - b->ns - 1); /* as it was before */
        pass(b, 1);
        board_fault_turns(b);
    }
    pass(b, end - b->ns);
}

static int advance(struct sim_board *sim, uint64_t ns, struct err *err)
{
    (void)err;
    board_pass_ns(self(sim), ns);
    return 0;
}

static int bkgd(struct sim_board *sim, struct bkgd_stretch *s, size_t n, struct err *err)
{
    return bdc_pin(self(sim)->bdc, s, n, err);
}

static int pdo_capture(struct sim_board *sim, bool on)
{
    return dbg_pdo_capture(self(sim)->dbg, on);
}
static size_t pdo_take(struct sim_board *sim, pdo_edge *out, size_t cap, uint64_t *lost)
{
    return dbg_pdo_take(self(sim)->dbg, out, cap, lost);
}

/* ---- making and unmaking ---- */

static void destroy(struct sim_board *sim)
{
    struct s12z_board *b = self(sim);
    peripherals_free(b->peripherals);
    bdc_free(b->bdc);
    dbg_free(b->dbg);
    intc_free(b->intc);
    cpu_fini(&b->cpu);
    free(b->ram);
    free(b->eeprom);
    free(b->flash);
    free(b->eeprom_bad);
    free(b->flash_bad);
    free(b->ram_raw);
    free(b);
}

static int make_memories(struct s12z_board *b, struct err *err)
{
    const struct s12z_part *p = b->part;
    b->ram = calloc(1, part_ram_bytes(p));
    b->eeprom = malloc(part_eeprom_bytes(p));
    b->flash = malloc(part_flash_bytes(p));
    b->eeprom_bad = calloc(1, part_eeprom_bytes(p) / 2);
    b->flash_bad = calloc(1, part_flash_bytes(p) / 8);
    b->ram_raw = calloc(1, part_ram_bytes(p) / 2);
    if (!b->ram || !b->eeprom || !b->flash || !b->eeprom_bad || !b->flash_bad || !b->ram_raw)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", p->name);
    memset(b->eeprom, 0xFF, part_eeprom_bytes(p));
    memset(b->flash, 0xFF, part_flash_bytes(p));
    b->flash[SECURITY_BYTE - p->flash_start] = 0xFE;
    int ret = b->opt.flash[0] ? board_load_flash(b, b->opt.flash, err) : 0;
    if (b->opt.secured)
        b->flash[SECURITY_BYTE - p->flash_start] = 0xFF;
    return ret;
}

static int make_parts(struct s12z_board *b, struct err *err)
{
    static const struct s12z_device own[] = {
        { 0x00, PARTID_LAST, own_read, own_write, NULL, NULL, NULL, NULL },
        { MODE_REG, MODE_REG, own_read, own_write, NULL, NULL, NULL, NULL },
        { MMC_FIRST, MMC_LAST, own_read, own_write, NULL, NULL, NULL, NULL },
    };
    int ret = 0;
    for (size_t k = 0; k < ARRAY_LEN(own) && ret == 0; k++) {
        struct s12z_device d = own[k];
        d.ctx = b;
        ret = board_add_device(b, &d);
    }
    if (ret == 0)
        ret = intc_new(b, &b->intc);
    if (ret == 0)
        ret = dbg_new(b, b->part, &b->opt.dbg, &b->dbg);
    if (ret == 0)
        ret = bdc_new(b, &b->bdc);
    if (ret < 0)
        return err_set(err, (enum err_code) - ret, "", "%s: cannot make the board", b->part->name);
    if (board_add_eev(b) < 0)
        return err_set(err, ERR_NOMEM, "", "%s: too many devices", b->part->name);
    return peripherals_new(b, b->opt.serial[0], b->opt.serial[1], &b->peripherals, err);
}

static int create_part(const struct sim_board_type *type, const struct s12z_part *part,
                       const char *options, const struct log *log, struct sim_board **out,
                       struct err *err)
{
    struct s12z_board *b = calloc(1, sizeof *b);
    if (!b)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", part->name);
    b->sim.type = type;
    b->part = part;
    b->log = log;
    b->bus.board = b;
    int ret = board_parse_options(options, &b->opt, err);
    b->bus_hz = b->opt.bus_hz;
    if (ret == 0)
        ret = make_memories(b, err);
    if (ret == 0)
        ret = cpu_init(&b->cpu, b, &b->bus);
    if (ret == 0)
        ret = make_parts(b, err);
    if (ret < 0) {
        destroy(&b->sim);
        return ret;
    }
    bus_map(&b->bus);
    board_reset(b, false);
    board_fault_turns(b);
    *out = &b->sim;
    return 0;
}

/* PARTIDs: HDR gives the group's numbers, not which part has which (assumed). */
static const struct s12z_part zvml128 = { "s12zvml128", 0x00170000, 0x2FFF, 0x1001FF,
                                          0xFE0000,     true,       false };
static const struct s12z_part zvmc256 = { "s12zvmc256", 0x00172000, 0x8FFF, 0x1003FF,
                                          0xFC0000,     true,       true };
static const struct s12z_part zvl128 = { "s12zvl128", 0x00150000, 0x2FFF, 0x1007FF,
                                         0xFE0000,    false,      false };

#define CREATE(part, what)                                                                       \
    static int create_##part(const char *options, const struct log *log, struct sim_board **out, \
                             struct err *err)                                                    \
    {                                                                                            \
        return create_part(&s12z_board_##part, &part, options, log, out, err);                   \
    }                                                                                            \
    const struct sim_board_type s12z_board_##part = {                                            \
        .name = "s12" #part,                                                                     \
        .help = what " behind BDC",                                                              \
        .create = create_##part,                                                                 \
        .destroy = destroy,                                                                      \
        .set_pins = set_pins,                                                                    \
        .get_pins = get_pins,                                                                    \
        .advance = advance,                                                                      \
        .now_ns = now_ns,                                                                        \
        .bkgd = bkgd,                                                                            \
        .pdo_capture = pdo_capture,                                                              \
        .pdo_take = pdo_take,                                                                    \
        .reopen = board_reopen,                                                                  \
    }
CREATE(zvml128, "MC9S12ZVML128, 8 KB RAM, 128 KB flash, with trace,");
CREATE(zvmc256, "MC9S12ZVMC256, 32 KB RAM, 256 KB flash, with trace,");
CREATE(zvl128, "MC9S12ZVL128, 8 KB RAM, 128 KB flash, without trace,");
