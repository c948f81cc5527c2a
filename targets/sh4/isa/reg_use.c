#include "targets/sh4/isa/reg_use.h"

enum { R0 = 1, BANKED = 0x00FF };

static struct sh4_reg_use make_use(unsigned reads, unsigned writes)
{
    return (struct sh4_reg_use){ (uint16_t)reads, (uint16_t)writes };
}

static struct sh4_reg_use use_0(uint16_t op, unsigned n, unsigned m)
{
    switch (op & 15) {
    case 2: /* stc */ return make_use(0, n);
    case 3: /* bsrf braf pref ocbx movca.l */ return make_use((op & 0xF0) == 0xC0 ? n | R0 : n, 0);
    case 4:
    case 5:
    case 6: /* mov Rm,@(R0,Rn) */ return make_use(R0 | m | n, 0);
    case 7: /* mul.l */ return make_use(m | n, 0);
    case 9: /* movt; nop and div0u touch none */ return make_use(0, (op & 0xF0) == 0x20 ? n : 0);
    case 10: /* sts, stc SGR, stc DBR */ return make_use(0, n);
    case 12:
    case 13:
    case 14: /* mov @(R0,Rm),Rn */ return make_use(R0 | m, n);
    case 15: /* mac.l */ return make_use(m | n, m | n);
    default: return make_use(0, 0);
    }
}

static struct sh4_reg_use use_2(uint16_t op, unsigned n, unsigned m)
{
    switch (op & 15) {
    case 0:
    case 1:
    case 2:
    case 7:
    case 8:
    case 12:
    case 14:
    case 15: return make_use(m | n, 0);
    case 4:
    case 5:
    case 6:
    case 9:
    case 10:
    case 11:
    case 13: return make_use(m | n, n);
    default: return make_use(0, 0);
    }
}

static struct sh4_reg_use use_3(uint16_t op, unsigned n, unsigned m)
{
    switch (op & 15) {
    case 0:
    case 2:
    case 3:
    case 5:
    case 6:
    case 7:
    case 13: return make_use(m | n, 0);
    case 4:
    case 8:
    case 10:
    case 11:
    case 12:
    case 14:
    case 15: return make_use(m | n, n);
    default: return make_use(0, 0);
    }
}

static struct sh4_reg_use use_4(uint16_t op, unsigned n, unsigned m)
{
    unsigned low = op & 0xFF;
    switch (op & 15) {
    case 1:
    case 5: /* shifts and rotates; cmp/pz, cmp/pl only read */
        return make_use(n, low >> 4 == 1 ? 0 : n);
    case 7: /* ldc.l @Rm+ */ return make_use(n, low == 0x07 ? n | BANKED : n);
    case 10:
    case 11: /* lds, ldc DBR; jsr tas jmp */ return make_use(n, 0);
    case 12:
    case 13: /* shad shld */ return make_use(m | n, n);
    case 14: /* ldc */ return make_use(n, low == 0x0E ? BANKED : 0);
    case 15: /* mac.w */ return make_use(m | n, m | n);
    default: return make_use(n, n);
    }
}

static struct sh4_reg_use use_6(uint16_t op, unsigned n, unsigned m)
{
    unsigned low = op & 15;
    return make_use(m, low >= 4 && low <= 6 ? m | n : n);
}

static struct sh4_reg_use use_8(uint16_t op, unsigned m)
{
    switch (op >> 8) {
    case 0x80:
    case 0x81: return make_use(R0 | m, 0);
    case 0x84:
    case 0x85: return make_use(m, R0);
    case 0x88: return make_use(R0, 0);
    default: return make_use(0, 0);
    }
}

static struct sh4_reg_use use_c(uint16_t op)
{
    switch (op >> 8 & 15) {
    case 3: return make_use(0, 0);
    case 4:
    case 5:
    case 6:
    case 7: return make_use(0, R0);
    case 9:
    case 10:
    case 11: return make_use(R0, R0);
    default: return make_use(R0, 0);
    }
}

static struct sh4_reg_use use_f(uint16_t op, unsigned n, unsigned m)
{
    switch (op & 15) {
    case 6: return make_use(R0 | m, 0);
    case 7: return make_use(R0 | n, 0);
    case 8: return make_use(m, 0);
    case 9: return make_use(m, m);
    case 10: return make_use(n, 0);
    case 11: return make_use(n, n);
    default: return make_use(0, 0);
    }
}

struct sh4_reg_use sh4_reg_use(uint16_t op)
{
    unsigned n = 1u << (op >> 8 & 15), m = 1u << (op >> 4 & 15);
    switch (op >> 12) {
    case 0x0: return use_0(op, n, m);
    case 0x1: return make_use(m | n, 0);
    case 0x2: return use_2(op, n, m);
    case 0x3: return use_3(op, n, m);
    case 0x4: return use_4(op, n, m);
    case 0x5: return make_use(m, n);
    case 0x6: return use_6(op, n, m);
    case 0x7: return make_use(n, n);
    case 0x8: return use_8(op, m);
    case 0x9:
    case 0xD:
    case 0xE: return make_use(0, n);
    case 0xC: return use_c(op);
    case 0xF: return use_f(op, n, m);
    default: return make_use(0, 0);
    }
}
