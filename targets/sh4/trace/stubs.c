#include "targets/sh4/trace/stubs.h"

#include <stdio.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/reg_use.h"
#include "targets/sh4/trace/stub_time.h"

enum {
    OP_ASK = 0xC322, /* the agent's TRAPA: where there is no site, it asks the host */
    OP_NOP = 0x0009,
    OP_RTS = 0x000B,
    OP_PUSH = 0x2F06,    /* mov.l Rm,@-r15, | m << 4 */
    OP_POP = 0x60F6,     /* mov.l @r15+,Rn, | n << 8 */
    OP_JMP = 0x402B,     /* jmp @Rn, | n << 8 */
    OP_MOVL_PC = 0xD000, /* mov.l @(disp,pc),Rn, | n << 8 | disp */
    OP_ADD = 0x300C,     /* add Rm,Rn */
    OP_LOAD_L = 0x6002,  /* mov.l @Rm,Rn */
    OP_LOAD_W = 0x6001
};

/* Code first, literals behind it; loads of literals are fixed up when their place is known. */
struct build {
    uint16_t code[16];
    size_t n;
    uint32_t literal[4];
    size_t nliterals;
    struct {
        size_t at, literal;
    } fix[4];
    size_t nfixes;
    size_t path;          /* instructions that run at a time, if not all: of a condition one way */
    int8_t reads, writes; /* words, more than the original */
};

static void put_op(struct build *b, uint16_t op) { b->code[b->n++] = op; }

/* A register is borrowed: the word below the stack pointer keeps it. */
static void push_reg(struct build *b, unsigned reg)
{
    put_op(b, (uint16_t)(OP_PUSH | reg << 4));
    b->writes++;
}

static void pop_reg(struct build *b, unsigned reg)
{
    put_op(b, (uint16_t)(OP_POP | reg << 8));
    b->reads++;
}

static void load_literal(struct build *b, unsigned reg, uint32_t value)
{
    b->reads++;
    b->fix[b->nfixes].at = b->n;
    b->fix[b->nfixes++].literal = b->nliterals;
    b->literal[b->nliterals++] = value;
    put_op(b, (uint16_t)(OP_MOVL_PC | reg << 8));
}

/* Goes to `target` without touching a register. */
static void far_jump(struct build *b, uint32_t target)
{
    push_reg(b, 0);
    load_literal(b, 0, target);
    put_op(b, OP_JMP);
    pop_reg(b, 0);
}

/* Goes to offset + Rn. The jump register is any other than Rn. */
static void far_jump_rel(struct build *b, unsigned rn, uint32_t offset)
{
    unsigned t = 0;
    if (rn == 0)
        t = 1;
    push_reg(b, t);
    load_literal(b, t, offset);
    put_op(b, (uint16_t)(OP_ADD | t << 8 | rn << 4));
    put_op(b, (uint16_t)(OP_JMP | t << 8));
    pop_reg(b, t);
}

static void finish_stub(struct build *b, bool big, struct sh4_stub *out)
{
    if (b->n & 1)
        put_op(b, OP_NOP);
    for (size_t i = 0; i < b->nfixes; i++) {
        size_t pc = b->fix[i].at * 2, lit = b->n * 2 + b->fix[i].literal * 4;
        b->code[b->fix[i].at] |= (uint16_t)((lit - (pc & ~(size_t)3) - 4) / 4);
    }
    for (size_t i = 0; i < b->n; i++)
        put16(out->bytes + i * 2, b->code[i], big);
    for (size_t i = 0; i < b->nliterals; i++)
        put32(out->bytes + b->n * 2 + i * 4, b->literal[i], big);
    out->len = b->n * 2 + b->nliterals * 4;
}

/* The original's slot is in the next pair, or what follows it in its own: both are fetched once
 * more or once less. */
static void tell_memory(const struct build *b, uint32_t addr, bool branch, struct sh4_stub *out)
{
    int pairs = (int)(EITHER(b->path, b->n) + 1) / 2 - 1;
    if (branch)
        pairs -= addr & 2 ? 1 : 0;
    else
        pairs += addr & 2 ? 0 : 1;
    out->more = (struct sh4_stub_memory){ (int8_t)pairs, b->reads, b->writes, b->path && addr & 2 };
}

/* What stands in a slot, or alone: while our vectors are installed the program's VBR is in DBR. */
static void put_insn(struct build *b, uint16_t op)
{
    uint16_t twin = sh4_dbr_twin(op);
    put_op(b, EITHER(twin, op));
}

static int put_relative(const struct sh4_site *s, struct build *b, struct err *err)
{
    if (s->has_target) {
        if (s->slot != OP_NOP)
            put_insn(b, s->slot);
        far_jump(b, s->target);
        return 0;
    }
    if (s->reg == 15 || sh4_reg_use(s->slot).writes >> s->reg & 1)
        return err_set(err, ERR_UNSUPPORTED, "",
                       "the delay slot at 0x%08x changes the branch's register", s->addr + 2);
    put_insn(b, s->slot);
    far_jump_rel(b, s->reg, s->addr + 4);
    return 0;
}

/* Part of a stub, as it runs. */
static void add_code(const struct build *b, size_t from, size_t to, struct sh4_way *w)
{
    for (size_t i = from; i < to; i++)
        sh4_way_add(w, b->code[i], (b->code[i] & 0xF0FF) == OP_JMP || b->code[i] == OP_RTS);
}

static int site_cycles(const struct sh4_sites *s, const struct sh4_site *site,
                       const struct build *b)
{
    struct sh4_way original = { .n = 0 }, stub = { .n = 0 };
    uint32_t to = 0;
    if (site->has_target)
        to = site->target;
    sh4_way_add(&original, site->opcode, true);
    sh4_way_add(&original, site->slot, false);
    add_code(b, 0, b->n, &stub);
    return sh4_stub_time(s, site->addr, &original, &stub, to);
}

int sh4_stub_site(const struct sh4_sites *sites, const struct sh4_site *s, bool big,
                  struct sh4_stub *out, struct err *err)
{
    struct build b = { 0 };
    struct sh4_stub stub = { .set_pr = s->kind == SH4_SITE_JSR || s->kind == SH4_SITE_BSR ||
                                       s->kind == SH4_SITE_BSRF };
    int ret = 0;
    if (sh4_slot_illegal(s->slot))
        return err_set(err, ERR_UNSUPPORTED, "",
                       "0x%08x: no instruction that may stand in a delay slot", s->addr + 2);
    switch (s->kind) {
    case SH4_SITE_JSR:
    case SH4_SITE_JMP:
        put_op(&b, (uint16_t)(OP_JMP | s->reg << 8));
        put_insn(&b, s->slot);
        break;
    case SH4_SITE_RTS:
        if (s->asks)
            put_op(&b, OP_ASK);
        put_op(&b, OP_RTS);
        put_insn(&b, s->slot);
        break;
    case SH4_SITE_BSR:
    case SH4_SITE_BRA:
    case SH4_SITE_BSRF:
    case SH4_SITE_BRAF:
        ret = put_relative(s, &b, err);
        stub.extra_insns = (int8_t)(b.n - 2);
        break;
    default:
        return err_set(err, ERR_UNSUPPORTED, "", "0x%08x: %s is not executed elsewhere", s->addr,
                       sh4_site_kind_name(s->kind));
    }
    if (ret < 0)
        return ret;
    if (sites)
        stub.extra_cycles = (int8_t)site_cycles(sites, s, &b);
    tell_memory(&b, s->addr, true, &stub);
    finish_stub(&b, big, &stub);
    *out = stub;
    return 0;
}

bool sh4_slot_adds(uint16_t slot, int32_t *by)
{
    *by = 0;
    if (slot >> 8 == 0x7F) /* add #imm,r15 */
        *by = (slot & 0xFF) - ((slot & 0x80) << 1);
    else if (((slot & 0xF0FF) == 0x60F6 && slot != 0x6FF6) ||
             (slot & 0xFF0E) == 0x4F06) /* mov.l @r15+,Rn; lds.l, ldc.l @r15+ */
        *by = 4;
    else if ((slot & 0xFF0F) == 0x2F06 ||
             (slot & 0xFF0E) == 0x4F02) /* mov.l Rm,@-r15; sts.l, stc.l @-r15 */
        *by = -4;
    else
        return !(sh4_reg_use(slot).writes >> 15 & 1);
    return true;
}

enum {
    OP_ADD_R15 = 0x7F00,  /* add #imm,r15, | imm */
    OP_STORE_4 = 0x1F01,  /* mov.l Rm,@(4,r15), | m << 4 */
    OP_STORE_DEC = 0x2006 /* mov.l Rm,@-Rn, | n << 8 | m << 4 */
};

/* stc.l SR,@-Rn with the value from a literal. R15: the value takes the word under it, the
 * borrowed register the one below. */
static void push_value(struct build *b, unsigned n)
{
    unsigned t = 0;
    if (n == 0)
        t = 1;
    if (n == 15)
        put_op(b, (uint16_t)(OP_ADD_R15 | (-4 & 0xFF)));
    push_reg(b, t);
    load_literal(b, t, 0);
    put_op(b, (uint16_t)(n == 15 ? OP_STORE_4 | t << 4 : OP_STORE_DEC | n << 8 | t << 4));
    pop_reg(b, t);
}

void sh4_stub_sr(const struct sh4_site *s, bool big, struct sh4_stub *plain, struct sh4_stub *agent)
{
    struct build original = { 0 }, rest = { 0 };
    bool reads = s->kind == SH4_SITE_STC_SR || s->kind == SH4_SITE_STCL_SR;
    *plain = *agent = (struct sh4_stub){ 0 };
    if (s->kind == SH4_SITE_LDCL_SR)
        put_op(&rest, OP_ADD_R15 | 4);
    else if (s->kind == SH4_SITE_STC_SR)
        load_literal(&rest, s->reg, 0);
    else if (s->kind == SH4_SITE_STCL_SR)
        push_value(&rest, s->reg);
    put_op(&original, s->opcode);
    while (original.n < rest.n)
        put_op(&original, OP_NOP);
    far_jump(&original, s->addr + 2);
    plain->extra_insns = agent->extra_insns = (int8_t)(original.n - 1);
    plain->extra_cycles = agent->extra_cycles = (int8_t)original.n;
    plain->extra_branches = agent->extra_branches = 1;
    tell_memory(&original, s->addr, false, plain);
    finish_stub(&original, big, plain);
    if (!rest.n) /* of a load nothing is left */
        agent->extra_insns = agent->extra_cycles = 3;
    far_jump(&rest, s->addr + 2);
    tell_memory(&rest, s->addr, false, agent);
    finish_stub(&rest, big, agent);
    if (reads)
        agent->value = (uint8_t)(rest.n * 2);
}

/* ---- points ---- */

/* What MOV.W (word) or MOV.L loads from two halfwords in a row. */
static uint32_t loaded_value(uint16_t lo, uint16_t hi, bool word, bool big)
{
    if (word)
        return (uint32_t)(int32_t)(int16_t)lo;
    if (big)
        return (uint32_t)lo << 16 | hi;
    return (uint32_t)hi << 16 | lo;
}

/* MOV.W, MOV.L @(disp,PC) and MOVA. R15 is loaded in one go: while it held an address of code, an
 * interrupt handler would push there. */
static int pc_relative(const struct sh4_sites *s, uint16_t op, uint32_t pc, uint32_t at, bool big,
                       struct build *b)
{
    unsigned n = op >> 8 & 15;
    uint16_t lo, hi = 0;
    bool word = op >> 12 == 9;
    if (op >> 8 == 0xC7) {
        load_literal(b, 0, at);
    } else if (n != 15) {
        load_literal(b, n, at);
        put_op(b, (uint16_t)((word ? OP_LOAD_W : OP_LOAD_L) | n << 8 | n << 4));
    } else {
        if (!sh4_sites_opcode(s, at, &lo) || (!word && !sh4_sites_opcode(s, at + 2, &hi)))
            return -ERR_UNSUPPORTED;
        b->reads--; /* the original's */
        load_literal(b, 15, loaded_value(lo, hi, word, big));
    }
    far_jump(b, pc + 2);
    return 0;
}

/* BT, BF, BT/S, BF/S: the same condition picks one of two far jumps (4 instructions each). */
static void put_conditional(struct build *b, const struct sh4_flow *f, uint16_t op, uint16_t slot,
                            uint32_t pc)
{
    unsigned taken = (unsigned)b->n + 5 + f->slot; /* halfword where the taken path starts */
    /* disp counts halfwords from the branch + 4 */
    put_op(b, (uint16_t)((op & 0xFF00) | (taken - (b->n + 2))));
    if (f->slot)
        put_insn(b, slot);
    far_jump(b, pc + sh4_flow_bytes(f));
    b->path = b->n;
    far_jump(b, f->target);
    b->reads /= 2;
    b->writes /= 2;
}

static int refuse_point(const struct sh4_sites *s, uint32_t addr, struct err *err)
{
    unsigned code = sh4_sites_code(s, addr);
    char hint[64];
    if (addr & 1)
        return err_set(err, ERR_USAGE, "instructions are at even addresses", "0x%08x is odd", addr);
    snprintf(hint, sizeof hint, "use 0x%08x, the branch it belongs to", addr - 2);
    if ((code & (SH4_CODE_SLOT | SH4_CODE_INSN)) == SH4_CODE_SLOT)
        return err_set(err, ERR_USAGE, hint, "0x%08x is a delay slot: it cannot be patched", addr);
    if (code & SH4_CODE_LITERAL)
        return err_set(err, ERR_USAGE, "give the address of an instruction",
                       "0x%08x holds data (a literal or a table)", addr);
    if (!(code & SH4_CODE_INSN))
        return err_set(
            err, ERR_USAGE,
            "give an address the program reaches by itself, such as a function's first instruction",
            "0x%08x: no control flow found in the program leads there", addr);
    return 0;
}

static int refuse_insn(uint16_t op, uint32_t addr, struct err *err)
{
    char hint[64];
    snprintf(hint, sizeof hint, "use the next instruction, 0x%08x", addr + 2);
    switch (sh4_decode(op, false, false)) {
    case SH4_TRAPA_IMM:
        return err_set(err, ERR_USAGE, hint,
                       "0x%08x is the program's own TRAPA: its handler needs its address", addr);
    case SH4_LDC_RM_SR:
    case SH4_LDC_L_INC_SR:
        return err_set(err, ERR_USAGE, hint, "0x%08x changes the processor's mode", addr);
    case SH4_RTE:
        return err_set(err, ERR_USAGE, "use the address it returns to", "0x%08x is an RTE", addr);
    case SH4_LDTLB:
        return err_set(err, ERR_USAGE, hint, "0x%08x changes address translation", addr);
    default: return 0;
    }
}

static int point_branch(const struct sh4_sites *s, const struct sh4_flow *f, uint16_t op,
                        uint32_t pc, struct build *b, struct err *err)
{
    uint16_t slot = OP_NOP;
    if (f->slot && (!sh4_sites_opcode(s, pc + 2, &slot) || sh4_slot_illegal(slot)))
        return err_set(err, ERR_USAGE, "", "0x%08x has no valid delay slot", pc);
    if (f->kind == SH4_FLOW_BRANCH) {
        put_conditional(b, f, op, slot, pc);
        return 0;
    }
    put_insn(b, slot);
    if (f->kind == SH4_FLOW_BRA) {
        far_jump(b, f->target);
        return 0;
    }
    struct sh4_site braf = { .addr = pc, .reg = f->reg, .slot = slot };
    b->n = 0;
    return put_relative(&braf, b, err);
}

/* A branch, taken or not, and its stub. */
static int branch_cycles(const struct sh4_sites *s, const struct sh4_flow *f, uint32_t addr,
                         bool taken, const struct build *b)
{
    struct sh4_way original = { .n = 0 }, stub = { .n = 0 };
    uint16_t op = 0, slot = OP_NOP;
    size_t first = 1 + f->slot, jump = first + 4 * (size_t)taken;
    sh4_sites_opcode(s, addr, &op);
    sh4_way_add(&original, op, taken);
    sh4_way_add(&stub, op, taken);
    if (f->slot && sh4_sites_opcode(s, addr + 2, &slot)) {
        sh4_way_add(&original, slot, false);
        sh4_way_add(&stub, slot, false);
    }
    add_code(b, jump, jump + 4, &stub);
    uint32_t to = taken ? f->target : addr + sh4_flow_bytes(f);
    return sh4_stub_time(s, addr, &original, &stub, to);
}

/* Of a condition the mean of both ways. */
static int point_cycles(const struct sh4_sites *s, const struct sh4_flow *f, uint32_t addr,
                        const struct build *b)
{
    struct sh4_way original = { .n = 0 }, stub = { .n = 0 };
    uint16_t op;
    if (f->kind == SH4_FLOW_BRANCH)
        return (branch_cycles(s, f, addr, false, b) + branch_cycles(s, f, addr, true, b)) / 2;
    for (uint32_t at = addr; at < addr + sh4_flow_bytes(f) && sh4_sites_opcode(s, at, &op); at += 2)
        sh4_way_add(&original, op, at == addr && f->kind != SH4_FLOW_NONE);
    add_code(b, 0, b->n, &stub);
    uint32_t to = f->target;
    if (f->kind == SH4_FLOW_NONE)
        to = addr + 2;
    return sh4_stub_time(s, addr, &original, &stub, to);
}

int sh4_stub_point(const struct sh4_sites *s, uint32_t addr, bool big, struct sh4_stub *out,
                   struct err *err)
{
    const struct sh4_site *site = sh4_sites_at(s, addr);
    struct sh4_stub stub = { 0 };
    struct build b = { 0 };
    uint16_t op;
    uint32_t at;
    int ret = refuse_point(s, addr, err);
    if (ret < 0)
        return ret;
    sh4_sites_opcode(s, addr, &op);
    if (site && site->kind < SH4_SITE_RTE)
        return sh4_stub_site(s, site, big, out, err);
    ret = refuse_insn(op, addr, err);
    if (ret < 0)
        return ret;
    struct sh4_flow f = sh4_flow(op, addr);
    if (f.kind != SH4_FLOW_NONE)
        ret = point_branch(s, &f, op, addr, &b, err);
    else if (sh4_pc_relative(op, addr, &at)) {
        stub.extra_insns = op >> 8 != 0xC7 && (op >> 8 & 15) != 15;
        if (pc_relative(s, op, addr, at, big, &b) < 0)
            return err_set(err, ERR_USAGE, "use the next instruction",
                           "0x%08x loads R15 from outside the image", addr);
    } else {
        put_insn(&b, op);
        far_jump(&b, addr + 2);
    }
    if (ret < 0)
        return ret;
    stub.extra_insns += f.kind == SH4_FLOW_BRA ? 3 : 4;
    stub.extra_branches = f.kind == SH4_FLOW_NONE || f.kind == SH4_FLOW_BRANCH;
    stub.extra_cycles = (int8_t)point_cycles(s, &f, addr, &b);
    tell_memory(&b, addr, f.slot, &stub);
    finish_stub(&b, big, &stub);
    *out = stub;
    return 0;
}
