/* What the files of the GDB server share: connections and the server itself. Private to gdb_*.c.
 *
 * gdb_conn.c ends connections, gdb_sessions.c serves them on the worker, gdb_server.c listens on
 * the loop; each calls those before it only. */
#ifndef PROFILER_BRIDGE_GDB_CONN_H
#define PROFILER_BRIDGE_GDB_CONN_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "gdbstub/gdbstub.h"
#include "profiler/bridge/gdb_server.h"
#include "profiler/bridge/net.h"
#include "profiler/bridge/worker.h"
#include "targets/target.h"

enum { GDB_CONN_IN_BYTES = 65536 };

/* ---- a connection ----
 * Born on the loop, which hears what it says first; then the worker has it until it ends; then the
 * loop frees it. Never both at a time, so nothing here is locked. */
struct conn {
    struct gdb_server *server;
    struct conn *next;      /* in server->conns; the loop's */
    struct conn *next_live; /* in server->live; the worker's */
    int fd;
    char peer[96];

    uv_poll_t poll;        /* what it says first */
    uv_timer_t timer;      /* the deadline of that, then silence behind it */
    unsigned handles;      /* of those two, not closed yet */
    bool opening;          /* on the loop still */
    bool ended;            /* free it when handles is 0 */
    struct worker_job job; /* hand-over, then end */

    struct worker_fd wfd;
    uint32_t events; /* what wfd waits for */
    struct session *session;
    uint8_t in[GDB_CONN_IN_BYTES];
    size_t in_pos, in_len; /* received, not yet taken by the session */
};

struct listener {
    struct gdb_server *server;
    struct net_listener net;
    uv_poll_t poll;
};

struct gdb_server {
    struct gdb_server_config cfg;
    struct listener *listeners[GDB_SERVER_MAX_LISTENERS];
    size_t nlisteners;
    struct conn *conns;
    unsigned nconns;
    char describe[160];
    bool stopping;
    uv_timer_t pause; /* until connections are accepted again */
    unsigned said;    /* bits of enum said in gdb_server.c */
    /* open uv handles and worker-owned connections that need this struct */
    unsigned handles;

    struct worker_job join_job; /* makes the client known to the worker */
    struct worker_job quit_job; /* ends the sessions while the worker goes on */
    sem_t quit_done;
    /* closing() or the quit job has run: the worker is not to be used any more */
    atomic_bool worker_done;

    /* The worker's. */
    struct worker_client client;
    struct stub *stub;
    struct conn *live;
    uint64_t ticked_ns;
};

/* ---- gdb_conn.c; on the loop ---- */

/* gdb_conn_log - a line of the log about a connection; fmt takes both texts. Any thread. */
void gdb_conn_log(const struct gdb_server *s, const char *fmt, const char *a, const char *b);

/* gdb_server_unref - gives one reference back; the last one frees the struct. */
void gdb_server_unref(struct gdb_server *s);

/* gdb_conn_leave_loop - the loop does not watch it any more: it is closed next, or goes to the
 * worker. */
void gdb_conn_leave_loop(struct conn *c);

/* gdb_conn_end - closes it, and frees it when the loop lets it. */
void gdb_conn_end(struct conn *c);

/* gdb_conn_reject - closes a connection that the worker has not seen; why is for the log. */
void gdb_conn_reject(struct conn *c, const char *why);

/* gdb_conn_on_given_back - done() of the job with which the worker gives a connection back. */
void gdb_conn_on_given_back(void *ctx);

/* ---- gdb_sessions.c; jobs on the worker ---- */

/* gdb_sessions_take - a connection that has begun as GDB does; ctx is the struct conn. */
void gdb_sessions_take(void *ctx, struct target *t);

/* gdb_sessions_join - makes the stub and becomes a client of the worker; ctx is the struct
 * gdb_server. */
void gdb_sessions_join(void *ctx, struct target *t);

/* gdb_sessions_quit - ends the sessions while the worker goes on, and posts quit_done; ctx is the
 * struct gdb_server. */
void gdb_sessions_quit(void *ctx, struct target *t);

#endif
