/* The inside of a board, for the files that make it up (board*.c, bus.c). The other parts use
 * model.h. */
#ifndef TARGETS_SIM_S12Z_BOARD_PRIV_H
#define TARGETS_SIM_S12Z_BOARD_PRIV_H

#include <string.h>

#include "targets/sim/patience.h"
#include "targets/sim/s12z/cpu.h"
#include "targets/sim/s12z/model.h"

enum {
    BOARD_MAX_DEVICES = 24,
    RAM_START = 0x001000,
    EEPROM_START = 0x100000,
    SECURITY_BYTE = 0xFFFE0F
};

struct board_options {
    uint64_t bus_hz; /* the core clock is twice this */
    uint64_t bdc_hz; /* the frequency of BDCCLK */
    char serial[2][256];
    char flash[256];
    bool secured;
    struct s12z_dbg_variant dbg;
    char fault[32];
    uint64_t fault_at;
    /* A fault with times: for_ns is 0 if it has none and begins at fault_at. */
    uint64_t fault_from_ns, fault_for_ns, fault_every_ns;
    uint64_t eev_hz; /* frequency of the wave on DBGEEV; 0: the pin stays low */
};

struct s12z_board {
    struct sim_board sim;
    const struct s12z_part *part;
    const struct log *log;
    struct board_options opt;
    struct s12z_cpu cpu;
    struct s12z_bus bus;
    struct s12z_intc *intc;
    struct s12z_dbg *dbg;
    struct s12z_bdc *bdc;
    struct s12z_peripherals *peripherals;
    struct s12z_ftmrz *ftmrz; /* owned by peripherals */
    struct s12z_sram_ecc *sram_ecc;
    /* A byte for each word of RAM (sram_ecc.c). 0: its check bits belong to its data; otherwise the
     * byte has the check bits that are stored. */
    uint8_t *ram_raw;
    unsigned ram_faults;           /* number of bytes in ram_raw that are not 0 */
    uint8_t *ram, *eeprom, *flash; /* memories; their sizes are the part's */
    /* A byte for each unit with an ECC of its own: 8 bytes of flash (a phrase), 2 bytes of EEPROM.
     * Not 0: the unit has a double-bit fault. */
    uint8_t *flash_bad, *eeprom_bad;
    struct s12z_device device[BOARD_MAX_DEVICES];
    size_t ndevices;
    /* index of the device at a register address, plus 1; 0: there is none */
    uint8_t device_at[0x1000];
    bool flash_busy, eeprom_busy;
    /* FSEC register, which reset loads from the security byte. The part is unsecured when the low
     * two bits are 10. */
    uint8_t fsec;
    /* the CPU's state in the time that devices have not been advanced by yet */
    enum cpu_state spent_in;
    uint64_t bus_hz;        /* the bus clock now: the option's, until the program sets the PLL */
    uint8_t mode;           /* MODE register; MODC is bit 7 */
    uint16_t mmcec, mmcccr; /* error capture of the memory map controller (board_mmc.c) */
    uint32_t mmcpc;
    bool reset_low;
    uint64_t ns; /* the wire's clock */
    struct sim_patience patience;
    /* The pair of times, on the wire and of the core, from which the core's time is counted. It
     * moves when the core clock changes and while reset holds the core. */
    uint64_t ns_base, core_base;
    /* fault_shown: the fault was there when this was last looked at. unplugged: the adapter was
     * gone and has not been opened again since. */
    bool fault_shown, unplugged;
    uint64_t eev_edges;     /* edges made on DBGEEV so far */
    uint64_t strange_reads; /* reads of register addresses where no device is */
};

/* The wire's time, in picoseconds, at a core cycle near now. */
uint64_t board_cycles_to_ps(const struct s12z_board *b, uint64_t cycles);
/* The core cycle at a time of the wire's, by the clock as it is now. The instruction that changed
 * the clock may end behind that time: then it is the cycle of its end. */
uint64_t board_cycle_at(const struct s12z_board *b, uint64_t ns);
/* Runs the core up to so many cycles short of this time of the wire's, across changes of its
 * clock. */
void board_follow(struct s12z_board *b, uint64_t ns, uint64_t short_of);
/* Sets the bus clock, as the PLL or a reset does. The core follows the wire's time at the new rate
 * from here on. */
void board_set_bus_hz(struct s12z_board *b, uint64_t hz);
/* Sets all of the flash to ones and removes its ECC faults. The next does the same to the
 * EEPROM. */
void board_erase_flash(struct s12z_board *b);
void board_erase_eeprom(struct s12z_board *b);
/* Loads a raw image, whose last byte goes to 0xFFFFFF. -ERR_IO: the file cannot be read, or is
 * empty or too large. */
int board_load_flash(struct s12z_board *b, const char *path, struct err *err);
/* Was a fault of this kind asked for by an option? It is inline because it is looked at for every
 * edge, and mostly no fault was asked for. */
static inline bool board_fault_asked(const struct s12z_board *b, const char *kind)
{
    return *b->opt.fault && !strcmp(b->opt.fault, kind);
}
/* Is the fault that was asked for present now (board_fault_time.c)? */
bool board_fault_shows(const struct s12z_board *b);
/* Is the fault that was asked for of this kind, and present now? */
bool board_fault(const struct s12z_board *b, const char *kind);
/* The wire's time, in ns, at which the fault comes or goes next; UINT64_MAX: never. */
uint64_t board_fault_edge(const struct s12z_board *b);
/* Does what the coming or going of the fault does to the board (board_fault.c). It is called at
 * each time that board_fault_edge() returned. */
void board_fault_turns(struct s12z_board *b);
/* Opens the adapter again, which takes 100 ms of the board's time (board_wire.c). -ERR_USB: the
 * fault "unplug" is present. */
int board_reopen(struct sim_board *sim, struct err *err);
/* Adds the registers PARTID, MODE and the error capture (board_mmc.c). 0 or -ERR_RESOURCE. */
int board_add_registers(struct s12z_board *b);
enum { MODE_MODC = 0x80 }; /* MODE register: normal mode */
/* Adds the wave on DBGEEV, if the option asks for one. 0 or -ERR_RESOURCE. */
int board_add_eev(struct s12z_board *b);
/* Reads the options that board.h lists. -ERR_USAGE: one is unknown or has a wrong value; *out is
 * then untouched. */
int board_parse_options(const char *text, struct board_options *out, struct err *err);

enum region { REGION_NONE, REGION_REGISTERS, REGION_RAM, REGION_EEPROM, REGION_FLASH };

/* Returns the region of an address. For memories *byte points to its byte; for registers, and where
 * nothing is, *byte stays as it was. */
static inline enum region bus_region_of(struct s12z_board *b, uint32_t addr, uint8_t **byte)
{
    const struct s12z_part *p = b->part;
    if (addr < RAM_START)
        return REGION_REGISTERS;
    if (addr <= p->ram_end) {
        *byte = b->ram + (addr - RAM_START);
        return REGION_RAM;
    }
    if (addr >= EEPROM_START && addr <= p->eeprom_end) {
        *byte = b->eeprom + (addr - EEPROM_START);
        return REGION_EEPROM;
    }
    if (addr >= p->flash_start) {
        *byte = b->flash + (addr - p->flash_start);
        return REGION_FLASH;
    }
    return REGION_NONE;
}

static inline uint32_t part_ram_bytes(const struct s12z_part *p)
{
    return p->ram_end + 1 - RAM_START;
}
static inline uint32_t part_eeprom_bytes(const struct s12z_part *p)
{
    return p->eeprom_end + 1 - EEPROM_START;
}
static inline uint32_t part_flash_bytes(const struct s12z_part *p)
{
    return 0x1000000 - p->flash_start;
}

#endif
