#include "profiler/cli/serve_door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/base/list.h"
#include "probe/base/util.h"
#include "profiler/feed/http_guard.h"

enum { MAX_SILENT = 256, SILENT_S = 10 };

/* A connection that has said nothing yet. */
struct silent {
    uv_poll_t poll;
    struct door *door;
    struct silent *next, **at;
    int fd;
    bool unix_socket, loopback;
    uint64_t since_ns;
    char peer[96];
};

struct door {
    struct door_config cfg;
    struct net_listener listener[NET_MAX_LISTENERS];
    uv_poll_t poll[NET_MAX_LISTENERS];
    size_t n;
    struct silent *silent; /* the latest first */
    unsigned nsilent, open_polls;
    bool closing;
};

static void free_silent(uv_handle_t *handle) { free(handle->data); }

/* Removes it from the list and the loop. Returns its socket, which belongs to the caller. */
static int take_out(struct silent *s)
{
    int fd = s->fd;
    uv_poll_stop(&s->poll);
    LIST_REMOVE(s);
    s->door->nsilent--;
    uv_close((uv_handle_t *)&s->poll, free_silent);
    return fd;
}

static void turn_away(struct silent *s, const char *why)
{
    char line[160];
    snprintf(line, sizeof line, "%s: closed, %s", s->peer, why);
    if (s->door->cfg.log)
        s->door->cfg.log(s->door->cfg.ctx, line);
    close(take_out(s));
}

static void on_first_byte(uv_poll_t *poll, int status, int events)
{
    struct silent *s = poll->data;
    int byte = net_first_byte(s->fd);
    (void)status;
    (void)events;
    if (byte == -1)
        return;
    if (byte == -2) {
        close(take_out(s));
        return;
    }
    if (!guard_first_byte((unsigned char)byte)) {
        turn_away(s, "it does not speak HTTP (GDB's port is another one)");
        return;
    }
    struct door_config *cfg = &s->door->cfg;
    bool unix_socket = s->unix_socket, loopback = s->loopback;
    char peer[sizeof s->peer];
    snprintf(peer, sizeof peer, "%s", s->peer);
    cfg->enter(cfg->ctx, take_out(s), peer, unix_socket, loopback);
}

/* Those that have waited longest make room. */
static void make_room(struct door *d)
{
    struct silent *s = d->silent;
    while (s && s->next)
        s = s->next;
    if (s && d->nsilent >= MAX_SILENT)
        turn_away(s, "it said nothing, and others wait");
}

static void let_in(struct door *d, const struct net_listener *l)
{
    struct silent *s = calloc(1, sizeof *s);
    char peer[96];
    int fd = net_accept(l, peer, sizeof peer);
    if (fd < 0 || !s || uv_poll_init(d->cfg.loop, &s->poll, fd) < 0) {
        if (fd >= 0)
            close(fd);
        free(s);
        return;
    }
    make_room(d);
    *s = (struct silent){ .poll = s->poll,
                          .door = d,
                          .fd = fd,
                          .unix_socket = *l->path,
                          .loopback = l->loopback,
                          .since_ns = uv_hrtime() };
    snprintf(s->peer, sizeof s->peer, "%s", peer);
    s->poll.data = s;
    LIST_ADD(&d->silent, s);
    d->nsilent++;
    uv_poll_start(&s->poll, UV_READABLE, on_first_byte);
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
    struct door *d = poll->data;
    (void)status;
    (void)events;
    let_in(d, &d->listener[poll - d->poll]);
}

void door_tick(struct door *d, uint64_t now_ns)
{
    struct silent *next;
    for (struct silent *s = d->silent; s; s = next) {
        next = s->next;
        if (now_ns > s->since_ns && now_ns - s->since_ns > SILENT_S * 1000000000ull)
            turn_away(s, "it said nothing");
    }
}

static void poll_closed(uv_handle_t *handle)
{
    struct door *d = handle->data;
    if (--d->open_polls == 0 && d->closing)
        free(d);
}

void door_close(struct door *d)
{
    if (!d)
        return;
    while (d->silent)
        close(take_out(d->silent));
    d->closing = true;
    size_t polls = d->open_polls;
    for (size_t i = 0; i < polls; i++)
        uv_poll_stop(&d->poll[i]);
    for (size_t i = 0; i < d->n; i++)
        net_close(&d->listener[i]);
    for (size_t i = 0; i < polls; i++)
        uv_close((uv_handle_t *)&d->poll[i], poll_closed);
    if (!polls)
        free(d);
}

int door_open(const struct door_config *cfg, const char *address, unsigned default_port,
              struct door **out, struct err *err)
{
    struct door *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    d->cfg = *cfg;
    int ret = net_listen(address, default_port, d->listener, err);
    d->n = (size_t)MAX(ret, 0);
    for (size_t i = 0; ret >= 0 && i < d->n; i++) {
        if (uv_poll_init(cfg->loop, &d->poll[i], d->listener[i].fd) < 0) {
            ret = err_set(err, ERR_IO, "raise the limit on open files (ulimit -n)",
                          "feed: its socket cannot be watched");
            break;
        }
        d->open_polls++;
        d->poll[i].data = d;
        uv_poll_start(&d->poll[i], UV_READABLE, on_listener);
    }
    if (ret < 0) {
        door_close(d);
        return ret;
    }
    *out = d;
    return 0;
}

const struct net_listener *door_listeners(const struct door *d, size_t *n)
{
    *n = d->n;
    return d->listener;
}
