/* Decoding, control flow and text of SH-4 instructions. See isa.h. */
#include "targets/sh4/isa/isa.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"

const struct sh4_insn sh4_insns[SH4_NINSNS] = {
    [SH4_ILLEGAL] = { 0, 0, ".word", SH4_GROUP_CO, 1, "1", SH4_COND_ANY },
#define I(id, match, mask, text, group, issue, latency, cond) \
    [SH4_##id] = { match, mask, text, SH4_GROUP_##group, issue, latency, SH4_COND_##cond },
#include "targets/sh4/isa/isa_table.def"
#undef I
};

/* Row per opcode; layout in gen/isa_gen.c. */
static const uint8_t row_of[0xF000 + 4 * 0x1000] = {
#include "targets/sh4/isa/isa_map.inc"
};

enum sh4_insn_id sh4_decode(uint16_t opcode, bool pr, bool sz)
{
    return row_of[opcode + (opcode >= 0xF000 ? 0x1000 * (2 * pr + sz) : 0)];
}

/* Sign-extended first, doubled after: the other order breaks 8-bit displacements 0x40..0xBF. */
static uint32_t branch8_target(uint16_t op, uint32_t pc)
{
    return pc + 4 + 2 * (uint32_t)(int32_t)(int8_t)(op & 0xFF);
}
static uint32_t branch12_target(uint16_t op, uint32_t pc)
{
    int32_t disp = (op & 0xFFF) - (op & 0x800 ? 0x1000 : 0);
    return pc + 4 + 2 * (uint32_t)disp;
}

struct sh4_flow sh4_flow(uint16_t op, uint32_t pc)
{
    struct sh4_flow f = { .kind = SH4_FLOW_NONE, .slot = true, .reg = (uint8_t)(op >> 8 & 15) };
    switch (sh4_decode(op, false, false)) {
    case SH4_BT_S:
    case SH4_BF_S:
        f.kind = SH4_FLOW_BRANCH;
        f.target = branch8_target(op, pc);
        return f;
    case SH4_BRA:
        f.kind = SH4_FLOW_BRA;
        f.target = branch12_target(op, pc);
        return f;
    case SH4_BSR:
        f.kind = SH4_FLOW_CALL;
        f.target = branch12_target(op, pc);
        return f;
    case SH4_JSR_ATRM: f.kind = SH4_FLOW_CALL_REG; return f;
    case SH4_BSRF_RM: f.kind = SH4_FLOW_CALL_REL; return f;
    case SH4_JMP_ATRM: f.kind = SH4_FLOW_JMP_REG; return f;
    case SH4_BRAF_RM: f.kind = SH4_FLOW_JMP_REL; return f;
    case SH4_RTS: f.kind = SH4_FLOW_RTS; return f;
    case SH4_RTE: f.kind = SH4_FLOW_RTE; return f;
    default: break;
    }
    f.slot = false;
    switch (sh4_decode(op, false, false)) {
    case SH4_BT:
    case SH4_BF:
        f.kind = SH4_FLOW_BRANCH;
        f.target = branch8_target(op, pc);
        break;
    case SH4_TRAPA_IMM:
        f.kind = SH4_FLOW_TRAPA;
        f.imm = (uint8_t)op;
        break;
    case SH4_ILLEGAL:
        /* An F opcode may be legal under another FPSCR; none of those changes the flow. */
        if (!sh4_decode(op, true, false) && !sh4_decode(op, false, true))
            f.kind = SH4_FLOW_ILLEGAL;
        break;
    default: break;
    }
    return f;
}

bool sh4_pc_relative(uint16_t op, uint32_t pc, uint32_t *addr)
{
    switch (op >> 12) {
    case 0x9: *addr = pc + 4 + (op & 0xFFu) * 2; return true;
    case 0xD: *addr = (pc & ~3u) + 4 + (op & 0xFFu) * 4; return true;
    default:
        if (op >> 8 != 0xC7)
            return false;
        *addr = (pc & ~3u) + 4 + (op & 0xFFu) * 4;
        return true;
    }
}

bool sh4_slot_illegal(uint16_t op)
{
    uint32_t addr;
    struct sh4_flow f = sh4_flow(op, 0);
    if (f.kind != SH4_FLOW_NONE || sh4_pc_relative(op, 0, &addr))
        return true;
    switch (sh4_decode(op, false, false)) {
    case SH4_SLEEP:
    case SH4_LDTLB:
    case SH4_LDC_RM_SR:
    case SH4_LDC_L_INC_SR: return true;
    default: return false;
    }
}

bool sh4_privileged(uint16_t op)
{
    switch (sh4_decode(op, false, false)) {
    case SH4_RTE:
    case SH4_SLEEP:
    case SH4_LDTLB:
    case SH4_STC_SR_RN:
    case SH4_STC_VBR_RN:
    case SH4_STC_SSR_RN:
    case SH4_STC_SGR_RN:
    case SH4_STC_SPC_RN:
    case SH4_STC_DBR_RN:
    case SH4_STC_RM_BANK_RN:
    case SH4_STC_L_SR_DEC:
    case SH4_STC_L_VBR_DEC:
    case SH4_STC_L_SSR_DEC:
    case SH4_STC_L_SGR_DEC:
    case SH4_STC_L_SPC_DEC:
    case SH4_STC_L_DBR_DEC:
    case SH4_STC_L_RM_BANK_DEC:
    case SH4_LDC_RM_SR:
    case SH4_LDC_RM_VBR:
    case SH4_LDC_RM_SSR:
    case SH4_LDC_RM_SPC:
    case SH4_LDC_RM_DBR:
    case SH4_LDC_RM_RN_BANK:
    case SH4_LDC_L_INC_SR:
    case SH4_LDC_L_INC_VBR:
    case SH4_LDC_L_INC_SSR:
    case SH4_LDC_L_INC_SPC:
    case SH4_LDC_L_INC_DBR:
    case SH4_LDC_L_INC_RN_BANK: return true;
    default: return false;
    }
}

/* ---- text ---- */

struct text_ctx {
    const struct sh4_insn *row;
    uint16_t op;
    uint32_t pc;
};

static bool both_fields(const struct sh4_insn *row)
{
    return !(row->mask & 0x0E00) && !(row->mask & 0x0060);
}

/* Number of the register operand `which` ('m' or 'n'). With two register fields n is bits 11-8 and
 * m bits 7-4; the only field of a row may carry either letter. */
static unsigned reg_field(const struct text_ctx *c, char which)
{
    unsigned hi = c->op >> 8 & 15, lo = c->op >> 4 & 15;
    if (both_fields(c->row) && !strstr(c->row->text, "_BANK") && strchr(c->row->text, 'm') &&
        which == 'm')
        return lo;
    if ((c->row->mask & 0x0F00) == 0x0F00)
        return lo;
    return hi;
}

/* What a displacement is counted in, by the mnemonic: mov.l and mova by 4, mov.w by 2. */
static unsigned disp_scale(const char *text)
{
    if (strncmp(text + 3, ".l", 2) == 0 || text[3] == 'a')
        return 4;
    if (strncmp(text + 3, ".w", 2) == 0)
        return 2;
    return 1;
}

static int put_disp(const struct text_ctx *c, char *out, size_t cap)
{
    unsigned disp =
        c->op & (c->op >> 12 == 1 || c->op >> 12 == 5 || c->op >> 12 == 8 ? 0x0Fu : 0xFFu);
    return snprintf(out, cap, "%u", disp * disp_scale(c->row->text));
}

static int put_imm(const struct text_ctx *c, char *out, size_t cap)
{
    unsigned hi = c->op >> 12;
    bool is_signed = hi == 0xE || hi == 7 || c->op >> 8 == 0x88;
    return snprintf(out, cap, "#%d", is_signed ? (int8_t)(c->op & 0xFF) : (int)(c->op & 0xFF));
}

/* One operand word of the table's text -> objdump's text. */
static int put_word(const struct text_ctx *c, const char *w, size_t len, char *out, size_t cap)
{
    static const struct {
        const char *name;
        const char *prefix;
        unsigned shift;
    } regs[] = {
        { "FRm", "fr", 0 }, { "FRn", "fr", 0 }, { "DRm", "dr", 1 }, { "DRn", "dr", 1 },
        { "XDm", "xd", 1 }, { "XDn", "xd", 1 }, { "Rm", "r", 0 },   { "Rn", "r", 0 },
    };
    if (len == 7 && strncmp(w + 2, "_BANK", 5) == 0)
        return snprintf(out, cap, "r%u_bank", c->op >> 4 & 7u);
    for (size_t i = 0; i < ARRAY_LEN(regs); i++)
        if (strlen(regs[i].name) == len && strncmp(w, regs[i].name, len) == 0)
            return snprintf(out, cap, "%s%u", regs[i].prefix,
                            reg_field(c, w[len - 1]) >> regs[i].shift << regs[i].shift);
    if (len == 3 && strncmp(w, "FVm", 3) == 0)
        return snprintf(out, cap, "fv%u", (c->op >> 8 & 3u) * 4);
    if (len == 3 && strncmp(w, "FVn", 3) == 0)
        return snprintf(out, cap, "fv%u", (c->op >> 10 & 3u) * 4);
    if (len == 4 && strncmp(w, "disp", 4) == 0)
        return put_disp(c, out, cap);
    if (len == 4 && strncmp(w, "#imm", 4) == 0)
        return put_imm(c, out, cap);
    if (len == 5 && strncmp(w, "label", 5) == 0)
        return snprintf(out, cap, "0x%08x", sh4_flow(c->op, c->pc).target);
    char low[16];
    len = MIN(len, sizeof low - 1);
    for (size_t i = 0; i < len; i++)
        low[i] = w[i] >= 'A' && w[i] <= 'Z' ? (char)(w[i] + 32) : w[i];
    low[len] = 0;
    return snprintf(out, cap, "%s", low);
}

static void put_operands(const struct text_ctx *c, const char *t, char *buf, size_t cap)
{
    size_t at = strlen(buf);
    while (*t && at + 1 < cap) {
        size_t len = strcspn(t, "@(),+-");
        if (len == 0) {
            buf[at++] = *t++;
            buf[at] = 0;
            continue;
        }
        int n = put_word(c, t, len, buf + at, cap - at);
        at = MIN(at + (size_t)n, cap - 1);
        t += len;
    }
}

/* The manual writes bt/s and fmov.s where objdump writes bt.s and fmov. */
static void put_name(const char *text, size_t len, char *buf, size_t cap)
{
    if (strncmp(text, "fmov.s", 6) == 0)
        len = 4;
    snprintf(buf, cap, "%.*s", (int)len, text);
    if (len == 4 && cap > 2 && strncmp(text + 2, "/s", 2) == 0)
        buf[2] = '.';
}

char *sh4_disasm(uint16_t op, uint32_t pc, bool pr, bool sz, char *buf, size_t cap)
{
    struct text_ctx c = { &sh4_insns[sh4_decode(op, pr, sz)], op, pc };
    uint32_t addr;
    if (!cap)
        return buf;
    if (c.row == &sh4_insns[SH4_ILLEGAL]) {
        snprintf(buf, cap, ".word 0x%04x", op);
        return buf;
    }
    size_t name = strcspn(c.row->text, " ");
    put_name(c.row->text, name, buf, cap);
    if (!c.row->text[name])
        return buf;
    size_t at = strlen(buf);
    snprintf(buf + at, cap - at, "\t");
    if (sh4_pc_relative(op, pc, &addr)) {
        at = strlen(buf);
        if (op >> 8 == 0xC7)
            snprintf(buf + at, cap - at, "0x%08x,r0", addr);
        else
            snprintf(buf + at, cap - at, "0x%08x,r%u", addr, op >> 8 & 15u);
        return buf;
    }
    put_operands(&c, c.row->text + name + 1, buf, cap);
    return buf;
}

uint16_t sh4_dbr_twin(uint16_t op)
{
    unsigned n = op & 0x0F00;
    switch (op & 0xF0FF) {
    case 0x402E: return (uint16_t)(0x40FA | n);
    case 0x4027: return (uint16_t)(0x40F6 | n);
    case 0x0022: return (uint16_t)(0x00FA | n);
    case 0x4023: return (uint16_t)(0x40F2 | n);
    default: return 0;
    }
}
