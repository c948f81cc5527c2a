/* The program is halted for the trace's own purposes, and goes on. */
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum {
    HALT_NS = 2000000000, /* how long a halt for arming may take */
    /* ... and at least so many looks: reading a full ring through a slow adapter takes seconds */
    HALT_POLLS = 40,
    SLICE_NS = 1000000
};

/* How long that may take: longer on a line that was given more patience (timeout=MS). */
static uint64_t halt_limit(const struct sh4_target *t)
{
    uint64_t patience = t->link.silence_ns + t->link.silence_ns / 2;
    return t->link.jtag ? HALT_NS : MAX((uint64_t)HALT_NS, patience);
}

/* Halts if it runs. *ran: resume afterwards. A stop of another kind met on the way is kept for the
 * user. */
int sh4_trace_stop_program(struct sh4_target *t, bool *ran, struct err *err)
{
    struct target_stop stop;
    uint64_t end = sh4_link_now(&t->link) + halt_limit(t);
    *ran = t->state == TARGET_RUNNING && !t->stop_pending;
    if (!*ran)
        return t->state == TARGET_HALTED || t->stop_pending
                   ? 0
                   : err_set(err, ERR_STATE, "attach first", "trace: target not attached");
    int ret = t->base.ops->halt(&t->base, err);
    for (unsigned n = 0;
         ret == 0 && t->state == TARGET_RUNNING && (sh4_link_now(&t->link) < end || n < HALT_POLLS);
         n++)
        ret = t->base.ops->poll(&t->base, SLICE_NS, &stop, err);
    if (ret < 0)
        return ret;
    if (t->state != TARGET_HALTED)
        return err_set(err, ERR_TIMEOUT, "interrupts may be masked for long",
                       "trace: the target does not halt");
    if (ret > 0 && stop.reason != STOP_REQUEST) {
        t->stop = stop;
        t->stop_pending = true;
        *ran = false;
    }
    return 0;
}

int sh4_trace_run_program(struct sh4_target *t, bool ran, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    return ran ? t->base.ops->resume(&t->base, &how, err) : 0;
}

/* Halted in a stub: of an earlier session, whose RAM will be used again, or of this one, which
 * ends. It is stepped out of it. */
int sh4_trace_leave_stub(struct sh4_trace *tr, struct err *err)
{
    enum { MOST = 16 };
    struct sh4_target *t = tr->t;
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    for (int i = 0; i < MOST && !REG_GET(t->sr, SH4_SR_BL); i++) {
        if (!sh4_trace_of_agents(tr, t->pc))
            break;
        int ret = t->base.ops->resume(&t->base, &step, err);
        t->continuing = true; /* the step is no one's but ours */
        while (ret == 0)
            ret = t->base.ops->poll(&t->base, SLICE_NS, &stop, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}
