/* A line an event. Numbers of a span stand at its end, where they are known; a viewer shows both
 * ends' as one. At its beginning there are none: some readers take those for a part of the name.
 * Lines are put together here, from names that are made JSON once, as there may be a hundred
 * million of them. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "probe/base/choice.h"
#include "probe/base/decimal.h"
#include "profiler/views/export.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/paths.h"
#include "profiler/views/report_json.h"
#include "profiler/views/tracks.h"

struct chrome {
    struct tracks tracks;
    struct json_writer json;
    struct buffer names; /* of all functions, as JSON */
    size_t *name_end;    /* by function: where its name ends there */
    struct buffer lines; /* events that are made, and the one that is being made */
    bool has_args;       /* it has some already */
};

/* ---- lines ---- */

enum { LINES_BYTES = 32768 }; /* that many are written in one go */

static void add_text(struct chrome *c, const char *text)
{
    buffer_add(&c->lines, text, strlen(text));
}

static void add_uint(struct chrome *c, uint64_t value)
{
    char text[DECIMAL_MOST];
    buffer_add(&c->lines, text, decimal_digits(text, value));
}

static void write_quoted(struct buffer *b, const char *text)
{
    const struct text_sink to = buffer_sink(b);
    struct json_writer j = { .out = &to };
    json_write_string(&j, text);
}

/* There is one process, number 1. */
static void add_place(struct chrome *c, uint32_t track, uint64_t at)
{
    char text[DECIMAL_MOST + 1];
    add_text(c, ", \"pid\": 1, \"tid\": ");
    add_uint(c, (uint64_t)track + 1);
    add_text(c, ", \"ts\": "); /* microseconds */
    buffer_add(&c->lines, text, decimal_thousandths(text, tracks_ns(&c->tracks, at)));
}

static void begin_line(struct chrome *c, const char *phase)
{
    if (c->lines.size)
        add_text(c, ",\n    "); /* as the writer has it before the first of them */
    add_text(c, "{\"ph\": \"");
    add_text(c, phase);
    add_text(c, "\", \"name\": ");
}

static void begin_event(struct chrome *c, const char *phase, const char *name, uint32_t track,
                        uint64_t at)
{
    begin_line(c, phase);
    write_quoted(&c->lines, name);
    add_place(c, track, at);
}

static void begin_span_event(struct chrome *c, const char *phase, const struct span_event *e)
{
    size_t function = tracks_function(&c->tracks, e);
    char name[TRACKS_NAME];
    if (function >= c->tracks.p->nfunctions) {
        begin_event(c, phase, tracks_span_name(&c->tracks, e, name, sizeof name), e->track, e->at);
        return;
    }
    size_t from = 0;
    if (function)
        from = c->name_end[function - 1];
    begin_line(c, phase);
    buffer_add(&c->lines, c->names.data + from, c->name_end[function] - from);
    add_place(c, e->track, e->at);
}

static void write_lines(struct chrome *c)
{
    if (!c->lines.failed && c->lines.size)
        json_write_ready(&c->json, c->lines.data, c->lines.size);
    c->lines.size = 0;
}

static void end_line(struct chrome *c)
{
    add_text(c, "}");
    if (c->lines.size >= LINES_BYTES)
        write_lines(c);
}

static void begin_args(struct chrome *c)
{
    add_text(c, ", \"args\": {");
    c->has_args = false;
}

static void begin_arg(struct chrome *c, const char *key)
{
    add_text(c, c->has_args ? ", \"" : "\"");
    add_text(c, key);
    add_text(c, "\": ");
    c->has_args = true;
}

static void add_arg_uint(struct chrome *c, const char *key, uint64_t value)
{
    begin_arg(c, key);
    add_uint(c, value);
}

static void add_arg_bool(struct chrome *c, const char *key, bool value)
{
    begin_arg(c, key);
    add_text(c, true_or_false(value));
}

static void add_arg_string(struct chrome *c, const char *key, const char *text)
{
    begin_arg(c, key);
    write_quoted(&c->lines, text);
}

static void end_args(struct chrome *c)
{
    add_text(c, "}");
    end_line(c);
}

/* ---- events ---- */

static void name_process(struct chrome *c)
{
    begin_event(c, "M", "process_name", 0, 0);
    begin_args(c);
    add_arg_string(c, "name", text_or(c->tracks.p->info.elf, "probeprof"));
    end_args(c);
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
    begin_args(c);
    add_arg_string(c, "name", tracks_name(&c->tracks, e, name, sizeof name));
    end_args(c);
    begin_event(c, "M", "thread_sort_index", e->track, 0);
    begin_args(c);
    add_arg_uint(c, "sort_index",
                 place[e->track_kind] + (e->track_kind == SPAN_TRACK_TASK ? e->track : 0));
    end_args(c);
}

static void add_counts(struct chrome *c, const struct span_event *e)
{
    const struct profile_info *i = &c->tracks.p->info;
    if (i->counter[0].code)
        add_arg_uint(c, "c1", e->c1);
    if (i->counter[1].code)
        add_arg_uint(c, "c2", e->c2);
}

static void end_span(struct chrome *c, const struct span_event *e)
{
    const char *ended = tracks_ended(e);
    begin_span_event(c, "E", e);
    begin_args(c);
    add_counts(c, e);
    if (e->node == CALLTREE_NONE) {
        add_arg_uint(c, "lost", e->lost);
        add_arg_bool(c, "at_most", e->flags & SPAN_BOUND);
    }
    if (e->flags & SPAN_CONTINUED)
        add_arg_bool(c, "continued", true);
    if (e->flags & SPAN_FOUND)
        add_arg_bool(c, "found", true);
    if (e->flags & SPAN_DOUBTFUL)
        add_arg_bool(c, "doubtful", true);
    if (ended)
        add_arg_string(c, "end", ended);
    end_args(c);
}

static void take_span(void *ctx, const struct span_event *e)
{
    struct chrome *c = ctx;
    switch (e->kind) {
    case SPAN_TRACK: name_track(c, e); break;
    case SPAN_BEGIN:
        begin_span_event(c, "B", e);
        end_line(c);
        break;
    case SPAN_END: end_span(c, e); break;
    case SPAN_MARK:
        begin_event(c, "i", tracks_mark_name(e), e->track, e->at);
        add_text(c, ", \"s\": \"p\""); /* across the process */
        end_line(c);
        break;
    }
}

/* ---- the file ---- */

static bool make_names(struct chrome *c)
{
    const struct profile *p = c->tracks.p;
    char name[TRACKS_NAME];
    c->name_end = calloc(p->nfunctions + 1, sizeof *c->name_end);
    for (size_t i = 0; c->name_end && i < p->nfunctions; i++) {
        write_quoted(&c->names, paths_name(p, i, "", name, sizeof name));
        c->name_end[i] = c->names.size;
    }
    return c->name_end && !c->names.failed;
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

static int write_trace(struct chrome *c, struct err *err)
{
    if (!make_names(c))
        return tracks_finish(&c->tracks, 0, true, err);
    json_write_object(&c->json, false);
    write_about(c);
    json_write_key(&c->json, "traceEvents");
    json_write_array(&c->json, false);
    name_process(c);
    int ret = tracks_play(&c->tracks, take_span, c, err);
    ret = tracks_finish(&c->tracks, ret, c->lines.failed, err);
    if (ret < 0)
        return ret;
    write_lines(c);
    json_write_end(&c->json);
    json_write_end(&c->json);
    sink_string(c->json.out, "\n");
    return 0;
}

int export_chrome(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out, struct err *err)
{
    struct chrome c = { .json = { .out = out } };
    int ret = tracks_init(&c.tracks, p, o, "chrome", err);
    if (ret == 0)
        ret = write_trace(&c, err);
    buffer_fini(&c.names);
    buffer_fini(&c.lines);
    free(c.name_end);
    return ret;
}
