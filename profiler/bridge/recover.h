/* A board or adapter that goes away and comes back: getting it back, and reporting it to the user.
 *
 * The worker calls recover_board() until it succeeds. A client, the last in the worker's order, is
 * notified of losses and returns after all others. The loop reports what that client found. */
#ifndef PROFILER_BRIDGE_RECOVER_H
#define PROFILER_BRIDGE_RECOVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/probe.h"
#include "profiler/bridge/begin.h"
#include "profiler/bridge/gdb_server.h"
#include "profiler/bridge/pump.h"
#include "profiler/bridge/say.h"
#include "profiler/bridge/wire.h"
#include "profiler/bridge/worker.h"

/* What is borrowed stays until the worker has ended. */
struct recover_config {
    struct worker *worker;
    struct probe *probe, *pdo; /* pdo: the second adapter, NULL: none */
    const struct image *image; /* the program; NULL: none is known */
    bool compare;              /* the board is to hold the program, whoever loaded it */
    struct begin *begin;       /* goes on where the board was lost before it was over */
    const struct wire *wire;   /* knows the clock */
    struct pump *pump;         /* NULL: none */
    struct gdb_server *server;
    bool (*cancelled)(void *ctx); /* give up what takes long; on the worker */
    void *cancelled_ctx;
    void (*wake)(void *ctx); /* there is something to tell; on the worker */
    void *wake_ctx;
};

/* What the board's memory holds when it is back. */
enum recover_program {
    PROGRAM_UNKNOWN,
    PROGRAM_KEPT,
    PROGRAM_LOADED, /* again, by us */
    PROGRAM_OTHER,
    PROGRAM_BEGINS /* it was lost before the beginning was complete, and is restarted */
};

/* The board's comings and goings, as the worker saw them. */
struct recover_view {
    unsigned gone, back;       /* how often */
    struct err why;            /* of the last loss */
    uint64_t gone_ns, last_ns; /* host clock of the last loss; how long it was away then */
    /* what the last tries to get it back met, another thing than why; code ERR_OK: nothing new for
     * long enough */
    struct err now;
    bool halted;                  /* at the last return, when every client had been notified */
    enum recover_program program; /* found at the last return */
    /* why a request of GDB's failed, where GDB shows no text; code ERR_OK: it was reported */
    struct err request_failed;
    const char *request;
};

/* What has been reported to the user. */
struct recover_said {
    unsigned gone, back;
    struct err why;  /* the last reason */
    unsigned others; /* reasons since the last loss */
    bool trouble;    /* that the profile is not armed again */
};

/* Zero-initialise, then recover_init(). */
struct recover {
    struct recover_config cfg;
    struct worker_client client; /* for worker_add_client(), the last one */
    pthread_mutex_t lock;
    bool made;
    struct recover_view view; /* under lock */
    struct recover_said said; /* the loop's */
    /* the rest is the worker's */
    bool running;   /* the program is to run when every client has been notified of the return */
    struct err met; /* what the last try met, and how often in a row */
    unsigned met_again;
};

/* recover_init - before the worker knows the client. cfg is copied. */
void recover_init(struct recover *r, const struct recover_config *cfg);
void recover_fini(struct recover *r); /* after the worker has ended; a zeroed one, too */

/* recover_board - worker_config.recover: has the adapter opened again, attaches, and sees to the
 * program; ctx is the struct recover. */
int recover_board(void *ctx, struct target *t, struct err *err);

/* recover_note_request - gdb_server_config.request_failed: a request of GDB's failed, and the user
 * shall see why; ctx is the struct recover. On the worker. */
void recover_note_request(void *ctx, const char *what, const struct err *why);

/* recover_tell - reports losses and returns since the last call to the user. On the loop. */
void recover_tell(struct recover *r, const struct say *to);

#endif
