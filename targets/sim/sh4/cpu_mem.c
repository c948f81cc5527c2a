/* Memory accesses of instructions: alignment, segments, MMU, caches, on-chip RAM. cpu_p4.c has
 * those to P4. Source: SH7750 hardware manual, sections 3 (MMU) and 4 (Caches). */
#include <string.h>

#include "probe/base/bytes.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sim/sh4/decode.h"

/* ---- where an access goes ---- */

enum route { ROUTE_CACHED, ROUTE_UNCACHED, ROUTE_OC_RAM, ROUTE_P4, ROUTE_FAULT };
struct dest {
    enum route route;
    uint32_t paddr; /* for ROUTE_P4 the P4 address */
    bool write_through;
};

static struct dest raise_fault(struct sh4_cpu *cpu, uint16_t expevt, uint32_t vaddr)
{
    sh4_raise_mem(cpu, expevt, vaddr);
    return (struct dest){ .route = ROUTE_FAULT };
}

static struct dest translated_dest(struct sh4_cpu *cpu, uint32_t vaddr, enum sh4_access access,
                                   bool enabled)
{
    struct sh4_xlat x;
    sh4_mmu_translate(cpu->mmu, vaddr, access, !(cpu->sr_rest & SR_MD), &x);
    cpu->fast->effects++; /* URC and LRUI change */
    cpu->total[EV_ITLB_MISS] += x.itlb_miss;
    cpu->total[EV_UTLB_MISS] += x.utlb_miss;
    if (x.fault)
        return raise_fault(cpu, x.fault, vaddr);
    if (x.translated && x.paddr >= 0x1C000000)
        return (struct dest){ ROUTE_P4, x.paddr | 0xE0000000u, false };
    if (!x.cacheable || !enabled)
        return (struct dest){ ROUTE_UNCACHED, x.paddr, false };
    bool wt = x.translated ? x.write_through : cpu->ccn.ccr & CCR_WT;
    return (struct dest){ ROUTE_CACHED, x.paddr, wt };
}

static bool mmu_translates(const struct sh4_cpu *cpu)
{
    return cpu->ccn.mmucr & MMUCR_AT && cpu->mmu;
}
static bool store_queue(uint32_t vaddr) { return vaddr >> 26 == 0x38; }
static bool oc_ram(const struct sh4_cpu *cpu, uint32_t vaddr)
{
    return vaddr >> 26 == 0x1F && (cpu->ccn.ccr & (CCR_ORA | CCR_OCE)) == (CCR_ORA | CCR_OCE);
}

/* Where an access goes. A write to the store queues is not translated, but with the MMU on, the
 * page of the queue decides whether it is allowed. */
static struct dest find_dest(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size,
                             enum sh4_access access)
{
    uint32_t ccr = cpu->ccn.ccr;
    bool enabled = ccr & (access == SH4_ACCESS_FETCH ? CCR_ICE : CCR_OCE);
    uint16_t address_error = 0x0E0;
    if (access == SH4_ACCESS_WRITE)
        address_error = 0x100;
    if (vaddr & (size - 1))
        return raise_fault(cpu, address_error, vaddr);
    if (vaddr >> 31 && !(cpu->sr_rest & SR_MD) && (!store_queue(vaddr) || cpu->ccn.mmucr & 0x200))
        return raise_fault(cpu, address_error, vaddr);
    if (vaddr >= 0xE0000000u) {
        if (access == SH4_ACCESS_FETCH && vaddr >> 24 != ASERAM_AREA)
            return raise_fault(cpu, address_error, vaddr);
        if (store_queue(vaddr) && mmu_translates(cpu) &&
            translated_dest(cpu, vaddr, access, false).route == ROUTE_FAULT)
            return (struct dest){ .route = ROUTE_FAULT };
        return (struct dest){ ROUTE_P4, vaddr, false };
    }
    if (oc_ram(cpu, vaddr) && access != SH4_ACCESS_FETCH)
        return (struct dest){ ROUTE_OC_RAM, vaddr, false };
    if (vaddr >> 30 == 2) { /* P1, P2 */
        if (vaddr >> 29 == 5 || !enabled)
            return (struct dest){ ROUTE_UNCACHED, vaddr & SH4_PHYS, false };
        return (struct dest){ ROUTE_CACHED, vaddr & SH4_PHYS, !(ccr & CCR_CB) };
    }
    if (mmu_translates(cpu))
        return translated_dest(cpu, vaddr, access, enabled);
    return (struct dest){ enabled ? ROUTE_CACHED : ROUTE_UNCACHED, vaddr & SH4_PHYS, ccr & CCR_WT };
}

/* ---- instruction fetch ---- */

static bool fetch_aseram(struct sh4_cpu *cpu, uint32_t pc, bool new_word, uint16_t *op)
{
    cpu->total[EV_RAM_FETCH] += new_word;
    *op = get16(cpu->aseram + (pc & 0x3FE), cpu->cfg.big);
    return true;
}

bool sh4_mem_fetch(struct sh4_cpu *cpu, uint32_t pc, uint16_t *op)
{
    struct sh4_fast *f = cpu->fast;
    /* A fetch brings an aligned word of 4 bytes. Its second half is fetched separately only after a
     * branch to it. */
    bool new_word = f->fetch_redirected || !(pc & 2);
    f->fetch_redirected = false;
    if (UNLIKELY(cpu->cfg.flat)) {
        *op = (uint16_t)cpu->bus.read(cpu->bus.ctx, pc, 2);
        return true;
    }
    struct dest d = find_dest(cpu, pc, 2, SH4_ACCESS_FETCH);
    if (d.route == ROUTE_FAULT)
        return false;
    cpu->total[EV_FETCH_ALL] += new_word;
    if (d.route == ROUTE_P4)
        return fetch_aseram(cpu, d.paddr, new_word, op);
    if (d.route == ROUTE_UNCACHED) {
        if (new_word)
            spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.uncached_fetch);
        /* Fetches do not set last_external, since the block path cannot do so for each fetch. */
        uint32_t last = cpu->last_external;
        *op = (uint16_t)sh4_phys_read(cpu, d.paddr, 2);
        cpu->last_external = last;
        return true;
    }
    cpu->total[EV_FETCH_C] += new_word;
    unsigned i = sh4_ic_index(cpu, pc);
    if (f->itag[i] != (d.paddr & ~31u)) {
        count_event(cpu, EV_IC_MISS);
        sh4_ic_fill(cpu, i, d.paddr & ~31u);
        cpu->total[EV_IC_FILL] += cpu->cfg.costs.ifill;
        spend_cycles(cpu, EV_FREEZE_IC, cpu->cfg.costs.ifill);
    }
    *op = get16(f->idata[i] + (pc & 30), cpu->cfg.big);
    return true;
}

/* ---- operands ---- */

static void watch_operand(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, bool write,
                          uint64_t value)
{
    cpu->last_operand = vaddr;
    if (UNLIKELY(cpu->ubc_armed) && cpu->ubc && cpu->ubc->armed_operand)
        cpu->fast->ubc_after |= (uint8_t)sh4_ubc_match_operand(cpu->ubc, vaddr, size, write, value,
                                                               (uint8_t)cpu->ccn.pteh);
}

static uint64_t cached_read(struct sh4_cpu *cpu, uint32_t vaddr, uint32_t paddr, unsigned size)
{
    unsigned i = sh4_oc_index(cpu, vaddr);
    count_event(cpu, EV_OP_READ_C);
    if (cpu->fast->otag[i] != (paddr & ~31u)) {
        count_event(cpu, EV_OC_READ_MISS);
        sh4_oc_fill(cpu, i, paddr & ~31u);
    }
    return sh4_get_bytes(&cpu->fast->odata[i][paddr & 31], size, cpu->cfg.big);
}

bool sh4_mem_read(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint64_t *value)
{
    if (UNLIKELY(cpu->cfg.flat)) {
        *value = cpu->bus.read(cpu->bus.ctx, vaddr, size);
        return true;
    }
    struct dest d = find_dest(cpu, vaddr, size, SH4_ACCESS_READ);
    if (d.route == ROUTE_FAULT)
        return false;
    count_event(cpu, EV_OP_ALL);
    switch (d.route) {
    case ROUTE_CACHED: *value = cached_read(cpu, vaddr, d.paddr, size); break;
    case ROUTE_OC_RAM:
        count_event(cpu, EV_RAM_OP);
        *value = sh4_get_bytes(sh4_oc_ram(cpu, vaddr), size, cpu->cfg.big);
        break;
    case ROUTE_P4: *value = sh4_p4_read(cpu, d.paddr, size); break;
    default:
        spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.uncached_read);
        *value = sh4_phys_read(cpu, d.paddr, size);
    }
    watch_operand(cpu, vaddr, size, false, *value);
    return true;
}

static void cached_write(struct sh4_cpu *cpu, uint32_t vaddr, struct dest d, unsigned size,
                         uint64_t value)
{
    unsigned i = sh4_oc_index(cpu, vaddr);
    bool hit = cpu->fast->otag[i] == (d.paddr & ~31u);
    count_event(cpu, EV_OP_WRITE_C);
    cpu->total[EV_OC_WRITE_MISS] += !hit;
    /* A miss allocates a line, but not in write-through mode. */
    if (!hit && !d.write_through) {
        sh4_oc_fill(cpu, i, d.paddr & ~31u);
        hit = true;
    }
    if (hit)
        sh4_put_bytes(&cpu->fast->odata[i][d.paddr & 31], size, value, cpu->cfg.big);
    if (!d.write_through) {
        cpu->fast->odirty[i] = 1;
        return;
    }
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.write_through);
    sh4_phys_write(cpu, d.paddr, size, value);
}

bool sh4_mem_write(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint64_t value)
{
    if (UNLIKELY(cpu->cfg.flat)) {
        cpu->bus.write(cpu->bus.ctx, vaddr, size, value);
        return true;
    }
    struct dest d = find_dest(cpu, vaddr, size, SH4_ACCESS_WRITE);
    if (d.route == ROUTE_FAULT)
        return false;
    cpu->fast->effects++;
    count_event(cpu, EV_OP_ALL);
    switch (d.route) {
    case ROUTE_CACHED: cached_write(cpu, vaddr, d, size, value); break;
    case ROUTE_OC_RAM:
        count_event(cpu, EV_RAM_OP);
        sh4_put_bytes(sh4_oc_ram(cpu, vaddr), size, value, cpu->cfg.big);
        break;
    case ROUTE_P4:
        if (!sh4_p4_write(cpu, d.paddr, size, value))
            return false;
        break;
    default:
        spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.uncached_write);
        sh4_phys_write(cpu, d.paddr, size, value);
    }
    watch_operand(cpu, vaddr, size, true, value);
    return true;
}

/* ---- cache instructions ---- */

/* PREF on a store queue writes the queue to memory. An address error or a TLB fault is raised. */
static bool store_queue_burst(struct sh4_cpu *cpu, uint32_t vaddr)
{
    unsigned q = vaddr >> 5 & 1;
    uint32_t paddr = (vaddr & 0x03FFFFE0) | (cpu->ccn.qacr[q] >> 2 & 7) << 26;
    if (vaddr & 3 || (!(cpu->sr_rest & SR_MD) && cpu->ccn.mmucr & 0x200)) {
        sh4_raise_mem(cpu, 0x100, vaddr);
        return false;
    }
    if (mmu_translates(cpu)) {
        struct dest d = translated_dest(cpu, vaddr, SH4_ACCESS_WRITE, false);
        if (d.route == ROUTE_FAULT)
            return false;
        paddr = d.paddr & SH4_PHYS & ~31u;
    }
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.uncached_write);
    sh4_phys_write_line(cpu, paddr, cpu->fast->sq[q]);
    return true;
}

/* The physical line of vaddr, if it can be cached and no fault would be raised. */
static bool quiet_dest(struct sh4_cpu *cpu, uint32_t vaddr, struct dest *d)
{
    if (vaddr >= 0xE0000000u || oc_ram(cpu, vaddr) || (vaddr >> 31 && !(cpu->sr_rest & SR_MD)))
        return false;
    if (vaddr >> 30 != 2 && mmu_translates(cpu)) {
        struct sh4_xlat x;
        cpu->fast->effects++;
        sh4_mmu_translate(cpu->mmu, vaddr, SH4_ACCESS_READ, !(cpu->sr_rest & SR_MD), &x);
        if (x.fault || !x.cacheable || x.paddr >= 0x1C000000 || !(cpu->ccn.ccr & CCR_OCE))
            return false;
        *d = (struct dest){ ROUTE_CACHED, x.paddr, x.write_through };
        return true;
    }
    *d = find_dest(cpu, vaddr & ~31u, 4, SH4_ACCESS_READ);
    return d->route == ROUTE_CACHED;
}

bool sh4_mem_pref(struct sh4_cpu *cpu, uint32_t vaddr)
{
    struct dest d;
    if (cpu->cfg.flat)
        return true;
    if (store_queue(vaddr))
        return store_queue_burst(cpu, vaddr);
    if (!quiet_dest(cpu, vaddr, &d))
        return true;
    unsigned i = sh4_oc_index(cpu, vaddr);
    if (cpu->fast->otag[i] != (d.paddr & ~31u))
        sh4_oc_fill(cpu, i, d.paddr & ~31u);
    return true;
}

bool sh4_mem_block_op(struct sh4_cpu *cpu, uint32_t vaddr, enum sh4_block_op what)
{
    if (cpu->cfg.flat)
        return true;
    /* All three raise the faults of an access. OCBI may lose data, so it counts as a write for
     * protection. */
    struct dest d =
        find_dest(cpu, vaddr, 1, what == BLOCK_OCBI ? SH4_ACCESS_WRITE : SH4_ACCESS_READ);
    if (d.route == ROUTE_FAULT)
        return false;
    if (d.route != ROUTE_CACHED)
        return true;
    cpu->fast->effects++;
    unsigned i = sh4_oc_index(cpu, vaddr);
    if (cpu->fast->otag[i] != (d.paddr & ~31u))
        return true;
    if (what != BLOCK_OCBI && cpu->fast->odirty[i]) {
        sh4_phys_write_line(cpu, d.paddr & ~31u, cpu->fast->odata[i]);
        cpu->fast->odirty[i] = 0;
        spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.writeback);
    }
    if (what != BLOCK_OCBWB)
        sh4_oc_drop(cpu, i, false);
    return true;
}

/* TAS.B: the line is removed from the cache, and written back if it is dirty. Then both accesses
 * are made on the bus, where other masters see them. Source: SH-4 software manual, TAS. */
static bool tas_on_bus(struct sh4_cpu *cpu, uint32_t vaddr, uint32_t paddr, uint64_t *old)
{
    unsigned i = sh4_oc_index(cpu, vaddr);
    if (cpu->fast->otag[i] == (paddr & ~31u)) {
        if (cpu->fast->odirty[i]) {
            sh4_phys_write_line(cpu, paddr & ~31u, cpu->fast->odata[i]);
            spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.writeback);
        }
        sh4_oc_drop(cpu, i, false);
    }
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.uncached_read + cpu->cfg.costs.uncached_write);
    cpu->total[EV_OP_ALL] += 2;
    *old = sh4_phys_read(cpu, paddr, 1);
    watch_operand(cpu, vaddr, 1, false, *old);
    sh4_phys_write(cpu, paddr, 1, *old | 0x80);
    watch_operand(cpu, vaddr, 1, true, *old | 0x80);
    return true;
}

bool sh4_mem_tas(struct sh4_cpu *cpu, uint32_t vaddr, uint64_t *old)
{
    struct dest d = { .route = ROUTE_UNCACHED };
    if (!cpu->cfg.flat)
        d = find_dest(cpu, vaddr, 1, SH4_ACCESS_READ);
    if (d.route == ROUTE_CACHED)
        d = find_dest(cpu, vaddr, 1, SH4_ACCESS_WRITE);
    if (d.route == ROUTE_FAULT)
        return false;
    if (d.route == ROUTE_CACHED)
        return tas_on_bus(cpu, vaddr, d.paddr, old);
    return sh4_mem_read(cpu, vaddr, 1, old) && sh4_mem_write(cpu, vaddr, 1, *old | 0x80);
}

/* MOVCA.L: a store that allocates a line without reading memory. The other 28 bytes of the line are
 * undefined; here they are 0. */
bool sh4_mem_movca(struct sh4_cpu *cpu, uint32_t vaddr, uint32_t value)
{
    if (cpu->cfg.flat || vaddr >= 0xE0000000u)
        return sh4_mem_write(cpu, vaddr, 4, value);
    struct dest d = find_dest(cpu, vaddr, 4, SH4_ACCESS_WRITE);
    if (d.route == ROUTE_FAULT)
        return false;
    unsigned i = sh4_oc_index(cpu, vaddr);
    if (d.route == ROUTE_CACHED && !d.write_through && cpu->fast->otag[i] != (d.paddr & ~31u)) {
        sh4_oc_drop(cpu, i, true);
        cpu->fast->otag[i] = d.paddr & ~31u;
        memset(cpu->fast->odata[i], 0, LINE);
    }
    return sh4_mem_write(cpu, vaddr, 4, value);
}

/* ---- accesses from the block path ---- */

/* Where an access goes if it needs plain memory only and raises no fault; otherwise ROUTE_FAULT. */
static struct dest quick_dest(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, bool write)
{
    const struct sh4_blocks *t = cpu->fast->blocks;
    struct dest d = { .route = ROUTE_FAULT };
    for (unsigned i = 0; i < t->noperand; i++)
        if (((vaddr ^ t->operand[i].addr) & ~t->operand[i].ignore) == 0)
            return d;
    if (vaddr & (size - 1) || (vaddr >> 31 && !(cpu->sr_rest & SR_MD)))
        return d;
    if (vaddr >> 30 != 2 && mmu_translates(cpu))
        return d;
    if (vaddr >= 0xE0000000u) {
        if (vaddr >> 24 == ASERAM_AREA || (write && store_queue(vaddr)))
            d.route = ROUTE_P4;
        d.paddr = vaddr;
        return d;
    }
    /* This cannot raise a fault here. */
    return find_dest(cpu, vaddr, size, write ? SH4_ACCESS_WRITE : SH4_ACCESS_READ);
}

/* Is a miss on plain memory sure to end before cpu->until? */
static bool miss_fits(const struct sh4_cpu *cpu, unsigned i, uint32_t paddr, uint32_t block_cycles)
{
    const struct sh4_fast *f = cpu->fast;
    uint64_t worst = cpu->cycle + block_cycles + cpu->cfg.costs.ofill + cpu->cfg.costs.writeback;
    if (worst >= cpu->until || !sh4_find_window(cpu, paddr & ~31u, LINE))
        return false;
    if (!f->odirty[i] || f->otag[i] & TAG_INVALID)
        return true;
    /* The write-back might change the very code that is executed, if that is uncached. */
    return !f->blocks->uncached_code && sh4_find_window(cpu, f->otag[i], LINE);
}

static bool fast_cached(struct sh4_cpu *cpu, uint32_t vaddr, struct dest d, uint32_t block_cycles,
                        bool write)
{
    unsigned i = sh4_oc_index(cpu, vaddr);
    if (cpu->fast->otag[i] == (d.paddr & ~31u))
        return true;
    if (write && d.write_through) {
        count_event(cpu, EV_OC_WRITE_MISS);
        return true;
    }
    if (!miss_fits(cpu, i, d.paddr, block_cycles))
        return false;
    count_event(cpu, write ? EV_OC_WRITE_MISS : EV_OC_READ_MISS);
    sh4_oc_fill(cpu, i, d.paddr & ~31u);
    return true;
}

bool sh4_fast_read(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint32_t block_cycles,
                   uint64_t *value)
{
    struct dest d = quick_dest(cpu, vaddr, size, false);
    bool big = cpu->cfg.big;
    switch (d.route) {
    case ROUTE_CACHED:
        if (!fast_cached(cpu, vaddr, d, block_cycles, false))
            return false;
        *value =
            sh4_get_bytes(&cpu->fast->odata[sh4_oc_index(cpu, vaddr)][d.paddr & 31], size, big);
        cpu->last_operand = vaddr;
        return true;
    case ROUTE_OC_RAM:
        count_event(cpu, EV_RAM_OP);
        *value = sh4_get_bytes(sh4_oc_ram(cpu, vaddr), size, big);
        break;
    case ROUTE_P4: *value = sh4_get_bytes(cpu->aseram + (vaddr & 0x3FF), size, big); break;
    case ROUTE_UNCACHED:
        if (cpu->cycle + block_cycles + cpu->cfg.costs.uncached_read >= cpu->until ||
            !sh4_find_window(cpu, d.paddr, size))
            return false;
        spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.uncached_read);
        *value = sh4_phys_read(cpu, d.paddr, size);
        break;
    default: return false;
    }
    cpu->total[EV_OP_READ_C]--; /* the block counts it as a cached access */
    cpu->last_operand = vaddr;
    return true;
}

static bool fast_write_memory(struct sh4_cpu *cpu, struct dest d, unsigned size,
                              uint32_t block_cycles, unsigned cost, uint64_t value)
{
    if (cpu->cycle + block_cycles + cost >= cpu->until || !sh4_find_window(cpu, d.paddr, size))
        return false;
    spend_cycles(cpu, EV_OTHER_WAIT, cost);
    sh4_phys_write(cpu, d.paddr, size, value);
    return true;
}

static bool fast_write_cached(struct sh4_cpu *cpu, uint32_t vaddr, struct dest d, unsigned size,
                              uint32_t block_cycles, uint64_t value)
{
    unsigned i = sh4_oc_index(cpu, vaddr);
    if (d.write_through &&
        !fast_write_memory(cpu, d, size, block_cycles, cpu->cfg.costs.write_through, value))
        return false;
    if (!fast_cached(cpu, vaddr, d, block_cycles, true))
        return false;
    if (cpu->fast->otag[i] == (d.paddr & ~31u))
        sh4_put_bytes(&cpu->fast->odata[i][d.paddr & 31], size, value, cpu->cfg.big);
    if (!d.write_through)
        cpu->fast->odirty[i] = 1;
    cpu->last_operand = vaddr;
    return true;
}

/* A store cannot change code in the I-cache that is being executed. It can change other code. */
bool sh4_fast_write(struct sh4_cpu *cpu, uint32_t vaddr, unsigned size, uint32_t block_cycles,
                    uint64_t value)
{
    struct dest d = quick_dest(cpu, vaddr, size, true);
    bool big = cpu->cfg.big;
    if (cpu->fast->blocks->uncached_code &&
        (d.route == ROUTE_UNCACHED || d.route == ROUTE_P4 || d.write_through))
        return false;
    switch (d.route) {
    case ROUTE_CACHED: return fast_write_cached(cpu, vaddr, d, size, block_cycles, value);
    case ROUTE_OC_RAM:
        count_event(cpu, EV_RAM_OP);
        sh4_put_bytes(sh4_oc_ram(cpu, vaddr), size, value, big);
        break;
    case ROUTE_P4:
        if (vaddr >> 24 == ASERAM_AREA)
            sh4_put_bytes(cpu->aseram + (vaddr & 0x3FF), size, value, big);
        else
            sh4_put_bytes(&cpu->fast->sq[vaddr >> 5 & 1][vaddr & 31], size, value, big);
        break;
    case ROUTE_UNCACHED:
        if (!fast_write_memory(cpu, d, size, block_cycles, cpu->cfg.costs.uncached_write, value))
            return false;
        break;
    default: return false;
    }
    cpu->total[EV_OP_WRITE_C]--;
    cpu->last_operand = vaddr;
    return true;
}
