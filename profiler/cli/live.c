#include "profiler/cli/live.h"

#include <stdarg.h>
#include <string.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/cli/view.h"
#include "profiler/views/report.h"

enum { LIVE_TOP = 3, LIVE_TAKE_SHARE = 20 };
static const uint64_t live_plain_ns = 5000000000;

void live_init(struct live *l, FILE *out, const struct symbols *symbols)
{
    *l = (struct live){ .out = out, .columns = view_columns(out), .symbols = symbols };
}

void live_fini(struct live *l)
{
    snapshot_release(l->snapshot);
    l->snapshot = NULL;
}

/* Appends, silently dropping what does not fit. */
static void add(char *buf, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *buf, size_t cap, const char *fmt, ...)
{
    size_t len = strlen(buf);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf + len, cap - len, fmt, ap);
    va_end(ap);
}

static uint64_t weight_of(const struct profile *p, const struct profile_function *f)
{
    return p->type == PROFILE_STATISTICAL ? f->hits : f->c1;
}

/* The heaviest with a name that comes behind `after`, in the order of weight, then address; NULL:
 * there is none. */
static const struct profile_function *next_heaviest(const struct live *l, const struct profile *p,
                                                    const struct profile_function *after)
{
    const struct profile_function *best = NULL;
    for (const struct profile_function *f = p->functions; f < p->functions + p->nfunctions; f++) {
        uint64_t weight = weight_of(p, f), limit = after ? weight_of(p, after) : UINT64_MAX;
        if (!weight || weight > limit || (weight == limit && after && f <= after))
            continue;
        if (best && weight <= weight_of(p, best))
            continue;
        if (f->description != PROFILE_UNKNOWN && symbols_find(l->symbols, f->low) >= 0)
            best = f;
    }
    return best;
}

static void add_top(const struct live *l, const struct profile *p, char *buf, size_t cap)
{
    char number[16];
    const struct profile_function *f = NULL;
    uint64_t total = p->type == PROFILE_STATISTICAL ? p->total_hits : p->total_c1;
    for (int k = 0; total && k < LIVE_TOP && (f = next_heaviest(l, p, f)); k++)
        add(buf, cap, "%s%s %.1f%% %s hits", k ? ", " : " | ", f->name,
            100.0 * (double)weight_of(p, f) / (double)total,
            report_number(f->hits, number, sizeof number));
}

struct slowdown live_slowdown(const struct pump_view *v) { return slowdown_of(&v->trace.time); }

char *live_text(const struct live *l, const struct pump_view *v, const struct profile *p,
                uint64_t seen, double events_per_s, char *buf, size_t cap)
{
    const struct trace_status *s = &v->trace;
    char number[16];
    struct slowdown slow = live_slowdown(v);
    char text[80];
    buf[0] = 0;
    add(buf, cap, "%.1f s: %s events", (double)(v->now_ns - v->armed_ns) / 1e9,
        report_number(seen, number, sizeof number));
    add(buf, cap, ", %s/s", report_number((unsigned long long)events_per_s, number, sizeof number));
    if (slow.times > 0)
        add(buf, cap, ", slowed %s", slowdown_text(&slow, text, sizeof text));
    if (s->lost)
        add(buf, cap, ", %llu LOST, %.2f%% covered", (unsigned long long)s->lost,
            100.0 * (double)seen / (double)(seen + s->lost));
    else if (!v->gaps)
        add(buf, cap, ", none lost");
    if (v->gaps)
        add(buf, cap, ", %u gap%s", v->gaps, v->gaps > 1 ? "s" : "");
    if (v->away)
        add(buf, cap, " (the board is away)");
    if (v->phase == PUMP_ARMED && !s->active)
        add(buf, cap, seen ? " (paused)" : " (waiting for the start point)");
    if (v->stop.reason != STOP_NONE)
        add(buf, cap, " (halted)");
    if (p && l->symbols)
        add_top(l, p, buf, cap);
    return text_clean(buf);
}

/* The larger the profile, the less often. One that finds no memory is left out. */
static const struct profile *take_profile(struct live *l, const struct live_source *source,
                                          uint64_t now_ns)
{
    const struct snapshot *fresh = NULL;
    if (!l->symbols)
        return NULL;
    if (now_ns >= l->take_ns) {
        uint64_t began = host_ns();
        int ret = source->take(source->ctx, &fresh, NULL);
        l->take_ns = now_ns + LIVE_TAKE_SHARE * (host_ns() - began);
        if (ret == 0) {
            snapshot_release(l->snapshot);
            l->snapshot = fresh;
        }
    }
    return l->snapshot ? snapshot_profile(l->snapshot) : NULL;
}

void live_tick(struct live *l, const struct pump_view *v, const struct live_source *source,
               uint64_t seen, uint64_t now_ns)
{
    char text[512];
    double s = (double)(now_ns - l->last_ns) / 1e9;
    if (!l->columns && now_ns < l->next_ns)
        return;
    if (l->last_ns && s > 0) { /* over a second or so: events come a ring at a time */
        /* the first one counts whole: nothing is known before it */
        double weight = l->measured ? MIN(s, 1.0) : 1;
        l->rate += weight * ((double)(seen - l->last_events) / s - l->rate);
        l->measured = l->measured || seen > 0;
    }
    live_text(l, v, take_profile(l, source, now_ns), seen, l->rate, text, sizeof text);
    l->last_events = seen;
    l->last_ns = now_ns;
    if (!l->columns) {
        bool first = l->next_ns == 0;
        l->next_ns = now_ns + live_plain_ns;
        if (!first)
            text_print(l->out, "probeprof: %s\n", text);
        return;
    }
    view_clear_line(l->out);
    text_print(l->out, "%.*s", (int)l->columns - 1, text);
    fflush(l->out);
    l->shown = true;
}

void live_clear(struct live *l)
{
    if (!l->shown)
        return;
    view_clear_line(l->out);
    fflush(l->out);
    l->shown = false;
}
