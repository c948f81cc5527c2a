/* Questions to the stub whose answers say whether it is still there, and its interruption. */
#include <stdarg.h>
#include <stdio.h>

#include "targets/sh4/rsp/rsp_priv.h"

int rsp_lost(struct rsp_target *t, int ret)
{
    if (ret == -ERR_USB)
        t->state = TARGET_GONE;
    return ret;
}

int rsp_question(struct rsp_target *t, struct err *err, const char *fmt, ...)
{
    char text[128];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return rsp_lost(t, rsp_ask(&t->c, text, (size_t)n, err));
}

/* The state of a target that is not halted. */
static const char *state_text(enum target_state state)
{
    switch (state) {
    case TARGET_GONE: return "gone";
    case TARGET_RUNNING: return "running";
    default: return "not attached";
    }
}

int rsp_need_halted(struct rsp_target *t, const char *what, struct err *err)
{
    if (t->state == TARGET_HALTED)
        return 0;
    bool gone = t->state == TARGET_GONE;
    return err_set(err, gone ? ERR_NO_TARGET : ERR_STATE,
                   gone ? "is the stub still there?" : "halt the program first",
                   "%s: the target is %s", what, state_text(t->state));
}

/* ---- 0x03 ---- */

/* Sent once only. A stub that does not listen leaves it in its receiver, which more of them would
 * fill, and finds it at its next stop. */
int rsp_knock(struct rsp_target *t, struct err *err)
{
    if (t->knocked)
        return 0;
    t->knocked = true;
    return rsp_lost(t, rsp_interrupt(&t->c, err));
}

/* Waits for the stop that an interrupt brings; console output may come before. 0: nothing in time.
 */
int rsp_hear_stop(struct rsp_target *t, uint64_t max_ns, struct err *err)
{
    int ret;
    do
        ret = rsp_receive(&t->c, max_ns, NULL, err);
    while (ret > 0 && rsp_console(&t->c));
    return ret;
}

/* A stub that has listened before was not reached, or its answer was lost. If it is halted, it
 * answers a question only. */
int rsp_knock_again(struct rsp_target *t, uint64_t max_ns, struct err *err)
{
    if (!t->listens)
        return 0;
    int ret = rsp_lost(t, rsp_interrupt(&t->c, err));
    if (ret == 0)
        ret = rsp_hear_stop(t, max_ns, err);
    if (ret != 0)
        return ret;
    return rsp_try(&t->c, "?", max_ns, err);
}
