/* Leaving the agent, and stepping: how the host's view of the halted program becomes a running
 * program again. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* ---- what must be put back before the program runs ---- */

static int restore_trap(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->regs.trap_lost)
        return 0;
    for (uint32_t i = 0; ret == 0 && i < 3; i++)
        ret = sh4_agent_poke(t, SH4_TRA + 4 * i, 4, t->regs.trap[i], err);
    if (ret == 0 && t->mmu.saved)
        ret = sh4_agent_poke(t, SH4_PTEH, 4, t->mmu.pteh, err);
    if (ret == 0 && t->mmu.saved)
        ret = sh4_agent_poke(t, SH4_TEA, 4, t->mmu.tea, err);
    return ret;
}

static uint32_t hook_vbr(const struct sh4_target *t)
{
    if (t->plug.vbr)
        return t->plug.vbr;
    return t->agent.base + t->agent.layout->hook_vbr;
}

bool sh4_needs_hooks(const struct sh4_target *t)
{
    return t->agent.layout == &sh4_agent_ram || t->agent.layout == &sh4_agent_scif ||
           t->agent.layout == &sh4_agent_dcip || t->breaks.npatches || t->breaks.ubc[0].used ||
           t->breaks.ubc[1].used || t->breaks.catch_mask || t->breaks.semihosting || t->plug.vbr ||
           t->hudi.in_use || t->hudi.expected;
}

/* VBR and DBR as they must be while the program runs. */
static int place_vectors(struct sh4_target *t, bool steps, struct err *err)
{
    t->regs.hooks = steps || sh4_needs_hooks(t);
    if (t->regs.hooks) {
        t->regs.save[SH4_SAVE_VBR] = hook_vbr(t);
        t->regs.save[SH4_SAVE_DBR] = t->regs.prog_vbr;
    } else {
        t->regs.save[SH4_SAVE_VBR] = t->regs.prog_vbr;
        t->regs.save[SH4_SAVE_DBR] = t->regs.prog_dbr;
    }
    uint32_t mask = 0x8000u | t->breaks.catch_mask;
    if (t->breaks.semihosting)
        mask |= 1u << (SH4_EXP_TRAPA >> 5);
    if (steps)
        mask = 0xFFFFFFFFu;
    t->regs.save[SH4_SAVE_MASK] = mask;
    return sh4_image_patch(t, t->regs.hooks, err);
}

/* ---- BL=1: SPC, SSR are the program's own, RTE cannot be used to get there directly ---- */

/* Overlay: RTE arrives here with BL=1 and r15 at [ssr, spc, pc]; set_sgr comes before. SGR can be
 * loaded only by taking an exception while R15 has the value: a TRAPA under the kernel's own
 * vectors. */
enum { SET_SGR = 0, TAIL = 10, TAIL_DATA = 20 };

static int leave_with_bl(struct sh4_target *t, struct err *err)
{
    static const uint16_t code[] = {
        0x6F43, /*  0 mov r4,r15 */
        0xC300, /*  2 trapa #0 */
        0x0009, /*  4 nop: skipped */
        0x000B, /*  6 rts */
        0xED00, /*  8 mov #0,r13 */
        0x4F37, /* 10 ldc.l @r15+,ssr */
        0x4F47, /* 12 ldc.l @r15+,spc */
        0x6FF2, /* 14 mov.l @r15,r15 */
        0x4F2B, /* 16 jmp @r15 */
        0x0F3A, /* 18 stc sgr,r15 */
    };
    uint32_t words[TAIL_DATA / 4 + 3] = { 0 }, at, arg[3] = { t->regs.r15, 0, 0 };
    sh4_code_words(t, code, ARRAY_LEN(code), words);
    words[TAIL_DATA / 4] = t->regs.ssr;
    words[TAIL_DATA / 4 + 1] = t->regs.spc;
    words[TAIL_DATA / 4 + 2] = t->regs.pc;
    int ret = sh4_agent_overlay(t, words, ARRAY_LEN(words), &at, err);
    if (ret < 0)
        return ret;
    t->regs.save[SH4_SAVE_SSR] = t->regs.sr;
    t->regs.save[SH4_SAVE_SPC] = at + TAIL;
    t->regs.save[SH4_SAVE_R15] = at + TAIL_DATA;
    t->regs.trap_lost = true;
    ret = sh4_regs_store(t, err);
    if (ret == 0)
        ret = sh4_agent_call(t, at + SET_SGR, arg, NULL, err);
    if (ret < 0)
        return ret;
    return restore_trap(t, err);
}

static int leave_plain(struct sh4_target *t, struct err *err)
{
    t->regs.save[SH4_SAVE_SSR] = t->regs.sr;
    t->regs.save[SH4_SAVE_SPC] = t->regs.pc;
    t->regs.save[SH4_SAVE_R15] = t->regs.r15;
    int ret = restore_trap(t, err);
    if (ret < 0)
        return ret;
    return sh4_regs_store(t, err);
}

/* Whether the program stands again before the requests that are sent with op_go come to the agent:
 * a step of one instruction, with nothing of the trace in between. */
static bool stops_within_batch(const struct sh4_target *t, uint32_t lo, uint32_t hi,
                               uint32_t step_pc)
{
    bool one_insn = lo >= hi && (step_pc || t->step.displaced);
    return one_insn && t->agent.layout == &sh4_agent_ase && !t->plug.vbr;
}

/* op_go must not be repeated. If its answer is lost, what the target does now decides. A single
 * step stops again before the batch ends, so its registers are asked for in the same batch. */
static int let_agent_go(struct sh4_target *t, uint32_t lo, uint32_t hi, uint32_t step_pc,
                        struct err *err)
{
    struct sh4_request req = { .routine =
                                   t->agent.layout->op_go - (uint32_t)t->agent.layout->ref_call,
                               .arg = { lo, hi, step_pc },
                               .slack = 2 };
    struct sh4_request then[SH4_LOAD_REQUESTS + SH4_SOON_REQUESTS];
    struct err own = { .code = ERR_OK };
    struct sh4_soon *more = NULL;
    if (t->agent.layout == &sh4_agent_ase)
        more = t->agent.soon;
    size_t nthen = 0;
    if (more)
        nthen = SH4_LOAD_REQUESTS + more->n;
    else if (stops_within_batch(t, lo, hi, step_pc))
        nthen = SH4_LOAD_REQUESTS;
    uint32_t save[SH4_SAVE_WORDS], trap[3];
    int ret = sh4_agent_flush(t, err);
    if (ret < 0)
        return ret;
    memcpy(save, t->regs.save, sizeof save);
    memcpy(trap, t->regs.trap, sizeof trap);
    sh4_regs_requests(t, then);
    if (more) {
        req.slack = more->slack;
        memcpy(then + SH4_LOAD_REQUESTS, more->req, more->n * sizeof *then);
    }
    ret = sh4_agent_go(t, &req, then, nthen, &t->regs.loaded, err);
    if (more)
        more->done = t->regs.loaded;
    if (!t->regs.loaded) { /* what came in cannot be trusted */
        memcpy(t->regs.save, save, sizeof save);
        memcpy(t->regs.trap, trap, sizeof trap);
    }
    if (ret < 0) /* the program may have gone, and come back with other registers */
        sh4_regs_unseen(t);
    if (ret)
        return MIN(ret, 0);
    ret = sh4_agent_resync(t, &own);
    if (ret == -ERR_TIMEOUT) /* no agent waits for requests any more: the program runs */
        return 0;
    if (ret == 0) {
        req.slack = 0;
        ret = sh4_agent_run(t, &req, 1, &own);
        if (ret == -ERR_TIMEOUT)
            return 0;
    }
    if (ret < 0 && err)
        *err = own;
    return ret;
}

int sh4_leave(struct sh4_target *t, uint32_t lo, uint32_t hi, bool steps, struct err *err)
{
    const uint32_t step_pc = bits_if(steps, t->regs.pc);
    int ret = sh4_fpu_store(t, err);
    if (ret == 0)
        ret = place_vectors(t, steps, err);
    if (ret == 0)
        ret = sh4_sync_written(t, err);
    if (ret == 0 && t->regs.hooks && !t->hudi.ready && !steps && !t->plug.vbr)
        ret = sh4_hudi_priority(t, err);
    if (ret == 0 && t->plug.asked)
        ret = t->plug.tracing->resumed(t, steps, err);
    if (ret == 0 && REG_GET(t->regs.sr, SH4_SR_BL) && t->regs.own_spc)
        ret = leave_with_bl(t, err);
    else if (ret == 0)
        ret = leave_plain(t, err);
    if (ret == 0)
        ret = let_agent_go(t, lo, hi, step_pc, err);
    if (ret < 0)
        return err_prefix(err, ret, "resume");
    t->mmu.saved = false;
    if (!steps)
        t->line.addr = 0;
    return 0;
}

/* ---- stepping with BL=1: no break can be taken there, so the instruction is run inside the agent
 * ---- */

static int fetch_insn(struct sh4_target *t, uint32_t pc, uint16_t *insn, struct err *err)
{
    uint32_t line = pc & ~(uint32_t)(sizeof t->line.bytes - 1);
    int ret = 0;
    if (t->line.addr != line || !line) {
        t->line.addr = 0;
        ret = sh4_mem_read_checked(t, line, 0, t->line.bytes, sizeof t->line.bytes, NULL);
        if (ret == 0)
            t->line.addr = line;
    }
    if (t->line.addr == line && line) {
        *insn = get16(t->line.bytes + (pc - line), t->base.big_endian);
        return 0;
    }
    uint8_t b[2]; /* perhaps the end of what is mapped */
    ret = sh4_mem_read_checked(t, pc, 2, b, 2, err);
    if (ret == 0)
        *insn = get16(b, t->base.big_endian);
    return ret;
}

/* Overlay of a displaced step: SGR routine as above, then [ssr, spc loaded; insn; back into the
 * kernel]. */
enum { D_ENTRY = 10, D_INSN = 16, D_LIT = 44, D_WORDS = 18 };

static void compose_displaced(struct sh4_target *t, uint16_t insn, uint32_t at, uint32_t *words)
{
    uint32_t base = t->agent.base, lit = at + D_LIT;
    uint16_t code[] = {
        0x6F43, 0xC300, 0x0009, 0x000B, 0xED00, /* set_sgr */
        0x4F37,                                 /* 10 ldc.l @r15+,ssr */
        0x4F47,                                 /* 12 ldc.l @r15+,spc */
        0x0F3A,                                 /* 14 stc sgr,r15 */
        insn,                                   /* 16 */
        0x4FFA,                                 /* 18 ldc r15,dbr */
        0xDF05,                                 /* 20 mov.l top,r15 */
        0x4FF2,                                 /* 22 stc.l dbr,@-r15 */
        0x4F43,                                 /* 24 stc.l spc,@-r15 */
        0x4F33,                                 /* 26 stc.l ssr,@-r15 */
        0x4F03,                                 /* 28 stc.l sr,@-r15 */
        0xDF04,                                 /* 30 mov.l &srbl,r15 */
        0x4F07,                                 /* 32 ldc.l @r15+,sr: bank 1, BL stays set */
        0xDF04,                                 /* 34 mov.l &r0,r15 */
        0x2F02,                                 /* 36 mov.l r0,@r15 */
        0xDF04,                                 /* 38 mov.l top-16,r15 */
        0xA000,                                 /* 40 bra entry2 */
        0xE003,                                 /* 42 mov #3,r0 */
    };
    int32_t disp = (int32_t)(base + t->agent.layout->entry2 - (at + 40 + 4)) / 2;
    code[20] = (uint16_t)(0xA000 | (disp & 0xFFF));
    sh4_code_words(t, code, ARRAY_LEN(code), words);
    uint32_t *w = words + D_LIT / 4;
    w[0] = base + t->agent.layout->save_top;
    w[1] = lit + 16;
    w[2] = base + t->agent.layout->save_r0;
    w[3] = base + t->agent.layout->save_top - 16;
    w[4] = 0x700000F0;
    w[5] = t->regs.ssr;
    w[6] = t->regs.spc;
}

static int wait_halted(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 200 };
    for (int i = 0; i < TRIES; i++) {
        int ret = sh4_agent_halted(t, err);
        if (ret == 0 && t->link.wire->look_again_ns)
            ret = sh4_link_wait(&t->link, t->link.wire->look_again_ns, err);
        if (ret)
            return MIN(ret, 0);
    }
    return err_set(err, ERR_TIMEOUT, "reset the target (monitor reset halt)",
                   "a single instruction at %08x did not come back to the agent", t->regs.pc);
}

/* Runs insn with the program's registers and BL=1, and reloads the state. The caller sets
 * t->regs.pc. */
static int run_displaced(struct sh4_target *t, uint16_t insn, struct err *err)
{
    uint32_t words[D_WORDS] = { 0 }, at, arg[3] = { t->regs.r15, 0, 0 };
    uint32_t sgr = t->regs.sgr, vbr = t->regs.prog_vbr, dbr = t->regs.prog_dbr;
    int ret = sh4_fpu_store(t, err);
    if (ret == 0)
        ret = sh4_sync_written(t, err);
    if (ret < 0)
        return ret;
    compose_displaced(t, insn, t->agent.base + t->agent.layout->overlay, words);
    ret = sh4_agent_overlay(t, words, ARRAY_LEN(words), &at, err);
    if (ret < 0)
        return ret;
    t->regs.save[SH4_SAVE_SSR] = t->regs.sr | REG_MASK(SH4_SR_BL) | REG_MASK(SH4_SR_MD);
    t->regs.save[SH4_SAVE_SPC] = at + D_ENTRY;
    t->regs.save[SH4_SAVE_R15] = at + D_LIT + 20;
    t->regs.save[SH4_SAVE_BBRA] = t->regs.save[SH4_SAVE_BBRB] = t->regs.save[SH4_SAVE_BRCR] = 0;
    ret = sh4_regs_store(t, err);
    if (ret == 0)
        ret = sh4_agent_call(t, at, arg, NULL, err);
    uint32_t trap[3], pteh = t->mmu.pteh, tea = t->mmu.tea;
    bool mmu = t->mmu.saved;
    memcpy(trap, t->regs.trap, sizeof trap);
    t->step.displaced = true;
    if (ret == 0)
        ret = let_agent_go(t, 0, 0, 0, err);
    t->step.displaced = false;
    if (ret == 0 && !t->regs.loaded)
        ret = wait_halted(t, err);
    if (ret == 0)
        ret = sh4_regs_load(t, err);
    if (ret < 0)
        return err_prefix(err, ret, "step with BL=1");
    memcpy(t->regs.trap, trap, sizeof trap);
    t->regs.trap_lost = true;
    t->mmu.saved = mmu;
    t->mmu.pteh = pteh;
    t->mmu.tea = tea;
    t->regs.r15 = t->regs.save[SH4_SAVE_R15];
    t->regs.sr = t->regs.save[SH4_SAVE_SR];
    t->regs.spc = t->regs.save[SH4_SAVE_SPC];
    t->regs.ssr = t->regs.save[SH4_SAVE_SSR];
    t->regs.sgr = sgr;
    t->regs.prog_vbr = vbr;
    t->regs.prog_dbr = dbr;
    /* the instruction ran with them and may have set them: the next code must find them so */
    t->regs.own_spc = true;
    return 0;
}

static int step_load(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *v,
                     struct err *err)
{
    uint8_t b[4];
    int ret = sh4_mem_read_checked(t, addr, width, b, width, err);
    if (ret == 0)
        *v = width == 4 ? get32(b, t->base.big_endian)
                        : (uint32_t)(int16_t)get16(b, t->base.big_endian);
    return ret;
}

/* Emulates the instructions that touch what the agent uses itself: SR, VBR, DBR, PC. 1 if it was
 * one of these. */
static int step_emulated(struct sh4_target *t, uint16_t insn, struct err *err)
{
    uint32_t addr, *rn = sh4_reg_r(t, insn >> 8 & 15), v = 0;
    uint32_t *special;
    int ret;
    if (sh4_pc_relative(insn, t->regs.pc, &addr)) {
        if (insn >> 12 == 0xC) {
            *sh4_reg_r(t, 0) = addr;
            return 1;
        }
        ret = step_load(t, addr, insn >> 12 == 9 ? 2 : 4, rn, err);
        if (ret < 0)
            return ret;
        return 1;
    }
    switch (insn & 0xF0FF) {
    case 0x400E:
    case 0x4007: special = &t->regs.sr; break;
    case 0x402E:
    case 0x4027:
    case 0x0022:
    case 0x4023: special = &t->regs.prog_vbr; break;
    case 0x40FA:
    case 0x40F6:
    case 0x00FA:
    case 0x40F2: special = &t->regs.prog_dbr; break;
    case 0x003A:
    case 0x4032: special = &t->regs.sgr; break;
    default:
        return insn == 0x001B; /* SLEEP with BL=1 would wait for a reset or NMI: stepped over */
    }
    uint32_t mask = 0xFFFFFFFFu;
    if (special == &t->regs.sr)
        mask = SH4_SR_WRITABLE;
    switch (insn & 0xF00F) {
    case 0x400E:
    case 0x400A: /* LDC Rm */ *special = *rn & mask; return 1;
    case 0x4007:
    case 0x4006: /* LDC.L @Rm+ */
        ret = step_load(t, *rn, 4, &v, err);
        if (ret < 0)
            return ret;
        *rn += 4;
        *special = v & mask;
        return 1;
    case 0x0002:
    case 0x000A: /* STC Rn */ *rn = *special; return 1;
    default: { /* STC.L @-Rn */
        uint8_t b[4];
        put32(b, *special, t->base.big_endian);
        ret = sh4_mem_write_checked(t, *rn - 4, 4, b, 4, err);
        if (ret < 0)
            return ret;
        *rn -= 4;
        return 1;
    }
    }
}

static bool branch_is_taken(const struct sh4_target *t, uint16_t insn)
{
    bool on_false = (insn & 0x0200) != 0; /* BF 8B, BF/S 8F; BT 89, BT/S 8D */
    return (t->regs.sr & 1) != on_false;
}

/* Emulates a branch, and runs the slot of a delayed one. */
static int step_branch(struct sh4_target *t, uint16_t insn, const struct sh4_flow *f,
                       struct err *err)
{
    uint32_t pc = t->regs.pc, next = pc + sh4_flow_bytes(f), rn = *sh4_reg_r(t, f->reg);
    uint32_t sr = t->regs.sr, after = sr;
    uint16_t slot = 0x0009;
    int ret = 0;
    if (f->slot)
        ret = fetch_insn(t, pc + 2, &slot, err);
    if (ret < 0)
        return ret;
    switch (f->kind) {
    case SH4_FLOW_BRANCH:
        if (branch_is_taken(t, insn))
            next = f->target;
        break;
    case SH4_FLOW_BRA: next = f->target; break;
    case SH4_FLOW_CALL:
        next = f->target;
        t->regs.save[SH4_SAVE_PR] = pc + 4;
        break;
    case SH4_FLOW_CALL_REG:
        next = rn;
        t->regs.save[SH4_SAVE_PR] = pc + 4;
        break;
    case SH4_FLOW_CALL_REL:
        next = pc + 4 + rn;
        t->regs.save[SH4_SAVE_PR] = pc + 4;
        break;
    case SH4_FLOW_JMP_REG: next = rn; break;
    case SH4_FLOW_JMP_REL: next = pc + 4 + rn; break;
    case SH4_FLOW_RTS: next = t->regs.save[SH4_SAVE_PR]; break;
    case SH4_FLOW_RTE:
        next = t->regs.spc;
        after = t->regs.ssr & SH4_SR_WRITABLE;
        break;
    default: return err_set(err, ERR_UNSUPPORTED, "", "step: %04x at %08x", insn, pc);
    }
    if (f->slot && sh4_slot_illegal(slot))
        return err_set(err, ERR_UNSUPPORTED, "set a breakpoint behind it",
                       "the slot at %08x raises an exception while SR.BL=1, which resets the CPU",
                       pc + 2);
    t->regs.sr = after;
    if (slot != 0x0009) {
        ret = step_emulated(t, slot, err);
        if (ret == 0)
            ret = run_displaced(t, slot, err);
        if (ret < 0)
            return ret;
        uint32_t kept = REG_MASK(SH4_SR_BL) | REG_MASK(SH4_SR_MD);
        t->regs.sr = (t->regs.sr & ~kept) | (after & kept);
    }
    t->regs.pc = next;
    return 0;
}

static int step_with_bl(struct sh4_target *t, struct err *err)
{
    uint16_t insn = 0;
    int ret = fetch_insn(t, t->regs.pc, &insn, err);
    if (ret < 0)
        return err_prefix(err, ret, "step");
    struct sh4_flow f = sh4_flow(insn, t->regs.pc);
    if (f.kind == SH4_FLOW_TRAPA || f.kind == SH4_FLOW_ILLEGAL)
        return err_set(err, ERR_UNSUPPORTED, "continue if the reset is wanted",
                       "%04x at %08x raises an exception while SR.BL=1, which resets the CPU", insn,
                       t->regs.pc);
    if (f.kind != SH4_FLOW_NONE)
        return step_branch(t, insn, &f, err);
    uint32_t pc = t->regs.pc;
    ret = step_emulated(t, insn, err);
    if (ret == 0)
        ret = run_displaced(t, insn, err);
    if (ret < 0)
        return ret;
    t->regs.pc = pc + 2;
    return 0;
}

/* ---- one step ---- */

enum { INSN_SLEEP = 0x001B };

/* Also with BL=0 the host emulates what changes the things that a break depends on, and SLEEP,
 * which may never end. Code that cannot be read is no error: the step then shows the exception. */
static int step_on_host(struct sh4_target *t, struct err *err)
{
    uint16_t insn = 0;
    int ret = fetch_insn(t, t->regs.pc, &insn, err);
    if (ret == -ERR_FAULT)
        return 0;
    if (ret < 0 || !REG_GET(t->regs.sr, SH4_SR_MD))
        return ret;
    if ((insn & 0xF0FF) != 0x400E && (insn & 0xF0FF) != 0x4007 && insn != INSN_SLEEP)
        return 0;
    ret = step_emulated(t, insn, err);
    if (ret == 1)
        t->regs.pc += 2;
    return ret;
}

/* A CPU that does not come back from it has perhaps reset itself. */
static int step_blocked(struct sh4_target *t, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = step_with_bl(t, &why);
    if (ret == -ERR_TIMEOUT && sh4_reset_in_step(t, NULL) > 0)
        return 0;
    if (ret < 0 && err)
        *err = why;
    if (ret < 0)
        return ret;
    return 1;
}

/* A step executes the program's own instruction. */
static int lift_patch(struct sh4_target *t, struct err *err)
{
    struct sh4_patch *p = sh4_patch_at(t, t->regs.pc);
    if (!p || !p->in_memory)
        return 0;
    int ret = sh4_patch_set(t, p, false, err);
    if (ret == 0)
        t->step.lifted = p->addr;
    return ret;
}

int sh4_step_start(struct sh4_target *t, bool off, struct err *err)
{
    if (REG_GET(t->regs.sr, SH4_SR_BL))
        return step_blocked(t, err);
    int ret = step_on_host(t, err);
    if (ret)
        return ret;
    t->step.from = t->regs.pc;
    ret = lift_patch(t, err);
    if (ret == 0)
        ret = sh4_watch_keep(t, err);
    if (ret == 0)
        ret = sh4_ubc_program(t, true, err);
    if (ret == 0)
        ret = sh4_leave(t, t->step.lo, t->step.hi, true, err);
    if (ret == 0)
        sh4_run_event(t, off ? SH4_ON_STEP_OFF_BEGINS : SH4_ON_STEP_BEGINS);
    return ret;
}

int sh4_run_freely(struct sh4_target *t, struct err *err)
{
    int ret = sh4_watch_keep(t, err);
    if (ret == 0 && sh4_needs_hooks(t))
        ret = sh4_ubc_program(t, false, err);
    else if (ret == 0)
        ret = sh4_ubc_give_back(t, err);
    if (ret == 0)
        ret = sh4_leave(t, 0, 0, false, err);
    if (ret == 0)
        sh4_run_event(t, SH4_ON_GO);
    return ret;
}

int sh4_run_agents_code(struct sh4_target *t, uint32_t pc, uint32_t sr, struct sh4_soon *soon,
                        struct err *err)
{
    t->regs.pc = pc;
    t->regs.sr = sr;
    t->regs.own_spc = false;
    t->agent.soon = soon;
    int ret = sh4_leave(t, 0, 0, false, err);
    t->agent.soon = NULL;
    return ret;
}

int sh4_agents_code_ran(struct sh4_target *t, int ret)
{
    if (ret < 0)
        sh4_run_event(t, SH4_ON_FOUND_RUNNING);
    return ret;
}
