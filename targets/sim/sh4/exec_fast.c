/* The block path: executes decoded blocks by computed jumps, and adds time and counts once a block.
 *
 * It executes only what cannot fail: code in the I-cache, ASERAM or plain uncached memory,
 * addresses that the MMU does not translate, nothing that a user break may match. Otherwise it
 * leaves the block before the instruction concerned and counts what was executed. The single-step
 * path goes on from there. Both paths agree to the cycle and the count, and a test compares
 * them. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "targets/sim/sh4/decode.h"
#include "targets/sim/sh4/fpu.h"

#ifdef __clang__ /* clang has no noclone, and does not clone */
#define SH4_NEVER_INLINE __attribute__((noinline))
#else
#define SH4_NEVER_INLINE __attribute__((noinline, noclone))
#endif
#define POISON 0x80000000u
/* Address bits that the check of the I-cache compares: those of the line, and bit 0, which must be
 * 0. */
#define ILINE_BITS 0x1FFFFFE1u

static unsigned mode_of(const struct sh4_cpu *cpu)
{
    unsigned mode = 4;
    if (!(cpu->sr_rest & SR_FD))
        mode = bits_if(cpu->fpscr & FPSCR_PR, 2) | bits_if(cpu->fpscr & FPSCR_SZ, 1);
    if (!(cpu->sr_rest & SR_MD))
        mode += 5;
    return mode;
}

/* ---- user breaks: blocks and operands that may match are left to the single-step path ---- */

static uint32_t ignored_bits(uint8_t bamr)
{
    switch ((bamr >> 1 & 4) | (bamr & 3)) {
    case 0: return 0;
    case 1: return 0x3FF;
    case 2: return 0xFFF;
    case 4: return 0xFFFF;
    case 5: return 0xFFFFF;
    default: return 0xFFFFFFFF;
    }
}

static void set_watches(struct sh4_cpu *cpu)
{
    struct sh4_blocks *t = cpu->fast->blocks;
    t->ninsn = t->noperand = 0;
    for (unsigned i = 0; cpu->ubc_armed && cpu->ubc && i < 2; i++) {
        const struct sh4_ubc_channel *c = &cpu->ubc->ch[i];
        struct watch w = { c->bar, ignored_bits(c->bamr) };
        if (c->bbr & 0x10)
            t->insn[t->ninsn++] = w;
        w.ignore |= 7; /* whatever the size of the access */
        if (c->bbr & 0x20)
            t->operand[t->noperand++] = w;
    }
}

/* May an instruction between the addresses pc and last, less than 1 KB apart, match? */
static bool insn_watched(const struct sh4_blocks *t, uint32_t pc, uint32_t last)
{
    for (unsigned i = 0; i < t->ninsn; i++) {
        const struct watch *w = &t->insn[i];
        if (((pc ^ w->addr) & ~w->ignore) == 0 || ((last ^ w->addr) & ~w->ignore) == 0 ||
            w->addr - pc <= last - pc)
            return true;
    }
    return false;
}

/* For each segment of 512 MB: 0 where the inline checks decide alone, else a bit that no tag has,
 * so that they fail. CCR, SR and MMUCR change only in the single-step path. */
static void set_poison(struct sh4_cpu *cpu)
{
    struct sh4_blocks *t = cpu->fast->blocks;
    uint32_t ccr = cpu->ccn.ccr;
    bool at = cpu->ccn.mmucr & MMUCR_AT && cpu->mmu, user = !(cpu->sr_rest & SR_MD);
    bool plain_oc = (ccr & (CCR_OCE | CCR_OIX | CCR_ORA)) == CCR_OCE && !t->noperand;
    bool plain_ic = (ccr & (CCR_ICE | CCR_IIX)) == CCR_ICE;
    for (unsigned s = 0; s < 8; s++) {
        bool p1 = s == 4, cacheable = s != 5 && s != 7;
        bool reachable = !(user && s >= 4) && (!at || p1);
        bool plain = cacheable && reachable;
        bool writes_through = ccr & CCR_WT;
        if (p1)
            writes_through = !(ccr & CCR_CB);
        t->ipoison[s] = bits_if(!(plain && plain_ic), POISON >> 1);
        t->rpoison[s] = bits_if(!(plain && plain_oc), POISON >> 1);
        t->wpoison[s] = bits_if(!(plain && plain_oc) || writes_through, POISON >> 1);
    }
}

/* ---- finding code ---- */

static struct block *block_in(struct sh4_cpu *cpu, struct dline *l, uint32_t pc, unsigned mode,
                              const uint8_t *after)
{
    uint16_t *known = &l->block[mode][pc >> 1 & 15];
    if (*known && after && cpu->fast->blocks->block[*known].wants_after)
        *known = 0; /* a block with the branch at its end can be had now */
    if (*known)
        return &cpu->fast->blocks->block[*known];
    return sh4_find_block(cpu, l, mode, pc >> 1 & 15, after);
}

/* The two bytes after the line, where a slot may lie; NULL: they cannot be fetched without a miss
 * or a fault. */
static const uint8_t *after_line(struct sh4_cpu *cpu, uint32_t pc, enum line_kind kind)
{
    struct sh4_fast *f = cpu->fast;
    uint32_t next = (pc | 31) + 1, paddr = next & 0x1FFFFFE0;
    unsigned i = next >> 5 & 255;
    if (kind == LINE_ASERAM)
        return cpu->aseram + (next & 0x3FF);
    if ((next ^ pc) >> 29) /* the next line is another segment's */
        return NULL;
    if (kind == LINE_CACHED) {
        if (f->itag[i] == paddr)
            return f->idata[i];
        return NULL;
    }
    const struct sh4_window *w = sh4_find_window(cpu, paddr, 2);
    if (w)
        return w->host + ((paddr - w->base) & w->mask);
    return NULL;
}

static bool slot_unchanged(struct sh4_cpu *cpu, uint32_t pc, enum line_kind kind, uint16_t op)
{
    const uint8_t *p = after_line(cpu, pc, kind);
    return p && get16(p, cpu->cfg.big) == op;
}

static struct block *cached_block(struct sh4_cpu *cpu, uint32_t pc, unsigned mode)
{
    struct sh4_fast *f = cpu->fast;
    struct sh4_blocks *t = f->blocks;
    unsigned i = pc >> 5 & 255;
    uint32_t line = pc & 0x1FFFFFE0;
    if (f->itag[i] != line) {
        if (cpu->cycle + cpu->cfg.costs.ifill >= cpu->until || !sh4_find_window(cpu, line, LINE))
            return NULL;
        count_event(cpu, EV_IC_MISS);
        sh4_ic_fill(cpu, i, line);
        cpu->total[EV_IC_FILL] += cpu->cfg.costs.ifill;
        spend_cycles(cpu, EV_FREEZE_IC, cpu->cfg.costs.ifill);
    }
    if (!t->iline[i])
        t->iline[i] = sh4_find_line(cpu, line, LINE_CACHED, f->idata[i]);
    return block_in(cpu, t->iline[i], pc, mode, after_line(cpu, pc, LINE_CACHED));
}

/* ASERAM and uncached memory have no tags, so the decoded line is compared with memory each
 * time. */
static struct block *uncached_block(struct sh4_cpu *cpu, uint32_t pc, unsigned mode)
{
    const uint8_t *raw;
    uint32_t paddr = pc & 0x1FFFFFE0;
    enum line_kind kind = LINE_UNCACHED;
    if (pc >> 24 == ASERAM_AREA) {
        kind = LINE_ASERAM;
        paddr = pc & 0x3E0;
        raw = cpu->aseram + paddr;
    } else {
        const struct sh4_window *w = sh4_find_window(cpu, paddr, LINE);
        if (!w)
            return NULL;
        raw = w->host + ((paddr - w->base) & w->mask);
    }
    return block_in(cpu, sh4_find_line(cpu, paddr, kind, raw), pc, mode, after_line(cpu, pc, kind));
}

/* Finds the block at pc when the inline check did not: fills the I-cache and decodes. NULL: the
 * single-step path has to go on. The tables may have been flushed then, so the caller's number of a
 * pipeline state does not hold any more. */
static __attribute__((noinline)) struct block *find_block(struct sh4_cpu *cpu, uint32_t pc,
                                                          unsigned mode)
{
    bool user = mode >= 5, at = cpu->ccn.mmucr & MMUCR_AT && cpu->mmu;
    if (pc & 1 || (pc >> 31 && user) || cpu->ccn.ccr & CCR_IIX)
        return NULL;
    if (insn_watched(cpu->fast->blocks, pc, pc))
        return NULL; /* the break comes before the fetch, so there is no fill */
    if (pc >> 24 == ASERAM_AREA)
        return uncached_block(cpu, pc, mode);
    if (pc >= 0xE0000000u || (at && pc >> 30 != 2))
        return NULL;
    if (cpu->ccn.ccr & CCR_ICE && pc >> 29 != 5)
        return cached_block(cpu, pc, mode);
    return uncached_block(cpu, pc, mode);
}

/* ---- the handlers, once per byte order ---- */

static inline uint16_t get_host16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return v;
}
static inline uint32_t get_host32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}
static inline uint64_t get_host64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the inline loads below swap for a little-endian host");

#define RUN_NAME  run_le
#define SWAP16(v) (v)
#define SWAP32(v) (v)
#define PAIR_SWAP 0
#include "targets/sim/sh4/exec_fast.inc"
#undef RUN_NAME
#undef SWAP16
#undef SWAP32
#undef PAIR_SWAP

#define RUN_NAME  run_be
#define SWAP16(v) __builtin_bswap16(v)
#define SWAP32(v) __builtin_bswap32(v)
#define PAIR_SWAP 1
#include "targets/sim/sh4/exec_fast.inc"

const int32_t *sh4_fast_labels(bool big)
{
    if (big)
        return run_be(NULL, 0);
    return run_le(NULL, 0);
}

void sh4_run_blocks(struct sh4_cpu *cpu, uint64_t until)
{
    if (cpu->cfg.flat)
        return;
    set_watches(cpu);
    set_poison(cpu);
    if (cpu->cfg.big)
        run_be(cpu, until);
    else
        run_le(cpu, until);
}
