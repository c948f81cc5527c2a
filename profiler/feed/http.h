/* The HTTP server: connections that somebody accepted, requests that the guard let pass, answers,
 * and streams. It has no thread, no listening socket and no clock of its own; an event loop watches
 * http_fd() and calls http_run(). http_api.h makes the answers.
 *
 * The only files that know libmicrohttpd are those of http_priv.h. */
#ifndef PROFILER_FEED_HTTP_H
#define PROFILER_FEED_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/feed/http_bytes.h"
#include "profiler/feed/http_guard.h"

enum {
    HTTP_MAX_CONNECTIONS = 256,
    HTTP_MAX_STREAMS = 128,
    HTTP_MAX_AN_ADDRESS = 64, /* connections of one machine that is not this one */
    HTTP_REQUEST_S = 10,      /* for a whole request, and for an idle connection */
    HTTP_STREAM_S = 30,       /* in which a stream's reader takes nothing */
};

struct http;
struct http_stream;
struct http_ticket; /* a request that is answered later */

/* A request that passed the guard. Borrowed while it is answered. */
struct http_request {
    const char *method;
    const char *path;                                   /* as sent, without the query */
    const char *query;                                  /* behind the '?', as sent; "" */
    const char *if_none_match, *last_event_id, *accept; /* NULL: not sent */
    bool gzip;                                          /* its client takes that */
    const char *body;                                   /* body_len bytes and a 0 */
    size_t body_len;
    const char *peer; /* for people */
    struct http_ticket *ticket;
};

/* Events of a stream for its owner. */
struct http_stream_ops {
    /* It is over: `cut` if its reader took nothing for too long; s is gone then. */
    void (*ended)(void *ctx, struct http_stream *s, bool cut);
};

struct http_answer {
    unsigned status;
    bool later; /* other members are ignored: http_answer() follows, with the request's ticket */
    const char *type;        /* of the content; static */
    char etag[72];           /* "": none */
    char cookie[256];        /* "": none */
    const char *cache;       /* Cache-Control; NULL: no-store */
    const char *allow;       /* of a 405; else NULL */
    unsigned retry_s;        /* 0: not said */
    bool gzipped;            /* the body is */
    bool varies;             /* with what the client says that it takes */
    struct http_bytes *body; /* whose reference is taken over; NULL: fixed */
    const void *fixed;       /* constant bytes; NULL: none */
    size_t fixed_size;
    /* instead of a body: frames as they come. ctx of its ops */
    const struct http_stream_ops *stream;
    void *stream_ctx;
    /* called with the stream once it is there; NULL s: there is no room for it */
    void (*opened)(void *ctx, struct http_stream *s);
};

struct http_config {
    struct guard_rules rules; /* strings in it borrowed as long as the server */
    void (*answer)(void *ctx, const struct http_request *r, struct http_answer *a);
    void *ctx;
    /* one line for a log; may be NULL */
    void (*log)(void *ctx, const char *line);
    unsigned stream_s; /* 0: HTTP_STREAM_S */
};

/* What there is, for status and tests. */
struct http_counts {
    unsigned connections, streams;
    uint64_t requests, refused, cut, bytes_streamed;
};

/* http_new - a server without connections. 0, -ERR_NOMEM, or -ERR_IO: no descriptor for it. */
int http_new(const struct http_config *cfg, struct http **out, struct err *err);

/* http_free - closes every connection; each stream gets `ended`. NULL is fine. */
void http_free(struct http *h);

/* http_set_rules - from now on. */
void http_set_rules(struct http *h, const struct guard_rules *rules);

/* http_add - takes over an accepted connection, in any case: it is closed if there is no room
 * peer         its address, for messages: "127.0.0.1:40122"
 * loopback     it comes from this machine */
void http_add(struct http *h, int fd, const char *peer, bool unix_socket, bool loopback,
              uint64_t now_ns);

/* http_fd - readable when http_run() has something to do. */
int http_fd(const struct http *h);

/* http_run - does what can be done now. To be called when http_fd() is readable, and when
 * http_wait_ms() is over. Bounded. */
void http_run(struct http *h, uint64_t now_ns);

/* http_wait_ms - the time until http_run() is due without input; at most 1000. */
unsigned http_wait_ms(const struct http *h);

/* http_answer - the answer to a request that was to get it later; ticket is gone then. Not after
 * http_free(), which answers all of them. */
void http_answer(struct http_ticket *ticket, struct http_answer *a);

/* http_counts - as of now. */
struct http_counts http_counts(const struct http *h);

/* http_fail - an answer that is an error as JSON; what and hint are copied. */
void http_fail(struct http_answer *a, unsigned status, const char *code, const char *what,
               const char *hint);

/* http_wrong_token - the answer to one: 401, or 429 when many came. */
void http_wrong_token(struct http *h, struct http_answer *a);

/* http_stream_hungry - has the reader taken everything? Then it may get the next frame. */
bool http_stream_hungry(const struct http_stream *s);

/* http_stream_put - the next frame of a hungry stream: head, body, tail. It goes with the next
 * http_run()
 * head, tail   copied, at most 95 bytes each
 * body         kept; NULL: none */
void http_stream_put(struct http_stream *s, const char *head, struct http_bytes *body,
                     const char *tail);

/* http_stream_end - over once what it was given is taken; `ended` follows. */
void http_stream_end(struct http_stream *s);

/* http_stream_sent - bytes its reader has taken. */
uint64_t http_stream_sent(const struct http_stream *s);

#endif
