/* Listening sockets: the one place that binds any. Loopback unless the user wrote another host. */
#ifndef PROFILER_BRIDGE_NET_H
#define PROFILER_BRIDGE_NET_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/err.h"

struct net_listener {
    int fd;         /* non-blocking, close-on-exec, listening; -1 if closed */
    unsigned port;  /* 0 for a Unix socket */
    bool loopback;  /* false: other machines can reach it */
    char name[128]; /* "127.0.0.1:3333", "[::1]:3333", or the path */
    char path[108]; /* Unix socket's file, removed by net_close(); else "" */
};

enum { NET_MAX_LISTENERS = 4 };

/* An address taken apart. */
struct net_address {
    char host[256]; /* "" = loopback, both families; "*" = every interface */
    unsigned port;
    char path[108]; /* of a Unix socket; "": it is none */
};

/* net_parse - parses an address in the forms of net_listen(). Pure. -ERR_USAGE, *out untouched: it
 * has another form. */
int net_parse(const char *text, unsigned default_port, struct net_address *out, struct err *err);

/* net_listen - open what an address names
 * address        "3333", ":3333" and "localhost:3333" (both loopback families), "HOST:PORT",
 * "[V6]:PORT",
 *                "*:PORT" (every interface), or a path with a '/' (Unix socket, mode 0600; a stale
 * file is replaced); NULL or "" is ":default_port" default_port   where the address names none out
 * NET_MAX_LISTENERS places; those opened are filled Port 0 takes a free one, the same for both
 * families. A machine without IPv6 gets IPv4 only. Returns how many were opened, at least 1;
 * -ERR_USAGE; -ERR_IO (port taken: says by whom, if it can be known). */
int net_listen(const char *address, unsigned default_port,
               struct net_listener out[NET_MAX_LISTENERS], struct err *err);

/* net_close - close and remove the Unix socket's file. */
void net_close(struct net_listener *l);

/* net_accept - one waiting connection: non-blocking, close-on-exec, without Nagle's delay; TCP
 * fails with ETIMEDOUT when its peer's machine has been silent for about a minute and a half, lost
 * its power or its network peer   who it is, for logs Returns the descriptor, -1 if there is none
 * (errno says why). */
int net_accept(const struct net_listener *l, char *peer, size_t cap);

/* net_first_byte - the first byte of a connection, which stays to be read: 0 to 255; -1: nothing
 * yet; -2: it is closed. */
int net_first_byte(int fd);

/* net_port_owner - the process that listens on a TCP port: "gdbserver (process 4711)"
 * proc   "/proc"
 * Returns buf, "" when it cannot be known (another user's process). */
const char *net_port_owner(const char *proc, unsigned port, char *buf, size_t cap);

#endif
