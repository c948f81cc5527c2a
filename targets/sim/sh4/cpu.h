/* SH-4 CPU core of the board model: registers, exceptions, caches, pipeline time, performance
 * counters.
 *
 * The core knows no peripheral. Whoever builds the board supplies a struct sh4_bus: a table of
 * plain memory windows, and callbacks for all else. One clock: `cycle`, in CPU cycles since
 * power-on; it never goes back. Deterministic: the same calls give the same state, cycles and
 * counts. Nothing is allocated after init.
 *
 * Sources: SH7750 hardware manual (programming model, exceptions, caches, pipeline). What only
 * silicon can confirm is listed in docs/unverified.md. */
#ifndef TARGETS_SIM_SH4_CPU_H
#define TARGETS_SIM_SH4_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct sh4_cpu;
struct sh4_mmu;  /* mmu.h */
struct sh4_ubc;  /* ubc.h */
struct sh4_fast; /* decoded lines and memoised pipeline states; private to cpu.c */

enum sh4_variant { SH4_VARIANT_7750, SH4_VARIANT_7091 }; /* the latter adds FSCA and FSRRA */

/* Costs in CPU cycles that no public document gives; all unverified on silicon. */
struct sh4_costs {
    uint16_t ifill; /* I-cache line fill: the freeze of one instruction miss */
    uint16_t ofill; /* O-cache line fill: the freeze of one operand miss */
    /* extra freeze when the fill had to write a dirty line back; also OCBP/OCBWB */
    uint16_t writeback;
    uint16_t write_through;  /* store in write-through mode */
    uint16_t uncached_read;  /* operand read past the cache */
    uint16_t uncached_write; /* operand write past the cache (write buffer) */
    uint16_t uncached_fetch; /* one 4-byte instruction fetch past the cache */
    uint16_t io;             /* on-chip register access */
    uint16_t exception;      /* from the instruction boundary to the first handler instruction */
};
extern const struct sh4_costs sh4_default_costs;

/* A window of plain memory in the 29-bit physical space. Bytes in target order. */
struct sh4_window {
    uint32_t base, size; /* physical; multiples of 4096 */
    /* size bytes, or mask + 1 bytes if mirrored; borrowed for the cpu's life */
    uint8_t *host;
    uint32_t mask; /* offset & mask indexes host: size - 1, or less for mirrors */
    bool writable; /* false: CPU writes are dropped (ROM) */
};
enum { SH4_MAX_WINDOWS = 16 };

/* All callbacks run on the caller's thread, inside sh4_cpu_run/step, with cpu->cycle exact.
 * Values are numbers (right-justified), whatever the byte order; size is 1, 2, 4 or 8 bytes.
 * A callback may call any sh4_cpu_* function marked "from a callback" below. */
struct sh4_bus {
    void *ctx;
    struct sh4_window window[SH4_MAX_WINDOWS];
    unsigned nwindows;
    /* Physical accesses (0..0x1BFFFFFF, 29 bits) that fall in no window. Line fills arrive as 4
     * reads of 8. */
    uint64_t (*read)(void *ctx, uint32_t paddr, unsigned size);
    void (*write)(void *ctx, uint32_t paddr, unsigned size, uint64_t value);
    /* On-chip registers, P4 address 0xFC000000..0xFFFFFFFF (area 7 accesses through the TLB arrive
     * with the P4 address too), but for what the core holds itself: CCN 0xFF000000-44 (UBC's
     * BASRA/BASRB 0x14 and 0x18 do arrive here), PMCR/PMCTR, the cache and TLB arrays 0xF0-0xF7,
     * ASERAM. */
    uint64_t (*io_read)(void *ctx, uint32_t addr, unsigned size);
    void (*io_write)(void *ctx, uint32_t addr, unsigned size, uint64_t value);
    /* The core accepted the request given by sh4_cpu_set_irq; one-shot requests end here. May be
     * NULL. */
    void (*irq_ack)(void *ctx, unsigned level, uint16_t intevt);
    /* The core resets itself (exception with BL=1, TLB multiple hit): reset the peripherals as
     * manual reset does. The core has reset itself already. May be NULL. */
    void (*self_reset)(void *ctx, uint16_t expevt);
    /* Reading `addr` again (P4 register, or physical bus address) with nothing else happening gives
     * the same value without side effect until an event the board announces by `until`: then a
     * polling loop on it may be skipped over. NULL: no loop that reads through callbacks is
     * skipped. */
    bool (*stable)(void *ctx, uint32_t addr);
};

struct sh4_config {
    enum sh4_variant variant;
    bool big;               /* byte order of the part (MD5 pin) */
    struct sh4_costs costs; /* all zero: sh4_default_costs */
    uint8_t bus_ratio;      /* CPU clock / bus clock, for CLKF; 0 means 2 */
    bool no_fast_path;      /* single-step path only (tests) */
    /* a counter with PMEN=0 reads as 0 (one hardware report says so); default off */
    bool perf_off_reads_0;
    /* Instruction test mode: fetches and data go to bus.read/write with the 32-bit virtual address
     * as it is; no segment, alignment, privilege, FD, slot check raises (illegal instructions do);
     * no cache, no MMU. */
    bool flat;
};

/* CCN registers. mmu.c reads and writes PTEH.. MMUCR here. */
struct sh4_ccn {
    uint32_t pteh, ptel, ttb, tea, mmucr, ccr, ptea, tra, expevt, intevt, qacr[2];
};

enum sh4_reset { SH4_RESET_POWER_ON, SH4_RESET_MANUAL, SH4_RESET_HUDI };
enum sh4_stop {
    SH4_STOP_CYCLE,   /* cycle >= until, at an instruction boundary */
    SH4_STOP_SLEEP,   /* same, and the core is asleep or held: time passed without instructions */
    SH4_STOP_REQUEST, /* sh4_cpu_stop was called, or ASE mode was entered or left */
};
enum { SH4_NEVENTS = 0x2A, SH4_IRQ_NMI = 16 };

/* One performance counter. count = value when it was last started or stopped; see pmc.c. */
struct sh4_pmc {
    uint16_t pmcr;
    bool running;
    bool readable;  /* stopped so that the count shows even with cfg.perf_off_reads_0 */
    uint64_t count; /* 48 bits */
    uint64_t base;  /* total of the event when it was started */
};

struct sh4_cpu {
    /* Programming model. r[0..7] is the active bank, rb[] the other one: they are exchanged
     * physically when (MD && RB) changes, as fr/xf are when FPSCR.FR changes. Use the setters for
     * sr and fpscr. */
    uint32_t r[16], rb[8];
    uint32_t fr[16], xf[16];
    uint32_t pc, pr, gbr, vbr, mach, macl, ssr, spc, sgr, dbr, fpul;
    uint32_t fpscr;   /* read freely; write by sh4_set_fpscr */
    uint32_t t;       /* SR.T, 0 or 1 */
    uint32_t sr_rest; /* SR without T; read with sh4_get_sr */
    struct sh4_ccn ccn;
    uint8_t aseram[1024]; /* 0xFC000000; the host writes here directly */

    uint64_t cycle;    /* now */
    uint64_t until;    /* of the run under way */
    bool asleep;       /* SLEEP executed, no interrupt yet */
    bool held;         /* reset held (H-UDI reset assert): no instruction runs */
    bool in_ase;       /* ASE mode: ASEBRK/BRKACK reads low */
    bool ase_break;    /* request pending */
    bool stop;         /* sh4_cpu_stop */
    bool nmi_bl;       /* ICR.NMIB: NMI accepted although BL=1 */
    bool ubc_armed;    /* any UBC channel can match: set by sh4_cpu_ubc_armed */
    uint8_t irq_level; /* 0 none, 1-15, SH4_IRQ_NMI */
    uint16_t irq_intevt;
    uint32_t last_fetch, last_operand, last_external; /* for H-UDI internal status; addresses */

    struct sh4_pmc pmc[2];
    /* events since power-on; use sh4_cpu_total: some are gathered lazily */
    uint64_t total[SH4_NEVENTS];

    struct sh4_config cfg;
    struct sh4_bus bus;
    struct sh4_mmu *mmu;   /* set by the board; NULL: no MMU (AT is ignored) */
    struct sh4_ubc *ubc;   /* set by the board; NULL: none */
    struct sh4_fast *fast; /* caches and everything derived from them */
};

/* sh4_cpu_init - a core in power-on reset state, held by nobody
 * cfg, bus   copied; what bus points to is borrowed until sh4_cpu_fini
 * Returns 0 or -ERR_NOMEM. */
int sh4_cpu_init(struct sh4_cpu *cpu, const struct sh4_config *cfg, const struct sh4_bus *bus);
/* sh4_cpu_fini - frees what init took. Half-built and NULL are fine. */
void sh4_cpu_fini(struct sh4_cpu *cpu);

/* sh4_cpu_reset - reset exit: registers as after that reset, PC=0xA0000000 (ase_boot: ASE mode at
 * 0xFC000000 with SPC=0xA0000000, SSR=reset SR). Caches off; contents undefined, here: kept
 * (power-on: invalid). Peripherals are the board's. From a callback too. */
void sh4_cpu_reset(struct sh4_cpu *cpu, enum sh4_reset kind, bool ase_boot);

/* sh4_cpu_run - execute until cpu->cycle >= until (or not at all if it already is)
 * Ends at an instruction boundary, a delayed branch and its slot being one unit; so cycle may pass
 * until by the length of that unit. Asleep or held, time passes and no performance counter moves.
 * Cheap slices are long slices: near `until` the core runs instruction by instruction. */
enum sh4_stop sh4_cpu_run(struct sh4_cpu *cpu, uint64_t until);
/* sh4_cpu_step - one instruction; a delayed branch takes its slot along. A pending interrupt or
 * break that is accepted first counts as the step only if `cycle` alone moved (the handler's first
 * instruction is not run). */
void sh4_cpu_step(struct sh4_cpu *cpu);

/* From a callback: lower the end of the run under way (a device event was scheduled earlier). */
void sh4_cpu_limit(struct sh4_cpu *cpu, uint64_t cycle);
/* From a callback or between runs: the run returns SH4_STOP_REQUEST at the next boundary. */
void sh4_cpu_stop(struct sh4_cpu *cpu);
/* From a callback or between runs: the most urgent request of the INTC; level 0 none, 1-15,
 * SH4_IRQ_NMI. Accepted between instructions, never between branch and slot, if level > IMASK and
 * BL=0 (NMI: any IMASK); in sleep whatever BL. Not accepted in ASE mode before its RTE (BL is set
 * there). */
void sh4_cpu_set_irq(struct sh4_cpu *cpu, unsigned level, uint16_t intevt);
/* From a callback or between runs: ASE break at the next boundary whatever BL; ends sleep. */
void sh4_cpu_request_ase_break(struct sh4_cpu *cpu);
/* From a callback or between runs: UBC registers changed; armed = some channel can match. */
void sh4_cpu_ubc_armed(struct sh4_cpu *cpu, bool armed);
/* Between runs or from a callback: the host (JTAG, DMA) changed plain memory. Nothing need be
 * called for the caches (they do not snoop, as on the part). Decoded code is compared with memory
 * before use. */

/* Registers with derived state. */
uint32_t sh4_get_sr(const struct sh4_cpu *cpu);
void sh4_set_sr(struct sh4_cpu *cpu, uint32_t sr);       /* masks, exchanges banks */
void sh4_set_fpscr(struct sh4_cpu *cpu, uint32_t fpscr); /* masks, exchanges fr/xf */
/* r0-r7 of bank 0 or 1, n 0-7, whichever is active. */
uint32_t *sh4_bank_reg(struct sh4_cpu *cpu, unsigned bank, unsigned n);

/* sh4_cpu_total - count of event `code` (0x01-0x29) since power-on, while counting was allowed.
 * Codes without an event hold the cycles no event counts: 0x00 uncached and I/O waits and exception
 * entry, 0x20 issue rates above 1. elapsed = (instructions - pairs) + freezes + these two, but for
 * a group still open. */
uint64_t sh4_cpu_total(struct sh4_cpu *cpu, unsigned code);
/* sh4_cpu_perf - 48-bit value of counter 0 or 1 as the program would read it. */
uint64_t sh4_cpu_perf(struct sh4_cpu *cpu, unsigned n);

/* Debug view (tests, loaders): bytes as the CPU would read/write them as data at a virtual address
 * with the MMU off: O-cache first, then memory windows. No time, no counters, no exceptions.
 * Returns false outside plain memory. */
bool sh4_cpu_peek(struct sh4_cpu *cpu, uint32_t vaddr, uint8_t *out, uint32_t len);
bool sh4_cpu_poke(struct sh4_cpu *cpu, uint32_t vaddr, const uint8_t *in, uint32_t len);

/* For mmu.c and ubc.c, expected by cpu.c (their headers are the authority):
 *   mmu: translate(vaddr, fetch/read/write, user or privileged) -> physical address, C and WT bits,
 * or an EXPEVT code (0x040.. 0x140, with the vector offset 0x400 for 0x040/0x060); LDTLB; arrays
 * F2,F3,F6,F7; whether the ITLB had to ask the UTLB (counter 0x07) and the UTLB missed (0x03). ubc:
 * does (pc, asid) match channel A/B as instruction, before / after; does (vaddr, size, write,
 * value, asid) match as operand; which flags to set; the core takes the exception (0x1E0). */
#endif
