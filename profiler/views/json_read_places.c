#include "profiler/views/json_read_places.h"

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/watched.h"

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

/* ---- of a watched tree ---- */

static void read_histogram(struct json_reader *r, const json_t *x, struct activation_sum *s)
{
    const json_t *list = reader_member(x, "histogram");
    size_t n = json_array_size(list);
    if ((list && !json_is_array(list)) || n > ACTIVATION_BUCKETS)
        reader_is_wrong(r, "histogram", "is no list of so many");
    for (size_t i = 0; i < n && i < ACTIVATION_BUCKETS; i++) {
        json_int_t v = json_integer_value(json_array_get(list, i));
        if (!json_is_integer(json_array_get(list, i)) || v < 0 || v > UINT32_MAX)
            reader_is_wrong(r, "histogram", "has no count");
        s->histogram[i] = (uint32_t)v;
    }
}

static void read_activations(struct json_reader *r, const json_t *root, struct profile_watched *w)
{
    const json_t *list;
    struct profile_live *row = reader_rows(r, root, "activations", sizeof *row, &w->nlive, &list);
    for (size_t i = 0; i < w->nlive; i++) {
        const json_t *x = reader_row(r, list, i);
        row[i] = (struct profile_live){
            .low = reader_count(r, x, "low"),
            .name = text_or(reader_text(r, x, "name"), ""),
            .sum = { .calls = reader_count(r, x, "calls"),
                     .cut = reader_count(r, x, "cut"),
                     .live = reader_count(r, x, "live"),
                     .work = reader_count(r, x, "work"),
                     .below = reader_count(r, x, "c1_children"),
                     .least = reader_count(r, x, "least"),
                     .most = reader_count(r, x, "most") },
        };
        read_histogram(r, x, &row[i].sum);
    }
    w->live = row;
    r->list = NULL;
}

static void read_sites(struct json_reader *r, const json_t *root, struct profile_watched *w)
{
    const json_t *list;
    struct profile_site *row = reader_rows(r, root, "call_sites", sizeof *row, &w->nsites, &list);
    for (size_t i = 0; i < w->nsites; i++) {
        const json_t *x = reader_row(r, list, i);
        row[i] = (struct profile_site){ .address = reader_count(r, x, "address"),
                                        .calls = reader_count(r, x, "calls"),
                                        .c1 = reader_count(r, x, "c1_children"),
                                        .c2 = reader_count(r, x, "c2_children"),
                                        .doubtful = reader_flag(r, x, "doubtful") };
        if (i && row[i].address < row[i - 1].address)
            reader_is_wrong(r, "address", "is out of order");
    }
    w->site = row;
    r->list = NULL;
}

static void read_stretches(struct json_reader *r, const json_t *root, struct profile_watched *w)
{
    const json_t *list;
    struct profile_stretch *row =
        reader_rows(r, root, "stretches", sizeof *row, &w->nstretches, &list);
    for (size_t i = 0; i < w->nstretches; i++) {
        const json_t *x = reader_row(r, list, i);
        row[i] = (struct profile_stretch){ .at = reader_count(r, x, "at"),
                                           .from = reader_count(r, x, "from"),
                                           .to = reader_count(r, x, "to"),
                                           .times = reader_count(r, x, "times"),
                                           .c1 = reader_count(r, x, "c1"),
                                           .c2 = reader_count(r, x, "c2"),
                                           .doubtful = reader_flag(r, x, "doubtful") };
        if (i && row[i].at < row[i - 1].at)
            reader_is_wrong(r, "at", "is out of order");
    }
    w->stretch = row;
    r->list = NULL;
}

static void read_watched(struct json_reader *r, const json_t *root)
{
    if (!reader_member(root, "activations"))
        return;
    struct profile_watched *w = arena_alloc(&r->p->arena, sizeof *w);
    r->no_memory |= !w;
    if (!w)
        return;
    read_activations(r, root, w);
    read_sites(r, root, w);
    read_stretches(r, root, w);
    w->dropped = reader_count(r, root, "watch_dropped");
    r->p->watched = w;
}

void read_places(struct json_reader *r, const json_t *root)
{
    read_points(r, root);
    read_addresses(r, root);
    read_watched(r, root);
}
