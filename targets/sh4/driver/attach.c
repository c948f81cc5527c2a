/* Attach, detach and reset: how a session begins and ends, and what is forgotten then. */
#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* Of the save area only BRCR is the host's, and is cleared. The rest is written on entry, or before
 * the program is let go. A program that a stale session left traced may be entering the kernel at
 * this moment, which writes the same. */
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
    t->ase.loaded = true;
    t->ase.proven = false;
    return 0;
}

static void use_ase(struct sh4_target *t)
{
    t->agent.layout = &sh4_agent_ase;
    t->agent.base = SH4_ASERAM;
}

/* POLLs complete a block in whose middle an agent waits. They mean nothing to a running program. If
 * none of the first POLLs is taken or answered, although even an agent in slow memory had the time,
 * no agent is there. */
int sh4_jtag_fill_block(struct sh4_target *t, struct err *err)
{
    enum { LOOK = 8, CALM = 128 };
    uint32_t in[LOOK], idle = t->link.idle_clocks;
    bool taken = false;
    t->link.idle_clocks = MAX(idle, (uint32_t)CALM);
    int ret = sh4_link_words(&t->link, NULL, in, LOOK, err);
    t->link.idle_clocks = idle;
    for (size_t i = 1; ret == 0 && i < LOOK; i++)
        taken = taken || in[i] != SH4_AGENT_POLL;
    if (taken)
        return sh4_link_words(&t->link, NULL, NULL, SH4_AGENT_DRAIN, err);
    return ret;
}

/* Forgets how the program was let go. A patch that was taken out for a step stays known, and so
 * does the program's DBR: a board that was away may still need them. */
static void forget_request(struct sh4_target *t)
{
    t->regs.hooks = t->regs.loaded = t->asked.late = false;
    t->line.addr = 0;
    sh4_hudi_forget(t);
    sh4_ubc_forget(t);
}

/* The CPU was reset and runs: its registers have changed, and its memory may have. */
static void forget_run(struct sh4_target *t)
{
    forget_request(t);
    t->regs.prog_dbr = 0;
    sh4_run_event(t, SH4_ON_FOUND_RUNNING);
}

/* It stands in the agent. A program that nobody had halted runs on: it waited for a stale session
 * to read its ring, or for an exception of its own. */
static int found_halted(struct sh4_target *t, struct err *err)
{
    sh4_note_stale_session(t, true);
    int is_stop = sh4_take_over(t, err);
    int ret = is_stop;
    if (is_stop >= 0)
        ret = sh4_end_step(t, err);
    if (ret < 0)
        return ret;
    if (!is_stop || t->regs.save[SH4_SAVE_KIND] == SH4_ENTRY_TRACE)
        return sh4_let_go(t, err);
    if (t->run.continuing && t->stop.reason == STOP_STEP) /* the driver's own, on the way */
        sh4_stop_is(t, STOP_REQUEST, SIGNAL_INT);
    sh4_run_event(t, SH4_ON_STOP);
    return 0;
}

int sh4_jtag_bring_agent(struct sh4_target *t, struct err *err)
{
    if (!t->opt.allow_private)
        return 0;
    use_ase(t);
    return load_aseram(t, err);
}

int sh4_serial_bring_agent(struct sh4_target *t, struct err *err)
{
    if (!(t->probe->driver->stream->traits(t->probe) & STREAM_DCLOAD))
        return 0;
    int ret = sh4_dcload(t, err);
    if (ret)
        return ret;
    return err_set(err, ERR_NO_TARGET, "reset the Dreamcast, start dcload again; try baud=57600",
                   "the agent was loaded and does not answer");
}

/* An agent waits already: an earlier session was lost while the program stood at a breakpoint, or
 * even in the middle of a block. */
static int look_for_agent(struct sh4_target *t, struct err *err)
{
    int ret = sh4_seen_halted(t, err);
    if (ret == 0 && t->link.wire->fill_block && (ret = t->link.wire->fill_block(t, err)) == 0)
        ret = sh4_seen_halted(t, err);
    return ret;
}

/* A trace that was armed before is a stale session's now: it is found and undone as such. */
static void forget_session(struct sh4_target *t)
{
    t->agent.layout = NULL;
    forget_request(t);
    t->code.vbr_patched = t->stale.checked = false;
    if (t->plug.asked) {
        t->plug.tracing->close(t);
        t->stale.trace = true;
    }
}

static int find_board(struct sh4_target *t, struct err *err)
{
    int ret;
    do { /* what was read over a bad wire does not count */
        forget_session(t);
        ret = sh4_link_connect(&t->link, err);
        if (ret < 0 || (ret = look_for_agent(t, err)))
            break;
        ret = sh4_clock_prove(&t->link, err);
    } while (ret > 0);
    if (ret < 0)
        return ret;
    t->breaks.check = t->breaks.npatches > 0 || t->code.nvbr_sites > 0;
    if (ret > 0)
        return found_halted(t, err);
    t->agent.layout = NULL;
    ret = t->link.wire->bring_agent(t, err);
    if (ret > 0)
        return found_halted(t, err);
    if (ret == 0)
        sh4_run_event(t, SH4_ON_FOUND_RUNNING);
    return ret;
}

int sh4_attach(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: attach", t->probe->name);
    sh4_run_event(t, SH4_ON_LEFT);
    int ret = sh4_lost(t, find_board(t, err));
    if (ret < 0 && t->run.state != SH4_RUN_GONE)
        sh4_run_event(t, SH4_ON_LEFT);
    return ret;
}

static int clean_target(struct sh4_target *t, struct err *err)
{
    int ret = sh4_end_step(t, err);
    int bad = sh4_patches_remove_all(t, err);
    int late = sh4_hudi_restore(t, err);
    sh4_hard_remove_all(t);
    t->breaks.catch_mask = 0;
    t->breaks.semihosting = t->hudi.expected = false;
    if (t->run.state == SH4_RUN_STOPPED)
        sh4_run_event(t, SH4_ON_STOP_REPORTED);
    if (ret >= 0)
        ret = bad;
    if (ret < 0)
        return ret;
    return late;
}

/* A second copy of op_go halts the program once more, and nobody would let it go. What was sent
 * before an op_go that was sent once has arrived with it; else nothing comes after the time for
 * which the line may stand still. */
int sh4_serial_after_leaving(struct sh4_target *t, struct err *err)
{
    enum { SLICE_NS = 10000000, MOST = 10 };
    const uint64_t began = sh4_now(t), still = t->link.silence_ns;
    struct target_stop stop;
    int ret = 0;
    while (ret == 0 && t->link.go_again && sh4_now(t) - t->link.heard_ns < still &&
           sh4_now(t) - began < MOST * still)
        ret = sh4_poll(&t->base, SLICE_NS, &stop, err);
    return MIN(ret, 0);
}

int sh4_loader_after_leaving(struct sh4_target *t, struct err *err)
{
    return sh4_dcip_settle(&t->link, err);
}

static int leave_running(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (t->link.wire->after_leaving)
        ret = t->link.wire->after_leaving(t, err);
    if (ret < 0)
        return sh4_lost(t, err_prefix(err, ret, "detach"));
    sh4_run_event(t, SH4_ON_LEFT);
    return sh4_link_command(&t->link, SH4_TI_BYPASS, err);
}

int sh4_detach(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: detach", t->probe->name);
    if (sh4_state(t) == TARGET_DETACHED || sh4_state(t) == TARGET_GONE)
        return 0;
    if (t->plug.vbr) {
        int ret = t->ops.trace->disarm(target, err);
        if (ret < 0)
            return sh4_lost(t, err_prefix(err, ret, "detach"));
    }
    /* A target that ran undisturbed is left alone: there is no patch and no channel to undo. */
    bool clean = !sh4_needs_hooks(t) && !t->regs.hooks && !t->hudi.kept;
    if (sh4_state(t) == TARGET_RUNNING && clean)
        return leave_running(t, err);
    int ret = sh4_halt_now(t, err);
    if (ret == 0)
        ret = clean_target(t, err);
    if (ret == 0 && t->link.wire->before_leaving)
        ret = t->link.wire->before_leaving(t, err);
    if (ret == 0)
        ret = sh4_run_freely(t, err);
    if (ret < 0)
        return sh4_lost(t, err_prefix(err, ret, "detach"));
    return leave_running(t, err);
}

/* The agent waits where the reset has led. A step that the reset cut off ends here. */
static int halted_by_reset(struct sh4_target *t, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = sh4_take_over(t, &why);
    if (ret >= 0)
        ret = sh4_end_step(t, &why);
    if (ret < 0) {
        if (err)
            *err = why;
        return sh4_settling_failed(t, ret, &why);
    }
    sh4_stop_is(t, STOP_RESET, SIGNAL_TRAP);
    sh4_run_event(t, SH4_ON_STOP_FOUND);
    return 0;
}

static int reset_halt(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 100 };
    int ret = 0;
    use_ase(t);
    if (!t->ase.loaded)
        ret = load_aseram(t, err);
    if (ret == 0)
        ret = sh4_link_command(&t->link, SH4_TI_BOOT, err);
    if (ret == 0)
        ret = sh4_link_command(&t->link, SH4_TI_RESET_ASSERT, err);
    if (ret == 0)
        ret = sh4_wait(t, 1000000, err);
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
        if (ret)
            return halted_by_reset(t, err);
        ret = sh4_wait(t, 100000, err);
        if (ret < 0)
            return ret;
    }
    if (sh4_link_reset_held(&t->link))
        return sh4_reset_is_held(err, "reset halt");
    return err_set(err, ERR_TIMEOUT,
                   "is the CPU clocked? try --speed auto; does this part accept the private "
                   "command 80 (ASE boot)?",
                   "reset halt: the CPU did not start in the agent");
}

/* Restarts the loader, and the agent with it. If neither a program nor its end lets the network in,
 * only the reset button helps. */
int sh4_loader_reset(struct sh4_target *t, enum reset_mode mode, struct err *err)
{
    if (mode != RESET_HALT)
        return err_set(err, ERR_UNSUPPORTED, "monitor reset halt, then load the program",
                       "a reset leads into the loader: there is no program to run");
    int ret = sh4_halt_now(t, err);
    if (ret == 0)
        ret = sh4_dcip_restart(t, true, err);
    if (ret <= 0)
        return ret;
    forget_run(t);
    ret = sh4_check_resident(t, err);
    if (ret < 0)
        return ret;
    return halted_by_reset(t, err);
}

int sh4_serial_reset(struct sh4_target *t, enum reset_mode mode, struct err *err)
{
    (void)t;
    (void)mode;
    return err_set(err, ERR_UNSUPPORTED, "press its button, then attach again",
                   "a serial line cannot reset the board");
}

int sh4_jtag_reset(struct sh4_target *t, enum reset_mode mode, struct err *err)
{
    if (mode == RESET_HALT && !t->opt.allow_private)
        return err_set(err, ERR_UNSUPPORTED,
                       "use monitor reset run, then halt; or allow the private commands",
                       "reset halt needs the private H-UDI command 80 (ASE boot)");
    if (t->opt.allow_private && (mode == RESET_HALT || sh4_needs_hooks(t))) {
        int ret = reset_halt(t, err);
        if (ret < 0 || mode == RESET_HALT)
            return ret;
        sh4_run_event(t, SH4_ON_STOP_REPORTED);
        return sh4_run_freely(t, err);
    }
    int ret = sh4_link_command(&t->link, SH4_TI_RESET_ASSERT, err);
    if (ret == 0)
        ret = sh4_wait(t, 1000000, err);
    if (ret == 0)
        ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err);
    if (ret == 0)
        forget_run(t);
    return ret;
}

int sh4_reset(struct target *target, enum reset_mode mode, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: reset %s", t->probe->name,
            mode == RESET_HALT ? "halt" : "run");
    if (sh4_state(t) == TARGET_DETACHED || sh4_state(t) == TARGET_GONE)
        return sh4_need_halted(t, "reset", err);
    if (t->plug.asked) /* a trace that is armed ends with the program that it traces */
        t->plug.tracing->close(t);
    return sh4_lost(t, t->link.wire->reset(t, mode, err));
}
