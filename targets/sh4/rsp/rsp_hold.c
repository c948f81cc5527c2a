/* A program that runs is held for a moment: what every access to it needs. */
#include "targets/sh4/rsp/rsp_priv.h"
#include "probe/base/choice.h"

#define HOLD_NS 1000000000ull

static int no_interrupt(struct rsp_target *t, const char *what, struct err *err)
{
    t->q.no_interrupt = true;
    return err_set(err, ERR_UNSUPPORTED,
                   "this stub does not listen while the program runs (KallistiOS' does not); halt "
                   "at a breakpoint instead",
                   "%s: %s does not answer an interrupt", what, t->probe->name);
}

int rsp_await_stop(struct rsp_target *t, const char *what, struct err *err)
{
    uint64_t max_ns = rsp_patience(&t->c, HOLD_NS);
    int ret = rsp_hear_stop(t, max_ns, err);
    if (ret == 0)
        ret = rsp_knock_again(t, max_ns, err);
    if (ret != 0)
        return ret;
    return no_interrupt(t, what, err);
}

/* Lets a program that was held run on. If that fails, the next poll reports that it stands. */
static int go_on(struct rsp_target *t, struct err *err)
{
    int ret = rsp_resume(&t->base, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    if (ret < 0 && t->state == TARGET_HALTED)
        t->has_stop = true;
    return ret;
}

int rsp_hold(struct rsp_target *t, const char *what, struct err *err)
{
    struct rsp_bp *b;
    if (t->state != TARGET_RUNNING)
        return rsp_need_halted(t, what, err);
    if (t->halt_wanted || t->plan != RSP_RUN)
        return err_set(err, ERR_STATE, "wait for the stop", "%s: the target is about to stop",
                       what);
    if (t->q.no_interrupt)
        return no_interrupt(t, what, err);
    int ret = rsp_knock(t, err);
    if (ret == 0)
        ret = rsp_await_stop(t, what, err);
    if (ret > 0)
        ret = rsp_take_stop(t, err);
    if (ret < 0 && rsp_lost(t, ret) < 0 && t->state == TARGET_HALTED)
        go_on(t, NULL); /* it stopped, and where it stands could not be read */
    if (ret < 0)
        return ret;
    /* A stop of the program's own came first: the interrupt's answer follows, or never comes. The
     * next poll reports the stop. */
    b = rsp_bp_at(t, (uint32_t)t->stop.pc);
    bool interrupt = t->stop.signal == RSP_SIGINT,
         plain = interrupt || t->stop.signal == RSP_SIGTRAP || t->stop.signal == 0;
    bool own = t->stop.reason != STOP_SIGNAL || !plain || (b && !interrupt);
    if (own && t->stop.reason == STOP_SIGNAL && b)
        t->stop.reason = rsp_bp_reason(b);
    t->has_stop = own;
    t->listens |= !own;
    return !own;
}

int rsp_let_go(struct rsp_target *t, int held, int ret, struct err *err)
{
    if (held <= 0 || t->state != TARGET_HALTED)
        return ret;
    int went = go_on(t, err_unless(ret < 0, err));
    if (ret < 0)
        return ret;
    return went;
}

int rsp_sample_pc(struct target *target, uint64_t *pc, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    if (t->state != TARGET_RUNNING)
        return err_set(err, t->state == TARGET_GONE ? ERR_NO_TARGET : ERR_STATE, "let it run",
                       "sample: the target does not run");
    if (t->halt_wanted || t->plan != RSP_RUN)
        return 0;
    int held = rsp_hold(t, "sample", err);
    if (held <= 0)
        return held;
    *pc = t->stop.pc;
    t->samples++;
    int ret = rsp_let_go(t, held, 0, err);
    if (ret < 0)
        return ret;
    return 1;
}
