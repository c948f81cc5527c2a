#include "tests/sim_sh4/qemu_gen.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/sim_sh4/asm.h"

/* clang-format off */
enum {
    HANDLER = 0x100, LITERALS = 0x1E0, INIT = 0x200, BODY = 0x480, BODY_END = 0xE00, LIT_INIT = 0,
    LIT_DUMP = 4, LIT_NEXT = 8, INIT_WORDS = 8 + 32 + 10 + 16, END_TRAP = 0xC3FF,
};
/* clang-format on */

const struct gen_excluded gen_excluded[] = {
    { "ADDV of two registers",
      "qemu 7.2 stores the sum in Rm; manual: Rn, T = signed overflow (ADDV Rn,Rn is compared)" },
    { "SUBV: T", "qemu 7.2 takes it from the wrong operand; manual: T = signed overflow of Rn - Rm "
                 "(Rn is compared)" },
    { "MAC.W, MAC.L with S=1",
      "qemu 7.2 saturates wrongly; manual: MAC.W to 32 bits in MACL, MAC.L to 48 bits" },
    { "FMOV.D with memory, little-endian: registers",
      "qemu exchanges the two words; silicon: even register = lower address "
      "(every Dreamcast matrix load relies on it, and the single-step data agree); copies are "
      "compared" },
    { "ROTL, ROTR: T", "qemu 7.2 clears T; manual: T = the bit rotated out (Rn is compared)" },
    { "STC SR: M and Q",
      "qemu 7.2 reads them as 0; manual: part of SR (they are seen in SSR after each program)" },
    { "FTRC: inexact", "qemu sets cause I; manual: FTRC raises invalid operation only" },
    { "sticky flags V, U and I", "set from the start, because of FTRC and of underflow with DN=1, "
                                 "which qemu does not report" },
    { "FRCHG, FSCHG with PR=1", "undefined by the manual" },
    { "cause before FSCHG, FRCHG, STS FPSCR",
      "qemu 7.2 loses it in one translation block (excused when nothing else differs)" },
    { "P3 in user mode", "qemu translates it; manual: address error from 80000000 on" },
    { "FFFD with FD=1",
      "qemu: FPU disable; manual: illegal instruction, FFFD is no FPU instruction" },
    { "FRCHG with FD=1", "qemu executes it; manual: FPU disable exception" },
    { "DIV1 by 0",
      "qemu takes the borrow wrong when Rm = 0; manual: T by comparing before and after" },
    { "FCMP/EQ of a quiet NaN", "qemu raises V; manual: signalling NaN only" },
    { "FMAC inf * 0 + quiet NaN", "qemu raises nothing; manual: invalid operation" },
    { "MAC.W, big-endian or at 4n+2",
      "qemu reads 32 bits and takes the low half; manual: a word operand" },
    { "DIV1 Rn,Rn", "qemu subtracts the shifted Rn; manual: Rm as it was before" },
    { "MAC.W, MAC.L @Rn+,@Rn+",
      "qemu reads the same operand twice; manual: Rn is advanced between the two reads" },
    { "SLEEP", "needs an interrupt to end" },
    { "LDTLB in the program", "only the boot stub fills the TLB: the URC counter's steps differ" },
    { "PTEH after an address error",
      "qemu leaves it for misaligned accesses; manual: the VPN is set" },
    { "OCBI, MOVCA.L with a write-back cache",
      "qemu has no cache: OCBI may lose data, which the manual allows (in write-through and "
      "without a cache they run)" },
    { "FIPR, FTRV", "qemu 7.2 takes them for illegal with PR=0, where the manual defines them" },
    { "FSRRA, FSCA", "illegal on qemu's SH7751R; SH7091 only" },
    { "LDC of another VBR", "the harness needs its exception handler" },
    { "exceptions with SR.BL=1",
      "both reset, and the harness is gone (code without exceptions runs with BL=1)" },
};
const size_t gen_nexcluded = ARRAY_LEN(gen_excluded);

/* ---- fixed code ---- */

static void template_page(struct gen_template *t, struct asm_prog *p, char *src)
{
    int n = sprintf(
        src,
        ".org %d\n mov.l initp,r15\n mov #0,r0\n lds r0,fpscr\n mov.l teap,r1\n mov.l r0,@r1\n"
        " mov.l trap,r1\n mov.l r0,@r1\n mov.l ptehp,r1\n"
        " mov #7,r2\n mov.l r2,@r1\n",
        0);
    for (int i = 0; i < 8; i++)
        n += sprintf(src + n, " ldc.l @r15+,r%d_bank\n", i);
    for (int i = 0; i < 32; i++)
        n += sprintf(src + n, "%s fmov.s @r15+,fr%d\n", i == 16 ? " frchg\n" : "", i % 16);
    n += sprintf(
        src + n,
        " frchg\n lds.l @r15+,fpul\n lds.l @r15+,fpscr\n ldc.l @r15+,gbr\n ldc.l @r15+,dbr\n"
        " ldc.l @r15+,vbr\n lds.l @r15+,mach\n lds.l @r15+,macl\n lds.l @r15+,pr\n"
        " ldc.l @r15+,ssr\n ldc.l @r15+,spc\n");
    for (int i = 0; i < 15; i++)
        n += sprintf(src + n, " mov.l @r15+,r%d\n", i);
    n += sprintf(src + n, " rte\n mov.l @r15,r15\n .org %d\n", HANDLER);
    n += sprintf(src + n, "entry: mov.l dumpp,r15\n mov.l r0,@-r15\n");
    for (int i = 1; i < 15; i++)
        n += sprintf(src + n, " mov.l r%d,@-r15\n", i);
    for (int i = 0; i < 8; i++)
        n += sprintf(src + n, " stc.l r%d_bank,@-r15\n", i);
    n += sprintf(
        src + n,
        " stc sr,r0\n mov.l fdmask,r1\n and r1,r0\n ldc r0,sr\n stc.l sgr,@-r15\n stc.l ssr,@-r15\n"
        " stc.l spc,@-r15\n stc.l gbr,@-r15\n stc.l vbr,@-r15\n stc.l dbr,@-r15\n sts.l "
        "mach,@-r15\n"
        " sts.l macl,@-r15\n sts.l pr,@-r15\n sts.l fpul,@-r15\n sts.l fpscr,@-r15\n");
    n +=
        sprintf(src + n,
                " mov.l expevtp,r1\n mov.l @r1,r0\n mov.l r0,@-r15\n mov.l trap,r1\n mov.l @r1,r0\n"
                " mov.l r0,@-r15\n mov.l teap,r1\n mov.l @r1,r0\n mov.l r0,@-r15\n mov.l "
                "ptehp,r1\n mov.l @r1,r0\n"
                " mov.l r0,@-r15\n mov #0,r0\n lds r0,fpscr\n");
    for (int i = 0; i < 32; i++)
        n += sprintf(src + n, "%s fmov.s fr%d,@-r15\n", i == 16 ? " frchg\n" : "", i % 16);
    sprintf(src + n,
            " mov.l nextp,r0\n jmp @r0\n nop\n .org %d\ninitp: .long 0\ndumpp: .long 0\nnextp: "
            ".long 0\n"
            "teap: .long 0xFF00000C\ntrap: .long 0xFF000020\nexpevtp: .long 0xFF000024\n"
            "ptehp: .long 0xFF000000\nfdmask: .long 0xFFFF7FFF\n .org 0x400\n bra entry\n nop\n",
            LITERALS);
    asm_text(p, 0, src);
    assert(p->len <= sizeof t->code);
    memset(t, 0, sizeof *t);
    t->big = p->big;
    memcpy(t->code, p->code, p->len);
}

/* Page k of an MMU batch: all protections, clean and dirty, own and shared, one with a foreign
 * ASID. */
static uint32_t page_flags(unsigned k)
{
    uint32_t v = 0x100 | 0x10 | 8 | (k & 3) << 5;
    return v | (k & 4 ? 4 : 0) | (k & 8 ? 2 : 0);
}

/* At the P2 alias: SR, caches, TLB, then the first program. The last program continues at
 * GEN_FLUSH. */
static void template_boot(struct gen_template *t, struct asm_prog *p, char *src)
{
    int n = sprintf(src,
                    " mov.l srv,r8\n ldc r8,sr\n mov.l ccrp,r8\n mov.l ccrv,r9\n mov.l r9,@r8\n "
                    "nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
                    " nop\n mov.l mmucrp,r8\n mov #4,r9\n mov.l r9,@r8\n mov.l tablep,r9\n mov.l "
                    "entriesv,r10\n mov #0,r11\n"
                    " mov.l ptehp,r12\ntlb: mov.l @r9+,r13\n mov.l r13,@r12\n mov.l @r9+,r13\n "
                    "mov.l r13,@(4,r12)\n mov.l r11,@r8\n"
                    " nop\n nop\n nop\n nop\n ldtlb\n mov.l urcv,r13\n add r13,r11\n dt r10\n bf "
                    "tlb\n mov #7,r13\n mov.l r13,@r12\n"
                    " mov.l mmucrv,r9\n mov.l r9,@r8\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n "
                    "nop\n mov.l firstp,r8\n jmp @r8\n nop\n"
                    " .org %u\n mov.l fromp,r8\n mov.l countv,r9\nloop: ocbwb @r8\n add #32,r8\n "
                    "dt r9\n bf loop\n bra end\n nop\n"
                    " .org %u\nend: bra end\n nop\n .align 2\nccrv: .long 0\nmmucrv: .long "
                    "0\nfirstp: .long 0\nfromp: .long 0\ncountv: .long 0\nsrv: .long 0x700000F0\n"
                    "ccrp: .long 0xFF00001C\nmmucrp: .long 0xFF000010\nptehp: .long "
                    "0xFF000000\nurcv: .long 0x400\ntablep: .long table\n"
                    "entriesv: .long %u\n",
                    GEN_FLUSH, GEN_END, GEN_PAGES + 2);
    n += sprintf(
        src + n,
        "table: .long 0x0C000000\n .long 0x0C0001FE\n .long 0x0C100000\n .long 0x0C1001FE\n");
    for (unsigned k = 0; k < GEN_PAGES; k++)
        n += sprintf(src + n, " .long 0x%x\n .long 0x%x\n",
                     (GEN_VPAGES + k * GEN_PAGE) | (k == 5 ? 8u : 7u),
                     (GEN_SCRATCH + k * GEN_PAGE) | page_flags(k));
    asm_text(p, GEN_BOOT, src);
    assert(p->len <= sizeof t->boot);
    memcpy(t->boot, p->code, p->len);
    t->boot_literals = asm_label(p, "ccrv") - GEN_BOOT;
}

void gen_template(struct gen_template *t, bool big)
{
    struct asm_prog *p = calloc(1, sizeof *p);
    char *src = malloc(8192);
    assert(p && src);
    p->big = big;
    template_page(t, p, src);
    template_boot(t, p, src);
    free(src);
    free(p);
}

uint32_t gen_code_addr(unsigned slot) { return GEN_CODE + slot * GEN_PAGE; }

void gen_boot(const struct gen_template *t, const struct gen_options *opt, unsigned first,
              unsigned n, uint8_t out[GEN_BOOT_BYTES])
{
    uint32_t from = opt->mmu ? (uint32_t)GEN_SCRATCH : GEN_DATA + first * GEN_PAGE;
    uint8_t *lit = out + t->boot_literals;
    memcpy(out, t->boot, sizeof t->boot);
    put32(lit, opt->ccr, t->big);
    put32(lit + 4, opt->mmu, t->big);
    put32(lit + 8, gen_code_addr(first), t->big);
    put32(lit + 12, from, t->big);
    put32(lit + 16, (GEN_DATA + n * GEN_PAGE - from) / 32, t->big);
}

const char *gen_dump_name(unsigned i)
{
    static const char *const sys[] = { "SGR",   "SSR",    "SPC",  "GBR", "VBR",
                                       "DBR",   "MACH",   "MACL", "PR",  "FPUL",
                                       "FPSCR", "EXPEVT", "TRA",  "TEA", "PTEH" };
    static const char *const gpr[] = { "R0b1", "R1b1", "R2b1", "R3b1", "R4b1", "R5b1",
                                       "R6b1", "R7b1", "R8",   "R9",   "R10",  "R11",
                                       "R12",  "R13",  "R14",  "R0b0", "R1b0", "R2b0",
                                       "R3b0", "R4b0", "R5b0", "R6b0", "R7b0" };
    static const char *const fp[] = { "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5",  "FP6",
                                      "FP7",  "FP8",  "FP9",  "FP10", "FP11", "FP12", "FP13",
                                      "FP14", "FP15", "FP16", "FP17", "FP18", "FP19", "FP20",
                                      "FP21", "FP22", "FP23", "FP24", "FP25", "FP26", "FP27",
                                      "FP28", "FP29", "FP30", "FP31" };
    unsigned push = GEN_NDUMP - 1 - i; /* dumped downwards */
    if (push < 23)
        return gpr[push];
    return push < 38 ? sys[push - 23] : fp[push - 38];
}

/* ---- generator ---- */

enum kind { K_NONE, K_ALU, K_SYS, K_MEM, K_FP };

struct gen {
    struct gen_program *p;
    const struct gen_options *opt;
    uint64_t rng;
    uint32_t at;   /* offset of the next opcode */
    uint32_t base; /* address of the code page */
    bool md, pr, sz, fd;
    bool in_loop;
};

static uint32_t next_random(struct gen *g)
{
    uint64_t z = g->rng += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ z >> 31) >> 16);
}
static uint32_t random_below(struct gen *g, uint32_t n) { return next_random(g) % n; }

/* A word the program never executes, or executes to fault. */
static void emit_raw(struct gen *g, uint32_t op)
{
    put16(g->p->code + g->at, (uint16_t)op, g->p->big);
    g->at += 2;
}

static void emit_insn(struct gen *g, uint32_t op)
{
    unsigned id = sh4_decode((uint16_t)op, g->pr, g->sz);
    g->p->ids[id / 32] |= 1u << id % 32;
    emit_raw(g, op);
}

static bool starts_with(const char *t, const char *with)
{
    return strncmp(t, with, strlen(with)) == 0;
}

static enum kind kind_of(enum sh4_insn_id id)
{
    const struct sh4_insn *r = &sh4_insns[id];
    const char *t = r->text;
    uint32_t addr;
    switch (id) {
    case SH4_ILLEGAL:
    case SH4_SLEEP:
    case SH4_LDTLB:
    case SH4_TRAPA_IMM:
    case SH4_LDC_RM_SR:
    case SH4_LDC_L_INC_SR:
    case SH4_LDC_RM_VBR:
    case SH4_LDC_L_INC_VBR:
    case SH4_LDS_RM_FPSCR:
    case SH4_LDS_L_INC_FPSCR:
    case SH4_FSCHG:
    case SH4_FIPR_FVM_FVN:
    case SH4_FTRV_XMTRX_FVN:
    case SH4_FSRRA_FRN:
    case SH4_FSCA_FPUL_DRN:
    case SH4_MOVA_DISPPC_R0:
    case SH4_MOV_W_DISPPC_RN:
    case SH4_MOV_L_DISPPC_RN: return K_NONE;
    default: break;
    }
    if (sh4_flow(r->match, 0).kind != SH4_FLOW_NONE || sh4_pc_relative(r->match, 0, &addr))
        return K_NONE;
    if (strchr(t, '@'))
        return K_MEM;
    if (r->match >= 0xF000)
        return K_FP;
    return starts_with(t, "ldc ") || starts_with(t, "stc ") || starts_with(t, "lds ") ||
                   starts_with(t, "sts ")
               ? K_SYS
               : K_ALU;
}

bool gen_covers(enum sh4_insn_id id)
{
    uint32_t addr;
    if (id == SH4_LDC_RM_VBR || id == SH4_LDC_L_INC_VBR)
        return true;
    return kind_of(id) != K_NONE || sh4_flow(sh4_insns[id].match, 0).kind != SH4_FLOW_NONE ||
           sh4_pc_relative(sh4_insns[id].match, 0, &addr) || id == SH4_LDC_RM_SR ||
           id == SH4_LDS_RM_FPSCR || id == SH4_FSCHG;
}

/* May a line of the program's data be newer than memory? P0, so CCR.WT decides; with the MMU on the
 * page does. */
static bool copies_back(const struct gen *g)
{
    return g->opt->ccr & 1 && (g->opt->mmu || !(g->opt->ccr & 2));
}

static bool is_usable(const struct gen *g, enum sh4_insn_id id)
{
    const struct sh4_insn *r = &sh4_insns[id];
    if (!g->opt->known && id == SH4_ADDV_RM_RN)
        return false; /* item_twins() has it */
    if (!g->opt->known && !g->p->big && starts_with(r->text, "fmov.d"))
        return false; /* item_pair_copy() has them */
    if (!g->opt->known && g->p->big && id == SH4_MAC_W_INC_INC)
        return false;
    if (sh4_decode(r->match, g->pr, g->sz) != id || (!g->md && sh4_privileged(r->match)))
        return false;
    if ((id == SH4_MOVCA_L_R0_ATRN || id == SH4_OCBI_ATRN) && copies_back(g))
        return false; /* undefined neighbours in the line; data lost */
    if (id == SH4_DIV1_RM_RN && !g->opt->known)
        return false; /* item_divide() has it */
    if (id == SH4_FRCHG && g->pr)
        return false; /* undefined by the manual */
    return !g->in_loop || !(id == SH4_LDC_RM_RN_BANK || id == SH4_FRCHG);
}

/* Instructions after which something must be made equal again before it is compared. */
static bool needs_care(enum sh4_insn_id id)
{
    return id == SH4_SUBV_RM_RN || id == SH4_ROTL_RN || id == SH4_ROTR_RN ||
           id == SH4_FTRC_FRM_FPUL || id == SH4_FTRC_DRM_FPUL || id == SH4_STC_SR_RN ||
           id == SH4_STC_L_SR_DEC;
}

/* The instruction, with what qemu's faults (gen_excluded) need around it. */
static void emit_with_care(struct gen *g, enum sh4_insn_id id, uint32_t op)
{
    if (!g->opt->known && (id == SH4_STC_SR_RN || id == SH4_STC_L_SR_DEC))
        emit_insn(g, 0x0019); /* div0u: M = Q = 0 */
    emit_insn(g, op);
    if (!g->opt->known && (id == SH4_ROTL_RN || id == SH4_ROTR_RN || id == SH4_SUBV_RM_RN))
        emit_insn(g, 0x0018); /* sett */
    if (!g->opt->known && (id == SH4_FTRC_FRM_FPUL || id == SH4_FTRC_DRM_FPUL))
        emit_insn(g, 0xF42D); /* float: a new cause field */
}

static enum sh4_insn_id pick_insn(struct gen *g, enum kind kind)
{
    for (;;) {
        enum sh4_insn_id id = 1 + random_below(g, SH4_NINSNS - 1);
        bool fpu = sh4_insns[id].match >= 0xF000;
        if (kind_of(id) == kind && is_usable(g, id) && !(g->fd && fpu) &&
            !(g->fd && strstr(sh4_insns[id].text, "FP")))
            return id;
    }
}

/* r13 counts loops, r14 is the data page, r15 the stack: never written. */
static uint32_t any_dest(struct gen *g) { return random_below(g, 13); }

/* Operand fields of a row without memory access. */
static uint32_t fill_operands(struct gen *g, enum sh4_insn_id id)
{
    const struct sh4_insn *r = &sh4_insns[id];
    uint32_t op = (next_random(g) & ~(uint32_t)r->mask & 0xFFFF) | r->match;
    bool top_is_reg = (r->mask & 0x0F00) == 0;
    if (r->match < 0xF000 && top_is_reg)
        op = (op & 0xF0FF) | any_dest(g) << 8;
    return op;
}

static unsigned access_bytes(const char *t)
{
    if (strstr(t, "fmov.d"))
        return 8;
    if (strstr(t, ".b ") || starts_with(t, "tas"))
        return 1;
    if (strstr(t, ".w "))
        return 2;
    return 4;
}

/* mov r14,rp; add #off,rp: an address in the data page, aligned to `bytes`. */
static void set_pointer(struct gen *g, unsigned rp, unsigned bytes)
{
    emit_insn(g, 0x60E3 | rp << 8);
    emit_insn(g, 0x7000 | rp << 8 | ((random_below(g, 224) - 112) & ~(bytes - 1) & 0xFF));
}

static unsigned pointer_reg(struct gen *g) { return 8 + random_below(g, 5); }

/* A memory access with its operand addresses set up just before. */
static void memory_item(struct gen *g, enum sh4_insn_id id)
{
    const struct sh4_insn *r = &sh4_insns[id];
    const char *t = r->text;
    unsigned bytes = access_bytes(t), rp = pointer_reg(g), rq = pointer_reg(g);
    uint32_t op = fill_operands(g, id);
    bool low_only = (r->mask & 0x0F00) == 0x0F00;
    if (strstr(t, "GBR)")) {
        emit_insn(g, 0x4E1E); /* ldc r14,gbr */
        if (strstr(t, "(R0,GBR)"))
            emit_insn(g, 0xE000 | random_below(g, 128));
        emit_insn(g, op);
        return;
    }
    if (strstr(t, "(R0,"))
        emit_insn(g, 0xE000 | (random_below(g, 112) & ~(bytes - 1)));
    if (starts_with(t, "mac")) {
        set_pointer(g, rp, 4);
        if (rq != rp)
            set_pointer(g, rq, 4);
        if (!g->opt->known)
            emit_insn(g, 0x0048); /* clrs */
        if (rp == rq && !g->opt->known)
            rq = rp == 12 ? 11 : rp + 1, set_pointer(g, rq, 4);
        emit_insn(g, r->match | rp << 8 | rq << 4);
        return;
    }
    set_pointer(g, rp, bytes);
    bool n_is_pointer = strstr(t, "@Rn") || strstr(t, "@-Rn") || strstr(t, ",Rn)");
    bool two = strchr(t, 'n') && (r->mask & 0x00F0) == 0;
    if (low_only || (two && !n_is_pointer))
        op = (op & 0xFF0F) | rp << 4;
    else
        op = (op & 0xF0FF) | rp << 8;
    if (strstr(t, "fmov.d") && !n_is_pointer)
        op = (r->match | (op & 0x0EF0)); /* data bits 11-9, pointer 7-4 */
    emit_with_care(g, id, op);
}

/* Loads a 32-bit constant: mov.l lit,rn; bra over; nop; .long; over: */
static void load_const(struct gen *g, unsigned rn, uint32_t v)
{
    bool odd = g->at & 2;
    emit_insn(g, 0xD000 | rn << 8 | 1); /* (pc & ~3) + 8 */
    emit_insn(g, odd ? 0xA002 : 0xA003);
    emit_insn(g, 0x0009);
    if (!odd)
        emit_insn(g, 0x0009);
    put32(g->p->code + g->at, v, g->p->big);
    g->at += 4;
}

static void item_simple(struct gen *g)
{
    unsigned k = random_below(g, 10);
    enum sh4_insn_id id = pick_insn(g, k < 7 || g->fd ? K_ALU : K_FP);
    while (needs_care(id))
        id = pick_insn(g, K_ALU);
    emit_insn(g, fill_operands(g, id));
}

static void item_alu(struct gen *g)
{
    enum sh4_insn_id id = pick_insn(g, K_ALU);
    emit_with_care(g, id, fill_operands(g, id));
}
static void item_sys(struct gen *g)
{
    enum sh4_insn_id id = pick_insn(g, K_SYS);
    emit_with_care(g, id, fill_operands(g, id));
}
static void item_mem(struct gen *g) { memory_item(g, pick_insn(g, K_MEM)); }
static void item_fp(struct gen *g)
{
    if (g->fd) {
        item_alu(g);
        return;
    }
    enum sh4_insn_id id = pick_insn(g, K_FP);
    emit_with_care(g, id, fill_operands(g, id));
}

static void item_cond_branch(struct gen *g)
{
    static const uint16_t ops[] = { 0x8900, 0x8B00, 0x8D00, 0x8F00 };
    unsigned k = random_below(g, 4), n = 1 + random_below(g, 3);
    emit_insn(g, ops[k] | ((k & 2) ? n : n - 1)); /* skips n instructions after the (slot) */
    if (k & 2)
        item_simple(g);
    for (unsigned i = 0; i < n; i++)
        item_simple(g);
}

static void item_bra(struct gen *g)
{
    unsigned n = random_below(g, 3);
    emit_insn(g, (random_below(g, 2) ? 0xA000 : 0xB000) | n);
    item_simple(g);
    for (unsigned i = 0; i < n; i++)
        emit_raw(g, next_random(g) & 0xFFFF); /* never executed */
}

static void item_braf(struct gen *g)
{
    unsigned n = random_below(g, 4), rn = any_dest(g);
    emit_insn(g, 0xE000 | rn << 8 | 2 * n);
    emit_insn(g, (random_below(g, 2) ? 0x0023 : 0x0003) | rn << 8);
    item_simple(g);
    for (unsigned i = 0; i < n; i++)
        emit_raw(g, next_random(g) & 0xFFFF);
}

/* mova target,r0; then jmp/jsr @r0, or lds pr + rts, or (privileged) ldc spc/ssr + rte. */
static void item_jump(struct gen *g)
{
    unsigned kind = random_below(g, g->md ? 4 : 3);
    /* opcodes from mova to the slot */
    unsigned len = kind == 0 || kind == 1 ? 3 : kind == 2 ? 4 : 7;
    uint32_t after = g->at + 2 * len, target = (after + 3) & ~3u;
    emit_insn(g, 0xC700 | ((target - (g->at & ~3u) - 4) / 4));
    if (kind == 0)
        emit_insn(g, 0x400B);
    else if (kind == 1)
        emit_insn(g, 0x402B);
    if (kind == 2) {
        emit_insn(g, 0x402A);
        emit_insn(g, 0x000B);
    } else if (kind == 3) {
        emit_insn(g, 0x404E); /* ldc r0,spc */
        emit_insn(g, 0x0019); /* div0u */
        emit_insn(g, 0x0102); /* stc sr,r1 */
        emit_insn(g, 0x413E); /* ldc r1,ssr */
        emit_insn(g, 0x002B);
    }
    item_simple(g);
    while (g->at < target)
        emit_raw(g, 0xFFFD);
}

static void item_loop(struct gen *g)
{
    unsigned n = 1 + random_below(g, 4);
    emit_insn(g, 0xED00 | (1 + random_below(g, 6)));
    uint32_t top = g->at;
    g->in_loop = true;
    for (unsigned i = 0; i < n; i++) {
        if (random_below(g, 3) == 0)
            item_mem(g);
        else
            item_simple(g);
    }
    emit_insn(g, 0x4D10); /* dt r13 */
    bool slot = random_below(g, 2);
    int32_t d = ((int32_t)top - (int32_t)g->at - 4) / 2;
    emit_insn(g, (slot ? 0x8F00u : 0x8B00u) | ((uint32_t)d & 0xFF));
    if (slot)
        item_simple(g);
    g->in_loop = false;
}

/* A page every mode may read and write (PR = 3, dirty). */
static void item_page(struct gen *g)
{
    static const uint8_t open_pages[] = { 7, 15 };
    unsigned rp = pointer_reg(g);
    if (!g->opt->mmu) {
        item_mem(g);
        return;
    }
    load_const(g, rp,
               GEN_VPAGES + open_pages[random_below(g, 2)] * GEN_PAGE + 0x100 +
                   (random_below(g, 0xE00) & ~3u));
    emit_insn(g, random_below(g, 2) ? 0x2002 | rp << 8 | random_below(g, 8) << 4
                                    : 0x6002 | random_below(g, 8) << 8 | rp << 4);
}

static void item_pcrel(struct gen *g)
{
    unsigned k = random_below(g, 3), disp = random_below(g, 200);
    if (k == 2)
        emit_insn(g, 0xC700 | disp);
    else
        emit_insn(g, (k ? 0x9000 : 0xD000) | any_dest(g) << 8 | disp);
}

static void item_divide(struct gen *g)
{
    unsigned rn = random_below(g, 6), rm = 6 + random_below(g, 6), rq = random_below(g, 6);
    load_const(g, rm, next_random(g) >> random_below(g, 20) | 1);
    emit_insn(g, random_below(g, 2) ? 0x0019 : 0x2007 | rn << 8 | rm << 4);
    for (unsigned i = 0, n = 1 + random_below(g, 16); i < n; i++) {
        emit_insn(g, 0x4024 | rq << 8);
        emit_insn(g, 0x3004 | rn << 8 | rm << 4);
    }
}

static uint32_t random_fpscr(struct gen *g)
{
    uint32_t v = random_below(g, 2) | (random_below(g, 4) ? 1u << 18 : 0u) |
                 0x4C; /* RM, DN, flags V, U and I */
    if (random_below(g, 2))
        v |= 1u << 21;
    v |= (uint32_t)random_below(g, 4) << 19; /* PR, SZ */
    if ((v >> 19 & 3) == 3)
        v &= ~(1u << 20); /* PR=1 with SZ=1 is undefined */
    return v | (random_below(g, 2) ? next_random(g) & 0x0003F07C & ~0xF80u : 0);
}

static void set_mode(struct gen *g, uint32_t fpscr)
{
    g->pr = fpscr >> 19 & 1;
    g->sz = fpscr >> 20 & 1;
}

static void item_fpscr(struct gen *g)
{
    uint32_t v = random_fpscr(g);
    unsigned rn = any_dest(g);
    if (g->fd) {
        item_alu(g);
        return;
    }
    if (!g->pr && random_below(g, 4) == 0) {
        emit_insn(g, 0xF3FD);
        g->sz = !g->sz;
        return;
    }
    load_const(g, rn, v);
    emit_insn(g, 0x406A | rn << 8);
    set_mode(g, v);
}

static uint32_t random_sr(struct gen *g, bool md)
{
    return (md ? 0x40000000u : 0) | (random_below(g, 2) ? 0x20000000u : 0) | 0xF0u |
           (next_random(g) & (g->opt->known ? 0x303 : 0x301));
}

static void item_sr(struct gen *g)
{
    unsigned rn = any_dest(g);
    uint32_t sr = random_sr(g, random_below(g, 6) != 0) | (g->fd ? 0x8000u : 0);
    if (!g->md) {
        item_alu(g);
        return;
    }
    load_const(g, rn, sr);
    emit_insn(g, 0x400E | rn << 8);
    g->md = sr >> 30 & 1;
}

/* ---- what qemu gets right only in a certain dress ---- */

static void item_twins(struct gen *g)
{
    unsigned rn = any_dest(g);
    emit_insn(g, 0x300F | rn << 8 | rn << 4); /* addv rn,rn */
}

/* A load and a store of a pair: memory gets what memory had, whichever way round it was in between.
 * Then the pair is made equal on both sides. */
static void item_pair_copy(struct gen *g)
{
    static const uint16_t loads[] = { 0xF008, 0xF009, 0xF006 },
                          stores[] = { 0xF00A, 0xF00B, 0xF007 };
    unsigned rp = pointer_reg(g), rq = 8 + (rp - 8 + 1 + random_below(g, 4)) % 5,
             d = random_below(g, 7) * 2, x = random_below(g, 2);
    unsigned l = random_below(g, 3), t = random_below(g, 3);
    if (g->fd || g->pr || !g->sz) {
        item_alu(g);
        return;
    }
    emit_insn(g, 0xE000 | (random_below(g, 112) & ~7u)); /* r0, for the indexed forms */
    set_pointer(g, rp, 8);
    set_pointer(g, rq, 8);
    emit_insn(g, loads[l] | (d | x) << 8 | rp << 4);
    emit_insn(g, stores[t] | rq << 8 | (d | x) << 4);
    emit_insn(g, 0xF00C | (d | x) << 8 | 14 << 4); /* fmov dr14 */
}

static void item_vbr(struct gen *g)
{
    unsigned rn = random_below(g, 8), rp = pointer_reg(g);
    if (!g->md) {
        item_alu(g);
        return;
    }
    emit_insn(g, 0x0022 | rn << 8);
    if (random_below(g, 2)) {
        emit_insn(g, 0x402E | rn << 8);
        return;
    }
    set_pointer(g, rp, 4);
    emit_insn(g, 0x2002 | rp << 8 | rn << 4);
    emit_insn(g, 0x4027 | rp << 8);
}

/* A stretch with SR.BL=1, of instructions that raise nothing. */
static void item_blocked(struct gen *g)
{
    unsigned rn = any_dest(g);
    uint32_t sr = random_sr(g, true) | (g->fd ? 0x8000u : 0);
    if (!g->md) {
        item_alu(g);
        return;
    }
    load_const(g, rn, sr | 0x10000000);
    emit_insn(g, 0x400E | rn << 8);
    for (unsigned i = 0, n = 1 + random_below(g, 5); i < n; i++)
        item_alu(g);
    load_const(g, rn, random_sr(g, true) | (g->fd ? 0x8000u : 0));
    emit_insn(g, 0x400E | rn << 8);
}

/* ---- the last item may fault ---- */

static void fault_illegal(struct gen *g)
{
    static const uint16_t ops[] = { 0xFFFD, 0x0000, 0x4E03 | 0xF0, 0x3001, 0x8200, 0x00F3 };
    emit_raw(
        g, ops[g->fd ? 1 + random_below(g, ARRAY_LEN(ops) - 1) : random_below(g, ARRAY_LEN(ops))]);
}
static void fault_slot(struct gen *g)
{
    static const uint16_t slots[] = { 0xFFFD, 0xA000, 0xB000, 0x8900, 0x8B00, 0x8D00,
                                      0x8F00, 0xC312, 0xC700, 0x9001, 0xD001, 0x000B,
                                      0x402B, 0x400B, 0x0023, 0x0003 };
    emit_insn(g, random_below(g, 2) ? 0xA002 : 0xB003);
    emit_raw(g, slots[g->fd ? 1 + random_below(g, ARRAY_LEN(slots) - 1)
                            : random_below(g, ARRAY_LEN(slots))]);
}
static void fault_unaligned(struct gen *g)
{
    static const uint16_t ops[] = { 0x6001, 0x6002, 0x2001, 0x2002, 0x6005,
                                    0x6006, 0x2005, 0x2006, 0x5001, 0x1002 };
    unsigned k = random_below(g, ARRAY_LEN(ops)), rp = pointer_reg(g);
    uint16_t op = ops[k];
    bool store = op >> 12 == 2 || op >> 12 == 1;
    set_pointer(g, rp, 4);
    emit_insn(g, 0x7000 | rp << 8 | 1);
    if (random_below(g, 2))
        emit_insn(g, 0xA001);
    emit_insn(g, store ? op | rp << 8 | random_below(g, 8) << 4
                       : op | random_below(g, 8) << 8 | rp << 4);
}
static void fault_user(struct gen *g)
{
    static const uint16_t ops[] = { 0x0002, 0x0022, 0x0032, 0x0042, 0x003A, 0x00FA,
                                    0x0082, 0x400E, 0x402E, 0x408E, 0x40FA, 0x0038,
                                    0x001B, 0x002B, 0x4003, 0x4007, 0x4083, 0x4087 };
    load_const(g, 0, random_sr(g, false) | (g->fd ? 0x8000u : 0));
    if (g->md)
        emit_insn(g, 0x400E);
    if (random_below(g, 3) == 0)
        emit_insn(g, 0xA001);
    emit_raw(g, ops[random_below(g, ARRAY_LEN(ops))]);
}
static void fault_user_address(struct gen *g)
{
    static const uint16_t ops[] = { 0x6102, 0x6100, 0x2102, 0x2100, 0x402B, 0x6106 };
    static const uint32_t where[] = { 0x80000000, 0xAC100000, 0xFF000024, 0xFFFFFFFC, 0xC0000000 };
    unsigned nwhere = g->opt->known ? ARRAY_LEN(where) : ARRAY_LEN(where) - 1;
    uint16_t op = ops[random_below(g, ARRAY_LEN(ops))];
    load_const(g, 0, random_sr(g, false) | (g->fd ? 0x8000u : 0));
    if (g->md)
        emit_insn(g, 0x400E);
    load_const(g, 9, where[random_below(g, nwhere)]);
    emit_insn(g, op == 0x402B    ? 0x492B
                 : op >> 12 == 2 ? (op & 0xF00F) | 0x910
                                 : (op & 0xFF0F) | 0x90);
    emit_insn(g, 0x0009);
}
static void fault_fpu_off(struct gen *g)
{
    /* The first three are undefined with PR=1, which qemu looks at before FD; manual: FD first. */
    static const uint16_t ops[] = { 0xF120, 0xF00C, 0xF19D, 0x405A, 0x005A,
                                    0x406A, 0x006A, 0x4052, 0xFBFD };
    unsigned k = g->pr ? 3 + random_below(g, 5) : random_below(g, g->opt->known ? 9 : 8);
    if (!g->md)
        return;
    load_const(g, 0, random_sr(g, true) | 0x8000u);
    emit_insn(g, 0x400E);
    set_pointer(g, 9, 4);
    if (random_below(g, 2))
        emit_insn(g, 0xA001);
    emit_raw(g, ops[k]);
}
static void fault_fpu(struct gen *g)
{
    if (g->fd)
        return;
    load_const(g, 0, 0x00000C01 | (random_below(g, 2) << 20 & 0)); /* enable V and Z */
    emit_insn(g, 0x406A);
    set_mode(g, 0);
    emit_insn(g, 0xF08D);
    emit_insn(g, 0xF19D);
    emit_insn(g, random_below(g, 2) ? 0xF103 : 0xF003); /* 1/0 or 0/0 */
}
static void fault_trapa(struct gen *g) { emit_insn(g, 0xC300 | random_below(g, 255)); }

/* Any page, mapped or not, any access: the outcome is the MMU's. */
static void fault_page(struct gen *g)
{
    static const uint16_t ops[] = {
        0x6192, 0x6190, 0x2912, 0x2910, 0x6196, 0x2916, 0x492B, 0x491B
    };
    if (!g->opt->mmu)
        return;
    unsigned k = random_below(g, ARRAY_LEN(ops));
    bool jump = k >= 6; /* to the page's start, which no program writes: an illegal instruction */
    load_const(g, 9,
               GEN_VPAGES + random_below(g, GEN_PAGES + 2) * GEN_PAGE +
                   (jump ? 0 : 0x100 + (random_below(g, 0xE00) & ~3u)));
    if (random_below(g, 3) == 0 && g->md) {
        load_const(g, 0, random_sr(g, false) | (g->fd ? 0x8000u : 0));
        emit_insn(g, 0x400E);
    }
    if (!jump && random_below(g, 3) == 0)
        emit_insn(g, 0xA001);
    emit_raw(g, ops[k]);
    emit_insn(g, 0x0009);
}

static void (*const faults[])(struct gen *) = { fault_illegal, fault_slot,         fault_unaligned,
                                                fault_user,    fault_user_address, fault_fpu_off,
                                                fault_fpu,     fault_trapa,        fault_page,
                                                fault_page,    fault_page };
static const struct {
    unsigned weight;
    void (*emit)(struct gen *);
} items[] = {
    { 28, item_alu },        { 6, item_sys },     { 16, item_mem },  { 36, item_fp },
    { 6, item_cond_branch }, { 3, item_bra },     { 3, item_braf },  { 4, item_jump },
    { 3, item_loop },        { 3, item_divide },  { 3, item_pcrel }, { 4, item_page },
    { 5, item_fpscr },       { 2, item_sr },      { 2, item_twins }, { 4, item_pair_copy },
    { 2, item_vbr },         { 2, item_blocked },
};

static void any_item(struct gen *g)
{
    unsigned total = 0, k, i = 0;
    for (size_t j = 0; j < ARRAY_LEN(items); j++)
        total += items[j].weight;
    for (k = random_below(g, total); k >= items[i].weight; i++)
        k -= items[i].weight;
    items[i].emit(g);
}

/* Values the FPU finds interesting, single and as halves of doubles. */
static uint32_t random_float(struct gen *g)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7F7FFFFF,
        0x00800000, 0x4F000000, 0xCF000000, 0x7FF00000, 0x3FF00000, 0xBFF00000, 0x40000000,
        0x41E00000, 0x7FBFFFFF, 0x7FC00000, 0xFFC00001, 0x3F000000, 0x4B800001
    };
    switch (random_below(g, 4)) {
    case 0: return special[random_below(g, ARRAY_LEN(special))];
    case 1: return 0x3F000000 + (next_random(g) & 0x80FFFFFF) + (random_below(g, 16) << 20);
    case 2: return 0x40000000 + (next_random(g) & 0x81FFFFFF);
    default: return next_random(g) | 0x01000000; /* seldom denormal */
    }
}

static void init_block(struct gen *g)
{
    uint8_t *w = g->p->code + INIT;
    uint32_t sr = random_sr(g, random_below(g, 3) != 0), fpscr = random_fpscr(g);
    if (random_below(g, 16) == 0)
        sr |= 0x8000;
    g->md = sr >> 30 & 1;
    g->fd = sr >> 15 & 1;
    set_mode(g, fpscr);
    uint32_t v[INIT_WORDS];
    for (unsigned i = 0; i < INIT_WORDS; i++)
        v[i] = i >= 8 && i < 40     ? random_float(g)
               : random_below(g, 4) ? next_random(g)
                                    : random_float(g);
    v[41] = fpscr;
    v[44] = g->base;        /* vbr */
    v[48] = sr;             /* ssr */
    v[49] = g->base + BODY; /* spc */
    v[50 + 14] = GEN_DATA + (g->base - GEN_CODE) + 0x800;
    v[50 + 15] = GEN_DATA + (g->base - GEN_CODE) + 0x700;
    for (unsigned i = 0; i < INIT_WORDS; i++)
        put32(w + 4 * i, v[i], g->p->big);
}

void gen_program(const struct gen_template *t, uint64_t seed, unsigned slot, uint32_t next,
                 const struct gen_options *opt, struct gen_program *out)
{
    struct gen g = { .p = out, .opt = opt, .rng = seed, .base = gen_code_addr(slot), .at = BODY };
    memset(out, 0, sizeof *out);
    out->seed = seed;
    out->big = t->big;
    memcpy(out->code, t->code, sizeof t->code);
    for (unsigned i = 0; i < GEN_PAGE; i += 4)
        put32(out->data + i, random_below(&g, 3) ? next_random(&g) : random_float(&g), out->big);
    put32(out->code + LITERALS + LIT_INIT, g.base + INIT, out->big);
    put32(out->code + LITERALS + LIT_DUMP, GEN_DATA + (slot + 1) * GEN_PAGE, out->big);
    put32(out->code + LITERALS + LIT_NEXT, next, out->big);
    init_block(&g);
    size_t n = 8 + random_below(&g, GEN_MAX_ITEMS - 9);
    while (out->nitems < n && g.at < BODY_END) {
        uint32_t from = g.at;
        any_item(&g);
        out->items[out->nitems].at = (uint16_t)from;
        out->items[out->nitems++].id =
            (uint8_t)sh4_decode(get16(out->code + from, out->big), g.pr, g.sz);
    }
    if (random_below(&g, 4) == 0) {
        out->items[out->nitems].at = (uint16_t)g.at;
        faults[random_below(&g, ARRAY_LEN(faults))](&g);
        out->items[out->nitems].id = (uint8_t)sh4_decode(
            get16(out->code + out->items[out->nitems].at, out->big), g.pr, g.sz);
        out->nitems++;
    }
    out->end = (uint16_t)g.at;
    emit_insn(&g, END_TRAP);
    emit_insn(&g, END_TRAP);
    emit_insn(&g, END_TRAP);
    emit_insn(&g, END_TRAP);
    assert(g.at <= GEN_PAGE);
}

void gen_cut(struct gen_program *p, size_t item)
{
    put16(p->code + p->items[item].at, END_TRAP, p->big);
}
