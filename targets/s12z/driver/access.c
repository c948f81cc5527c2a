#include "targets/s12z/driver/access.h"

#include <string.h>

enum { ADDRESS = 0xFFFFFF, BDC_X = 8, BDC_S = 10, BDC_P = 11, BDC_NREGS = 13, RETURN_BYTES = 3 };
enum role { NOTHING, READS, WRITES, CHANGES };

/* Registers while the operands' addresses are worked out, one after the other. */
struct work {
    uint32_t reg[BDC_NREGS], pc;
    int (*pointer)(void *ctx, uint32_t addr, uint32_t *value);
    void *ctx;
    struct s12z_access *out;
    int n;
};

static unsigned bdc_number(unsigned reg)
{
    static const uint8_t of[] = {
        [S12Z_D2] = 2,    [S12Z_D3] = 3,        [S12Z_D4] = 4,    [S12Z_D5] = 5,
        [S12Z_D0] = 0,    [S12Z_D1] = 1,        [S12Z_D6] = 6,    [S12Z_D7] = 7,
        [S12Z_X] = BDC_X, [S12Z_Y] = BDC_X + 1, [S12Z_S] = BDC_S, [S12Z_P] = BDC_P
    };
    return of[reg];
}

static uint32_t number_of(const struct work *w, unsigned reg, bool is_signed)
{
    unsigned unused = 32 - 8 * s12z_reg_bytes((enum s12z_reg)reg);
    uint32_t v = w->reg[bdc_number(reg)];
    if (is_signed)
        return (uint32_t)((int32_t)(v << unused) >> unused);
    return v;
}

/* X, Y, S, adjusted before or after by the operand's size. */
static uint32_t base_of(struct work *w, const struct s12z_operand *o)
{
    uint32_t *r = &w->reg[bdc_number(o->reg)], before = *r;
    bool down = o->adjust == S12Z_PRE_DEC || o->adjust == S12Z_POST_DEC,
         first = o->adjust == S12Z_PRE_DEC || o->adjust == S12Z_PRE_INC;
    if (o->adjust == S12Z_PLAIN)
        return before;
    *r = (down ? before - o->bytes : before + o->bytes) & ADDRESS;
    if (first)
        return *r;
    return before;
}

static void add_access(struct work *w, uint32_t addr, unsigned bytes, enum role role)
{
    if (role != NOTHING && bytes)
        w->out[w->n++] =
            (struct s12z_access){ addr & ADDRESS, (uint8_t)bytes, role != WRITES, role != READS };
}

static int add_operand(struct work *w, const struct s12z_operand *o, enum role role)
{
    uint32_t a = (uint32_t)o->value;
    if (o->kind != S12Z_OPR_MEM)
        return 0;
    if (o->reg == S12Z_P)
        a += w->pc;
    else if (o->reg != S12Z_NOREG && o->reg >= S12Z_X)
        a += base_of(w, o);
    else if (o->reg != S12Z_NOREG)
        a += number_of(w, o->reg, false);
    if (o->index != S12Z_NOREG)
        a += number_of(w, o->index, true);
    a &= ADDRESS;
    if (o->indirect) {
        add_access(w, a, 3, READS);
        int ret = w->pointer(w->ctx, a, &a);
        if (ret < 0)
            return ret;
    }
    add_access(w, a, o->bytes, role);
    return 0;
}

static enum role role_of(const struct s12z_insn *i, unsigned k)
{
    switch ((enum s12z_op)i->op) {
    case S12Z_OP_LEA:
    case S12Z_OP_JMP:
    case S12Z_OP_JSR: return NOTHING;
    case S12Z_OP_CLR: return WRITES;
    case S12Z_OP_ST:
    case S12Z_OP_MOV:
        if (k == 1)
            return WRITES;
        return READS;
    case S12Z_OP_BFEXT:
        if (k == 0)
            return WRITES;
        return READS;
    case S12Z_OP_INC:
    case S12Z_OP_DEC:
    case S12Z_OP_COM:
    case S12Z_OP_NEG:
    case S12Z_OP_ROL:
    case S12Z_OP_ROR:
    case S12Z_OP_BSET:
    case S12Z_OP_BCLR:
    case S12Z_OP_BTGL:
    case S12Z_OP_BFINS:
    case S12Z_OP_DB:
        if (k == 0)
            return CHANGES;
        return READS;
    case S12Z_OP_LSR:
    case S12Z_OP_LSL:
    case S12Z_OP_ASR:
    case S12Z_OP_ASL:
        if (k == 0 && i->nopr < 3)
            return CHANGES;
        return READS;
    default: return READS;
    }
}

static unsigned mask_bytes(uint16_t mask)
{
    /* CCH CCL D0 D1 D2-D5 D6 D7 X Y, bit 11 first */
    static const uint8_t bytes[12] = { 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 3, 3 };
    unsigned n = 0;
    for (unsigned k = 0; k < 12; k++)
        if (mask & 0x800u >> k)
            n += bytes[k];
    return n;
}

static void add_stack_accesses(struct work *w, const struct s12z_insn *i)
{
    uint32_t s = w->reg[BDC_S];
    switch ((enum s12z_op)i->op) {
    case S12Z_OP_PSH: add_access(w, s - mask_bytes(i->mask), mask_bytes(i->mask), WRITES); break;
    case S12Z_OP_PUL: add_access(w, s, mask_bytes(i->mask), READS); break;
    case S12Z_OP_BSR:
    case S12Z_OP_JSR: add_access(w, s - RETURN_BYTES, RETURN_BYTES, WRITES); break;
    case S12Z_OP_RTS: add_access(w, s, RETURN_BYTES, READS); break;
    case S12Z_OP_RTI: add_access(w, s, S12Z_FRAME_BYTES, READS); break;
    case S12Z_OP_SWI:
    case S12Z_OP_SYS:
    case S12Z_OP_TRAP:
    case S12Z_OP_SPARE: add_access(w, s - S12Z_FRAME_BYTES, S12Z_FRAME_BYTES, WRITES); break;
    default: break;
    }
}

int s12z_accesses(const struct s12z_insn *i, uint32_t pc, const uint32_t reg[13],
                  int (*pointer)(void *ctx, uint32_t addr, uint32_t *value), void *ctx,
                  struct s12z_access out[S12Z_MAX_ACCESSES])
{
    struct work w = { .pc = pc, .pointer = pointer, .ctx = ctx, .out = out };
    bool source_first = i->op == S12Z_OP_BFEXT || i->op == S12Z_OP_BFINS;
    int ret = 0;
    memcpy(w.reg, reg, sizeof w.reg);
    for (unsigned k = 0; ret == 0 && k < i->nopr; k++) {
        unsigned at = source_first && k < 2 ? 1 - k : k;
        ret = add_operand(&w, &i->opr[at], role_of(i, at));
    }
    add_stack_accesses(&w, i);
    if (ret < 0)
        return ret;
    return w.n;
}
