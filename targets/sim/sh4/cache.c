/* The caches: I-cache 8 KB (256 lines), O-cache 16 KB (512 lines), both direct mapped, with lines
 * of 32 bytes. They are indexed by the virtual address and tagged with the physical one. They hold
 * the data: memory is out of date until a line is written back, and the I-cache does not see
 * stores. Source: SH7750 hardware manual, section 4 (Caches). */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sim/sh4/cpu_internal.h"

/* RAM mode takes the entries with bit 7 set, 128-255 and 384-511. The other half remains a
 * cache. */
enum { RAM_ENTRY = 0x80 };

unsigned sh4_oc_index(const struct sh4_cpu *cpu, uint32_t vaddr)
{
    uint32_t ccr = cpu->ccn.ccr;
    unsigned i = vaddr >> 5 & 0x1FF;
    if (ccr & CCR_OIX)
        i = (i & 0xFF) | (vaddr >> 25 & 1) << 8;
    if (ccr & CCR_ORA)
        return i & ~(unsigned)RAM_ENTRY;
    return i;
}

unsigned sh4_ic_index(const struct sh4_cpu *cpu, uint32_t vaddr)
{
    if (cpu->ccn.ccr & CCR_IIX)
        return (vaddr >> 5 & 0x7F) | (vaddr >> 25 & 1) << 7;
    return vaddr >> 5 & 0xFF;
}

/* RAM mode has two areas of 4 KB at 0x7C000000, each with a shadow. Address bit 13 (with OIX: bit
 * 25) selects the area, and bit 12 does not count. */
uint8_t *sh4_oc_ram(struct sh4_cpu *cpu, uint32_t vaddr)
{
    unsigned area = cpu->ccn.ccr & CCR_OIX ? vaddr >> 25 & 1 : vaddr >> 13 & 1;
    return &cpu->fast->odata[area << 8 | RAM_ENTRY | (vaddr >> 5 & 0x7F)][vaddr & 31];
}

void sh4_oc_drop(struct sh4_cpu *cpu, unsigned i, bool write_back)
{
    struct sh4_fast *f = cpu->fast;
    if (write_back && f->odirty[i] && !(f->otag[i] & TAG_INVALID)) {
        sh4_phys_write_line(cpu, f->otag[i], f->odata[i]);
        spend_cycles(cpu, EV_FREEZE_OC, cpu->cfg.costs.writeback);
    }
    f->otag[i] |= TAG_INVALID;
    f->odirty[i] = 0;
    f->effects++;
}

void sh4_oc_fill(struct sh4_cpu *cpu, unsigned i, uint32_t paddr)
{
    sh4_oc_drop(cpu, i, true);
    sh4_phys_read_line(cpu, paddr, cpu->fast->odata[i]);
    cpu->fast->otag[i] = paddr;
    cpu->total[EV_OC_FILL] += cpu->cfg.costs.ofill;
    spend_cycles(cpu, EV_FREEZE_OC, cpu->cfg.costs.ofill);
}

void sh4_ic_fill(struct sh4_cpu *cpu, unsigned i, uint32_t paddr)
{
    sh4_phys_read_line(cpu, paddr, cpu->fast->idata[i]);
    cpu->fast->itag[i] = paddr;
    sh4_blocks_line_changed(cpu, i);
}

/* OCI and ICI invalidate without a write-back. They read as 0. */
void sh4_write_ccr(struct sh4_cpu *cpu, uint32_t value)
{
    struct sh4_fast *f = cpu->fast;
    for (unsigned i = 0; value & CCR_OCI && i < OC_LINES; i++)
        sh4_oc_drop(cpu, i, false);
    for (unsigned i = 0; value & CCR_ICI && i < IC_LINES; i++)
        f->itag[i] |= TAG_INVALID;
    cpu->ccn.ccr = value & CCR_WRITABLE;
    f->effects++;
    if (cpu->mmu)
        sh4_mmu_changed(cpu->mmu);
}

/* ---- memory-mapped arrays ---- */

enum { ARRAY_V = 1, ARRAY_U = 2, ARRAY_A = 8 };

static uint32_t tag_word(uint32_t tag, bool dirty)
{
    return (tag & 0x1FFFFC00) | bits_if(dirty, ARRAY_U) | bits_if(!(tag & TAG_INVALID), ARRAY_V);
}

uint32_t sh4_cache_array_read(struct sh4_cpu *cpu, uint32_t addr)
{
    struct sh4_fast *f = cpu->fast;
    unsigned o = addr >> 5 & 0x1FF, i = addr >> 5 & 0xFF, word = addr & 28;
    switch (addr >> 24) {
    case 0xF0: return tag_word(f->itag[i], false);
    case 0xF1: return (uint32_t)sh4_get_bytes(f->idata[i] + word, 4, cpu->cfg.big);
    case 0xF4: return tag_word(f->otag[o], f->odirty[o]);
    default: return (uint32_t)sh4_get_bytes(f->odata[o] + word, 4, cpu->cfg.big);
    }
}

/* Does an associative write match? It compares the tag of the entry that the address selects; V and
 * U change only on a match. The virtual address in the data is translated, and a TLB miss is no
 * match. */
static bool associative_match(struct sh4_cpu *cpu, uint32_t value, uint32_t tag, bool insn)
{
    uint32_t paddr = value & SH4_PHYS;
    if (tag & TAG_INVALID)
        return false;
    if (cpu->ccn.mmucr & MMUCR_AT && cpu->mmu && value >> 30 != 2) {
        struct sh4_xlat x;
        sh4_mmu_translate(cpu->mmu, value & ~0x3FFu, insn ? SH4_ACCESS_FETCH : SH4_ACCESS_READ,
                          !(cpu->sr_rest & SR_MD), &x);
        if (x.fault)
            return false;
        paddr = x.paddr;
    }
    return (tag & 0x1FFFFC00) == (paddr & 0x1FFFFC00);
}

static void write_ic_tag(struct sh4_cpu *cpu, unsigned i, uint32_t addr, uint32_t value)
{
    uint32_t *tag = &cpu->fast->itag[i];
    if (!(addr & ARRAY_A))
        *tag = (value & 0x1FFFFC00) | (addr & 0x3E0) | bits_if(!(value & ARRAY_V), TAG_INVALID);
    else if (associative_match(cpu, value, *tag, true) && !(value & ARRAY_V))
        *tag |= TAG_INVALID;
    sh4_blocks_line_changed(cpu, i);
}

/* A dirty line is written back before its entry changes. */
static void write_oc_tag(struct sh4_cpu *cpu, unsigned i, uint32_t addr, uint32_t value)
{
    struct sh4_fast *f = cpu->fast;
    bool associative = addr & ARRAY_A;
    if (associative && !associative_match(cpu, value, f->otag[i], false))
        return;
    uint32_t tag = associative ? f->otag[i] : (value & 0x1FFFFC00) | (addr & 0x3E0);
    if (f->odirty[i] && (!(value & ARRAY_U) || !(value & ARRAY_V) || tag != f->otag[i])) {
        sh4_phys_write_line(cpu, f->otag[i] & SH4_PHYS, f->odata[i]);
        spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.writeback);
    }
    f->otag[i] = (tag & SH4_PHYS) | bits_if(!(value & ARRAY_V), TAG_INVALID);
    f->odirty[i] = (value & (ARRAY_U | ARRAY_V)) == (ARRAY_U | ARRAY_V);
}

bool sh4_cache_array_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t value)
{
    struct sh4_fast *f = cpu->fast;
    unsigned o = addr >> 5 & 0x1FF, i = addr >> 5 & 0xFF, word = addr & 28;
    switch (addr >> 24) {
    case 0xF0: write_ic_tag(cpu, i, addr, value); break;
    case 0xF1:
        sh4_put_bytes(f->idata[i] + word, 4, value, cpu->cfg.big);
        sh4_blocks_line_changed(cpu, i);
        break;
    case 0xF4: write_oc_tag(cpu, o, addr, value); break;
    default: sh4_put_bytes(f->odata[o] + word, 4, value, cpu->cfg.big);
    }
    return true;
}
