/* The GDB stub: serves any `struct target` over the remote protocol, without sockets.
 *
 * A stub is what several connections share: the target, breakpoints, the registers as of one halt,
 * and who controls. A session is one connection: bytes in, bytes out. Everything runs on the thread
 * that owns the target. Whoever lets that target run (the worker) reports stops to the stub. */
#ifndef GDBSTUB_GDBSTUB_H
#define GDBSTUB_GDBSTUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "targets/target.h"

struct stub;
struct session;

enum {
    GDBSTUB_PACKET_SIZE = 0x10000, /* longest payload either way, bytes */
    GDBSTUB_MAX_SESSIONS = 16,
    GDBSTUB_MAX_REGS = 256,
    GDBSTUB_MAX_BREAKPOINTS = 4096,
};

struct stub_config {
    struct target *target;
    const struct log *log; /* may be NULL */
    /* the caller's words, ends with NULL name; may be NULL */
    const struct monitor_command *monitor;
    void *monitor_ctx;   /* ctx of those */
    const char *version; /* `monitor version` */
    /* True while something else needs the target attached: detach then leaves the driver attached.
     */
    bool (*hold)(void *ctx);
    void *hold_ctx;
    /* A request of GDB's has failed, and GDB shows no text of why (a download, a watchpoint): for
     * whoever runs the bridge. what: "download". GDB up to 13 behaves so, by its source. NULL:
     * nobody is notified. */
    void (*request_failed)(void *ctx, const char *what, const struct err *why);
    void *request_failed_ctx;
    /* Any request has failed. If that is because the target is gone, stub_gone() is to follow.
     * NULL: nobody looks. */
    void (*failed)(void *ctx, const struct err *why);
    void *failed_ctx;
    /* A GDB resets the board: over is false before it is done, and true if the board stands where
     * its program is to begin. NULL: nobody is to know. */
    void (*resets)(void *ctx, bool over);
    void *resets_ctx;
    bool has_entry; /* where `run` starts the program */
    uint64_t entry;
    /* The program's file on this machine, an absolute path: GDB opens it unless it has one. NULL:
     * GDB is not told of any. */
    const char *exec_file;
    /* Finds the threads of the program's operating system, contexts from 1 on; borrowed, and used
     * by nobody else. NULL: there is one thread, the CPU. */
    struct tasks *tasks;
};

/* stub_new - cfg is copied, its pointers borrowed until stub_free(). The target is attached or not.
 * Returns 0; -ERR_NOMEM; -ERR_USAGE when the register table exceeds the limits above. */
int stub_new(const struct stub_config *cfg, struct stub **out, struct err *err);

/* stub_free - closes sessions that are still open; NULL is fine. Does not touch the target. */
void stub_free(struct stub *stub);

/* stub_stopped - the target stopped (once per stop, from ops->poll). Queues stop replies; may
 * resume it (host I/O, a look by an observer). */
void stub_stopped(struct stub *stub, const struct target_stop *stop);

/* stub_gone - the target does not answer any more.
 * stub_back - it is attached again. Breakpoints are put back. If it runs, it is halted where GDB
 * believes so, has asked for it, or waits for a step. If it stands, the reason is reported to GDB.
 */
void stub_gone(struct stub *stub, const struct err *why);
void stub_back(struct stub *stub);

/* stub_tick - time passes, also without a session; now_ns of any monotonic clock. Breakpoints of a
 * GDB that has left, which could not be taken out then, are tried again. Call some times a second.
 */
void stub_tick(struct stub *stub, uint64_t now_ns);

/* stub_steps - GDB waits for the end of a step or of a range step, not of a run. */
bool stub_steps(const struct stub *stub);

/* stub_troubled - a poll of the target has failed although it is not gone: the CPU does not answer
 * a halt. Sessions that wait for that halt get an answer, and read why. */
void stub_troubled(struct stub *stub, const struct err *why);

/* session_open - a new connection. The first open session controls the target, later ones observe.
 * peek   asked during long work: true when 0x03 has arrived meanwhile; NULL: never
 * Attaches a target that is detached; a failure of that is reported to GDB, not here.
 * Returns 0; -ERR_RESOURCE beyond GDBSTUB_MAX_SESSIONS; -ERR_NOMEM. */
int session_open(struct stub *stub, bool (*peek)(void *ctx), void *peek_ctx, struct session **out,
                 struct err *err);

/* session_close - the connection ended; NULL is fine. A controller's breakpoints are removed and
 * the oldest observer takes over; a halted target stays halted, unless nobody is left who could let
 * it go on and stub_config.hold says that somebody waits for it to. */
void session_close(struct session *s);

/* session_feed - received bytes, split anywhere
 * Returns how many were taken, 0..len: fewer than len when enough output waits to be sent first
 * (call again with the rest after session_sent()), while session_work() has work, or when the
 * session is finished. -ERR_PROTOCOL: something came that is not of the protocol; close the
 * connection. What came before has been done, nothing that came behind. */
int session_feed(struct session *s, const uint8_t *in, size_t len, struct err *err);

/* session_work - does the next piece of a packet that goes over much memory (qCRC, qSearch:memory).
 * Between two pieces others and the target have their turn, and 0x03 or session_close() ends it.
 * Returns true while there are more pieces: call again. Until then session_feed() takes nothing. */
bool session_work(struct session *s);

/* session_tick - time passes; now_ns of any monotonic clock. Call some times a second. May queue
 * output. Returns 0. */
int session_tick(struct session *s, uint64_t now_ns, struct err *err);

/* session_pending - bytes to send: their number, *out borrowed until session_sent() or any other
 * call. */
size_t session_pending(const struct session *s, const uint8_t **out);

/* session_sent - n of the pending bytes are out. */
void session_sent(struct session *s, size_t n);

/* session_finished - close the connection once nothing is pending (after D, k). */
bool session_finished(const struct session *s);

/* session_controls - may this one write and resume? */
bool session_controls(const struct session *s);

/* session_say - a line of text to GDB's console, if the protocol permits one now (GDB waits for a
 * stop). Returns whether it was queued. */
bool session_say(struct session *s, const char *text);

#endif
