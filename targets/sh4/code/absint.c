#include "targets/sh4/code/absint.h"

#include <string.h>

#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/reg_use.h"
#include "targets/sh4/code/sites.h"

enum { SR_BL = 1u << 28 };

static struct abs_value constant_of(uint32_t v, uint32_t origin)
{
    return (struct abs_value){ .kind = ABS_CONST, .v = v, .origin = origin };
}

static struct abs_value with_bl(uint8_t bl)
{
    return (struct abs_value){ .kind = ABS_SR, .bl = bl };
}

static const struct abs_value unknown = { .kind = ABS_UNKNOWN };

void abs_entry(struct abs_state *s)
{
    memset(s, 0, sizeof *s);
    s->bl = SH4_BL_ENTRY;
}

uint8_t abs_through(uint8_t bl, uint8_t exit_bl)
{
    return (uint8_t)((exit_bl & (SH4_BL_0 | SH4_BL_1 | SH4_BL_MEANT)) |
                     (exit_bl & SH4_BL_ENTRY ? bl : 0));
}

void abs_call(struct abs_state *s, uint8_t exit_bl)
{
    for (int i = 0; i < 8; i++)
        s->r[i] = unknown;
    s->bl = abs_through(s->bl, exit_bl);
}

static bool same_value(const struct abs_value *a, const struct abs_value *b)
{
    return a->kind == b->kind && a->bl == b->bl && a->size == b->size && a->v == b->v &&
           a->zero_extended == b->zero_extended && a->origin == b->origin;
}

bool abs_join(struct abs_state *a, const struct abs_state *b, uint32_t lost[32], unsigned *nlost)
{
    bool changed = false;
    for (int i = 0; i < 16; i++) {
        struct abs_value *x = &a->r[i];
        const struct abs_value *y = &b->r[i];
        if (same_value(x, y))
            continue;
        if (nlost && x->kind == ABS_CONST && x->origin && *nlost < 32)
            lost[(*nlost)++] = x->origin;
        if (nlost && y->kind == ABS_CONST && y->origin && *nlost < 32)
            lost[(*nlost)++] = y->origin;
        struct abs_value v = unknown;
        if (x->kind == ABS_SR && y->kind == ABS_SR)
            v = with_bl(x->bl | y->bl);
        else if (x->kind == ABS_CONST && y->kind == ABS_CONST && x->v == y->v)
            v = constant_of(x->v, 0);
        changed |= !same_value(x, &v);
        *x = v;
    }
    changed |= (a->bl | b->bl) != a->bl;
    a->bl |= b->bl;
    return changed;
}

static void const_first(struct abs_value *a, struct abs_value *b)
{
    struct abs_value t = *a;
    if (b->kind != ABS_CONST)
        return;
    *a = *b;
    *b = t;
}

/* Bit 28 of the result of an operation with a known mask, where only the mask decides it. */
static struct abs_value or_values(struct abs_value a, struct abs_value b)
{
    if (a.kind == ABS_CONST && b.kind == ABS_CONST)
        return constant_of(a.v | b.v, 0);
    const_first(&a, &b);
    if (a.kind != ABS_CONST)
        return unknown;
    if (a.v & SR_BL)
        return with_bl(SH4_BL_1);
    if (b.kind == ABS_SR)
        return b;
    return unknown;
}

static struct abs_value and_values(struct abs_value a, struct abs_value b)
{
    if (a.kind == ABS_CONST && b.kind == ABS_CONST)
        return constant_of(a.v & b.v, 0);
    const_first(&a, &b);
    if (a.kind != ABS_CONST)
        return unknown;
    if (!(a.v & SR_BL))
        return with_bl(SH4_BL_0);
    if (b.kind == ABS_SR)
        return b;
    return unknown;
}

static struct abs_value add_values(struct abs_value a, struct abs_value b)
{
    if (a.kind == ABS_CONST && b.kind == ABS_CONST)
        return constant_of(a.v + b.v, 0);
    return unknown;
}

static struct abs_value shift_left(struct abs_value a, unsigned n)
{
    if (a.kind == ABS_CONST)
        return constant_of(a.v << n, 0);
    return unknown;
}

static struct abs_value load_value(const struct abs_memory *mem, uint32_t addr, unsigned bytes,
                                   uint32_t pc)
{
    uint32_t v;
    if (!mem->read(mem->ctx, addr, bytes, &v))
        return unknown;
    if (bytes == 2)
        v = (uint32_t)(int32_t)(int16_t)v;
    return constant_of(v, bytes == 4 ? pc : 0);
}

/* Where the program means BL to be 1, a read that the agent does shows that; any other read shows
 * what is. */
static struct abs_value sr_read(uint8_t bl)
{
    return with_bl((uint8_t)(bl & SH4_BL_MEANT ? (bl & ~SH4_BL_MEANT) | SH4_BL_0 | SH4_BL_1 : bl));
}

/* The new value of the register an instruction writes; *reg is its number, -1 for "only what
 * sh4_reg_use says, all unknown". */
static struct abs_value result_of(const struct abs_state *s, uint16_t op, uint32_t pc,
                                  const struct abs_memory *mem, int *reg)
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15;
    struct abs_value rn = s->r[n], rm = s->r[m];
    uint32_t addr = 0;
    *reg = (int)n;
    switch (sh4_decode(op, false, false)) {
    case SH4_MOV_IMM_RN: return constant_of((uint32_t)(int32_t)(int8_t)op, 0);
    case SH4_MOV_W_DISPPC_RN: sh4_pc_relative(op, pc, &addr); return load_value(mem, addr, 2, pc);
    case SH4_MOV_L_DISPPC_RN: sh4_pc_relative(op, pc, &addr); return load_value(mem, addr, 4, pc);
    case SH4_MOVA_DISPPC_R0:
        *reg = 0;
        sh4_pc_relative(op, pc, &addr);
        return constant_of(addr, 0);
    case SH4_MOV_RM_RN: return rm;
    case SH4_ADD_IMM_RN: return add_values(rn, constant_of((uint32_t)(int32_t)(int8_t)op, 0));
    case SH4_ADD_RM_RN: return add_values(rn, rm);
    case SH4_OR_RM_RN: return or_values(rn, rm);
    case SH4_AND_RM_RN: return and_values(rn, rm);
    case SH4_NOT_RM_RN:
        if (rm.kind == ABS_CONST)
            return constant_of(~rm.v, 0);
        return unknown;
    case SH4_SHLL_RN: return shift_left(rn, 1);
    case SH4_SHLL2_RN: return shift_left(rn, 2);
    case SH4_SHLL8_RN: return shift_left(rn, 8);
    case SH4_SHLL16_RN: return shift_left(rn, 16);
    case SH4_OR_IMM_R0: *reg = 0; return or_values(s->r[0], constant_of(op & 0xFF, 0));
    case SH4_AND_IMM_R0: *reg = 0; return and_values(s->r[0], constant_of(op & 0xFF, 0));
    case SH4_STC_SR_RN: return sr_read(s->bl);
    case SH4_EXTU_B_RM_RN:
        if (rm.kind == ABS_TABLE && rm.size == 1)
            rm.zero_extended = true;
        if (rm.kind == ABS_TABLE)
            return rm;
        return unknown;
    case SH4_MOV_B_R0RM_RN:
    case SH4_MOV_W_R0RM_RN:
    case SH4_MOV_L_R0RM_RN: {
        struct abs_value base = s->r[0].kind == ABS_CONST ? s->r[0] : rm;
        if (base.kind != ABS_CONST)
            return unknown;
        return (struct abs_value){ .kind = ABS_TABLE,
                                   .v = base.v,
                                   .size = (uint8_t)(1 << ((op & 15) - 12)) };
    }
    default: *reg = -1; return unknown;
    }
}

static unsigned find_escapes(const struct abs_state *s, uint16_t op, uint32_t escaped[4])
{
    unsigned n = 0;
    uint16_t reads = sh4_reg_use(op).reads;
    if (!escaped || sh4_decode(op, false, false) == SH4_MOV_RM_RN)
        return 0;
    for (int i = 0; i < 16 && n < 4; i++)
        if (reads >> i & 1 && s->r[i].kind == ABS_CONST && s->r[i].origin)
            escaped[n++] = s->r[i].origin;
    return n;
}

/* Bit 28 of what an SR load brings; nothing known: either. From memory it is not known. */
static uint8_t sr_value(const struct abs_state *s, uint16_t op)
{
    const struct abs_value *v = &s->r[op >> 8 & 15];
    bool from_memory = sh4_decode(op, false, false) == SH4_LDC_L_INC_SR;
    if (!from_memory && v->kind == ABS_CONST)
        return v->v & SR_BL ? SH4_BL_1 : SH4_BL_0;
    if (!from_memory && v->kind == ABS_SR && v->bl)
        return v->bl;
    return SH4_BL_0 | SH4_BL_1;
}

/* Whether a TRAPA may stand here: BL is certainly 0. */
static bool sr_open(const struct abs_state *s, const struct abs_memory *mem)
{
    return mem->traps && !(s->bl & SH4_BL_1) && !(s->bl & SH4_BL_ENTRY && mem->entry_blocked);
}

bool abs_sr_trapped(const struct abs_state *s, uint16_t op, const struct abs_memory *mem)
{
    bool meant = s->bl & SH4_BL_MEANT || (s->bl & SH4_BL_ENTRY && mem->entry_meant);
    uint8_t v;
    switch (sh4_decode(op, false, false)) {
    case SH4_STC_SR_RN:
    case SH4_STC_L_SR_DEC: return sr_open(s, mem) && meant;
    case SH4_LDC_L_INC_SR:
        if ((op >> 8 & 15) != 15) /* the agent pops from the stack, no more */
            return false;
        /* fall through */
    case SH4_LDC_RM_SR:
        v = sr_value(s, op);
        return sr_open(s, mem) && (meant || v & SH4_BL_1 || (v & SH4_BL_ENTRY && mem->entry_meant));
    default: return false;
    }
}

static uint8_t sr_loaded(const struct abs_state *s, uint16_t op, const struct abs_memory *mem)
{
    uint8_t v = sr_value(s, op);
    if (abs_sr_trapped(s, op, mem))
        return v & SH4_BL_1 ? (uint8_t)((v & ~SH4_BL_1) | SH4_BL_MEANT) : v;
    if (v & SH4_BL_ENTRY && mem->entry_meant)
        return v | SH4_BL_1;
    return v;
}

unsigned abs_step(struct abs_state *s, uint16_t op, uint32_t pc, const struct abs_memory *mem,
                  uint32_t escaped[4])
{
    int reg;
    unsigned n = find_escapes(s, op, escaped);
    struct abs_value v = result_of(s, op, pc, mem, &reg);
    switch (sh4_decode(op, false, false)) {
    case SH4_LDC_RM_SR:
    case SH4_LDC_L_INC_SR: s->bl = sr_loaded(s, op, mem); break;
    default: break;
    }
    uint16_t writes = sh4_reg_use(op).writes;
    for (int i = 0; i < 16; i++)
        if (writes >> i & 1)
            s->r[i] = unknown;
    if (reg >= 0)
        s->r[reg] = v;
    return n;
}
