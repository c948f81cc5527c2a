/* How the parts of an S12Z board model see each other. One clock: cpu.cycles, core clocks since
 * power-on (bus clock = core / 2). Nothing here is seen by the driver: it has the pins only.
 *
 *   pins -> bdc -> bus, cpu, dbg          cpu -> bus -> memories, peripherals (by address)
 *   cpu -> dbg (changes of flow, fetches, data accesses)      peripherals -> intc -> cpu
 *   board owns them all, runs the CPU up to the next peripheral event */
#ifndef TARGETS_SIM_S12Z_MODEL_H
#define TARGETS_SIM_S12Z_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "probe/sim.h"
#include "targets/sim/s12z/part.h"

struct s12z_board;

/* ---- bus (bus.c): everything with an address ---- */
enum bus_master { BUS_CPU_FETCH, BUS_CPU, BUS_BDC };
enum bus_result {
    BUS_OK,
    BUS_ILLEGAL /* CPU: machine exception; BDC: ILLACC */,
    BUS_BUSY /* flash being programmed */,
    BUS_ECC /* double-bit fault: RDINV for BDC, machine exception for CPU */
};

/* 4 KB pages for the CPU's fast path: a page with a pointer is plain memory, others go through
 * bus_read/bus_write. */
enum { BUS_PAGE_BITS = 12, BUS_PAGES = 1 << (24 - BUS_PAGE_BITS) };
struct s12z_bus {
    struct s12z_board *board;
    const uint8_t *read[BUS_PAGES]; /* start of the page; NULL: not plain */
    uint8_t *write[BUS_PAGES];
    /* counts up when memory that may hold decoded code changes other than by the CPU */
    uint64_t code_writes;
};

/* An access of 1 to 4 bytes (3 = pointers), big-endian, at any alignment; it may cross regions
 * (then the whole fails or none). *v is 0xEE.. after a failed read. side effects of registers
 * happen once per byte, lowest address first, as hardware splits them; an aligned word to a 16-bit
 * register is one access. */
enum bus_result bus_read(struct s12z_bus *b, uint32_t addr, unsigned size, enum bus_master who,
                         uint32_t *v);
enum bus_result bus_write(struct s12z_bus *b, uint32_t addr, unsigned size, enum bus_master who,
                          uint32_t v);

/* Memories are the board's; these open and close the CPU's fast path to flash (closed while it is
 * programmed, and where it has ECC faults) and tell the CPU what changed. */
void bus_map(struct s12z_bus *b);
void bus_flash_busy(struct s12z_bus *b, bool busy);
/* ECC faults in the page of addr came or went */
void bus_map_ram(struct s12z_bus *b, uint32_t addr);
/* contents or ECC faults of n bytes */
void bus_flash_changed(struct s12z_bus *b, uint32_t addr, size_t n);

/* ---- registers of a peripheral: the bus finds the row by address ---- */
struct s12z_device {
    uint16_t first, last; /* addresses in 0x000000-0x000FFF */
    /* size 1 or 2 (2: aligned word, as one access) */
    uint16_t (*read)(void *ctx, uint16_t addr, unsigned size);
    void (*write)(void *ctx, uint16_t addr, unsigned size, uint16_t v);
    void *ctx;
    /* When, in core cycles, something will happen by itself (UINT64_MAX: never), and making it
     * happen up to now. */
    uint64_t (*next)(void *ctx);
    void (*advance)(void *ctx, uint64_t now);
    void (*reset)(void *ctx);
};

/* ---- interrupts (intc.c) ---- */
/* Vector number n is at table + 0x1FC - 4n (HDR): 0 reset, 1 SPARE, 2 TRAP, 3 SWI, 4 SYS, 5 machine
 * exception, 8 spurious, 9 XIRQ, 10 IRQ, 11 RTI ... */
enum {
    VEC_RESET,
    VEC_SPARE,
    VEC_TRAP,
    VEC_SWI,
    VEC_SYS,
    VEC_MACHINE,
    VEC_SPURIOUS = 8,
    VEC_XIRQ,
    VEC_IRQ,
    VEC_RTI,
    VEC_TIM0_CH0 = 12,
    VEC_TIM0_OVF = 20,
    VEC_SCI0 = 24,
    VEC_SCI1 = 25,
    VEC_ADC0_DONE = 30,
    VEC_FLASH_ERROR = 38,
    VEC_FLASH = 39,
    VEC_COUNT = 128
};
struct s12z_intc;
/* registers IVBR, CFADDR, CFDATA with the bus */
int intc_new(struct s12z_board *board, struct s12z_intc **out);
void intc_free(struct s12z_intc *i);
/* a level; cheap when it does not change */
void intc_line(struct s12z_intc *i, unsigned vector, bool asserted);
/* Highest pending request that priority level ipl lets through: vector number, *level its priority;
 * -1 if none. */
int intc_pending(const struct s12z_intc *i, unsigned ipl, unsigned *level);
uint32_t intc_vector_address(const struct s12z_intc *i, unsigned vector); /* through IVBR */

/* ---- CPU: cpu.h ---- */
struct s12z_cpu;

/* ---- DBG (dbg*.c) ---- */
struct s12z_dbg;
enum cof_kind {
    COF_BRANCH,
    /* conditional; taken tells */ COF_INDIRECT,
    /* indexed JMP/JSR, RTS, RTI */ COF_STATIC,
    /* BRA, BSR, JMP/JSR
to a static address */
    COF_VECTOR /* interrupt or software exception */
};
/* After the instruction (or exception entry) took effect; cpu.cycles is its end. pc: of the
 * instruction. vector: number. */
void dbg_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector);
/* before each instruction, when watch_exec */
void dbg_exec(struct s12z_dbg *d, uint32_t pc);
/* when watch_data */
void dbg_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v);
uint64_t dbg_readout_long(struct s12z_dbg *d); /* READ_DBGTB: the next 32 bits */
/* What silicon may do otherwise than the defaults have it (docs/unverified.md): board options, so
 * that streams of every kind can be made. */
struct s12z_dbg_variant {
    bool clock_full;      /* a whole cycle of PDOCLK for each bit */
    bool clock_inverted;  /* PDOCLK idles high */
    bool clock_first;     /* an edge that samples nothing begins what is sent after an idle time */
    bool short_pthf;      /* five bytes */
    bool static_indirect; /* JMP and JSR with a static general operand make a PTIB */
    /* SWI, SYS, TRAP, SPARE; BRSET, BRCLR; DBcc, TBcc leave nothing */
    bool silent_traps, silent_bits, silent_loops;
    bool high_first;       /* of addresses and stamps */
    bool stamps_from_flow; /* the time restarts at every change of flow, not at lines alone */
};
int dbg_new(struct s12z_board *board, const struct s12z_part *part,
            const struct s12z_dbg_variant *variant,
            struct s12z_dbg **out); /* registers 0x0100-0x0147 */
void dbg_free(struct s12z_dbg *d);
/* PDO pins. */
int dbg_pdo_capture(struct s12z_dbg *d, bool on);
size_t dbg_pdo_take(struct s12z_dbg *d, pdo_edge *out, size_t cap, uint64_t *lost);

/* ---- BDC (bdc.c): the BKGD pin's state machine ---- */
struct s12z_bdc;
int bdc_new(struct s12z_board *board, struct s12z_bdc **out);
void bdc_free(struct s12z_bdc *b);
/* system reset: BDCCSR; special: ENBDC=1 and halted */
void bdc_reset(struct s12z_bdc *b, bool special);
void bdc_waiting(struct s12z_bdc *b, bool stop); /* WAI or STOP was executed */
/* the CPU runs again: a pending BACKGROUND takes effect */
void bdc_left_wait(struct s12z_bdc *b);
/* the adapter holds BKGD low (MODC at reset) or lets it go */
void bdc_hold(struct s12z_bdc *b, bool low);
bool bdc_erasing(const struct s12z_bdc *b); /* a mass erase by ERASE_FLASH is under way */
bool bdc_level(const struct s12z_bdc *b);   /* of the pin now */
int bdc_pin(struct s12z_bdc *b, struct bkgd_stretch *s, size_t n, struct err *err);
void bdc_entered(struct s12z_bdc *b); /* the CPU went to active BDM (GO_UNTIL's ACK) */

/* ---- peripherals.c: flash controller, CPMU, TIM0, SCI0/1, PMF, ADC0, PIM; each a file of its own,
 * registered with the bus ---- */
struct s12z_peripherals;
int peripherals_new(struct s12z_board *board, const char *serial0, const char *serial1,
                    struct s12z_peripherals **out, struct err *err);
void peripherals_free(struct s12z_peripherals *p);

/* ---- board (board.c) ---- */
/* time passes on the wire, the core follows */
void board_pass_ns(struct s12z_board *b, uint64_t ns);
uint64_t board_ns_to_cycles(const struct s12z_board *b, uint64_t ns);
/* copied; when the board is made */
int board_add_device(struct s12z_board *b, const struct s12z_device *d);
void board_replan(struct s12z_board *b);        /* a device's next() became nearer */
uint64_t board_now(const struct s12z_board *b); /* core cycles */
/* CPU and peripherals up to this core cycle, whatever the state */
void board_run_to(struct s12z_board *b, uint64_t cycles);
void board_reset(struct s12z_board *b, bool special);
bool board_secured(const struct s12z_board *b);
/* MMC error capture; why: what the bus said. */
enum mmc_access { MMC_FETCH = 1, MMC_VECTOR, MMC_LOAD, MMC_STORE };
void board_machine_exception(struct s12z_board *b, uint32_t addr, enum mmc_access access,
                             enum bus_result why, uint32_t pc, uint16_t ccw);
void board_entered_bdm(struct s12z_board *b);
/* WAI or STOP was executed: BDCCSR flags, clocks */
void board_waiting(struct s12z_board *b, bool stop);
void board_left_wait(struct s12z_board *b);
struct s12z_intc *board_intc(struct s12z_board *b);
struct s12z_dbg *board_dbg(struct s12z_board *b);
struct s12z_cpu *board_cpu(struct s12z_board *b);

#endif
