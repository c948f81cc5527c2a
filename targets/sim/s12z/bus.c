/* The bus: which memory or register an address is, who may access it, and what a refused access
 * results in. Source: ZVM p.127 for the rights; HDR for the regions. */
#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/peripheral.h"

static enum bus_result register_read(struct s12z_board *b, uint32_t addr, unsigned size,
                                     uint32_t *v)
{
    struct s12z_device *d = NULL;
    if (b->device_at[addr])
        d = &b->device[b->device_at[addr] - 1];
    *v = 0;
    if (!d) {
        b->strange_reads++;
        return BUS_OK; /* a reserved register reads 0 */
    }
    *v = d->read(d->ctx, (uint16_t)addr, size);
    return BUS_OK;
}

static enum bus_result register_write(struct s12z_board *b, uint32_t addr, unsigned size,
                                      uint32_t v)
{
    struct s12z_device *d = NULL;
    if (b->device_at[addr])
        d = &b->device[b->device_at[addr] - 1];
    if (d) {
        d->write(d->ctx, (uint16_t)addr, size, (uint16_t)v);
        board_replan(b);
    }
    return BUS_OK;
}

static enum bus_result check_nonvolatile(const struct s12z_board *b, uint32_t addr)
{
    bool busy, bad;
    if (addr < b->part->flash_start) {
        busy = b->eeprom_busy;
        bad = b->eeprom_bad[(addr - EEPROM_START) / 2];
    } else {
        busy = b->flash_busy;
        bad = b->flash_bad[(addr - b->part->flash_start) / 8];
    }
    if (busy)
        return BUS_BUSY;
    if (bad)
        return BUS_ECC;
    return BUS_OK;
}

static enum bus_result one_read(struct s12z_board *b, uint32_t addr, unsigned size,
                                enum bus_master who, uint32_t *v)
{
    uint8_t *byte = NULL;
    switch (bus_region_of(b, addr, &byte)) {
    case REGION_NONE: return BUS_ILLEGAL;
    case REGION_REGISTERS:
        if (who == BUS_CPU_FETCH)
            return BUS_ILLEGAL;
        return register_read(b, addr, size, v);
    case REGION_FLASH:
    case REGION_EEPROM: {
        enum bus_result r = check_nonvolatile(b, addr);
        if (r != BUS_OK) {
            ftmrz_invalid_read(b->ftmrz);
            return r;
        }
        break;
    }
    case REGION_RAM: break;
    }
    *v = *byte;
    return BUS_OK;
}

static enum bus_result one_write(struct s12z_board *b, uint32_t addr, unsigned size, uint32_t v)
{
    uint8_t *byte = NULL;
    switch (bus_region_of(b, addr, &byte)) {
    case REGION_REGISTERS: return register_write(b, addr, size, v);
    case REGION_RAM:
        *byte = (uint8_t)v;
        cpu_forget(&b->cpu, addr, 1);
        return BUS_OK;
    case REGION_NONE:
    case REGION_FLASH:
    case REGION_EEPROM: break; /* only the flash controller writes those */
    }
    return BUS_ILLEGAL;
}

/* An access that covers an aligned word of registers is one access to that word; the rest goes byte
 * by byte. */
static unsigned piece_bytes(uint32_t addr, unsigned left)
{
    if (addr < RAM_START && left >= 2 && !(addr & 1))
        return 2;
    return 1;
}

/* Is every byte of the access somewhere? This is checked before, since an access that fails must
 * not have touched a register. */
static enum bus_result check_reachable(struct s12z_board *b, uint32_t addr, unsigned size)
{
    uint8_t *byte;
    if (bus_region_of(b, addr & 0xFFFFFF, &byte) == REGION_NONE ||
        bus_region_of(b, (addr + size - 1) & 0xFFFFFF, &byte) == REGION_NONE)
        return BUS_ILLEGAL;
    return BUS_OK;
}

static bool in_ram(const struct s12z_board *b, uint32_t addr, unsigned size)
{
    return addr >= RAM_START && addr + size - 1 <= b->part->ram_end;
}

enum bus_result bus_read(struct s12z_bus *bus, uint32_t addr, unsigned size, enum bus_master who,
                         uint32_t *v)
{
    uint32_t out = 0;
    enum bus_result r = check_reachable(bus->board, addr, size);
    if (bus->board->ram_faults && in_ram(bus->board, addr, size) &&
        !sram_ecc_read(bus->board->sram_ecc, addr, size))
        r = BUS_ECC;
    for (unsigned left = size; left && r == BUS_OK;) {
        unsigned n = piece_bytes(addr & 0xFFFFFF, left);
        uint32_t part = 0;
        r = one_read(bus->board, addr & 0xFFFFFF, n, who, &part);
        out = out << (8 * n) | part;
        addr += n;
        left -= n;
    }
    if (r != BUS_OK)
        out = 0xEEEEEEEEu >> (32 - 8 * size);
    *v = out;
    return r;
}

enum bus_result bus_write(struct s12z_bus *bus, uint32_t addr, unsigned size, enum bus_master who,
                          uint32_t v)
{
    enum bus_result r = check_reachable(bus->board, addr, size);
    if (bus->board->ram_faults && in_ram(bus->board, addr, size) &&
        !sram_ecc_write(bus->board->sram_ecc, addr, size))
        r = BUS_ECC;
    (void)who; /* CPU and BDC have the same rights to write */
    for (unsigned left = size; left && r == BUS_OK;) {
        unsigned n = piece_bytes(addr & 0xFFFFFF, left);
        uint32_t piece = v >> (8 * (left - n)) & ((1u << (8 * n)) - 1);
        r = one_write(bus->board, addr & 0xFFFFFF, n, piece);
        addr += n;
        left -= n;
    }
    return r;
}
