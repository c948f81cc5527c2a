/* Running, stepping and stops.
 *
 * A stub's own step is used where it can be trusted: between branches always, at branches if it
 * steps a CPU. Other stubs compute where a branch goes, and some wrongly (bit 7 and bit 11 of
 * displacements, BT/S, BF/S, BRAF, BSRF, RTE: GDB sh-stub.c, doSStep). There the host computes
 * where the branch goes, and steps only its delay slot. No instruction that is legal in a slot
 * depends on where it stands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/hex.h"
#include "probe/base/bytes.h"
#include "targets/gdb_kinds.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/rsp/rsp_priv.h"

#define HALT_NS       3000000000ull
#define ACK_NS        200000000ull
#define STILL_NS      3000000000ull /* of silence, until a halted stub is asked */
#define STILL_WAIT_NS 1000000000ull
enum { STILL_ASKS = 3 };

/* ---- stop replies ---- */

/* "thread:01;10:0000018c;swbreak:;": what we use of it. */
static void stop_fields(struct rsp_target *t, const char *text, bool *has_pc, uint32_t *pc)
{
    while (*text) {
        uint8_t b[4];
        for (enum bp_kind kind = BP_WATCH_WRITE; kind <= BP_WATCH_ACCESS; kind++) {
            const char *word = gdb_watch_word(kind);
            if (strncmp(text, word, strlen(word)) != 0)
                continue;
            t->stop.reason = STOP_WATCH;
            t->stop.watch_kind = kind;
            t->stop.watch_addr = strtoul(text + strlen(word), NULL, 16);
        }
        t->user_break |= !strncmp(text, "reason:hwbreak;", 15);
        if (!strncmp(text, "10:", 3) && strlen(text) >= 11 && hex_decode(b, text + 3, 4)) {
            *has_pc = true;
            *pc = get32(b, t->base.big_endian);
        }
        text += strcspn(text, ";");
        text += *text == ';';
    }
}

/* Exits: the stub may be gone with the program, which the next question tells. */
static int program_ended(struct rsp_target *t)
{
    t->state = TARGET_HALTED;
    t->stop =
        (struct target_stop){ .reason = STOP_EXIT,
                              .exit_status = (int)strtoul(t->c.in.body + 1, NULL, 16) & 0xFF };
    return 1;
}

static bool written_at(struct rsp_target *t, uint32_t addr)
{
    const struct rsp_bp *b = rsp_bp_at(t, addr), *temp = &t->bp[t->nbp];
    return (b && b->written) || (t->temp_set && temp->written && addr == t->temp);
}

/* A stub that knows TRAPA #0x20 sets the PC back to it; with others the PC is behind it. The first
 * clear stop shows which. Until then, between two breakpoints side by side, the PC is taken to be
 * set back, except after a step, whose end is known. */
static int mend_pc(struct rsp_target *t, uint32_t *pc, struct err *err)
{
    bool at = written_at(t, *pc), behind = written_at(t, *pc - 2);
    if (t->plan != RSP_RUN && t->to_temp && at && behind) {
        at = *pc == t->temp;
        behind = *pc - 2 == t->temp;
    }
    if (at != behind) {
        t->q.pc_known = true;
        t->q.pc_behind = behind;
    }
    if (!behind || (at && !t->q.pc_behind))
        return 0;
    *pc -= 2;
    return rsp_set(t, RSP_PC, *pc, err);
}

int rsp_take_stop(struct rsp_target *t, struct err *err)
{
    const char *body = t->c.in.body;
    uint32_t pc = 0;
    bool has_pc = false;
    uint8_t signal = 0;
    rsp_remember(&t->c);
    if (body[0] == 'W' || body[0] == 'X')
        return program_ended(t);
    if ((body[0] != 'S' && body[0] != 'T') || !hex_decode(&signal, body + 1, 1))
        return err_set(err, ERR_PROTOCOL, "is this the stub of an SH-4?",
                       "%s: no stop reply: '%.40s'", t->probe->name, body);
    t->state = TARGET_HALTED;
    t->regs_known = false;
    t->user_break = signal == RSP_SIGEMT;
    t->stop = (struct target_stop){ .reason = STOP_SIGNAL, .signal = signal };
    if (t->user_break)
        t->stop.signal = RSP_SIGTRAP;
    if (body[0] == 'T')
        stop_fields(t, body + 3, &has_pc, &pc);
    if (!has_pc) {
        int ret = rsp_regs_load(t, err);
        if (ret < 0)
            return ret;
        pc = t->reg[RSP_PC];
    }
    t->trapped = !t->user_break && t->plan == RSP_RUN && !t->q.qemu;
    int ret = 0;
    if (!t->user_break && (signal == RSP_SIGTRAP || signal == 0))
        ret = mend_pc(t, &pc, err);
    t->stop.pc = t->trap_at = pc;
    if (ret < 0)
        return ret;
    return 1;
}

/* ---- ends of what was under way ---- */

static bool asked_to_halt(const struct rsp_target *t)
{
    struct rsp_bp *b = rsp_bp_at((struct rsp_target *)t, (uint32_t)t->stop.pc);
    return t->halt_wanted && (t->stop.signal == RSP_SIGINT ||
                              (t->stop.signal != RSP_SIGTRAP && t->stop.signal != 0) || !b);
}

/* KallistiOS says that the user break controller stopped the program, and not which of its
 * channels: that shows if only one is set. */
static void name_user_break(struct rsp_target *t)
{
    const struct rsp_bp *b = rsp_bp_at(t, (uint32_t)t->stop.pc), *watch = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < t->nbp; i++)
        if (t->bp[i].kind != BP_SOFT && t->bp[i].kind != BP_HARD) {
            watch = &t->bp[i];
            n++;
        }
    t->stop.signal = RSP_SIGTRAP;
    if (b && b->kind == BP_HARD) {
        t->stop.reason = STOP_HWBREAK;
    } else if (n == 1) {
        t->stop.reason = STOP_WATCH;
        t->stop.watch_kind = watch->kind;
        t->stop.watch_addr = watch->addr;
    }
}

/* Finds out what a plain stop was. Stubs send 5 for most; where it stands shows what they mean. */
static void name_stop(struct rsp_target *t, bool stepped)
{
    struct rsp_bp *b = rsp_bp_at(t, (uint32_t)t->stop.pc);
    if (t->stop.reason == STOP_SIGNAL && t->user_break)
        name_user_break(t);
    if (t->stop.reason != STOP_SIGNAL)
        return;
    if (asked_to_halt(t)) {
        t->listens = true;
        t->stop.reason = STOP_REQUEST;
        t->stop.signal = RSP_SIGINT;
    } else if (t->stop.signal != RSP_SIGTRAP && t->stop.signal != 0) {
        snprintf(t->stop.text, sizeof t->stop.text, "the stub says signal %d", t->stop.signal);
    } else {
        if (stepped)
            t->stop.reason = STOP_STEP;
        else if (b)
            t->stop.reason = rsp_bp_reason(b);
        t->stop.signal = RSP_SIGTRAP;
    }
}

/* Breakpoints on what a step runs through are taken out meanwhile: at most the branch and its slot.
 */
static int lift_patches(struct rsp_target *t, uint32_t addr, struct err *err)
{
    struct rsp_bp *b = rsp_bp_at(t, addr);
    int ret = 0;
    if (b)
        ret = rsp_bp_lift(t, b, err);
    if (b && ret == 0)
        t->lifted[t->nlifted++] = b;
    return ret;
}

static int put_back(struct rsp_target *t, struct err *err)
{
    int ret = 0;
    if (t->temp_set)
        ret = rsp_bp_lift(t, &t->bp[t->nbp], err);
    t->temp_set = t->to_temp = false;
    while (t->nlifted) {
        int again = rsp_bp_put(t, t->lifted[--t->nlifted], err);
        if (ret >= 0)
            ret = again;
    }
    return ret;
}

static int begin_step(struct rsp_target *t, struct err *err);
static int step_plain(struct rsp_target *t, uint32_t pc, struct err *err);

static bool in_range(const struct rsp_target *t)
{
    return t->how.kind == RESUME_RANGE && t->stop.pc >= t->how.range_lo &&
           t->stop.pc < t->how.range_hi;
}

/* lxdream's interpreter keeps the next PC apart from the PC, and goes on there after the PC was
 * written. The instruction that was stepped was the right one, so the PC is put behind it. Not
 * where a branch may have led there. */
static int mend_lag(struct rsp_target *t, struct err *err)
{
    bool there =
        t->lag && t->q.trusts_step && t->stop.pc == t->pc_was + 2 && t->stop.pc != t->step_from + 2;
    if (!there || (t->branches && (!t->has_goal || t->stop.pc == t->goal)))
        return 0;
    t->q.pc_lags = true;
    t->stop.pc = t->step_from + 2;
    return rsp_set(t, RSP_PC, t->step_from + 2, err);
}

/* A step is over: reports it, or makes the next one of a range. 1: it is a stop; 0: it goes on. */
static int step_done(struct rsp_target *t, struct err *err)
{
    bool plain = t->stop.reason == STOP_SIGNAL && !t->user_break &&
                 (t->stop.signal == RSP_SIGTRAP || t->stop.signal == 0) && !t->halt_wanted;
    int ret = 0;
    if (plain && t->plan != RSP_STEP_TO)
        ret = mend_lag(t, err);
    if (ret < 0)
        return ret;
    if (t->plan == RSP_STEP_SLOT && plain && t->stop.pc == t->slot_next) {
        ret = rsp_set(t, RSP_PC, t->after_slot, err);
        t->stop.pc = t->after_slot;
    }
    /* QEMU stops between a branch and its slot */
    if (t->plan == RSP_STEP_UNIT && plain && t->stop.pc == t->step_from + 2) {
        t->plan = RSP_STEP;
        return step_plain(t, t->step_from + 2, err);
    }
    t->plan = RSP_RUN;
    if (ret == 0)
        ret = put_back(t, err);
    if (ret < 0)
        return ret;
    bool met = plain && rsp_bp_at(t, (uint32_t)t->stop.pc);
    if (plain && !met && in_range(t))
        return begin_step(t, err);
    name_stop(t, true);
    return 1;
}

static int step_to(struct rsp_target *t, uint32_t addr, struct err *err);

/* The stub does not know 's': from here on steps are made by breakpoints, and the host computes
 * where branches go. */
static int step_refused(struct rsp_target *t, struct err *err)
{
    bool trusted = t->q.trusts_step;
    t->q.no_step = true;
    t->q.trusts_step = false;
    t->state = TARGET_HALTED;
    if (!trusted)
        return step_to(t, t->step_from + 2, err);
    int ret = put_back(t, err);
    if (ret < 0)
        return ret;
    return begin_step(t, err);
}

/* A stop reply came. 1: for the caller of poll(). */
static int has_stopped(struct rsp_target *t, struct err *err)
{
    if (!*t->c.in.body && t->plan != RSP_RUN && t->plan != RSP_STEP_TO && !t->q.no_step)
        return step_refused(t, err);
    int ret = rsp_take_stop(t, err);
    if (ret <= 0)
        return ret;
    if (t->plan != RSP_RUN && t->stop.reason != STOP_EXIT) {
        ret = step_done(t, err);
    } else {
        name_stop(t, false);
    }
    if (ret > 0)
        t->halt_wanted = false;
    return ret;
}

/* ---- going ---- */

/* The last answer once more, from a stub that missed our '+'. */
static bool is_repetition(struct rsp_target *t)
{
    bool is = !strchr("STWX", t->c.in.body[0]) && rsp_repeats(&t->c);
    t->c.stale += is;
    return is;
}

/* Gives the stub one chance to refuse the packet or ask for it again; then it runs. 1: it answered
 * with something. */
static int start_run(struct rsp_target *t, const char *packet, struct err *err)
{
    bool nak = true;
    uint64_t wait = t->c.lossless ? 0 : ACK_NS;
    int ret = 0;
    for (int i = 0; nak && ret == 0 && i < 3; i++) {
        nak = false;
        ret = rsp_send(&t->c, packet, strlen(packet), err);
        if (ret == 0 && !t->c.no_ack)
            ret = rsp_acknowledged(&t->c, wait, &nak, err);
        if (ret > 0 && (is_repetition(t) || rsp_console(&t->c)))
            ret = 0;
    }
    t->state = TARGET_RUNNING;
    t->lag = t->pc_moved && *packet == 's';
    t->regs_known = t->knocked = t->pc_moved = false;
    return rsp_lost(t, ret);
}

static int run_on(struct rsp_target *t, struct err *err)
{
    int ret = start_run(t, "c", err);
    if (ret <= 0)
        return ret;
    return rsp_lost(t, has_stopped(t, err));
}

/* Where a branch at pc goes, before its slot has run. False: only the CPU knows (RTE). */
static bool destination_of(const struct rsp_target *t, const struct sh4_flow *f, uint32_t pc,
                           uint16_t insn, uint32_t *to)
{
    /* BT 89, BT/S 8D; BF 8B, BF/S 8F */
    bool taken = REG_GET(t->reg[RSP_SR], SH4_SR_T) == ((insn >> 8 & 2) == 0);
    switch (f->kind) {
    case SH4_FLOW_BRANCH: *to = taken ? f->target : pc + sh4_flow_bytes(f); return true;
    case SH4_FLOW_BRA:
    case SH4_FLOW_CALL: *to = f->target; return true;
    case SH4_FLOW_CALL_REG:
    case SH4_FLOW_JMP_REG: *to = t->reg[f->reg]; return true;
    case SH4_FLOW_CALL_REL:
    case SH4_FLOW_JMP_REL: *to = pc + 4 + t->reg[f->reg]; return true;
    case SH4_FLOW_RTS: *to = t->reg[RSP_PR]; return true;
    default: return false;
    }
}

static bool is_call(const struct sh4_flow *f)
{
    return f->kind == SH4_FLOW_CALL || f->kind == SH4_FLOW_CALL_REG || f->kind == SH4_FLOW_CALL_REL;
}

/* For stubs without a step: sets a breakpoint of ours for the moment, and continues. */
static int step_to(struct rsp_target *t, uint32_t addr, struct err *err)
{
    struct rsp_bp *b = &t->bp[t->nbp]; /* one place behind those in use */
    if (t->nbp == ARRAY_LEN(t->bp))
        return err_set(err, ERR_RESOURCE, "remove a breakpoint",
                       "no breakpoint is left for a step");
    t->temp = addr;
    t->to_temp = true;
    if (!rsp_bp_at(t, addr)) {
        *b = (struct rsp_bp){ .addr = addr, .len = 2, .kind = BP_SOFT };
        int ret = rsp_bp_put(t, b, err);
        if (ret < 0)
            return ret;
        t->temp_set = true;
    }
    if (t->plan == RSP_RUN || t->plan == RSP_STEP)
        t->plan = RSP_STEP_TO;
    int ret = start_run(t, "c", err);
    if (ret <= 0)
        return ret;
    return has_stopped(t, err);
}

/* Uses the stub's own step from pc, where the instruction is none that it could get wrong. */
static int step_plain(struct rsp_target *t, uint32_t pc, struct err *err)
{
    t->step_from = pc;
    if (t->q.no_step)
        return step_to(t, pc + 2, err);
    int ret = start_run(t, "s", err);
    if (ret <= 0)
        return ret;
    return has_stopped(t, err);
}

static int step_rte(struct rsp_target *t, struct err *err)
{
    if (t->words > RSP_SPC && (t->reg[RSP_SPC] || t->reg[RSP_SSR]))
        return step_to(t, t->reg[RSP_SPC], err);
    if (t->all_words == 67) /* KallistiOS shows no SPC, but takes a UBC break for this one */
        return step_plain(t, t->reg[RSP_PC], err);
    return err_set(err, ERR_UNSUPPORTED,
                   "set a breakpoint where the interrupt returns to, and continue",
                   "%s: this stub cannot step over RTE, and shows no SPC", t->probe->name);
}

/* 1: done without running anything; 0: under way; < 0. */
static int step_branch(struct rsp_target *t, const struct sh4_flow *f, uint32_t pc, uint16_t insn,
                       struct err *err)
{
    uint32_t to;
    if (!destination_of(t, f, pc, insn, &to))
        return step_rte(t, err);
    uint32_t next = f->slot ? pc + 2 : to;
    int ret = 0;
    if (is_call(f))
        ret = rsp_set(t, RSP_PR, pc + 4, err);
    if (ret == 0)
        ret = rsp_set(t, RSP_PC, next, err);
    if (ret < 0)
        return ret;
    t->stop = (struct target_stop){ .reason = STOP_SIGNAL, .signal = RSP_SIGTRAP, .pc = to };
    if (!f->slot)
        return step_done(t, err);
    t->plan = RSP_STEP_SLOT;
    t->slot_next = pc + 4;
    t->after_slot = to;
    ret = lift_patches(t, pc + 2, err);
    if (ret < 0)
        return ret;
    return step_plain(t, pc + 2, err);
}

static int begin_step(struct rsp_target *t, struct err *err)
{
    uint16_t insn;
    int ret = rsp_regs_load(t, err);
    uint32_t pc = t->reg[RSP_PC];
    if (ret == 0)
        ret = rsp_insn(t, pc, &insn, err);
    if (ret < 0)
        return ret;
    struct sh4_flow f = sh4_flow(insn, pc);
    bool branch = f.kind != SH4_FLOW_NONE && f.kind != SH4_FLOW_TRAPA && f.kind != SH4_FLOW_ILLEGAL;
    t->plan = RSP_STEP;
    if (branch && f.slot && t->q.trusts_step)
        t->plan = RSP_STEP_UNIT;
    t->branches = branch;
    t->goal = f.target;
    t->has_goal =
        branch && (f.kind == SH4_FLOW_BRANCH || destination_of(t, &f, pc, insn, &t->goal));
    ret = lift_patches(t, pc, err);
    if (ret == 0 && t->plan == RSP_STEP_UNIT)
        ret = lift_patches(t, pc + 2, err);
    if (ret < 0)
        return ret;
    if (branch && !t->q.trusts_step)
        return step_branch(t, &f, pc, insn, err);
    return step_plain(t, pc, err);
}

/* A TRAPA #0x20 that the program has compiled in stops it as ours do. sh-stub.c sets the PC back to
 * it, too, where it would be met for ever. 1: it was passed. */
static int pass_own_trap(struct rsp_target *t, struct err *err)
{
    uint32_t pc = t->reg[RSP_PC];
    uint16_t insn;
    bool trapped = t->trap_at == pc && t->trapped && !rsp_bp_at(t, pc);
    t->trapped = false;
    if (!trapped)
        return 0;
    int ret = rsp_insn(t, pc, &insn, err);
    bool strange = ret == 0 && insn >> 8 == RSP_TRAPA >> 8 && insn != RSP_TRAPA;
    if (ret == 0 && insn == RSP_TRAPA)
        ret = rsp_set(t, RSP_PC, pc + 2, err);
    else if (strange && !t->q.no_z[0]) /* a stale session's? the stub removes it then */
        ret = rsp_question(t, err, "z0,%x,2", pc);
    if (ret == 0)
        ret = rsp_regs_load(t, err);
    if (ret < 0)
        return ret;
    return t->reg[RSP_PC] != pc;
}

int rsp_resume(struct target *target, const struct resume *how, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = rsp_need_halted(t, "resume", err), passed = 0;
    if (ret == 0 && how->set_pc)
        ret = rsp_set(t, RSP_PC, (uint32_t)how->pc, err);
    if (ret == 0)
        ret = rsp_regs_load(t, err);
    if (ret == 0)
        ret = passed = pass_own_trap(t, err);
    if (ret < 0)
        return ret;
    t->how = *how;
    t->has_stop = t->halt_wanted = false;
    t->plan = RSP_RUN;
    if (how->kind != RESUME_CONTINUE && passed) {
        t->stop = (struct target_stop){ .reason = STOP_STEP,
                                        .signal = RSP_SIGTRAP,
                                        .pc = t->reg[RSP_PC] };
    } else if (how->kind != RESUME_CONTINUE) {
        ret = begin_step(t, err);
        if (ret < 0 && t->state == TARGET_HALTED)
            put_back(t, NULL);
    } else if (rsp_bp_at(t, t->reg[RSP_PC])) { /* stubs differ; here a breakpoint one stands on
                                                  stops, as with every target */
        t->stop = (struct target_stop){ .reason = STOP_SIGNAL,
                                        .signal = RSP_SIGTRAP,
                                        .pc = t->reg[RSP_PC] };
        name_stop(t, false);
        ret = 1;
    } else {
        ret = run_on(t, err);
    }
    t->has_stop = ret > 0;
    return rsp_lost(t, MIN(ret, 0));
}

int rsp_halt(struct target *target, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    if (t->state == TARGET_HALTED)
        return 0;
    if (t->state != TARGET_RUNNING)
        return rsp_need_halted(t, "halt", err);
    if (t->halt_wanted)
        return 0;
    t->halt_wanted = true;
    t->halt_at_ns = t->probe->driver->stream->now_ns(t->probe);
    return rsp_knock(t, err);
}

static int no_halt(struct rsp_target *t, struct err *err)
{
    t->halt_wanted = false;
    t->q.no_interrupt = true;
    return err_set(err, ERR_TIMEOUT,
                   "this stub may not listen while the program runs (KallistiOS' does not): set a "
                   "breakpoint before it runs",
                   "%s: the program does not halt", t->probe->name);
}

/* Takes one packet of a running target. 1: it is the stop to report. */
static int listen_for_stop(struct rsp_target *t, uint64_t max_ns, struct err *err)
{
    int ret = rsp_receive(&t->c, max_ns, NULL, err);
    if (ret == -ERR_PROTOCOL) /* it was damaged, and is not repeated: most likely it was the stop */
        ret = rsp_try(&t->c, "?", rsp_patience(&t->c, HALT_NS), err);
    bool late =
        ret == 0 && t->halt_wanted &&
        t->probe->driver->stream->now_ns(t->probe) - t->halt_at_ns > rsp_patience(&t->c, HALT_NS);
    if (late)
        ret = rsp_knock_again(t, rsp_patience(&t->c, HALT_NS), err);
    if (ret > 0 && (is_repetition(t) || rsp_console(&t->c)))
        return 0;
    if (ret > 0)
        return has_stopped(t, err);
    if (late && ret == 0)
        return no_halt(t, err);
    return ret;
}

/* A halted stub on a serial line sends nothing by itself, also if its board has lost power. */
static int still_there(struct rsp_target *t, struct err *err)
{
    const struct stream_ops *s = t->probe->driver->stream;
    int ret = 0;
    if (t->c.lossless || s->now_ns(t->probe) - t->c.heard_ns < STILL_NS)
        return 0;
    for (int i = 0; i < STILL_ASKS && ret == 0; i++)
        ret = rsp_try(&t->c, "?", rsp_patience(&t->c, STILL_WAIT_NS), err);
    if (ret != 0)
        return MIN(ret, 0);
    t->state = TARGET_GONE;
    return err_set(err, ERR_NO_TARGET,
                   "has the board lost power, or was it reset? start its program and stub again",
                   "%s: the stub does not answer any more", t->probe->name);
}

int rsp_poll(struct target *target, uint64_t max_ns, struct target_stop *stop, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = 0;
    if (t->state == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "is the stub still there?", "%s: gone", t->probe->name);
    if (!t->has_stop && t->state == TARGET_RUNNING)
        ret = rsp_lost(t, listen_for_stop(t, max_ns, err));
    else if (!t->has_stop && t->state == TARGET_HALTED && max_ns &&
             (ret = rsp_receive(&t->c, 0, NULL, err)) > 0) {
        t->c.stale++; /* a halted stub has nothing to say; a stream that ended shows here */
        ret = 0;
    }
    if (ret == 0 && !t->has_stop && t->state == TARGET_HALTED && max_ns)
        ret = still_there(t, err);
    if (ret < 0)
        return rsp_lost(t, ret);
    if (!ret && !t->has_stop)
        return 0;
    t->has_stop = false;
    *stop = t->stop;
    return 1;
}
