/* The wire to the board while the program runs: how much of what was sent over it was damaged and
 * repeated, and the clock it goes at now. A client of the worker measures; the loop reports. */
#ifndef PROFILER_BRIDGE_WIRE_H
#define PROFILER_BRIDGE_WIRE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/bridge/say.h"
#include "profiler/bridge/worker.h"
#include "targets/target.h"

/* Zero-initialise, then wire_init(). */
struct wire {
    struct worker_client client; /* for worker_add_client() */
    pthread_mutex_t lock;
    bool made;
    struct target_wire seen; /* under lock */
    struct target_wire said; /* the loop's: what people know */
    uint32_t clock_hz;       /* the worker's: see wire_clock() */
};

/* wire_init - before the worker knows the client
 * t         attached; what happened on the wire until now is not reported again
 * clock_hz  the clock that was found for the adapter; 0: none was looked for */
void wire_init(struct wire *w, struct target *t, uint32_t clock_hz);
void wire_fini(struct wire *w); /* after the worker has ended; a zeroed one, too */

/* wire_clock - where an adapter that comes back begins; 0: at the clock it was opened with. On the
 * worker. */
uint32_t wire_clock(const struct wire *w);

/* wire_tell - reports the first disturbance of the wire; with `last`, the total since then. On the
 * loop. */
void wire_tell(struct wire *w, bool last, const struct say *to);

#endif
