#include "profiler/cli/live.h"

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/cli/view.h"

enum { LIVE_TAKE_SHARE = 20, LIVE_PLAIN_COLUMNS = 88 }; /* with "probeprof: " under 100 */
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

void live_resized(struct live *l) { l->columns = view_columns(l->out); }

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
    if (!l->snapshot)
        return NULL;
    return snapshot_profile(l->snapshot);
}

/* Over a second or so: events come a ring at a time. */
static void measure_rate(struct live *l, uint64_t seen, uint64_t now_ns)
{
    double s = (double)(now_ns - l->last_ns) / 1e9;
    if (l->last_ns && s > 0) {
        /* the first one counts whole: nothing is known before it */
        double weight = 1;
        if (l->measured)
            weight = MIN(s, 1.0);
        l->rate += weight * ((double)(seen - l->last_events) / s - l->rate);
        l->measured = l->measured || seen > 0;
    }
    l->last_events = seen;
    l->last_ns = now_ns;
}

void live_tick(struct live *l, struct live_now *now, const struct live_source *source,
               uint64_t now_ns)
{
    char text[LIVE_TEXT];
    if (!l->columns && now_ns < l->next_ns)
        return;
    measure_rate(l, now->seen, now_ns);
    now->events_per_s = l->rate;
    now->symbols = l->symbols;
    now->profile = take_profile(l, source, now_ns);
    live_text(now, l->columns ? l->columns - 1 : LIVE_PLAIN_COLUMNS, text);
    if (!l->columns) {
        bool first = l->next_ns == 0;
        l->next_ns = now_ns + live_plain_ns;
        if (!first)
            text_print(l->out, "probeprof: %s\n", text);
        return;
    }
    view_clear_line(l->out);
    text_print(l->out, "%s", text);
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
