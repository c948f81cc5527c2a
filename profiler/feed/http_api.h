/* What the feed's service answers (docs/feed.md): the page, states and streams of them, the
 * profile, figures, and commands. It knows the feed; what only the run knows comes from the owner.
 */
#ifndef PROFILER_FEED_HTTP_API_H
#define PROFILER_FEED_HTTP_API_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/feed/feed.h"
#include "profiler/feed/http.h"
#include "profiler/feed/http_readers.h"
#include "profiler/feed/listing.h"
#include "profiler/profile/snapshot.h"

enum {
    HTTP_COMMAND_TEXT = 128,
    HTTP_COMMAND_STOPS = 8,
    HTTP_AWAY_S = 60, /* after so long without a board /healthz says 503 */
    HTTP_TOKEN_TEXT = 128,
};

enum http_do {
    HTTP_START,
    HTTP_STOP,
    HTTP_CLEAR,
    HTTP_MARK,
    HTTP_UNMARK,
    HTTP_SAVE,
    HTTP_COUNTERS,
    HTTP_POINTS,
    HTTP_SHOW, /* another file, of several that are served */
    HTTP_NDO
};

/* A command as it was sent; texts are not looked at yet. "" where one is missing. */
struct http_command {
    enum http_do what;
    char name[HTTP_COMMAND_TEXT];       /* of a mark, of a file */
    char counter[2][HTTP_COMMAND_TEXT]; /* of counters */
    char start[HTTP_COMMAND_TEXT];      /* of points; "": none */
    char stop[HTTP_COMMAND_STOPS][HTTP_COMMAND_TEXT];
    size_t nstops;
    bool has_start, has_stop; /* was there one at all, be it empty? */
};

/* Figures that only the run knows, as of now. Texts are borrowed. */
struct http_facts {
    const char *phase; /* "profiling" */
    bool profiling, away;
    unsigned away_s;
    bool sums_only; /* of a file: events, losses, gaps and times are not known */
    uint64_t events, lost;
    bool lost_is_bound;
    unsigned gaps;
    double slow_down; /* 0: not known */
    uint64_t board_ns, host_ns, wire_bits;
    double ring_fill, queue_fill;
    unsigned gdb_sessions;
    const char *target, *probe, *elf; /* NULL: not known */
    const char *counter[2];           /* "elapsed-time"; NULL: not counted */
    const char *record;               /* file that is recorded to; NULL: none */
};

/* Something that takes long, in whose struct this is the first member. */
struct http_work {
    void (*run)(struct http_work *w); /* on another thread */
    void (*end)(struct http_work *w); /* on the loop's, also when the service is gone */
};

/* Functions of the owner; all on the loop's thread. */
struct http_owner {
    void *ctx;
    /* Makes the feed's state that of now, unless it did so a moment ago. */
    void (*fold)(void *ctx);
    void (*facts)(void *ctx, struct http_facts *out);
    /* The profile of now; file: which of the files that are served, "": the one that is shown;
     * marked: as marks (profiler/profile/marks.h) have it, if there are any.
     * Returns 0 with a reference that is given back on any thread, or the failure. */
    int (*snapshot)(void *ctx, const char *file, bool marked, const struct snapshot **out,
                    struct err *err);
    /* Returns 0: done; 1: http_api_done() follows with the ticket; else why not: -ERR_USAGE,
     * -ERR_NOT_FOUND, others are a 409. */
    int (*control)(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                   struct err *err);
    /* A file that the run is recorded to, by its number in the run, as it is called now
     * (http_raw.h, raw_path); -ERR_STATE: it is not recorded. */
    int (*recording)(void *ctx, unsigned part, char *path, size_t cap, struct err *err);
    /* 0: lines of the trace come by http_api_line(); -ERR_STATE, -ERR_UNSUPPORTED: why not. */
    int (*lines)(void *ctx, struct err *err);
    uint64_t (*now_ns)(void *ctx); /* a monotonic clock */
    /* Runs the work on another thread, then its end on the loop's. Returns 0, or the failure: then
     * neither is called. */
    int (*work)(void *ctx, struct http_work *w);
    void (*log)(void *ctx, const char *line);
    /* The program and its counts by address, of now; NULL: none is known. */
    void (*code)(void *ctx, struct program_code *out);
};

struct http_api_config {
    struct feed *feed;
    struct http_owner owner;
    struct guard_rules rules;
    const char *version;
    unsigned stream_s; /* as in http_config */
    const char *page;  /* a folder to serve the page from; NULL: the program's own bytes */
};

struct http_api;

/* http_api_new - a service without connections; what cfg points to is borrowed. 0, or http_new()'s
 * failure. */
int http_api_new(const struct http_api_config *cfg, struct http_api **out, struct err *err);

/* http_api_free - tells every reader goodbye and closes. NULL is fine. */
void http_api_free(struct http_api *a);

/* http_api_http - the server, for its descriptor, its timeouts and new connections. */
struct http *http_api_http(struct http_api *a);

/* http_api_readers - who follows. */
struct readers *http_api_readers(struct http_api *a);

/* http_api_line - gives a line of the trace to the clients that follow them. http_api_wants_lines
 * - is there such a client? */
void http_api_line(struct http_api *a, const char *text);
bool http_api_wants_lines(const struct http_api *a);

/* http_api_raws - how many clients read the recording; while there are some it has to be flushed
 * often. */
unsigned http_api_raws(const struct http_api *a);

/* http_api_finish - no more lines come, and the recording is whole. */
void http_api_finish(struct http_api *a);

/* http_api_serve - makes and sends the frames that are due. After a fold, and when
 * readers_wait_ns() is over. */
void http_api_serve(struct http_api *a);

/* http_api_done - the command of that ticket has ended: ret and err as of http_owner.control(). */
void http_api_done(struct http_api *a, struct http_ticket *ticket, int ret, const struct err *err);

/* http_metrics - the figures as text for Prometheus; open: in OpenMetrics' form (names of families
 * without _total, an end mark), else in the older one. */
void http_metrics(const struct http_api_config *cfg, const struct http_counts *counts,
                  unsigned readers, bool open, const struct text_sink *out);

/* http_static - one of the page's files, from the program or from cfg->page. */
void http_static(const struct http_api_config *cfg, const struct http_request *r,
                 struct http_answer *a);

/* http_command_parse - the body of POST /api/1/control. -ERR_USAGE names what is wrong. */
int http_command_parse(const char *body, size_t len, struct http_command *out, struct err *err);

#endif
