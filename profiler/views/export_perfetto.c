/* One sequence of packets. Names of functions and of annotations are sent once and have numbers
 * from then on, until a loss: readers forget them there, as in a trace whose packets were lost.
 * Source for numbers of fields: google/perfetto, protos/perfetto/trace: trace.proto,
 * trace_packet.proto, interned_data/interned_data.proto, track_event/track_event.proto,
 * track_event/track_descriptor.proto, track_event/debug_annotation.proto. */
#include <stdlib.h>

#include "probe/base/buffer.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/protobuf.h"
#include "profiler/views/tracks.h"

enum { TRACE_PACKET = 1 };
enum packet_field {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_PREVIOUS_DROPPED = 42,
    PACKET_TRACK_DESCRIPTOR = 60
};
enum sequence_flag { STATE_CLEARED = 1, NEEDS_STATE = 2 };
/* Why packets were dropped; the first is set with each other. */
enum data_loss { LOSS_PRESENT = 1, LOSS_CORRUPTED = 4, LOSS_SOURCE_FULL = 256 };
enum interned_field { INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3 };
enum interned_name { INTERNED_IID = 1, INTERNED_NAME = 2 };
enum descriptor_field {
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8
};
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum track_event_field {
    TRACK_EVENT_ANNOTATION = 4,
    TRACK_EVENT_TYPE = 9,
    TRACK_EVENT_NAME_IID = 10,
    TRACK_EVENT_TRACK = 11,
    TRACK_EVENT_NAME = 23,
    TRACK_EVENT_COUNTER_VALUE = 30
};
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum annotation_field {
    ANNOTATION_NAME_IID = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_STRING = 6,
    ANNOTATION_NAME = 10
};

/* Tracks are numbered behind these. */
enum track_uuid { UUID_PROCESS = 1, UUID_LOST = 2, UUID_TRACKS = 3 };

enum annotation { C1, C2, LOST, AT_MOST, CONTINUED, FOUND, DOUBTFUL, END, NANNOTATIONS };

struct perfetto {
    struct tracks tracks;
    const struct text_sink *out;
    struct buffer packet, event, inner, list, head;
    uint32_t *known;  /* by function: the state in which its name was sent */
    uint32_t state;   /* of what readers know, from 1 */
    bool cleared;     /* the event that is made begins a new one */
    unsigned dropped; /* enum data_loss: what was lost before the next event */
    uint64_t lost;    /* so far */
    bool failed;      /* out of memory */
};

/* ---- packets ---- */

static void write_packet(struct perfetto *w)
{
    protobuf_number(&w->packet, PACKET_SEQUENCE, 1);
    w->failed |= w->packet.failed;
    protobuf_message(&w->head, TRACE_PACKET, &w->packet);
    w->failed |= w->head.failed;
    if (!w->failed)
        w->out->write(w->out->ctx, w->head.data, w->head.size);
    w->head.size = 0;
}

static void intern_name(struct perfetto *w, enum interned_field what, uint64_t iid,
                        const char *name)
{
    protobuf_number(&w->list, INTERNED_IID, iid);
    protobuf_text(&w->list, INTERNED_NAME, name);
    protobuf_message(&w->inner, what, &w->list);
}

static void begin_state(struct perfetto *w)
{
    static const char *const names[NANNOTATIONS] = { "c1",        "c2",    "lost",     "at_most",
                                                     "continued", "found", "doubtful", "end" };
    w->state++;
    w->cleared = true;
    for (unsigned i = 0; i < NANNOTATIONS; i++)
        intern_name(w, INTERNED_ANNOTATION_NAMES, i + 1, names[i]);
}

static void begin_event(struct perfetto *w, enum event_type type, uint64_t uuid)
{
    if (!w->state || w->dropped)
        begin_state(w);
    protobuf_number(&w->event, TRACK_EVENT_TYPE, type);
    protobuf_number(&w->event, TRACK_EVENT_TRACK, uuid);
}

/* What has to be known for it is in the same packet. */
static void write_event(struct perfetto *w, uint64_t at)
{
    protobuf_known(&w->packet, PACKET_TIMESTAMP, tracks_ns(&w->tracks, at));
    if (w->inner.size)
        protobuf_message(&w->packet, PACKET_INTERNED_DATA, &w->inner);
    protobuf_number(&w->packet, PACKET_SEQUENCE_FLAGS,
                    NEEDS_STATE | bits_if(w->cleared, STATE_CLEARED));
    protobuf_number(&w->packet, PACKET_PREVIOUS_DROPPED, w->dropped);
    protobuf_message(&w->packet, PACKET_TRACK_EVENT, &w->event);
    w->cleared = false;
    w->dropped = 0;
    write_packet(w);
}

/* ---- tracks ---- */

static void describe_track(struct perfetto *w, uint64_t uuid, const char *name)
{
    protobuf_number(&w->event, DESCRIPTOR_UUID, uuid);
    protobuf_text(&w->event, DESCRIPTOR_NAME, name);
    protobuf_number(&w->event, DESCRIPTOR_PARENT, UUID_PROCESS);
    if (uuid == UUID_LOST)
        protobuf_message(&w->event, DESCRIPTOR_COUNTER, &w->list);
    protobuf_message(&w->packet, PACKET_TRACK_DESCRIPTOR, &w->event);
    write_packet(w);
}

static void describe_process(struct perfetto *w)
{
    protobuf_number(&w->list, PROCESS_PID, 1);
    protobuf_text(&w->list, PROCESS_NAME, text_or(w->tracks.p->info.elf, "probeprof"));
    protobuf_number(&w->event, DESCRIPTOR_UUID, UUID_PROCESS);
    protobuf_message(&w->event, DESCRIPTOR_PROCESS, &w->list);
    protobuf_message(&w->packet, PACKET_TRACK_DESCRIPTOR, &w->event);
    write_packet(w);
}

static void count_lost(struct perfetto *w, uint64_t at)
{
    begin_event(w, COUNTER, UUID_LOST);
    protobuf_known(&w->event, TRACK_EVENT_COUNTER_VALUE, w->lost);
    write_event(w, at);
}

/* ---- what the run was: an instant of the process ---- */

static void say_text(void *ctx, const char *name, const char *text)
{
    struct perfetto *w = ctx;
    protobuf_text(&w->list, ANNOTATION_NAME, name);
    protobuf_text(&w->list, ANNOTATION_STRING, text);
    protobuf_message(&w->event, TRACK_EVENT_ANNOTATION, &w->list);
}

static void say_number(void *ctx, const char *name, uint64_t value)
{
    struct perfetto *w = ctx;
    protobuf_text(&w->list, ANNOTATION_NAME, name);
    protobuf_known(&w->list, ANNOTATION_UINT, value);
    protobuf_message(&w->event, TRACK_EVENT_ANNOTATION, &w->list);
}

static void say_remark(void *ctx, size_t k, const char *kind, const char *text)
{
    (void)k;
    say_text(ctx, kind, text);
}

static void say_about(struct perfetto *w)
{
    const struct tracks_facts facts = { say_text, say_number, say_remark, w };
    begin_event(w, INSTANT, UUID_PROCESS);
    protobuf_text(&w->event, TRACK_EVENT_NAME, "about");
    say_text(w, "exporter", "probeprof");
    tracks_about(&w->tracks, &facts);
    write_event(w, 0);
}

/* ---- spans ---- */

static void annotate_number(struct perfetto *w, enum annotation what, uint64_t value)
{
    protobuf_number(&w->list, ANNOTATION_NAME_IID, (uint64_t)what + 1);
    protobuf_known(&w->list, ANNOTATION_UINT, value);
    protobuf_message(&w->event, TRACK_EVENT_ANNOTATION, &w->list);
}

static void annotate_bool(struct perfetto *w, enum annotation what, bool value)
{
    protobuf_number(&w->list, ANNOTATION_NAME_IID, (uint64_t)what + 1);
    protobuf_known(&w->list, ANNOTATION_BOOL, value);
    protobuf_message(&w->event, TRACK_EVENT_ANNOTATION, &w->list);
}

static void intern_function(struct perfetto *w, const struct span_event *e, size_t function)
{
    char name[TRACKS_NAME];
    intern_name(w, INTERNED_EVENT_NAMES, function + 1,
                tracks_span_name(&w->tracks, e, name, sizeof name));
    w->known[function] = w->state;
}

static void begin_span(struct perfetto *w, const struct span_event *e)
{
    char name[TRACKS_NAME];
    size_t function = tracks_function(&w->tracks, e);
    begin_event(w, SLICE_BEGIN, UUID_TRACKS + e->track);
    if (function < w->tracks.p->nfunctions) {
        if (w->known[function] != w->state)
            intern_function(w, e, function);
        protobuf_number(&w->event, TRACK_EVENT_NAME_IID, function + 1);
    } else {
        tracks_span_name(&w->tracks, e, name, sizeof name);
        protobuf_text(&w->event, TRACK_EVENT_NAME, name);
    }
    write_event(w, e->at);
}

static void annotate_end(struct perfetto *w, const struct span_event *e)
{
    static const struct {
        enum span_flag flag;
        enum annotation what;
    } flags[] = { { SPAN_CONTINUED, CONTINUED },
                  { SPAN_FOUND, FOUND },
                  { SPAN_DOUBTFUL, DOUBTFUL } };
    const char *ended = tracks_ended(e);
    if (w->tracks.p->info.counter[0].code)
        annotate_number(w, C1, e->c1);
    if (w->tracks.p->info.counter[1].code)
        annotate_number(w, C2, e->c2);
    if (e->node == CALLTREE_NONE) {
        annotate_number(w, LOST, e->lost);
        annotate_bool(w, AT_MOST, e->flags & SPAN_BOUND);
    }
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (e->flags & flags[i].flag)
            annotate_bool(w, flags[i].what, true);
    if (!ended)
        return;
    protobuf_number(&w->list, ANNOTATION_NAME_IID, END + 1);
    protobuf_text(&w->list, ANNOTATION_STRING, ended);
    protobuf_message(&w->event, TRACK_EVENT_ANNOTATION, &w->list);
}

static unsigned reason_of(enum event_cause cause)
{
    switch (cause) {
    case EVENT_CAUSE_RING_FULL:
    case EVENT_CAUSE_HOST_QUEUE: return LOSS_PRESENT | LOSS_SOURCE_FULL;
    case EVENT_CAUSE_CORRUPT: return LOSS_PRESENT | LOSS_CORRUPTED;
    default: return LOSS_PRESENT;
    }
}

static void end_span(struct perfetto *w, const struct span_event *e)
{
    begin_event(w, SLICE_END, UUID_TRACKS + e->track);
    annotate_end(w, e);
    write_event(w, e->at);
    if (e->node != CALLTREE_NONE)
        return;
    w->lost += e->lost;
    w->dropped = reason_of(e->cause);
    count_lost(w, e->at);
}

static void take_span(void *ctx, const struct span_event *e)
{
    struct perfetto *w = ctx;
    char name[TRACKS_NAME];
    switch (e->kind) {
    case SPAN_TRACK:
        describe_track(w, UUID_TRACKS + e->track, tracks_name(&w->tracks, e, name, sizeof name));
        break;
    case SPAN_BEGIN: begin_span(w, e); break;
    case SPAN_END: end_span(w, e); break;
    case SPAN_MARK:
        begin_event(w, INSTANT, UUID_TRACKS + e->track);
        protobuf_text(&w->event, TRACK_EVENT_NAME, tracks_mark_name(e));
        write_event(w, e->at);
        break;
    }
}

static int write_trace(struct perfetto *w, struct err *err)
{
    w->known = calloc(w->tracks.p->nfunctions + 1, sizeof *w->known);
    int ret = 0;
    if (w->known) {
        describe_process(w);
        describe_track(w, UUID_LOST, "lost events");
        say_about(w);
        count_lost(w, 0);
        ret = tracks_play(&w->tracks, take_span, w, err);
    }
    return tracks_finish(&w->tracks, ret, !w->known || w->failed, err);
}

int export_perfetto(const struct profile *p, const struct report_options *o,
                    const struct text_sink *out, struct err *err)
{
    struct perfetto w = { .out = out };
    int ret = tracks_init(&w.tracks, p, o, "perfetto", err);
    if (ret == 0)
        ret = write_trace(&w, err);
    buffer_fini(&w.packet);
    buffer_fini(&w.event);
    buffer_fini(&w.inner);
    buffer_fini(&w.list);
    buffer_fini(&w.head);
    free(w.known);
    return ret;
}
