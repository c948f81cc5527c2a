#include "targets/s12z/isa/isa.h"

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/s12z/isa/operand.h"

/* What follows the opcode byte. "reg" is the register in the opcode's low bits: Dn in 2:0, X or Y
 * in 0. */
/* clang-format off */
enum form {
    F_NONE, F_REL, F_BM, F_BM_REL, F_LOOP, F_PSH, F_LEA_D, F_LEA_XYS, F_LEA_IMM8, F_MOV_IMM, F_MOV,
    F_SHIFT, F_D, F_D_IMM, F_D_OPR, F_D_EXT, F_XY, F_XY_IMM24, F_XY_IMM18, F_XY_OPR, F_XY_EXT,
    F_OPR, F_EXT, F_REG_REG, F_IMM8, F_CMP_XY, F_SUB_XY, F_SUB_YX, F_S_OPR, F_S_IMM, F_MUL,
    F_BITFIELD, F_CLB, F_TRAP
};
/* clang-format on */
struct range {
    uint8_t first, last, op, form, bytes; /* bytes: operand size of F_OPR and F_MOV*, else 0 */
};
/* clang-format off */
#define R(first, last, op, form, bytes) { first, last, S12Z_OP_##op, form, bytes }
/* clang-format on */

/* binutils s12z-opc.c; gaps: 0x10-0x17 by F_SHIFT, 0x1B page 2 */
static const struct range page1[] = {
    R(0x00, 0x00, BGND, F_NONE, 0),    R(0x01, 0x01, NOP, F_NONE, 0),
    R(0x02, 0x02, BRCLR, F_BM_REL, 0), R(0x03, 0x03, BRSET, F_BM_REL, 0),
    R(0x04, 0x04, PSH, F_PSH, 0),      R(0x05, 0x05, RTS, F_NONE, 0),
    R(0x06, 0x07, LEA, F_LEA_D, 0),    R(0x08, 0x0A, LEA, F_LEA_XYS, 0),
    R(0x0B, 0x0B, TB, F_LOOP, 0),      R(0x0C, 0x0C, MOV, F_MOV_IMM, 1),
    R(0x0D, 0x0D, MOV, F_MOV_IMM, 2),  R(0x0E, 0x0E, MOV, F_MOV_IMM, 3),
    R(0x0F, 0x0F, MOV, F_MOV_IMM, 4),  R(0x10, 0x17, LSR, F_SHIFT, 0),
    R(0x18, 0x1A, LEA, F_LEA_IMM8, 0), R(0x1C, 0x1C, MOV, F_MOV, 1),
    R(0x1D, 0x1D, MOV, F_MOV, 2),      R(0x1E, 0x1E, MOV, F_MOV, 3),
    R(0x1F, 0x1F, MOV, F_MOV, 4),      R(0x20, 0x20, BRA, F_REL, 0),
    R(0x21, 0x21, BSR, F_REL, 0),      R(0x22, 0x22, BHI, F_REL, 0),
    R(0x23, 0x23, BLS, F_REL, 0),      R(0x24, 0x24, BCC, F_REL, 0),
    R(0x25, 0x25, BCS, F_REL, 0),      R(0x26, 0x26, BNE, F_REL, 0),
    R(0x27, 0x27, BEQ, F_REL, 0),      R(0x28, 0x28, BVC, F_REL, 0),
    R(0x29, 0x29, BVS, F_REL, 0),      R(0x2A, 0x2A, BPL, F_REL, 0),
    R(0x2B, 0x2B, BMI, F_REL, 0),      R(0x2C, 0x2C, BGE, F_REL, 0),
    R(0x2D, 0x2D, BLT, F_REL, 0),      R(0x2E, 0x2E, BGT, F_REL, 0),
    R(0x2F, 0x2F, BLE, F_REL, 0),      R(0x30, 0x37, INC, F_D, 0),
    R(0x38, 0x3F, CLR, F_D, 0),        R(0x40, 0x47, DEC, F_D, 0),
    R(0x48, 0x4F, MULU, F_MUL, 0),     R(0x50, 0x57, ADD, F_D_IMM, 0),
    R(0x58, 0x5F, AND, F_D_IMM, 0),    R(0x60, 0x67, ADD, F_D_OPR, 0),
    R(0x68, 0x6F, AND, F_D_OPR, 0),    R(0x70, 0x77, SUB, F_D_IMM, 0),
    R(0x78, 0x7F, OR, F_D_IMM, 0),     R(0x80, 0x87, SUB, F_D_OPR, 0),
    R(0x88, 0x8F, OR, F_D_OPR, 0),     R(0x90, 0x97, LD, F_D_IMM, 0),
    R(0x98, 0x99, LD, F_XY_IMM24, 0),  R(0x9A, 0x9B, CLR, F_XY, 0),
    R(0x9C, 0x9C, INC, F_OPR, 1),      R(0x9D, 0x9D, INC, F_OPR, 2),
    R(0x9E, 0x9E, TFR, F_REG_REG, 0),  R(0x9F, 0x9F, INC, F_OPR, 4),
    R(0xA0, 0xA7, LD, F_D_OPR, 0),     R(0xA8, 0xA9, LD, F_XY_OPR, 0),
    R(0xAA, 0xAA, JMP, F_OPR, 3),      R(0xAB, 0xAB, JSR, F_OPR, 3),
    R(0xAC, 0xAC, DEC, F_OPR, 1),      R(0xAD, 0xAD, DEC, F_OPR, 2),
    R(0xAE, 0xAE, EXG, F_REG_REG, 0),  R(0xAF, 0xAF, DEC, F_OPR, 4),
    R(0xB0, 0xB7, LD, F_D_EXT, 0),     R(0xB8, 0xB9, LD, F_XY_EXT, 0),
    R(0xBA, 0xBA, JMP, F_EXT, 0),      R(0xBB, 0xBB, JSR, F_EXT, 0),
    R(0xBC, 0xBC, CLR, F_OPR, 1),      R(0xBD, 0xBD, CLR, F_OPR, 2),
    R(0xBE, 0xBE, CLR, F_OPR, 3),      R(0xBF, 0xBF, CLR, F_OPR, 4),
    R(0xC0, 0xC7, ST, F_D_OPR, 0),     R(0xC8, 0xC9, ST, F_XY_OPR, 0),
    R(0xCA, 0xCB, LD, F_XY_IMM18, 0),  R(0xCC, 0xCC, COM, F_OPR, 1),
    R(0xCD, 0xCD, COM, F_OPR, 2),      R(0xCE, 0xCE, ANDCC, F_IMM8, 0),
    R(0xCF, 0xCF, COM, F_OPR, 4),      R(0xD0, 0xD7, ST, F_D_EXT, 0),
    R(0xD8, 0xD9, ST, F_XY_EXT, 0),    R(0xDA, 0xDB, LD, F_XY_IMM18, 0),
    R(0xDC, 0xDC, NEG, F_OPR, 1),      R(0xDD, 0xDD, NEG, F_OPR, 2),
    R(0xDE, 0xDE, ORCC, F_IMM8, 0),    R(0xDF, 0xDF, NEG, F_OPR, 4),
    R(0xE0, 0xE7, CMP, F_D_IMM, 0),    R(0xE8, 0xE9, CMP, F_XY_IMM24, 0),
    R(0xEA, 0xEB, LD, F_XY_IMM18, 0),  R(0xEC, 0xEC, BCLR, F_BM, 0),
    R(0xED, 0xED, BSET, F_BM, 0),      R(0xEE, 0xEE, BTGL, F_BM, 0),
    R(0xEF, 0xEF, SPARE, F_NONE, 0),   R(0xF0, 0xF7, CMP, F_D_OPR, 0),
    R(0xF8, 0xF9, CMP, F_XY_OPR, 0),   R(0xFA, 0xFB, LD, F_XY_IMM18, 0),
    R(0xFC, 0xFC, CMP, F_CMP_XY, 0),   R(0xFD, 0xFD, SUB, F_SUB_XY, 0),
    R(0xFE, 0xFE, SUB, F_SUB_YX, 0),   R(0xFF, 0xFF, SWI, F_NONE, 0),
};

/* binutils s12z-opc.c; what is missing is TRAP */
static const struct range page2[] = {
    R(0x00, 0x00, LD, F_S_OPR, 0),       R(0x01, 0x01, ST, F_S_OPR, 0),
    R(0x02, 0x02, CMP, F_S_OPR, 0),      R(0x03, 0x03, LD, F_S_IMM, 0),
    R(0x04, 0x04, CMP, F_S_IMM, 0),      R(0x05, 0x05, STOP, F_NONE, 0),
    R(0x06, 0x06, WAI, F_NONE, 0),       R(0x07, 0x07, SYS, F_NONE, 0),
    R(0x08, 0x0F, BFEXT, F_BITFIELD, 0), R(0x10, 0x17, MINU, F_D_OPR, 0),
    R(0x18, 0x1F, MAXU, F_D_OPR, 0),     R(0x20, 0x27, MINS, F_D_OPR, 0),
    R(0x28, 0x2F, MAXS, F_D_OPR, 0),     R(0x30, 0x37, DIVU, F_MUL, 0),
    R(0x38, 0x3F, MODU, F_MUL, 0),       R(0x40, 0x47, ABS, F_D, 0),
    R(0x48, 0x4F, MACU, F_MUL, 0),       R(0x50, 0x57, ADC, F_D_IMM, 0),
    R(0x58, 0x5F, BIT, F_D_IMM, 0),      R(0x60, 0x67, ADC, F_D_OPR, 0),
    R(0x68, 0x6F, BIT, F_D_OPR, 0),      R(0x70, 0x77, SBC, F_D_IMM, 0),
    R(0x78, 0x7F, EOR, F_D_IMM, 0),      R(0x80, 0x87, SBC, F_D_OPR, 0),
    R(0x88, 0x8F, EOR, F_D_OPR, 0),      R(0x90, 0x90, RTI, F_NONE, 0),
    R(0x91, 0x91, CLB, F_CLB, 0),        R(0xA0, 0xA7, SAT, F_D, 0),
    R(0xB0, 0xB7, QMULU, F_MUL, 0),
};
static const struct range trap = R(0, 0xFF, TRAP, F_TRAP, 0);

const char *s12z_op_name(enum s12z_op op)
{
#define S12Z_OP_TEXT(name, text) text,
    static const char *const names[] = { S12Z_OPS(S12Z_OP_TEXT) };
#undef S12Z_OP_TEXT
    return names[op];
}

static void add_operand(struct s12z_insn *i, struct s12z_operand o) { i->opr[i->nopr++] = o; }

/* Displacement of 7 or 15 bits from the first byte of the instruction. */
static void decode_relative(struct operand_cursor *c, uint32_t pc, struct s12z_insn *i)
{
    uint32_t d = operand_take(c, 1);
    unsigned bits = 7;
    if (d & 0x80) {
        d = d << 8 | operand_take(c, 1);
        bits = 15;
    }
    int32_t disp = (int32_t)(d << (32 - bits)) >> (32 - bits);
    i->target = (pc + (uint32_t)disp) & 0xFFFFFF;
}

/* bm: which bit of what (binutils s12z-opc.c). */
static void bit_operand(struct operand_cursor *c, struct s12z_insn *i)
{
    unsigned bm = operand_take(c, 1);
    if (!(bm & 0x80) || (bm & 0x06) == 0x06) {
        unsigned bits = 8u * s12z_reg_bytes(bm & 7);
        add_operand(i, operand_of_register(bm & 7));
        add_operand(i, operand_of_value((int32_t)(bm >> 3 & (bits - 1)), 1));
        return;
    }
    unsigned number = bm >> 4 & 7;
    if ((bm & 0x0F) == 0x00)
        i->bytes = 1;
    else if ((bm & 0x0E) == 0x02) {
        i->bytes = 2;
        number |= (bm & 1) << 3;
    } else if ((bm & 0x0C) == 0x08) {
        i->bytes = 4;
        number |= (bm & 3) << 3;
    } else { /* bit number in a register */
        i->bytes = (uint8_t)((bm >> 2 & 3) + 1);
        add_operand(i, operand_general(c, i->bytes));
        add_operand(i, operand_of_register(number));
        return;
    }
    add_operand(i, operand_general(c, i->bytes));
    add_operand(i, operand_of_value((int32_t)number, 1));
}

static enum s12z_reg x_or_y(unsigned code)
{
    if (code & 1)
        return S12Z_Y;
    return S12Z_X;
}

static void decode_loop(struct operand_cursor *c, uint32_t pc, struct s12z_insn *i)
{
    unsigned lb = operand_take(c, 1);
    i->op = S12Z_OP_TB;
    if (lb & 0x80)
        i->op = S12Z_OP_DB;
    i->cond = lb >> 4 & 7;
    if (!(lb & 0x08))
        add_operand(i, operand_of_register(lb & 7));
    else if (!(lb & 0x04))
        add_operand(i, operand_of_register(x_or_y(lb)));
    else {
        i->bytes = (uint8_t)((lb & 3) + 1);
        add_operand(i, operand_general(c, i->bytes));
    }
    decode_relative(c, pc, i);
}

static void push_pull(struct operand_cursor *c, struct s12z_insn *i)
{
    unsigned b = operand_take(c, 1), six = b & 0x3F;
    i->op = S12Z_OP_PSH;
    if (b & 0x80)
        i->op = S12Z_OP_PUL;
    /* no register named: all of them, or with bit 6 the 16-bit ones, D2-D5 */
    if (b & 0x40)
        i->mask = (uint16_t)EITHER(six, 0x0F0);
    else
        i->mask = (uint16_t)EITHER(six << 6, 0xFFF);
}

/* A count operand: xb 0x70-0x7F is not an immediate of its own but four bits of a 5-bit one, the
 * fifth is sb bit 3. */
static struct s12z_operand shift_count(struct operand_cursor *c, unsigned sb)
{
    struct s12z_operand o = operand_general(c, 1);
    if ((o.postbyte & 0xF0) == 0x70)
        o.value = (int32_t)((o.postbyte & 0x0Fu) << 1 | (sb >> 3 & 1));
    return o;
}

static void decode_shift(struct operand_cursor *c, unsigned opcode, struct s12z_insn *i)
{
    unsigned sb = operand_take(c, 1), bytes = (sb & 3) + 1, two = sb & 8 ? 2 : 1;
    static const uint8_t ops[2][2] = { { S12Z_OP_LSR, S12Z_OP_LSL }, { S12Z_OP_ASR, S12Z_OP_ASL } };
    bool left = sb & 0x40, arithmetic = sb & 0x80;
    i->op = ops[arithmetic][left];
    switch (sb & 0x34) {
    case 0x00:
    case 0x04: /* Dd, Ds, #1 or #2 */
        add_operand(i, operand_of_register(opcode & 7));
        add_operand(i, operand_of_register(sb & 7));
        add_operand(i, operand_of_value((int32_t)two, 1));
        break;
    case 0x10:
    case 0x14: /* Dd, Ds, count */
        add_operand(i, operand_of_register(opcode & 7));
        add_operand(i, operand_of_register(sb & 7));
        add_operand(i, shift_count(c, sb));
        break;
    case 0x20: /* Dd, operand, #1 or #2 */
        add_operand(i, operand_of_register(opcode & 7));
        i->bytes = (uint8_t)bytes;
        add_operand(i, operand_general(c, bytes));
        add_operand(i, operand_of_value((int32_t)two, 1));
        break;
    case 0x24: /* rotate the operand by one */
        i->op = left ? S12Z_OP_ROL : S12Z_OP_ROR;
        i->bytes = (uint8_t)bytes;
        add_operand(i, operand_general(c, bytes));
        break;
    case 0x30: /* Dd, operand, count */
        add_operand(i, operand_of_register(opcode & 7));
        i->bytes = (uint8_t)bytes;
        add_operand(i, operand_general(c, bytes));
        add_operand(i, shift_count(c, sb));
        break;
    default: /* operand in place, #1 or #2 */
        i->bytes = (uint8_t)bytes;
        add_operand(i, operand_general(c, bytes));
        add_operand(i, operand_of_value((int32_t)two, 1));
        break;
    }
}

/* MUL, DIV, MOD, MAC, QMUL: Dd and two sources by mb; bit 7 of mb: signed (binutils s12z-opc.c). */
static void decode_multiply(struct operand_cursor *c, unsigned opcode, struct s12z_insn *i)
{
    unsigned mb = operand_take(c, 1), bytes = (mb & 3) + 1;
    if (mb & 0x80)
        i->op--; /* the signed form stands before the unsigned one in S12Z_OPS */
    add_operand(i, operand_of_register(opcode & 7));
    if (!(mb & 0x40)) {
        add_operand(i, operand_of_register(mb >> 3 & 7));
        add_operand(i, operand_of_register(mb & 7));
        return;
    }
    i->bytes = (uint8_t)bytes;
    if ((mb & 3) == 2) { /* two operands, each with its own size */
        i->bytes = 0;
        i->mask = (uint16_t)(((mb >> 4 & 3) + 1) << 8 | ((mb >> 2 & 3) + 1));
        add_operand(i, operand_general(c, (mb >> 4 & 3) + 1));
        add_operand(i, operand_general(c, (mb >> 2 & 3) + 1));
        return;
    }
    add_operand(i, operand_of_register(mb >> 3 & 7));
    if (mb & 4)
        add_operand(i, operand_of_value(operand_take_signed(c, bytes), bytes));
    else
        add_operand(i, operand_general(c, bytes));
}

/* BFEXT, BFINS: destination, source, then width and offset in D2-D5 or an immediate byte that
 * precedes xb. */
static void bit_field(struct operand_cursor *c, unsigned opcode, struct s12z_insn *i)
{
    unsigned bb = operand_take(c, 1);
    bool opr = bb & 0x40, opr_first = opr && bb & 0x10;
    struct s12z_operand field = operand_of_register(bb & 3);
    struct s12z_operand reg = operand_of_register(opcode & 7), other;
    i->op = S12Z_OP_BFEXT;
    if (bb & 0x80)
        i->op = S12Z_OP_BFINS;
    if (bb & 0x20) {
        unsigned i1 = operand_take(c, 1);
        field = operand_of_value((int32_t)(((bb & 3) << 3 | i1 >> 5) << 5 | (i1 & 0x1F)), 2);
        field.kind = S12Z_OPR_FIELD;
    }
    if (opr)
        i->bytes = (uint8_t)((bb >> 2 & 3) + 1);
    if (opr)
        other = operand_general(c, i->bytes);
    else
        other = operand_of_register(bb >> 2 & 7);
    if (opr_first) {
        add_operand(i, other);
        add_operand(i, reg);
    } else {
        add_operand(i, reg);
        add_operand(i, other);
    }
    add_operand(i, field);
}

/* Registers named by nibbles. SEX is EXG with a smaller first register. */
static void register_pair(struct operand_cursor *c, struct s12z_insn *i)
{
    unsigned b = operand_take(c, 1), from = b >> 4, to = b & 15;
    if (i->op == S12Z_OP_EXG && s12z_reg_bytes(from) < s12z_reg_bytes(to))
        i->op = S12Z_OP_SEX;
    add_operand(i, operand_of_register(from));
    add_operand(i, operand_of_register(to));
}

/* ---- operands by the form of the opcode ---- */

static void add_register(struct s12z_insn *i, unsigned r)
{
    add_operand(i, operand_of_register(r));
}

static void add_general(struct operand_cursor *c, struct s12z_insn *i, unsigned bytes)
{
    add_operand(i, operand_general(c, bytes));
}

static void add_immediate(struct operand_cursor *c, struct s12z_insn *i, unsigned bytes)
{
    add_operand(i, operand_of_value(operand_take_signed(c, bytes), bytes));
}

/* What lies at an address of 24 bits. */
static void add_extended(struct operand_cursor *c, struct s12z_insn *i, unsigned bytes)
{
    add_operand(i, operand_of_memory(S12Z_NOREG, (int32_t)operand_take(c, 3), bytes));
}

/* Forms whose first operand is a register that the opcode names. */
static unsigned named_register(enum form form, unsigned opcode)
{
    switch (form) {
    case F_LEA_D:
        if (opcode == 0x06)
            return S12Z_D6;
        return S12Z_D7;
    case F_LEA_XYS:
    case F_LEA_IMM8: return S12Z_X + (opcode & 3);
    case F_D:
    case F_D_IMM:
    case F_D_OPR:
    case F_D_EXT: return opcode & 7;
    case F_XY:
    case F_XY_IMM24:
    case F_XY_IMM18:
    case F_XY_OPR:
    case F_XY_EXT: return x_or_y(opcode);
    case F_CMP_XY: return S12Z_X;
    case F_SUB_XY:
    case F_SUB_YX: return S12Z_D6;
    case F_S_OPR:
    case F_S_IMM: return S12Z_S;
    default: return S12Z_NOREG;
    }
}

/* The operands behind that register. */
static void add_behind_register(struct operand_cursor *c, enum form form, unsigned opcode,
                                unsigned reg, struct s12z_insn *i)
{
    switch (form) {
    case F_LEA_D: add_general(c, i, 4); break;
    case F_LEA_IMM8: add_operand(i, operand_of_memory(reg, operand_take_signed(c, 1), 3)); break;
    case F_D_IMM: add_immediate(c, i, s12z_reg_bytes(reg)); break;
    case F_D_OPR: add_general(c, i, s12z_reg_bytes(reg)); break;
    case F_D_EXT: add_extended(c, i, s12z_reg_bytes(reg)); break;
    case F_XY_IMM24:
    case F_S_IMM: add_immediate(c, i, 3); break;
    case F_XY_IMM18:
        add_operand(i, operand_of_value((int32_t)(operand_take(c, 2) | (opcode & 0x30) << 12), 3));
        break;
    case F_LEA_XYS:
    case F_XY_OPR:
    case F_S_OPR: add_general(c, i, 3); break;
    case F_XY_EXT: add_extended(c, i, 3); break;
    case F_CMP_XY: add_register(i, S12Z_Y); break;
    case F_SUB_XY:
        add_register(i, S12Z_X);
        add_register(i, S12Z_Y);
        break;
    case F_SUB_YX:
        add_register(i, S12Z_Y);
        add_register(i, S12Z_X);
        break;
    default: break;
    }
}

/* Two registers in one byte, a nibble each. */
static void add_nibbles(struct operand_cursor *c, struct s12z_insn *i)
{
    unsigned b = operand_take(c, 1);
    add_register(i, b >> 4 & 7);
    add_register(i, b & 7);
}

static void decode_operands(struct operand_cursor *c, const struct range *r, unsigned opcode,
                            uint32_t pc, struct s12z_insn *i)
{
    enum form form = (enum form)r->form;
    unsigned reg = named_register(form, opcode);
    if (reg != S12Z_NOREG) {
        add_register(i, reg);
        add_behind_register(c, form, opcode, reg, i);
        return;
    }
    if (form == F_MOV_IMM || form == F_MOV || form == F_OPR)
        i->bytes = r->bytes;
    switch (form) {
    case F_REL: decode_relative(c, pc, i); break;
    case F_BM: bit_operand(c, i); break;
    case F_BM_REL:
        bit_operand(c, i);
        decode_relative(c, pc, i);
        break;
    case F_LOOP: decode_loop(c, pc, i); break;
    case F_PSH: push_pull(c, i); break;
    case F_MOV_IMM:
        add_immediate(c, i, r->bytes);
        add_general(c, i, r->bytes);
        break;
    case F_MOV:
        add_general(c, i, r->bytes);
        add_general(c, i, r->bytes);
        break;
    case F_SHIFT: decode_shift(c, opcode, i); break;
    case F_OPR: add_general(c, i, r->bytes); break;
    case F_EXT: add_extended(c, i, 3); break;
    case F_REG_REG: register_pair(c, i); break;
    case F_IMM8: add_operand(i, operand_of_value((int32_t)operand_take(c, 1), 1)); break;
    case F_MUL: decode_multiply(c, opcode, i); break;
    case F_BITFIELD: bit_field(c, opcode, i); break;
    case F_CLB: add_nibbles(c, i); break;
    case F_TRAP: i->mask = (uint16_t)opcode; break;
    default: break;
    }
}

/* JMP and JSR: only an address known from the instruction alone is static. */
static void jump_flow(struct s12z_insn *i, bool general)
{
    const struct s12z_operand *o = &i->opr[0];
    bool call = i->op == S12Z_OP_JSR;
    bool is_static = o->kind == S12Z_OPR_MEM && o->reg == S12Z_NOREG && !o->indirect;
    i->bytes = 0;
    static const uint8_t flows[2][2] = { { S12Z_FLOW_JUMP_IND, S12Z_FLOW_CALL_IND },
                                         { S12Z_FLOW_JUMP, S12Z_FLOW_CALL } };
    i->flow = flows[is_static][call];
    i->general = is_static && general;
    if (is_static)
        i->target = (uint32_t)o->value & 0xFFFFFF;
}

static void set_flow(struct s12z_insn *i, unsigned opcode)
{
    switch ((enum s12z_op)i->op) {
    case S12Z_OP_BRA: i->flow = S12Z_FLOW_JUMP; break;
    case S12Z_OP_BSR: i->flow = S12Z_FLOW_CALL; break;
    case S12Z_OP_JMP:
    case S12Z_OP_JSR: jump_flow(i, opcode < 0xB0); break;
    case S12Z_OP_RTS: i->flow = S12Z_FLOW_RETURN; break;
    case S12Z_OP_RTI: i->flow = S12Z_FLOW_RTI; break;
    case S12Z_OP_SWI:
    case S12Z_OP_SYS:
    case S12Z_OP_TRAP:
    case S12Z_OP_SPARE: i->flow = S12Z_FLOW_TRAP; break;
    case S12Z_OP_BRCLR:
    case S12Z_OP_BRSET:
    case S12Z_OP_DB:
    case S12Z_OP_TB: i->flow = S12Z_FLOW_BRANCH; break;
    default:
        i->flow = S12Z_FLOW_NEXT;
        if (i->op >= S12Z_OP_BHI && i->op <= S12Z_OP_BLE)
            i->flow = S12Z_FLOW_BRANCH;
        break;
    }
}

static const struct range *find_range(const struct range *table, size_t n, unsigned opcode)
{
    for (size_t k = 0; k < n; k++)
        if (opcode >= table[k].first && opcode <= table[k].last)
            return &table[k];
    return &trap;
}

int s12z_decode(const uint8_t *code, size_t avail, uint32_t pc, struct s12z_insn *out)
{
    struct operand_cursor c = { code, 0, MIN(avail, S12Z_MAX_LENGTH), false };
    struct s12z_insn i = { 0 };
    unsigned opcode = operand_take(&c, 1);
    const struct range *r;
    if (opcode == 0x1B)
        r = find_range(page2, ARRAY_LEN(page2), opcode = operand_take(&c, 1));
    else
        r = find_range(page1, ARRAY_LEN(page1), opcode);
    if (c.short_)
        return 0;
    i.op = r->op;
    decode_operands(&c, r, opcode, pc, &i);
    if (c.short_)
        return 0;
    set_flow(&i, opcode);
    i.length = (uint8_t)c.at;
    *out = i;
    return i.length;
}
