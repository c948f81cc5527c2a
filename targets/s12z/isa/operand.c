#include "targets/s12z/isa/operand.h"
#include "probe/base/choice.h"

static const uint8_t reg_bytes[] = { 2, 2, 2, 2, 1, 1, 4, 4, 3, 3, 3, 3, 1, 1, 2, 0 };
unsigned s12z_reg_bytes(enum s12z_reg r) { return reg_bytes[r]; }

const char *s12z_reg_name(enum s12z_reg r)
{
    static const char *const names[] = { "d2", "d3", "d4", "d5", "d0",  "d1",  "d6",  "d7",
                                         "x",  "y",  "s",  "p",  "cch", "ccl", "ccw", "?" };
    return names[r];
}

uint32_t operand_take(struct operand_cursor *c, unsigned n)
{
    uint32_t v = 0;
    if (c->avail - c->at < n) {
        c->short_ = true;
        c->at = c->avail;
        return 0;
    }
    while (n--)
        v = v << 8 | c->p[c->at++];
    return v;
}

int32_t operand_take_signed(struct operand_cursor *c, unsigned n)
{
    unsigned shift = 32 - 8 * n;
    return (int32_t)(operand_take(c, n) << shift) >> shift;
}

struct s12z_operand operand_of_value(int32_t value, unsigned bytes)
{
    return (struct s12z_operand){ .kind = S12Z_OPR_IMM,
                                  .value = value,
                                  .bytes = (uint8_t)bytes,
                                  .reg = S12Z_NOREG,
                                  .index = S12Z_NOREG };
}

struct s12z_operand operand_of_register(unsigned r)
{
    return (struct s12z_operand){
        .kind = S12Z_OPR_REG, .reg = (uint8_t)r, .bytes = reg_bytes[r], .index = S12Z_NOREG
    };
}

struct s12z_operand operand_of_memory(unsigned base, int32_t value, unsigned bytes)
{
    return (struct s12z_operand){ .kind = S12Z_OPR_MEM,
                                  .reg = (uint8_t)base,
                                  .index = S12Z_NOREG,
                                  .value = value,
                                  .bytes = (uint8_t)bytes };
}

/* Rows E and F of xb below 0xF8 that adjust a register: 3 pre, 7 post; C, D decrement, E, F
 * increment; even rows X, odd rows Y. */
static struct s12z_operand adjusted_operand(unsigned xb, unsigned bytes)
{
    struct s12z_operand o = operand_of_memory(xb & 0x10 ? S12Z_Y : S12Z_X, 0, bytes);
    static const uint8_t adjust[2][2] = { { S12Z_PRE_DEC, S12Z_POST_DEC },
                                          { S12Z_PRE_INC, S12Z_POST_INC } };
    bool increment = xb & 0x20, post = xb & 0x04;
    o.adjust = adjust[increment][post];
    return o;
}

/* xb 0xC0-0xFF. Source: binutils s12z-opc.c. */
static struct s12z_operand high_operand(struct operand_cursor *c, unsigned xb, unsigned bytes)
{
    static const uint8_t base[] = { S12Z_X, S12Z_Y, S12Z_S, S12Z_P };
    unsigned row = xb >> 4 & 3;
    struct s12z_operand o;
    switch (xb & 0x0F) {
    case 0x0:
    case 0x1:
    case 0x4:
    case 0x5: /* 9-bit signed offset, its sign is bit 0 */
        o = operand_of_memory(base[row], (int32_t)operand_take(c, 1) - 256 * (int32_t)(xb & 1),
                              bytes);
        o.indirect = xb & 0x04;
        return o;
    case 0x2:
    case 0x6:
        o = operand_of_memory(base[row], operand_take_signed(c, 3), bytes);
        o.indirect = xb & 0x04;
        return o;
    case 0x3:
    case 0x7: return adjusted_operand(xb, bytes);
    }
    if (row == 2) /* E8-EF: 24-bit signed offset plus Dn */
        return operand_of_memory(xb & 7, operand_take_signed(c, 3), bytes);
    if (row < 2) { /* C8-DF: [Dn + X], [Dn + Y] */
        o = operand_of_memory(base[row], 0, bytes);
        o.index = xb & 7;
        o.indirect = true;
        return o;
    }
    switch (xb) {
    case 0xFA:
    case 0xFE:
        o = operand_of_memory(S12Z_NOREG, (int32_t)operand_take(c, 3), bytes);
        o.indirect = xb == 0xFE;
        return o;
    case 0xFB:
    case 0xFF:
        o = operand_of_memory(S12Z_S, 0, bytes);
        o.adjust = S12Z_POST_INC;
        if (xb == 0xFB)
            o.adjust = S12Z_PRE_DEC;
        return o;
    default: /* F8 F9 FC FD: 18-bit address */
        return operand_of_memory(
            S12Z_NOREG, (int32_t)(operand_take(c, 2) | (xb & 1) << 16 | (xb & 4) << 15), bytes);
    }
}

struct s12z_operand operand_general(struct operand_cursor *c, unsigned bytes)
{
    static const uint8_t base[] = { S12Z_X, S12Z_Y, S12Z_S };
    unsigned xb = operand_take(c, 1);
    struct s12z_operand o;
    if (xb < 0x40)
        o = operand_of_memory(S12Z_NOREG, (int32_t)(xb << 8 | operand_take(c, 1)), bytes);
    else if (xb < 0x70)
        o = operand_of_memory(base[(xb >> 4) - 4], xb & 0x0F, bytes);
    else if (xb < 0x80)
        o = operand_of_value(EITHER((int32_t)(xb & 0x0F), -1), bytes);
    else if (xb >= 0xC0)
        o = high_operand(c, xb, bytes);
    else if (!(xb & 0x08))
        o = operand_of_memory(xb & 7, (int32_t)(operand_take(c, 2) | (xb & 0x30) << 12), bytes);
    else if (xb >= 0xB8)
        o = operand_of_register(xb & 7);
    else {
        o = operand_of_memory(base[(xb >> 4) - 8], 0, bytes);
        o.index = xb & 7;
    }
    o.postbyte = (uint8_t)xb;
    return o;
}
