/* SH-4 CPU core of the board model: registers, exceptions, caches, pipeline time, performance
 * counters.
 *
 * The core knows no peripheral. Whoever builds the board supplies a struct sh4_bus: a table of
 * windows of plain memory, and callbacks for everything else. There is one clock, `cycle`: CPU
 * cycles since power-on, which never go back. The same calls give the same state, cycles and
 * counts. Nothing is allocated after init.
 *
 * Source: SH7750 hardware manual, sections 2 (Programming Model), 4 (Caches), 5 (Exceptions) and 8
 * (Pipelining). docs/unverified.md lists what only silicon can confirm. */
#ifndef TARGETS_SIM_SH4_CPU_H
#define TARGETS_SIM_SH4_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct sh4_cpu;
struct sh4_mmu;  /* mmu.h */
struct sh4_ubc;  /* ubc.h */
struct sh4_fast; /* caches and what is derived from them; private (cpu_internal.h) */

enum sh4_variant { SH4_VARIANT_7750, SH4_VARIANT_7091 }; /* the SH7091 adds FSCA and FSRRA */

/* Costs in CPU cycles that no public document gives. All of them are unverified on silicon. */
struct sh4_costs {
    uint16_t ifill; /* I-cache line fill: how long one instruction miss stops the pipeline */
    uint16_t ofill; /* O-cache line fill: how long one operand miss stops it */
    /* What a fill takes longer if a dirty line has to be written back first; also the time of OCBP
     * and OCBWB. */
    uint16_t writeback;
    uint16_t write_through;  /* a store in write-through mode */
    uint16_t uncached_read;  /* an operand read that bypasses the cache */
    uint16_t uncached_write; /* an operand write that bypasses it (write buffer) */
    uint16_t uncached_fetch; /* an instruction fetch of 4 bytes that bypasses it */
    uint16_t io;             /* an access to an on-chip register */
    /* From the instruction boundary to the first instruction of the handler. */
    uint16_t exception;
};
extern const struct sh4_costs sh4_default_costs;

/* A window of plain memory in the 29-bit physical space. Its bytes are in the target's order. */
struct sh4_window {
    uint32_t base, size; /* physical address and bytes; multiples of 4096 */
    /* It has `size` bytes, or mask + 1 bytes if it is mirrored. It is borrowed for the CPU's
     * life. */
    uint8_t *host;
    uint32_t mask; /* offset & mask is the index into host: size - 1, or less for mirrors */
    bool writable; /* false: writes of the CPU are dropped (ROM) */
};
enum { SH4_MAX_WINDOWS = 16 };

/* What the board does for the core. The callbacks are called on the caller's thread, within
 * sh4_cpu_run() or sh4_cpu_step(), with cpu->cycle exact. Values are right-justified numbers in
 * either byte order; size is 1, 2, 4 or 8 bytes. A callback may call the sh4_cpu_* functions that
 * are marked "from a callback" below. */
struct sh4_bus {
    void *ctx;
    struct sh4_window window[SH4_MAX_WINDOWS];
    unsigned nwindows;
    /* Accesses to physical addresses (29 bits, up to 0x1BFFFFFF) outside of all windows. A line
     * fill comes as 4 reads of 8 bytes. */
    uint64_t (*read)(void *ctx, uint32_t paddr, unsigned size);
    void (*write)(void *ctx, uint32_t paddr, unsigned size, uint64_t value);
    /* Accesses to on-chip registers, with their P4 address (0xFC000000 to 0xFFFFFFFF); accesses to
     * area 7 through the TLB have the P4 address, too. What the core has itself does not come here:
     * CCN at 0xFF000000-44 (but BASRA and BASRB of the UBC, 0x14 and 0x18, do come), PMCR and
     * PMCTR, the cache and TLB arrays at 0xF0-0xF7, ASERAM. */
    uint64_t (*io_read)(void *ctx, uint32_t addr, unsigned size);
    void (*io_write)(void *ctx, uint32_t addr, unsigned size, uint64_t value);
    /* The core has accepted the request that was set by sh4_cpu_set_irq(). Requests that are only
     * an edge end here. May be NULL. */
    void (*irq_ack)(void *ctx, unsigned level, uint16_t intevt);
    /* The core has reset itself (an exception with BL=1, or a TLB multiple hit): reset the
     * peripherals as a manual reset does. May be NULL. */
    void (*self_reset)(void *ctx, uint16_t expevt);
    /* Does reading `addr` again (a P4 register, or a physical address on the bus) give the same
     * value, without a side effect, until an event for which the board ends the run? A loop that
     * polls it may then be skipped over. NULL: no loop that reads through callbacks is skipped. */
    bool (*stable)(void *ctx, uint32_t addr);
};

struct sh4_config {
    enum sh4_variant variant;
    bool big;               /* byte order of the part (pin MD5) */
    struct sh4_costs costs; /* all zero: sh4_default_costs */
    uint8_t bus_ratio;      /* CPU clock / bus clock, for PMCR.CLKF; 0 means 2 */
    bool no_fast_path;      /* tests: use the single-step path only */
    /* A counter with PMEN=0 reads as 0, as one hardware report says. Default: off. */
    bool perf_off_reads_0;
    /* For tests of single instructions. Fetches and data accesses go to bus.read and bus.write with
     * the 32-bit virtual address, without caches and MMU. Segments, alignment, privilege, FD and
     * slots are not checked; illegal instructions raise their exception. */
    bool flat;
};

/* CCN registers. mmu.c reads and writes PTEH to MMUCR here. */
struct sh4_ccn {
    uint32_t pteh, ptel, ttb, tea, mmucr, ccr, ptea, tra, expevt, intevt, qacr[2];
};

enum sh4_reset { SH4_RESET_POWER_ON, SH4_RESET_MANUAL, SH4_RESET_HUDI };
enum sh4_stop {
    SH4_STOP_CYCLE, /* cycle >= until, at an instruction boundary */
    /* the same, but the core is asleep or held: time passed without instructions */
    SH4_STOP_SLEEP,
    SH4_STOP_REQUEST, /* sh4_cpu_stop() was called, or ASE mode was entered or left */
};
enum { SH4_NEVENTS = 0x2A, SH4_IRQ_NMI = 16 };

/* A performance counter (pmc.c). */
struct sh4_pmc {
    uint16_t pmcr;
    bool running;
    /* it was stopped in a way that leaves it readable even with cfg.perf_off_reads_0 */
    bool readable;
    uint64_t count; /* 48 bits, when it was last started or stopped */
    uint64_t base;  /* total of its event when it was started */
};

struct sh4_cpu {
    /* The programming model. r[0..7] is the active bank and rb[] the other one. Their contents are
     * exchanged when (MD && RB) changes, and those of fr and xf when FPSCR.FR does, so SR and FPSCR
     * have to be written by their functions. */
    uint32_t r[16], rb[8];
    uint32_t fr[16], xf[16];
    uint32_t pc, pr, gbr, vbr, mach, macl, ssr, spc, sgr, dbr, fpul;
    uint32_t fpscr;   /* may be read; to be written by sh4_set_fpscr() */
    uint32_t t;       /* SR.T, 0 or 1 */
    uint32_t sr_rest; /* SR without T; sh4_get_sr() reads all of it */
    struct sh4_ccn ccn;
    uint8_t aseram[1024]; /* at 0xFC000000; the host writes it directly */

    uint64_t cycle;    /* the time now */
    uint64_t until;    /* the end of the run under way */
    bool asleep;       /* SLEEP was executed, and no interrupt has come yet */
    bool held;         /* held in reset (pin, or H-UDI reset assert): no instruction is executed */
    bool in_ase;       /* ASE mode; the pin ASEBRK/BRKACK reads low */
    bool ase_break;    /* an ASE break is requested */
    bool stop;         /* sh4_cpu_stop() was called */
    bool nmi_bl;       /* ICR.NMIB: an NMI is accepted although BL=1 */
    bool ubc_armed;    /* some UBC channel can match; set by sh4_cpu_ubc_armed() */
    uint8_t irq_level; /* 0: none; 1-15; SH4_IRQ_NMI */
    uint16_t irq_intevt;
    /* Addresses for the internal status read of H-UDI. */
    uint32_t last_fetch, last_operand, last_external;

    struct sh4_pmc pmc[2];
    /* Events since power-on. sh4_cpu_total() reads them, since some are added up only when asked
     * for. */
    uint64_t total[SH4_NEVENTS];

    struct sh4_config cfg;
    struct sh4_bus bus;
    struct sh4_mmu *mmu;   /* set by the board; NULL: no MMU, and MMUCR.AT is ignored */
    struct sh4_ubc *ubc;   /* set by the board; NULL: no UBC */
    struct sh4_fast *fast; /* caches and what is derived from them */
};

/* sh4_cpu_init - a core in the state of a power-on reset, not held in reset
 * cfg, bus   copied; what bus points to is borrowed until sh4_cpu_fini
 * Returns 0 or -ERR_NOMEM. */
int sh4_cpu_init(struct sh4_cpu *cpu, const struct sh4_config *cfg, const struct sh4_bus *bus);
/* sh4_cpu_fini - frees what init allocated. NULL and a half-built core are fine. */
void sh4_cpu_fini(struct sh4_cpu *cpu);

/* sh4_cpu_reset - the exit of a reset: registers as that reset leaves them, PC=0xA0000000.
 * ase_boot: the core enters ASE mode at 0xFC000000, with SPC=0xA0000000 and SSR the SR of a reset.
 * Caches are off. Their contents are undefined; here they are kept, and a power-on reset
 * invalidates them. The board resets the peripherals. May be called from a callback. */
void sh4_cpu_reset(struct sh4_cpu *cpu, enum sh4_reset kind, bool ase_boot);

/* sh4_cpu_run - executes until cpu->cycle >= until; nothing if it already is. A delayed branch and
 * its slot are one unit, after which the run ends, so cycle may exceed until by the length of a
 * unit. While the core is asleep or held, time passes and no performance counter moves. Long runs
 * are cheaper than many short ones: near `until` the core executes instruction by instruction. */
enum sh4_stop sh4_cpu_run(struct sh4_cpu *cpu, uint64_t until);
/* sh4_cpu_step - executes one instruction, or a delayed branch with its slot. If an interrupt or
 * ASE break is accepted instead, its entry is the step, and the handler's first instruction is not
 * executed. */
void sh4_cpu_step(struct sh4_cpu *cpu);

/* From a callback: ends the run under way earlier, since a device's event has become nearer. */
void sh4_cpu_limit(struct sh4_cpu *cpu, uint64_t cycle);
/* From a callback or between runs: the run returns SH4_STOP_REQUEST at the next boundary. */
void sh4_cpu_stop(struct sh4_cpu *cpu);
/* From a callback or between runs: sets the most urgent request of the INTC; level is 0 (none),
 * 1-15 or SH4_IRQ_NMI. The core accepts it between instructions, never between branch and slot, if
 * level > IMASK and BL=0. An NMI does not depend on IMASK. In sleep BL does not count. In ASE mode
 * nothing is accepted before its RTE. */
void sh4_cpu_set_irq(struct sh4_cpu *cpu, unsigned level, uint16_t intevt);
/* From a callback or between runs: requests an ASE break at the next boundary, whatever BL is. It
 * ends sleep. */
void sh4_cpu_request_ase_break(struct sh4_cpu *cpu);
/* From a callback or between runs: UBC registers have changed. armed: some channel can match. */
void sh4_cpu_ubc_armed(struct sh4_cpu *cpu, bool armed);
/* The host (JTAG, DMA) may change plain memory from a callback or between runs. Nothing has to be
 * called then: the caches do not snoop, as on the part, and decoded code is compared with memory
 * before use. */

/* Registers from which other state is derived. */
uint32_t sh4_get_sr(const struct sh4_cpu *cpu);
void sh4_set_sr(struct sh4_cpu *cpu, uint32_t sr);       /* masks the value, exchanges banks */
void sh4_set_fpscr(struct sh4_cpu *cpu, uint32_t fpscr); /* masks the value, exchanges fr and xf */
/* R0-R7 of bank 0 or 1, whichever is active; n is 0-7. */
uint32_t *sh4_bank_reg(struct sh4_cpu *cpu, unsigned bank, unsigned n);

/* sh4_cpu_total - count of event `code` (0x01-0x29) since power-on, in the times in which events
 * are counted. Two codes that are no events have the cycles that no event counts: 0x00 uncached and
 * I/O waits and exception entries, 0x20 issue rates above 1. Elapsed time is (instructions - pairs)
 * + freezes + these two, except for a group of instructions whose issue is not complete. */
uint64_t sh4_cpu_total(struct sh4_cpu *cpu, unsigned code);
/* sh4_cpu_perf - the 48-bit value of counter 0 or 1, as the program would read it. */
uint64_t sh4_cpu_perf(struct sh4_cpu *cpu, unsigned n);

/* sh4_cpu_peek, sh4_cpu_poke - for tests and loaders: bytes as a data access of the CPU to this
 * virtual address would find them with the MMU off, in the O-cache or in a window. They take no
 * time, count nothing and raise no exception. False: an address is outside of plain memory. */
bool sh4_cpu_peek(struct sh4_cpu *cpu, uint32_t vaddr, uint8_t *out, uint32_t len);
bool sh4_cpu_poke(struct sh4_cpu *cpu, uint32_t vaddr, const uint8_t *in, uint32_t len);

#endif
