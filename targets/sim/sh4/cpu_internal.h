/* What the files of the CPU core share. Nothing else includes it. */
#ifndef TARGETS_SIM_SH4_CPU_INTERNAL_H
#define TARGETS_SIM_SH4_CPU_INTERNAL_H

#include <string.h>

#include "targets/sh4/isa/isa.h"
#include "targets/sim/sh4/cpu.h"
#include "targets/sim/sh4/mmu.h"
#include "targets/sh4/isa/timing.h"
#include "targets/sim/sh4/ubc.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define SR_MD          0x40000000u
#define SR_RB          0x20000000u
#define SR_BL          0x10000000u
#define SR_FD          0x00008000u
#define SR_M           0x200u
#define SR_Q           0x100u
#define SR_IMASK       0xF0u
#define SR_S           0x2u
#define SR_T           0x1u
#define SR_WRITABLE    0x700083F3u
#define SR_RESET       0x700000F0u
#define FPSCR_WRITABLE 0x003FFFFFu
#define FPSCR_RESET    0x00040001u
#define FPSCR_FR       0x200000u
#define FPSCR_SZ       0x100000u
#define FPSCR_PR       0x080000u

#define CCR_OCE      0x0001u
#define CCR_WT       0x0002u
#define CCR_CB       0x0004u
#define CCR_OCI      0x0008u
#define CCR_ORA      0x0020u
#define CCR_OIX      0x0080u
#define CCR_ICE      0x0100u
#define CCR_ICI      0x0800u
#define CCR_IIX      0x8000u
#define CCR_WRITABLE (CCR_OCE | CCR_WT | CCR_CB | CCR_ORA | CCR_OIX | CCR_ICE | CCR_IIX)
#define MMUCR_AT     0x1u

#define ASERAM_AREA 0xFCu /* the top byte of its addresses */

/* Performance events (codes of PMCR.PMM), and codes that are no events, for other cycles. */
enum {
    EV_OTHER_WAIT = 0x00, /* cycles: uncached and I/O waits, exception entries */
    EV_OP_READ_C = 0x01,
    EV_OP_WRITE_C,
    EV_UTLB_MISS,
    EV_OC_READ_MISS,
    EV_OC_WRITE_MISS,
    EV_FETCH_C,
    EV_ITLB_MISS,
    EV_IC_MISS,
    EV_OP_ALL,
    EV_FETCH_ALL,
    EV_RAM_OP,
    EV_RAM_FETCH,
    EV_IO_OP,
    EV_OP_C,
    EV_OC_MISS,
    EV_BRANCH = 0x10,
    EV_TAKEN,
    EV_CALL,
    EV_INSN,
    EV_PAIR,
    EV_FPU,
    EV_IRQ,
    EV_NMI,
    EV_TRAPA,
    EV_UBC_A,
    EV_UBC_B,
    EV_ISSUE_LOCK = 0x20, /* cycles: issue rates above 1 */
    EV_IC_FILL = 0x21,
    EV_OC_FILL,
    EV_ELAPSED,
    EV_FREEZE_IC,
    EV_FREEZE_OC,
    EV_FREEZE_BRANCH = 0x27,
    EV_FREEZE_REG,
    EV_FREEZE_FPU
};

enum { OC_LINES = 512, IC_LINES = 256, LINE = 32 };
/* Are these n bytes equal? n is a constant and a multiple of 8. Every run of the core asks this.
 * memcmp() would be slower: a sanitizer intercepts it, and its check takes longer than the
 * comparison. */
static inline bool same_words(const void *a, const void *b, size_t n)
{
    const char *x = a, *y = b;
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t v, w;
        memcpy(&v, x + i, 8);
        memcpy(&w, y + i, 8);
        differ |= v ^ w;
    }
    return !differ;
}
/* Set in a tag: the entry is not valid. The address bits stay readable. */
#define TAG_INVALID 0x80000000u

struct sh4_fast {
    /* Tags are physical addresses of lines, bits 28-5, with TAG_INVALID if not valid. */
    uint32_t otag[OC_LINES];
    uint8_t odirty[OC_LINES];
    uint8_t odata[OC_LINES][LINE];
    uint32_t itag[IC_LINES];
    uint8_t idata[IC_LINES][LINE];
    uint8_t sq[2][LINE]; /* the store queues */
    struct sh4_pipe pipe;
    /* SPC if the unit under way raises an exception: the address of its branch, or its own. */
    uint32_t insn_pc;
    uint32_t next_pc; /* where execution goes on after the unit */
    bool in_slot;
    bool faulted; /* the unit ended in an exception */
    /* The next fetch begins a new 4-byte word, even if pc is in the second half of one. */
    bool fetch_redirected;
    uint8_t ubc_after; /* UBC channels that break after the instruction under way */
    /* Changes whenever something happened that the next pass of the same loop may not meet
     * again. */
    uint64_t effects;
    /* the opcodes that the single-step path executed last; ops[nops] is the next */
    uint16_t ops[256];
    uint8_t nops;
    /* cpu_idle.c: it does not look again before this cycle; and the last pause between looks. */
    uint64_t next_look, look_pause;
    uint64_t ase_since; /* cycle of entry to ASE mode */
    uint64_t dead;      /* cycles asleep, held or in ASE mode, which elapsed time leaves out */
    /* Totals at entry to ASE mode. What is counted there is taken back. */
    uint64_t saved[SH4_NEVENTS];
    struct sh4_tdesc_cache *tdesc;
    struct sh4_blocks *blocks; /* decoded code (decode.h) */
};

static inline void count_event(struct sh4_cpu *cpu, unsigned ev) { cpu->total[ev]++; }
static inline void spend_cycles(struct sh4_cpu *cpu, unsigned ev, unsigned cycles)
{
    cpu->total[ev] += cycles;
    cpu->cycle += cycles;
}

/* ---- cpu_exception.c: these take the exception at fast->insn_pc and set `faulted` ---- */
/* A general exception, vector VBR + 0x100. */
void sh4_raise(struct sh4_cpu *cpu, uint16_t expevt);
/* An exception of a memory access: sets TEA and PTEH, and takes the TLB vector for a TLB miss. */
void sh4_raise_mem(struct sh4_cpu *cpu, uint16_t expevt, uint32_t vaddr);
/* TRAPA: SPC is the address of the next instruction. */
void sh4_trapa(struct sh4_cpu *cpu, uint8_t imm);
/* A user break, to DBR or VBR + 0x100. BL must be 0. */
void sh4_user_break(struct sh4_cpu *cpu, uint32_t spc);
/* Enters ASE mode, in which no event is counted. The exception itself is the caller's. */
void sh4_enter_ase(struct sh4_cpu *cpu);
/* Leaves ASE mode, if the core is in it. */
void sh4_leave_ase(struct sh4_cpu *cpu);
/* Takes an ASE break, an NMI or an interrupt. True: one was taken. */
bool sh4_accept_events(struct sh4_cpu *cpu);
/* Would sh4_accept_events() take something now? */
bool sh4_events_pending(const struct sh4_cpu *cpu);

/* ---- cpu_mem.c: accesses of the program; false: an exception was taken ---- */
/* Fetches the instruction at pc. */
bool sh4_mem_fetch(struct sh4_cpu *cpu, uint32_t pc, uint16_t *op);
/* An operand access of 1, 2, 4 or 8 bytes. */
bool sh4_mem_read(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint64_t *value);
bool sh4_mem_write(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint64_t value);
/* PREF, OCBI, OCBP, OCBWB and MOVCA.L. */
bool sh4_mem_pref(struct sh4_cpu *cpu, uint32_t vaddr);
enum sh4_block_op { BLOCK_OCBI, BLOCK_OCBP, BLOCK_OCBWB };
bool sh4_mem_block_op(struct sh4_cpu *cpu, uint32_t vaddr, enum sh4_block_op what);
bool sh4_mem_movca(struct sh4_cpu *cpu, uint32_t vaddr, uint32_t value);
/* Sets bit 7 of the byte, and reads it before into *old. */
bool sh4_mem_tas(struct sh4_cpu *cpu, uint32_t vaddr, uint64_t *old);
/* ---- cpu_p4.c: addresses from 0xE0000000 on ---- */
uint64_t sh4_p4_read(struct sh4_cpu *cpu, uint32_t addr, unsigned size);
bool sh4_p4_write(struct sh4_cpu *cpu, uint32_t addr, unsigned size, uint64_t value);
/* ---- phys.c: physical memory without caches: windows first, then the bus callbacks ---- */
/* size is 1, 2, 4 or 8 bytes; a line has 32, and paddr is then its address. */
uint64_t sh4_phys_read(struct sh4_cpu *cpu, uint32_t paddr, unsigned size);
void sh4_phys_write(struct sh4_cpu *cpu, uint32_t paddr, unsigned size, uint64_t value);
void sh4_phys_read_line(struct sh4_cpu *cpu, uint32_t paddr, uint8_t line[LINE]);
void sh4_phys_write_line(struct sh4_cpu *cpu, uint32_t paddr, const uint8_t line[LINE]);
/* The window that has all len bytes from paddr on; NULL: there is none. */
const struct sh4_window *sh4_find_window(const struct sh4_cpu *cpu, uint32_t paddr, unsigned len);
/* Numbers in the target's byte order. */
uint64_t sh4_get_bytes(const uint8_t *p, unsigned size, bool big);
void sh4_put_bytes(uint8_t *p, unsigned size, uint64_t value, bool big);

/* ---- cache.c ---- */
/* The entry of the O-cache or I-cache for vaddr, as CCR has it. */
unsigned sh4_oc_index(const struct sh4_cpu *cpu, uint32_t vaddr);
unsigned sh4_ic_index(const struct sh4_cpu *cpu, uint32_t vaddr);
/* The byte of O-cache RAM (CCR.ORA) at vaddr, 0x7C000000 and up. */
uint8_t *sh4_oc_ram(struct sh4_cpu *cpu, uint32_t vaddr);
/* Fills the line at paddr into the entry; a dirty line there is written back before. */
void sh4_oc_fill(struct sh4_cpu *cpu, unsigned index, uint32_t paddr);
/* Invalidates an entry, and writes a dirty line back if asked to. */
void sh4_oc_drop(struct sh4_cpu *cpu, unsigned index, bool write_back);
void sh4_ic_fill(struct sh4_cpu *cpu, unsigned index, uint32_t paddr);
/* A write of the program to CCR. */
void sh4_write_ccr(struct sh4_cpu *cpu, uint32_t value);
/* The memory-mapped arrays at 0xF0, 0xF1, 0xF4 and 0xF5. A write returns true. */
uint32_t sh4_cache_array_read(struct sh4_cpu *cpu, uint32_t addr);
bool sh4_cache_array_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t value);

/* ---- pmc.c ---- */
/* Both: false if there is no counter register at addr. */
bool sh4_pmc_read(struct sh4_cpu *cpu, uint32_t addr, uint32_t *value);
bool sh4_pmc_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t value);
/* Both counters as after a reset: stopped, 0, readable. */
void sh4_pmc_reset(struct sh4_cpu *cpu);

/* ---- exec.c ---- */
/* Executes one instruction, with its slot, or takes an exception instead. */
void sh4_exec_unit(struct sh4_cpu *cpu);

/* MACH:MACL += vn * vm, saturating if SR.S is set. */
void sh4_mac_l(struct sh4_cpu *cpu, uint32_t vn, uint32_t vm);
void sh4_mac_w(struct sh4_cpu *cpu, uint32_t vn, uint32_t vm);

/* ---- cpu_idle.c ---- */
/* To be called now and then: skips over a loop that only waits, up to cpu->until. */
void sh4_skip_idle(struct sh4_cpu *cpu);

/* ---- exec_fast.c, decode.c ---- */
/* The offsets of the handlers for this byte order, by sh4_insn_id and fast_op (decode.h). */
const int32_t *sh4_fast_labels(bool big);
/* Allocates the tables of decoded code. 0 or -ERR_NOMEM. */
int sh4_blocks_new(struct sh4_cpu *cpu, const int32_t *labels);
void sh4_blocks_free(struct sh4_cpu *cpu);
/* Adds what blocks have counted to cpu->total. */
void sh4_blocks_fold(struct sh4_cpu *cpu);
/* The I-cache line has new contents. */
void sh4_blocks_line_changed(struct sh4_cpu *cpu, unsigned ic_index);
/* Executes whole blocks as long as they end before `until` (<= cpu->until) and need nothing of the
 * single-step path. If time is left, the next unit is one for the single-step path. */
void sh4_run_blocks(struct sh4_cpu *cpu, uint64_t until);
/* cpu_mem.c: accesses of a block that its inline check does not cover. The block has counted them
 * as cached accesses; block_cycles are its cycles, which are not added to cpu->cycle yet. False:
 * nothing has happened, and the block has to be left before this instruction. */
bool sh4_fast_read(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint32_t block_cycles,
                   uint64_t *value);
bool sh4_fast_write(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint32_t block_cycles,
                    uint64_t value);

#endif
