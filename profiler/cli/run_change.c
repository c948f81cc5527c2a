/* Other counters, or other start and stop points, for a profile that goes on: what is asked for in
 * words, what the worker does, and what the main thread makes of the events that tell of it. */
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/cli/run.h"
#include "profiler/cli/useless.h"

enum { PLACE = 160 };

/* ---- in words ---- */

int run_change_counters(const struct run *r, const char *const text[2], struct run_change *out,
                        struct err *err)
{
    static const char *const names[] = { "c1", "c2" };
    *out = (struct run_change){ .has_start = false };
    if (!*text[0] && !*text[1])
        return err_set(err, ERR_USAGE, "`probeprof events` lists them",
                       "counters: name an event for c1, c2 or both");
    for (int i = 0; i < 2; i++) {
        int ret = 0;
        out->sets_counter[i] = *text[i];
        if (*text[i])
            ret = part_event(r->part, names[i], text[i], &out->counter[i], err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int run_change_points(const struct run *r, const struct http_command *c, struct run_change *out,
                      struct err *err)
{
    *out = (struct run_change){ .sets_start = c->has_start,
                                .has_start = *c->start,
                                .sets_stops = c->has_stop };
    if (!c->has_start && !c->has_stop)
        return err_set(err, ERR_USAGE, "{\"do\":\"points\",\"start\":\"main\",\"stop\":[]}",
                       "points: name a start point, stop points or both");
    int ret = 0;
    if (*c->start)
        ret = symbols_parse(r->symbols, c->start, &out->start, err);
    if (ret < 0)
        return err_prefix(err, ret, "start");
    for (size_t i = 0; i < c->nstops; i++) {
        if (out->nstops == TRACE_MAX_STOPS)
            return err_set(err, ERR_USAGE, "use fewer", "stop: more than %d stop points",
                           TRACE_MAX_STOPS);
        if ((ret = symbols_parse(r->symbols, c->stop[i], &out->stops[out->nstops++], err)) < 0)
            return err_prefix(err, ret, "stop");
    }
    return 0;
}

/* ---- on the worker ---- */

int run_apply_change(struct run *r, struct target *t, const struct run_change *c, struct err *err)
{
    struct trace_config next = r->pump.cfg.trace;
    for (int i = 0; i < 2; i++)
        if (c->sets_counter[i])
            next.counter[i] = c->counter[i];
    if (c->sets_start) {
        next.has_start = c->has_start;
        next.start = c->start;
    }
    if (c->sets_stops) {
        next.nstops = c->nstops;
        memcpy(next.stops, c->stops, c->nstops * sizeof next.stops[0]);
    }
    int ret = useless_ratio(&r->set, r->part, next.counter, err);
    if (ret < 0)
        return ret;
    return pump_change(&r->pump, t, &next, err);
}

/* ---- told by the events ---- */

char *run_start_text(const struct run *r, char *buf, size_t cap)
{
    *buf = 0;
    if (!r->capture.armed.times)
        snprintf(buf, cap, "%s", r->set.start);
    else if (r->header.has_start)
        symbols_describe(r->symbols, r->header.start, buf, cap);
    return buf;
}

static const char *counted_name(const struct profile_counter *c)
{
    if (c->code)
        return c->name;
    return "nothing";
}

static void note_counters(struct run *r)
{
    const struct profile_counter *c = r->header.counter;
    run_note(r, "from here on counter 1 counts %s and counter 2 %s; counts start over",
             counted_name(&c[0]), counted_name(&c[1]));
}

static void note_points(struct run *r)
{
    const struct recording_header *h = &r->header;
    const char *starts = "with this", *stops = "at no point";
    char start[PLACE], stop[PLACE] = "", more[40] = "";
    if (!h->has_start && !h->nstops) {
        run_note(r, "from here on all is profiled: there are no start and stop points");
        return;
    }
    run_start_text(r, start, sizeof start);
    if (h->has_start)
        starts = "at ";
    if (h->nstops) {
        stops = "at ";
        symbols_describe(r->symbols, h->stops[0], stop, sizeof stop);
    }
    if (h->nstops > 1)
        snprintf(more, sizeof more, " and %zu more", h->nstops - 1);
    run_note(r, "from here on profiling starts %s%s and stops %s%s%s", starts, start, stops, stop,
             more);
}

static bool points_changed(const struct recording_header *h, const struct capture_armed *a)
{
    return h->has_start != a->has_start || (a->has_start && h->start != a->start) ||
           h->nstops != a->nstops || memcmp(h->stops, a->stops, a->nstops * sizeof a->stops[0]);
}

static void take_points(struct run *r)
{
    struct recording_header *h = &r->header;
    const struct capture_armed *a = &r->capture.armed;
    h->has_start = a->has_start;
    h->start = a->start;
    h->nstops = a->nstops;
    memcpy(h->stops, a->stops, sizeof h->stops);
    h->max_passes = h->nstops > 0;
    if (h->has_start)
        h->max_passes = r->set.passes;
    note_points(r);
}

void run_about(struct run *r)
{
    char id[2 * sizeof r->header.build_id + 1] = "";
    if (!serve_feed(&r->serve))
        return;
    hex_string(id, r->header.build_id, r->header.build_id_len);
    const struct profile_counter *c = r->header.counter;
    feed_about(serve_feed(&r->serve),
               &(struct feed_about){
                   .version = PROBEPROF_VERSION,
                   .target = r->part->name,
                   .probe = r->probe->name,
                   .elf = text_given(r->elf_path),
                   .build_id = text_given(id),
                   .counter = { c[0].name, c[1].name },
                   .unit = { c[0].unit, c[1].unit },
               },
               NULL);
}

static void take_counters(struct run *r)
{
    for (int i = 0; i < 2; i++) {
        r->header.counter[i] =
            capture_counter(&r->capture, r->header.target, i, &r->header.counter[i]);
        r->counter[i] = r->capture.armed.counter[i];
    }
    note_counters(r);
    run_about(r);
    serve_restart(&r->serve);
}

void run_take_rearm(struct run *r)
{
    const struct capture_armed *a = &r->capture.armed;
    if (a->times == r->armed_times)
        return;
    r->armed_times = a->times;
    if (memcmp(a->counter, r->counter, sizeof r->counter))
        take_counters(r);
    if (points_changed(&r->header, a))
        take_points(r);
}
