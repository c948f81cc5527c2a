#include "profiler/views/json_read_places.h"

#include "probe/base/choice.h"
#include "probe/base/util.h"

static void read_points(struct json_reader *r, const json_t *root)
{
    const json_t *points = reader_object(r, root, "points"), *list;
    struct profile_points *to = &r->p->points;
    size_t n;
    if (!points)
        return;
    to->has_start = reader_member(points, "start") != NULL;
    to->start = reader_count(r, points, "start");
    uint64_t *stop = reader_rows(r, points, "stops", sizeof *stop, &n, &list);
    for (size_t i = 0; i < n; i++)
        stop[i] = reader_count(r, reader_row(r, list, i), "address");
    to->stop = stop;
    to->nstops = n;
    r->list = NULL;
}

/* By function, then address, as profile_addresses_of() looks for them. */
static bool is_before(const struct profile_address *x, const struct profile_address *other)
{
    return EITHER(COMPARE(x->function, other->function), COMPARE(x->address, other->address)) < 0;
}

static void read_addresses(struct json_reader *r, const json_t *root)
{
    const json_t *list;
    size_t n;
    struct profile_address *row = reader_rows(r, root, "addresses", sizeof *row, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = reader_row(r, list, i);
        row[i].address = reader_count(r, x, "address");
        row[i].function = reader_index(r, x, "function", r->p->nfunctions);
        row[i].hits = reader_count(r, x, "hits");
        if (i && is_before(&row[i], &row[i - 1]))
            reader_is_wrong(r, "address", "is out of order");
    }
    r->p->addresses = row;
    r->p->naddresses = n;
    r->list = NULL;
    r->p->addresses_dropped = reader_count(r, root, "addresses_dropped");
}

void read_places(struct json_reader *r, const json_t *root)
{
    read_points(r, root);
    read_addresses(r, root);
}
