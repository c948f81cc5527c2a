#include "gdbstub/moment.h"

#include "gdbstub/hits.h"
#include "gdbstub/stop_reply.h"
#include "gdbstub/stub.h"

enum { LOOK_NS = 10000000, LOOKS = 100 };

int moment_halt(struct stub *stub, struct target_stop *stop, struct err *err)
{
    int ret = stub->ops->halt(stub->t, err);
    for (int i = 0; i < LOOKS && ret == 0; i++)
        ret = stub->ops->poll(stub->t, LOOK_NS, stop, err);
    if (ret == 0)
        ret = err_set(err, ERR_TIMEOUT, "interrupt it, then try again", "it does not halt");
    return ret;
}

/* Begins the moment: 1 with *stop. */
static int begin_moment(struct stub *stub, struct target_stop *stop, struct err *err)
{
    if (!stub_steps(stub)) /* it may run since a reset */
        stub->last_resume = (struct resume){ .kind = RESUME_CONTINUE };
    int ret = moment_halt(stub, stop, err);
    if (ret > 0)
        stub_forget_regs(stub);
    else if (ret == -ERR_TIMEOUT && stub_running(stub))
        halt_event(stub, HALT_ON_SNAPSHOT_ASKED); /* it goes on when the halt comes after all */
    return ret;
}

/* Whether the program, which stands for nothing that anybody is to be told, goes on. */
static bool goes_on(struct stub *stub, const struct target_stop *stop)
{
    struct err err;
    int ret = hits_go_on(stub, &err);
    if (ret >= 0)
        return ret > 0;
    log_msg(stub->cfg.log, LOG_RSP, "resume after a moment: %s", err.what);
    stub->last_stop = *stop;
    return false;
}

static void end_moment(struct stub *stub, const struct target_stop *stop)
{
    if (stop->reason != STOP_REQUEST || stub->purpose != HALT_NONE) {
        stub_stopped(stub, stop);
        return;
    }
    if (goes_on(stub, stop))
        return;
    for (struct session *s = stub->sessions; s; s = s->next)
        stop_reply_tell(s);
}

int moment_insert(struct stub *stub, struct breakpoint *bp, struct err *err)
{
    struct target_stop stop;
    int ret = stub_insert(stub, bp, err);
    if (ret != -ERR_STATE || !stub_running(stub))
        return ret;
    ret = begin_moment(stub, &stop, err);
    if (ret < 0)
        return ret;
    ret = stub_insert(stub, bp, err);
    end_moment(stub, &stop);
    return MIN(ret, 0);
}

int moment_remove(struct stub *stub, const struct breakpoint *bp, struct err *err)
{
    struct target_stop stop;
    int ret = stub_remove(stub, bp, err);
    if (ret != -ERR_STATE || !stub_running(stub))
        return ret;
    ret = begin_moment(stub, &stop, err);
    if (ret < 0)
        return ret;
    ret = stub_settle_breakpoints(stub, err);
    end_moment(stub, &stop);
    return MIN(ret, 0);
}
