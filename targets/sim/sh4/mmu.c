#include "targets/sim/sh4/mmu.h"

#include "targets/sh4/isa/regs.h"

enum { NO_ENTRY = -1, MULTI_HIT = -2 };
enum { PR_USER = 2, PR_WRITE = 1 };

static const uint32_t page_masks[4] = { 0x3FF, 0xFFF, 0xFFFF, 0xFFFFF };

/* With a mask of all ones and page 1 nothing compares equal: (vaddr & 0) is never 1. */
static void forget_last(struct sh4_tlb_last *last)
{
    last->mask = 0xFFFFFFFF;
    last->page = 1;
}

void sh4_mmu_init(struct sh4_mmu *mmu, struct sh4_ccn *ccn)
{
    *mmu = (struct sh4_mmu){ .ccn = ccn };
    for (int i = 0; i < SH4_UTLB_ENTRIES; i++)
        mmu->utlb[i].mask = page_masks[0];
    for (int i = 0; i < SH4_ITLB_ENTRIES; i++)
        mmu->itlb[i].mask = page_masks[0];
    sh4_mmu_changed(mmu);
}

void sh4_mmu_changed(struct sh4_mmu *mmu)
{
    mmu->generation++;
    for (int i = 0; i < 3; i++)
        forget_last(&mmu->last[i]);
}

/* URC counts every access to the UTLB. It goes back to 0 at URB, if that is not 0, or at 64. */
static void count_access(struct sh4_mmu *mmu)
{
    uint32_t mmucr = mmu->ccn->mmucr;
    uint32_t urc = (REG_GET(mmucr, SH4_MMUCR_URC) + 1) & 63, urb = REG_GET(mmucr, SH4_MMUCR_URB);
    if (urb != 0 && urc == urb)
        urc = 0;
    mmu->ccn->mmucr = (mmucr & ~REG_MASK(SH4_MMUCR_URC)) | REG_PUT(urc, SH4_MMUCR_URC);
}

static bool entry_matches(const struct sh4_tlb_entry *e, uint32_t vaddr, uint8_t asid,
                          bool any_asid)
{
    return e->valid && ((vaddr ^ e->vpn) & ~e->mask & ~0x3FFu) == 0 &&
           (e->shared || any_asid || e->asid == asid);
}

static int find_entry(const struct sh4_tlb_entry *tlb, int n, uint32_t vaddr, uint8_t asid,
                      bool any_asid)
{
    int found = NO_ENTRY;
    for (int i = 0; i < n; i++)
        if (entry_matches(&tlb[i], vaddr, asid, any_asid)) {
            if (found != NO_ENTRY)
                return MULTI_HIT;
            found = i;
        }
    return found;
}

/* With SV=1 a privileged access ignores the ASID. */
static bool ignores_asid(const struct sh4_mmu *mmu, bool user)
{
    return REG_GET(mmu->ccn->mmucr, SH4_MMUCR_SV) && !user;
}
static uint8_t current_asid(const struct sh4_mmu *mmu)
{
    return (uint8_t)REG_GET(mmu->ccn->pteh, SH4_PTEH_ASID);
}

/* LRUI has a bit for each pair of entries: which of the two was used later. */
static void touch_itlb(struct sh4_mmu *mmu, int entry)
{
    static const uint8_t keep[4] = { 0x07, 0x19, 0x2A, 0x34 }, set[4] = { 0, 0x20, 0x14, 0x0B };
    uint32_t mmucr = mmu->ccn->mmucr, lrui = REG_GET(mmucr, SH4_MMUCR_LRUI);
    lrui = (lrui & keep[entry]) | set[entry];
    mmu->ccn->mmucr = (mmucr & ~REG_MASK(SH4_MMUCR_LRUI)) | REG_PUT(lrui, SH4_MMUCR_LRUI);
}

static int oldest_itlb(const struct sh4_mmu *mmu)
{
    static const struct {
        uint8_t mask, value;
    } rule[4] = { { 0x38, 0x38 }, { 0x26, 0x06 }, { 0x15, 0x01 }, { 0x0B, 0x00 } };
    uint32_t lrui = REG_GET(mmu->ccn->mmucr, SH4_MMUCR_LRUI);
    for (int i = 0; i < 4; i++)
        if ((lrui & rule[i].mask) == rule[i].value)
            return i;
    return 0; /* the manual prohibits this setting */
}

static int refill_itlb(struct sh4_mmu *mmu, uint32_t vaddr, bool user, struct sh4_xlat *out)
{
    out->itlb_miss = true;
    count_access(mmu);
    int u =
        find_entry(mmu->utlb, SH4_UTLB_ENTRIES, vaddr, current_asid(mmu), ignores_asid(mmu, user));
    if (u < 0)
        return u;
    int i = oldest_itlb(mmu);
    mmu->itlb[i] = mmu->utlb[u];
    mmu->itlb[i].pr &= PR_USER;
    forget_last(&mmu->last[SH4_ACCESS_FETCH]); /* it may refer to the entry that was replaced */
    return i;
}

static const struct sh4_tlb_entry *look_up(struct sh4_mmu *mmu, uint32_t vaddr,
                                           enum sh4_access access, bool user, struct sh4_xlat *out)
{
    bool fetch = access == SH4_ACCESS_FETCH;
    const struct sh4_tlb_entry *tlb = fetch ? mmu->itlb : mmu->utlb;
    int e = find_entry(tlb, fetch ? SH4_ITLB_ENTRIES : SH4_UTLB_ENTRIES, vaddr, current_asid(mmu),
                       ignores_asid(mmu, user));
    if (fetch && e == NO_ENTRY)
        e = refill_itlb(mmu, vaddr, user, out);
    else if (!fetch)
        count_access(mmu);
    if (e >= 0) {
        if (fetch) {
            touch_itlb(mmu, e);
            mmu->last[SH4_ACCESS_FETCH].entry = (uint8_t)e;
        }
        return &tlb[e];
    }
    out->utlb_miss = e == NO_ENTRY;
    out->fault = SH4_EXP_TLB_MISS_READ;
    if (access == SH4_ACCESS_WRITE)
        out->fault = SH4_EXP_TLB_MISS_WRITE;
    if (e == MULTI_HIT)
        out->fault = SH4_EXP_TLB_MULTI;
    return NULL;
}

static uint16_t protection_fault(const struct sh4_tlb_entry *e, enum sh4_access access, bool user)
{
    bool write = access == SH4_ACCESS_WRITE, not_users = user && !(e->pr & PR_USER);
    if (not_users && !write)
        return SH4_EXP_TLB_PROT_READ;
    if (write && (not_users || !(e->pr & PR_WRITE)))
        return SH4_EXP_TLB_PROT_WRITE;
    if (write && !e->dirty)
        return SH4_EXP_INITIAL_WRITE;
    return 0;
}

static void through_tlb(struct sh4_mmu *mmu, uint32_t vaddr, enum sh4_access access, bool user,
                        struct sh4_xlat *out)
{
    struct sh4_tlb_last *last = &mmu->last[access];
    out->translated = true;
    const struct sh4_tlb_entry *e = look_up(mmu, vaddr, access, user, out);
    if (!e)
        return;
    out->fault = protection_fault(e, access, user);
    out->paddr = (e->ppn & ~e->mask) | (vaddr & e->mask);
    out->page_mask = e->mask;
    out->cacheable = e->cacheable;
    out->write_through = e->write_through;
    if (out->fault)
        return;
    /* not the page's mask: elsewhere in the page a smaller one may match, too */
    last->mask = page_masks[0];
    last->page = vaddr & ~last->mask;
    last->user = user;
    last->xlat = *out;
    last->xlat.itlb_miss = false;
}

/* The result for an access that the TLB does not translate. */
static void by_segment(uint32_t vaddr, struct sh4_xlat *out)
{
    out->paddr = vaddr & SH4_PHYS;
    out->page_mask = SH4_PHYS;
    out->cacheable = vaddr < 0xA0000000 || (vaddr >= 0xC0000000 && vaddr < 0xE0000000);
}

void sh4_mmu_translate(struct sh4_mmu *mmu, uint32_t vaddr, enum sh4_access access, bool user,
                       struct sh4_xlat *out)
{
    struct sh4_tlb_last *last = &mmu->last[access];
    if ((vaddr & ~last->mask) == last->page && user == last->user) {
        *out = last->xlat;
        out->paddr = (out->paddr & ~last->mask) | (vaddr & last->mask);
        if (access == SH4_ACCESS_FETCH)
            touch_itlb(mmu, last->entry);
        else
            count_access(mmu);
        return;
    }
    *out = (struct sh4_xlat){ 0 };
    bool queue = vaddr >> 26 == 0xE0000000u >> 26;
    if (user && vaddr >= 0x80000000 && !(queue && !REG_GET(mmu->ccn->mmucr, SH4_MMUCR_SQMD))) {
        out->fault = SH4_EXP_ADDR_READ;
        if (access == SH4_ACCESS_WRITE)
            out->fault = SH4_EXP_ADDR_WRITE;
        return;
    }
    bool p0_p3 = vaddr < 0x80000000 || (vaddr >= 0xC0000000 && vaddr < 0xE0000000);
    if (REG_GET(mmu->ccn->mmucr, SH4_MMUCR_AT) && (p0_p3 || queue))
        through_tlb(mmu, vaddr, access, user, out);
    else
        by_segment(vaddr, out);
}

void sh4_mmu_fault(struct sh4_mmu *mmu, uint32_t vaddr)
{
    mmu->ccn->tea = vaddr;
    mmu->ccn->pteh = (vaddr & REG_MASK(SH4_PTEH_VPN)) | (mmu->ccn->pteh & ~REG_MASK(SH4_PTEH_VPN));
}

static void set_data(struct sh4_tlb_entry *e, uint32_t v)
{
    e->ppn = v & REG_MASK(SH4_PTEL_PPN);
    e->valid = REG_GET(v, SH4_PTEL_V);
    e->mask = page_masks[REG_GET(v, SH4_PTEL_SZ1) << 1 | REG_GET(v, SH4_PTEL_SZ0)];
    e->pr = (uint8_t)REG_GET(v, SH4_PTEL_PR);
    e->cacheable = REG_GET(v, SH4_PTEL_C);
    e->dirty = REG_GET(v, SH4_PTEL_D);
    e->shared = REG_GET(v, SH4_PTEL_SH);
    e->write_through = REG_GET(v, SH4_PTEL_WT);
}

static uint32_t get_data(const struct sh4_tlb_entry *e)
{
    unsigned sz = 0;
    while (sz < 3 && e->mask != page_masks[sz])
        sz++;
    return e->ppn | REG_PUT(e->valid, SH4_PTEL_V) | REG_PUT(sz >> 1, SH4_PTEL_SZ1) |
           REG_PUT(sz & 1, SH4_PTEL_SZ0) | REG_PUT(e->pr, SH4_PTEL_PR) |
           REG_PUT(e->cacheable, SH4_PTEL_C) | REG_PUT(e->dirty, SH4_PTEL_D) |
           REG_PUT(e->shared, SH4_PTEL_SH) | REG_PUT(e->write_through, SH4_PTEL_WT);
}

static void set_assist(struct sh4_tlb_entry *e, uint32_t v)
{
    e->tc = (uint8_t)REG_GET(v, SH4_PTEA_TC);
    e->sa = (uint8_t)REG_GET(v, SH4_PTEA_SA);
}

void sh4_mmu_ldtlb(struct sh4_mmu *mmu)
{
    struct sh4_tlb_entry *e = &mmu->utlb[REG_GET(mmu->ccn->mmucr, SH4_MMUCR_URC)];
    e->vpn = mmu->ccn->pteh & REG_MASK(SH4_PTEH_VPN);
    e->asid = current_asid(mmu);
    set_data(e, mmu->ccn->ptel);
    set_assist(e, mmu->ccn->ptea);
    sh4_mmu_changed(mmu);
}

void sh4_mmu_write_mmucr(struct sh4_mmu *mmu, uint32_t value)
{
    if (REG_GET(value, SH4_MMUCR_TI)) {
        for (int i = 0; i < SH4_UTLB_ENTRIES; i++)
            mmu->utlb[i].valid = false;
        for (int i = 0; i < SH4_ITLB_ENTRIES; i++)
            mmu->itlb[i].valid = false;
    }
    mmu->ccn->mmucr = value & (uint32_t)SH4_MMUCR_ALL_FIELDS & ~REG_MASK(SH4_MMUCR_TI);
    sh4_mmu_changed(mmu);
}

/* ---- memory-mapped arrays ---- */

enum array { ITLB_ADDRESS, ITLB_DATA1, ITLB_DATA2, UTLB_ADDRESS, UTLB_DATA1, UTLB_DATA2, NO_ARRAY };

static enum array array_at(uint32_t addr)
{
    bool second = addr >> 23 & 1;
    switch (addr >> 24) {
    case 0xF2: return ITLB_ADDRESS;
    case 0xF3:
        if (second)
            return ITLB_DATA2;
        return ITLB_DATA1;
    case 0xF6: return UTLB_ADDRESS;
    case 0xF7:
        if (second)
            return UTLB_DATA2;
        return UTLB_DATA1;
    default: return NO_ARRAY;
    }
}

static unsigned utlb_index(uint32_t addr) { return addr >> 8 & 63; }
static unsigned itlb_index(uint32_t addr) { return addr >> 8 & 3; }

uint32_t sh4_mmu_array_read(const struct sh4_mmu *mmu, uint32_t addr)
{
    const struct sh4_tlb_entry *u = &mmu->utlb[utlb_index(addr)], *i = &mmu->itlb[itlb_index(addr)];
    const uint32_t itlb_bits = REG_MASK(SH4_PTEL_PPN) | REG_MASK(SH4_PTEL_V) |
                               REG_MASK(SH4_PTEL_SZ1) | REG_PUT(PR_USER, SH4_PTEL_PR) |
                               REG_MASK(SH4_PTEL_SZ0) | REG_MASK(SH4_PTEL_C) |
                               REG_MASK(SH4_PTEL_SH);
    switch (array_at(addr)) {
    case ITLB_ADDRESS: return i->vpn | REG_PUT(i->valid, SH4_TLBADDR_V) | i->asid;
    case ITLB_DATA1: return get_data(i) & itlb_bits;
    case ITLB_DATA2: return REG_PUT(i->tc, SH4_PTEA_TC) | i->sa;
    case UTLB_ADDRESS:
        return u->vpn | REG_PUT(u->dirty, SH4_TLBADDR_D) | REG_PUT(u->valid, SH4_TLBADDR_V) |
               u->asid;
    case UTLB_DATA1: return get_data(u);
    case UTLB_DATA2: return REG_PUT(u->tc, SH4_PTEA_TC) | u->sa;
    default: return 0;
    }
}

static void set_address(struct sh4_tlb_entry *e, uint32_t v)
{
    e->vpn = v & REG_MASK(SH4_TLBADDR_VPN);
    e->valid = REG_GET(v, SH4_TLBADDR_V);
    e->asid = (uint8_t)REG_GET(v, SH4_TLBADDR_ASID);
}

/* An associative write looks for the VPN of the data, with the ASID of PTEH, in both TLBs. It sets
 * V, and in the UTLB D, of the entry that it finds. */
static uint16_t associative_write(struct sh4_mmu *mmu, uint32_t v, bool user)
{
    uint8_t asid = current_asid(mmu);
    bool any = ignores_asid(mmu, user);
    int u = find_entry(mmu->utlb, SH4_UTLB_ENTRIES, v, asid, any),
        i = find_entry(mmu->itlb, SH4_ITLB_ENTRIES, v, asid, any);
    if (u == MULTI_HIT || i == MULTI_HIT)
        return SH4_EXP_TLB_MULTI;
    if (u >= 0) {
        mmu->utlb[u].valid = REG_GET(v, SH4_TLBADDR_V);
        mmu->utlb[u].dirty = REG_GET(v, SH4_TLBADDR_D);
    }
    if (i >= 0)
        mmu->itlb[i].valid = REG_GET(v, SH4_TLBADDR_V);
    return 0;
}

static void write_itlb_data(struct sh4_tlb_entry *e, uint32_t v)
{
    set_data(e, v);
    e->pr &= PR_USER;
    e->dirty = e->write_through = false;
}

uint16_t sh4_mmu_array_write(struct sh4_mmu *mmu, uint32_t addr, uint32_t value, bool user)
{
    enum { ASSOCIATIVE = 1 << 7 };
    struct sh4_tlb_entry *u = &mmu->utlb[utlb_index(addr)], *i = &mmu->itlb[itlb_index(addr)];
    uint16_t fault = 0;
    switch (array_at(addr)) {
    case ITLB_ADDRESS: set_address(i, value); break;
    case ITLB_DATA1: write_itlb_data(i, value); break;
    case ITLB_DATA2: set_assist(i, value); break;
    case UTLB_ADDRESS:
        if (addr & ASSOCIATIVE) {
            fault = associative_write(mmu, value, user);
        } else {
            set_address(u, value);
            u->dirty = REG_GET(value, SH4_TLBADDR_D);
        }
        break;
    case UTLB_DATA1: set_data(u, value); break;
    case UTLB_DATA2: set_assist(u, value); break;
    case NO_ARRAY: break;
    }
    sh4_mmu_changed(mmu);
    return fault;
}
