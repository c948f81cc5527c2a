#include "profiler/bridge/counting.h"

#include "probe/base/util.h"

static const uint64_t slice_ns = 2000000;
enum { STEP_POLLS = 1000 };

static bool is_cancelled(const struct counting_config *c)
{
    return c->io.cancelled && c->io.cancelled(c->io.ctx);
}

/* Sets n points, or none. */
static int set_points(struct target *t, const uint64_t *addr, size_t n, struct err *err)
{
    int ret = 0;
    size_t set = 0;
    for (; ret >= 0 && set < n; set++)
        ret = t->ops->insert_bp(t, BP_HARD, addr[set], t->ops->bp_size, err);
    for (size_t i = 0; ret < 0 && i + 1 < set; i++)
        t->ops->remove_bp(t, BP_HARD, addr[i], t->ops->bp_size, NULL);
    if (ret == -ERR_RESOURCE)
        return err_set(err, ERR_RESOURCE, "leave stop points out",
                       "%zu points, and this part has fewer hardware breakpoints: counting patches "
                       "nothing",
                       n);
    return MIN(ret, 0);
}

/* Takes them out, whatever has happened before: that is `ret`, which is returned if it failed. */
static int clear_points(struct target *t, const uint64_t *addr, size_t n, int ret, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        int one = t->ops->remove_bp(t, BP_HARD, addr[i], t->ops->bp_size, ret < 0 ? NULL : err);
        if (ret >= 0)
            ret = MIN(one, 0);
    }
    return ret;
}

static bool is_at(struct target *t, uint64_t pc, uint64_t point)
{
    return t->ops->canonical(pc) == t->ops->canonical(point);
}

/* ---- running ---- */

/* Lets it run until it stops, is told to, or its time is over; then it is halted. */
static int run_until(const struct counting_config *c, struct target *t, struct counted *out,
                     struct err *err)
{
    uint64_t before = t->ops->now_ns(t);
    int ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    uint64_t gone = t->ops->now_ns(t), looked = gone;
    while (ret == 0) {
        looked = t->ops->now_ns(t);
        if (is_cancelled(c)) {
            out->end = COUNTED_ASKED;
            break;
        }
        out->end = COUNTED_TIME;
        uint64_t slice = slice_ns;
        if (c->until_ns) {
            if (looked >= c->until_ns)
                break;
            slice = MIN(slice, c->until_ns - looked);
        }
        ret = t->ops->poll(t, slice, &out->stop, err);
    }
    if (ret < 0)
        return ret;
    if (ret > 0)
        out->end = COUNTED_PROGRAM;
    else
        ret = board_halt(t, err);
    out->least_ns = looked - gone;
    out->most_ns = t->ops->now_ns(t) - before;
    return MIN(ret, 0);
}

static bool is_point(struct target *t, uint64_t pc, const uint64_t *addr, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_at(t, pc, addr[i]))
            return true;
    return false;
}

static bool met_point(struct target *t, const struct counted *out, const uint64_t *addr, size_t n)
{
    return out->end == COUNTED_PROGRAM && out->stop.reason == STOP_HWBREAK &&
           is_point(t, out->stop.pc, addr, n);
}

static int stands_at(struct target *t, uint64_t point, bool *there, struct err *err)
{
    uint8_t bytes[8] = { 0 };
    const struct target_reg *pc = &t->ops->regs[t->ops->pc_reg];
    uint64_t at = 0;
    int ret = t->ops->read_reg(t, t->ops->pc_reg, bytes, err);
    for (unsigned i = 0; i < pc->bytes && i < sizeof bytes; i++)
        at |= (uint64_t)bytes[t->big_endian ? pc->bytes - 1 - i : i] << (8 * i);
    *there = ret >= 0 && is_at(t, at, point);
    return MIN(ret, 0);
}

static int run_to_start(const struct counting_config *c, struct target *t, struct counted *out,
                        struct err *err)
{
    int ret = stands_at(t, c->start, &out->begun, err);
    if (ret < 0 || out->begun)
        return ret;
    ret = set_points(t, &c->start, 1, err);
    if (ret < 0)
        return ret;
    ret = run_until(c, t, out, err);
    out->begun = ret == 0 && met_point(t, out, &c->start, 1);
    return clear_points(t, &c->start, 1, ret, err);
}

static int read_counters(struct target *t, uint64_t value[2], uint64_t *steps, struct err *err)
{
    struct counter_values v;
    int ret = t->ops->counters_read(t, &v, err);
    if (ret < 0)
        return ret;
    value[0] = v.value[0];
    value[1] = v.value[1];
    *steps = v.steps;
    return 0;
}

static int count_to_stop(const struct counting_config *c, struct target *t, struct counted *out,
                         struct err *err)
{
    int ret = t->ops->counters_arm(t, c->event, err);
    if (ret >= 0)
        ret = run_until(c, t, out, err);
    if (ret >= 0)
        ret = read_counters(t, out->value, &out->steps, err);
    if (met_point(t, out, c->stop, c->nstops))
        out->end = COUNTED_STOP;
    return MIN(ret, 0);
}

int counting_stretch(const struct counting_config *c, struct target *t, struct counted *out,
                     struct err *err)
{
    if (!t->ops->counters_arm || !t->ops->events)
        return err_set(err, ERR_UNSUPPORTED, "`probeprof run` measures it from a trace",
                       "this part has no counters that count without a trace");
    *out = (struct counted){ .begun = !c->has_start };
    int ret = 0;
    if (c->has_start)
        ret = run_to_start(c, t, out, err);
    if (ret < 0 || !out->begun)
        return ret;
    ret = set_points(t, c->stop, c->nstops, err);
    if (ret < 0)
        return ret;
    ret = clear_points(t, c->stop, c->nstops, count_to_stop(c, t, out, err), err);
    if (c->has_start && is_point(t, c->start, c->stop, c->nstops))
        out->steps++; /* off the breakpoint it stood on */
    return ret;
}

int counting_residue(const struct counting_config *c, struct target *t, uint64_t out[2],
                     struct err *err)
{
    uint64_t steps;
    struct target_stop stop;
    int ret = t->ops->counters_arm(t, c->event, err);
    if (ret >= 0)
        ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_STEP }, err);
    for (int i = 0; ret == 0 && i < STEP_POLLS; i++)
        ret = t->ops->poll(t, slice_ns, &stop, err);
    if (ret == 0)
        return err_set(err, ERR_TIMEOUT, "try again", "a single step does not end");
    if (ret < 0)
        return ret;
    return read_counters(t, out, &steps, err);
}
