/* The inside of a board, for the files that make it up (board*.c, bus.c). Others use model.h. */
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
    uint64_t bus_hz; /* core = 2 * bus */
    uint64_t bdc_hz; /* BDCCLK */
    char serial[2][256];
    char flash[256];
    bool secured;
    struct s12z_dbg_variant dbg;
    char fault[32];
    uint64_t fault_at;
    /* for_ns not 0: it comes and goes instead */
    uint64_t fault_from_ns, fault_for_ns, fault_every_ns;
    uint64_t eev_hz; /* 0: DBGEEV stays low */
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
    struct s12z_ftmrz *ftmrz; /* the peripherals' */
    struct s12z_sram_ecc *sram_ecc;
    /* a byte for each word: check bits that do not belong to it (sram_ecc.c), 0: they do */
    uint8_t *ram_raw;
    unsigned ram_faults;           /* how many are not 0 */
    uint8_t *ram, *eeprom, *flash; /* of the part's sizes */
    /* a byte for each phrase of 8, each word of 2: not 0: a double-bit ECC fault is in it */
    uint8_t *flash_bad, *eeprom_bad;
    struct s12z_device device[BOARD_MAX_DEVICES];
    size_t ndevices;
    uint8_t device_at[0x1000]; /* register address -> index + 1; 0: nothing there */
    bool flash_busy, eeprom_busy;
    /* FSEC: the low two bits are 10 when unsecured; loaded from the security byte by reset */
    uint8_t fsec;
    enum cpu_state spent_in; /* the CPU's state since devices were last advanced */
    uint64_t bus_hz;         /* now; the option's until the program sets the PLL */
    uint8_t mode;            /* MODE register: MODC in bit 7 */
    uint16_t mmcec, mmcccr;  /* MMC error capture */
    uint32_t mmcpc;
    bool reset_low;
    uint64_t ns; /* the wire's clock */
    struct sim_patience patience;
    uint64_t ns_base, core_base; /* where the core last began to follow it */
    /* a fault that comes and goes, as of now; the adapter was gone and not opened again */
    bool fault_shown, unplugged;
    uint64_t eev_edges;     /* of DBGEEV so far */
    uint64_t strange_reads; /* of addresses where nothing is */
};

/* the wire's time at a core cycle near now */
uint64_t board_cycles_to_ps(const struct s12z_board *b, uint64_t cycles);
/* From here on the bus clock is hz (PLL): the core follows the wire's time at that rate. */
void board_set_bus_hz(struct s12z_board *b, uint64_t hz);
void board_erase_flash(struct s12z_board *b); /* all ones, no ECC faults */
void board_erase_eeprom(struct s12z_board *b);
/* raw, ends at 0xFFFFFF */
int board_load_flash(struct s12z_board *b, const char *path, struct err *err);
/* Whether a fault of this kind was asked for. Looked at for every edge: mostly none was. */
static inline bool board_fault_asked(const struct s12z_board *b, const char *kind)
{
    return *b->opt.fault && !strcmp(b->opt.fault, kind);
}
/* board_fault_time.c: is the fault that was asked for there now? */
bool board_fault_shows(const struct s12z_board *b);
bool board_fault(const struct s12z_board *b, const char *kind); /* the same of this kind */
/* The time at which it comes or goes next, UINT64_MAX never. */
uint64_t board_fault_edge(const struct s12z_board *b);
/* board_fault.c: what its coming or going does, to be called then */
void board_fault_turns(struct s12z_board *b);
/* board_wire.c: the adapter is opened again */
int board_reopen(struct sim_board *sim, struct err *err);
int board_add_registers(struct s12z_board *b); /* board_mmc.c: PARTID, MODE, error capture */
enum { MODE_MODC = 0x80 };                     /* MODE: normal mode */
int board_add_eev(struct s12z_board *b);       /* the wave on DBGEEV */
int board_parse_options(const char *text, struct board_options *out, struct err *err);

enum region { REGION_NONE, REGION_REGISTERS, REGION_RAM, REGION_EEPROM, REGION_FLASH };

/* The region of an address and, for memories, its byte. */
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
