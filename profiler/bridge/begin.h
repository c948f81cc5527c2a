/* How a run begins on the board: the program is loaded or compared, the trace is armed, and the
 * program is started. A wire that fails meanwhile is handled as any loss of the board: when the
 * board is back, everything is repeated. */
#ifndef PROFILER_BRIDGE_BEGIN_H
#define PROFILER_BRIDGE_BEGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/bridge/board_io.h"
#include "profiler/bridge/pump.h"
#include "profiler/bridge/worker.h"
#include "targets/target.h"

struct begin_config {
    struct worker *worker;
    const struct image *image; /* the program; NULL: none is known. Borrowed */
    bool load;                 /* onto the board, instead of comparing */
    struct pump *pump;         /* armed before the program runs; NULL: no profile yet */
    struct board_io io;        /* cancelled is needed */
    void (*wake)(void *ctx);   /* it is over; on the worker */
    void *wake_ctx;
};

/* What others may know of it. */
struct begin_view {
    bool over;
    /* the rest once it is over */
    int ret;
    struct err err;   /* of ret < 0 */
    uint64_t loaded;  /* bytes; 0: nothing was loaded */
    uint64_t load_ns; /* what that took */
};

/* Zero-initialise, then begin_init(). */
struct begin {
    struct begin_config cfg;
    pthread_mutex_t lock;
    bool made;
    struct begin_view view; /* under lock */
    /* the rest is the worker's */
    uint64_t loaded, load_ns;
    bool ran;      /* the program did, when it was first met */
    bool answered; /* the CPU has halted for us, or taken the program */
    unsigned tries;
    uint64_t again_ns; /* host clock: no other try before */
};

/* begin_init - before begin_run() is posted. cfg is copied. */
void begin_init(struct begin *b, const struct begin_config *cfg);
void begin_fini(struct begin *b); /* after the worker has ended; a zeroed one, too */

/* begin_run - the first try, on an attached target: everything up to the moment when the program
 * runs and is profiled. A failure of the wire goes to worker_lost(). On the worker. */
void begin_run(struct begin *b, struct target *t);

/* begin_again - one more try, on a target that is back. Returns 0 when the beginning is over,
 * whether it succeeded or not; else the wire's failure. On the worker. */
int begin_again(struct begin *b, struct target *t, struct err *err);

/* begin_waits - is it too early for one more try? On the worker. */
bool begin_waits(const struct begin *b);

/* begin_has_loaded - has it put the program onto the board? On the worker. */
bool begin_has_loaded(const struct begin *b);

/* begin_look - a copy of the view. Any thread. */
struct begin_view begin_look(struct begin *b);

#endif
