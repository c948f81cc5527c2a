/* A bounded queue of edges between whoever captures and whoever reads. What does not fit is dropped
 * and counted, and the place of the loss kept. No locks: its owner has one. */
#ifndef PROBE_PDO_QUEUE_H
#define PROBE_PDO_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "probe/pdo.h"

/* Fields are for reading. */
struct pdo_queue {
    pdo_edge *edge; /* the owner's, room for cap */
    size_t cap, head, n;
    uint64_t lost_before; /* dropped before the first one in the queue, and not said yet */
    /* Dropped behind the last one in the queue: nothing more goes in until all of it has been
     * read. */
    uint64_t lost_behind;
    uint64_t all_lost; /* total */
};

/* pdo_queue_put - n edges more; of those that do not fit the first ones go in. */
void pdo_queue_put(struct pdo_queue *q, const pdo_edge *edge, size_t n);

/* pdo_queue_take - up to cap edges out. *lost: dropped before the first of them; 0 as long as there
 * are none. */
size_t pdo_queue_take(struct pdo_queue *q, pdo_edge *out, size_t cap, uint64_t *lost);

#endif
