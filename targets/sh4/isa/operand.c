#include "targets/sh4/isa/operand.h"

#include <stddef.h>

#include "targets/sh4/isa/isa.h"

enum how { READS, WRITES, BOTH };

static int one_access(struct sh4_access *out, uint32_t addr, unsigned bytes, enum how how)
{
    *out = (struct sh4_access){
        .addr = addr, .bytes = (uint8_t)bytes, .reads = how != WRITES, .writes = how != READS
    };
    return 1;
}

/* mov @(R0,Rm),Rn and its kin: lost says whether Rn is a register of the address. */
static int load_of(struct sh4_access *out, bool lost, uint32_t addr, unsigned bytes)
{
    if (lost)
        return -1;
    return one_access(out, addr, bytes, READS);
}

/* mac @Rm+,@Rn+ */
static int mac_of(struct sh4_access out[2], const uint32_t *r, unsigned n, unsigned m,
                  unsigned bytes)
{
    one_access(&out[0], r[n] - bytes, bytes, READS);
    one_access(&out[1], r[m] - (n == m ? 2 * bytes : bytes), bytes, READS);
    return 2;
}

static int line_0(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15, size = 1u << (op & 3);
    if ((op & 0xFF) == 0xC3) /* movca.l */
        return one_access(out, g->r[n], 4, WRITES);
    switch (op & 15) {
    case 4:
    case 5:
    case 6: return one_access(out, g->r[0] + g->r[n], size, WRITES);
    case 12:
    case 13:
    case 14: return load_of(out, n == m || n == 0, g->r[0] + g->r[m], size);
    case 15: return mac_of(out, g->r, n, m, 4);
    default: return 0;
    }
}

static int line_2(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned n = op >> 8 & 15, kind = op & 15;
    bool stores = kind <= 2 || (kind >= 4 && kind <= 6); /* @Rn, @-Rn */
    if (stores)
        return one_access(out, g->r[n], 1u << (kind & 3), WRITES);
    return 0;
}

/* sts.l, stc.l, lds.l, ldc.l, tas.b, mac.w. What loads SR may have changed the bank. */
static int line_4(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned n = op >> 8 & 15;
    switch (op & 15) {
    case 2:
    case 3: return one_access(out, g->r[n], 4, WRITES);
    case 6:
    case 7: return load_of(out, (op & 0xFF) == 0x07, g->r[n] - 4, 4);
    case 11:
        if ((op & 0xFF) == 0x1B)
            return one_access(out, g->r[n], 1, BOTH);
        return 0;
    case 15: return mac_of(out, g->r, n, op >> 4 & 15, 2);
    default: return 0;
    }
}

static int line_6(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15, kind = op & 15, size = 1u << (op & 3);
    if (kind <= 2)
        return load_of(out, n == m, g->r[m], size);
    if (kind >= 4 && kind <= 6)
        return load_of(out, n == m, g->r[m] - size, size);
    return 0;
}

static int line_8(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned m = op >> 4 & 15, size = op & 0x100 ? 2 : 1;
    uint32_t addr = g->r[m] + (op & 15) * size;
    switch (op >> 8 & 15) {
    case 0:
    case 1: return one_access(out, addr, size, WRITES);
    case 4:
    case 5: return load_of(out, m == 0, addr, size);
    default: return 0;
    }
}

static int line_c(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned kind = op >> 8 & 15, size = 1u << (kind & 3);
    if (kind == 3 || kind == 7 || (kind >= 8 && kind < 12)) /* trapa, mova, #imm,R0 */
        return 0;
    if (kind >= 12)
        return one_access(out, g->r[0] + g->gbr, 1, kind == 12 ? READS : BOTH);
    return one_access(out, g->gbr + (op & 0xFF) * size, size, kind < 4 ? WRITES : READS);
}

static int line_f(uint16_t op, const struct sh4_address_regs *g, struct sh4_access out[2])
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15, size = g->sz ? 8 : 4;
    switch (op & 15) {
    case 6: return one_access(out, g->r[0] + g->r[m], size, READS);
    case 7: return one_access(out, g->r[0] + g->r[n], size, WRITES);
    case 8: return one_access(out, g->r[m], size, READS);
    case 9: return one_access(out, g->r[m] - size, size, READS);
    case 10:
    case 11: return one_access(out, g->r[n], size, WRITES);
    default: return 0;
    }
}

int sh4_accesses_behind(uint16_t op, uint32_t pc, const struct sh4_address_regs *g,
                        struct sh4_access out[SH4_MOST_ACCESSES])
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15;
    uint32_t at;
    if (sh4_decode(op, false, g->sz) == SH4_ILLEGAL)
        return 0;
    switch (op >> 12) {
    case 0x0: return line_0(op, g, out);
    case 0x1: return one_access(out, g->r[n] + (op & 15) * 4u, 4, WRITES);
    case 0x2: return line_2(op, g, out);
    case 0x4: return line_4(op, g, out);
    case 0x5: return load_of(out, n == m, g->r[m] + (op & 15) * 4u, 4);
    case 0x6: return line_6(op, g, out);
    case 0x8: return line_8(op, g, out);
    case 0x9:
    case 0xD:
        if (sh4_pc_relative(op, pc, &at))
            return one_access(out, at, op >> 12 == 9 ? 2 : 4, READS);
        return 0;
    case 0xC: return line_c(op, g, out);
    case 0xF: return line_f(op, g, out);
    default: return 0;
    }
}

bool sh4_lost_load(uint16_t op, struct sh4_lost_load *out)
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15, kind = op & 15;
    *out = (struct sh4_lost_load){ .reg = (uint8_t)n, .bytes = (uint8_t)(1u << (kind & 3)) };
    switch (op >> 12) {
    case 0x0: return kind >= 12 && kind < 15 && (n == m || n == 0);
    case 0x5:
        out->bytes = 4;
        out->has_disp = true;
        out->disp = (uint8_t)(kind * 4);
        return n == m;
    case 0x6: out->has_disp = kind < 4; return n == m && kind != 3 && kind < 7;
    case 0x8:
        out->reg = 0;
        out->bytes = 1;
        if (op & 0x100)
            out->bytes = 2;
        out->has_disp = true;
        out->disp = (uint8_t)(kind * out->bytes);
        return (op & 0xFEF0) == 0x8400;
    default: return false;
    }
}
