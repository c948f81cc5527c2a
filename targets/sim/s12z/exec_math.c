/* Multiplication, division, shifts, bits and bit fields. */
#include "targets/sim/s12z/exec.h"
#include "probe/base/choice.h"

#include <stddef.h>

#define HANDLER(name) static void name(struct s12z_cpu *c, const struct cpu_insn *u)
#define OPR(k)        (&u->i.opr[k])
#define DEST          (u->i.opr[0].reg)
#define WIDTH         (u->i.opr[0].bytes)

static bool is_signed(const struct cpu_insn *u)
{
    return u->i.op == S12Z_OP_MULS || u->i.op == S12Z_OP_DIVS || u->i.op == S12Z_OP_MODS ||
           u->i.op == S12Z_OP_MACS || u->i.op == S12Z_OP_QMULS;
}

/* The number that `bytes` bytes stand for in an instruction of the multiply family. */
static int64_t number_of(const struct cpu_insn *u, uint32_t v, unsigned bytes)
{
    if (is_signed(u))
        return (int32_t)sign_extend(v, bytes);
    return v;
}

/* A source of the multiply family as a number, read at its own width. */
static int64_t source_number(struct s12z_cpu *c, const struct cpu_insn *u,
                             const struct s12z_operand *o)
{
    return number_of(u, operand_value(c, u, o, o->bytes), o->bytes);
}

/* Writes the bits of v that fit. V is set if some do not. */
static void put_result(struct s12z_cpu *c, const struct cpu_insn *u, int64_t v)
{
    uint32_t low = (uint32_t)v & mask_of(WIDTH);
    c->r[DEST] = low;
    flags_nz(c, low, WIDTH);
    c->v = number_of(u, low, WIDTH) != v;
}

HANDLER(op_mul)
{
    int64_t a = source_number(c, u, OPR(1)), b = source_number(c, u, OPR(2));
    put_result(c, u, (int64_t)((uint64_t)a * (uint64_t)b));
    c->c = 0;
}
HANDLER(op_mac)
{
    int64_t a = source_number(c, u, OPR(1)), b = source_number(c, u, OPR(2));
    int64_t acc = number_of(u, c->r[DEST], WIDTH);
    put_result(c, u, (int64_t)((uint64_t)acc + (uint64_t)a * (uint64_t)b));
    c->c = 0;
}
/* Division by zero sets C and leaves the register as it was. */
HANDLER(op_div)
{
    bool wants_quotient = u->i.op == S12Z_OP_DIVS || u->i.op == S12Z_OP_DIVU;
    int64_t a = source_number(c, u, OPR(1)), b = source_number(c, u, OPR(2));
    c->c = b == 0;
    if (b == 0)
        return;
    if (wants_quotient)
        put_result(c, u, a / b);
    else
        put_result(c, u, a % b);
}
/* Fractions. An operand of n bits stands for its value / 2^n (unsigned) or / 2^(n-1) (signed). */
HANDLER(op_qmul)
{
    unsigned sign = is_signed(u), from = bits_of(OPR(1)->bytes) + bits_of(OPR(2)->bytes) - 2 * sign,
             to = bits_of(WIDTH) - sign;
    __int128 p = (__int128)source_number(c, u, OPR(1)) * source_number(c, u, OPR(2));
    if (from >= to)
        p >>= from - to;
    else
        p *= (__int128)1 << (to - from);
    put_result(c, u, (int64_t)p);
    if (c->v && sign) { /* -1 times -1 gives the greatest fraction */
        c->r[DEST] = mask_of(WIDTH) >> 1;
        flags_nz(c, c->r[DEST], WIDTH);
    }
}

/* Counts the leading bits that equal the sign bit, without the sign bit itself. */
HANDLER(op_clb)
{
    unsigned bits = bits_of(OPR(0)->bytes), n = 0;
    uint32_t v = c->r[OPR(0)->reg], sign = v >> (bits - 1) & 1;
    while (n + 1 < bits && (v >> (bits - 2 - n) & 1) == sign)
        n++;
    c->r[OPR(1)->reg] = n;
    flags_logic(c, n, OPR(1)->bytes);
}

/* ---- shifts ---- */
static uint32_t shift_value(struct s12z_cpu *c, enum s12z_op op, uint32_t v, unsigned n,
                            unsigned bytes)
{
    unsigned bits = bits_of(bytes);
    c->v = 0;
    if (n == 0) {
        c->c = 0;
    } else if (op == S12Z_OP_LSL || op == S12Z_OP_ASL) {
        uint64_t wide = (uint64_t)v << n; /* n is less than 32 */
        c->c = wide >> bits & 1;
        int64_t exact = (int64_t)((uint64_t)(int64_t)(int32_t)sign_extend(v, bytes) << n);
        v = (uint32_t)wide & mask_of(bytes);
        c->v = op == S12Z_OP_ASL && exact != (int64_t)(int32_t)sign_extend(v, bytes);
    } else {
        int64_t wide = (int64_t)v;
        if (op == S12Z_OP_ASR)
            wide = (int64_t)(int32_t)sign_extend(v, bytes);
        c->c = wide >> (n - 1) & 1;
        v = (uint32_t)(wide >> n) & mask_of(bytes);
    }
    flags_nz(c, v, bytes);
    return v;
}

static unsigned shift_count(struct s12z_cpu *c, const struct cpu_insn *u,
                            const struct s12z_operand *o)
{
    return operand_value(c, u, o, o->bytes) & 31;
}

/* Dd = source, shifted at the source's own width. */
HANDLER(op_shift_to)
{
    unsigned bytes = OPR(1)->bytes;
    uint32_t v = operand_value(c, u, OPR(1), bytes);
    v = shift_value(c, u->i.op, v, shift_count(c, u, OPR(2)), bytes);
    if (u->i.op == S12Z_OP_ASR && bytes < WIDTH)
        v = sign_extend(v, bytes);
    c->r[DEST] = v & mask_of(WIDTH);
}
HANDLER(op_shift_in_place)
{
    struct place p = place_of(c, u, OPR(0));
    place_store(
        c, &p,
        shift_value(c, u->i.op, place_load(c, &p, OPR(0)), (unsigned)OPR(1)->value, p.bytes));
}
HANDLER(op_rotate)
{
    struct place p = place_of(c, u, OPR(0));
    uint32_t v = place_load(c, &p, OPR(0)), carry = c->c, top = 1u << (8 * p.bytes - 1);
    if (u->i.op == S12Z_OP_ROL) {
        c->c = (v & top) != 0;
        v = (v << 1 | carry) & mask_of(p.bytes);
    } else {
        c->c = v & 1;
        v = v >> 1 | bits_if(carry, top);
    }
    place_store(c, &p, v);
    flags_logic(c, v, p.bytes);
}

/* ---- bits ---- */
HANDLER(op_bit_change)
{
    struct place p = place_of(c, u, OPR(0));
    uint32_t number = selector_value(c, OPR(1)) & (8 * p.bytes - 1), bit = 1u << number;
    uint32_t v = place_load(c, &p, OPR(0));
    c->c = (v & bit) != 0;
    switch (u->i.op) {
    case S12Z_OP_BSET: v |= bit; break;
    case S12Z_OP_BCLR: v &= ~bit; break;
    default: v ^= bit; /* BTGL */
    }
    place_store(c, &p, v);
    flags_logic(c, v, p.bytes);
}

/* A bit field, width << 5 | offset, in an immediate or a register. Width 0 stands for 32. */
static void field_of(const struct s12z_cpu *c, const struct s12z_operand *o, unsigned *width,
                     unsigned *offset)
{
    uint32_t v = selector_value(c, o);
    *offset = v & 31;
    *width = EITHER(v >> 5 & 31, 32);
}
HANDLER(op_bfext)
{
    unsigned width, offset;
    field_of(c, OPR(2), &width, &offset);
    uint64_t src = operand_value(c, u, OPR(1), OPR(1)->bytes);
    uint32_t v = (uint32_t)(src >> offset & (((uint64_t)1 << width) - 1));
    struct place p = place_of(c, u, OPR(0));
    v &= mask_of(p.bytes);
    place_store(c, &p, v);
    flags_logic(c, v, p.bytes);
}
HANDLER(op_bfins)
{
    unsigned width, offset;
    field_of(c, OPR(2), &width, &offset);
    uint64_t mask = (((uint64_t)1 << width) - 1) << offset;
    uint64_t src = (uint64_t)operand_value(c, u, OPR(1), OPR(1)->bytes) << offset;
    struct place p = place_of(c, u, OPR(0));
    uint32_t v = (uint32_t)((place_load(c, &p, OPR(0)) & ~mask) | (src & mask)) & mask_of(p.bytes);
    place_store(c, &p, v);
    flags_logic(c, v, p.bytes);
}

static cpu_fn *const math[S12Z_NOPS] = {
    [S12Z_OP_MULS] = op_mul,        [S12Z_OP_MULU] = op_mul,        [S12Z_OP_DIVS] = op_div,
    [S12Z_OP_DIVU] = op_div,        [S12Z_OP_MODS] = op_div,        [S12Z_OP_MODU] = op_div,
    [S12Z_OP_MACS] = op_mac,        [S12Z_OP_MACU] = op_mac,        [S12Z_OP_QMULS] = op_qmul,
    [S12Z_OP_QMULU] = op_qmul,      [S12Z_OP_CLB] = op_clb,         [S12Z_OP_ROL] = op_rotate,
    [S12Z_OP_ROR] = op_rotate,      [S12Z_OP_BCLR] = op_bit_change, [S12Z_OP_BSET] = op_bit_change,
    [S12Z_OP_BTGL] = op_bit_change, [S12Z_OP_BFEXT] = op_bfext,     [S12Z_OP_BFINS] = op_bfins,
};

cpu_fn *exec_math_handler(const struct s12z_insn *i)
{
    if (i->op >= S12Z_OP_LSR && i->op <= S12Z_OP_ASL)
        return i->nopr == 3 ? op_shift_to : op_shift_in_place;
    return math[i->op];
}
