/* Moves, arithmetic and logic, and the choice of an instruction's handler. */
#include "targets/sim/s12z/exec.h"

#include <stddef.h>

#define HANDLER(name) static void name(struct s12z_cpu *c, const struct cpu_insn *u)
#define OPR(k)        (&u->i.opr[k])

/* The destination register, operand 0, and its width. */
#define DEST  (u->i.opr[0].reg)
#define WIDTH (u->i.opr[0].bytes)

HANDLER(op_nop)
{
    (void)c;
    (void)u;
}

/* ---- moves ---- */
HANDLER(op_ld)
{
    uint32_t v = operand_value(c, u, OPR(1), WIDTH);
    c->r[DEST] = v;
    flags_logic(c, v, WIDTH);
}
HANDLER(op_st)
{
    uint32_t v = c->r[DEST];
    struct place p = place_of(c, u, OPR(1));
    place_store(c, &p, v);
    flags_logic(c, v, WIDTH);
}
HANDLER(op_mov)
{
    unsigned bytes = u->i.bytes;
    uint32_t v = operand_value(c, u, OPR(0), bytes);
    struct place p = place_of(c, u, OPR(1));
    place_store(c, &p, v);
    flags_logic(c, v, bytes);
}
HANDLER(op_clr)
{
    struct place p = place_of(c, u, OPR(0));
    place_store(c, &p, 0);
    c->n = c->v = c->c = 0;
    c->z = 1;
}
HANDLER(op_lea)
{
    if (OPR(1)->kind == S12Z_OPR_MEM)
        c->r[DEST] = operand_address(c, u, OPR(1));
    else
        c->r[DEST] = operand_value(c, u, OPR(1), 3);
}

static uint32_t get_any(const struct s12z_cpu *c, unsigned reg, uint32_t pc)
{
    switch (reg) {
    case S12Z_P: return pc;
    case S12Z_CCH: return cpu_ccw(c) >> 8;
    case S12Z_CCL: return cpu_ccw(c) & 0xFF;
    case S12Z_CCW: return cpu_ccw(c);
    case S12Z_NOREG: return 0;
    default: return c->r[reg];
    }
}

/* Software may clear X but cannot set it. In user state (U=1) it cannot change the system bits. */
static void write_ccw(struct s12z_cpu *c, uint16_t ccw)
{
    uint16_t old = cpu_ccw(c);
    if (old & CCW_U)
        ccw = (uint16_t)((ccw & ~CCW_SYSTEM) | (old & CCW_SYSTEM));
    if (!(old & CCW_X))
        ccw &= (uint16_t)~CCW_X;
    cpu_set_ccw(c, ccw);
}

static void set_any(struct s12z_cpu *c, unsigned reg, uint32_t v)
{
    uint16_t ccw = cpu_ccw(c);
    switch (reg) {
    case S12Z_CCH: write_ccw(c, (uint16_t)((v & 0xFF) << 8 | (ccw & 0xFF))); break;
    case S12Z_CCL: write_ccw(c, (uint16_t)((ccw & 0xFF00) | (v & 0xFF))); break;
    case S12Z_CCW: write_ccw(c, (uint16_t)v); break;
    case S12Z_P:
    case S12Z_NOREG: break;
    default: c->r[reg] = v & mask_of(s12z_reg_bytes(reg)); break;
    }
}

/* A wider destination is filled up with zeros. */
HANDLER(op_tfr) { set_any(c, OPR(1)->reg, get_any(c, OPR(0)->reg, u->pc)); }
HANDLER(op_sex)
{
    set_any(c, OPR(1)->reg,
            sign_extend(get_any(c, OPR(0)->reg, u->pc), OPR(0)->bytes ? OPR(0)->bytes : 1));
}
HANDLER(op_exg)
{
    uint32_t a = get_any(c, OPR(0)->reg, u->pc), b = get_any(c, OPR(1)->reg, u->pc);
    set_any(c, OPR(1)->reg, a);
    set_any(c, OPR(0)->reg, b);
}
HANDLER(op_andcc) { write_ccw(c, cpu_ccw(c) & (uint16_t)(0xFF00 | OPR(0)->value)); }
HANDLER(op_orcc) { write_ccw(c, (uint16_t)(cpu_ccw(c) | OPR(0)->value)); }

/* Registers in the order in which they lie on the stack, lowest address first. Bit 11 of the mask
 * is CCH, bit 0 is Y. */
static const uint8_t stack_order[12] = { S12Z_CCH, S12Z_CCL, S12Z_D0, S12Z_D1, S12Z_D2, S12Z_D3,
                                         S12Z_D4,  S12Z_D5,  S12Z_D6, S12Z_D7, S12Z_X,  S12Z_Y };
HANDLER(op_psh)
{
    for (unsigned k = 12; k-- > 0;)
        if (u->i.mask & 0x800u >> k)
            cpu_push(c, s12z_reg_bytes(stack_order[k]), get_any(c, stack_order[k], u->pc));
}
HANDLER(op_pul)
{
    for (unsigned k = 0; k < 12; k++)
        if (u->i.mask & 0x800u >> k)
            set_any(c, stack_order[k], cpu_pull(c, s12z_reg_bytes(stack_order[k])));
}

/* ---- arithmetic and logic on a register ---- */
HANDLER(op_add)
{
    c->r[DEST] = flags_add(c, c->r[DEST], operand_value(c, u, OPR(1), WIDTH), 0, WIDTH);
}
HANDLER(op_adc)
{
    c->r[DEST] = flags_add(c, c->r[DEST], operand_value(c, u, OPR(1), WIDTH), c->c, WIDTH);
}
HANDLER(op_sub)
{
    c->r[DEST] = flags_sub(c, c->r[DEST], operand_value(c, u, OPR(1), WIDTH), 0, WIDTH);
}
HANDLER(op_sbc)
{
    c->r[DEST] = flags_sub(c, c->r[DEST], operand_value(c, u, OPR(1), WIDTH), c->c, WIDTH);
}
HANDLER(op_cmp) { flags_sub(c, c->r[DEST], operand_value(c, u, OPR(1), WIDTH), 0, WIDTH); }
HANDLER(op_and) { flags_logic(c, c->r[DEST] &= operand_value(c, u, OPR(1), WIDTH), WIDTH); }
HANDLER(op_or) { flags_logic(c, c->r[DEST] |= operand_value(c, u, OPR(1), WIDTH), WIDTH); }
HANDLER(op_eor) { flags_logic(c, c->r[DEST] ^= operand_value(c, u, OPR(1), WIDTH), WIDTH); }
HANDLER(op_bit) { flags_logic(c, c->r[DEST] & operand_value(c, u, OPR(1), WIDTH), WIDTH); }
/* D6 = X - Y or D6 = Y - X: operands of 24 bits, a difference of 32 bits. */
HANDLER(op_sub_pointers)
{
    c->r[S12Z_D6] = flags_sub(c, c->r[OPR(1)->reg], c->r[OPR(2)->reg], 0, 4);
}

/* The comparison Dd - operand sets the flags. Then the smaller or greater of the two is kept. */
HANDLER(op_minmax)
{
    uint32_t a = c->r[DEST], b = operand_value(c, u, OPR(1), WIDTH);
    flags_sub(c, a, b, 0, WIDTH);
    bool less = c->n ^ c->v;
    if (u->i.op == S12Z_OP_MINU || u->i.op == S12Z_OP_MAXU)
        less = c->c;
    bool want_less = u->i.op == S12Z_OP_MINU || u->i.op == S12Z_OP_MINS;
    if (less != want_less)
        c->r[DEST] = b;
}

/* ---- one operand ---- */
static void inc_dec(struct s12z_cpu *c, const struct cpu_insn *u, uint32_t delta)
{
    struct place p = place_of(c, u, OPR(0));
    uint32_t old = place_load(c, &p, OPR(0)), v = (old + delta) & mask_of(p.bytes),
             top = 1u << (8 * p.bytes - 1);
    place_store(c, &p, v);
    flags_nz(c, v, p.bytes);
    c->v = delta == 1 ? v == top : v == top - 1;
}
HANDLER(op_inc) { inc_dec(c, u, 1); }
HANDLER(op_dec) { inc_dec(c, u, 0xFFFFFFFFu); }
HANDLER(op_com)
{
    struct place p = place_of(c, u, OPR(0));
    uint32_t v = ~place_load(c, &p, OPR(0)) & mask_of(p.bytes);
    place_store(c, &p, v);
    flags_logic(c, v, p.bytes);
}
HANDLER(op_neg)
{
    struct place p = place_of(c, u, OPR(0));
    place_store(c, &p, flags_sub(c, 0, place_load(c, &p, OPR(0)), 0, p.bytes));
}
HANDLER(op_abs)
{
    uint32_t v = c->r[DEST], top = 1u << (8 * WIDTH - 1);
    c->v = v == top;
    if (v & top)
        v = (0 - v) & mask_of(WIDTH);
    c->r[DEST] = v;
    flags_nz(c, v, WIDTH);
}
/* After an overflow N has the wrong sign. The result is the nearest value that can be
 * represented. */
HANDLER(op_sat)
{
    uint32_t top = 1u << (8 * WIDTH - 1);
    if (c->v)
        c->r[DEST] = c->n ? top - 1 : top;
    flags_logic(c, c->r[DEST], WIDTH);
}

static cpu_fn *const plain[S12Z_NOPS] = {
    [S12Z_OP_NOP] = op_nop,     [S12Z_OP_LD] = op_ld,       [S12Z_OP_ST] = op_st,
    [S12Z_OP_MOV] = op_mov,     [S12Z_OP_CLR] = op_clr,     [S12Z_OP_LEA] = op_lea,
    [S12Z_OP_TFR] = op_tfr,     [S12Z_OP_SEX] = op_sex,     [S12Z_OP_EXG] = op_exg,
    [S12Z_OP_ANDCC] = op_andcc, [S12Z_OP_ORCC] = op_orcc,   [S12Z_OP_PSH] = op_psh,
    [S12Z_OP_PUL] = op_pul,     [S12Z_OP_ADD] = op_add,     [S12Z_OP_ADC] = op_adc,
    [S12Z_OP_SUB] = op_sub,     [S12Z_OP_SBC] = op_sbc,     [S12Z_OP_CMP] = op_cmp,
    [S12Z_OP_AND] = op_and,     [S12Z_OP_OR] = op_or,       [S12Z_OP_EOR] = op_eor,
    [S12Z_OP_BIT] = op_bit,     [S12Z_OP_MINU] = op_minmax, [S12Z_OP_MAXU] = op_minmax,
    [S12Z_OP_MINS] = op_minmax, [S12Z_OP_MAXS] = op_minmax, [S12Z_OP_INC] = op_inc,
    [S12Z_OP_DEC] = op_dec,     [S12Z_OP_COM] = op_com,     [S12Z_OP_NEG] = op_neg,
    [S12Z_OP_ABS] = op_abs,     [S12Z_OP_SAT] = op_sat,
};

cpu_fn *cpu_handler(const struct s12z_insn *i)
{
    cpu_fn *fn = exec_flow_handler(i);
    if (!fn)
        fn = exec_math_handler(i);
    if (!fn && i->op == S12Z_OP_SUB && i->nopr == 3)
        fn = op_sub_pointers;
    if (fn)
        return fn;
    return plain[i->op];
}
