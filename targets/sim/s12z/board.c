#include "targets/sim/s12z/board.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/bdc.h"
#include "targets/sim/s12z/bdc_priv.h"
#include "targets/sim/s12z/board_priv.h"

static struct s12z_board *board_of(struct sim_board *b)
{
    return CONTAINER_OF(b, struct s12z_board, sim);
}

/* ---- reset and pins ---- */

static int set_pins(struct sim_board *sim, unsigned mask, unsigned value, struct err *err)
{
    struct s12z_board *b = board_of(sim);
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
    struct s12z_board *b = board_of(sim);
    (void)err;
    *known = BDC_PIN_BKGD | BDC_PIN_RESET | BDC_PIN_VTREF;
    *value = bits_if(bdc_level(b->bdc), BDC_PIN_BKGD) |
             bits_if(!(b->reset_low || board_fault(b, "reset") || board_fault(b, "no-power")),
                     BDC_PIN_RESET) |
             bits_if(!board_fault(b, "no-power"), BDC_PIN_VTREF);
    return 0;
}

static uint64_t now_ns(struct sim_board *sim)
{
    struct s12z_board *b = board_of(sim);
    uint64_t ns = sim_question_ns(&b->patience, b->ns);
    if (ns)
        board_pass_ns(b, ns);
    return b->ns;
}

static int pass_time(struct sim_board *sim, uint64_t ns, struct err *err)
{
    (void)err;
    board_pass_ns(board_of(sim), ns);
    return 0;
}

static int drive_bkgd(struct sim_board *sim, struct bkgd_stretch *s, size_t n, struct err *err)
{
    return bdc_pin(board_of(sim)->bdc, s, n, err);
}

static int pdo_capture(struct sim_board *sim, bool on)
{
    return dbg_pdo_capture(board_of(sim)->dbg, on);
}
static size_t pdo_take(struct sim_board *sim, pdo_edge *out, size_t cap, uint64_t *lost)
{
    return dbg_pdo_take(board_of(sim)->dbg, out, cap, lost);
}

/* ---- making and unmaking ---- */

static void free_board(struct sim_board *sim)
{
    struct s12z_board *b = board_of(sim);
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
    int ret = 0;
    if (b->opt.flash[0])
        ret = board_load_flash(b, b->opt.flash, err);
    if (b->opt.secured)
        b->flash[SECURITY_BYTE - p->flash_start] = 0xFF;
    return ret;
}

static int make_parts(struct s12z_board *b, struct err *err)
{
    int ret = board_add_registers(b);
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
        free_board(&b->sim);
        return ret;
    }
    bus_map(&b->bus);
    board_reset(b, false);
    board_fault_turns(b);
    *out = &b->sim;
    return 0;
}

/* HDR has the PARTIDs of each group, but does not say which part has which: these are assumed. */
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
        .destroy = free_board,                                                                   \
        .set_pins = set_pins,                                                                    \
        .get_pins = get_pins,                                                                    \
        .advance = pass_time,                                                                    \
        .now_ns = now_ns,                                                                        \
        .bkgd = drive_bkgd,                                                                      \
        .pdo_capture = pdo_capture,                                                              \
        .pdo_take = pdo_take,                                                                    \
        .reopen = board_reopen,                                                                  \
    }
CREATE(zvml128, "MC9S12ZVML128, 8 KB RAM, 128 KB flash, with trace,");
CREATE(zvmc256, "MC9S12ZVMC256, 32 KB RAM, 256 KB flash, with trace,");
CREATE(zvl128, "MC9S12ZVL128, 8 KB RAM, 128 KB flash, without trace,");
