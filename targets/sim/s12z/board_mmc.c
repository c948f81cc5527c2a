/* Registers of the board itself: PARTID, MODE, and the error capture of the memory map
 * controller. */
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

enum { MODE_REG = 0x70, MMC_FIRST = 0x80, MMC_LAST = 0x87, PARTID_LAST = 0x03 };
/* Fields of MMCEC: initiator, target, access (enum mmc_access), error. Their codes are assumptions
 * (docs/unverified.md, "S12Z MMC of the model"). */
enum {
    MMCEC_INITIATOR_CPU = 1 << 12,
    MMCEC_TARGET_SHIFT = 8,
    MMCEC_ACCESS_SHIFT = 4,
    MMCEC_ILLEGAL = 1,
    MMCEC_ECC = 2,
    MMCCCR_BITS = CCW_U | CCW_X | CCW_I
};

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
    if (size == 1)
        return own_byte(ctx, addr);
    return (uint16_t)(own_byte(ctx, addr) << 8 | own_byte(ctx, addr + 1));
}

/* Writing ones to MMCEC clears its bits. Software can set MODC, which leaves special mode for
 * normal mode, but cannot clear it. */
static void own_write(void *ctx, uint16_t addr, unsigned size, uint16_t v)
{
    struct s12z_board *b = ctx;
    bool is_byte = size == 1;
    if (addr == MODE_REG) {
        unsigned mode = is_byte ? v : v >> 8;
        b->mode |= mode & MODE_MODC;
    } else if (addr == 0x80 || addr == 0x81) {
        unsigned ones = v;
        if (is_byte && addr == 0x80)
            ones <<= 8;
        b->mmcec &= (uint16_t)~ones;
    }
}

/* The target field of MMCEC: 0 nothing there, 1 registers, 2 RAM, 3 EEPROM, 4 flash. */
static unsigned mmc_target(const struct s12z_board *b, uint32_t addr)
{
    if (addr < RAM_START)
        return 1;
    if (addr <= b->part->ram_end)
        return 2;
    if (addr >= EEPROM_START && addr <= b->part->eeprom_end)
        return 3;
    if (addr >= b->part->flash_start)
        return 4;
    return 0;
}

void board_machine_exception(struct s12z_board *b, uint32_t addr, enum mmc_access access,
                             enum bus_result why, uint32_t pc, uint16_t ccw)
{
    if (b->mmcec)
        return; /* The first error is kept until MMCEC is cleared. */
    unsigned error = why == BUS_ILLEGAL ? MMCEC_ILLEGAL : MMCEC_ECC;
    b->mmcec = (uint16_t)(MMCEC_INITIATOR_CPU | mmc_target(b, addr) << MMCEC_TARGET_SHIFT |
                          access << MMCEC_ACCESS_SHIFT | error);
    b->mmcccr = ccw & MMCCCR_BITS;
    b->mmcpc = pc;
}

int board_add_registers(struct s12z_board *b)
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
    return ret;
}
