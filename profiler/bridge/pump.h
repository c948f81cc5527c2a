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
    /* end with this many pairs of start and stop, as long as the points are those of trace; 0: the
     * main thread ends it */
    uint64_t max_passes;
    size_t queue_events;     /* power of two */
    void (*wake)(void *ctx); /* something for the main thread; called on the worker */
    void *wake_ctx;
    /* a call of the source has failed, perhaps because the target is gone; may be NULL. On the
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
    /* looks that found the program halted; with a slow adapter there are fewer of them */
    unsigned stop_looks;
    /* times the target was lost and came back; trace has the sums over all of them */
    unsigned gaps;
    /* the target is lost, or back but not traced again yet; why says why */
    bool away;
    unsigned resets; /* by a debugger, while it was traced: gaps, too */
    bool resetting;  /* since the last of them it is not traced again yet */
};

/* How the pump tells of a trace that is armed anew while the program is held: it is as if that had
 * not been. */
enum pump_retell {
    PUMP_AS_IT_IS,
    PUMP_NO_STOP,  /* an EVENT_STOP is a time stamp */
    PUMP_AGAIN,    /* the first EVENT_START is EVENT_AGAIN */
    PUMP_NO_MARKS, /* neither is passed on */
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
    bool halted;        /* it has stopped, and has not been seen running since */
    bool in_pass;       /* the last mark that the main thread was sent is EVENT_START */
    uint64_t passes;    /* completed, of what the main thread was sent */
    bool waiting_start; /* for_ns counts from the first event of the program */
    bool met_start;
    bool waiting_run; /* armed while halted: the profile's time begins when the program runs */
    bool away;        /* not armed on the board, although phase is PUMP_ARMED */
    bool resetting;   /* the same, and a debugger's reset is the reason */
    bool was_full;    /* the queue, at the last slice */
    bool gap_due;     /* an EVENT_LOST that found no room yet */
    enum event_cause gap_cause; /* of that one */
    enum pump_retell retell;
    struct event again;         /* what PUMP_AGAIN's event says beside its counters */
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

/* pump_running - the target, which was armed while halted, has been resumed: the profile's time
 * begins now. Without this call it begins with the next slice. Harmless when the target ran
 * already. */
void pump_running(struct pump *p, struct target *t);

/* pump_forget - what pump_arm() did is void: the target was lost before it ran. Nothing is sent to
 * it. */
void pump_forget(struct pump *p);

/* pump_disarm - undo the patches; the events still in the target's ring follow with the next
 * slices, then the phase becomes PUMP_ENDED. Harmless when not armed. */
void pump_disarm(struct pump *p, struct target *t);

/* pump_set_active, pump_status - of the source; as in struct target_trace_ops. The events of a
 * start or stop are in the queue then, as far as that has room. */
int pump_set_active(struct pump *p, struct target *t, bool active, struct err *err);
int pump_status(struct pump *p, struct target *t, struct trace_status *out, struct err *err);

/* pump_reset_begins - a debugger is about to reset the board: the trace is taken out while its
 * program is still there, and a gap begins. Harmless when not armed.
 * pump_reset_over - the board stands where its program is to begin: the trace is armed there. A
 * board that runs instead is traced again by itself, when its start-up has had time. */
void pump_reset_begins(struct pump *p, struct target *t);
void pump_reset_over(struct pump *p, struct target *t);

/* pump_change - other counters or points from here on, of a trace that is armed or will be: it is
 * disarmed and armed anew, while the program stands if it can be held. EVENT_AGAIN and EVENT_POINTs
 * tell of it, behind all events of before. A pass under way goes on if the start point stays, and
 * so does a pause without one.
 * next   the whole configuration; copied
 * Returns 0; -ERR_STATE: no profile is running, or the board is away; the driver's refusal, with
 * the trace armed as before; or why it is not armed any more: then it is tried again as before. */
int pump_change(struct pump *p, struct target *t, const struct trace_config *next, struct err *err);

/* When the target is lost and comes back, the gap becomes an EVENT_LOST of unknown amount, and the
 * trace is re-armed as soon as the program is there again. After a failure the next try waits a
 * second, later ones up to 30. */

/* pump_look - a copy of the view. Any thread. */
struct pump_view pump_look(struct pump *p);

/* pump_waiting - how many events are in the queue. pump_front, pump_release - the oldest of them,
 * and the end of their use: event_queue.h. Main thread. */
size_t pump_waiting(const struct pump *p);
struct event *pump_front(struct pump *p, size_t *n);
void pump_release(struct pump *p, size_t n);

#endif
