#include "profiler/feed/http_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"
#include "profiler/feed/http_query.h"
#include "profiler/views/json_writer.h"

/* ---- which function has an address? ---- */

struct range {
    uint64_t low, high;
    uint32_t id;
};
struct ranges {
    const struct feed *feed;
    struct range *range; /* by address */
    size_t n;
};

static int by_low(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

/* With its overlay: those share addresses. */
static struct range range_of_function(const struct profile_function *is, uint32_t id)
{
    uint64_t low = profile_place(is);
    return (struct range){ low, low + (is->high - is->low), id };
}

static bool ranges_new(struct ranges *r, const struct feed *f)
{
    *r = (struct ranges){ .feed = f, .range = malloc((f->nmembers + 1) * sizeof *r->range) };
    for (size_t i = 0; r->range && i < f->nmembers; i++) {
        const struct member *m = &f->members[i];
        if (!m->key.special)
            r->range[r->n++] = range_of_function(&m->is, m->function);
    }
    if (r->range)
        qsort(r->range, r->n, sizeof *r->range, by_low);
    return r->range != NULL;
}

/* The last one that begins at addr or before it; NULL: none, or it ends before that. */
static const struct range *range_of(const struct ranges *r, uint64_t addr)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (r->range[mid].low <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    const struct range *found = NULL;
    if (low)
        found = &r->range[low - 1];
    if (found && (addr < found->high || addr == found->low))
        return found;
    return NULL;
}

static bool function_start(const void *ctx, uint64_t addr, uint64_t *start)
{
    const struct range *found = range_of(ctx, addr);
    if (found)
        *start = found->low;
    return found != NULL;
}

static const struct event *event_at(const void *ctx, uint64_t number)
{
    return feed_event(((const struct ranges *)ctx)->feed, number);
}

/* ---- the answer ---- */

/* By its id, or by its address while it has none. */
static void write_function(struct json_writer *j, const struct ranges *r, uint64_t start)
{
    char text[24];
    const struct range *found = range_of(r, start);
    if (found && found->low == start) {
        json_write_uint(j, found->id);
        return;
    }
    snprintf(text, sizeof text, "0x%08" PRIx64, start);
    json_write_string(j, text);
}

static void write_calls(struct json_writer *j, const struct ranges *r, const struct timeline *t)
{
    json_write_key(j, "calls");
    json_write_array(j, true);
    for (size_t i = 0; i < t->ncalls; i++) {
        const struct timeline_span *s = &t->calls[i];
        json_write_array(j, true);
        json_write_uint(j, s->level);
        json_write_count(j, s->from);
        json_write_count(j, s->to);
        json_write_count(j, s->busy);
        json_write_uint(j, s->times);
        write_function(j, r, s->function);
        json_write_uint(j, s->flags);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_handlers(struct json_writer *j, const struct ranges *r, const struct timeline *t)
{
    json_write_key(j, "handlers");
    json_write_array(j, true);
    for (size_t i = 0; i < t->nhandlers; i++) {
        const struct timeline_span *s = &t->handlers[i];
        json_write_array(j, true);
        json_write_count(j, s->from);
        json_write_count(j, s->to);
        json_write_count(j, s->busy);
        json_write_uint(j, s->times);
        write_function(j, r, s->function);
        json_write_uint(j, s->vector);
        json_write_uint(j, s->level);
        json_write_uint(j, s->flags);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_gaps(struct json_writer *j, const struct timeline *t)
{
    json_write_key(j, "gaps");
    json_write_array(j, true);
    for (size_t i = 0; i < t->ngaps; i++) {
        const struct timeline_gap *g = &t->gaps[i];
        json_write_array(j, true);
        json_write_count(j, g->from);
        json_write_count(j, g->to);
        json_write_uint(j, g->times);
        json_write_string(j, g->cause == TIMELINE_UNKEPT ? "unkept" : event_cause_name(g->cause));
        json_write_count(j, g->lost);
        json_write_bool(j, g->bound);
        json_write_end(j);
    }
    json_write_end(j);
}

static const char *point_name(const struct timeline_point *p)
{
    switch (p->kind) {
    case EVENT_START: return "start";
    case EVENT_STOP: return "stop";
    case EVENT_CLEAR: return "clear";
    case EVENT_AGAIN: return "armed";
    default: return "note";
    }
}

static void write_points(struct json_writer *j, const struct timeline *t)
{
    json_write_key(j, "points");
    json_write_array(j, true);
    for (size_t i = 0; i < t->npoints; i++) {
        const struct timeline_point *p = &t->points[i];
        json_write_array(j, true);
        json_write_count(j, p->at);
        json_write_uint(j, p->times);
        json_write_string(j, point_name(p));
        json_write_string(j, p->kind == EVENT_NOTE ? event_cause_name(p->cause) : NULL);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_head(struct json_writer *j, const struct feed *f, const struct timeline *t)
{
    static const char *const names[] = { "cycles", "c1", "events" };
    char id[FEED_POSITION_TEXT];
    uint64_t first, end;
    feed_events_kept(f, &first, &end);
    json_member_string(j, "schema", "probeprof.timeline/1");
    json_member_string(j, "position", feed_position_text(feed_epoch(f), feed_seq(f), id));
    json_member_string(j, "clock", names[t->clock]);
    json_member_count(j, "first_event", first);
    json_member_count(j, "end_event", end);
    json_member_count(j, "first", t->first);
    json_member_count(j, "last", t->last);
    json_member_count(j, "from", t->from);
    json_member_count(j, "to", t->to);
    json_member_count(j, "step", t->step);
    json_member_count(j, "levels", t->levels);
    json_member_bool(j, "cut", t->cut);
}

static void write_all(const struct ranges *r, const struct timeline *t, const struct text_sink *out)
{
    struct json_writer j = { .out = out, .compact = true };
    json_write_object(&j, true);
    write_head(&j, r->feed, t);
    write_calls(&j, r, t);
    write_handlers(&j, r, t);
    write_gaps(&j, t);
    write_points(&j, t);
    json_write_end(&j);
    out->write(out->ctx, "\n", 1);
}

/* ---- the question ---- */

int http_timeline_ask(const char *query, struct timeline_ask *ask, struct err *err)
{
    uint64_t px = TIMELINE_PX, levels = TIMELINE_LEVELS;
    char text[2];
    *ask = (struct timeline_ask){ .to = INT64_MAX };
    int ret = http_query_number(query, "from", 0, INT64_MAX, &ask->from, err);
    if (ret == 0)
        ret = http_query_number(query, "to", 0, INT64_MAX, &ask->to, err);
    if (ret == 0)
        ret = http_query_number(query, "px", 1, TIMELINE_PX_MOST, &px, err);
    if (ret == 0)
        ret = http_query_number(query, "levels", 1, TIMELINE_LEVELS_MOST, &levels, err);
    if (ret < 0)
        return ret;
    ask->has_from = http_query_text(query, "from", text, sizeof text) || ask->from;
    ask->has_to = ask->to != INT64_MAX;
    ask->px = (unsigned)px;
    ask->levels = (unsigned)levels;
    if (ask->to <= ask->from)
        return err_set(err, ERR_USAGE, "a time behind that of from", "parameter to is too small");
    return 0;
}

static int say_what_is_there(const struct timeline *t, struct err *err)
{
    char hint[128];
    snprintf(hint, sizeof hint, "ask from %" PRIu64 " to %" PRIu64 ", or without from and to",
             t->first, t->last);
    return err_set(err, ERR_STATE, hint, "events of that time are not kept");
}

int http_timeline(const struct feed *f, const char *query, const struct text_sink *out,
                  struct err *err)
{
    struct timeline_ask ask;
    struct ranges r;
    struct timeline t;
    uint64_t first, end;
    int ret = http_timeline_ask(query, &ask, err);
    if (ret < 0)
        return ret;
    feed_events_kept(f, &first, &end);
    if (first == end)
        return err_set(err, ERR_STATE,
                       "follow the feed, as the page does, while a trace runs: events are kept "
                       "while anybody does",
                       "no events are kept");
    if (!ranges_new(&r, f))
        return err_set(err, ERR_NOMEM, "close other programs", "timeline: out of memory");
    ret = timeline_make(&(struct timeline_source){ &r, event_at, first, end, function_start }, &ask,
                        &t);
    if (ret == 0)
        write_all(&r, &t, out);
    else if (ret == -ERR_NOT_FOUND)
        ret = say_what_is_there(&t, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "timeline: out of memory");
    timeline_free(&t);
    free(r.range);
    return ret;
}
