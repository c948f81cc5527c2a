/* ? c s C S vCont vCtrlC vStopped, and what begins and ends a debugging session: D k R ! vRun
 * vAttach vKill */
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/reply.h"
#include "gdbstub/stop_reply.h"
#include "gdbstub/stub.h"

void cmd_vstopped(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    s->notified = false; /* there is one thread, so never a second stop to tell */
    reply_ok(s);
}

/* ---- asking for a halt ---- */

/* An error in answer to `?` or vAttach leaves GDB waiting for a stop for ever. It is told of one,
 * and the error when it asks for the registers: then it gives up, and shows the error. */
static void cannot_tell(struct session *s, const struct err *why)
{
    s->stub->trouble = *why;
    stop_reply_give_up(s);
}

/* A controller halts the target; an observer only looks: the program goes on after it. */
static int ask_halt(struct session *s, struct err *err)
{
    struct stub *stub = s->stub;
    s->halt_asked = true;
    s->halt_asked_ns = 0;
    if (stub->controller == s)
        return stub_halt(stub, err);
    stub->snapshot_wanted = true;
    return stub->ops->halt(stub->t, err);
}

void cmd_vctrlc(struct session *s, char *args, size_t len)
{
    struct err err;
    (void)len;
    if (s->stub->gone && s->waiting) {
        session_say(s, "The target does not answer; its state is unknown.\n");
        stop_reply_give_up(s);
    } else if (stub_running(s->stub) && ask_halt(s, &err) < 0) {
        session_say(s, err.what);
        session_say(s, "\n");
    } else if (s->waiting && s->stub->ops->state(s->stub->t) == TARGET_GONE) {
        /* it was lost a moment ago, which stub_gone() is about to tell: stub_back() halts it */
        s->stub->halt_wanted = s->halt_asked = true;
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
    s->waiting = s->replies_once = true;
    if (ask_halt(s, &err) < 0)
        cannot_tell(s, &err);
}

/* A part that is locked has no program to debug, but a monitor that can open it: GDB gets that far
 * in extended mode only. */
static void is_secured(struct session *s, const struct err *why)
{
    s->no_process = true;
    if (s->extended)
        reply_text(s, "W00");
    else
        cannot_tell(s, why); /* GDB 13.1 hangs at an error here */
}

void cmd_why(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    (void)args;
    (void)len;
    if (s->no_process) {
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
    if (s->no_process)
        err_set(err, ERR_STATE, "use run or attach", "no program is being debugged");
    else if (stub->gone)
        err_set(err, ERR_NO_TARGET, "check adapter, cable and power; it is being looked for",
                "the target does not answer");
    else if (stub->controller != s && !stub_running(stub))
        err_set(err, ERR_STATE, "it takes over when the other one leaves",
                "another GDB controls the target, this one observes");
    else
        return true;
    return false;
}

static void start(struct session *s, const struct resume *how)
{
    struct stub *stub = s->stub;
    struct err err;
    bool ok = may_resume(s, &err), at_breakpoint = false;
    /* Running already (reset, an observer's look): then the packet only waits for the next stop. */
    if (ok && !stub_running(stub)) {
        at_breakpoint = stub_meets_breakpoint(stub, how);
        ok = at_breakpoint || stub_resume(stub, how, &err) >= 0;
    }
    if (!ok) {
        reply_err(s, &err, true);
        return;
    }
    s->stop_quietly = false;
    if (s->non_stop)
        reply_ok(s);
    else
        s->waiting = true;
    session_tell_unheard(s);
    for (struct session *each = stub->sessions; each && at_breakpoint; each = each->next)
        stop_reply_tell(each);
}

/* "[ADDR]", or "SIG[;ADDR]" whose signal a bare board has no use for. */
static void legacy(struct session *s, const char *p, bool has_signal, enum resume_kind kind)
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
    start(s, &how);
}

void cmd_continue(struct session *s, char *args, size_t len)
{
    (void)len;
    legacy(s, args, false, RESUME_CONTINUE);
}

void cmd_step(struct session *s, char *args, size_t len)
{
    (void)len;
    legacy(s, args, false, RESUME_STEP);
}

void cmd_continue_signal(struct session *s, char *args, size_t len)
{
    (void)len;
    legacy(s, args, true, RESUME_CONTINUE);
}

void cmd_step_signal(struct session *s, char *args, size_t len)
{
    (void)len;
    legacy(s, args, true, RESUME_STEP);
}

void cmd_vcont_query(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    reply_text(s, "vCont;c;C;s;S;t;r");
}

/* One action "c", "C05", "s", "S05", "t", "rLO,HI", at *p, with its optional ":THREAD". */
static bool parse_action(const char **p, char *action, struct resume *how, bool *mine)
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
    *mine = true;
    if (**p == ':') {
        ++*p;
        if (strncmp(*p, "-1", 2) == 0)
            *p += 2;
        else if (rsp_number(p, &n))
            *mine = n <= 1;
        else
            return false;
    }
    return **p == 0 || **p == ';';
}

static void stop_thread(struct session *s)
{
    struct err err;
    if (stub_running(s->stub)) {
        s->stop_quietly = true;
        if (ask_halt(s, &err) < 0) {
            reply_err(s, &err, true);
            return;
        }
    }
    reply_ok(s);
}

/* The first action that applies to the one thread counts. */
void cmd_vcont(struct session *s, char *args, size_t len)
{
    const char *p = args;
    struct resume chosen = { 0 };
    char action = 0;
    (void)len;
    while (*p == ';') {
        struct resume how = { 0 };
        char a;
        bool mine;
        p++;
        if (!parse_action(&p, &a, &how, &mine)) {
            action = 0;
            break;
        }
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
        start(s, &chosen);
}

/* ---- beginning and end ---- */

void cmd_extended(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    s->extended = true;
    reply_ok(s);
}

/* Starts the program anew. With a known entry point the board first goes through its own start-up,
 * which a reset that halts at once would cut off (memory controller, exceptions allowed), and is
 * halted again; stub_stopped() then sets PC. Returns 1 if that stop is still to come, 0 if the
 * target is halted at its reset vector. */
static int restart(struct session *s, struct err *err)
{
    struct stub *stub = s->stub;
    struct target_stop stop = { .reason = STOP_NONE };
    int ret = stub_reset(stub, stub->cfg.has_entry ? RESET_RUN : RESET_HALT, err);
    if (ret < 0)
        return ret;
    s->no_process = false;
    s->created = true;
    if (!stub->cfg.has_entry)
        return 0;
    stub->starting = true;
    ret = stub->ops->poll(stub->t, START_UP_NS, &stop, err);
    if (ret == 0)
        ret = stub_halt(stub, err);
    if (ret < 0) {
        stub->starting = false;
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
    if (restart(s, &err) < 0) /* R has no reply */
        log_msg(s->stub->cfg.log, LOG_RSP, "restart: %s", err.what);
}

void cmd_run_program(struct session *s, char *args, size_t len)
{
    struct err err;
    (void)args;
    (void)len;
    s->waiting = s->replies_once = true; /* the reply is the stop */
    int ret = stub_attach(s->stub, &err);
    if (ret >= 0)
        ret = restart(s, &err);
    if (ret < 0) {
        s->waiting = s->replies_once = false;
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
    s->no_process = false;
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
    stub_remove_all(s->stub);
    s->no_process = true;
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
    s->finished = !s->extended; /* k has no reply */
}

void cmd_detach(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    (void)args;
    (void)len;
    if (stub->controller == s) {
        if (!s->no_process && stub_release(stub, &err) < 0) {
            reply_err(s, &err, true);
            return;
        }
        stub->controller = s->next; /* may be NULL: then the next vAttach or connection controls */
        if (stub->sessions != s)
            stub->controller = stub->sessions;
    }
    s->no_process = true;
    s->finished = !s->extended;
    reply_ok(s);
}
