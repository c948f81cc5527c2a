/* The traced program runs: the agent is looked for, and asked for a ring that is not full. */
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum {
    SLICE_NS = 1000000,
    ASK_NS = 20000000, /* the ring is asked for at least this often */
    ASK_AGAIN_NS = 5000000,
    SILENT_ASKS = 3 /* not answered: is the agent still there? */
};

/* Hook of the driver: looks for the agent. While the queue has no room the program waits with its
 * ring full. */
int sh4_trace_poll(struct sh4_target *t, uint64_t max_ns, struct err *err)
{
    struct sh4_trace *tr = t->plug.trace;
    uint32_t seen = 0;
    (void)max_ns;
    if (t->link.ir != SH4_TI_RESET_NEGATE && !tr->ask.sent) {
        int ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err);
        if (ret < 0)
            return ret;
    }
    /* An agent with a full ring waits for any word, so none is shown until there is room. If our
     * POLL of the last look is still there, the kernel is not entered. A new one could answer a
     * ring that has become full since. */
    if (!sh4_trace_has_room(tr)) {
        int looked = sh4_link_look(&t->link, SH4_TRACE_RING, &seen, err);
        if (looked <= 0 || seen == SH4_TRACE_RING || seen == SH4_AGENT_POLL)
            return MIN(looked, 0);
    }
    uint64_t at = sh4_link_now(&t->link);
    int ret = sh4_agent_halted(t, err);
    if (ret == 0)
        tr->ran.unseen_ns = at;
    if (ret > 0)
        ret = sh4_trace_serve(tr, err);
    /* The agent falls silent while its ring is read: perhaps the CPU was reset there. If that
     * cannot be found out, the silence is the error. */
    struct err reset = { .code = ERR_OK };
    if (ret != -ERR_TIMEOUT || !tr->reset.shows ||
        sh4_reset_while_traced(t, &reset) != -ERR_NO_TARGET)
        return ret;
    if (err)
        *err = reset;
    return -ERR_NO_TARGET;
}

/* Asks for a ring that is not full. */
static int ask_for_ring(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    tr->ask.at_ns = sh4_link_now(&t->link);
    tr->ask.times++;
    int ret = 0;
    if (tr->reset.shows && tr->ask.times > SILENT_ASKS)
        ret = sh4_reset_while_traced(t, err);
    if (ret == 0)
        ret = sh4_link_ask_for_ring(&t->link, SH4_TRACE_DRAIN, SH4_TRACE_RING, err);
    tr->ask.sent = ret == 0;
    return ret;
}

/* The wire failed, or the CPU was reset. After a reset what was recorded is given out first, and
 * then the error. */
static int bring_home(struct sh4_trace *tr, int ret)
{
    bool ran;
    struct sh4_target *t = tr->t;
    if (ret != -ERR_NO_TARGET || !tr->reset.shows ||
        sh4_reset_while_traced(t, NULL) != -ERR_NO_TARGET)
        return sh4_lost(t, ret);
    int stopped = sh4_pause_to_end(t, &ran, NULL);
    if (stopped == 0 && tr->reset.seen)
        return 0;
    return sh4_lost(t, ret);
}

int sh4_trace_poll_events(struct target *target, struct event *out, size_t cap, uint64_t max_ns,
                          struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->plug.trace;
    uint64_t end = sh4_link_now(&t->link) + max_ns;
    if (!tr)
        return 0;
    if (tr->reset.seen && tr->armed && !tr->queue.count)
        return sh4_lost(t, sh4_reset_error(t->regs.trap[1], err));
    size_t rows = 0;
    if (tr->armed || tr->coverage.at_end)
        rows = sh4_trace_tell_coverage(tr, out, cap);
    if (rows)
        return (int)rows;
    while (tr->armed && tr->queue.count == 0 && sh4_on_its_own(t)) {
        int ret = sh4_trace_poll(t, 0, err);
        if (ret < 0)
            return bring_home(tr, ret);
        if (ret > 0) /* halted for the user: the driver's poll finds it again */
            break;
        uint64_t at = sh4_link_now(&t->link);
        if (tr->queue.count || at >= end)
            break;
        if (at - tr->ring.read_ns > MAX((uint64_t)ASK_NS, tr->ask.patience_ns) &&
            !sh4_halt_asked(t) &&
            at - tr->ask.at_ns > sh4_link_again_ns(&t->link, tr->ask.times, ASK_AGAIN_NS))
            ret = ask_for_ring(tr, err);
        else
            ret = sh4_link_wait(&t->link, MIN((uint64_t)SLICE_NS, end - at), err);
        if (ret < 0)
            return bring_home(tr, ret);
    }
    return (int)sh4_trace_take_events(tr, out, cap);
}
