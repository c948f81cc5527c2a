/* The running program: asked to halt, and looked at until it has. */
#include <string.h>

#include "probe/base/log.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/driver/halt_force.h"

#define ALIVE_NS        (10u * 1000000u) /* how often a silent running target is looked at */
#define BLOCKED_NS      (50u * 1000u)
#define BREAK_AGAIN_NS  (20u * 1000000u)
#define ENDING_AGAIN_NS 200000u
#define BREAK_LIMIT_NS  (1000u * 1000000u)

/* A trace agent runs with BL=1 most of the time while events come fast, and a break then would cost
 * the program its SPC. But it answers the H-UDI interrupt, which itself waits for BL=0. It was
 * armed by us, or left by a stale session. */
static bool trace_agent_runs(const struct sh4_target *t, uint32_t fetch)
{
    return t->plug.vbr || ((fetch ^ t->opt.agent_ram) & 0x1FFF0000) == 0;
}

/* A stale session's agent may wait for its ring to be read, with BL=1. It enters the kernel when
 * asked. */
static int ask_trace_agent(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->plug.asked)
        ret = sh4_agent_halted(t, err);
    if (ret)
        return MIN(ret, 0);
    return sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
}

/* Whether a traced program takes no interrupt while the trace is to end: for several looks in a row
 * it runs outside of the agent with all interrupts masked, or in a small loop with exceptions
 * blocked. The agent's interrupt would never come, and a break destroys nothing of the agent's
 * there. With SR.BL=1 a break costs the handler its SPC and SSR, so the loop has to look like one
 * that is never left. 1, 0 or -ERR_*. */
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
        if (ret < 0 || !closed || sh4_in_agent(t, v[1]) || t->plug.tracing->holds(t, v[1]))
            return ret;
        low = MIN(low, v[1]);
        high = MAX(high, v[1]);
        if (bl && high - low > LOOP_BYTES)
            return 0;
        masked += !bl;
        blocked += bl;
        if ((ret = sh4_wait(t, APART_NS, err)) < 0)
            return ret;
    }
    return 1;
}

/* With SR.BL=1 no handler runs that needs its SPC: the CPU has taken nothing since its reset. What
 * INTEVT holds then is undefined; with all interrupts masked none has been taken. */
static int runs_as_after_reset(struct sh4_target *t, bool *so, struct err *err)
{
    enum { ALL_MASKED = 15 };
    static const uint8_t sel[] = { SH4_STATUS_EVENTS, SH4_STATUS_SR };
    uint32_t v[2] = { 0, 0 };
    int ret = sh4_link_status(&t->link, sel, v, 2, err);
    uint32_t expevt = v[0] & 0xFFFF, intevt = v[0] >> 16;
    bool reset = sh4_is_reset(expevt) || expevt == SH4_EXP_POWER_ON;
    *so = ret == 0 && reset && (!intevt || REG_GET(v[1], SH4_SR_IMASK) == ALL_MASKED);
    return ret;
}

/* At many looks in a row SR.BL is 1, and the program does not leave a small loop: it will not leave
 * it any more. 1, 0 or -ERR_*. */
static int turns_with_bl(struct sh4_target *t, struct err *err)
{
    enum { LOOKS = 256, LOOP_BYTES = 128, APART_NS = 5000 };
    static const uint8_t sel[] = { SH4_STATUS_SR, SH4_STATUS_FETCH };
    uint32_t low = UINT32_MAX, high = 0;
    for (int i = 0; i < LOOKS; i++) {
        uint32_t v[2] = { 0, 0 };
        int ret = sh4_link_status(&t->link, sel, v, 2, err);
        if (ret == 0)
            ret = sh4_wait(t, APART_NS, err);
        low = MIN(low, v[1]);
        high = MAX(high, v[1]);
        if (ret < 0 || !REG_GET(v[0], SH4_SR_BL) || high - low > LOOP_BYTES)
            return MIN(ret, 0);
    }
    return 1;
}

static int send_break(struct sh4_target *t, struct err *err)
{
    t->asked.sent = true;
    return sh4_link_command(&t->link, SH4_TI_BREAK, err);
}

/* SR.BL was 1 at every look: a break now would cost the handler that runs its SPC, SSR and SGR, and
 * mostly the program. It is taken where that costs nothing: no handler runs, or one that is not
 * left any more. Otherwise it is asked for again. */
static int break_with_bl(struct sh4_target *t, struct err *err)
{
    const uint64_t for_good_ns = BREAK_LIMIT_NS / 4;
    bool free_to_go = t->plug.vbr || t->run.state == SH4_RUN_RESET_HALTING;
    int ret = 0;
    if (!free_to_go)
        ret = runs_as_after_reset(t, &free_to_go, err);
    if (ret == 0 && !free_to_go && sh4_now(t) - t->asked.since_ns > for_good_ns) {
        ret = turns_with_bl(t, err);
        free_to_go = ret > 0;
    }
    if (ret < 0 || !free_to_go) {
        t->asked.break_at_ns = 0; /* its moments with BL=0 may be short: the next look is soon */
        return MIN(ret, 0);
    }
    return send_break(t, err);
}

/* With our vectors in place the H-UDI interrupt is asked for first, whatever SR shows: it waits for
 * BL=0 by itself, where a break may arrive in a handler that has begun since SR was looked at, or
 * that masks interrupts in its middle only. A program that does not take it gets a break, and may
 * take it later all the same. */
static bool asks_by_interrupt(struct sh4_target *t)
{
    if (t->asked.breaks > 1) {
        t->asked.late = t->asked.late || t->asked.by_interrupt;
        t->hudi.ready = t->hudi.ready && !t->asked.by_interrupt; /* the priority may be gone */
        t->asked.by_interrupt = false;
    } else {
        t->asked.by_interrupt = t->regs.hooks && t->hudi.ready && !t->plug.vbr;
    }
    return t->asked.by_interrupt;
}

/* Many looks at SR in one go, and one at the address of the last fetch. */
struct sr_seen {
    uint32_t fetch;
    bool blocked; /* SR.BL was 1 at one of them */
    bool masked;  /* all of them showed IMASK 15 */
};

static int look_at_sr(struct sh4_target *t, struct sr_seen *seen, struct err *err)
{
    enum { SAMPLES = 14, ALL_MASKED = 15 };
    uint8_t sel[SAMPLES + 1];
    uint32_t v[SAMPLES + 1] = { 0 };
    memset(sel, SH4_STATUS_SR, SAMPLES);
    sel[SAMPLES] = SH4_STATUS_FETCH;
    int ret = sh4_link_status(&t->link, sel, v, SAMPLES + 1, err);
    if (ret < 0)
        return ret;
    *seen = (struct sr_seen){ .fetch = v[SAMPLES], .masked = true };
    for (size_t i = 0; i < SAMPLES; i++) {
        seen->blocked = seen->blocked || REG_GET(v[i], SH4_SR_BL);
        seen->masked = seen->masked && REG_GET(v[i], SH4_SR_IMASK) == ALL_MASKED;
    }
    return 0;
}

/* The agent may be waiting for its ring to be read, or the program has met a breakpoint by itself.
 * 1: it stands. */
static int is_in_agent(struct sh4_target *t, bool inside, struct err *err)
{
    if (t->plug.asked)
        return t->plug.tracing->poll(t, 0, err);
    if (inside)
        return sh4_agent_halted(t, err);
    return 0;
}

/* A break taken with BL=1 costs the running handler its SPC and SSR: it waits a little for BL=0. */
static int break_when_open(struct sh4_target *t, bool patient, struct err *err)
{
    enum { TRIES = 20, SURE = 4 };
    struct sr_seen seen = { .blocked = true };
    for (int i = 0; i < TRIES; i++) {
        int ret = look_at_sr(t, &seen, err);
        if (ret < 0)
            return ret;
        if (patient && trace_agent_runs(t, seen.fetch))
            return ask_trace_agent(t, err);
        bool inside = sh4_in_agent(t, seen.fetch);
        if (!inside && asks_by_interrupt(t))
            return sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
        if (!seen.blocked && !inside && (i >= SURE || t->breaks.npatches))
            break;
        ret = is_in_agent(t, inside, err);
        if (ret == 0)
            ret = sh4_wait(t, number_if(seen.blocked, BLOCKED_NS), err);
        if (ret)
            return MIN(ret, 0);
    }
    if (seen.blocked && t->asked.shortly)
        return err_set(err, ERR_STATE, "try again, or halt it", "the program runs with SR.BL=1");
    if (seen.blocked)
        return break_with_bl(t, err);
    return send_break(t, err);
}

static int private_break(struct sh4_target *t, struct err *err)
{
    uint64_t since = sh4_now(t) - t->asked.since_ns;
    bool patient = since < BREAK_LIMIT_NS / 2 || t->asked.breaks < SH4_BREAK_MIN_ASKS / 2;
    /* A status is out of date when the break arrives. So it is not relied on where an agent is
     * known to run. The agent is gone if the power was. */
    if (t->stale.trace && (since < BREAK_LIMIT_NS / 10 || t->asked.breaks < SH4_BREAK_MIN_ASKS / 5))
        return ask_trace_agent(t, err);
    if (t->plug.ending && t->asked.breaks > 1) {
        int ret = takes_no_interrupt(t, err);
        if (ret < 0)
            return ret;
        if (ret > 0)
            return send_break(t, err);
    }
    return break_when_open(t, patient, err);
}

/* A range step spends most of its time inside the agent, which an ASE break must not interrupt. The
 * agent is asked first. */
int sh4_jtag_leave_range(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 10 };
    uint32_t halt = SH4_AGENT_HALT;
    for (int i = 0; i < TRIES; i++) {
        uint32_t seen;
        int ret = sh4_link_words(&t->link, &halt, &seen, 1, err);
        if (ret == 0)
            ret = sh4_wait(t, 20000, err);
        if (ret < 0)
            return ret;
        if (i && seen == t->agent.base + SH4_AGENT_VERSION)
            return 1;
    }
    return sh4_agent_halted(t, err);
}

static int break_for_a_moment(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 20 };
    for (int i = 0; i < TRIES; i++) {
        struct sr_seen seen;
        int ret = look_at_sr(t, &seen, err);
        bool inside = ret == 0 && sh4_in_agent(t, seen.fetch);
        if (inside && (ret = sh4_agent_halted(t, err)) > 0)
            return 0;
        if (ret < 0)
            return ret;
        t->asked.by_interrupt = t->regs.hooks && t->hudi.ready && !(seen.masked && t->hudi.masked);
        if (t->asked.by_interrupt)
            return sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
        if (!inside && !seen.blocked)
            return send_break(t, err);
        if ((ret = sh4_link_wait(&t->link, BLOCKED_NS, err)) < 0)
            return ret;
    }
    return err_set(err, ERR_STATE, "try again, or halt it",
                   "the program spends its time with SR.BL=1");
}

static int ask_break(struct sh4_target *t, struct err *err)
{
    t->asked.break_at_ns = sh4_now(t);
    t->asked.breaks++;
    if (sh4_stepping(t) && t->step.hi && t->link.wire->leave_range) {
        int ret = t->link.wire->leave_range(t, err);
        if (ret)
            return MIN(ret, 0);
    }
    if (t->asked.shortly && t->opt.allow_private && t->stale.checked && !t->plug.vbr)
        return break_for_a_moment(t, err);
    if (t->opt.allow_private)
        return private_break(t, err);
    return sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
}

static void begin_asking(struct sh4_target *t)
{
    sh4_run_event(t, SH4_ON_HALT_ASKED);
    t->asked.since_ns = sh4_now(t);
    t->asked.breaks = 0;
    t->asked.sent = false;
    t->asked.late = t->asked.late || (t->asked.by_interrupt && !t->asked.shortly);
    if (!t->asked.shortly)
        t->asked.by_interrupt = false;
}

int sh4_halt(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    log_msg(t->probe->log, LOG_TARGET, "%s: halt asked", t->probe->name);
    if (sh4_state(t) != TARGET_RUNNING)
        return sh4_need_halted(t, "halt", err);
    if (sh4_halt_asked(t))
        return 0;
    begin_asking(t);
    if (sh4_host_steps(t))
        return 0;
    return sh4_lost(t, ask_break(t, err));
}

int sh4_halt_force(struct sh4_target *t, struct err *err)
{
    int ret = sh4_halt(&t->base, err);
    if (ret < 0 || sh4_state(t) != TARGET_RUNNING || sh4_host_steps(t) || !t->opt.allow_private)
        return ret;
    return sh4_lost(t, send_break(t, err));
}

int sh4_reset_is_held(struct err *err, const char *what)
{
    return err_set(
        err, ERR_TIMEOUT,
        "let go of the reset button; check what drives pin nRESET of the debug connector",
        "%s: the CPU is held in reset, nRESET is low", what);
}

/* No break was sent, because of SR.BL. A CPU that does not answer one is another matter. */
static bool is_withheld(struct sh4_target *t)
{
    static const uint8_t sel[] = { SH4_STATUS_SR };
    uint32_t sr = 0;
    return !t->asked.sent && sh4_link_status(&t->link, sel, &sr, 1, NULL) == 0 && sr != UINT32_MAX;
}

int sh4_jtag_halt_failed(struct sh4_target *t, struct err *err)
{
    if (sh4_link_reset_held(&t->link))
        return sh4_reset_is_held(err, "halt");
    if (t->opt.allow_private && is_withheld(t))
        return err_set(err, ERR_TIMEOUT,
                       "Ctrl-C tries again; monitor halt force takes them, from another GDB or in "
                       "non-stop mode",
                       "halt: the program runs with SR.BL=1; stopped there, its handler would lose "
                       "SPC, SSR and SGR");
    if (t->opt.allow_private)
        return err_set(
            err, ERR_TIMEOUT, "is the CPU clocked and out of reset? try monitor reset halt",
            "halt: the CPU does not answer an ASE break (H-UDI command %02x)", SH4_TI_BREAK);
    return err_set(
        err, ERR_TIMEOUT,
        "is the resident agent linked in and agent_init called? interrupts may be masked",
        "halt: no agent answers the H-UDI interrupt (command %02x)", SH4_TI_INTERRUPT);
}

int sh4_serial_halt_failed(struct sh4_target *t, struct err *err)
{
    (void)t;
    return err_set(err, ERR_TIMEOUT,
                   "is the serial agent linked in and agent_init called? is it the same baud "
                   "rate? interrupts may be masked",
                   "halt: no agent answers on the serial line");
}

int sh4_loader_halt_failed(struct sh4_target *t, struct err *err)
{
    (void)t;
    return err_set(
        err, ERR_TIMEOUT,
        "does it mask interrupts, use the watchdog, or the network itself? reset the Dreamcast",
        "halt: the agent's look at the network does not come");
}

/* Whether op_go's markers, counted on from here, may reach those that next_marker() leaves out. */
static bool bad_mark(uint32_t mark)
{
    return mark >> 16 == ~SH4_AGENT_SYNC >> 16 || mark >> 16 == ~(SH4_AGENT_SYNC >> 8) >> 16;
}

int sh4_stream_mark_halts(struct sh4_target *t, struct err *err)
{
    uint32_t mark = 0x80000000u | ((uint32_t)(sh4_now(t) >> 10) & 0x7FFF) << 16;
    if (bad_mark(mark))
        mark ^= 1u << 16;
    t->link.mark = mark;
    int ret = sh4_agent_poke(t, t->agent.base + t->agent.layout->halts, 4, mark, err);
    if (ret == 0)
        t->link.halts = mark;
    return ret;
}

/* A resident agent is known by the word behind its entry branch. */
int sh4_check_resident(struct sh4_target *t, struct err *err)
{
    uint32_t id[2];
    int ret = sh4_agent_read(t, t->agent.base + 4, 4, id, 2, err);
    if (ret < 0)
        return ret;
    if (id[0] != SH4_AGENT_ID || id[1] != SH4_AGENT_VERSION)
        return err_set(err, ERR_PROTOCOL, "link the agent that belongs to this program version",
                       "agent at %08x: id %08x version %u, expected %08x version %u", t->agent.base,
                       id[0], id[1], SH4_AGENT_ID, SH4_AGENT_VERSION);
    if (t->link.wire->mark_halts)
        return t->link.wire->mark_halts(t, err);
    return 0;
}

/* The program has ended, and its loader is back. The agent is loaded again, so that memory can be
 * looked at. */
int sh4_loader_look_for_end(struct sh4_target *t, struct err *err)
{
    if (!t->link.ip->ended)
        return 0;
    int ret = sh4_dcip_restart(t, false, err);
    if (ret > 0)
        ret = sh4_check_resident(t, err);
    if (ret < 0)
        return ret;
    t->run.ended = t->link.restarted = true;
    return 1;
}

int sh4_seen_halted(struct sh4_target *t, struct err *err)
{
    if (t->regs.loaded)
        return 1;
    bool known = t->agent.layout != NULL;
    int ret = 0;
    if (t->link.wire->look_for_end)
        ret = t->link.wire->look_for_end(t, err);
    if (ret)
        return ret;
    if (t->plug.asked)
        ret = t->plug.tracing->poll(t, 0, err);
    else
        ret = sh4_agent_halted(t, err);
    if (ret > 0 && !known && t->agent.layout != &sh4_agent_ase) {
        int id = sh4_check_resident(t, err);
        if (id < 0)
            return id;
        return 1;
    }
    return ret;
}

/* The CPU has reset itself and runs: it is halted, as if asked to. */
int sh4_halt_the_reset(struct sh4_target *t, struct err *err)
{
    begin_asking(t);
    return ask_break(t, err);
}

uint64_t sh4_jtag_halt_limit_ns(const struct sh4_link *l)
{
    (void)l;
    return BREAK_LIMIT_NS;
}

static bool asked_enough(const struct sh4_target *t, uint64_t at)
{
    const struct sh4_wire *w = t->link.wire;
    return at - t->asked.since_ns > w->halt_limit_ns(&t->link) && t->asked.breaks >= w->halt_asks;
}

/* As sh4_seen_halted(); a CPU that has reset itself is asked to halt. */
static int look_for_stop(struct sh4_target *t, struct err *err)
{
    int ret = sh4_seen_halted(t, err);
    if (ret == 0)
        ret = sh4_look_for_reset(t, err);
    if (ret == 0 && t->run.state == SH4_RUN_RESET)
        ret = sh4_halt_the_reset(t, err);
    return ret;
}

/* A halt that does not come is asked for again, and given up at last. */
static int ask_again(struct sh4_target *t, uint64_t at, struct err *err)
{
    uint64_t pause = BREAK_AGAIN_NS;
    if (t->plug.ending)
        pause = ENDING_AGAIN_NS;
    if (!sh4_halt_asked(t))
        return 0;
    if (asked_enough(t, at)) {
        sh4_halt_given_up(t);
        return t->link.wire->halt_failed(t, err);
    }
    bool due = at - t->asked.break_at_ns > sh4_link_again_ns(&t->link, t->asked.breaks, pause);
    if (due)
        return ask_break(t, err);
    return 0;
}

static int poll_running(struct sh4_target *t, uint64_t max_ns, struct target_stop *stop,
                        struct err *err)
{
    uint64_t end = sh4_now(t) + max_ns, slice = 5000;
    for (;;) {
        int ret = 0;
        if (sh4_host_steps(t))
            ret = sh4_steps_by_host(t, end, stop, err);
        if (ret || sh4_host_steps(t))
            return ret;
        ret = look_for_stop(t, err);
        if (ret < 0)
            return ret;
        if (ret > 0) {
            ret = sh4_settle(t, stop, err);
            /* a program that enters the agent all the time must not keep the caller here */
            if (ret || sh4_now(t) >= end)
                return ret;
            continue;
        }
        uint64_t at = sh4_now(t);
        ret = ask_again(t, at, err);
        if (ret < 0 || at >= end)
            return ret;
        ret = sh4_wait(t, MIN(slice, end - at), err);
        if (ret < 0)
            return ret;
        slice = MIN(slice * 2, (uint64_t)500000);
    }
}

static int check_alive(struct sh4_target *t, struct err *err)
{
    t->run.alive_ns = sh4_now(t);
    return t->link.wire->still_there(&t->link, err);
}

/* A halt, or a watchpoint, may have met the program in a stub of the trace, where nothing is the
 * user's: it is shown behind it. Another stop that comes on the way there is told instead. */
static int show_the_program(struct sh4_target *t, struct target_stop *stop, struct err *err)
{
    bool asked = stop->reason == STOP_REQUEST && !t->asked.shortly;
    if (!t->plug.asked || !(asked || stop->reason == STOP_WATCH))
        return 1;
    struct target_stop first = t->stop;
    uint32_t pc = t->regs.pc;
    int ret = t->plug.tracing->leave_stub(t, err);
    if (ret < 0)
        return ret;
    if (t->regs.pc == pc)
        return 1;
    if (t->stop.reason == STOP_STEP || t->stop.reason == STOP_REQUEST) {
        first.pc = t->regs.pc;
        t->stop = first;
    }
    *stop = t->stop;
    return 1;
}

int sh4_poll(struct target *target, uint64_t max_ns, struct target_stop *stop, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    if (t->run.state == SH4_RUN_STOPPED) {
        sh4_run_event(t, SH4_ON_STOP_REPORTED);
        *stop = t->stop;
        return 1;
    }
    enum target_state seen = sh4_state(t);
    if (seen == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable, then attach again",
                       "the target is gone");
    if (seen == TARGET_HALTED && max_ns)
        return sh4_lost(t, check_alive(t, err));
    if (seen != TARGET_RUNNING)
        return 0;
    int ret = 0;
    if (sh4_now(t) - t->run.alive_ns > ALIVE_NS)
        ret = check_alive(t, err);
    if (ret >= 0)
        ret = poll_running(t, max_ns, stop, err);
    if (ret > 0)
        ret = show_the_program(t, stop, err);
    return sh4_lost(t, ret);
}

int sh4_halt_now(struct sh4_target *t, struct err *err)
{
    struct target_stop stop;
    int ret = sh4_halt(&t->base, err);
    while (ret == 0 && sh4_state(t) == TARGET_RUNNING)
        ret = sh4_poll(&t->base, BREAK_AGAIN_NS, &stop, err);
    if (ret < 0)
        return ret;
    return 0;
}
