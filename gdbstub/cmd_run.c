/* ? c s C S vCont vCtrlC vStopped, and what begins and ends a debugging session: D k R ! vRun
 * vAttach vKill */
#include <stdio.h>
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/hits.h"
#include "gdbstub/leave.h"
#include "gdbstub/reply.h"
#include "gdbstub/stop_reply.h"
#include "gdbstub/stub.h"
#include "gdbstub/threads.h"

void cmd_vstopped(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    /* there is one thread, so never a second stop to tell */
    if (s->state == SESSION_NOTIFIED || s->state == SESSION_NO_PROGRAM_NOTIFIED)
        session_event(s, SESSION_ON_NOTICED);
    reply_ok(s);
}

/* ---- asking for a halt ---- */

/* An error in answer to `?` or vAttach leaves GDB waiting for a stop for ever. So it gets a stop,
 * and the error when it asks for the registers. Then it gives up, and shows the error. */
static void cannot_tell(struct session *s, const struct err *why)
{
    s->stub->trouble = *why;
    stop_reply_give_up(s);
}

/* A controller halts the target; an observer only looks: the program goes on after it. */
static int ask_halt(struct session *s, struct err *err)
{
    if (s->stub->controller == s)
        return stub_halt(s->stub, err);
    return stub_snapshot(s->stub, err);
}

static void interrupt_running(struct session *s)
{
    struct err err;
    s->interrupted_ns = 0;
    session_event(s, SESSION_ON_BREAK);
    if (ask_halt(s, &err) < 0) {
        session_say(s, err.what);
        session_say(s, "\n");
    }
}

/* The target stands, and GDB did not know that when it sent the Ctrl-C, or it means to interrupt
 * what comes next. Source: GDB manual, "Interrupts". */
static void queue_interrupt(struct session *s)
{
    bool controls = s->stub->controller == s && !s->non_stop && session_has_program(s);
    if (session_waits(s) || controls)
        session_event(s, SESSION_ON_BREAK_EARLY);
}

void cmd_vctrlc(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    enum target_state state = stub->ops->state(stub->t);
    (void)len;
    if (stub->gone && session_waits(s)) {
        session_say(s, "The target does not answer; its state is unknown.\n");
        stop_reply_give_up(s);
    } else if (state == TARGET_RUNNING) {
        interrupt_running(s);
    } else if (state == TARGET_GONE && session_waits(s)) {
        /* it was lost a moment ago, as stub_gone() is about to say: stub_back() halts it */
        halt_event(stub, HALT_ON_ASKED);
        session_event(s, SESSION_ON_BREAK);
    } else if (state == TARGET_HALTED && !args) {
        queue_interrupt(s);
    }
    if (args)
        reply_ok(s);
}

static void why_while_running(struct session *s)
{
    struct err err = { .code = ERR_OK };
    if (s->non_stop) {
        reply_ok(s);
        return;
    }
    session_event(s, SESSION_ON_QUERIED);
    if (ask_halt(s, &err) < 0)
        cannot_tell(s, &err);
}

/* A part that is locked has no program to debug, but a monitor that can open it: GDB gets that far
 * in extended mode only. */
static void is_secured(struct session *s, const struct err *why)
{
    if (!s->extended) {
        cannot_tell(s, why); /* GDB 13.1 hangs at an error here */
        return;
    }
    session_event(s, SESSION_ON_PROGRAM_GONE);
    reply_text(s, "W00");
}

void cmd_why(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    (void)args;
    (void)len;
    if (!session_has_program(s)) {
        reply_text(s, "W00");
    } else if (stub->gone) {
        err_set(&err, ERR_NO_TARGET, "check adapter, cable and power; it is being looked for",
                "the target does not answer");
        cannot_tell(s, &err);
    } else if (stub_attach(stub, &err) < 0) {
        if (err.code == ERR_SECURED)
            is_secured(s, &err);
        else
            cannot_tell(s, &err);
    } else if (stub_running(stub)) {
        why_while_running(s);
    } else {
        stop_reply_send(s, false);
    }
}

/* ---- resuming ---- */

static bool may_resume(struct session *s, struct err *err)
{
    struct stub *stub = s->stub;
    if (!session_has_program(s))
        err_set(err, ERR_STATE, "use run or attach", "no program is being debugged");
    else if (stub->gone)
        err_set(err, ERR_NO_TARGET, "check adapter, cable and power; it is being looked for",
                "the target does not answer");
    else if (stub->controller != s && !stub_running(stub))
        err_set(err, ERR_STATE,
                "it takes over when the other one leaves, or by monitor control take",
                "another GDB controls the target, this one observes");
    else
        return true;
    return false;
}

/* Resumes the target as GDB wants. Returns 1: it stands nevertheless, for the reason in last_stop.
 */
static int let_go(struct session *s, const struct resume *how, unsigned alone, struct err *err)
{
    struct stub *stub = s->stub;
    bool interrupted = session_has_break(s);
    /* Running already (reset, an observer's look): then the packet only waits for the next stop. */
    if (stub_running(stub))
        return interrupted ? ask_halt(s, err) : 0;
    if (interrupted) {
        int ret = stub_interrupt_at_once(stub, how, err);
        if (ret < 0)
            return ret;
        return 1;
    }
    threads_go(s, how->kind != RESUME_CONTINUE, alone);
    if (hits_at_once(stub, how))
        return 1;
    return stub_resume(stub, how, err);
}

/* alone: as threads_go() has it */
static void resume_for(struct session *s, const struct resume *how, unsigned alone)
{
    struct err err;
    int ret = -(int)ERR_STATE;
    if (may_resume(s, &err))
        ret = let_go(s, how, alone, &err);
    if (ret < 0) {
        reply_err(s, &err, true);
        return;
    }
    if (s->non_stop)
        reply_ok(s);
    else
        session_event(s, SESSION_ON_RESUME);
    if (s->stub->failure_passes)
        s->stub->failure.code = ERR_OK;
    session_say_failure(s);
    hits_tell(s->stub);
    for (struct session *each = s->stub->sessions; each && ret > 0; each = each->next)
        stop_reply_tell(each);
}

/* "[ADDR]", or "SIG[;ADDR]" whose signal a bare board has no use for. */
static void resume_by_letter(struct session *s, const char *p, bool has_signal,
                             enum resume_kind kind)
{
    struct resume how = { .kind = kind };
    uint64_t sig;
    if (has_signal) {
        if (!rsp_number(&p, &sig) || (*p && *p != ';')) {
            reply_usage(s, "signal expected");
            return;
        }
        if (*p == ';')
            p++;
    }
    if (*p) {
        how.set_pc = rsp_number(&p, &how.pc);
        if (!how.set_pc || *p) {
            reply_usage(s, "address expected");
            return;
        }
    }
    resume_for(s, &how, 0);
}

void cmd_continue(struct session *s, char *args, size_t len)
{
    (void)len;
    resume_by_letter(s, args, false, RESUME_CONTINUE);
}

void cmd_step(struct session *s, char *args, size_t len)
{
    (void)len;
    resume_by_letter(s, args, false, RESUME_STEP);
}

void cmd_continue_signal(struct session *s, char *args, size_t len)
{
    (void)len;
    resume_by_letter(s, args, true, RESUME_CONTINUE);
}

void cmd_step_signal(struct session *s, char *args, size_t len)
{
    (void)len;
    resume_by_letter(s, args, true, RESUME_STEP);
}

void cmd_vcont_query(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    reply_text(s, "vCont;c;C;s;S;t;r");
}

/* One action "c", "C05", "s", "S05", "t", "rLO,HI", at *p, with its optional ":THREAD". */
static bool parse_action(const char **p, char *action, struct resume *how, uint64_t *thread)
{
    uint64_t n;
    *action = *(*p)++;
    switch (*action) {
    case 'c':
    case 't': how->kind = RESUME_CONTINUE; break;
    case 's': how->kind = RESUME_STEP; break;
    case 'C':
    case 'S':
        how->kind = *action == 'S' ? RESUME_STEP : RESUME_CONTINUE;
        if (!rsp_number(p, &n))
            return false;
        break;
    case 'r':
        how->kind = RESUME_RANGE;
        if (!rsp_number(p, &how->range_lo) || *(*p)++ != ',' || !rsp_number(p, &how->range_hi))
            return false;
        break;
    default: return false;
    }
    *thread = 0;
    if (**p == ':') {
        ++*p;
        if (strncmp(*p, "-1", 2) == 0)
            *p += 2;
        else if (!rsp_number(p, thread))
            return false;
    }
    return **p == 0 || **p == ';';
}

static void stop_thread(struct session *s)
{
    struct err err;
    if (stub_running(s->stub)) {
        bool notifies = s->state == SESSION_READY || s->state == SESSION_STOPPING;
        session_event(s, s->non_stop && notifies ? SESSION_ON_STOP_ASKED : SESSION_ON_BREAK);
        if (ask_halt(s, &err) < 0) {
            reply_err(s, &err, true);
            return;
        }
    }
    reply_ok(s);
}

static void cannot_step(struct session *s, uint64_t thread)
{
    struct err err;
    char hint[64];
    snprintf(hint, sizeof hint, "thread of number %u runs: select it, or continue",
             threads_running(s));
    err_set(&err, ERR_STATE, hint,
            "the thread of number %llu does not run, so it cannot be stepped",
            (unsigned long long)thread);
    reply_err(s, &err, true);
}

/* The first action that applies to the thread that runs counts. */
void cmd_vcont(struct session *s, char *args, size_t len)
{
    const char *p = args;
    struct resume chosen = { 0 };
    char action = 0;
    bool all = false;
    uint64_t running = threads_running(s);
    (void)len;
    while (*p == ';') {
        struct resume how = { 0 };
        char a;
        uint64_t thread;
        p++;
        if (!parse_action(&p, &a, &how, &thread)) {
            action = 0;
            break;
        }
        bool mine = thread == 0 || thread == running;
        bool steps = !mine && how.kind != RESUME_CONTINUE && !action;
        if (steps && !stub_running(s->stub) && threads_has(s, (int64_t)thread)) {
            cannot_step(s, thread);
            return;
        }
        all |= thread == 0;
        if (mine && !action) {
            action = a;
            chosen = how;
        }
    }
    if (*p || !action)
        reply_usage(s, "vCont without an action that is known");
    else if (action == 't')
        stop_thread(s);
    else
        resume_for(s, &chosen, all ? 0 : (unsigned)running);
}

/* ---- beginning and end ---- */

void cmd_extended(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    s->extended = true;
    reply_ok(s);
}

/* Starts the program from its beginning, in two steps. With a known entry point the board first
 * goes through its own start-up, which a reset that halts at once would cut off (memory controller,
 * exceptions allowed), and is halted again; stub_stopped() then sets PC. */
static int reset_program(struct session *s, struct err *err)
{
    struct stub *stub = s->stub;
    int ret = stub_reset(stub, stub->cfg.has_entry ? RESET_RUN : RESET_HALT, err);
    if (ret < 0)
        return ret;
    if (!session_has_program(s))
        session_event(s, SESSION_ON_PROGRAM);
    s->created = true;
    return 0;
}

/* Returns 1 if the stop was reported or is still to come, 0 if the target is halted at its reset
 * vector. */
static int halt_start_up(struct stub *stub, struct err *err)
{
    struct target_stop stop = { .reason = STOP_NONE };
    if (!stub->cfg.has_entry)
        return 0;
    halt_event(stub, HALT_ON_START_ASKED);
    int ret = stub->ops->poll(stub->t, START_UP_NS, &stop, err);
    if (ret == 0)
        ret = stub_halt(stub, err);
    if (ret < 0) {
        halt_event(stub, HALT_ON_OVER);
        return ret;
    }
    if (stop.reason != STOP_NONE)
        stub_stopped(stub, &stop);
    return 1;
}

void cmd_restart(struct session *s, char *args, size_t len)
{
    struct err err;
    (void)args;
    (void)len;
    if (reset_program(s, &err) < 0 || halt_start_up(s->stub, &err) < 0) /* R has no reply */
        log_msg(s->stub->cfg.log, LOG_RSP, "restart: %s", err.what);
}

void cmd_run_program(struct session *s, char *args, size_t len)
{
    struct err err;
    (void)args;
    (void)len;
    if (stub_attach(s->stub, &err) < 0 || reset_program(s, &err) < 0) {
        reply_err(s, &err, true);
        return;
    }
    session_event(s, SESSION_ON_QUERIED); /* the reply is the stop */
    int ret = halt_start_up(s->stub, &err);
    if (ret < 0) {
        session_event(s, SESSION_ON_REPLIED);
        reply_err(s, &err, true);
    } else if (ret == 0) {
        stop_reply_send(s, false);
    }
}

void cmd_vattach(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    (void)args;
    (void)len;
    if (!stub->controller)
        stub->controller = s;
    if (stub_attach(stub, &err) < 0) {
        reply_err(s, &err, true);
        return;
    }
    if (!session_has_program(s))
        session_event(s, SESSION_ON_PROGRAM);
    if (s->non_stop) {
        if (stub_running(stub)) {
            stop_thread(s);
        } else {
            reply_ok(s);
            stop_reply_tell(s);
        }
    } else if (stub_running(stub)) {
        why_while_running(s);
    } else {
        stop_reply_send(s, false);
    }
}

/* Ends the program: the board is reset and does what it does without a debugger. */
static int kill_program(struct session *s, struct err *err)
{
    struct err why;
    if (stub_withdraw(s->stub, false, &why) < 0) /* the reset may help */
        log_msg(s->stub->cfg.log, LOG_RSP, "kill: %s", why.what);
    session_event(s, SESSION_ON_PROGRAM_GONE);
    s->created = false;
    return stub_reset(s->stub, RESET_RUN, err);
}

void cmd_vkill(struct session *s, char *args, size_t len)
{
    struct err err;
    (void)args;
    (void)len;
    if (kill_program(s, &err) < 0)
        reply_err(s, &err, true);
    else
        reply_ok(s);
}

void cmd_kill(struct session *s, char *args, size_t len)
{
    struct err err;
    (void)args;
    (void)len;
    if (s->stub->controller == s && !s->stub->gone && kill_program(s, &err) < 0)
        log_msg(s->stub->cfg.log, LOG_RSP, "kill: %s", err.what);
    if (!s->extended) /* k has no reply */
        session_event(s, SESSION_ON_CLOSE);
}

void cmd_detach(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    (void)args;
    (void)len;
    if (stub->controller == s) {
        if (session_has_program(s) && stub_release(stub, &err) < 0) {
            reply_err(s, &err, true);
            return;
        }
        stub->controller = s->next; /* may be NULL: then the next vAttach or connection controls */
        if (stub->sessions != s)
            stub->controller = stub->sessions;
    }
    reply_ok(s);
    session_event(s, s->extended ? SESSION_ON_PROGRAM_GONE : SESSION_ON_CLOSE);
}
