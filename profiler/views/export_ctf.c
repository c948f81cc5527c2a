/* One stream. Names of functions and tracks are labels of enumerations, so each stands in the
 * metadata once. A packet ends where events were lost; the one that follows has the loss alone,
 * from where it began to where it ended, and adds to the count of discarded events that readers
 * compare from packet to packet. Source: diamon.org, "CTF specification v1.8.3". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/paths.h"
#include "profiler/views/tracks.h"

enum {
    PACKET_BYTES = 64 * 1024, /* a packet with as many is written */
    PACKET_HEAD = 4 + 6 * 8,  /* magic, then the context */
    NO_TRACK = 0xFFFF,
    ENDS_GOING_ON = 5 /* behind those of enum calltree_left */
};

static const uint32_t packet_magic = 0xC1FC1FC1; /* section 5.1 */

enum ctf_event { CTF_BEGIN, CTF_END, CTF_LOST, CTF_MARK };

struct ctf {
    struct tracks tracks;
    const struct text_sink *metadata, *stream;
    struct buffer events, labels; /* of the packet; of the tracks, as the metadata has them */
    uint64_t begin, now;          /* of the packet; of the last event. ns */
    uint64_t packets, discarded;
    bool failed;
};

/* ---- the stream ---- */

static void add_number(struct buffer *b, uint64_t value, size_t bytes)
{
    uint8_t le[8];
    put_le64(le, value);
    buffer_add(b, le, bytes);
}

static void write_packet(struct ctf *w)
{
    uint8_t head[PACKET_HEAD];
    uint64_t bits = 8 * (sizeof head + (uint64_t)w->events.size);
    const uint64_t context[] = { w->begin, w->now, bits, bits, w->packets++, w->discarded };
    put_le32(head, packet_magic);
    for (size_t i = 0; i < ARRAY_LEN(context); i++)
        put_le64(head + 4 + 8 * i, context[i]);
    w->stream->write(w->stream->ctx, (const char *)head, sizeof head);
    if (w->events.size)
        w->stream->write(w->stream->ctx, w->events.data, w->events.size);
    w->failed |= w->events.failed;
    w->events.size = 0;
    w->begin = w->now;
}

static void begin_event(struct ctf *w, enum ctf_event what, uint64_t at)
{
    if (w->events.size >= PACKET_BYTES)
        write_packet(w);
    w->now = tracks_ns(&w->tracks, at);
    add_number(&w->events, what, 1);
    add_number(&w->events, w->now, 8);
}

static void add_span(struct ctf *w, const struct span_event *e)
{
    add_number(&w->events, MIN(e->track, (uint32_t)NO_TRACK), 2);
    add_number(&w->events, tracks_function(&w->tracks, e), 4);
}

static void add_counts(struct ctf *w, const struct span_event *e)
{
    const uint64_t count[] = { e->c1, e->c2 };
    for (int i = 0; i < 2; i++)
        if (w->tracks.p->info.counter[i].code)
            add_number(&w->events, count[i], 8);
}

static void add_flag(struct ctf *w, bool value) { add_number(&w->events, value, 1); }

static void begin_loss(struct ctf *w, const struct span_event *e)
{
    w->now = tracks_ns(&w->tracks, e->at);
    write_packet(w);
}

static void end_loss(struct ctf *w, const struct span_event *e)
{
    begin_event(w, CTF_LOST, e->at);
    add_number(&w->events, e->cause, 1);
    add_number(&w->events, w->now - w->begin, 8);
    add_number(&w->events, e->lost, 8);
    add_flag(w, e->flags & SPAN_BOUND);
    add_flag(w, e->flags & SPAN_DOUBTFUL);
    add_counts(w, e);
    w->discarded += e->lost;
    write_packet(w);
}

static void begin_span(struct ctf *w, const struct span_event *e)
{
    if (e->node == CALLTREE_NONE) {
        begin_loss(w, e);
        return;
    }
    begin_event(w, CTF_BEGIN, e->at);
    add_span(w, e);
}

static void end_span(struct ctf *w, const struct span_event *e)
{
    if (e->node == CALLTREE_NONE) {
        end_loss(w, e);
        return;
    }
    begin_event(w, CTF_END, e->at);
    add_span(w, e);
    add_counts(w, e);
    add_flag(w, e->flags & SPAN_CONTINUED);
    add_flag(w, e->flags & SPAN_FOUND);
    add_flag(w, e->flags & SPAN_DOUBTFUL);
    add_number(&w->events, e->flags & SPAN_CONTINUES ? ENDS_GOING_ON : (unsigned)e->left, 1);
}

/* ---- labels ---- */

/* A string of the language, which has C's escapes; names have no control characters
 * (paths_clean()). */
static void add_string(struct buffer *b, const char *text)
{
    buffer_add(b, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buffer_add(b, "\\", 1);
        buffer_add(b, text, 1);
    }
    buffer_add(b, "\"", 1);
}

static void add_text(struct buffer *b, const char *text) { buffer_add(b, text, strlen(text)); }

static void add_label(struct buffer *b, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, " = %" PRIu64 ",\n", value);
    add_text(b, "    ");
    add_string(b, name);
    add_text(b, text);
}

static void take_span(void *ctx, const struct span_event *e)
{
    struct ctf *w = ctx;
    char name[TRACKS_NAME];
    switch (e->kind) {
    case SPAN_TRACK:
        if (e->track < NO_TRACK)
            add_label(&w->labels, tracks_name(&w->tracks, e, name, sizeof name), e->track);
        break;
    case SPAN_BEGIN: begin_span(w, e); break;
    case SPAN_END: end_span(w, e); break;
    case SPAN_MARK:
        begin_event(w, CTF_MARK, e->at);
        buffer_add(&w->events, tracks_mark_name(e), strlen(tracks_mark_name(e)) + 1);
        break;
    }
}

/* ---- the metadata ---- */

static void add_functions(struct ctf *w, struct buffer *b)
{
    const struct profile *p = w->tracks.p;
    char name[TRACKS_NAME];
    add_text(b, "enum function : uint32_t {\n");
    for (size_t i = 0; i < p->nfunctions; i++)
        add_label(b, paths_name(p, i, "", name, sizeof name), i);
    add_label(b, "(unknown)", p->nfunctions);
    add_text(b, "};\n\nenum track : uint16_t {\n");
    buffer_add(b, w->labels.data, w->labels.size);
    add_label(b, "(unknown)", NO_TRACK);
    add_text(b, "};\n\nenum cause : uint8_t {\n");
    for (unsigned i = 0; i < EVENT_NCAUSES; i++)
        add_label(b, event_cause_name(i), i);
    add_text(b, "};\n\nenum ended : uint8_t {\n    \"open\", \"return\", \"closed\", \"stop\", "
                "\"forgotten\", \"goes on\"\n};\n\n");
}

static void env_text(void *ctx, const char *key, const char *text)
{
    char clean[400];
    add_text(ctx, "    ");
    add_text(ctx, key);
    add_text(ctx, " = ");
    add_string(ctx, paths_clean(text, "", clean, sizeof clean));
    add_text(ctx, ";\n");
}

static void env_number(void *ctx, const char *key, uint64_t value)
{
    char text[80];
    snprintf(text, sizeof text, "    %s = %" PRIu64 ";\n", key, value);
    add_text(ctx, text);
}

static void env_remark(void *ctx, size_t k, const char *kind, const char *text)
{
    char key[32];
    (void)kind; /* no identifier */
    snprintf(key, sizeof key, "remark_%zu", k + 1);
    env_text(ctx, key, text);
}

static void add_env(struct ctf *w, struct buffer *b)
{
    const struct tracks_facts facts = { env_text, env_number, env_remark, b };
    add_text(b, "env {\n");
    env_text(b, "tracer_name", "probeprof");
    tracks_about(&w->tracks, &facts);
    add_text(b, "};\n\n");
}

/* offset_s: when the run began. Not known: the clock is not one of dates. */
static void add_clock(struct ctf *w, struct buffer *b)
{
    char text[200];
    int64_t when = w->tracks.p->info.when;
    snprintf(
        text, sizeof text,
        "clock {\n    name = run;\n    description = \"see env.clock\";\n    freq = 1000000000;\n"
        "    offset_s = %" PRId64 ";\n    absolute = %s;\n};\n\n",
        when, true_or_false(when != 0));
    add_text(b, text);
}

static void add_event(struct buffer *b, enum ctf_event id, const char *name, const char *fields)
{
    char text[80];
    snprintf(text, sizeof text,
             "event {\n    id = %u;\n    name = \"%s\";\n    fields := struct {\n", (unsigned)id,
             name);
    add_text(b, text);
    add_text(b, fields);
    add_text(b, "    };\n};\n\n");
}

static void add_events(struct ctf *w, struct buffer *b)
{
    const struct profile_counter *c = w->tracks.p->info.counter;
    char counts[80], text[320];
    snprintf(counts, sizeof counts, "%s%s", text_if(c[0].code, "        uint64_t c1;\n"),
             text_if(c[1].code, "        uint64_t c2;\n"));
    add_event(b, CTF_BEGIN, "begin",
              "        enum track track;\n        enum function function;\n");
    snprintf(text, sizeof text,
             "        enum track track;\n        enum function function;\n%s"
             "        uint8_t continued;\n        uint8_t found;\n        uint8_t doubtful;\n"
             "        enum ended ended;\n",
             counts);
    add_event(b, CTF_END, "end", text);
    snprintf(text, sizeof text,
             "        enum cause cause;\n        uint64_t lasted_ns;\n        uint64_t events;\n   "
             "     uint8_t at_most;\n        uint8_t doubtful;\n%s",
             counts);
    add_event(b, CTF_LOST, "lost", text);
    add_event(b, CTF_MARK, "mark", "        string what;\n");
}

static void write_metadata(struct ctf *w)
{
    static const char head[] =
        "/* CTF 1.8 */\n\n"
        "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
        "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
        "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
        "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n\n"
        "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n"
        "    packet.header := struct {\n        uint32_t magic;\n    };\n};\n\n";
    static const char stream[] =
        "typealias integer { size = 64; align = 8; signed = false; map = clock.run.value; } := "
        "moment_t;\n\n"
        "stream {\n"
        "    packet.context := struct {\n        moment_t timestamp_begin;\n"
        "        moment_t timestamp_end;\n        uint64_t content_size;\n"
        "        uint64_t packet_size;\n        uint64_t packet_seq_num;\n"
        "        uint64_t events_discarded;\n    };\n"
        "    event.header := struct {\n        uint8_t id;\n        moment_t timestamp;\n    };\n"
        "};\n\n";
    struct buffer b = { 0 };
    add_text(&b, head);
    add_env(w, &b);
    add_clock(w, &b);
    add_functions(w, &b);
    add_text(&b, stream);
    add_events(w, &b);
    w->failed |= b.failed || w->labels.failed;
    if (!w->failed)
        w->metadata->write(w->metadata->ctx, b.data, b.size);
    buffer_fini(&b);
}

int export_ctf(const struct profile *p, const struct report_options *o, const struct text_sink *out,
               struct err *err)
{
    struct ctf w = { .metadata = &out[0], .stream = &out[1] };
    int ret = tracks_init(&w.tracks, p, o, "ctf", err);
    if (ret == 0) {
        write_packet(&w); /* an empty one: what the first loss is compared with */
        ret = tracks_play(&w.tracks, take_span, &w, err);
    }
    if (ret == 0) {
        write_packet(&w);
        write_metadata(&w);
    }
    ret = tracks_finish(&w.tracks, ret, w.failed, err);
    buffer_fini(&w.events);
    buffer_fini(&w.labels);
    return ret;
}
