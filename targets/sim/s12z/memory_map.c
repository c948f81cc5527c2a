/* The memories as the CPU's fast path sees them, and what programming and erasing flash changes
 * there. */
#include <string.h>

#include "targets/sim/s12z/board_priv.h"

enum { PAGE = 1 << BUS_PAGE_BITS };

static bool any_bad_phrase(const struct s12z_board *b, uint32_t addr)
{
    const uint8_t *bad = b->flash_bad + (addr - b->part->flash_start) / 8;
    for (unsigned k = 0; k < PAGE / 8; k++)
        if (bad[k])
            return true;
    return false;
}

/* Flash begins at a page's beginning in every part, so a page of it is wholly flash. */
static void map_flash_page(struct s12z_bus *bus, uint32_t addr)
{
    struct s12z_board *b = bus->board;
    bool plain = !b->flash_busy && !any_bad_phrase(b, addr);
    bus->read[addr >> BUS_PAGE_BITS] = NULL;
    if (plain)
        bus->read[addr >> BUS_PAGE_BITS] = b->flash + (addr - b->part->flash_start);
}

void bus_map_ram(struct s12z_bus *bus, uint32_t addr)
{
    struct s12z_board *b = bus->board;
    addr &= ~(uint32_t)(PAGE - 1);
    bool plain = addr + PAGE - 1 <= b->part->ram_end;
    for (unsigned k = 0; plain && b->ram_faults && k < PAGE / 2; k++)
        plain = !b->ram_raw[(addr - RAM_START) / 2 + k];
    uint8_t *ram = NULL;
    if (plain)
        ram = b->ram + (addr - RAM_START);
    bus->read[addr >> BUS_PAGE_BITS] = bus->write[addr >> BUS_PAGE_BITS] = ram;
}

void bus_map(struct s12z_bus *bus)
{
    struct s12z_board *b = bus->board;
    memset(bus->read, 0, sizeof bus->read);
    memset(bus->write, 0, sizeof bus->write);
    for (uint32_t page = 0; page < BUS_PAGES; page++) {
        uint8_t *first = NULL, *last = NULL;
        uint32_t addr = page << BUS_PAGE_BITS;
        enum region r = bus_region_of(b, addr, &first);
        if (r != bus_region_of(b, addr + PAGE - 1, &last))
            /* A memory ends inside of this page, which therefore goes through bus_read(). */
            continue;
        if (r == REGION_RAM)
            bus_map_ram(bus, addr);
        else if (r == REGION_FLASH)
            map_flash_page(bus, addr);
    }
}

void bus_flash_busy(struct s12z_bus *bus, bool busy)
{
    struct s12z_board *b = bus->board;
    b->flash_busy = busy;
    for (uint32_t page = b->part->flash_start >> BUS_PAGE_BITS; page < BUS_PAGES; page++) {
        map_flash_page(bus, page << BUS_PAGE_BITS);
        cpu_hide(&b->cpu, page, busy);
    }
}

void bus_flash_changed(struct s12z_bus *bus, uint32_t addr, size_t n)
{
    cpu_forget(&bus->board->cpu, addr, n);
    for (uint32_t page = addr >> BUS_PAGE_BITS; page <= (addr + n - 1) >> BUS_PAGE_BITS; page++)
        map_flash_page(bus, page << BUS_PAGE_BITS);
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
