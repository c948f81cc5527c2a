/* The profile pump: a client of the adapter's worker that arms the trace, moves its events into a
 * queue for the main thread, keeps a status for the live line, and disarms. Everything but the few
 * calls marked "main thread" runs on the worker. */
#ifndef PROFILER_BRIDGE_PUMP_H
#define PROFILER_BRIDGE_PUMP_H

#include <pthread.h>
#include <stdatomic.h>

#include "profiler/bridge/event_queue.h"
#include "profiler/bridge/worker.h"
#include "targets/target.h"

enum pump_phase {
    PUMP_IDLE,     /* not armed */
    PUMP_ARMED,    /* events come */
    PUMP_DRAINING, /* disarmed, the rest is being fetched */
    PUMP_ENDED     /* nothing comes any more; see why */
};

/* Where events come from instead of the target's own trace; functions as in struct
 * target_trace_ops. */
struct pump_source {
    int (*arm)(void *ctx, struct target *t, const struct trace_config *cfg, struct err *err);
    int (*poll)(void *ctx, struct target *t, struct event *out, size_t cap, uint64_t max_ns,
                struct err *err);
    int (*disarm)(void *ctx, struct target *t, struct err *err);
    int (*set_active)(void *ctx, struct target *t, bool active, struct err *err);
    int (*status)(void *ctx, struct target *t, struct trace_status *out, struct err *err);
};

struct pump_config {
    const struct pump_source *source; /* NULL: the target's trace */
    void *source_ctx;
    struct trace_config trace; /* pointers in it borrowed as long as the pump */
    uint64_t for_ns;           /* end after this much of the target's time; 0: no limit */
    size_t queue_events;       /* power of two */
    void (*wake)(void *ctx);   /* something for the main thread; called on the worker */
    void *wake_ctx;
    /* a call of the source has failed, perhaps since the target is gone; may be NULL. On the
     * worker: worker_failed() */
    void (*failed)(void *ctx, const struct err *why);
    void *failed_ctx;
    /* the next slice shall not be longer; 0: as long as ever. May be NULL. On the worker */
    void (*pace)(void *ctx, uint64_t ns);
    void *pace_ctx;
    const struct log *log; /* subject prof; may be NULL */
};

/* What the main thread may know, copied under a lock. */
struct pump_view {
    enum pump_phase phase;
    struct trace_status trace; /* as of the last look, a few times a second */
    uint64_t armed_ns, now_ns; /* the target's clock: when armed, at the last look */
    struct err why;            /* code != ERR_OK: what ended or troubles the trace */
    /* reason != STOP_NONE: the target halted and nobody has resumed it */
    struct target_stop stop;
    /* how often it was seen to stand still; a slow adapter's worker looks late */
    unsigned stop_looks;
    /* times the target was lost and came back; trace has the sums over all of them */
    unsigned gaps;
    /* the target is lost, or back but not traced again yet; why says why */
    bool away;
};

/* Zero-initialise, then pump_init(). */
struct pump {
    struct pump_config cfg;
    struct worker_client client;
    struct event_queue *queue;
    pthread_mutex_t lock;
    struct pump_view view; /* under lock */
    /* the rest belongs to the worker */
    enum pump_phase phase;
    uint64_t armed_ns, looked_ns;
    bool halted;        /* since the last stop nobody has been seen to resume it */
    bool waiting_start; /* for_ns counts from the first event of the program */
    bool met_start;
    bool waiting_run; /* armed while halted: the profile's time begins when the program runs */
    bool away;        /* not armed on the board, although phase is PUMP_ARMED */
    bool was_full;    /* the queue, at the last slice */
    bool gap_due;     /* an EVENT_LOST that found no room yet */
    struct trace_status before; /* sums over the traces that ended with a loss of the target */
    uint64_t rearm_at_ns;       /* host clock: next try; 0 while the target is lost */
    unsigned rearm_pause_ms;
};

/* pump_init - cfg is copied. Returns 0 or -ERR_NOMEM. Main thread, before the worker knows the
 * client. */
int pump_init(struct pump *p, const struct pump_config *cfg, struct err *err);

/* pump_fini - after the worker has ended. A zeroed struct is fine. */
void pump_fini(struct pump *p);

/* pump_arm - patch and begin; the target may run or be halted, and stays so. 0 or the driver's
 * error. */
int pump_arm(struct pump *p, struct target *t, struct err *err);

/* pump_running - whoever armed a halted target has resumed it: the profile's time begins now.
 * Without this call it does with the next slice. Harmless when the target ran already. */
void pump_running(struct pump *p, struct target *t);

/* pump_forget - what pump_arm() did is void: the target was lost before it ran. Nothing is sent to
 * it. */
void pump_forget(struct pump *p);

/* pump_disarm - undo the patches; the events still in the target's ring follow with the next
 * slices, then the phase becomes PUMP_ENDED. Harmless when not armed. */
void pump_disarm(struct pump *p, struct target *t);

/* pump_set_active, pump_status - of the source; as in struct target_trace_ops. */
int pump_set_active(struct pump *p, struct target *t, bool active, struct err *err);
int pump_status(struct pump *p, struct target *t, struct trace_status *out, struct err *err);

/* When the target is lost and comes back, the gap becomes an EVENT_LOST of unknown amount and the
 * trace is armed anew, as soon as the program is there again: after a failure the next try waits a
 * second, then up to 30. */

/* pump_look - a copy of the view. Any thread. */
struct pump_view pump_look(struct pump *p);

/* pump_front, pump_release - the oldest events, and the end of their use: event_queue.h. Main
 * thread. */
struct event *pump_front(struct pump *p, size_t *n);
void pump_release(struct pump *p, size_t n);

#endif
