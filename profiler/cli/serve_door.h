/* The feed's door: listening sockets, and connections that have sent nothing yet. A connection
 * whose first byte cannot begin HTTP, as that of a debugger which was pointed to this port, is
 * closed at once; one that sends nothing, after ten seconds. */
#ifndef PROFILER_CLI_SERVE_DOOR_H
#define PROFILER_CLI_SERVE_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "profiler/bridge/net.h"
#include "probe/base/err.h"

struct door;

struct door_config {
    uv_loop_t *loop;
    /* A connection that begins as HTTP does; fd is the receiver's. */
    void (*enter)(void *ctx, int fd, const char *peer, bool unix_socket, bool loopback);
    void *ctx;
    void (*log)(void *ctx, const char *line); /* of those that were turned away */
};

/* door_open - listens at an address of net_listen(). 0 or its failure. */
int door_open(const struct door_config *cfg, const char *address, unsigned default_port,
              struct door **out, struct err *err);

/* door_listeners - what is listened at, *n of them; borrowed. */
const struct net_listener *door_listeners(const struct door *d, size_t *n);

/* door_tick - once a second or so: those that say nothing go. */
void door_tick(struct door *d, uint64_t now_ns);

/* door_close - closes all that is here still; its handles close when the loop next turns, and d
 * with them. NULL is fine. */
void door_close(struct door *d);

#endif
