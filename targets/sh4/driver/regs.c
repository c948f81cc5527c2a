/* Registers: the table by GDB number, the agent's save area behind it, the FPU on demand. */
#include <string.h>
#include <strings.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

/* Numbers 0-66 are GDB's (sh-tdep.c): 59-66 have no name and no register. What follows has no
 * number there. */
/* clang-format off */
#define R(n) { n, 4, false, false }
#define RX(n) { n, 4, true, false }
#define RH(n) { n, 4, false, true }
/* clang-format on */
const struct target_reg sh4_target_regs[SH4_NREGS] = {
    R("r0"),    R("r1"),   R("r2"),      R("r3"),      R("r4"),    R("r5"),    R("r6"),
    R("r7"),    R("r8"),   R("r9"),      R("r10"),     R("r11"),   R("r12"),   R("r13"),
    RX("r14"),  RX("r15"), RX("pc"),     RX("pr"),     R("gbr"),   R("vbr"),   R("mach"),
    R("macl"),  RX("sr"),  R("fpul"),    R("fpscr"),   R("fr0"),   R("fr1"),   R("fr2"),
    R("fr3"),   R("fr4"),  R("fr5"),     R("fr6"),     R("fr7"),   R("fr8"),   R("fr9"),
    R("fr10"),  R("fr11"), R("fr12"),    R("fr13"),    R("fr14"),  R("fr15"),  R("ssr"),
    R("spc"),   R("r0b0"), R("r1b0"),    R("r2b0"),    R("r3b0"),  R("r4b0"),  R("r5b0"),
    R("r6b0"),  R("r7b0"), R("r0b1"),    R("r1b1"),    R("r2b1"),  R("r3b1"),  R("r4b1"),
    R("r5b1"),  R("r6b1"), R("r7b1"),    R(""),        R(""),      R(""),      R(""),
    R(""),      R(""),     R(""),        R(""),        RH("dbr"),  RH("sgr"),  RH("xf0"),
    RH("xf1"),  RH("xf2"), RH("xf3"),    RH("xf4"),    RH("xf5"),  RH("xf6"),  RH("xf7"),
    RH("xf8"),  RH("xf9"), RH("xf10"),   RH("xf11"),   RH("xf12"), RH("xf13"), RH("xf14"),
    RH("xf15"), RH("tra"), RH("expevt"), RH("intevt"),
};
/* clang-format off */
enum {
    REG_R0 = 0, REG_PC = 16, REG_PR, REG_GBR, REG_VBR, REG_MACH, REG_MACL, REG_SR, REG_FPUL,
    REG_FPSCR, REG_FR0 = 25, REG_SSR = 41, REG_SPC, REG_BANK0 = 43, REG_BANK1 = 51, REG_NONE = 59,
    REG_DBR = 67, REG_SGR, REG_XF0, REG_TRA = REG_XF0 + 16, REG_EXPEVT, REG_INTEVT
};
/* clang-format on */

uint32_t *sh4_reg_bank(struct sh4_target *t, unsigned bank, unsigned n)
{
    if (bank == 0)
        return &t->regs.save[SH4_SAVE_BANK0 + n];
    if (n)
        return &t->regs.save[SH4_SAVE_BANK1_R1 + n - 1];
    return &t->regs.save[SH4_SAVE_BANK1_R0];
}

static unsigned active_bank(const struct sh4_target *t)
{
    return REG_GET(t->regs.sr, SH4_SR_MD) && REG_GET(t->regs.sr, SH4_SR_RB);
}

uint32_t *sh4_reg_r(struct sh4_target *t, unsigned n)
{
    if (n < 8)
        return sh4_reg_bank(t, active_bank(t), n);
    if (n == 15)
        return &t->regs.r15;
    return &t->regs.save[SH4_SAVE_R8 + n - 8];
}

/* ---- moving it ---- */

void sh4_regs_requests(struct sh4_target *t, struct sh4_request req[SH4_LOAD_REQUESTS])
{
    const struct sh4_agent_layout *a = t->agent.layout;
    req[0] = (struct sh4_request){ .routine = a->op_read - (uint32_t)a->ref_call,
                                   .arg = { t->agent.base + a->save_area,
                                            a->ld4 - (uint32_t)a->ref_read, SH4_SAVE_WORDS },
                                   .in = t->regs.save,
                                   .nin = SH4_SAVE_WORDS };
    req[1] = (struct sh4_request){ .routine = a->op_read - (uint32_t)a->ref_call,
                                   .arg = { SH4_TRA, a->ld4 - (uint32_t)a->ref_read, 3 },
                                   .in = t->regs.trap,
                                   .nin = 3 };
}

/* In one batch, or as memory is read where the wire damages as much as that. */
static int read_saved(struct sh4_target *t, struct err *err)
{
    struct sh4_request req[SH4_LOAD_REQUESTS];
    sh4_regs_requests(t, req);
    if (t->link.block >= SH4_SAVE_WORDS) {
        int ret = sh4_agent_run(t, req, ARRAY_LEN(req), err);
        if (!sh4_agent_smaller_blocks(t, SH4_SAVE_WORDS, ret))
            return ret;
    }
    int ret = sh4_agent_read(t, req[0].arg[0], 4, req[0].in, req[0].nin, err);
    if (ret < 0)
        return ret;
    return sh4_agent_read(t, req[1].arg[0], 4, req[1].in, req[1].nin, err);
}

int sh4_regs_load(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->regs.loaded)
        ret = read_saved(t, err);
    t->regs.loaded = false;
    if (ret < 0)
        return ret;
    memcpy(t->regs.save_seen, t->regs.save, sizeof t->regs.save);
    t->fpu.valid = t->fpu.dirty = false;
    t->regs.trap_lost = t->mmu.saved = false;
    t->alias.set = 0;
    t->span.lo = t->span.hi = 0;
    return 0;
}

/* Writes many words that differ as blocks: runs of them with small gaps. */
static int store_blocks(struct sh4_target *t, struct err *err)
{
    enum { GAP = 10 };
    for (size_t i = 0; i < SH4_SAVE_WORDS;) {
        if (t->regs.save[i] == t->regs.save_seen[i]) {
            i++;
            continue;
        }
        size_t end = i + 1;
        for (size_t j = end; j < SH4_SAVE_WORDS && j < end + GAP; j++)
            if (t->regs.save[j] != t->regs.save_seen[j])
                end = j + 1;
        int ret = sh4_agent_write(t, t->agent.base + t->agent.layout->save_area + (uint32_t)(4 * i),
                                  4, t->regs.save + i, end - i, err);
        if (ret < 0)
            return ret;
        memcpy(t->regs.save_seen + i, t->regs.save + i, 4 * (end - i));
        i = end;
    }
    return 0;
}

/* A few words go one by one, and each is stored only once it has been checked. If the wire is cut
 * in the middle of a block, the next session completes it with anything, and these may be the
 * program's only copy. */
int sh4_regs_store(struct sh4_target *t, struct err *err)
{
    enum { FEW = 10 };
    const struct sh4_agent_layout *a = t->agent.layout;
    struct sh4_request req[FEW];
    size_t n = 0;
    for (uint32_t i = 0; i < SH4_SAVE_WORDS; i++) {
        if (t->regs.save[i] == t->regs.save_seen[i])
            continue;
        if (n == FEW)
            return store_blocks(t, err);
        req[n++] =
            (struct sh4_request){ .routine = a->op_poke - (uint32_t)a->ref_call,
                                  .arg = { t->agent.base + a->save_area + 4 * i,
                                           a->st4 - (uint32_t)a->ref_poke, t->regs.save[i] } };
    }
    int ret = 0;
    if (n)
        ret = sh4_agent_run(t, req, n, err);
    if (ret == 0)
        memcpy(t->regs.save_seen, t->regs.save, sizeof t->regs.save);
    return ret;
}

/* The FPU overlay: loads or stores FPR n, n+1, ... one with each call, by writing the instruction
 * it needs. r4: the opcode of "flds frN,fpul" or "fsts fpul,frN", 0x100 more each time; r0: the
 * value, in and out. */
static int load_fpu_overlay(struct sh4_target *t, uint32_t *stub, uint32_t *set_fpscr,
                            struct err *err)
{
    static const uint16_t code[] = {
        0xD706, /*  0 mov.l 28f,r7 */
        0x2741, /*  2 mov.w r4,@r7 */
        0xE101, /*  4 mov #1,r1 */
        0x4118, /*  6 shll8 r1 */
        0x341C, /*  8 add r1,r4 */
        0x405A, /* 10 lds r0,fpul */
        0xA000, /* 12 bra 16f: what was prefetched is fetched again */
        0x0009, /* 14 nop */
        0xF01D, /* 16 flds/fsts */
        0x000B, /* 18 rts */
        0x005A, /* 20 sts fpul,r0 */
        0x0009, /* 22 nop */
        0x000B, /* 24 rts */
        0x406A, /* 26 lds r0,fpscr */
    };
    uint32_t words[ARRAY_LEN(code) / 2 + 1], addr;
    sh4_code_words(t, code, ARRAY_LEN(code), words);
    addr = t->agent.base + t->agent.layout->overlay + sh4_agent_uncached(t);
    words[ARRAY_LEN(words) - 1] = addr + 16;
    int ret = sh4_agent_overlay(t, words, ARRAY_LEN(words), &addr, err);
    *stub = addr + sh4_agent_uncached(t) - t->agent.base;
    *set_fpscr = *stub + 24;
    return ret;
}

/* Moves both FPR banks in or out; first is the opcode for register 0. */
static int move_fpu(struct sh4_target *t, bool store, struct err *err)
{
    enum { FSTS = 0xF00D, FLDS = 0xF01D };
    const struct sh4_agent_layout *a = t->agent.layout;
    uint32_t stub, set_fpscr;
    int ret = load_fpu_overlay(t, &stub, &set_fpscr, err);
    if (ret < 0)
        return ret;
    struct sh4_request req[4];
    for (uint32_t bank = 0; bank < 2; bank++) {
        req[2 * bank] =
            (struct sh4_request){ .routine = a->op_poke - (uint32_t)a->ref_call,
                                  .arg = { 0, set_fpscr - a->ref_poke,
                                           SH4_FPSCR_RESET | bank << SH4_FPSCR_FR_LSB } };
        uint32_t *fpr = t->fpu.r + 16 * bank;
        if (store)
            req[2 * bank + 1] =
                (struct sh4_request){ .routine = a->op_write - (uint32_t)a->ref_call,
                                      .arg = { FSTS, stub - a->ref_write, 16 },
                                      .out = fpr,
                                      .nout = 16 };
        else
            req[2 * bank + 1] = (struct sh4_request){ .routine = a->op_read - (uint32_t)a->ref_call,
                                                      .arg = { FLDS, stub - a->ref_read, 16 },
                                                      .in = fpr,
                                                      .nin = 16 };
    }
    ret = sh4_agent_run(t, req, ARRAY_LEN(req), err);
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(req); i++)
        if (req[i].status)
            ret = err_set(err, ERR_FAULT, "does this part have an FPU?",
                          "FPU registers: exception %03x", req[i].status);
    return ret;
}

int sh4_fpu_load(struct sh4_target *t, struct err *err)
{
    if (t->fpu.valid)
        return 0;
    int ret = move_fpu(t, false, err);
    t->fpu.valid = ret == 0;
    return ret;
}

int sh4_fpu_store(struct sh4_target *t, struct err *err)
{
    if (!t->fpu.dirty)
        return 0;
    int ret = move_fpu(t, true, err);
    t->fpu.dirty = ret < 0;
    return ret;
}

/* ---- by number ---- */

/* Where a register that is one plain word lives; NULL for those with rules of their own. */
static uint32_t *plain_register(struct sh4_target *t, unsigned n)
{
    if (n < 16)
        return sh4_reg_r(t, n);
    if (n >= REG_BANK0 && n < REG_BANK0 + 8)
        return sh4_reg_bank(t, 0, n - REG_BANK0);
    if (n >= REG_BANK1 && n < REG_BANK1 + 8)
        return sh4_reg_bank(t, 1, n - REG_BANK1);
    switch (n) {
    case REG_PC: return &t->regs.pc;
    case REG_PR: return &t->regs.save[SH4_SAVE_PR];
    case REG_GBR: return &t->regs.save[SH4_SAVE_GBR];
    case REG_VBR: return &t->regs.prog_vbr;
    case REG_MACH: return &t->regs.save[SH4_SAVE_MACH];
    case REG_MACL: return &t->regs.save[SH4_SAVE_MACL];
    case REG_SR: return &t->regs.sr;
    case REG_FPUL: return &t->regs.save[SH4_SAVE_FPUL];
    case REG_FPSCR: return &t->regs.save[SH4_SAVE_FPSCR];
    case REG_SSR: return &t->regs.ssr;
    case REG_SPC: return &t->regs.spc;
    case REG_DBR: return &t->regs.prog_dbr;
    case REG_SGR: return &t->regs.sgr;
    case REG_TRA: return &t->regs.trap[0];
    case REG_EXPEVT: return &t->regs.trap[1];
    case REG_INTEVT: return &t->regs.trap[2];
    default: return NULL;
    }
}

/* FRn or XFn, as FPSCR.FR has them now. */
static uint32_t *fpu_register(struct sh4_target *t, unsigned n)
{
    unsigned swapped = REG_GET(t->regs.save[SH4_SAVE_FPSCR], SH4_FPSCR_FR);
    if (n >= REG_FR0 && n < REG_FR0 + 16)
        return &t->fpu.r[16 * swapped + n - REG_FR0];
    if (n >= REG_XF0 && n < REG_XF0 + 16)
        return &t->fpu.r[16 * !swapped + n - REG_XF0];
    return NULL;
}

static int no_register(unsigned n, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "registers are numbered as GDB's sh-tdep.c has them",
                   "register %u does not exist", n);
}

unsigned sh4_reg_number(const struct sh4_target *t, const char *name)
{
    static const char *const banked[] = { "r0_bank", "r1_bank", "r2_bank", "r3_bank",
                                          "r4_bank", "r5_bank", "r6_bank", "r7_bank" };
    unsigned other = REG_BANK1;
    if (active_bank(t))
        other = REG_BANK0;
    for (unsigned n = 0; n < ARRAY_LEN(banked); n++)
        if (!strcasecmp(banked[n], name))
            return other + n;
    unsigned n = 0;
    while (n < SH4_NREGS && (!*name || strcasecmp(sh4_target_regs[n].name, name)))
        n++;
    return n;
}

/* ---- SR as the program means it: the trace's agent may keep BL clear (agent/meant.S) ---- */

uint32_t sh4_sr_shown(const struct sh4_target *t)
{
    if (t->regs.sr_meant)
        return (t->regs.sr & ~SH4_TRACE_SR_MEANT) | (t->regs.sr_meant & SH4_TRACE_SR_MEANT);
    return t->regs.sr;
}

/* While traps are in the program, BL must not become 1 where they rely on its being 0. */
void sh4_sr_load(struct sh4_target *t, uint32_t value)
{
    uint32_t bl = REG_MASK(SH4_SR_BL);
    bool blocks = value & bl && !(t->regs.sr & bl);
    t->regs.sr_meant = 0;
    if (t->plug.asked && blocks) {
        t->regs.sr_meant = value;
        value = (value & ~bl) | REG_MASK(SH4_SR_IMASK);
    }
    t->regs.sr = value;
}

int sh4_read_reg(struct target *target, unsigned n, uint8_t *buf, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    int ret = sh4_need_halted(t, "read register", err);
    if (ret < 0)
        return ret;
    t->alias.set = 0;
    if (n >= SH4_NREGS || (n >= REG_NONE && n < REG_DBR))
        return no_register(n, err);
    const uint32_t *p = plain_register(t, n);
    if (!p) {
        ret = sh4_fpu_load(t, err);
        if (ret < 0)
            return ret;
        p = fpu_register(t, n);
    }
    uint32_t value = *p;
    if (n == REG_SR)
        value = sh4_sr_shown(t);
    put32(buf, value, target->big_endian);
    return 0;
}

/* r0-r7 and one bank are the same registers. When a debugger writes all registers at once, the
 * bank's stale copy comes after the new r0-r7. It must not win (as it does in other stubs). */
static bool stale_alias(struct sh4_target *t, unsigned n, uint32_t value)
{
    unsigned first = REG_BANK0;
    if (active_bank(t))
        first = REG_BANK1;
    if (n < first || n >= first + 8)
        return false;
    unsigned r = n - first;
    return (t->alias.set >> r & 1) && value == t->alias.old[r];
}

static void note_alias(struct sh4_target *t, unsigned n)
{
    if (n < 8 && !(t->alias.set >> n & 1)) {
        t->alias.old[n] = *sh4_reg_r(t, n);
        t->alias.set |= (uint8_t)(1u << n);
    }
}

static int write_fpu(struct sh4_target *t, unsigned n, uint32_t value, struct err *err)
{
    int ret = sh4_fpu_load(t, err);
    if (ret < 0)
        return ret;
    uint32_t *p = fpu_register(t, n);
    t->fpu.dirty = t->fpu.dirty || *p != value;
    *p = value;
    return 0;
}

int sh4_write_reg(struct target *target, unsigned n, const uint8_t *buf, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    uint32_t value = get32(buf, target->big_endian);
    int ret = sh4_need_halted(t, "write register", err);
    if (ret < 0)
        return ret;
    if (n >= SH4_NREGS || (n >= REG_NONE && n < REG_DBR))
        return no_register(n, err);
    if (n == REG_SGR)
        return err_set(err, ERR_UNSUPPORTED, "SGR follows R15 when the program resumes",
                       "SGR cannot be written");
    uint32_t *p = plain_register(t, n);
    if (!p)
        return write_fpu(t, n, value, err);
    if (stale_alias(t, n, value))
        return 0;
    note_alias(t, n);
    if (n == REG_SR)
        value &= SH4_SR_WRITABLE;
    else if (n == REG_FPSCR)
        value &= SH4_FPSCR_WRITABLE;
    if ((n == REG_SSR || n == REG_SPC) && *p != value)
        t->regs.own_spc = true;
    if (n >= REG_TRA && *p != value)
        t->regs.trap_lost = true; /* goes to the target with what else must be put back */
    if (n == REG_PC && *p != value)
        t->run.caught = false;
    if (n == REG_SR)
        sh4_sr_load(t, value);
    else
        *p = value;
    return 0;
}

void sh4_enter_handler(struct sh4_target *t)
{
    t->regs.spc = t->regs.save[SH4_SAVE_SPC];
    t->regs.ssr = t->regs.save[SH4_SAVE_SSR];
    t->regs.sgr = t->regs.save[SH4_SAVE_R15];
    t->regs.sr = t->regs.ssr | REG_MASK(SH4_SR_MD) | REG_MASK(SH4_SR_RB) | REG_MASK(SH4_SR_BL);
    t->regs.pc = t->regs.prog_vbr + SH4_VEC_GENERAL;
    t->regs.own_spc = true;
    t->run.caught = false;
}
