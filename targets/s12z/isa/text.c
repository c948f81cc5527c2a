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

static void put_text(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct out *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->p + o->len, o->size - o->len, fmt, ap);
    va_end(ap);
    o->len += (size_t)n;
    if (o->len >= o->size)
        o->len = o->size - 1;
}

static void put_separator(struct out *o)
{
    if (o->any)
        put_text(o, ",");
    put_text(o, " ");
    o->any = true;
}

static char size_letter(unsigned bytes) { return " bwpl"[bytes]; }

static void put_memory(struct out *o, const struct s12z_operand *m)
{
    static const char *const formats[] = { "%s", "-%s", "+%s", "%s-", "%s+" };
    if (m->reg == S12Z_NOREG && !m->indirect) {
        put_text(o, "%d", (int)m->value);
        return;
    }
    put_text(o, "%c", m->indirect ? '[' : '(');
    if (m->reg == S12Z_NOREG)
        put_text(o, "%d", (int)m->value);
    else if (m->adjust)
        put_text(o, formats[m->adjust], s12z_reg_name(m->reg));
    else if (m->index != S12Z_NOREG)
        put_text(o, "%s,%s", s12z_reg_name(m->index), s12z_reg_name(m->reg));
    else
        put_text(o, "%d,%s", (int)m->value, s12z_reg_name(m->reg));
    put_text(o, "%c", m->indirect ? ']' : ')');
}

static void put_operand(struct out *o, const struct s12z_operand *p)
{
    put_separator(o);
    switch ((enum s12z_operand_kind)p->kind) {
    case S12Z_OPR_NONE: break;
    case S12Z_OPR_IMM: put_text(o, "#%d", (int)p->value); break;
    case S12Z_OPR_REG: put_text(o, "%s", s12z_reg_name(p->reg)); break;
    case S12Z_OPR_MEM: put_memory(o, p); break;
    case S12Z_OPR_FIELD: put_text(o, "#%d:%d", (int)p->value >> 5, (int)p->value & 31); break;
    }
}

static void register_list(struct out *o, unsigned mask)
{
    static const uint8_t order[] = { S12Z_CCH, S12Z_CCL, S12Z_D0, S12Z_D1, S12Z_D2, S12Z_D3,
                                     S12Z_D4,  S12Z_D5,  S12Z_D6, S12Z_D7, S12Z_X,  S12Z_Y };
    if (mask == 0xFFF) {
        put_text(o, " ALL");
        return;
    }
    if (mask == 0x0F0) {
        put_text(o, " ALL16b");
        return;
    }
    for (unsigned k = 0; k < sizeof order; k++)
        if (mask & 0x800u >> k) {
            put_separator(o);
            put_text(o, "%s", s12z_reg_name(order[k]));
        }
}

/* A size suffix is left out where a register operand implies it. */
static void put_suffix(struct out *o, const struct s12z_insn *i)
{
    bool multiply = i->op >= S12Z_OP_MULS;
    bool bit = (i->op >= S12Z_OP_BCLR && i->op <= S12Z_OP_BTGL) || i->op == S12Z_OP_BRCLR ||
               i->op == S12Z_OP_BRSET;
    bool shift = i->op >= S12Z_OP_LSR && i->op <= S12Z_OP_ASL && i->nopr == 2;
    bool by_register = shift || (bit && i->opr[1].kind == S12Z_OPR_REG);
    if (multiply && i->mask)
        put_text(o, ".%c%c", size_letter(i->mask >> 8), size_letter(i->mask & 0xFF));
    else if (i->bytes && !(by_register && i->opr[0].kind == S12Z_OPR_REG))
        put_text(o, ".%c", size_letter(i->bytes));
}

int s12z_format(const struct s12z_insn *i, uint32_t pc, char *buf, size_t size)
{
    static const char *const conditions[] = { "ne", "eq", "pl", "mi", "gt", "le", "??", "??" };
    struct out o = { buf, size, 0, false };
    put_text(&o, "%s", s12z_op_name(i->op));
    if (i->op == S12Z_OP_DB || i->op == S12Z_OP_TB)
        put_text(&o, "%s", conditions[i->cond]);
    put_suffix(&o, i);
    if (i->op == S12Z_OP_PSH || i->op == S12Z_OP_PUL)
        register_list(&o, i->mask);
    else if (i->op == S12Z_OP_TRAP)
        put_text(&o, " #%u", i->mask);
    for (unsigned k = 0; k < i->nopr; k++)
        put_operand(&o, &i->opr[k]);
    if (i->flow == S12Z_FLOW_BRANCH || i->op == S12Z_OP_BRA || i->op == S12Z_OP_BSR) {
        put_separator(&o);
        put_text(&o, "*%+d", (int)((i->target - pc) << 8) >> 8);
    }
    return (int)o.len;
}
