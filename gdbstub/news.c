/* What the thread that owns the target reports to the stub, and which sessions are notified of it.
 */
#include <stdio.h>
#include <string.h>

#include "gdbstub/fileio.h"
#include "gdbstub/hits.h"
#include "gdbstub/reply.h"
#include "gdbstub/stop_reply.h"
#include "gdbstub/stub.h"
#include "probe/base/choice.h"

enum { ERRNO_ENOSYS = 88 }; /* in newlib */

/* An observer asked what the program is doing: its registers are read, and it goes on. */
static bool finish_snapshot(struct stub *stub, const struct target_stop *stop)
{
    if (stub->purpose != HALT_SNAPSHOT || stop->reason != STOP_REQUEST)
        return false;
    halt_event(stub, HALT_ON_OVER);
    struct err err;
    for (unsigned n = 0; n < stub->nregs; n++)
        if (stub_read_reg(stub, n, &err) < 0)
            return false;
    stub->regs_complete = true;
    for (struct session *s = stub->sessions; s; s = s->next)
        if (s != stub->controller)
            stop_reply_tell(s);
    /* What was read stays readable while the program runs on. */
    uint8_t seen[sizeof stub->reg_state];
    memcpy(seen, stub->reg_state, sizeof seen);
    int ret = hits_go_on(stub, &err);
    if (ret > 0) {
        memcpy(stub->reg_state, seen, sizeof seen);
        stub->regs_complete = true;
    } else if (ret < 0) {
        log_msg(stub->cfg.log, LOG_RSP, "resume after a look: %s", err.what);
        stub->last_stop = *stop;
    }
    return ret > 0;
}

/* Returns true if the program has got its answer and runs again, or waits for GDB's. False:
 * last_stop says why it stays halted; STOP_SYSCALL then means that a step is over. */
static bool handle_syscall(struct stub *stub, const struct target_stop *stop)
{
    int64_t result = -1;
    int32_t error = ERRNO_ENOSYS;
    struct err err = { .code = ERR_OK };
    if (stub->controller && fileio_request(stub->controller, stop, &result, &error))
        return true;
    if (stub->ops->syscall_return(stub->t, result, error, &err) < 0) {
        log_msg(stub->cfg.log, LOG_RSP, "host I/O: %s", err.what);
        return false;
    }
    if (stub->purpose == HALT_USER || stub->last_resume.kind == RESUME_STEP)
        return false;
    return hits_go_on(stub, &err) > 0;
}

/* A board's start-up, before its program begins, need not come to a certain place: calls of the
 * host, and its own end, serve as the halt. */
static bool start_up_is_over(const struct stub *stub, const struct target_stop *stop)
{
    return stub->purpose == HALT_START &&
           (stop->reason == STOP_REQUEST || stop->reason == STOP_SYSCALL ||
            stop->reason == STOP_EXIT);
}

static void begin_program(struct stub *stub, const struct target_stop *stop)
{
    struct err err;
    if (stop->reason == STOP_SYSCALL &&
        stub->ops->syscall_return(stub->t, -1, ERRNO_ENOSYS, &err) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "run: %s", err.what);
    if (stub_write_pc(stub, stub->cfg.entry, &err) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "run: %s", err.what);
    stub_program_begins(stub, stub->cfg.entry);
}

/* Whether the program runs again, or GDB does what it asked for. Otherwise it stands, for the
 * reason in last_stop. */
static bool goes_on_from_call(struct stub *stub, const struct target_stop *stop)
{
    bool goes_on = handle_syscall(stub, stop), halted = stub->purpose == HALT_USER;
    stub_forget_regs(stub); /* syscall_return() has changed some */
    if (!goes_on && (stub->last_stop.reason == STOP_SYSCALL || stub->last_stop.reason == STOP_NONE))
        stub->last_stop = (struct target_stop){ .reason = halted ? STOP_REQUEST : STOP_STEP,
                                                .pc = stop->pc,
                                                .signal = halted ? 2 : 5 };
    return goes_on;
}

/* A breakpoint or watchpoint of a GDB that is still there. */
static bool is_met(const struct stub *stub, const struct target_stop *stop)
{
    for (size_t i = 0; i < stub->nbps; i++) {
        const struct breakpoint *b = &stub->bps[i];
        bool here = stub->ops->canonical(b->addr) == stub->ops->canonical(stop->pc);
        if (!b->leaving && (stop->reason == STOP_WATCH ? b->kind > BP_HARD : here))
            return true;
    }
    return false;
}

/* Breakpoints of a GDB that has left are still in the target, and now it stands. They are removed,
 * and the program goes on if it stopped at one of them, or because of them. */
static bool goes_on_without_them(struct stub *stub, const struct target_stop *stop)
{
    struct err err;
    bool asked = stop->reason == STOP_REQUEST && stub->purpose == HALT_NONE;
    bool theirs = (stop->reason == STOP_SWBREAK || stop->reason == STOP_HWBREAK ||
                   stop->reason == STOP_WATCH) &&
                  !is_met(stub, stop);
    if (!stub->withdraws)
        return false;
    stub->withdraws = stub_settle_breakpoints(stub, &err) < 0;
    return (asked || theirs) && hits_go_on(stub, &err) > 0;
}

void stub_stopped(struct stub *stub, const struct target_stop *stop)
{
    stub_forget_regs(stub);
    stub->trouble.code = ERR_OK;
    stub->last_stop = *stop;
    if (goes_on_without_them(stub, stop) || hits_pass(stub))
        return;
    if (start_up_is_over(stub, stop))
        begin_program(stub, stop);
    else if (finish_snapshot(stub, stop) ||
             (stop->reason == STOP_SYSCALL && goes_on_from_call(stub, stop)))
        return;
    halt_event(stub, HALT_ON_OVER);
    for (struct session *s = stub->sessions; s; s = s->next)
        stop_reply_tell(s);
}

void stub_gone(struct stub *stub, const struct err *why)
{
    char text[640];
    if (stub->gone)
        return;
    stub->gone = true;
    halt_event(stub, HALT_ON_LOST);
    stub_forget_regs(stub);
    snprintf(text, sizeof text,
             "The connection to the target is lost: %s%s%s\nStill looking for it.\n", why->what,
             text_if(why->hint[0], "; "), why->hint);
    for (struct session *s = stub->sessions; s; s = s->next) {
        if (s->state == SESSION_FILE_IO || s->state == SESSION_FILE_IO_INTERRUPTED)
            session_event(s, SESSION_ON_FILE_LOST);
        if (s->state == SESSION_QUERY)
            stop_reply_give_up(s);
        else
            session_say(s, text);
    }
}

void stub_troubled(struct stub *stub, const struct err *why)
{
    char text[640];
    stub->trouble = *why;
    halt_event(stub, HALT_ON_OVER);
    snprintf(text, sizeof text, "%s%s%s\nIt is taken to run on; Ctrl-C tries again.\n", why->what,
             text_if(why->hint[0], "; "), why->hint);
    for (struct session *s = stub->sessions; s; s = s->next) {
        if (s->state == SESSION_QUERY) {
            stop_reply_give_up(s);
        } else if (s->state == SESSION_INTERRUPTED) {
            session_say(s, text);
            session_event(s, SESSION_ON_HALT_FAILED);
        }
    }
}

static bool anybody_waits(const struct stub *stub)
{
    for (const struct session *s = stub->sessions; s; s = s->next)
        if (session_waits(s) || s->non_stop)
            return true;
    return false;
}

/* A breakpoint that the program met while nobody looked is reported as usual to whoever waits for
 * it. For all others the return of the board is the reason. */
static struct target_stop why_found_halted(const struct stub *stub)
{
    struct target_stop why = stub->ops->why_halted(stub->t);
    bool own = anybody_waits(stub) && why.reason != STOP_NONE && why.reason != STOP_REQUEST &&
               why.reason != STOP_RESET;
    if (own)
        return why;
    return (struct target_stop){ .reason = STOP_RESET, .signal = 5 };
}

void stub_back(struct stub *stub)
{
    struct err err = { .code = ERR_OK };
    size_t lost = 0;
    /* lost again by what another client did when it was back: no news for GDB */
    if (stub->ops->state(stub->t) == TARGET_GONE)
        return;
    stub->gone = false;
    stub->trouble.code = ERR_OK;
    stub_forget_regs(stub);
    if (stub->semihosting)
        stub_set_semihosting(stub, true);
    /* the driver may have put those back that GDB has removed meanwhile */
    if (!stub_running(stub))
        (void)stub_settle_breakpoints(stub, NULL);
    stub->withdraws = false;
    for (size_t i = 0; i < stub->nbps; i++) {
        const struct breakpoint *b = &stub->bps[i];
        stub->withdraws = stub->withdraws || b->leaving;
        if (!b->leaving && stub->ops->insert_bp(stub->t, b->kind, b->addr, b->len, &err) < 0)
            lost++;
    }
    char text[160];
    snprintf(text, sizeof text,
             lost ? "The target is back; %zu of %zu breakpoints could not be set again.\n"
                  : "The target is back.\n",
             lost, stub->nbps);
    for (struct session *s = stub->sessions; s; s = s->next)
        session_say(s, text);
    if (stub_running(stub)) {
        bool halt = !anybody_waits(stub) || stub->purpose == HALT_USER || stub_steps(stub);
        if (stub->sessions && halt && stub_halt(stub, &err) < 0)
            log_msg(stub->cfg.log, LOG_RSP, "halt: %s", err.what);
        return;
    }
    if (stub->ops->state(stub->t) != TARGET_HALTED) /* lost again, which stub_gone() tells */
        return;
    struct target_stop why = why_found_halted(stub);
    stub_stopped(stub, &why);
}
