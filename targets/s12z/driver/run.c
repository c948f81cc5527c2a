/* Run control: halt, resume, steps, and why it stopped. Source: ZVM p.127-166, ZVHL p.143-227. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"
#include "targets/s12z/driver/access.h"
#include "targets/s12z/driver/driver.h"

enum { SIGNAL_INT = 2, SIGNAL_TRAP = 5 };
#define HALT_LIMIT_NS (1000u * 1000000u)
#define CSR(t, f)     REG_GET((t)->link.csr, S12Z_BDCCSR_##f)

void s12z_stop_is(struct s12z_target *t, enum stop_reason reason, int signal)
{
    memset(&t->run.stop, 0, sizeof t->run.stop);
    t->run.stop.reason = reason;
    t->run.stop.signal = signal;
    t->run.stop.pc = t->regs.valid >> S12Z_REG_PC & 1 ? t->regs.value[S12Z_REG_PC] : 0;
}

void s12z_forget_halt(struct s12z_target *t)
{
    t->regs.valid = 0;
    t->run.halt_wanted = t->run.stop_pending = t->run.stepping = t->run.step_then_go =
        t->run.sample_asked = false;
    t->run.lifted = S12Z_NONE;
    t->run.range_lo = t->run.range_hi = 0;
}

int s12z_end_step(struct s12z_target *t, struct err *err)
{
    struct s12z_patch *p = t->run.lifted == S12Z_NONE ? NULL : s12z_patch_at(t, t->run.lifted);
    t->run.stepping = false;
    int ret = p ? s12z_patch_set(t, p, true, err) : 0;
    if (ret == 0)
        t->run.lifted = S12Z_NONE;
    return ret;
}

/* ---- why it stopped ---- */

/* BGND halts behind itself; the program is to see its address. Not certain for silicon
 * (docs/unverified.md), so a PC on the breakpoint itself is understood as well. 1: it was one of
 * ours. */
static int at_patch(struct s12z_target *t, uint32_t pc, struct err *err)
{
    struct s12z_patch *behind = s12z_patch_at(t, (pc - 1) & S12Z_ADDRESS),
                      *on = s12z_patch_at(t, pc);
    if (behind && behind->in_memory) {
        int ret = s12z_set_reg(t, S12Z_REG_PC, behind->addr, err);
        if (ret < 0)
            return ret;
        t->regs.value[S12Z_REG_PC] = behind->addr;
        t->regs.valid |= 1u << S12Z_REG_PC;
        return 1;
    }
    return on && on->in_memory && !t->run.halt_wanted;
}

static void stop_at_hard(struct s12z_target *t, const struct s12z_hard *h)
{
    bool watch = h->kind != BP_SOFT && h->kind != BP_HARD;
    s12z_stop_is(t,
                 watch                ? STOP_WATCH
                 : h->kind == BP_SOFT ? STOP_SWBREAK
                                      : STOP_HWBREAK,
                 SIGNAL_TRAP);
    if (!watch)
        return;
    t->run.stop.watch_addr = h->addr;
    t->run.stop.watch_kind = h->kind;
}

/* What the program has at addr, if memory around it is the program's: 4 bytes on either side. -1:
 * not known. */
static int program_byte(struct s12z_target *t, uint32_t addr)
{
    enum { AROUND = 4 };
    uint8_t have[2 * AROUND + 1];
    for (size_t k = 0; t->image && k < t->image->nsections; k++) {
        const struct image_section *s = &t->image->sections[k];
        if (!s->data || !s->code || addr < s->addr || addr - s->addr >= s->size)
            continue;
        uint32_t first = addr - (uint32_t)MIN((uint64_t)AROUND, addr - s->addr);
        uint32_t n =
            (uint32_t)MIN((uint64_t)(addr + AROUND + 1 - first), s->addr + s->size - first);
        const uint8_t *want = s->data + (first - s->addr);
        if (s12z_read_raw(t, first, 0, have, n, NULL) < 0)
            return -1;
        have[addr - first] = want[addr - first];
        return memcmp(have, want, n) ? -1 : want[addr - first];
    }
    return -1;
}

/* A BGND in RAM that is not ours, nor the program's: the breakpoint of a session that was lost. It
 * is taken away, as that session would have done. */
static int remove_stray(struct s12z_target *t, uint32_t addr, uint8_t byte, struct err *err)
{
    int ret = s12z_write_raw(t, addr, 1, &byte, 1, err);
    if (ret == 0)
        ret = s12z_set_reg(t, S12Z_REG_PC, addr, err);
    s12z_stop_is(t, STOP_SIGNAL, SIGNAL_TRAP);
    t->run.stop.pc = addr;
    snprintf(t->run.stop.text, sizeof t->run.stop.text,
             "a breakpoint left at %06X by a session that was lost; the program's byte is back",
             addr);
    return ret < 0 ? ret : 1;
}

/* Neither asked for, nor a comparator, nor a BGND of ours. */
static int stop_unasked(struct s12z_target *t, uint32_t pc, struct err *err)
{
    uint8_t byte = 0xFF;
    uint32_t at = (pc - 1) & S12Z_ADDRESS;
    int ret = s12z_read_raw(t, at, 1, &byte, 1, NULL);
    if (ret < 0 && t->run.state == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "the target does not answer");
    bool bgnd = ret == 0 && byte == 0, ram = !s12z_in_flash(t, at);
    int programs = bgnd && ram ? program_byte(t, at) : -1;
    if (programs > 0)
        return remove_stray(t, at, (uint8_t)programs, err);
    s12z_stop_is(t, STOP_SIGNAL, SIGNAL_TRAP);
    strcpy(t->run.stop.text, !bgnd ? "halted by something else than this debugger"
                             : ram && programs < 0
                                 ? "BGND in RAM: the program's own, or left there by "
                                   "a session that was lost (then load again)"
                                 : "BGND compiled into the program");
    return 1;
}

/* 1: it stands at a breakpoint or watchpoint of ours, t->run.stop says which; 0: not. efr: DBGEFR
 * as found. */
static int at_break(struct s12z_target *t, uint8_t efr, struct err *err)
{
    uint32_t pc;
    int ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret < 0)
        return ret;
    if ((ret = at_patch(t, pc, err)) != 0) {
        s12z_stop_is(t, STOP_SWBREAK, SIGNAL_TRAP);
        return ret;
    }
    const struct s12z_hard *h = s12z_hard_hit(t, efr);
    if (h)
        stop_at_hard(t, h);
    return h != NULL;
}

int s12z_found_halted(struct s12z_target *t, uint8_t *efr, struct err *err)
{
    int ret = s12z_peek8(t, S12Z_DBGEFR, efr, err);
    if (ret == 0)
        ret = at_break(t, *efr, err);
    if (ret == 0)
        s12z_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    return MIN(ret, 0);
}

/* The CPU is in active BDM after running. 1: a stop to report, 0: to run on, < 0 failure. */
static int classify(struct s12z_target *t, uint8_t efr, struct err *err)
{
    int ret = at_break(t, efr, err);
    if (ret != 0 || t->hooks || !t->run.halt_wanted)
        return ret;
    s12z_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    return 1;
}

static void stop_was_reset(struct s12z_target *t)
{
    t->run.reset_stop = false;
    s12z_stop_is(t, STOP_RESET, SIGNAL_TRAP);
    strcpy(t->run.stop.text,
           "the part was reset (COP, pin, or the program); halted some milliseconds after it");
}

/* Halted: what does the caller see? As poll(). */
static int settle(struct s12z_target *t, struct target_stop *stop, struct err *err)
{
    bool stepped = t->run.stepping, asked = t->run.halt_wanted;
    uint8_t efr = 0;
    uint32_t pc;
    t->run.state = TARGET_HALTED;
    t->regs.valid = 0;
    int ret = s12z_dbg_disarm(t, &efr, err);
    if (ret == 0)
        ret = s12z_end_step(t, err);
    if (ret < 0)
        return ret;
    int profile = t->hooks ? t->hooks->halted(t, efr, err) : 0;
    if (profile < 0)
        return profile;
    if (t->run.reset_stop) {
        s12z_get_reg(t, S12Z_REG_PC, &pc, NULL);
        stop_was_reset(t);
        ret = 1;
    } else if (stepped) {
        ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
        if (ret < 0)
            return ret;
        ret = !t->run.step_then_go || asked;
        s12z_stop_is(t, asked ? STOP_REQUEST : STOP_STEP, asked ? SIGNAL_INT : SIGNAL_TRAP);
    } else {
        ret = classify(t, efr, err);
        if (ret == 0 && asked) {
            s12z_stop_is(t, STOP_REQUEST, SIGNAL_INT);
            ret = 1;
        } else if (ret == 0 && !profile) {
            ret = stop_unasked(t, t->regs.value[S12Z_REG_PC], err);
        }
    }
    t->run.step_then_go = false;
    if (ret == 0)
        return s12z_run_freely(t, err);
    if (ret > 0) {
        t->run.halt_wanted = false;
        t->run.range_hi = 0;
        *stop = t->run.stop;
    }
    return ret;
}

/* ---- halting ---- */

int s12z_halt(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    if (t->run.state == TARGET_HALTED)
        return 0;
    if (t->run.state != TARGET_RUNNING || t->part.secured)
        return s12z_is_halted(t, err, "halt") ? 0
               : t->part.secured              ? -ERR_SECURED
               : t->run.state == TARGET_GONE  ? -ERR_NO_TARGET
                                              : -ERR_STATE;
    if (t->run.halt_wanted || t->run.stop_pending)
        return 0;
    log_msg(t->probe->log, LOG_TARGET, "%s: halt asked", t->probe->name);
    t->run.halt_wanted = true;
    t->run.halt_since_ns = s12z_now(t);
    if (t->run.range_hi > t->run.range_lo)
        return 0; /* stepped from here: the loop ends at the next poll */
    return s12z_command(t, BDC_BACKGROUND, err);
}

static int halt_failed(struct s12z_target *t, struct err *err)
{
    t->run.halt_wanted = false;
    if (CSR(t, STOP) || CSR(t, WAIT))
        return err_set(err, ERR_TIMEOUT,
                       "an interrupt wakes it and it halts then; or monitor reset halt",
                       "halt: the CPU sleeps in %s", CSR(t, STOP) ? "STOP" : "WAI");
    return err_set(err, ERR_TIMEOUT, "monitor reset halt",
                   "halt: the CPU does not enter active BDM (BDCCSR %04X)", t->link.csr);
}

int s12z_halt_now(struct s12z_target *t, struct err *err)
{
    struct target_stop stop;
    int ret = s12z_halt(&t->base, err);
    while (ret == 0 && t->run.state == TARGET_RUNNING)
        ret = s12z_poll(&t->base, 20000000, &stop, err);
    return MIN(ret, 0);
}

/* ---- letting it run ---- */

int s12z_run_freely(struct s12z_target *t, struct err *err)
{
    int ret = t->hooks ? t->hooks->resuming(t, err) : 0;
    if (ret == 0)
        ret = s12z_patches_write(t, err);
    if (ret == 0)
        ret = s12z_dbg_arm(t, err);
    if (ret == 0)
        ret = s12z_command(t, BDC_GO, err);
    if (ret < 0)
        return err_prefix(err, ret, "resume");
    t->run.state = TARGET_RUNNING;
    t->regs.valid = 0;
    if (t->hooks)
        t->hooks->resumed(t);
    return 0;
}

/* ---- watchpoints while single-stepping: the module's matches are ignored then, so the instruction
 * is read before it runs ---- */

struct step_accesses {
    struct s12z_access at[S12Z_MAX_ACCESSES + 1];
    int n;
    uint32_t s; /* the stack pointer before */
};

static int pointer(void *ctx, uint32_t addr, uint32_t *value)
{
    uint8_t raw[3];
    int ret = s12z_read_raw(ctx, addr, 0, raw, 3, NULL);
    if (ret == 0)
        *value = (uint32_t)raw[0] << 16 | (uint32_t)raw[1] << 8 | raw[2];
    return ret;
}

/* An instruction that cannot be read will not do anything either. */
static int expect_accesses(struct s12z_target *t, struct step_accesses *a, struct err *err)
{
    uint8_t code[S12Z_MAX_LENGTH];
    struct s12z_insn i;
    uint32_t pc = t->regs.value[S12Z_REG_PC];
    size_t avail = MIN((size_t)S12Z_MAX_LENGTH, (size_t)(S12Z_ADDRESS + 1 - pc));
    a->n = 0;
    if (!s12z_watches(t))
        return 0;
    int ret = s12z_get_reg(t, S12Z_REG_SP, &a->s, err); /* all of them in one go */
    while (ret == 0 && avail && s12z_read_mem(&t->base, pc, 0, code, avail, NULL) < 0)
        avail--; /* near the end of a memory */
    if (ret == 0 && s12z_decode(code, avail, pc, &i) > 0)
        a->n = MAX(s12z_accesses(&i, pc, t->regs.value, pointer, t, a->at), 0);
    return t->run.state == TARGET_GONE ? -ERR_NO_TARGET : ret;
}

/* After the step. A stack deeper by a frame is an interrupt that came along. */
static int look_at_accesses(struct s12z_target *t, struct step_accesses *a, struct err *err)
{
    uint32_t s = 0;
    t->run.met = NULL;
    if (!s12z_watches(t))
        return 0;
    int ret = s12z_get_reg(t, S12Z_REG_SP, &s, err);
    if (ret == 0 && s + S12Z_FRAME_BYTES == a->s)
        a->at[a->n++] = (struct s12z_access){ .addr = s, .bytes = S12Z_FRAME_BYTES, .write = true };
    for (int k = 0; ret == 0 && !t->run.met && k < a->n; k++)
        t->run.met =
            s12z_watch_meets(t, a->at[k].addr, a->at[k].bytes, a->at[k].read, a->at[k].write);
    return ret;
}

/* One STEP1. 1: done, halted again; 0: the instruction was WAI or STOP and the CPU sleeps on it.
 * Matches of the module would be ignored by hardware but end its sequence, so it is disarmed. */
static int step_once(struct s12z_target *t, struct err *err)
{
    struct s12z_patch *p = s12z_patch_at(t, t->regs.value[S12Z_REG_PC]);
    struct step_accesses accesses;
    int ret = s12z_dbg_disarm(t, NULL, err);
    if (ret == 0)
        ret = expect_accesses(t, &accesses, err);
    if (ret == 0 && p && p->in_memory) {
        ret = s12z_patch_set(t, p, false, err);
        t->run.lifted = ret == 0 ? p->addr : t->run.lifted;
    }
    if (ret < 0)
        return ret;
    t->run.stepping = true;
    t->run.steps++;
    t->regs.valid = 0;
    ret = s12z_command(t, BDC_STEP1, err);
    if (ret == 0)
        ret = s12z_read_csr(t, err);
    if (ret < 0)
        return ret;
    if (!CSR(t, BDMACT)) {
        t->run.state = TARGET_RUNNING;
        return 0;
    }
    ret = s12z_end_step(t, err);
    if (ret == 0)
        ret = look_at_accesses(t, &accesses, err);
    return ret < 0 ? ret : 1;
}

static int need_pc(struct s12z_target *t, uint32_t *pc, struct err *err)
{
    return s12z_get_reg(t, S12Z_REG_PC, pc, err);
}

static int step(struct s12z_target *t, struct err *err)
{
    uint32_t pc;
    int ret = need_pc(t, &pc, err);
    if (ret == 0)
        ret = step_once(t, err);
    if (ret <= 0)
        return ret;
    ret = need_pc(t, &pc, err);
    if (t->run.met)
        stop_at_hard(t, t->run.met);
    else
        s12z_stop_is(t, STOP_STEP, SIGNAL_TRAP);
    t->run.stop_pending = true;
    return ret;
}

/* Off a breakpoint with one step, the rest freely: breakpoints are ignored during STEP1 only (ZVHL
 * p.227). */
static int go_on(struct s12z_target *t, struct err *err)
{
    uint32_t pc;
    bool breaks = t->breaks.npatches || s12z_dbg_wanted(t);
    int ret = breaks ? need_pc(t, &pc, err) : 0;
    if (ret < 0)
        return ret;
    if (!breaks || (!s12z_patch_at(t, pc) && !s12z_code_break_at(t, pc)))
        return s12z_run_freely(t, err);
    t->run.step_then_go = true;
    ret = step_once(t, err);
    if (ret <= 0)
        return ret;
    t->run.step_then_go = false;
    if (t->run.met) {
        ret = need_pc(t, &pc, err);
        stop_at_hard(t, t->run.met);
        t->run.stop_pending = ret == 0;
        return ret;
    }
    return s12z_run_freely(t, err);
}

int s12z_resume(struct target *target, const struct resume *how, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint32_t pc;
    if (!s12z_is_halted(t, err, "resume"))
        return t->part.secured               ? -ERR_SECURED
               : t->run.state == TARGET_GONE ? -ERR_NO_TARGET
                                             : -ERR_STATE;
    s12z_flash_broken_off(t, "letting the program run");
    t->run.met = NULL;
    int ret = how->set_pc ? s12z_set_reg(t, S12Z_REG_PC, (uint32_t)how->pc & S12Z_ADDRESS, err) : 0;
    if (ret < 0)
        return ret;
    t->run.stop_pending = t->run.halt_wanted = t->run.step_then_go = t->run.reset_stop = false;
    t->run.range_lo = t->run.range_hi = 0;
    log_msg(t->probe->log, LOG_TARGET, "%s: %s", t->probe->name,
            how->kind == RESUME_CONTINUE ? "continue"
            : how->kind == RESUME_STEP   ? "step"
                                         : "step in a range");
    if (how->kind == RESUME_CONTINUE)
        return go_on(t, err);
    if (how->kind == RESUME_STEP || how->range_hi <= how->range_lo)
        return step(t, err);
    ret = need_pc(t, &pc, err);
    if (ret < 0)
        return ret;
    t->run.range_lo = (uint32_t)how->range_lo;
    t->run.range_hi = (uint32_t)how->range_hi;
    t->run.state = TARGET_RUNNING; /* stepped at every poll */
    return 0;
}

/* ---- looking ---- */

/* Steps inside [range_lo, range_hi) until `end`. As poll(). */
static int step_range(struct s12z_target *t, uint64_t end, struct target_stop *stop,
                      struct err *err)
{
    enum stop_reason reason = STOP_NONE;
    uint32_t pc;
    t->run.state = TARGET_HALTED;
    while (reason == STOP_NONE) {
        int ret = step_once(t, err);
        if (ret <= 0)
            return ret; /* 0: it sleeps; the next polls wait for that */
        if ((ret = need_pc(t, &pc, err)) < 0)
            return ret;
        const struct s12z_hard *h = s12z_code_break_at(t, pc);
        if (t->run.met)
            reason = STOP_WATCH;
        else if (s12z_patch_at(t, pc) || (h && h->kind == BP_SOFT))
            reason = STOP_SWBREAK;
        else if (h)
            reason = STOP_HWBREAK;
        else if (pc < t->run.range_lo || pc >= t->run.range_hi)
            reason = STOP_STEP;
        else if (t->run.halt_wanted)
            reason = STOP_REQUEST;
        else if (s12z_now(t) >= end)
            break;
    }
    if (reason == STOP_NONE) {
        t->run.state = TARGET_RUNNING;
        return 0;
    }
    t->run.range_hi = 0;
    t->run.halt_wanted = false;
    if (reason == STOP_WATCH)
        stop_at_hard(t, t->run.met);
    else
        s12z_stop_is(t, reason, reason == STOP_REQUEST ? SIGNAL_INT : SIGNAL_TRAP);
    *stop = t->run.stop;
    return 1;
}

/* It was reset while it ran. With anything of ours in it, it is halted to say so; else it is left
 * to run. */
static int see_to_reset(struct s12z_target *t, struct err *err)
{
    bool ours = t->breaks.npatches || s12z_dbg_wanted(t) || t->run.halt_wanted || t->run.stepping ||
                t->run.range_hi > t->run.range_lo || t->run.reset_while_halted;
    t->run.was_reset = t->run.reset_while_halted = t->run.stepping = t->run.step_then_go = false;
    t->run.range_hi = 0;
    if (t->hooks)
        t->hooks->reset(t);
    if (!ours)
        return 0;
    t->run.reset_stop = t->run.halt_wanted = true;
    t->run.halt_since_ns = s12z_now(t);
    return s12z_command(t, BDC_BACKGROUND, err);
}

/* ---- looks at the PC by adapters without SYNC_PC: the program is halted for a moment ---- */

/* Halted by what was asked for a look, or by a breakpoint at the same time? 1: a breakpoint. */
static int met_breakpoint(struct s12z_target *t, uint32_t pc, struct err *err)
{
    const struct s12z_patch *p = s12z_patch_at(t, (pc - 1) & S12Z_ADDRESS);
    uint8_t c1 = REG_MASK(S12Z_DBGC1_ARM);
    int ret = t->dbg.armed ? s12z_peek8(t, S12Z_DBGC1, &c1, err) : 0;
    return ret < 0 ? ret : (p && p->in_memory) || !REG_GET(c1, S12Z_DBGC1_ARM);
}

/* It stands in active BDM. Runs on, or if it met a breakpoint stays for poll() to tell. 1 with *pc;
 * 0: a stop. */
static int look_and_go(struct s12z_target *t, uint64_t *pc, struct err *err)
{
    uint8_t rx[4];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_READ_REG + S12Z_REG_PC, .rx = rx };
    t->run.sample_asked = false;
    int ret = s12z_do(t, &op, 1, err);
    if (ret < 0)
        return ret;
    *pc = be32(rx) & S12Z_ADDRESS;
    ret = t->run.halt_wanted ? 1 : met_breakpoint(t, (uint32_t)*pc, err);
    if (ret == 0)
        ret = s12z_command(t, BDC_GO, err);
    else if (ret > 0)
        return 0;
    return ret < 0 ? ret : 1;
}

static int halt_to_look(struct s12z_target *t, uint64_t *pc, struct err *err)
{
    enum { LOOKS = 3 };
    if (t->run.halt_wanted || t->run.stop_pending || t->run.stepping || t->run.was_reset ||
        t->run.range_hi > t->run.range_lo)
        return 0; /* it is about to stop anyway */
    uint64_t from = s12z_now(t);
    int ret = t->run.sample_asked ? 0 : s12z_command(t, BDC_BACKGROUND, err);
    t->run.sample_asked = ret == 0;
    for (int k = 0; ret == 0 && k < LOOKS; k++) {
        ret = s12z_read_csr(t, err);
        if (ret < 0 || t->run.was_reset || !CSR(t, BDMACT))
            continue;
        ret = look_and_go(t, pc, err);
        t->run.sampled_ns += s12z_now(t) - from;
        return ret;
    }
    return ret; /* asleep */
}

uint64_t s12z_sample_held_ns(struct target *t) { return s12z_of(t)->run.sampled_ns; }

static int poll_running(struct s12z_target *t, uint64_t max_ns, struct target_stop *stop,
                        struct err *err)
{
    uint64_t end = s12z_now(t) + max_ns, slice = 20000;
    for (;;) {
        if (t->run.range_hi > t->run.range_lo && !t->run.stepping && !t->run.was_reset)
            return step_range(t, end, stop, err);
        int ret = s12z_read_csr(t, err);
        if (ret == 0 && t->run.was_reset)
            ret = see_to_reset(t, err);
        if (ret < 0)
            return ret;
        if (CSR(t, BDMACT) && t->run.sample_asked && !t->run.halt_wanted) { /* it woke up */
            uint64_t pc;
            ret = look_and_go(t, &pc, err);
            if (ret < 0)
                return ret;
            continue;
        }
        if (CSR(t, BDMACT)) {
            ret = settle(t, stop, err);
            if (ret || t->run.state != TARGET_RUNNING || s12z_now(t) >= end)
                return ret;
            continue;
        }
        if (t->hooks && (ret = t->hooks->poll(t, max_ns, err)) < 0)
            return ret;
        if (t->run.halt_wanted && s12z_now(t) - t->run.halt_since_ns > HALT_LIMIT_NS)
            return halt_failed(t, err);
        uint64_t at = s12z_now(t);
        if (at >= end)
            return 0;
        if ((ret = s12z_wait(t, MIN(slice, end - at), err)) < 0)
            return ret;
        slice = MIN(slice * 2, (uint64_t)1000000);
    }
}

int s12z_poll(struct target *target, uint64_t max_ns, struct target_stop *stop, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    if (t->run.stop_pending) {
        t->run.stop_pending = false;
        *stop = t->run.stop;
        return 1;
    }
    if (t->run.state == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "the target is gone");
    /* one found to have been reset is stopped again by the next poll */
    if (t->run.state != TARGET_RUNNING) {
        int looked = t->run.state == TARGET_HALTED && max_ns ? s12z_read_csr(t, err) : 0;
        return looked < 0 ? err_prefix(err, looked, "looking whether the board is still there") : 0;
    }
    int ret = poll_running(t, max_ns, stop, err);
    /* what halted it is not known: its program would stand for good, untold */
    if (ret < 0 && t->run.state == TARGET_HALTED) {
        t->run.state = TARGET_GONE;
        t->link.up = false;
    }
    ret = s12z_lost(t, ret);
    t->lost.ran |= t->run.state == TARGET_GONE;
    return ret;
}

int s12z_sample_pc(struct target *target, uint64_t *pc, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint8_t rx[3];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_SYNC_PC, .rx = rx };
    struct err why = { .code = ERR_OK };
    if (t->run.state != TARGET_RUNNING)
        return err_set(err, ERR_STATE, "let it run", "sample: the target does not run");
    if (!s12z_can(t, BDC_SYNC_PC))
        return halt_to_look(t, pc, err);
    int ret = s12z_do(t, &op, 1, &why);
    if (ret == -ERR_STATE) /* asleep */
        return 0;
    if (ret < 0) {
        if (err)
            *err = why;
        return ret;
    }
    *pc = (uint32_t)rx[0] << 16 | (uint32_t)rx[1] << 8 | rx[2];
    return 1;
}
