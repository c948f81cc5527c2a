#include "targets/sh4/rsp/rsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "targets/sh4/rsp/rsp_priv.h"
#include "targets/sh4/driver/driver.h"

#define MS 1000000ull
enum { HELLO_MS = 1000, QEMU_MS = 300, LOOK_MS = 30, HELLOS = 2 };

/* ---- attach and detach ---- */

/* The one question that every stub answers, and a short one. A stub whose program runs leaves what
 * was sent in its receiver of 16 bytes, and more would block it (SCIF). Such a program may have to
 * be interrupted first. */
static int greet_stub(struct rsp_target *t, struct err *err)
{
    int ret = rsp_greet(&t->c, err);
    for (int i = 0; ret == 0 && i < HELLOS; i++) {
        if (i == 1)
            ret = rsp_interrupt(&t->c, err);
        else
            ret = 0;
        if (ret == 0)
            ret = rsp_try(&t->c, "?", rsp_patience(&t->c, HELLO_MS * MS), err);
    }
    if (ret != 0)
        return MIN(ret, 0);
    if (t->c.in.noise > 8)
        return err_set(err, ERR_NO_TARGET,
                       "is the baud rate right (baud=57600)? is it a stub that sends this?",
                       "%s: no stub answers, but bytes come that are no packets", t->probe->name);
    return err_set(
        err, ERR_NO_TARGET,
        "stop the program in its stub first (gdb_init(), a breakpoint); is anything else "
        "connected to it?",
        "%s: no stub answers", t->probe->name);
}

static bool power_of_two(unsigned long n) { return n && !(n & (n - 1)); }

/* PacketSize is hexadecimal. Flycast says 4096 where it means 1000, and does not listen any more
 * after the first longer packet. So digits that are a power of two only in decimal are taken as
 * decimal. */
static size_t packet_size(const char *text)
{
    bool all_digits = text[strspn(text, "0123456789")] == 0;
    unsigned long hex = strtoul(text, NULL, 16), decimal = strtoul(text, NULL, 10);
    if (all_digits && power_of_two(decimal) && !power_of_two(hex))
        return decimal;
    return hex;
}

static void learn_features(struct rsp_target *t, bool *no_ack)
{
    char *save = NULL, text[1024];
    snprintf(text, sizeof text, "%.1023s", t->c.in.body);
    *no_ack = false;
    for (char *f = strtok_r(text, ";", &save); f; f = strtok_r(NULL, ";", &save)) {
        if (!strncmp(f, "PacketSize=", 11))
            t->c.packet_size = MAX(packet_size(f + 11), 128ul);
        *no_ack |= !strcmp(f, "QStartNoAckMode+");
    }
    t->c.packet_size = MIN(t->c.packet_size, (size_t)RSP_BODY_MAX);
}

static int learn_supported(struct rsp_target *t, bool *no_ack, struct err *err)
{
    int ret = rsp_question(t, err, "qSupported:swbreak+;hwbreak+");
    if (ret == 0)
        learn_features(t, no_ack);
    return ret;
}

static int start_no_ack(struct rsp_target *t, struct err *err)
{
    int ret = rsp_question(t, err, "QStartNoAckMode");
    if (ret == 0)
        t->c.no_ack = !strcmp(t->c.in.body, "OK");
    return ret;
}

/* Source: QEMU gdbstub, query qqemu.sstepbits. That a stub has vCont says nothing of its steps:
 * KallistiOS' (2026) has it and works them out wrongly; Flycast once announced it and never
 * answered. Continue and step go by c and s everywhere. Flycast does not answer this one either,
 * and --probe may have said that answers take long. */
static int learn_qemu(struct rsp_target *t, struct err *err)
{
    static const char question[] = "qqemu.sstepbits";
    int ret;
    if (t->c.lossless)
        ret = rsp_try_in_turn(&t->c, question, QEMU_MS * MS, err);
    else
        ret = rsp_try(&t->c, question, rsp_patience(&t->c, 3 * QEMU_MS * MS), err);
    t->q.qemu = t->q.trusts_step = ret > 0 && !strncmp(t->c.in.body, "ENABLE=", 7);
    return MIN(ret, 0);
}

/* Most stubs halt the program when somebody connects, and send the same signal as for a breakpoint.
 * What it was follows from where it stands. */
static void name_found(struct rsp_target *t)
{
    const struct rsp_bp *b = rsp_bp_at(t, (uint32_t)t->stop.pc);
    bool plain =
        t->stop.signal == RSP_SIGINT || t->stop.signal == RSP_SIGTRAP || t->stop.signal == 0;
    if (t->stop.reason != STOP_SIGNAL || !plain || t->user_break)
        return;
    t->stop.reason = STOP_REQUEST;
    if (b)
        t->stop.reason = rsp_bp_reason(b);
}

static int learn_state(struct rsp_target *t, struct err *err)
{
    int ret = rsp_question(t, err, "?");
    if (ret == 0)
        ret = rsp_take_stop(t, err);
    if (ret > 0 && t->stop.reason == STOP_EXIT)
        return err_set(err, ERR_NO_TARGET, "start it again", "%s: its program has ended",
                       t->probe->name);
    if (ret > 0)
        name_found(t);
    return MIN(ret, 0);
}

/* 1: its registers change, so it runs; 0: they do not, for a while. */
static int seen_running(struct rsp_target *t, struct err *err)
{
    uint32_t before[RSP_NREGS];
    const struct stream_ops *s = t->probe->driver->stream;
    uint64_t until = s->now_ns(t->probe) + LOOK_MS * MS;
    memcpy(before, t->reg, sizeof before);
    do {
        t->regs_known = false;
        int ret = rsp_regs_load(t, err);
        if (ret < 0)
            return ret;
        if (memcmp(before, t->reg, sizeof before) != 0)
            return 1;
    } while (s->now_ns(t->probe) < until);
    return 0;
}

/* lxdream lets the program run when somebody connects, says that it stands, and shows registers of
 * the moment. Some stubs would take an unneeded interrupt at the next run (WashingtonDC), so it is
 * sent only to a program that is seen to run. */
static int make_stand(struct rsp_target *t, struct err *err)
{
    if (t->q.qemu || !t->c.lossless || t->stop.signal != RSP_SIGTRAP)
        return 0;
    int ret = seen_running(t, err);
    if (ret <= 0)
        return ret;
    t->state = TARGET_RUNNING;
    t->knocked = false;
    ret = rsp_knock(t, err);
    if (ret == 0)
        ret = rsp_await_stop(t, "halt", err);
    if (ret > 0)
        ret = rsp_take_stop(t, err);
    if (ret < 0)
        return ret;
    t->listens = true;
    name_found(t);
    return rsp_regs_load(t, err);
}

static int op_attach(struct target *target, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    bool no_ack = false;
    int ret = rsp_client_init(&t->c, t->probe, err);
    t->state = TARGET_HALTED;
    t->q = (struct rsp_quirks){ .no_P = false };
    t->regs_known = t->has_stop = t->halt_wanted = t->temp_set = t->to_temp = t->pc_moved = false;
    t->nlifted = 0;
    t->all_words = 0;
    if (ret == 0)
        ret = greet_stub(t, err);
    if (ret == 0)
        ret = learn_supported(t, &no_ack, err);
    /* on a line that loses bytes acknowledgement is worth its time */
    if (ret == 0 && no_ack && t->c.lossless)
        ret = start_no_ack(t, err);
    if (ret == 0)
        ret = learn_qemu(t, err);
    if (ret == 0)
        ret = learn_state(t, err);
    if (ret == 0)
        ret = rsp_learn_layout(t, err);
    if (ret == 0)
        ret = rsp_learn_banks(t, err);
    if (ret == 0)
        ret = make_stand(t, err);
    if (ret == 0)
        ret = rsp_bp_restore(t, err);
    if (ret < 0)
        t->state = ret == -ERR_USB ? TARGET_GONE : TARGET_DETACHED;
    return err_prefix(err, ret, "attach");
}

static int halt_now(struct rsp_target *t, struct err *err)
{
    struct target_stop stop;
    int ret = rsp_halt(&t->base, err);
    while (ret == 0 && t->state == TARGET_RUNNING)
        ret = rsp_poll(&t->base, 100 * MS, &stop, err);
    return MIN(ret, 0);
}

static int say_goodbye(struct rsp_target *t, struct err *err)
{
    struct err mine = { .code = ERR_OK };
    int ret = rsp_ask(&t->c, "D", 1, &mine);
    if (ret == -ERR_USB) /* redream lets it run and hangs up, without an answer */
        return 0;
    if (ret == 0 && !strcmp(t->c.in.body, "OK"))
        return 0;
    if (ret == 0) /* it does not know the packet: let it run, as it does not listen any more */
        return rsp_lost(t, rsp_send(&t->c, "c", 1, err));
    return err_set(err, (enum err_code) - ret, mine.hint, "%s", mine.what);
}

static int op_detach(struct target *target, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    if (t->state == TARGET_DETACHED)
        return 0;
    if (t->state == TARGET_GONE)
        return rsp_need_halted(t, "detach", err);
    bool ran = t->state == TARGET_RUNNING;
    int ret = 0;
    if (ran && t->nbp)
        ret = halt_now(t, err);
    while (ret == 0 && t->nbp) {
        struct rsp_bp *b = &t->bp[t->nbp - 1];
        ret = rsp_remove_bp(target, b->kind, b->addr, b->len, err);
    }
    if (ret == 0 && t->state == TARGET_HALTED)
        ret = say_goodbye(t, err);
    if (t->state != TARGET_GONE)
        t->state = TARGET_DETACHED;
    if (ret < 0)
        return err_prefix(err, ret, "detach");
    return 0;
}

/* ---- the rest ---- */

static enum target_state op_state(struct target *target) { return rsp_of(target)->state; }

static uint64_t op_now(struct target *target)
{
    struct rsp_target *t = rsp_of(target);
    return t->probe->driver->stream->now_ns(t->probe);
}

/* RSP has no reset that works everywhere. Emulators take one as a monitor command; that it was done
 * shows in the PC. */
static int op_reset(struct target *target, enum reset_mode mode, struct err *err)
{
    static const char *const commands[] = { "system_reset", "reset" };
    enum { RESET_PC = 0xA0000000u, LOOKS = 20 };
    struct rsp_target *t = rsp_of(target);
    const struct text_sink nowhere = { 0 };
    int ret;
    if (t->state == TARGET_RUNNING)
        ret = halt_now(t, err);
    else
        ret = rsp_need_halted(t, "reset", err);
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(commands) && !t->q.no_rcmd; i++) {
        if (rsp_command(t, commands[i], &nowhere, NULL) < 0)
            continue;
        for (int k = 0; ret == 0 && k < LOOKS; k++) { /* QEMU's is done soon after its answer */
            t->regs_known = false;
            ret = rsp_regs_load(t, err);
            bool done = ret == 0 && t->reg[RSP_PC] == RESET_PC;
            if (done && mode == RESET_RUN)
                return rsp_resume(target, &(struct resume){ .kind = RESUME_CONTINUE }, err);
            if (done)
                return 0;
            if (ret == 0)
                ret = MIN(rsp_receive(&t->c, 10 * MS, NULL, err), 0);
        }
    }
    if (ret < 0)
        return ret;
    return err_set(err, ERR_UNSUPPORTED,
                   "reset the board by its button, or the emulator by its own command",
                   "%s: this stub cannot reset its target", t->probe->name);
}

static struct target_stop why_halted(struct target *target) { return rsp_of(target)->stop; }
static void close_target(struct target *target)
{
    if (target)
        free(rsp_of(target));
}

static const struct target_ops table = {
    .gdb_arch = "sh4",
    .regs = sh4_target_regs,
    .nregs = RSP_NREGS,
    .pc_reg = RSP_PC,
    .sp_reg = RSP_R15,
    .bp_size = 2,
    .attach = op_attach,
    .detach = op_detach,
    .state = op_state,
    .halt = rsp_halt,
    .resume = rsp_resume,
    .poll = rsp_poll,
    .reset = op_reset,
    .why_halted = why_halted,
    .read_reg = rsp_read_reg,
    .write_reg = rsp_write_reg,
    .read_mem = rsp_read_mem,
    .write_mem = rsp_write_mem,
    .sample_pc = rsp_sample_pc,
    .insert_bp = rsp_insert_bp,
    .remove_bp = rsp_remove_bp,
    .monitor = rsp_monitor,
    .events = sh4_events,
    .default_events = { 0x23, 0x08 },
    .exception_text = sh4_exception_text,
    .insn = sh4_insn,
    .graph = sh4_graph,
    .counters_arm = rsp_counters_arm,
    .counters_read = rsp_counters_read,
    .now_ns = op_now,
    .close = close_target,
};

int sh4_rsp_open(struct probe *p, const struct sh4_options *opt, struct target **out,
                 struct err *err)
{
    if (!p->driver->stream || !(p->driver->stream->traits(p) & STREAM_RSP))
        return err_set(err, ERR_UNSUPPORTED, "--probe rsp:HOST:PORT names one",
                       "%s is no connection to a remote stub", p->name);
    struct rsp_target *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "RSP target: no memory");
    t->ops = table;
    t->ops.name = "sh7750";
    if (opt && opt->variant)
        t->ops.name = opt->variant;
    t->ops.canonical = sh4_target_ops()->canonical;
    t->ops.memory_map = sh4_target_ops()->memory_map;
    t->base.ops = &t->ops;
    t->base.big_endian = opt && opt->big_endian;
    t->probe = p;
    *out = &t->base;
    return 0;
}
