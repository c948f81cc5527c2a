/* How a run is ended from outside: SIGINT, SIGTERM and SIGHUP come to one thread, which nothing
 * the program waits for can block: neither the board nor a reader of the output. It passes the
 * request on, and the program ends in order. Where that takes too long the thread ends the process
 * and reports at which stage. */
#ifndef PROFILER_CLI_ENDING_H
#define PROFILER_CLI_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"

enum {
    /* from the first SIGTERM or SIGHUP to the end of the process: probeprof(1), docs/service.md,
       the unit's TimeoutStopSec */
    ENDING_DEADLINE_S = 45,
    ENDING_EVENTS_S = 20,     /* of those, for the last events of a profile */
    ENDING_AT_ONCE_MS = 2000, /* from a second Ctrl-C */
};

struct ending;

struct ending_view {
    unsigned asked; /* how often a signal came */
    /* SIGTERM or SIGHUP was among them: nothing is waited for beyond its deadline */
    bool terminate;
    uint64_t since_ns; /* host clock at the first of those */
    bool at_once;      /* a second Ctrl-C, half a second or more after the first signal */
};

/* ending_start - from here on the three signals come to a thread of this struct, but SIGHUP where
 * it was ignored (nohup). Call before other threads are begun. message_fd   where that report goes
 * Until the first call of ending_stage() a signal ends the process as it does by default. Returns
 * 0; -ERR_NOMEM, -ERR_IO. */
int ending_start(int message_fd, struct ending **out, struct err *err);

/* ending_stage - the stage that is reported if the process has to be ended: "while the adapter was
 * opened"; a constant. Any thread; e may be NULL. */
void ending_stage(struct ending *e, const char *what);

/* ending_tell - calls wake(ctx) at every signal, on that thread; it may only wake another one.
 * NULL: ends that. When this returns, no call is under way. */
void ending_tell(struct ending *e, void (*wake)(void *ctx), void *ctx);

/* ending_look - the requests so far. Any thread; e may be NULL: none. */
struct ending_view ending_look(struct ending *e);

/* ending_answered - the request of Ctrl-C is done: the next one counts as a first one again. Any
 * thread; e may be NULL. */
void ending_answered(struct ending *e);

/* ending_stop - ends the thread; the caller only has to exit. The signals stay blocked, so that a
 * repeated one does not change the exit status of a program that has ended in order. NULL is fine.
 */
void ending_stop(struct ending *e);

#endif
