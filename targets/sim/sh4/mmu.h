/* SH-4 memory management: UTLB (64 entries), ITLB (4), faults, memory-mapped TLB arrays.
 *
 * The control registers stay in the core (struct sh4_ccn), because the program reads them there;
 * whoever writes MMUCR or PTEH by other ways than these functions calls sh4_mmu_changed(). Source:
 * SH7750 hardware manual, section 3. */
#ifndef TARGETS_SIM_SH4_MMU_H
#define TARGETS_SIM_SH4_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/sim/sh4/cpu.h"

enum sh4_access { SH4_ACCESS_FETCH, SH4_ACCESS_READ, SH4_ACCESS_WRITE };
enum { SH4_UTLB_ENTRIES = 64, SH4_ITLB_ENTRIES = 4 };

struct sh4_tlb_entry {
    uint32_t vpn, ppn; /* address bits 31-10 and 28-10, in place */
    uint32_t mask;     /* offset bits of the page: 0x3FF, 0xFFF, 0xFFFF, 0xFFFFF */
    uint8_t asid, pr;  /* pr: 2 bits; in the ITLB bit 0 is 0 */
    uint8_t tc, sa;
    bool valid, dirty, shared, cacheable, write_through;
};

struct sh4_xlat {
    /* 29 bits; >= 0x1C000000 is area 7: on-chip registers at paddr | 0xE0000000 */
    uint32_t paddr;
    uint32_t page_mask; /* offset bits the translation is valid for (0x3FF at least) */
    uint16_t fault;     /* 0, or the EXPEVT code: 0x040..0x100, 0x140 (reset class) */
    /* through the TLB; false: C and WT below are the segment's, from CCR by the core */
    bool translated;
    bool cacheable;     /* C bit; P0, P1, P3 without translation: true */
    bool write_through; /* WT bit of the page */
    bool itlb_miss;     /* a fetch had to ask the UTLB: performance event 0x07 */
    bool utlb_miss;     /* performance event 0x03 */
};

/* The last translation of each kind, so that the common case is one compare. */
struct sh4_tlb_last {
    uint32_t page, mask; /* hit if (vaddr & ~mask) == page; mask = 0xFFFFFFFF, page = 1: never */
    bool user;
    struct sh4_xlat xlat;
    uint8_t entry; /* ITLB entry, for LRU */
};

struct sh4_mmu {
    struct sh4_ccn *ccn;
    struct sh4_tlb_entry utlb[SH4_UTLB_ENTRIES], itlb[SH4_ITLB_ENTRIES];
    struct sh4_tlb_last last[3]; /* by enum sh4_access */
    /* changes whenever an old translation may be wrong: for caches outside */
    uint32_t generation;
};

/* sh4_mmu_init - power-on state: all entries invalid. ccn is borrowed for the mmu's life. */
void sh4_mmu_init(struct sh4_mmu *mmu, struct sh4_ccn *ccn);

/* sh4_mmu_translate - where an access at vaddr goes; its alignment is the core's test
 * user   SR.MD is 0: addresses from 0x80000000 on are address errors, except the store queues
 *        (0xE0000000-0xE3FFFFFF) while MMUCR.SQMD is 0
 * P0, U0 and P3 go through the TLB, and so does the store queue area with MMUCR.AT=1. P1 and P2 are
 * mapped. P4 comes back as paddr = vaddr & SH4_PHYS, not cacheable. PTEH and TEA do not change: see
 * sh4_mmu_fault. URC and LRUI move on as in hardware for each TLB access; an outer cache that
 * answers without calling leaves them alone. */
void sh4_mmu_translate(struct sh4_mmu *mmu, uint32_t vaddr, enum sh4_access access, bool user,
                       struct sh4_xlat *out);

/* sh4_mmu_fault - what the hardware does to TEA and PTEH on every fault of sh4_mmu_translate and on
 * address errors: TEA = vaddr, PTEH.VPN = its page. The core then takes the exception. */
void sh4_mmu_fault(struct sh4_mmu *mmu, uint32_t vaddr);

/* sh4_mmu_ldtlb - the LDTLB instruction: PTEH, PTEL, PTEA into UTLB[MMUCR.URC]. */
void sh4_mmu_ldtlb(struct sh4_mmu *mmu);

/* sh4_mmu_write_mmucr - a program's write to MMUCR: TI invalidates all entries and reads back 0. */
void sh4_mmu_write_mmucr(struct sh4_mmu *mmu, uint32_t value);
/* sh4_mmu_changed - PTEH.ASID, MMUCR or CCR changed otherwise: forget remembered translations. */
void sh4_mmu_changed(struct sh4_mmu *mmu);

/* sh4_mmu_array_read, sh4_mmu_array_write - memory-mapped arrays at 0xF2, 0xF3, 0xF6, 0xF7 (P4
 * address); 32-bit accesses
 * user   SR.MD, for the ASID rule of the associative write
 * write returns 0, or 0x140: an associative write matched several entries (reset class). */
uint32_t sh4_mmu_array_read(const struct sh4_mmu *mmu, uint32_t addr);
uint16_t sh4_mmu_array_write(struct sh4_mmu *mmu, uint32_t addr, uint32_t value, bool user);

#endif
