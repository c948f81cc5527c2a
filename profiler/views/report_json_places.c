#include "profiler/views/report_json_places.h"

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

void report_json_places(struct json_writer *j, const struct profile *p)
{
    if (p->points.has_start || p->points.nstops)
        write_points(j, &p->points);
    if (p->naddresses)
        write_addresses(j, p);
}
