/* What a match of a channel means that watches a window larger than the objects in it. The program
 * stands behind the access. The instruction before it tells, with the registers as they are now,
 * where that access was; and an object that is written does not hold any more what it held. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/operand.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/isa/widths.h"

/* Registers of the chip: reading them may change them. */
static bool is_io(uint32_t addr)
{
    return addr >= 0xE0000000u || (addr & 0x1C000000u) == 0x1C000000u;
}

static bool has_window(const struct sh4_target *t)
{
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        if (t->breaks.ubc[n].used && !t->breaks.ubc[n].exact)
            return true;
    return false;
}

int sh4_watch_keep(struct sh4_target *t, struct err *err)
{
    bool any = has_window(t), still = t->breaks.still_kept;
    t->breaks.still_kept = false;
    if (still)
        return 0;
    for (size_t i = 0; i < t->breaks.nhard; i++) {
        struct sh4_hard *h = &t->breaks.hard[i];
        h->kept = false;
        if (!any || h->kind == BP_HARD || h->kind == BP_WATCH_READ || h->len > SH4_WATCH_KEPT ||
            is_io(h->addr))
            continue;
        int ret = sh4_mem_read_halted(t, h->addr, 0, h->was, h->len, err);
        if (ret < 0 && ret != -ERR_FAULT)
            return ret;
        h->kept = ret >= 0;
    }
    return 0;
}

static bool read_insn(struct sh4_target *t, uint32_t pc, uint16_t *insn)
{
    uint8_t b[2];
    if (sh4_mem_read_halted(t, pc, 2, b, 2, NULL) < 0)
        return false;
    *insn = get16(b, t->base.big_endian);
    return true;
}

/* The accesses of the instruction at pc, which was the last one; -1: that is not known. */
static int accesses_of(struct sh4_target *t, uint32_t pc, struct sh4_access out[SH4_MOST_ACCESSES])
{
    struct sh4_address_regs regs = { .gbr = t->regs.save[SH4_SAVE_GBR],
                                     .sz =
                                         REG_GET(t->regs.save[SH4_SAVE_FPSCR], SH4_FPSCR_SZ) != 0 };
    uint16_t insn;
    for (unsigned n = 0; n < 16; n++)
        regs.r[n] = *sh4_reg_r(t, n);
    if (read_insn(t, pc, &insn))
        return sh4_accesses_behind(insn, pc, &regs, out);
    return -1;
}

/* Whether the register holds what a load of these bytes gives. */
static bool register_loads(const struct sh4_target *t, const struct sh4_lost_load *l,
                           uint32_t value, const uint8_t *bytes)
{
    uint32_t v = sh4_get_value(bytes, l->bytes, t->base.big_endian);
    unsigned above = 32 - 8 * l->bytes;
    return (uint32_t)((int32_t)(v << above) >> above) == value;
}

/* A load at pc has overwritten its address. Compilers that do not optimize have put that into the
 * register just before, from a literal; if that place holds what was loaded, it is believed. */
static bool from_literal(struct sh4_target *t, uint32_t pc, const struct sh4_lost_load *l,
                         struct sh4_access *out)
{
    uint8_t b[4];
    uint16_t before;
    uint32_t literal;
    if (!l->has_disp || !read_insn(t, pc - 2, &before) || (before >> 12) != 0xD ||
        (before >> 8 & 15) != l->reg || !sh4_pc_relative(before, pc - 2, &literal) ||
        sh4_mem_read_halted(t, literal, 4, b, 4, NULL) < 0)
        return false;
    uint32_t at = get32(b, t->base.big_endian) + l->disp;
    if (at % l->bytes || is_io(at) || sh4_mem_read_halted(t, at, l->bytes, b, l->bytes, NULL) < 0 ||
        !register_loads(t, l, *sh4_reg_r(t, l->reg), b))
        return false;
    *out = (struct sh4_access){ .addr = at, .bytes = l->bytes, .reads = true };
    return true;
}

/* Whether a load that has overwritten its address may have read the object, by what it got. */
static bool may_have_read(struct sh4_target *t, const struct sh4_lost_load *l,
                          const struct sh4_hard *h)
{
    uint8_t b[SH4_WATCH_KEPT + 8];
    uint32_t lo = h->addr & ~(l->bytes - 1u), hi = (h->addr + h->len - 1) | (l->bytes - 1u);
    if (h->len > SH4_WATCH_KEPT || is_io(h->addr) ||
        sh4_mem_read_halted(t, lo, 0, b, hi - lo + 1, NULL) < 0)
        return true;
    for (uint32_t i = 0; i <= hi - lo; i += l->bytes)
        if (register_loads(t, l, *sh4_reg_r(t, l->reg), b + i))
            return true;
    return false;
}

/* b_bytes 0: all there is */
static bool ranges_meet(uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes)
{
    return a - b < b_bytes || b - a < a_bytes || !b_bytes;
}

static bool is_wanted(const struct sh4_access *a, enum bp_kind kind)
{
    if (kind == BP_WATCH_ACCESS)
        return true;
    if (kind == BP_WATCH_READ)
        return a->reads;
    return a->writes;
}

static bool touches_object(const struct sh4_access *a, const struct sh4_hard *h)
{
    return is_wanted(a, h->kind) && ranges_meet(a->addr, a->bytes, h->addr, h->len);
}

static bool object_changed(struct sh4_target *t, const struct sh4_hard *h)
{
    uint8_t now[SH4_WATCH_KEPT];
    return sh4_mem_read_halted(t, h->addr, 0, now, h->len, NULL) < 0 ||
           memcmp(now, h->was, h->len) != 0;
}

/* The next object in the channel's window from *i on; NULL: there is no more. */
static const struct sh4_hard *next_object(const struct sh4_target *t,
                                          const struct sh4_ubc_channel *c, size_t *i)
{
    while (*i < t->breaks.nhard) {
        const struct sh4_hard *h = &t->breaks.hard[(*i)++];
        if (h->kind != BP_HARD && ranges_meet(h->addr, h->len, c->addr, c->len))
            return h;
    }
    return NULL;
}

/* Whether what the instruction has accessed is what the channel matched. */
static bool explains_match(const struct sh4_access *a, int n, const struct sh4_ubc_channel *c)
{
    unsigned rw = REG_GET(c->bbr, SH4_BBR_RW);
    for (int k = 0; k < n; k++)
        if (ranges_meet(a[k].addr, a[k].bytes, c->addr, c->len) &&
            ((a[k].reads && (rw & 1)) || (a[k].writes && (rw & 2))))
            return true;
    return false;
}

/* Whether an access of which nothing is known is taken for one to the object: rather one stop too
 * many than one too few, unless the object's value says that it was not written. */
static bool may_be_unseen(const struct sh4_hard *h)
{
    return h->kind != BP_WATCH_WRITE || !h->kept;
}

const struct sh4_hard *sh4_watch_met(struct sh4_target *t, const struct sh4_ubc_channel *c)
{
    struct sh4_access a[SH4_MOST_ACCESSES];
    const struct sh4_hard *h;
    size_t i = 0;
    if (c->exact)
        return next_object(t, c, &i);
    /* If the access was in the slot of a branch, some other instruction stands there. */
    uint32_t pc = t->regs.pc - 2;
    int n = accesses_of(t, pc, a);
    uint16_t insn;
    struct sh4_lost_load load;
    bool lost = n < 0 && read_insn(t, pc, &insn) && sh4_lost_load(insn, &load);
    if (lost && from_literal(t, pc, &load, &a[0]))
        n = 1;
    while ((h = next_object(t, c, &i)))
        for (int k = 0; k < n; k++)
            if (touches_object(&a[k], h))
                return h;
    i = 0;
    while ((h = next_object(t, c, &i)))
        if (h->kept && object_changed(t, h))
            return h;
    t->breaks.still_kept = true;
    if (explains_match(a, n, c))
        return NULL;
    i = 0;
    while ((h = next_object(t, c, &i)) && !(lost ? may_have_read(t, &load, h) : may_be_unseen(h)))
        ;
    return h;
}

bool sh4_watch_lent(const struct sh4_target *t)
{
    return t->breaks.ubc[0].used && t->breaks.ubc[0].kind != BP_HARD;
}

const struct sh4_hard *sh4_watch_stepped(struct sh4_target *t, uint32_t from)
{
    struct sh4_access a[SH4_MOST_ACCESSES];
    uint16_t insn;
    if (!t->breaks.nhard || !read_insn(t, from, &insn))
        return NULL;
    struct sh4_flow f = sh4_flow(insn, from);
    if (f.kind == SH4_FLOW_RTE) /* its slot may have used the other bank */
        return NULL;
    int n = accesses_of(t, f.slot ? from + 2 : from, a);
    for (size_t i = 0; i < t->breaks.nhard; i++)
        for (int k = 0; k < n; k++)
            if (t->breaks.hard[i].kind != BP_HARD && touches_object(&a[k], &t->breaks.hard[i]))
                return &t->breaks.hard[i];
    return NULL;
}
