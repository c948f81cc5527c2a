/* How the parts of an S12Z board model see each other. They have one clock, cpu.cycles: core clocks
 * since power-on (the bus clock is half the core clock). The driver sees nothing of this, only the
 * pins.
 *
 *   pins -> bdc -> bus, cpu, dbg          cpu -> bus -> memories, peripherals (by address)
 *   cpu -> dbg (changes of flow, fetches, data accesses)      peripherals -> intc -> cpu
 *   board owns them all, and runs the CPU up to the next event of a peripheral */
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
    BUS_ILLEGAL, /* refused: a machine exception for the CPU, ILLACC for the BDC */
    BUS_BUSY,    /* flash or EEPROM is busy with a command */
    BUS_ECC      /* double-bit fault: a machine exception for the CPU, RDINV for the BDC */
};

/* The CPU's fast path, in pages of 4 KB. A page with a pointer is plain memory, which the CPU
 * accesses by itself; other pages go through bus_read() and bus_write(). */
enum { BUS_PAGE_BITS = 12, BUS_PAGES = 1 << (24 - BUS_PAGE_BITS) };
struct s12z_bus {
    struct s12z_board *board;
    const uint8_t *read[BUS_PAGES]; /* start of the page; NULL: not plain memory */
    uint8_t *write[BUS_PAGES];
    /* Counts changes, other than by the CPU, of memory that may hold decoded code. */
    uint64_t code_writes;
};

/* bus_read, bus_write - an access of 1 to 4 bytes, big-endian, at any alignment (3: a pointer). It
 * may cross regions, and then succeeds or fails as a whole. After a failed read *v is 0xEE in each
 * byte. Side effects of registers happen once a byte, lowest address first, as the hardware splits
 * an access; an aligned word of a 16-bit register is one access. */
enum bus_result bus_read(struct s12z_bus *b, uint32_t addr, unsigned size, enum bus_master who,
                         uint32_t *v);
enum bus_result bus_write(struct s12z_bus *b, uint32_t addr, unsigned size, enum bus_master who,
                          uint32_t v);

/* bus_map - opens the CPU's fast path to the memories, which the board owns. Flash is left out
 * while it is programmed, and so is each page with an ECC fault. */
void bus_map(struct s12z_bus *b);
void bus_flash_busy(struct s12z_bus *b, bool busy);
/* bus_map_ram - does so for the page of RAM that holds addr, where ECC faults came or went. */
void bus_map_ram(struct s12z_bus *b, uint32_t addr);
/* bus_flash_changed - n bytes from addr on have other contents or other ECC faults. Decoded code of
 * them is dropped. */
void bus_flash_changed(struct s12z_bus *b, uint32_t addr, size_t n);

/* ---- registers of a peripheral: the bus finds the row by address ---- */
struct s12z_device {
    uint16_t first, last; /* addresses in 0x000000-0x000FFF */
    /* size is 1, or 2 for an aligned word as one access. */
    uint16_t (*read)(void *ctx, uint16_t addr, unsigned size);
    void (*write)(void *ctx, uint16_t addr, unsigned size, uint16_t v);
    void *ctx;
    /* next: the core cycle at which something happens by itself; UINT64_MAX: never. advance: does
     * what has happened up to now. Any of these functions may be NULL. */
    uint64_t (*next)(void *ctx);
    void (*advance)(void *ctx, uint64_t now);
    void (*reset)(void *ctx);
};

/* ---- interrupts (intc.c) ---- */
/* The vector of number n is at IVBR's table + 0x1FC - 4n. Source: HDR. */
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
/* intc_new - adds the registers IVBR, CFADDR and CFDATA to the bus. 0 or -ERR_*. */
int intc_new(struct s12z_board *board, struct s12z_intc **out);
void intc_free(struct s12z_intc *i);
/* intc_line - sets the level of a request. It costs little when the level stays. */
void intc_line(struct s12z_intc *i, unsigned vector, bool asserted);
/* intc_pending - the request of highest priority among those that a CPU at priority level ipl
 * takes. Returns its vector number and its priority in *level; -1: there is none. */
int intc_pending(const struct s12z_intc *i, unsigned ipl, unsigned *level);
/* intc_vector_address - where the vector lies, by IVBR. */
uint32_t intc_vector_address(const struct s12z_intc *i, unsigned vector);

/* ---- CPU: cpu.h ---- */
struct s12z_cpu;

/* ---- DBG (dbg*.c) ---- */
struct s12z_dbg;
enum cof_kind {
    COF_BRANCH,   /* conditional; it may be taken or not */
    COF_INDIRECT, /* indexed JMP and JSR, RTS, RTI */
    COF_STATIC,   /* BRA, BSR, JMP and JSR to a static address */
    COF_VECTOR    /* interrupt or software exception */
};
/* dbg_cof - a change of flow, after the instruction or exception entry took effect; cpu.cycles is
 * its end. pc: of the instruction. vector: its number, for COF_VECTOR. */
void dbg_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector);
/* dbg_exec - to be called before each instruction while watch_exec is set. */
void dbg_exec(struct s12z_dbg *d, uint32_t pc);
/* dbg_data - to be called at each data access while watch_data is set. */
void dbg_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v);
/* dbg_readout_long - READ_DBGTB: the next 32 bits. */
uint64_t dbg_readout_long(struct s12z_dbg *d);
/* What silicon may do otherwise than the defaults assume (docs/unverified.md, "S12Z code profiling:
 * the named settings"). Board options set these, so that streams of every kind can be made. */
struct s12z_dbg_variant {
    bool clock_full;      /* a bit takes a whole cycle of PDOCLK */
    bool clock_inverted;  /* PDOCLK idles high */
    bool clock_first;     /* after an idle time, an edge that samples nothing comes first */
    bool short_pthf;      /* a PTHF line has five bytes, not six */
    bool static_indirect; /* JMP and JSR with a static general operand make a PTIB */
    /* These leave nothing in the trace: SWI, SYS, TRAP, SPARE; BRSET, BRCLR; DBcc, TBcc. */
    bool silent_traps, silent_bits, silent_loops;
    bool high_first;       /* addresses and stamps have their high byte first */
    bool stamps_from_flow; /* stamps count from the last change of flow, not from the last line */
};
/* dbg_new - adds the registers 0x0100-0x0147 to the bus. 0 or -ERR_*. */
int dbg_new(struct s12z_board *board, const struct s12z_part *part,
            const struct s12z_dbg_variant *variant, struct s12z_dbg **out);
void dbg_free(struct s12z_dbg *d);
/* Edges of the PDO pins (dbg_pdo.c), as struct sim_board_type in probe/sim.h describes them. */
int dbg_pdo_capture(struct s12z_dbg *d, bool on);
size_t dbg_pdo_take(struct s12z_dbg *d, pdo_edge *out, size_t cap, uint64_t *lost);

/* ---- BDC (bdc.c): the BKGD pin's state machine ---- */
struct s12z_bdc;
/* bdc_new - a BDC that is idle, for use while the board is made. 0 or -ERR_*. */
int bdc_new(struct s12z_board *board, struct s12z_bdc **out);
void bdc_free(struct s12z_bdc *b);
/* bdc_reset - a system reset. BDCCSR is cleared; a special one sets ENBDC, and the CPU is
 * halted. */
void bdc_reset(struct s12z_bdc *b, bool special);
/* bdc_waiting - WAI was executed, or STOP. */
void bdc_waiting(struct s12z_bdc *b, bool stop);
/* bdc_left_wait - the CPU has left WAI or STOP, and a pending BACKGROUND takes effect. */
void bdc_left_wait(struct s12z_bdc *b);
/* bdc_hold - the adapter holds BKGD low (it is MODC at a reset), or releases it. */
void bdc_hold(struct s12z_bdc *b, bool low);
/* bdc_erasing - is a mass erase by ERASE_FLASH under way? */
bool bdc_erasing(const struct s12z_bdc *b);
/* bdc_level - the level of BKGD now. */
bool bdc_level(const struct s12z_bdc *b);
/* bdc_pin - plays n stretches on BKGD. -ERR_USB: the adapter is gone. */
int bdc_pin(struct s12z_bdc *b, struct bkgd_stretch *s, size_t n, struct err *err);
/* bdc_entered - the CPU entered active BDM, for which GO_UNTIL's ACK waits. */
void bdc_entered(struct s12z_bdc *b);

/* ---- peripherals.c: flash controller, CPMU, TIM0, SCI0/1, PMF, ADC0/1, PIM; each is a file of its
 * own, registered with the bus ---- */
struct s12z_peripherals;
/* peripherals_new - makes them all and adds them to the board. serial0, serial1: what is at the
 * other end of each serial line (probe/sim_serial.h). 0 or -ERR_*; *out is to be freed in either
 * case. */
int peripherals_new(struct s12z_board *board, const char *serial0, const char *serial1,
                    struct s12z_peripherals **out, struct err *err);
void peripherals_free(struct s12z_peripherals *p);

/* ---- board (board.c) ---- */
/* board_pass_ns - time passes on the wire, and the core follows. */
void board_pass_ns(struct s12z_board *b, uint64_t ns);
/* board_ns_to_cycles - core cycles in so many ns, rounded down. */
uint64_t board_ns_to_cycles(const struct s12z_board *b, uint64_t ns);
/* board_add_device - *d is copied. For use while the board is made. 0; -ERR_RESOURCE: too many. */
int board_add_device(struct s12z_board *b, const struct s12z_device *d);
/* board_replan - a device's next() became nearer, so the CPU has to stop earlier. */
void board_replan(struct s12z_board *b);
/* board_now - core cycles since power-on. */
uint64_t board_now(const struct s12z_board *b);
/* board_run_to - runs CPU and peripherals up to this core cycle, in whatever state the CPU is. */
void board_run_to(struct s12z_board *b, uint64_t cycles);
/* board_reset - a system reset; special: to special single chip mode, halted. */
void board_reset(struct s12z_board *b, bool special);
/* board_secured - is the part secured, as FSEC has it? */
bool board_secured(const struct s12z_board *b);
/* board_machine_exception - captures the first error for the MMC's registers. why: what the bus
 * answered. */
enum mmc_access { MMC_FETCH = 1, MMC_VECTOR, MMC_LOAD, MMC_STORE };
void board_machine_exception(struct s12z_board *b, uint32_t addr, enum mmc_access access,
                             enum bus_result why, uint32_t pc, uint16_t ccw);
/* board_entered_bdm - the CPU has entered active BDM, which the BDC may have waited for. */
void board_entered_bdm(struct s12z_board *b);
/* board_waiting - WAI or STOP was executed: sets the flag of BDCCSR. */
void board_waiting(struct s12z_board *b, bool stop);
/* board_left_wait - the CPU has left WAI or STOP. */
void board_left_wait(struct s12z_board *b);
/* board_intc, board_dbg, board_cpu - other parts of the board, owned by it. */
struct s12z_intc *board_intc(struct s12z_board *b);
struct s12z_dbg *board_dbg(struct s12z_board *b);
struct s12z_cpu *board_cpu(struct s12z_board *b);

#endif
