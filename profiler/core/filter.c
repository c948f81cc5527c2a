#include "profiler/core/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void filter_init(struct filter *f, const struct filter_config *cfg)
{
    *f = (struct filter){ .cfg = *cfg };
}

/* ---- interrupts left out ---- */

static void note_counters(struct filter *f, const struct event *e)
{
    if (e->flags & EVENT_HAS_C1)
        f->last_c1 = e->c1;
    if (e->flags & EVENT_HAS_C2)
        f->last_c2 = e->c2;
    if (e->flags & EVENT_HAS_TIME)
        f->last_cycles = e->time_cycles;
}

/* Counters as if what was left out had not happened. */
static void reduce_counters(const struct filter *f, const struct event *in, struct event *out)
{
    *out = *in;
    if (out->flags & EVENT_HAS_C1)
        out->c1 -= f->off_c1;
    if (out->flags & EVENT_HAS_C2)
        out->c2 -= f->off_c2;
    if (out->flags & EVENT_HAS_TIME)
        out->time_cycles -= f->off_cycles;
}

static void exclusion_begins(struct filter *f, const struct event *e)
{
    f->excluded++;
    f->depth = 1;
    f->resume_pc = 0;
    if (e->flags & EVENT_HAS_PC)
        f->resume_pc = e->pc;
    f->in_c1 = f->last_c1;
    f->in_c2 = f->last_c2;
    f->in_cycles = f->last_cycles;
}

static void exclusion_ends(struct filter *f)
{
    f->depth = 0;
    f->off_c1 += f->last_c1 - f->in_c1;
    f->off_c2 += f->last_c2 - f->in_c2;
    f->off_cycles += f->last_cycles - f->in_cycles;
}

/* Inside a handler that is left out. True if the event is to be used all the same: an RTE that goes
 * to another task, or the end of profiling. */
static bool feed_inside(struct filter *f, const struct event *in, struct event *out)
{
    switch (in->kind) {
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION:
        if (!(in->flags & EVENT_UNTRACED_RTE))
            f->depth++;
        break;
    case EVENT_RTE:
        if (--f->depth)
            break;
        exclusion_ends(f);
        if (in->flags & EVENT_HAS_TARGET && in->target != f->resume_pc) {
            reduce_counters(f, in, out);
            return true;
        }
        break;
    case EVENT_STOP:
    case EVENT_START:
    case EVENT_LOST:
        /* The end of the handler may be among the lost events: start over. */
        exclusion_ends(f);
        reduce_counters(f, in, out);
        return true;
    default: break;
    }
    f->excluded_events++;
    return false;
}

/* Counters begin anew; a handler that is being left out goes on. */
static void restart_counters(struct filter *f, const struct event *e)
{
    uint32_t depth = f->depth;
    if (depth)
        exclusion_ends(f);
    note_counters(f, e);
    f->in_c1 = f->last_c1;
    f->in_c2 = f->last_c2;
    f->in_cycles = f->last_cycles;
    f->depth = depth;
}

static bool leave_out(struct filter *f, const struct event *in, struct event *out)
{
    if (in->kind == EVENT_AGAIN) {
        restart_counters(f, in);
        reduce_counters(f, in, out);
        return true;
    }
    note_counters(f, in);
    if (f->depth)
        return feed_inside(f, in, out);
    reduce_counters(f, in, out);
    if (in->kind != EVENT_INTERRUPT || !f->active)
        return true;
    if (in->flags & EVENT_UNTRACED_RTE) {
        /* Its end will not be seen, so its time cannot be separated from that of the function it
         * interrupted. */
        f->unfiltered++;
        out->kind = EVENT_TIMESTAMP;
        out->flags |= EVENT_DOUBTFUL;
        return true;
    }
    exclusion_begins(f, in);
    /* Time up to the interrupt is the victim's. */
    out->kind = EVENT_TIMESTAMP;
    return true;
}

/* ---- passes and time ---- */

static bool time_is_up(const struct filter *f, uint64_t now_ns)
{
    return f->cfg.for_ns && f->have_first && now_ns - f->first_ns >= f->cfg.for_ns &&
           now_ns > f->first_ns;
}

bool filter_expired(const struct filter *f, uint64_t now_ns)
{
    return f->done || time_is_up(f, now_ns);
}

static void count_pass(struct filter *f, const struct event *e)
{
    if (e->kind == EVENT_START) {
        f->active = true;
        if (!f->have_first) {
            f->have_first = true;
            f->first_ns = e->host_ns;
        }
    } else if (e->kind == EVENT_STOP && f->active) {
        f->active = false;
        f->passes++;
        f->done |= f->cfg.max_passes && f->passes >= f->cfg.max_passes;
    }
}

bool filter_event(struct filter *f, const struct event *in, struct event *out)
{
    struct event e = *in;
    if (f->done)
        return false;
    bool use = !f->cfg.exclude_interrupts || leave_out(f, &e, &e);
    if (time_is_up(f, in->host_ns)) {
        f->done = true;
        if (!f->active)
            return false;
        if (!use)
            reduce_counters(f, in, &e);
        e.kind = EVENT_STOP;
        f->active = false;
        *out = e;
        return true;
    }
    if (!use)
        return false;
    count_pass(f, &e);
    *out = e;
    return true;
}

size_t filter_events(struct filter *f, struct event *events, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        kept += filter_event(f, &events[i], &events[kept]);
    return kept;
}

/* ---- thresholds ---- */

static const char *skip_spaces(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

int threshold_parse(const char *text, struct threshold *out, struct err *err)
{
    static const struct {
        const char *text;
        int op;
    } ops[] = { { ">=", THRESHOLD_GE }, { "<=", THRESHOLD_LE }, { "==", THRESHOLD_EQ },
                { ">", THRESHOLD_GT },  { "<", THRESHOLD_LT },  { "=", THRESHOLD_EQ } };
    struct threshold t = { .op = THRESHOLD_GE };
    const char *s = skip_spaces(text);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strncmp(s, ops[i].text, strlen(ops[i].text))) {
            t.op = ops[i].op;
            s += strlen(ops[i].text);
            break;
        }
    s = skip_spaces(s);
    char *end;
    errno = 0;
    t.value = strtod(s, &end);
    bool number = (isdigit((unsigned char)*s) || *s == '.') && end != s && !errno;
    const char *rest = skip_spaces(end);
    if (number && *rest == '%') {
        t.percent = true;
        rest = skip_spaces(rest + 1);
    }
    if (!number || *rest)
        return err_set(err, ERR_USAGE, "write for example '>=10%' or '>100'",
                       "\"%.60s\" is no threshold", text);
    *out = t;
    return 0;
}

bool threshold_met(const struct threshold *t, uint64_t value, uint64_t total)
{
    double v = (double)value;
    if (t->percent)
        v = total ? 100.0 * v / (double)total : 0;
    return threshold_met_by(t, v);
}

bool threshold_met_by(const struct threshold *t, double v)
{
    switch (t->op) {
    case THRESHOLD_GE: return v >= t->value;
    case THRESHOLD_GT: return v > t->value;
    case THRESHOLD_LE: return v <= t->value;
    case THRESHOLD_LT: return v < t->value;
    case THRESHOLD_EQ: return v == t->value;
    default: return true;
    }
}
