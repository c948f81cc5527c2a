#include "profiler/core/sampling.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

#include <math.h>

static void close_span(struct sampling *s, uint64_t at)
{
    if (s->open)
        s->sum.running_ns += at - s->since_ns;
    s->open = false;
}

static void open_span(struct sampling *s, uint64_t at)
{
    if (!s->open)
        s->since_ns = at;
    s->open = true;
}

static void on_sample(struct sampling *s, const struct event *e)
{
    open_span(s, e->host_ns);
    s->last_ns = e->host_ns;
    s->sum.looks++;
    s->sum.asleep += !(e->flags & EVENT_HAS_PC);
    s->sum.missed += e->missed_looks;
}

/* A span that goes on begins here. */
static void start_over(struct sampling *s, uint64_t at)
{
    s->sum = (struct profile_sampling){ .rate_asked = s->sum.rate_asked };
    s->since_ns = s->last_ns = at;
}

void sampling_feed(struct sampling *s, const struct event *e)
{
    switch (e->kind) {
    case EVENT_START:
        if (!e->looks_per_s)
            return; /* of a trace */
        s->sum.rate_asked = e->looks_per_s;
        s->last_ns = e->host_ns;
        open_span(s, e->host_ns);
        return;
    case EVENT_SAMPLE: on_sample(s, e); return;
    case EVENT_NOTE:
        if (!s->sum.rate_asked)
            return;
        if (e->cause == EVENT_CAUSE_HALTED)
            close_span(s, e->host_ns);
        else if (e->cause == EVENT_CAUSE_RESUMED)
            open_span(s, e->host_ns);
        return;
    case EVENT_CLEAR: start_over(s, e->host_ns); return;
    case EVENT_LOST: /* the board was away: until the next look */
        close_span(s, MAX(s->last_ns, s->since_ns));
        return;
    default: return;
    }
}

struct profile_sampling sampling_result(const struct sampling *s)
{
    struct profile_sampling sum = s->sum;
    if (s->open && s->last_ns > s->since_ns)
        sum.running_ns += s->last_ns - s->since_ns;
    return sum;
}

double sampling_rate(const struct profile_sampling *s)
{
    if (s->looks > 1 && s->running_ns)
        return (double)s->looks * 1e9 / (double)s->running_ns;
    return 0;
}

void sampling_interval(uint64_t hits, uint64_t total, double *low, double *high)
{
    const double z = 1.959964; /* of the normal distribution, 95 % are nearer to the mean */
    *low = 0;
    *high = 1;
    if (!total)
        return;
    double n = (double)total, p = (double)hits / n, zz = z * z / n;
    double middle = (p + zz / 2) / (1 + zz),
           half = z * sqrt(p * (1 - p) / n + zz / (4 * n)) / (1 + zz);
    *low = EXCESS(middle, half);
    *high = MIN(middle + half, 1);
}
