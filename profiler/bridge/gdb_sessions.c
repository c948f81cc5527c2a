/* The GDB server's half on the worker: sessions, read and written between calls of the target. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "probe/base/choice.h"
#include "probe/host_time.h"
#include "profiler/bridge/gdb_conn.h"

enum {
    READS_PER_TURN = 8, /* then the others and the target get their turn */
    /* of one connection's long packet, then the others and the target have their turn */
    WORK_NS = 20000000,
    TICK_NS = 100000000,
};

static void find_nothing(void *ctx, struct target *t)
{
    (void)ctx;
    (void)t;
}

static void live_remove(struct conn *c)
{
    for (struct conn **p = &c->server->live; *p; p = &(*p)->next_live) {
        if (*p == c) {
            *p = c->next_live;
            return;
        }
    }
}

static void conn_drop(struct conn *c)
{
    worker_fd_remove(c->server->cfg.worker, &c->wfd);
    session_close(c->session);
    c->session = NULL;
    live_remove(c);
    /* the peer sees the end now, the descriptor is the loop's to close */
    shutdown(c->fd, SHUT_RDWR);
    c->job = (struct worker_job){ .run = find_nothing, .done = gdb_conn_on_given_back, .ctx = c };
    struct err err;
    if (worker_post(c->server->cfg.worker, &c->job, &err) < 0)
        c->ended = true; /* the worker ends too; gdb_server_stop() sweeps up */
}

/* Sends what is pending; false if the connection is broken. */
static bool conn_flush(struct conn *c)
{
    const uint8_t *out;
    size_t n;
    while ((n = session_pending(c->session, &out)) > 0) {
        ssize_t sent = send(c->fd, out, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        session_sent(c->session, (size_t)sent);
    }
    return true;
}

/* Waits for room while output is stuck, for input while there is place for it. */
static void conn_set_interest(struct conn *c)
{
    const uint8_t *out;
    bool wants_to_send = session_pending(c->session, &out), wants_more = c->in_pos == c->in_len;
    uint32_t events = bits_if(wants_to_send, POLLOUT) | bits_if(wants_more, POLLIN);
    struct err err;
    if (events != c->events && worker_fd_set(c->server->cfg.worker, &c->wfd, events, &err) == 0)
        c->events = events;
}

/* Has the session take what was received; false if the connection is over. */
static bool conn_feed(struct conn *c)
{
    struct err err;
    while (c->in_pos < c->in_len) {
        int used = session_feed(c->session, c->in + c->in_pos, c->in_len - c->in_pos, &err);
        if (used < 0) {
            gdb_conn_log(c->server, "gdb: connection from %s closed: %s", c->peer, err.what);
            return false;
        }
        c->in_pos += (size_t)used;
        if (!conn_flush(c) || session_finished(c->session))
            return false;
        if (used == 0)
            break; /* no more input while its output is full, or while a packet is being worked on
                    */
    }
    return true;
}

/* One read and what follows from it. Returns 1 to go on, 0 when the socket is empty, -1 when it is
 * over. */
static int conn_turn(struct conn *c)
{
    if (!conn_flush(c) || !conn_feed(c))
        return -1;
    if (c->in_pos < c->in_len)
        return 0;
    ssize_t n = recv(c->fd, c->in, sizeof c->in, MSG_DONTWAIT);
    if (n == 0)
        return -1;
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    c->in_pos = 0;
    c->in_len = (size_t)n;
    if (!conn_feed(c))
        return -1;
    return (size_t)n == sizeof c->in;
}

static void conn_serve(struct conn *c)
{
    int ret = 1;
    for (int i = 0; i < READS_PER_TURN && ret > 0; i++)
        ret = conn_turn(c);
    if (ret < 0)
        conn_drop(c);
    else
        conn_set_interest(c);
}

static void on_conn_ready(void *ctx, struct target *t, uint32_t events)
{
    (void)t;
    (void)events;
    conn_serve(ctx);
}

/* Goes on with a long packet for a while; it ends if the client has gone. Returns whether there is
 * more to do. */
static bool conn_work(struct conn *c)
{
    struct pollfd peer = { .fd = c->fd, .events = POLLRDHUP };
    uint64_t until = host_ns() + WORK_NS;
    if (!session_work(c->session))
        return false;
    while (host_ns() < until)
        if (!session_work(c->session)) {
            conn_serve(c);
            return false;
        }
    if (poll(&peer, 1, 0) == 0)
        return true;
    conn_drop(c);
    return false;
}

/* Asked during long packets: is a Ctrl-C waiting behind the one in hand? */
static bool conn_peek(void *ctx)
{
    struct conn *c = ctx;
    uint8_t next[16];
    if (c->in_len && c->in[c->in_len - 1] == 0x03)
        return true;
    ssize_t n = recv(c->fd, next, sizeof next, MSG_DONTWAIT | MSG_PEEK);
    for (ssize_t i = 0; i < n; i++)
        if (next[i] != '+')
            return next[i] == 0x03;
    return false;
}

void gdb_sessions_take(void *ctx, struct target *t)
{
    struct conn *c = ctx;
    struct gdb_server *s = c->server;
    struct err err;
    (void)t;
    c->wfd = (struct worker_fd){ .fd = c->fd, .ready = on_conn_ready, .ctx = c };
    c->events = POLLIN;
    if (!s->stub || session_open(s->stub, conn_peek, c, &c->session, &err) < 0 ||
        worker_fd_add(s->cfg.worker, &c->wfd, c->events, &err) < 0) {
        gdb_conn_log(s, "gdb: connection from %s closed: %s", c->peer,
                     s->stub ? err.what : "no memory for a stub");
        session_close(c->session);
        c->session = NULL;
        shutdown(c->fd, SHUT_RDWR);
        c->job =
            (struct worker_job){ .run = find_nothing, .done = gdb_conn_on_given_back, .ctx = c };
        if (worker_post(s->cfg.worker, &c->job, &err) < 0)
            c->ended = true;
        return;
    }
    c->next_live = s->live;
    s->live = c;
    conn_serve(c); /* what it said first is in c->in */
}

static void flush_all(struct gdb_server *s)
{
    for (struct conn *c = s->live, *next; c; c = next) {
        next = c->next_live;
        if (conn_flush(c))
            conn_set_interest(c);
        else
            conn_drop(c);
    }
}

static void on_stopped(void *ctx, struct target *t, const struct target_stop *stop)
{
    struct gdb_server *s = ctx;
    (void)t;
    stub_stopped(s->stub, stop);
    flush_all(s);
}

static void on_gone(void *ctx, struct target *t, const struct err *why)
{
    struct gdb_server *s = ctx;
    (void)t;
    stub_gone(s->stub, why);
    flush_all(s);
}

static void on_troubled(void *ctx, struct target *t, const struct err *why)
{
    struct gdb_server *s = ctx;
    (void)t;
    stub_troubled(s->stub, why);
    flush_all(s);
}

static void on_back(void *ctx, struct target *t)
{
    struct gdb_server *s = ctx;
    (void)t;
    stub_back(s->stub);
    flush_all(s);
}

static bool on_slice(void *ctx, struct target *t)
{
    struct gdb_server *s = ctx;
    uint64_t now = host_ns();
    bool more = false;
    (void)t;
    for (struct conn *c = s->live, *next; c; c = next) {
        next = c->next_live;
        more = conn_work(c) || more;
    }
    if (now - s->ticked_ns < TICK_NS)
        return more;
    s->ticked_ns = now;
    stub_tick(s->stub, now);
    for (struct conn *c = s->live; c; c = c->next_live)
        session_tick(c->session, now, NULL);
    flush_all(s);
    return more;
}

static void end_sessions(struct gdb_server *s)
{
    while (s->live) {
        session_say(s->live->session, "probeprof ends.\n");
        conn_flush(s->live);
        conn_drop(s->live);
    }
    stub_free(s->stub);
    s->stub = NULL;
}

static void on_closing(void *ctx, struct target *t)
{
    struct gdb_server *s = ctx;
    (void)t;
    end_sessions(s);
    atomic_store(&s->worker_done, true);
}

static void on_failed(void *ctx, const struct err *why)
{
    struct gdb_server *s = ctx;
    worker_failed(s->cfg.worker, why);
}

void gdb_sessions_join(void *ctx, struct target *t)
{
    struct gdb_server *s = ctx;
    const struct stub_config cfg = {
        .target = t,
        .log = s->cfg.log,
        .monitor = s->cfg.monitor,
        .monitor_ctx = s->cfg.monitor_ctx,
        .version = s->cfg.version,
        .hold = s->cfg.hold,
        .hold_ctx = s->cfg.hold_ctx,
        .request_failed = s->cfg.request_failed,
        .request_failed_ctx = s->cfg.request_failed_ctx,
        .resets = s->cfg.resets,
        .resets_ctx = s->cfg.resets_ctx,
        .failed = on_failed,
        .failed_ctx = s,
        .has_entry = s->cfg.has_entry,
        .entry = s->cfg.entry,
        .exec_file = s->cfg.exec_file,
        .tasks = s->cfg.tasks,
    };
    struct err err;
    s->client = (struct worker_client){ .ctx = s,
                                        .slice = on_slice,
                                        .stopped = on_stopped,
                                        .gone = on_gone,
                                        .troubled = on_troubled,
                                        .back = on_back,
                                        .closing = on_closing };
    if (stub_new(&cfg, &s->stub, &err) <
        0) { /* then every connection gets a message and is closed */
        gdb_conn_log(s, "gdb: %s%s", err.what, "");
        s->client = (struct worker_client){ .ctx = s, .closing = on_closing };
    }
    worker_add_client(s->cfg.worker, &s->client);
}

void gdb_sessions_quit(void *ctx, struct target *t)
{
    struct gdb_server *s = ctx;
    (void)t;
    end_sessions(s);
    worker_remove_client(s->cfg.worker, &s->client);
    sem_post(&s->quit_done);
}
