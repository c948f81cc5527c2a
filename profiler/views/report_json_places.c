#include "profiler/views/report_json_places.h"

#include "profiler/profile/watched.h"
#include "profiler/views/report_live.h"

static void write_points(struct json_writer *j, const struct profile_points *p)
{
    json_write_key(j, "points");
    json_write_object(j, true);
    json_member_uint_if(j, "start", p->has_start, p->start);
    json_write_key(j, "stops");
    json_write_array(j, true);
    for (size_t i = 0; i < p->nstops; i++) {
        json_write_object(j, true);
        json_member_uint(j, "address", p->stop[i]);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
}

static void write_addresses(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "addresses");
    json_write_array(j, false);
    for (size_t i = 0; i < p->naddresses; i++) {
        const struct profile_address *a = &p->addresses[i];
        json_write_object(j, true);
        json_member_uint(j, "address", a->address);
        json_member_uint(j, "function", a->function);
        json_member_uint(j, "hits", a->hits);
        json_write_end(j);
    }
    json_write_end(j);
    json_member_uint(j, "addresses_dropped", p->addresses_dropped);
}

/* Of the counters, at a place: an estimated counter 1 is corrected by function alone. */
struct known {
    bool c1, c2;
};

static void write_sites(struct json_writer *j, const struct profile_watched *w,
                        const struct known *known)
{
    json_write_key(j, "call_sites");
    json_write_array(j, false);
    for (size_t i = 0; i < w->nsites; i++) {
        const struct profile_site *s = &w->site[i];
        json_write_object(j, true);
        json_member_uint(j, "address", s->address);
        json_member_uint(j, "calls", s->calls);
        json_member_uint_if(j, "c1_children", known->c1, s->c1);
        json_member_uint_if(j, "c2_children", known->c2, s->c2);
        json_member_bool(j, "doubtful", s->doubtful);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_stretches(struct json_writer *j, const struct profile_watched *w,
                            const struct known *known)
{
    json_write_key(j, "stretches");
    json_write_array(j, false);
    for (size_t i = 0; i < w->nstretches; i++) {
        const struct profile_stretch *s = &w->stretch[i];
        json_write_object(j, true);
        json_member_uint(j, "at", s->at);
        json_member_uint_if(j, "from", s->from != 0, s->from);
        json_member_uint_if(j, "to", s->to != 0, s->to);
        json_member_uint(j, "times", s->times);
        json_member_uint_if(j, "c1", known->c1, s->c1);
        json_member_uint_if(j, "c2", known->c2, s->c2);
        json_member_bool(j, "doubtful", s->doubtful);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_watched(struct json_writer *j, const struct profile *p)
{
    const struct known known = { profile_knows(p, PROFILE_C1) && !p->info.estimate.is,
                                 profile_knows(p, PROFILE_C2) };
    json_write_key(j, "activations");
    report_live_rows(j, p->watched);
    write_sites(j, p->watched, &known);
    write_stretches(j, p->watched, &known);
    json_member_uint(j, "watch_dropped", p->watched->dropped);
}

void report_json_places(struct json_writer *j, const struct profile *p)
{
    if (p->points.has_start || p->points.nstops)
        write_points(j, &p->points);
    if (p->naddresses)
        write_addresses(j, p);
    if (p->watched)
        write_watched(j, p);
}
