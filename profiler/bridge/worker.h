/* The adapter's worker: one thread that owns a target and makes every call on it.
 *
 * The main thread's libuv loop hands it jobs and gets completions; sessions of the GDB server run
 * on the worker itself, with their sockets in the worker's own wait, so that a packet costs one
 * wake-up and nothing on the loop ever waits for the wire. While the target runs, the worker lets
 * it proceed slice by slice and looks for stops; while the target is gone, it tries to get it back.
 */
#ifndef PROFILER_BRIDGE_WORKER_H
#define PROFILER_BRIDGE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "targets/target.h"

struct uv_loop_s;
struct worker;

/* ---- jobs ---- */

/* One piece of work, in the caller's memory, which must stay until done() (or, without done, until
 * run() has returned). Not to be posted again before that. */
struct worker_job {
    void (*run)(void *ctx, struct target *t); /* on the worker */
    void (*done)(void *ctx);                  /* on the loop, after run(); may be NULL */
    void *ctx;
    struct worker_job *next; /* private to worker.c */
};

/* ---- clients ---- */

/* A client that runs on the worker: the GDB server, the profile pump. Every callback runs on the
 * worker thread and may call the target; any of them may be NULL. */
struct worker_client {
    void *ctx;
    /* After every slice of a running target, every WORKER_IDLE_MS while it is halted, and between
     * tries to get a lost one back: fetch trace events, count time. Returns true if there is more
     * to do at once: then a halted target's next call comes without the wait. */
    bool (*slice)(void *ctx, struct target *t);
    /* A stop, once per stop, before any other client has reacted to it. A client may resume the
     * target here; the later ones are notified all the same. */
    void (*stopped)(void *ctx, struct target *t, const struct target_stop *stop);
    /* The target stopped answering; why says what failed. Recovery has not begun. */
    void (*gone)(void *ctx, struct target *t, const struct err *why);
    /* A poll failed although the target is not gone: why says what, e.g. that no CPU answers a
     * halt. */
    void (*troubled)(void *ctx, struct target *t, const struct err *why);
    /* It answers again and is attached: restore breakpoints, arming. Its state may be RUNNING or
     * HALTED, and nothing that was written to it before can be relied upon. */
    void (*back)(void *ctx, struct target *t);
    /* The worker is about to end: leave the target. Called once. */
    void (*closing)(void *ctx, struct target *t);
    struct worker_client *next; /* private to worker.c */
};

enum { WORKER_IDLE_MS = 50, WORKER_SLICE_NS = 2000000 };

/* ---- descriptors in the worker's wait ---- */
struct worker_fd {
    int fd;
    /* as of poll(): POLLIN, POLLOUT, ... */
    void (*ready)(void *ctx, struct target *t, uint32_t events);
    void *ctx;
};

struct worker_config {
    struct target *target;  /* open; nobody else may use it until worker_stop() has returned 0 */
    struct uv_loop_s *loop; /* where done() callbacks run; NULL: they run on the worker */
    const struct log *log;  /* may be NULL; its write() must be callable from the worker */
    uint64_t slice_ns;      /* longest ops->poll() of a running target; 0 = WORKER_SLICE_NS */
    bool held;              /* the target is left alone until worker_serve() */
    /* Gets a lost target back: re-open the adapter, attach. NULL: ops->attach() alone. Called on
     * the worker, first after 100 ms, then with growing pauses up to a quarter of a second, until
     * it succeeds. */
    int (*recover)(void *ctx, struct target *t, struct err *err);
    void *recover_ctx;
};

/* worker_start - start the thread
 * cfg   copied; the pointers in it are borrowed until worker_stop()
 * out   the worker; untouched on failure
 * Call on the loop's thread. Returns 0; -ERR_NOMEM, -ERR_IO. */
int worker_start(const struct worker_config *cfg, struct worker **out, struct err *err);

/* worker_stop - end the thread: queued jobs are still run, clients get closing(), done() callbacks
 * that are due are made from here.
 * deadline_ms   how long the call in progress may take
 * Call on the loop's thread; NULL is fine. Returns 0 and the worker is gone (its handle closes when
 * the loop next turns). -ERR_TIMEOUT: the thread is still inside a call of the target and is left
 * to itself, as are its memory and the target; then end the process without closing the target. */
int worker_stop(struct worker *w, unsigned deadline_ms, struct err *err);

/* worker_hangs - the error when a call of the target has not returned within deadline_ms.
 * Returns -ERR_TIMEOUT. */
int worker_hangs(unsigned deadline_ms, struct err *err);

/* worker_post - queue a job; they run in order. From any thread. Returns 0, or -ERR_STATE once
 * worker_stop() has been called (the job was not taken). */
int worker_post(struct worker *w, struct worker_job *job, struct err *err);

/* worker_stopping - true once worker_stop() was called: long jobs ask and give up. Any thread. */
bool worker_stopping(const struct worker *w);

/* worker_set_slice - how long the next polls of a running target may last, at most what
 * worker_config says; 0: that. On the worker. */
void worker_set_slice(struct worker *w, uint64_t ns);

/* worker_serve - from here on a held worker lets the target run and looks for stops. On the worker.
 */
void worker_serve(struct worker *w);

/* worker_lost - states that the target cannot be used any more, and why. Clients are notified with
 * the worker's next turn; then the worker tries to get the target back. The first reason counts;
 * further calls are harmless. A target becomes gone by this call only (presence.h). On the worker.
 */
void worker_lost(struct worker *w, const struct err *why);

/* worker_failed - a call of the target has failed, and why: if the target is gone, this becomes
 * worker_lost(). On the worker. */
void worker_failed(struct worker *w, const struct err *why);

/* worker_was_running - did the program run when the target was lost? On the worker, in recover()
 * and back(). */
bool worker_was_running(const struct worker *w);

/* worker_add_client, worker_remove_client - on the worker (in a job), or before any job was posted
 * and from the loop's thread right after worker_start(). The struct is borrowed until removed or
 * closing(). */
void worker_add_client(struct worker *w, struct worker_client *c);
void worker_remove_client(struct worker *w, struct worker_client *c);

/* worker_fd_add, worker_fd_set, worker_fd_remove - have a descriptor watched; on the worker only.
 * events   POLLIN | POLLOUT ...; level-triggered
 * f        borrowed until removed; may be removed from within ready() of any descriptor
 * Returns 0 or -ERR_IO. */
int worker_fd_add(struct worker *w, struct worker_fd *f, uint32_t events, struct err *err);
int worker_fd_set(struct worker *w, struct worker_fd *f, uint32_t events, struct err *err);
void worker_fd_remove(struct worker *w, struct worker_fd *f);

#endif
