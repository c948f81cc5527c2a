/* A stop: takes over what the agent knows of the program, and finds out why it stopped. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

static int signal_of(uint32_t expevt)
{
    switch (expevt) {
    case SH4_EXP_ILLEGAL:
    case SH4_EXP_SLOT_ILLEGAL: return SIGNAL_ILL;
    case SH4_EXP_FPU:
    case SH4_EXP_FPU_DISABLED:
    case SH4_EXP_SLOT_FPU_DISABLED: return SIGNAL_FPE;
    case SH4_EXP_ADDR_READ:
    case SH4_EXP_ADDR_WRITE: return SIGNAL_BUS;
    case SH4_EXP_TRAPA:
    case SH4_EXP_USER_BREAK: return SIGNAL_TRAP;
    default: return SIGNAL_SEGV;
    }
}

static const char *exception_name(uint32_t expevt)
{
    switch (expevt) {
    case SH4_EXP_TLB_MISS_READ: return "TLB miss on read";
    case SH4_EXP_TLB_MISS_WRITE: return "TLB miss on write";
    case SH4_EXP_INITIAL_WRITE: return "first write to a clean page";
    case SH4_EXP_TLB_PROT_READ: return "TLB protection on read";
    case SH4_EXP_TLB_PROT_WRITE: return "TLB protection on write";
    case SH4_EXP_ADDR_READ: return "address error on read";
    case SH4_EXP_ADDR_WRITE: return "address error on write";
    case SH4_EXP_FPU: return "FPU exception";
    case SH4_EXP_TRAPA: return "TRAPA";
    case SH4_EXP_ILLEGAL: return "illegal instruction";
    case SH4_EXP_SLOT_ILLEGAL: return "illegal instruction in a delay slot";
    case SH4_EXP_FPU_DISABLED: return "FPU disabled";
    case SH4_EXP_SLOT_FPU_DISABLED: return "FPU disabled, in a delay slot";
    default: return "exception";
    }
}

const char *sh4_exception_text(uint16_t code)
{
    bool wanted = code == SH4_EXP_TRAPA || code == SH4_EXP_USER_BREAK;
    if (wanted)
        return NULL;
    return exception_name(code);
}

/* TRAPA #34 as GDB's own simulator has it: r4 number, r5-r7 arguments; result r0, errno r1. */
static void stop_semihosting(struct sh4_target *t)
{
    uint32_t number = *sh4_reg_r(t, 4);
    if (number == 1) {
        sh4_stop_is(t, STOP_EXIT, 0);
        t->stop.exit_status = (int)(*sh4_reg_r(t, 5) & 0xFF);
        return;
    }
    sh4_stop_is(t, STOP_SYSCALL, SIGNAL_TRAP);
    t->stop.syscall.number = number;
    for (unsigned i = 0; i < 3; i++)
        t->stop.syscall.arg[i] = *sh4_reg_r(t, 5 + i);
}

/* The exception is the program's own. A step ends at its handler; anything else runs on there. */
static int to_handler(struct sh4_target *t)
{
    bool stepped = sh4_stepping(t) && !sh4_stepping_off(t);
    sh4_enter_handler(t);
    if (stepped)
        sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    return stepped;
}

/* 1: a stop to report; 0: it concerns the program only, which runs on from where t now says */
static int classify_trapa(struct sh4_target *t)
{
    uint32_t number = t->regs.trap[0] >> 2 & 0xFF;
    struct sh4_patch *p = sh4_patch_at(t, t->regs.pc - 2);
    if (number == (SH4_BREAK_INSN & 0xFF)) {
        /* a stale session's breakpoint: its instruction is still to be executed */
        if ((p && (p->in_memory || t->step.lifted == p->addr)) || t->stale.patches) {
            t->regs.pc -= 2;
            sh4_stop_is(t, STOP_SWBREAK, SIGNAL_TRAP);
        } else {
            sh4_stop_is(t, STOP_SIGNAL, SIGNAL_TRAP);
            strcpy(t->stop.text, "TRAPA #32 compiled into the program");
        }
        return 1;
    }
    if (t->breaks.semihosting && number == 34) {
        stop_semihosting(t);
        return 1;
    }
    if (t->breaks.catch_mask >> (SH4_EXP_TRAPA >> 5) & 1) {
        t->run.caught = true;
        sh4_stop_is(t, STOP_SIGNAL, SIGNAL_TRAP);
        snprintf(t->stop.text, sizeof t->stop.text, "TRAPA #%u", (unsigned)number);
        return 1;
    }
    return to_handler(t);
}

/* A start or stop point of the trace that a break channel watches acts when the program goes on. If
 * the user has a breakpoint there, that stop comes first. */
static int at_point(struct sh4_target *t, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    if (sh4_patch_at(t, t->regs.pc)) {
        sh4_stop_is(t, STOP_SWBREAK, SIGNAL_TRAP);
        return 1;
    }
    if (sh4_halt_asked(t))
        return 0;
    return MIN(t->plug.tracing->resuming(t, &how, err), 0);
}

static int classify_user_break(struct sh4_target *t, struct err *err)
{
    uint32_t seen = t->regs.save[SH4_SAVE_BRCR_SEEN];
    bool match[2] = { REG_GET(seen, SH4_BRCR_CMFA) != 0, REG_GET(seen, SH4_BRCR_CMFB) != 0 };
    bool stepped = sh4_stepping(t) && match[0], elsewhere = false;
    for (unsigned n = SH4_UBC_CHANNELS; n-- > 0;) {
        struct sh4_ubc_channel *c = &t->breaks.ubc[n];
        if (!match[n] || !c->used || (n == 0 && sh4_stepping(t)))
            continue;
        if (c->kind == BP_HARD) {
            sh4_stop_is(t, STOP_HWBREAK, SIGNAL_TRAP);
            return 1;
        }
        const struct sh4_hard *h = sh4_watch_met(t, c);
        elsewhere = elsewhere || !h;
        if (h) {
            sh4_stop_is_watch(t, h);
            return 1;
        }
    }
    const struct sh4_hard *seen_by_host = NULL;
    if (stepped && sh4_watch_lent(t))
        seen_by_host = sh4_watch_stepped(t, t->step.from);
    if (seen_by_host) {
        sh4_stop_is_watch(t, seen_by_host);
        return 1;
    }
    enum sh4_point point = SH4_POINT_NONE;
    if (t->plug.asked)
        point = t->plug.tracing->at_point(t, match);
    if (point != SH4_POINT_NONE && (!stepped || sh4_stepping_off(t)))
        return point == SH4_POINT_MET ? at_point(t, err) : 0;
    if (stepped ? sh4_stepping_off(t) : elsewhere)
        return 0;
    sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    return 1;
}

static int classify_exception(struct sh4_target *t, struct err *err)
{
    uint32_t expevt = t->regs.trap[1];
    if (expevt == SH4_EXP_USER_BREAK)
        return classify_user_break(t, err);
    if (expevt == SH4_EXP_TRAPA)
        return classify_trapa(t);
    if (t->breaks.catch_mask >> (expevt >> 5 & 31) & 1) {
        t->run.caught = true;
        sh4_stop_is(t, STOP_SIGNAL, signal_of(expevt));
        snprintf(t->stop.text, sizeof t->stop.text, "%s (EXPEVT %03x)", exception_name(expevt),
                 (unsigned)expevt);
        return 1;
    }
    return to_handler(t);
}

/* ASERAM is written without an answer while the program runs. When the kernel runs for the first
 * time, it is read back, and what the wire has damaged is written once more. */
static int prove_aseram(struct sh4_target *t, struct err *err)
{
    enum { ROUNDS = 4 };
    const struct sh4_agent_layout *a = &sh4_agent_ase;
    uint32_t got[SH4_ASERAM_SIZE / 4], words = a->step_words / 4u;
    for (int round = 0; round < ROUNDS; round++) {
        int ret = sh4_agent_read(t, SH4_ASERAM, 4, got, words, err);
        bool same = true;
        for (uint32_t i = 0; ret == 0 && i < words; i++) {
            uint32_t want = get32(a->code[t->base.big_endian] + 4 * i, t->base.big_endian);
            if (got[i] == want)
                continue;
            same = false;
            ret = sh4_agent_poke(t, SH4_ASERAM + 4 * i, 4, want, err);
        }
        if (ret < 0)
            return err_prefix(err, ret, "checking the agent");
        t->ase.proven = same;
        if (same)
            return 0;
        t->link.retries++;
    }
    return err_set(err, ERR_PROTOCOL, "lower the wire clock; check the wiring and the ground",
                   "the agent in ASERAM does not hold what was written");
}

/* The program's user break conditions: those it ran with while none of our vectors was in. */
static void keep_ubc(struct sh4_target *t, bool hooked)
{
    struct sh4_ubc_regs *p = &t->breaks.prog_ubc;
    if (t->regs.hooks)
        return;
    p->bbr[0] = p->bbr[1] = p->brcr = 0;
    p->taken = false;
    if (hooked)
        return;
    p->bbr[0] = (uint16_t)t->regs.save[SH4_SAVE_BBRA];
    p->bbr[1] = (uint16_t)t->regs.save[SH4_SAVE_BBRB];
    p->brcr = (uint16_t)t->regs.save[SH4_SAVE_BRCR_SEEN];
}

/* A session that was killed or cut off could not clean up: its breakpoints are in the program, its
 * vectors, and a priority for its interrupt. */
void sh4_note_stale_session(struct sh4_target *t, bool found)
{
    if (t->agent.layout == &sh4_agent_ase && !t->stale.halted_once)
        t->stale.patches = t->stale.priority = t->stale.patches || found;
}

/* The program's registers, as the kernel found them. */
static void take_saved(struct sh4_target *t)
{
    t->regs.pc = t->regs.save[SH4_SAVE_SPC];
    t->regs.sr = t->regs.save[SH4_SAVE_SSR];
    t->regs.sr_meant = 0;
    t->regs.r15 = t->regs.sgr = t->regs.save[SH4_SAVE_R15];
    t->regs.spc = t->regs.pc;
    t->regs.ssr = t->regs.sr;
    t->regs.own_spc = t->run.caught = false;
}

/* The agent is halted: takes over what it knows. 1: a stop; 0: the program must run on. */
int sh4_take_over(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (t->agent.layout == &sh4_agent_ase && !t->ase.proven)
        ret = prove_aseram(t, err);
    if (ret == 0)
        ret = sh4_regs_load(t, err);
    if (ret == 0 && !t->stale.checked && !t->plug.vbr)
        ret = t->plug.tracing->restore_kept(t, err);
    if (ret < 0)
        return ret;
    sh4_run_event(t, SH4_ON_STANDS);
    take_saved(t);
    uint32_t vbr = t->regs.save[SH4_SAVE_VBR];
    bool hooked =
        vbr == t->agent.base + t->agent.layout->hook_vbr || (t->plug.vbr && vbr == t->plug.vbr);
    keep_ubc(t, hooked);
    if (hooked) {
        t->regs.prog_vbr = t->regs.save[SH4_SAVE_DBR];
        sh4_note_stale_session(t, !t->regs.hooks);
    } else {
        t->regs.prog_vbr = vbr;
        if (!t->regs.hooks)
            t->regs.prog_dbr = t->regs.save[SH4_SAVE_DBR];
    }
    if (t->regs.save[SH4_SAVE_KIND] == SH4_ENTRY_TRACE && !t->plug.asked &&
        (ret = t->plug.tracing->take_over_agent(t, err)) < 0)
        return ret;
    if (!t->stale.checked && !t->plug.vbr) {
        t->stale.checked = true;
        t->stale.trace = false;
        if ((ret = t->plug.tracing->clean_stale(t, false, err)) < 0)
            return ret;
    }
    if (t->plug.asked) {
        ret = t->plug.tracing->halted(t, err);
        if (ret < 0)
            return ret;
    }
    if (t->stale.priority)
        ret = sh4_hudi_undo_stale(t, err);
    else
        ret = 0;
    if (ret == 0)
        ret = sh4_image_undo_stale(t, err);
    if (ret == 0 && t->breaks.check)
        ret = sh4_patches_check(t, err);
    if (ret < 0)
        return ret;
    t->stale.halted_once = true;
    if (t->regs.save[SH4_SAVE_KIND] == SH4_ENTRY_EXCEPTION)
        return classify_exception(t, err);
    sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    if (t->stale.patches && !t->code.image)
        snprintf(t->stop.text, sizeof t->stop.text,
                 "a killed session was found: --elf FILE lets its breakpoints be taken out");
    if (REG_GET(t->regs.sr, SH4_SR_BL))
        strcpy(t->stop.text,
               "halted with SR.BL=1: SPC, SSR and SGR of the running handler are lost");
    return 1;
}

/* Puts back what a step took out or changed. */
int sh4_end_step(struct sh4_target *t, struct err *err)
{
    t->step.lo = t->step.hi = 0;
    if (!t->step.lifted)
        return 0;
    struct sh4_patch *p = sh4_patch_at(t, t->step.lifted);
    int ret = 0;
    if (p)
        ret = sh4_patch_set(t, p, true, err);
    if (ret == 0)
        t->step.lifted = 0;
    return ret;
}

/* A step as it was when the program stopped. */
struct cut_step {
    bool stepping, off; /* off: a step off a breakpoint, from which it was to run on */
    uint32_t from, lo, hi;
};

static bool in_range(const struct sh4_target *t, const struct cut_step *cut)
{
    return t->regs.pc >= cut->lo && t->regs.pc < cut->hi;
}

/* It was interrupted by something that nobody asked for, or not any more: a break that was given
 * up, or, over a serial line, a damaged byte. The agent takes that for a request to leave a range
 * step, too. */
static bool stray_interrupt(struct sh4_target *t, int is_stop, const struct cut_step *cut)
{
    if (t->regs.save[SH4_SAVE_KIND] != SH4_ENTRY_INTERRUPT)
        return is_stop && t->stop.reason == STOP_STEP && in_range(t, cut) && !sh4_halt_asked(t);
    bool late = t->asked.late;
    t->asked.late = false;
    return late || (t->link.wire->strays && !sh4_halt_asked(t));
}

/* Begins a step again that was cut off before it got anywhere: returns 0, or 1 if it is done. */
static int step_on(struct sh4_target *t, const struct cut_step *cut, struct err *err)
{
    int ret = 1;
    if (t->regs.pc == cut->from || in_range(t, cut)) {
        t->step.lo = cut->lo;
        t->step.hi = cut->hi;
        ret = sh4_step_start(t, false, err);
    }
    if (ret > 0)
        sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    return ret;
}

/* The same with a step off a breakpoint. Let go where it stands it would meet the breakpoint, which
 * is put back by now, a second time. Returns 0: it steps; 1: it is to run on. */
static int step_off_again(struct sh4_target *t, const struct cut_step *cut, struct err *err)
{
    if (t->regs.pc != cut->from)
        return 1;
    return sh4_step_start(t, true, err);
}

/* The board, or its agent, has restarted meanwhile: what was in them is dealt with. */
static bool began_again(struct sh4_target *t)
{
    if (!t->link.restarted)
        return false;
    t->link.restarted = false;
    t->breaks.check = t->breaks.npatches > 0 || t->code.nvbr_sites > 0;
    sh4_ubc_forget(t);
    return true;
}

/* Stops that do not depend on what the agent says. */
static int known_stop(struct sh4_target *t, int is_stop, bool restarted)
{
    if (is_stop && restarted)
        snprintf(t->stop.text, sizeof t->stop.text, "the board was reset meanwhile");
    if (sh4_reset_unreported(t)) {
        sh4_stop_was_reset(t);
        is_stop = 1;
    }
    if (t->run.ended) {
        t->run.ended = false;
        sh4_stop_is(t, STOP_EXIT, 0);
        is_stop = 1;
    }
    if (sh4_halt_asked(t) && !is_stop) {
        sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
        is_stop = 1;
    }
    return is_stop;
}

/* It was asked by the H-UDI interrupt, and something else has stopped it: the interrupt comes when
 * it runs on. Of halts for a moment temporary_halt.c takes care. */
static void expect_interrupt(struct sh4_target *t)
{
    if (t->asked.shortly || !t->asked.by_interrupt)
        return;
    t->asked.by_interrupt = false;
    t->asked.late = t->asked.late || t->regs.save[SH4_SAVE_KIND] != SH4_ENTRY_INTERRUPT;
}

/* 1: a stop; 0: it runs on. */
static int find_out(struct sh4_target *t, struct err *err)
{
    const bool off = sh4_stepping_off(t);
    const struct cut_step cut = { sh4_stepping(t) && !off, off, t->step.from, t->step.lo,
                                  t->step.hi };
    bool restarted = began_again(t);
    int is_stop = sh4_take_over(t, err);
    if (is_stop < 0)
        return is_stop;
    expect_interrupt(t);
    /* the agent left the range step because it was asked to */
    if (is_stop && sh4_halt_asked(t) && t->stop.reason == STOP_STEP && in_range(t, &cut))
        sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    int ret = sh4_end_step(t, err);
    if (ret < 0)
        return ret;
    if (stray_interrupt(t, is_stop, &cut)) {
        const bool goes_on = !sh4_reset_unreported(t) && !sh4_halt_asked(t);
        is_stop = 0;
        if (cut.stepping && goes_on && (is_stop = step_on(t, &cut, err)) <= 0)
            return is_stop;
        if (cut.off && goes_on && (ret = step_off_again(t, &cut, err)) <= 0)
            return ret;
    }
    is_stop = known_stop(t, is_stop, restarted);
    if (is_stop)
        return is_stop;
    return sh4_let_go(t, err);
}

int sh4_settle(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = find_out(t, &why);
    if (ret < 0 && err)
        *err = why;
    if (ret <= 0)
        return sh4_settling_failed(t, ret, &why);
    sh4_run_event(t, SH4_ON_STOP);
    *stop = t->stop;
    return 1;
}
