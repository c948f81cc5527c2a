/* The inside of the board, for board*.c and bootrom.c. */
#ifndef TARGETS_SIM_SH4_BOARD_PRIV_H
#define TARGETS_SIM_SH4_BOARD_PRIV_H

#include "probe/sim_serial.h"
#include "targets/sim/patience.h"
#include "targets/sim/sh4/board.h"
#include "targets/sim/sh4/cpu.h"
#include "targets/sim/sh4/hudi.h"
#include "targets/sim/sh4/intc.h"
#include "targets/sim/sh4/mmu.h"
#include "targets/sim/sh4/rtc.h"
#include "targets/sim/sh4/scif.h"
#include "targets/sim/sh4/tmu.h"
#include "targets/sim/sh4/ubc.h"
#include "targets/sim/sh4/wdt.h"

enum {
    BOARD_ROM_BYTES = 2 << 20,
    BOARD_FLASH_BYTES = 128 << 10,
    BOARD_RAM_BYTES = 16 << 20,
    BOARD_RAM_AREA = 64 << 20, /* area 3, in which the 16 MB repeat */
    BOARD_SOUND_BYTES = 2 << 20,
    BOARD_VIDEO_BYTES = 8 << 20,
    BOARD_PCLK_DIV = 4, /* CPU clocks a peripheral clock */
    BOARD_MIN_CYCLES_PER_TCK = 4,
    BOARD_STORED_REGS = 160 /* registers that only hold what is written */
};

/* clang-format off */
enum board_fault {
    FAULT_NONE, FAULT_NO_POWER, FAULT_NO_CLOCK, FAULT_WRONG_IR, FAULT_STUCK_TDO, FAULT_SILENT,
    FAULT_NOISE, FAULT_UNPLUG, FAULT_TRST, FAULT_HELD, FAULT_NOISE_IN
};
/* clang-format on */

struct board_options {
    bool big, private_commands, alternates, status_zero;
    uint32_t tck_hz, cpu_hz;
    /* Above these clocks bits of TDO, or bits of words for SDDR, are lost; 0: never. */
    uint32_t wires_hz, sddr_hz;
    uint64_t wires_from_us;
    char serial[128], rom[256];
    enum board_fault fault;
    uint64_t fault_n; /* TCK clock from which on the fault is present; noise: one bit in so many */
    /* Not 0: the fault is present from that time on for so long, instead. */
    uint64_t fault_from_ns, fault_for_ns;
    uint64_t fault_every_ns; /* not 0: it repeats so long after it began */
    uint64_t nmi_us;         /* 0: never */
};

struct board {
    struct sim_board base;
    const struct log *log;
    struct board_options opt;
    enum sh4_variant variant;

    struct sh4_cpu cpu;
    struct sh4_mmu mmu;
    struct sh4_ubc ubc;
    struct sh4_intc intc;
    struct sh4_tmu tmu;
    struct sh4_rtc rtc;
    struct sh4_scif scif;
    struct sh4_wdt wdt;
    struct sh4_hudi hudi;
    uint32_t stored[BOARD_STORED_REGS]; /* by the index in sh4_reg_table() */
    uint8_t *rom, *flash, *ram;
    /* SH7091 only, else NULL. The video memory is in the order of its 64-bit view. */
    uint8_t *sound, *video;

    /* Virtual time. TCK and waiting have granted `cycles` CPU cycles, and the CPU is brought up to
     * them when somebody looks. cycle_rest: what the conversion of TCK clocks left over, in units
     * of 1/tck_hz. */
    uint64_t cycles, cycle_rest;
    struct sim_patience patience;
    uint64_t tck_synced; /* the hudi.clocks that are in `cycles` */
    /* The peripheral clock of the next edge on the NMI pin; UINT64_MAX: none. */
    uint64_t nmi_edge;
    bool reset_pin_low, hudi_reset, asebrk_low;

    enum { FAULT_AHEAD, FAULT_SHOWS, FAULT_OVER } fault_phase; /* of a fault with times */
    bool unplugged; /* the adapter has to be opened again */
    bool clocking;  /* a transfer is under way */

    uint64_t nothing_reads, nothing_writes; /* accesses to addresses where nothing is */
    uint32_t nothing_first;                 /* the first such address */
    uint64_t unknown_regs;                  /* accesses to P4 where no register is */
    uint32_t unknown_first;

    struct sim_serial line; /* the SCIF's */
    uint64_t noise_state, noise_left;
};

/* board_options_parse - reads the options that board.h lists; what the text leaves out has its
 * default. -ERR_USAGE: an option is unknown or has a wrong value; *out is then untouched. */
int board_options_parse(const char *text, struct board_options *out, struct err *err);
/* board_bus - the windows and callbacks for the CPU. */
void board_bus(struct board *b, struct sh4_bus *bus);
/* board_devices_reset - resets the peripherals as a power-on reset does, or a manual one, which
 * leaves BSC, DMAC, CPG, UBC and watchdog as they are. */
void board_devices_reset(struct board *b, bool power_on);
/* board_stored - a register that only holds what is written; NULL: there is none at addr. */
uint32_t *board_stored(struct board *b, uint32_t addr);
/* board_devices_advance - brings the peripherals up to the CPU's cycle. It does the watchdog's
 * reset if one is due. */
void board_devices_advance(struct board *b);
/* board_devices_next - the CPU cycle of the next event of a peripheral; UINT64_MAX: none. */
uint64_t board_devices_next(const struct board *b);
/* board_irq_update - gives the CPU the most urgent request. */
void board_irq_update(struct board *b);
/* board_faulty - is this fault present now? Not for noise. */
bool board_faulty(const struct board *b, enum board_fault fault);
/* bootrom_fill - writes the built-in boot ROM in the part's byte order. rom: BOARD_ROM_BYTES
 * bytes. */
void bootrom_fill(uint8_t *rom, bool big);

#endif
