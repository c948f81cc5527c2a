#include "gdbstub/leave.h"

#include "gdbstub/moment.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

#define AGAIN_NS UINT64_C(1000000000)

/* Whether the halt was ours, or by a breakpoint that is gone now: nobody is to be notified. */
static bool is_nobodys(const struct target_stop *stop)
{
    return stop->reason == STOP_REQUEST || stop->reason == STOP_SWBREAK ||
           stop->reason == STOP_HWBREAK || stop->reason == STOP_WATCH;
}

static int go_on_after(struct stub *stub, const struct target_stop *stop, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    if (stub->purpose != HALT_SNAPSHOT && is_nobodys(stop)) {
        halt_event(stub, HALT_ON_OVER);
        return stub_resume(stub, &how, err);
    }
    stub->last_resume = how; /* a look by an observer, and a call of the host, go on so */
    stub_stopped(stub, stop);
    return 0;
}

/* Removes the breakpoints that are leaving. Those that cannot be removed are left for stub_tick().
 */
static int take_out(struct stub *stub, bool goes_on, struct err *err)
{
    struct target_stop stop = { .reason = STOP_NONE };
    bool ran = stub_running(stub);
    stub->withdraws = false;
    for (size_t i = 0; i < stub->nbps; i++)
        stub->withdraws = stub->withdraws || stub->bps[i].leaving;
    if (!stub->withdraws) /* another GDB has set the same ones meanwhile */
        return 0;
    int ret = 0;
    if (ran)
        ret = moment_halt(stub, &stop, err);
    if (ret >= 0)
        ret = stub_settle_breakpoints(stub, err);
    stub->withdraws = ret < 0;
    if (!ran || !goes_on || stop.reason == STOP_NONE)
        return MIN(ret, 0);
    int resumed = go_on_after(stub, &stop, err_unless(ret < 0, err));
    if (ret < 0)
        return ret;
    return resumed;
}

int stub_withdraw(struct stub *stub, bool goes_on, struct err *err)
{
    for (size_t i = 0; i < stub->nbps; i++)
        stub->bps[i].leaving = true;
    if (stub->nbps == 0)
        return 0;
    stub->withdraws = true;
    if (stub->gone)
        return 0;
    return take_out(stub, goes_on, err); /* of one that is gone: when it is back */
}

int stub_hand_over(struct stub *stub, struct session *to, struct err *err)
{
    struct session *before = stub->controller;
    int ret = stub_withdraw(stub, true, err);
    stub->controller = to;
    if (before)
        session_say(before, "Another GDB has taken control; this one observes.\n");
    return ret;
}

void stub_tick(struct stub *stub, uint64_t now_ns)
{
    struct err err;
    stub->now_ns = now_ns;
    if (!stub->withdraws || stub->gone || now_ns - stub->withdrew_ns < AGAIN_NS)
        return;
    stub->withdrew_ns = now_ns;
    if (take_out(stub, true, &err) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "breakpoints of a GDB that has left stay: %s", err.what);
}

int stub_release(struct stub *stub, struct err *err)
{
    bool others = stub->nsessions > 1;
    bool held = others || (stub->cfg.hold && stub->cfg.hold(stub->cfg.hold_ctx));
    if (stub_withdraw(stub, true, err) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "breakpoints stay for now: %s", err->what);
    stub_forget_regs(stub);
    if (stub->gone)
        return 0;
    if (stub->semihosting && !others)
        stub_set_semihosting(stub, false);
    stub->semihosting = stub->semihosting && others;
    stub->fileio = false;
    if (!held)
        return stub->ops->detach(stub->t, err);
    if (stub_running(stub))
        return 0;
    struct resume how = { .kind = RESUME_CONTINUE };
    return stub_resume(stub, &how, err);
}

void stub_left(struct stub *stub)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    bool wanted = stub->cfg.hold && stub->cfg.hold(stub->cfg.hold_ctx);
    /* nobody is left to tell of a failure; the worker notices a target that is gone */
    if (wanted && !stub->gone && !stub_running(stub) && stub->last_stop.reason != STOP_EXIT)
        (void)stub_resume(stub, &how, NULL);
}
