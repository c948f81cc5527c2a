#include "profiler/core/rates.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/range.h"

static const double UNIT = 1e-6;
static const double MOST_SPREAD = 1e15; /* of a path; so that sums stay in 64 bits */

/* The first row that ends behind addr. */
static size_t place_of(const struct rates *r, uint64_t addr)
{
    return PARTITION_POINT(r->n, i, r->row[i].high <= addr);
}

static int put_row(struct rates *r, const struct rate *row)
{
    size_t at = place_of(r, row->low);
    if (row->high <= row->low || (at < r->n && r->row[at].low < row->high))
        return 0; /* overlaps one there is: no set of a target's, and the first one stays */
    if (!array_room(&r->row, r->n, &r->cap, sizeof *r->row))
        return -ERR_NOMEM;
    memmove(r->row + at + 1, r->row + at, (r->n++ - at) * sizeof *r->row);
    r->row[at] = *row;
    return 0;
}

int rates_add(struct rates *r, const struct event *e)
{
    struct rate row = { e->pc, e->target, (double)e->factor_per_1e6 * UNIT,
                        (double)e->spread_per_1e6 * UNIT };
    if (e->kind != EVENT_RATE)
        return 0;
    if (e->flags & EVENT_HAS_PC)
        return put_row(r, &row);
    r->given = true;
    r->measurements = e->measurements;
    r->sources = e->sources;
    r->others = row;
    r->n = 0;
    return 0;
}

const struct rate *rates_at(const struct rates *r, uint64_t addr)
{
    size_t at = place_of(r, addr);
    if (at < r->n && r->row[at].low <= addr)
        return &r->row[at];
    return &r->others;
}

uint64_t rate_by(uint64_t count, double by)
{
    double v = (double)count * by + 0.5;
    if (v < 0x1p64)
        return (uint64_t)v;
    return UINT64_MAX;
}

uint64_t rate_corrected(const struct rate *r, uint64_t estimated)
{
    return rate_by(estimated, r->factor);
}

uint64_t rate_spread(const struct rate *r, uint64_t estimated)
{
    double parts = (double)estimated * r->half * RATE_SPREAD_PARTS;
    if (parts < MOST_SPREAD)
        return (uint64_t)(parts + 0.5);
    return (uint64_t)MOST_SPREAD;
}

uint64_t rate_spread_sum(uint64_t parts)
{
    return parts / RATE_SPREAD_PARTS + (parts % RATE_SPREAD_PARTS >= RATE_SPREAD_PARTS / 2);
}

void rates_fini(struct rates *r)
{
    free(r->row);
    *r = (struct rates){ 0 };
}
