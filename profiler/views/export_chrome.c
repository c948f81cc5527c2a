/* A line an event. Numbers of a span stand at its end, where they are known; a viewer shows both
 * ends' as one. At its beginning there are none: some readers take those for a part of the name. */
#include <stdio.h>

#include "profiler/views/export.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report_json.h"
#include "profiler/views/tracks.h"

struct chrome {
    struct tracks tracks;
    struct json_writer json;
};

enum { PROCESS = 1 };

static void begin_event(struct chrome *c, const char *phase, const char *name, uint32_t track,
                        uint64_t at)
{
    struct json_writer *j = &c->json;
    json_write_object(j, true);
    json_member_string(j, "ph", phase);
    json_member_string(j, "name", name);
    json_member_uint(j, "pid", PROCESS);
    json_member_uint(j, "tid", track + 1);
    json_write_key(j, "ts");
    json_write_thousandths(j, tracks_ns(&c->tracks, at)); /* microseconds */
}

static void begin_args(struct json_writer *j)
{
    json_write_key(j, "args");
    json_write_object(j, true);
}

static void end_args(struct json_writer *j)
{
    json_write_end(j);
    json_write_end(j);
}

static void name_process(struct chrome *c)
{
    const struct profile_info *i = &c->tracks.p->info;
    const char *name = i->elf ? i->elf : "probeprof";
    begin_event(c, "M", "process_name", 0, 0);
    begin_args(&c->json);
    json_member_string(&c->json, "name", name);
    end_args(&c->json);
}

/* Marks and gaps on top, below them interrupts, then tasks as they appear. */
static void name_track(struct chrome *c, const struct span_event *e)
{
    static const unsigned place[] = { [SPAN_TRACK_MARKS] = 0,
                                      [SPAN_TRACK_GAPS] = 1,
                                      [SPAN_TRACK_INTERRUPTS] = 2,
                                      [SPAN_TRACK_TASK] = 3 };
    char name[TRACKS_NAME];
    begin_event(c, "M", "thread_name", e->track, 0);
    begin_args(&c->json);
    json_member_string(&c->json, "name", tracks_name(&c->tracks, e, name, sizeof name));
    end_args(&c->json);
    begin_event(c, "M", "thread_sort_index", e->track, 0);
    begin_args(&c->json);
    json_member_uint(&c->json, "sort_index",
                     place[e->track_kind] + (e->track_kind == SPAN_TRACK_TASK ? e->track : 0));
    end_args(&c->json);
}

static void write_counts(struct chrome *c, const struct span_event *e)
{
    const struct profile_info *i = &c->tracks.p->info;
    if (i->counter[0].code)
        json_member_uint(&c->json, "c1", e->c1);
    if (i->counter[1].code)
        json_member_uint(&c->json, "c2", e->c2);
}

static void end_span(struct chrome *c, const struct span_event *e, const char *name)
{
    struct json_writer *j = &c->json;
    const char *ended = tracks_ended(e);
    begin_event(c, "E", name, e->track, e->at);
    begin_args(j);
    write_counts(c, e);
    if (e->node == CALLTREE_NONE) {
        json_member_uint(j, "lost", e->lost);
        json_member_bool(j, "at_most", e->flags & SPAN_BOUND);
    }
    if (e->flags & SPAN_CONTINUED)
        json_member_bool(j, "continued", true);
    if (e->flags & SPAN_FOUND)
        json_member_bool(j, "found", true);
    if (e->flags & SPAN_DOUBTFUL)
        json_member_bool(j, "doubtful", true);
    if (ended)
        json_member_string(j, "end", ended);
    end_args(j);
}

static void take_span(void *ctx, const struct span_event *e)
{
    struct chrome *c = ctx;
    char name[TRACKS_NAME];
    switch (e->kind) {
    case SPAN_TRACK: name_track(c, e); break;
    case SPAN_BEGIN:
        begin_event(c, "B", tracks_span_name(&c->tracks, e, name, sizeof name), e->track, e->at);
        json_write_end(&c->json);
        break;
    case SPAN_END: end_span(c, e, tracks_span_name(&c->tracks, e, name, sizeof name)); break;
    case SPAN_MARK:
        begin_event(c, "i", tracks_mark_name(e), e->track, e->at);
        json_member_string(&c->json, "s", "p"); /* across the process */
        json_write_end(&c->json);
        break;
    }
}

static void write_about(struct chrome *c)
{
    struct json_writer *j = &c->json;
    char text[200];
    json_member_string(j, "displayTimeUnit", "ns");
    json_write_key(j, "otherData");
    json_write_object(j, false);
    json_member_string(j, "exporter", "probeprof");
    json_member_string(j, "clock", tracks_clock(&c->tracks, text, sizeof text));
    report_json_about(j, c->tracks.p);
    json_write_end(j);
}

int export_chrome(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out, struct err *err)
{
    struct chrome c = { .json = { .out = out } };
    int ret = tracks_init(&c.tracks, p, o, "chrome", err);
    if (ret < 0)
        return ret;
    json_write_object(&c.json, false);
    write_about(&c);
    json_write_key(&c.json, "traceEvents");
    json_write_array(&c.json, false);
    name_process(&c);
    ret = tracks_play(&c.tracks, take_span, &c, err);
    if (ret < 0)
        return ret;
    json_write_end(&c.json);
    json_write_end(&c.json);
    out->write(out->ctx, "\n", 1);
    return 0;
}
