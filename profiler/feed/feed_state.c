/* State objects: small JSON texts that are compared whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/feed/feed_priv.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/json_writer.h"

struct text {
    char at[FEED_STATE_BYTES];
    size_t n;
};

/* What does not fit is cut; nothing of the feed's own is that long. */
static void add_to_text(void *ctx, const char *s, size_t n)
{
    struct text *t = ctx;
    size_t room = sizeof t->at - 1 - t->n, some = MIN(n, room);
    memcpy(t->at + t->n, s, some);
    t->n += some;
    t->at[t->n] = 0;
}

void state_set(struct feed *f, enum feed_object which, const char *json)
{
    struct object *o = &f->object[which];
    if (o->json && strcmp(o->json, json) == 0)
        return;
    char *copy = strdup(json);
    if (!copy)
        return;
    free(o->json);
    o->json = copy;
    o->version = feed_next(f);
}

int feed_state(struct feed *f, enum feed_object which, const char *json, struct err *err)
{
    size_t n = strlen(json);
    if (which >= FEED_COVERAGE)
        return err_set(err, ERR_USAGE, "", "feed: state object %d is made by folds", (int)which);
    if (n < 2 || n >= FEED_STATE_BYTES || json[0] != '{' || json[n - 1] != '}' ||
        strpbrk(json, "\r\n"))
        return err_set(err, ERR_USAGE, "give one JSON object on one line",
                       "feed: %zu bytes are no state object", n);
    state_set(f, which, json);
    return 0;
}

static void write_causes(struct json_writer *j, const struct calltree_stats *s)
{
    json_write_key(j, "causes");
    json_write_object(j, true);
    for (unsigned k = 0; k < EVENT_NCAUSES; k++) {
        const struct calltree_loss *x = &s->loss[k];
        if (!x->gaps)
            continue;
        json_write_key(j, event_cause_name(k));
        json_write_object(j, true);
        json_member_count(j, "gaps", x->gaps);
        json_member_count(j, "events", x->events);
        json_member_count(j, "c1", x->c1);
        json_member_bool(j, "bound", x->bound);
        json_write_end(j);
    }
    json_write_end(j);
}

/* 1 where there is nothing to compare with. */
static double ratio_or_1(double part, double whole)
{
    if (whole > 0)
        return part / whole;
    return 1;
}

/* Members that the report has, too, are called as there. None of them where nothing is known. */
static void set_coverage(struct feed *f)
{
    struct text t = { .n = 0 };
    struct json_writer j = { .out = &(struct text_sink){ add_to_text, &t }, .compact = true };
    const struct calltree_stats *s = &f->stats;
    uint64_t lost = 0, lost_c1 = 0;
    bool bound = false;
    if (f->sums_only) {
        state_set(f, FEED_COVERAGE, "{}");
        return;
    }
    for (unsigned k = 0; k < EVENT_NCAUSES; k++) {
        if (s->loss[k].gaps)
            lost += s->loss[k].events;
        if (s->loss[k].gaps)
            lost_c1 += s->loss[k].c1;
        bound |= s->loss[k].gaps && s->loss[k].bound;
    }
    json_write_object(&j, true);
    json_member_count(&j, "events", s->events);
    json_member_count(&j, "lost", lost);
    json_member_bool(&j, "lost_is_bound", bound);
    json_member_count(&j, "lost_c1", lost_c1);
    json_member_count(&j, "gaps", s->link_gaps);
    json_member_count(&j, "doubtful", s->doubtful);
    json_member_count(&j, "blind_events", s->blind_events);
    json_member_count(&j, "blind_c1", s->blind_c1);
    json_member_real(&j, "ratio", ratio_or_1((double)s->events, (double)s->events + (double)lost));
    write_causes(&j, s);
    json_write_end(&j);
    state_set(f, FEED_COVERAGE, t.at);
}

static void set_rates(struct feed *f)
{
    struct text t = { .n = 0 };
    struct json_writer j = { .out = &(struct text_sink){ add_to_text, &t }, .compact = true };
    uint64_t gap = 0;
    for (unsigned k = 0; k < EVENT_NCAUSES; k++)
        gap += number_if(f->stats.loss[k].gaps, f->stats.loss[k].c1);
    double measured = (double)f->estimated_c1 - (double)gap;
    json_write_object(&j, true);
    json_member_bool(&j, "estimated", f->has_rates);
    if (f->has_rates) {
        json_member_count(&j, "measurements", f->rate_measurements);
        json_member_bool(&j, "by_stamps", f->rate_sources & EVENT_BY_STAMPS);
        json_member_bool(&j, "by_arrivals", f->rate_sources & EVENT_BY_ARRIVALS);
        json_member_real(&j, "factor", ratio_or_1((double)f->totals.c1 - (double)gap, measured));
        json_member_real(&j, "confidence", 0.95);
    }
    json_write_end(&j);
    state_set(f, FEED_RATES, t.at);
}

static void set_profile(struct feed *f, const struct feed_source *from)
{
    struct text t = { .n = 0 };
    struct json_writer j = { .out = &(struct text_sink){ add_to_text, &t }, .compact = true };
    const char *type = "trace";
    uint64_t nodes = f->nnodes;
    if (f->totals.samples) {
        type = "statistical";
        nodes = 0;
    }
    json_write_object(&j, true);
    json_member_string(&j, "type", type);
    json_member_bool(&j, "active", from->tree && calltree_active(from->tree));
    if (!f->sums_only)
        json_member_count(&j, "passes", f->stats.stops);
    json_member_count(&j, "functions", f->nfunctions);
    json_member_count(&j, "nodes", nodes);
    if (!f->sums_only)
        json_member_count(&j, "nesting", f->stats.nesting);
    json_write_end(&j);
    state_set(f, FEED_PROFILE, t.at);
}

void state_of_fold(struct feed *f, const struct feed_source *from)
{
    set_coverage(f);
    set_rates(f);
    set_profile(f, from);
    if (!f->object[FEED_MARKED].json)
        state_marks(f);
}

void state_marks(struct feed *f)
{
    struct text t = { .n = 0 };
    struct json_writer j = { .out = &(struct text_sink){ add_to_text, &t }, .compact = true };
    json_write_object(&j, true);
    json_write_key(&j, "marks");
    json_write_array(&j, true);
    for (size_t i = 0; i < f->nmarks; i++) {
        const struct reader_mark *m = &f->marks[i];
        json_write_object(&j, true);
        json_member_string(&j, "name", m->name);
        json_member_count(&j, "seq", m->seq);
        json_member_count(&j, "wall_ms", (uint64_t)m->wall_ms);
        json_write_end(&j);
    }
    json_write_end(&j);
    json_write_end(&j);
    state_set(f, FEED_MARKED, t.at);
}
