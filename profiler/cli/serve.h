/* Binds the feed and its HTTP service to a loop and to the owner of a profile: a run, or a file.
 * It decides when the feed is folded: as often as the reader with the shortest interval asks, but
 * in at most a twentieth of the time; once a second for the history, if there is no reader. */
#ifndef PROFILER_CLI_SERVE_H
#define PROFILER_CLI_SERVE_H

#include <stdbool.h>

#include <uv.h>

#include "profiler/bridge/net.h"
#include "profiler/cli/serve_door.h"
#include "profiler/feed/feed.h"
#include "profiler/feed/http_api.h"
#include "targets/event.h"

enum { SERVE_PORT = 3334 };

/* The owner of the profile. All on the loop's thread. */
struct serve_source {
    void *ctx;
    /* Fills in what is to be folded now; sets state objects, figures and log entries of the feed,
     * too. */
    void (*look)(void *ctx, struct feed *feed, struct feed_source *from, struct feed_moment *now);
    /* As in http_owner, with this ctx. */
    void (*facts)(void *ctx, struct http_facts *out);
    int (*snapshot)(void *ctx, const char *file, bool marked, const struct snapshot **out,
                    struct err *err);
    int (*control)(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                   struct err *err);
    int (*recording)(void *ctx, unsigned part, char *path, size_t cap, struct err *err);
    int (*lines)(void *ctx, struct err *err);
    void (*log)(void *ctx, const char *line);
    /* Writes what is recorded to the disk, where a client reads it. */
    void (*flush)(void *ctx);
    void (*code)(void *ctx, struct program_code *out); /* as in http_owner */
};

struct serve_config {
    uv_loop_t *loop;
    struct serve_source source;
    const char *address; /* of net_listen(); "": loopback's SERVE_PORT */
    const char *page; /* folder to serve the page from, for its developers; "": the program's own */
    const char *version;
    const char *token_file; /* "": no token on loopback, a random one beyond it */
    const char *host;       /* the name of a proxy in front of this service; "": none */
};

/* Zero-initialise, then serve_start(). */
struct serve {
    struct serve_config cfg;
    struct feed *feed;
    struct http_api *api;
    struct door *door;
    uv_poll_t work; /* the HTTP server's descriptor */
    uv_timer_t due;
    bool started, has_handles;
    uint64_t folded_ns; /* when the last fold began */
    uint64_t flushed_ns;
    char token[HTTP_TOKEN_TEXT]; /* "": none is asked for */
    bool token_made;
    uint64_t unkept;                    /* events for the timeline that nobody looked at */
    char bound[NET_MAX_LISTENERS][128]; /* hosts of listeners, for the guard */
    char where[320];
};

/* serve_start - listens and serves. cfg is copied, what it points to borrowed until serve_stop().
 * Listeners beyond this machine ask for a token. Returns 0; -ERR_USAGE: the address or the token's
 * file cannot be used; -ERR_IO: taken. s stays as it was then. */
int serve_start(struct serve *s, const struct serve_config *cfg, struct err *err);

/* serve_where - for people: "http://localhost:3334/", or the socket's path. "" if not started.
 * serve_secret - a token that was just made, to be shown once to the user; NULL. */
const char *serve_where(const struct serve *s);
const char *serve_secret(const struct serve *s);

/* serve_feed - for marks and the log; NULL if not started. */
struct feed *serve_feed(const struct serve *s);

/* serve_events - n events as they came, for the timeline. */
void serve_events(struct serve *s, const struct event *events, size_t n);

/* serve_wants_lines - does a client follow the trace's lines? serve_line - gives it one. */
bool serve_wants_lines(const struct serve *s);
void serve_line(struct serve *s, const char *text);

/* serve_now - folds and sends at once, so that a change is shown without delay. */
void serve_now(struct serve *s);

/* serve_restart - begins a new epoch: the counts were cleared, or another profile is shown. */
void serve_restart(struct serve *s);

/* serve_done - http_api_done() */
void serve_done(struct serve *s, struct http_ticket *ticket, int ret, const struct err *err);

/* serve_note - a line for the feed's log; harmless if not started. */
void serve_note(struct serve *s, const char *kind, const char *text);

/* serve_wall_ms - since 1970. */
int64_t serve_wall_ms(void);

/* serve_stop - says goodbye to readers and closes; its handles close when the loop next turns, and
 * s has to stay until then. Harmless if not started. */
void serve_stop(struct serve *s);

#endif
