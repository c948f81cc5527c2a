/* How a stop is reported to a GDB: as the reply that it waits for, or as a notification. */
#include <stdio.h>

#include "gdbstub/reply.h"
#include "gdbstub/stop_reply.h"
#include "gdbstub/stub.h"
#include "gdbstub/threads.h"
#include "targets/gdb_kinds.h"

static void put_expedited(struct session *s)
{
    struct stub *stub = s->stub;
    for (unsigned n = 0; n < stub->nregs; n++) {
        if (!stub->ops->regs[n].expedite || stub_read_reg(stub, n, NULL) < 0 ||
            stub->reg_state[n] != REG_VALID)
            continue;
        reply_printf(s, "%02x:", n);
        reply_hex(s, stub->regs + stub->reg_offset[n], stub->ops->regs[n].bytes);
        reply_put(s, ";", 1);
    }
}

static void put_reason(struct session *s, const struct target_stop *stop)
{
    switch (stop->reason) {
    case STOP_SWBREAK:
        if (s->says_swbreak)
            reply_printf(s, "swbreak:;");
        break;
    case STOP_HWBREAK:
        if (s->says_hwbreak)
            reply_printf(s, "hwbreak:;");
        break;
    case STOP_WATCH:
        reply_printf(s, "%s%llx;", gdb_watch_word(stop->watch_kind),
                     (unsigned long long)stop->watch_addr);
        break;
    default: break;
    }
}

/* In non-stop mode a stop asked for by vCont;t is "no signal"; Ctrl-C is SIGINT in both. */
static unsigned stop_signal(const struct session *s, const struct target_stop *stop)
{
    if (s->state == SESSION_STOPPING && stop->reason == STOP_REQUEST)
        return 0;
    if (stop->reason == STOP_REQUEST && stop->signal == 0)
        return 2;
    if (stop->signal > 0 && stop->signal < 256)
        return (unsigned)stop->signal;
    return 5;
}

/* news: the stop happens now. A session that comes later finds a board halted at its program's
 * exit, not the end of a process. */
static void put_stop(struct session *s, bool news)
{
    const struct target_stop *stop = &s->stub->last_stop;
    if (news && stop->reason == STOP_EXIT) {
        reply_printf(s, "W%02x", (unsigned)stop->exit_status & 0xFF);
        return;
    }
    if (s->stub->controller != s || !news) /* nobody waits for the end of a step of one alone */
        s->alone = 0;
    reply_printf(s, "T%02x", stop_signal(s, stop));
    put_expedited(s);
    reply_printf(s, "thread:%x;", threads_running(s));
    s->thread = 0; /* GDB takes the one that has stopped for the one that Hg chose */
    put_reason(s, stop);
}

/* A Ctrl-C that coincides with a stop of the program's own is still to come. One that coincides
 * with the return of a lost board has the stop that it wanted. */
static enum session_event reply_event(const struct target_stop *stop)
{
    if (stop->reason == STOP_EXIT)
        return SESSION_ON_EXIT_REPLIED;
    bool own = stop->reason != STOP_REQUEST && stop->reason != STOP_RESET;
    if (own)
        return SESSION_ON_OWN_REPLIED;
    return SESSION_ON_REPLIED;
}

void stop_reply_send(struct session *s, bool news)
{
    reply_begin(s);
    put_stop(s, news);
    reply_end(s);
    session_event(s, news ? reply_event(&s->stub->last_stop) : SESSION_ON_REPLIED);
}

static void notify_stop(struct session *s)
{
    bool exited = s->stub->last_stop.reason == STOP_EXIT;
    notify_begin(s);
    reply_put(s, "Stop:", 5);
    put_stop(s, true);
    reply_end(s);
    session_event(s, exited ? SESSION_ON_NOTIFY_EXIT : SESSION_ON_NOTIFY);
}

void stop_reply_tell(struct session *s)
{
    const struct target_stop *stop = &s->stub->last_stop;
    if (session_waits(s)) {
        if (stop->text[0] && session_hears(s)) {
            char line[sizeof stop->text + 1];
            snprintf(line, sizeof line, "%s\n", stop->text);
            console_print(s, line);
        }
        char note[TASKS_NAME + 128];
        if (session_hears(s) && threads_note(s, note, sizeof note))
            console_print(s, note);
        stop_reply_send(s, true);
    } else if (s->non_stop && (s->state == SESSION_READY || s->state == SESSION_STOPPING)) {
        notify_stop(s);
    }
}

void stop_reply_give_up(struct session *s)
{
    reply_text(s, "T02thread:1;");
    session_event(s, SESSION_ON_REPLIED);
}
