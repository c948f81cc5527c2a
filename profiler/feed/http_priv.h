/* What the server's files share: connections, requests, streams. http.c has the connections and
 * takes requests, http_answer.c gives the answers, http_stream.c the streams.
 *
 * Traps of libmicrohttpd 0.9.75 that shape these files: a reader of content that has nothing must
 * suspend its connection, or the loop spins; after a connection is resumed one MHD_run() only takes
 * note of that; its parser takes two Host lines and others that RFC 9112 refuses, so the guard gets
 * every line. */
#ifndef PROFILER_FEED_HTTP_PRIV_H
#define PROFILER_FEED_HTTP_PRIV_H

#include <microhttpd.h>

#include "profiler/feed/http.h"

enum {
    HTTP_PEER_TEXT = 96,
    HTTP_MAX_FAILURES = 5, /* wrong tokens a minute */
};

/* One accepted socket. */
struct http_conn {
    struct http_conn *next, **at;
    struct http *h;
    char peer[HTTP_PEER_TEXT];
    size_t host_n; /* of peer, without the port */
    bool unix_socket, loopback;
    int fd;
    uint64_t since_ns; /* nothing whole came since then; 0: it is being answered */
};

struct http_stream {
    struct http_stream *next, **at;
    struct http *h;
    struct MHD_Connection *mhd;
    const struct http_stream_ops *ops;
    void *ctx;
    struct http_pieces frame; /* what it is given now */
    uint64_t sent;
    bool suspended, over;
};

/* One request, from its first line to the end of its answer. */
struct http_ticket {
    struct http_ticket *next, **at; /* among those that are answered later */
    struct MHD_Connection *mhd;
    struct http_answer later;
    bool waiting, due; /* for http_answer(); it has come */
    struct http_conn *conn;
    char target[GUARD_MAX_TARGET + 2]; /* one more than allowed, so that it shows */
    char body[GUARD_MAX_BODY + 1];
    size_t body_len;
    bool begun, answered;
    struct http_stream *stream;
};

struct http {
    struct http_config cfg;
    struct MHD_Daemon *mhd;
    struct http_conn *conns;
    struct http_stream *streams;
    struct http_ticket *waiting;
    struct http_counts counts;
    struct http_conn *adding; /* while MHD_add_connection() makes it one of ours */
    bool running; /* http_run() is under way: a call from inside of it does nothing, as the outer
                     one sends everything */
    uint64_t now_ns;
    uint64_t failures[HTTP_MAX_FAILURES]; /* when, oldest first */
};

/* http_stream_new - a stream for that answer, which has one; NULL: there are too many, or there is
 * no memory. */
struct http_stream *http_stream_new(struct http *h, struct MHD_Connection *c,
                                    const struct http_answer *a);

/* http_stream_response - what gives its frames to the connection; NULL without memory. */
struct MHD_Response *http_stream_response(struct http_stream *s);

/* http_stream_resume - its connection asks for the next frame again. */
void http_stream_resume(struct http_stream *s);

/* http_stream_ended - the connection is gone, and s with it; cut as in http_stream_ops. */
void http_stream_ended(struct http_stream *s, bool cut);

/* http_answer_give - the answer goes out; its body's reference is taken over. */
enum MHD_Result http_answer_give(struct http_ticket *q, struct MHD_Connection *c,
                                 struct http_answer *a);

/* http_answer_busy - a whole answer for a connection there is no room for. Returns its length. */
size_t http_answer_busy(char *buf, size_t cap);

/* http_answer_wait - the request waits for http_answer(). */
enum MHD_Result http_answer_wait(struct http_ticket *q, struct MHD_Connection *c);

#endif
