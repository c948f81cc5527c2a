#include "probe/pdo_queue.h"

#include <string.h>

#include "probe/base/util.h"

void pdo_queue_put(struct pdo_queue *q, const pdo_edge *edge, size_t n)
{
    size_t fits = 0, at = q->head + q->n;
    if (!q->lost_behind)
        fits = MIN(n, q->cap - q->n);
    if (at >= q->cap)
        at -= q->cap;
    size_t first = MIN(fits, q->cap - at);
    memcpy(q->edge + at, edge, first * sizeof *edge);
    memcpy(q->edge, edge + first, (fits - first) * sizeof *edge);
    q->n += fits;
    q->lost_behind += n - fits;
    q->all_lost += n - fits;
}

size_t pdo_queue_take(struct pdo_queue *q, pdo_edge *out, size_t cap, uint64_t *lost)
{
    size_t n = MIN(cap, q->n);
    *lost = 0;
    if (n) {
        *lost = q->lost_before;
        q->lost_before = 0;
    }
    size_t first = MIN(n, q->cap - q->head);
    memcpy(out, q->edge + q->head, first * sizeof *out);
    memcpy(out + first, q->edge, (n - first) * sizeof *out);
    q->head += n;
    if (q->head >= q->cap)
        q->head -= q->cap;
    q->n -= n;
    if (q->n == 0) {
        q->lost_before += q->lost_behind;
        q->lost_behind = 0;
    }
    return n;
}
