/* The SH-4 target: attach, halt, resume, poll, reset, detach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"

enum {
    SIGNAL_INT = 2,
    SIGNAL_ILL = 4,
    SIGNAL_TRAP = 5,
    SIGNAL_FPE = 8,
    SIGNAL_BUS = 10,
    SIGNAL_SEGV = 11
};
#define ALIVE_NS \
    (10u * 1000000u) /* a running target that says nothing is looked after this often */
#define BREAK_AGAIN_NS  (20u * 1000000u)
#define ENDING_AGAIN_NS 200000u
#define BREAK_LIMIT_NS  (1000u * 1000000u)
enum {
    BREAK_MIN_ASKS = 20,
    STREAM_MIN_ASKS = 6
}; /* whatever the time: a slow adapter has hardly asked by then */

bool sh4_is_halted(struct sh4_target *t, struct err *err, const char *what)
{
    if (t->state == TARGET_HALTED)
        return true;
    err_set(err, t->state == TARGET_GONE ? ERR_NO_TARGET : ERR_STATE,
            t->state == TARGET_GONE ? "check power and cable, then attach again"
                                    : "halt the target first",
            "%s: the target is %s", what,
            t->state == TARGET_GONE      ? "gone"
            : t->state == TARGET_RUNNING ? "running"
                                         : "not attached");
    return false;
}

static uint64_t now(struct sh4_target *t) { return sh4_link_now(&t->link); }

static int link_wait(struct sh4_target *t, uint64_t ns, struct err *err)
{
    return sh4_link_wait(&t->link, ns, err);
}

int sh4_lost(struct sh4_target *t, int ret)
{
    if (ret == -ERR_USB || ret == -ERR_NO_TARGET)
        t->state = TARGET_GONE;
    return ret;
}

/* ---- why it stopped ---- */

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
    return wanted ? NULL : exception_name(code);
}

void sh4_stop_is(struct sh4_target *t, enum stop_reason reason, int signal)
{
    memset(&t->stop, 0, sizeof t->stop);
    t->stop.reason = reason;
    t->stop.signal = signal;
    t->stop.pc = t->pc;
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

/* The exception is the program's own: a step ends at its handler, anything else runs on there. */
static int to_handler(struct sh4_target *t)
{
    bool stepped = t->stepping && !t->step_then_go;
    sh4_enter_handler(t);
    if (stepped)
        sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    return stepped;
}

/* 1: a stop to report; 0: the program's own business, run on from where t now says */
static int classify_trapa(struct sh4_target *t)
{
    uint32_t number = t->trap[0] >> 2 & 0xFF;
    struct sh4_patch *p = sh4_patch_at(t, t->pc - 2);
    if (number == (SH4_BREAK_INSN & 0xFF)) {
        /* a lost session's breakpoint: its instruction is still to come */
        if ((p && (p->in_memory || t->lifted == p->addr)) || t->leftover) {
            t->pc -= 2;
            sh4_stop_is(t, STOP_SWBREAK, SIGNAL_TRAP);
        } else {
            sh4_stop_is(t, STOP_SIGNAL, SIGNAL_TRAP);
            strcpy(t->stop.text, "TRAPA #32 compiled into the program");
        }
        return 1;
    }
    if (t->semihosting && number == 34) {
        stop_semihosting(t);
        return 1;
    }
    if (t->catch_mask >> (SH4_EXP_TRAPA >> 5) & 1) {
        t->caught = true;
        sh4_stop_is(t, STOP_SIGNAL, SIGNAL_TRAP);
        snprintf(t->stop.text, sizeof t->stop.text, "TRAPA #%u", (unsigned)number);
        return 1;
    }
    return to_handler(t);
}

/* A start or stop point of the trace, watched by a break channel: it acts when the program goes on.
 * A breakpoint there is the user's stop first. */
static int at_point(struct sh4_target *t, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    if (sh4_patch_at(t, t->pc)) {
        sh4_stop_is(t, STOP_SWBREAK, SIGNAL_TRAP);
        return 1;
    }
    return t->halt_wanted ? 0 : MIN(t->trace_resuming(t, &how, err), 0);
}

static int classify_user_break(struct sh4_target *t, struct err *err)
{
    uint32_t seen = t->save[SH4_SAVE_BRCR_SEEN];
    bool match[2] = { REG_GET(seen, SH4_BRCR_CMFA) != 0, REG_GET(seen, SH4_BRCR_CMFB) != 0 };
    bool stepped = t->stepping && match[0];
    for (unsigned n = SH4_UBC_CHANNELS; n-- > 0;) {
        struct sh4_ubc_channel *c = &t->ubc[n];
        if (!match[n] || !c->used || (n == 0 && t->stepping))
            continue;
        if (c->kind == BP_HARD) {
            sh4_stop_is(t, STOP_HWBREAK, SIGNAL_TRAP);
            return 1;
        }
        sh4_stop_is(t, STOP_WATCH, SIGNAL_TRAP);
        t->stop.watch_addr = c->addr;
        t->stop.watch_kind = c->kind;
        return 1;
    }
    enum sh4_point point = t->trace_at_point ? t->trace_at_point(t, match) : SH4_POINT_NONE;
    if (point != SH4_POINT_NONE && (!stepped || t->step_then_go))
        return point == SH4_POINT_MET ? at_point(t, err) : 0;
    if (stepped && t->step_then_go)
        return 0;
    sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    return 1;
}

static int classify_exception(struct sh4_target *t, struct err *err)
{
    uint32_t expevt = t->trap[1];
    if (expevt == SH4_EXP_USER_BREAK)
        return classify_user_break(t, err);
    if (expevt == SH4_EXP_TRAPA)
        return classify_trapa(t);
    if (t->catch_mask >> (expevt >> 5 & 31) & 1) {
        t->caught = true;
        sh4_stop_is(t, STOP_SIGNAL, signal_of(expevt));
        snprintf(t->stop.text, sizeof t->stop.text, "%s (EXPEVT %03x)", exception_name(expevt),
                 (unsigned)expevt);
        return 1;
    }
    return to_handler(t);
}

/* ASERAM is written blindly while the program runs. The first time the kernel runs it is asked what
 * it is, and gets what the wire has damaged once more. */
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
        t->ase_proven = same;
        if (same)
            return 0;
        t->link.retries++;
    }
    return err_set(err, ERR_PROTOCOL, "lower the wire clock; check the wiring and the ground",
                   "the agent in ASERAM does not hold what was written");
}

/* Which user break conditions are the program's: those it ran with when none of our vectors was in.
 */
static void keep_ubc(struct sh4_target *t, bool hooked)
{
    struct sh4_ubc_regs *p = &t->prog_ubc;
    if (t->hooks)
        return;
    p->bbr[0] = hooked ? 0 : (uint16_t)t->save[SH4_SAVE_BBRA];
    p->bbr[1] = hooked ? 0 : (uint16_t)t->save[SH4_SAVE_BBRB];
    p->brcr = hooked ? 0 : (uint16_t)t->save[SH4_SAVE_BRCR_SEEN];
    p->taken = false;
}

/* Killed or cut off, it could not clean up: its breakpoints are in the program, its vectors, and a
 * priority for its interrupt. */
static void find_leftovers(struct sh4_target *t, bool found)
{
    if (t->layout == &sh4_agent_ase && !t->served)
        t->leftover = t->priority_left = t->leftover || found;
}

/* The program's registers, as the kernel found them. */
static void take_saved(struct sh4_target *t)
{
    t->pc = t->save[SH4_SAVE_SPC];
    t->sr = t->save[SH4_SAVE_SSR];
    t->sr_meant = 0;
    t->r15 = t->sgr = t->save[SH4_SAVE_R15];
    t->spc = t->pc;
    t->ssr = t->sr;
    t->own_spc = t->caught = false;
}

/* The agent is halted: take over its view. 1: a stop; 0: it must run on. */
static int take_over(struct sh4_target *t, struct err *err)
{
    int ret = t->layout == &sh4_agent_ase && !t->ase_proven ? prove_aseram(t, err) : 0;
    if (ret == 0)
        ret = sh4_regs_load(t, err);
    if (ret == 0 && !t->leftovers_checked && !t->trace_vbr)
        ret = sh4_trace_recall(t, err);
    if (ret < 0)
        return ret;
    t->state = TARGET_HALTED;
    take_saved(t);
    uint32_t vbr = t->save[SH4_SAVE_VBR];
    bool hooked =
        vbr == t->agent_base + t->layout->hook_vbr || (t->trace_vbr && vbr == t->trace_vbr);
    keep_ubc(t, hooked);
    if (hooked) {
        t->prog_vbr = t->save[SH4_SAVE_DBR];
        find_leftovers(t, !t->hooks);
    } else {
        t->prog_vbr = vbr;
        if (!t->hooks)
            t->prog_dbr = t->save[SH4_SAVE_DBR];
    }
    if (t->save[SH4_SAVE_KIND] == SH4_ENTRY_TRACE && !t->trace_halted &&
        (ret = sh4_trace_adopt(t, err)) < 0)
        return ret;
    if (!t->leftovers_checked && !t->trace_vbr) {
        t->leftovers_checked = true;
        t->trace_lost = false;
        if ((ret = sh4_trace_clean_leftovers(t, false, err)) < 0)
            return ret;
    }
    if (t->trace_halted) {
        ret = t->trace_halted(t, err);
        if (ret < 0)
            return ret;
    }
    ret = t->priority_left ? sh4_hudi_priority_left(t, err) : 0;
    if (ret == 0)
        ret = sh4_image_undo_leftovers(t, err);
    if (ret == 0 && t->check_patches)
        ret = sh4_patches_check(t, err);
    if (ret < 0)
        return ret;
    t->served = true;
    if (t->save[SH4_SAVE_KIND] == SH4_ENTRY_EXCEPTION)
        return classify_exception(t, err);
    sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    if (t->leftover && !t->image)
        snprintf(t->stop.text, sizeof t->stop.text,
                 "a killed session was found: --elf FILE lets its breakpoints be taken out");
    if (REG_GET(t->sr, SH4_SR_BL))
        strcpy(t->stop.text,
               "halted with SR.BL=1: SPC, SSR and SGR of the running handler are lost");
    return 1;
}

/* What a step took out or changed is put back. */
static int end_step(struct sh4_target *t, struct err *err)
{
    t->stepping = false;
    t->range_lo = t->range_hi = 0;
    if (!t->lifted)
        return 0;
    struct sh4_patch *p = sh4_patch_at(t, t->lifted);
    t->lifted = 0;
    return p ? sh4_patch_set(t, p, true, err) : 0;
}

/* ---- run control ---- */

int sh4_run_freely(struct sh4_target *t, struct err *err)
{
    int ret = sh4_needs_hooks(t) ? sh4_ubc_program(t, false, err) : sh4_ubc_give_back(t, err);
    return ret < 0 ? ret : sh4_leave(t, 0, 0, 0, err);
}

/* A step as it was when the program stopped. */
struct cut_step {
    bool stepping;
    uint32_t from, lo, hi;
};

static bool in_range(const struct sh4_target *t, const struct cut_step *cut)
{
    return t->pc >= cut->lo && t->pc < cut->hi;
}

/* Something has interrupted it that nobody asked for, or no more: a break that was given up, or,
 * over a serial line, a damaged byte. The agent takes that for a request to leave a range step,
 * too. */
static bool stray_interrupt(struct sh4_target *t, int is_stop, const struct cut_step *cut)
{
    if (t->save[SH4_SAVE_KIND] != SH4_ENTRY_INTERRUPT)
        return is_stop && t->stop.reason == STOP_STEP && in_range(t, cut) && !t->halt_wanted;
    bool late = t->break_late;
    t->break_late = false;
    return late || (!t->link.jtag && !t->halt_wanted);
}

/* A step that was cut off begins anew where it had not got anywhere yet: returns 0, or 1 if it is
 * done. */
static int step_on(struct sh4_target *t, const struct cut_step *cut, struct err *err)
{
    int ret = 1;
    if (t->pc == cut->from || in_range(t, cut)) {
        t->range_lo = cut->lo;
        t->range_hi = cut->hi;
        ret = sh4_step_start(t, err);
    }
    if (ret > 0)
        sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    return ret;
}

/* Stopped or done with a step: what does the caller see? Returns as poll() does. */
static int settle(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    const struct cut_step cut = { t->stepping && !t->step_then_go, t->step_from, t->range_lo,
                                  t->range_hi };
    bool anew = t->link.restarted;
    if (anew) {
        t->link.restarted = false;
        t->check_patches = t->npatches > 0 || t->nvbr_sites > 0;
        t->bar_known[0] = t->bar_known[1] = t->bamr_known[0] = t->bamr_known[1] = false;
    }
    int is_stop = take_over(t, err);
    if (is_stop < 0)
        return is_stop;
    if (is_stop && t->halt_wanted && t->stop.reason == STOP_STEP && in_range(t, &cut))
        sh4_stop_is(t, STOP_REQUEST,
                    SIGNAL_INT); /* the agent left the range step because it was asked to */
    int ret = end_step(t, err);
    t->step_then_go = false;
    if (ret < 0)
        return ret;
    if (stray_interrupt(t, is_stop, &cut)) {
        is_stop = 0;
        if (cut.stepping && !t->was_reset && !t->halt_wanted &&
            (is_stop = step_on(t, &cut, err)) <= 0)
            return is_stop;
    }
    if (is_stop && anew)
        snprintf(t->stop.text, sizeof t->stop.text, "the board was reset meanwhile");
    if (t->was_reset) {
        sh4_stop_was_reset(t);
        is_stop = 1;
    }
    if (t->ended) {
        t->ended = t->halt_wanted = false;
        sh4_stop_is(t, STOP_EXIT, 0);
        is_stop = 1;
    }
    if (t->halt_wanted && !is_stop) {
        sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
        is_stop = 1;
    }
    if (!is_stop) {
        ret = sh4_let_go(t, err);
        return ret < 0 ? ret : 0;
    }
    t->halt_wanted = false;
    *stop = t->stop;
    return 1;
}

/* A trace agent runs with BL=1 most of the time while events come fast: a break taken there would
 * cost the program its SPC. It answers the H-UDI interrupt, which waits for BL=0 by itself. Armed
 * by us, or left by a lost session. */
static bool trace_agent_runs(const struct sh4_target *t, uint32_t fetch)
{
    return t->trace_vbr || ((fetch ^ t->opt.agent_ram) & 0x1FFF0000) == 0;
}

/* A break into the agent would save the agent's registers over the program's. */
bool sh4_in_agent(const struct sh4_target *t, uint32_t fetch)
{
    return t->layout == &sh4_agent_ase && (fetch & 0xFF000000u) == SH4_ASERAM;
}

/* One of a lost session may wait for its ring to be read, with BL=1: it comes to the kernel when
 * asked. */
static int ask_trace_agent(struct sh4_target *t, struct err *err)
{
    int ret = t->trace_poll ? 0 : sh4_agent_halted(t, err);
    return ret ? MIN(ret, 0) : sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
}

/* A traced program that takes no interrupt, while the trace is to end: for so many looks in a row
 * it runs outside of the agent with all interrupts masked, or turns in a small loop with exceptions
 * blocked. The agent's interrupt would never come, and a break finds nothing of the agent's to
 * destroy. With SR.BL=1 it costs the handler its SPC and SSR, so that has to look like one that is
 * not left any more. 1, 0 or -ERR_*. */
static int takes_no_interrupt(struct sh4_target *t, struct err *err)
{
    enum {
        LOOKS_MASKED = 16,
        LOOKS_BLOCKED = 64,
        LOOP_BYTES = 128,
        APART_NS = 5000,
        ALL_MASKED = 15
    };
    static const uint8_t sel[] = { SH4_STATUS_SR, SH4_STATUS_FETCH };
    uint32_t low = UINT32_MAX, high = 0;
    for (int masked = 0, blocked = 0; masked < LOOKS_MASKED && blocked < LOOKS_BLOCKED;) {
        uint32_t v[2] = { 0, 0 };
        int ret = sh4_link_status(&t->link, sel, v, 2, err);
        bool bl = REG_GET(v[0], SH4_SR_BL),
             closed = bl || REG_GET(v[0], SH4_SR_IMASK) == ALL_MASKED;
        if (ret < 0 || !closed || sh4_in_agent(t, v[1]) || t->trace_holds(t, v[1]))
            return ret;
        low = MIN(low, v[1]);
        high = MAX(high, v[1]);
        if (bl && high - low > LOOP_BYTES)
            return 0;
        masked += !bl;
        blocked += bl;
        if ((ret = link_wait(t, APART_NS, err)) < 0)
            return ret;
    }
    return 1;
}

static int private_break(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 20, SURE = 4 };
    static const uint8_t sel[] = { SH4_STATUS_SR, SH4_STATUS_FETCH };
    uint32_t v[2] = { 0, 0 };
    uint64_t since = now(t) - t->halt_since_ns;
    bool patient = since < BREAK_LIMIT_NS / 2 || t->break_asks < BREAK_MIN_ASKS / 2;
    /* What a status tells is over when the break arrives: where an agent is known to run, it is not
     * relied on. It is gone if the power was. */
    if (t->trace_lost && (since < BREAK_LIMIT_NS / 10 || t->break_asks < BREAK_MIN_ASKS / 5))
        return ask_trace_agent(t, err);
    if (t->trace_ending && t->break_asks > 1) {
        int ret = takes_no_interrupt(t, err);
        if (ret)
            return ret < 0 ? ret : sh4_link_command(&t->link, SH4_TI_BREAK, err);
    }
    /* A break taken with BL=1 costs the running handler its SPC and SSR: wait a little for BL=0. */
    bool blocked = true;
    for (int i = 0; i < TRIES; i++) {
        int ret = sh4_link_status(&t->link, sel, v, 2, err);
        if (ret < 0)
            return ret;
        if (patient && trace_agent_runs(t, v[1]))
            return ask_trace_agent(t, err);
        blocked = REG_GET(v[0], SH4_SR_BL) != 0;
        bool inside = sh4_in_agent(t, v[1]);
        if (!blocked && !inside && (i >= SURE || t->npatches || t->hooks))
            break;
        /* It may be waiting for its ring to be read, or have met a breakpoint by itself. */
        ret = t->trace_poll ? t->trace_poll(t, 0, err) : inside ? sh4_agent_halted(t, err) : 0;
        if (ret)
            return MIN(ret, 0);
        ret = link_wait(t, blocked ? 50000 : 0, err);
        if (ret < 0)
            return ret;
    }
    if (blocked && t->borrowing)
        return err_set(err, ERR_STATE, "try again, or halt it", "the program runs with SR.BL=1");
    return sh4_link_command(&t->link, SH4_TI_BREAK, err);
}

/* A range step spends most of its time inside the agent, which an ASE break must not hit: it is
 * asked first. */
static int stop_range(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 10 };
    uint32_t halt = SH4_AGENT_HALT;
    for (int i = 0; i < TRIES; i++) {
        uint32_t seen;
        int ret = sh4_link_words(&t->link, &halt, &seen, 1, err);
        if (ret == 0)
            ret = link_wait(t, 20000, err);
        if (ret < 0)
            return ret;
        if (i && seen == t->agent_base + SH4_AGENT_VERSION)
            return 1;
    }
    return sh4_agent_halted(t, err);
}

static int ask_break(struct sh4_target *t, struct err *err)
{
    t->break_at_ns = now(t);
    t->break_asks++;
    if (t->stepping && t->range_hi && t->link.jtag) { /* over a byte stream any byte does */
        int ret = stop_range(t, err);
        if (ret)
            return MIN(ret, 0);
    }
    if (t->borrowing && t->opt.allow_private && t->leftovers_checked && !t->trace_vbr)
        return sh4_borrow_break(t, err);
    return t->opt.allow_private ? private_break(t, err)
                                : sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
}

static int op_halt(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: halt asked", t->probe->name);
    if (t->state == TARGET_HALTED)
        return 0;
    if (t->state != TARGET_RUNNING)
        return sh4_is_halted(t, err, "halt") ? 0
               : t->state == TARGET_GONE     ? -ERR_NO_TARGET
                                             : -ERR_STATE;
    if (t->halt_wanted || t->stop_pending)
        return 0;
    t->halt_wanted = true;
    t->halt_since_ns = now(t);
    t->break_asks = 0;
    return t->crawling ? 0 : sh4_lost(t, ask_break(t, err));
}

static int reset_is_held(struct err *err, const char *what)
{
    return err_set(
        err, ERR_TIMEOUT,
        "let go of the reset button; check what drives pin nRESET of the debug connector",
        "%s: the CPU is held in reset, nRESET is low", what);
}

static int halt_failed(struct sh4_target *t, struct err *err)
{
    t->halt_wanted = false;
    if (sh4_link_reset_held(&t->link))
        return reset_is_held(err, "halt");
    if (t->opt.allow_private)
        return err_set(
            err, ERR_TIMEOUT, "is the CPU clocked and out of reset? try monitor reset halt",
            "halt: the CPU does not answer an ASE break (H-UDI command %02x)", SH4_TI_BREAK);
    if (t->link.ip)
        return err_set(
            err, ERR_TIMEOUT,
            "does it mask interrupts, use the watchdog, or the network itself? reset the Dreamcast",
            "halt: the agent's look at the network does not come");
    if (!t->link.jtag)
        return err_set(err, ERR_TIMEOUT,
                       "is the serial agent linked in and agent_init called? is it the same baud "
                       "rate? interrupts may be masked",
                       "halt: no agent answers on the serial line");
    return err_set(
        err, ERR_TIMEOUT,
        "is the resident agent linked in and agent_init called? interrupts may be masked",
        "halt: no agent answers the H-UDI interrupt (command %02x)", SH4_TI_INTERRUPT);
}

/* A resident agent is known by the word behind its entry branch. */
static int check_resident(struct sh4_target *t, struct err *err)
{
    uint32_t id[2];
    int ret = sh4_agent_read(t, t->agent_base + 4, 4, id, 2, err);
    if (ret < 0)
        return ret;
    if (id[0] == SH4_AGENT_ID && id[1] == SH4_AGENT_VERSION)
        return t->link.jtag ? 0 : sh4_stream_mark(t, err);
    return err_set(err, ERR_PROTOCOL, "link the agent that belongs to this program version",
                   "agent at %08x: id %08x version %u, expected %08x version %u", t->agent_base,
                   id[0], id[1], SH4_AGENT_ID, SH4_AGENT_VERSION);
}

/* It has told its loader so, which is back in its place: the agent is loaded again, so that memory
 * can be looked at. */
static int program_ended(struct sh4_target *t, struct err *err)
{
    int ret = sh4_dcip_restart(t, false, err);
    if (ret > 0)
        ret = check_resident(t, err);
    if (ret < 0)
        return ret;
    t->ended = t->link.restarted = true;
    return 1;
}

static int seen_halted(struct sh4_target *t, struct err *err)
{
    if (t->loaded)
        return 1;
    bool known = t->layout != NULL;
    if (t->link.ip && t->link.ip->ended)
        return program_ended(t, err);
    int ret = t->trace_poll ? t->trace_poll(t, 0, err) : sh4_agent_halted(t, err);
    if (ret > 0 && !known && t->layout != &sh4_agent_ase) {
        int id = check_resident(t, err);
        return id < 0 ? id : 1;
    }
    return ret;
}

/* The CPU is on its own way since it reset itself: it is caught there, as if asked to. */
static int halt_the_reset(struct sh4_target *t, struct err *err)
{
    t->halt_wanted = true;
    t->halt_since_ns = now(t);
    t->break_asks = 0;
    return ask_break(t, err);
}

/* Over a serial line bytes may be damaged, and are slower. */
static bool asked_enough(const struct sh4_target *t, uint64_t at)
{
    uint64_t limit = t->link.jtag ? BREAK_LIMIT_NS : t->link.silence_ns + t->link.silence_ns / 2;
    return at - t->halt_since_ns > limit &&
           t->break_asks >= (t->link.jtag ? BREAK_MIN_ASKS : STREAM_MIN_ASKS);
}

static int poll_running(struct sh4_target *t, uint64_t max_ns, struct target_stop *stop,
                        struct err *err)
{
    uint64_t end = now(t) + max_ns, slice = 5000;
    for (;;) {
        int ret = t->crawling ? sh4_crawl(t, end, stop, err) : 0;
        if (ret || t->crawling)
            return ret;
        ret = seen_halted(t, err);
        int was_reset = ret == 0 ? sh4_reset_seen(t, err) : 0;
        if (was_reset < 0)
            return was_reset;
        if (ret == 0 && t->was_reset && !t->halt_wanted)
            ret = halt_the_reset(t, err);
        if (ret < 0)
            return ret;
        if (ret > 0) {
            ret = settle(t, stop, err);
            /* a program that enters the agent all the time must not keep the caller here */
            if (ret || now(t) >= end)
                return ret;
            continue;
        }
        uint64_t at = now(t);
        if (t->halt_wanted && asked_enough(t, at))
            return halt_failed(t, err);
        uint64_t pause = t->trace_ending ? ENDING_AGAIN_NS : BREAK_AGAIN_NS;
        if (t->halt_wanted &&
            at - t->break_at_ns > sh4_link_again_ns(&t->link, t->break_asks, pause) &&
            (ret = ask_break(t, err)) < 0)
            return ret;
        if (at >= end)
            return 0;
        ret = link_wait(t, MIN(slice, end - at), err);
        if (ret < 0)
            return ret;
        slice = MIN(slice * 2, (uint64_t)500000);
    }
}

/* SDDR words of a dead board look like those of a running one; an IR scan does not. Other commands
 * are asked again until they are answered, and must stay loaded until then. After a scan that
 * failed it is not known what is loaded: that is when to ask. */
static int check_alive(struct sh4_target *t, struct err *err)
{
    t->alive_ns = now(t);
    /* a running program cannot be asked without stopping it; a port that is pulled out says so */
    if (!t->link.jtag)
        return sh4_stream_wait(&t->link, 0, err);
    if (t->link.ir != SH4_TI_RESET_NEGATE && t->link.ir != SH4_LINK_IR_UNKNOWN)
        return 0;
    int ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err);
    return ret < 0 ? err_prefix(err, ret, "looking whether the board is still there") : 0;
}

static int op_poll(struct target *target, uint64_t max_ns, struct target_stop *stop,
                   struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    if (t->stop_pending) {
        t->stop_pending = false;
        *stop = t->stop;
        return 1;
    }
    if (t->state != TARGET_RUNNING)
        return t->state == TARGET_GONE
                   ? err_set(err, ERR_NO_TARGET, "check power and cable, then attach again",
                             "the target is gone")
               : t->state == TARGET_HALTED && max_ns ? sh4_lost(t, check_alive(t, err))
                                                     : 0;
    int ret = now(t) - t->alive_ns > ALIVE_NS ? check_alive(t, err) : 0;
    return sh4_lost(t, ret < 0 ? ret : poll_running(t, max_ns, stop, err));
}

/* A step that was done on the host's side is a stop at once. */
static int step(struct sh4_target *t, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = sh4_step_start(t, &why);
    if (ret == -ERR_TIMEOUT && REG_GET(t->sr, SH4_SR_BL) && sh4_reset_in_step(t, NULL) > 0)
        return halt_the_reset(t, err);
    if (ret < 0 && err)
        *err = why;
    if (ret <= 0)
        return ret;
    sh4_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    t->stop_pending = true;
    return 0;
}

/* With BL=1 there is no break to use: the host steps until the range is left, or for a while: a
 * debugger that finds itself still inside steps again. */
static int range_with_bl(struct sh4_target *t, const struct resume *how, struct err *err)
{
    enum { LIMIT = 100 };
    for (int i = 0; i < LIMIT && REG_GET(t->sr, SH4_SR_BL); i++) {
        int ret = sh4_step_start(t, err);
        if (ret < 0)
            return ret;
        if (t->pc < how->range_lo || t->pc >= how->range_hi || sh4_patch_at(t, t->pc))
            break;
    }
    sh4_stop_is(t, sh4_patch_at(t, t->pc) ? STOP_SWBREAK : STOP_STEP, SIGNAL_TRAP);
    t->stop_pending = true;
    return 0;
}

static int go_on(struct sh4_target *t, struct err *err)
{
    struct sh4_patch *p = sh4_patch_at(t, t->pc);
    bool hard = false;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        hard = hard || (t->ubc[n].used && t->ubc[n].kind == BP_HARD && t->ubc[n].addr == t->pc);
    if ((!p && !hard) || REG_GET(t->sr, SH4_SR_BL)) /* the crawl begins with a step */
        return sh4_let_go(t, err);
    /* Standing on a breakpoint: off it with one step, the rest freely. */
    t->step_then_go = true;
    int ret = sh4_step_start(t, err);
    if (ret <= 0)
        return ret;
    t->step_then_go = false;
    return sh4_let_go(t, err);
}

static int op_resume(struct target *target, const struct resume *given, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct resume copy = *given, *how = &copy;
    log_msg(t->probe->log, LOG_TARGET, "%s: %s at %08x", t->probe->name,
            how->kind == RESUME_CONTINUE ? "continue"
            : how->kind == RESUME_STEP   ? "step"
                                         : "step in a range",
            t->pc);
    if (!sh4_is_halted(t, err, "resume"))
        return t->state == TARGET_GONE ? -ERR_NO_TARGET : -ERR_STATE;
    if (how->set_pc) {
        t->pc = (uint32_t)how->pc;
        t->caught = false;
    }
    t->alias_set = 0;
    t->continuing = how->kind == RESUME_CONTINUE;
    t->stop_pending = t->halt_wanted = t->step_then_go = t->was_reset = false;
    t->reset_look_ns = now(t);
    t->range_lo = t->range_hi = 0;
    /* look taken; now the program's own handler gets it */
    if (t->caught && how->kind == RESUME_CONTINUE)
        sh4_enter_handler(t);
    t->caught = false;
    if (t->trace_resuming) {
        int ret = t->trace_resuming(t, how, err);
        if (ret < 0)
            return sh4_lost(t, ret);
    }
    if (how->kind == RESUME_CONTINUE)
        return sh4_lost(t, go_on(t, err));
    if (how->kind == RESUME_STEP)
        return sh4_lost(t, step(t, err));
    if (REG_GET(t->sr, SH4_SR_BL))
        return sh4_lost(t, range_with_bl(t, how, err));
    t->range_lo = (uint32_t)how->range_lo;
    t->range_hi = (uint32_t)how->range_hi;
    return sh4_lost(t, step(t, err));
}

/* ---- attach, reset, detach ---- */

/* Of its save area only BRCR, which is the host's: the rest is written on entry or before the
 * program is let go, and a program that a lost session left traced may enter the kernel just now,
 * which is the same. */
static int load_aseram(struct sh4_target *t, struct err *err)
{
    uint32_t words[SH4_ASERAM_SIZE / 4];
    const uint8_t *code = sh4_agent_ase.code[t->base.big_endian];
    size_t n = sh4_agent_ase.save_area / 4;
    const uint32_t brcr = 0;
    for (size_t i = 0; i < n; i++)
        words[i] = get32(code + 4 * i, t->base.big_endian);
    int ret = sh4_link_aseram(&t->link, 0, words, n, err);
    if (ret == 0)
        ret = sh4_link_aseram(&t->link, sh4_agent_ase.save_area + 4 * SH4_SAVE_BRCR, &brcr, 1, err);
    if (ret < 0)
        return err_prefix(err, ret, "loading the agent into ASERAM");
    t->ase_loaded = true;
    t->ase_proven = false;
    return 0;
}

static void use_ase(struct sh4_target *t)
{
    t->layout = &sh4_agent_ase;
    t->agent_base = SH4_ASERAM;
}

/* POLLs fill up a block that an agent waits in. To a running program they are nothing, and where
 * none of the first is taken or answered, though even an agent in slow memory had the time, there
 * is nobody. */
static int fill_block(struct sh4_target *t, struct err *err)
{
    enum { LOOK = 8, CALM = 128 };
    uint32_t in[LOOK], idle = t->link.idle_clocks;
    bool taken = false;
    t->link.idle_clocks = MAX(idle, (uint32_t)CALM);
    int ret = sh4_link_words(&t->link, NULL, in, LOOK, err);
    t->link.idle_clocks = idle;
    for (size_t i = 1; ret == 0 && i < LOOK; i++)
        taken = taken || in[i] != SH4_AGENT_POLL;
    return taken ? sh4_link_words(&t->link, NULL, NULL, SH4_AGENT_DRAIN, err) : ret;
}

/* It stands in the agent. What nobody has halted runs on: a program that waited for a lost session
 * to read its ring, or for its own exception. */
static int found_halted(struct sh4_target *t, struct err *err)
{
    find_leftovers(t, true);
    int is_stop = take_over(t, err);
    int ret = is_stop < 0 ? is_stop : end_step(t, err);
    if (ret == 0 && (!is_stop || t->save[SH4_SAVE_KIND] == SH4_ENTRY_TRACE))
        ret = sh4_let_go(t, err);
    else if (ret == 0 && t->continuing &&
             t->stop.reason == STOP_STEP) /* the driver's own, on the way */
        sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    return sh4_lost(t, ret);
}

static int op_attach(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: attach", t->probe->name);
    t->layout = NULL;
    t->halt_wanted = t->stop_pending = t->stepping = t->hooks = t->loaded = t->crawling =
        t->was_reset = t->break_late = false;
    t->lending = t->hudi_ready = t->iprc_kept = false;
    t->line_addr = 0;
    t->bar_known[0] = t->bar_known[1] = t->bamr_known[0] = t->bamr_known[1] = false;
    t->vbr_patched = t->leftovers_checked = false;
    /* an armed trace of before is a lost session's now: found and undone as one */
    if (t->trace_poll && t->trace_close) {
        t->trace_close(t);
        t->trace_lost = true;
    }
    int ret = sh4_link_connect(&t->link, err);
    if (ret < 0)
        return sh4_lost(t, ret);
    /* An agent that waits already: a session before this one was lost while it stood at a
     * breakpoint, or even in the middle of a block. */
    ret = seen_halted(t, err);
    if (ret == 0 && t->link.jtag && (ret = fill_block(t, err)) == 0)
        ret = seen_halted(t, err);
    if (ret == 0 && (ret = sh4_clock_prove(&t->link, err)) > 0)
        return op_attach(target, err); /* what was seen through a bad wire is worth nothing */
    if (ret < 0)
        return sh4_lost(t, ret);
    t->check_patches = t->npatches > 0 || t->nvbr_sites > 0;
    if (ret > 0)
        return found_halted(t, err);
    t->layout = NULL;
    if (t->link.ip && (ret = sh4_dcip_attach(t, err)) != 0)
        return ret > 0 ? found_halted(t, err) : sh4_lost(t, ret);
    if (!t->link.jtag && t->probe->driver->stream->traits(t->probe) & STREAM_DCLOAD) {
        ret = sh4_dcload(t, err);
        if (ret == 0)
            ret = err_set(err, ERR_NO_TARGET,
                          "reset the Dreamcast, start dcload again; try baud=57600",
                          "the agent was loaded and does not answer");
        return ret > 0 ? found_halted(t, err) : sh4_lost(t, ret);
    }
    if (t->opt.allow_private) {
        use_ase(t);
        ret = load_aseram(t, err);
        if (ret < 0)
            return sh4_lost(t, ret);
    }
    t->state = TARGET_RUNNING;
    return 0;
}

static int halt_now(struct sh4_target *t, struct err *err)
{
    struct target_stop stop;
    int ret = op_halt(&t->base, err);
    while (ret == 0 && t->state == TARGET_RUNNING)
        ret = op_poll(&t->base, BREAK_AGAIN_NS, &stop, err);
    return ret < 0 ? ret : 0;
}

static int clean_target(struct sh4_target *t, struct err *err)
{
    int ret = end_step(t, err);
    int bad = sh4_patches_remove_all(t, err);
    int late = sh4_borrow_clean(t, err);
    t->ubc[0].used = t->ubc[1].used = false;
    t->catch_mask = 0;
    t->semihosting = t->stop_pending = false;
    return ret < 0 ? ret : bad < 0 ? bad : late;
}

static int op_detach(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: detach", t->probe->name);
    if (t->state == TARGET_DETACHED || t->state == TARGET_GONE)
        return 0;
    if (t->trace_vbr) {
        int ret = t->ops.trace->disarm(target, err);
        if (ret < 0)
            return sh4_lost(t, err_prefix(err, ret, "detach"));
    }
    /* A target that ran undisturbed is left alone: no patch, no channel, nothing to undo. */
    bool clean = !sh4_needs_hooks(t) && !t->hooks && !t->iprc_kept;
    if (t->state == TARGET_RUNNING && clean) {
        t->state = TARGET_DETACHED;
        return sh4_link_command(&t->link, SH4_TI_BYPASS, err);
    }
    int ret = t->state == TARGET_HALTED ? 0 : halt_now(t, err);
    if (ret == 0)
        ret = clean_target(t, err);
    if (ret == 0 && t->link.ip)
        ret = sh4_dcip_leave(t, err);
    if (ret == 0)
        ret = sh4_run_freely(t, err);
    if (ret == 0 && t->link.ip)
        ret = sh4_dcip_settle(&t->link, err);
    if (ret < 0)
        return sh4_lost(t, err_prefix(err, ret, "detach"));
    t->state = TARGET_DETACHED;
    return sh4_link_command(&t->link, SH4_TI_BYPASS, err);
}

static void forget_run(struct sh4_target *t)
{
    t->halt_wanted = t->stop_pending = t->stepping = t->step_then_go = t->hooks = t->loaded = false;
    t->crawling = t->was_reset = t->break_late = false;
    t->lending = t->hudi_ready = t->iprc_kept = false;
    t->line_addr = 0;
    t->lifted = 0;
    t->prog_dbr = 0;
    t->bar_known[0] = t->bar_known[1] = t->bamr_known[0] = t->bamr_known[1] = false;
    t->state = TARGET_RUNNING;
}

static int reset_halt(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 100 };
    int ret = 0;
    use_ase(t);
    if (!t->ase_loaded)
        ret = load_aseram(t, err);
    if (ret == 0)
        ret = sh4_link_command(&t->link, SH4_TI_BOOT, err);
    if (ret == 0)
        ret = sh4_link_command(&t->link, SH4_TI_RESET_ASSERT, err);
    if (ret == 0)
        ret = link_wait(t, 1000000, err);
    if (ret == 0)
        ret =
            load_aseram(t, err); /* while the CPU is held; ends with reset-negate: the CPU starts */
    if (ret < 0)
        return ret;
    forget_run(t);
    for (int i = 0; i < TRIES; i++) {
        ret = sh4_agent_halted(t, err);
        if (ret < 0)
            return ret;
        if (ret) {
            ret = take_over(t, err);
            if (ret < 0)
                return ret;
            sh4_stop_is(t, STOP_RESET, SIGNAL_TRAP);
            t->stop_pending = true;
            return 0;
        }
        ret = link_wait(t, 100000, err);
        if (ret < 0)
            return ret;
    }
    if (sh4_link_reset_held(&t->link))
        return reset_is_held(err, "reset halt");
    return err_set(err, ERR_TIMEOUT,
                   "is the CPU clocked? try --speed auto; does this part accept the private "
                   "command 80 (ASE boot)?",
                   "reset halt: the CPU did not start in the agent");
}

/* The loader starts anew, and the agent by it; where neither a program nor its end lets the network
 * in, only the button helps. */
static int reset_by_loader(struct sh4_target *t, enum reset_mode mode, struct err *err)
{
    if (mode != RESET_HALT)
        return err_set(err, ERR_UNSUPPORTED, "monitor reset halt, then load the program",
                       "a reset leads into the loader: there is no program to run");
    int ret = t->state == TARGET_HALTED ? 0 : halt_now(t, err);
    if (ret == 0)
        ret = sh4_dcip_restart(t, true, err);
    if (ret <= 0)
        return ret;
    forget_run(t);
    ret = check_resident(t, err);
    if (ret == 0)
        ret = take_over(t, err);
    if (ret < 0)
        return ret;
    sh4_stop_is(t, STOP_RESET, SIGNAL_TRAP);
    t->stop_pending = true;
    return 0;
}

static int op_reset(struct target *target, enum reset_mode mode, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: reset %s", t->probe->name,
            mode == RESET_HALT ? "halt" : "run");
    if (t->state == TARGET_DETACHED || t->state == TARGET_GONE)
        return sh4_is_halted(t, err, "reset") ? 0
               : t->state == TARGET_GONE      ? -ERR_NO_TARGET
                                              : -ERR_STATE;
    if (t->link.ip)
        return sh4_lost(t, reset_by_loader(t, mode, err));
    if (!t->link.jtag)
        return err_set(err, ERR_UNSUPPORTED, "press its button, then attach again",
                       "a serial line cannot reset the board");
    if (mode == RESET_HALT && !t->opt.allow_private)
        return err_set(err, ERR_UNSUPPORTED,
                       "use monitor reset run, then halt; or allow the private commands",
                       "reset halt needs the private H-UDI command 80 (ASE boot)");
    if (t->opt.allow_private && (mode == RESET_HALT || sh4_needs_hooks(t))) {
        int ret = reset_halt(t, err);
        if (ret < 0 || mode == RESET_HALT)
            return sh4_lost(t, ret);
        t->stop_pending = false;
        return sh4_lost(t, sh4_run_freely(t, err));
    }
    int ret = sh4_link_command(&t->link, SH4_TI_RESET_ASSERT, err);
    if (ret == 0)
        ret = link_wait(t, 1000000, err);
    if (ret == 0)
        ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err);
    if (ret == 0)
        forget_run(t);
    return sh4_lost(t, ret);
}

/* ---- the rest of the interface ---- */

/* No manual has this: whoever owns such a part is asked to tell (docs/unverified.md). */
static const char *op_remark(struct target *target)
{
    return sh4_of(target)->link.alternates
               ? "data scans of this part alternate between SDDR and a status register: words take "
                 "twice as long (please report the part)"
               : NULL;
}

static struct target_stop op_why_halted(struct target *target) { return sh4_of(target)->stop; }
static enum target_state op_state(struct target *target) { return sh4_of(target)->state; }
static uint64_t op_now(struct target *target) { return now(sh4_of(target)); }
static uint64_t op_canonical(uint64_t addr) { return sh4_canonical32((uint32_t)addr); }

static size_t op_memory_map(struct target *target, const struct memory_region **out)
{
    /* Everything but the boot ROM may be written; on-chip registers and the store queues are "RAM"
     * to GDB. */
    static const struct memory_region map[] = {
        { 0x00000000, 0x00200000, MEMORY_ROM, 0 },
        { 0x00200000, 0x7FE00000, MEMORY_RAM, 0 },
        { 0x80000000, 0x00200000, MEMORY_ROM, 0 },
        { 0x80200000, 0x1FE00000, MEMORY_RAM, 0 },
        { 0xA0000000, 0x00200000, MEMORY_ROM, 0 },
        { 0xA0200000, 0x5FE00000, MEMORY_RAM, 0 },
        /* GDB takes the PC for a signed number: `x/i $pc` asks for these, and sends the lower half.
         */
        { 0xFFFFFFFF80000000, 0x00200000, MEMORY_ROM, 0 },
        { 0xFFFFFFFF80200000, 0x1FE00000, MEMORY_RAM, 0 },
        { 0xFFFFFFFFA0000000, 0x00200000, MEMORY_ROM, 0 },
        { 0xFFFFFFFFA0200000, 0x5FDFF000, MEMORY_RAM, 0 },
    };
    (void)target;
    *out = map;
    return ARRAY_LEN(map);
}

static int op_semihosting(struct target *target, bool on, struct err *err)
{
    (void)err;
    sh4_of(target)->semihosting = on;
    return 0;
}

static int op_syscall_return(struct target *target, int64_t result, int32_t error, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    if (!sh4_is_halted(t, err, "system call"))
        return -ERR_STATE;
    *sh4_reg_r(t, 0) = (uint32_t)result;
    *sh4_reg_r(t, 1) = (uint32_t)error;
    return 0;
}

static void op_close(struct target *target)
{
    struct sh4_target *t = target ? sh4_of(target) : NULL;
    if (!t)
        return;
    if (t->trace_close)
        t->trace_close(t);
    sh4_link_fini(&t->link);
    free(t->vbr_sites);
    free(t->trace_found);
    sh4_image_forget_written(t);
    free(t);
}

static void op_wire(struct target *target, struct target_wire *out)
{
    const struct sh4_clock *c = &sh4_of(target)->link.clock;
    *out = (struct target_wire){
        .damaged = c->damaged, .hz = c->hz, .from_hz = c->from_hz, .disturbed = c->disturbed
    };
}

static const struct target_ops table = {
    .name = "sh7750",
    .gdb_arch = "sh4",
    .regs = sh4_target_regs,
    .nregs = SH4_NREGS,
    .pc_reg = SH4_REG_PC,
    .sp_reg = SH4_REG_SP,
    .bp_size = 2,
    .canonical = op_canonical,
    .attach = op_attach,
    .detach = op_detach,
    .state = op_state,
    .halt = op_halt,
    .resume = op_resume,
    .poll = op_poll,
    .reset = op_reset,
    .why_halted = op_why_halted,
    .remark = op_remark,
    .read_reg = sh4_read_reg,
    .write_reg = sh4_write_reg,
    .read_mem = sh4_read_mem,
    .write_mem = sh4_write_mem,
    .same_mem = sh4_same_mem,
    .sample_pc = sh4_sample_pc,
    .insert_bp = sh4_insert_bp,
    .remove_bp = sh4_remove_bp,
    .memory_map = op_memory_map,
    .monitor = sh4_monitor,
    .events = sh4_events,
    .default_events = { 0x23, 0x08 },
    .exception_text = sh4_exception_text,
    .insn = sh4_insn,
    .counters_arm = sh4_counters_arm,
    .counters_read = sh4_counters_read,
    .semihosting = op_semihosting,
    .syscall_return = op_syscall_return,
    .trace = NULL,
    .now_ns = op_now,
    .set_image = sh4_set_image,
    .wire = op_wire,
    .close = op_close,
};

const struct target_ops *sh4_target_ops(void) { return &table; }

static const char *variant_name(const char *name)
{
    static const char *const known[] = { "sh7750", "sh7091" };
    for (size_t i = 0; name && i < ARRAY_LEN(known); i++)
        if (!strcmp(name, known[i]))
            return known[i];
    return name ? NULL : known[0];
}

/* A network loader lies where the agent usually is. */
static void choose_ram(struct sh4_target *t, bool loader)
{
    uint32_t at = loader ? SH4_DCIP_RAM : SH4_AGENT_RAM_DEFAULT,
             bytes = loader ? SH4_DCIP_RAM_BYTES : SH4_AGENT_RAM_BYTES;
    t->opt.agent_ram = t->opt.agent_ram ? t->opt.agent_ram : at;
    t->opt.agent_ram_bytes = t->opt.agent_ram_bytes ? t->opt.agent_ram_bytes : bytes;
    t->own_ram = t->opt.agent_ram != at || t->opt.agent_ram_bytes != bytes;
}

int sh4_open(struct probe *p, const struct sh4_options *opt, struct target **out, struct err *err)
{
    const char *name = variant_name(opt ? opt->variant : NULL);
    if (!name)
        return err_set(err, ERR_USAGE, "sh7750 or sh7091", "no SH-4 part \"%s\" is known",
                       opt->variant);
    const struct stream_ops *stream = p->driver->stream;
    if (!p->driver->jtag && !stream)
        return err_set(err, ERR_UNSUPPORTED, "use an adapter with JTAG", "%s has no JTAG pins",
                       p->name);
    struct sh4_target *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "SH-4 target: no memory");
    if (opt)
        t->opt = *opt;
    t->opt.variant = name;
    t->opt.allow_private = t->opt.allow_private && p->driver->jtag;
    choose_ram(t, !p->driver->jtag && stream->traits(p) & STREAM_DATAGRAMS);
    t->ops = table;
    t->ops.name = name;
    t->ops.trace = sh4_trace_ops();
    t->base.ops = &t->ops;
    t->base.big_endian = t->opt.big_endian;
    t->probe = p;
    t->nonce = 0x2545F491;
    int ret = sh4_link_init(&t->link, p, err);
    uint32_t hz = 0;
    if (ret == 0 && t->opt.tck_hz && p->driver->jtag && p->driver->jtag->set_clock)
        ret = p->driver->jtag->set_clock(p, t->opt.tck_hz, &hz, err);
    if (ret == 0 && t->opt.tck_auto)
        t->link.clock.hz = hz;
    if (ret < 0) {
        op_close(&t->base);
        return ret;
    }
    *out = &t->base;
    return 0;
}
