/* SH-4 memory management unit: UTLB (64 entries), ITLB (4), faults, memory-mapped TLB arrays.
 *
 * The control registers are in the core (struct sh4_ccn), because the program reads them there.
 * Whoever writes MMUCR or PTEH without these functions has to call sh4_mmu_changed(). Source:
 * SH7750 hardware manual, section 3 (MMU). */
#ifndef TARGETS_SIM_SH4_MMU_H
#define TARGETS_SIM_SH4_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/sim/sh4/cpu.h"

enum sh4_access { SH4_ACCESS_FETCH, SH4_ACCESS_READ, SH4_ACCESS_WRITE };
enum { SH4_UTLB_ENTRIES = 64, SH4_ITLB_ENTRIES = 4 };

struct sh4_tlb_entry {
    uint32_t vpn, ppn; /* address bits 31-10 and 28-10, in their places */
    uint32_t mask;     /* the offset bits of the page: 0x3FF, 0xFFF, 0xFFFF, 0xFFFFF */
    uint8_t asid, pr;  /* pr: 2 bits; in the ITLB bit 0 is 0 */
    uint8_t tc, sa;
    bool valid, dirty, shared, cacheable, write_through;
};

struct sh4_xlat {
    /* 29 bits. From 0x1C000000 on it is area 7: on-chip registers at paddr | 0xE0000000. */
    uint32_t paddr;
    uint32_t page_mask; /* the offset bits for which the translation holds, at least 0x3FF */
    uint16_t fault;     /* 0, or the EXPEVT code: 0x040..0x100, 0x140 (reset class) */
    /* The TLB translated it. False: cacheable is the segment's, and the core takes WT from CCR. */
    bool translated;
    bool cacheable;     /* C bit; without translation true in P0, P1 and P3 */
    bool write_through; /* WT bit of the page */
    bool itlb_miss;     /* a fetch needed the UTLB: performance event 0x07 */
    bool utlb_miss;     /* performance event 0x03 */
};

/* The last translation of each kind, so that the usual case is one comparison. */
struct sh4_tlb_last {
    /* it holds if (vaddr & ~mask) == page; mask 0xFFFFFFFF with page 1: never */
    uint32_t page, mask;
    bool user;
    struct sh4_xlat xlat;
    uint8_t entry; /* the ITLB entry, for LRUI */
};

struct sh4_mmu {
    struct sh4_ccn *ccn;
    struct sh4_tlb_entry utlb[SH4_UTLB_ENTRIES], itlb[SH4_ITLB_ENTRIES];
    struct sh4_tlb_last last[3]; /* by enum sh4_access */
    /* Changes whenever an earlier translation may no longer hold, for caches of translations
     * elsewhere. */
    uint32_t generation;
};

/* sh4_mmu_init - the state after power-on: all entries are invalid. ccn is borrowed. */
void sh4_mmu_init(struct sh4_mmu *mmu, struct sh4_ccn *ccn);

/* sh4_mmu_translate - where an access to vaddr goes. The core checks its alignment.
 * user   SR.MD is 0: addresses from 0x80000000 on are address errors, except the store queues
 *        (0xE0000000-0xE3FFFFFF) while MMUCR.SQMD is 0
 * With MMUCR.AT=1, P0, U0, P3 and the store queues are translated by the TLB. P1 and P2 have fixed
 * addresses. P4 gives paddr = vaddr & SH4_PHYS, not cacheable. PTEH and TEA do not change: see
 * sh4_mmu_fault(). URC and LRUI change with each access to a TLB, as in hardware; a cache of
 * translations that does not call this leaves them as they are. */
void sh4_mmu_translate(struct sh4_mmu *mmu, uint32_t vaddr, enum sh4_access access, bool user,
                       struct sh4_xlat *out);

/* sh4_mmu_fault - sets TEA and PTEH as each fault of sh4_mmu_translate() and each address error
 * does: TEA = vaddr, PTEH.VPN = its page. The core then takes the exception. */
void sh4_mmu_fault(struct sh4_mmu *mmu, uint32_t vaddr);

/* sh4_mmu_ldtlb - the instruction LDTLB: copies PTEH, PTEL and PTEA to UTLB[MMUCR.URC]. */
void sh4_mmu_ldtlb(struct sh4_mmu *mmu);

/* sh4_mmu_write_mmucr - a write of the program to MMUCR. TI invalidates all entries and reads as
 * 0. */
void sh4_mmu_write_mmucr(struct sh4_mmu *mmu, uint32_t value);
/* sh4_mmu_changed - PTEH.ASID, MMUCR or CCR was changed without these functions, so the remembered
 * translations no longer hold. */
void sh4_mmu_changed(struct sh4_mmu *mmu);

/* sh4_mmu_array_read, sh4_mmu_array_write - accesses of 32 bits to the memory-mapped arrays at
 * 0xF2, 0xF3, 0xF6 and 0xF7 (P4 address)
 * user   SR.MD is 0; it decides whether an associative write compares the ASID
 * A write returns 0, or 0x140 if an associative write matched several entries (reset class). */
uint32_t sh4_mmu_array_read(const struct sh4_mmu *mmu, uint32_t addr);
uint16_t sh4_mmu_array_write(struct sh4_mmu *mmu, uint32_t addr, uint32_t value, bool user);

#endif
