#include "profiler/bridge/gdb_server.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "gdbstub/gdbstub.h"
#include "gdbstub/rsp.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/bridge/net.h"

enum {
    IN_BYTES = 65536,
    READS_PER_TURN = 8,   /* then the others and the target get their turn */
    OPENING_MS = 10000,   /* a connection that does not ask anything is closed */
    OPENING_BYTES = 4096, /* more than any debugger says before it gets an answer */
    /* behind what it asks first: what belongs to a request of HTTP comes in the same segment */
    QUIET_MS = 30,
    PAUSE_MS = 1000, /* without descriptors */
    /* of one connection's long packet, then the others and the target have their turn */
    WORK_NS = 20000000,
    TICK_NS = 100000000,
};

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
    uint8_t in[IN_BYTES];
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
    unsigned told;    /* bits of enum told */
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

enum told { TOLD_GAVE_WAY, TOLD_FULL, TOLD_NO_DESCRIPTOR };

static void tell_once(struct gdb_server *s, enum told which, const char *what)
{
    if (s->cfg.tell && !(s->told & 1u << which))
        s->cfg.tell(s->cfg.tell_ctx, what);
    s->told |= 1u << which;
}

static void log_rsp(const struct gdb_server *s, const char *fmt, const char *a, const char *b)
{
    log_msg(s->cfg.log, LOG_RSP, fmt, a, b);
}

/* ================= on the loop: the end of things ================= */

static void server_unref(struct gdb_server *s)
{
    if (--s->handles > 0)
        return;
    sem_destroy(&s->quit_done);
    free(s);
}

static void conn_free_if_done(struct conn *c)
{
    struct gdb_server *s = c->server;
    if (!c->ended || c->handles > 0)
        return;
    for (struct conn **p = &s->conns; *p; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            break;
        }
    }
    s->nconns--;
    free(c);
    server_unref(s);
}

static void on_conn_handle_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    c->handles--;
    conn_free_if_done(c);
}

static void end_opening(struct conn *c)
{
    if (!c->opening)
        return;
    c->opening = false;
    uv_close((uv_handle_t *)&c->poll, on_conn_handle_closed);
    uv_close((uv_handle_t *)&c->timer, on_conn_handle_closed);
}

static void conn_end(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->ended = true;
    conn_free_if_done(c);
}

static void conn_reject(struct conn *c, const char *why)
{
    log_rsp(c->server, "gdb: connection from %s closed: %s", c->peer, why);
    end_opening(c);
    conn_end(c);
}

/* done() of the job with which the worker gives a connection back. */
static void on_conn_ended(void *ctx) { conn_end(ctx); }

/* ================= on the worker: sessions ================= */

static void nothing(void *ctx, struct target *t)
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
    c->job = (struct worker_job){ .run = nothing, .done = on_conn_ended, .ctx = c };
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
    uint32_t events =
        (session_pending(c->session, &out) ? POLLOUT : 0) | (c->in_pos == c->in_len ? POLLIN : 0);
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
            log_rsp(c->server, "gdb: connection from %s closed: %s", c->peer, err.what);
            return false;
        }
        c->in_pos += (size_t)used;
        if (!conn_flush(c) || session_finished(c->session))
            return false;
        if (used == 0)
            break; /* its output is full: no more input until the peer reads; or it works: not
                      before it has answered */
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

/* Goes on with a long packet for a while, which ends if nobody is there to hear its answer. Returns
 * whether there is more to do. */
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

static void adopt(void *ctx, struct target *t)
{
    struct conn *c = ctx;
    struct gdb_server *s = c->server;
    struct err err;
    (void)t;
    c->wfd = (struct worker_fd){ .fd = c->fd, .ready = on_conn_ready, .ctx = c };
    c->events = POLLIN;
    if (!s->stub || session_open(s->stub, conn_peek, c, &c->session, &err) < 0 ||
        worker_fd_add(s->cfg.worker, &c->wfd, c->events, &err) < 0) {
        log_rsp(s, "gdb: connection from %s closed: %s", c->peer,
                s->stub ? err.what : "no memory for a stub");
        session_close(c->session);
        c->session = NULL;
        shutdown(c->fd, SHUT_RDWR);
        c->job = (struct worker_job){ .run = nothing, .done = on_conn_ended, .ctx = c };
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
    if (!s->live || now - s->ticked_ns < TICK_NS)
        return more;
    s->ticked_ns = now;
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

static void join_worker(void *ctx, struct target *t)
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
        .unheard = s->cfg.unheard,
        .unheard_ctx = s->cfg.unheard_ctx,
        .failed = on_failed,
        .failed_ctx = s,
        .has_entry = s->cfg.has_entry,
        .entry = s->cfg.entry,
    };
    struct err err;
    s->client = (struct worker_client){ .ctx = s,
                                        .slice = on_slice,
                                        .stopped = on_stopped,
                                        .gone = on_gone,
                                        .troubled = on_troubled,
                                        .back = on_back,
                                        .closing = on_closing };
    if (stub_new(&cfg, &s->stub, &err) < 0) { /* then every connection is closed with a word */
        log_rsp(s, "gdb: %s%s", err.what, "");
        s->client = (struct worker_client){ .ctx = s, .closing = on_closing };
    }
    worker_add_client(s->cfg.worker, &s->client);
}

static void quit_worker(void *ctx, struct target *t)
{
    struct gdb_server *s = ctx;
    (void)t;
    end_sessions(s);
    worker_remove_client(s->cfg.worker, &s->client);
    sem_post(&s->quit_done);
}

/* ================= on the loop: listening ================= */

static void hand_over(struct conn *c)
{
    struct err err;
    end_opening(c);
    log_rsp(c->server, "gdb: connection from %s%s", c->peer, "");
    c->job = (struct worker_job){ .run = adopt, .ctx = c };
    if (worker_post(c->server->cfg.worker, &c->job, &err) < 0)
        conn_reject(c, err.what);
}

static void on_quiet(uv_timer_t *timer) { hand_over(timer->data); }

static void on_opening_late(uv_timer_t *timer) { conn_reject(timer->data, "it asked nothing"); }

static void on_opening(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    (void)events;
    ssize_t n =
        status < 0 ? 0 : recv(c->fd, c->in + c->in_len, OPENING_BYTES - c->in_len, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    bool asked = rsp_opening(c->in, c->in_len) == RSP_OPENING_WHOLE;
    if (n <= 0 && asked) { /* half closed: it waits for the answer */
        hand_over(c);
        return;
    }
    c->in_len += (size_t)MAX(n, 0);
    enum rsp_opening said = rsp_opening(c->in, c->in_len);
    if (n <= 0)
        conn_reject(c, "it ended before it asked anything");
    else if (said == RSP_OPENING_BAD || c->in_len == OPENING_BYTES)
        conn_reject(c, "no GDB session begins so");
    else if (said == RSP_OPENING_WHOLE)
        uv_timer_start(&c->timer, on_quiet, QUIET_MS, 0);
    else if (asked)
        uv_timer_start(&c->timer, on_opening_late, OPENING_MS, 0);
}

static struct conn *conn_new(struct gdb_server *s, int fd, const char *peer)
{
    struct conn *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->server = s;
    c->fd = fd;
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    if (uv_poll_init(s->cfg.loop, &c->poll, fd) < 0) {
        free(c);
        return NULL;
    }
    uv_timer_init(s->cfg.loop, &c->timer);
    c->poll.data = c->timer.data = c;
    c->handles = 2;
    c->opening = true;
    c->next = s->conns;
    s->conns = c;
    s->nconns++;
    s->handles++;
    return c;
}

static void on_listener_ready(uv_poll_t *poll, int status, int events);

static void listen_on(struct gdb_server *s, bool on)
{
    for (size_t i = 0; i < s->nlisteners; i++) {
        uv_poll_t *poll = &s->listeners[i]->poll;
        if (on)
            uv_poll_start(poll, UV_READABLE, on_listener_ready);
        else
            uv_poll_stop(poll);
    }
}

static void on_pause_over(uv_timer_t *timer) { listen_on(timer->data, true); }

/* What waits stays readable: asking at once would be asking for ever. */
static void pause_accepting(struct gdb_server *s)
{
    tell_once(s, TOLD_NO_DESCRIPTOR,
              "no descriptor is free for a GDB connection; those that wait are looked at every "
              "second (ulimit -n)");
    listen_on(s, false);
    uv_timer_start(&s->pause, on_pause_over, PAUSE_MS, 0);
}

/* The oldest that has asked nothing yet, for a newer one. False: they all have. */
static bool give_way(struct gdb_server *s)
{
    struct conn *oldest = NULL;
    for (struct conn *c = s->conns; c; c = c->next)
        if (c->opening)
            oldest = c;
    if (!oldest)
        return false;
    tell_once(s, TOLD_GAVE_WAY,
              "GDB connections that have asked nothing are closed for newer ones: there are more "
              "than are served at a time");
    conn_reject(oldest, "it gave way to a newer one");
    return true;
}

static void on_listener_ready(uv_poll_t *poll, int status, int events)
{
    struct listener *l = poll->data;
    struct gdb_server *s = l->server;
    char peer[96];
    (void)status;
    (void)events;
    int fd = net_accept(&l->net, peer, sizeof peer);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(s);
        return;
    }
    bool room = s->nconns < s->cfg.max_connections || give_way(s);
    struct conn *c = room ? conn_new(s, fd, peer) : NULL;
    if (!c) {
        tell_once(s, TOLD_FULL,
                  "a GDB connection is refused: as many as are served at a time are open (monitor "
                  "sessions)");
        log_rsp(s, "gdb: connection from %s closed: %s", peer, "there are too many");
        close(fd);
        return;
    }
    uv_poll_start(&c->poll, UV_READABLE, on_opening);
    uv_timer_start(&c->timer, on_opening_late, OPENING_MS, 0);
}

static void on_listener_closed(uv_handle_t *h)
{
    struct listener *l = h->data;
    struct gdb_server *s = l->server;
    free(l);
    server_unref(s);
}

static void on_pause_closed(uv_handle_t *h) { server_unref(h->data); }

int gdb_server_start(const struct gdb_server_config *cfg, struct gdb_server **out, struct err *err)
{
    struct gdb_server *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "gdb server: out of memory");
    s->cfg = *cfg;
    if (!s->cfg.max_connections || s->cfg.max_connections > GDBSTUB_MAX_SESSIONS)
        s->cfg.max_connections = GDB_SERVER_MAX_CONNECTIONS;
    uv_timer_init(cfg->loop, &s->pause);
    s->pause.data = s;
    s->handles = 2; /* its owner, and that timer */
    sem_init(&s->quit_done, 0, 0);
    s->join_job = (struct worker_job){ .run = join_worker, .ctx = s };
    int ret = worker_post(s->cfg.worker, &s->join_job, err);
    if (ret < 0) {
        uv_close((uv_handle_t *)&s->pause, on_pause_closed);
        server_unref(s);
        return ret;
    }
    *out = s;
    return 0;
}

static int add_listener(struct gdb_server *s, const struct net_listener *net, struct err *err)
{
    struct listener *l = s->nlisteners < GDB_SERVER_MAX_LISTENERS ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return err_set(err, ERR_NOMEM, "", "gdb server: no place for another listening socket");
    int e = uv_poll_init(s->cfg.loop, &l->poll, net->fd);
    if (e < 0) {
        free(l);
        return err_set(err, ERR_IO, "", "gdb server: %s", uv_strerror(e));
    }
    l->server = s;
    l->net = *net;
    l->poll.data = l;
    uv_poll_start(&l->poll, UV_READABLE, on_listener_ready);
    s->listeners[s->nlisteners++] = l;
    s->handles++;
    return 0;
}

int gdb_server_listen(struct gdb_server *s, const char *address, struct err *err)
{
    struct net_listener opened[NET_MAX_LISTENERS];
    int n = net_listen(address, GDB_SERVER_PORT, opened, err);
    if (n < 0)
        return n;
    int ret = 0;
    for (int i = 0; i < n; i++) {
        if (ret >= 0)
            ret = add_listener(s, &opened[i], err);
        if (ret < 0)
            net_close(&opened[i]);
    }
    if (ret < 0)
        return ret;
    if (opened[0].path[0])
        snprintf(s->describe, sizeof s->describe, "target remote %s", opened[0].path);
    else if (opened[0].loopback)
        snprintf(s->describe, sizeof s->describe, "target remote :%u", opened[0].port);
    else
        snprintf(s->describe, sizeof s->describe, "target remote %s", opened[0].name);
    return 0;
}

unsigned gdb_server_port(const struct gdb_server *s)
{
    for (size_t i = 0; i < s->nlisteners; i++)
        if (s->listeners[i]->net.port)
            return s->listeners[i]->net.port;
    return 0;
}

const char *gdb_server_describe(const struct gdb_server *s) { return s->describe; }

const char *gdb_server_exposed(const struct gdb_server *s)
{
    for (size_t i = 0; i < s->nlisteners; i++)
        if (!s->listeners[i]->net.loopback)
            return s->listeners[i]->net.name;
    return NULL;
}

bool gdb_server_attended(const struct gdb_server *s) { return s && s->live; }

bool gdb_server_steps(const struct gdb_server *s)
{
    return gdb_server_attended(s) && stub_steps(s->stub);
}

unsigned gdb_server_sessions(const struct gdb_server *s) { return s->nconns; }

/* The sessions end on the worker: in closing() if it has ended, else here by a job that is waited
 * for. */
static int leave_worker(struct gdb_server *s, unsigned deadline_ms, struct err *err)
{
    struct err stopping;
    struct timespec until;
    int ret;
    if (atomic_load(&s->worker_done))
        return 0;
    s->quit_job = (struct worker_job){ .run = quit_worker, .ctx = s };
    if (worker_post(s->cfg.worker, &s->quit_job, &stopping) < 0)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (deadline_ms + 999) / 1000;
    while ((ret = sem_clockwait(&s->quit_done, CLOCK_MONOTONIC, &until)) < 0 && errno == EINTR)
        ;
    return ret == 0 ? 0 : worker_hangs(deadline_ms, err);
}

int gdb_server_stop(struct gdb_server *s, unsigned deadline_ms, struct err *err)
{
    if (!s || s->stopping)
        return 0;
    s->stopping = true;
    for (size_t i = 0; i < s->nlisteners; i++) {
        /* first: it stops the polling */
        uv_close((uv_handle_t *)&s->listeners[i]->poll, on_listener_closed);
        net_close(&s->listeners[i]->net);
    }
    s->nlisteners = 0;
    uv_close((uv_handle_t *)&s->pause, on_pause_closed);
    int ret = leave_worker(s, deadline_ms, err);
    if (ret < 0)
        return ret;
    for (struct conn *c = s->conns, *next; c; c = next) {
        next = c->next;
        if (c->opening)
            conn_reject(c, "probeprof ends");
        else if (c->ended && c->fd >= 0) /* given back when the worker took no more jobs */
            conn_end(c);
    }
    server_unref(s);
    return 0;
}
