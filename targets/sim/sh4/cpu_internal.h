/* Shared between the files of the CPU core; nobody else includes it. */
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

#define ASERAM_AREA 0xFCu /* top byte */

/* Performance events (codes of PMCR.PMM), and three codes no event uses for the core's own books.
 */
enum {
    EV_OTHER_WAIT = 0x00, /* cycles: uncached and I/O waits, exception entry */
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
    EV_ISSUE_LOCK = 0x20, /* cycles: issue rate above 1 */
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
/* Whether words, of n bytes, are equal; n is a constant, a multiple of 8. Every run of the core
 * asks: what a sanitizer puts in front of memcmp() takes longer than comparing, also where the
 * caller has none. */
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
/* set in a tag word: entry not valid; the address bits stay readable */
#define TAG_INVALID 0x80000000u

struct sh4_fast {
    /* Tag words are physical line addresses, bits 28-5, or'ed with TAG_INVALID. */
    uint32_t otag[OC_LINES];
    uint8_t odirty[OC_LINES];
    uint8_t odata[OC_LINES][LINE];
    uint32_t itag[IC_LINES];
    uint8_t idata[IC_LINES][LINE];
    uint8_t sq[2][LINE]; /* store queues */
    struct sh4_pipe pipe;
    /* what SPC becomes if the unit under way raises: its branch, or itself */
    uint32_t insn_pc;
    uint32_t next_pc; /* where the unit under way goes on */
    bool in_slot;
    bool faulted;          /* the unit under way ended in an exception */
    bool fetch_redirected; /* the next fetch starts a new 4-byte word whatever its parity */
    uint8_t ubc_after;     /* channels that break after the instruction under way */
    /* changes when anything happened that a repeated loop body may not see again */
    uint64_t effects;
    uint16_t ops[256]; /* executed one by one of late; ops[nops] is next */
    uint8_t nops;
    /* cpu_idle.c: not before this cycle; and how long the last pause was */
    uint64_t next_look, look_pause;
    uint64_t ase_since; /* cycle at ASE entry */
    uint64_t dead;      /* cycles asleep, held or in ASE mode: not in elapsed time */
    /* totals at ASE entry: what is counted in ASE mode is taken back */
    uint64_t saved[SH4_NEVENTS];
    struct sh4_tdesc_cache *tdesc;
    struct sh4_blocks *blocks; /* exec_fast.c */
};

static inline void count_event(struct sh4_cpu *cpu, unsigned ev) { cpu->total[ev]++; }
static inline void spend_cycles(struct sh4_cpu *cpu, unsigned ev, unsigned cycles)
{
    cpu->total[ev] += cycles;
    cpu->cycle += cycles;
}

/* ---- cpu_exception.c: all take the exception at fast->insn_pc and set `faulted` ---- */
void sh4_raise(struct sh4_cpu *cpu, uint16_t expevt); /* general exceptions */
/* TEA, PTEH; TLB vector */
void sh4_raise_mem(struct sh4_cpu *cpu, uint16_t expevt, uint32_t vaddr);
/* SPC = next instruction */
void sh4_trapa(struct sh4_cpu *cpu, uint8_t imm);
void sh4_user_break(struct sh4_cpu *cpu, uint32_t spc);
void sh4_enter_ase(struct sh4_cpu *cpu);
void sh4_leave_ase(struct sh4_cpu *cpu);
/* ASE break, NMI, interrupt; true: something was taken */
bool sh4_accept_events(struct sh4_cpu *cpu);
bool sh4_events_pending(const struct sh4_cpu *cpu);

/* ---- cpu_mem.c: what the program does; false: an exception was taken ---- */
bool sh4_mem_fetch(struct sh4_cpu *cpu, uint32_t pc, uint16_t *op);
bool sh4_mem_read(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint64_t *value);
bool sh4_mem_write(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint64_t value);
bool sh4_mem_pref(struct sh4_cpu *cpu, uint32_t vaddr);
enum sh4_block_op { BLOCK_OCBI, BLOCK_OCBP, BLOCK_OCBWB };
bool sh4_mem_block_op(struct sh4_cpu *cpu, uint32_t vaddr, enum sh4_block_op what);
bool sh4_mem_movca(struct sh4_cpu *cpu, uint32_t vaddr, uint32_t value);
/* sets bit 7 of the byte, which was *old */
bool sh4_mem_tas(struct sh4_cpu *cpu, uint32_t vaddr, uint64_t *old);
/* cpu_p4.c: addresses from 0xE0000000 on. */
uint64_t sh4_p4_read(struct sh4_cpu *cpu, uint32_t addr, unsigned size);
bool sh4_p4_write(struct sh4_cpu *cpu, uint32_t addr, unsigned size, uint64_t value);
/* ---- phys.c: physical memory past the caches: windows, then bus callbacks ---- */
uint64_t sh4_phys_read(struct sh4_cpu *cpu, uint32_t paddr, unsigned size);
void sh4_phys_write(struct sh4_cpu *cpu, uint32_t paddr, unsigned size, uint64_t value);
void sh4_phys_read_line(struct sh4_cpu *cpu, uint32_t paddr, uint8_t line[LINE]);
void sh4_phys_write_line(struct sh4_cpu *cpu, uint32_t paddr, const uint8_t line[LINE]);
const struct sh4_window *sh4_find_window(const struct sh4_cpu *cpu, uint32_t paddr, unsigned len);
/* Numbers in target byte order. */
uint64_t sh4_get_bytes(const uint8_t *p, unsigned size, bool big);
void sh4_put_bytes(uint8_t *p, unsigned size, uint64_t value, bool big);

/* ---- cache.c ---- */
unsigned sh4_oc_index(const struct sh4_cpu *cpu, uint32_t vaddr);
unsigned sh4_ic_index(const struct sh4_cpu *cpu, uint32_t vaddr);
uint8_t *sh4_oc_ram(struct sh4_cpu *cpu, uint32_t vaddr); /* ORA RAM byte; vaddr in 0x7C000000.. */
/* with write-back of the victim */
void sh4_oc_fill(struct sh4_cpu *cpu, unsigned index, uint32_t paddr);
void sh4_oc_drop(struct sh4_cpu *cpu, unsigned index, bool write_back);
void sh4_ic_fill(struct sh4_cpu *cpu, unsigned index, uint32_t paddr);
void sh4_write_ccr(struct sh4_cpu *cpu, uint32_t value);
uint32_t sh4_cache_array_read(struct sh4_cpu *cpu, uint32_t addr);
bool sh4_cache_array_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t value);

/* ---- pmc.c ---- */
bool sh4_pmc_read(struct sh4_cpu *cpu, uint32_t addr, uint32_t *value); /* false: not ours */
bool sh4_pmc_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t value);
void sh4_pmc_reset(struct sh4_cpu *cpu);

/* ---- exec.c ---- */
/* one instruction, with its slot; or an exception instead */
void sh4_exec_unit(struct sh4_cpu *cpu);

/* MACH:MACL += vn * vm, by SR.S. */
void sh4_mac_l(struct sh4_cpu *cpu, uint32_t vn, uint32_t vm);
void sh4_mac_w(struct sh4_cpu *cpu, uint32_t vn, uint32_t vm);

/* ---- cpu_idle.c ---- */
/* now and then: passes over a waiting loop, up to cpu->until */
void sh4_skip_idle(struct sh4_cpu *cpu);

/* ---- exec_fast.c, decode.c ---- */
/* Handler offsets for this byte order, by sh4_insn_id and fast_op (decode.h). */
const int32_t *sh4_fast_labels(bool big);
int sh4_blocks_new(struct sh4_cpu *cpu, const int32_t *labels); /* 0 or -ERR_NOMEM */
void sh4_blocks_free(struct sh4_cpu *cpu);
void sh4_blocks_fold(struct sh4_cpu *cpu); /* brings cpu->total up to date */
/* I-cache line has new contents */
void sh4_blocks_line_changed(struct sh4_cpu *cpu, unsigned ic_index);
/* Runs whole blocks as long as they end before `until` (<= cpu->until) and need nothing of the
 * single-step path, which has the next unit if time is left. */
void sh4_run_blocks(struct sh4_cpu *cpu, uint64_t until);
/* cpu_mem.c: an access from within a block that the inline check did not pass. False: nothing has
 * happened, leave the block before this instruction. Counted as a cached access already;
 * block_cycles: still to be added. */
bool sh4_fast_read(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint32_t block_cycles,
                   uint64_t *value);
bool sh4_fast_write(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint32_t block_cycles,
                    uint64_t value);

#endif
