/* The GDB server: listening sockets on the loop, sessions on the worker.
 *
 * The loop accepts and counts connections and looks at the first byte of each. If it is a
 * debugger's, and nothing else has come behind it, the worker gets the socket, and reads and writes
 * it between calls of the target, without blocking. A page in a browser can send anything to this
 * port, but it cannot wait for an answer in between, as a debugger does. When there are too many
 * connections, those that have sent nothing are closed. */
#ifndef PROFILER_BRIDGE_GDB_SERVER_H
#define PROFILER_BRIDGE_GDB_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "profiler/bridge/worker.h"
#include "targets/target.h"

struct uv_loop_s;
struct gdb_server;

enum { GDB_SERVER_PORT = 3333, GDB_SERVER_MAX_CONNECTIONS = 8, GDB_SERVER_MAX_LISTENERS = 8 };

struct gdb_server_config {
    struct worker *worker;
    struct uv_loop_s *loop;
    const struct log *log; /* may be NULL */
    /* the program's own `monitor` words ("profile"), run on the worker; may be NULL */
    const struct monitor_command *monitor;
    void *monitor_ctx;
    const char *version; /* `monitor version`: "probeprof 0.1.0" */
    /* True while something besides GDB needs the target attached (an armed profile): then GDB's
     * detach only takes its breakpoints away and lets the program run. On the worker. NULL: never,
     * detach lets go of the board. */
    bool (*hold)(void *ctx);
    void *hold_ctx;
    /* stub_config.request_failed; on the worker; may be NULL */
    void (*request_failed)(void *ctx, const char *what, const struct err *why);
    void *request_failed_ctx;
    /* stub_config.resets; on the worker; may be NULL */
    void (*resets)(void *ctx, bool over);
    void *resets_ctx;
    bool has_entry; /* entry is where `run` starts the program after a reset */
    uint64_t entry;
    const char *exec_file;    /* stub_config.exec_file; may be NULL */
    struct tasks *tasks;      /* stub_config.tasks: the worker's from now on; may be NULL */
    unsigned max_connections; /* 0 = GDB_SERVER_MAX_CONNECTIONS */
    /* shows the user one line, each message once; on the loop; may be NULL */
    void (*tell)(void *ctx, const char *what);
    void *tell_ctx;
};

/* gdb_server_start - make a server; it listens nowhere yet. cfg is copied, its pointers borrowed
 * until gdb_server_stop(). Call on the loop's thread. Returns 0; -ERR_NOMEM; -ERR_STATE if the
 * worker is stopping. */
int gdb_server_start(const struct gdb_server_config *cfg, struct gdb_server **out, struct err *err);

/* gdb_server_listen - open one address more
 * address   "3333", ":3333" (both loopback families), "HOST:PORT", "[V6]:PORT", "*:PORT" (every
 *           interface: only if the user wrote it), or a path with a '/' in it (Unix socket; a stale
 * one is replaced). NULL or "": ":3333". Port 0 takes a free one, the same for both families.
 * Returns 0; -ERR_USAGE for a malformed address; -ERR_IO when the port is taken, saying by whom if
 * that can be known; -ERR_NOMEM beyond GDB_SERVER_MAX_LISTENERS. */
int gdb_server_listen(struct gdb_server *s, const char *address, struct err *err);

/* gdb_server_port - the TCP port of the first TCP listener; 0 if none. */
unsigned gdb_server_port(const struct gdb_server *s);

/* gdb_server_describe - what a user types to connect, for messages: "target remote :3333"; borrowed
 * until the next listen or stop. */
const char *gdb_server_describe(const struct gdb_server *s);

/* gdb_server_exposed - the address of a listener that other machines can reach, NULL if there is
 * none; borrowed like describe. */
const char *gdb_server_exposed(const struct gdb_server *s);

/* gdb_server_sessions - open GDB connections now. */
unsigned gdb_server_sessions(const struct gdb_server *s);

/* gdb_server_attended - is there a GDB session? s may be NULL. On the worker only, where sessions
 * come and go. */
bool gdb_server_attended(const struct gdb_server *s);

/* gdb_server_steps - does a GDB wait for the end of a step, rather than of a run? s may be NULL. On
 * the worker only. */
bool gdb_server_steps(const struct gdb_server *s);

/* gdb_server_stop - close every listener and connection; NULL is fine. On the loop's thread, before
 * or after worker_stop() has returned 0; with the worker still running it ends the sessions there
 * first and returns when they are gone. After a worker_stop() that timed out, do not call it.
 * Handles close when the loop next turns. deadline_ms   how long the worker's call in progress may
 * take Returns 0. -ERR_TIMEOUT: it is still inside of that call; the server is left to itself, as
 * by worker_stop(). */
int gdb_server_stop(struct gdb_server *s, unsigned deadline_ms, struct err *err);

#endif
