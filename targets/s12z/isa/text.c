/* Instructions as text, in the notation of the GNU tools, so that both can be compared and users
 * can paste it. */
#include <stdarg.h>
#include <stdio.h>

#include "targets/s12z/isa/isa.h"

struct out {
    char *p;
    size_t size, len;
    bool any; /* an operand was written */
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->p + o->len, o->size - o->len, fmt, ap);
    va_end(ap);
    o->len += (size_t)n;
    if (o->len >= o->size)
        o->len = o->size - 1;
}

static void separate(struct out *o)
{
    put(o, o->any ? ", " : " ");
    o->any = true;
}

static char letter(unsigned bytes) { return " bwpl"[bytes]; }

static void memory(struct out *o, const struct s12z_operand *m)
{
    static const char *const formats[] = { "%s", "-%s", "+%s", "%s-", "%s+" };
    if (m->reg == S12Z_NOREG && !m->indirect) {
        put(o, "%d", (int)m->value);
        return;
    }
    put(o, "%c", m->indirect ? '[' : '(');
    if (m->reg == S12Z_NOREG)
        put(o, "%d", (int)m->value);
    else if (m->adjust)
        put(o, formats[m->adjust], s12z_reg_name(m->reg));
    else if (m->index != S12Z_NOREG)
        put(o, "%s,%s", s12z_reg_name(m->index), s12z_reg_name(m->reg));
    else
        put(o, "%d,%s", (int)m->value, s12z_reg_name(m->reg));
    put(o, "%c", m->indirect ? ']' : ')');
}

static void operand(struct out *o, const struct s12z_operand *p)
{
    separate(o);
    switch ((enum s12z_operand_kind)p->kind) {
    case S12Z_OPR_NONE: break;
    case S12Z_OPR_IMM: put(o, "#%d", (int)p->value); break;
    case S12Z_OPR_REG: put(o, "%s", s12z_reg_name(p->reg)); break;
    case S12Z_OPR_MEM: memory(o, p); break;
    case S12Z_OPR_FIELD: put(o, "#%d:%d", (int)p->value >> 5, (int)p->value & 31); break;
    }
}

static void register_list(struct out *o, unsigned mask)
{
    static const uint8_t order[] = { S12Z_CCH, S12Z_CCL, S12Z_D0, S12Z_D1, S12Z_D2, S12Z_D3,
                                     S12Z_D4,  S12Z_D5,  S12Z_D6, S12Z_D7, S12Z_X,  S12Z_Y };
    if (mask == 0xFFF || mask == 0x0F0) {
        put(o, mask == 0xFFF ? " ALL" : " ALL16b");
        return;
    }
    for (unsigned k = 0; k < sizeof order; k++)
        if (mask & 0x800u >> k) {
            separate(o);
            put(o, "%s", s12z_reg_name(order[k]));
        }
}

/* A size suffix is left out where a register operand implies it. */
static void suffix(struct out *o, const struct s12z_insn *i)
{
    bool multiply = i->op >= S12Z_OP_MULS;
    bool bit = (i->op >= S12Z_OP_BCLR && i->op <= S12Z_OP_BTGL) || i->op == S12Z_OP_BRCLR ||
               i->op == S12Z_OP_BRSET;
    bool shift = i->op >= S12Z_OP_LSR && i->op <= S12Z_OP_ASL && i->nopr == 2;
    bool by_register = shift || (bit && i->opr[1].kind == S12Z_OPR_REG);
    if (multiply && i->mask)
        put(o, ".%c%c", letter(i->mask >> 8), letter(i->mask & 0xFF));
    else if (i->bytes && !(by_register && i->opr[0].kind == S12Z_OPR_REG))
        put(o, ".%c", letter(i->bytes));
}

int s12z_format(const struct s12z_insn *i, uint32_t pc, char *buf, size_t size)
{
    static const char *const conditions[] = { "ne", "eq", "pl", "mi", "gt", "le", "??", "??" };
    struct out o = { buf, size, 0, false };
    put(&o, "%s", s12z_op_name(i->op));
    if (i->op == S12Z_OP_DB || i->op == S12Z_OP_TB)
        put(&o, "%s", conditions[i->cond]);
    suffix(&o, i);
    if (i->op == S12Z_OP_PSH || i->op == S12Z_OP_PUL)
        register_list(&o, i->mask);
    else if (i->op == S12Z_OP_TRAP)
        put(&o, " #%u", i->mask);
    for (unsigned k = 0; k < i->nopr; k++)
        operand(&o, &i->opr[k]);
    if (i->flow == S12Z_FLOW_BRANCH || i->op == S12Z_OP_BRA || i->op == S12Z_OP_BSR) {
        separate(&o);
        put(&o, "*%+d", (int)((i->target - pc) << 8) >> 8);
    }
    return (int)o.len;
}
