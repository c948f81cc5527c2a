/* Where `probeprof top` gets its frames: one GET over TCP or a Unix socket, made again when the
 * connection is lost, from where it was. HTTP/1.0, so that the answer is the bare stream. */
#ifndef PROFILER_CLI_TOP_SOURCE_H
#define PROFILER_CLI_TOP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

#include "probe/base/err.h"

enum { TOP_HOST = 256, TOP_ANSWER = 8192 };

struct top_address {
    char host[TOP_HOST], port[8]; /* of TCP; IPv6 without brackets */
    char path[108];               /* of a Unix socket; "" for TCP */
};

/* top_address_parse - "http://127.0.0.1:3334", "[::1]:3334", ":3334", "host", or a Unix socket's
 * path (with a '/', or "unix:..."); NULL: the default, 127.0.0.1:3334. 0 or -ERR_USAGE. */
int top_address_parse(const char *text, struct top_address *out, struct err *err);

/* Events for the owner. */
struct top_source_events {
    /* the request of a connection that has been made: path and query into buf */
    void (*ask)(void *ctx, char *buf, size_t cap);
    /* bytes of the stream; false: that is enough, or nonsense */
    bool (*bytes)(void *ctx, const char *at, size_t n);
    /* the connection is gone, or could not be made: why. How many ms to wait before the next try;
     * 0: none */
    unsigned (*lost)(void *ctx, const struct err *why);
};

/* Zero-initialise, then top_source_start(). */
struct top_source {
    uv_loop_t *loop;
    struct top_address to;
    struct top_source_events events;
    void *ctx;
    char token[128]; /* "": none is sent */
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } link;
    uv_connect_t connect;
    uv_getaddrinfo_t resolve;
    uv_write_t write;
    uv_timer_t retry;
    bool has_link, has_retry, closing, in_body, asked;
    char request[2048], answer[TOP_ANSWER];
    size_t answered;
    char buf[65536];
};

/* top_source_start - begins to connect; the result comes by the events, from the loop. */
void top_source_start(struct top_source *s);

/* top_source_again - drops the connection and makes another. */
void top_source_again(struct top_source *s);

/* top_source_stop - closes everything; the loop has to run once more. */
void top_source_stop(struct top_source *s);

#endif
