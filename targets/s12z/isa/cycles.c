/* Core clocks per instruction. No readable source gives them (docs/unverified.md): every figure
 * here is an assumption, listed in docs/unverified.md, and nothing but virtual time depends on it.
 */
#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"

static const struct {
    uint8_t op, cycles;
} base[] = {
    { S12Z_OP_BSR, 3 },   { S12Z_OP_JSR, 3 },   { S12Z_OP_RTS, 4 },   { S12Z_OP_RTI, 12 },
    { S12Z_OP_SWI, 12 },  { S12Z_OP_SYS, 12 },  { S12Z_OP_TRAP, 12 }, { S12Z_OP_SPARE, 12 },
    { S12Z_OP_JMP, 2 },   { S12Z_OP_BRA, 2 },   { S12Z_OP_DB, 2 },    { S12Z_OP_TB, 2 },
    { S12Z_OP_BRCLR, 2 }, { S12Z_OP_BRSET, 2 }, { S12Z_OP_MULS, 3 },  { S12Z_OP_MULU, 3 },
    { S12Z_OP_MACS, 4 },  { S12Z_OP_MACU, 4 },  { S12Z_OP_QMULS, 6 }, { S12Z_OP_QMULU, 6 },
    { S12Z_OP_DIVS, 18 }, { S12Z_OP_DIVU, 18 }, { S12Z_OP_MODS, 18 }, { S12Z_OP_MODU, 18 },
    { S12Z_OP_BFEXT, 3 }, { S12Z_OP_BFINS, 3 }, { S12Z_OP_EXG, 2 },
};

/* A memory operand: the access, and what finding its address takes. */
static unsigned operand_cycles(const struct s12z_operand *o)
{
    if (o->kind != S12Z_OPR_MEM)
        return 0;
    unsigned n = 1;
    if (o->index != S12Z_NOREG)
        n++;
    if (o->indirect)
        n += 2;
    if (o->bytes > 2)
        n++;
    return n;
}

unsigned s12z_cycles(const struct s12z_insn *i)
{
    unsigned n = 1;
    for (size_t k = 0; k < ARRAY_LEN(base); k++)
        if (base[k].op == i->op)
            n = base[k].cycles;
    if (i->op == S12Z_OP_PSH || i->op == S12Z_OP_PUL)
        n += (unsigned)__builtin_popcount(i->mask);
    if (i->op != S12Z_OP_LEA && i->op != S12Z_OP_JMP && i->op != S12Z_OP_JSR)
        for (unsigned k = 0; k < i->nopr; k++)
            n += operand_cycles(&i->opr[k]);
    return n;
}
