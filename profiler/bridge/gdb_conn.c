/* The end of a connection, and of the struct that all of them need; on the loop. */
#include "profiler/bridge/gdb_conn.h"

#include <stdlib.h>
#include <unistd.h>

void gdb_conn_log(const struct gdb_server *s, const char *fmt, const char *a, const char *b)
{
    log_msg(s->cfg.log, LOG_RSP, fmt, a, b);
}

void gdb_server_unref(struct gdb_server *s)
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
    gdb_server_unref(s);
}

static void on_conn_handle_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    c->handles--;
    conn_free_if_done(c);
}

void gdb_conn_leave_loop(struct conn *c)
{
    if (!c->opening)
        return;
    c->opening = false;
    uv_close((uv_handle_t *)&c->poll, on_conn_handle_closed);
    uv_close((uv_handle_t *)&c->timer, on_conn_handle_closed);
}

void gdb_conn_end(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->ended = true;
    conn_free_if_done(c);
}

void gdb_conn_reject(struct conn *c, const char *why)
{
    gdb_conn_log(c->server, "gdb: connection from %s closed: %s", c->peer, why);
    gdb_conn_leave_loop(c);
    gdb_conn_end(c);
}

void gdb_conn_on_given_back(void *ctx) { gdb_conn_end(ctx); }
