/* The GDB server's half on the loop: it listens, and reads the first byte of each connection. */
#include "profiler/bridge/gdb_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/rsp.h"
#include "probe/base/util.h"
#include "profiler/bridge/gdb_conn.h"

enum {
    OPENING_MS = 10000,   /* a connection that does not ask anything is closed */
    OPENING_BYTES = 4096, /* more than any debugger says before it gets an answer */
    /* wait behind the first packet: the rest of an HTTP request comes in the same segment */
    QUIET_MS = 30,
    PAUSE_MS = 1000, /* without descriptors */
};

enum said { SAID_GAVE_WAY, SAID_FULL, SAID_NO_DESCRIPTOR };

static void tell_once(struct gdb_server *s, enum said which, const char *what)
{
    if (s->cfg.tell && !(s->said & 1u << which))
        s->cfg.tell(s->cfg.tell_ctx, what);
    s->said |= 1u << which;
}

static void hand_over(struct conn *c)
{
    struct err err;
    gdb_conn_leave_loop(c);
    gdb_conn_log(c->server, "gdb: connection from %s%s", c->peer, "");
    c->job = (struct worker_job){ .run = gdb_sessions_take, .ctx = c };
    if (worker_post(c->server->cfg.worker, &c->job, &err) < 0)
        gdb_conn_reject(c, err.what);
}

static void on_quiet(uv_timer_t *timer) { hand_over(timer->data); }

static void on_opening_late(uv_timer_t *timer) { gdb_conn_reject(timer->data, "it asked nothing"); }

static void on_opening(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    (void)events;
    ssize_t n = 0;
    if (status >= 0)
        n = recv(c->fd, c->in + c->in_len, OPENING_BYTES - c->in_len, MSG_DONTWAIT);
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
        gdb_conn_reject(c, "it ended before it asked anything");
    else if (said == RSP_OPENING_BAD || c->in_len == OPENING_BYTES)
        gdb_conn_reject(c, "no GDB session begins so");
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

/* The listener stays readable while a connection waits: to accept again at once would loop. */
static void pause_accepting(struct gdb_server *s)
{
    tell_once(s, SAID_NO_DESCRIPTOR,
              "no descriptor is free for a GDB connection; those that wait are looked at every "
              "second (ulimit -n)");
    listen_on(s, false);
    uv_timer_start(&s->pause, on_pause_over, PAUSE_MS, 0);
}

/* Closes the oldest connection that has not asked anything, to make room. False: all have asked. */
static bool give_way(struct gdb_server *s)
{
    struct conn *oldest = NULL;
    for (struct conn *c = s->conns; c; c = c->next)
        if (c->opening)
            oldest = c;
    if (!oldest)
        return false;
    tell_once(s, SAID_GAVE_WAY,
              "GDB connections that have asked nothing are closed for newer ones: there are more "
              "than are served at a time");
    gdb_conn_reject(oldest, "it gave way to a newer one");
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
    struct conn *c = NULL;
    if (room)
        c = conn_new(s, fd, peer);
    if (!c) {
        tell_once(s, SAID_FULL,
                  "a GDB connection is refused: as many as are served at a time are open (monitor "
                  "sessions)");
        gdb_conn_log(s, "gdb: connection from %s closed: %s", peer, "there are too many");
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
    gdb_server_unref(s);
}

static void on_pause_closed(uv_handle_t *h) { gdb_server_unref(h->data); }

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
    s->join_job = (struct worker_job){ .run = gdb_sessions_join, .ctx = s };
    int ret = worker_post(s->cfg.worker, &s->join_job, err);
    if (ret < 0) {
        uv_close((uv_handle_t *)&s->pause, on_pause_closed);
        gdb_server_unref(s);
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
    s->quit_job = (struct worker_job){ .run = gdb_sessions_quit, .ctx = s };
    if (worker_post(s->cfg.worker, &s->quit_job, &stopping) < 0)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (deadline_ms + 999) / 1000;
    while ((ret = sem_clockwait(&s->quit_done, CLOCK_MONOTONIC, &until)) < 0 && errno == EINTR)
        ;
    if (ret != 0)
        return worker_hangs(deadline_ms, err);
    return 0;
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
            gdb_conn_reject(c, "probeprof ends");
        else if (c->ended && c->fd >= 0) /* the worker gave it back after its last job */
            gdb_conn_end(c);
    }
    gdb_server_unref(s);
    return 0;
}
